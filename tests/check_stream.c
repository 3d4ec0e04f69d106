/* Streams: read in pieces, from elsewhere, while time is short. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/later.h"
#include "suite.h"
#include "tree_kit.h"

static struct file a;

static void
fill(void)
{
	OK(tree_mkdir_path("t/s", 0755));
	OK(tree_mkdir_path("t/s/f", 0755));
	OK(tree_put("t/r/f/q@5", "one"));
	OK(tree_put("t/r/f/q@6", "two\n"));
	OK(tree_put("t/r/f/%@7", ""));
	OK(tree_put("t/s/f/x@8", "\x01"));
}

START_TEST(a_stream_shows_the_newest_cells_in_the_order_of_a_scan)
{
	fill();
	SAYS("r\tf:\t7\t\nr\tf:q\t6\ttwo\\x0A\ns\tf:x\t8\t\\x01\n",
	    tree_cat("t/.cells"));
	SAYS("s\tf:x\t8\t\\x01\n", tree_cat("t/s/.cells"));
	SAYS("r\tf:\t7\t\nr\tf:q\t6\ttwo\\x0A\n", tree_cat("t/r/f/.cells"));
	SAYS("2\n", tree_cat("t/.count"));
	SAYS("1\n", tree_cat("t/r/.count"));
	SAYS("{\"row\":\"s\",\"cells\":[{\"family\":\"f\",\"qualifier\":\"x\","
	     "\"timestamp\":8,\"value\":\"\\\\x01\"}]}\n",
	    tree_cat("t/s/f/.json"));
}
END_TEST

START_TEST(a_stream_of_nothing_is_empty_and_counts_none)
{
	SAYS("", tree_cat("t/r/.cells"));
	SAYS("", tree_cat("t/.json"));
	SAYS("0\n", tree_cat("t/.count"));
}
END_TEST

START_TEST(a_stream_is_its_owners_and_is_not_listed)
{
	struct stat st;

	fill();
	OK(tree_chmod("t/r", 0777));
	OK(tree_stat("t/r/.cells", &st));
	ck_assert_int_eq(st.st_mode, S_IFREG | 0600);
	OK(tree_stat("t/r/.json", &st));
	ck_assert_int_eq(st.st_mode, S_IFREG | 0400);
	SAYS("r s", tree_list("t"));
	SAYS("f", tree_list("t/s"));
	REFUSED(EPERM, tree_unlink("t/r/.cells"));
	REFUSED(EPERM, tree_chmod("t/r/.cells", 0644));
	REFUSED(EPERM, tree_move("t/r/f/q", "t/r/f/.cells"));
	REFUSED(EPERM, tree_move("t/.cells", "t/r/f/q"));
}
END_TEST

START_TEST(a_stream_is_read_from_anywhere)
{
	char whole[100] = {0}, piece[7];

	fill();
	OK(tree_open("t/.cells", O_RDONLY, &a));
	int64_t size = handle_read(
	    &tree_fs, a.handle, 0, whole, sizeof(whole), false);
	for (uint64_t seed = 1, i = 0; i < 300; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		uint64_t at = (seed >> 33) % (uint64_t)(size + 3);
		int64_t n = handle_read(
		    &tree_fs, a.handle, at, piece, sizeof(piece), false);
		int64_t left = (int64_t)at < size ? size - (int64_t)at : 0;
		ck_assert_int_eq(n, left < 7 ? left : 7);
		ck_assert_mem_eq(piece, whole + at, (size_t)n);
	}
	OK(tree_close(&a));
}
END_TEST

START_TEST(what_is_read_again_from_the_beginning_is_made_anew)
{
	fill();
	OK(tree_open("t/s/.cells", O_RDONLY, &a));
	SAYS("s\tf:x\t8\t\\x01\n", tree_read(&a));
	SAYS("", tree_read(&a));
	OK(tree_put("t/s/f/x@9", "new"));
	a.at = 0;
	SAYS("s\tf:x\t9\tnew\n", tree_read(&a));
	OK(tree_close(&a));
}
END_TEST

/* --- time ------------------------------------------------------------------- */

static bool
always(void *context)
{
	(void)context;
	return true;
}

