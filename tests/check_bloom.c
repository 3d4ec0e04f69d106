/* Sets of keys that tell what is surely not there, and the lookups that are
 * spared by them. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "chance.h"
#include "kv/bloom.h"
#include "kv/kv.h"
#include "kv/local_bloom.h"
#include "kv/local_keys.h"
#include "kv/ordered.h"
#include "kv/why.h"
#include "store_dir.h"
#include "table_kit.h"

#define ROWS 6000
#define ASKED_OF 14 /* absent rows */

/* --- a set by itself -------------------------------------------------- */

static uint64_t
hash_of(uint64_t number, uint64_t kind)
{
	number |= kind << 40;
	return slice_hash(slice_of(&number, sizeof(number)), 0);
}

static void
add_keys(struct bloom *b, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		if (bloom_full(b))
			OK(bloom_grow(b, bloom_growth(b, 0)));
		bloom_add(b, hash_of(i, 0));
	}
}

static double
passing(const struct bloom *b, uint64_t asked)
{
	uint64_t passed = 0;

	for (uint64_t i = 0; i < asked; i++)
		passed += bloom_may(b, hash_of(i, 1));
	return (double)passed / (double)asked;
}

START_TEST(an_empty_set_has_nothing)
{
	struct bloom b = {0};

	ck_assert(bloom_full(&b));
	ck_assert(passing(&b, 1000) == 0);
	OK(bloom_grow(&b, bloom_growth(&b, 0)));
	ck_assert(passing(&b, 1000) == 0);
	bloom_release(&b);
}
END_TEST

START_TEST(no_key_is_lost_and_none_takes_more_than_16_bits)
{
	struct bloom b = {0};

	for (uint64_t keys = 820; keys < 1000000; keys = keys * 5 / 4) {
		add_keys(&b, bloom_keys(&b), keys);
		ck_assert_uint_le(bloom_bytes(&b) * 8, keys * 16);
	}
	uint64_t keys = bloom_keys(&b);
	for (uint64_t i = 0; i < keys; i++)
		ck_assert(bloom_may(&b, hash_of(i, 0)));
	bloom_release(&b);
}
END_TEST

START_TEST(of_the_absent_few_pass)
{
	struct bloom one = {0}, grown = {0};
	const uint64_t keys = 200000;

	OK(bloom_grow(&one, bloom_growth(&one, keys)));
	add_keys(&one, 0, keys);
	ck_assert_uint_eq(one.count, 1);
	ck_assert(passing(&one, 100000) < 0.02);
	add_keys(&grown, 0, keys);
	ck_assert(passing(&grown, 100000) < 0.02 * grown.count);
	bloom_release(&one);
	bloom_release(&grown);
}
END_TEST

/* --- pages ------------------------------------------------------------ */

struct counted {
	const char *name;
	uint64_t value;
};

static void
take(void *context, const char *name, uint64_t value)
{
	struct counted *c = context;

	if (strcmp(name, c->name) == 0)
		c->value = value;
}

static uint64_t
stat_of(const char *name)
{
	struct counted c = {name, 0};

	kit->methods->stats(kit, take, &c);
	return c.value;
}

static void
open_wt(void)
{
	struct ordered_options ordered = {
	    .directory = store_dir(), .cache = 64 << 20, .create = true};
	struct local_options local = {.clock = &kit_clock};

	OK(ordered_wt_open(&ordered, &kit_store));
	OK(local_open(kit_store, &local, &kit));
}

static void
reopen_wt(void)
{
	OK(kit->methods->close(kit));
	open_wt();
}

static void
wt_setup(void)
{
	store_dir_make();
	clock_set(&kit_clock, KIT_NOW);
	open_wt();
}

static void
wt_teardown(void)
{
	OK(kit->methods->close(kit));
	kit = NULL;
	store_dir_remove();
}

static void
cell_path(char path[48], int row, int qualifier)
{
	snprintf(path, 48, "t/r%07d/f/q%d", row, qualifier);
}

static void
put_rows(int from, int to, int step)
{
	static char value[900];
	char path[48];

	memset(value, 'v', sizeof(value) - 1);
	for (int i = from; i < to; i += step) {
		cell_path(path, i, 0);
		OK(kit_put(path, 5, value));
	}
}

