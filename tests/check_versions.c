/* When a close is a version: one for each open that wrote or truncated, whole,
 * and none for any other. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "fs/notify.h"
#include "suite.h"
#include "tree_kit.h"

#define Q "t/r/f/q"

static struct file a, b, c;

/* --- one open, one version --------------------------------------------------- */

START_TEST(each_open_that_wrote_is_one_version)
{
	OK(tree_put(Q, "one"));
	OK(tree_put(Q, "two"));
	OK(tree_put(Q, "three"));
	SAYS("three two one", tree_history(Q));
	SAYS("three", tree_cat(Q));
}
END_TEST

START_TEST(many_writes_of_one_open_are_one_version)
{
	OK(tree_open(Q, O_WRONLY | O_CREAT | O_TRUNC, &a));
	for (int i = 0; i < 50; i++)
		OK(tree_write(&a, "x"));
	OK(tree_close(&a));
	ck_assert_uint_eq(tree_versions(Q), 1);
	ck_assert_uint_eq(strlen(tree_cat(Q)), 50);
}
END_TEST

START_TEST(an_open_that_wrote_nothing_is_none)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY, &a));
	OK(tree_close(&a));
	OK(tree_open(Q, O_RDWR, &a));
	SAYS("old", tree_read(&a));
	OK(tree_close(&a));
	OK(tree_open(Q, O_WRONLY | O_APPEND, &a));
	OK(tree_close(&a));
	SAYS("old", tree_history(Q));
}
END_TEST

START_TEST(a_partial_write_keeps_the_rest)
{
	OK(tree_put(Q, "hello world"));
	OK(tree_open(Q, O_WRONLY, &a));
	a.at = 6;
	OK(tree_write(&a, "there"));
	OK(tree_close(&a));
	SAYS("hello there hello world", tree_history(Q));
}
END_TEST

START_TEST(a_new_name_is_there_from_its_creation_on)
{
	struct stat st;

	OK(tree_open(Q, O_WRONLY | O_CREAT, &a));
	tree_as(BOB);
	OK(tree_stat(Q, &st));
	ck_assert_int_eq(st.st_size, 0);
	SAYS("q", tree_list("t/r/f"));
	tree_as(ALICE);
	OK(tree_write(&a, "v"));
	OK(tree_close(&a));
	SAYS("v", tree_history(Q));
}
END_TEST

START_TEST(creating_without_writing_is_one_empty_version)
{
	OK(tree_put(Q, ""));
	ck_assert_uint_eq(tree_versions(Q), 1);
	SAYS("", tree_cat(Q));
}
END_TEST

/* --- FLUSH -------------------------------------------------------------------- */

START_TEST(a_flush_before_the_first_write_stores_nothing)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	OK(tree_flush(&a));
	ck_assert_uint_eq(tree_versions(Q), 1);
	OK(tree_write(&a, "new"));
	OK(tree_close(&a));
	SAYS("new old", tree_history(Q));
}
END_TEST

START_TEST(a_flush_by_another_process_stores_nothing)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	OK(tree_write(&a, "ha"));
	tree_as(BOB);
	OK(tree_flush(&a));
	SAYS("old", tree_history(Q));
	tree_as(ALICE);
	OK(tree_write(&a, "lf"));
	OK(tree_close(&a));
	SAYS("half old", tree_history(Q));
}
END_TEST

START_TEST(a_last_close_by_another_process_stores_at_release)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	OK(tree_write(&a, "new"));
	tree_as(BOB);
	OK(tree_close(&a));
	SAYS("new old", tree_history(Q));
}
END_TEST

START_TEST(several_closers_leave_one_version)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	OK(tree_write(&a, "first"));
	OK(tree_flush(&a));
	SAYS("first old", tree_history(Q));
	OK(tree_write(&a, " second"));
	OK(tree_flush(&a));
	OK(tree_flush(&a));
	OK(tree_close(&a));
	SAYS("first second old", tree_history(Q));
}
END_TEST

START_TEST(the_answer_of_a_refused_commit_is_closes)
{
	OK(tree_put("t/r/g/q", "1"));
	OK(tree_open("t/r/g/q", O_WRONLY | O_TRUNC, &a));
	OK(tree_write(&a, "22"));
	OK(tree_append(".schema/t", "family g max_cell_size=1\n"));
	REFUSED(EFBIG, tree_flush(&a));
	tree_close(&a);
	ck_assert_uint_eq(tree_fs.buffers.used, 0);
}
END_TEST

