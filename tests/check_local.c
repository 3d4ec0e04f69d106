/* The rules of versions, deletes, TTLs and atomic calls, in the notation of
 * local_kit.h. check_local_read has the reading side, check_call conditions.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/ordered.h"
#include "kv/why.h"
#include "local_kit.h"
#include "suite.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))
#define BETWEEN 3 /* ways of kit_between */

struct worked {
	uint32_t versions, min_versions, ttl;
	const char *words, *shows;
};

static void
check_worked(const struct worked *table, int i)
{
	const struct worked *w = &table[i / BETWEEN];

	kit_between = i % BETWEEN;
	kit_rules(w->versions, w->min_versions, w->ttl);
	kit_do(w->words);
	ck_assert_msg(strcmp(kit_show(), w->shows) == 0,
	    "V%u MINV%u TTL%u: %s: shows \"%s\", should \"%s\"", w->versions,
	    w->min_versions, w->ttl, w->words, kit_show(), w->shows);
}

/* --- versions and deletes ----------------------------------------------- */

static const struct worked order_table[] = {
    /* VERSIONS pushes out for good, whatever is deleted later. */
    {2, 0, 0, "p1 p2 p3", "q@3=3 q@2=2"},
    {2, 0, 0, "p1 p2 p3 dv3", "q@2=2"},
    {2, 0, 0, "p1 p2 p3 p4 dv4 dv3", ""},
    {1, 0, 0, "p1 p2 dv2", ""},
    {1, 0, 0, "p2 p1", "q@2=2"},
    {1, 0, 0, "p2 p1 dv2", ""},
    {1, 0, 0, "p2 dv2 p1", "q@1=1"},
    {2, 0, 0, "p1 p2 p3 dv3 p3", "q@3=3 q@2=2"},
    /* A put of the same timestamp takes the other's place. */
    {3, 0, 0, "p5=a p5=b", "q@5=b"},
    {2, 0, 0, "p5=a p5=b p4 p3", "q@5=b q@4=4"},
    {3, 0, 0, "p5=a p5=b dv5", ""},
    {1, 0, 0, "p5=a dv5 p5=b", "q@5=b"},
    /* A delete covers what came before it, nothing that comes after. */
    {3, 0, 0, "p10 dc15 p12", "q@12=12"},
    {3, 0, 0, "p10 dc15 p15 p16", "q@16=16 q@15=15"},
    {3, 0, 0, "dc15 p10", "q@10=10"},
    {3, 0, 0, "p5 dc10 p7=b", "q@7=b"},
    {3, 0, 0, "p1 p2 p3 dc2", "q@3=3"},
    {3, 0, 0, "p10 p20 df15 p12", "q@20=20 q@12=12"},
    {3, 0, 0, "p1 df3 p2 p4", "q@4=4 q@2=2"},
    {3, 0, 0, "dfv10 p10", "q@10=10"},
    {3, 0, 0, "dv7 p7", "q@7=7"},
    {3, 0, 0, "a:p4 a:p5 a:p6 b:p5 df5", "a@6=6"},
    {3, 0, 0, "a:p4 a:p5 b:p5 b:p6 dfv5", "a@4=4 b@6=6"},
    {3, 0, 0, "a:p4 g/a:p5 df", "g/a@5=5"},
    /* Without a timestamp, the future too. */
    {3, 0, 0, "p5000 p900 dv", "q@900=900"},
    {3, 0, 0, "p5000 p900 dc", ""},
    {3, 0, 0, "a:p5000 b:p900 df", ""},
    {3, 0, 0, "p1 p2 p3 dv dv", "q@1=1"},
    {3, 0, 0, "p1 p2 p3 { dv dv }", "q@1=1"},
    {3, 0, 0, "dv p1000", "q@1000=1000"},
};

START_TEST(only_the_order_of_operations_counts)
{
	check_worked(order_table, _i);
}
END_TEST

