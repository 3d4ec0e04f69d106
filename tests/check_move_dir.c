/* Renames of rows and families. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kv/kv.h"
#include "kv/kv_data.h"
#include "kv/local.h"
#include "kv/ordered.h"
#include "kv/why.h"
#include "table_kit.h"

#define BIG ((2 << 20) + 17)

static const struct version newest = {.which = VERSION_NEWEST};

static int
move_dir(enum level level, const char *from, const char *to, unsigned flags)
{
	const struct place a = kit_place(level, from), b = kit_place(level, to);
	int64_t stored;

	return kit_move(
	    &(struct move_spec){.from = &a, .to = &b, .flags = flags},
	    &stored);
}

static void
setup(void)
{
	kit_setup();
	OK(kit_create("t", "family f versions=5\nfamily g versions=2\n"));
	OK(kit_create("o", "table open=1\n"));
}

static void
three_versions(const char *path)
{
	OK(kit_put(path, 5, "five"));
	OK(kit_put(path, 6, "six"));
	OK(kit_put(path, 7, "seven"));
}

static struct attrs
attrs_of(struct place place)
{
	struct info info;

	OK(kit_stat(place, &info));
	return info.attrs;
}

static void
set_attrs(struct place place, mode_t mode, time_t mtime)
{
	const struct attrs attrs = {
	    .set = ATTR_MODE | ATTR_MTIME, .mode = mode, .mtime = {mtime, 0}};

	OK(kit->methods->set_attrs(kit, &place, newest, &attrs));
}

static size_t
all_chunks(void)
{
	size_t count = kit_records(kit_blobs_number("t", "f")) +
		       kit_records(kit_blobs_number("t", "g"));

	if (strstr(kit_schema("o"), "family f"))
		count += kit_records(kit_blobs_number("o", "f"));
	return count;
}

/* --- rows and families
 * ---------------------------------------------------------------- */

static void
fill_row(void)
{
	three_versions("t/r/f/q");
	OK(kit_put("t/r/f/", 5, "empty name"));
	OK(kit_put("t/r/g/q", 5, "g"));
	OK(kit_put_big("t/r/g/big", BIG, 9));
	OK(kit_dot_put(kit_dot("t/r/f", "", ".x"), "dot"));
	set_attrs(kit_place(LEVEL_ROW, "t/r"), 0700, 99);
	set_attrs(kit_place(LEVEL_FAMILY, "t/r/g"), 0711, 98);
}

static void
row_is_at(const char *table, const char *row)
{
	char path[6][64];
	static const char *const below[] = {
	    "f/q", "f/", "g/q", "g/big", "f", "g"};

	for (int i = 0; i < 6; i++)
		snprintf(
		    path[i], sizeof(path[i]), "%s/%s/%s", table, row, below[i]);
	ck_assert_ptr_nonnull(strstr(kit_history(path[0]), "7=seven 6=six"));
	SAYS("5=empty name", kit_history(path[1]));
	SAYS("5=g", kit_history(path[2]));
	ck_assert(kit_is_big(kit_place(LEVEL_COLUMN, path[3]), BIG, 9));
	SAYS("dot", kit_dot_get(kit_dot(path[4], "", ".x")));
	path[4][strlen(path[4]) - 2] = 0;
	struct attrs attrs = attrs_of(kit_place(LEVEL_ROW, path[4]));
	ck_assert_uint_eq(attrs.mode, 0700);
	ck_assert_int_eq(attrs.mtime.tv_sec, 99);
	ck_assert_uint_eq(
	    attrs_of(kit_place(LEVEL_FAMILY, path[5])).mode, 0711);
}

START_TEST(a_row_moves_with_everything_in_it)
{
	fill_row();
	OK(move_dir(LEVEL_ROW, "t/r", "t/s", 0));
	SAYS("s", kit_list(LEVEL_TABLE, "t"));
	row_is_at("t", "s");
	kit_reopen();
	row_is_at("t", "s");
	ck_assert_uint_eq(all_chunks(), 3);
}
END_TEST

START_TEST(a_row_moves_into_another_table)
{
	fill_row();
	OK(move_dir(LEVEL_ROW, "t/r", "o/s", 0));
	SAYS("", kit_list(LEVEL_TABLE, "t"));
	row_is_at("o", "s");
	ck_assert_uint_eq(all_chunks(), 0);
	ck_assert_uint_eq(kit_records(kit_side_number("t")), 0);
	ck_assert_uint_eq(kit_records(kit_blobs_number("o", "g")), 3);
	OK(move_dir(LEVEL_ROW, "o/s", "t/r", 0));
	row_is_at("t", "r");
}
END_TEST

