#include "kv/text.h"
#include "kv/units.h"
#include "kv/why.h"
#include "suite.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- the text form -------------------------------------------------------- */

static const struct {
	const char *bytes, *text;
} forms[] = {
    /* printable as it is */
    {"", ""},
    {"plain text", "plain text"},
    {"\xe6\x9c\x8d\xe5\x8a\xa1\xe5\x91\x98",
	"\xe6\x9c\x8d\xe5\x8a\xa1\xe5\x91\x98"},
    {"\xc3\xa9 e\xcc\x81", "\xc3\xa9 e\xcc\x81"},
    {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
    {"\xc2\xa0", "\xc2\xa0"},
    {"#:=,%@/", "#:=,%@/"},
    /* what would end a line, a field or an escape */
    {"a\tb\nc\rd", "a\\x09b\\x0Ac\\x0Dd"},
    {"\\", "\\x5C"},
    {"\\x41", "\\x5Cx41"},
    /* what a terminal might obey, or not show */
    {"\x1b[31m\x7f", "\\x1B[31m\\x7F"},
    {"\xc2\x9b", "\\xC2\\x9B"},		 /* Cc */
    {"\xe2\x80\xae", "\\xE2\\x80\\xAE"}, /* Cf */
    {"\xe2\x80\xa8", "\\xE2\\x80\\xA8"}, /* Zl */
    {"\xee\x80\x80", "\\xEE\\x80\\x80"}, /* Co */
    {"\xef\xbf\xbf", "\\xEF\\xBF\\xBF"}, /* Cn */
    /* what is not UTF-8 */
    {"\xff", "\\xFF"},
    {"\xe4\xb8", "\\xE4\\xB8"},
    {"\xe4\xb8"
     "a",
	"\\xE4\\xB8a"},
    {"\xed\xa0\x80", "\\xED\\xA0\\x80"},
    {"\xc0\x80", "\\xC0\\x80"},
};

START_TEST(bytes_print_and_read_back)
{
	struct buf text = {0}, back = {0};

	text_print(slice_text(forms[_i].bytes), &text);
	ck_assert(slice_equal(buf_slice(&text), slice_text(forms[_i].text)));
	ck_assert_int_eq(text_parse(buf_slice(&text), &back), 0);
	ck_assert(slice_equal(buf_slice(&back), slice_text(forms[_i].bytes)));
	buf_release(&text);
	buf_release(&back);
}
END_TEST

START_TEST(all_two_bytes_print_without_control_bytes_and_read_back)
{
	struct buf text = {0}, back = {0};
	unsigned raw = 0;

	for (unsigned i = 0; i < 65536; i++) {
		uint8_t bytes[2] = {(uint8_t)(i >> 8), (uint8_t)i};

		buf_clear(&text);
		buf_clear(&back);
		text_print(slice_of(bytes, 2), &text);
		for (size_t j = 0; j < text.size; j++)
			raw += text.data[j] < 0x20 || text.data[j] == 0x7f;
		ck_assert_int_eq(text_parse(buf_slice(&text), &back), 0);
		ck_assert(slice_equal(buf_slice(&back), slice_of(bytes, 2)));
	}
	ck_assert_uint_eq(raw, 0);
	buf_release(&text);
	buf_release(&back);
}
END_TEST

START_TEST(hexadecimal_digits_are_read_in_either_case)
{
	struct buf out = {0};

	buf_text(&out, "kept ");
	ck_assert_int_eq(text_parse(slice_text("\\x0a\\xaF\t"), &out), 0);
	ck_assert(slice_equal(buf_slice(&out), slice_text("kept \n\xaf\t")));
	buf_release(&out);
}
END_TEST

static const char *const bad_texts[] = {"\\", "a\\", "\\x", "\\x4", "\\xg1",
    "\\x1g", "\\X41", "\\\\", "\\n", "\\x41\\"};

START_TEST(a_backslash_that_begins_no_escape_is_refused)
{
	struct buf out = {0};

	buf_text(&out, "kept");
	ck_assert_int_eq(text_parse(slice_text(bad_texts[_i]), &out), -EINVAL);
	ck_assert_ptr_nonnull(strstr(why_text(-EINVAL), "\\x5C"));
	ck_assert(slice_equal(buf_slice(&out), slice_text("kept")));
	buf_release(&out);
}
END_TEST

START_TEST(a_refusal_shows_the_bad_text_safely_and_cut)
{
	char longer[1000];

	memset(longer, 'x', sizeof(longer));
	text_refuse(slice_text("a\nb"), "not %d", 3);
	ck_assert_str_eq(why_text(-EINVAL), "'a\\x0Ab': not 3");
	ck_assert_int_eq(
	    text_refuse(slice_of(longer, sizeof(longer)), "no"), -EINVAL);
	ck_assert_uint_lt(strlen(why_text(-EINVAL)), 200);
	ck_assert_ptr_nonnull(strstr(why_text(-EINVAL), "...': no"));
}
END_TEST

/* --- UTF-8 ---------------------------------------------------------------- */

/* Encodes as the table of Unicode says, with no regard to what is valid. */
static size_t
encode(uint32_t code, size_t length, uint8_t *out)
{
	static const uint8_t leads[] = {0, 0, 0xc0, 0xe0, 0xf0};

	if (length == 1) {
		out[0] = (uint8_t)code;
		return 1;
	}
	for (size_t i = length; --i; code >>= 6)
		out[i] = (uint8_t)(0x80 | (code & 0x3f));
	out[0] = (uint8_t)(leads[length] | code);
	return length;
}

static size_t
length_of(uint32_t code)
{
	if (code < 0x80)
		return 1;
	return code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

START_TEST(every_character_and_nothing_else_is_utf8)
{
	uint8_t bytes[4];
	unsigned wrong = 0;

	for (uint32_t code = 0; code < 0x1fffff; code++) {
		size_t length = length_of(code);
		bool valid =
		    code < 0xd800 || (code > 0xdfff && code <= 0x10ffff);

		encode(code, length, bytes);
		wrong += utf8_length(slice_of(bytes, length)) !=
			 (valid ? length : 0);
		wrong +=
		    length > 1 && utf8_length(slice_of(bytes, length - 1)) != 0;
		if (length < 4) { /* overlong */
			encode(code, length + 1, bytes);
			wrong += utf8_length(slice_of(bytes, length + 1)) != 0;
		}
	}
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_eq(utf8_length(slice_of("", 0)), 0);
	ck_assert_uint_eq(utf8_length(slice_text("ab")), 1);
}
END_TEST

/* --- numbers, times, sizes ------------------------------------------------ */

static const struct {
	const char *text;
	uint64_t max;
	int result;
	uint64_t number;
} numbers[] = {
    {"0", 0, 0, 0},
    {"7", 7, 0, 7},
    {"8", 7, -EINVAL, 0},
    {"10", 9, -EINVAL, 0},
    {"18446744073709551615", UINT64_MAX, 0, UINT64_MAX},
    {"18446744073709551616", UINT64_MAX, -EINVAL, 0},
    {"99999999999999999999", UINT64_MAX, -EINVAL, 0},
    {"9223372036854775807", INT64_MAX, 0, INT64_MAX},
    {"9223372036854775808", INT64_MAX, -EINVAL, 0},
    {"", 9, -EINVAL, 0},
    {"01", 9, -EINVAL, 0},
    {"+1", 9, -EINVAL, 0},
    {"-1", 9, -EINVAL, 0},
    {" 1", 9, -EINVAL, 0},
    {"1 ", 9, -EINVAL, 0},
    {"0x1", 9, -EINVAL, 0},
    {"1e0", 9, -EINVAL, 0},
};

START_TEST(numbers_are_plain_decimal_within_bounds)
{
	uint64_t number;

	ck_assert_int_eq(
	    text_number(slice_text(numbers[_i].text), numbers[_i].max, &number),
	    numbers[_i].result);
	ck_assert_uint_eq(number, numbers[_i].number);
}
END_TEST

static const struct {
	const char *text;
	int result;
	uint64_t number;
} ttls[] = {
    {"FOREVER", 0, 2147483647},
    {"forever", 0, 2147483647},
    {"86400", 0, 86400},
    {"2147483647", 0, 2147483647},
    {"1 DAY", 0, 86400},
    {"1day", 0, 86400},
    {"2 Days 3 HOURS 4 minutes 5 second", 0, 183845},
    {"2D", -EINVAL, 0},
    {"90 SECONDS (1 MINUTE 30 SECOND)", 0, 90},
    {"90 SECONDS(1MINUTE30SECONDS)", 0, 90},
    {"121 SECONDS (2 MINUTES 1 SECONDS)", 0, 121},
    {"30 SECONDS", 0, 30},
    {"90 SECONDS (1 MINUTE)", -EINVAL, 0},
    {"90 SECONDS (1 MINUTE 30 SECONDS", -EINVAL, 0},
    {"1 MINUTE)", -EINVAL, 0},
    {"1 HOUR 1 DAY", -EINVAL, 0},
    {"1 DAY 1 DAY", -EINVAL, 0},
    {"5x", -EINVAL, 0},
    {"-1", -EINVAL, 0},
    {"DAY", -EINVAL, 0},
    {"", -EINVAL, 0},
    {"2147483648", -EINVAL, 0},
    {"24855 DAYS 3 HOURS 14 MINUTES 7 SECONDS", 0, 2147483647},
    {"24855 DAYS 3 HOURS 14 MINUTES 8 SECONDS", -EINVAL, 0},
};

START_TEST(times_to_live_are_read_as_hbase_writes_them)
{
	uint64_t number;

	ck_assert_int_eq(
	    units_ttl(slice_text(ttls[_i].text), &number), ttls[_i].result);
	ck_assert_uint_eq(number, ttls[_i].number);
}
END_TEST

static const struct {
	const char *text;
	int result;
	uint64_t number;
} sizes[] = {
    {"0", 0, 0},
    {"65536", 0, 65536},
    {"64KB", 0, 65536},
    {"64 k", 0, 65536},
    {"65536 B (64KB)", 0, 65536},
    {"1TB 2GB 3MB 4KB 5B", 0, 1101662261253},
    {"1t2g3m4k5", 0, 1101662261253},
    {"1101662261253 B (1TB 2GB 3MB 4KB 5B)", 0, 1101662261253},
    {"10 (10B)", 0, 10},
    {"65536 B (32KB)", -EINVAL, 0},
    {"4KB 1MB", -EINVAL, 0},
    {"1PB", -EINVAL, 0},
    {"1.5MB", -EINVAL, 0},
    {"KB", -EINVAL, 0},
    {"", -EINVAL, 0},
    {"-1", -EINVAL, 0},
    {"8388608TB", -EINVAL, 0},
    {"9223372036854775807", 0, INT64_MAX},
    {"9223372036854775808", -EINVAL, 0},
};

START_TEST(sizes_are_read_as_hbase_writes_them)
{
	uint64_t number;

	ck_assert_int_eq(
	    units_size(slice_text(sizes[_i].text), &number), sizes[_i].result);
	ck_assert_uint_eq(number, sizes[_i].number);
}
END_TEST

#define COUNT(table) (int)(sizeof(table) / sizeof(*(table)))

static Suite *
suite(void)
{
	Suite *s = suite_create("text");
	TCase *form = tcase_create("form");
	TCase *utf8 = tcase_create("utf8");
	TCase *units = tcase_create("numbers");

	tcase_set_timeout(form, 60);
	tcase_add_loop_test(form, bytes_print_and_read_back, 0, COUNT(forms));
	tcase_add_test(
	    form, all_two_bytes_print_without_control_bytes_and_read_back);
	tcase_add_test(form, hexadecimal_digits_are_read_in_either_case);
	tcase_add_loop_test(form, a_backslash_that_begins_no_escape_is_refused,
	    0, COUNT(bad_texts));
	tcase_add_test(form, a_refusal_shows_the_bad_text_safely_and_cut);
	suite_add_tcase(s, form);

	tcase_set_timeout(utf8, 60);
	tcase_add_test(utf8, every_character_and_nothing_else_is_utf8);
	suite_add_tcase(s, utf8);

	tcase_add_loop_test(
	    units, numbers_are_plain_decimal_within_bounds, 0, COUNT(numbers));
	tcase_add_loop_test(
	    units, times_to_live_are_read_as_hbase_writes_them, 0, COUNT(ttls));
	tcase_add_loop_test(
	    units, sizes_are_read_as_hbase_writes_them, 0, COUNT(sizes));
	suite_add_tcase(s, units);
	return s;
}

int
main(void)
{
	return suite_run(suite());
}