static const struct worked call_table[] = {
    /* In one call a delete covers the puts beside it, whichever is first. */
    {3, 0, 0, "{ dc10 p10 }", ""},
    {3, 0, 0, "{ p10 dc10 }", ""},
    {3, 0, 0, "{ p10 dv10 }", ""},
    {3, 0, 0, "{ df10 p5 p11 }", "q@11=11"},
    {3, 0, 0, "{ df10 p10 } p9", "q@9=9"},
    {3, 0, 0, "{ dfv10 p10 b:p10 b:p9 }", "b@9=9"},
    {3, 0, 0, "{ g/df10 p10 g/p10 }", "q@10=10"},
    /* One `now` for the call: both at 1000, or the put at newest + 1. */
    {3, 0, 0, "p1 { dc p=new }", ""},
    {3, 0, 0, "p1 { dv p=new }", "q@1000=new"},
    {3, 0, 0, "p2000 { dc p=new }", "q@2001=new"},
    {3, 0, 0, "p2000 { df p=new }", "q@2001=new"},
    {3, 0, 0, "p2000 b:p3000 { df p=new }", ""},
    {3, 0, 0, "p1 { dc p2000 }", "q@2000=2000"},
    {3, 0, 0, "p3000 { dc p2000 }", ""},
    /* The last of the same cell stands. */
    {3, 0, 0, "{ p5=a p5=b }", "q@5=b"},
    {3, 0, 0, "{ p=a p=b }", "q@1000=b"},
    {2, 0, 0, "{ p1 p2 p3 }", "q@3=3 q@2=2"},
    {1, 0, 0, "{ p5 p7 dv7 }", "q@5=5"},
    /* What a version that never lived replaces pushes nothing out. */
    {3, 0, 0, "p1 p2 p3 { p3=x~9 p4 }", "q@4=4 q@2=2 q@1=1"},
    {3, 0, 0, "p1 p2 p3 { p4 p5 p3=x~9 p3=y~9 }", "q@5=5 q@4=4 q@2=2"},
    {3, 0, 0, "p1 p2 p3 { p3=x~9 p3=y p4 }", "q@4=4 q@3=y q@2=2"},
    {17, 0, 0,
	"p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11 p12 p13 p14 p15 p16 p17 "
	"{ p9=x~9 p18 }",
	"q@18=18 q@17=17 q@16=16 q@15=15 q@14=14 q@13=13 q@12=12 q@11=11 "
	"q@10=10 q@8=8 q@7=7 q@6=6 q@5=5 q@4=4 q@3=3 q@2=2 q@1=1"},
};

START_TEST(a_call_is_one_moment)
{
	check_worked(call_table, _i);
}
END_TEST

static const struct worked stamp_table[] = {
    {3, 0, 0, "p=a", "q@1000=a"},
    {3, 0, 0, "p=a p=b", "q@1001=b q@1000=a"},
    {3, 0, 0, "p5000=a p=b", "q@5001=b q@5000=a"},
    {3, 0, 0, "p=a clock=500 p=b", "q@1001=b q@1000=a"},
    {3, 0, 0, "p=a dv p=b", "q@1000=b"},
    {3, 0, 0, "p0=a", "q@0=a"},
    {3, 0, 0, "p9223372036854775806=a", "q@9223372036854775806=a"},
    {3, 0, 0, "p=a b:p=b", "b@1000=b q@1000=a"},
};

START_TEST(what_the_store_stamps_is_always_the_newest)
{
	check_worked(stamp_table, _i);
}
END_TEST

static const struct worked time_table[] = {
    {3, 0, 10, "clock=100000 p89999 p90000 p95000",
	"q@95000=95000 q@90000=90000"},
    {3, 1, 10, "clock=100000 p80000 p85000", "q@85000=85000"},
    {3, 1, 10, "clock=100000 p85000 p95000", "q@95000=95000"},
    {5, 2, 10, "clock=100000 p80000 p81000 p82000 dv82000", "q@81000=81000"},
    {3, 2, 60, "clock=100000 p10000 p20000 p30000",
	"q@30000=30000 q@20000=20000"},
    {3, 2, 60, "clock=100000 p10000 p20000 p30000 dv30000", "q@20000=20000"},
    {3, 0, 0, "p500 p1000=b~100 clock=1100", "q@1000=b q@500=500"},
    {3, 0, 0, "p500 p1000=b~100 clock=1101", "q@500=500"},
    {1, 0, 0, "p500 p1000=b~100 clock=1101", ""},
    {3, 3, 0, "p1000=b~100 clock=1101", ""},
    {3, 0, 1, "p1000=b~5000 clock=2001", ""},
    /* What is out stays out when a newer one is deleted or dies. */
    {3, 1, 10, "p1000 p5000 clock=12000 dv5000", ""},
    {3, 1, 10, "p1000 p5000=b~20000 clock=30000", ""},
    {3, 1, 10, "p1000 p5000=b~1000 clock=30000", "q@1000=1000"},
    {5, 2, 1, "p900 p910 p920 p930=b~1100 p940=b~1100 clock=3000 p=new",
	"q@3000=new"},
    /* What was dead before it came has lived for no one. */
    {3, 1, 10, "p1000 clock=30000 p29000=b~500", "q@1000=1000"},
    {1, 0, 0, "p1000 clock=30000 p29000=b~500", "q@1000=1000"},
    {3, 0, 0, "p1000=a clock=30000 p1000=b~500", ""},
};

