/* Values and times as the command line writes them. */
#include "suite.h"
#include "kv/form.h"

#include "kv/cell.h"
#include "kv/why.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOW INT64_C(1700000000000)
#define HOUR INT64_C(3600000)

static const struct {
	enum form form;
	const char *text;
	const char *bytes;
	size_t size;
} values[] = {
    {FORM_TEXT, "a\\x00\\x5C", "a\0\\", 3},
    {FORM_HEX, "", "", 0},
    {FORM_HEX, "00ff7a", "\0\377z", 3},
    {FORM_BASE64, "", "", 0},
    {FORM_BASE64, "Zg==", "f", 1},
    {FORM_BASE64, "Zm8=", "fo", 2},
    {FORM_BASE64, "Zm9v", "foo", 3},
    {FORM_BASE64, "Zm9vYg==", "foob", 4},
    {FORM_BASE64, "+/8=", "\373\377", 2},
    {FORM_BE64, "0", "\0\0\0\0\0\0\0\0", 8},
    {FORM_BE64, "-1", "\377\377\377\377\377\377\377\377", 8},
    {FORM_BE64, "9223372036854775807", "\177\377\377\377\377\377\377\377", 8},
    {FORM_BE64, "-9223372036854775808", "\200\0\0\0\0\0\0\0", 8},
    {FORM_BE32, "258", "\0\0\1\2", 4},
    {FORM_BE32, "-2147483648", "\200\0\0\0", 4},
    {FORM_BYTES, "a\\x00", "a\\x00", 5},
};

START_TEST(a_form_reads_what_it_prints)
{
	struct slice bytes = slice_of(values[_i].bytes, values[_i].size);
	struct slice text = slice_text(values[_i].text);
	struct buf out = {0};

	ck_assert_int_eq(form_read(values[_i].form, text, &out), 0);
	ck_assert(slice_equal(buf_slice(&out), bytes));
	buf_clear(&out);
	ck_assert_int_eq(form_print(values[_i].form, bytes, &out), 0);
	ck_assert(slice_equal(buf_slice(&out), text));
	buf_release(&out);
}
END_TEST

START_TEST(hex_is_read_in_either_case)
{
	struct buf out = {0};

	ck_assert_int_eq(form_read(FORM_HEX, slice_text("aBFf"), &out), 0);
	ck_assert(slice_equal(buf_slice(&out), slice_of("\253\377", 2)));
	buf_release(&out);
}
END_TEST

static const struct {
	enum form form;
	const char *text;
} bad_values[] = {
    {FORM_TEXT, "\\"},
    {FORM_HEX, "abc"},
    {FORM_HEX, "0g"},
    {FORM_HEX, "0x"},
    {FORM_BASE64, "Zg"},
    {FORM_BASE64, "Zg=v"},
    {FORM_BASE64, "===="},
    {FORM_BASE64, "Zm9-"},
    {FORM_BE64, ""},
    {FORM_BE64, "-"},
    {FORM_BE64, " 1"},
    {FORM_BE64, "+1"},
    {FORM_BE64, "1 "},
    {FORM_BE64, "0x10"},
    {FORM_BE64, "9223372036854775808"},
    {FORM_BE32, "2147483648"},
    {FORM_BE32, "-2147483649"},
};

START_TEST(a_malformed_value_is_refused_with_a_sentence)
{
	struct buf out = {0};

	why_clear();
	ck_assert_int_eq(form_read(bad_values[_i].form,
			     slice_text(bad_values[_i].text), &out),
	    -EINVAL);
	ck_assert_str_ne(why_text(-EINVAL), strerror(EINVAL));
	buf_release(&out);
}
END_TEST

START_TEST(a_number_form_refuses_other_widths)
{
	struct buf out = {0};

	ck_assert_int_eq(
	    form_print(FORM_BE64, slice_of("1234567", 7), &out), -EINVAL);
	ck_assert_int_eq(
	    form_print(FORM_BE64, slice_of("123456789", 9), &out), -EINVAL);
	ck_assert_int_eq(
	    form_print(FORM_BE32, slice_of("12345", 5), &out), -EINVAL);
	ck_assert_uint_eq(out.size, 0);
	buf_release(&out);
}
END_TEST

/* Prints s in pieces of at most room bytes, as a long value is. */
static void
print_in_pieces(enum form form, struct slice s, size_t room, struct buf *out)
{
	while (s.size) {
		bool last = s.size <= room;
		struct slice piece = slice_head(s, last ? s.size : room);
		size_t whole = form_whole(form, piece, last);

		ck_assert_uint_gt(whole, 0);
		ck_assert_int_eq(
		    form_print(form, slice_head(s, whole), out), 0);
		s = slice_skip(s, whole);
	}
}

