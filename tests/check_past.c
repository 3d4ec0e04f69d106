/* Changes of rules while what they put out is still stored: what was out at
 * the moment of the change stays out, whenever it is removed.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "kv/local_clean.h"
#include "kv/local_table.h"
#include "table_kit.h"

#define FORMER 100 /* versions, more than a read counts up to */
#define LATTER 70

/* Alters t, and nothing of what that puts out is removed yet. */
static void
alter_only(const char *text)
{
	local_interrupt(kit);
	OK(kit_alter("t", text, false));
	kit_reopen();
}

static size_t
stored(void)
{
	return kit_records(kit_cells_number("t", "f"));
}

static void
expire_one(void)
{
	OK(kit_create("t", "family f ttl=10\n"));
	OK(kit_put("t/r/f/q", KIT_NOW - 9000, "v"));
	OK(kit_put("t/r/f/q", KIT_NOW, "w"));
	clock_set(&kit_clock, KIT_NOW + 2000);
	alter_only("family f ttl=forever\n");
	ck_assert_uint_eq(stored(), 2);
}

static void
clean(void)
{
	OK(clean_all(kit_local()));
}

static void
nothing(void)
{
}

/* Between what is done and what is read; no answer may depend on it. */
static void (*const between[])(void) = {nothing, clean, kit_reopen};

START_TEST(a_raised_ttl_brings_back_nothing_that_is_still_stored)
{
	char expected[40];

	snprintf(expected, sizeof(expected), "%d=w", KIT_NOW);
	expire_one();
	between[_i]();
	SAYS(expected, kit_history("t/r/f/q"));
	clock_set(&kit_clock, KIT_NOW + 900000);
	SAYS(expected, kit_history("t/r/f/q"));
}
END_TEST

START_TEST(what_is_stored_after_it_lives_by_the_new_rules)
{
	char expected[40];

	snprintf(expected, sizeof(expected), "%d=w %d=late", KIT_NOW,
	    KIT_NOW - 9000);
	expire_one();
	OK(kit_put("t/r/f/q", KIT_NOW - 9000, "late"));
	OK(kit_put("t/other/f/q", 5, "late"));
	between[_i]();
	SAYS(expected, kit_history("t/r/f/q"));
	SAYS("5=late", kit_history("t/other/f/q"));
}
END_TEST

START_TEST(what_is_moved_after_it_lives_by_the_new_rules)
{
	struct place from, to;
	int64_t at;

	OK(kit_create("u", "family f\n"));
	OK(kit_put("u/r/f/q", 5, "old"));
	OK(kit_put("u/r/f/q", 6, "new"));
	expire_one();
	from = kit_place(LEVEL_COLUMN, "u/r/f/q");
	to = kit_place(LEVEL_COLUMN, "t/r/f/free");
	OK(kit_move(&(struct move_spec){.from = &from, .to = &to}, &at));
	between[_i]();
	SAYS("6=new 5=old", kit_history("t/r/f/free"));
}
END_TEST

/* The version at i of a column of which more than LATTER have been put. */
static const char *
at(int i)
{
	static char text[40];
	struct place place = kit_place(LEVEL_COLUMN, "t/r/f/q");
	struct info info;
	int r = kit->methods->stat(
	    kit, &place, (struct version){VERSION_AT, i}, &info);

	snprintf(text, sizeof(text), "%d", r);
	return text;
}

START_TEST(lowered_versions_show_nothing_of_what_is_still_stored)
{
	OK(kit_create("t", "family f versions=100\n"));
	for (int i = 1; i <= FORMER; i++)
		OK(kit_put("t/r/f/q", i, "v"));
	alter_only("family f versions=70\n");
	ck_assert_uint_eq(stored(), FORMER);
	between[_i]();
	SAYS("-2", at(FORMER - LATTER));
	SAYS("0", at(FORMER - LATTER + 1));
	OK(kit_alter("t", "family f versions=100\n", false));
	SAYS("-2", at(FORMER - LATTER));
	ck_assert_uint_eq(stored(), LATTER);
}
END_TEST

START_TEST(a_version_that_was_pushed_out_stays_so_when_a_newer_one_dies)
{
	OK(kit_create("t", "family f versions=3\n"));
	OK(kit_put("t/r/f/q", 5, "v"));
	OK(kit_put("t/r/f/q", 6, "v"));
	OK(kit_put_ttl("t/r/f/q", KIT_NOW, "v", 1000));
	alter_only("family f versions=2\n");
	clock_set(&kit_clock, KIT_NOW + 2000);
	between[_i]();
	SAYS("6=v", kit_history("t/r/f/q"));
}
END_TEST

