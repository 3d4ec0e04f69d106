/* A history finds back to its name when the process that took it away makes
 * the name again. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "tree_kit.h"

#define Q "t/r/f/q"
#define BACKUP "t/r/f/q~"

static struct file a;

static void
plant(void)
{
	tree_setup_table();
	OK(tree_put(Q, "1"));
	OK(tree_put(Q, "2"));
}

/* --- renamed away ------------------------------------------------------------- */

START_TEST(a_name_renamed_away_and_made_anew_has_its_history)
{
	OK(tree_move(Q, BACKUP));
	SAYS("2 1", tree_history(BACKUP));
	OK(tree_put(Q, "3"));
	SAYS("3 2 1", tree_history(Q));
	SAYS("2", tree_history(BACKUP));
}
END_TEST

START_TEST(without_writing_the_new_name_is_empty_all_the_same)
{
	OK(tree_move(Q, BACKUP));
	OK(tree_put(Q, ""));
	SAYS("", tree_cat(Q));
	ck_assert_uint_eq(tree_versions(Q), 3);
}
END_TEST

START_TEST(opening_without_truncation_begins_empty_too)
{
	OK(tree_move(Q, BACKUP));
	OK(tree_open(Q, O_WRONLY | O_CREAT | O_EXCL, &a));
	OK(tree_write(&a, "3"));
	OK(tree_close(&a));
	SAYS("3 2 1", tree_history(Q));
}
END_TEST

START_TEST(appending_to_the_new_name_begins_empty)
{
	OK(tree_move(Q, BACKUP));
	OK(tree_append(Q, "3"));
	SAYS("3 2 1", tree_history(Q));
}
END_TEST

START_TEST(renaming_onto_the_old_name_gives_its_history_back)
{
	OK(tree_put("t/r/f/new", "3"));
	OK(tree_move(Q, BACKUP));
	OK(tree_move("t/r/f/new", Q));
	SAYS("3 2 1", tree_history(Q));
	SAYS("2", tree_history(BACKUP));
}
END_TEST

START_TEST(a_dot_file_renamed_onto_the_old_name_is_one_version)
{
	OK(tree_put("t/r/f/.q.tmp", "3"));
	OK(tree_move(Q, BACKUP));
	OK(tree_move("t/r/f/.q.tmp", Q));
	SAYS("3 2 1", tree_history(Q));
}
END_TEST

START_TEST(another_process_begins_a_new_history)
{
	OK(tree_move(Q, BACKUP));
	tree_as(BOB);
	OK(tree_put(Q, "3"));
	SAYS("3", tree_history(Q));
	SAYS("2 1", tree_history(BACKUP));
}
END_TEST

START_TEST(a_history_goes_back_only_once)
{
	OK(tree_move(Q, BACKUP));
	OK(tree_put(Q, "3"));
	OK(tree_unlink(Q));
	tree_as(BOB);
	OK(tree_put(Q, "4"));
	SAYS("4", tree_history(Q));
}
END_TEST

START_TEST(another_name_is_none_of_its_business)
{
	OK(tree_move(Q, BACKUP));
	OK(tree_put("t/r/f/p", "3"));
	OK(tree_mkdir_path("t/r2", 0755));
	OK(tree_mkdir_path("t/r2/f", 0755));
	OK(tree_put("t/r2/f/q", "4"));
	SAYS("3", tree_history("t/r/f/p"));
	SAYS("4", tree_history("t/r2/f/q"));
	OK(tree_put(Q, "5"));
	SAYS("5 2 1", tree_history(Q));
}
END_TEST

START_TEST(a_backup_removed_in_between_has_nothing_to_give_back)
{
	OK(tree_move(Q, BACKUP));
	tree_as(BOB);
	OK(tree_unlink(BACKUP));
	tree_as(ALICE);
	OK(tree_put(Q, "3"));
	SAYS("3", tree_history(Q));
}
END_TEST

START_TEST(a_backup_in_another_row_or_family_gives_back_too)
{
	OK(tree_move(Q, "t/r/g/q"));
	OK(tree_put(Q, "3"));
	SAYS("3 2 1", tree_history(Q));
	SAYS("2", tree_history("t/r/g/q"));
}
END_TEST

START_TEST(a_pending_file_renamed_away_and_made_anew_has_its_history)
{
	OK(tree_open(Q, O_WRONLY | O_TRUNC, &a));
	OK(tree_write(&a, "3"));
	OK(tree_move(Q, BACKUP));
	OK(tree_put(Q, "4"));
	OK(tree_close(&a));
	SAYS("4 3 2 1", tree_history(Q));
	SAYS("3", tree_history(BACKUP));
}
END_TEST

