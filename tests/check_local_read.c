/* Listing, scanning and reading values, in sizes beyond one snapshot. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/why.h"
#include "local_kit.h"

#define MANY 3000 /* more than READ_CELLS */

static const struct engine_methods *
methods(void)
{
	return kit_engine->methods;
}

/* Puts count columns into row r, many a call. */
static void
put_columns(const char *row, int count)
{
	static char names[500][8];
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
		ck_assert_int_eq(methods()->mutate(kit_engine, &m), 0);
	}
}

static void
put_rows(int count)
{
	char name[16];

	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "n%06d", i);
		kit_put(name, "q", name);
	}
}

static struct place
table(void)
{
	return (struct place){.level = LEVEL_TABLE, .table = slice_text("t")};
}

static struct place
family(const char *row)
{
	struct place place = kit_column(row, "");

	place.level = LEVEL_FAMILY;
	return place;
}

static void
delete_column(const char *row, const char *qualifier, unsigned flags)
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

	ck_assert_int_eq(methods()->mutate(kit_engine, &m), 0);
}

/* --- values
 * ---------------------------------------------------------------------- */

static const uint64_t sizes[] = {0, 1, INLINE_MAX, INLINE_MAX + 1, CHUNK - 1,
    CHUNK, CHUNK + 1, 3 * CHUNK + 5};

static struct value *
open_value(const char *qualifier)
{
	struct place place = kit_column("r", qualifier);
	struct value *v;

	int r =
	    methods()->value_open(kit_engine, &place, (struct version){0}, &v);
	ck_assert_msg(r == 0, "value: %s", why_text(r));
	return v;
}

START_TEST(a_value_of_any_size_comes_back)
{
	ck_assert_int_eq(kit_put_big("q", sizes[_i], 1), 0);
	kit_reopen();
	struct value *v = open_value("q");
	ck_assert_uint_eq(v->info.size, sizes[_i]);
	ck_assert(kit_same(v, sizes[_i], 1));
	methods()->value_close(v);
}
END_TEST

START_TEST(an_open_value_stays_whatever_becomes_of_the_cell)
{
	ck_assert_int_eq(kit_put_big("q", sizes[_i], 1), 0);
	struct value *v = open_value("q");
	kit_do("dc clean");
	ck_assert(kit_same(v, sizes[_i], 1));
	for (uint8_t i = 2; i < 6; i++)
		ck_assert_int_eq(kit_put_big("q", sizes[_i], i), 0);
	ck_assert(kit_same(v, sizes[_i], 1));
	methods()->value_close(v);
}
END_TEST

static int
any_chunk(void)
{
	struct local *l = (struct local *)kit_engine;
	struct table *t;
	struct txn txn;

	ck_assert_int_eq(table_get(l, slice_text("t"), &t), 0);
	ck_assert_int_eq(txn_read(l, &txn), 0);
	int any = blob_any(&txn, table_family(t, slice_text("f"))->blobs);
	txn_end(&txn, 0);
	table_put(t);
	return any;
}

START_TEST(chunks_go_with_their_last_reader)
{
	ck_assert_int_eq(kit_put_big("q", 3 * CHUNK, 1), 0);
	struct value *one = open_value("q"), *two = open_value("q");
	kit_do("dc");
	methods()->value_close(one);
	ck_assert_int_eq(any_chunk(), 1);
	methods()->value_close(two);
	ck_assert_int_eq(any_chunk(), 0);
}
END_TEST

static const char *const removals[] = {"dc", "dv", "df", "dfv1000", "p=x p p p",
    "{ df p5=x }", "dv1000", "dc1000", "df1000"};

START_TEST(chunks_go_however_the_cell_goes)
{
	ck_assert_int_eq(kit_put_big("q", CHUNK, 1), 0);
	ck_assert_int_eq(any_chunk(), 1);
	kit_do(removals[_i]);
	ck_assert_int_eq(any_chunk(), 0);
}
END_TEST

static int
fail_late(const struct source *s, uint64_t offset, void *to, size_t size)
{
	(void)s;
	memset(to, 1, size);
	return offset >= 2 * CHUNK ? -EIO : 0;
}

START_TEST(a_source_that_fails_leaves_no_chunk)
{
	struct source source = {3 * CHUNK, fail_late, NULL};
	struct op op = {.type = OP_PUT,
	    .family = slice_text("f"),
	    .qualifier = slice_text("q"),
	    .timestamp = TS_LATEST,
	    .source = &source};
	struct mutation m = {.table = slice_text("t"),
	    .row = slice_text("r"),
	    .ops = &op,
	    .count = 1};

	ck_assert_int_eq(methods()->mutate(kit_engine, &m), -EIO);
	ck_assert_int_eq(any_chunk(), 0);
	ck_assert_str_eq(kit_show(), "");
}
END_TEST

