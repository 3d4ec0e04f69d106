/* Reading values, versions and scans, in sizes beyond one snapshot. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/local_blob.h"
#include "kv/local_keys.h"
#include "kv/local_table.h"
#include "kv/local_txn.h"
#include "kv/why.h"
#include "local_kit.h"
#include "suite.h"

#define MANY 3000 /* more than READ_CELLS */

static const struct engine_methods *
methods(void)
{
	return kit_engine->methods;
}

/* --- values ------------------------------------------------------------- */

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

/* --- readers beside a writer -------------------------------------------- */

#define REWRITES 300

static void *
rewrite(void *failed)
{
	for (int i = 0; i < REWRITES; i++)
		if (kit_put_big("q", INLINE_MAX + 1000, (uint8_t)i))
			return kit_engine; /* not NULL: failed */
	return failed;
}

/* Whether the value is one that was put, whole. */
static bool
whole(struct value *v)
{
	uint8_t first;

	return methods()->value_read(v, 0, &first, 1) == 1 &&
	       kit_same(v, INLINE_MAX + 1000, first);
}

static void *
scan_whole(void *failed)
{
	struct scan_spec spec = {.table = slice_text("t"), .versions = 1};
	uint8_t bytes[2];
	struct cell cell;

	for (int i = 0; i < REWRITES; i++) {
		struct scan *scan;
		if (methods()->scan_open(kit_engine, &spec, &scan))
			return kit_engine;
		int r = methods()->scan_next(scan, &cell);
		int64_t got = methods()->scan_read(scan, 0, bytes, 2);
		methods()->scan_close(scan);
		if (r || got != 2 || bytes[1] != (uint8_t)(bytes[0] + 31))
			return kit_engine;
	}
	return failed;
}

START_TEST(readers_see_whole_values_while_they_are_replaced)
{
	pthread_t writer, scanner;
	void *failed;

	kit_rules(1, 0, 0);
	ck_assert_int_eq(kit_put_big("q", INLINE_MAX + 1000, 1), 0);
	pthread_create(&writer, NULL, rewrite, NULL);
	pthread_create(&scanner, NULL, scan_whole, NULL);
	for (int i = 0; i < REWRITES; i++) {
		struct value *v = open_value("q");
		ck_assert(whole(v));
		methods()->value_close(v);
	}
	pthread_join(writer, &failed);
	ck_assert_ptr_null(failed);
	pthread_join(scanner, &failed);
	ck_assert_ptr_null(failed);
	kit_do("dc");
	ck_assert_int_eq(any_chunk(), 0);
}
END_TEST

/* --- versions ----------------------------------------------------------- */

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
	for (int64_t at = 900; at < 1000 + MANY; at += 333) {
		struct info info;
		ck_assert_int_eq(methods()->stat(kit_engine, &place,
				     (struct version){VERSION_AT, at}, &info),
		    at < 1000 ? -ENOENT : 0);
		ck_assert_int_eq(info.timestamp, at < 1000 ? 0 : at);
	}
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

/* --- scans -------------------------------------------------------------- */

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

	kit_put_columns("r", MANY);
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

	kit_put_columns("a", 900);
	kit_put_columns("b", 900);
	ck_assert_int_eq(methods()->scan_open(kit_engine, &spec, &scan), 0);
	while (methods()->scan_next(scan, &cell) == 0) {
		ck_assert(slice_equal(
		    cell.row, count < 900 ? slice_text("a") : slice_text("b")));
		count++;
		/* Nothing of b may be gathered beside all of a. */
		if (count == 1)
			kit_delete_column("b", "n000000", 0);
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

	kit_put_rows(MANY);
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

/* --- large deletes ------------------------------------------------------ */

START_TEST(a_whole_family_of_any_size_goes_in_one_call)
{
	struct place dir = kit_family("r");

	kit_put_columns("r", BATCH_CELLS + 2000);
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
	TCase *versions = tcase_create("versions");
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
	add(values, readers_see_whole_values_while_they_are_replaced, 1);
	add(values, a_whole_family_of_any_size_goes_in_one_call, 1);
	add(versions, many_versions_are_listed_once_and_in_order, 2);
	add(versions, versions_counts_deep_columns_right, 1);
	add(scans, many_cells_of_one_row_are_scanned, 2);
	add(scans, a_row_behind_others_is_scanned_in_one_state, 1);
	add(scans, many_rows_are_scanned_both_ways, 2);
	add(scans, many_versions_of_a_column_are_scanned, 1);
	add(scans, a_range_cannot_dig_out_what_was_pushed_out, 1);
	add(scans, big_values_are_read_while_the_scan_goes_on, 1);
	add(scans, an_unknown_family_is_refused, 1);

	TCase *all[] = {values, versions, scans};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		tcase_set_timeout(all[i], 60);
		tcase_add_checked_fixture(all[i], kit_open, kit_close);
		suite_add_tcase(suite, all[i]);
	}
	return suite_run(suite);
}
