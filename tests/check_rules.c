/* What a running HBase 2.6.2 answered to sequences of operations, its families
 * having NEW_VERSION_BEHAVIOR, asked of us as they stand, after a clean-up and
 * after a reopening. In tests/vectors/rules:
 *
 *   sequence NAME     an empty table
 *   family ...        as in a schema
 *   do ...            put ROW (FAMILY QUALIFIER TIMESTAMP VALUE)... [ttl=MS],
 *                     delete, deletecol, deletefam, deletefamver, deleterow,
 *                     incr, append, cas ... -- ..., sleep MS, flush, compact,
 *                     begin (of one atomic call), commit
 *   gives ...         what the one before gave; ! an error
 *   ask get|scan ...  [versions=N|all] [time=A,B] [ts=T] [col=F:Q] [filter=F]
 *   is CELL | CELL    ROW FAMILY:QUALIFIER TIMESTAMP VALUE
 *   hbase ...         in front of is: HBase's answer where ours differs, and
 *   because ...       the reason
 *
 * @N is N ms from now, NOW a timestamp that the store chose, - none given.
 *
 * Not there: raw reads, and families that keep deleted cells; where HBase's own
 * answers change with a flush or compaction (its sequences e4, k18, k20, k22,
 * k33, g2, e20, m2); what tried its client (i5, i6, f12, f14, a read of exactly
 * 2^63-1) or began without NEW_VERSION_BEHAVIOR (m5).
 */
#include "tests/table_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/filter.h"
#include "kv/text.h"
#include "kv/why.h"

#define WORDS 24
#define START 1700000000000

static int64_t now;
static struct buf families; /* the schema */
static bool made;	    /* the table */

/* One mutation being gathered; its bytes. */
static struct op ops[WORDS];
static struct buf bytes[WORDS * 4];
static size_t op_count, used;
static bool gathering;
static char row[100];

/* --- words -------------------------------------------------------------- */

/* Splits at blanks, "..." being one word; quotes go. */
static int
split(char *text, char **words)
{
	int count = 0;

	while (*text && count < WORDS) {
		bool quoted = *text == '"';
		text += quoted;
		words[count++] = text;
		char *inside = quoted ? NULL : strchr(text, '"');
		char *end = strchr(text, quoted ? '"' : ' ');
		if (inside && (!end || inside < end)) {
			memmove(inside, inside + 1, strlen(inside));
			end = strchr(inside, '"');
		}
		if (!end)
			break;
		*end++ = 0;
		text = end + strspn(end, " ");
	}
	return count;
}

static struct slice
bytes_of(const char *word)
{
	struct buf *to = &bytes[used++];

	ck_assert_uint_le(used, WORDS * 4);
	buf_clear(to);
	OK(text_parse(slice_text(word), to));
	return buf_slice(to);
}

static int64_t
time_of(const char *word)
{
	if (strcmp(word, "-") == 0 || strcmp(word, "LATEST") == 0)
		return TS_LATEST;
	if (word[0] == '@')
		return now + strtoll(word + 1, NULL, 10) +
		       (strstr(word, "+1") ? 1 : 0);
	return strcmp(word, "MAX") ? strtoll(word, NULL, 10) : INT64_MAX;
}

/* --- doing -------------------------------------------------------------- */

static struct buf result; /* of an increment or append */

static void
add_op(enum op_type type, const char *family, const char *qualifier,
    const char *timestamp, const char *value)
{
	struct op *op = &ops[op_count++];

	ck_assert_uint_lt(op_count, WORDS);
	*op = (struct op){
	    .type = type,
	    .family = bytes_of(family),
	    .timestamp = timestamp ? time_of(timestamp) : TS_LATEST,
	    .result = &result,
	};
	if (qualifier)
		op->qualifier = bytes_of(qualifier);
	if (type == OP_INCREMENT)
		op->delta = strtoll(value, NULL, 10);
	else if (value)
		op->value = bytes_of(value);
	if (op->timestamp < 0)
		op->timestamp = -1;
}

