#include "tests/filter_kit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/filter.h"
#include "kv/why.h"

/* --- the language ------------------------------------------------------- */

/* Refused: where, and what was expected there. */
static const struct {
	const char *filter, *sentence;
} refused[] = {
    {"", "at its end, byte 1: expected a filter"},
    {" ", "at its end, byte 2: expected a filter"},
    {"()", "at byte 2, before \")\": expected a filter"},
    {"pagefilter(1)", "at byte 1, before \"pagefilter(1)\": expected "
		      "a filter; no filter has this name"},
    {"FuzzyRowFilter('a')",
	"at byte 1, before \"FuzzyRowFilter('a')\": expected a "
	"filter; no filter has this name"},
    {"PrefixFilter", "at its end, byte 13: expected (, as in "
		     "PrefixFilter('PREFIX')"},
    {"PrefixFilter()", "at byte 14, before \")\": expected one more "
		       "argument, as in PrefixFilter('PREFIX')"},
    {"PrefixFilter('a','b')", "at byte 18, before \"'b')\": expected "
			      "), as in PrefixFilter('PREFIX')"},
    {"PrefixFilter(a)", "at byte 14, before \"a)\": expected '"},
    {"PrefixFilter('a)", "at byte 14, before \"'a)\": expected a ' "
			 "that ends this text"},
    {"PrefixFilter('a'x)", "at byte 17, before \"x)\": expected , or "
			   ")"},
    {"PageFilter('2')", "at byte 12, before \"'2')\": expected a "
			"number from 0 to 9223372036854775807"},
    {"PageFilter(-1)", "at byte 12, before \"-1)\": expected a number "
		       "from 0 to 9223372036854775807"},
    {"PageFilter(9223372036854775808)",
	"at byte 12, before \"9223372036854775808)\": expected a "
	"number from 0 to 9223372036854775807"},
    {"ColumnCountGetFilter(2147483648)",
	"at byte 22, before \"2147483648)\": expected a number from 0 "
	"to 2147483647"},
    {"KeyOnlyFilter(1)", "at byte 15, before \"1)\": expected true or "
			 "false, without quotes"},
    {"RowFilter('=','binary:a')",
	"at byte 11, before \"'=','binary:a')\": expected <, <=, =, "
	"!=, >= or >, without quotes"},
    {"RowFilter(=='binary:a')",
	"at byte 11, before \"=='binary:a')\": expected <, <=, =, !=, "
	">= or >, without quotes"},
    {"RowFilter(=,'a')",
	"at byte 13, before \"'a')\": expected 'binary:...', "
	"'binaryprefix:...', 'substring:...', 'regexstring:...' or "
	"'regexstringnocase:...'"},
    {"RowFilter(<,'substring:a')",
	"at byte 13, before \"'substring:a')\": expected = or != in "
	"front of substring"},
    {"RowFilter(=,'regexstring:a[')",
	"at byte 13, before \"'regexstring:a[')\": expected a regular "
	"expression that is one: at its byte 3, missing terminating ] for "
	"character class"},
    {"SingleColumnValueFilter('a','b',=,'binary:',true)",
	"at byte 49, before \")\": expected one more argument, as in "
	"SingleColumnValueFilter('FAMILY','QUALIFIER',OP,'COMPARATOR'"
	"[,IF_MISSING,NEWEST_ONLY])"},
    {"MultipleColumnPrefixFilter('b','a','b')",
	"at byte 27, before \"('b','a','b')\": expected each "
	"prefix once"},
    {"PageFilter(1) and PageFilter(1)",
	"at byte 15, before \"and PageFilter(1)\": expected AND, OR or "
	"the end"},
    {"PageFilter(1) PageFilter(1)",
	"at byte 15, before \"PageFilter(1)\": expected AND, OR or the "
	"end"},
    {"PageFilter(1) AND", "at its end, byte 18: expected a filter"},
    {"AND PageFilter(1)",
	"at byte 1, before \"AND PageFilter(1)\": expected a filter; "
	"no filter has this name"},
    {"PageFilter(1))", "at byte 14, before \")\": expected AND, OR or "
		       "the end"},
    {"(PageFilter(1)", "at byte 1, before \"(PageFilter(1)\": "
		       "expected a ) for this parenthesis"},
    {"(PageFilter(1) x)", "at byte 16, before \"x)\": expected AND, OR or )"},
    {"PageFilter(1) AND\x1b", "at byte 18, before \"\\x1B\": "
			      "expected a filter"},
};

