/* Renames of what is open and not stored yet; and what goes on while a large
 * value is being stored or moved. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/why.h"
#include "stall.h"
#include "suite.h"
#include "tree_kit.h"

#define Q "t/r/f/q"

static struct file a, b;

static struct stat st;

static bool
there(const char *path)
{
	int r = tree_stat(path, &st);

	ck_assert(r == 0 || r == -ENOENT);
	return r == 0;
}

static void
setup(void)
{
	tree_setup_table();
	OK(tree_put(".schema/u", "table open=0\nfamily f versions=100\n"));
	OK(tree_mkdir_path("t/s", 0755));
	OK(tree_mkdir_path("t/s/f", 0755));
	OK(tree_mkdir_path("u/r", 0755));
	OK(tree_mkdir_path("u/r/f", 0755));
}

/* A cell's history, or a dot file's bytes, or "-". */
static const char *
state(const char *path)
{
	const char *text;

	if (!there(path))
		return "-";
	text = strrchr(path, '/')[1] == '.' ? tree_cat(path)
					    : tree_history(path);
	return *text ? text : "empty";
}

/* --- what is pending -------------------------------------------------------- */

static const struct {
	const char *from, *to;
	int flags;	      /* of the open */
	const char *old;      /* at `from` before the open; NULL: it makes it */
	const char *target;   /* at `to` */
	const char *unmoved;  /* `from`, if the rename fails, */
	const char *moved;    /* `to`, if it does not */
	const char *closed;   /* `from` closed after it failed */
} pending[] = {
    {Q, "t/r/f/p", O_TRUNC, "old", NULL, "old", "new old", "new old"},
    {Q, "t/s/f/p", O_TRUNC, "old", NULL, "old", "new old", "new old"},
    {Q, "t/r/g/p", O_TRUNC, "old", NULL, "old", "new old", "new old"},
    {Q, "u/r/f/p", O_TRUNC, "old", NULL, "old", "new old", "new old"},
    {Q, "t/r/f/p", O_CREAT, NULL, NULL, "empty", "new", "new"},
    {Q, "t/r/f/p", O_APPEND, "old", NULL, "old", "oldnew old", "oldnew old"},
    {Q, "t/r/f/p", O_TRUNC, "old", "at", "old", "new at", "new old"},
    {Q, "u/r/f/p", O_TRUNC, "old", "at", "old", "new at", "new old"},
    {Q, "t/r/f/p", O_CREAT, NULL, "at", "empty", "new at", "new"},
    {"t/r/f/.x", Q, O_CREAT, NULL, NULL, "empty", "new", "new"},
    {"t/r/f/.x", Q, O_CREAT, NULL, "at", "empty", "new at", "new"},
    {"t/r/f/.x", "u/r/f/p", O_CREAT, NULL, "at", "empty", "new at", "new"},
    {"t/r/f/.x", "t/r/f/.y", O_CREAT, NULL, "at", "empty", "new", "new"},
    {Q, "t/r/f/.x", O_CREAT, NULL, "at", "empty", "new", "new"},
    {Q "@5", "t/r/f/p", O_TRUNC, "old", NULL, "old", "new", "new"},
    {Q "@5", "t/r/f/p@6", O_CREAT, NULL, NULL, "empty", "new", "new"},
};

static void
open_pending(int i)
{
	if (pending[i].old)
		OK(tree_put(pending[i].from, pending[i].old));
	if (pending[i].target)
		OK(tree_put(pending[i].to, pending[i].target));
	OK(tree_open(pending[i].from, O_WRONLY | pending[i].flags, &a));
	OK(tree_write(&a, "new"));
}

/* What a version's name stands for is the version. */
static const char *
state_of(const char *path)
{
	char cell[64];

	snprintf(cell, sizeof(cell), "%.*s", (int)strcspn(path, "@"), path);
	return state(cell);
}

