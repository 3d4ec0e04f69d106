/* The catalogue and what changes it: creating, altering, dropping, emptying
 * and renaming tables. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/key.h"
#include "kv/local.h"
#include "kv/local_clean.h"
#include "kv/local_methods.h"
#include "kv/local_table.h"
#include "kv/local_txn.h"
#include "kv/ordered.h"
#include "kv/schema.h"
#include "kv/why.h"
#include "store_dir.h"
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

/* --- creating --------------------------------------------------------- */

START_TEST(a_new_store_has_no_tables)
{
	SAYS("", kit_tables());
	ck_assert_uint_eq(ordered_tables(), 4);
}
END_TEST

START_TEST(tables_are_there_after_a_reopen_in_order_of_their_names)
{
	OK(kit_create("b", "family f\n"));
	OK(kit_create("a", "table open=1\n"));
	OK(kit_create("ns:c", "family x versions=7 ttl=60\nfamily y\n"));
	char before[1000];
	snprintf(before, sizeof(before), "%s", kit_schema("ns:c"));
	kit_reopen();
	SAYS("a b ns:c", kit_tables());
	SAYS(before, kit_schema("ns:c"));
	ck_assert_ptr_nonnull(strstr(before, "versions=7"));
	ck_assert_ptr_nonnull(strstr(kit_schema("a"), "open=1"));
}
END_TEST

START_TEST(a_name_that_is_taken_is_refused)
{
	OK(kit_create("t", "family f\n"));
	REFUSED(EEXIST, kit_create("t", "family g\n"));
	ck_assert_uint_eq(ordered_tables(), 4 + 3);
}
END_TEST

START_TEST(owner_and_creation_survive_a_reopen)
{
	struct info before, after;

	OK(kit_create("t", "family f\n"));
	clock_set(&kit_clock, KIT_NOW + 5000);
	OK(kit_stat(kit_place(LEVEL_TABLE, "t"), &before));
	kit_reopen();
	OK(kit_stat(kit_place(LEVEL_TABLE, "t"), &after));
	ck_assert_int_eq(before.timestamp, KIT_NOW);
	ck_assert_int_eq(after.timestamp, KIT_NOW);
	ck_assert_uint_eq(after.attrs.mode, 0755);
	ck_assert_uint_eq(after.attrs.uid, 7);
	ck_assert_uint_eq(after.attrs.gid, 8);
}
END_TEST

START_TEST(numbers_are_never_given_twice)
{
	OK(kit_create("t", "family f\n"));
	uint32_t first = kit_cells_number("t", "f");
	OK(kit->methods->table_drop(kit, slice_text("t")));
	OK(kit_create("t", "family f\n"));
	ck_assert_uint_gt(kit_side_number("t"), first);
	uint32_t second = kit_cells_number("t", "f");
	kit_reopen();
	OK(kit_create("u", "family f\n"));
	ck_assert_uint_gt(kit_side_number("u"), second);
}
END_TEST

/* --- altering --------------------------------------------------------- */

START_TEST(a_family_is_added_and_an_empty_one_dropped)
{
	OK(kit_create("t", "family f\n"));
	OK(kit_put("t/r/f/q", 5, "v"));
	OK(kit_alter("t", "family f\nfamily g\n", false));
	OK(kit_put("t/r/g/q", 5, "w"));
	SAYS("f g", kit_list(LEVEL_ROW, "t/r"));
	REFUSED(ENOTEMPTY, kit_alter("t", "family f\n", false));
	SAYS("w", kit_get("t/r/g/q"));
	OK(kit_delete("t/r/g/q", 0));
	OK(kit_alter("t", "family f\n", false));
	SAYS("f", kit_list(LEVEL_ROW, "t/r"));
	ck_assert_uint_eq(ordered_tables(), 4 + 3);
}
END_TEST

