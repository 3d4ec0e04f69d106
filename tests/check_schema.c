#include "kv/schema.h"
#include "kv/why.h"
#include "tests/laws.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CANONICAL                                                              \
	"table open=0\n"                                                       \
	"family info versions=3 min_versions=0 ttl=forever "                   \
	"keep_deleted_cells=false compression=snappy in_memory=false "         \
	"bloomfilter=row blocksize=32768 data_block_encoding=none "           \
	"max_cell_size=10485760\n"

static struct slice
text(const char *s)
{
	return slice_text(s);
}

static void
prints(const struct schema *s, const char *expected)
{
	struct buf out = {0};

	schema_print(s, &out);
	buf_byte(&out, 0);
	ck_assert_int_eq(buf_status(&out), 0);
	ck_assert_str_eq((const char *)out.data, expected);
	buf_release(&out);
}

/* --- families ------------------------------------------------------------- */

START_TEST(a_declared_family_has_the_documented_defaults)
{
	struct schema s = {0};
	struct family *f;

	ck_assert_int_eq(schema_declare(&s, text("info"), &f), 0);
	ck_assert_uint_eq(f->versions, 3);
	ck_assert_uint_eq(f->min_versions, 0);
	ck_assert_uint_eq(f->ttl, TTL_FOREVER);
	ck_assert_int_eq(f->compression, COMPRESSION_SNAPPY);
	ck_assert_int_eq(f->data_block_encoding, ENCODING_NONE);
	ck_assert(!f->in_memory);
	ck_assert_uint_eq(f->blocksize, 32768);
	ck_assert_uint_eq(f->max_cell_size, 10485760);
	prints(&s, CANONICAL);
	schema_release(&s);
}
END_TEST

START_TEST(families_stand_in_byte_order_and_are_found)
{
	static const char *const names[] = {"b", "\xff", "a", "ab", "B"};
	static const char *const sorted[] = {"B", "a", "ab", "b", "\xff"};
	struct schema s = {0};
	struct family *f;

	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(schema_declare(&s, text(names[i]), &f), 0);
	ck_assert_int_eq(schema_declare(&s, text("a"), &f), 0);
	ck_assert_uint_eq(s.count, 5);
	for (int i = 0; i < 5; i++) {
		ck_assert(slice_equal(
		    buf_slice(&s.families[i].name), text(sorted[i])));
		ck_assert_ptr_eq(
		    schema_family(&s, text(sorted[i])), &s.families[i]);
	}
	ck_assert_ptr_null(schema_family(&s, text("aa")));
	ck_assert_ptr_null(schema_family(&s, text("\xff\xff")));
	schema_undeclare(&s, text("ab"));
	schema_undeclare(&s, text("ab"));
	ck_assert_uint_eq(s.count, 4);
	ck_assert_ptr_null(schema_family(&s, text("ab")));
	ck_assert_ptr_nonnull(schema_family(&s, text("\xff")));
	schema_release(&s);
}
END_TEST

START_TEST(a_copy_is_equal_and_apart)
{
	struct schema s = {.open = true}, copy;
	struct family *f;

	buf_set(&s.name, text("t"));
	ck_assert_int_eq(schema_parse(&s, text("family a ttl=5\nfamily b")), 0);
	ck_assert_int_eq(schema_copy(&s, &copy), 0);
	ck_assert_int_eq(schema_declare(&s, text("c"), &f), 0);
	schema_family(&s, text("a"))->ttl = 6;
	ck_assert(copy.open);
	ck_assert(slice_equal(buf_slice(&copy.name), text("t")));
	ck_assert_uint_eq(copy.count, 2);
	ck_assert_uint_eq(schema_family(&copy, text("a"))->ttl, 5);
	schema_release(&s);
	ck_assert_ptr_nonnull(schema_family(&copy, text("b")));
	schema_release(&copy);
	schema_release(&copy);
}
END_TEST

/* --- attributes ----------------------------------------------------------- */

