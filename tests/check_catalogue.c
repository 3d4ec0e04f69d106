/* The catalogue under damage, repair, and failures at every step of what
 * changes tables. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kv/local.h"
#include "kv/local_keys.h"
#include "kv/local_methods.h"
#include "kv/local_txn.h"
#include "kv/ordered.h"
#include "kv/why.h"
#include "table_kit.h"

static size_t
ordered_tables(void)
{
	struct buf numbers = {0};

	OK(kit_store->methods->tables(kit_store, &numbers));
	size_t count = numbers.size / sizeof(uint32_t);
	buf_release(&numbers);
	return count;
}

/* --- damage
 * ---------------------------------------------------------------------- */

static void
overwrite(const char *key, size_t size, const char *value)
{
	struct txn t;

	OK(txn_write(kit_local(), ORDERED_WRITE, &t));
	int r = value ? txn_put(&t, CATALOGUE, slice_of(key, size),
			    slice_text(value))
		      : txn_remove(&t, CATALOGUE, slice_of(key, size));
	OK(txn_end(&t, r));
}

static int
open_again(void)
{
	struct local_options options = {.clock = &kit_clock};

	kit->methods->close(kit);
	kit = NULL;
	kit_store = ordered_mem_reopen(kit_store);
	return local_open(kit_store, &options, &kit);
}

START_TEST(a_newer_format_is_refused_and_named)
{
	overwrite("v", 1, "2");
	REFUSED(EINVAL, open_again());
	ck_assert_ptr_nonnull(strstr(why_text(-EINVAL), "newer"));
}
END_TEST

static const struct {
	const char *key;
	size_t size;
	const char *value;
} damages[] = {
    {"v", 1, NULL},
    {"v", 1, "x"},
    {"n", 1, NULL},
    {"n", 1, "-1"},
    {"o", 1, NULL},
    {"o", 1, "created 5\n"},
    {"c", 1, "soon"},
    {"t\0\0\0\x10", 5, ""},
    {"t\0\0\0\x10", 5, "name t\nside 17\n"},
    {"t\0\0\0\x10", 5,
	"name t\nside 17\ncreated 1\nowner 755 0 0\n\ntable nonsense=1\n"},
    {"t\0\0\0\x10", 5,
	"name t\nside 17\ncreated 1\nowner 755 0 0\n\nfamily f\n"},
    {"t\0\0\0\x10", 5,
	"name t\nside 17\ncreated 1\nowner 755 0 0\nfamily 18 19 0 7 5\n"
	"\ntable open=0\nfamily f\n"},
    {"t\0\0\0\x10", 5,
	"name t\nside 999\ncreated 1\nowner 755 0 0\n\ntable open=1\n"},
    {"t\0\0\0\x99", 5,
	"name t\nside 17\ncreated 1\nowner 755 0 0\n\ntable open=1\n"},
    {"t\0", 2, "name x\n"},
};

START_TEST(a_damaged_catalogue_refuses_to_open_and_says_what_to_run)
{
	OK(kit_create("t", "family f\n"));
	overwrite(damages[_i].key, damages[_i].size, damages[_i].value);
	REFUSED(EIO, open_again());
	ck_assert_ptr_nonnull(strstr(why_text(-EIO), "cellfs check"));
}
END_TEST

static int
repair(void)
{
	struct local_options options = {.clock = &kit_clock, .repair = true};

	if (kit)
		kit->methods->close(kit);
	kit = NULL;
	kit_store = ordered_mem_reopen(kit_store);
	return local_open(kit_store, &options, &kit);
}

START_TEST(a_repair_opens_it_and_keeps_what_the_damaged_entry_owned)
{
	OK(kit_create("t", "family f\n"));
	OK(kit_create("u", "family f\n"));
	OK(kit_put("t/r/f/q", 5, "v"));
	OK(kit_put("u/r/f/q", 5, "w"));
	overwrite(damages[_i].key, damages[_i].size, damages[_i].value);
	OK(repair());
	SAYS("w", kit_get("u/r/f/q"));
	ck_assert_uint_ge(ordered_tables(), 4 + 3 + 3);
	kit_reopen();
	SAYS("w", kit_get("u/r/f/q"));
	ck_assert_uint_ge(ordered_tables(), 4 + 3 + 3);
	OK(kit_create("new", "family f\n"));
	OK(kit->methods->table_drop(kit, slice_text("new")));
	OK(kit_create("t2", "family f\n"));
	OK(kit_put("t2/r/f/q", 5, "x"));
	SAYS("w", kit_get("u/r/f/q"));
}
END_TEST

START_TEST(a_repair_without_a_catalogue_drops_nothing)
{
	OK(kit_create("t", "family f\n"));
	kit->methods->close(kit);
	kit = NULL;
	kit_store = ordered_mem_reopen(kit_store);
	OK(kit_store->methods->drop(kit_store, CATALOGUE));
	OK(repair());
	SAYS("", kit_tables());
	ck_assert_uint_eq(ordered_tables(), 4 + 3);
	OK(kit_create("t", "family f\n"));
	kit_reopen();
	SAYS("t", kit_tables());
	ck_assert_uint_eq(ordered_tables(), 4 + 6);
}
END_TEST

