/* Families that are stored anew by compact, while others read and write them.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "chance.h"
#include "kv/local_clean.h"
#include "kv/ordered.h"
#include "kv/why.h"
#include "table_kit.h"

#define ROWS 10
#define COLUMNS 2500 /* of a row; all rows need three transactions */

static int
compact(void)
{
	return kit->methods->compact(kit, slice_text("t"), slice_text(""));
}

static int
cells(void)
{
	return (int)kit_records(kit_cells_number("t", "f"));
}

static void
path_of(char path[32], int row, int column)
{
	snprintf(path, 32, "t/r%d/f/%d", row, column);
}

static void
fill(void)
{
	char path[32];

	OK(kit_create("t", "family f versions=1\n"));
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++) {
			path_of(path, i, j);
			OK(kit_put(path, 5, "v"));
		}
}

static size_t
ordered_tables(void)
{
	struct buf numbers = {0};

	OK(kit_store->methods->tables(kit_store, &numbers));
	size_t count = numbers.size / sizeof(uint32_t);
	buf_release(&numbers);
	return count;
}

START_TEST(a_large_family_is_stored_anew_in_small_transactions)
{
	fill();
	uint32_t number = kit_cells_number("t", "f");
	OK(kit_alter("t", "family f versions=1 blocksize=65536\n", false));
	ck_assert_uint_eq(kit_cells_number("t", "f"), number);
	kit_reopen();
	OK(compact());
	ck_assert_uint_ne(kit_cells_number("t", "f"), number);
	ck_assert_int_eq(cells(), ROWS * COLUMNS);
	ck_assert_uint_eq(ordered_tables(), 7);
	number = kit_cells_number("t", "f");
	OK(compact());
	ck_assert_uint_eq(kit_cells_number("t", "f"), number);
}
END_TEST

START_TEST(only_what_is_stored_otherwise_is_stored_anew)
{
	OK(kit_create("t", "family f\nfamily g\n"));
	OK(kit_put_big("t/r/f/q", 3 << 20, 1));
	uint32_t blobs = kit_blobs_number("t", "f");
	OK(kit_alter("t", "family f blocksize=65536\nfamily g\n", false));
	OK(compact());
	ck_assert_uint_eq(kit_blobs_number("t", "f"), blobs);
	OK(kit_alter("t", "family f compression=gz\nfamily g\n", false));
	uint32_t other = kit_cells_number("t", "g");
	OK(compact());
	ck_assert_uint_ne(kit_blobs_number("t", "f"), blobs);
	ck_assert_uint_eq(kit_cells_number("t", "g"), other);
	ck_assert(kit_is_big(kit_place(LEVEL_COLUMN, "t/r/f/q"), 3 << 20, 1));
}
END_TEST

/* --- interrupted ------------------------------------------------------ */

/* The calls of the store that a copying takes, as far as it gets. */
START_TEST(a_copying_that_fails_or_is_cut_off_loses_nothing)
{
	fill();
	OK(kit_alter("t", "family f versions=1 compression=gz\n", false));
	for (unsigned at = 1; at < 90000; at += 7919) {
		ordered_mem_fail(kit_store, EIO, at, _i);
		int r = compact();
		ordered_mem_fail(kit_store, 0, 0, false);
		ck_assert_int_eq(cells(), ROWS * COLUMNS);
		if (_i)
			kit_reopen();
		OK(clean_all(kit_local()));
		ck_assert_uint_eq(ordered_tables(), 7);
		OK(kit_put("t/r0/f/0", 5, "v"));
		if (r == 0)
			OK(kit_alter("t",
			    at % 2 ? "family f versions=1\n"
				   : "family f versions=1 "
				     "compression=none\n",
			    false));
	}
	OK(compact());
	ck_assert_int_eq(cells(), ROWS * COLUMNS);
	ck_assert_uint_eq(ordered_tables(), 7);
}
END_TEST

/* --- beside others ---------------------------------------------------- */

struct writing {
	atomic_bool stop;
	int error;
	bool there[ROWS][COLUMNS];
};

/* A put, a delete, or of a whole row and family; none is refused. */
static int
write_something(struct writing *w)
{
	int row = (int)chance(ROWS), column = (int)chance(COLUMNS);
	char path[32];

	path_of(path, row, column);
	if (chance(2000) == 0) {
		struct op op = {.type = OP_DELETE_FAMILY,
		    .family = slice_text("f"),
		    .timestamp = TS_LATEST};
		struct place place = kit_place(LEVEL_COLUMN, path);
		struct mutation m = {.table = place.table,
		    .row = place.row,
		    .ops = &op,
		    .count = 1};
		memset(w->there[row], 0, sizeof(w->there[row]));
		return kit->methods->mutate(kit, &m);
	}
	w->there[row][column] = chance(3);
	return w->there[row][column] ? kit_put(path, TS_LATEST, "w")
				     : kit_delete(path, 0);
}

