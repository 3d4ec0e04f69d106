/* Directories that are kept, their attributes, dot files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/local.h"
#include "kv/local_keys.h"
#include "kv/why.h"
#include "table_kit.h"

static const struct version newest = {.which = VERSION_NEWEST};

static bool
there(enum level level, const char *path)
{
	struct info info;
	int r = kit_stat(kit_place(level, path), &info);

	ck_assert(r == 0 || r == -ENOENT);
	return r == 0;
}

static void
sealed(void)
{
	kit_setup();
	OK(kit_create("t", "family f\nfamily g\n"));
}

/* --- kept directories
 * ------------------------------------------------------------ */

START_TEST(mkdir_keeps_a_row_until_it_is_removed)
{
	ck_assert(!there(LEVEL_ROW, "t/r"));
	OK(kit_mkdir(LEVEL_ROW, "t/r"));
	ck_assert(there(LEVEL_ROW, "t/r"));
	SAYS("r", kit_list(LEVEL_TABLE, "t"));
	SAYS("", kit_list(LEVEL_ROW, "t/r"));
	REFUSED(EEXIST, kit_mkdir(LEVEL_ROW, "t/r"));
	kit_reopen();
	ck_assert(there(LEVEL_ROW, "t/r"));
	OK(kit_rmdir(LEVEL_ROW, "t/r"));
	ck_assert(!there(LEVEL_ROW, "t/r"));
	REFUSED(ENOENT, kit_rmdir(LEVEL_ROW, "t/r"));
	ck_assert_uint_eq(kit_records(kit_side_number("t")), 0);
}
END_TEST

START_TEST(a_kept_family_makes_its_row_be_there)
{
	OK(kit_mkdir(LEVEL_FAMILY, "t/r/f"));
	ck_assert(there(LEVEL_FAMILY, "t/r/f"));
	ck_assert(!there(LEVEL_FAMILY, "t/r/g"));
	ck_assert(there(LEVEL_ROW, "t/r"));
	SAYS("r", kit_list(LEVEL_TABLE, "t"));
	SAYS("f", kit_list(LEVEL_ROW, "t/r"));
	REFUSED(ENOTEMPTY, kit_rmdir(LEVEL_ROW, "t/r"));
	REFUSED(EEXIST, kit_mkdir(LEVEL_ROW, "t/r"));
}
END_TEST

START_TEST(removing_the_last_family_keeps_the_row)
{
	OK(kit_mkdir(LEVEL_FAMILY, "t/r/f"));
	OK(kit_rmdir(LEVEL_FAMILY, "t/r/f"));
	ck_assert(there(LEVEL_ROW, "t/r"));
	SAYS("", kit_list(LEVEL_ROW, "t/r"));
	OK(kit_rmdir(LEVEL_ROW, "t/r"));
	SAYS("", kit_list(LEVEL_TABLE, "t"));
}
END_TEST

START_TEST(the_first_cell_ends_the_keeping)
{
	OK(kit_mkdir(LEVEL_ROW, "t/r"));
	OK(kit_mkdir(LEVEL_FAMILY, "t/r/f"));
	OK(kit_put("t/r/f/q", 5, "v"));
	OK(kit_delete("t/r/f/q", 0));
	ck_assert(!there(LEVEL_FAMILY, "t/r/f"));
	ck_assert(!there(LEVEL_ROW, "t/r"));
	ck_assert_uint_eq(kit_records(kit_side_number("t")), 0);
}
END_TEST

START_TEST(removing_the_last_cell_through_the_mount_keeps_the_family)
{
	OK(kit_put("t/r/f/q", 5, "v"));
	OK(kit_delete("t/r/f/q", MUTATE_KEEP));
	ck_assert(there(LEVEL_FAMILY, "t/r/f"));
	SAYS("", kit_list(LEVEL_FAMILY, "t/r/f"));
	SAYS("r", kit_list(LEVEL_TABLE, "t"));
	OK(kit_rmdir(LEVEL_FAMILY, "t/r/f"));
	OK(kit_rmdir(LEVEL_ROW, "t/r"));
}
END_TEST