/* --- fsync -------------------------------------------------------------------------- */

START_TEST(fsync_then_close_leaves_one_version)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	OK(tree_write(&a, "new"));
	OK(handle_sync(&tree_fs, a.handle));
	SAYS("new old", tree_history(Q));
	OK(handle_sync(&tree_fs, a.handle));
	OK(tree_close(&a));
	SAYS("new old", tree_history(Q));
}
END_TEST

START_TEST(writing_on_after_fsync_replaces_its_version)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	OK(tree_write(&a, "ab"));
	OK(handle_sync(&tree_fs, a.handle));
	OK(tree_write(&a, "cd"));
	OK(tree_close(&a));
	SAYS("abcd old", tree_history(Q));
}
END_TEST

START_TEST(fsync_stores_a_truncation)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	OK(handle_sync(&tree_fs, a.handle));
	ck_assert_uint_eq(tree_versions(Q), 2);
	SAYS("", tree_cat(Q));
	OK(tree_close(&a));
	ck_assert_uint_eq(tree_versions(Q), 2);
}
END_TEST

START_TEST(bytes_never_change_under_a_timestamp)
{
	OK(tree_open(Q, O_WRONLY | O_CREAT, &a));
	OK(tree_write(&a, "1"));
	OK(handle_sync(&tree_fs, a.handle));
	char *first = strdup(tree_attribute(Q, "timestamp"));
	OK(tree_write(&a, "2"));
	OK(tree_close(&a));
	ck_assert_str_ne(tree_attribute(Q, "timestamp"), first);
	free(first);
}
END_TEST

/* --- two at once --------------------------------------------------------------------- */

START_TEST(two_writers_never_mix)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	tree_as(BOB);
	OK(tree_open(Q, O_WRONLY, &b));
	OK(tree_write(&b, "B"));
	tree_as(ALICE);
	OK(tree_write(&a, "AAAA"));
	OK(tree_close(&a));
	tree_as(BOB);
	OK(tree_write(&b, "B"));
	OK(tree_close(&b));
	SAYS("BBd AAAA old", tree_history(Q));
}
END_TEST

START_TEST(another_version_in_between_is_not_taken_for_ones_own)
{
	OK(tree_open(Q, O_WRONLY | O_CREAT, &a));
	OK(tree_write(&a, "a1"));
	OK(handle_sync(&tree_fs, a.handle));
	tree_as(BOB);
	OK(tree_put(Q, "b"));
	tree_as(ALICE);
	a.at = 1;
	OK(tree_write(&a, "!"));
	OK(tree_close(&a));
	SAYS("b! b", tree_history(Q));
}
END_TEST

START_TEST(what_another_stored_before_the_makers_open_is_not_emptied)
{
	struct inode *dir;
	struct look look;
	struct made made;
	struct slice q = slice_text("q");
	struct handle *h;

	OK(tree_put(Q, "x"));
	OK(tree_unlink(Q));
	tree_as(BOB);
	OK(tree_open("t/r/f/p", O_WRONLY | O_CREAT, &a));
	dir = a.inode->up;
	OK(tree_create(&tree_fs, dir, q, 0644, 0, tree_caller(), &made));
	tree_as(CAROL);
	OK(tree_put(Q, "carol"));
	tree_as(BOB);
	OK(handle_open(&tree_fs, made.inode, O_WRONLY | O_CREAT,
	    tree_caller(), &made.fresh, made.mine, &h));
	handle_release(&tree_fs, h);
	inode_put(&tree_fs, made.inode);
	SAYS("carol", tree_cat(Q));
	OK(tree_look(&tree_fs, dir, tree_caller(), &look));
	OK(tree_close(&a));
}
END_TEST

/* --- appending ------------------------------------------------------------------------ */

