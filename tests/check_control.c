/* Schema files, control verbs, extended attributes, and what the kernel is
 * told of changes it cannot see. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"
#include "tree_kit.h"

#define HOLDS(part, text) ck_assert_ptr_nonnull(strstr((text), (part)))
#define LACKS(part, text) ck_assert_ptr_null(strstr((text), (part)))

#define Q "t/r/f/q"
#define SCHEMA ".schema/t"
#define CONTROL ".cellfs/control"

static struct file a;

static struct stat st;

/* --- schema files --------------------------------------------------------------- */

START_TEST(reading_a_schema_gives_its_canonical_text)
{
	char *text = strdup(tree_cat(SCHEMA));

	ck_assert_ptr_eq(strstr(text, "table open=0\n"), text);
	HOLDS("\nfamily f versions=100 min_versions=0 ttl=forever ", text);
	HOLDS("\nfamily g versions=3 ", text);
	OK(tree_put(SCHEMA, text));
	SAYS(text, tree_cat(SCHEMA));
	OK(tree_stat(SCHEMA, &st));
	ck_assert_int_eq(st.st_size, (off_t)strlen(text));
	free(text);
}
END_TEST

START_TEST(a_line_that_is_appended_declares_or_alters)
{
	OK(tree_append(SCHEMA, "family g versions=7\nfamily h ttl=5\n"));
	HOLDS("family g versions=7 ", tree_cat(SCHEMA));
	HOLDS("family h versions=3 min_versions=0 ttl=5 ", tree_cat(SCHEMA));
	HOLDS("family f versions=100 ", tree_cat(SCHEMA));
}
END_TEST

START_TEST(a_bad_line_is_refused_where_it_is_written_and_nothing_applies)
{
	char *before = strdup(tree_cat(SCHEMA));

	REFUSED(EINVAL, tree_append(SCHEMA,
	    "family h\nfamily f versions=many\n"));
	REFUSED(EINVAL, tree_append(SCHEMA, "famly h\n"));
	SAYS(before, tree_cat(SCHEMA));
	free(before);
}
END_TEST

START_TEST(a_schema_in_two_writes_is_applied_as_a_whole)
{
	OK(tree_open(SCHEMA, O_WRONLY | O_TRUNC, &a));
	OK(tree_write(&a, "table open=0\nfamily f ver"));
	LACKS("versions=9 ", tree_cat(SCHEMA));
	OK(tree_write(&a, "sions=9\nfamily g\n"));
	LACKS("versions=9 ", tree_cat(SCHEMA));
	OK(tree_close(&a));
	HOLDS("family f versions=9 ", tree_cat(SCHEMA));
}
END_TEST

START_TEST(a_family_left_out_is_dropped_only_without_cells)
{
	OK(tree_put(Q, "v"));
	REFUSED(ENOTEMPTY, tree_put(SCHEMA, "table open=0\nfamily g\n"));
	HOLDS("family f ", tree_cat(SCHEMA));
	OK(tree_put(SCHEMA, "table open=0\nfamily f versions=100\n"));
	LACKS("family g ", tree_cat(SCHEMA));
	SAYS("v", tree_cat(Q));
}
END_TEST

START_TEST(creating_a_schema_creates_its_table)
{
	OK(tree_put(".schema/new", "table open=1\nfamily x\n"));
	OK(tree_stat("new", &st));
	ck_assert(S_ISDIR(st.st_mode));
	ck_assert_uint_eq(st.st_mode & 07777, 0755);
	OK(tree_unlink(".schema/new"));
	REFUSED(ENOENT, tree_stat("new", &st));
}
END_TEST

START_TEST(a_schema_is_made_with_its_makers_mode)
{
	struct file f;

	OK(tree_open_mode(".schema/new", O_WRONLY | O_CREAT, 0640, &f));
	OK(tree_stat(".schema/new", &st));
	ck_assert_uint_eq(st.st_mode & 07777, 0640);
	OK(tree_write(&f, "table open=1\n"));
	OK(tree_close(&f));
	OK(tree_stat(".schema/new", &st));
	ck_assert_uint_eq(st.st_mode & 07777, 0640);
	OK(tree_stat("new", &st));
	ck_assert_uint_eq(st.st_mode & 07777, 0750);
}
END_TEST

START_TEST(a_new_schema_that_is_refused_leaves_no_table)
{
	REFUSED(EINVAL, tree_put(".schema/new", "family\n"));
	REFUSED(ENOENT, tree_stat("new", &st));
}
END_TEST