START_TEST(a_family_with_a_dot_file_is_not_empty)
{
	OK(kit_create("t", "family f\nfamily g\n"));
	OK(kit_dot_put(kit_dot("t/r/g", "", ".x"), "1"));
	REFUSED(ENOTEMPTY, kit_alter("t", "family f\n", false));
}
END_TEST

START_TEST(a_family_is_dropped_with_its_data_when_asked)
{
	OK(kit_create("t", "family f\nfamily g\n"));
	OK(kit_put("t/r/g/q", 5, "w"));
	OK(kit_put("t/r/f/q", 5, "v"));
	OK(kit_dot_put(kit_dot("t/r/g", "", ".x"), "1"));
	OK(kit_mkdir(LEVEL_FAMILY, "t/s/g"));
	OK(kit_alter("t", "family f\n", true));
	SAYS("r", kit_list(LEVEL_TABLE, "t"));
	SAYS("f", kit_list(LEVEL_ROW, "t/r"));
	ck_assert_uint_eq(kit_records(kit_side_number("t")), 0);
	OK(kit_alter("t", "family f\nfamily g\n", true));
	SAYS("-", kit_get("t/r/g/q"));
	SAYS("-", kit_dot_get(kit_dot("t/r/g", "", ".x")));
}
END_TEST

START_TEST(a_new_family_has_no_files_of_one_that_was_dropped_half)
{
	struct buf key = {0};
	struct txn t;

	OK(kit_create("t", "table open=1\nfamily f\n"));
	OK(kit_dot_put(kit_dot("t/r/f", "", ".x"), "1"));
	buf_byte(&key, 'f');
	key_component(&key, slice_text("r"));
	key_component(&key, slice_text("g"));
	key_part(&key, slice_text(""));
	key_component(&key, slice_text(""));
	key_component(&key, slice_text(".left"));
	OK(txn_write(kit_local(), ORDERED_WRITE, &t));
	OK(txn_end(&t, txn_put(&t, kit_side_number("t"), buf_slice(&key),
			   slice_text(" v"))));
	buf_release(&key);
	SAYS("f", kit_list(LEVEL_ROW, "t/r"));
	SAYS("-", kit_dot_get(kit_dot("t/r/g", "", ".left")));
	OK(kit_put("t/r/g/q", 5, "v"));
	SAYS("q", kit_list(LEVEL_FAMILY, "t/r/g"));
	SAYS("1", kit_dot_get(kit_dot("t/r/f", "", ".x")));
}
END_TEST

START_TEST(lowered_versions_bring_nothing_back_when_raised)
{
	OK(kit_create("t", "family f versions=5\n"));
	for (int i = 1; i <= 5; i++)
		OK(kit_put("t/r/f/q", i, "v"));
	OK(kit_alter("t", "family f versions=2\n", false));
	SAYS("5=v 4=v", kit_history("t/r/f/q"));
	OK(kit_alter("t", "family f versions=5\n", false));
	SAYS("5=v 4=v", kit_history("t/r/f/q"));
	ck_assert_uint_eq(kit_records(kit_cells_number("t", "f")), 2);
}
END_TEST

START_TEST(a_raised_ttl_brings_back_nothing_that_had_expired)
{
	OK(kit_create("t", "family f ttl=10\n"));
	OK(kit_put("t/r/f/old", KIT_NOW - 9000, "v"));
	OK(kit_put("t/r/f/new", KIT_NOW, "v"));
	clock_set(&kit_clock, KIT_NOW + 2000);
	SAYS("-", kit_get("t/r/f/old"));
	OK(kit_alter("t", "family f ttl=forever\n", false));
	SAYS("-", kit_get("t/r/f/old"));
	SAYS("v", kit_get("t/r/f/new"));
}
END_TEST