START_TEST(a_row_moves_onto_an_empty_one_only)
{
	fill_row();
	OK(kit_mkdir(LEVEL_ROW, "t/kept"));
	OK(kit_put("t/full/f/q", 5, "v"));
	OK(kit_mkdir(LEVEL_FAMILY, "t/dirs/f"));
	REFUSED(ENOTEMPTY, move_dir(LEVEL_ROW, "t/r", "t/full", 0));
	REFUSED(ENOTEMPTY, move_dir(LEVEL_ROW, "t/r", "t/dirs", 0));
	REFUSED(EEXIST, move_dir(LEVEL_ROW, "t/r", "t/kept", MOVE_NOREPLACE));
	row_is_at("t", "r");
	OK(move_dir(LEVEL_ROW, "t/r", "t/kept", 0));
	row_is_at("t", "kept");
	REFUSED(ENOENT, move_dir(LEVEL_ROW, "t/r", "t/x", 0));
}
END_TEST

START_TEST(a_row_s_expired_cells_do_not_stand_in_the_way)
{
	OK(kit_put_ttl("t/s/f/q", KIT_NOW, "expires", 1000));
	OK(kit_put("t/r/f/q", 5, "v"));
	clock_set(&kit_clock, KIT_NOW + 2000);
	OK(move_dir(LEVEL_ROW, "t/r", "t/s", MOVE_NOREPLACE));
	SAYS("5=v", kit_history("t/s/f/q"));
	ck_assert_uint_eq(kit_records(kit_cells_number("t", "f")), 1);
}
END_TEST

START_TEST(an_empty_row_moves_too)
{
	OK(kit_mkdir(LEVEL_FAMILY, "t/r/f"));
	OK(move_dir(LEVEL_ROW, "t/r", "t/s", 0));
	SAYS("s", kit_list(LEVEL_TABLE, "t"));
	SAYS("f", kit_list(LEVEL_ROW, "t/s"));
}
END_TEST

START_TEST(a_row_of_a_strange_family_does_not_enter_a_sealed_table)
{
	OK(kit_put("o/r/strange/q", 5, "v"));
	REFUSED(EPERM, move_dir(LEVEL_ROW, "o/r", "t/r", 0));
	SAYS("v", kit_get("o/r/strange/q"));
	OK(kit_dot_put(kit_dot("o/s/strange", "", ".x"), "dot"));
	REFUSED(EPERM, move_dir(LEVEL_ROW, "o/s", "t/s", 0));
	SAYS("dot", kit_dot_get(kit_dot("o/s/strange", "", ".x")));
}
END_TEST

START_TEST(a_row_too_large_for_one_transaction_is_refused_and_stays)
{
	char path[40];

	for (int i = 0; i <= MOVE_CELLS_MAX; i++) {
		snprintf(path, sizeof(path), "t/r/f/%d", i);
		OK(kit_put(path, 5, "v"));
	}
	REFUSED(E2BIG, move_dir(LEVEL_ROW, "t/r", "t/s", 0));
	REFUSED(E2BIG, move_dir(LEVEL_FAMILY, "t/r/f", "t/s/f", 0));
	SAYS("v", kit_get("t/r/f/0"));
	ck_assert_uint_eq(
	    kit_records(kit_cells_number("t", "f")), MOVE_CELLS_MAX + 1);
	OK(kit_delete("t/r/f/0", 0));
	OK(move_dir(LEVEL_ROW, "t/r", "t/s", 0));
	SAYS("v", kit_get("t/s/f/1"));
}
END_TEST

static const char *const families[] = {"t/s/f", "t/r/g", "t/s/g", "o/r/any"};