START_TEST(chunks_that_belong_to_nobody_go_at_the_next_start)
{
	uint8_t seed = 1;
	struct source source = kit_source(2 * CHUNK, &seed);
	struct local *l = (struct local *)kit_engine;
	struct table *t;
	uint64_t id;

	ck_assert_int_eq(kit_put_big("keep", 2 * CHUNK, 3), 0);
	ck_assert_int_eq(table_get(l, slice_text("t"), &t), 0);
	uint32_t blobs = table_family(t, slice_text("f"))->blobs;
	table_put(t);
	ck_assert_int_eq(blob_write(l, blobs, &source, &id), 0);
	kit_reopen();
	struct value *v = open_value("keep");
	ck_assert(kit_same(v, 2 * CHUNK, 3));
	methods()->value_close(v);
	kit_do("keep:dc");
	ck_assert_int_eq(any_chunk(), 0);
}
END_TEST

START_TEST(an_append_joins_what_is_too_large_for_memory)
{
	uint64_t size = _i ? 2 * CHUNK + 7 : INLINE_MAX - 3;
	char bytes[16];

	ck_assert_int_eq(kit_put_big("q", size, 1), 0);
	kit_do("a=the_end");
	struct value *v = open_value("q");
	ck_assert_uint_eq(v->info.size, size + 7);
	ck_assert_int_eq(
	    methods()->value_read(v, size, bytes, sizeof(bytes)), 7);
	ck_assert_mem_eq(bytes, "the_end", 7);
	methods()->value_close(v);
}
END_TEST

START_TEST(a_value_above_the_limit_is_refused)
{
	ck_assert_int_eq(kit_put_big("q", (10 << 20) + 1, 1), -EFBIG);
	ck_assert_int_eq(kit_put_big("q", 10 << 20, 1), 0);
	ck_assert_int_eq(kit_try("a=x", 0), -EFBIG);
	ck_assert_str_eq(kit_list(&(struct place){.level = LEVEL_FAMILY,
			     .table = slice_text("t"),
			     .row = slice_text("r"),
			     .family = slice_text("f")}),
	    "q:q");
}
END_TEST

/* --- versions
 * ---------------------------------------------------------------------- */

struct counted {
	int64_t next, step;
	int count, stop_at;
};

static int
count_down(void *context, const struct cell *cell)
{
	struct counted *c = context;

	ck_assert_int_eq(cell->timestamp, c->next);
	c->next -= c->step;
	return ++c->count == c->stop_at;
}

START_TEST(many_versions_are_listed_once_and_in_order)
{
	struct place place = kit_column("r", "q");
	struct counted all = {.next = 1000 + MANY - 1, .step = 1};
	struct counted behind = {.next = 1499, .step = 1};
	struct counted some = {
	    .next = 1000 + MANY - 1, .step = 1, .stop_at = 5};

	kit_rules(_i ? 1000000 : MANY, 0, 0);
	for (int i = 0; i < MANY; i++)
		kit_put("r", "q", "x");
	ck_assert_int_eq(methods()->versions(
			     kit_engine, &place, TS_LATEST, count_down, &all),
	    0);
	ck_assert_int_eq(all.count, MANY);
	ck_assert_int_eq(
	    methods()->versions(kit_engine, &place, 1500, count_down, &behind),
	    0);
	ck_assert_int_eq(behind.count, 500);
	ck_assert_int_eq(methods()->versions(
			     kit_engine, &place, TS_LATEST, count_down, &some),
	    0);
	ck_assert_int_eq(some.count, 5);
}
END_TEST

START_TEST(versions_counts_deep_columns_right)
{
	struct place place = kit_column("r", "q");
	struct counted all = {.next = 1099, .step = 1};

	kit_rules(50, 0, 0);
	for (int i = 0; i < 100; i++)
		kit_put("r", "q", "x");
	ck_assert_int_eq(methods()->versions(
			     kit_engine, &place, TS_LATEST, count_down, &all),
	    0);
	ck_assert_int_eq(all.count, 50);
	kit_do("dc1090");
	all = (struct counted){.next = 1099, .step = 1};
	ck_assert_int_eq(methods()->versions(
			     kit_engine, &place, TS_LATEST, count_down, &all),
	    0);
	ck_assert_int_eq(all.count, 9);
}
END_TEST