START_TEST(changed_storage_keeps_every_cell_and_is_stored_anew)
{
	OK(kit_create("t", "family f\n"));
	OK(kit_put("t/r/f/q", 5, "v"));
	OK(kit_put("t/r/f/q", 6, "w"));
	OK(kit_put_big("t/r/f/big", 100000, 3));
	uint32_t before = kit_cells_number("t", "f");
	OK(kit_alter("t", "family f compression=gz\n", false));
	ck_assert_uint_eq(kit_cells_number("t", "f"), before);
	OK(kit->methods->compact(kit, slice_text("t"), slice_text("f")));
	ck_assert_uint_ne(kit_cells_number("t", "f"), before);
	SAYS("6=w 5=v", kit_history("t/r/f/q"));
	ck_assert(kit_is_big(kit_place(LEVEL_COLUMN, "t/r/f/big"), 100000, 3));
	ck_assert_uint_eq(ordered_tables(), 4 + 3);
}
END_TEST

START_TEST(altering_sets_the_time_of_the_schema_file)
{
	struct info info;

	OK(kit_create("t", "family f\n"));
	OK(kit_stat(kit_place(LEVEL_SCHEMA_FILE, "t"), &info));
	ck_assert_int_eq(info.attrs.mtime.tv_sec, KIT_NOW / 1000);
	ck_assert_uint_eq(info.size, strlen(kit_schema("t")));
	clock_set(&kit_clock, KIT_NOW + 9000);
	OK(kit_alter("t", "family f versions=9\n", false));
	OK(kit_stat(kit_place(LEVEL_SCHEMA_FILE, "t"), &info));
	ck_assert_int_eq(info.attrs.mtime.tv_sec, KIT_NOW / 1000 + 9);
}
END_TEST

/* --- declaring
 * ----------------------------------------------------------------- */

START_TEST(an_open_table_declares_a_family_by_its_first_cell)
{
	OK(kit_create("t", "table open=1\n"));
	OK(kit_put("t/r/f/q", 5, "v"));
	kit_reopen();
	SAYS("v", kit_get("t/r/f/q"));
	ck_assert_ptr_nonnull(strstr(kit_schema("t"), "family f "));
}
END_TEST

START_TEST(a_sealed_table_declares_nothing)
{
	OK(kit_create("t", "family f\n"));
	REFUSED(
	    EPERM, local_family_declare(kit, slice_text("t"), slice_text("g")));
	REFUSED(EPERM, kit_put("t/r/g/q", 5, "v"));
	OK(local_family_declare(kit, slice_text("t"), slice_text("f")));
}
END_TEST

START_TEST(an_open_table_declares_32_families_at_most)
{
	char name[16];

	OK(kit_create("t", "table open=1\n"));
	for (int i = 0; i < OPEN_FAMILIES_MAX; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		OK(local_family_declare(
		    kit, slice_text("t"), slice_text(name)));
	}
	REFUSED(EDQUOT,
	    local_family_declare(kit, slice_text("t"), slice_text("one-more")));
}
END_TEST

/* --- dropping, emptying, renaming
 * ------------------------------------------------ */

START_TEST(a_dropped_table_is_gone_with_its_ordered_tables)
{
	OK(kit_create("t", "family f\n"));
	OK(kit_put("t/r/f/q", 5, "v"));
	OK(kit->methods->table_drop(kit, slice_text("t")));
	SAYS("", kit_tables());
	ck_assert_uint_eq(ordered_tables(), 4);
	REFUSED(ENOENT, kit->methods->table_drop(kit, slice_text("t")));
	OK(kit_create("t", "family f\n"));
	SAYS("-", kit_get("t/r/f/q"));
}
END_TEST

