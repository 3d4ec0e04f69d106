/* A full disk: writes are refused in time, reads go on, writes resume. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

#include "kv/why.h"
#include "tests/store_dir.h"
#include "tests/wt_kit.h"

/* --- a full disk ---------------------------------------------------------- */

/* A file system of 64 MB of our own under the store; false: not allowed. */
static bool
mount_small(void)
{
	if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) {
		printf("not run: no mount namespace: %s\n", strerror(errno));
		return false;
	}
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", home(), "tmpfs", 0, "size=64m,mode=0700")) {
		printf("not run: no mount: %s\n", strerror(errno));
		return false;
	}
	return true;
}

/* Writes records of 100 KB from number on until begin refuses: how many. */
static int
write_until_full(int number)
{
	static uint8_t value[100000];
	char key[16];
	unsigned seed = 1;

	for (int i = 0;; i++) {
		struct ordered_session *s = session();
		int r = o->methods->begin(s, ORDERED_WRITE);
		if (r) {
			ck_assert_msg(r == -ENOSPC, "%s", why_text(r));
			o->methods->release(s);
			return i;
		}
		for (size_t at = 0; at < sizeof(value); at++)
			value[at] = (uint8_t)rand_r(&seed);
		snprintf(key, sizeof(key), "%08d", number + i);
		r = o->methods->put(
		    s, 1, slice_text(key), slice_of(value, sizeof(value)));
		ck_assert_msg(r == 0, "%s", why_text(r));
		commit(s);
		ck_assert_int_lt(i, 1000);
	}
}

/* A stranger takes everything that is left. */
static void
fill_disk(void)
{
	static const char block[65536];
	int fd =
	    open(store_dir_path("store/.stranger"), O_CREAT | O_WRONLY, 0600);

	ck_assert_int_ge(fd, 0);
	while (write(fd, block, sizeof(block)) > 0)
		;
	ck_assert_int_eq(errno, ENOSPC);
	close(fd);
	nanosleep(&(struct timespec){0, 100 * 1000000}, NULL); /* to be seen */
}

static void
free_disk(void)
{
	ck_assert_int_eq(unlink(store_dir_path("store/.stranger")), 0);
}

static int
begin_answer(enum ordered_intent intent)
{
	struct ordered_session *s = session();
	int r = o->methods->begin(s, intent);

	o->methods->release(s);
	return r;
}