static const struct {
	const char *given, *printed;
} accepted[] = {
    {"VERSIONS=1", "versions=1"},
    {"versions=2147483647", "versions=2147483647"},
    {"Min_Versions=3", "min_versions=3"},
    {"TTL=FOREVER", "ttl=forever"},
    {"ttl=2147483647", "ttl=forever"},
    {"ttl=1", "ttl=1"},
    {"TTL=1 DAY 12 HOURS", "ttl=129600"},
    {"TTL=90 SECONDS (1 MINUTE 30 SECOND)", "ttl=90"},
    {"COMPRESSION=NONE", "compression=none"},
    {"compression=GZ", "compression=gz"},
    {"IN_MEMORY=TRUE", "in_memory=true"},
    {"BLOCKSIZE=64KB", "blocksize=65536"},
    {"BLOCKSIZE=65536 B (64KB)", "blocksize=65536"},
    {"blocksize=1024", "blocksize=1024"},
    {"blocksize=16777216", "blocksize=16777216"},
    {"DATA_BLOCK_ENCODING=PREFIX", "data_block_encoding=prefix"},
    {"max_cell_size=1TB", "max_cell_size=1099511627776"},
    {"max_cell_size=1", "max_cell_size=1"},
    {"BLOOMFILTER=NONE", "bloomfilter=none"},
    {"bloomfilter=RowCol", "bloomfilter=rowcol"},
    {"KEEP_DELETED_CELLS=FALSE", "keep_deleted_cells=false"},
};

/* Sets an attribute given as NAME=VALUE. */
static int
set(struct family *f, const char *given)
{
	const char *sign = strchr(given, '=');

	return family_set(
	    f, slice_of(given, (size_t)(sign - given)), text(sign + 1));
}

START_TEST(attributes_are_taken_in_the_forms_of_hbase)
{
	struct schema s = {0};
	struct family *f;
	struct buf out = {0};
	char expected[80];

	schema_declare(&s, text("f"), &f);
	ck_assert_int_eq(set(f, accepted[_i].given), 0);
	schema_print(&s, &out);
	buf_byte(&out, 0);
	for (size_t i = 0; i < out.size; i++)
		if (out.data[i] == '\n')
			out.data[i] = ' ';
	snprintf(expected, sizeof(expected), " %s ", accepted[_i].printed);
	ck_assert_ptr_nonnull(strstr((const char *)out.data, expected));
	buf_release(&out);
	schema_release(&s);
}
END_TEST

static const struct {
	const char *given, *said;
} refused[] = {
    {"VERSION=3", "'VERSION'"},
    {"NEW_VERSION_BEHAVIOR=false", "'NEW_VERSION_BEHAVIOR'"},
    {"versions=abc", "'abc': versions"},
    {"versions=0", "from 1 to 2147483647"},
    {"versions=-2", "'-2'"},
    {"versions=2147483648", "'2147483648'"},
    {"versions=", "'': versions"},
    {"versions=03", "'03'"},
    {"min_versions=-1", "'-1'"},
    {"ttl=0", "from 1 to"},
    {"ttl=-1", "'-1'"},
    {"ttl=5x", "'5x': ttl"},
    {"compression=lz4", "none, snappy, gz"},
    {"in_memory=1", "false, true"},
    {"blocksize=1023", "from 1024 to 16777216"},
    {"blocksize=17MB", "'17MB'"},
    {"data_block_encoding=FAST_DIFF", "none, prefix"},
    {"max_cell_size=0", "from 1 to"},
    {"max_cell_size=2TB", "from 1 to"},
    {"bloomfilter=rowprefix", "none, row, rowcol"},
    {"keep_deleted_cells=true", "not yet supported"},
    {"keep_deleted_cells=ttl", "not yet supported"},
    {"keep_deleted_cells=maybe", "false, true, ttl"},
};

START_TEST(a_bad_attribute_is_refused_by_its_name_and_changes_nothing)
{
	struct schema s = {0};
	struct family *f;

	schema_declare(&s, text("info"), &f);
	ck_assert_int_eq(set(f, refused[_i].given), -EINVAL);
	ck_assert_msg(strstr(why_text(-EINVAL), refused[_i].said) != NULL,
	    "%s does not say %s", why_text(-EINVAL), refused[_i].said);
	prints(&s, CANONICAL);
	schema_release(&s);
}
END_TEST

START_TEST(min_versions_are_at_most_versions)
{
	struct schema s = {0};

	ck_assert_int_eq(
	    schema_parse_family(&s, text("f:min_versions=4,versions=4")), 0);
	ck_assert_int_eq(schema_check(&s), 0);
	ck_assert_int_eq(schema_parse_family(&s, text("f:versions=3")), 0);
	ck_assert_int_eq(schema_check(&s), -EINVAL);
	ck_assert_ptr_nonnull(strstr(why_text(-EINVAL), "min_versions=4"));
	schema_release(&s);
}
END_TEST