START_TEST(a_table_that_is_read_is_dropped_later)
{
	struct ordered_cursor *c;
	struct txn t;

	OK(kit_create("t", "family f\n"));
	OK(kit_put("t/r/f/q", 5, "v"));
	OK(txn_read(kit_local(), &t));
	OK(kit_store->methods->cursor(
	    t.session, kit_cells_number("t", "f"), &c));
	OK(kit_store->methods->seek(c, slice_of(NULL, 0), SEEK_FROM));
	OK(kit->methods->table_drop(kit, slice_text("t")));
	SAYS("", kit_tables());
	ck_assert_uint_eq(ordered_tables(), 4 + 1);
	kit_store->methods->cursor_close(c);
	txn_end(&t, 0);
	OK(clean_all(kit_local()));
	ck_assert_uint_eq(ordered_tables(), 4);
}
END_TEST

START_TEST(a_value_held_open_can_be_read_after_its_table_was_dropped)
{
	static uint8_t bytes[3 << 20];
	const struct place place = kit_place(LEVEL_COLUMN, "t/r/f/q");
	struct version newest = {.which = VERSION_NEWEST};
	struct value *v;

	OK(kit_create("t", "family f\n"));
	OK(kit_put_big("t/r/f/q", sizeof(bytes), 1));
	OK(kit->methods->value_open(kit, &place, newest, &v));
	OK(kit->methods->table_drop(kit, slice_text("t")));
	ck_assert_int_eq(kit->methods->value_read(v, 0, bytes, sizeof(bytes)),
	    sizeof(bytes));
	kit->methods->value_close(v);
	OK(clean_all(kit_local()));
	ck_assert_uint_eq(ordered_tables(), 4);
}
END_TEST

START_TEST(rmdir_drops_a_table_without_rows_only)
{
	OK(kit_create("t", "family f\n"));
	OK(kit_put("t/r/f/q", 5, "v"));
	REFUSED(ENOTEMPTY, kit_rmdir(LEVEL_TABLE, "t"));
	OK(kit_delete("t/r/f/q", 0));
	OK(kit_mkdir(LEVEL_ROW, "t/s"));
	REFUSED(ENOTEMPTY, kit_rmdir(LEVEL_TABLE, "t"));
	OK(kit_rmdir(LEVEL_ROW, "t/s"));
	OK(kit_rmdir(LEVEL_TABLE, "t"));
	SAYS("", kit_tables());
}
END_TEST

START_TEST(truncate_leaves_the_schema_and_the_table_s_own_attributes)
{
	const struct place table = kit_place(LEVEL_TABLE, "t");
	const struct attrs mode = {.set = ATTR_MODE, .mode = 0700};
	struct info info;

	OK(kit_create("t", "family f versions=9\n"));
	OK(kit->methods->set_attrs(kit, &table, (struct version){0}, &mode));
	OK(kit_put("t/r/f/q", 5, "v"));
	OK(kit_dot_put(kit_dot("t/r/f", "", ".x"), "1"));
	OK(kit_mkdir(LEVEL_ROW, "t/s"));
	OK(kit->methods->table_truncate(kit, slice_text("t")));
	SAYS("", kit_list(LEVEL_TABLE, "t"));
	ck_assert_ptr_nonnull(strstr(kit_schema("t"), "versions=9"));
	OK(kit_stat(table, &info));
	ck_assert_uint_eq(info.attrs.mode, 0700);
	ck_assert_uint_eq(ordered_tables(), 4 + 3);
	OK(kit_put("t/r/f/q", 5, "v"));
	kit_reopen();
	SAYS("v", kit_get("t/r/f/q"));
}
END_TEST

START_TEST(rename_moves_the_table_with_everything_in_it)
{
	const struct place file = kit_place(LEVEL_SCHEMA_FILE, "t");
	const struct attrs mode = {.set = ATTR_MODE, .mode = 0600};
	struct info info;

	OK(kit_create("t", "family f\n"));
	OK(kit_create("u", "family f\n"));
	OK(kit_put("t/r/f/q", 5, "v"));
	OK(kit->methods->set_attrs(kit, &file, (struct version){0}, &mode));
	REFUSED(EEXIST,
	    kit->methods->table_rename(kit, slice_text("t"), slice_text("u")));
	OK(kit->methods->table_rename(kit, slice_text("t"), slice_text("w")));
	SAYS("u w", kit_tables());
	kit_reopen();
	SAYS("u w", kit_tables());
	SAYS("v", kit_get("w/r/f/q"));
	OK(kit_stat(kit_place(LEVEL_SCHEMA_FILE, "w"), &info));
	ck_assert_uint_eq(info.attrs.mode, 0600);
	REFUSED(ENOENT,
	    kit->methods->table_rename(kit, slice_text("t"), slice_text("x")));
}
END_TEST