START_TEST(a_value_in_pieces_prints_as_in_one)
{
	static const char value[] = "a\303\251\344\272\272\360\237\230\200"
				    "\360\237\303(\200\200\200\200\200\\\n"
				    "\344\272\344\272\272";
	static const enum form forms[] = {
	    FORM_TEXT, FORM_HEX, FORM_BASE64, FORM_BYTES};
	struct slice s = slice_of(value, sizeof(value) - 1);
	struct buf whole = {0}, pieces = {0};

	for (size_t form = 0; form < 4; form++) {
		buf_clear(&whole);
		buf_clear(&pieces);
		ck_assert_int_eq(form_print(forms[form], s, &whole), 0);
		print_in_pieces(forms[form], s, 4 + _i, &pieces);
		ck_assert(slice_equal(buf_slice(&whole), buf_slice(&pieces)));
	}
	buf_release(&whole);
	buf_release(&pieces);
}
END_TEST

START_TEST(the_forms_have_names)
{
	enum form form;

	ck_assert_int_eq(form_named("be32", &form), 0);
	ck_assert_int_eq(form, FORM_BE32);
	ck_assert_int_eq(form_named("HEX", &form), -EINVAL);
	ck_assert_int_eq(form_named("", &form), -EINVAL);
}
END_TEST

static const struct {
	const char *text;
	int64_t ms;
} times[] = {
    /* milliseconds */
    {"0", 0},
    {"1700000000000", NOW},
    {"9223372036854775806", TS_MAX},
    /* dates, in UTC */
    {"1970-01-01", 0},
    {"2024-02-29", INT64_C(1709164800000)},
    {"2000-02-29", INT64_C(951782400000)},
    {"2023-11-14T22:13:20", NOW},
    {"2023-11-14 22:13:20", NOW},
    {"2023-11-14T22:13:20Z", NOW},
    {"2023-11-14T22:13", NOW - 20000},
    {"2023-11-14T22:13:20.25Z", NOW + 250},
    {"2023-11-14T22:13:20.0019", NOW + 1},
    /* offsets */
    {"2023-11-15T00:13:20+02:00", NOW},
    {"2023-11-15T00:13:20+0200", NOW},
    {"2023-11-15T00:13:20+02", NOW},
    {"2023-11-14T16:43:20-05:30", NOW},
    {"1970-01-01T01:00+01:00", 0},
    /* counted back */
    {"-90s", NOW - 90000},
    {"-15m", NOW - 900000},
    {"-2h", NOW - 2 * HOUR},
    {"-3d", NOW - 72 * HOUR},
    {"-1w", NOW - 168 * HOUR},
    {"-0s", NOW},
};

START_TEST(a_time_is_read)
{
	int64_t ms;

	ck_assert_int_eq(time_read(slice_text(times[_i].text), NOW, &ms), 0);
	ck_assert_int_eq(ms, times[_i].ms);
}
END_TEST

static const char *const bad_times[] = {"", "-", "-s", "-1", "-1y", "-01h",
    "--1h", "2h", "9223372036854775807", "01", "+5", "5 ", "now", "2023-11",
    "2023-1-1", "2023-00-01", "2023-13-01", "2023-04-31", "2023-02-29",
    "1900-02-29", "2023-11-14T", "2023-11-14T22", "2023-11-14T24:00",
    "2023-11-14T22:60", "2023-11-14T22:13:60", "2023-11-14T22:13:20.",
    "2023-11-14T22:13:20z", "2023-11-14T22:13:20+", "2023-11-14T22:13:20+2",
    "2023-11-14T22:13:20+24:00",
    "2023-11-14T22:13:20+02:", "2023-11-14T22:13:20+02:60",
    "2023-11-14T22:13:20Zx", "2023-11-14Z", "1969-12-31",
    "1970-01-01T00:00+01:00", "-999999d", "-9223372036854775807w"};

START_TEST(a_malformed_time_is_refused_with_a_sentence)
{
	int64_t ms = 7;

	why_clear();
	ck_assert_int_eq(
	    time_read(slice_text(bad_times[_i]), NOW, &ms), -EINVAL);
	ck_assert_int_eq(ms, 0);
	ck_assert_str_ne(why_text(-EINVAL), strerror(EINVAL));
}
END_TEST

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

int
main(void)
{
	Suite *suite = suite_create("form");
	TCase *of_values = tcase_create("values");
	TCase *of_times = tcase_create("times");

	tcase_add_loop_test(
	    of_values, a_form_reads_what_it_prints, 0, COUNT(values));
	tcase_add_test(of_values, hex_is_read_in_either_case);
	tcase_add_loop_test(of_values,
	    a_malformed_value_is_refused_with_a_sentence, 0, COUNT(bad_values));
	tcase_add_test(of_values, a_number_form_refuses_other_widths);
	tcase_add_loop_test(
	    of_values, a_value_in_pieces_prints_as_in_one, 0, 12);
	tcase_add_test(of_values, the_forms_have_names);
	tcase_add_loop_test(of_times, a_time_is_read, 0, COUNT(times));
	tcase_add_loop_test(of_times,
	    a_malformed_time_is_refused_with_a_sentence, 0, COUNT(bad_times));
	suite_add_tcase(suite, of_values);
	suite_add_tcase(suite, of_times);
	return suite_run(suite);
}
