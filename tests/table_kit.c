#include "table_kit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/local_table.h"
#include "kv/local_txn.h"
#include "kv/ordered.h"
#include "kv/schema.h"
#include "kv/why.h"

struct ordered *kit_store;
struct engine *kit;
struct clock kit_clock;

static const struct version newest = {.which = VERSION_NEWEST};

static int
open_kit(struct ordered *store)
{
	struct local_options options = {.clock = &kit_clock};

	return local_open(store, &options, &kit);
}

void
kit_setup(void)
{
	clock_set(&kit_clock, KIT_NOW);
	ck_assert_int_eq(ordered_mem_open(&kit_store), 0);
	ck_assert_int_eq(open_kit(kit_store), 0);
}

void
kit_teardown(void)
{
	if (kit)
		ck_assert_int_eq(kit->methods->close(kit), 0);
	ordered_mem_free(kit_store);
	kit = NULL;
}

void
kit_reopen(void)
{
	if (kit)
		kit->methods->close(kit);
	kit = NULL;
	kit_store = ordered_mem_reopen(kit_store);
	ck_assert_int_eq(open_kit(kit_store), 0);
}

struct local *
kit_local(void)
{
	return (struct local *)kit;
}

TCase *
kit_topic(
    Suite *suite, const char *name, void (*setup)(void), void (*teardown)(void))
{
	TCase *c = tcase_create(name);

	if (setup)
		tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 120);
	suite_add_tcase(suite, c);
	return c;
}

/* A text that lives for eight calls. */
static const char *
keep(const struct buf *b)
{
	static struct buf kept[8];
	static unsigned next;
	struct buf *k = &kept[next++ % 8];

	buf_clear(k);
	buf_append(k, buf_slice(b));
	buf_byte(k, 0);
	return (const char *)k->data;
}

/* --- tables ----------------------------------------------------------- */

static int
read_schema(const char *table, const char *text, struct schema *out)
{
	*out = (struct schema){0};
	int r = buf_set(&out->name, slice_text(table));
	return r ? r : schema_parse(out, slice_text(text));
}

int
kit_create(const char *table, const char *text)
{
	const struct attrs owner = {.mode = 0755, .uid = 7, .gid = 8};
	struct schema schema;

	int r = read_schema(table, text, &schema);
	if (r == 0)
		r = kit->methods->table_create(kit, &schema, &owner);
	schema_release(&schema);
	return r;
}

int
kit_alter(const char *table, const char *text, bool drop_data)
{
	struct schema schema;

	int r = read_schema(table, text, &schema);
	if (r == 0)
		r = kit->methods->table_alter(kit, &schema, drop_data);
	schema_release(&schema);
	return r;
}

const char *
kit_tables(void)
{
	return kit_list(LEVEL_ROOT, "");
}

const char *
kit_schema(const char *table)
{
	struct schema schema;
	struct buf text = {0};

	int r = kit->methods->table_schema(kit, slice_text(table), &schema);
	if (r)
		return "-";
	schema_print(&schema, &text);
	schema_release(&schema);
	const char *kept = keep(&text);
	buf_release(&text);
	return kept;
}

/* --- places ----------------------------------------------------------- */

/* The path's next part; leaves the last whole, slashes and all. */
static struct slice
part(const char **path, bool last)
{
	const char *from = *path;
	size_t size = last ? strlen(from) : strcspn(from, "/");

	*path = from + size + (from[size] == '/');
	return slice_of(from, size);
}

struct place
kit_place(enum level level, const char *path)
{
	struct place p = {.level = level};

	if (level == LEVEL_ROOT || level == LEVEL_SCHEMA)
		return p;
	p.table = part(&path, level == LEVEL_TABLE);
	if (level >= LEVEL_ROW_PART)
		p.row = part(&path, false);
	if (level >= LEVEL_FAMILY)
		p.family = part(&path, false);
	if (level == LEVEL_COLUMN || level == LEVEL_COLUMN_PART)
		p.qualifier = part(&path, true);
	return p;
}

