#include "kv/record.h"
#include "kv/why.h"
#include "tests/laws.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OWNER (ATTR_MODE | ATTR_UID | ATTR_GID)

/* A record with each field whose bit is set in fields. */
static struct record
make(unsigned fields)
{
	struct record r = {0};

	if (fields & 1) {
		r.attrs.set |= ATTR_MTIME;
		r.attrs.mtime = (struct timespec){-5, 999999999};
	}
	if (fields & 2) {
		r.attrs.set |= OWNER;
		r.attrs.mode = 04755;
		r.attrs.uid = 4294967294u;
		r.attrs.gid = 1000;
	}
	if (fields & 4)
		r.ttl = INT64_MAX;
	if (fields & 8)
		r.sequence = UINT64_MAX;
	if (fields & 16) {
		r.blob = 0x0102030405060708;
		r.size = (uint64_t)1 << 40;
	} else {
		r.value = slice_text("value");
		r.size = r.value.size;
	}
	return r;
}

static void
same(const struct record *a, const struct record *b)
{
	ck_assert_uint_eq(a->attrs.set, b->attrs.set);
	ck_assert_int_eq(a->attrs.mtime.tv_sec, b->attrs.mtime.tv_sec);
	ck_assert_int_eq(a->attrs.mtime.tv_nsec, b->attrs.mtime.tv_nsec);
	ck_assert_uint_eq(a->attrs.mode, b->attrs.mode);
	ck_assert_uint_eq(a->attrs.uid, b->attrs.uid);
	ck_assert_uint_eq(a->attrs.gid, b->attrs.gid);
	ck_assert_int_eq(a->ttl, b->ttl);
	ck_assert_uint_eq(a->sequence, b->sequence);
	ck_assert_uint_eq(a->blob, b->blob);
	ck_assert_uint_eq(a->size, b->size);
	ck_assert(slice_equal(a->value, b->value));
}

START_TEST(every_choice_of_fields_comes_back)
{
	struct record r = make((unsigned)_i), back;
	struct buf stored = {0};

	record_encode(&r, &stored);
	ck_assert_int_eq(record_decode(buf_slice(&stored), &back), 0);
	same(&r, &back);
	law_record_is_canonical(buf_slice(&stored));
	buf_release(&stored);
}
END_TEST

START_TEST(a_record_has_the_documented_bytes)
{
	static const uint8_t plain[] = {0x20, 'v'};
	static const uint8_t full[] = {0x3f, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2,
	    0x01, 0xa4, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0,
	    0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 8};
	struct record small = {.value = slice_text("v")};
	struct record large = {.attrs = {.set = ATTR_MTIME | OWNER,
				   .mtime = {1, 2},
				   .mode = 0644,
				   .uid = 3,
				   .gid = 4},
	    .ttl = 5,
	    .sequence = 6,
	    .size = 7,
	    .blob = 8};
	struct buf stored = {0};

	record_encode(&small, &stored);
	ck_assert(
	    slice_equal(buf_slice(&stored), slice_of(plain, sizeof(plain))));
	buf_clear(&stored);
	record_encode(&large, &stored);
	ck_assert(
	    slice_equal(buf_slice(&stored), slice_of(full, sizeof(full))));
	buf_release(&stored);
}
END_TEST

START_TEST(a_file_type_in_the_mode_is_not_stored)
{
	struct record r = {.attrs = {.set = OWNER, .mode = 0100644}}, back;
	struct buf stored = {0};

	record_encode(&r, &stored);
	ck_assert_int_eq(record_decode(buf_slice(&stored), &back), 0);
	ck_assert_uint_eq(back.attrs.mode, 0644);
	buf_release(&stored);
}
END_TEST

START_TEST(an_empty_value_is_a_value)
{
	struct record r = {0}, back;
	struct buf stored = {0};

	record_encode(&r, &stored);
	ck_assert_uint_eq(stored.size, 1);
	ck_assert_int_eq(record_decode(buf_slice(&stored), &back), 0);
	ck_assert_uint_eq(back.size, 0);
	buf_release(&stored);
}
END_TEST

START_TEST(a_cut_off_header_is_damage)
{
	struct record r = make((unsigned)_i), back;
	struct buf stored = {0};

	record_encode(&r, &stored);
	size_t header = stored.size - (r.blob ? 0 : r.value.size);
	for (size_t size = 0; size < header; size++) {
		ck_assert_int_eq(
		    record_decode(slice_head(buf_slice(&stored), size), &back),
		    -EIO);
		ck_assert_uint_eq(back.attrs.set, 0);
	}
	buf_release(&stored);
}
END_TEST

static const struct {
	const char *bytes;
	size_t size;
	const char *said;
} damaged[] = {
    {"", 0, "without its header"}, {"\x00v", 2, "format 0"},
    {"\x40v", 2, "format 2"}, {"\xe0", 1, "format 7"},
    {"\x24\0\0\0\0\0\0\0\0v", 10, "senseless"},	  /* no TTL */
    {"\x24\xff\0\0\0\0\0\0\0v", 10, "senseless"}, /* below 0 */
    {"\x28\0\0\0\0\0\0\0\0v", 10, "senseless"},	  /* sequence 0 */
    {"\x30\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0", 17, "senseless"},
    {"\x30\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1v", 18, "cut off"},
    {"\x21\0\0\0\0\0\0\0\0\x3b\x9a\xca\0", 13, "senseless"}, /* 1e9 ns */
    {"\x22\x80\0\0\0\0\0\0\0\0\0", 11, "senseless"},	     /* mode */
};

START_TEST(what_was_never_written_is_damage_and_says_so)
{
	struct record back;

	ck_assert_int_eq(
	    record_decode(slice_of(damaged[_i].bytes, damaged[_i].size), &back),
	    -EIO);
	ck_assert_ptr_nonnull(strstr(why_text(-EIO), damaged[_i].said));
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("record");
	TCase *form = tcase_create("form");
	TCase *damage = tcase_create("damage");

	tcase_add_loop_test(form, every_choice_of_fields_comes_back, 0, 32);
	tcase_add_test(form, a_record_has_the_documented_bytes);
	tcase_add_test(form, a_file_type_in_the_mode_is_not_stored);
	tcase_add_test(form, an_empty_value_is_a_value);
	suite_add_tcase(s, form);

	tcase_add_loop_test(damage, a_cut_off_header_is_damage, 0, 32);
	tcase_add_loop_test(damage,
	    what_was_never_written_is_damage_and_says_so, 0,
	    sizeof(damaged) / sizeof(*damaged));
	suite_add_tcase(s, damage);
	return s;
}

int
main(void)
{
	return suite_run(suite());
}