START_TEST(a_rename_stores_what_is_pending_or_nothing)
{
	int r = -1;

	for (unsigned count = 1; r; count++) {
		tree_teardown();
		setup();
		open_pending(_i);
		tree_fail(EIO, count);
		r = tree_move(pending[_i].from, pending[_i].to);
		tree_fail(0, 0);
		if (r == 0)
			break;
		REFUSED(EIO, r);
		SAYS(pending[_i].unmoved, state_of(pending[_i].from));
		SAYS(pending[_i].target ? pending[_i].target : "-",
		    state_of(pending[_i].to));
		OK(tree_close(&a)); /* it has lost nothing */
		SAYS(pending[_i].closed, state_of(pending[_i].from));
	}
	SAYS("-", state_of(pending[_i].from));
	SAYS(pending[_i].moved, state_of(pending[_i].to));
	OK(tree_close(&a));
	SAYS(pending[_i].moved, state_of(pending[_i].to));
}
END_TEST

START_TEST(writing_on_after_the_rename_replaces_what_it_stored)
{
	open_pending(_i);
	OK(tree_move(pending[_i].from, pending[_i].to));
	unsigned versions = tree_versions(pending[_i].to);
	OK(tree_write(&a, "er"));
	OK(tree_close(&a));
	const char *newest = tree_cat(pending[_i].to);
	ck_assert_str_eq(newest + strlen(newest) - 5, "newer");
	ck_assert_uint_eq(tree_versions(pending[_i].to), versions);
}
END_TEST

START_TEST(an_empty_new_file_that_is_renamed_before_it_is_written)
{
	OK(tree_put("t/r/f/p", "at"));
	OK(tree_open(Q, O_WRONLY | O_CREAT, &a));
	OK(tree_move(Q, "t/r/f/p"));
	ck_assert_uint_eq(tree_versions("t/r/f/p"), 2);
	OK(tree_write(&a, "new"));
	OK(tree_close(&a));
	SAYS("new at", tree_history("t/r/f/p"));
}
END_TEST

START_TEST(of_several_writers_the_one_that_renames_is_last)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	OK(tree_write(&a, "alice"));
	tree_as(BOB);
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &b));
	OK(tree_write(&b, "bob"));
	tree_as(ALICE);
	OK(tree_move(Q, "t/r/f/p"));
	SAYS("alice bob old", tree_history("t/r/f/p"));
	OK(tree_write(&a, "!"));
	OK(tree_close(&a));
	tree_as(BOB);
	OK(tree_close(&b));
	SAYS("alice! bob old", tree_history("t/r/f/p"));
}
END_TEST

START_TEST(what_is_set_on_a_pending_file_moves_with_it)
{
	OK(tree_open("t/r/f/.x", O_WRONLY | O_CREAT, &a));
	OK(tree_write(&a, "v"));
	OK(tree_chmod("t/r/f/.x", 0600));
	OK(tree_touch("t/r/f/.x", 1234));
	OK(tree_move("t/r/f/.x", Q));
	ck_assert(there(Q));
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(st.st_mtim.tv_sec, 1234);
	OK(tree_close(&a));
	ck_assert(there(Q));
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(st.st_mtim.tv_sec, 1234);
}
END_TEST

START_TEST(what_is_open_below_a_directory_that_moves_is_stored_there)
{
	OK(tree_put(Q, "old"));
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	OK(tree_write(&a, "new"));
	OK(tree_open("t/r/f/.x", O_WRONLY | O_CREAT, &b));
	OK(tree_write(&b, "dot"));
	OK(tree_move("t/r", "t/new"));
	SAYS("old", tree_history("t/new/f/q"));
	OK(tree_close(&a));
	OK(tree_close(&b));
	SAYS("new old", tree_history("t/new/f/q"));
	SAYS("dot", tree_cat("t/new/f/.x"));
	ck_assert(!there("t/r"));
}
END_TEST

/* --- while a large value is on its way -------------------------------------- */

#define LARGE (3 << 20)

static pthread_t thread;

static char *
large(void)
{
	static char text[LARGE + 1];

	memset(text, 'x', LARGE);
	return text;
}

static void *
error_of(int r)
{
	return r ? strerror(-r) : NULL;
}

static void
await(pthread_t which)
{
	void *error;

	OK(pthread_join(which, &error));
	ck_assert_msg(!error, "%s", (char *)error);
}

static void *
put_large(void *path)
{
	return error_of(tree_put(path, large()));
}

static void *
append_large(void *path)
{
	return error_of(tree_append(path, large()));
}