START_TEST(what_holds_a_cell_is_not_removed)
{
	OK(kit_put("t/r/f/q", 5, "v"));
	REFUSED(ENOTEMPTY, kit_rmdir(LEVEL_FAMILY, "t/r/f"));
	REFUSED(ENOTEMPTY, kit_rmdir(LEVEL_ROW, "t/r"));
	REFUSED(EEXIST, kit_mkdir(LEVEL_FAMILY, "t/r/f"));
	OK(kit_mkdir(LEVEL_FAMILY, "t/r/g"));
	SAYS("f g", kit_list(LEVEL_ROW, "t/r"));
}
END_TEST

START_TEST(what_expires_leaves_no_directory_behind)
{
	OK(kit_mkdir(LEVEL_ROW, "t/r"));
	OK(kit_put_ttl("t/r/f/q", KIT_NOW, "v", 1000));
	clock_set(&kit_clock, KIT_NOW + 2000);
	ck_assert(!there(LEVEL_ROW, "t/r"));
	ck_assert(!there(LEVEL_FAMILY, "t/r/f"));
	SAYS("", kit_list(LEVEL_TABLE, "t"));
	OK(kit_mkdir(LEVEL_ROW, "t/r"));
}
END_TEST

START_TEST(a_sealed_table_takes_no_strange_family)
{
	REFUSED(EPERM, kit_mkdir(LEVEL_FAMILY, "t/r/strange"));
	ck_assert_ptr_nonnull(strstr(why_text(-EPERM), ".schema/t"));
}
END_TEST

START_TEST(an_open_table_keeps_any_family)
{
	OK(kit_create("o", "table open=1\n"));
	OK(kit_mkdir(LEVEL_FAMILY, "o/r/any"));
	SAYS("any", kit_list(LEVEL_ROW, "o/r"));
	ck_assert(there(LEVEL_FAMILY, "o/r/any"));
	SAYS("table open=1\n", kit_schema("o"));
	REFUSED(EINVAL, kit_mkdir(LEVEL_FAMILY, "o/r/a:b"));
	OK(kit_rmdir(LEVEL_FAMILY, "o/r/any"));
}
END_TEST

START_TEST(rows_stand_in_order_whatever_makes_them_be_there)
{
	OK(kit_put("t/b/f/q", 5, "v"));
	OK(kit_mkdir(LEVEL_ROW, "t/a"));
	OK(kit_mkdir(LEVEL_FAMILY, "t/c/g"));
	OK(kit_dot_put(kit_dot("t/d/f", "", ".x"), "1"));
	OK(kit_put("t/e/g/q", 5, "v"));
	OK(kit_mkdir(LEVEL_ROW, "t/a\x01"));
	SAYS("a a\x01 b c d e", kit_list(LEVEL_TABLE, "t"));
}
END_TEST

/* --- continuation directories
 * ------------------------------------------------------- */

START_TEST(a_row_s_continuation_is_kept_and_removed)
{
	OK(kit_mkdir(LEVEL_ROW_PART, "t/long"));
	ck_assert(there(LEVEL_ROW_PART, "t/long"));
	ck_assert(!there(LEVEL_ROW, "t/long"));
	SAYS("long%", kit_list(LEVEL_TABLE, "t"));
	OK(kit_mkdir(LEVEL_ROW, "t/longer"));
	SAYS("longer", kit_list(LEVEL_ROW_PART, "t/long"));
	OK(kit_rmdir(LEVEL_ROW_PART, "t/long"));
	SAYS("longer", kit_list(LEVEL_TABLE, "t"));
}
END_TEST

START_TEST(a_qualifier_s_continuation_is_kept_and_removed)
{
	OK(kit_mkdir(LEVEL_COLUMN_PART, "t/r/f/long"));
	ck_assert(there(LEVEL_COLUMN_PART, "t/r/f/long"));
	SAYS("long%", kit_list(LEVEL_FAMILY, "t/r/f"));
	ck_assert(there(LEVEL_FAMILY, "t/r/f"));
	REFUSED(ENOTEMPTY, kit_rmdir(LEVEL_FAMILY, "t/r/f"));
	struct place dot = {.level = LEVEL_DOT, .table = slice_text("t"),
	    .row = slice_text("r"), .family = slice_text("f"),
	    .qualifier = slice_text("long"), .dot = slice_text(".x")};
	OK(kit_dot_put(dot, "1"));
	REFUSED(ENOTEMPTY, kit_rmdir(LEVEL_COLUMN_PART, "t/r/f/long"));
	OK(kit->methods->dot_remove(kit, &dot));
	OK(kit_rmdir(LEVEL_COLUMN_PART, "t/r/f/long"));
	ck_assert(there(LEVEL_FAMILY, "t/r/f"));
	OK(kit_rmdir(LEVEL_FAMILY, "t/r/f"));
}
END_TEST

