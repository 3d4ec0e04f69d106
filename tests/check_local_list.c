/* Listing directories in sizes beyond one snapshot, and what is there. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/schema.h"
#include "kv/why.h"
#include "local_kit.h"
#include "suite.h"

#define MANY 3000 /* more than READ_CELLS */

static const struct engine_methods *
methods(void)
{
	return kit_engine->methods;
}

/* --- listing ------------------------------------------------------------ */

struct names {
	int next, step, count;
	const char *skip;
	int (*meanwhile)(int count);
};

static int
check_name(void *context, const struct entry *entry, struct buf *skip)
{
	struct names *names = context;
	char want[16];

	snprintf(want, sizeof(want), "n%06d", names->next);
	ck_assert_msg(slice_equal(entry->name, slice_text(want)),
	    "%.*s listed, should be %s", (int)entry->name.size,
	    (const char *)entry->name.data, want);
	names->next += names->step;
	names->count++;
	if (names->meanwhile)
		ck_assert_int_eq(names->meanwhile(names->count), 0);
	if (!names->skip)
		return LIST_MORE;
	buf_append(skip, slice_head(entry->name, strlen(names->skip)));
	return LIST_SKIP;
}

static void
list_all(const struct place *dir, struct names *names)
{
	int r = methods()->list(kit_engine, dir, NULL, check_name, names);

	ck_assert_msg(r == 0, "list: %s", why_text(r));
}

START_TEST(many_rows_are_listed_once_and_in_order)
{
	struct place dir = kit_table();
	struct names all = {.step = 1};

	kit_put_rows(MANY);
	list_all(&dir, &all);
	ck_assert_int_eq(all.count, MANY);
}
END_TEST

START_TEST(many_columns_are_listed_once_and_in_order)
{
	struct place dir = kit_family("r");
	struct names all = {.step = 1};

	kit_put_columns("r", MANY);
	kit_put("r2", "q", "x");
	list_all(&dir, &all);
	ck_assert_int_eq(all.count, MANY);
}
END_TEST

/* Has the families stored anew, in the middle of a batch each time. */
static int
store_anew(int count)
{
	struct schema schema;

	if (count % 700 != 1)
		return 0;
	int r = methods()->table_schema(kit_engine, slice_text("t"), &schema);
	for (size_t i = 0; r == 0 && i < schema.count; i++)
		schema.families[i].compression = schema.families[i].compression
						     ? COMPRESSION_NONE
						     : COMPRESSION_GZ;
	if (r == 0)
		r = methods()->table_alter(kit_engine, &schema, false);
	schema_release(&schema);
	return r;
}

START_TEST(a_listing_goes_on_where_its_table_is_now)
{
	struct place dir = _i ? kit_table() : kit_family("r");
	struct names all = {.step = 1, .meanwhile = store_anew};

	if (_i)
		kit_put_rows(MANY);
	else
		kit_put_columns("r", MANY);
	list_all(&dir, &all);
	ck_assert_int_eq(all.count, MANY);
}
END_TEST

static const struct {
	const char *prefix; /* only its length counts */
	int step;
} skips[] = {{"nXXXXX", 10}, {"nXXXX", 100}, {"nXXX", 1000}, {"n", MANY}};

START_TEST(a_skipped_prefix_is_not_listed)
{
	struct place dir = _i % 2 ? kit_table() : kit_family("r");
	struct names some = {
	    .step = skips[_i / 2].step, .skip = skips[_i / 2].prefix};

	if (_i % 2)
		kit_put_rows(MANY);
	else
		kit_put_columns("r", MANY);
	list_all(&dir, &some);
	ck_assert_int_eq(some.count, MANY / some.step);
}
END_TEST

START_TEST(a_listing_goes_on_behind_a_name)
{
	struct place dir = _i ? kit_table() : kit_family("r");
	struct entry after = {.level = _i ? LEVEL_ROW : LEVEL_COLUMN,
	    .name = slice_text("n001233")};
	struct names rest = {.next = 1234, .step = 1};

	if (_i)
		kit_put_rows(MANY);
	else
		kit_put_columns("r", MANY);
	ck_assert_int_eq(
	    methods()->list(kit_engine, &dir, &after, check_name, &rest), 0);
	ck_assert_int_eq(rest.count, MANY - 1234);
}
END_TEST