START_TEST(who_held_a_table_through_a_change_finds_it_stale)
{
	struct table *t;

	OK(kit_create("t", "family f\n"));
	OK(table_get(kit_local(), slice_text("t"), &t));
	ck_assert(!table_stale(t));
	OK(kit_alter("t", "family f versions=9\n", false));
	ck_assert(table_stale(t));
	table_put(t);
	OK(table_get(kit_local(), slice_text("t"), &t));
	ck_assert(!table_stale(t));
	OK(kit->methods->table_drop(kit, slice_text("t")));
	ck_assert(table_stale(t));
	table_put(t);
}
END_TEST

/* --- beside writers
 * ------------------------------------------------------------------ */

struct writing {
	atomic_bool stop;
	int errors;
};

static void *
write_all_the_time(void *context)
{
	struct writing *w = context;
	char path[32];

	for (int i = 0; !atomic_load(&w->stop); i++) {
		snprintf(path, sizeof(path), "t/r%d/f/q", i % 50);
		int r = kit_put(path, TS_LATEST, "v");
		if (r && r != -ENOENT)
			w->errors = r;
	}
	return NULL;
}

START_TEST(writers_go_on_while_tables_change)
{
	struct writing w = {0};
	pthread_t thread;

	OK(kit_create("t", "family f\n"));
	OK(pthread_create(&thread, NULL, write_all_the_time, &w));
	for (int i = 0; i < 30; i++) {
		OK(kit_alter(
		    "t", i % 2 ? "family f\n" : "family f\nfamily g\n", false));
		OK(kit->methods->table_truncate(kit, slice_text("t")));
		OK(kit->methods->table_drop(kit, slice_text("t")));
		OK(kit_create("t", "family f\n"));
	}
	atomic_store(&w.stop, true);
	OK(pthread_join(thread, NULL));
	ck_assert_int_eq(w.errors, 0);
}
END_TEST

/* Reads everything of t/r/f/q in each way there is, once. */
static int
read_all_ways(void)
{
	const struct place cell = kit_place(LEVEL_COLUMN, "t/r/f/q");
	const struct place row = kit_place(LEVEL_ROW, "t/r");
	struct scan_spec spec = {.table = slice_text("t")};
	struct version newest = {0};
	struct value *v = NULL;
	struct scan *scan;
	struct cell c;
	struct info info;
	char byte;

	int r = kit->methods->stat(kit, &cell, newest, &info);
	if (r == 0)
		r = kit->methods->stat(kit, &row, newest, &info);
	if (r == 0)
		r = kit->methods->value_open(kit, &cell, newest, &v);
	if (r == 0 && kit->methods->value_read(v, 0, &byte, 1) != 1)
		r = -EIO;
	if (v)
		kit->methods->value_close(v);
	if (r == 0)
		r = kit->methods->scan_open(kit, &spec, &scan);
	if (r)
		return r;
	r = kit->methods->scan_next(scan, &c);
	if (r == 0 && kit->methods->scan_next(scan, &c) != 1)
		r = -EIO;
	kit->methods->scan_close(scan);
	return r == 1 ? -ENODATA : r;
}

static void *
read_all_the_time(void *context)
{
	struct writing *w = context;

	while (!atomic_load(&w->stop) && !w->errors)
		w->errors = read_all_ways();
	return NULL;
}