static void *
move_to_g(void *path)
{
	return error_of(tree_move(path, "t/r/g/q"));
}

/* Other names come and go while it is stalled. */
static void
others_go_on(void)
{
	OK(tree_put("t/s/f/1", "v"));
	OK(tree_move("t/s/f/1", "t/s/f/2"));
	OK(tree_unlink("t/s/f/2"));
	OK(tree_mkdir_path("t/s/g", 0755));
	OK(tree_rmdir("t/s/g"));
	OK(tree_move("t/s", "t/new"));
	OK(tree_move("t/new", "t/s"));
}

static void
store_stalled(void *(*how)(void *), void *path)
{
	stall(true);
	OK(pthread_create(&thread, NULL, how, path));
	stall_await();
}

START_TEST(other_names_come_and_go_while_a_large_value_is_stored)
{
	static const char *const paths[] = {Q, Q "@5", "t/r/f/.x"};

	OK(tree_put(Q, "old"));
	store_stalled(_i == 3 ? append_large : put_large,
	    _i == 3 ? Q : (char *)paths[_i]);
	others_go_on();
	stall(false);
	await(thread);
	ck_assert(there(_i == 3 ? Q : paths[_i]));
	ck_assert_int_eq(st.st_size, _i == 3 ? LARGE + 3 : LARGE);
}
END_TEST

START_TEST(a_name_that_goes_meanwhile_takes_the_large_value_along)
{
	OK(tree_put(Q, "old"));
	store_stalled(put_large, Q);
	OK(tree_unlink(Q));
	tree_as(BOB);
	OK(tree_put(Q, "another"));
	stall(false);
	await(thread);
	SAYS("another", tree_history(Q));
}
END_TEST

START_TEST(a_name_that_moves_meanwhile_has_the_large_value)
{
	pthread_t mover;

	OK(tree_put(Q, "old"));
	store_stalled(put_large, Q);
	OK(pthread_create(&mover, NULL, move_to_g, Q));
	stall(false);
	await(thread);
	await(mover);
	ck_assert(!there(Q));
	ck_assert(there("t/r/g/q"));
	ck_assert_int_eq(st.st_size, LARGE);
	ck_assert_uint_eq(tree_versions("t/r/g/q"), 2);
}
END_TEST

START_TEST(a_directory_that_moves_meanwhile_has_the_large_value)
{
	OK(tree_put(Q, "old"));
	store_stalled(put_large, Q);
	OK(tree_move("t/r/f", "t/s/f"));
	OK(tree_move("t/s", "t/new"));
	OK(tree_move("t", "v"));
	stall(false);
	await(thread);
	ck_assert(there("v/new/f/q"));
	ck_assert_int_eq(st.st_size, LARGE);
	ck_assert_uint_eq(tree_versions("v/new/f/q"), 2);
}
END_TEST

START_TEST(other_names_come_and_go_while_a_large_value_is_truncated)
{
	OK(tree_put(Q, large()));
	stall(true);
	OK(pthread_create(&thread, NULL, put_large, Q));
	stall_await();
	OK(tree_truncate(Q, 5));
	stall(false);
	await(thread);
	ck_assert_uint_eq(tree_versions(Q), 3);
}
END_TEST

/* The large value is being copied to another family's chunks. */
START_TEST(names_are_free_while_a_rename_copies)
{
	OK(tree_put(Q, large()));
	OK(tree_open("t/s/f/1", O_WRONLY | O_CREAT, &a));
	OK(tree_write(&a, "v"));
	struct inode *dir = a.inode->up;
	stall(true);
	OK(pthread_create(&thread, NULL, move_to_g, Q));
	stall_await();
	OK(tree_flush(&a));
	/* as the kernel would in another directory */
	OK(tree_remove(&tree_fs, dir, slice_text("1"), false, tree_caller()));
	stall(false);
	await(thread);
	OK(tree_close(&a));
	ck_assert(there("t/r/g/q"));
	ck_assert_int_eq(st.st_size, LARGE);
	ck_assert(!there(Q));
}
END_TEST

/* --- names that stand in the way -------------------------------------------- */