static void
add_put(char **words, int count)
{
	int64_t ttl = 0;

	if (strncmp(words[count - 1], "ttl=", 4) == 0)
		ttl = strtoll(words[--count] + 4, NULL, 10);
	for (int i = 2; i + 3 < count; i += 4) {
		add_op(
		    OP_PUT, words[i], words[i + 1], words[i + 2], words[i + 3]);
		ops[op_count - 1].ttl = ttl;
	}
}

static void
add_row(char **words, int count)
{
	struct schema schema;

	OK(kit->methods->table_schema(kit, slice_text("t"), &schema));
	for (size_t i = 0; i < schema.count; i++) {
		buf_byte(&schema.families[i].name, 0);
		add_op(OP_DELETE_FAMILY, (char *)schema.families[i].name.data,
		    NULL, count > 2 ? words[2] : NULL, NULL);
	}
	schema_release(&schema);
}

/* Adds the ops of a word's meaning; false: it has another. */
static bool
add_words(char **w, int count)
{
	const char *time = count > 4 ? w[4] : NULL;
	const char *family_time = count > 3 ? w[3] : NULL;

	if (strcmp(w[0], "put") == 0)
		add_put(w, count);
	else if (strcmp(w[0], "delete") == 0)
		add_op(OP_DELETE_VERSION, w[2], w[3], time, NULL);
	else if (strcmp(w[0], "deletecol") == 0)
		add_op(OP_DELETE_COLUMN, w[2], w[3], time, NULL);
	else if (strcmp(w[0], "deletefam") == 0)
		add_op(OP_DELETE_FAMILY, w[2], NULL, family_time, NULL);
	else if (strcmp(w[0], "deletefamver") == 0)
		add_op(OP_DELETE_FAMILY_VERSION, w[2], NULL, family_time, NULL);
	else if (strcmp(w[0], "deleterow") == 0)
		add_row(w, count);
	else if (strcmp(w[0], "incr") == 0)
		add_op(OP_INCREMENT, w[2], w[3], count > 5 ? w[5] : NULL, w[4]);
	else if (strcmp(w[0], "append") == 0)
		add_op(OP_APPEND, w[2], w[3], count > 5 ? w[5] : NULL, w[4]);
	else
		return false;
	snprintf(row, sizeof(row), "%s", w[1]);
	return true;
}

static int
mutate(const struct condition *condition, struct buf *said)
{
	struct mutation m = {
	    .table = slice_text("t"),
	    .row = bytes_of(row),
	    .ops = ops,
	    .count = op_count,
	    .condition = condition,
	};
	int r = 0;

	for (size_t i = 0; i < op_count; i++)
		if (ops[i].timestamp < 0 ||
		    (ops[i].type == OP_PUT && ops[i].timestamp > TS_MAX &&
			ops[i].timestamp != TS_LATEST))
			r = -1; /* what the front door refuses */
	buf_clear(&result);
	if (r == 0)
		r = kit->methods->mutate(kit, &m);
	if (r < 0)
		buf_text(said, "!");
	else if (condition)
		buf_text(said, m.applied ? "true" : "false");
	else if (ops[0].type == OP_INCREMENT || ops[0].type == OP_APPEND) {
		text_print(m.row, said);
		buf_byte(said, ' ');
		text_print(ops[0].family, said);
		buf_byte(said, ':');
		text_print(ops[0].qualifier, said);
		buf_printf(said, " %lld ", (long long)ops[0].stored);
		text_print(buf_slice(&result), said);
	}
	return r;
}

static void
check_and_mutate(char **w, int count, struct buf *said)
{
	static const char *const names[] = {
	    [CMP_LESS] = "LESS",
	    [CMP_LESS_OR_EQUAL] = "LESS_OR_EQUAL",
	    [CMP_EQUAL] = "EQUAL",
	    [CMP_NOT_EQUAL] = "NOT_EQUAL",
	    [CMP_GREATER_OR_EQUAL] = "GREATER_OR_EQUAL",
	    [CMP_GREATER] = "GREATER",
	};
	struct condition condition = {
	    .family = slice_text(w[2]),
	    .qualifier = bytes_of(w[3]),
	};
	int i = 0;

	while (i < COUNT(names) && strcmp(names[i], w[4]))
		i++;
	condition.compare = (enum compare)i;
	if (strcmp(w[5], "null"))
		condition.expected = bytes_of(w[5]);
	ck_assert(add_words(w + 7, count - 7));
	mutate(&condition, said);
}

