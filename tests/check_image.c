/* What an image holds, in memory and in its unnamed file. */
#include "fs/image.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "store_dir.h"
#include "suite.h"

/* Each test runs with room for everything in memory, for a little, and for
 * nothing. */
static const uint64_t limits[] = {1 << 20, 100, 0};
#define LIMITS ((int)(sizeof(limits) / sizeof(*limits)))

static struct budget budget;
static struct image image;

static void
setup(void)
{
	store_dir_make();
	budget = (struct budget){.directory = store_dir()};
	image_init(&image, &budget);
}

static void
teardown(void)
{
	image_release(&image);
	ck_assert_uint_eq(budget.used, 0);
	store_dir_remove();
}

static void
put(uint64_t offset, const char *text)
{
	OK(image_write(&image, offset, text, strlen(text)));
}

/* That the image is exactly these bytes. */
static void
holds(const void *expected, size_t size)
{
	uint8_t *bytes = malloc(size + 1);

	ck_assert_uint_eq(image.size, size);
	ck_assert_int_eq(image_read(&image, 0, bytes, size + 1),
	    (int64_t)size);
	ck_assert_mem_eq(bytes, expected, size);
	free(bytes);
}

/* --- bytes ------------------------------------------------------------------ */

static const struct step {
	uint64_t offset;
	const char *text; /* NULL: truncate to offset */
	const char *expected;
	size_t size;
} steps[] = {
    /* writes, from an empty image on */
    {0, "hello", "hello", 5},
    {5, " world", "hello world", 11},
    {0, "J", "Jello world", 11},
    {4, "y", "Jelly world", 11},
    {10, "lds", "Jelly worllds", 13},
    /* a hole is zeros */
    {16, "x", "Jelly worllds\0\0\0x", 17},
    /* shorter, and longer again: what was cut off does not come back */
    {5, NULL, "Jelly", 5},
    {8, NULL, "Jelly\0\0\0", 8},
    {10, "z", "Jelly\0\0\0\0\0z", 11},
    {0, NULL, "", 0},
    {3, "a", "\0\0\0a", 4},
    {4, NULL, "\0\0\0a", 4},
};

START_TEST(writes_and_truncations_do_what_a_file_does)
{
	budget.limit = limits[_i];
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		if (steps[i].text)
			put(steps[i].offset, steps[i].text);
		else
			OK(image_truncate(&image, steps[i].offset));
		holds(steps[i].expected, steps[i].size);
	}
}
END_TEST

START_TEST(reads_stop_at_the_end)
{
	char bytes[16];

	budget.limit = limits[_i];
	put(0, "0123456789");
	ck_assert_int_eq(image_read(&image, 8, bytes, sizeof(bytes)), 2);
	ck_assert_mem_eq(bytes, "89", 2);
	ck_assert_int_eq(image_read(&image, 10, bytes, 1), 0);
	ck_assert_int_eq(image_read(&image, UINT64_MAX, bytes, 1), 0);
	ck_assert_int_eq(image_read(&image, 3, bytes, 0), 0);
}
END_TEST

#define WILD_BYTES 4000

/* The same random changes on an image and on plain memory. */
START_TEST(random_changes_give_the_same_bytes_as_in_plain_memory)
{
	static uint8_t model[2 * WILD_BYTES], text[WILD_BYTES];
	size_t size = 0;

	chance_seed();
	budget.limit = limits[_i];
	for (int round = 0; round < 400; round++) {
		size_t at = chance(WILD_BYTES);
		size_t n = 1 + chance(200);
		if (chance(4) == 0) {
			OK(image_truncate(&image, at));
			memset(model + at, 0, sizeof(model) - at);
			size = at;
		} else {
			memset(text, round, n);
			OK(image_write(&image, at, text, n));
			memcpy(model + at, text, n);
			size = at + n > size ? at + n : size;
		}
		holds(model, size);
	}
}
END_TEST

/* --- budget ------------------------------------------------------------------- */

START_TEST(what_fits_the_budget_stays_in_memory_and_is_counted)
{
	budget.limit = 10;
	put(0, "0123456789");
	ck_assert(!image.spilled);
	ck_assert_uint_eq(budget.used, 10);
	put(0, "abc");
	ck_assert_uint_eq(budget.used, 10);
	image_release(&image);
	ck_assert_uint_eq(budget.used, 0);
	ck_assert_uint_eq(image.size, 0);
}
END_TEST

