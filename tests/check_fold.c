#include <check.h>
#include <stdlib.h>

#include "kv/fold.h"
#include "suite.h"

#define NOW 100000

/* One stored version and whether it is live; newest first. */
struct row {
	int64_t timestamp, ttl;
	bool live;
};

struct table {
	const char *claim;
	struct fold_rules rules;
	struct row rows[6]; /* ends at timestamp 0 */
};

static void
check_table(const struct table *table)
{
	struct fold fold;

	fold_init(&fold, &table->rules, NULL, NOW);
	for (const struct row *row = table->rows; row->timestamp; row++)
		ck_assert_msg(
		    fold_add(&fold, row->timestamp, row->ttl, 0) == row->live,
		    "%s: version %lld should be %s", table->claim,
		    (long long)row->timestamp, row->live ? "live" : "out");
	fold_release(&fold);
}

static const struct table version_tables[] = {
    {"one is kept of one", {1, 0, 0}, {{5, 0, 1}}},
    {"beyond VERSIONS is out", {2, 0, 0},
	{{9, 0, 1}, {8, 0, 1}, {7, 0, 0}, {6, 0, 0}}},
    {"future stamps count as all others", {1, 0, 0},
	{{NOW + 50, 0, 1}, {NOW, 0, 0}}},
    {"the greatest stamp lives", {3, 0, 0}, {{TS_MAX, 0, 1}, {1, 0, 1}}},
};

START_TEST(versions_beyond_the_limit_are_out)
{
	check_table(&version_tables[_i]);
}
END_TEST

/* TTL 10 s: what is stamped 90000 or later lives. */
static const struct table ttl_tables[] = {
    {"the boundary lives, one ms older does not", {3, 0, 10000},
	{{95000, 0, 1}, {90000, 0, 1}, {89999, 0, 0}}},
    {"the future lives", {3, 0, 10000}, {{NOW + 1, 0, 1}, {1, 0, 0}}},
    {"min_versions holds the newest", {3, 1, 10000},
	{{85000, 0, 1}, {80000, 0, 0}}},
    {"min_versions counts live ones too", {3, 1, 10000},
	{{95000, 0, 1}, {85000, 0, 0}}},
    {"min_versions holds as many as it says", {5, 2, 10000},
	{{82000, 0, 1}, {81000, 0, 1}, {80000, 0, 0}}},
    {"a TTL that reaches the end of time is none", {3, 0, INT64_MAX},
	{{95000, 0, 1}, {1, 0, 1}}},
};

START_TEST(the_family_ttl_spares_what_min_versions_holds)
{
	check_table(&ttl_tables[_i]);
}
END_TEST

static const struct table own_tables[] = {
    {"at its last ms it lives", {3, 0, 0}, {{99900, 100, 1}, {1, 0, 1}}},
    {"after that it is out, the older ones are not", {3, 0, 0},
	{{99899, 100, 0}, {1, 0, 1}}},
    {"the dead do not count as versions", {1, 0, 0},
	{{99899, 100, 0}, {99000, 0, 1}, {98000, 0, 0}}},
    {"min_versions does not protect from it", {3, 3, 0}, {{99899, 100, 0}}},
    {"the shorter of both TTLs decides", {3, 0, 10000},
	{{80000, 50000, 0}, {70000, 0, 0}}},
    /* 70000 was over at 80001, when 71000 (until 85000) lived. */
    {"once out, always out: the newer one died later", {3, 1, 10000},
	{{71000, 14000, 0}, {70000, 0, 0}}},
    /* 71000 died at 75001, before 70000 was over. */
    {"one that died before does not count", {3, 1, 10000},
	{{71000, 4000, 0}, {70000, 0, 1}, {69000, 0, 0}}},
    /* 71000 died at the very ms in which 70000 was over. */
    {"one that died at the same moment does not count", {3, 1, 10000},
	{{71000, 9000, 0}, {70000, 0, 1}}},
};

START_TEST(its_own_ttl_ends_a_version_and_no_other)
{
	check_table(&own_tables[_i]);
}
END_TEST

/* A column whose rules changed at 98000, with sequence 7. */
static const struct {
	const char *claim;
	struct fold_rules past, rules;
	struct {
		int64_t timestamp, ttl;
		uint64_t sequence;
		bool live;
	} rows[4]; /* ends at timestamp 0 */
} past_tables[] = {
    {"what had expired does not come back", {3, 0, 10000}, {3, 0, 0},
	{{88000, 0, 0, 1}, {87999, 0, 0, 0}, {80000, 0, 0, 0}}},
    {"what expired since by the old rules does", {3, 0, 10000}, {3, 0, 50000},
	{{88001, 0, 0, 1}, {50000, 0, 0, 0}}},
    {"what was stored since was not there to expire", {3, 0, 10000}, {3, 0, 0},
	{{88000, 0, 0, 1}, {70000, 0, 7, 1}}},
    {"and shows that what had expired is removed", {3, 1, 10000}, {3, 0, 0},
	{{80000, 0, 7, 1}, {70000, 0, 0, 1}}},
    {"what an earlier change has marked was there", {3, 0, 10000}, {3, 0, 0},
	{{80000, 0, 6, 0}}},
    {"what was pushed out stays so when a newer one dies", {2, 0, 0}, {2, 0, 0},
	{{97000, 1500, 0, 0}, {96000, 0, 0, 1}, {95000, 0, 0, 0}}},
    {"but not where the newer one had died before", {2, 0, 0}, {2, 0, 0},
	{{97000, 900, 0, 0}, {96000, 0, 0, 1}, {95000, 0, 0, 1}}},
    {"what min_versions held is not held by fewer", {3, 2, 1000}, {3, 1, 1000},
	{{97000, 0, 0, 1}, {96000, 0, 0, 0}}},
};

