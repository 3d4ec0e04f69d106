/* Names: what is looked up, made, listed, removed and renamed, by kind. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/times.h"
#include "kv/kv_data.h"
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

/* --- names --------------------------------------------------------------------- */

START_TEST(the_root_lists_the_schema_first)
{
	OK(tree_mkdir_path("a", 0755));
	SAYS(".schema a t", tree_list(""));
	SAYS("a t", tree_list(".schema"));
}
END_TEST

START_TEST(control_names_are_found_but_not_listed)
{
	ck_assert(there(".cellfs"));
	ck_assert(there(".cellfs/version"));
	SAYS("version pid stats log control", tree_list(".cellfs"));
	ck_assert(!there(".cellfs/other"));
	ck_assert(!there(".other"));
}
END_TEST

static const struct {
	const char *path;
	int lookup, create;
} refused[] = {
    /* no aliases */
    {"t/r/f/%41", ENOENT, EINVAL},
    {"t/r/f/%2f", ENOENT, EINVAL},
    {"t/r/f/q@007", ENOENT, EINVAL},
    {"t/r/f/q@x", ENOENT, EINVAL},
    {"t/r/f/q@9223372036854775807", ENOENT, EINVAL},
    /* files stand in families only */
    {"file", ENOENT, EPERM},
    {"t/file", ENOENT, EPERM},
    {"t/r/file", ENOENT, EPERM},
    {".hidden", ENOENT, EPERM},
    {"t/.hidden", ENOENT, EPERM},
    {"t/r/.hidden", ENOENT, EPERM},
    /* streams' names */
    {"t/r/f/.cells", 0, EPERM},
    {"t/r/f/.json", 0, EPERM},
    {"t/r/f/.count", 0, EPERM},
    {".cellfs/new", ENOENT, EPERM},
};

START_TEST(a_name_that_means_nothing_is_refused)
{
	struct file f;

	REFUSED(refused[_i].lookup, tree_stat(refused[_i].path, &st));
	REFUSED(refused[_i].create,
	    tree_open(refused[_i].path, O_WRONLY | O_CREAT, &f));
}
END_TEST

START_TEST(a_name_above_255_bytes_is_too_long)
{
	char path[300] = "t/r/f/";

	memset(path + 6, 'x', 256);
	REFUSED(ENAMETOOLONG, tree_stat(path, &st));
}
END_TEST

START_TEST(long_keys_stand_in_parts)
{
	char part[300], row[400], cell[600];

	snprintf(part, sizeof(part), "t/%0254d%%", 0);
	snprintf(row, sizeof(row), "%s/%020d", part, 0);
	snprintf(cell, sizeof(cell), "%s/f/q", row);
	OK(tree_mkdir_path(part, 0755));
	OK(tree_mkdir_path(row, 0755));
	*strrchr(cell, '/') = 0;
	OK(tree_mkdir_path(cell, 0755));
	strcat(cell, "/q");
	OK(tree_put(cell, "v"));
	SAYS("v", tree_cat(cell));
	SAYS("00000000000000000000", tree_list(part));
	ck_assert_uint_eq(strlen(tree_attribute(row, "row")), 274);
	REFUSED(ENOTEMPTY, tree_rmdir(part));
	OK(tree_unlink(cell));
	*strrchr(cell, '/') = 0;
	OK(tree_rmdir(cell));
	OK(tree_rmdir(row));
	ck_assert(there(part));
	OK(tree_rmdir(part));
	SAYS("r", tree_list("t"));
}
END_TEST

START_TEST(inode_numbers_are_equal_for_one_name_and_change_by_rename)
{
	OK(tree_put(Q, "v"));
	ck_assert(there(Q));
	ino_t first = st.st_ino;
	ck_assert_uint_ne(first >> 63, 0);
	ck_assert_uint_eq(st.st_nlink, 1);
	OK(tree_move(Q, "t/r/f/p"));
	ck_assert(there("t/r/f/p"));
	ck_assert_uint_ne(st.st_ino, first);
	OK(tree_move("t/r/f/p", Q));
	ck_assert(there(Q));
	ck_assert_uint_eq(st.st_ino, first);
	ck_assert(there(".schema"));
	ck_assert_uint_eq(st.st_ino, 2);
}
END_TEST

/* --- making and removing -------------------------------------------------------- */