/* Whether writes work again within five seconds. */
static bool
writes_resume(void)
{
	const struct timespec pause = {0, 50 * 1000000};

	for (int i = 0; i < 100; i++) {
		if (begin_answer(ORDERED_WRITE) == 0)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static void
remove_numbers(int from, int to)
{
	char key[16];

	for (int i = from; i < to; i++) {
		struct ordered_session *s = begin(ORDERED_REMOVE);
		snprintf(key, sizeof(key), "%08d", i);
		ck_assert_int_eq(o->methods->remove(s, 1, slice_text(key)), 0);
		commit(s);
	}
}

START_TEST(a_full_disk_refuses_writes_and_serves_reads)
{
	struct ordered_space space;

	if (!mount_small())
		return;
	open_store();
	create(1);
	int written = write_until_full(0);
	ck_assert_int_gt(written, 100);
	ck_assert_int_eq(o->methods->space(o, &space), 0);
	ck_assert_uint_lt(space.available, 1 << 20);
	fill_disk();
	ck_assert_int_eq(begin_answer(ORDERED_WRITE), -ENOSPC);
	ck_assert_int_eq(begin_answer(ORDERED_REMOVE), -ENOSPC);
	ck_assert_int_eq(count(1), written);
	ck_assert_int_eq(o->methods->sync(o), 0);
	free_disk();
	ck_assert_int_eq(count(1), written);
	close_store();
	open_store();
	ck_assert_int_eq(count(1), written);
	close_store();
}
END_TEST

START_TEST(writes_resume_when_a_stranger_makes_room)
{
	if (!mount_small())
		return;
	open_store();
	create(1);
	put_numbers(1, 0, 100);
	fill_disk();
	ck_assert_int_eq(write_until_full(100), 0);
	ck_assert_int_eq(count(1), 100);
	free_disk();
	ck_assert(writes_resume());
	put_numbers(1, 100, 200);
	ck_assert_int_eq(count(1), 200);
	close_store();
}
END_TEST

START_TEST(writes_resume_when_records_are_removed)
{
	if (!mount_small())
		return;
	open_store();
	create(1);
	int written = write_until_full(0);
	remove_numbers(0, written * 3 / 4);
	ck_assert(writes_resume());
	int more = write_until_full(written);
	ck_assert_int_gt(more, 20);
	ck_assert_int_eq(count(1), written - written * 3 / 4 + more);
	close_store();
}
END_TEST

START_TEST(a_store_on_a_full_disk_closes_and_opens)
{
	if (!mount_small())
		return;
	open_store();
	create(1);
	put_numbers(1, 0, 2000);
	fill_disk();
	time_t start = time(NULL);
	close_store();
	ck_assert_int_le(time(NULL) - start, 5);
	open_store();
	ck_assert_int_eq(count(1), 2000);
	ck_assert_int_eq(begin_answer(ORDERED_WRITE), -ENOSPC);
	free_disk();
	ck_assert(writes_resume());
	close_store();
}
END_TEST

static atomic_bool over;

/* Takes all room and gives it back, again and again. */
static void *
come_and_go(void *context)
{
	static const char block[65536];
	const char *path = store_dir_path("store/.stranger");

	(void)context;
	while (!atomic_load(&over)) {
		int fd = open(path, O_CREAT | O_WRONLY, 0600);
		while (write(fd, block, sizeof(block)) > 0)
			;
		close(fd);
		nanosleep(&(struct timespec){0, 200 * 1000000}, NULL);
		unlink(path);
		nanosleep(&(struct timespec){0, 200 * 1000000}, NULL);
	}
	return NULL;
}

/* Writes for so many seconds what it may: how many commits succeeded. */
static int
write_for(time_t seconds)
{
	static const uint8_t value[20000] = {1};
	time_t end = time(NULL) + seconds;
	char key[16];
	int done = 0;

	while (time(NULL) < end) {
		struct ordered_session *s = session();
		int r = o->methods->begin(s, ORDERED_WRITE);
		ck_assert_msg(r == 0 || r == -ENOSPC, "%s", why_text(r));
		if (r == 0) {
			snprintf(key, sizeof(key), "%08d", done % 500);
			r = o->methods->put(s, 1, slice_text(key),
			    slice_of(value, sizeof(value)));
			ck_assert_msg(r == 0, "%s", why_text(r));
			r = o->methods->commit(s);
			ck_assert_msg(r == 0, "%s", why_text(r));
			done++;
		}
		o->methods->release(s);
		if (done % 50 == 0)
			count(1);
	}
	return done;
}

START_TEST(a_stranger_that_comes_and_goes_stops_nothing_for_good)
{
	pthread_t stranger;

	if (!mount_small())
		return;
	open_store();
	create(1);
	put_numbers(1, 0, 1);
	ck_assert_int_eq(pthread_create(&stranger, NULL, come_and_go, NULL), 0);
	int done = write_for(4);
	atomic_store(&over, true);
	pthread_join(stranger, NULL);
	ck_assert_int_gt(done, 200);
	ck_assert(writes_resume());
	int there = count(1);
	ck_assert_int_eq(there, done < 500 ? done : 500);
	close_store();
	open_store();
	ck_assert_int_eq(count(1), there);
	close_store();
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("wt_full");

	topic(suite, "full",
	    (const TTest *const[]){a_full_disk_refuses_writes_and_serves_reads,
		writes_resume_when_a_stranger_makes_room,
		writes_resume_when_records_are_removed,
		a_store_on_a_full_disk_closes_and_opens,
		a_stranger_that_comes_and_goes_stops_nothing_for_good, NULL},
	    1);
	return suite_run(suite);
}
