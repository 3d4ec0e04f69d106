/* Media files, ten rows keyed user(6) date(8) file(6), and a question of five
 * conditions: of September 2012, by name, category and owner. */
#include "tests/filter_kit.h"

#include <stdio.h>

#define OWNER "000001" /* as a table of owners would tell */
#define RANGE "v1,f=" OWNER "20120901,t=" OWNER "20121001"

#define VOICE "中国好声音"
#define SHOW "综艺"

static const struct {
	const char *key, *name, *category;
} files[] = {
    {"00000120120902000001", VOICE "第1期", SHOW},
    {"00000120120904000002", VOICE "第2期", SHOW},
    {"00000120120906000003", VOICE "外卡赛", SHOW},
    {"00000120120908000004", VOICE "第3期", SHOW},
    {"00000120120910000005", VOICE "第4期", SHOW},
    {"00000220120912000006", VOICE "选手采访", "综艺花絮"},
    {"00000120120914000007", VOICE "第5期", SHOW},
    {"00000220120916000008", VOICE "录制花絮", "综艺花絮"},
    {"00000320120918000009", "张玮独家专访", "花絮"},
    {"00000420120920000010", "加多宝凉茶广告", "综艺广告"},
    /* What only the filters reject. */
    {"00000120120916000011", "新闻", SHOW},
    {"00000120120917000012", VOICE "广告", "综艺广告"},
};

#define SINGLE(column, op, value)                                              \
	"SingleColumnValueFilter('a','" column "'," op ",'binary:" value       \
	"',true,true)"

/* The bounds of a prefix are it and its successor. */
#define FOUR                                                                   \
	SINGLE("name", ">=", VOICE)                                            \
	" AND " SINGLE("name", "<", "中国好声\xe9\x9f\xb4") " AND " SINGLE(    \
	    "category", ">=", SHOW) " AND " SINGLE("category", "<=", SHOW)

static void
put_files(void)
{
	char put[200];

	filter_kit_table();
	for (int i = 0; i < COUNT(files); i++) {
		snprintf(put, sizeof(put), "%s a name 1 %s", files[i].key,
		    files[i].name);
		filter_kit_put(put);
		snprintf(put, sizeof(put), "%s a category 1 %s", files[i].key,
		    files[i].category);
		filter_kit_put(put);
	}
}

/* Names and categories count from 0 by twos; a row's category comes first. */
static const struct {
	const char *how, *filter, *is;
} questions[] = {
    {RANGE, FOUR, "1 0 3 2 5 4 7 6 9 8 13 12"},
    {RANGE, FOUR " AND PageFilter(3)", "1 0 3 2 5 4"},
    {RANGE, "", "1 0 3 2 5 4 7 6 9 8 13 12 21 20 23 22"},
    {"v1", FOUR, "1 0 3 2 5 4 7 6 9 8 13 12"},
    {"v1", "PrefixFilter('000002') AND " SINGLE("name", ">=", VOICE),
	"11 10 15 14"},
};

START_TEST(the_question_has_its_answer)
{
	SAYS(questions[_i].is,
	    filter_kit_ask(questions[_i].how, questions[_i].filter));
}
END_TEST

START_TEST(a_scan_reads_the_rows_of_its_user_only)
{
	char put[100];

	filter_kit_ask(RANGE, FOUR);
	uint64_t reads = filter_kit_reads();
	for (int i = 0; i < 1000; i++) {
		snprintf(put, sizeof(put), "00000520120901%06d a name 1 x", i);
		filter_kit_put(put);
	}
	SAYS("1 0 3 2 5 4 7 6 9 8 13 12", filter_kit_ask(RANGE, FOUR));
	ck_assert_uint_le(filter_kit_reads(), reads);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("filter_media");
	TCase *c = kit_topic(suite, "media", put_files, kit_teardown);

	tcase_add_loop_test(
	    c, the_question_has_its_answer, 0, COUNT(questions));
	tcase_add_test(c, a_scan_reads_the_rows_of_its_user_only);
	return suite_run(suite);
}
