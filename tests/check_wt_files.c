/* The parts under WiredTiger that need none: checksums, the shadow, room. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kv/crc32c.h"
#include "kv/shadow.h"
#include "kv/why.h"
#include "kv/wt_home.h"
#include "kv/wt_room.h"
#include "kv/wt_wait.h"
#include "tests/store_dir.h"
#include "tests/suite.h"

/* --- checksums ------------------------------------------------------------ */

START_TEST(crc32c_gives_the_published_values)
{
	static const uint8_t zeros[32], ones[32] = {[0 ... 31] = 0xff};
	const struct {
		struct slice bytes;
		uint32_t expected;
	} cases[] = {
	    {slice_text(""), 0},
	    {slice_text("123456789"), 0xe3069283}, /* the check value */
	    {slice_of(zeros, 32), 0x8a9136aa},	   /* RFC 3720, B.4 */
	    {slice_of(ones, 32), 0x62a8ab43},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ck_assert_uint_eq(crc32c(0, cases[i].bytes), cases[i].expected);
		ck_assert_uint_eq(
		    crc32c_portable(0, cases[i].bytes), cases[i].expected);
	}
}
END_TEST

START_TEST(crc32c_goes_on_from_any_cut)
{
	uint8_t bytes[100];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * i + 3);
	struct slice all = slice_of(bytes, sizeof(bytes));
	for (size_t cut = 0; cut <= all.size; cut++) {
		uint32_t c = crc32c(0, slice_head(all, cut));
		ck_assert_uint_eq(
		    crc32c(c, slice_skip(all, cut)), crc32c_portable(0, all));
	}
}
END_TEST

/* --- the shadow ----------------------------------------------------------- */

static struct shadow *shadow;

static void
shadow_setup(void)
{
	shadow = NULL;
	store_dir_make();
	ck_assert_int_eq(mkdir(store_dir_path("store"), 0700), 0);
}

static void
open_shadow(void)
{
	ck_assert_int_eq(shadow_open(store_dir_path("store"),
			     store_dir_path("shadow"), &shadow),
	    0);
}

static const char *
in(const char *where, const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", where, name);
	return store_dir_path(path);
}

