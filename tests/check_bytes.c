#include "kv/bytes.h"
#include "kv/why.h"
#include "suite.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct slice
text(const char *s)
{
	return slice_text(s);
}

/* --- slices --------------------------------------------------------------- */

static const struct {
	const char *a, *b;
	int order;
} orders[] = {
    {"", "", 0},
    {"", "a", -1},
    {"a", "a", 0},
    {"a", "ab", -1},
    {"ab", "b", -1},
    {"\x7f", "\x80", -1},
    {"\xff", "\xff\xff", -1},
    {"\xff", "a", 1},
};

static int
sign(int order)
{
	return (order > 0) - (order < 0);
}

START_TEST(order_is_by_unsigned_bytes_a_prefix_first)
{
	struct slice a = text(orders[_i].a), b = text(orders[_i].b);

	ck_assert_int_eq(sign(slice_compare(a, b)), orders[_i].order);
	ck_assert_int_eq(sign(slice_compare(b, a)), -orders[_i].order);
	ck_assert_int_eq(slice_equal(a, b), orders[_i].order == 0);
}
END_TEST

START_TEST(nothing_equals_nothing_wherever_it_lies)
{
	struct slice nowhere = {0};

	ck_assert(slice_equal(nowhere, text("")));
	ck_assert(slice_begins(text("a"), nowhere));
	ck_assert(slice_begins(nowhere, nowhere));
	ck_assert(!slice_begins(nowhere, text("a")));
	ck_assert_uint_eq(slice_skip(nowhere, 0).size, 0);
}
END_TEST

START_TEST(head_and_skip_divide_a_slice)
{
	struct slice s = text("abcdef");

	for (size_t n = 0; n <= s.size; n++) {
		ck_assert_uint_eq(slice_head(s, n).size, n);
		ck_assert_uint_eq(slice_skip(s, n).size, s.size - n);
		ck_assert(slice_begins(s, slice_head(s, n)));
		ck_assert_ptr_eq(slice_skip(s, n).data, s.data + n);
	}
}
END_TEST

START_TEST(a_hash_is_fnv_1a_and_carries_on_a_seed)
{
	ck_assert_uint_eq(slice_hash(text(""), 0), 0xcbf29ce484222325u);
	ck_assert_uint_eq(slice_hash(text("foobar"), 0), 0x85944171f73967e8u);
	ck_assert(slice_hash(text("a"), 1) != slice_hash(text("a"), 2));
}
END_TEST

/* --- bufs ----------------------------------------------------------------- */

START_TEST(appends_add_up)
{
	struct buf b = {0}, expected = {0};

	for (int i = 0; i < 1000; i++) {
		buf_byte(&b, (uint8_t)i);
		buf_printf(&b, "%d", i);
		buf_text(&b, "x");
	}
	for (int i = 0; i < 1000; i++) {
		char digits[8];
		uint8_t byte = (uint8_t)i;
		int size = snprintf(digits, sizeof(digits), "%dx", i);

		buf_append(&expected, slice_of(&byte, 1));
		buf_append(&expected, slice_of(digits, (size_t)size));
	}
	ck_assert_int_eq(buf_status(&b), 0);
	ck_assert(slice_equal(buf_slice(&b), buf_slice(&expected)));
	buf_release(&b);
	buf_release(&expected);
	ck_assert_ptr_null(b.data);
}
END_TEST

START_TEST(numbers_are_big_endian_both_ways)
{
	static const uint8_t bytes[] = {
	    0x01, 0x02, 0xff, 0xfe, 0xfd, 0xfc, 0x80, 0, 0, 0, 0, 0, 0, 0x07};
	struct buf b = {0};

	buf_be16(&b, 0x0102);
	buf_be32(&b, 0xfffefdfc);
	buf_be64(&b, 0x8000000000000007u);
	ck_assert(slice_equal(buf_slice(&b), slice_of(bytes, sizeof(bytes))));
	ck_assert_uint_eq(be16(b.data), 0x0102);
	ck_assert_uint_eq(be32(b.data + 2), 0xfffefdfc);
	ck_assert_uint_eq(be64(b.data + 6), 0x8000000000000007u);
	buf_release(&b);
}
END_TEST

START_TEST(set_copies_even_from_itself)
{
	struct buf b = {0};

	ck_assert_int_eq(buf_set(&b, text("abcdef")), 0);
	ck_assert_int_eq(buf_set(&b, slice_skip(buf_slice(&b), 2)), 0);
	ck_assert(slice_equal(buf_slice(&b), text("cdef")));
	ck_assert_int_eq(buf_set(&b, text("")), 0);
	ck_assert_uint_eq(b.size, 0);
	buf_release(&b);
}
END_TEST

START_TEST(new_bytes_of_a_resize_are_zero)
{
	struct buf b = {0};

	buf_text(&b, "abcdef");
	ck_assert_int_eq(buf_resize(&b, 2), 0);
	ck_assert_int_eq(buf_resize(&b, 5), 0);
	ck_assert(slice_equal(buf_slice(&b), slice_of("ab\0\0\0", 5)));
	buf_release(&b);
}
END_TEST

START_TEST(memory_that_ran_out_is_told_once_at_the_end)
{
	struct buf b = {0};

	buf_text(&b, "kept");
	buf_append(&b, slice_of("x", SIZE_MAX / 2));
	buf_text(&b, "dropped");
	ck_assert_int_eq(buf_status(&b), -ENOMEM);
	ck_assert(slice_equal(buf_slice(&b), text("kept")));
	buf_clear(&b);
	ck_assert_int_eq(buf_status(&b), 0);
	ck_assert_int_eq(buf_resize(&b, SIZE_MAX), -ENOMEM);
	ck_assert_int_eq(buf_status(&b), 0);
	buf_release(&b);
}
END_TEST

/* --- why ------------------------------------------------------------------ */

START_TEST(a_sentence_belongs_to_its_errno)
{
	why_clear();
	ck_assert_str_eq(why_text(-ENOENT), strerror(ENOENT));
	ck_assert_int_eq(why(EINVAL, "row %d", 7), -EINVAL);
	ck_assert_str_eq(why_text(-EINVAL), "row 7");
	ck_assert_str_eq(why_text(-EIO), strerror(EIO));
	why(EINVAL, "row %d", 8);
	why_clear();
	ck_assert_str_eq(why_text(-EINVAL), strerror(EINVAL));
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("bytes");
	TCase *slices = tcase_create("slices");
	TCase *bufs = tcase_create("bufs");
	TCase *sentences = tcase_create("why");

	tcase_add_loop_test(slices, order_is_by_unsigned_bytes_a_prefix_first,
	    0, sizeof(orders) / sizeof(*orders));
	tcase_add_test(slices, nothing_equals_nothing_wherever_it_lies);
	tcase_add_test(slices, head_and_skip_divide_a_slice);
	tcase_add_test(slices, a_hash_is_fnv_1a_and_carries_on_a_seed);
	suite_add_tcase(s, slices);

	tcase_add_test(bufs, appends_add_up);
	tcase_add_test(bufs, numbers_are_big_endian_both_ways);
	tcase_add_test(bufs, set_copies_even_from_itself);
	tcase_add_test(bufs, new_bytes_of_a_resize_are_zero);
	tcase_add_test(bufs, memory_that_ran_out_is_told_once_at_the_end);
	suite_add_tcase(s, bufs);

	tcase_add_test(sentences, a_sentence_belongs_to_its_errno);
	suite_add_tcase(s, sentences);
	return s;
}

int
main(void)
{
	return suite_run(suite());
}
