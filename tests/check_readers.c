/* What others see, and what sets attributes, while a cell is written. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "tree_kit.h"

#define Q "t/r/f/q"

static struct file a, b;

static off_t
size_of(const char *path)
{
	struct stat st;

	OK(tree_stat(path, &st));
	return st.st_size;
}

static unsigned
mode_of(const char *path)
{
	struct stat st;

	OK(tree_stat(path, &st));
	return st.st_mode & 07777;
}

static int64_t
mtime_of(const char *path)
{
	struct stat st;

	OK(tree_stat(path, &st));
	return st.st_mtim.tv_sec;
}

/* --- readers ------------------------------------------------------------------ */

START_TEST(a_reader_beside_a_writer_sees_the_version_before)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	OK(tree_write(&a, "newer"));
	tree_as(BOB);
	OK(tree_open(Q, O_RDONLY, &b));
	ck_assert_int_eq(size_of(Q), 3);
	SAYS("old", tree_read(&b));
	OK(tree_close(&b));
	tree_as(ALICE);
	OK(tree_close(&a));
	SAYS("newer", tree_cat(Q));
	ck_assert_int_eq(size_of(Q), 5);
}
END_TEST

START_TEST(a_reader_bound_to_a_version_follows_after_its_end)
{
	char byte;

	OK(tree_put(Q, "12"));
	OK(tree_open(Q, O_WRONLY | O_APPEND, &a));
	tree_as(BOB);
	OK(tree_open(Q, O_RDONLY, &b));
	ck_assert_int_eq(
	    handle_read(&tree_fs, b.handle, 0, &byte, 1, false), 1);
	tree_as(ALICE);
	OK(tree_write(&a, "34"));
	OK(tree_close(&a));
	ck_assert_int_eq(
	    handle_read(&tree_fs, b.handle, 1, &byte, 1, false), 1);
	ck_assert_int_eq(
	    handle_read(&tree_fs, b.handle, 2, &byte, 1, false), 0);
	ck_assert_int_eq(
	    handle_read(&tree_fs, b.handle, 2, &byte, 1, false), 1);
	ck_assert_int_eq(byte, '3');
	OK(tree_close(&b));
}
END_TEST

START_TEST(a_reader_from_before_any_writer_follows_the_cell)
{
	char bytes[4];

	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_RDONLY, &b));
	OK(tree_put(Q, "new"));
	ck_assert_int_eq(
	    handle_read(&tree_fs, b.handle, 0, bytes, 3, false), 3);
	ck_assert_mem_eq(bytes, "new", 3);
	OK(tree_close(&b));
}
END_TEST

START_TEST(what_a_reader_reads_in_pieces_is_one_version)
{
	char bytes[4];

	OK(tree_put(Q, "oldest"));
	OK(tree_open(Q, O_RDONLY, &b));
	ck_assert_int_eq(
	    handle_read(&tree_fs, b.handle, 0, bytes, 3, false), 3);
	OK(tree_put(Q, "newest"));
	ck_assert_int_eq(
	    handle_read(&tree_fs, b.handle, 3, bytes, 3, false), 3);
	ck_assert_mem_eq(bytes, "est", 3);
	ck_assert_int_eq(
	    handle_read(&tree_fs, b.handle, 0, bytes, 3, false), 3);
	ck_assert_mem_eq(bytes, "new", 3);
	OK(tree_close(&b));
}
END_TEST

/* The kernel keeps the pages for all, beside the newest size. */
START_TEST(what_a_reader_maps_is_of_the_newest_version)
{
	char bytes[4];

	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_RDONLY, &b));
	ck_assert_int_eq(
	    handle_read(&tree_fs, b.handle, 0, bytes, 1, false), 1);
	OK(tree_put(Q, "longer than old"));
	ck_assert_int_eq(
	    handle_read(&tree_fs, b.handle, 12, bytes, 4, true), 3);
	ck_assert_mem_eq(bytes, "old", 3);
	OK(tree_close(&b));
}
END_TEST