START_TEST(a_schema_whose_table_has_rows_is_not_removed)
{
	REFUSED(EPERM, tree_unlink(SCHEMA));
	HOLDS("family f ", tree_cat(SCHEMA));
}
END_TEST

START_TEST(renaming_a_schema_renames_its_table)
{
	OK(tree_put(Q, "v"));
	OK(tree_move(SCHEMA, ".schema/u"));
	SAYS("v", tree_cat("u/r/f/q"));
	REFUSED(ENOENT, tree_stat("t", &st));
}
END_TEST

START_TEST(a_schema_without_rows_renamed_onto_another_is_applied_and_gone)
{
	OK(tree_put(".schema/sedX", "table open=0\nfamily f versions=5\n"
				    "family g\n"));
	OK(tree_move(".schema/sedX", SCHEMA));
	HOLDS("family f versions=5 ", tree_cat(SCHEMA));
	SAYS("t", tree_list(".schema"));
}
END_TEST

START_TEST(a_dot_file_renamed_onto_a_schema_is_applied)
{
	OK(tree_put(".schema/.t.X", "table open=0\nfamily f versions=5\n"
				    "family g\n"));
	OK(tree_touch(".schema/.t.X", 1000));
	OK(tree_move(".schema/.t.X", SCHEMA));
	HOLDS("family f versions=5 ", tree_cat(SCHEMA));
	OK(tree_stat(SCHEMA, &st));
	ck_assert_int_eq(st.st_mtim.tv_sec, 1000);
	SAYS("t", tree_list(".schema"));
}
END_TEST

START_TEST(a_dot_file_that_is_no_schema_stays_where_it_is)
{
	OK(tree_put(".schema/.t.X", "rubbish\n"));
	REFUSED(EINVAL, tree_move(".schema/.t.X", SCHEMA));
	HOLDS("family f versions=100 ", tree_cat(SCHEMA));
	SAYS("rubbish\n", tree_cat(".schema/.t.X"));
}
END_TEST

START_TEST(a_pending_dot_file_renamed_onto_a_schema_is_applied_whole)
{
	OK(tree_open(".schema/.t.X", O_WRONLY | O_CREAT, &a));
	OK(tree_write(&a, "table open=0\nfamily f versions=5\nfamily g\n"));
	OK(tree_move(".schema/.t.X", SCHEMA));
	HOLDS("family f versions=5 ", tree_cat(SCHEMA));
	REFUSED(EINVAL, tree_write(&a, "rubbish\n"));
	REFUSED(EINVAL, tree_close(&a));
	HOLDS("family f versions=5 ", tree_cat(SCHEMA));
}
END_TEST

START_TEST(names_that_end_in_a_tilde_are_ordinary_files)
{
	OK(tree_put(".schema/t~", "anything\n"));
	SAYS("anything\n", tree_cat(".schema/t~"));
	REFUSED(ENOENT, tree_stat("t~", &st));
}
END_TEST

START_TEST(a_schemas_time_is_kept)
{
	OK(tree_touch(SCHEMA, 1000));
	OK(tree_stat(SCHEMA, &st));
	ck_assert_int_eq(st.st_mtim.tv_sec, 1000);
	OK(tree_append(SCHEMA, "family h\n"));
	OK(tree_stat(SCHEMA, &st));
	ck_assert_int_gt(st.st_mtim.tv_sec, 1000000);
}
END_TEST

/* --- control ---------------------------------------------------------------------- */

START_TEST(verbs_act_as_their_line_ends)
{
	OK(tree_open(CONTROL, O_WRONLY | O_TRUNC, &a));
	OK(tree_write(&a, "truncate t"));
	SAYS("r", tree_list("t"));
	OK(tree_write(&a, "\n"));
	SAYS("", tree_list("t"));
	OK(tree_write(&a, "checkpoint\ncompact\ncompact t\ncompact t f\n"));
	OK(tree_write(&a, "drop t\n"));
	SAYS(".schema", tree_list(""));
	OK(tree_close(&a));
}
END_TEST

START_TEST(a_verb_without_a_newline_acts_at_close)
{
	OK(tree_put(CONTROL, "drop t"));
	SAYS(".schema", tree_list(""));
}
END_TEST

static bool
gives_up(void *asked)
{
	++*(int *)asked;
	return true;
}

