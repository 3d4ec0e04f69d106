#include "kv/key.h"
#include "kv/cell.h"
#include "tests/chance.h"
#include "tests/laws.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Short, of few different bytes, so that prefixes and ties are common. */
static void
make_part(struct buf *out)
{
	buf_clear(out);
	for (uint64_t n = chance(5); n; n--)
		buf_byte(out, (uint8_t)("\0\0\x01\xfe\xff\xff"
					"a"[chance(7)]));
}

static int
sign(int64_t order)
{
	return (order > 0) - (order < 0);
}

/* --- form ----------------------------------------------------------------- */

START_TEST(a_key_has_the_documented_bytes)
{
	static const uint8_t expected[] = {'r', 0, 0xff, 0xff, 0, 0, 'q', 0, 0,
	    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfa};
	static const uint8_t part[] = {'r', 0, 0xff, 0, 1};
	struct buf key = {0};

	key_cell(&key, slice_of("r\0\xff", 3), slice_text("q"), 5);
	ck_assert(
	    slice_equal(buf_slice(&key), slice_of(expected, sizeof(expected))));
	buf_clear(&key);
	key_part(&key, slice_of("r\0", 2));
	ck_assert(slice_equal(buf_slice(&key), slice_of(part, sizeof(part))));
	buf_release(&key);
}
END_TEST

START_TEST(components_come_off_the_front_as_they_went_on)
{
	struct buf key = {0}, out = {0};
	bool part = false;

	key_component(&key, slice_of("\0a\0", 3));
	key_part(&key, slice_text("p"));
	key_component(&key, slice_text(""));
	struct slice rest = buf_slice(&key);
	ck_assert_uint_eq(key_component_size(rest), 7);
	ck_assert_int_eq(key_take(&rest, &out, NULL), 0);
	ck_assert(slice_equal(buf_slice(&out), slice_of("\0a\0", 3)));

	struct slice before = rest;
	ck_assert_int_eq(key_take(&rest, &out, NULL), -EIO);
	ck_assert_ptr_eq(rest.data, before.data);
	ck_assert_uint_eq(out.size, 3);
	ck_assert_int_eq(key_take(&rest, &out, &part), 0);
	ck_assert(part);
	ck_assert(slice_equal(buf_slice(&out), slice_of("\0a\0p", 4)));
	ck_assert_int_eq(key_take(&rest, &out, &part), 0);
	ck_assert(!part);
	ck_assert_uint_eq(rest.size, 0);
	ck_assert_int_eq(key_take(&rest, &out, &part), -EIO);
	buf_release(&key);
	buf_release(&out);
}
END_TEST

START_TEST(any_row_and_qualifier_can_be_split_again)
{
	struct buf row = {0}, qualifier = {0}, r = {0}, q = {0}, key = {0};
	int64_t timestamp;

	chance_seed();
	for (int i = 0; i < 20000; i++) {
		int64_t at = i % 3   ? (int64_t)chance(TS_MAX)
			     : i % 2 ? 0
				     : TS_MAX;

		make_part(&row);
		make_part(&qualifier);
		buf_clear(&key);
		key_cell(&key, buf_slice(&row), buf_slice(&qualifier), at);
		ck_assert_int_eq(
		    key_split(buf_slice(&key), &r, &q, &timestamp), 0);
		ck_assert(slice_equal(buf_slice(&row), buf_slice(&r)));
		ck_assert(slice_equal(buf_slice(&qualifier), buf_slice(&q)));
		ck_assert_int_eq(timestamp, at);
		law_cell_key_is_canonical(buf_slice(&key));
	}
	buf_release(&row);
	buf_release(&qualifier);
	buf_release(&r);
	buf_release(&q);
	buf_release(&key);
}
END_TEST

START_TEST(what_is_no_key_is_refused_whole_or_cut)
{
	struct buf key = {0}, row = {0}, qualifier = {0};
	int64_t timestamp;

	key_cell(&key, slice_of("r\0", 2), slice_of("\0q", 2), 1234);
	struct slice s = buf_slice(&key);
	for (size_t size = 0; size < s.size; size++) {
		ck_assert_int_eq(key_split(slice_head(s, size), &row,
				     &qualifier, &timestamp),
		    -EIO);
		ck_assert_uint_eq(row.size + qualifier.size, 0);
	}
	for (size_t i = 0; i < s.size; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			key.data[i] ^= (uint8_t)(1u << bit);
			law_cell_key_is_canonical(s);
			key.data[i] ^= (uint8_t)(1u << bit);
		}
	buf_byte(&key, 0);
	ck_assert_int_eq(
	    key_split(buf_slice(&key), &row, &qualifier, &timestamp), -EIO);
	buf_release(&key);
	buf_release(&row);
	buf_release(&qualifier);
}
END_TEST