/* --- listing
 * ------------------------------------------------------------------------- */

struct names {
	int next, step, count;
	const char *skip;
	int (*meanwhile)(int count);
};

static int
check_name(void *context, const struct entry *entry, struct buf *skip)
{
	struct names *names = context;
	char want[16];

	snprintf(want, sizeof(want), "n%06d", names->next);
	ck_assert_msg(slice_equal(entry->name, slice_text(want)),
	    "%.*s listed, should be %s", (int)entry->name.size,
	    (const char *)entry->name.data, want);
	names->next += names->step;
	names->count++;
	if (names->meanwhile)
		ck_assert_int_eq(names->meanwhile(names->count), 0);
	if (!names->skip)
		return LIST_MORE;
	buf_append(skip, slice_head(entry->name, strlen(names->skip)));
	return LIST_SKIP;
}

static void
list_all(const struct place *dir, struct names *names)
{
	int r = methods()->list(kit_engine, dir, NULL, check_name, names);

	ck_assert_msg(r == 0, "list: %s", why_text(r));
}

START_TEST(many_rows_are_listed_once_and_in_order)
{
	struct place dir = table();
	struct names all = {.step = 1};

	put_rows(MANY);
	list_all(&dir, &all);
	ck_assert_int_eq(all.count, MANY);
}
END_TEST

START_TEST(many_columns_are_listed_once_and_in_order)
{
	struct place dir = family("r");
	struct names all = {.step = 1};

	put_columns("r", MANY);
	kit_put("r2", "q", "x");
	list_all(&dir, &all);
	ck_assert_int_eq(all.count, MANY);
}
END_TEST

static const struct {
	const char *prefix; /* only its length counts */
	int step;
} skips[] = {{"nXXXXX", 10}, {"nXXXX", 100}, {"nXXX", 1000}, {"n", MANY}};

START_TEST(a_skipped_prefix_is_not_listed)
{
	struct place dir = _i % 2 ? table() : family("r");
	struct names some = {
	    .step = skips[_i / 2].step, .skip = skips[_i / 2].prefix};

	if (_i % 2)
		put_rows(MANY);
	else
		put_columns("r", MANY);
	list_all(&dir, &some);
	ck_assert_int_eq(some.count, MANY / some.step);
}
END_TEST

START_TEST(a_listing_goes_on_behind_a_name)
{
	struct place dir = _i ? table() : family("r");
	struct entry after = {.level = _i ? LEVEL_ROW : LEVEL_COLUMN,
	    .name = slice_text("n001233")};
	struct names rest = {.next = 1234, .step = 1};

	if (_i)
		put_rows(MANY);
	else
		put_columns("r", MANY);
	ck_assert_int_eq(
	    methods()->list(kit_engine, &dir, &after, check_name, &rest), 0);
	ck_assert_int_eq(rest.count, MANY - 1234);
}
END_TEST

/* Removes each name once it was listed. */
static int
remove_listed(int count)
{
	char name[16];

	snprintf(name, sizeof(name), "n%06d", count - 1);
	delete_column("r", name, MUTATE_KEEP);
	return 0;
}

START_TEST(names_can_be_removed_while_they_are_listed)
{
	struct place dir = family("r");
	struct names all = {.step = 1, .meanwhile = remove_listed};

	put_columns("r", MANY);
	list_all(&dir, &all);
	ck_assert_int_eq(all.count, MANY);
	ck_assert_str_eq(kit_list(&dir), "");
}
END_TEST

START_TEST(rows_are_merged_over_families)
{
	struct place dir = table();
	struct place row = {.level = LEVEL_ROW,
	    .table = slice_text("t"),
	    .row = slice_text("r")};

	kit_do("p5 g/p5");
	kit_put("b", "q", "x");
	kit_put("z", "q", "x");
	ck_assert_str_eq(kit_list(&dir), "r:b r:r r:z");
	ck_assert_str_eq(kit_list(&row), "f:f f:g");
	kit_do("dc");
	ck_assert_str_eq(kit_list(&row), "f:g");
	kit_do("g/dc");
	ck_assert_str_eq(kit_list(&dir), "r:b r:z");
}
END_TEST

