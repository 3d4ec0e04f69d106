/* Renames of cells, versions and dot files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/kv.h"
#include "kv/local.h"
#include "kv/local_keys.h"
#include "kv/ordered.h"
#include "kv/why.h"
#include "table_kit.h"

static const struct version newest = {.which = VERSION_NEWEST};

static int64_t stored; /* by the last move */

static struct version
at(int64_t timestamp)
{
	return (struct version){VERSION_AT, timestamp};
}

static int
move_versions(const char *from, struct version from_version, const char *to,
    struct version to_version, unsigned flags)
{
	const struct place a = kit_place(LEVEL_COLUMN, from),
			   b = kit_place(LEVEL_COLUMN, to);

	return kit_move(&(struct move_spec){.from = &a,
			    .from_version = from_version,
			    .to = &b,
			    .to_version = to_version,
			    .flags = flags},
	    &stored);
}

static int
move_cell(const char *from, const char *to, unsigned flags)
{
	return move_versions(from, newest, to, newest, flags);
}

static int
move_places(struct place from, struct place to, unsigned flags)
{
	return kit_move(
	    &(struct move_spec){.from = &from, .to = &to, .flags = flags},
	    &stored);
}

static int
move_dir(enum level level, const char *from, const char *to, unsigned flags)
{
	return move_places(kit_place(level, from), kit_place(level, to), flags);
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

/* --- cells
 * ------------------------------------------------------------------------ */

static const char *const targets[] = {
    "t/r/f/p", /* another column, */
    "t/s/f/q", /* row, */
    "o/r/f/q", /* table, declared first */
    "t/r/f/",  /* the empty qualifier */
};

START_TEST(to_a_free_name_the_whole_history_moves)
{
	three_versions("t/r/f/q");
	OK(move_cell("t/r/f/q", targets[_i], 0));
	SAYS("7=seven 6=six 5=five", kit_history(targets[_i]));
	SAYS("", kit_history("t/r/f/q"));
	ck_assert_int_eq(stored, 7);
}
END_TEST

START_TEST(a_history_the_target_family_would_cut_is_refused)
{
	static const struct {
		const char *family;
		int r;
	} rules[] = {
	    {"versions=2", -EDQUOT},
	    {"versions=3", 0},
	    {"versions=3 ttl=100", -EDQUOT},
	    {"versions=3 ttl=100 min_versions=2", -EDQUOT},
	    {"versions=3 ttl=100 min_versions=3", 0},
	};
	char text[80];

	snprintf(text, sizeof(text), "family f %s\n", rules[_i].family);
	OK(kit_create("u", text));
	three_versions("t/r/f/q");
	ck_assert_int_eq(move_cell("t/r/f/q", "u/s/f/q", 0), rules[_i].r);
	SAYS(rules[_i].r ? "7=seven 6=six 5=five" : "",
	    kit_history("t/r/f/q"));
	SAYS(rules[_i].r ? "" : "7=seven 6=six 5=five",
	    kit_history("u/s/f/q"));
	if (rules[_i].r)
		SAYS(_i ? "q would lose versions: family f of table u keeps "
			  "them for 100 seconds, some are older"
			: "q would lose versions: family f of table u keeps "
			  "them 2 of a cell, there are more",
		    why_text(rules[_i].r));
}
END_TEST

START_TEST(what_one_cell_has_does_not_count_for_another)
{
	three_versions("t/r/f/a");
	three_versions("t/r/f/b");
	OK(kit_create("u", "family f\n"));
	OK(move_dir(LEVEL_ROW, "t/r", "u/r", 0));
	SAYS("7=seven 6=six 5=five", kit_history("u/r/f/b"));
}
END_TEST

START_TEST(directories_are_refused_likewise)
{
	OK(kit_put("t/r/f/a", 5, "a"));
	three_versions("t/r/f/q");
	OK(kit_create("u", "family f versions=2\n"));
	REFUSED(EDQUOT, move_dir(LEVEL_ROW, "t/r", "u/r", 0));
	REFUSED(EDQUOT, move_dir(LEVEL_FAMILY, "t/r/f", "t/r/g", 0));
	SAYS("7=seven 6=six 5=five", kit_history("t/r/f/q"));
	SAYS("5=a", kit_history("t/r/f/a"));
	SAYS("", kit_history("u/r/f/a"));
	three_versions("t/r/g/p");
	REFUSED(EDQUOT, move_cell("t/r/f/q", "t/r/g/p", MOVE_EXCHANGE));
	SAYS("7=seven 6=six 5=five", kit_history("t/r/f/q"));
}
END_TEST

START_TEST(a_family_declared_by_a_move_has_the_rules_of_the_source)
{
	OK(kit_create("s", "family f versions=7 blocksize=4096\n"));
	for (int i = 1; i <= 6; i++)
		OK(kit_put("s/r/f/q", i, "v"));
	OK(move_cell("s/r/f/q", "o/r/h/q", 0));
	SAYS("6=v 5=v 4=v 3=v 2=v 1=v", kit_history("o/r/h/q"));
	ck_assert_ptr_nonnull(strstr(kit_schema("o"), "family h versions=7"));
	ck_assert_ptr_nonnull(strstr(kit_schema("o"), "blocksize=4096"));
}
END_TEST

START_TEST(onto_a_cell_the_target_gains_one_version)
{
	three_versions("t/r/f/q");
	OK(kit_put("t/r/f/p", 9, "nine"));
	OK(move_cell("t/r/f/q", "t/r/f/p", 0));
	char expected[60];
	snprintf(expected, sizeof(expected), "%d=seven 9=nine", KIT_NOW);
	SAYS(expected, kit_history("t/r/f/p"));
	ck_assert_int_eq(stored, KIT_NOW);
	SAYS("", kit_history("t/r/f/q"));
}
END_TEST

START_TEST(the_new_version_is_newer_than_one_from_the_future)
{
	OK(kit_put("t/r/f/q", 5, "v"));
	OK(kit_put("t/r/f/p", KIT_NOW + 100, "w"));
	OK(move_cell("t/r/f/q", "t/r/f/p", 0));
	ck_assert_int_eq(stored, KIT_NOW + 101);
	SAYS("v", kit_get("t/r/f/p"));
}
END_TEST

START_TEST(mode_owner_and_mtime_move_along)
{
	static const char *const names[] = {
	    "t/r/f/free", "t/r/f/taken", "o/r/f/free"};

	OK(kit_put("t/r/f/taken", 5, "w"));
	for (int i = 0; i < 3; i++) {
		const struct place from = kit_place(LEVEL_COLUMN, "t/r/f/q");
		OK(kit_put("t/r/f/q", TS_LATEST, "v"));
		set_attrs(from, 0600, 1234);
		OK(move_cell("t/r/f/q", names[i], 0));
		struct attrs attrs =
		    attrs_of(kit_place(LEVEL_COLUMN, names[i]));
		ck_assert_uint_eq(attrs.mode, 0600);
		ck_assert_uint_eq(attrs.uid, 7);
		ck_assert_int_eq(attrs.mtime.tv_sec, 1234);
	}
}
END_TEST

START_TEST(an_mtime_nobody_set_stays_that_of_the_source)
{
	OK(kit_put("t/r/f/q", 5000, "v"));
	OK(kit_put("t/r/f/p", 6000, "w"));
	OK(move_cell("t/r/f/q", "t/r/f/p", 0));
	ck_assert_int_eq(
	    attrs_of(kit_place(LEVEL_COLUMN, "t/r/f/p")).mtime.tv_sec, 5);
}
END_TEST

START_TEST(what_must_not_be_replaced_is_refused)
{
	OK(kit_put("t/r/f/q", 5, "v"));
	OK(kit_put("t/r/f/p", 6, "w"));
	REFUSED(EEXIST, move_cell("t/r/f/q", "t/r/f/p", MOVE_NOREPLACE));
	SAYS("5=v", kit_history("t/r/f/q"));
	SAYS("6=w", kit_history("t/r/f/p"));
	OK(move_cell("t/r/f/q", "t/r/f/new", MOVE_NOREPLACE));
}
END_TEST

START_TEST(what_is_not_there_cannot_be_renamed)
{
	REFUSED(ENOENT, move_cell("t/r/f/q", "t/r/f/p", 0));
	REFUSED(ENOENT, move_cell("t/r/x/q", "t/r/f/p", 0));
	REFUSED(ENOENT, move_cell("x/r/f/q", "t/r/f/p", 0));
	OK(kit_put_ttl("t/r/f/q", KIT_NOW, "v", 1000));
	clock_set(&kit_clock, KIT_NOW + 2000);
	REFUSED(ENOENT, move_cell("t/r/f/q", "t/r/f/p", 0));
}
END_TEST

START_TEST(a_sealed_table_takes_no_cell_of_a_strange_family)
{
	OK(kit_put("t/r/f/q", 5, "v"));
	REFUSED(EPERM, move_cell("t/r/f/q", "t/r/x/q", 0));
	SAYS("v", kit_get("t/r/f/q"));
}
END_TEST

START_TEST(onto_itself_nothing_happens)
{
	three_versions("t/r/f/q");
	OK(move_cell("t/r/f/q", "t/r/f/q", 0));
	SAYS("7=seven 6=six 5=five", kit_history("t/r/f/q"));
	ck_assert_int_eq(stored, 7);
	REFUSED(ENOENT, move_cell("t/r/f/x", "t/r/f/x", 0));
}
END_TEST

START_TEST(the_source_family_is_kept_when_that_was_its_last_cell)
{
	struct info info;

	OK(kit_put("t/r/f/q", 5, "v"));
	OK(move_cell("t/r/f/q", "t/s/f/q", MOVE_KEEP));
	OK(kit_stat(kit_place(LEVEL_FAMILY, "t/r/f"), &info));
	OK(move_cell("t/s/f/q", "t/r/f/q", 0));
	REFUSED(ENOENT, kit_stat(kit_place(LEVEL_ROW, "t/s"), &info));
	OK(kit_delete("t/r/f/q", 0));
	REFUSED(ENOENT, kit_stat(kit_place(LEVEL_FAMILY, "t/r/f"), &info));
}
END_TEST

START_TEST(a_taken_back_history_leaves_its_newest_value)
{
	three_versions("t/r/f/q~");
	OK(move_cell("t/r/f/q~", "t/r/f/q", MOVE_TAKE_BACK));
	SAYS("7=seven 6=six 5=five", kit_history("t/r/f/q"));
	SAYS("7=seven", kit_history("t/r/f/q~"));
	REFUSED(EEXIST, move_cell("t/r/f/q~", "t/r/f/q", MOVE_TAKE_BACK));
}
END_TEST

/* --- big values
 * ----------------------------------------------------------------------- */

#define BIG ((2 << 20) + 17)

static const struct {
	const char *from, *to;
	unsigned flags;
} big_moves[] = {
    {"t/r/f/q", "t/r/f/p", 0},
    {"t/r/f/q", "t/r/g/q", 0},
    {"t/r/f/q", "o/r/f/q", 0},
    {"t/r/f/q", "t/r/f/p", MOVE_TAKE_BACK},
    {"t/r/f/q", "t/r/g/p", MOVE_TAKE_BACK},
};

static size_t
all_chunks(void)
{
	size_t count = kit_records(kit_blobs_number("t", "f")) +
		       kit_records(kit_blobs_number("t", "g"));

	if (strstr(kit_schema("o"), "family f"))
		count += kit_records(kit_blobs_number("o", "f"));
	return count;
}

START_TEST(big_values_move_whole_and_leave_no_chunk_behind)
{
	bool twice = big_moves[_i].flags & MOVE_TAKE_BACK;

	OK(kit_put_big(big_moves[_i].from, BIG, 1));
	clock_set(&kit_clock, KIT_NOW + 1);
	OK(kit_put_big(big_moves[_i].from, BIG, 2));
	OK(move_cell(
	    big_moves[_i].from, big_moves[_i].to, big_moves[_i].flags));
	ck_assert(
	    kit_is_big(kit_place(LEVEL_COLUMN, big_moves[_i].to), BIG, 2));
	if (twice)
		ck_assert(kit_is_big(
		    kit_place(LEVEL_COLUMN, big_moves[_i].from), BIG, 2));
	else
		SAYS("-", kit_get(big_moves[_i].from));
	ck_assert_uint_eq(all_chunks(), twice ? 9 : 6);
	kit_reopen();
	ck_assert(
	    kit_is_big(kit_place(LEVEL_COLUMN, big_moves[_i].to), BIG, 2));
	ck_assert_uint_eq(all_chunks(), twice ? 9 : 6);
}
END_TEST

START_TEST(big_values_onto_a_cell_leave_no_chunk_behind)
{
	OK(kit_put_big("t/r/f/q", BIG, 1));
	clock_set(&kit_clock, KIT_NOW + 1);
	OK(kit_put_big("t/r/f/q", BIG, 2));
	OK(kit_put("t/r/f/p", 5, "v"));
	OK(kit_put("t/r/g/p", 5, "v"));
	OK(move_cell("t/r/f/q", "t/r/f/p", 0));
	ck_assert(kit_is_big(kit_place(LEVEL_COLUMN, "t/r/f/p"), BIG, 2));
	ck_assert_uint_eq(all_chunks(), 3);
	OK(move_cell("t/r/f/p", "t/r/g/p", 0));
	ck_assert(kit_is_big(kit_place(LEVEL_COLUMN, "t/r/g/p"), BIG, 2));
	ck_assert_uint_eq(all_chunks(), 3);
	OK(kit_delete("t/r/g/p", 0));
	ck_assert_uint_eq(all_chunks(), 0);
}
END_TEST

START_TEST(a_value_too_big_for_the_target_is_refused)
{
	OK(kit_alter("t", "family f\nfamily g max_cell_size=1000\n", false));
	OK(kit_put_big("t/r/f/q", 2000, 1));
	REFUSED(EFBIG, move_cell("t/r/f/q", "t/r/g/q", 0));
	OK(kit_put_big("t/r/f/big", BIG, 1));
	REFUSED(EFBIG, move_cell("t/r/f/big", "t/r/g/q", 0));
	REFUSED(EFBIG, move_dir(LEVEL_FAMILY, "t/r/f", "t/s/g", 0));
	ck_assert(kit_is_big(kit_place(LEVEL_COLUMN, "t/r/f/q"), 2000, 1));
	ck_assert_uint_eq(all_chunks(), 3);
}
END_TEST

/* --- versions
 * ------------------------------------------------------------------------ */

START_TEST(a_version_moves_alone_to_exactly_its_new_timestamp)
{
	three_versions("t/r/f/q");
	OK(move_versions("t/r/f/q", at(6), "t/r/f/p", at(60), 0));
	SAYS("7=seven 5=five", kit_history("t/r/f/q"));
	SAYS("60=six", kit_history("t/r/f/p"));
	ck_assert_int_eq(stored, 60);
	OK(move_versions("t/r/f/q", at(5), "t/r/f/q", at(70), 0));
	SAYS("70=five 7=seven", kit_history("t/r/f/q"));
	OK(move_versions("t/r/f/q", at(70), "t/r/f/q", at(7), 0));
	SAYS("7=five", kit_history("t/r/f/q"));
	REFUSED(ENOENT, move_versions("t/r/f/q", at(9), "t/r/f/p", at(60), 0));
	OK(kit_put("t/r/f/q", 8, "v"));
	REFUSED(EEXIST,
	    move_versions("t/r/f/q", at(8), "t/r/f/p", at(60), MOVE_NOREPLACE));
	OK(move_versions("t/r/f/q", at(8), "t/r/f/p", at(61), MOVE_NOREPLACE));
}
END_TEST

START_TEST(a_version_onto_a_plain_name_becomes_its_newest)
{
	three_versions("t/r/f/q");
	OK(move_versions("t/r/f/q", at(5), "t/r/f/q", newest, 0));
	SAYS("five", kit_get("t/r/f/q"));
	ck_assert_int_eq(stored, KIT_NOW);
	OK(move_versions("t/r/f/q", at(6), "t/r/f/new", newest, 0));
	SAYS("six", kit_get("t/r/f/new"));
}
END_TEST

START_TEST(a_cell_onto_a_version_name_stands_there)
{
	three_versions("t/r/f/q");
	OK(move_versions("t/r/f/q", newest, "t/r/f/p", at(3), 0));
	SAYS("3=seven", kit_history("t/r/f/p"));
	SAYS("", kit_history("t/r/f/q"));
	three_versions("t/r/f/q");
	OK(move_versions("t/r/f/q", newest, "t/r/f/q", at(3), 0));
	SAYS("6=six 5=five 3=seven", kit_history("t/r/f/q"));
}
END_TEST

START_TEST(a_version_that_would_be_pushed_out_is_refused)
{
	OK(kit_put("t/r/g/q", 5, "v"));
	OK(kit_put("t/r/g/q", 6, "w"));
	OK(kit_put("t/r/f/q", 5, "x"));
	REFUSED(EDQUOT, move_versions("t/r/f/q", at(5), "t/r/g/q", at(4), 0));
	SAYS("6=w 5=v", kit_history("t/r/g/q"));
	SAYS("5=x", kit_history("t/r/f/q"));
}
END_TEST

/* --- dot files
 * ------------------------------------------------------------------------ */

START_TEST(a_dot_file_onto_a_name_makes_one_version)
{
	struct place dot = kit_dot("t/r/f", "", ".q.AbCdEf");

	OK(kit_put("t/r/f/q", 5, "old"));
	OK(kit_dot_put(dot, "new"));
	set_attrs(dot, 0640, 77);
	OK(move_places(dot, kit_place(LEVEL_COLUMN, "t/r/f/q"), MOVE_KEEP));
	SAYS("new", kit_get("t/r/f/q"));
	ck_assert_int_eq(stored, KIT_NOW);
	SAYS("-", kit_dot_get(dot));
	SAYS("q", kit_list(LEVEL_FAMILY, "t/r/f"));
	struct attrs attrs = attrs_of(kit_place(LEVEL_COLUMN, "t/r/f/q"));
	ck_assert_uint_eq(attrs.mode, 0640);
	ck_assert_int_eq(attrs.mtime.tv_sec, 77);
	char expected[60];
	snprintf(expected, sizeof(expected), "%d=new 5=old", KIT_NOW);
	SAYS(expected, kit_history("t/r/f/q"));
}
END_TEST

START_TEST(a_dot_file_onto_a_version_name_makes_that_version)
{
	struct place dot = kit_dot("t/r/f", "", ".q@5.AbCdEf"),
		     cell = kit_place(LEVEL_COLUMN, "t/r/f/q");

	OK(kit_dot_put(dot, "v"));
	OK(kit_move(&(struct move_spec){.from = &dot,
			.to = &cell,
			.to_version = at(5),
			.flags = MOVE_KEEP},
	    &stored));
	SAYS("5=v", kit_history("t/r/f/q"));
}
END_TEST

START_TEST(a_big_dot_file_becomes_a_cell_and_a_cell_a_dot_file)
{
	struct place dot = kit_dot("t/r/f", "", ".q"),
		     cell = kit_place(LEVEL_COLUMN, "t/r/f/q"),
		     far = kit_dot("t/s/g", "", ".q"),
		     schema = kit_dot("", "", ".q");

	OK(kit_put_big("t/r/f/q", BIG, 4));
	OK(move_places(cell, dot, 0));
	SAYS("", kit_history("t/r/f/q"));
	ck_assert(kit_is_big(dot, BIG, 4));
	ck_assert_uint_eq(all_chunks(), 3);
	OK(move_places(dot, far, 0));
	ck_assert(kit_is_big(far, BIG, 4));
	OK(move_places(far, schema, 0));
	ck_assert(kit_is_big(schema, BIG, 4));
	ck_assert_uint_eq(all_chunks(), 0);
	ck_assert_uint_eq(kit_records(ROOT_BLOBS), 3);
	OK(move_places(schema, cell, 0));
	ck_assert(kit_is_big(cell, BIG, 4));
	ck_assert_uint_eq(kit_records(ROOT_BLOBS), 0);
	ck_assert_uint_eq(all_chunks(), 3);
}
END_TEST

START_TEST(a_cell_with_a_history_does_not_become_a_dot_file)
{
	struct place dot = kit_dot("t/r/f", "", ".q");

	three_versions("t/r/f/q");
	REFUSED(EPERM, move_places(kit_place(LEVEL_COLUMN, "t/r/f/q"), dot, 0));
	SAYS("7=seven 6=six 5=five", kit_history("t/r/f/q"));
	OK(kit_put("t/r/f/p", 5, "v"));
	OK(move_places(kit_place(LEVEL_COLUMN, "t/r/f/p"), dot, 0));
	SAYS("v", kit_dot_get(dot));
	ck_assert_int_eq(attrs_of(dot).mtime.tv_sec, 0);
	ck_assert_int_eq(attrs_of(dot).mtime.tv_nsec, 5000000);
}
END_TEST

START_TEST(a_dot_file_replaces_another)
{
	struct place a = kit_dot("t/r/f", "", ".a"),
		     b = kit_dot("t/r/f", "", ".b"),
		     in = kit_dot("t/r/f", ".none", ".b");

	OK(kit_dot_put(a, "1"));
	OK(kit_dot_put(b, "2"));
	REFUSED(EEXIST, move_places(a, b, MOVE_NOREPLACE));
	OK(move_places(a, b, 0));
	SAYS("1", kit_dot_get(b));
	SAYS(".b", kit_list(LEVEL_FAMILY, "t/r/f"));
	REFUSED(ENOENT, move_places(b, in, 0));
	REFUSED(ENOENT, move_places(a, b, 0));
}
END_TEST

/* --- exchanging
 * ------------------------------------------------------------------------- */

static const char *const pairs[] = {"t/r/f/p", "t/s/f/q", "t/r/g/p"};

START_TEST(two_cells_change_their_histories)
{
	OK(kit_put("t/r/f/q", 5, "five"));
	OK(kit_put("t/r/f/q", 6, "six"));
	OK(kit_put_big(pairs[_i], BIG, 3));
	OK(move_cell("t/r/f/q", pairs[_i], MOVE_EXCHANGE));
	SAYS("6=six 5=five", kit_history(pairs[_i]));
	ck_assert(kit_is_big(kit_place(LEVEL_COLUMN, "t/r/f/q"), BIG, 3));
	ck_assert_uint_eq(all_chunks(), 3);
	ck_assert_uint_eq(kit_records(kit_cells_number("t", "f")) +
			      kit_records(kit_cells_number("t", "g")),
	    3);
}
END_TEST

START_TEST(an_exchange_that_fails_leaves_both_as_they_were)
{
	int r = -1;

	for (unsigned count = 1; r; count++) {
		kit_teardown();
		setup();
		OK(kit_put("t/r/f/q", 5, "five"));
		OK(kit_put_big("t/r/g/p", BIG, 3));
		ordered_mem_fail(kit_store, EIO, count, true);
		r = move_cell("t/r/f/q", "t/r/g/p", MOVE_EXCHANGE);
		ordered_mem_fail(kit_store, 0, 0, false);
		kit_reopen();
		SAYS("5=five", kit_history(r ? "t/r/f/q" : "t/r/g/p"));
		ck_assert(kit_is_big(
		    kit_place(LEVEL_COLUMN, r ? "t/r/g/p" : "t/r/f/q"), BIG,
		    3));
		ck_assert_uint_eq(all_chunks(), 3);
	}
}
END_TEST

START_TEST(what_cannot_be_exchanged_is_refused)
{
	const struct place q = kit_place(LEVEL_COLUMN, "t/r/f/q"),
			   dot = kit_dot("t/r/f", "", ".x");

	OK(kit_put("t/r/f/q", 5, "five"));
	OK(kit_put("o/r/f/q", 5, "far"));
	OK(kit_dot_put(dot, "dot"));
	REFUSED(ENOENT, move_cell("t/r/f/q", "t/r/f/p", MOVE_EXCHANGE));
	REFUSED(ENOENT, move_cell("t/r/f/p", "t/r/f/q", MOVE_EXCHANGE));
	REFUSED(EINVAL, move_cell("t/r/f/q", "o/r/f/q", MOVE_EXCHANGE));
	REFUSED(EINVAL, move_places(q, dot, MOVE_EXCHANGE));
	REFUSED(EINVAL, move_dir(LEVEL_ROW, "t/r", "t/s", MOVE_EXCHANGE));
	SAYS("5=five", kit_history("t/r/f/q"));
}
END_TEST

/* --- the suite
 * ------------------------------------------------------------------------- */

int
main(void)
{
	Suite *s = suite_create("move");

	TCase *c = kit_topic(s, "cells", setup, kit_teardown);
	tcase_add_loop_test(
	    c, to_a_free_name_the_whole_history_moves, 0, COUNT(targets));
	tcase_add_loop_test(
	    c, a_history_the_target_family_would_cut_is_refused, 0, 5);
	tcase_add_test(c, what_one_cell_has_does_not_count_for_another);
	tcase_add_test(c, directories_are_refused_likewise);
	tcase_add_test(
	    c, a_family_declared_by_a_move_has_the_rules_of_the_source);
	tcase_add_test(c, onto_a_cell_the_target_gains_one_version);
	tcase_add_test(c, the_new_version_is_newer_than_one_from_the_future);
	tcase_add_test(c, mode_owner_and_mtime_move_along);
	tcase_add_test(c, an_mtime_nobody_set_stays_that_of_the_source);
	tcase_add_test(c, what_must_not_be_replaced_is_refused);
	tcase_add_test(c, what_is_not_there_cannot_be_renamed);
	tcase_add_test(c, a_sealed_table_takes_no_cell_of_a_strange_family);
	tcase_add_test(c, onto_itself_nothing_happens);
	tcase_add_test(
	    c, the_source_family_is_kept_when_that_was_its_last_cell);
	tcase_add_test(c, a_taken_back_history_leaves_its_newest_value);

	c = kit_topic(s, "big values", setup, kit_teardown);
	tcase_add_loop_test(c, big_values_move_whole_and_leave_no_chunk_behind,
	    0, COUNT(big_moves));
	tcase_add_test(c, big_values_onto_a_cell_leave_no_chunk_behind);
	tcase_add_test(c, a_value_too_big_for_the_target_is_refused);

	c = kit_topic(s, "versions", setup, kit_teardown);
	tcase_add_test(c, a_version_moves_alone_to_exactly_its_new_timestamp);
	tcase_add_test(c, a_version_onto_a_plain_name_becomes_its_newest);
	tcase_add_test(c, a_cell_onto_a_version_name_stands_there);
	tcase_add_test(c, a_version_that_would_be_pushed_out_is_refused);

	c = kit_topic(s, "dot files", setup, kit_teardown);
	tcase_add_test(c, a_dot_file_onto_a_name_makes_one_version);
	tcase_add_test(c, a_dot_file_onto_a_version_name_makes_that_version);
	tcase_add_test(c, a_big_dot_file_becomes_a_cell_and_a_cell_a_dot_file);
	tcase_add_test(c, a_cell_with_a_history_does_not_become_a_dot_file);
	tcase_add_test(c, a_dot_file_replaces_another);

	c = kit_topic(s, "exchanging", setup, kit_teardown);
	tcase_add_loop_test(
	    c, two_cells_change_their_histories, 0, COUNT(pairs));
	tcase_add_test(c, an_exchange_that_fails_leaves_both_as_they_were);
	tcase_add_test(c, what_cannot_be_exchanged_is_refused);

	return suite_run(s);
}