START_TEST(a_repair_does_not_touch_a_newer_format)
{
	overwrite("v", 1, "2");
	REFUSED(EINVAL, repair());
	REFUSED(EINVAL, repair());
}
END_TEST

START_TEST(data_without_a_catalogue_is_no_new_store)
{
	OK(kit_create("t", "family f\n"));
	kit->methods->close(kit);
	kit = NULL;
	kit_store = ordered_mem_reopen(kit_store);
	OK(kit_store->methods->drop(kit_store, CATALOGUE));
	struct local_options options = {.clock = &kit_clock};
	REFUSED(EIO, local_open(kit_store, &options, &kit));
}
END_TEST

/* --- failures at every step
 * -------------------------------------------------------- */

/* Each changes a store that has the table "t" with one cell, and returns what
 * the engine said. done: the names of the tables once it has succeeded. */
static int
try_create(void)
{
	return kit_create("u", "family f\nfamily g\n");
}

static int
try_drop(void)
{
	return kit->methods->table_drop(kit, slice_text("t"));
}

static int
try_truncate(void)
{
	return kit->methods->table_truncate(kit, slice_text("t"));
}

static int
try_rename(void)
{
	return kit->methods->table_rename(
	    kit, slice_text("t"), slice_text("u"));
}

static int
try_add(void)
{
	return kit_alter("t", "family f\nfamily g\n", false);
}

static int
try_storage(void)
{
	int r = kit_alter("t", "family f compression=none\n", false);

	return r ? r
		 : kit->methods->compact(kit, slice_text("t"), slice_text("f"));
}

static int
try_declare(void)
{
	return local_family_declare(kit, slice_text("o"), slice_text("g"));
}

static const struct {
	int (*change)(void);
	const char *tables_before, *tables_after;
	size_t ordered_before, ordered_after;
	const char *cell_after; /* t/r/f/q or u/r/f/q */
} changes[] = {
    {try_create, "o t", "o t u", 8, 13, "v"},
    {try_drop, "o t", "o", 8, 5, "-"},
    {try_truncate, "o t", "o t", 8, 8, "-"},
    {try_rename, "o t", "o u", 8, 8, "v"},
    {try_add, "o t", "o t", 8, 10, "v"},
    {try_storage, "o t", "o t", 8, 8, "v"},
    {try_declare, "o t", "o t", 8, 10, "v"},
};

static const char *
the_cell(void)
{
	return strstr(kit_tables(), "t") ? kit_get("t/r/f/q")
					 : kit_get("u/r/f/q");
}

/* One failing call, or all from it on (the process dies there). */
static void
fail_at(unsigned count, bool for_ever, int i, bool *failed)
{
	kit_setup();
	OK(kit_create("t", "family f\n"));
	OK(kit_create("o", "table open=1\n"));
	OK(kit_put("t/r/f/q", 5, "v"));
	ordered_mem_fail(kit_store, EIO, count, for_ever);
	int r = changes[i].change();
	ordered_mem_fail(kit_store, 0, 0, false);
	*failed = r != 0;
	kit_reopen();
	bool done = ordered_tables() == changes[i].ordered_after &&
		    strcmp(kit_tables(), changes[i].tables_after) == 0 &&
		    strcmp(the_cell(), changes[i].cell_after) == 0;
	bool undone = ordered_tables() == changes[i].ordered_before &&
		      strcmp(kit_tables(), changes[i].tables_before) == 0 &&
		      strcmp(the_cell(), "v") == 0;
	ck_assert_msg(r == 0 ? done : done || undone,
	    "change %d, failing at call %u: said %d, left %s and %zu", i, count,
	    r, kit_tables(), ordered_tables());
	kit_teardown();
}

START_TEST(whatever_call_fails_no_table_is_half_there)
{
	bool failed = true;

	for (unsigned count = 1; failed; count++) {
		ck_assert_uint_lt(count, 1000);
		fail_at(count, true, _i, &failed);
	}
	/* One failing call alone, too; a sweep that failed hides itself. */
	for (unsigned count = 1; count < 60; count++)
		fail_at(count, false, _i, &failed);
}
END_TEST

/* --- the suite -------------------------------------------------------- */

int
main(void)
{
	Suite *s = suite_create("catalogue");

	TCase *c = kit_topic(s, "damage", kit_setup, kit_teardown);
	tcase_add_test(c, a_newer_format_is_refused_and_named);
	tcase_add_loop_test(c,
	    a_damaged_catalogue_refuses_to_open_and_says_what_to_run, 0,
	    COUNT(damages));
	tcase_add_loop_test(c,
	    a_repair_opens_it_and_keeps_what_the_damaged_entry_owned, 0,
	    COUNT(damages));
	tcase_add_test(c, a_repair_without_a_catalogue_drops_nothing);
	tcase_add_test(c, a_repair_does_not_touch_a_newer_format);
	tcase_add_test(c, data_without_a_catalogue_is_no_new_store);

	c = kit_topic(s, "failures", NULL, NULL);
	tcase_add_loop_test(
	    c, whatever_call_fails_no_table_is_half_there, 0, COUNT(changes));

	return suite_run(s);
}
