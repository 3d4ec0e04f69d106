/* Random calls of every kind against a model that keeps everything, with
 * clean-up, compaction and reopening at random moments: no read may tell.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "kv/local.h"
#include "kv/local_clean.h"
#include "kv/local_time.h"
#include "kv/ordered.h"
#include "kv/schema.h"
#include "kv/why.h"
#include "model_reads.h"
#include "store_dir.h"
#include "suite.h"

#define RUNS 30
#define STEPS 150
#define OPS_MAX 4
#define START 1000000 /* ms, where the clock begins */

/* One run: a store and its model. */
static bool on_disk;
static bool mortal;    /* TTLs may be used */
static int64_t latest; /* that the store has been told of */
static struct clock test_clock;
static struct ordered *memory;
static uint8_t big[20000];

/* --- the store ---------------------------------------------------------- */

static struct ordered *
open_ordered(void)
{
	struct ordered_options options = {
	    .directory = store_dir(), .cache = 32 << 20, .create = true};
	struct ordered *o;

	if (!on_disk) {
		if (memory)
			return ordered_mem_reopen(memory);
		ck_assert_int_eq(ordered_mem_open(&memory), 0);
		return memory;
	}
	ck_assert_int_eq(ordered_wt_open(&options, &o), 0);
	return o;
}

static void
open_store(void)
{
	struct local_options options = {.clock = &test_clock};
	int r = local_open(open_ordered(), &options, &engine);

	ck_assert_msg(r == 0, "open: %s", why_text(r));
}

static void
close_store(void)
{
	ck_assert_int_eq(engine->methods->close(engine), 0);
}

/* Gives every family of a schema random rules, and a way to be stored. */
static void
choose_rules(struct schema *schema)
{
	static const uint32_t few[] = {1, 2, 3, 5, 20};
	static const uint32_t many[] = {3, 17, 18, 20, 30};
	const uint32_t *versions = narrow ? many : few;

	for (unsigned i = 0; i < MODEL_FAMILIES; i++) {
		struct family *f;
		ck_assert_int_eq(schema_declare(schema, families[i], &f), 0);
		f->versions = versions[chance(5)];
		f->min_versions = 0;
		f->compression = (enum compression)chance(3);
		f->ttl = TTL_FOREVER;
		if (mortal && chance(2))
			f->ttl = 1 + (uint32_t)chance(2);
		if (f->ttl != TTL_FOREVER && chance(2))
			f->min_versions = 1 + (uint32_t)chance(2);
		if (f->min_versions > f->versions)
			f->min_versions = f->versions;
	}
}

/* Gives the model the rules of a schema. */
static void
tell_rules(const struct schema *schema)
{
	for (unsigned i = 0; i < MODEL_FAMILIES; i++) {
		const struct family *f = schema_family(schema, families[i]);
		model_rules(model, i, f->versions, f->min_versions,
		    f->ttl == TTL_FOREVER ? 0 : f->ttl * 1000);
	}
}

static void
make_table(void)
{
	struct schema schema = {0};
	struct attrs owner = {
	    .set = ATTR_MODE | ATTR_UID | ATTR_GID, .mode = 0755};

	ck_assert_int_eq(buf_set(&schema.name, table_name()), 0);
	choose_rules(&schema);
	int r = engine->methods->table_create(engine, &schema, &owner);
	ck_assert_msg(r == 0, "create: %s", why_text(r));
	tell_rules(&schema);
	schema_release(&schema);
}

/* Has some access of the next call fail, perhaps. */
static bool
inject_fault(unsigned accesses)
{
	if (on_disk || chance(6))
		return false;
	ordered_mem_fail(memory, chance(2) ? EIO : EAGAIN,
	    1 + (unsigned)chance(accesses), chance(2));
	return true;
}

/* With other rules, or refused; what they put out may still be stored. */
static void
alter_table(void)
{
	struct schema schema;

	ck_assert_int_eq(
	    engine->methods->table_schema(engine, table_name(), &schema), 0);
	choose_rules(&schema);
	bool faulty = chance(2) && inject_fault(300);
	int r = engine->methods->table_alter(engine, &schema, false);
	if (faulty)
		ordered_mem_fail(memory, 0, 0, false);
	ck_assert_msg(r == 0 || faulty, "alter: %s", why_text(r));
	if (r == 0)
		tell_rules(&schema);
	schema_release(&schema);
}

/* --- calls -------------------------------------------------------------- */