START_TEST(what_is_there_is_not_replaced_where_that_is_asked_for)
{
	static const char *const from[] = {
	    Q, "t/r/f/.x", "t/r/f/.d", "t/r/g", "t/r", "t"};
	static const char *const to[] = {
	    "t/r/f/p", "t/r/f/.y", "t/r/f/.e", "t/s/g", "t/new", "v"};

	OK(tree_put(Q, "q"));
	OK(tree_put("t/r/f/p", "p"));
	OK(tree_put("t/r/f/.x", "x"));
	OK(tree_put("t/r/f/.y", "y"));
	OK(tree_mkdir_path("t/r/f/.d", 0755));
	OK(tree_mkdir_path("t/r/f/.e", 0755));
	OK(tree_mkdir_path("t/s/g", 0755));
	OK(tree_mkdir_path("t/new", 0755));
	OK(tree_mkdir_path("v", 0755));
	for (int i = 0; i < 6; i++)
		REFUSED(EEXIST, tree_move_new(from[i], to[i]));
	OK(tree_rmdir("t/r/f/.e"));
	OK(tree_unlink("t/r/f/p"));
	OK(tree_unlink("t/r/f/.y"));
	OK(tree_rmdir("t/s/g"));
	OK(tree_rmdir("t/new"));
	OK(tree_rmdir("v"));
	tree_as(BOB);
	for (int i = 0; i < 6; i++)
		OK(tree_move_new(from[i], to[i]));
	SAYS("q", tree_cat("v/new/f/p"));
	SAYS("x", tree_cat("v/new/f/.y"));
}
END_TEST

START_TEST(two_cells_are_exchanged_with_their_histories)
{
	OK(tree_put(Q, "q1"));
	OK(tree_put(Q, "q2"));
	OK(tree_put("t/s/f/p", "p"));
	OK(tree_open(Q, O_RDWR, &a));
	OK(tree_open("t/s/f/p", O_RDWR, &b));
	OK(tree_write(&b, "+"));
	OK(tree_exchange(Q, "t/s/f/p"));
	SAYS("+ p", tree_history(Q));
	SAYS("q2 q1", tree_history("t/s/f/p"));
	OK(tree_write(&b, "+")); /* they follow */
	OK(tree_write(&a, "Q"));
	OK(tree_close(&a));
	OK(tree_close(&b));
	SAYS("++ p", tree_history(Q));
	SAYS("Q2 q2 q1", tree_history("t/s/f/p"));
}
END_TEST

START_TEST(what_is_no_cell_is_not_exchanged)
{
	OK(tree_put(Q, "q"));
	OK(tree_put(Q "@5", "five"));
	OK(tree_put("t/r/f/.x", "x"));
	OK(tree_put("u/r/f/q", "far"));
	REFUSED(ENOENT, tree_exchange(Q, "t/r/f/p"));
	REFUSED(EINVAL, tree_exchange(Q, "t/r/f/.x"));
	REFUSED(EINVAL, tree_exchange(Q "@5", Q));
	REFUSED(EINVAL, tree_exchange(Q, "t/r"));
	REFUSED(EINVAL, tree_exchange("t/r", "t/s"));
	REFUSED(EINVAL, tree_exchange("t/r/f", "t/s/f"));
	REFUSED(EINVAL, tree_exchange("t", "u"));
	REFUSED(EINVAL, tree_exchange(Q, "u/r/f/q"));
	OK(tree_exchange(Q, Q));
	SAYS("q five", tree_history(Q));
}
END_TEST

START_TEST(a_failed_rename_of_a_restored_name_is_told)
{
	OK(tree_put(Q, "old"));
	OK(tree_put("u/r/f/big", "more than two"));
	OK(tree_append(".schema/t", "family f max_cell_size=5\n"));
	OK(tree_unlink(Q));
	tree_notices();
	REFUSED(EFBIG, tree_move("u/r/f/big", Q));
	SAYS("old", tree_history(Q)); /* given back to its process */
	ck_assert_ptr_nonnull(strstr(tree_notices(), "entry q"));
}
END_TEST

/* --- dot directories -------------------------------------------------------- */