/* Looks Q up, has it replaced, and opens what was found before. */
static int
open_replaced(const char *by, struct file *out)
{
	const struct attrs none = {0};

	OK(tree_open(by, O_RDONLY, &b)); /* the kernel knows what it renames */
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_RDONLY, out));
	inode_hold(&tree_fs, out->inode);
	struct inode *looked = out->inode;
	OK(tree_close(out));
	OK(tree_move(by, Q));
	*out = (struct file){.inode = looked};
	return handle_open(&tree_fs, looked, O_RDONLY, tree_caller(), &none,
	    0, &out->handle);
}

START_TEST(what_is_replaced_before_it_is_opened_is_what_took_its_name)
{
	struct look look;

	OK(tree_put("t/r/f/p", "newer"));
	OK(open_replaced("t/r/f/p", &a));
	OK(tree_look(&tree_fs, a.inode, tree_caller(), &look));
	ck_assert_int_eq(look.st.st_size, 5);
	SAYS("newer", tree_read(&a));
	OK(tree_close(&a));
	OK(tree_close(&b));
}
END_TEST

START_TEST(nothing_is_opened_so_by_the_rights_to_what_was_replaced)
{
	OK(tree_put("t/r/f/p", "secret"));
	OK(tree_chmod("t/r/f/p", 0600));
	REFUSED(ESTALE, open_replaced("t/r/f/p", &a));
	inode_put(&tree_fs, a.inode);
	OK(tree_close(&b));
}
END_TEST

START_TEST(a_version_by_its_timestamp_is_stable)
{
	char path[64];

	OK(tree_put(Q, "old"));
	snprintf(path, sizeof(path), Q "@%s",
	    tree_attribute(Q, "timestamp"));
	OK(tree_open(path, O_RDONLY, &b));
	OK(tree_put(Q, "new"));
	SAYS("old", tree_read(&b));
	OK(tree_close(&b));
}
END_TEST

START_TEST(a_writer_that_wrote_reads_its_image)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_RDWR, &a));
	OK(tree_write(&a, "X"));
	tree_as(BOB);
	OK(tree_put(Q, "bob"));
	tree_as(ALICE);
	a.at = 0;
	SAYS("Xld", tree_read(&a));
	OK(tree_close(&a));
	SAYS("Xld bob old", tree_history(Q));
}
END_TEST

START_TEST(a_writer_that_wrote_nothing_since_its_commit_reads_the_newest)
{
	OK(tree_put(Q, "1"));
	OK(tree_open(Q, O_RDWR, &a));
	tree_as(BOB);
	OK(tree_put(Q, "2"));
	tree_as(ALICE);
	SAYS("2", tree_read(&a));
	a.at = 0;
	OK(tree_write(&a, "3"));
	OK(handle_sync(&tree_fs, a.handle));
	tree_as(BOB);
	OK(tree_put(Q, "4"));
	tree_as(ALICE);
	a.at = 0;
	SAYS("4", tree_read(&a));
	OK(tree_close(&a));
}
END_TEST

START_TEST(the_first_write_after_a_commit_starts_from_the_newest)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_RDWR, &a));
	tree_as(BOB);
	OK(tree_put(Q, "bob!"));
	tree_as(ALICE);
	OK(tree_write(&a, "B"));
	OK(tree_close(&a));
	SAYS("Bob! bob! old", tree_history(Q));
}
END_TEST

/* --- what stat shows -------------------------------------------------------------- */

START_TEST(only_the_writer_sees_its_size)
{
	struct look look;

	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	ck_assert_int_eq(size_of(Q), 0);
	OK(tree_write(&a, "12345"));
	ck_assert_int_eq(size_of(Q), 5);
	OK(tree_look(&tree_fs, a.inode, tree_caller(), &look));
	ck_assert(look.hold == 0);
	tree_as(BOB);
	ck_assert_int_eq(size_of(Q), 3);
	tree_as(ALICE);
	OK(tree_close(&a));
}
END_TEST