/* --- attributes
 * ------------------------------------------------------------------------ */

static const struct {
	enum level level;
	const char *path;
	mode_t mode; /* before anything is set */
} dirs[] = {
    {LEVEL_ROOT, "", 0755},
    {LEVEL_SCHEMA, "", 0755},
    {LEVEL_SCHEMA_FILE, "t", 0644},
    {LEVEL_TABLE, "t", 0755},
    {LEVEL_ROW_PART, "t/part", 0755},
    {LEVEL_ROW, "t/r", 0755},
    {LEVEL_FAMILY, "t/r/f", 0755},
    {LEVEL_COLUMN_PART, "t/r/f/part", 0755},
};

static void
make_all_dirs(void)
{
	sealed();
	OK(kit_mkdir(LEVEL_ROW_PART, "t/part"));
	OK(kit_mkdir(LEVEL_COLUMN_PART, "t/r/f/part"));
}

START_TEST(attributes_of_every_directory_are_kept)
{
	const struct place dir = kit_place(dirs[_i].level, dirs[_i].path);
	const struct attrs mode = {.set = ATTR_MODE, .mode = 01700};
	const struct attrs rest = {.set = ATTR_UID | ATTR_GID | ATTR_MTIME,
	    .uid = 70,
	    .gid = 80,
	    .mtime = {123, 456}};
	struct info info;

	OK(kit_stat(dir, &info));
	ck_assert_uint_eq(info.attrs.mode, dirs[_i].mode);
	ck_assert_uint_eq(info.attrs.set, 0);
	uid_t uid = info.attrs.uid;
	OK(kit->methods->set_attrs(kit, &dir, newest, &mode));
	OK(kit_stat(dir, &info));
	ck_assert_uint_eq(info.attrs.mode, 01700);
	ck_assert_uint_eq(info.attrs.uid, uid);
	OK(kit->methods->set_attrs(kit, &dir, newest, &rest));
	kit_reopen();
	OK(kit_stat(dir, &info));
	ck_assert_uint_eq(info.attrs.mode, 01700);
	ck_assert_uint_eq(info.attrs.uid, 70);
	ck_assert_uint_eq(info.attrs.gid, 80);
	ck_assert_int_eq(info.attrs.mtime.tv_sec, 123);
	ck_assert_int_eq(info.attrs.mtime.tv_nsec, 456);
}
END_TEST

START_TEST(attributes_equal_to_the_defaults_take_no_room)
{
	const struct place row = kit_place(LEVEL_ROW, "t/r");
	struct attrs mode = {.set = ATTR_MODE, .mode = 0700};

	OK(kit_mkdir(LEVEL_ROW, "t/r"));
	ck_assert_uint_eq(kit_records(kit_side_number("t")), 1);
	OK(kit->methods->set_attrs(kit, &row, newest, &mode));
	ck_assert_uint_eq(kit_records(kit_side_number("t")), 2);
	mode.mode = 0755;
	OK(kit->methods->set_attrs(kit, &row, newest, &mode));
	ck_assert_uint_eq(kit_records(kit_side_number("t")), 1);
}
END_TEST

START_TEST(attributes_of_what_is_not_there_are_refused)
{
	const struct attrs mode = {.set = ATTR_MODE, .mode = 0700};
	const struct place row = kit_place(LEVEL_ROW, "t/r");

	REFUSED(ENOENT, kit->methods->set_attrs(kit, &row, newest, &mode));
	ck_assert_uint_eq(kit_records(kit_side_number("t")), 0);
}
END_TEST

