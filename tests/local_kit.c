#include "local_kit.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/local_clean.h"
#include "kv/ordered.h"
#include "kv/schema.h"
#include "kv/why.h"

#define OPS_MAX 16

struct engine *kit_engine;
struct ordered *kit_ordered;
int kit_between;

static struct clock clock_of_store;

/* --- the store ---------------------------------------------------------- */

static void
open_engine(struct ordered *o)
{
	struct local_options options = {.clock = &clock_of_store};
	int r = local_open(o, &options, &kit_engine);

	ck_assert_msg(r == 0, "open: %s", why_text(r));
}

void
kit_open(void)
{
	struct schema schema = {0};
	struct family *f;
	struct attrs owner = {.set = ATTR_MODE | ATTR_UID | ATTR_GID,
	    .mode = 0755,
	    .uid = 7,
	    .gid = 8};

	kit_between = 0;
	kit_clock(1000);
	ck_assert_int_eq(ordered_mem_open(&kit_ordered), 0);
	open_engine(kit_ordered);
	ck_assert_int_eq(buf_set(&schema.name, slice_text("t")), 0);
	ck_assert_int_eq(schema_declare(&schema, slice_text("f"), &f), 0);
	ck_assert_int_eq(schema_declare(&schema, slice_text("g"), &f), 0);
	int r = kit_engine->methods->table_create(kit_engine, &schema, &owner);
	ck_assert_msg(r == 0, "create: %s", why_text(r));
	schema_release(&schema);
}

void
kit_close(void)
{
	ck_assert_int_eq(kit_engine->methods->close(kit_engine), 0);
	ordered_mem_free(kit_ordered);
}

void
kit_reopen(void)
{
	ck_assert_int_eq(kit_engine->methods->close(kit_engine), 0);
	open_engine(ordered_mem_reopen(kit_ordered));
}

void
kit_clock(int64_t now)
{
	clock_set(&clock_of_store, now);
}

void
kit_rules(uint32_t versions, uint32_t min_versions, uint32_t ttl)
{
	struct schema schema;
	int r = kit_engine->methods->table_schema(
	    kit_engine, slice_text("t"), &schema);

	ck_assert_int_eq(r, 0);
	for (size_t i = 0; i < schema.count; i++) {
		schema.families[i].versions = versions;
		schema.families[i].min_versions = min_versions;
		schema.families[i].ttl = ttl ? ttl : TTL_FOREVER;
	}
	r = kit_engine->methods->table_alter(kit_engine, &schema, false);
	ck_assert_msg(r == 0, "alter: %s", why_text(r));
	schema_release(&schema);
}

/* --- the notation ------------------------------------------------------- */

static const struct {
	const char *word;
	enum op_type type;
} verbs[] = {
    {"dfv", OP_DELETE_FAMILY_VERSION},
    {"df", OP_DELETE_FAMILY},
    {"dc", OP_DELETE_COLUMN},
    {"dv", OP_DELETE_VERSION},
    {"p", OP_PUT},
    {"i", OP_INCREMENT},
    {"a", OP_APPEND},
};

/* Takes "family/" and "qualifier:" off the front of a word. */
static const char *
parse_column(const char *word, struct op *op)
{
	const char *slash = strchr(word, '/'), *colon = strchr(word, ':');

	op->family = slice_text("f");
	op->qualifier = slice_text("q");
	if (slash) {
		op->family = slice_of(word, (size_t)(slash - word));
		word = slash + 1;
	}
	if (colon) {
		op->qualifier = slice_of(word, (size_t)(colon - word));
		word = colon + 1;
	}
	return word;
}

static const char *
parse_verb(const char *word, struct op *op)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		size_t size = strlen(verbs[i].word);
		if (strncmp(word, verbs[i].word, size) == 0) {
			op->type = verbs[i].type;
			return word + size;
		}
	}
	ck_abort_msg("not a word: %s", word);
	return word;
}