START_TEST(appending_handles_lose_nothing)
{
	OK(tree_put(Q, "0\n"));
	OK(tree_open(Q, O_WRONLY | O_APPEND, &a));
	tree_as(BOB);
	OK(tree_open(Q, O_WRONLY | O_APPEND, &b));
	OK(tree_write(&b, "b\n"));
	tree_as(ALICE);
	OK(tree_write(&a, "a\n"));
	OK(tree_close(&a));
	tree_as(BOB);
	OK(tree_close(&b));
	SAYS("0\na\nb\n", tree_cat(Q));
	ck_assert_uint_eq(tree_versions(Q), 3);
}
END_TEST

START_TEST(offsets_of_an_appending_handle_do_not_count)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY | O_APPEND, &a));
	a.at = 0;
	OK(tree_write(&a, "1"));
	a.at = 1000;
	OK(tree_write(&a, "2"));
	OK(tree_close(&a));
	SAYS("old12 old", tree_history(Q));
}
END_TEST

START_TEST(an_appending_handle_that_commits_twice_leaves_one_version)
{
	OK(tree_put(Q, "0"));
	OK(tree_open(Q, O_WRONLY | O_APPEND, &a));
	OK(tree_write(&a, "1"));
	OK(handle_sync(&tree_fs, a.handle));
	OK(tree_write(&a, "2"));
	OK(tree_close(&a));
	SAYS("012 0", tree_history(Q));
}
END_TEST

START_TEST(appends_between_the_commits_of_another_stay)
{
	OK(tree_put(Q, "0"));
	OK(tree_open(Q, O_WRONLY | O_APPEND, &a));
	OK(tree_write(&a, "a"));
	OK(handle_sync(&tree_fs, a.handle));
	tree_as(BOB);
	OK(tree_append(Q, "b"));
	tree_as(ALICE);
	OK(tree_write(&a, "c"));
	OK(tree_close(&a));
	SAYS("0abc", tree_cat(Q));
}
END_TEST

START_TEST(an_appending_handle_reads_what_is_there_and_its_own)
{
	OK(tree_put(Q, "old "));
	OK(tree_open(Q, O_RDWR | O_APPEND, &a));
	OK(tree_write(&a, "new"));
	a.at = 0;
	SAYS("old new", tree_read(&a));
	OK(tree_close(&a));
	SAYS("old new old ", tree_history(Q));
}
END_TEST

START_TEST(one_read_of_an_appending_handle_goes_on_to_its_own)
{
	char bytes[9];

	OK(tree_put(Q, "there"));
	OK(tree_open(Q, O_RDWR | O_APPEND, &a));
	OK(tree_write(&a, "own"));
	ck_assert_int_eq(
	    handle_read(&tree_fs, a.handle, 1, bytes, 9, false), 7);
	ck_assert_mem_eq(bytes, "hereown", 7);
	OK(tree_close(&a));
}
END_TEST

START_TEST(an_appending_handle_that_is_cut_has_a_whole_image)
{
	OK(tree_put(Q, "0123"));
	OK(tree_open(Q, O_RDWR | O_APPEND, &a));
	OK(tree_write(&a, "456"));
	OK(handle_resize(&tree_fs, a.handle, 5, false));
	OK(tree_write(&a, "!"));
	OK(tree_close(&a));
	SAYS("01234! 0123", tree_history(Q));
}
END_TEST

START_TEST(truncating_and_appending_begins_empty)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY | O_APPEND | O_TRUNC, &a));
	OK(tree_write(&a, "1"));
	OK(tree_write(&a, "2"));
	OK(tree_close(&a));
	SAYS("12 old", tree_history(Q));
}
END_TEST

/* --- truncation ----------------------------------------------------------------------- */

START_TEST(truncation_by_name_is_one_version_at_once)
{
	OK(tree_put(Q, "12345"));
	OK(tree_truncate(Q, 3));
	SAYS("123 12345", tree_history(Q));
	OK(tree_truncate(Q, 0));
	ck_assert_uint_eq(tree_versions(Q), 3);
	OK(tree_truncate(Q, 2));
	struct stat st;
	OK(tree_stat(Q, &st));
	ck_assert_int_eq(st.st_size, 2);
}
END_TEST

START_TEST(truncation_alone_is_stored_at_release)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	OK(tree_flush(&a));
	SAYS("old", tree_history(Q));
	OK(tree_close(&a));
	ck_assert_uint_eq(tree_versions(Q), 2);
	SAYS("", tree_cat(Q));
}
END_TEST