START_TEST(a_dot_directory_is_renamed_with_what_is_open_in_it)
{
	OK(tree_mkdir_path("t/r/f/.d", 0750));
	OK(tree_put("t/r/f/.d/1", "one"));
	OK(tree_open("t/r/f/.d/2", O_WRONLY | O_CREAT, &a));
	OK(tree_write(&a, "two"));
	OK(tree_move("t/r/f/.d", "t/r/f/.e"));
	OK(tree_close(&a));
	SAYS(".e", tree_list("t/r/f"));
	SAYS("1 2", tree_list("t/r/f/.e"));
	SAYS("two", tree_cat("t/r/f/.e/2"));
	ck_assert(there("t/r/f/.e"));
	ck_assert_uint_eq(st.st_mode & 07777, 0750);
	OK(tree_move("t/r/f/.e", "u/r/f/.f"));
	SAYS("one", tree_cat("u/r/f/.f/1"));
	SAYS("", tree_list("t/r/f"));
	OK(tree_move("u/r/f/.f/1", "t/r/f/q"));
	SAYS("one", tree_history(Q));
}
END_TEST

START_TEST(a_dot_directory_becomes_nothing_else)
{
	OK(tree_mkdir_path("t/r/f/.d", 0755));
	OK(tree_mkdir_path("t/r/f/.e", 0755));
	OK(tree_put("t/r/f/.x", "x"));
	OK(tree_put("t/r/f/.e/1", "one"));
	OK(tree_put(Q, "q"));
	REFUSED(EINVAL, tree_move("t/r/f/.d", "t/r/f/p"));
	REFUSED(ENOTDIR, tree_move("t/r/f/.d", Q));
	REFUSED(ENOTDIR, tree_move("t/r/f/.d", "t/r/f/.x"));
	REFUSED(ENOTEMPTY, tree_move("t/r/f/.d", "t/r/f/.e"));
	REFUSED(EINVAL, tree_move("t/r/f/.d", "t/r/f/.e/.d"));
	REFUSED(EPERM, tree_move("t/r/f/.d", "t/r/.d"));
	REFUSED(EISDIR, tree_move("t/r/f/.x", "t/r/f/.d"));
	OK(tree_move("t/r/f/.e", "t/r/f/.d"));
	SAYS(".x .d q", tree_list("t/r/f"));
	OK(tree_unlink("t/r/f/.d/1"));
	OK(tree_rmdir("t/r/f/.d"));
}
END_TEST

#define TOPIC(name, ...)                                                       \
	suite_topic(s, name, setup, tree_teardown, TESTS(__VA_ARGS__))

static Suite *
rename_suite(void)
{
	Suite *s = suite_create("rename");
	int forms = sizeof(pending) / sizeof(*pending);
	TCase *t = tcase_create("forms");

	tcase_add_checked_fixture(t, setup, tree_teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(
	    t, a_rename_stores_what_is_pending_or_nothing, 0, forms);
	tcase_add_loop_test(t,
	    writing_on_after_the_rename_replaces_what_it_stored, 0, forms);
	tcase_add_loop_test(t,
	    other_names_come_and_go_while_a_large_value_is_stored, 0, 4);
	suite_add_tcase(s, t);
	TOPIC("pending",
	    an_empty_new_file_that_is_renamed_before_it_is_written,
	    of_several_writers_the_one_that_renames_is_last,
	    what_is_set_on_a_pending_file_moves_with_it,
	    what_is_open_below_a_directory_that_moves_is_stored_there);
	TOPIC("in the way",
	    what_is_there_is_not_replaced_where_that_is_asked_for,
	    two_cells_are_exchanged_with_their_histories,
	    what_is_no_cell_is_not_exchanged,
	    a_failed_rename_of_a_restored_name_is_told);
	TOPIC("dot directories",
	    a_dot_directory_is_renamed_with_what_is_open_in_it,
	    a_dot_directory_becomes_nothing_else);
	TOPIC("large",
	    a_name_that_goes_meanwhile_takes_the_large_value_along,
	    a_name_that_moves_meanwhile_has_the_large_value,
	    a_directory_that_moves_meanwhile_has_the_large_value,
	    other_names_come_and_go_while_a_large_value_is_truncated,
	    names_are_free_while_a_rename_copies);
	return s;
}

int
main(void)
{
	return suite_run(rename_suite());
}
