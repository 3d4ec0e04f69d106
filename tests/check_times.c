/* When directories were changed in: noted, stored in batches, never made up. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "fs/times.h"
#include "kv/kv_data.h"
#include "suite.h"
#include "tree_kit.h"

#define LONG_AGO 1000

static const struct place root = {.level = LEVEL_ROOT};
static const struct place schema = {.level = LEVEL_SCHEMA};

static struct place
place_of(enum level level, const char *row)
{
	return (struct place){.level = level, .table = slice_text("t"),
		.row = slice_text(row),
		.family = slice_text(level == LEVEL_FAMILY ? "f" : "")};
}

/* What the store has kept; zero: nothing of its own. */
static struct timespec
kept(struct place place)
{
	struct info info;

	OK(kv_stat(tree_fs.kv, &place, (struct version){0}, &info));
	return info.attrs.set & ATTR_MTIME ? info.attrs.mtime
					   : (struct timespec){0};
}

static struct timespec
shown(const char *path)
{
	struct stat st;

	OK(tree_stat(path, &st));
	return st.st_mtim;
}

static void
take_commits(void *context, const char *name, uint64_t value)
{
	if (strcmp(name, "commits") == 0)
		*(uint64_t *)context = value;
}

static uint64_t
commits(void)
{
	uint64_t n = 0;

	kv_stats(tree_fs.kv, take_commits, &n);
	return n;
}

static bool
same(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* --- what is kept ------------------------------------------------------------- */

static const struct {
	const char *path, *made; /* a directory, and what is made in it */
	enum level level;
	const char *row;
} changed[] = {
	{"", "another", LEVEL_ROOT, ""},
	{".schema", ".schema/.dot", LEVEL_SCHEMA, ""},
	{"t", "t/new", LEVEL_TABLE, ""},
	{"t/new row", "t/new row/f", LEVEL_ROW, "new row"},
	{"t/r/f", "t/r/f/q", LEVEL_FAMILY, "r"},
};

/* A family or table is made by mkdir, a file by writing it. */
static void
make(const char *path, enum level level)
{
	if (level == LEVEL_SCHEMA || level == LEVEL_FAMILY)
		OK(tree_put(path, "v"));
	else
		OK(tree_mkdir_path(path, 0755));
}

START_TEST(a_change_is_shown_at_once_and_stored_later)
{
	const enum level level = changed[_i].level;
	struct place place = level == LEVEL_ROOT ? root
	    : level == LEVEL_SCHEMA ? schema
				    : place_of(level, changed[_i].row);

	OK(tree_mkdir_path("t/new row", 0755));
	OK(times_store(&tree_fs));
	struct timespec before = kept(place);
	make(changed[_i].made, level);
	struct timespec now = shown(changed[_i].path);
	ck_assert_int_gt(now.tv_sec, LONG_AGO);
	ck_assert(same(kept(place), before));
	OK(times_store(&tree_fs));
	ck_assert(same(kept(place), now));
	ck_assert(same(shown(changed[_i].path), now));
}
END_TEST

START_TEST(a_directory_that_nothing_changed_in_keeps_no_time)
{
	OK(tree_mkdir_path("t/still", 0755));
	OK(tree_put("t/r/f/q", "v"));
	OK(times_store(&tree_fs));
	OK(tree_put("t/r/f/q", "w"));
	struct timespec then = kept(place_of(LEVEL_FAMILY, "r"));
	OK(times_store(&tree_fs));
	ck_assert_int_eq(kept(place_of(LEVEL_ROW, "still")).tv_sec, 0);
	ck_assert(same(kept(place_of(LEVEL_FAMILY, "r")), then));
}
END_TEST

START_TEST(many_changes_are_one_transaction)
{
	char path[40];

	OK(times_store(&tree_fs));
	for (int i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "t/r%d", i);
		OK(tree_mkdir_path(path, 0755));
		snprintf(path, sizeof(path), "t/r%d/f", i);
		OK(tree_mkdir_path(path, 0755));
		uint64_t before = commits();
		snprintf(path, sizeof(path), "t/r%d/f/.q", i);
		OK(tree_put(path, ""));
		ck_assert_uint_le(commits() - before, 2);
	}
	uint64_t before = commits();
	OK(times_store(&tree_fs));
	ck_assert_uint_eq(commits() - before, 1); /* t, 100 rows, 100 families */
	OK(times_store(&tree_fs));
	ck_assert_uint_eq(commits() - before, 1);
	ck_assert_int_gt(kept(place_of(LEVEL_ROW, "r99")).tv_sec, LONG_AGO);
}
END_TEST

START_TEST(a_thousand_directories_are_stored_in_batches)
{
	char path[40];

	for (int i = 0; i < 1000; i++) {
		snprintf(path, sizeof(path), "t/r%d", i);
		OK(tree_mkdir_path(path, 0755));
		snprintf(path, sizeof(path), "t/r%d/f", i);
		OK(tree_mkdir_path(path, 0755));
	}
	uint64_t before = commits();
	OK(times_store(&tree_fs));
	ck_assert_uint_gt(commits() - before, 1);
	for (int i = 0; i < 1000; i++) {
		snprintf(path, sizeof(path), "r%d", i);
		ck_assert_int_gt(
		    kept(place_of(LEVEL_ROW, path)).tv_sec, LONG_AGO);
	}
}
END_TEST

/* --- what came later, or is gone ----------------------------------------------- */

START_TEST(a_time_that_a_tool_sets_after_a_change_stays)
{
	OK(tree_put("t/r/f/q", "v"));
	OK(tree_touch("t/r/f", LONG_AGO));
	OK(times_store(&tree_fs));
	ck_assert_int_eq(kept(place_of(LEVEL_FAMILY, "r")).tv_sec, LONG_AGO);
	ck_assert_int_eq(shown("t/r/f").tv_sec, LONG_AGO);
}
END_TEST