START_TEST(setting_the_same_size_is_no_change)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY, &a));
	OK(handle_resize(&tree_fs, a.handle, 3, false));
	OK(handle_resize(&tree_fs, a.handle, 2, true));
	OK(tree_close(&a));
	SAYS("old", tree_history(Q));
}
END_TEST

START_TEST(a_file_that_is_cut_and_grown_through_its_handle_is_one_version)
{
	OK(tree_put(Q, "12345"));
	OK(tree_open(Q, O_WRONLY, &a));
	OK(handle_resize(&tree_fs, a.handle, 2, false));
	OK(handle_resize(&tree_fs, a.handle, 4, true));
	a.at = 4;
	OK(tree_write(&a, "x"));
	OK(tree_close(&a));
	struct stat st;
	OK(tree_stat(Q, &st));
	ck_assert_int_eq(st.st_size, 5);
	ck_assert_uint_eq(tree_versions(Q), 2);
}
END_TEST

/* --- removed and replaced while open --------------------------------------------------- */

START_TEST(a_writer_whose_cell_was_removed_writes_into_the_void)
{
	struct look look;

	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_RDWR, &a));
	OK(tree_unlink(Q));
	OK(tree_write(&a, "new"));
	OK(tree_look(&tree_fs, a.inode, tree_caller(), &look));
	ck_assert_uint_eq(look.st.st_nlink, 0);
	a.at = 0;
	SAYS("new", tree_read(&a));
	OK(tree_close(&a));
	ck_assert_uint_eq(tree_versions(Q), 0);
	SAYS("", tree_list("t/r/f"));
}
END_TEST

START_TEST(a_reader_of_a_removed_cell_keeps_its_bytes)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_RDONLY, &a));
	OK(tree_unlink(Q));
	tree_as(BOB);
	OK(tree_put(Q, "another"));
	SAYS("old", tree_read(&a));
	OK(tree_close(&a));
	SAYS("another", tree_history(Q));
}
END_TEST

START_TEST(a_writer_whose_cell_was_replaced_writes_into_the_void)
{
	OK(tree_put(Q, "old"));
	OK(tree_put("t/r/f/p", "p"));
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	OK(tree_write(&a, "lost"));
	tree_as(BOB);
	OK(tree_move("t/r/f/p", Q));
	tree_as(ALICE);
	OK(tree_close(&a));
	SAYS("p old", tree_history(Q));
}
END_TEST

START_TEST(a_writer_whose_row_was_renamed_writes_there)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	OK(tree_write(&a, "new"));
	OK(tree_move("t/r", "t/r2"));
	OK(tree_close(&a));
	SAYS("new old", tree_history("t/r2/f/q"));
	ck_assert_uint_eq(tree_versions(Q), 0);
}
END_TEST

START_TEST(a_pending_file_that_is_renamed_is_stored_and_followed)
{
	OK(tree_open("t/r/f/tmp", O_WRONLY | O_CREAT, &a));
	OK(tree_write(&a, "new"));
	OK(tree_put(Q, "old"));
	OK(tree_move("t/r/f/tmp", Q));
	SAYS("new old", tree_history(Q));
	OK(tree_write(&a, "er"));
	OK(tree_close(&a));
	SAYS("newer old", tree_history(Q));
	SAYS("q", tree_list("t/r/f"));
}
END_TEST

START_TEST(a_pending_file_that_moves_to_a_free_name_is_one_version_there)
{
	OK(tree_open("t/r/f/tmp", O_WRONLY | O_CREAT, &a));
	OK(tree_write(&a, "new"));
	OK(tree_move("t/r/f/tmp", Q));
	SAYS("new", tree_history(Q));
	OK(tree_write(&a, "er"));
	OK(tree_close(&a));
	SAYS("newer", tree_history(Q));
}
END_TEST

START_TEST(a_truncated_file_that_is_renamed_takes_its_emptiness_along)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	OK(tree_move(Q, "t/r/f/p"));
	SAYS("", tree_cat("t/r/f/p"));
	ck_assert_uint_eq(tree_versions("t/r/f/p"), 2);
	OK(tree_close(&a));
	ck_assert_uint_eq(tree_versions("t/r/f/p"), 2);
}
END_TEST

