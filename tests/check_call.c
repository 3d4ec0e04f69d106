/* Calls as a whole: on what condition they are applied, and that nobody sees
 * half of one.
 */
#include <pthread.h>
#include <string.h>

#include "local_kit.h"
#include "suite.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))
#define THREADS 4
#define TIMES 200

/* --- conditions ------------------------------------------------------- */

/* before: what the cell holds, NULL: nothing. holds: whether it does with <,
 * <=, =, !=, >= and >, the expected value on the left. */
static const struct {
	const char *before, *expected, *holds;
} conditions[] = {
    /* Nothing is there: nothing is expected, but for !=. */
    {NULL, "", "yyynyy"},
    {"p1=b dc", "", "yyynyy"},
    {"p1=b~10", "", "yyynyy"},
    /* Nothing is there, but something expected: never, with != neither. */
    {NULL, "x", "nnnnnn"},
    {"p1=b dc", "b", "nnnnnn"},
    {"p1=b dv", "b", "nnnnnn"},
    /* Nothing is expected: whether the cell is empty, whatever is asked. */
    {"p1=", "", "yyynyy"},
    {"p1=b", "", "nnnynn"},
    /* The expected value and the cell's, as unsigned bytes. */
    {"p1=", "x", "nnnyyy"},
    {"p1=b", "a", "yynynn"},
    {"p1=b", "b", "nyynyn"},
    {"p1=b", "c", "nnnyyy"},
    {"p1=b", "ba", "nnnyyy"},
    {"p1=ba", "b", "yynynn"},
    {"p1=b", "\xff", "nnnyyy"},
    {"p1=\xff", "b", "yynynn"},
    /* The newest is meant. */
    {"p2=b p1=a", "b", "nyynyn"},
    {"p2=b p1=a dv2", "a", "nyynyn"},
};

/* Asks with one operator; whether the call was applied. */
static bool
applied(const char *expected, enum compare compare)
{
	struct condition condition = {.family = slice_text("f"),
	    .qualifier = slice_text("q"),
	    .compare = compare,
	    .expected = slice_text(expected)};
	struct op ops[] = {{.type = OP_PUT,
			       .family = slice_text("g"),
			       .qualifier = slice_text("done"),
			       .timestamp = TS_LATEST},
	    {.type = OP_DELETE_COLUMN,
		.family = slice_text("f"),
		.qualifier = slice_text("there"),
		.timestamp = TS_LATEST}};
	struct mutation m = {.table = slice_text("t"),
	    .row = slice_text("r"),
	    .ops = ops,
	    .count = 2,
	    .condition = &condition};

	ck_assert_int_eq(kit_engine->methods->mutate(kit_engine, &m), 0);
	return m.applied;
}

START_TEST(a_call_is_applied_if_its_condition_holds)
{
	for (int i = CMP_LESS; i <= CMP_GREATER; i++) {
		kit_do("df g/df b:p5 clock=1000");
		struct op put = {.type = OP_PUT,
		    .family = slice_text("f"),
		    .qualifier = slice_text("there"),
		    .timestamp = 5};
		struct mutation m = {.table = slice_text("t"),
		    .row = slice_text("r"),
		    .ops = &put,
		    .count = 1};
		ck_assert_int_eq(
		    kit_engine->methods->mutate(kit_engine, &m), 0);
		if (conditions[_i].before)
			kit_do(conditions[_i].before);
		bool holds = conditions[_i].holds[i] == 'y';
		ck_assert_msg(
		    applied(conditions[_i].expected, (enum compare)i) == holds,
		    "%s, %s expected, operator %d: %s",
		    conditions[_i].before ? conditions[_i].before : "nothing",
		    conditions[_i].expected, i, holds ? "refused" : "applied");
		ck_assert_int_eq(strstr(kit_show(), "g/done") != NULL, holds);
		ck_assert_int_eq(strstr(kit_show(), "there@5") == NULL, holds);
	}
}
END_TEST

/* --- beside each other ------------------------------------------------ */

/* Rounds of one call that puts the round's number in both families, on one of
 * two qualifiers by turns, and deletes the other. */
static void *
turn_often(void *failed)
{
	for (int i = 0; i < TIMES; i++) {
		struct slice here = slice_text(i % 2 ? "b" : "a");
		struct slice there = slice_text(i % 2 ? "a" : "b");
		const struct slice f = slice_text("f"), g = slice_text("g");
		struct slice value = slice_of(&i, sizeof(i));
		struct op ops[] = {
		    {.type = OP_PUT, .family = f, .qualifier = here},
		    {.type = OP_DELETE_COLUMN, .family = g, .qualifier = there},
		    {.type = OP_PUT, .family = g, .qualifier = here},
		    {.type = OP_DELETE_COLUMN, .family = f, .qualifier = there},
		};
		for (size_t j = 0; j < 4; j++) {
			ops[j].timestamp = TS_LATEST;
			ops[j].value = value;
		}
		struct mutation m = {.table = slice_text("t"),
		    .row = slice_text("r"),
		    .ops = ops,
		    .count = 4};
		if (kit_engine->methods->mutate(kit_engine, &m))
			return failed;
	}
	return NULL;
}

/* Reads the row: 2 cells, equal but for their families, or none yet. */
static void
read_turn(void)
{
	struct scan_spec spec = {.table = slice_text("t"), .versions = 1};
	struct cell cell;
	struct scan *scan;
	char qualifier[2] = {0};
	int value[2] = {0}, cells = 0, r;

	ck_assert_int_eq(
	    kit_engine->methods->scan_open(kit_engine, &spec, &scan), 0);
	for (; (r = kit_engine->methods->scan_next(scan, &cell)) == 0;
	     cells++) {
		ck_assert_int_lt(cells, 2);
		ck_assert_uint_eq(cell.size, sizeof(int));
		memcpy(&value[cells], cell.value.data, sizeof(int));
		qualifier[cells] = (char)cell.qualifier.data[0];
		ck_assert_int_eq(cell.family.data[0], cells ? 'g' : 'f');
	}
	ck_assert_int_eq(r, 1);
	kit_engine->methods->scan_close(scan);
	ck_assert(cells == 0 || cells == 2);
	ck_assert_int_eq(value[0], value[1]);
	ck_assert_int_eq(qualifier[0], qualifier[1]);
}

START_TEST(no_reader_sees_half_a_call)
{
	pthread_t threads[THREADS];
	void *failed;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, turn_often, kit_engine);
	for (int i = 0; i < TIMES; i++)
		read_turn();
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &failed);
		ck_assert_ptr_null(failed);
	}
	read_turn();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("call");
	TCase *c = tcase_create("call");

	tcase_add_checked_fixture(c, kit_open, kit_close);
	tcase_add_loop_test(
	    c, a_call_is_applied_if_its_condition_holds, 0, COUNT(conditions));
	tcase_add_test(c, no_reader_sees_half_a_call);
	suite_add_tcase(s, c);
	return suite_run(s);
}