START_TEST(exclusive_creation_succeeds_once)
{
	OK(tree_open(Q, O_WRONLY | O_CREAT | O_EXCL, &a));
	tree_as(BOB);
	REFUSED(EEXIST, tree_open(Q, O_WRONLY | O_CREAT | O_EXCL, &b));
	tree_as(ALICE);
	OK(tree_close(&a));
	REFUSED(EEXIST, tree_open(Q, O_WRONLY | O_CREAT | O_EXCL, &a));
}
END_TEST

START_TEST(of_two_creators_who_both_saw_nothing_one_wins)
{
	struct slice q = slice_text("q");
	struct made first, second;

	OK(tree_open("t/r/f/p", O_WRONLY | O_CREAT, &a));
	struct inode *dir = a.inode->up;
	OK(tree_create(&tree_fs, dir, q, 0644, O_EXCL, tree_caller(),
	    &first));
	tree_as(BOB);
	REFUSED(EEXIST, tree_create(&tree_fs, dir, q, 0644, O_EXCL,
	    tree_caller(), &second));
	OK(tree_create(&tree_fs, dir, q, 0644, 0, tree_caller(), &second));
	ck_assert_ptr_eq(first.inode, second.inode);
	ck_assert_int_eq(second.mine, 0);
	inode_put(&tree_fs, first.inode);
	inode_put(&tree_fs, second.inode);
	tree_as(ALICE);
	OK(tree_close(&a));
}
END_TEST

START_TEST(a_directory_that_lost_its_last_cell_stays)
{
	OK(tree_put(Q, "v"));
	OK(tree_unlink(Q));
	ck_assert(there("t/r/f"));
	OK(tree_rmdir("t/r/f"));
	ck_assert(!there("t/r/f"));
	ck_assert(there("t/r"));
}
END_TEST

/* A version 5 whose name goes on in a part, of which nobody made a record. */
static void
put_in_part(struct slice row)
{
	char key[400];
	struct op op = {.type = OP_PUT, .timestamp = 5,
		.family = slice_text("f"), .value = slice_text("v"),
		.qualifier = slice_of(key, sizeof(key))};
	struct mutation m = {.table = slice_text("t"), .row = row,
		.ops = &op, .count = 1};

	memset(key, 'x', sizeof(key));
	OK(kv_mutate(tree_fs.kv, &m));
}

START_TEST(a_part_that_lost_its_last_version_stays)
{
	static const char *const versions[] = {"", "@5", "@/5"};
	char part[300] = "t/r/f/", path[600];

	memset(part + 6, 'x', 254);
	part[260] = '%';
	for (int i = 0; i < 3; i++) {
		put_in_part(slice_text("r"));
		snprintf(path, sizeof(path), "%s/%.146s%s", part, part + 6,
		    versions[i]);
		OK(tree_unlink(path));
		SAYS(part + 6, tree_list("t/r/f"));
		ck_assert(there(part));
		OK(tree_rmdir(part));
	}
}
END_TEST

START_TEST(a_part_does_not_follow_its_directory)
{
	char part[300] = "t/r/f/";
	struct stat before;

	memset(part + 6, 'x', 254);
	part[260] = '%';
	put_in_part(slice_text("r"));
	ck_assert(there(part));
	before = st;
	OK(tree_chmod("t/r/f", 0700));
	OK(tree_chown("t/r/f", 5, 6));
	OK(tree_chmod("t", 0711));
	ck_assert(there(part));
	ck_assert_uint_eq(st.st_mode, before.st_mode);
	ck_assert_uint_eq(st.st_uid, before.st_uid);
	ck_assert_uint_eq(st.st_gid, before.st_gid);
	ck_assert_int_eq(st.st_mtim.tv_sec, before.st_mtim.tv_sec);
}
END_TEST

START_TEST(what_holds_something_is_not_removed)
{
	OK(tree_put(Q, "v"));
	REFUSED(ENOTEMPTY, tree_rmdir("t/r/f"));
	REFUSED(ENOTEMPTY, tree_rmdir("t/r"));
	REFUSED(ENOTEMPTY, tree_rmdir("t"));
	REFUSED(EISDIR, tree_unlink("t/r"));
	REFUSED(ENOTDIR, tree_rmdir(Q));
	REFUSED(ENOENT, tree_unlink("t/r/f/none"));
}
END_TEST

START_TEST(removing_a_cell_removes_all_its_versions)
{
	OK(tree_put(Q, "1"));
	OK(tree_put(Q, "2"));
	OK(tree_unlink(Q));
	tree_as(BOB);
	OK(tree_put(Q, "3"));
	SAYS("3", tree_history(Q));
}
END_TEST