/* A scan of one row; how many cells it gives. */
static int
scan_row(const char *row)
{
	struct scan_spec spec = {.table = slice_text("t"),
	    .start = slice_text(row),
	    .stop = slice_text(row),
	    .stop_inclusive = true,
	    .versions = 1};
	struct scan *s;
	struct cell cell;
	int cells = 0, r;

	OK(kit->methods->scan_open(kit, &spec, &s));
	while ((r = kit->methods->scan_next(s, &cell)) == 0)
		cells++;
	ck_assert_int_eq(r, 1);
	kit->methods->scan_close(s);
	return cells;
}

/* The ways to ask for what is not there, each with one answer. */
enum way { OF_ROW, OF_FAMILY, OF_CELL, VALUE, HISTORY, SCAN, WAYS };

static bool
is_there(enum way way, int number, int qualifier)
{
	char path[48], row[16], in_table[32], in_row[32];
	struct info info;

	cell_path(path, number, qualifier);
	snprintf(row, sizeof(row), "r%07d", number);
	snprintf(in_table, sizeof(in_table), "t/%s", row);
	snprintf(in_row, sizeof(in_row), "t/%s/f", row);
	switch (way) {
	case OF_ROW:
		return kit_stat(kit_place(LEVEL_ROW, in_table), &info) == 0;
	case OF_FAMILY:
		return kit_stat(kit_place(LEVEL_FAMILY, in_row), &info) == 0;
	case OF_CELL:
		return kit_stat(kit_place(LEVEL_COLUMN, path), &info) == 0;
	case VALUE:
		return strcmp(kit_get(path), "-") != 0;
	case HISTORY:
		return *kit_history(path) != 0;
	default:
		return scan_row(row) > 0;
	}
}

/* Looks for some of the odd rows in all ways. *spared: how many lookups were
 * answered without a maybe, and these have read no page. Returns the pages
 * read. */
static uint64_t
look_for_absent(uint64_t *spared)
{
	uint64_t first = stat_of("cache_pages_read");

	*spared = 0;
	for (int i = 1; i < ROWS; i += 2 * ASKED_OF) {
		enum way way = (enum way)(i / (2 * ASKED_OF) % WAYS);
		uint64_t maybe = stat_of("bloom_maybe"),
			 absent = stat_of("bloom_absent"),
			 pages = stat_of("cache_pages_read");
		ck_assert(!is_there(way, i, 0));
		if (stat_of("bloom_maybe") != maybe ||
		    stat_of("bloom_absent") == absent)
			continue;
		++*spared;
		ck_assert_msg(stat_of("cache_pages_read") == pages,
		    "looking for row %d in way %d has read a page", i, way);
	}
	return stat_of("cache_pages_read") - first;
}

/* The first one loads the set. */
static void
warm_up(void)
{
	ck_assert(!is_there(OF_ROW, ROWS + 1, 0));
}

START_TEST(an_absent_row_touches_no_page_of_a_cold_store)
{
	uint64_t spared, with, without;

	OK(kit_create("t", _i ? "family f compression=none bloomfilter=rowcol\n"
			      : "family f compression=none\n"));
	put_rows(0, ROWS, 2);
	reopen_wt();
	warm_up();
	with = look_for_absent(&spared);
	ck_assert_uint_ge(spared, ROWS / 2 / ASKED_OF * 9 / 10);
	ck_assert_uint_le(
	    stat_of("bloom_bytes") * 8, stat_of("bloom_keys") * 16);
	OK(kit_alter(
	    "t", "family f compression=none bloomfilter=none\n", false));
	reopen_wt();
	warm_up();
	without = look_for_absent(&spared);
	ck_assert_uint_eq(spared, 0);
	ck_assert_msg(with * 3 < without,
	    "%llu pages with and %llu without a bloomfilter",
	    (unsigned long long)with, (unsigned long long)without);
}
END_TEST

START_TEST(an_absent_column_touches_no_page_of_a_cold_store)
{
	static const enum way ways[] = {OF_CELL, VALUE, HISTORY};
	uint64_t spared = 0, first, pages;

	OK(kit_create("t", "family f bloomfilter=rowcol\n"));
	put_rows(0, ROWS, 1);
	reopen_wt();
	warm_up();
	first = stat_of("bloom_absent");
	pages = stat_of("cache_pages_read");
	for (int i = 0; i < ROWS; i++)
		ck_assert(!is_there(ways[i % 3], i, 1));
	spared = stat_of("bloom_absent") - first;
	pages = stat_of("cache_pages_read") - pages;
	ck_assert_uint_ge(spared, ROWS * 9 / 10);
	ck_assert_msg(pages <= ROWS - spared,
	    "%llu pages were read, but only %llu lookups were to read any",
	    (unsigned long long)pages, (unsigned long long)(ROWS - spared));
	ck_assert_uint_le(
	    stat_of("bloom_bytes") * 8, stat_of("bloom_keys") * 16);
}
END_TEST