START_TEST(what_has_expired_is_not_listed)
{
	struct place dir = table(), columns = family("r");

	kit_do("a:p900=x~50 b:p900=x~500 b:p800");
	kit_put("s", "q", "x");
	ck_assert_str_eq(kit_list(&columns), "q:b");
	kit_do("b:dv800 clock=2000");
	ck_assert_str_eq(kit_list(&columns), "");
	ck_assert_str_eq(kit_list(&dir), "r:s");
}
END_TEST

START_TEST(the_empty_qualifier_is_listed_first)
{
	struct place dir = family("r");

	kit_do(":p1 a:p1");
	ck_assert_str_eq(kit_list(&dir), "q: q:a");
}
END_TEST

static void
make_part(enum level level, const char *prefix)
{
	struct place place = level == LEVEL_ROW_PART ? table() : family("r");
	struct attrs attrs = {
	    .set = ATTR_MODE | ATTR_UID | ATTR_GID, .mode = 0700};

	place.level = level;
	if (level == LEVEL_ROW_PART)
		place.row = slice_text(prefix);
	else
		place.qualifier = slice_text(prefix);
	int r = methods()->dir_make(kit_engine, &place, &attrs);
	ck_assert_msg(r == 0, "dir_make: %s", why_text(r));
}

START_TEST(kept_parts_stand_among_rows_and_columns)
{
	struct place rows = table(), columns = family("r");
	struct place part = {.level = LEVEL_ROW_PART,
	    .table = slice_text("t"),
	    .row = slice_text("s")};

	kit_do("b:p1 d:p1");
	kit_put("s", "q", "x");
	kit_put("s1", "q", "x");
	make_part(LEVEL_ROW_PART, "s");
	make_part(LEVEL_ROW_PART, "a");
	make_part(LEVEL_ROW_PART, "sz");
	make_part(LEVEL_COLUMN_PART, "c");
	make_part(LEVEL_COLUMN_PART, "d");
	ck_assert_str_eq(kit_list(&rows), "P:a r:r r:s P:s r:s1 P:sz");
	ck_assert_str_eq(kit_list(&part), "r:s1 P:sz");
	ck_assert_str_eq(kit_list(&columns), "q:b Q:c q:d Q:d");
}
END_TEST

START_TEST(a_listing_goes_on_between_a_row_and_its_part)
{
	struct place dir = table();
	struct entry row = {.level = LEVEL_ROW, .name = slice_text("n000000")};
	struct entry part = {
	    .level = LEVEL_ROW_PART, .name = slice_text("n000000")};
	struct names both = {.step = 1}, one = {.next = 1, .step = 1};

	kit_put("n000000", "q", "x");
	kit_put("n000001", "q", "x");
	make_part(LEVEL_ROW_PART, "n000000");
	ck_assert_int_eq(
	    methods()->list(kit_engine, &dir, &row, check_name, &both), 0);
	ck_assert_int_eq(both.count, 2);
	ck_assert_int_eq(
	    methods()->list(kit_engine, &dir, &part, check_name, &one), 0);
	ck_assert_int_eq(one.count, 1);
}
END_TEST

START_TEST(tables_and_schema_files_are_listed)
{
	struct place root = {.level = LEVEL_ROOT};
	struct place schema = {.level = LEVEL_SCHEMA};

	ck_assert_str_eq(kit_list(&root), "t:t");
	ck_assert_str_eq(kit_list(&schema), "s:t");
}
END_TEST

/* --- existence
 * ------------------------------------------------------------------------ */

static bool
family_there(void)
{
	struct place place = family("r");
	struct info info;
	int r = methods()->stat(kit_engine, &place, (struct version){0}, &info);

	ck_assert(r == 0 || r == -ENOENT);
	return r == 0;
}

/* However the names go, the family is there while one is left. */
START_TEST(a_family_is_there_until_its_last_cell_goes)
{
	char name[16];
	int count = 200;

	put_columns("r", count);
	for (int i = 0; i < count; i++) {
		int which[] = {i, count - 1 - i, i * 77 % count};
		ck_assert(family_there());
		snprintf(name, sizeof(name), "n%06d", which[_i]);
		delete_column("r", name, 0);
	}
	ck_assert(!family_there());
}
END_TEST

START_TEST(a_family_that_lost_its_last_cell_through_the_mount_is_kept)
{
	struct place dir = table();

	kit_put("r", "q", "x");
	delete_column("r", "q", MUTATE_KEEP);
	ck_assert(family_there());
	ck_assert_str_eq(kit_list(&dir), "r:r");
	kit_put("r", "q", "x");
	delete_column("r", "q", 0);
	ck_assert(!family_there());
	ck_assert_str_eq(kit_list(&dir), "");
}
END_TEST