START_TEST(a_table_without_rows_is_dropped_by_rmdir)
{
	OK(tree_rmdir("t/r/f"));
	OK(tree_rmdir("t/r/g"));
	OK(tree_rmdir("t/r"));
	OK(tree_rmdir("t"));
	SAYS(".schema", tree_list(""));
	ck_assert(!there(".schema/t"));
}
END_TEST

START_TEST(a_sealed_table_takes_no_other_family)
{
	REFUSED(EPERM, tree_mkdir_path("t/r/other", 0755));
	OK(tree_mkdir_path("open", 0755));
	OK(tree_mkdir_path("open/r", 0755));
	OK(tree_mkdir_path("open/r/any", 0755));
	OK(tree_put("open/r/any/q", "v"));
	ck_assert_ptr_nonnull(
	    strstr(tree_cat(".schema/open"), "family any"));
}
END_TEST

START_TEST(making_a_name_changes_its_directorys_time)
{
	OK(tree_touch("t/r/f", 1000));
	ck_assert(there("t/r/f"));
	ck_assert_int_eq(st.st_mtim.tv_sec, 1000);
	OK(tree_open(Q, O_WRONLY | O_CREAT, &a));
	ck_assert(there("t/r/f"));
	ck_assert_int_gt(st.st_mtim.tv_sec, 1000000);
	OK(tree_touch("t/r/f", 2000));
	ck_assert(there("t/r/f"));
	ck_assert_int_eq(st.st_mtim.tv_sec, 2000);
	OK(tree_close(&a));
}
END_TEST

/* Nothing holds the inodes between two calls: it is the store that knows. */
START_TEST(a_time_that_a_tool_set_gives_way_for_good)
{
	const char *const directories[] = {"t", "t/r", "t/r/f"};

	for (int i = 0; i < 3; i++)
		OK(tree_touch(directories[i], 1000));
	OK(tree_put(Q, "v"));
	OK(tree_rmdir("t/r/g"));
	OK(tree_mkdir_path("t/r2", 0755));
	OK(times_store(&tree_fs));
	for (int i = 0; i < 3; i++) {
		ck_assert(there(directories[i]));
		ck_assert_int_gt(st.st_mtim.tv_sec, 1000000);
	}
}
END_TEST

/* Of a part that was never made: a long name alone makes it be there. */
START_TEST(a_part_that_keys_make_keeps_what_is_set)
{
	char name[401] = "", path[300] = "t/r/f/";
	struct op op = {.type = OP_PUT, .timestamp = TS_LATEST,
		.family = slice_text("f"), .value = slice_text("v"),
		.qualifier = slice_of(name, 400)};
	struct mutation m = {.table = slice_text("t"), .row = slice_text("r"),
		.ops = &op, .count = 1};

	memset(name, 'x', 400);
	OK(kv_mutate(tree_fs.kv, &m));
	snprintf(path + 6, sizeof(path) - 6, "%.254s%%", name);
	OK(tree_chmod(path, 0711));
	OK(tree_touch(path, 1000));
	ck_assert(there(path));
	ck_assert_uint_eq(st.st_mode & 07777, 0711);
	ck_assert_int_eq(st.st_mtim.tv_sec, 1000);
	path[6] = 'y';
	ck_assert(!there(path));
}
END_TEST

START_TEST(a_setgid_directory_gives_its_group)
{
	OK(tree_chown("t/r/f", 5, 6));
	OK(tree_chmod("t/r/f", 02775));
	OK(tree_put(Q, "v"));
	ck_assert(there(Q));
	ck_assert_uint_eq(st.st_uid, 1000);
	ck_assert_uint_eq(st.st_gid, 6);
	OK(tree_chmod("t/r", 02775));
	OK(tree_chown("t/r", 5, 7));
	OK(tree_rmdir("t/r/g"));
	OK(tree_mkdir_path("t/r/g", 0750));
	ck_assert(there("t/r/g"));
	ck_assert_uint_eq(st.st_mode & 07777, 02750);
	ck_assert_uint_eq(st.st_gid, 7);
}
END_TEST

START_TEST(an_open_table_declares_at_most_32_families_by_their_cells)
{
	char path[64];

	OK(tree_mkdir_path("open", 0755));
	OK(tree_mkdir_path("open/r", 0755));
	for (int i = 0; i <= 32; i++) {
		snprintf(path, sizeof(path), "open/r/f%d", i);
		OK(tree_mkdir_path(path, 0755));
		snprintf(path, sizeof(path), "open/r/f%d/q", i);
		ck_assert_int_eq(tree_put(path, "v"), i < 32 ? 0 : -EDQUOT);
	}
}
END_TEST