START_TEST(an_unlinked_backup_does_not_stop_a_history)
{
	OK(tree_move(Q, BACKUP));
	OK(tree_put(Q, "3"));
	OK(tree_unlink(BACKUP));
	OK(tree_move(Q, BACKUP));
	OK(tree_put(Q, "4"));
	SAYS("4 3 2 1", tree_history(Q));
	SAYS("3", tree_history(BACKUP));
}
END_TEST

START_TEST(one_version_renamed_onto_what_was_unlinked_waits_too)
{
	OK(tree_put("t/r/f/p~", "0"));
	OK(tree_put("t/r/f/p", "1"));
	OK(tree_unlink("t/r/f/p~"));
	OK(tree_move("t/r/f/p", "t/r/f/p~"));
	SAYS("1 0", tree_history("t/r/f/p~"));
	OK(tree_put("t/r/f/p", "2"));
	SAYS("2 1", tree_history("t/r/f/p"));
}
END_TEST

START_TEST(what_comes_home_is_what_it_was)
{
	OK(tree_put("t/r/f/p", "1"));
	OK(tree_move("t/r/f/p", "t/r/f/n"));
	OK(tree_move("t/r/f/n", "t/r/f/p"));
	SAYS("1", tree_history("t/r/f/p"));
	OK(tree_move("t/r/f/p", "t/r/f/.p"));
	OK(tree_move("t/r/f/.p", "t/r/f/p"));
	SAYS("1", tree_history("t/r/f/p"));
	OK(tree_move(Q, BACKUP));
	OK(tree_move(BACKUP, Q));
	SAYS("2 1", tree_history(Q));
	SAYS("p q", tree_list("t/r/f"));
}
END_TEST

START_TEST(a_cell_renamed_to_a_dot_file_has_its_version_back)
{
	OK(tree_put("t/r/f/p", "1"));
	OK(tree_move("t/r/f/p", "t/r/f/.p"));
	OK(tree_put("t/r/f/.new", "2"));
	OK(tree_move("t/r/f/.new", "t/r/f/p"));
	SAYS("2 1", tree_history("t/r/f/p"));
	SAYS("1", tree_cat("t/r/f/.p"));
}
END_TEST

/* --- unlinked -------------------------------------------------------------------- */

START_TEST(an_unlinked_name_made_anew_has_its_history)
{
	char *stamp = strdup(tree_attribute(Q, "timestamp"));

	OK(tree_unlink(Q));
	ck_assert_uint_eq(tree_versions(Q), 0);
	OK(tree_put(Q, "3"));
	SAYS("3 2 1", tree_history(Q));
	char path[64];
	snprintf(path, sizeof(path), Q "@%s", stamp);
	SAYS("2", tree_cat(path));
	free(stamp);
}
END_TEST

START_TEST(an_unlinked_name_renamed_onto_has_its_history)
{
	OK(tree_put("t/r/f/new", "3"));
	OK(tree_unlink(Q));
	OK(tree_move("t/r/f/new", Q));
	SAYS("3 2 1", tree_history(Q));
}
END_TEST

START_TEST(modes_and_times_come_back_with_it_but_the_new_file_has_its_own)
{
	struct stat st;

	OK(tree_chmod(Q, 0640));
	OK(tree_touch(Q, 1000));
	OK(tree_unlink(Q));
	OK(tree_open_mode(Q, O_WRONLY | O_CREAT, 0604, &a));
	OK(tree_stat(Q, &st));
	ck_assert_uint_eq(st.st_mode & 07777, 0604);
	OK(tree_write(&a, "3"));
	OK(tree_close(&a));
	OK(tree_stat(Q "@~1", &st));
	ck_assert_int_eq(st.st_mtim.tv_sec, 1000);
	ck_assert_uint_eq(st.st_mode & 07777, 0440); /* read-only */
	OK(tree_stat(Q, &st));
	ck_assert_uint_eq(st.st_mode & 07777, 0604);
	SAYS("3 2 1", tree_history(Q));
}
END_TEST

START_TEST(of_a_name_unlinked_twice_the_last_history_comes_back)
{
	OK(tree_unlink(Q));
	tree_as(BOB);
	OK(tree_put(Q, "3"));
	tree_as(ALICE);
	OK(tree_unlink(Q));
	OK(tree_put(Q, "4"));
	SAYS("4 3", tree_history(Q));
}
END_TEST

START_TEST(what_another_process_unlinked_stays_gone)
{
	OK(tree_unlink(Q));
	tree_as(BOB);
	OK(tree_put(Q, "3"));
	SAYS("3", tree_history(Q));
}
END_TEST