/* --- scans
 * ----------------------------------------------------------------------------
 */

static int
scan_count(const struct scan_spec *spec, uint64_t *values)
{
	struct scan *scan;
	struct cell cell;
	int count = 0, r;

	r = methods()->scan_open(kit_engine, spec, &scan);
	ck_assert_msg(r == 0, "scan: %s", why_text(r));
	while ((r = methods()->scan_next(scan, &cell)) == 0) {
		count++;
		if (values)
			*values += cell.value.size;
	}
	ck_assert_msg(r == 1, "scan: %s", why_text(r));
	methods()->scan_close(scan);
	return count;
}

START_TEST(many_cells_of_one_row_are_scanned)
{
	struct scan_spec spec = {
	    .table = slice_text("t"), .reversed = _i, .limit = 1};
	uint64_t values = 0;

	put_columns("r", MANY);
	kit_put(_i ? "a" : "s", "q", "x");
	ck_assert_int_eq(scan_count(&spec, &values), MANY);
	ck_assert_uint_eq(values, MANY * 7);
	spec.limit = 2;
	spec.keys_only = true;
	values = 0;
	ck_assert_int_eq(scan_count(&spec, &values), MANY + 1);
	ck_assert_uint_eq(values, 0);
}
END_TEST

START_TEST(a_row_behind_others_is_scanned_in_one_state)
{
	struct scan_spec spec = {.table = slice_text("t")};
	struct scan *scan;
	struct cell cell;
	int count = 0;

	put_columns("a", 900);
	put_columns("b", 900);
	ck_assert_int_eq(methods()->scan_open(kit_engine, &spec, &scan), 0);
	while (methods()->scan_next(scan, &cell) == 0) {
		ck_assert(slice_equal(
		    cell.row, count < 900 ? slice_text("a") : slice_text("b")));
		count++;
		/* Nothing of b may be gathered beside all of a. */
		if (count == 1)
			delete_column("b", "n000000", 0);
	}
	ck_assert_int_eq(count, 1799);
	methods()->scan_close(scan);
}
END_TEST

START_TEST(many_rows_are_scanned_both_ways)
{
	struct scan_spec spec = {.table = slice_text("t"),
	    .start = slice_text(_i ? "n002999" : "n000001"),
	    .stop = slice_text(_i ? "n000001" : "n002999"),
	    .reversed = _i};

	put_rows(MANY);
	ck_assert_int_eq(scan_count(&spec, NULL), MANY - 2);
	spec.stop_inclusive = true;
	ck_assert_int_eq(scan_count(&spec, NULL), MANY - 1);
	spec.start_exclusive = true;
	ck_assert_int_eq(scan_count(&spec, NULL), MANY - 2);
	spec.limit = 10;
	ck_assert_int_eq(scan_count(&spec, NULL), 10);
}
END_TEST

START_TEST(many_versions_of_a_column_are_scanned)
{
	struct column column = {
	    .family = slice_text("f"), .qualifier = slice_text("q")};
	struct scan_spec spec = {
	    .table = slice_text("t"), .columns = &column, .column_count = 1};

	kit_rules(MANY, 0, 0);
	for (int i = 0; i < MANY; i++)
		kit_put("r", "q", "x");
	kit_put("r", "r", "x");
	kit_put("s", "q", "x");
	ck_assert_int_eq(scan_count(&spec, NULL), MANY + 1);
	spec.since = 1500;
	spec.until = 1600;
	ck_assert_int_eq(scan_count(&spec, NULL), 100);
	spec.versions = 1;
	ck_assert_int_eq(scan_count(&spec, NULL), 1);
}
END_TEST

START_TEST(a_range_cannot_dig_out_what_was_pushed_out)
{
	struct scan_spec spec = {.table = slice_text("t"), .until = 5};

	kit_do("p1 p2 p3 p4 p5 p6 p7 p8");
	ck_assert_int_eq(scan_count(&spec, NULL), 0);
}
END_TEST