/* --- what is stored --------------------------------------------------- */

static bool
row_is_there(const char *path)
{
	struct info info;

	return kit_stat(kit_place(LEVEL_ROW, path), &info) == 0;
}

/* Whether the lookup of a row that never was is answered by a set. */
static bool
is_live(void)
{
	uint64_t absent = stat_of("bloom_absent"), maybe;

	maybe = stat_of("bloom_maybe");
	ck_assert(!row_is_there("t/never"));
	return stat_of("bloom_absent") + stat_of("bloom_maybe") >
	       absent + maybe;
}

/* The process dies: nothing that closing would write is written. */
static void
crash(void)
{
	ordered_mem_fail(kit_store, EIO, 1, true);
	kit->methods->close(kit);
	kit = NULL;
	ordered_mem_fail(kit_store, 0, 0, false);
	kit_reopen();
}

static void
with_table(void)
{
	kit_setup();
	OK(kit_create("t", "family f\n"));
}

START_TEST(a_set_is_there_again_after_a_clean_end_only)
{
	ck_assert(is_live());
	OK(kit_put("t/a/f/q", 5, "v"));
	kit_reopen();
	ck_assert(is_live());
	kit_reopen();
	OK(kit_put("t/b/f/q", 5, "v"));
	crash();
	ck_assert(!is_live());
	ck_assert(row_is_there("t/a"));
	ck_assert(row_is_there("t/b"));
	OK(blooms_work(kit_local()));
	ck_assert(is_live());
	ck_assert(row_is_there("t/a"));
	ck_assert(row_is_there("t/b"));
}
END_TEST

START_TEST(a_set_that_knew_every_change_outlives_a_crash)
{
	OK(kit_put("t/a/f/q", 5, "v"));
	kit_reopen();
	ck_assert(row_is_there("t/a"));
	OK(kit_put("t/a/f/q", 6, "w"));
	crash();
	ck_assert(is_live());
	SAYS("6=w 5=v", kit_history("t/a/f/q"));
}
END_TEST

/* A change is rolled back that would have taken the mark away; the next one of
 * the same key has to do so. */
START_TEST(a_change_that_fails_leaves_nothing_wrong)
{
	OK(kit_put("t/a/f/q", 5, "v"));
	for (unsigned at = 1; at < 40; at++) {
		kit_reopen();
		if (_i)
			ck_assert(is_live());
		ordered_mem_fail(kit_store, EIO, at, false);
		(void)kit_put("t/b/f/q", 5, "v");
		ordered_mem_fail(kit_store, 0, 0, false);
		OK(kit_put("t/b/f/q", 5, "v"));
		crash();
		ck_assert(row_is_there("t/b"));
		OK(kit_delete("t/b/f/q", 0));
		OK(blooms_work(kit_local()));
	}
}
END_TEST

START_TEST(compact_makes_a_set_of_what_is_there)
{
	char path[48];

	put_rows(0, 3000, 1);
	uint64_t keys = stat_of("bloom_keys");
	ck_assert_uint_ge(keys, 2900);
	for (int i = 100; i < 3000; i++) {
		cell_path(path, i, 0);
		OK(kit_delete(path, 0));
	}
	ck_assert_uint_eq(stat_of("bloom_keys"), keys);
	OK(kit->methods->compact(kit, slice_text("t"), slice_text("f")));
	ck_assert_uint_le(stat_of("bloom_keys"), 100);
	for (int i = 0; i < 100; i++)
		ck_assert(is_there(OF_ROW, i, 0));
	ck_assert(is_live());
}
END_TEST