/* Writes text at offset of the store's file, and tells. */
static void
write_file(const char *name, const char *text, off_t offset)
{
	size_t size = strlen(text);
	int fd = open(in("store", name), O_WRONLY | O_CREAT, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(shadow_created(shadow, name), 0);
	ck_assert_int_eq(pwrite(fd, text, size, offset), (ssize_t)size);
	ck_assert_int_eq(shadow_written(shadow, name, offset, size), 0);
	close(fd);
}

static void
truncate_file(const char *name, off_t size)
{
	ck_assert_int_eq(truncate(in("store", name), size), 0);
	ck_assert_int_eq(shadow_truncated(shadow, name, size), 0);
}

static void
sync_file(const char *name)
{
	int fd = open(in("store", name), O_RDONLY);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(shadow_synced(shadow, name, fd), 0);
	close(fd);
}

/* The shadow's file as text, "-" if it is not there; valid until the next. */
static const char *
durable(const char *name)
{
	static char text[64];
	int fd = open(in("shadow", name), O_RDONLY);

	if (fd < 0)
		return "-";
	ssize_t n = read(fd, text, sizeof(text) - 1);
	ck_assert_int_ge(n, 0);
	text[n] = 0;
	close(fd);
	return text;
}

START_TEST(bytes_are_durable_once_their_file_is_synced)
{
	open_shadow();
	write_file("a", "one", 0);
	ck_assert_int_eq(shadow_synced_names(shadow), 0);
	ck_assert_str_eq(durable("a"), "");
	sync_file("a");
	ck_assert_str_eq(durable("a"), "one");
	write_file("a", "two", 0);
	write_file("a", "three", 3);
	ck_assert_str_eq(durable("a"), "one");
	sync_file("a");
	ck_assert_str_eq(durable("a"), "twothree");
	shadow_close(shadow);
	ck_assert_str_eq(durable("a"), "twothree");
}
END_TEST

START_TEST(sizes_are_durable_with_their_bytes)
{
	open_shadow();
	write_file("a", "0123456789", 0);
	ck_assert_int_eq(shadow_synced_names(shadow), 0);
	sync_file("a");
	truncate_file("a", 2);
	truncate_file("a", 4);
	ck_assert_str_eq(durable("a"), "0123456789");
	sync_file("a");
	/* What was cut off does not come back when the file grows again. */
	ck_assert_str_eq(durable("a"), "01");
	write_file("a", "xy", 2);
	sync_file("a");
	ck_assert_str_eq(durable("a"), "01xy");
	shadow_close(shadow);
}
END_TEST

START_TEST(names_are_durable_once_the_directory_is_synced)
{
	open_shadow();
	write_file("a", "a", 0);
	sync_file("a");
	ck_assert_str_eq(durable("a"), "-");
	ck_assert_int_eq(shadow_synced_names(shadow), 0);
	ck_assert_str_eq(durable("a"), "a");

	write_file("b", "b", 0);
	sync_file("b");
	ck_assert_int_eq(rename(in("store", "b"), in("store", "a")), 0);
	ck_assert_int_eq(shadow_renamed(shadow, "b", "a"), 0);
	ck_assert_str_eq(durable("a"), "a");
	ck_assert_str_eq(durable("b"), "-");
	ck_assert_int_eq(shadow_synced_names(shadow), 0);
	ck_assert_str_eq(durable("a"), "b");
	ck_assert_str_eq(durable("b"), "-");
	write_file("a", "c", 0);
	sync_file("a");
	ck_assert_str_eq(durable("a"), "c");

	ck_assert_int_eq(unlink(in("store", "a")), 0);
	ck_assert_int_eq(shadow_removed(shadow, "a"), 0);
	ck_assert_str_eq(durable("a"), "c");
	ck_assert_int_eq(shadow_synced_names(shadow), 0);
	ck_assert_str_eq(durable("a"), "-");
	shadow_close(shadow);
}
END_TEST

START_TEST(a_shadow_begins_with_what_is_there)
{
	write_file("old", "old", 0);
	open_shadow();
	ck_assert_str_eq(durable("old"), "old");
	shadow_close(shadow);
	ck_assert_int_eq(unlink(in("store", "old")), 0);
	open_shadow();
	ck_assert_str_eq(durable("old"), "-");
	shadow_close(shadow);
}
END_TEST

/* --- room ----------------------------------------------------------------- */

#define MB ((uint64_t)1 << 20)

START_TEST(the_threshold_follows_the_cache_on_a_big_disk)
{
	struct wt_room room;

	ck_assert_int_eq(wt_room_init(&room, store_dir(), 100 * MB), 0);
	if (room.total < 8 * 60 * MB) {
		printf("not run: the disk is too small\n");
	} else {
		ck_assert_uint_eq(room.cache, 100 * MB);
		ck_assert_uint_eq(
		    room.threshold, 20 * MB + 3 * 8 * MB + 4 * MB + 8 * MB);
	}
	wt_room_release(&room);
}
END_TEST

/* A cache so big that an eighth of any disk is less. */
START_TEST(the_threshold_is_at_most_an_eighth_of_the_disk)
{
	struct wt_room room;

	ck_assert_int_eq(wt_room_init(&room, store_dir(), UINT64_MAX / 16), 0);
	ck_assert_uint_eq(room.threshold, room.total / 8);
	ck_assert_uint_le(
	    room.cache / 5 + 3 * room.log_file, room.threshold / 2 + 3 * MB);
	wt_room_release(&room);
}
END_TEST

static uint64_t reusable_bytes;

static uint64_t
reusable(void *context)
{
	(void)context;
	return reusable_bytes;
}

/* A room whose disk has, as far as it knows, so many bytes left. */
static void
pretend(struct wt_room *room, uint64_t available)
{
	atomic_store(&room->available, available);
	atomic_store(&room->looked, INT64_MAX / 2);
	atomic_store(&room->counted, 0);
}

START_TEST(writes_stop_below_t_and_resume_at_one_and_a_half)
{
	static const struct {
		unsigned available; /* hundredths of T */
		int write, remove;
		bool first;
	} steps[] = {
	    {200, 0, 0, false},
	    {100, 0, 0, false},
	    {99, -ENOSPC, 0, true}, /* the first refusal */
	    {120, -ENOSPC, 0, false},
	    {149, -ENOSPC, 0, false},
	    {151, 0, 0, false}, /* resumes */
	    {110, 0, 0, false},
	    {60, -ENOSPC, 0, true},
	    {49, -ENOSPC, -ENOSPC, false},
	};
	struct wt_room room;
	bool first;

	ck_assert_int_eq(wt_room_init(&room, store_dir(), 16 * MB), 0);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		pretend(&room, room.threshold / 100 * steps[i].available +
				   (steps[i].available == 100 ? 100 : 0));
		ck_assert_int_eq(
		    wt_room_ask(&room, ORDERED_WRITE, &first), steps[i].write);
		ck_assert_int_eq(first, steps[i].first);
		ck_assert_int_eq(wt_room_ask(&room, ORDERED_REMOVE, &first),
		    steps[i].remove);
		ck_assert_int_eq(wt_room_ask(&room, ORDERED_READ, &first), 0);
	}
	wt_room_release(&room);
}
END_TEST