/* word lives as long as the op does. */
static void
parse(char *word, struct op *op)
{
	*op = (struct op){.timestamp = TS_LATEST};
	char *rest = (char *)parse_verb(parse_column(word, op), op);
	char *equals = strchr(rest, '='), *tilde = strchr(rest, '~');

	if (tilde) {
		op->ttl = atoll(tilde + 1);
		*tilde = 0;
	}
	if (op->type == OP_INCREMENT)
		op->delta = atoll(rest);
	else if (*rest && rest != equals)
		op->timestamp = atoll(rest);
	op->value =
	    equals ? slice_text(equals + 1) : slice_of(rest - 1, strlen(rest));
	if (op->type == OP_PUT && !equals && *rest)
		op->value = slice_text(rest);
}

static int
call(char **words, size_t count, unsigned flags)
{
	struct op ops[OPS_MAX];
	struct mutation m = {.table = slice_text("t"),
	    .row = slice_text("r"),
	    .ops = ops,
	    .count = count,
	    .flags = flags};

	ck_assert_uint_le(count, OPS_MAX);
	for (size_t i = 0; i < count; i++)
		parse(words[i], &ops[i]);
	return kit_engine->methods->mutate(kit_engine, &m);
}

/* Words that are not calls. */
static bool
event(const char *word)
{
	if (strncmp(word, "clock=", 6) == 0)
		kit_clock(atoll(word + 6));
	else if (strcmp(word, "clean") == 0)
		ck_assert_int_eq(clean_all((struct local *)kit_engine), 0);
	else if (strcmp(word, "reopen") == 0)
		kit_reopen();
	else
		return false;
	return true;
}

/* Runs words until one fails; what that returned. */
static int
run(const char *text, unsigned flags)
{
	char copy[256], *save, *words[OPS_MAX];
	size_t count = 0;
	bool group = false;
	int r = 0;

	ck_assert_uint_lt(strlen(text), sizeof(copy));
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *word = strtok_r(copy, " ", &save); word && r == 0;
	     word = strtok_r(NULL, " ", &save)) {
		if (strcmp(word, "{") == 0)
			group = true;
		else if (strcmp(word, "}") == 0)
			group = false;
		else if (!event(word))
			words[count++] = word;
		if (group || !count)
			continue;
		r = call(words, count, flags);
		count = 0;
		if (kit_between == 1)
			event("clean");
		else if (kit_between == 2)
			event("reopen");
	}
	return r;
}

void
kit_do(const char *words)
{
	int r = run(words, 0);

	ck_assert_msg(r == 0, "%s: %s", words, why_text(r));
}

int
kit_try(const char *words, unsigned flags)
{
	return run(words, flags);
}

const char *
kit_show(void)
{
	static struct buf text;
	struct scan_spec spec = {.table = slice_text("t"),
	    .start = slice_text("r"),
	    .stop = slice_text("r"),
	    .stop_inclusive = true};
	struct scan *scan;
	struct cell cell;

	buf_clear(&text);
	ck_assert_int_eq(
	    kit_engine->methods->scan_open(kit_engine, &spec, &scan), 0);
	while (kit_engine->methods->scan_next(scan, &cell) == 0) {
		buf_text(&text, text.size ? " " : "");
		if (!slice_equal(cell.family, slice_text("f"))) {
			buf_append(&text, cell.family);
			buf_text(&text, "/");
		}
		buf_append(&text, cell.qualifier);
		buf_printf(&text, "@%lld=", (long long)cell.timestamp);
		buf_append(&text, cell.value);
	}
	kit_engine->methods->scan_close(scan);
	buf_byte(&text, 0);
	ck_assert_int_eq(buf_status(&text), 0);
	return (const char *)text.data;
}

/* --- single things ------------------------------------------------------ */

struct place
kit_column(const char *row, const char *qualifier)
{
	return (struct place){.level = LEVEL_COLUMN,
	    .table = slice_text("t"),
	    .row = slice_text(row),
	    .family = slice_text("f"),
	    .qualifier = slice_text(qualifier)};
}

static int
put(const char *row, struct op *op)
{
	struct mutation m = {.table = slice_text("t"),
	    .row = slice_text(row),
	    .ops = op,
	    .count = 1};

	op->type = OP_PUT;
	op->family = slice_text("f");
	op->timestamp = TS_LATEST;
	return kit_engine->methods->mutate(kit_engine, &m);
}

void
kit_put(const char *row, const char *qualifier, const char *value)
{
	struct op op = {
	    .qualifier = slice_text(qualifier), .value = slice_text(value)};
	int r = put(row, &op);

	ck_assert_msg(r == 0, "put: %s", why_text(r));
}