START_TEST(what_a_table_had_is_forgotten_with_it)
{
	put_rows(0, 500, 1);
	kit_reopen();
	ck_assert(is_live());
	size_t stored = kit_records(BLOOMS);
	OK(kit->methods->table_truncate(kit, slice_text("t")));
	ck_assert_uint_eq(stat_of("bloom_keys"), 0);
	ck_assert(!is_there(OF_ROW, 1, 0));
	put_rows(0, 1, 1);
	ck_assert(is_there(OF_ROW, 0, 0));
	kit_reopen();
	ck_assert_uint_le(kit_records(BLOOMS), stored);
	OK(kit->methods->table_drop(kit, slice_text("t")));
	kit_reopen();
	ck_assert_uint_eq(kit_records(BLOOMS), 0);
}
END_TEST

START_TEST(an_altered_bloomfilter_is_made_in_the_background)
{
	put_rows(0, 1500, 1);
	OK(kit_alter("t", "family f bloomfilter=rowcol\n", false));
	ck_assert(!is_live());
	OK(blooms_work(kit_local()));
	ck_assert(is_live());
	ck_assert_uint_ge(stat_of("bloom_keys"), 2800);
	uint64_t absent = stat_of("bloom_absent");
	for (int i = 0; i < 100; i++) {
		ck_assert(is_there(VALUE, i, 0));
		ck_assert(!is_there(VALUE, i, 1));
	}
	ck_assert_uint_ge(stat_of("bloom_absent"), absent + 80);
	OK(kit_alter("t", "family f bloomfilter=none\n", false));
	OK(blooms_work(kit_local()));
	ck_assert_uint_eq(stat_of("bloom_bytes"), 0);
	ck_assert(!is_live());
}
END_TEST

START_TEST(kept_rows_and_dot_files_are_there_without_cells)
{
	OK(kit_mkdir(LEVEL_ROW, "t/kept"));
	OK(kit_mkdir(LEVEL_FAMILY, "t/family/f"));
	OK(kit_dot_put(kit_dot("t/files/f", "", ".x"), "v"));
	for (int i = 0; i < 2; i++) {
		ck_assert(row_is_there("t/kept"));
		ck_assert(row_is_there("t/family"));
		ck_assert(row_is_there("t/files"));
		ck_assert(!row_is_there("t/other"));
		kit_reopen();
	}
}
END_TEST

START_TEST(names_with_zeros_in_them_are_found)
{
	static const char row[] = "a\0b", qualifier[] = "\0";
	const struct slice at = slice_of(row, 3), q = slice_of(qualifier, 1);
	struct place place = {.level = LEVEL_COLUMN,
	    .table = slice_text("t"),
	    .row = at,
	    .family = slice_text("f"),
	    .qualifier = q};
	struct op op = {.type = OP_PUT,
	    .family = slice_text("f"),
	    .qualifier = q,
	    .timestamp = 5,
	    .value = slice_text("v")};
	struct mutation m = {
	    .table = slice_text("t"), .row = at, .ops = &op, .count = 1};
	struct info info;

	OK(kit_alter("t", "family f bloomfilter=rowcol\n", false));
	OK(blooms_work(kit_local()));
	OK(kit->methods->mutate(kit, &m));
	OK(kit_stat(place, &info));
	place.level = LEVEL_ROW;
	OK(kit_stat(place, &info));
	ck_assert(is_live());
}
END_TEST

/* --- by chance -------------------------------------------------------- */

#define NAMES 60
#define STEPS 4000

/* What must not change any answer. */
static void
disturb(void)
{
	static const char *const schemas[] = {"family f bloomfilter=row\n",
	    "family f bloomfilter=rowcol\n", "family f bloomfilter=none\n",
	    "family f compression=none\n", "family f compression=gz\n"};

	switch (chance(8)) {
	case 0:
		kit_reopen();
		break;
	case 1:
		crash();
		break;
	case 2:
		OK(kit_alter("t", schemas[chance(COUNT(schemas))], false));
		break;
	case 3:
		OK(kit->methods->compact(kit, slice_text("t"), slice_text("")));
		break;
	case 4:
		ordered_mem_fail(
		    kit_store, EIO, 1 + (unsigned)chance(20), false);
		(void)blooms_work(kit_local());
		ordered_mem_fail(kit_store, 0, 0, false);
		break;
	default:
		OK(blooms_work(kit_local()));
		break;
	}
}

