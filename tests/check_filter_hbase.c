/* What a running HBase 2.6.2 answered to filters, its families having
 * NEW_VERSION_BEHAVIOR. In the files tests/vectors/filter-*:
 *
 *   table            an empty one
 *   put ...          as filter_kit_put()
 *   ask HOW FILTER   as filter_kit_ask()
 *   is ...           likewise; ! alone: any error
 *   hbase ...        in front of is: HBase's answer where ours differs, and
 *   because ...      the reason
 */
#include "tests/filter_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const files[] = {"filter-cases", "filter-random"};

struct replay {
	const char *file;
	int line, asked, wrong;
	char *hbase; /* its answer, where ours differs */
	char *how;   /* and the filter */
};

static void
compare(struct replay *r, const char *expected)
{
	char *filter = strchr(r->how, ' ');

	*filter++ = 0;
	const char *got = filter_kit_ask(r->how, filter);
	bool fails = strcmp(expected, "!") == 0;
	r->asked++;
	ck_assert(!r->hbase || strcmp(r->hbase, expected));
	free(r->hbase);
	r->hbase = NULL;
	if (fails ? got[0] == '!' : strcmp(expected, got) == 0)
		return;
	r->wrong++;
	fprintf(stderr, "%s:%d: %s %s\n  is %s\n  not %s\n", r->file, r->line,
	    r->how, filter, expected, got);
}

/* What follows the first word of a line if that is the given one. */
static char *
after(char *line, const char *word)
{
	size_t size = strlen(word);

	if (strncmp(line, word, size) || (line[size] && line[size] != ' '))
		return NULL;
	return line[size] ? line + size + 1 : line + size;
}

static void
replay_line(struct replay *r, char *line)
{
	char *rest;

	line[strcspn(line, "\n")] = 0;
	r->line++;
	if (after(line, "table")) {
		filter_kit_table();
	} else if ((rest = after(line, "put"))) {
		filter_kit_put(rest);
	} else if ((rest = after(line, "ask"))) {
		free(r->how);
		r->how = strdup(rest);
	} else if ((rest = after(line, "hbase"))) {
		r->hbase = strdup(rest);
	} else if (after(line, "because")) {
		ck_assert_ptr_nonnull(r->hbase);
	} else if ((rest = after(line, "is"))) {
		compare(r, rest);
	} else {
		ck_abort_msg("%s:%d: %s", r->file, r->line, line);
	}
}

START_TEST(filters_answer_as_hbase)
{
	struct replay r = {.file = files[_i]};
	char path[4096], *line = NULL;
	size_t room = 0;

	snprintf(path, sizeof(path), "%s/%s", VECTORS, files[_i]);
	FILE *file = fopen(path, "r");
	ck_assert_msg(file != NULL, "no file %s", path);
	while (getline(&line, &room, file) >= 0)
		replay_line(&r, line);
	fclose(file);
	free(line);
	free(r.how);
	ck_assert_int_gt(r.asked, 100);
	ck_assert_int_eq(r.wrong, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("filter_hbase");
	TCase *c = kit_topic(suite, "vectors", filter_kit_table, kit_teardown);

	tcase_add_loop_test(c, filters_answer_as_hbase, 0, COUNT(files));
	return suite_run(suite);
}