START_TEST(who_waits_for_a_compact_may_stop_it)
{
	int asked = 0;

	kv_ask(gives_up, &asked);
	REFUSED(EINTR, tree_put(CONTROL, "compact\n"));
	ck_assert_int_eq(asked, 1);
	kv_ask(NULL, NULL);
	OK(tree_put(CONTROL, "compact\n"));
	OK(tree_put(Q, "v"));
}
END_TEST

static const char *const no_verbs[] = {"explode", "drop", "drop a b",
    "checkpoint t", "truncate", "compact t f x", "DROP t"};

START_TEST(what_is_no_verb_is_refused_at_write)
{
	char line[64];

	snprintf(line, sizeof(line), "%s\n", no_verbs[_i]);
	REFUSED(EINVAL, tree_put(CONTROL, line));
	REFUSED(ENOENT, tree_put(CONTROL, "drop none\n"));
	SAYS("r", tree_list("t"));
}
END_TEST

START_TEST(names_in_verbs_are_in_the_text_form)
{
	OK(tree_mkdir_path("名", 0755));
	OK(tree_put(CONTROL, "drop \\xE5\\x90\\x8D\n"));
	SAYS(".schema t", tree_list(""));
}
END_TEST

START_TEST(control_files_have_true_sizes_and_modes)
{
	static const char *const names[] = {"version", "pid", "stats"};
	char path[32];

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), ".cellfs/%s", names[i]);
		OK(tree_stat(path, &st));
		ck_assert_int_eq(st.st_size, (off_t)strlen(tree_cat(path)));
		ck_assert_uint_eq(st.st_mode & 07777, 0444);
	}
	OK(tree_stat(CONTROL, &st));
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	OK(tree_stat(".cellfs/log", &st));
	ck_assert_uint_eq(st.st_mode & 07777, 0400);
	ck_assert_uint_eq(st.st_uid, geteuid());
	tree_fs.masquerade = (struct masquerade){.has_uid = true, .uid = 77};
	OK(tree_stat(".cellfs/log", &st));
	ck_assert_uint_eq(st.st_uid, 77);
	OK(tree_stat(CONTROL, &st));
	ck_assert_uint_eq(st.st_uid, geteuid());
	tree_fs.masquerade = (struct masquerade){0};
	HOLDS("buffer_limit_bytes 1048576\n", tree_cat(".cellfs/stats"));
}
END_TEST

START_TEST(control_files_are_neither_made_nor_removed)
{
	REFUSED(EPERM, tree_unlink(CONTROL));
	REFUSED(EPERM, tree_unlink(".cellfs/log"));
	REFUSED(EPERM, tree_put(".cellfs/new", "x"));
	REFUSED(EPERM, tree_rmdir(".cellfs"));
}
END_TEST

START_TEST(the_log_shows_what_was_logged)
{
	journal_refusal(
	    &tree_fs.journal, tree_caller(), "open", "because");
	HOLDS(" open: because\n", tree_cat(".cellfs/log"));
	SAYS("because", tree_attribute("", "error"));
}
END_TEST

/* --- extended attributes ---------------------------------------------------------- */

START_TEST(attributes_tell_where_a_cell_stands)
{
	OK(tree_put("t/r/f/a%2Fb@5", "v"));
	SAYS("5", tree_attribute("t/r/f/a%2Fb", "timestamp"));
	SAYS("1", tree_attribute("t/r/f/a%2Fb", "versions"));
	SAYS("r", tree_attribute("t/r/f/a%2Fb", "row"));
	SAYS("f", tree_attribute("t/r/f/a%2Fb", "family"));
	SAYS("a/b", tree_attribute("t/r/f/a%2Fb", "qualifier"));
	SAYS("612f62", tree_attribute("t/r/f/a%2Fb", "key"));
	SAYS("72", tree_attribute("t/r", "key"));
	SAYS("66", tree_attribute("t/r/f", "key"));
}
END_TEST

START_TEST(the_empty_qualifier_has_an_empty_attribute)
{
	OK(tree_put("t/r/f/%", "v"));
	SAYS("", tree_attribute("t/r/f/%", "qualifier"));
	SAYS("v", tree_history("t/r/f/%"));
}
END_TEST

START_TEST(what_does_not_apply_is_no_data)
{
	SAYS("(No data available)", tree_attribute("t/r", "timestamp"));
	SAYS("(No data available)", tree_attribute("t/r", "versions"));
	SAYS("(No data available)", tree_attribute("t/r", "family"));
	SAYS("(No data available)", tree_attribute("t", "row"));
	SAYS("(No data available)", tree_attribute("t", "key"));
	SAYS("(No data available)", tree_attribute("t/r", "other"));
}
END_TEST