static struct slice
random_value(void)
{
	switch (chance(8)) {
	case 0:
		return (struct slice){0};
	case 1:
		return slice_of(big, 8190 + chance(5));
	case 2:
		return slice_of(big + chance(100), 8);
	default:
		return slice_of(big + chance(100), chance(20));
	}
}

static void
random_op(struct model_op *op, unsigned row)
{
	static const enum op_type types[] = {OP_PUT, OP_PUT, OP_PUT, OP_PUT,
	    OP_PUT, OP_DELETE_VERSION, OP_DELETE_VERSION, OP_DELETE_COLUMN,
	    OP_DELETE_FAMILY, OP_DELETE_FAMILY_VERSION, OP_INCREMENT,
	    OP_APPEND};

	*op = (struct model_op){.type = types[chance(narrow ? 7 : 12)]};
	if (narrow && chance(50) == 0)
		op->type = OP_DELETE_COLUMN;
	op->column =
	    (struct model_column){row, (unsigned)chance(MODEL_FAMILIES),
		(unsigned)chance(narrow ? 1 : MODEL_QUALIFIERS)};
	op->timestamp = chance(5) < 3 ? random_stamp() : TS_LATEST;
	if (op->type == OP_PUT || op->type == OP_APPEND)
		op->value = random_value();
	op->delta = (int64_t)chance(1000) - 500;
	if (mortal && chance(5) == 0)
		op->ttl = 1 + (int64_t)chance(1500);
}

static struct op
real_op(const struct model_op *op)
{
	return (struct op){.type = op->type,
	    .family = families[op->column.family],
	    .qualifier = qualifiers[op->column.qualifier],
	    .timestamp = op->timestamp,
	    .value = op->value,
	    .delta = op->delta,
	    .ttl = op->ttl};
}

static const char *
describe(const struct model_op *ops, size_t count, unsigned flags)
{
	static char text[1000];
	size_t at = (size_t)snprintf(
	    text, sizeof(text), "now %lld flags %u:", (long long)now, flags);

	for (size_t i = 0; i < count && at < sizeof(text); i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
		    " [type %d %u/%u/%u ts %lld size %zu ttl %lld]",
		    ops[i].type, ops[i].column.row, ops[i].column.family,
		    ops[i].column.qualifier,
		    ops[i].timestamp == TS_LATEST ? -1
						  : (long long)ops[i].timestamp,
		    ops[i].value.size, (long long)ops[i].ttl);
	return text;
}

static unsigned
random_flags(size_t count)
{
	switch (chance(8)) {
	case 0:
		return MUTATE_ABSENT;
	case 1:
		return MUTATE_REFUSE_PUSHED;
	case 2:
		return count == 1 ? MUTATE_PRESENT : 0;
	default:
		return 0;
	}
}

static void
compare_call(
    const struct model_op *expected, const struct op *ops, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ck_assert_msg(ops[i].stored == expected[i].stored,
		    "op %zu stored %lld, should be %lld", i,
		    (long long)ops[i].stored, (long long)expected[i].stored);
}

static void
random_call(void)
{
	struct model_op expected[OPS_MAX];
	struct op ops[OPS_MAX];
	struct model_condition model_condition;
	struct condition condition;
	unsigned row = (unsigned)chance(narrow ? 1 : MODEL_ROWS);
	size_t count = 1 + chance(2) * chance(OPS_MAX);
	bool conditional = chance(7) == 0, applied;

	for (size_t i = 0; i < count; i++) {
		random_op(&expected[i], row);
		ops[i] = real_op(&expected[i]);
	}
	unsigned flags = random_flags(count);
	model_condition = (struct model_condition){
	    .column = {row, (unsigned)chance(MODEL_FAMILIES),
		(unsigned)chance(MODEL_QUALIFIERS)},
	    .compare = (enum compare)chance(6),
	    .expected = random_value()};
	condition = (struct condition){
	    .family = families[model_condition.column.family],
	    .qualifier = qualifiers[model_condition.column.qualifier],
	    .compare = model_condition.compare,
	    .expected = model_condition.expected};
	struct mutation m = {.table = table_name(),
	    .row = rows[row],
	    .ops = ops,
	    .count = count,
	    .flags = flags,
	    .condition = conditional ? &condition : NULL};
	bool faulty = inject_fault(30);
	int r = engine->methods->mutate(engine, &m);
	if (faulty)
		ordered_mem_fail(memory, 0, 0, false);
	if (faulty && (r == -EIO || r == -EAGAIN))
		return; /* nothing of it may be there */
	int want = model_mutate(model, expected, count, flags,
	    conditional ? &model_condition : NULL, &applied);
	if (getenv("CELLFS_TEST_VERBOSE"))
		fprintf(
		    stderr, "%s -> %d\n", describe(expected, count, flags), r);
	/* With several faults in one call either may be named. */
	ck_assert_msg(count > 1 ? (r < 0) == (want < 0) : r == want,
	    "%s: %d (%s), should be %d", describe(expected, count, flags), r,
	    why_text(r), want);
	ck_assert_int_eq(m.applied, applied);
	if (r == 0 && applied)
		compare_call(expected, ops, count);
}