START_TEST(readers_find_everything_while_a_family_is_stored_anew)
{
	struct writing w = {0};
	pthread_t thread;

	OK(kit_create("t", "family f\n"));
	if (_i)
		OK(kit_put_big("t/r/f/q", 20000, 1));
	else
		OK(kit_put("t/r/f/q", 5, "v"));
	OK(pthread_create(&thread, NULL, read_all_the_time, &w));
	for (int i = 0; i < 300; i++) {
		OK(kit_alter("t",
		    i % 2 ? "family f compression=none\n"
			  : "family f compression=gz\n",
		    false));
		OK(kit->methods->compact(kit, slice_text("t"), slice_text("")));
	}
	atomic_store(&w.stop, true);
	OK(pthread_join(thread, NULL));
	ck_assert_msg(w.errors == 0, "%s", strerror(-w.errors));
}
END_TEST

START_TEST(a_scan_goes_on_where_its_table_is_now)
{
	struct scan_spec spec = {.table = slice_text("t")};
	struct scan *scan;
	struct cell c;
	char path[32];
	int found = 1;

	OK(kit_create("t", "family f\nfamily g\n"));
	for (int i = 0; i < 3000; i++) {
		snprintf(path, sizeof(path), "t/r%d/g/q", i);
		OK(kit_put(path, 5, "v"));
	}
	OK(kit->methods->scan_open(kit, &spec, &scan));
	OK(kit->methods->scan_next(scan, &c));
	OK(kit_alter("t", "family g compression=gz\n", false));
	OK(kit->methods->compact(kit, slice_text("t"), slice_text("")));
	OK(kit->methods->table_rename(kit, slice_text("t"), slice_text("u")));
	while (kit->methods->scan_next(scan, &c) == 0)
		found++;
	ck_assert_int_eq(found, 3000);
	kit->methods->scan_close(scan);
	spec.table = slice_text("u");
	OK(kit->methods->scan_open(kit, &spec, &scan));
	OK(kit->methods->scan_next(scan, &c));
	OK(kit->methods->table_drop(kit, slice_text("u")));
	for (found = 0; found == 0;)
		found = kit->methods->scan_next(scan, &c);
	ck_assert_int_eq(found, -ENOENT);
	ck_assert_ptr_nonnull(strstr(why_text(-ENOENT), "dropped"));
	kit->methods->scan_close(scan);
}
END_TEST

START_TEST(a_read_that_must_be_repeated_is)
{
	OK(kit_create("t", "family f\n"));
	OK(kit_put_big("t/r/f/q", 20000, 1));
	for (unsigned n = 1; n < 30; n++) {
		ordered_mem_fail(kit_store, EAGAIN, n, false);
		ck_assert_msg(
		    kit_is_big(kit_place(LEVEL_COLUMN, "t/r/f/q"), 20000, 1),
		    "access %u", n);
		ordered_mem_fail(kit_store, 0, 0, false);
	}
}
END_TEST

/* --- on the real store
 * ----------------------------------------------------------------- */

static void
open_wt(struct engine **out)
{
	struct ordered_options on_disk = {
	    .directory = store_dir(), .cache = 64 << 20, .create = true};
	struct local_options options = {.clock = &kit_clock};
	struct ordered *store;

	int r = ordered_wt_open(&on_disk, &store);
	ck_assert_msg(r == 0, "%s", why_text(r));
	OK(local_open(store, &options, out));
}