START_TEST(a_new_directory_has_none_of_an_old_one_s_attributes)
{
	const struct attrs mode = {.set = ATTR_MODE, .mode = 0700};
	const struct place row = kit_place(LEVEL_ROW, "t/r");
	struct info info;

	OK(kit_put_ttl("t/r/f/q", KIT_NOW, "v", 1000));
	OK(kit->methods->set_attrs(kit, &row, newest, &mode));
	clock_set(&kit_clock, KIT_NOW + 2000);
	OK(kit_mkdir(LEVEL_ROW, "t/r"));
	OK(kit_stat(row, &info));
	ck_assert_uint_eq(info.attrs.mode, 0755);
}
END_TEST

START_TEST(deleting_the_last_cell_forgets_the_attributes)
{
	const struct attrs mode = {.set = ATTR_MODE, .mode = 0700};
	const struct place row = kit_place(LEVEL_ROW, "t/r"),
			   family = kit_place(LEVEL_FAMILY, "t/r/f");

	OK(kit_put("t/r/f/q", 5, "v"));
	OK(kit->methods->set_attrs(kit, &row, newest, &mode));
	OK(kit->methods->set_attrs(kit, &family, newest, &mode));
	OK(kit_delete("t/r/f/q", 0));
	ck_assert_uint_eq(kit_records(kit_side_number("t")), 0);
}
END_TEST

START_TEST(changing_the_table_s_mode_changes_no_row_s)
{
	const struct attrs mode = {.set = ATTR_MODE, .mode = 0700};
	const struct place table = kit_place(LEVEL_TABLE, "t");
	struct info info;

	OK(kit_put("t/r/f/q", 5, "v"));
	OK(kit->methods->set_attrs(kit, &table, newest, &mode));
	OK(kit_stat(kit_place(LEVEL_ROW, "t/r"), &info));
	ck_assert_uint_eq(info.attrs.mode, 0755);
}
END_TEST

/* --- dot files
 * ----------------------------------------------------------------------------
 */

/* Where dot files stand: in a family, a continuation of one, a dot directory,
 * and in .schema. */
static const struct {
	const char *family, *qualifier, *dot_dir;
} homes[] = {
    {"t/r/f", "", ""},
    {"t/r/f", "part", ""},
    {"t/r/f", "", ".dir"},
    {"", "", ""},
    {"", "", ".dir"},
};

static struct place
home(int i, const char *dot)
{
	struct place p = kit_dot(homes[i].family, homes[i].dot_dir, dot);

	p.qualifier = slice_text(homes[i].qualifier);
	return p;
}

/* The directory it is in, made. */
static struct place
make_home(int i)
{
	struct place dir = home(i, "");
	const struct attrs attrs = {.set = ATTR_MODE, .mode = 0711};

	if (*homes[i].dot_dir) {
		OK(kit->methods->dir_make(kit, &dir, &attrs));
		return dir;
	}
	dir.level = !*homes[i].family	  ? LEVEL_SCHEMA
		    : *homes[i].qualifier ? LEVEL_COLUMN_PART
					  : LEVEL_FAMILY;
	return dir;
}

START_TEST(a_dot_file_is_an_ordinary_durable_file)
{
	struct place dir = make_home(_i);
	struct place dot = home(_i, ".q");
	struct info info;

	SAYS("-", kit_dot_get(dot));
	OK(kit_dot_put(dot, "one"));
	SAYS("one", kit_dot_get(dot));
	OK(kit_dot_put(dot, "three"));
	kit_reopen();
	SAYS("three", kit_dot_get(dot));
	OK(kit_stat(dot, &info));
	ck_assert_uint_eq(info.size, 5);
	ck_assert_uint_eq(info.attrs.mode, 0644);
	ck_assert_int_eq(info.attrs.mtime.tv_sec, KIT_NOW / 1000);
	if (dir.level != LEVEL_SCHEMA)
		SAYS(".q", kit_list_place(dir));
	else
		SAYS(".q t", kit_list_place(dir));
	OK(kit->methods->dot_remove(kit, &dot));
	SAYS("-", kit_dot_get(dot));
	REFUSED(ENOENT, kit->methods->dot_remove(kit, &dot));
}
END_TEST