START_TEST(a_mistake_is_named_with_its_place)
{
	struct filter *f;

	why_clear();
	REFUSED(EINVAL, filter_parse(slice_text(refused[_i].filter), &f));
	ck_assert_ptr_null(f);
	SAYS(refused[_i].sentence, why_text(-EINVAL));
}
END_TEST

#define ROWS "RowFilter(=,'regexstring:^["

/* Two ways to write the same. Rows a to d stand in the table. */
static const struct {
	const char *one, *other, *is;
} alike[] = {
    /* AND binds closer than OR, SKIP and WHILE closer than AND. */
    {ROWS "ab]') OR " ROWS "bc]') AND " ROWS "cd]')",
	ROWS "ab]') OR (" ROWS "bc]') AND " ROWS "cd]'))", "0 1 2"},
    {ROWS "ab]') AND " ROWS "bc]') OR " ROWS "cd]')",
	"(" ROWS "ab]') AND " ROWS "bc]')) OR " ROWS "cd]')", "1 2 3"},
    {"WHILE " ROWS "a]') AND " ROWS "b]')",
	"(WHILE " ROWS "a]')) AND " ROWS "b]')", ""},
    {"WHILE " ROWS "b]') OR " ROWS "d]')",
	"(WHILE " ROWS "b]')) OR " ROWS "d]')", "3"},
    {"SKIP WHILE " ROWS "a]')", "SKIP(WHILE(" ROWS "a]')))", "0 1 2 3"},
    /* Also within one parenthesis. */
    {"(" ROWS "a]') OR " ROWS "bc]') AND " ROWS "cd]'))",
	ROWS "a]') OR (" ROWS "bc]') AND " ROWS "cd]'))", "0 2"},
    /* Blanks, commas. */
    {"\n\tPrefixFilter\n(\n'b'\t)\r\n", "PrefixFilter('b')", "1"},
    {"PrefixFilter('b')OR\tPrefixFilter('c')",
	"PrefixFilter('b') OR(PrefixFilter('c'))", "1 2"},
    {"RowFilter( = 'binary:b' )", "RowFilter(=,'binary:b')", "1"},
    {"TimestampsFilter(2 1,,3,)", "TimestampsFilter(1,2,3)", "0 1 2"},
    {"PageFilter(002)", "PageFilter(2)", "0 1"},
    {"KeyOnlyFilter(TRUE)", "KeyOnlyFilter(true)", "0l 1l 2l 3l"},
    /* Quotes and escapes. */
    {"ValueFilter(=,'binary:it''s')", "ValueFilter(=,'binary:it\\x27s')", "2"},
    {"ValueFilter(=,'binary:\\x5Cx41')", "ValueFilter(=,'binary:\\x5cx41')",
	"3"},
    {"RowFilter(=,'regexstring:\\x61')", "RowFilter(=,'regexstring:\\Qa\\E')",
	"0"},
    {"RowFilter(=,'substring:B')", "RowFilter(=,'regexstringnocase:B')", "1"},
    {"RowFilter(=,'binary:a:b')", "RowFilter(=,'binary:a\\x3Ab')", ""},
};

START_TEST(two_ways_to_write_answer_alike)
{
	filter_kit_put("a a q 1 1");
	filter_kit_put("b a q 2 2");
	filter_kit_put("c a q 3 it's");
	filter_kit_put("d a q 4 \\x5Cx41");
	SAYS(alike[_i].is, filter_kit_ask("v1", alike[_i].one));
	SAYS(alike[_i].is, filter_kit_ask("v1", alike[_i].other));
}
END_TEST

START_TEST(levels_are_bounded)
{
	char text[1000] = "";
	struct filter *f;

	for (int i = 0; i < 99; i++)
		strcat(text, i % 3 ? "(" : "SKIP ");
	strcat(text, "PageFilter(1)");
	for (int i = 0; i < 66; i++)
		strcat(text, ")");
	OK(filter_parse(slice_text(text), &f));
	filter_free(f);
	memmove(text + 10, text, strlen(text) + 1);
	memset(text, '(', 10);
	REFUSED(EINVAL, filter_parse(slice_text(text), &f));
	ck_assert_ptr_nonnull(strstr(why_text(-EINVAL), "at most 100 levels"));
}
END_TEST