START_TEST(on_the_disk_too_tables_are_there_after_a_reopen)
{
	clock_set(&kit_clock, KIT_NOW);
	open_wt(&kit);
	OK(kit_create("t",
	    "family f compression=gz blocksize=4096 in_memory=true "
	    "data_block_encoding=prefix\nfamily g compression=none\n"));
	OK(kit_create("o", "table open=1\n"));
	OK(kit_put("t/r/f/q", 5, "v"));
	OK(kit_put("o/r/x/q", 5, "w"));
	OK(kit_put_big("t/r/f/big", 3 << 20, 1));
	OK(kit_alter("t", "family f compression=snappy\nfamily g\n", false));
	OK(kit->methods->compact(kit, slice_text("t"), slice_text("")));
	OK(kit->methods->table_rename(kit, slice_text("o"), slice_text("p")));
	OK(kit->methods->close(kit));
	open_wt(&kit);
	SAYS("p t", kit_tables());
	SAYS("v", kit_get("t/r/f/q"));
	SAYS("w", kit_get("p/r/x/q"));
	ck_assert(kit_is_big(kit_place(LEVEL_COLUMN, "t/r/f/big"), 3 << 20, 1));
	OK(kit->methods->table_truncate(kit, slice_text("t")));
	OK(kit->methods->table_drop(kit, slice_text("p")));
	OK(kit->methods->close(kit));
	open_wt(&kit);
	SAYS("t", kit_tables());
	SAYS("-", kit_get("t/r/f/q"));
	OK(kit->methods->close(kit));
}
END_TEST

/* --- the suite
 * ---------------------------------------------------------------------------
 */

int
main(void)
{
	Suite *s = suite_create("tables");

	TCase *c = kit_topic(s, "creating", kit_setup, kit_teardown);
	tcase_add_test(c, a_new_store_has_no_tables);
	tcase_add_test(
	    c, tables_are_there_after_a_reopen_in_order_of_their_names);
	tcase_add_test(c, a_name_that_is_taken_is_refused);
	tcase_add_test(c, owner_and_creation_survive_a_reopen);
	tcase_add_test(c, numbers_are_never_given_twice);

	c = kit_topic(s, "altering", kit_setup, kit_teardown);
	tcase_add_test(c, a_family_is_added_and_an_empty_one_dropped);
	tcase_add_test(c, a_family_with_a_dot_file_is_not_empty);
	tcase_add_test(c, a_family_is_dropped_with_its_data_when_asked);
	tcase_add_test(
	    c, a_new_family_has_no_files_of_one_that_was_dropped_half);
	tcase_add_test(c, lowered_versions_bring_nothing_back_when_raised);
	tcase_add_test(c, a_raised_ttl_brings_back_nothing_that_had_expired);
	tcase_add_test(c, changed_storage_keeps_every_cell_and_is_stored_anew);
	tcase_add_test(c, altering_sets_the_time_of_the_schema_file);

	c = kit_topic(s, "declaring", kit_setup, kit_teardown);
	tcase_add_test(c, an_open_table_declares_a_family_by_its_first_cell);
	tcase_add_test(c, a_sealed_table_declares_nothing);
	tcase_add_test(c, an_open_table_declares_32_families_at_most);

	c = kit_topic(s, "dropping", kit_setup, kit_teardown);
	tcase_add_test(c, a_dropped_table_is_gone_with_its_ordered_tables);
	tcase_add_test(c, a_table_that_is_read_is_dropped_later);
	tcase_add_test(
	    c, a_value_held_open_can_be_read_after_its_table_was_dropped);
	tcase_add_test(c, rmdir_drops_a_table_without_rows_only);
	tcase_add_test(
	    c, truncate_leaves_the_schema_and_the_table_s_own_attributes);
	tcase_add_test(c, rename_moves_the_table_with_everything_in_it);
	tcase_add_test(c, who_held_a_table_through_a_change_finds_it_stale);
	tcase_add_test(c, writers_go_on_while_tables_change);
	tcase_add_loop_test(
	    c, readers_find_everything_while_a_family_is_stored_anew, 0, 2);
	tcase_add_test(c, a_scan_goes_on_where_its_table_is_now);
	tcase_add_test(c, a_read_that_must_be_repeated_is);

	c = kit_topic(s, "disk", store_dir_make, store_dir_remove);
	tcase_add_test(c, on_the_disk_too_tables_are_there_after_a_reopen);

	return suite_run(s);
}