START_TEST(a_read_only_mount_changes_nothing)
{
	OK(tree_put(Q, "v"));
	OK(tree_put("t/r/f/.x", "v"));
	tree_fs.read_only = true;
	REFUSED(EROFS, tree_put(Q, "w"));
	REFUSED(EROFS, tree_append(Q, "w"));
	REFUSED(EROFS, tree_put("t/r/f/new", ""));
	REFUSED(EROFS, tree_put(Q "@5", ""));
	REFUSED(EROFS, tree_put("t/r/f/n@counter", "1"));
	REFUSED(EROFS, tree_put("t/r/f/.x", "w"));
	REFUSED(EROFS, tree_put(".schema/t", "table open=1\n"));
	REFUSED(EROFS, tree_put(".cellfs/control", "drop t\n"));
	REFUSED(EROFS, tree_mkdir_path("t/s", 0755));
	REFUSED(EROFS, tree_unlink(Q));
	REFUSED(EROFS, tree_rmdir("t/r/g"));
	REFUSED(EROFS, tree_move(Q, "t/r/f/p"));
	REFUSED(EROFS, tree_chmod(Q, 0600));
	REFUSED(EROFS, tree_truncate(Q, 0));
	SAYS("v", tree_history(Q));
	tree_fs.read_only = false;
}
END_TEST

START_TEST(mount_options_show_another_owner_and_mode)
{
	OK(tree_put(Q, "v"));
	tree_fs.masquerade = (struct masquerade){.has_uid = true,
		.has_gid = true, .has_umask = true, .uid = 11, .gid = 12,
		.umask = 0027};
	ck_assert(there(Q));
	ck_assert_uint_eq(st.st_uid, 11);
	ck_assert_uint_eq(st.st_gid, 12);
	ck_assert_uint_eq(st.st_mode & 07777, 0640);
	ck_assert(there("t/r"));
	ck_assert_uint_eq(st.st_mode & 07777, 0750);
}
END_TEST

/* --- renaming ---------------------------------------------------------------------- */

START_TEST(a_cell_renamed_onto_another_is_one_more_version_there)
{
	OK(tree_put(Q, "1"));
	OK(tree_put("t/r/f/p", "x"));
	OK(tree_put("t/r/f/p", "y"));
	OK(tree_move("t/r/f/p", Q));
	SAYS("y 1", tree_history(Q));
	SAYS("q", tree_list("t/r/f"));
}
END_TEST

START_TEST(a_cell_renamed_to_a_free_name_takes_its_history)
{
	OK(tree_put(Q, "1"));
	OK(tree_put(Q, "2"));
	OK(tree_move(Q, "t/r/g/p"));
	SAYS("2 1", tree_history("t/r/g/p"));
	ck_assert(!there(Q));
}
END_TEST

START_TEST(rows_families_and_tables_move_with_all_they_hold)
{
	OK(tree_put(Q, "1"));
	OK(tree_put(Q, "2"));
	OK(tree_move("t/r", "t/s"));
	SAYS("2 1", tree_history("t/s/f/q"));
	REFUSED(ENOTEMPTY, tree_move("t/s/g", "t/s/f"));
	OK(tree_move("t/s/f", "t/s/g"));
	SAYS("2 1", tree_history("t/s/g/q"));
	OK(tree_move("t", "u"));
	SAYS("2 1", tree_history("u/s/g/q"));
	SAYS("u", tree_list(".schema"));
}
END_TEST

START_TEST(across_levels_nothing_moves)
{
	OK(tree_put(Q, "v"));
	REFUSED(EINVAL, tree_move(Q, "t/new"));
	REFUSED(EINVAL, tree_move("t/r", "t/r/new"));
	REFUSED(EINVAL, tree_move("t/r/f", "t/new"));
	REFUSED(EINVAL, tree_move("t/r", "new"));
	REFUSED(ENOENT, tree_move("t/none", "t/new"));
	REFUSED(EROFS, tree_move(Q "@~0", "t/r/f/p"));
	SAYS("v", tree_cat(Q));
}
END_TEST

START_TEST(a_name_renamed_onto_itself_stays)
{
	OK(tree_put(Q, "v"));
	OK(tree_move(Q, Q));
	SAYS("v", tree_history(Q));
}
END_TEST

/* --- versions by name ------------------------------------------------------------ */