START_TEST(big_values_are_read_while_the_scan_goes_on)
{
	struct scan_spec spec = {.table = slice_text("t")};
	struct scan *scan;
	struct cell cell;
	uint8_t bytes[10];

	ck_assert_int_eq(kit_put_big("a", CHUNK + 10, 1), 0);
	ck_assert_int_eq(kit_put_big("b", CHUNK + 10, 2), 0);
	ck_assert_int_eq(methods()->scan_open(kit_engine, &spec, &scan), 0);
	ck_assert_int_eq(methods()->scan_next(scan, &cell), 0);
	kit_do("df");
	ck_assert_int_eq(methods()->scan_read(scan, 0, bytes, 1), 1);
	ck_assert_uint_eq(bytes[0], 1);
	ck_assert_int_eq(methods()->scan_next(scan, &cell), 0);
	ck_assert_int_eq(methods()->scan_read(scan, CHUNK + 5, bytes, 10), 5);
	ck_assert_int_eq(methods()->scan_next(scan, &cell), 1);
	methods()->scan_close(scan);
	ck_assert_int_eq(any_chunk(), 0);
}
END_TEST

START_TEST(an_unknown_family_is_refused)
{
	struct column column = {
	    .family = slice_text("none"), .whole_family = true};
	struct scan_spec spec = {
	    .table = slice_text("t"), .columns = &column, .column_count = 1};
	struct scan *scan;

	ck_assert_int_eq(
	    methods()->scan_open(kit_engine, &spec, &scan), -ENOENT);
	ck_assert_ptr_null(scan);
}
END_TEST

/* --- large deletes
 * ---------------------------------------------------------------------- */

START_TEST(a_whole_family_of_any_size_goes_in_one_call)
{
	struct place dir = family("r");

	put_columns("r", BATCH_CELLS + 2000);
	ck_assert_int_eq(kit_try("df5000", 0), -E2BIG);
	ck_assert_int_eq(kit_put_big("big", CHUNK, 1), 0);
	kit_do("df");
	ck_assert_str_eq(kit_list(&dir), "");
	ck_assert_int_eq(any_chunk(), 0);
}
END_TEST

static void
add(TCase *c, const TTest *test, int times)
{
	tcase_add_loop_test(c, test, 0, times);
}

int
main(void)
{
	Suite *suite = suite_create("local_read");
	TCase *values = tcase_create("values");
	TCase *lists = tcase_create("lists");
	TCase *scans = tcase_create("scans");
	int all_sizes = sizeof(sizes) / sizeof(sizes[0]);

	add(values, a_value_of_any_size_comes_back, all_sizes);
	add(values, an_open_value_stays_whatever_becomes_of_the_cell,
	    all_sizes);
	add(values, chunks_go_with_their_last_reader, 1);
	add(values, chunks_go_however_the_cell_goes,
	    sizeof(removals) / sizeof(removals[0]));
	add(values, a_source_that_fails_leaves_no_chunk, 1);
	add(values, chunks_that_belong_to_nobody_go_at_the_next_start, 1);
	add(values, an_append_joins_what_is_too_large_for_memory, 2);
	add(values, a_value_above_the_limit_is_refused, 1);
	add(values, a_whole_family_of_any_size_goes_in_one_call, 1);
	add(lists, many_versions_are_listed_once_and_in_order, 2);
	add(lists, versions_counts_deep_columns_right, 1);
	add(lists, many_rows_are_listed_once_and_in_order, 1);
	add(lists, many_columns_are_listed_once_and_in_order, 1);
	add(lists, a_skipped_prefix_is_not_listed, 8);
	add(lists, a_listing_goes_on_behind_a_name, 2);
	add(lists, names_can_be_removed_while_they_are_listed, 1);
	add(lists, rows_are_merged_over_families, 1);
	add(lists, what_has_expired_is_not_listed, 1);
	add(lists, the_empty_qualifier_is_listed_first, 1);
	add(lists, kept_parts_stand_among_rows_and_columns, 1);
	add(lists, a_listing_goes_on_between_a_row_and_its_part, 1);
	add(lists, tables_and_schema_files_are_listed, 1);
	add(lists, a_family_is_there_until_its_last_cell_goes, 3);
	add(lists, a_family_that_lost_its_last_cell_through_the_mount_is_kept,
	    1);
	add(scans, many_cells_of_one_row_are_scanned, 2);
	add(scans, a_row_behind_others_is_scanned_in_one_state, 1);
	add(scans, many_rows_are_scanned_both_ways, 2);
	add(scans, many_versions_of_a_column_are_scanned, 1);
	add(scans, a_range_cannot_dig_out_what_was_pushed_out, 1);
	add(scans, big_values_are_read_while_the_scan_goes_on, 1);
	add(scans, an_unknown_family_is_refused, 1);

	TCase *all[] = {values, lists, scans};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		tcase_set_timeout(all[i], 60);
		tcase_add_checked_fixture(all[i], kit_open, kit_close);
		suite_add_tcase(suite, all[i]);
	}
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