START_TEST(what_is_past_stays_out_under_new_rules)
{
	struct fold_past past = {7, 98000, past_tables[_i].past};
	struct fold fold;

	fold_init(&fold, &past_tables[_i].rules, &past, NOW);
	for (int i = 0; past_tables[_i].rows[i].timestamp; i++)
		ck_assert_msg(fold_add(&fold, past_tables[_i].rows[i].timestamp,
				  past_tables[_i].rows[i].ttl,
				  past_tables[_i].rows[i].sequence) ==
				  past_tables[_i].rows[i].live,
		    "%s: version %lld", past_tables[_i].claim,
		    (long long)past_tables[_i].rows[i].timestamp);
	fold_release(&fold);
}
END_TEST

START_TEST(rules_that_change_in_a_column_judge_the_rest_of_it)
{
	struct fold_rules before = {2, 0, 0}, after = {9, 0, 0};
	struct fold_past past = {7, NOW, {2, 0, 0}};
	struct fold fold;

	fold_init(&fold, &before, NULL, NOW);
	ck_assert_int_eq(fold_add(&fold, 90, 0, 0), 1);
	ck_assert_int_eq(fold_resume(&fold, &after, &past, NOW + 5), 0);
	ck_assert_int_eq(fold_add(&fold, 80, 0, 0), 1);
	ck_assert_int_eq(fold_add(&fold, 70, 0, 0), 0);
	ck_assert_int_eq(fold_add(&fold, 60, 0, 7), 1);
	fold_release(&fold);
}
END_TEST

START_TEST(a_column_forgets_the_one_before)
{
	struct fold_rules rules = {1, 1, 10000};
	struct fold fold;

	fold_init(&fold, &rules, NULL, NOW);
	ck_assert_int_eq(fold_add(&fold, 80000, 0, 0), 1);
	ck_assert(fold_full(&fold));
	fold_column(&fold);
	ck_assert(!fold_full(&fold));
	ck_assert_int_eq(fold_add(&fold, 80000, 0, 0), 1);
	fold_release(&fold);
}
END_TEST

START_TEST(full_means_that_nothing_older_lives)
{
	struct fold_rules rules = {3, 0, 10000};
	struct fold fold;

	fold_init(&fold, &rules, NULL, NOW);
	ck_assert_int_eq(fold_add(&fold, 99899, 100, 0), 0);
	ck_assert(!fold_full(&fold));
	ck_assert_int_eq(fold_add(&fold, 95000, 0, 0), 1);
	ck_assert(!fold_full(&fold));
	ck_assert_int_eq(fold_add(&fold, 80000, 0, 0), 0);
	ck_assert(fold_full(&fold));
	fold_release(&fold);
}
END_TEST

static const struct {
	struct fold_rules rules;
	int64_t timestamp, ttl, expires;
} expiries[] = {
    {{1, 0, 0}, 5, 0, NEVER},
    {{1, 0, 0}, 5, 10, 16},
    {{1, 0, 20}, 5, 0, 26},
    {{1, 0, 20}, 5, 10, 16},
    {{1, 0, 20}, 5, 30, 26},
    {{1, 0, 0}, TS_MAX, 10, NEVER},
    {{1, 0, 20}, TS_MAX, INT64_MAX, NEVER},
};

START_TEST(a_version_expires_when_its_first_ttl_is_over)
{
	ck_assert_int_eq(fold_expires(&expiries[_i].rules,
			     expiries[_i].timestamp, expiries[_i].ttl),
	    expiries[_i].expires);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int
main(void)
{
	Suite *suite = suite_create("fold");
	TCase *visible = tcase_create("visible");
	TCase *time = tcase_create("time");

	tcase_add_loop_test(visible, versions_beyond_the_limit_are_out, 0,
	    COUNT(version_tables));
	tcase_add_test(visible, a_column_forgets_the_one_before);
	tcase_add_loop_test(visible, what_is_past_stays_out_under_new_rules, 0,
	    COUNT(past_tables));
	tcase_add_test(
	    visible, rules_that_change_in_a_column_judge_the_rest_of_it);
	tcase_add_test(visible, full_means_that_nothing_older_lives);
	tcase_add_loop_test(time, the_family_ttl_spares_what_min_versions_holds,
	    0, COUNT(ttl_tables));
	tcase_add_loop_test(time, its_own_ttl_ends_a_version_and_no_other, 0,
	    COUNT(own_tables));
	tcase_add_loop_test(time, a_version_expires_when_its_first_ttl_is_over,
	    0, COUNT(expiries));
	suite_add_tcase(suite, visible);
	suite_add_tcase(suite, time);

	return suite_run(suite);
}