START_TEST(what_exceeds_the_budget_goes_to_an_unnamed_file)
{
	budget.limit = 10;
	put(0, "0123456789");
	put(10, "!");
	ck_assert(image.spilled);
	ck_assert_uint_eq(budget.used, 0);
	holds("0123456789!", 11);
	OK(image_truncate(&image, 1));
	ck_assert(image.spilled);
	holds("0", 1);
}
END_TEST

START_TEST(images_share_one_budget)
{
	struct image other;

	budget.limit = 10;
	image_init(&other, &budget);
	put(0, "01234567");
	OK(image_write(&other, 0, "abc", 3));
	ck_assert(!image.spilled);
	ck_assert(other.spilled);
	ck_assert_uint_eq(budget.used, 8);
	image_release(&other);
	image_release(&image);
	OK(image_write(&other, 0, "0123456789", 10));
	ck_assert(!other.spilled);
	image_release(&other);
}
END_TEST

START_TEST(a_released_image_is_ready_again)
{
	budget.limit = limits[_i];
	put(0, "before");
	image_release(&image);
	ck_assert_uint_eq(image.size, 0);
	put(1, "after");
	holds("\0after", 6);
}
END_TEST

START_TEST(a_spill_that_cannot_be_is_an_error_and_changes_nothing)
{
	budget.limit = 4;
	budget.directory = store_dir_path("missing");
	put(0, "0123");
	ck_assert_int_eq(image_write(&image, 4, "4", 1), -ENOENT);
	holds("0123", 4);
	ck_assert_uint_eq(budget.used, 4);
}
END_TEST

/* --- sources --------------------------------------------------------------------- */

START_TEST(a_source_gives_the_bytes_from_its_offset_on)
{
	static const char *const tails[] = {"0123456789", "789", "9", ""};
	static const uint64_t offsets[] = {0, 7, 9, 10};
	struct image_tail tail;
	char bytes[16];

	budget.limit = limits[_i];
	put(0, "0123456789");
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		size_t size = strlen(tails[i]);
		struct source s = image_source(&image, offsets[i], &tail);
		ck_assert_uint_eq(s.size, size);
		OK(s.read(&s, 0, bytes, size));
		ck_assert_mem_eq(bytes, tails[i], size);
		if (size > 1) {
			OK(s.read(&s, 1, bytes, size - 1));
			ck_assert_mem_eq(bytes, tails[i] + 1, size - 1);
		}
	}
}
END_TEST

START_TEST(a_source_refuses_to_read_behind_its_end)
{
	struct image_tail tail;
	char bytes[4];

	budget.limit = limits[_i];
	put(0, "0123");
	struct source s = image_source(&image, 2, &tail);
	ck_assert_int_eq(s.read(&s, 0, bytes, 3), -EIO);
	ck_assert_int_eq(s.read(&s, 2, bytes, 1), -EIO);
}
END_TEST

static Suite *
image_suite(void)
{
	Suite *s = suite_create("image");

	TCase *bytes = tcase_create("bytes");
	tcase_add_checked_fixture(bytes, setup, teardown);
	tcase_add_loop_test(bytes, writes_and_truncations_do_what_a_file_does,
	    0, LIMITS);
	tcase_add_loop_test(bytes, reads_stop_at_the_end, 0, LIMITS);
	tcase_add_loop_test(bytes,
	    random_changes_give_the_same_bytes_as_in_plain_memory, 0, LIMITS);
	suite_add_tcase(s, bytes);

	TCase *room = tcase_create("budget");
	tcase_add_checked_fixture(room, setup, teardown);
	tcase_add_test(room,
	    what_fits_the_budget_stays_in_memory_and_is_counted);
	tcase_add_test(room, what_exceeds_the_budget_goes_to_an_unnamed_file);
	tcase_add_test(room, images_share_one_budget);
	tcase_add_loop_test(room, a_released_image_is_ready_again, 0, LIMITS);
	tcase_add_test(room,
	    a_spill_that_cannot_be_is_an_error_and_changes_nothing);
	suite_add_tcase(s, room);

	TCase *sources = tcase_create("sources");
	tcase_add_checked_fixture(sources, setup, teardown);
	tcase_add_loop_test(sources,
	    a_source_gives_the_bytes_from_its_offset_on, 0, LIMITS);
	tcase_add_loop_test(sources, a_source_refuses_to_read_behind_its_end,
	    0, LIMITS);
	suite_add_tcase(s, sources);
	return s;
}

int
main(void)
{
	return suite_run(image_suite());
}