START_TEST(room_inside_the_files_counts_once_the_log_has_its_share)
{
	struct wt_room room;
	bool first;

	ck_assert_int_eq(wt_room_init(&room, store_dir(), 16 * MB), 0);
	room.reusable = reusable;
	reusable_bytes = room.threshold;
	pretend(&room, 3 * room.log_file);
	ck_assert_int_eq(wt_room_ask(&room, ORDERED_WRITE, &first), 0);
	pretend(&room, 3 * room.log_file - 1);
	ck_assert_int_eq(wt_room_ask(&room, ORDERED_WRITE, &first), -ENOSPC);
	ck_assert_ptr_nonnull(strstr(why_text(-ENOSPC), "disk is full"));
	pretend(&room, 2 * room.threshold);
	ck_assert_uint_eq(wt_room_writable(&room), room.threshold);
	wt_room_release(&room);
}
END_TEST

/* --- waiting -------------------------------------------------------------- */

#define WAITERS 8

static struct wt_group group;
static atomic_uint runs, running;
static atomic_bool overlapped;

static int
slow_work(void *context)
{
	(void)context;
	if (atomic_fetch_add(&running, 1))
		atomic_store(&overlapped, true);
	wt_sleep(50);
	atomic_fetch_sub(&running, 1);
	atomic_fetch_add(&runs, 1);
	return 0;
}

/* Whether a run both began and ended while this waited, as far as it sees. */
static void *
wait_for_work(void *context)
{
	unsigned before = atomic_load(&runs);
	int r = wt_group_run(&group, slow_work, NULL);

	*(bool *)context = r == 0 && atomic_load(&runs) > before;
	return NULL;
}

START_TEST(waiters_share_a_run_that_began_after_they_asked)
{
	pthread_t threads[WAITERS];
	bool served[WAITERS];

	wt_group_init(&group);
	for (int i = 0; i < WAITERS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL,
				     wait_for_work, &served[i]),
		    0);
	for (int i = 0; i < WAITERS; i++) {
		pthread_join(threads[i], NULL);
		ck_assert(served[i]);
	}
	ck_assert_uint_lt(atomic_load(&runs), WAITERS);
	ck_assert(!atomic_load(&overlapped));
	wt_group_release(&group);
}
END_TEST

static int
failing_work(void *context)
{
	(void)context;
	return -EIO;
}

START_TEST(a_run_that_fails_serves_nobody)
{
	wt_group_init(&group);
	ck_assert_int_eq(wt_group_run(&group, failing_work, NULL), -EIO);
	ck_assert_int_eq(wt_group_run(&group, slow_work, NULL), 0);
	wt_group_release(&group);
}
END_TEST

static int
endless_work(void *context)
{
	(void)context;
	for (;;)
		wt_sleep(1000);
	return 0;
}

START_TEST(watched_work_is_waited_for_until_all_has_failed)
{
	atomic_bool failed = false;
	bool done;

	ck_assert_int_eq(
	    wt_run_watched(failing_work, NULL, &failed, 10, &done), -EIO);
	ck_assert(done);
	atomic_store(&failed, true);
	int64_t start = wt_now();
	ck_assert_int_eq(
	    wt_run_watched(endless_work, NULL, &failed, 100, &done),
	    -ETIMEDOUT);
	ck_assert(!done);
	ck_assert_int_ge(wt_now() - start, 100);
	ck_assert_int_lt(wt_now() - start, 2000);
}
END_TEST