/* Removes each name once it was listed. */
static int
remove_listed(int count)
{
	char name[16];

	snprintf(name, sizeof(name), "n%06d", count - 1);
	kit_delete_column("r", name, MUTATE_KEEP);
	return 0;
}

START_TEST(names_can_be_removed_while_they_are_listed)
{
	struct place dir = kit_family("r");
	struct names all = {.step = 1, .meanwhile = remove_listed};

	kit_put_columns("r", MANY);
	list_all(&dir, &all);
	ck_assert_int_eq(all.count, MANY);
	ck_assert_str_eq(kit_list(&dir), "");
}
END_TEST

START_TEST(rows_are_merged_over_families)
{
	struct place dir = kit_table();
	struct place row = {.level = LEVEL_ROW,
	    .table = slice_text("t"),
	    .row = slice_text("r")};

	kit_do("p5 g/p5");
	kit_put("b", "q", "x");
	kit_put("z", "q", "x");
	ck_assert_str_eq(kit_list(&dir), "r:b r:r r:z");
	ck_assert_str_eq(kit_list(&row), "f:f f:g");
	kit_do("dc");
	ck_assert_str_eq(kit_list(&row), "f:g");
	kit_do("g/dc");
	ck_assert_str_eq(kit_list(&dir), "r:b r:z");
}
END_TEST

START_TEST(what_has_expired_is_not_listed)
{
	struct place dir = kit_table(), columns = kit_family("r");

	kit_do("a:p900=x~50 b:p900=x~500 b:p800");
	kit_put("s", "q", "x");
	ck_assert_str_eq(kit_list(&columns), "q:b");
	kit_do("b:dv800 clock=2000");
	ck_assert_str_eq(kit_list(&columns), "");
	ck_assert_str_eq(kit_list(&dir), "r:s");
}
END_TEST

START_TEST(the_empty_qualifier_is_listed_first)
{
	struct place dir = kit_family("r");

	kit_do(":p1 a:p1");
	ck_assert_str_eq(kit_list(&dir), "q: q:a");
}
END_TEST

static void
make_part(enum level level, const char *prefix)
{
	struct place place =
	    level == LEVEL_ROW_PART ? kit_table() : kit_family("r");
	struct attrs attrs = {
	    .set = ATTR_MODE | ATTR_UID | ATTR_GID, .mode = 0700};

	place.level = level;
	if (level == LEVEL_ROW_PART)
		place.row = slice_text(prefix);
	else
		place.qualifier = slice_text(prefix);
	int r = methods()->dir_make(kit_engine, &place, &attrs);
	ck_assert_msg(r == 0, "dir_make: %s", why_text(r));
}

START_TEST(kept_parts_stand_among_rows_and_columns)
{
	struct place rows = kit_table(), columns = kit_family("r");
	struct place part = {.level = LEVEL_ROW_PART,
	    .table = slice_text("t"),
	    .row = slice_text("s")};

	kit_do("b:p1 d:p1");
	kit_put("s", "q", "x");
	kit_put("s1", "q", "x");
	make_part(LEVEL_ROW_PART, "s");
	make_part(LEVEL_ROW_PART, "a");
	make_part(LEVEL_ROW_PART, "sz");
	make_part(LEVEL_COLUMN_PART, "c");
	make_part(LEVEL_COLUMN_PART, "d");
	ck_assert_str_eq(kit_list(&rows), "P:a r:r r:s P:s r:s1 P:sz");
	ck_assert_str_eq(kit_list(&part), "r:s1 P:sz");
	ck_assert_str_eq(kit_list(&columns), "q:b Q:c q:d Q:d");
}
END_TEST