START_TEST(a_family_moves_with_everything_in_it)
{
	struct info info;

	OK(kit_put("t/r/f/q", 5, "v"));
	OK(kit_put_big("t/r/f/big", BIG, 3));
	OK(kit_dot_put(kit_dot("t/r/f", "", ".x"), "dot"));
	set_attrs(kit_place(LEVEL_FAMILY, "t/r/f"), 0711, 98);
	OK(move_dir(LEVEL_FAMILY, "t/r/f", families[_i], MOVE_KEEP));
	char path[40];
	snprintf(path, sizeof(path), "%s/q", families[_i]);
	SAYS("v", kit_get(path));
	snprintf(path, sizeof(path), "%s/big", families[_i]);
	ck_assert(kit_is_big(kit_place(LEVEL_COLUMN, path), BIG, 3));
	SAYS("dot", kit_dot_get(kit_dot(families[_i], "", ".x")));
	ck_assert_uint_eq(
	    attrs_of(kit_place(LEVEL_FAMILY, families[_i])).mode, 0711);
	REFUSED(ENOENT, kit_stat(kit_place(LEVEL_FAMILY, "t/r/f"), &info));
	OK(kit_stat(kit_place(LEVEL_ROW, "t/r"), &info));
}
END_TEST

START_TEST(a_family_moves_to_a_declared_name_only)
{
	OK(kit_put("t/r/f/q", 5, "v"));
	REFUSED(EPERM, move_dir(LEVEL_FAMILY, "t/r/f", "t/r/x", 0));
	OK(kit_put("t/r/g/q", 5, "w"));
	REFUSED(ENOTEMPTY, move_dir(LEVEL_FAMILY, "t/r/f", "t/r/g", 0));
	OK(kit_mkdir(LEVEL_FAMILY, "o/r/a"));
	OK(move_dir(LEVEL_FAMILY, "o/r/a", "o/r/b", 0));
	SAYS("b", kit_list(LEVEL_ROW, "o/r"));
	REFUSED(EPERM, move_dir(LEVEL_FAMILY, "o/r/b", "t/s/b", 0));
}
END_TEST

/* --- dot directories
 * ---------------------------------------------------------------------------
 */

static struct place
dot_dir(const char *family, const char *name)
{
	struct place p = kit_dot(family, name, "");

	p.level = LEVEL_DOT_DIR;
	return p;
}

static int
make_dot_dir(struct place dir)
{
	const struct attrs attrs = {.set = ATTR_MODE | ATTR_UID | ATTR_GID,
	    .mode = 0711,
	    .uid = 7,
	    .gid = 8};

	return kit->methods->dir_make(kit, &dir, &attrs);
}

static int
move_dot_dir(struct place from, struct place to, unsigned flags)
{
	int64_t stored;

	return kit_move(
	    &(struct move_spec){.from = &from, .to = &to, .flags = flags},
	    &stored);
}

static const char *const dot_dirs[] = {"t/r/f", "t/s/g", "o/r/new"};

START_TEST(a_dot_directory_moves_with_its_files)
{
	const struct place from = dot_dir("t/r/f", ".a"),
			   to = dot_dir(dot_dirs[_i], ".b");

	OK(make_dot_dir(from));
	OK(kit_dot_put(kit_dot("t/r/f", ".a", "x"), "1"));
	OK(kit_dot_put_size(kit_dot("t/r/f", ".a", ".y"), BIG, 0));
	OK(kit_dot_put(kit_dot("t/r/f", "", ".aa"), "beside"));
	OK(move_dot_dir(from, to, 0));
	SAYS("1", kit_dot_get(kit_dot(dot_dirs[_i], ".b", "x")));
	SAYS(".y x", kit_list_place(to));
	ck_assert_uint_eq(attrs_of(to).mode, 0711);
	ck_assert_uint_eq(attrs_of(to).uid, 7);
	struct info info;
	REFUSED(ENOENT, kit_stat(from, &info));
	OK(kit_stat(kit_dot(dot_dirs[_i], ".b", ".y"), &info));
	ck_assert_uint_eq(info.size, BIG);
	SAYS("beside", kit_dot_get(kit_dot("t/r/f", "", ".aa")));
	ck_assert_uint_eq(kit_records(kit_blobs_number("t", "f")),
	    _i ? 0 : 3);
}
END_TEST