/* --- comparators -------------------------------------------------------- */

/* Which of the values below a comparator finds equal. */
static const char *const values[] = {"abc", "ABC", "\\xC3\\x84b", "\\xC3\\xA4b",
    "a\\xE4\\xB8", "a\\xFF\\xFE", "x\\x0Ay", "line\\x0A", "\"\"", "K"};

static const struct {
	const char *comparator, *is;
} comparators[] = {
    {"binary:abc", "0"},
    {"binary:", "8e"},
    {"binaryprefix:a", "0 4 5"},
    {"binaryprefix:", "0 1 2 3 4 5 6 7 8e 9"},
    /* Lower case of all scripts; damaged UTF-8 reads as U+FFFD. */
    {"substring:aBc", "0 1"},
    {"substring:\xc3\x84", "2 3"},
    {"substring:\xef\xbf\xbd", "4 5"},
    {"substring:\\xFF\\xFE", "5"},
    {"substring:", "0 1 2 3 4 5 6 7 8e 9"},
    /* A match anywhere, a character is a character of UTF-8, the dot also a
     * newline, $ also in front of the last one. */
    {"regexstring:b", "0 2 3"},
    {"regexstring:^.b$", "2 3"},
    {"regexstring:^..$", "2 3 4"},
    {"regexstring:x.y", "6"},
    {"regexstring:e$", "7"},
    {"regexstring:^$", "8e"},
    {"regexstring:\\w{4}", "7"},
    {"regexstring:^\\W", "2 3"},
    {"regexstringnocase:^a.c", "0 1"},
    {"regexstringnocase:^\xc3\xa4", "2 3"},
};

START_TEST(a_comparator_finds)
{
	char put[100], filter[100];

	for (int i = 0; i < COUNT(values); i++) {
		snprintf(put, sizeof(put), "r a q%d 1 %s", i, values[i]);
		filter_kit_put(put);
	}
	snprintf(filter, sizeof(filter), "ValueFilter(=,'%s')",
	    comparators[_i].comparator);
	SAYS(comparators[_i].is, filter_kit_ask("v1", filter));
}
END_TEST

START_TEST(large_values_are_compared)
{
	filter_kit_put("r a q0 1 @20000");
	filter_kit_put("r a q1 1 @9000000");
	filter_kit_put("r a q2 1 x");
	SAYS("0 1", filter_kit_ask("v1", "ValueFilter(<,'binary:\\x00\\x01')"));
	SAYS("0 1", filter_kit_ask("v1,k", "ValueFilter(=,"
					   "'binaryprefix:\\x00\\x00')"));
	SAYS("0 1", filter_kit_ask("v1", "ValueFilter(=,'substring:\\x01')"));
	SAYS("0 1", filter_kit_ask("v1", "ValueFilter(=,"
					 "'regexstring:\\x01$')"));
	SAYS("0l 1l", filter_kit_ask("v1", "KeyOnlyFilter(true) AND ValueFilter"
					   "(!=,'binary:x')"));
}
END_TEST

START_TEST(a_value_too_large_to_search_is_an_error)
{
	filter_kit_put("r c q0 1 @10485761");
	SAYS("0", filter_kit_ask("v1", "ValueFilter(<,'binary:x')"));
	SAYS("! filter: a value of 10485761 bytes cannot be searched, at most "
	     "10485760",
	    filter_kit_ask("v1", "ValueFilter(!=,'substring:x')"));
}
END_TEST