START_TEST(other_attributes_stay)
{
	struct stat st;

	OK(tree_chmod("t/r/f", 0700));
	OK(tree_put("t/r/f/q", "v"));
	OK(times_store(&tree_fs));
	OK(tree_chmod("t/r/f", 0711));
	struct timespec then = kept(place_of(LEVEL_FAMILY, "r"));
	ck_assert_int_gt(then.tv_sec, LONG_AGO);
	OK(tree_stat("t/r/f", &st));
	ck_assert_uint_eq(st.st_mode & 07777, 0711);
	ck_assert(same(st.st_mtim, then));
}
END_TEST

START_TEST(a_renamed_directory_takes_its_time_along)
{
	OK(tree_put("t/r/f/q", "v"));
	struct timespec family = shown("t/r/f");
	OK(tree_move("t/r", "t/s"));
	ck_assert(same(shown("t/s/f"), family));
	OK(times_store(&tree_fs));
	ck_assert(same(kept(place_of(LEVEL_FAMILY, "s")), family));
	OK(tree_move("t/s", "t/u"));
	OK(times_store(&tree_fs));
	ck_assert(same(kept(place_of(LEVEL_FAMILY, "u")), family));
	OK(tree_mkdir_path("t/r", 0755));
	ck_assert_int_eq(kept(place_of(LEVEL_ROW, "r")).tv_sec, 0);
}
END_TEST

START_TEST(what_is_removed_meanwhile_is_passed_over)
{
	OK(tree_put("t/r/f/q", "v"));
	OK(tree_mkdir_path("t/a", 0755));
	OK(tree_mkdir_path("t/a/f", 0755));
	OK(tree_rmdir("t/a/f"));
	OK(tree_rmdir("t/a"));
	OK(times_store(&tree_fs));
	SAYS("r", tree_list("t"));
	OK(tree_mkdir_path("t/a", 0755));
	ck_assert_int_eq(kept(place_of(LEVEL_ROW, "a")).tv_sec, 0);
	ck_assert_int_gt(kept(place_of(LEVEL_FAMILY, "r")).tv_sec, LONG_AGO);
}
END_TEST

/* Rows that go by other means than the mount's. */
START_TEST(a_time_makes_no_directory_be_there)
{
	struct op op = {.type = OP_DELETE_COLUMN, .timestamp = TS_LATEST,
		.family = slice_text("f"), .qualifier = slice_text("q")};
	struct mutation m = {.table = slice_text("t"), .row = slice_text("b"),
		.ops = &op, .count = 1};
	struct info info;
	struct place b = place_of(LEVEL_ROW, "b");

	OK(tree_mkdir_path("t/b", 0755));
	OK(tree_mkdir_path("t/b/f", 0755));
	OK(tree_put("t/b/f/q", "v"));
	OK(kv_mutate(tree_fs.kv, &m));
	OK(times_store(&tree_fs));
	SAYS("r", tree_list("t"));
	REFUSED(ENOENT, kv_stat(tree_fs.kv, &b, (struct version){0}, &info));
	OK(kv_table_drop(tree_fs.kv, slice_text("t")));
	OK(times_store(&tree_fs));
	SAYS(".schema", tree_list(""));
}
END_TEST

/* --- failures -------------------------------------------------------------------- */

START_TEST(what_finds_no_room_is_stored_later)
{
	OK(tree_put("t/r/f/q", "v"));
	struct timespec then = shown("t/r/f");
	tree_fail(ENOSPC, 1);
	REFUSED(ENOSPC, times_store(&tree_fs));
	tree_fail(0, 0);
	ck_assert(same(shown("t/r/f"), then));
	OK(times_store(&tree_fs));
	ck_assert(same(kept(place_of(LEVEL_FAMILY, "r")), then));
}
END_TEST

START_TEST(the_thread_stores_and_the_end_stores_the_rest)
{
	OK(times_open(&tree_fs));
	OK(tree_put("t/r/f/q", "v"));
	struct timespec then = shown("t/r/f");
	times_close(&tree_fs);
	ck_assert(same(kept(place_of(LEVEL_FAMILY, "r")), then));
	OK(times_open(&tree_fs));
	OK(tree_put("t/r/f/p", "v"));
	then = shown("t/r/f");
	while (!same(kept(place_of(LEVEL_FAMILY, "r")), then))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	times_close(&tree_fs);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("times");
	TCase *t = tcase_create("kept");

	tcase_add_checked_fixture(t, tree_setup_table, tree_teardown);
	tcase_add_loop_test(t, a_change_is_shown_at_once_and_stored_later, 0,
	    sizeof(changed) / sizeof(*changed));
	tcase_add_test(t, a_directory_that_nothing_changed_in_keeps_no_time);
	tcase_add_test(t, many_changes_are_one_transaction);
	tcase_add_test(t, a_thousand_directories_are_stored_in_batches);
	suite_add_tcase(s, t);
	suite_topic(s, "later", tree_setup_table, tree_teardown,
	    TESTS(a_time_that_a_tool_sets_after_a_change_stays,
		other_attributes_stay, a_renamed_directory_takes_its_time_along,
		what_is_removed_meanwhile_is_passed_over,
		a_time_makes_no_directory_be_there));
	suite_topic(s, "failures", tree_setup_table, tree_teardown,
	    TESTS(what_finds_no_room_is_stored_later,
		the_thread_stores_and_the_end_stores_the_rest));
	return suite_run(s);
}