static void
set_clock(int64_t to)
{
	now = to;
	clock_set(&test_clock, now);
	if (now > latest)
		latest = now;
	model_clock(model, latest);
}

static void
random_clock(void)
{
	int64_t to = now + (int64_t)chance(3) * (int64_t)chance(4) * 250;

	set_clock(chance(4) ? to : to - 1000);
	ck_assert_int_eq(local_now((struct local *)engine), latest);
}

/* Ends the store without letting it write anything more. */
static void
crash(void)
{
	ordered_mem_fail(memory, EIO, 1, true);
	engine->methods->close(engine);
	ordered_mem_fail(memory, 0, 0, false);
}

/* A store that is opened goes by the clock's time, but by none at which
 * something that was seen to have expired had not. */
static void
reopen(void)
{
	int64_t ahead = 0;

	compare_columns();
	if (on_disk || chance(2)) {
		close_store();
	} else {
		crash();
		ahead = 1000;
	}
	now -= (int64_t)chance(2) * (int64_t)chance(4000);
	clock_set(&test_clock, now);
	open_store();
	int64_t begun = local_now((struct local *)engine);
	ck_assert_int_ge(begun, now);
	ck_assert_int_le(begun, latest + ahead);
	latest = begun;
	model_clock(model, latest);
}

static void
random_event(void)
{
	switch (chance(12)) {
	case 0:
		ck_assert_int_eq(clean_all((struct local *)engine), 0);
		break;
	case 1:
		ck_assert_int_eq(engine->methods->compact(engine,
				     (struct slice){0}, (struct slice){0}),
		    0);
		break;
	case 2:
		reopen();
		break;
	case 3:
		if (!narrow || chance(5) == 0)
			alter_table();
		break;
	case 4:
		if (chance(6) == 0) {
			ck_assert_int_eq(engine->methods->table_truncate(
					     engine, table_name()),
			    0);
			model_truncate(model);
		}
		break;
	default:
		break;
	}
}

static void
start_run(void)
{
	latest = START;
	model = model_new(START);
	set_clock(START);
	open_store();
	make_table();
	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (uint8_t)(i * 7 + i / 251);
}

static void
end_run(void)
{
	close_store();
	model_free(model);
	if (memory)
		ordered_mem_free(memory);
	memory = NULL;
}

static void
one_run(int steps)
{
	start_run();
	for (int i = 0; i < steps; i++) {
		random_clock();
		random_event();
		random_call();
		compare_columns();
		compare_scan();
		compare_listings();
	}
	end_run();
}

/* Every run of a seed takes its numbers from another part of the sequence. */
static void
start_chance(int run)
{
	mortal = run % 2;
	narrow = run % 3 == 2;
	chance_seed();
	for (int i = 0; i < run * 100000; i++)
		chance(2);
}

START_TEST(a_store_in_memory_answers_as_the_model)
{
	on_disk = false;
	start_chance(_i);
	one_run(STEPS);
}
END_TEST

START_TEST(a_store_on_disk_answers_as_the_model)
{
	on_disk = true;
	start_chance(_i);
	one_run(STEPS);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("model");
	TCase *mem = tcase_create("mem");
	TCase *disk = tcase_create("disk");

	tcase_set_timeout(mem, 60);
	tcase_set_timeout(disk, 120);
	tcase_add_checked_fixture(disk, store_dir_make, store_dir_remove);
	tcase_add_loop_test(
	    mem, a_store_in_memory_answers_as_the_model, 0, RUNS);
	tcase_add_loop_test(disk, a_store_on_disk_answers_as_the_model, 0, 3);
	suite_add_tcase(suite, mem);
	suite_add_tcase(suite, disk);

	return suite_run(suite);
}