/* --- notices ------------------------------------------------------------------------ */

START_TEST(changes_through_the_same_name_need_none)
{
	OK(tree_put(Q, "1"));
	OK(tree_put(Q, "2"));
	OK(tree_chmod(Q, 0600));
	OK(tree_move(Q, "t/r/f/p"));
	OK(tree_unlink("t/r/f/p"));
	SAYS("", tree_notices());
}
END_TEST

START_TEST(a_version_or_counter_invalidates_the_plain_name)
{
	OK(tree_put(Q, "1"));
	OK(tree_open(Q, O_RDONLY, &a)); /* the kernel knows it */
	OK(tree_put(Q "@5", "5"));
	HOLDS("data q", tree_notices());
	OK(tree_unlink(Q "@5"));
	const char *sent = tree_notices();
	HOLDS("attr q", sent);
	HOLDS("data q", sent);
	HOLDS("entry q", sent);
	HOLDS("data f", sent);
	OK(tree_close(&a));
}
END_TEST

START_TEST(a_name_of_any_length_is_told_as_it_is)
{
	char path[300], told[300];

	for (int size = 1; size < 230; size++) {
		snprintf(path, sizeof(path), "t/r/f/%0*d@5", size, 0);
		snprintf(told, sizeof(told), "entry %0*d", size, 0);
		OK(tree_put(path, "5"));
		OK(tree_unlink(path));
		HOLDS(told, tree_notices());
	}
}
END_TEST

START_TEST(tables_that_come_or_go_by_other_names_are_told)
{
	OK(tree_put(".schema/new", "table open=1\n"));
	HOLDS("entry new", tree_notices());
	OK(tree_unlink(".schema/new"));
	HOLDS("entry new", tree_notices());
	OK(tree_put(CONTROL, "truncate t\n"));
	HOLDS("entry t", tree_notices());
	OK(tree_put(CONTROL, "drop t\n"));
	HOLDS("entry t", tree_notices());
}
END_TEST

#define TOPIC(name, ...)                                                       \
	suite_topic(s, name, tree_setup_table, tree_teardown, TESTS(__VA_ARGS__))

static Suite *
control_suite(void)
{
	Suite *s = suite_create("control");
	TCase *wrong = tcase_create("no verbs");

	tcase_add_checked_fixture(wrong, tree_setup_table, tree_teardown);
	tcase_add_loop_test(wrong, what_is_no_verb_is_refused_at_write, 0,
	    (int)(sizeof(no_verbs) / sizeof(*no_verbs)));
	suite_add_tcase(s, wrong);
	TOPIC("schema files",
	    reading_a_schema_gives_its_canonical_text,
	    a_line_that_is_appended_declares_or_alters,
	    a_bad_line_is_refused_where_it_is_written_and_nothing_applies,
	    a_schema_in_two_writes_is_applied_as_a_whole,
	    a_family_left_out_is_dropped_only_without_cells,
	    creating_a_schema_creates_its_table,
	    a_schema_is_made_with_its_makers_mode,
	    a_new_schema_that_is_refused_leaves_no_table,
	    a_schema_whose_table_has_rows_is_not_removed,
	    renaming_a_schema_renames_its_table,
	    a_schema_without_rows_renamed_onto_another_is_applied_and_gone,
	    a_dot_file_renamed_onto_a_schema_is_applied,
	    a_dot_file_that_is_no_schema_stays_where_it_is,
	    a_pending_dot_file_renamed_onto_a_schema_is_applied_whole,
	    names_that_end_in_a_tilde_are_ordinary_files,
	    a_schemas_time_is_kept);
	TOPIC("control",
	    verbs_act_as_their_line_ends,
	    a_verb_without_a_newline_acts_at_close,
	    who_waits_for_a_compact_may_stop_it,
	    names_in_verbs_are_in_the_text_form,
	    control_files_have_true_sizes_and_modes,
	    control_files_are_neither_made_nor_removed,
	    the_log_shows_what_was_logged);
	TOPIC("extended attributes",
	    attributes_tell_where_a_cell_stands,
	    the_empty_qualifier_has_an_empty_attribute,
	    what_does_not_apply_is_no_data);
	TOPIC("notices",
	    changes_through_the_same_name_need_none,
	    a_version_or_counter_invalidates_the_plain_name,
	    a_name_of_any_length_is_told_as_it_is,
	    tables_that_come_or_go_by_other_names_are_told);
	return s;
}

int
main(void)
{
	return suite_run(control_suite());
}