START_TEST(a_listing_goes_on_between_a_row_and_its_part)
{
	struct place dir = kit_table();
	struct entry row = {.level = LEVEL_ROW, .name = slice_text("n000000")};
	struct entry part = {
	    .level = LEVEL_ROW_PART, .name = slice_text("n000000")};
	struct names both = {.step = 1}, one = {.next = 1, .step = 1};

	kit_put("n000000", "q", "x");
	kit_put("n000001", "q", "x");
	make_part(LEVEL_ROW_PART, "n000000");
	ck_assert_int_eq(
	    methods()->list(kit_engine, &dir, &row, check_name, &both), 0);
	ck_assert_int_eq(both.count, 2);
	ck_assert_int_eq(
	    methods()->list(kit_engine, &dir, &part, check_name, &one), 0);
	ck_assert_int_eq(one.count, 1);
}
END_TEST

START_TEST(tables_and_schema_files_are_listed)
{
	struct place root = {.level = LEVEL_ROOT};
	struct place schema = {.level = LEVEL_SCHEMA};

	ck_assert_str_eq(kit_list(&root), "t:t");
	ck_assert_str_eq(kit_list(&schema), "s:t");
}
END_TEST

START_TEST(a_cell_at_the_beginning_of_time_counts)
{
	struct place dir = kit_table();

	kit_put("r", "q", "x");
	kit_delete_column("r", "q", MUTATE_KEEP);
	kit_do("p0=a");
	kit_do("dc");
	ck_assert_str_eq(kit_list(&dir), "");
}
END_TEST

/* --- existence ---------------------------------------------------------- */

static bool
family_there(void)
{
	struct place place = kit_family("r");
	struct info info;
	int r = methods()->stat(kit_engine, &place, (struct version){0}, &info);

	ck_assert(r == 0 || r == -ENOENT);
	return r == 0;
}

/* However the names go, the family is there while one is left. */
START_TEST(a_family_is_there_until_its_last_cell_goes)
{
	char name[16];
	int count = 200;

	kit_put_columns("r", count);
	for (int i = 0; i < count; i++) {
		int which[] = {i, count - 1 - i, i * 77 % count};
		ck_assert(family_there());
		snprintf(name, sizeof(name), "n%06d", which[_i]);
		kit_delete_column("r", name, 0);
	}
	ck_assert(!family_there());
}
END_TEST

START_TEST(a_family_that_lost_its_last_cell_through_the_mount_is_kept)
{
	struct place dir = kit_table();

	kit_put("r", "q", "x");
	kit_delete_column("r", "q", MUTATE_KEEP);
	ck_assert(family_there());
	ck_assert_str_eq(kit_list(&dir), "r:r");
	kit_put("r", "q", "x");
	kit_delete_column("r", "q", 0);
	ck_assert(!family_there());
	ck_assert_str_eq(kit_list(&dir), "");
}
END_TEST

static void
add(TCase *c, const TTest *test, int times)
{
	tcase_add_loop_test(c, test, 0, times);
}

int
main(void)
{
	Suite *suite = suite_create("local_list");
	TCase *lists = tcase_create("lists");

	add(lists, many_rows_are_listed_once_and_in_order, 1);
	add(lists, many_columns_are_listed_once_and_in_order, 1);
	add(lists, a_listing_goes_on_where_its_table_is_now, 2);
	add(lists, a_skipped_prefix_is_not_listed, 8);
	add(lists, a_listing_goes_on_behind_a_name, 2);
	add(lists, names_can_be_removed_while_they_are_listed, 1);
	add(lists, rows_are_merged_over_families, 1);
	add(lists, what_has_expired_is_not_listed, 1);
	add(lists, the_empty_qualifier_is_listed_first, 1);
	add(lists, kept_parts_stand_among_rows_and_columns, 1);
	add(lists, a_listing_goes_on_between_a_row_and_its_part, 1);
	add(lists, tables_and_schema_files_are_listed, 1);
	add(lists, a_cell_at_the_beginning_of_time_counts, 1);
	add(lists, a_family_is_there_until_its_last_cell_goes, 3);
	add(lists, a_family_that_lost_its_last_cell_through_the_mount_is_kept,
	    1);
	tcase_set_timeout(lists, 60);
	tcase_add_checked_fixture(lists, kit_open, kit_close);
	suite_add_tcase(suite, lists);

	return suite_run(suite);
}