START_TEST(what_time_takes_stays_away)
{
	check_worked(time_table, _i);
}
END_TEST

START_TEST(lowered_rules_act_for_good)
{
	kit_rules(3, 0, 0);
	kit_do("p1 p2 p3");
	kit_rules(1, 0, 0);
	ck_assert_str_eq(kit_show(), "q@3=3");
	kit_rules(3, 0, 0);
	ck_assert_str_eq(kit_show(), "q@3=3");
	kit_do("clock=9000");
	kit_rules(3, 0, 1);
	kit_rules(3, 0, 0);
	ck_assert_str_eq(kit_show(), "");
}
END_TEST

/* --- increments and appends --------------------------------------------- */

static int64_t
counter(void)
{
	struct place place = kit_column("r", "q");
	struct value *v;
	uint8_t bytes[8];

	ck_assert_int_eq(kit_engine->methods->value_open(
			     kit_engine, &place, (struct version){0}, &v),
	    0);
	ck_assert_uint_eq(v->info.size, 8);
	ck_assert_int_eq(kit_engine->methods->value_read(v, 0, bytes, 8), 8);
	kit_engine->methods->value_close(v);
	return (int64_t)be64(bytes);
}

static const struct {
	const char *words;
	int64_t sum;
} sums[] = {
    {"i4", 4},
    {"i0", 0},
    {"i4 i-10", -6},
    {"i9223372036854775807 i1", INT64_MIN},
    {"i4 dc i3", 3},
    {"i4 p5=12345678 dv5 i1", 5},
    {"i4 { i1 i1 }", 5},
    {"i4 clock=10 i5", 9},
};

START_TEST(increments_add)
{
	kit_do(sums[_i].words);
	ck_assert_int_eq(counter(), sums[_i].sum);
}
END_TEST

START_TEST(what_is_not_eight_bytes_is_not_incremented)
{
	static const char *const before[] = {"p5=", "p5=5", "p5=123456789"};

	kit_do(before[_i]);
	ck_assert_int_eq(kit_try("{ i1 b:p5 }", 0), -EINVAL);
	ck_assert_str_eq(kit_show() + 3, before[_i] + 2);
}
END_TEST

static const struct worked append_table[] = {
    {3, 0, 0, "a=x", "q@1000=x"},
    {3, 0, 0, "p5=x a=y", "q@1000=xy q@5=x"},
    {3, 0, 0, "p5000=x a=y", "q@5001=xy q@5000=x"},
    {3, 0, 0, "a=x a=y a=z", "q@1002=xyz q@1001=xy q@1000=x"},
    {3, 0, 0, "p5=x { a=y p6=z }", "q@1000=xy q@6=z q@5=x"},
};

START_TEST(appends_put_behind_the_newest)
{
	check_worked(append_table, _i);
}
END_TEST

START_TEST(a_ttl_of_its_own_is_carried_over)
{
	kit_do("p1000=x~500 a=y");
	ck_assert_str_eq(kit_show(), "q@1001=xy q@1000=x");
	kit_do("clock=1502");
	ck_assert_str_eq(kit_show(), "");
}
END_TEST

#define THREADS 4
#define TIMES 200

static void *
increment_often(void *unused)
{
	for (int i = 0; i < TIMES; i++) {
		struct op op = {.type = OP_INCREMENT,
		    .family = slice_text("f"),
		    .qualifier = slice_text("q"),
		    .timestamp = TS_LATEST,
		    .delta = 4};
		struct mutation m = {.table = slice_text("t"),
		    .row = slice_text("r"),
		    .ops = &op,
		    .count = 1};
		if (kit_engine->methods->mutate(kit_engine, &m))
			return kit_engine; /* not NULL: failed */
	}
	return unused;
}