/* --- the command line ----------------------------------------------------- */

static const struct {
	const char *given;
	int result;
} arguments[] = {
    {"f", 0},
    {"f:VERSIONS=5,TTL=1 DAY", 0},
    {"\\xFF\\x20:versions=1", 0},
    {"f:TTL='1 DAY',BLOCKSIZE=\"64 KB\"", 0},
    {"f:TTL='1 DAY", -EINVAL},
    {"f:VERSION=3", -EINVAL},
    {"f:VERSIONS=3,VERSIONS=4", -EINVAL},
    {"f:VERSIONS=3,versions=4", -EINVAL},
    {"f:VERSIONS", -EINVAL},
    {"f:", -EINVAL},
    {"f:VERSIONS=3,", -EINVAL},
    {":VERSIONS=3", -EINVAL},
    {"", -EINVAL},
    {"a\\zb", -EINVAL},
};

START_TEST(a_family_argument_is_understood_or_refused)
{
	struct schema s = {0};

	why_clear();
	ck_assert_int_eq(schema_parse_family(&s, text(arguments[_i].given)),
	    arguments[_i].result);
	if (arguments[_i].result)
		ck_assert_str_ne(why_text(-EINVAL), strerror(EINVAL));
	else
		ck_assert_uint_eq(s.count, 1);
	schema_release(&s);
}
END_TEST

/* --- the text ------------------------------------------------------------- */

START_TEST(later_lines_change_what_they_name_only)
{
	struct schema s = {0};

	ck_assert_int_eq(
	    schema_parse(&s, text("# a comment\n\n"
				  "table open=1 # too\n"
				  "  family\tinfo  versions=10 ttl=60\r\n"
				  "family info ttl=forever\n"
				  "table open=0\n"
				  "family info versions=3")),
	    0);
	prints(&s, CANONICAL);
	schema_release(&s);
}
END_TEST

static const struct {
	const char *given;
	unsigned ttl, versions;
} quotes[] = {
    {"family f ttl='1 DAY 2 HOURS' versions=5", 93600, 5},
    {"family f ttl=\"1 DAY\t2 HOURS\" versions=5", 93600, 5},
    {"family f versions=5 ttl='1 DAY'", 86400, 5},
    {"family f ttl='60' # a comment\n", 60, 3},
    {"family f ttl=1DAY2HOURS versions='5'", 93600, 5},
};

START_TEST(a_quoted_value_may_hold_blanks)
{
	struct schema s = {0};

	ck_assert_int_eq(schema_parse(&s, text(quotes[_i].given)), 0);
	ck_assert_uint_eq(s.families[0].ttl, quotes[_i].ttl);
	ck_assert_uint_eq(s.families[0].versions, quotes[_i].versions);
	law_schema_is_stable(text(quotes[_i].given));
	schema_release(&s);
}
END_TEST

START_TEST(canonical_text_is_read_as_itself)
{
	struct schema s = {0};

	ck_assert_int_eq(schema_parse(&s, text(CANONICAL)), 0);
	prints(&s, CANONICAL);
	schema_release(&s);
}
END_TEST

static const char *const odd_names[] = {"a b", "#", "a#b", "a=b", "versions=3",
    "\xff\xfe", "\xe5\xad\xa6", "%", "@~", "table", "\xe2\x80\xae", " "};

START_TEST(every_family_name_survives_its_text)
{
	struct schema s = {0}, back = {0};
	struct family *f;
	struct buf out = {0};

	for (size_t i = 0; i < sizeof(odd_names) / sizeof(*odd_names); i++)
		ck_assert_int_eq(schema_declare(&s, text(odd_names[i]), &f), 0);
	schema_print(&s, &out);
	ck_assert_int_eq(schema_parse(&back, buf_slice(&out)), 0);
	ck_assert_uint_eq(back.count, s.count);
	for (size_t i = 0; i < s.count; i++)
		ck_assert(slice_equal(buf_slice(&s.families[i].name),
		    buf_slice(&back.families[i].name)));
	law_schema_is_stable(buf_slice(&out));
	buf_release(&out);
	schema_release(&s);
	schema_release(&back);
}
END_TEST

