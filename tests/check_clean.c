/* The clean-up, compacting, and the check of a store. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kv/key.h"
#include "kv/local.h"
#include "kv/local_clean.h"
#include "kv/local_keys.h"
#include "kv/local_txn.h"
#include "table_kit.h"

static const struct version newest = {.which = VERSION_NEWEST};

static void
sealed(void)
{
	kit_setup();
	OK(kit_create("t", "family f\nfamily g\n"));
}

/* --- clean-up
 * ---------------------------------------------------------------------------------
 */

START_TEST(clean_up_removes_what_has_expired_and_no_read_notices)
{
	const struct attrs mode = {.set = ATTR_MODE, .mode = 0700};
	const struct place row = kit_place(LEVEL_ROW, "e/old");
	char path[40];

	OK(kit_create("e", "family f ttl=10\n"));
	for (int i = 0; i < 2500; i++) {
		snprintf(path, sizeof(path), "e/old/f/%d", i);
		OK(kit_put(path, KIT_NOW - 9000, "v"));
	}
	OK(kit_put("e/new/f/q", KIT_NOW - 9000, "v"));
	OK(kit_put("e/new/f/q", KIT_NOW, "w"));
	OK(kit->methods->set_attrs(kit, &row, newest, &mode));
	clock_set(&kit_clock, KIT_NOW + 2000);
	ck_assert_uint_eq(kit_records(kit_cells_number("e", "f")), 2502);
	SAYS("new", kit_list(LEVEL_TABLE, "e"));
	OK(clean_all(kit_local()));
	ck_assert_uint_eq(kit_records(kit_cells_number("e", "f")), 1);
	ck_assert_uint_eq(kit_records(kit_side_number("e")), 0);
	SAYS("new", kit_list(LEVEL_TABLE, "e"));
	char expected[40];
	snprintf(expected, sizeof(expected), "%d=w", KIT_NOW);
	SAYS(expected, kit_history("e/new/f/q"));
}
END_TEST

static void
take_commits(void *context, const char *name, uint64_t value)
{
	if (strcmp(name, "commits") == 0)
		*(uint64_t *)context = value;
}

static uint64_t
commits(void)
{
	uint64_t count = 0;

	kit->methods->stats(kit, take_commits, &count);
	return count;
}

#define DEEP 25000 /* versions, more than two transactions take */

START_TEST(a_deep_column_is_cleaned_in_small_transactions)
{
	const char *path = _i ? "d/r/f/counted" : "d/r/f/listed";

	OK(kit_create("d", "family f versions=100000 ttl=100\n"));
	for (int i = 0; i < DEEP; i++)
		OK(kit_put(path, KIT_NOW - 50000 + i, "v"));
	if (!_i)
		kit_reopen();
	clock_set(&kit_clock, KIT_NOW + 100000);
	uint64_t before = commits();
	OK(clean_all(kit_local()));
	ck_assert_uint_eq(kit_records(kit_cells_number("d", "f")), 0);
	ck_assert_uint_ge(commits() - before, 3);
	OK(kit_put(path, KIT_NOW + 100000, "w"));
	SAYS("w", kit_get(path));
}
END_TEST

START_TEST(compact_removes_cells_with_a_ttl_of_their_own)
{
	OK(kit_put_ttl("t/r/f/q", KIT_NOW, "v", 1000));
	OK(kit_put("t/r/f/p", KIT_NOW, "v"));
	clock_set(&kit_clock, KIT_NOW + 2000);
	OK(kit->methods->compact(kit, slice_text("t"), slice_text("g")));
	ck_assert_uint_eq(kit_records(kit_cells_number("t", "f")), 2);
	OK(kit->methods->compact(kit, slice_text("t"), slice_text("f")));
	ck_assert_uint_eq(kit_records(kit_cells_number("t", "f")), 1);
	OK(kit->methods->compact(kit, slice_text(""), slice_text("")));
	REFUSED(ENOENT,
	    kit->methods->compact(kit, slice_text("t"), slice_text("x")));
	REFUSED(ENOENT,
	    kit->methods->compact(kit, slice_text("x"), slice_text("")));
}
END_TEST

START_TEST(clean_up_finds_cells_with_a_ttl_of_their_own_after_a_reopen)
{
	OK(kit_put_ttl("t/r/f/q", KIT_NOW, "v", 1000));
	OK(kit_put("t/r/f/p", KIT_NOW, "v"));
	kit_reopen();
	clock_set(&kit_clock, KIT_NOW + 2000);
	OK(clean_all(kit_local()));
	ck_assert_uint_eq(kit_records(kit_cells_number("t", "f")), 1);
}
END_TEST