static void
make_table(void)
{
	buf_byte(&families, 0);
	if (!made)
		OK(kit_create("t", (char *)families.data));
	made = true;
}

static void
do_line(char *line, struct buf *said)
{
	char *w[WORDS];
	int count = split(line, w);

	make_table();
	buf_clear(said);
	if (!gathering)
		op_count = used = 0;
	if (strcmp(w[0], "begin") == 0) {
		gathering = true;
	} else if (strcmp(w[0], "commit") == 0) {
		gathering = false;
		mutate(NULL, said);
	} else if (strcmp(w[0], "sleep") == 0) {
		now += atoi(w[1]);
		clock_set(&kit_clock, now);
	} else if (strcmp(w[0], "cas") == 0) {
		check_and_mutate(w, count, said);
	} else if (add_words(w, count) && !gathering) {
		mutate(NULL, said);
	} /* else flush, compact, which change no answer */
}

/* --- asking ------------------------------------------------------------- */

static void
ask_word(struct scan_spec *spec, struct column *column, struct filter **f,
    char *word)
{
	char *value = strchr(word, '=') + 1, *rest;

	if (strncmp(word, "versions", 8) == 0)
		spec->versions =
		    strcmp(value, "all") ? (uint32_t)atoi(value) : 0;
	else if (strncmp(word, "ts", 2) == 0) {
		spec->since = time_of(value);
		spec->until = spec->since + 1;
	} else if (strncmp(word, "time", 4) == 0) {
		spec->since = time_of(strtok_r(value, ",", &rest));
		spec->until = time_of(rest);
	} else if (strncmp(word, "col", 3) == 0) {
		char *colon = strchr(value, ':');
		*colon = 0;
		column->family = slice_text(value);
		column->qualifier = bytes_of(colon + 1);
		spec->columns = column;
		spec->column_count = 1;
	} else {
		OK(filter_parse(slice_text(value), f));
		spec->filter = *f;
	}
}

static void
print_cell(const struct cell *cell, struct buf *out)
{
	buf_text(out, out->size ? " | " : "");
	text_print(cell->row, out);
	buf_byte(out, ' ');
	text_print(cell->family, out);
	buf_byte(out, ':');
	text_print(cell->qualifier, out);
	buf_printf(out, " %lld ", (long long)cell->timestamp);
	if (cell->size)
		text_print(cell->value, out);
	else
		buf_text(out, "\"\"");
}

static void
ask_line(const char *line, struct buf *out)
{
	struct scan_spec spec = {.table = slice_text("t"), .versions = 1};
	char *copy = strdup(line), *w[WORDS];
	int count = split(copy, w), i = 1;
	struct column column = {.whole_family = false};
	struct filter *f = NULL;
	struct scan *scan;
	struct cell cell;

	used = 0;
	buf_clear(out);
	if (strcmp(w[0], "get") == 0) {
		spec.start = spec.stop = bytes_of(w[i++]);
		spec.stop_inclusive = true;
	}
	for (; i < count; i++)
		ask_word(&spec, &column, &f, w[i]);
	OK(kit->methods->scan_open(kit, &spec, &scan));
	int r;
	while ((r = kit->methods->scan_next(scan, &cell)) == 0)
		print_cell(&cell, out);
	kit->methods->scan_close(scan);
	ck_assert_int_eq(r, 1);
	filter_free(f);
	free(copy);
}

/* --- comparing ---------------------------------------------------------- */