static const struct {
	const char *text, *said;
} bad_lines[] = {
    {"family f\nfamly g\n", "line 2: 'famly'"},
    {"\n\nfamily f versions=0\n", "line 3: '0': versions"},
    {"family", "line 1: "},
    {"family # f", "line 1: "},
    {"family versions=3", "line 1: 'versions=3'"},
    {"family f versions", "line 1: 'versions'"},
    {"family f versions=1 versions=1", "line 1: 'versions': given twice"},
    {"family f versions= 3", "line 1: ''"},
    {"family a:b", "line 1: 'a:b'"},
    {"table", "line 1: ''"},
    {"table open=2", "line 1: 'open=2'"},
    {"table open=1 sealed", "line 1: 'sealed'"},
    {"table t open=1", "line 1: 't'"},
    {"family f bloomfilter=yes", "none, row, rowcol"},
    {"family f ttl=1 DAY 2 HOURS", "ttl='1 DAY 2 HOURS'"},
    {"family f ttl='1 DAY", "line 1: ''1 DAY': a value that begins"},
    {"family f ttl='", "line 1: ''': a value that begins"},
    {"family f ttl='1 DAY'2", "a value that begins with a quote"},
    {"family f ttl='1 DAY\"", "a value that begins with a quote"},
    {"family f ttl='60'# a comment", "a value that begins with a quote"},
    {"family f ttl=''", "line 1: '': ttl"},
    {"family f versions='3' versions=3", "given twice"},
};

START_TEST(a_bad_line_is_named)
{
	struct schema s = {0};

	ck_assert_int_eq(schema_parse(&s, text(bad_lines[_i].text)), -EINVAL);
	ck_assert_msg(strstr(why_text(-EINVAL), bad_lines[_i].said) != NULL,
	    "%s does not say %s", why_text(-EINVAL), bad_lines[_i].said);
	law_schema_is_stable(text(bad_lines[_i].text));
	schema_release(&s);
}
END_TEST

START_TEST(a_line_still_being_written_is_not_checked)
{
	ck_assert_int_eq(schema_parse_lines(text("family f vers")), 0);
	ck_assert_int_eq(schema_parse_lines(text("family f\nfam")), 0);
	ck_assert_int_eq(schema_parse_lines(text("fam\nfamily f")), -EINVAL);
	ck_assert_int_eq(schema_parse_lines(text("family f vers\n")), -EINVAL);
	ck_assert_int_eq(schema_parse_lines(text("")), 0);
}
END_TEST

/* --- names ---------------------------------------------------------------- */

static const struct {
	const char *name;
	int result;
	const char *said;
} tables[] = {
    {"t", 0, NULL},
    {"_t", 0, NULL},
    {"9-a.b_c", 0, NULL},
    {"ns:t", 0, NULL},
    {"\xe8\xa1\xa8", 0, NULL},		      /* CJK */
    {"\xd9\xa3", 0, NULL},		      /* Arabic digit */
    {"\xe2\x85\xab", 0, NULL},		      /* letter number */
    {"\xe2\x92\xb6", 0, NULL},		      /* circled letter */
    {"\xe0\xa4\x95\xe0\xa4\xbf", 0, NULL},    /* with a vowel sign */
    {"e\xcc\x81", -EINVAL, "letters"},	      /* combining accent */
    {"\xf0\x90\x90\x80", -EINVAL, "letters"}, /* a letter above FFFF */
    {"\xc2\xbd", -EINVAL, "letters"},	      /* a half */
    {"\xff", -EINVAL, "letters"},
    {"a b", -EINVAL, "letters"},
    {"a/b", -EINVAL, "letters"},
    {"a$", -EINVAL, "letters"},
    {"a~", -EINVAL, "letters"},
    {"", -EINVAL, "begins with"},
    {".t", -EINVAL, "begins with"},
    {"-t", -EINVAL, "begins with"},
    {"zookeeper", -EINVAL, "reserved"},
    {"zookeeper:t", -EINVAL, "reserved"},
    {"hbase:meta", -EINVAL, "reserved"},
    {"default:t", -EINVAL, "called 't'"},
    {"ns:", -EINVAL, "begins with"},
    {":t", -EINVAL, "namespace"},
    {"a.b:t", -EINVAL, "namespace"},
    {"a:b:c", -EINVAL, "letters"},
};