/* --- order ---------------------------------------------------------------- */

START_TEST(keys_sort_as_row_then_qualifier_then_newest_first)
{
	struct buf row[2] = {0}, qualifier[2] = {0}, key[2] = {0};
	int64_t at[2];

	chance_seed();
	for (int n = 0; n < 50000; n++) {
		for (int i = 0; i < 2; i++) {
			make_part(&row[i]);
			make_part(&qualifier[i]);
			at[i] =
			    (int64_t)(chance(2) ? chance(3) : chance(TS_MAX));
			buf_clear(&key[i]);
			key_cell(&key[i], buf_slice(&row[i]),
			    buf_slice(&qualifier[i]), at[i]);
		}
		int expected =
		    slice_compare(buf_slice(&row[0]), buf_slice(&row[1]));
		if (!expected)
			expected = slice_compare(
			    buf_slice(&qualifier[0]), buf_slice(&qualifier[1]));
		if (!expected)
			expected = sign(at[1] - at[0]);
		ck_assert_int_eq(
		    sign(slice_compare(buf_slice(&key[0]), buf_slice(&key[1]))),
		    sign(expected));
	}
	for (int i = 0; i < 2; i++) {
		buf_release(&row[i]);
		buf_release(&qualifier[i]);
		buf_release(&key[i]);
	}
}
END_TEST

START_TEST(a_prefix_covers_exactly_what_begins_with_it)
{
	struct buf prefix = {0}, row = {0}, key = {0}, covers = {0};

	chance_seed();
	for (int n = 0; n < 50000; n++) {
		make_part(&prefix);
		make_part(&row);
		buf_clear(&key);
		buf_clear(&covers);
		key_component(&key, buf_slice(&row));
		key_prefix(&covers, buf_slice(&prefix));
		ck_assert_int_eq(
		    slice_begins(buf_slice(&key), buf_slice(&covers)),
		    slice_begins(buf_slice(&row), buf_slice(&prefix)));
	}
	buf_release(&prefix);
	buf_release(&row);
	buf_release(&key);
	buf_release(&covers);
}
END_TEST

START_TEST(a_part_stands_behind_its_own_row_and_before_what_continues_it)
{
	static const struct slice longer[] = {{(const uint8_t *)"a\0", 2},
	    {(const uint8_t *)"a\x01", 2}, {(const uint8_t *)"a\xff", 2}};
	struct buf row = {0}, part = {0}, next = {0};

	key_component(&row, slice_text("a"));
	key_part(&part, slice_text("a"));
	ck_assert_int_lt(slice_compare(buf_slice(&row), buf_slice(&part)), 0);
	for (int i = 0; i < 3; i++) {
		buf_clear(&next);
		key_component(&next, longer[i]);
		ck_assert_int_lt(
		    slice_compare(buf_slice(&part), buf_slice(&next)), 0);
	}
	buf_release(&row);
	buf_release(&part);
	buf_release(&next);
}
END_TEST

START_TEST(the_successor_is_the_least_above_all_that_begins_so)
{
	static const struct {
		const char *key, *successor;
	} table[] = {{"a", "b"}, {"a\xff", "b"}, {"a\xfe\xff\xff", "a\xff"},
	    {"\xfe", "\xff"}};
	struct buf key = {0};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		buf_set(&key, slice_text(table[i].key));
		ck_assert(key_successor(&key));
		ck_assert(slice_equal(
		    buf_slice(&key), slice_text(table[i].successor)));
	}
	buf_set(&key, slice_text("\xff\xff"));
	ck_assert(!key_successor(&key));
	ck_assert_uint_eq(key.size, 0);
	ck_assert(!key_successor(&key));
	buf_release(&key);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("key");
	TCase *form = tcase_create("form");
	TCase *order = tcase_create("order");

	tcase_add_test(form, a_key_has_the_documented_bytes);
	tcase_add_test(form, components_come_off_the_front_as_they_went_on);
	tcase_add_test(form, any_row_and_qualifier_can_be_split_again);
	tcase_add_test(form, what_is_no_key_is_refused_whole_or_cut);
	suite_add_tcase(s, form);

	tcase_add_test(
	    order, keys_sort_as_row_then_qualifier_then_newest_first);
	tcase_add_test(order, a_prefix_covers_exactly_what_begins_with_it);
	tcase_add_test(order,
	    a_part_stands_behind_its_own_row_and_before_what_continues_it);
	tcase_add_test(
	    order, the_successor_is_the_least_above_all_that_begins_so);
	suite_add_tcase(s, order);
	return s;
}

int
main(void)
{
	return suite_run(suite());
}