START_TEST(no_increment_is_lost_between_threads)
{
	pthread_t threads[THREADS];
	void *failed;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, increment_often, NULL);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &failed);
		ck_assert_ptr_null(failed);
	}
	ck_assert_int_eq(counter(), THREADS * TIMES * 4);
}
END_TEST

/* --- flags ----------------------------------------------- */

static const struct {
	const char *before, *call;
	unsigned flags;
	int result;
} refusals[] = {
    {"p1", "p", MUTATE_ABSENT, -EEXIST},
    {"p1", "p2", MUTATE_ABSENT, 0},
    {"p1", "p1=b", MUTATE_ABSENT, -EEXIST},
    {"p1 dc", "p1", MUTATE_ABSENT, 0},
    {"p1=a~10", "p", MUTATE_ABSENT, 0},
    {"p4 p5 p6", "p3", MUTATE_REFUSE_PUSHED, -EDQUOT},
    {"p4 p5 p6", "p5=b", MUTATE_REFUSE_PUSHED, 0},
    {"p4 p5 p6", "p7", MUTATE_REFUSE_PUSHED, 0},
    {"p4 p5 p6", "p3", 0, 0},
    {"p1", "dv2", MUTATE_PRESENT, -ENOENT},
    {"p1", "dv1", MUTATE_PRESENT, 0},
    {"p1", "b:dc", MUTATE_PRESENT, -ENOENT},
    {"p5", "dc4", MUTATE_PRESENT, -ENOENT},
    {"p5", "dv", MUTATE_PRESENT, 0},
    {"p5", "g/df", MUTATE_PRESENT, -ENOENT},
    {"p5", "df", MUTATE_PRESENT, 0},
    {"p5", "df4", MUTATE_PRESENT, -ENOENT},
    {"p5", "{ b:p6 dv4 }", MUTATE_PRESENT, -ENOENT},
    {"p9223372036854775806", "p", 0, -EINVAL},
    {"p5", "{ b:p6 none/p5 }", 0, -EPERM},
};

START_TEST(a_refused_call_leaves_nothing)
{
	char before[200];

	kit_do(refusals[_i].before);
	snprintf(before, sizeof(before), "%s", kit_show());
	int r = kit_try(refusals[_i].call, refusals[_i].flags);
	ck_assert_msg(r == refusals[_i].result, "%s then %s: %d",
	    refusals[_i].before, refusals[_i].call, r);
	if (r)
		ck_assert_str_eq(kit_show(), before);
}
END_TEST

/* --- attributes --------------------------------------------------------- */

static struct attrs
attrs_of(const char *qualifier)
{
	struct place place = kit_column("r", qualifier);
	struct info info;

	int r = kit_engine->methods->stat(
	    kit_engine, &place, (struct version){0}, &info);
	ck_assert_msg(r == 0, "stat: %s", why_text(r));
	return info.attrs;
}

static void
set(const char *qualifier, struct attrs attrs)
{
	struct place place = kit_column("r", qualifier);

	ck_assert_int_eq(kit_engine->methods->set_attrs(
			     kit_engine, &place, (struct version){0}, &attrs),
	    0);
}

START_TEST(a_cell_has_its_tables_owner_and_its_timestamp)
{
	kit_do("p1234");
	struct attrs attrs = attrs_of("q");
	ck_assert_uint_eq(attrs.set, 0);
	ck_assert_uint_eq(attrs.mode, 0644);
	ck_assert_uint_eq(attrs.uid, 7);
	ck_assert_uint_eq(attrs.gid, 8);
	ck_assert_int_eq(attrs.mtime.tv_sec, 1);
	ck_assert_int_eq(attrs.mtime.tv_nsec, 234000000);
}
END_TEST

START_TEST(a_new_version_inherits_mode_and_owner_but_no_time)
{
	kit_do("p1");
	set("q", (struct attrs){.set = ATTR_MODE | ATTR_UID | ATTR_MTIME,
		     .mode = 06750,
		     .uid = 99,
		     .mtime = {77, 5}});
	ck_assert_uint_eq(attrs_of("q").mode, 06750);
	ck_assert_int_eq(attrs_of("q").mtime.tv_sec, 77);
	ck_assert_str_eq(kit_show(), "q@1=1");
	kit_do("p=b");
	struct attrs attrs = attrs_of("q");
	ck_assert_uint_eq(attrs.mode, 0750);
	ck_assert_uint_eq(attrs.uid, 99);
	ck_assert_uint_eq(attrs.gid, 8);
	ck_assert_int_eq(attrs.mtime.tv_sec, 1);
}
END_TEST