START_TEST(a_large_dot_file_stands_in_chunks_that_go_with_it)
{
	struct place dot = (make_home(_i), home(_i, ".big"));
	uint32_t blobs =
	    *homes[_i].family ? kit_blobs_number("t", "f") : ROOT_BLOBS;

	OK(kit_dot_put_size(dot, (3 << 20) + 5, 0));
	const char *value = kit_dot_get(dot);
	ck_assert_uint_eq(strlen(value), (3 << 20) + 5);
	ck_assert_uint_eq(strspn(value, "z"), (3 << 20) + 5);
	ck_assert_uint_eq(kit_records(blobs), 4);
	OK(kit_dot_put_size(dot, INLINE_MAX + 1, 0));
	ck_assert_uint_eq(kit_records(blobs), 1);
	OK(kit->methods->dot_remove(kit, &dot));
	ck_assert_uint_eq(kit_records(blobs), 0);
}
END_TEST

START_TEST(a_dot_file_obeys_the_family_s_limit)
{
	OK(kit_alter("t", "family f max_cell_size=100\nfamily g\n", false));
	OK(kit_dot_put_size(kit_dot("t/r/f", "", ".q"), 100, 0));
	REFUSED(EFBIG, kit_dot_put_size(kit_dot("t/r/f", "", ".q"), 101, 0));
	OK(kit_dot_put_size(kit_dot("t/r/g", "", ".q"), 101, 0));
}
END_TEST

START_TEST(a_dot_file_that_must_be_new_is_not_replaced)
{
	OK(kit_dot_put_size(kit_dot("t/r/f", "", ".q"), 1, MUTATE_ABSENT));
	REFUSED(EEXIST,
	    kit_dot_put_size(kit_dot("t/r/f", "", ".q"), 2, MUTATE_ABSENT));
	SAYS("z", kit_dot_get(kit_dot("t/r/f", "", ".q")));
}
END_TEST

START_TEST(a_dot_file_s_attributes_stay_through_a_rewrite)
{
	struct place dot = kit_dot("t/r/f", "", ".q");
	const struct attrs attrs = {
	    .set = ATTR_MODE | ATTR_MTIME, .mode = 0600, .mtime = {5, 6}};
	struct info info;

	OK(kit_dot_put(dot, "one"));
	OK(kit->methods->set_attrs(kit, &dot, newest, &attrs));
	OK(kit_stat(dot, &info));
	ck_assert_uint_eq(info.attrs.mode, 0600);
	ck_assert_int_eq(info.attrs.mtime.tv_sec, 5);
	SAYS("one", kit_dot_get(dot));
	OK(kit_dot_put(dot, "two"));
	OK(kit_stat(dot, &info));
	ck_assert_uint_eq(info.attrs.mode, 0600);
	ck_assert_uint_eq(info.attrs.uid, 7);
}
END_TEST

START_TEST(dot_files_make_family_and_row_be_there_and_are_no_cells)
{
	OK(kit_dot_put(kit_dot("t/r/f", "", ".q"), "1"));
	ck_assert(there(LEVEL_ROW, "t/r"));
	ck_assert(there(LEVEL_FAMILY, "t/r/f"));
	REFUSED(ENOTEMPTY, kit_rmdir(LEVEL_FAMILY, "t/r/f"));
	REFUSED(ENOTEMPTY, kit_rmdir(LEVEL_ROW, "t/r"));
	ck_assert_uint_eq(kit_records(kit_cells_number("t", "f")), 0);
}
END_TEST

START_TEST(removing_the_last_dot_file_keeps_the_family)
{
	struct place dot = kit_dot("t/r/f", "", ".q");

	OK(kit_dot_put(dot, "1"));
	OK(kit->methods->dot_remove(kit, &dot));
	ck_assert(there(LEVEL_FAMILY, "t/r/f"));
	OK(kit_rmdir(LEVEL_FAMILY, "t/r/f"));
}
END_TEST