START_TEST(an_appending_writer_sees_all_of_it)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY | O_APPEND, &a));
	OK(tree_write(&a, "12"));
	ck_assert_int_eq(size_of(Q), 5);
	tree_as(BOB);
	OK(tree_put(Q, "newest"));
	tree_as(ALICE);
	ck_assert_int_eq(size_of(Q), 8);
	OK(handle_resize(&tree_fs, a.handle, 8, false));
	ck_assert_int_eq(size_of(Q), 8);
	OK(tree_close(&a));
	SAYS("newest12", tree_cat(Q));
}
END_TEST

START_TEST(a_size_that_was_set_is_everybodys)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_RDWR, &a));
	OK(handle_resize(&tree_fs, a.handle, 100, false));
	tree_as(BOB);
	ck_assert_int_eq(size_of(Q), 100);
	tree_as(ALICE);
	OK(tree_close(&a));
}
END_TEST

START_TEST(a_writer_through_a_map_shows_its_size_to_all)
{
	char byte;

	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_RDWR | O_TRUNC, &a));
	OK(tree_write(&a, "12345"));
	ck_assert_int_eq(
	    handle_read(&tree_fs, a.handle, 0, &byte, 1, true), 1);
	tree_as(BOB);
	ck_assert_int_eq(size_of(Q), 5);
	tree_as(ALICE);
	OK(tree_close(&a));
}
END_TEST

static double
hold_of(const char *name)
{
	struct file known;
	struct inode *inode;
	struct look look;

	OK(tree_open("t/r/f/known", O_WRONLY | O_CREAT, &known));
	OK(tree_lookup(&tree_fs, known.inode->up, slice_text(name),
	    tree_caller(), &inode, &look));
	inode_put(&tree_fs, inode);
	OK(tree_close(&known));
	return look.hold;
}

START_TEST(what_moves_by_itself_is_not_believed_for_long)
{
	OK(tree_put(Q "@5", "12345678"));
	ck_assert(hold_of("q") == HOLD_LONG);
	ck_assert(hold_of("q@5") == 0);
	ck_assert(hold_of("q@~0") <= 1);
	ck_assert(hold_of("q@counter") <= 1);
	ck_assert(hold_of("q@") <= 1);
	OK(tree_append(".schema/t", "family f ttl=1000\n"));
	OK(tree_put(Q, "v"));
	ck_assert(hold_of("q") > 0 && hold_of("q") <= 1);
}
END_TEST

/* --- attributes while it is written ---------------------------------------------- */

START_TEST(a_time_set_while_pending_is_kept)
{
	OK(tree_open(Q, O_WRONLY | O_CREAT, &a));
	OK(tree_write(&a, "v"));
	OK(tree_touch(Q, 1000));
	OK(tree_close(&a));
	ck_assert_int_eq(mtime_of(Q), 1000);
	SAYS("v", tree_history(Q));
}
END_TEST

START_TEST(a_later_write_resets_a_time_that_was_set)
{
	OK(tree_open(Q, O_WRONLY | O_CREAT, &a));
	OK(tree_write(&a, "v"));
	OK(tree_touch(Q, 1000));
	OK(tree_write(&a, "w"));
	OK(tree_close(&a));
	ck_assert_int_gt(mtime_of(Q), 1000000);
}
END_TEST

START_TEST(a_time_set_after_the_close_is_kept_with_the_version)
{
	OK(tree_put(Q, "1"));
	OK(tree_touch(Q, 1000));
	SAYS("1", tree_history(Q));
	OK(tree_put(Q, "2"));
	ck_assert_int_gt(mtime_of(Q), 1000000);
	ck_assert_int_eq(mtime_of(Q "@~1"), 1000);
}
END_TEST