START_TEST(what_equals_the_default_is_not_kept)
{
	kit_do("p1");
	set("q", (struct attrs){.set = ATTR_MODE, .mode = 0600});
	ck_assert_uint_eq(
	    attrs_of("q").set, (unsigned)(ATTR_MODE | ATTR_UID | ATTR_GID));
	set("q", (struct attrs){.set = ATTR_MODE, .mode = 0644});
	ck_assert_uint_eq(attrs_of("q").set, 0);
}
END_TEST

START_TEST(a_stamp_ahead_of_the_clock_keeps_the_clock)
{
	kit_do("p5000 p=b");
	ck_assert_int_eq(attrs_of("q").mtime.tv_sec, 1);
	ck_assert_uint_eq(attrs_of("q").set, ATTR_MTIME);
}
END_TEST

START_TEST(fresh_attributes_are_for_new_columns_only)
{
	struct op op = {.type = OP_PUT,
	    .family = slice_text("f"),
	    .qualifier = slice_text("q"),
	    .timestamp = TS_LATEST,
	    .fresh = {.set = ATTR_MODE | ATTR_UID, .mode = 0600, .uid = 5}};
	struct mutation m = {.table = slice_text("t"),
	    .row = slice_text("r"),
	    .ops = &op,
	    .count = 1};

	ck_assert_int_eq(kit_engine->methods->mutate(kit_engine, &m), 0);
	ck_assert_uint_eq(attrs_of("q").mode, 0600);
	ck_assert_uint_eq(attrs_of("q").uid, 5);
	op.fresh.mode = 0666;
	op.attrs = (struct attrs){.set = ATTR_GID, .gid = 3};
	ck_assert_int_eq(kit_engine->methods->mutate(kit_engine, &m), 0);
	ck_assert_uint_eq(attrs_of("q").mode, 0600);
	ck_assert_uint_eq(attrs_of("q").gid, 3);
}
END_TEST

/* --- faults ------------------------------------------------------------- */

/* Fails the n-th access of a call for each n: the row is as before or as
 * after, and the call can be made again. */
static void
check_faults(const char *before, const char *call, const char *shows)
{
	char old[200];
	int r = -EIO;

	kit_do(before);
	snprintf(old, sizeof(old), "%s", kit_show());
	for (unsigned n = 1; r; n++) {
		ck_assert_uint_lt(n, 1000);
		ordered_mem_fail(kit_ordered, EIO, n, true);
		r = kit_try(call, 0);
		ordered_mem_fail(kit_ordered, 0, 0, false);
		ck_assert_str_eq(kit_show(), r ? old : shows);
	}
}

START_TEST(a_call_that_fails_leaves_nothing)
{
	check_faults("p1 p2 p3 b:p1 b:p2", "{ p4 b:dv2 g/p=x a:a=y }",
	    "a@1000=y b@1=1 q@4=4 q@3=3 q@2=2 g/q@1000=x");
}
END_TEST

START_TEST(a_transaction_that_must_be_repeated_is)
{
	kit_do("p1 p2 p3");
	for (unsigned n = 1; n < 40; n++) {
		ordered_mem_fail(kit_ordered, EAGAIN, n, false);
		kit_do("{ p=x b:p=y }");
		ordered_mem_fail(kit_ordered, 0, 0, false);
	}
	ck_assert_ptr_nonnull(strstr(kit_show(), "q@1038=x"));
}
END_TEST

/* --- sizes -------------------------------------------------------------- */

#define CELL_MAX ((uint64_t)10 << 20) /* as families have it by default */

static int
count_reads(const struct source *s, uint64_t offset, void *to, size_t size)
{
	(void)offset;
	memset(to, 1, size);
	++*(int *)s->context;
	return 0;
}

static int
apply(struct op *ops, size_t count)
{
	struct mutation m = {.table = slice_text("t"),
	    .row = slice_text("r"),
	    .ops = ops,
	    .count = count};

	return kit_engine->methods->mutate(kit_engine, &m);
}

static struct op
sourced(enum op_type type, const char *qualifier, const struct source *source)
{
	return (struct op){.type = type,
	    .family = slice_text("f"),
	    .qualifier = slice_text(qualifier),
	    .timestamp = TS_LATEST,
	    .source = source};
}