struct place
kit_dot(const char *family_path, const char *dot_dir, const char *dot)
{
	struct place p = {0};

	if (*family_path)
		p = kit_place(LEVEL_FAMILY, family_path);
	p.level = *dot ? LEVEL_DOT : LEVEL_DOT_DIR;
	p.dot_dir = slice_text(dot_dir);
	p.dot = slice_text(dot);
	return p;
}

/* --- cells ------------------------------------------------------------ */

static int
mutate(const char *path, struct op *op, unsigned flags)
{
	struct place p = kit_place(LEVEL_COLUMN, path);
	struct mutation m = {.table = p.table,
	    .row = p.row,
	    .ops = op,
	    .count = 1,
	    .flags = flags};

	op->family = p.family;
	op->qualifier = p.qualifier;
	return kit->methods->mutate(kit, &m);
}

int
kit_put_ttl(const char *path, int64_t timestamp, const char *value, int64_t ttl)
{
	struct op op = {.type = OP_PUT,
	    .timestamp = timestamp,
	    .value = slice_text(value),
	    .ttl = ttl};

	return mutate(path, &op, 0);
}

int
kit_put(const char *path, int64_t timestamp, const char *value)
{
	return kit_put_ttl(path, timestamp, value, 0);
}

int
kit_delete(const char *path, unsigned flags)
{
	struct op op = {.type = OP_DELETE_COLUMN, .timestamp = TS_LATEST};

	return mutate(path, &op, flags);
}

static void
read_value(const struct place *p, struct version version, struct buf *out)
{
	struct value *v;

	int r = kit->methods->value_open(kit, p, version, &v);
	if (r) {
		ck_assert_int_eq(r, -ENOENT);
		buf_text(out, "-");
		return;
	}
	size_t size = v->info.size, at = out->size;
	ck_assert_int_eq(buf_resize(out, at + size), 0);
	ck_assert_int_eq(kit->methods->value_read(v, 0, out->data + at, size),
	    (int64_t)size);
	kit->methods->value_close(v);
}

static const char *
text_of(const struct place *p)
{
	struct buf text = {0};

	read_value(p, newest, &text);
	const char *kept = keep(&text);
	buf_release(&text);
	return kept;
}

const char *
kit_get(const char *path)
{
	const struct place p = kit_place(LEVEL_COLUMN, path);

	return text_of(&p);
}

struct history {
	struct place place;
	struct buf text;
};

static int
add_version(void *context, const struct cell *cell)
{
	struct history *h = context;
	struct version at = {VERSION_AT, cell->timestamp};

	buf_printf(&h->text, "%s%lld=", h->text.size ? " " : "",
	    (long long)cell->timestamp);
	read_value(&h->place, at, &h->text);
	return 0;
}

const char *
kit_history(const char *path)
{
	struct history h = {.place = kit_place(LEVEL_COLUMN, path)};

	int r =
	    kit->methods->versions(kit, &h.place, TS_LATEST, add_version, &h);
	ck_assert(r == 0 || r == -ENOENT);
	const char *kept = keep(&h.text);
	buf_release(&h.text);
	return kept;
}

static int
fill(const struct source *s, uint64_t offset, void *to, size_t size)
{
	const unsigned *seed = s->context;

	for (size_t i = 0; i < size; i++)
		((uint8_t *)to)[i] =
		    (uint8_t)((offset + i) * 2654435761u >> 11 ^ *seed);
	return 0;
}

int
kit_put_big(const char *path, size_t size, unsigned seed)
{
	const struct source source = {size, fill, &seed};
	struct op op = {
	    .type = OP_PUT, .timestamp = TS_LATEST, .source = &source};

	return mutate(path, &op, 0);
}

bool
kit_is_big(struct place place, size_t size, unsigned seed)
{
	const struct source source = {size, fill, &seed};
	uint8_t *expected = malloc(size);
	struct buf found = {0};

	fill(&source, 0, expected, size);
	read_value(&place, newest, &found);
	bool same = slice_equal(buf_slice(&found), slice_of(expected, size));
	free(expected);
	buf_release(&found);
	return same;
}