/* Whether two words of cells say the same. */
static bool
word_agrees(const char *expected, const char *got)
{
	if (strcmp(expected, "NOW") == 0)
		return strtoll(got, NULL, 10) >= START;
	if (expected[0] == '@')
		return time_of(expected) == strtoll(got, NULL, 10);
	/* HBase escapes more than we do. */
	struct buf a = {0}, b = {0};
	OK(text_parse(slice_text(expected), &a));
	OK(text_parse(slice_text(got), &b));
	bool same = slice_equal(buf_slice(&a), buf_slice(&b));
	buf_release(&a);
	buf_release(&b);
	return same;
}

static bool
agrees(const char *expected, const char *got)
{
	char *a = strdup(expected), *b = strdup(got);
	char *end_a = NULL, *end_b = NULL;
	char *x = strtok_r(a, " ", &end_a), *y = strtok_r(b, " ", &end_b);

	while (x && y && word_agrees(x, y)) {
		x = strtok_r(NULL, " ", &end_a);
		y = strtok_r(NULL, " ", &end_b);
	}
	bool same = !x && !y;
	free(a);
	free(b);
	return same;
}

struct replay {
	int line, asked, wrong;
	char sequence[20];
	char *hbase; /* its answer, where ours differs */
	char *ask;
	struct buf said;
};

static void
compare(struct replay *r, const char *what, const char *expected)
{
	buf_byte(&r->said, 0);
	r->asked++;
	if (agrees(expected, (char *)r->said.data))
		return;
	r->wrong++;
	fprintf(stderr, "rules:%d: %s: %s\n  is %s\n  not %s\n", r->line,
	    r->sequence, what, expected, (char *)r->said.data);
}

static void
compare_ask(struct replay *r, const char *expected)
{
	make_table();
	ck_assert(!r->hbase || strcmp(r->hbase, expected));
	free(r->hbase);
	r->hbase = NULL;
	for (int i = 0; i < 3; i++) {
		if (i == 1)
			OK(kit->methods->compact(
			    kit, slice_text("t"), slice_text("")));
		if (i == 2)
			kit_reopen();
		ask_line(r->ask, &r->said);
		compare(r, r->ask, expected);
	}
}

static void
begin_sequence(void)
{
	if (kit)
		kit_teardown();
	kit_setup();
	now = START;
	clock_set(&kit_clock, now);
	buf_clear(&families);
	made = gathering = false;
}

static void
replay_line(struct replay *r, char *line)
{
	char *rest;

	line[strcspn(line, "\n")] = 0;
	rest = strchr(line, ' ');
	rest = rest ? rest + 1 : line + strlen(line);
	r->line++;
	if (strncmp(line, "sequence", 8) == 0) {
		snprintf(r->sequence, sizeof(r->sequence), "%s", rest);
		begin_sequence();
	} else if (strncmp(line, "family", 6) == 0) {
		buf_printf(&families, "%s\n", line);
	} else if (strncmp(line, "do", 2) == 0) {
		do_line(rest, &r->said);
	} else if (strncmp(line, "gives", 5) == 0) {
		compare(r, "gives", rest);
	} else if (strncmp(line, "ask", 3) == 0) {
		free(r->ask);
		r->ask = strdup(rest);
	} else if (strncmp(line, "hbase", 5) == 0) {
		r->hbase = strdup(rest);
	} else if (strncmp(line, "because", 7) == 0) {
		ck_assert_ptr_nonnull(r->hbase);
	} else {
		compare_ask(r, rest);
	}
}

START_TEST(sequences_answer_as_hbase)
{
	FILE *file = fopen(VECTORS "/rules", "r");
	struct replay r = {.line = 0};
	char *line = NULL;
	size_t room = 0;

	ck_assert_ptr_nonnull(file);
	while (getline(&line, &room, file) >= 0)
		replay_line(&r, line);
	fclose(file);
	free(line);
	free(r.ask);
	buf_release(&r.said);
	ck_assert_int_gt(r.asked, 500);
	ck_assert_int_eq(r.wrong, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rules");
	TCase *c = kit_topic(suite, "vectors", kit_setup, kit_teardown);

	tcase_add_test(c, sequences_answer_as_hbase);
	return suite_run(suite);
}