/* --- the directory -------------------------------------------------------- */

static void
touch(const char *name)
{
	int fd = open(store_dir_path(name), O_CREAT | O_WRONLY, 0600);

	ck_assert_int_ge(fd, 0);
	close(fd);
}

START_TEST(a_directory_is_what_its_files_say)
{
	static const struct {
		const char *files[6];
		int create, plain; /* answers */
		bool fresh;
	} cases[] = {
	    {{NULL}, 0, -ENOENT, true},
	    {{".hidden", "lost+found", NULL}, 0, -ENOENT, true},
	    {{"notes", NULL}, -ENOTEMPTY, -ENOENT, false},
	    /* A creation that was cut short. */
	    {{"WiredTiger", "WiredTiger.lock", NULL}, 0, -ENOENT, true},
	    {{"cellfs.store", "WiredTiger", "WiredTiger.turtle",
		 "WiredTiger.wt", NULL},
		0, 0, false},
	    {{"cellfs.store", "WiredTiger", "WiredTiger.wt", NULL}, -EIO, -EIO,
		false},
	    {{"cellfs.store", "WiredTiger.turtle", "WiredTiger.wt", NULL}, -EIO,
		-EIO, false},
	    /* The marker may be gone: a table is proof enough. */
	    {{"000000.wt", "WiredTiger", "WiredTiger.turtle", NULL}, -EIO, -EIO,
		false},
	};
	bool fresh;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		store_dir_make();
		for (int at = 0; cases[i].files[at]; at++)
			touch(cases[i].files[at]);
		ck_assert_int_eq(
		    wt_home_look(store_dir(), false, false, &fresh),
		    cases[i].plain);
		ck_assert(!fresh);
		ck_assert_int_eq(wt_home_look(store_dir(), true, false, &fresh),
		    cases[i].create);
		ck_assert_int_eq(fresh, cases[i].fresh);
		store_dir_remove();
	}
	store_dir_make();
}
END_TEST

static Suite *
wt_files_suite(void)
{
	Suite *suite = suite_create("wt_files");
	TCase *tc = tcase_create("checksums");

	tcase_add_test(tc, crc32c_gives_the_published_values);
	tcase_add_test(tc, crc32c_goes_on_from_any_cut);
	suite_add_tcase(suite, tc);

	tc = tcase_create("shadow");
	tcase_add_checked_fixture(tc, shadow_setup, store_dir_remove);
	tcase_add_test(tc, bytes_are_durable_once_their_file_is_synced);
	tcase_add_test(tc, sizes_are_durable_with_their_bytes);
	tcase_add_test(tc, names_are_durable_once_the_directory_is_synced);
	tcase_add_test(tc, a_shadow_begins_with_what_is_there);
	suite_add_tcase(suite, tc);

	tc = tcase_create("room");
	tcase_add_checked_fixture(tc, store_dir_make, store_dir_remove);
	tcase_add_test(tc, the_threshold_follows_the_cache_on_a_big_disk);
	tcase_add_test(tc, the_threshold_is_at_most_an_eighth_of_the_disk);
	tcase_add_test(tc, writes_stop_below_t_and_resume_at_one_and_a_half);
	tcase_add_test(
	    tc, room_inside_the_files_counts_once_the_log_has_its_share);
	suite_add_tcase(suite, tc);

	tc = tcase_create("waiting");
	tcase_add_test(tc, waiters_share_a_run_that_began_after_they_asked);
	tcase_add_test(tc, a_run_that_fails_serves_nobody);
	tcase_add_test(tc, watched_work_is_waited_for_until_all_has_failed);
	suite_add_tcase(suite, tc);

	tc = tcase_create("directory");
	tcase_add_checked_fixture(tc, NULL, store_dir_remove);
	tcase_add_test(tc, a_directory_is_what_its_files_say);
	suite_add_tcase(suite, tc);
	return suite;
}

int
main(void)
{
	return suite_run(wt_files_suite());
}