START_TEST(dot_directories_hold_dot_files)
{
	struct place dir = make_home(2);
	const struct attrs attrs = {0};

	REFUSED(EEXIST, kit->methods->dir_make(kit, &dir, &attrs));
	REFUSED(EISDIR, kit_dot_put(kit_dot("t/r/f", "", ".dir"), "1"));
	REFUSED(ENOENT, kit_dot_put(kit_dot("t/r/f", ".none", ".q"), "1"));
	OK(kit_dot_put(kit_dot("t/r/f", ".dir", ".q"), "1"));
	OK(kit_dot_put(kit_dot("t/r/f", "", ".a"), "1"));
	SAYS(".a .dir", kit_list(LEVEL_FAMILY, "t/r/f"));
	SAYS(".q", kit_list_place(dir));
	REFUSED(ENOTEMPTY, kit->methods->dir_remove(kit, &dir));
	struct place q = kit_dot("t/r/f", ".dir", ".q");
	OK(kit->methods->dot_remove(kit, &q));
	OK(kit->methods->dir_remove(kit, &dir));
	SAYS(".a", kit_list(LEVEL_FAMILY, "t/r/f"));
	struct place a = kit_dot("t/r/f", ".a", "");
	REFUSED(EEXIST, kit->methods->dir_make(kit, &a, &attrs));
}
END_TEST

START_TEST(the_first_dot_file_of_an_open_table_declares_its_family)
{
	OK(kit_create("o", "table open=1\n"));
	OK(kit_dot_put(kit_dot("o/r/x", "", ".q"), "1"));
	ck_assert_ptr_nonnull(strstr(kit_schema("o"), "family x "));
	REFUSED(EPERM, kit_dot_put(kit_dot("t/r/x", "", ".q"), "1"));
}
END_TEST

/* --- the suite
 * -------------------------------------------------------------------------------
 */

int
main(void)
{
	Suite *s = suite_create("side");

	TCase *c = kit_topic(s, "kept", sealed, kit_teardown);
	tcase_add_test(c, mkdir_keeps_a_row_until_it_is_removed);
	tcase_add_test(c, a_kept_family_makes_its_row_be_there);
	tcase_add_test(c, removing_the_last_family_keeps_the_row);
	tcase_add_test(c, the_first_cell_ends_the_keeping);
	tcase_add_test(
	    c, removing_the_last_cell_through_the_mount_keeps_the_family);
	tcase_add_test(c, what_holds_a_cell_is_not_removed);
	tcase_add_test(c, what_expires_leaves_no_directory_behind);
	tcase_add_test(c, a_sealed_table_takes_no_strange_family);
	tcase_add_test(c, an_open_table_keeps_any_family);
	tcase_add_test(c, rows_stand_in_order_whatever_makes_them_be_there);
	tcase_add_test(c, a_row_s_continuation_is_kept_and_removed);
	tcase_add_test(c, a_qualifier_s_continuation_is_kept_and_removed);

	c = kit_topic(s, "every directory", make_all_dirs, kit_teardown);
	tcase_add_loop_test(
	    c, attributes_of_every_directory_are_kept, 0, COUNT(dirs));

	c = kit_topic(s, "attributes", sealed, kit_teardown);
	tcase_add_test(c, attributes_equal_to_the_defaults_take_no_room);
	tcase_add_test(c, attributes_of_what_is_not_there_are_refused);
	tcase_add_test(c, a_new_directory_has_none_of_an_old_one_s_attributes);
	tcase_add_test(c, deleting_the_last_cell_forgets_the_attributes);
	tcase_add_test(c, changing_the_table_s_mode_changes_no_row_s);

	c = kit_topic(s, "dot files", sealed, kit_teardown);
	tcase_add_loop_test(
	    c, a_dot_file_is_an_ordinary_durable_file, 0, COUNT(homes));
	tcase_add_loop_test(c,
	    a_large_dot_file_stands_in_chunks_that_go_with_it, 0, COUNT(homes));
	tcase_add_test(c, a_dot_file_obeys_the_family_s_limit);
	tcase_add_test(c, a_dot_file_that_must_be_new_is_not_replaced);
	tcase_add_test(c, a_dot_file_s_attributes_stay_through_a_rewrite);
	tcase_add_test(
	    c, dot_files_make_family_and_row_be_there_and_are_no_cells);
	tcase_add_test(c, removing_the_last_dot_file_keeps_the_family);
	tcase_add_test(c, dot_directories_hold_dot_files);
	tcase_add_test(
	    c, the_first_dot_file_of_an_open_table_declares_its_family);

	return suite_run(s);
}