START_TEST(a_call_with_too_large_a_cell_is_refused_before_anything_is_read)
{
	int reads = 0;
	const struct source fits = {CELL_MAX, count_reads, &reads};
	const struct source large = {CELL_MAX + 1, count_reads, &reads};
	struct op ops[] = {sourced(OP_PUT, "a", &fits),
	    sourced(_i ? OP_APPEND : OP_PUT, "b", &large)};

	ck_assert_int_eq(apply(ops, 2), -EFBIG);
	ck_assert_ptr_nonnull(strstr(why_text(-EFBIG), "max_cell_size"));
	ck_assert_int_eq(reads, 0);
	ck_assert_str_eq(kit_show(), "");
}
END_TEST

START_TEST(what_is_appended_may_be_as_large_as_a_cell)
{
	int reads = 0;
	const struct source half = {CELL_MAX / 2, count_reads, &reads};
	struct op op = sourced(OP_APPEND, "q", &half);
	const struct place place = kit_column("r", "q");
	struct info info;

	for (int i = 1; i <= 2; i++) {
		ck_assert_int_eq(apply(&op, 1), 0);
		ck_assert_int_eq(kit_engine->methods->stat(kit_engine, &place,
				     (struct version){0}, &info),
		    0);
		ck_assert_uint_eq(info.size, i * half.size);
	}
	ck_assert_int_eq(apply(&op, 1), -EFBIG);
}
END_TEST

/* --- time --------------------------------------------------------------- */

START_TEST(a_clock_that_goes_back_brings_nothing_back)
{
	kit_rules(3, 0, 1);
	kit_do("p1000=a");
	kit_clock(3000);
	ck_assert_str_eq(kit_show(), "");
	kit_clock(1500);
	ck_assert_str_eq(kit_show(), "");
	kit_do("p=b");
	ck_assert_str_eq(kit_show(), "q@3000=b");
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("local");
	TCase *rule = tcase_create("rule");
	TCase *change = tcase_create("change");
	TCase *attrs = tcase_create("attrs");
	TCase *faults = tcase_create("faults");
	TCase *sizes = tcase_create("sizes");

	tcase_add_loop_test(rule, only_the_order_of_operations_counts, 0,
	    COUNT(order_table) * BETWEEN);
	tcase_add_loop_test(
	    rule, a_call_is_one_moment, 0, COUNT(call_table) * BETWEEN);
	tcase_add_loop_test(rule, what_the_store_stamps_is_always_the_newest, 0,
	    COUNT(stamp_table) * BETWEEN);
	tcase_add_loop_test(
	    rule, what_time_takes_stays_away, 0, COUNT(time_table) * BETWEEN);
	tcase_add_test(rule, lowered_rules_act_for_good);
	tcase_add_loop_test(change, increments_add, 0, COUNT(sums));
	tcase_add_loop_test(
	    change, what_is_not_eight_bytes_is_not_incremented, 0, 3);
	tcase_add_loop_test(change, appends_put_behind_the_newest, 0,
	    COUNT(append_table) * BETWEEN);
	tcase_add_test(change, a_ttl_of_its_own_is_carried_over);
	tcase_add_test(change, no_increment_is_lost_between_threads);
	tcase_add_loop_test(
	    change, a_refused_call_leaves_nothing, 0, COUNT(refusals));
	tcase_add_test(attrs, a_cell_has_its_tables_owner_and_its_timestamp);
	tcase_add_test(
	    attrs, a_new_version_inherits_mode_and_owner_but_no_time);
	tcase_add_test(attrs, what_equals_the_default_is_not_kept);
	tcase_add_test(attrs, a_stamp_ahead_of_the_clock_keeps_the_clock);
	tcase_add_test(attrs, fresh_attributes_are_for_new_columns_only);
	tcase_add_test(faults, a_call_that_fails_leaves_nothing);
	tcase_add_test(faults, a_transaction_that_must_be_repeated_is);

	tcase_add_loop_test(sizes,
	    a_call_with_too_large_a_cell_is_refused_before_anything_is_read, 0,
	    2);
	tcase_add_test(sizes, what_is_appended_may_be_as_large_as_a_cell);
	tcase_add_test(rule, a_clock_that_goes_back_brings_nothing_back);

	TCase *all[] = {rule, change, attrs, faults, sizes};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		tcase_add_checked_fixture(all[i], kit_open, kit_close);
		suite_add_tcase(suite, all[i]);
	}
	return suite_run(suite);
}