static void *
write_all_the_time(void *context)
{
	struct writing *w = context;

	while (!w->error && !atomic_load(&w->stop))
		w->error = write_something(w);
	return NULL;
}

static void *
read_all_the_time(void *context)
{
	struct writing *w = context;
	struct place place = kit_place(LEVEL_COLUMN, "t/stays/f/q");
	const struct version newest = {.which = VERSION_NEWEST};
	struct info info;

	while (!w->error && !atomic_load(&w->stop))
		w->error = kit->methods->stat(kit, &place, newest, &info);
	return NULL;
}

static void
compare(const struct writing *w)
{
	int expected = 1;
	char path[32];

	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++) {
			path_of(path, i, j);
			ck_assert_msg((*kit_get(path) != '-') == w->there[i][j],
			    "%s should be %s", path,
			    w->there[i][j] ? "there" : "gone");
			expected += w->there[i][j];
		}
	ck_assert_int_eq(cells(), expected);
}

START_TEST(readers_and_writers_go_on_and_nothing_of_theirs_is_lost)
{
	static struct writing w, r;
	static const char *const ways[] = {"none", "gz", "snappy"};
	pthread_t writer, reader;
	char text[60];

	chance_seed();
	fill();
	memset(w.there, 1, sizeof(w.there));
	OK(kit_put("t/stays/f/q", 5, "v"));
	OK(pthread_create(&writer, NULL, write_all_the_time, &w));
	OK(pthread_create(&reader, NULL, read_all_the_time, &r));
	for (int i = 0; i < 12; i++) {
		snprintf(text, sizeof(text),
		    "family f versions=1 compression=%s\n", ways[i % 3]);
		OK(kit_alter("t", text, false));
		uint32_t number = kit_cells_number("t", "f");
		OK(compact());
		ck_assert_uint_ne(kit_cells_number("t", "f"), number);
	}
	atomic_store(&w.stop, true);
	atomic_store(&r.stop, true);
	OK(pthread_join(writer, NULL));
	OK(pthread_join(reader, NULL));
	ck_assert_msg(w.error == 0, "%s", why_text(w.error));
	ck_assert_msg(r.error == 0, "%s", why_text(r.error));
	compare(&w);
}
END_TEST

static void *
compact_all_the_time(void *context)
{
	struct writing *w = context;

	while (!w->error && !atomic_load(&w->stop)) {
		int r = compact();
		w->error = r == -ENOENT || r == -EBUSY ? 0 : r;
	}
	return NULL;
}

START_TEST(tables_change_while_they_are_stored_anew)
{
	static struct writing w[2];
	pthread_t threads[2];

	fill();
	for (int i = 0; i < 2; i++)
		OK(pthread_create(
		    &threads[i], NULL, compact_all_the_time, &w[i]));
	for (int i = 0; i < 60; i++) {
		OK(kit_alter("t",
		    i % 2 ? "family f compression=gz\nfamily g\n"
			  : "family f\n",
		    false));
		if (i % 20 == 19)
			OK(kit->methods->table_truncate(kit, slice_text("t")));
		if (i % 20 == 9) {
			OK(kit->methods->table_drop(kit, slice_text("t")));
			OK(kit_create("t", "family f\n"));
		}
		OK(kit_put("t/r0/f/0", 5, "v"));
	}
	for (int i = 0; i < 2; i++)
		atomic_store(&w[i].stop, true);
	for (int i = 0; i < 2; i++) {
		OK(pthread_join(threads[i], NULL));
		ck_assert_msg(w[i].error == 0, "%s", why_text(w[i].error));
	}
	SAYS("5=v", kit_history("t/r0/f/0"));
	OK(compact());
	kit_reopen();
	SAYS("5=v", kit_history("t/r0/f/0"));
	ck_assert_uint_eq(ordered_tables(), 9);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("anew");
	TCase *c = kit_topic(s, "anew", kit_setup, kit_teardown);

	tcase_add_test(c, a_large_family_is_stored_anew_in_small_transactions);
	tcase_add_test(c, only_what_is_stored_otherwise_is_stored_anew);
	tcase_add_loop_test(
	    c, a_copying_that_fails_or_is_cut_off_loses_nothing, 0, 2);
	tcase_add_test(
	    c, readers_and_writers_go_on_and_nothing_of_theirs_is_lost);
	tcase_add_test(c, tables_change_while_they_are_stored_anew);

	return suite_run(s);
}
