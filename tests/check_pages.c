/* Which reads go through the kernel's pages, and what it is told of them. */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "tree_kit.h"

#define OK(call) ck_assert_int_eq((call), 0)
#define SAYS(expected, text) ck_assert_str_eq((text), (expected))

#define Q "t/r/f/q"

static struct file a, b;
static struct inode *known[16]; /* to the kernel */
static size_t known_count;

/* As if the cell had been written long ago; notices so far are forgotten. The
 * kernel knows it all the while. */
static void
settled(const char *path)
{
	ck_assert_uint_lt(known_count, sizeof(known) / sizeof(*known));
	OK(tree_open(path, O_WRONLY, &a));
	struct inode *inode = known[known_count++] = a.inode;
	inode_looked(&tree_fs, inode);
	OK(tree_close(&a));
	inode->busy = 0;
	tree_notices();
}

static void
forget_all(void)
{
	while (known_count)
		inode_forget(&tree_fs, known[--known_count], 1);
	tree_teardown();
}

static void
put(const char *path, const char *text)
{
	OK(tree_put(path, text));
	settled(path);
}

static bool
bypasses(const char *path)
{
	OK(tree_open(path, O_RDONLY, &b));
	bool answer = handle_bypasses(b.handle);
	OK(tree_close(&b));
	return answer;
}

START_TEST(the_first_open_stores_a_small_value)
{
	put(Q, "small");
	ck_assert(!bypasses(Q));
	SAYS("store q", tree_notices());
	ck_assert(!bypasses(Q));
	SAYS("", tree_notices());
}
END_TEST

START_TEST(a_larger_value_and_none_are_left_to_reads)
{
	char text[4098];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	put(Q, text);
	ck_assert(!bypasses(Q));
	put("t/r/f/empty", "");
	ck_assert(!bypasses("t/r/f/empty"));
	SAYS("", tree_notices());
}
END_TEST

START_TEST(old_bytes_are_dropped_at_the_next_open)
{
	put(Q, "old");
	ck_assert(!bypasses(Q));
	put(Q, "new");
	ck_assert(!bypasses(Q));
	SAYS("data q; store q", tree_notices());
}
END_TEST

START_TEST(a_version_rewritten_counts_as_new)
{
	put(Q "@5", "old");
	settled(Q);
	ck_assert(!bypasses(Q));
	put(Q "@5", "new");
	OK(tree_open(Q, O_RDONLY, &a));
	SAYS("data q; store q", tree_notices());
	OK(tree_close(&a));
}
END_TEST

START_TEST(who_reads_on_is_told_before_the_close_returns)
{
	put(Q, "old");
	OK(tree_open(Q, O_RDONLY, &a));
	tree_notices();
	tree_as(BOB);
	OK(tree_put(Q, "new"));
	SAYS("attr q; data q", tree_notices());
	tree_as(ALICE);
	SAYS("new", tree_read(&a));
	OK(tree_close(&a));
}
END_TEST

START_TEST(beside_a_writer_and_just_after_it_readers_bypass)
{
	put(Q, "old");
	OK(tree_open(Q, O_WRONLY, &a));
	ck_assert(bypasses(Q));
	OK(tree_close(&a));
	ck_assert(bypasses(Q));
}
END_TEST

START_TEST(what_is_no_lasting_cell_bypasses)
{
	static const char *const paths[] = {Q "@7", Q "@~0", "t/r/f/.dot",
		".schema/t", ".cellfs/stats", "t/r/x/q"};

	OK(tree_append(".schema/t", "family x ttl=1000\n"));
	OK(tree_mkdir_path("t/r/x", 0755));
	OK(tree_put(Q "@7", "7"));
	put("t/r/f/.dot", "dot");
	put("t/r/x/q", "x");
	settled(Q);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		ck_assert_msg(bypasses(paths[i]), "%s", paths[i]);
	ck_assert(!bypasses(Q));
}
END_TEST

START_TEST(pages_read_in_parts_hold_the_newest_bytes)
{
	char bytes[4];

	put(Q, "oldest");
	OK(tree_open(Q, O_RDONLY, &a));
	ck_assert_int_eq(
	    handle_read(&tree_fs, a.handle, 0, bytes, 3, true), 3);
	tree_as(BOB);
	OK(tree_put(Q, "newest"));
	ck_assert_int_eq(
	    handle_read(&tree_fs, a.handle, 3, bytes, 3, true), 3);
	ck_assert_mem_eq(bytes, "est", 3);
	OK(tree_put(Q, "latter"));
	ck_assert_int_eq(
	    handle_read(&tree_fs, a.handle, 3, bytes, 3, true), 3);
	ck_assert_mem_eq(bytes, "ter", 3);
	OK(tree_close(&a));
}
END_TEST

START_TEST(a_writers_own_pages_are_dropped_by_the_next_reader)
{
	char bytes[8];

	put(Q, "old");
	OK(tree_open(Q, O_RDWR, &a));
	OK(tree_write(&a, "mapped"));
	ck_assert_int_eq(
	    handle_read(&tree_fs, a.handle, 0, bytes, 8, true), 6);
	OK(tree_close(&a));
	settled(Q);
	ck_assert(!bypasses(Q));
	SAYS("data q; store q", tree_notices());
}
END_TEST

START_TEST(a_writer_waits_once_for_a_reader_that_stays)
{
	put(Q, "old");
	OK(tree_open(Q, O_RDONLY, &a));
	ck_assert(!a.inode->lasting);
	tree_as(BOB);
	OK(tree_put(Q, "new"));
	ck_assert(a.inode->lasting);
	tree_as(ALICE);
	OK(tree_close(&a));
	ck_assert(!known[0]->lasting);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("pages");
	TCase *t = tcase_create("pages");

	tcase_add_checked_fixture(t, tree_setup_table, forget_all);
	tcase_add_test(t, the_first_open_stores_a_small_value);
	tcase_add_test(t, a_larger_value_and_none_are_left_to_reads);
	tcase_add_test(t, old_bytes_are_dropped_at_the_next_open);
	tcase_add_test(t, a_version_rewritten_counts_as_new);
	tcase_add_test(t, who_reads_on_is_told_before_the_close_returns);
	tcase_add_test(t, beside_a_writer_and_just_after_it_readers_bypass);
	tcase_add_test(t, what_is_no_lasting_cell_bypasses);
	tcase_add_test(t, pages_read_in_parts_hold_the_newest_bytes);
	tcase_add_test(t, a_writers_own_pages_are_dropped_by_the_next_reader);
	tcase_add_test(t, a_writer_waits_once_for_a_reader_that_stays);
	suite_add_tcase(s, t);
	SRunner *runner = srunner_create(s);

	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