START_TEST(table_names_are_hbases)
{
	ck_assert_int_eq(
	    schema_check_table_name(text(tables[_i].name)), tables[_i].result);
	if (tables[_i].said)
		ck_assert_msg(
		    strstr(why_text(-EINVAL), tables[_i].said) != NULL,
		    "%s does not say %s", why_text(-EINVAL), tables[_i].said);
}
END_TEST

static const struct {
	const char *name;
	int result;
} families[] = {
    {"f", 0},
    {"a b", 0},
    {"a.b-c@%#=,", 0},
    {"\xff", 0},
    {"", -EINVAL},
    {".f", -EINVAL},
    {"a:b", -EINVAL},
    {"a/b", -EINVAL},
    {"a\\b", -EINVAL},
    {"a\nb", -EINVAL},
    {"a\x7f", -EINVAL},
    {"recovered.edits", -EINVAL},
};

START_TEST(family_names_are_hbases)
{
	why_clear();
	ck_assert_int_eq(schema_check_family_name(text(families[_i].name)),
	    families[_i].result);
	if (families[_i].result)
		ck_assert_str_ne(why_text(-EINVAL), strerror(EINVAL));
}
END_TEST

START_TEST(names_end_at_their_limits)
{
	char name[300];

	memset(name, 'x', sizeof(name));
	ck_assert_int_eq(schema_check_family_name(slice_of(name, 127)), 0);
	ck_assert_int_eq(
	    schema_check_family_name(slice_of(name, 128)), -EINVAL);
	ck_assert_int_eq(schema_check_table_name(slice_of(name, 255)), 0);
	ck_assert_int_eq(schema_check_table_name(slice_of(name, 256)), -EINVAL);

	/* Three bytes each in the tree: 85 fit into a file name, 86 do not. */
	for (int i = 0; i < 2; i++) {
		memset(name, i ? '%' : 0xff, sizeof(name));
		ck_assert_int_eq(
		    schema_check_family_name(slice_of(name, 85)), 0);
		ck_assert_int_eq(
		    schema_check_family_name(slice_of(name, 86)), -EINVAL);
		law_key_has_one_name(NAME_OF_FAMILY, slice_of(name, 85));
	}
}
END_TEST

#define COUNT(table) (int)(sizeof(table) / sizeof(*(table)))

static void
add_names(Suite *s)
{
	TCase *names = tcase_create("names");

	tcase_add_loop_test(names, table_names_are_hbases, 0, COUNT(tables));
	tcase_add_loop_test(names, family_names_are_hbases, 0, COUNT(families));
	tcase_add_test(names, names_end_at_their_limits);
	suite_add_tcase(s, names);
}

static Suite *
suite(void)
{
	Suite *s = suite_create("schema");
	TCase *list = tcase_create("families");
	TCase *attributes = tcase_create("attributes");
	TCase *lines = tcase_create("text");

	tcase_add_test(list, a_declared_family_has_the_documented_defaults);
	tcase_add_test(list, families_stand_in_byte_order_and_are_found);
	tcase_add_test(list, a_copy_is_equal_and_apart);
	suite_add_tcase(s, list);

	tcase_add_loop_test(attributes,
	    attributes_are_taken_in_the_forms_of_hbase, 0, COUNT(accepted));
	tcase_add_loop_test(attributes,
	    a_bad_attribute_is_refused_by_its_name_and_changes_nothing, 0,
	    COUNT(refused));
	tcase_add_test(attributes, min_versions_are_at_most_versions);
	tcase_add_loop_test(attributes,
	    a_family_argument_is_understood_or_refused, 0, COUNT(arguments));
	suite_add_tcase(s, attributes);

	tcase_add_test(lines, later_lines_change_what_they_name_only);
	tcase_add_loop_test(lines, a_quoted_value_may_hold_blanks, 0,
	    sizeof(quotes) / sizeof(*quotes));
	tcase_add_test(lines, canonical_text_is_read_as_itself);
	tcase_add_test(lines, every_family_name_survives_its_text);
	tcase_add_loop_test(lines, a_bad_line_is_named, 0, COUNT(bad_lines));
	tcase_add_test(lines, a_line_still_being_written_is_not_checked);
	suite_add_tcase(s, lines);
	add_names(s);
	return s;
}

int
main(void)
{
	return suite_run(suite());
}