START_TEST(expired_big_values_give_their_chunks_back)
{
	OK(kit_create("e", "family f ttl=10\n"));
	OK(kit_put_big("e/r/f/q", 3 << 20, 1));
	ck_assert_uint_eq(kit_records(kit_blobs_number("e", "f")), 3);
	clock_set(&kit_clock, KIT_NOW + 20000);
	OK(clean_all(kit_local()));
	ck_assert_uint_eq(kit_records(kit_blobs_number("e", "f")), 0);
}
END_TEST

START_TEST(an_interrupt_ends_the_clean_up)
{
	OK(kit_create("e", "family f ttl=10\n"));
	for (int i = 0; i < 3000; i++) {
		char path[40];
		snprintf(path, sizeof(path), "e/r/f/%d", i);
		OK(kit_put(path, KIT_NOW - 9000, "v"));
	}
	clock_set(&kit_clock, KIT_NOW + 2000);
	local_interrupt(kit);
	REFUSED(EINTR, clean_all(kit_local()));
	ck_assert_uint_gt(kit_records(kit_cells_number("e", "f")), 0);
}
END_TEST

/* --- checking
 * ---------------------------------------------------------------------------------
 */

static void
count_problem(void *context, const char *line)
{
	int *count = context;

	ck_assert_uint_gt(strlen(line), 10);
	++*count;
}

static int
check(bool repair, int *problems)
{
	*problems = 0;
	return kit->methods->check(kit, repair, count_problem, problems);
}

static void
spoil(uint32_t table, struct slice key, const char *value)
{
	struct txn t;

	OK(txn_write(kit_local(), ORDERED_WRITE, &t));
	int r = value ? txn_put(&t, table, key, slice_text(value))
		      : txn_remove(&t, table, key);
	OK(txn_end(&t, r));
}

START_TEST(a_sound_store_has_no_problems)
{
	int problems;

	const struct place dir = kit_dot("t/r/f", ".dir", "");
	const struct attrs attrs = {0};

	OK(kit->methods->dir_make(kit, &dir, &attrs));
	OK(kit_put("t/r/f/q", 5, "v"));
	OK(kit_put_big("t/r/f/big", 3 << 20, 1));
	OK(kit_dot_put_size(kit_dot("t/r/f", ".dir", ".big"), 2 << 20, 0));
	OK(kit_dot_put_size(kit_dot("", "", ".big"), 2 << 20, 0));
	OK(kit_mkdir(LEVEL_COLUMN_PART, "t/s/g/part"));
	OK(check(false, &problems));
	ck_assert_int_eq(problems, 0);
}
END_TEST

START_TEST(damage_is_reported_and_repaired)
{
	uint32_t cells = kit_cells_number("t", "f");
	struct buf key = {0};
	int problems;

	OK(kit_put("t/r/f/q", 5, "v"));
	OK(kit_put_big("t/r/f/big", 3 << 20, 1));
	OK(kit_mkdir(LEVEL_ROW, "t/s"));
	key_cell(&key, slice_text("r"), slice_text("bad"), 5);
	spoil(cells, buf_slice(&key), "\xff\xff");
	spoil(cells, slice_text("no key at all"), " v");
	spoil(kit_side_number("t"), slice_text("zebra"), "");
	spoil(ROOT_SIDE, slice_text("a"), "\xff");
	buf_clear(&key);
	buf_byte(&key, 'b');
	buf_be64(&key, 1);
	buf_be32(&key, 1);
	spoil(kit_blobs_number("t", "f"), buf_slice(&key), NULL);
	buf_release(&key);
	ck_assert_int_eq(check(false, &problems), 1);
	ck_assert_int_eq(problems, 5);
	ck_assert_int_eq(check(true, &problems), 1);
	ck_assert_int_eq(problems, 5);
	OK(check(true, &problems));
	ck_assert_uint_eq(kit_records(kit_blobs_number("t", "f")), 0);
	SAYS("v", kit_get("t/r/f/q"));
	SAYS("q", kit_list(LEVEL_FAMILY, "t/r/f"));
	SAYS("r s", kit_list(LEVEL_TABLE, "t"));
}
END_TEST

/* --- the suite -------------------------------------------------------- */

int
main(void)
{
	Suite *s = suite_create("clean");

	TCase *c = kit_topic(s, "clean-up", sealed, kit_teardown);
	tcase_add_test(
	    c, clean_up_removes_what_has_expired_and_no_read_notices);
	tcase_add_loop_test(
	    c, a_deep_column_is_cleaned_in_small_transactions, 0, 2);
	tcase_add_test(c, compact_removes_cells_with_a_ttl_of_their_own);
	tcase_add_test(
	    c, clean_up_finds_cells_with_a_ttl_of_their_own_after_a_reopen);
	tcase_add_test(c, expired_big_values_give_their_chunks_back);
	tcase_add_test(c, an_interrupt_ends_the_clean_up);

	c = kit_topic(s, "check", sealed, kit_teardown);
	tcase_add_test(c, a_sound_store_has_no_problems);
	tcase_add_test(c, damage_is_reported_and_repaired);

	return suite_run(s);
}