START_TEST(a_pending_dot_file_that_becomes_a_cell_is_one_version)
{
	OK(tree_put(Q, "old"));
	OK(tree_open("t/r/f/.q.XXXXXX", O_WRONLY | O_CREAT | O_EXCL, &a));
	OK(tree_write(&a, "new"));
	OK(tree_move("t/r/f/.q.XXXXXX", Q));
	SAYS("new old", tree_history(Q));
	OK(tree_write(&a, "er"));
	OK(tree_close(&a));
	SAYS("newer old", tree_history(Q));
}
END_TEST

/* --- the end of the mount -------------------------------------------------------- */

START_TEST(what_is_open_at_the_end_of_the_mount_is_stored)
{
	OK(tree_put(Q, "old"));
	OK(tree_put("t/r/f/p@5", "five"));
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	OK(tree_write(&a, "new"));
	OK(tree_open("t/r/f/p@5", O_WRONLY | O_TRUNC, &b));
	OK(tree_write(&b, "5"));
	OK(tree_open("t/r/f/p", O_RDONLY, &c));
	notify_close(&tree_fs);
	inode_put(&tree_fs, a.inode);
	inode_put(&tree_fs, b.inode);
	inode_put(&tree_fs, c.inode);
	handles_close(&tree_fs);
	SAYS("new old", tree_history(Q));
	SAYS("5", tree_history("t/r/f/p"));
}
END_TEST

#define TOPIC(name, ...)                                                       \
	suite_topic(s, name, tree_setup_table, tree_teardown, TESTS(__VA_ARGS__))

static Suite *
versions_suite(void)
{
	Suite *s = suite_create("versions");

	TOPIC("one open, one version",
	    each_open_that_wrote_is_one_version,
	    many_writes_of_one_open_are_one_version,
	    an_open_that_wrote_nothing_is_none,
	    a_partial_write_keeps_the_rest,
	    a_new_name_is_there_from_its_creation_on,
	    creating_without_writing_is_one_empty_version);
	TOPIC("FLUSH",
	    a_flush_before_the_first_write_stores_nothing,
	    a_flush_by_another_process_stores_nothing,
	    a_last_close_by_another_process_stores_at_release,
	    several_closers_leave_one_version,
	    the_answer_of_a_refused_commit_is_closes);
	TOPIC("fsync",
	    fsync_then_close_leaves_one_version,
	    writing_on_after_fsync_replaces_its_version,
	    fsync_stores_a_truncation,
	    bytes_never_change_under_a_timestamp);
	TOPIC("two at once",
	    two_writers_never_mix,
	    another_version_in_between_is_not_taken_for_ones_own,
	    what_another_stored_before_the_makers_open_is_not_emptied);
	TOPIC("appending",
	    appending_handles_lose_nothing,
	    offsets_of_an_appending_handle_do_not_count,
	    an_appending_handle_that_commits_twice_leaves_one_version,
	    appends_between_the_commits_of_another_stay,
	    an_appending_handle_reads_what_is_there_and_its_own,
	    one_read_of_an_appending_handle_goes_on_to_its_own,
	    an_appending_handle_that_is_cut_has_a_whole_image,
	    truncating_and_appending_begins_empty);
	TOPIC("truncation",
	    truncation_by_name_is_one_version_at_once,
	    truncation_alone_is_stored_at_release,
	    setting_the_same_size_is_no_change,
	    a_file_that_is_cut_and_grown_through_its_handle_is_one_version);
	TOPIC("removed and replaced while open",
	    a_writer_whose_cell_was_removed_writes_into_the_void,
	    a_reader_of_a_removed_cell_keeps_its_bytes,
	    a_writer_whose_cell_was_replaced_writes_into_the_void,
	    a_writer_whose_row_was_renamed_writes_there,
	    a_pending_file_that_is_renamed_is_stored_and_followed,
	    a_pending_file_that_moves_to_a_free_name_is_one_version_there,
	    a_truncated_file_that_is_renamed_takes_its_emptiness_along,
	    a_pending_dot_file_that_becomes_a_cell_is_one_version);
	TOPIC("the end of the mount",
	    what_is_open_at_the_end_of_the_mount_is_stored);
	return s;
}

int
main(void)
{
	return suite_run(versions_suite());
}