START_TEST(what_is_set_while_pending_belongs_to_the_callers_handle)
{
	OK(tree_put(Q, "0"));
	OK(tree_open(Q, O_WRONLY, &a));
	OK(tree_write(&a, "1"));
	tree_as(BOB);
	OK(tree_open(Q, O_WRONLY, &b));
	OK(tree_write(&b, "2"));
	tree_as(ALICE);
	OK(tree_touch(Q, 1000));
	OK(tree_close(&a));
	ck_assert_int_eq(mtime_of(Q), 1000);
	tree_as(BOB);
	OK(tree_close(&b));
	ck_assert_int_gt(mtime_of(Q), 1000000);
}
END_TEST

START_TEST(a_stranger_sets_the_time_of_the_last_written)
{
	OK(tree_put(Q, "0"));
	OK(tree_open(Q, O_WRONLY, &a));
	OK(tree_write(&a, "1"));
	tree_as(BOB);
	OK(tree_open(Q, O_WRONLY, &b));
	OK(tree_write(&b, "2"));
	tree_as(CAROL);
	OK(tree_touch(Q, 1000));
	tree_as(BOB);
	OK(tree_close(&b));
	ck_assert_int_eq(mtime_of(Q), 1000);
	tree_as(ALICE);
	OK(tree_close(&a));
	ck_assert_int_gt(mtime_of(Q), 1000000);
}
END_TEST

START_TEST(mode_and_owner_are_inherited)
{
	struct stat st;

	OK(tree_put(Q, "1"));
	OK(tree_chmod(Q, 0640));
	OK(tree_chown(Q, 7, 8));
	tree_as(BOB);
	OK(tree_put(Q, "2"));
	OK(tree_append(Q, "3"));
	OK(tree_truncate(Q, 1));
	OK(tree_stat(Q, &st));
	ck_assert_uint_eq(st.st_mode & 07777, 0640);
	ck_assert_uint_eq(st.st_uid, 7);
	ck_assert_uint_eq(st.st_gid, 8);
}
END_TEST

START_TEST(a_new_cell_has_its_makers_owner_and_mode)
{
	struct stat st;

	OK(tree_open_mode(Q, O_WRONLY | O_CREAT, 0600, &a));
	OK(tree_write(&a, "v"));
	OK(tree_close(&a));
	OK(tree_stat(Q, &st));
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_uint_eq(st.st_uid, 1000);
	ck_assert_uint_eq(st.st_gid, 100);
	ck_assert(S_ISREG(st.st_mode));
}
END_TEST

START_TEST(a_mode_set_while_pending_is_kept_and_shown)
{
	OK(tree_put(Q, "1"));
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	OK(tree_write(&a, "2"));
	OK(tree_chmod(Q, 0600));
	ck_assert_uint_eq(mode_of(Q), 0600);
	OK(tree_close(&a));
	ck_assert_uint_eq(mode_of(Q), 0600);
	SAYS("2 1", tree_history(Q));
}
END_TEST

START_TEST(a_time_set_while_pending_is_shown)
{
	OK(tree_put(Q, "1"));
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	OK(tree_write(&a, "2"));
	OK(tree_touch(Q, 1000));
	ck_assert_int_eq(mtime_of(Q), 1000);
	OK(tree_close(&a));
}
END_TEST

START_TEST(setuid_and_setgid_are_cleared_in_a_new_version)
{
	OK(tree_put(Q, "1"));
	OK(tree_chmod(Q, 06755));
	ck_assert_uint_eq(mode_of(Q), 06755);
	tree_notices();
	OK(tree_put(Q, "2"));
	ck_assert_uint_eq(mode_of(Q), 0755);
	SAYS("attr q", tree_notices()); /* or the kernel shows what it knows */
	OK(tree_put(Q, "3"));
	SAYS("", tree_notices());
}
END_TEST

/* --- limits -------------------------------------------------------------------------- */