static uint8_t
byte_at(uint64_t i, uint8_t seed)
{
	return (uint8_t)(i * 31 + i / 256 + seed);
}

static int
read_pattern(const struct source *s, uint64_t offset, void *to, size_t size)
{
	const uint8_t *seed = s->context;
	uint8_t *bytes = to;

	for (size_t i = 0; i < size; i++)
		bytes[i] = byte_at(offset + i, *seed);
	return 0;
}

struct source
kit_source(uint64_t size, const uint8_t *seed)
{
	return (struct source){size, read_pattern, seed};
}

bool
kit_same(struct value *v, uint64_t size, uint8_t seed)
{
	uint8_t piece[5000];
	uint64_t at = 0;
	int64_t got;

	while ((got = kit_engine->methods->value_read(
		    v, at, piece, sizeof(piece))) > 0)
		for (int64_t i = 0; i < got; i++)
			if (piece[i] != byte_at(at++, seed))
				return false;
	return got == 0 && at == size;
}

int
kit_put_big(const char *qualifier, uint64_t size, uint8_t seed)
{
	struct source source = kit_source(size, &seed);
	struct op op = {.qualifier = slice_text(qualifier), .source = &source};

	return put("r", &op);
}

static int
note_entry(void *context, const struct entry *entry, struct buf *skip)
{
	static const char letters[] = {
	    [LEVEL_SCHEMA_FILE] = 's',
	    [LEVEL_TABLE] = 't',
	    [LEVEL_ROW_PART] = 'P',
	    [LEVEL_ROW] = 'r',
	    [LEVEL_FAMILY] = 'f',
	    [LEVEL_COLUMN_PART] = 'Q',
	    [LEVEL_COLUMN] = 'q',
	    [LEVEL_DOT_DIR] = 'D',
	    [LEVEL_DOT] = 'd',
	};
	struct buf *text = context;

	(void)skip;
	buf_text(text, text->size ? " " : "");
	buf_byte(text, (uint8_t)letters[entry->level]);
	buf_byte(text, ':');
	buf_append(text, entry->name);
	return LIST_MORE;
}

const char *
kit_list(const struct place *dir)
{
	static struct buf text;

	buf_clear(&text);
	int r =
	    kit_engine->methods->list(kit_engine, dir, NULL, note_entry, &text);
	ck_assert_msg(r == 0, "list: %s", why_text(r));
	buf_byte(&text, 0);
	ck_assert_int_eq(buf_status(&text), 0);
	return (const char *)text.data;
}

void
kit_put_columns(const char *row, int count)
{
	static char names[500][16];
	struct op ops[500];
	struct mutation m = {
	    .table = slice_text("t"), .row = slice_text(row), .ops = ops};

	for (int i = 0; i < count; i += 500) {
		m.count = (size_t)(count - i < 500 ? count - i : 500);
		for (size_t j = 0; j < m.count; j++) {
			snprintf(
			    names[j], sizeof(names[j]), "n%06d", i + (int)j);
			ops[j] = (struct op){.type = OP_PUT,
			    .family = slice_text("f"),
			    .qualifier = slice_text(names[j]),
			    .timestamp = TS_LATEST,
			    .value = slice_text(names[j])};
		}
		ck_assert_int_eq(
		    kit_engine->methods->mutate(kit_engine, &m), 0);
	}
}

void
kit_put_rows(int count)
{
	char name[16];

	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "n%06d", i);
		kit_put(name, "q", name);
	}
}

struct place
kit_table(void)
{
	return (struct place){.level = LEVEL_TABLE, .table = slice_text("t")};
}

struct place
kit_family(const char *row)
{
	struct place place = kit_column(row, "");

	place.level = LEVEL_FAMILY;
	return place;
}

void
kit_delete_column(const char *row, const char *qualifier, unsigned flags)
{
	struct op op = {.type = OP_DELETE_COLUMN,
	    .family = slice_text("f"),
	    .qualifier = slice_text(qualifier),
	    .timestamp = TS_LATEST};
	struct mutation m = {.table = slice_text("t"),
	    .row = slice_text(row),
	    .ops = &op,
	    .count = 1,
	    .flags = flags};

	ck_assert_int_eq(kit_engine->methods->mutate(kit_engine, &m), 0);
}