int
kit_move(const struct move_spec *spec, int64_t *stored)
{
	struct move *m;

	int r = kit->methods->move_open(kit, spec, &m);
	if (r)
		return r;
	while ((r = kit->methods->move_try(m, stored)) == 1 &&
	       (r = kit->methods->move_prepare(m)) == 0)
		;
	kit->methods->move_close(m);
	return r;
}

/* --- the side
 * ------------------------------------------------------------------ */

int
kit_mkdir(enum level level, const char *path)
{
	const struct place p = kit_place(level, path);
	const struct attrs attrs = {.set = ATTR_MODE | ATTR_UID | ATTR_GID,
	    .mode = 0755,
	    .uid = 7,
	    .gid = 8};

	return kit->methods->dir_make(kit, &p, &attrs);
}

int
kit_rmdir(enum level level, const char *path)
{
	const struct place p = kit_place(level, path);

	return kit->methods->dir_remove(kit, &p);
}

int
kit_stat(struct place place, struct info *out)
{
	return kit->methods->stat(kit, &place, newest, out);
}

static int
read_text(const struct source *s, uint64_t offset, void *to, size_t size)
{
	memcpy(to, (const char *)s->context + offset, size);
	return 0;
}

int
kit_dot_put(struct place dot, const char *value)
{
	const struct source source = {strlen(value), read_text, value};
	const struct attrs attrs = {0};

	return kit->methods->dot_put(kit, &dot, &source, &attrs, 0);
}

static int
zeros(const struct source *s, uint64_t offset, void *to, size_t size)
{
	(void)s;
	(void)offset;
	memset(to, 'z', size);
	return 0;
}

int
kit_dot_put_size(struct place dot, uint64_t size, unsigned flags)
{
	const struct source source = {size, zeros, NULL};
	const struct attrs attrs = {0};

	return kit->methods->dot_put(kit, &dot, &source, &attrs, flags);
}

const char *
kit_dot_get(struct place dot)
{
	return text_of(&dot);
}

static int
add_name(void *context, const struct entry *entry, struct buf *skip)
{
	struct buf *names = context;

	(void)skip;
	if (names->size)
		buf_byte(names, ' ');
	buf_append(names, entry->name);
	if (entry->level == LEVEL_ROW_PART || entry->level == LEVEL_COLUMN_PART)
		buf_byte(names, '%');
	return LIST_MORE;
}

const char *
kit_list_place(struct place dir)
{
	struct buf names = {0};

	int r = kit->methods->list(kit, &dir, NULL, add_name, &names);
	ck_assert_msg(r == 0, "%s", why_text(r));
	const char *kept = keep(&names);
	buf_release(&names);
	return kept;
}

const char *
kit_list(enum level level, const char *path)
{
	return kit_list_place(kit_place(level, path));
}

size_t
kit_records(uint32_t table)
{
	struct ordered_cursor *c;
	struct txn t;
	size_t count = 0;

	ck_assert_int_eq(txn_read(kit_local(), &t), 0);
	const struct ordered_methods *o = kit_store->methods;
	ck_assert_int_eq(o->cursor(t.session, table, &c), 0);
	int r = o->seek(c, slice_of(NULL, 0), SEEK_FROM);
	for (; r == 0; r = o->next(c))
		count++;
	ck_assert_int_eq(r, 1);
	o->cursor_close(c);
	txn_end(&t, 0);
	return count;
}

static uint32_t
number(const char *table, const char *family, bool blobs)
{
	struct table *t;

	ck_assert_int_eq(table_get(kit_local(), slice_text(table), &t), 0);
	uint32_t n = t->side;
	if (family) {
		const struct local_family *f =
		    table_family(t, slice_text(family));
		ck_assert_ptr_nonnull(f);
		n = blobs ? f->blobs : f->cells;
	}
	table_put(t);
	return n;
}

uint32_t
kit_side_number(const char *table)
{
	return number(table, NULL, false);
}

uint32_t
kit_cells_number(const char *table, const char *family)
{
	return number(table, family, false);
}

uint32_t
kit_blobs_number(const char *table, const char *family)
{
	return number(table, family, true);
}