START_TEST(no_answer_depends_on_what_the_sets_know)
{
	bool there[NAMES][2] = {0};
	char path[48];

	chance_seed();
	for (int i = 0; i < STEPS; i++) {
		int row = (int)chance(NAMES), qualifier = (int)chance(2);
		cell_path(path, row, qualifier);
		if (chance(20) == 0)
			disturb();
		bool put = chance(2);
		if (put)
			OK(kit_put(path, TS_LATEST, "v"));
		else
			OK(kit_delete(path, 0));
		there[row][qualifier] = put;
		row = (int)chance(NAMES);
		bool any = there[row][0] || there[row][1];
		ck_assert_int_eq(is_there(OF_ROW, row, 0), any);
		ck_assert_int_eq(is_there(SCAN, row, 0), any);
		for (qualifier = 0; qualifier < 2; qualifier++)
			ck_assert_int_eq(is_there(VALUE, row, qualifier),
			    there[row][qualifier]);
	}
}
END_TEST

/* --- beside each other ------------------------------------------------ */

static struct {
	atomic_int put; /* rows below are there */
	atomic_bool done;
} crowd;

static void *
ask_crowd(void *context)
{
	struct info info;
	char path[32];

	(void)context;
	for (unsigned i = 0; !atomic_load(&crowd.done); i++) {
		int put = atomic_load(&crowd.put);
		if (!put)
			continue;
		int row = i % 3 ? put - 1 : (int)(i % (unsigned)put);
		snprintf(path, sizeof(path), "t/r%07d", row);
		const struct place place = {.level = LEVEL_ROW,
		    .table = slice_text("t"),
		    .row = slice_text(path + 2)};
		ck_assert_int_eq(
		    kit->methods->stat(kit, &place, (struct version){0}, &info),
		    0);
	}
	return NULL;
}

static void *
make_crowd(void *context)
{
	(void)context;
	for (int i = 0; !atomic_load(&crowd.done); i++) {
		if (i % 3 == 0)
			kit_alter("t",
			    i % 2 ? "family f bloomfilter=rowcol\n"
				  : "family f bloomfilter=row\n",
			    false);
		else if (i % 3 == 1)
			blooms_work(kit_local());
		else
			kit->methods->compact(
			    kit, slice_text("t"), slice_text(""));
	}
	return NULL;
}

START_TEST(a_row_that_was_put_is_found_while_sets_are_made)
{
	pthread_t asking, making;

	atomic_store(&crowd.put, 0);
	atomic_store(&crowd.done, false);
	pthread_create(&asking, NULL, ask_crowd, NULL);
	pthread_create(&making, NULL, make_crowd, NULL);
	for (int i = 0; i < 3000; i++) {
		char path[48];
		cell_path(path, i, 0);
		OK(kit_put(path, 5, "v"));
		atomic_store(&crowd.put, i + 1);
	}
	atomic_store(&crowd.done, true);
	pthread_join(asking, NULL);
	pthread_join(making, NULL);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("bloom");
	TCase *c;

	c = kit_topic(s, "set", NULL, NULL);
	tcase_add_test(c, an_empty_set_has_nothing);
	tcase_add_test(c, no_key_is_lost_and_none_takes_more_than_16_bits);
	tcase_add_test(c, of_the_absent_few_pass);
	c = kit_topic(s, "pages", wt_setup, wt_teardown);
	tcase_add_loop_test(
	    c, an_absent_row_touches_no_page_of_a_cold_store, 0, 2);
	tcase_add_test(c, an_absent_column_touches_no_page_of_a_cold_store);
	c = kit_topic(s, "stored", with_table, kit_teardown);
	tcase_add_test(c, a_set_is_there_again_after_a_clean_end_only);
	tcase_add_test(c, a_set_that_knew_every_change_outlives_a_crash);
	tcase_add_loop_test(c, a_change_that_fails_leaves_nothing_wrong, 0, 2);
	tcase_add_test(c, compact_makes_a_set_of_what_is_there);
	tcase_add_test(c, what_a_table_had_is_forgotten_with_it);
	tcase_add_test(c, an_altered_bloomfilter_is_made_in_the_background);
	tcase_add_test(c, kept_rows_and_dot_files_are_there_without_cells);
	tcase_add_test(c, names_with_zeros_in_them_are_found);
	tcase_add_test(c, no_answer_depends_on_what_the_sets_know);
	c = kit_topic(s, "crowd", with_table, kit_teardown);
	tcase_add_test(c, a_row_that_was_put_is_found_while_sets_are_made);
	return suite_run(s);
}