START_TEST(a_version_acts_at_exactly_its_timestamp)
{
	OK(tree_put(Q "@5", "five"));
	OK(tree_put(Q "@7", "seven"));
	SAYS("seven five", tree_history(Q));
	OK(tree_put(Q "@5", "fifth"));
	SAYS("seven fifth", tree_history(Q));
	SAYS("seven", tree_cat(Q));
	ck_assert(there(Q "@5"));
	ck_assert_int_eq(st.st_mtim.tv_nsec, 5000000);
	OK(tree_unlink(Q "@7"));
	SAYS("fifth", tree_cat(Q));
	REFUSED(ENOENT, tree_unlink(Q "@7"));
	SAYS("5", tree_list(Q "@"));
}
END_TEST

START_TEST(a_version_can_be_renamed_onto)
{
	OK(tree_put(Q, "v"));
	OK(tree_put("t/r/f/.tmp", "five"));
	OK(tree_move("t/r/f/.tmp", Q "@5"));
	SAYS("v five", tree_history(Q));
}
END_TEST

START_TEST(a_version_that_would_be_pushed_out_is_refused)
{
	OK(tree_put("t/r/g/q@10", "10"));
	OK(tree_put("t/r/g/q@20", "20"));
	OK(tree_put("t/r/g/q@30", "30"));
	REFUSED(EDQUOT, tree_put("t/r/g/q@5", "5"));
	SAYS("30 20 10", tree_history("t/r/g/q"));
	OK(tree_put("t/r/g/q@15", "15"));
	SAYS("30 20 15", tree_history("t/r/g/q"));
}
END_TEST

START_TEST(versions_are_counted_from_the_newest)
{
	OK(tree_put(Q, "1"));
	OK(tree_put(Q, "2"));
	SAYS("2", tree_cat(Q "@~0"));
	SAYS("1", tree_cat(Q "@~1"));
	ck_assert(!there(Q "@~2"));
	REFUSED(EROFS, tree_put(Q "@~1", "x"));
	REFUSED(EROFS, tree_unlink(Q "@~1"));
	REFUSED(EROFS, tree_chmod(Q "@~1", 0600));
	ck_assert(there(Q "@~1"));
	ck_assert_uint_eq(st.st_mode & 0222, 0);
}
END_TEST

START_TEST(a_cell_without_versions_has_no_directory_of_them)
{
	ck_assert(!there(Q "@"));
	OK(tree_put(Q, "v"));
	ck_assert(there(Q "@"));
	ck_assert(S_ISDIR(st.st_mode));
	ck_assert_uint_eq(st.st_mode & 0111, 0111);
}
END_TEST

/* --- counters ---------------------------------------------------------------------- */

START_TEST(a_counter_adds_what_is_written)
{
	ck_assert(!there(Q "@counter"));
	OK(tree_put(Q "@counter", "4\n"));
	OK(tree_put(Q "@counter", "-6"));
	SAYS("-2\n", tree_cat(Q "@counter"));
	ck_assert(there(Q "@counter"));
	ck_assert_int_eq(st.st_size, 3);
	ck_assert(there(Q));
	ck_assert_int_eq(st.st_size, 8);
	OK(tree_append(Q "@counter", "10\n"));
	SAYS("8\n", tree_cat(Q "@counter"));
}
END_TEST

START_TEST(what_is_no_number_is_refused_where_it_is_written)
{
	OK(tree_put(Q "@counter", "4"));
	REFUSED(EINVAL, tree_put(Q "@counter", "four"));
	REFUSED(EINVAL, tree_put(Q "@counter", "99999999999999999999"));
	REFUSED(EINVAL, tree_put(Q "@counter", "1 2"));
	SAYS("4\n", tree_cat(Q "@counter"));
}
END_TEST

START_TEST(a_cell_that_is_not_eight_bytes_wide_is_no_counter)
{
	OK(tree_put(Q, "text"));
	REFUSED(EINVAL, tree_put(Q "@counter", "4"));
	SAYS("(Invalid argument)", tree_cat(Q "@counter"));
	SAYS("text", tree_history(Q));
}
END_TEST

/* --- dot files --------------------------------------------------------------------- */