START_TEST(an_unlinked_history_waits_within_the_buffers)
{
	OK(tree_unlink(Q));
	ck_assert_uint_eq(tree_fs.buffers.used, 2);
	OK(tree_put(Q, "3"));
	ck_assert_uint_eq(tree_fs.buffers.used, 0);
}
END_TEST

START_TEST(a_history_larger_than_the_buffers_is_gone)
{
	static char big[1 << 20];

	memset(big, 'x', sizeof(big) - 1);
	OK(tree_put(Q, big));
	OK(tree_unlink(Q));
	ck_assert_uint_eq(tree_fs.buffers.used, 0);
	OK(tree_put(Q, "3"));
	SAYS("3", tree_history(Q));
}
END_TEST

START_TEST(a_history_of_large_values_comes_back)
{
	static char big[100000];

	memset(big, 'x', sizeof(big) - 1);
	OK(tree_put(Q, big));
	OK(tree_unlink(Q));
	OK(tree_put(Q, "3"));
	ck_assert_uint_eq(tree_versions(Q), 4);
	struct stat st;
	OK(tree_stat(Q "@~1", &st));
	ck_assert_int_eq(st.st_size, (off_t)sizeof(big) - 1);
}
END_TEST

START_TEST(a_history_too_large_for_one_transaction_does_not_stop_its_maker)
{
	static char value[8001];

	tree_fs.buffers.limit = 64 << 20;
	memset(value, 'x', sizeof(value) - 1);
	OK(tree_append(".schema/t", "family f versions=1000\n"));
	for (int i = 0; i < 600; i++)
		OK(tree_put(Q, value));
	OK(tree_unlink(Q));
	OK(tree_put(Q, "new"));
	SAYS("new", tree_cat(Q));
}
END_TEST

START_TEST(more_unlinked_names_than_wait_are_forgotten_oldest_first)
{
	char path[32];

	for (int i = 0; i < 80; i++) {
		snprintf(path, sizeof(path), "t/r/f/%d", i);
		OK(tree_put(path, "old"));
		OK(tree_unlink(path));
	}
	OK(tree_put("t/r/f/0", "new"));
	SAYS("new", tree_history("t/r/f/0"));
	OK(tree_put("t/r/f/79", "new"));
	SAYS("new old", tree_history("t/r/f/79"));
}
END_TEST

START_TEST(versions_by_timestamp_take_no_tunnel)
{
	OK(tree_put("t/r/f/p@5", "five"));
	OK(tree_unlink("t/r/f/p@5"));
	OK(tree_put("t/r/f/p", "new"));
	SAYS("new", tree_history("t/r/f/p"));
}
END_TEST

#define TOPIC(name, ...)                                                       \
	suite_topic(s, name, plant, tree_teardown, TESTS(__VA_ARGS__))

static Suite *
tunnel_suite(void)
{
	Suite *s = suite_create("tunnel");

	TOPIC("renamed away",
	    a_name_renamed_away_and_made_anew_has_its_history,
	    without_writing_the_new_name_is_empty_all_the_same,
	    opening_without_truncation_begins_empty_too,
	    appending_to_the_new_name_begins_empty,
	    renaming_onto_the_old_name_gives_its_history_back,
	    a_dot_file_renamed_onto_the_old_name_is_one_version,
	    another_process_begins_a_new_history,
	    a_history_goes_back_only_once,
	    another_name_is_none_of_its_business,
	    a_backup_removed_in_between_has_nothing_to_give_back,
	    a_backup_in_another_row_or_family_gives_back_too,
	    a_pending_file_renamed_away_and_made_anew_has_its_history,
	    an_unlinked_backup_does_not_stop_a_history,
	    one_version_renamed_onto_what_was_unlinked_waits_too,
	    what_comes_home_is_what_it_was,
	    a_cell_renamed_to_a_dot_file_has_its_version_back);
	TOPIC("unlinked",
	    an_unlinked_name_made_anew_has_its_history,
	    an_unlinked_name_renamed_onto_has_its_history,
	    modes_and_times_come_back_with_it_but_the_new_file_has_its_own,
	    of_a_name_unlinked_twice_the_last_history_comes_back,
	    what_another_process_unlinked_stays_gone,
	    an_unlinked_history_waits_within_the_buffers,
	    a_history_larger_than_the_buffers_is_gone,
	    a_history_of_large_values_comes_back,
	    a_history_too_large_for_one_transaction_does_not_stop_its_maker,
	    more_unlinked_names_than_wait_are_forgotten_oldest_first,
	    versions_by_timestamp_take_no_tunnel);
	return s;
}

int
main(void)
{
	return suite_run(tunnel_suite());
}
