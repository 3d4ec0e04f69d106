/* Random filters over random rows beside a second reading of the rules. */
#include "tests/filter_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/chance.h"
#include "tests/filter_model.h"

#define TABLES 12
#define CELLS 400
#define KEPT 3 /* versions, by the families */
#define ROOM 8192

static struct model_cell cells[CELLS];
static int cell_count;

static void
put_column(const char *row, const char *family, const char *qualifier)
{
	static const char *const values[] = {"v1", "v2", "V1", "10", "x", ""};

	int left = KEPT;

	for (int64_t timestamp = 5; timestamp > 0 && left; timestamp--) {
		struct model_cell *c = &cells[cell_count];
		if (chance(3))
			continue;
		left--;
		*c = (struct model_cell){
		    .timestamp = timestamp, .number = cell_count};
		strcpy(c->row, row);
		strcpy(c->family, family);
		strcpy(c->qualifier, qualifier);
		strcpy(c->value, values[chance(COUNT(values))]);
		cell_count++;
	}
}

static void
fill_table(void)
{
	static const char *const rows[] = {"a", "ab", "b", "b1", "c"};
	static const char *const qualifiers[] = {
	    "", "Z", "p", "q", "q1", "q2", "r"};
	char put[100];

	cell_count = 0;
	for (int i = 0; i < COUNT(rows); i++)
		for (int j = 0; j < COUNT(qualifiers) * 2; j++)
			if (chance(3))
				put_column(rows[i],
				    j < COUNT(qualifiers) ? "a" : "b",
				    qualifiers[j % COUNT(qualifiers)]);
	filter_kit_table();
	for (int i = 0; i < cell_count; i++) {
		const struct model_cell *c = &cells[i];
		snprintf(put, sizeof(put), "%s %s %s %lld %s", c->row,
		    c->family, *c->qualifier ? c->qualifier : "\"\"",
		    (long long)c->timestamp, *c->value ? c->value : "\"\"");
		filter_kit_put(put);
	}
}

static void
ask_both(void)
{
	struct model_filter *model = model_filter_new((int)chance(4));
	uint32_t versions = 1 + (uint32_t)chance(5);
	bool reversed = chance(4) == 0;
	char filter[ROOM] = "", how[20], expected[ROOM];

	model_filter_print(model, filter, sizeof(filter));
	model_filter_scan(model, cells, (size_t)cell_count, versions, reversed,
	    expected, sizeof(expected));
	snprintf(how, sizeof(how), "v%u%s", versions, reversed ? ",r" : "");
	const char *got = filter_kit_ask(how, filter);
	ck_assert_msg(strcmp(got, expected) == 0, "%s %s\n  is %s\n  not %s",
	    how, filter, expected, got);
	model_filter_free(model);
}

START_TEST(random_filters_answer_as_the_model)
{
	const char *times = getenv("CELLFS_TEST_TIMES");
	long asks = 400 * (times ? atol(times) : 1);

	chance_seed();
	for (int i = 0; i < TABLES; i++) {
		fill_table();
		for (long j = 0; j < asks; j++)
			ask_both();
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("filter_model");
	TCase *c = kit_topic(suite, "model", filter_kit_table, kit_teardown);

	tcase_set_timeout(c, 3600);
	tcase_add_test(c, random_filters_answer_as_the_model);
	return suite_run(suite);
}