START_TEST(an_endless_expression_is_an_error)
{
	filter_kit_put(
	    "r a q 1 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
	SAYS("! filter: the regular expression takes too many steps on 48 "
	     "bytes",
	    filter_kit_ask(
		"v1", "ValueFilter(=,'regexstring:^(a+)+c|(a+)*$')"));
}
END_TEST

/* --- rows larger than a batch ------------------------------------------- */

#define WIDE 3500

/* Row "m", too wide for a batch, between "a" and "z". */
static void
put_wide(void)
{
	char put[100];

	filter_kit_put("a a q 1 small");
	for (int i = 0; i < WIDE; i++) {
		snprintf(put, sizeof(put), "m a n%04d %d v%d", i, 1 + i % 7, i);
		filter_kit_put(put);
	}
	filter_kit_put("m b last 3 yes");
	filter_kit_put("z a q 1 small");
}

/* How many cells a filter gives of it. */
static int
ask_count(const char *how, const char *filter)
{
	const char *answer = filter_kit_ask(how, filter);
	int found = *answer != 0;

	ck_assert_msg(*answer != '!', "%s: %s", filter, answer);
	for (; *answer; answer++)
		found += *answer == ' ';
	return found;
}

static const struct {
	const char *how, *filter;
	int cells;
} wide[] = {
    {"v1", "SingleColumnValueFilter('b','last',=,'binary:yes')", WIDE + 3},
    {"v1", "SingleColumnValueFilter('b','last',=,'binary:yes',true,true)",
	WIDE + 1},
    {"v1,r", "SingleColumnValueFilter('b','last',=,'binary:yes',true,true)",
	WIDE + 1},
    {"v1", "SingleColumnValueFilter('b','last',!=,'binary:yes')", 2},
    {"v1",
	"SingleColumnValueExcludeFilter('b','last',=,'binary:yes',true,"
	"true)",
	WIDE},
    {"v1", "DependentColumnFilter('b','last')", WIDE / 7 + 1},
    {"v1", "DependentColumnFilter('b','last',true)", WIDE / 7},
    {"v1", "SKIP ValueFilter(!=,'binary:v3400')", 2},
    {"v1", "SKIP ValueFilter(!=,'binary:no')", WIDE + 3},
    {"v1", "WHILE ValueFilter(!=,'binary:v3400')", 3401},
    {"v1", "PageFilter(2)", WIDE + 2},
    {"v1", "PageFilter(1)", 1},
    {"v1",
	"SingleColumnValueFilter('b','last',=,'binary:yes',true,true) AND "
	"PageFilter(1)",
	WIDE + 1},
    {"v1,n=2", "PageFilter(3)", WIDE + 2},
    {"v1", "ColumnPaginationFilter(1,3000)", 1},
    {"v1", "FirstKeyOnlyFilter()", 3},
    {"v1", "ColumnCountGetFilter(3000)", 3001},
    {"v1", "QualifierFilter(=,'binary:last') AND PageFilter(3)", 1},
};

START_TEST(a_row_larger_than_a_batch_is_judged_whole)
{
	put_wide();
	ck_assert_int_eq(
	    ask_count(wide[_i].how, wide[_i].filter), wide[_i].cells);
}
END_TEST

/* --- reading no more than needed ---------------------------------------- */

#define NARROW_ROWS 300
#define NARROW_COLUMNS 20

static void
put_block(void)
{
	char put[100];

	for (int i = 0; i < NARROW_ROWS; i++)
		for (int j = 0; j < NARROW_COLUMNS; j++) {
			snprintf(put, sizeof(put), "r%03d a q%02d 1 v", i, j);
			filter_kit_put(put);
		}
}

/* How many records are looked at, at most, where reading all is 6000. */
static const struct {
	const char *how, *filter;
	int cells;
	uint64_t reads;
} narrow[] = {
    {"v1", "", 6000, 7000},
    {"v1", "PrefixFilter('r10')", 200, 300},
    {"v1,r", "PrefixFilter('r10')", 200, 600},
    {"v1", "InclusiveStopFilter('r009')", 200, 300},
    {"v1,r", "InclusiveStopFilter('r290')", 200, 600},
    {"v1", "RowFilter(=,'binary:r100')", 20, 50},
    {"v1", "RowFilter(>=,'binary:r290') AND ValueFilter(=,'binary:v')", 200,
	300},
    {"v1", "RowFilter(>,'binary:r100') AND RowFilter(<,'binary:r110')", 180,
	300},
    {"v1", "PrefixFilter('r10') OR RowFilter(=,'binaryprefix:r11')", 400, 600},
    {"v1", "RowFilter(<,'binary:r1') AND PrefixFilter('r2')", 0, 10},
    {"v1", "WHILE PrefixFilter('r00')", 200, 300},
    {"v1", "PageFilter(5)", 100, 200},
    {"v1", "ColumnPrefixFilter('q15')", 300, 1600},
    {"v1", "ColumnRangeFilter('q18',true,'',true)", 600, 1800},
    {"v1", "MultipleColumnPrefixFilter('q03','q16')", 600, 2200},
    {"v1", "FirstKeyOnlyFilter()", 300, 1300},
    {"v1", "FamilyFilter(=,'binary:b')", 0, 1300},
    {"v1", "ColumnPrefixFilter('q15') AND PrefixFilter('r10')", 10, 100},
};

START_TEST(a_filter_narrows_what_is_read)
{
	put_block();
	ck_assert_int_eq(
	    ask_count(narrow[_i].how, narrow[_i].filter), narrow[_i].cells);
	ck_assert_uint_le(filter_kit_reads(), narrow[_i].reads);
}
END_TEST

START_TEST(timestamps_are_sought_among_many_versions)
{
	char put[100];

	for (int i = 1; i <= 100; i++) {
		snprintf(put, sizeof(put), "r c q %d v", i);
		filter_kit_put(put);
	}
	SAYS("59 39", filter_kit_ask("v0", "TimestampsFilter(40,60,200)"));
	ck_assert_uint_le(filter_kit_reads(), 15);
	SAYS("", filter_kit_ask("v30", "TimestampsFilter(40,60,200)"));
	SAYS("59", filter_kit_ask("v0", "TimestampsFilter(40,60) AND "
					"ColumnPaginationFilter(1,0)"));
	SAYS("", filter_kit_ask("v0", "ColumnPaginationFilter(1,0) AND "
				      "TimestampsFilter(40,60)"));
	SAYS("19 9", filter_kit_ask("v0,s=5,u=50", "TimestampsFilter(2,10,20,"
						   "60)"));
}
END_TEST

/* --- one filter, several scans ------------------------------------------ */

START_TEST(a_filter_is_shared_by_scans)
{
	struct filter *f;
	struct scan *scans[2];
	struct cell cell;

	for (int i = 0; i < 4; i++) {
		char put[] = "r0 a q 1 v";
		put[1] += i;
		filter_kit_put(put);
	}
	OK(filter_parse(slice_text("PageFilter(2)"), &f));
	struct scan_spec spec = {
	    .table = slice_text("t"), .versions = 1, .filter = f};
	OK(kit->methods->scan_open(kit, &spec, &scans[0]));
	OK(kit->methods->scan_open(kit, &spec, &scans[1]));
	for (int i = 0; i < 4; i++)
		OK(kit->methods->scan_next(scans[i % 2], &cell));
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(kit->methods->scan_next(scans[i], &cell), 1);
		kit->methods->scan_close(scans[i]);
	}
	filter_free(f);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("filter");
	TCase *language =
	    kit_topic(suite, "language", filter_kit_table, kit_teardown);
	TCase *comparing =
	    kit_topic(suite, "comparing", filter_kit_table, kit_teardown);
	TCase *large =
	    kit_topic(suite, "large", filter_kit_table, kit_teardown);
	TCase *scans =
	    kit_topic(suite, "scans", filter_kit_table, kit_teardown);

	tcase_add_loop_test(
	    language, a_mistake_is_named_with_its_place, 0, COUNT(refused));
	tcase_add_loop_test(
	    language, two_ways_to_write_answer_alike, 0, COUNT(alike));
	tcase_add_test(language, levels_are_bounded);
	tcase_add_loop_test(
	    comparing, a_comparator_finds, 0, COUNT(comparators));
	tcase_add_test(comparing, large_values_are_compared);
	tcase_add_test(comparing, a_value_too_large_to_search_is_an_error);
	tcase_add_test(comparing, an_endless_expression_is_an_error);
	tcase_add_loop_test(
	    large, a_row_larger_than_a_batch_is_judged_whole, 0, COUNT(wide));
	tcase_add_loop_test(
	    scans, a_filter_narrows_what_is_read, 0, COUNT(narrow));
	tcase_add_test(scans, timestamps_are_sought_among_many_versions);
	tcase_add_test(scans, a_filter_is_shared_by_scans);
	return suite_run(suite);
}