START_TEST(a_dot_file_is_an_ordinary_file)
{
	OK(tree_put("t/r/f/.x", "1"));
	OK(tree_put("t/r/f/.x", "2"));
	SAYS("2", tree_cat("t/r/f/.x"));
	SAYS(".x", tree_list("t/r/f"));
	OK(tree_append("t/r/f/.x", "3"));
	SAYS("23", tree_cat("t/r/f/.x"));
	OK(tree_truncate("t/r/f/.x", 1));
	SAYS("2", tree_cat("t/r/f/.x"));
	OK(tree_chmod("t/r/f/.x", 0600));
	OK(tree_touch("t/r/f/.x", 1000));
	ck_assert(there("t/r/f/.x"));
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(st.st_mtim.tv_sec, 1000);
	OK(tree_unlink("t/r/f/.x"));
	SAYS("", tree_list("t/r/f"));
}
END_TEST

START_TEST(a_dot_directory_holds_plain_files)
{
	OK(tree_mkdir_path("t/r/f/.~tmp~", 0700));
	OK(tree_put("t/r/f/.~tmp~/q", "new"));
	SAYS("q", tree_list("t/r/f/.~tmp~"));
	OK(tree_put(Q, "old"));
	OK(tree_move("t/r/f/.~tmp~/q", Q));
	SAYS("new old", tree_history(Q));
	REFUSED(EPERM, tree_mkdir_path("t/r/f/.~tmp~/sub", 0700));
	OK(tree_rmdir("t/r/f/.~tmp~"));
	SAYS("q", tree_list("t/r/f"));
}
END_TEST

START_TEST(a_cell_with_older_versions_does_not_become_a_dot_file)
{
	OK(tree_put(Q, "1"));
	OK(tree_move(Q, "t/r/f/.q"));
	SAYS("1", tree_cat("t/r/f/.q"));
	OK(tree_move("t/r/f/.q", Q));
	OK(tree_put(Q, "2"));
	REFUSED(EPERM, tree_move(Q, "t/r/f/.q"));
	SAYS("2 1", tree_history(Q));
}
END_TEST

#define TOPIC(name, ...)                                                       \
	suite_topic(s, name, tree_setup_table, tree_teardown, TESTS(__VA_ARGS__))

static Suite *
tree_suite(void)
{
	Suite *s = suite_create("tree");
	TCase *nothing = tcase_create("no names");

	tcase_add_checked_fixture(nothing, tree_setup_table, tree_teardown);
	tcase_add_loop_test(nothing, a_name_that_means_nothing_is_refused, 0,
	    (int)(sizeof(refused) / sizeof(*refused)));
	suite_add_tcase(s, nothing);
	TOPIC("names",
	    the_root_lists_the_schema_first,
	    control_names_are_found_but_not_listed,
	    a_name_above_255_bytes_is_too_long,
	    long_keys_stand_in_parts,
	    inode_numbers_are_equal_for_one_name_and_change_by_rename);
	TOPIC("making and removing",
	    exclusive_creation_succeeds_once,
	    of_two_creators_who_both_saw_nothing_one_wins,
	    a_directory_that_lost_its_last_cell_stays,
	    a_part_that_lost_its_last_version_stays,
	    a_part_does_not_follow_its_directory,
	    what_holds_something_is_not_removed,
	    removing_a_cell_removes_all_its_versions,
	    a_table_without_rows_is_dropped_by_rmdir,
	    a_sealed_table_takes_no_other_family,
	    making_a_name_changes_its_directorys_time,
	    a_time_that_a_tool_set_gives_way_for_good,
	    a_part_that_keys_make_keeps_what_is_set,
	    a_setgid_directory_gives_its_group,
	    an_open_table_declares_at_most_32_families_by_their_cells,
	    a_read_only_mount_changes_nothing,
	    mount_options_show_another_owner_and_mode);
	TOPIC("renaming",
	    a_cell_renamed_onto_another_is_one_more_version_there,
	    a_cell_renamed_to_a_free_name_takes_its_history,
	    rows_families_and_tables_move_with_all_they_hold,
	    across_levels_nothing_moves,
	    a_name_renamed_onto_itself_stays);
	TOPIC("versions by name",
	    a_version_acts_at_exactly_its_timestamp,
	    a_version_can_be_renamed_onto,
	    a_version_that_would_be_pushed_out_is_refused,
	    versions_are_counted_from_the_newest,
	    a_cell_without_versions_has_no_directory_of_them);
	TOPIC("counters",
	    a_counter_adds_what_is_written,
	    what_is_no_number_is_refused_where_it_is_written,
	    a_cell_that_is_not_eight_bytes_wide_is_no_counter);
	TOPIC("dot files",
	    a_dot_file_is_an_ordinary_file,
	    a_dot_directory_holds_plain_files,
	    a_cell_with_older_versions_does_not_become_a_dot_file);
	return s;
}

int
main(void)
{
	return suite_run(tree_suite());
}