/* Stops every time but each third. */
static bool
mostly(void *context)
{
	return ++*(unsigned *)context % 3 != 0;
}

START_TEST(a_stream_goes_on_where_its_time_was_over)
{
	unsigned calls = 0, waits = 0;
	char byte[2000];
	char cell[40];
	int64_t n;

	for (int i = 0; i < 1500; i++) {
		snprintf(cell, sizeof(cell), "t/r/f/q%04d@1", i);
		OK(tree_put(cell, "v"));
	}
	OK(tree_open("t/.cells", O_RDONLY, &a));
	kv_ask(always, NULL);
	n = handle_read(&tree_fs, a.handle, 0, byte, sizeof(byte), false);
	ck_assert_int_eq(n, -EINTR);
	kv_ask(mostly, &calls);
	uint64_t at = 0;
	while ((n = handle_read(&tree_fs, a.handle, at, byte, sizeof(byte),
		    false))) {
		waits += n == -EINTR;
		ck_assert(n > 0 || n == -EINTR);
		for (int64_t i = 0; i < n; i++, at++)
			ck_assert(at % 14 != 13 || byte[i] == '\n');
	}
	kv_ask(NULL, NULL);
	ck_assert_uint_eq(at, 1500 * 14);
	ck_assert_uint_gt(waits, 0);
	OK(tree_close(&a));
}
END_TEST

START_TEST(a_count_is_not_begun_again_when_its_time_was_over)
{
	unsigned calls = 0, waits = 0;
	char byte[10], cell[40];
	int64_t n;

	for (int i = 0; i < 1500; i++) {
		snprintf(cell, sizeof(cell), "t/r/f/q%04d@1", i);
		OK(tree_put(cell, "v"));
	}
	OK(tree_open("t/.count", O_RDONLY, &a));
	kv_ask(mostly, &calls);
	while ((n = handle_read(&tree_fs, a.handle, 0, byte, sizeof(byte),
		    false)) == -EINTR)
		ck_assert_uint_lt(++waits, 20);
	kv_ask(NULL, NULL);
	ck_assert_int_eq(n, 2);
	ck_assert_mem_eq(byte, "1\n", 2);
	ck_assert_uint_gt(waits, 1);
	OK(tree_close(&a));
}
END_TEST

/* --- later ------------------------------------------------------------------- */

#define JOBS 20

static struct turn {
	struct job job;
	_Atomic unsigned taken;
	unsigned wanted; /* 0: without end */
	_Atomic bool done, cut;
} turns[JOBS];

static bool
take(struct job *job, bool last)
{
	struct turn *t = (struct turn *)job;

	t->cut = last;
	t->done = last || ++t->taken == t->wanted;
	return t->done;
}

START_TEST(jobs_without_end_let_others_come_to_theirs)
{
	struct later *later;

	OK(later_open(&later));
	for (int i = 0; i < JOBS; i++) {
		turns[i] = (struct turn){
		    .job.step = take, .wanted = i % 2 ? 50 : 0};
		later_add(later, &turns[i].job);
	}
	for (int i = 1; i < JOBS; i += 2)
		while (!turns[i].done)
			sched_yield();
	for (int i = 0; i < JOBS; i += 2)
		ck_assert(!turns[i].done);
	later_stop(later);
	for (int i = 0; i < JOBS; i += 2)
		ck_assert(turns[i].done && turns[i].cut);
	turns[0].done = false;
	later_add(later, &turns[0].job);
	ck_assert(turns[0].done);
	later_close(later);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("stream");

	suite_topic(s, "streams", tree_setup_table, tree_teardown,
	    TESTS(a_stream_shows_the_newest_cells_in_the_order_of_a_scan,
		a_stream_of_nothing_is_empty_and_counts_none,
		a_stream_is_its_owners_and_is_not_listed,
		a_stream_is_read_from_anywhere,
		what_is_read_again_from_the_beginning_is_made_anew));
	suite_topic(s, "time", tree_setup_table, tree_teardown,
	    TESTS(a_stream_goes_on_where_its_time_was_over,
		a_count_is_not_begun_again_when_its_time_was_over));
	suite_topic(s, "later", NULL, NULL,
	    TESTS(jobs_without_end_let_others_come_to_theirs));
	return suite_run(s);
}