START_TEST(the_clean_up_forgets_the_change_once_all_is_removed)
{
	expire_one();
	ck_assert_uint_ne(kit_local()->tables[0]->families[0].past.sequence, 0);
	clean();
	ck_assert_uint_eq(stored(), 1);
	ck_assert_uint_eq(kit_local()->tables[0]->families[0].past.sequence, 0);
}
END_TEST

START_TEST(what_was_seen_to_expire_stays_out_though_the_clock_goes_back)
{
	OK(kit_create("t", "family f ttl=10\n"));
	OK(kit_put("t/r/f/q", KIT_NOW - 9000, "v"));
	clock_set(&kit_clock, KIT_NOW + 2000);
	SAYS("-", kit_get("t/r/f/q"));
	clock_set(&kit_clock, KIT_NOW);
	SAYS("-", kit_get("t/r/f/q"));
	kit_reopen();
	SAYS("-", kit_get("t/r/f/q"));
	ck_assert_uint_eq(stored(), 1);
}
END_TEST

/* --- beside readers --------------------------------------------------- */

#define COLUMNS 200
#define READERS 3

/* What any reader has found gone, before another begins to read it. */
struct watching {
	atomic_bool gone[COLUMNS];
	atomic_bool stop, came_back;
};

static bool
there(int i)
{
	char path[32];

	snprintf(path, sizeof(path), "t/r/f/%d", i);
	struct place place = kit_place(LEVEL_COLUMN, path);
	struct info info;
	return kit->methods->stat(kit, &place,
		   (struct version){.which = VERSION_NEWEST}, &info) == 0;
}

static void *
watch(void *context)
{
	struct watching *w = context;

	while (!atomic_load(&w->stop))
		for (int i = 0; i < COLUMNS; i++) {
			bool before = atomic_load(&w->gone[i]);
			if (!there(i))
				atomic_store(&w->gone[i], true);
			else if (before)
				atomic_store(&w->came_back, true);
		}
	return NULL;
}

static void *
tick(void *context)
{
	struct watching *w = context;

	for (int64_t now = KIT_NOW; !atomic_load(&w->stop); now++) {
		clock_set(&kit_clock, now);
		sched_yield();
	}
	return NULL;
}

START_TEST(no_reader_sees_come_back_what_another_has_seen_go)
{
	static struct watching w;
	pthread_t threads[READERS + 1];
	char path[32];

	OK(kit_create("t", "family f ttl=1\n"));
	for (int i = 0; i < COLUMNS; i++) {
		snprintf(path, sizeof(path), "t/r/f/%d", i);
		OK(kit_put(path, KIT_NOW + 50 * i, "v"));
	}
	for (int i = 0; i < READERS; i++)
		OK(pthread_create(&threads[i], NULL, watch, &w));
	OK(pthread_create(&threads[READERS], NULL, tick, &w));
	for (int i = 0; !atomic_load(&w.gone[COLUMNS - 1]); i++)
		OK(kit_alter("t",
		    i % 2 ? "family f ttl=1\n" : "family f ttl=2\n", false));
	atomic_store(&w.stop, true);
	for (int i = 0; i <= READERS; i++)
		OK(pthread_join(threads[i], NULL));
	ck_assert(!atomic_load(&w.came_back));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("past");
	TCase *c = kit_topic(s, "past", kit_setup, kit_teardown);
	int ways = COUNT(between);

	tcase_add_loop_test(
	    c, a_raised_ttl_brings_back_nothing_that_is_still_stored, 0, ways);
	tcase_add_loop_test(
	    c, what_is_stored_after_it_lives_by_the_new_rules, 0, ways);
	tcase_add_loop_test(
	    c, what_is_moved_after_it_lives_by_the_new_rules, 0, ways);
	tcase_add_loop_test(
	    c, lowered_versions_show_nothing_of_what_is_still_stored, 0, ways);
	tcase_add_loop_test(c,
	    a_version_that_was_pushed_out_stays_so_when_a_newer_one_dies, 0,
	    ways);
	tcase_add_test(
	    c, what_was_seen_to_expire_stays_out_though_the_clock_goes_back);
	tcase_add_test(c, no_reader_sees_come_back_what_another_has_seen_go);
	tcase_add_test(c, the_clean_up_forgets_the_change_once_all_is_removed);

	return suite_run(s);
}