START_TEST(a_value_above_the_limit_is_refused_where_it_is_written)
{
	OK(tree_append(".schema/t", "family f max_cell_size=8\n"));
	OK(tree_put(Q, "12345678"));
	OK(tree_open(Q, O_WRONLY | O_APPEND, &a));
	REFUSED(EFBIG, tree_write(&a, "9"));
	OK(tree_close(&a));
	OK(tree_open(Q, O_WRONLY, &a));
	REFUSED(EFBIG, handle_resize(&tree_fs, a.handle, 9, false));
	REFUSED(EFBIG, tree_close(&a));
	REFUSED(EFBIG, tree_truncate(Q, 9));
	SAYS("12345678", tree_history(Q));
}
END_TEST

START_TEST(a_new_cell_whose_bytes_are_refused_is_not_left_empty)
{
	OK(tree_append(".schema/t", "family f max_cell_size=8\n"));
	REFUSED(EFBIG, tree_put(Q, "123456789"));
	ck_assert_uint_eq(tree_versions(Q), 0);
	SAYS("", tree_list("t/r/f"));
	OK(tree_put(Q, "old"));
	REFUSED(EFBIG, tree_put(Q, "123456789"));
	SAYS("old", tree_cat(Q));
}
END_TEST

START_TEST(an_image_beyond_the_buffers_is_stored_all_the_same)
{
	static char big[3 << 20];

	memset(big, 'x', sizeof(big) - 1);
	OK(tree_put(Q, big));
	ck_assert_int_eq(size_of(Q), (off_t)sizeof(big) - 1);
	OK(tree_open(Q, O_RDONLY, &a));
	ck_assert_int_eq(handle_read(&tree_fs, a.handle, sizeof(big) - 3, big,
	    100, false), 2);
	OK(tree_close(&a));
	ck_assert_uint_eq(tree_versions(Q), 1);
}
END_TEST

#define TOPIC(name, ...)                                                       \
	suite_topic(s, name, tree_setup_table, tree_teardown, TESTS(__VA_ARGS__))

static Suite *
readers_suite(void)
{
	Suite *s = suite_create("readers");

	TOPIC("readers",
	    a_reader_beside_a_writer_sees_the_version_before,
	    a_reader_bound_to_a_version_follows_after_its_end,
	    a_reader_from_before_any_writer_follows_the_cell,
	    what_a_reader_reads_in_pieces_is_one_version,
	    what_a_reader_maps_is_of_the_newest_version,
	    what_is_replaced_before_it_is_opened_is_what_took_its_name,
	    nothing_is_opened_so_by_the_rights_to_what_was_replaced,
	    a_version_by_its_timestamp_is_stable,
	    a_writer_that_wrote_reads_its_image,
	    a_writer_that_wrote_nothing_since_its_commit_reads_the_newest,
	    the_first_write_after_a_commit_starts_from_the_newest);
	TOPIC("what stat shows",
	    only_the_writer_sees_its_size,
	    an_appending_writer_sees_all_of_it,
	    a_size_that_was_set_is_everybodys,
	    a_writer_through_a_map_shows_its_size_to_all,
	    what_moves_by_itself_is_not_believed_for_long);
	TOPIC("attributes while it is written",
	    a_time_set_while_pending_is_kept,
	    a_later_write_resets_a_time_that_was_set,
	    a_time_set_after_the_close_is_kept_with_the_version,
	    what_is_set_while_pending_belongs_to_the_callers_handle,
	    a_stranger_sets_the_time_of_the_last_written,
	    mode_and_owner_are_inherited,
	    a_new_cell_has_its_makers_owner_and_mode,
	    a_mode_set_while_pending_is_kept_and_shown,
	    a_time_set_while_pending_is_shown,
	    setuid_and_setgid_are_cleared_in_a_new_version);
	TOPIC("limits",
	    a_value_above_the_limit_is_refused_where_it_is_written,
	    a_new_cell_whose_bytes_are_refused_is_not_left_empty,
	    an_image_beyond_the_buffers_is_stored_all_the_same);
	return s;
}

int
main(void)
{
	return suite_run(readers_suite());
}