START_TEST(a_dot_directory_moves_onto_an_empty_one_only)
{
	const struct place a = dot_dir("t/r/f", ".a"),
			   b = dot_dir("t/r/f", ".b"),
			   file = dot_dir("t/r/f", ".file");

	OK(make_dot_dir(a));
	OK(make_dot_dir(b));
	OK(kit_dot_put(kit_dot("t/r/f", "", ".file"), "v"));
	OK(kit_dot_put(kit_dot("t/r/f", ".a", "x"), "1"));
	OK(kit_dot_put(kit_dot("t/r/f", ".b", "y"), "2"));
	REFUSED(ENOTEMPTY, move_dot_dir(a, b, 0));
	REFUSED(ENOTDIR, move_dot_dir(a, file, 0));
	OK(kit->methods->dot_remove(kit, &(struct place){.level = LEVEL_DOT,
	    .table = b.table, .row = b.row, .family = b.family,
	    .dot_dir = b.dot_dir, .dot = slice_text("y")}));
	REFUSED(EEXIST, move_dot_dir(a, b, MOVE_NOREPLACE));
	OK(move_dot_dir(a, b, 0));
	SAYS("x", kit_list_place(b));
	REFUSED(ENOENT, move_dot_dir(a, b, 0));
}
END_TEST

START_TEST(a_family_whose_dot_directory_went_is_kept)
{
	const struct place from = dot_dir("t/r/f", ".a"),
			   to = dot_dir("t/s/f", ".a");

	OK(make_dot_dir(from));
	OK(move_dot_dir(from, to, 0));
	SAYS("r s", kit_list(LEVEL_TABLE, "t"));
	SAYS("f", kit_list(LEVEL_ROW, "t/r"));
}
END_TEST

START_TEST(a_dot_directory_too_large_for_one_transaction_stays)
{
	const struct place from = dot_dir("t/r/f", ".a"),
			   to = dot_dir("t/r/f", ".b");
	char name[16];

	OK(make_dot_dir(from));
	for (int i = 0; i < 600; i++) {
		snprintf(name, sizeof(name), "%d", i);
		OK(kit_dot_put_size(
		    kit_dot("t/r/f", ".a", name), INLINE_MAX, 0));
	}
	REFUSED(E2BIG, move_dot_dir(from, to, 0));
	ck_assert_ptr_nonnull(strstr(why_text(-E2BIG), "too much to rename"));
	SAYS("", kit_list_place(to));
	OK(kit->methods->dot_remove(kit, &(struct place){.level = LEVEL_DOT,
	    .table = from.table, .row = from.row, .family = from.family,
	    .dot_dir = from.dot_dir, .dot = slice_text("7")}));
}
END_TEST

/* --- failures
 * ---------------------------------------------------------------------------
 */

START_TEST(a_rename_that_fails_anywhere_leaves_all_as_it_was)
{
	int r = -1;

	for (unsigned count = 1; r; count++) {
		kit_teardown();
		setup();
		fill_row();
		ordered_mem_fail(kit_store, EIO, count, true);
		r = move_dir(LEVEL_ROW, "t/r", _i ? "o/s" : "t/s", 0);
		ordered_mem_fail(kit_store, 0, 0, false);
		kit_reopen();
		if (r)
			row_is_at("t", "r");
		else
			row_is_at(_i ? "o" : "t", "s");
		ck_assert_uint_eq(all_chunks(), r || !_i ? 3 : 0);
	}
}
END_TEST

/* --- the suite -------------------------------------------------------- */

int
main(void)
{
	Suite *s = suite_create("move_dir");

	TCase *c = kit_topic(s, "directories", setup, kit_teardown);
	tcase_add_test(c, a_row_moves_with_everything_in_it);
	tcase_add_test(c, a_row_moves_into_another_table);
	tcase_add_test(c, a_row_moves_onto_an_empty_one_only);
	tcase_add_test(c, a_row_s_expired_cells_do_not_stand_in_the_way);
	tcase_add_test(c, an_empty_row_moves_too);
	tcase_add_test(
	    c, a_row_of_a_strange_family_does_not_enter_a_sealed_table);
	tcase_add_test(
	    c, a_row_too_large_for_one_transaction_is_refused_and_stays);
	tcase_add_loop_test(
	    c, a_family_moves_with_everything_in_it, 0, COUNT(families));
	tcase_add_test(c, a_family_moves_to_a_declared_name_only);
	tcase_add_loop_test(
	    c, a_rename_that_fails_anywhere_leaves_all_as_it_was, 0, 2);

	c = kit_topic(s, "dot directories", setup, kit_teardown);
	tcase_add_loop_test(c, a_dot_directory_moves_with_its_files, 0,
	    COUNT(dot_dirs));
	tcase_add_test(c, a_dot_directory_moves_onto_an_empty_one_only);
	tcase_add_test(c, a_family_whose_dot_directory_went_is_kept);
	tcase_add_test(c, a_dot_directory_too_large_for_one_transaction_stays);

	return suite_run(s);
}
