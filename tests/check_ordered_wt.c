/* What only the store over WiredTiger promises: durability, options that act,
 * one opener, a full disk, damage. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wiredtiger.h>

#include "kv/why.h"
#include "kv/wt_files.h"
#include "tests/ordered_kit.h"
#include "tests/store_dir.h"

static char logged[65536]; /* what the store said */
static pthread_mutex_t logged_lock = PTHREAD_MUTEX_INITIALIZER;

static void
take_log(void *context, const char *line)
{
	(void)context;
	pthread_mutex_lock(&logged_lock);
	size_t size = strlen(logged);
	snprintf(logged + size, sizeof(logged) - size, "%s\n", line);
	pthread_mutex_unlock(&logged_lock);
}

/* The store's directory; the test may put other things beside it. */
static const char *
home(void)
{
	return store_dir_path("store");
}

static struct ordered_options
options(void)
{
	return (struct ordered_options){
	    .directory = home(),
	    .cache = 16 << 20,
	    .create = true,
	    .log = take_log,
	};
}

static void
setup(void)
{
	store_dir_make();
	ck_assert_int_eq(mkdir(home(), 0700), 0);
	logged[0] = 0;
}

static void
open_with(struct ordered_options with)
{
	int r = ordered_wt_open(&with, &o);

	ck_assert_msg(r == 0, "%s\n%s", why_text(r), logged);
}

static void
open_store(void)
{
	open_with(options());
}

static void
close_store(void)
{
	int r = o->methods->close(o);

	ck_assert_msg(r == 0, "%s", why_text(r));
}

/* Tries to open; what it says, or "" if it opens (and is closed again). Valid
 * until the next call. */
static const char *
refusal(struct ordered_options with, int expected)
{
	static char text[512];
	struct ordered *other;
	int r = ordered_wt_open(&with, &other);

	ck_assert_msg(r == expected, "%d: %s", r, why_text(r));
	snprintf(text, sizeof(text), "%s", r ? why_text(r) : "");
	if (r == 0)
		other->methods->close(other);
	else
		ck_assert_ptr_null(other);
	return text;
}

/* Runs body in a child that ends without closing anything. */
static void
in_child(void (*body)(void))
{
	int status;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		body();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void
put_numbers(uint32_t table, int from, int to)
{
	char key[16];

	for (int i = from; i < to; i++) {
		struct ordered_session *s = begin(ORDERED_WRITE);
		snprintf(key, sizeof(key), "%08d", i);
		put(s, table, key, key);
		commit(s);
	}
}

/* How many records a table has; -EIO steps over nothing: it fails. */
static int
count(uint32_t table)
{
	struct ordered_session *s = begin(ORDERED_READ);
	struct ordered_cursor *c;
	int found = 0, r;

	ck_assert_int_eq(o->methods->cursor(s, table, &c), 0);
	while ((r = o->methods->next(c)) == 0)
		found++;
	ck_assert_msg(r == 1, "%s", why_text(r));
	o->methods->release(s);
	return found;
}

/* --- options -------------------------------------------------------------- */

/* The bytes of table's file once 4 MB of text are in it. */
static off_t
file_size_of(uint32_t table, const char *compressor)
{
	const struct ordered_table_options with = {.compressor = compressor};
	struct stat st;
	char name[64], key[16], value[1024];

	ck_assert_int_eq(o->methods->create(o, table, &with), 0);
	struct ordered_session *s = begin(ORDERED_WRITE);
	for (int i = 0; i < 4096; i++) {
		if (i % 256 == 255) {
			commit(s);
			s = begin(ORDERED_WRITE);
		}
		snprintf(key, sizeof(key), "%08d", i);
		for (size_t at = 0; at < sizeof(value) - 1; at++)
			value[at] = (char)('a' + (at * at + (size_t)i) % 7);
		value[sizeof(value) - 1] = 0;
		put(s, table, key, value);
	}
	commit(s);
	ck_assert_int_eq(o->methods->checkpoint(o), 0);
	snprintf(name, sizeof(name), "store/%06u.wt", table);
	ck_assert_int_eq(stat(store_dir_path(name), &st), 0);
	return st.st_size;
}

START_TEST(compressors_make_files_smaller)
{
	open_store();
	off_t none = file_size_of(1, "none");
	off_t snappy = file_size_of(2, "snappy");
	off_t zlib = file_size_of(3, "zlib");
	ck_assert_int_gt(none, 4 << 20);
	ck_assert_int_lt(snappy, none / 2);
	ck_assert_int_lt(zlib, snappy);
	close_store();
}
END_TEST

/* The configuration WiredTiger keeps of table, asked without us. */
static void
stock_config(uint32_t table, char *out, size_t size)
{
	WT_CONNECTION *connection;
	WT_SESSION *s;
	WT_CURSOR *c;
	const char *value;
	char key[32];

	ck_assert_int_eq(wiredtiger_open(home(), NULL, "", &connection), 0);
	ck_assert_int_eq(
	    connection->open_session(connection, NULL, NULL, &s), 0);
	ck_assert_int_eq(s->open_cursor(s, "metadata:", NULL, NULL, &c), 0);
	snprintf(key, sizeof(key), "file:%06u.wt", table);
	c->set_key(c, key);
	ck_assert_int_eq(c->search(c), 0);
	ck_assert_int_eq(c->get_value(c, &value), 0);
	snprintf(out, size, "%s", value);
	connection->close(connection, NULL);
}

START_TEST(table_options_reach_wiredtiger)
{
	const struct ordered_table_options plain = {.compressor = "none"};
	const struct ordered_table_options odd = {"zlib", true, true, 5000};
	char config[4096];

	open_store();
	ck_assert_int_eq(o->methods->create(o, 1, &plain), 0);
	ck_assert_int_eq(o->methods->create(o, 2, &odd), 0);
	close_store();
	stock_config(1, config, sizeof(config));
	ck_assert_ptr_nonnull(strstr(config, "checksum=on"));
	ck_assert_ptr_nonnull(strstr(config, "cache_resident=false"));
	ck_assert_ptr_nonnull(strstr(config, "prefix_compression=false"));
	ck_assert_ptr_nonnull(strstr(config, "leaf_page_max=32768"));
	stock_config(2, config, sizeof(config));
	ck_assert_ptr_nonnull(strstr(config, "checksum=on"));
	ck_assert_ptr_nonnull(strstr(config, "block_compressor=zlib"));
	ck_assert_ptr_nonnull(strstr(config, "cache_resident=true"));
	ck_assert_ptr_nonnull(strstr(config, "prefix_compression=true"));
	ck_assert_ptr_nonnull(strstr(config, "leaf_page_max=8192"));
}
END_TEST

START_TEST(files_are_private)
{
	struct stat st;
	const struct dirent *e;

	open_store();
	create(1);
	DIR *d = opendir(home());
	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d)))
		if (e->d_name[0] != '.') {
			ck_assert_int_eq(
			    fstatat(dirfd(d), e->d_name, &st, 0), 0);
			ck_assert_msg((st.st_mode & 07777) == 0600, "%s %o",
			    e->d_name, st.st_mode);
		}
	closedir(d);
	close_store();
}
END_TEST

/* --- opening -------------------------------------------------------------- */

START_TEST(a_store_is_only_made_when_asked_and_in_an_empty_directory)
{
	struct ordered_options with = options();

	with.create = false;
	ck_assert_ptr_nonnull(strstr(refusal(with, -ENOENT), "cellfs create"));
	close(open(store_dir_path("store/diary"), O_CREAT | O_WRONLY, 0600));
	with.create = true;
	ck_assert_ptr_nonnull(strstr(refusal(with, -ENOTEMPTY), "diary"));
}
END_TEST

START_TEST(a_second_opener_is_told_who_holds_the_store)
{
	char pid[32];

	open_store();
	create(1);
	snprintf(pid, sizeof(pid), "process %ld", (long)getpid());
	ck_assert_ptr_nonnull(strstr(refusal(options(), -EBUSY), pid));
	close_store();
}
END_TEST

/* The holder is a child here, as a fork of ours would know of our claim. */
START_TEST(another_process_is_refused_and_the_lock_goes_with_its_holder)
{
	int ready[2];
	char byte, pid[32];

	ck_assert_int_eq(pipe(ready), 0);
	pid_t holder = fork();
	if (holder == 0) {
		open_store();
		ck_assert_int_eq(write(ready[1], "r", 1), 1);
		pause();
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	snprintf(pid, sizeof(pid), "process %ld", (long)holder);
	for (int i = 0; i < 2; i++) {
		const char *text = refusal(options(), -EBUSY);
		ck_assert_msg(strstr(text, pid) != NULL, "%s", text);
	}
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	open_store();
	close_store();
}
END_TEST

START_TEST(reading_only_changes_nothing)
{
	struct ordered_options with = options();

	open_store();
	create(1);
	put_all(1, "a b");
	close_store();
	with.read_only = true;
	open_with(with);
	ck_assert_str_eq(keys(1), "a b");
	struct ordered_session *s = session();
	ck_assert_int_eq(o->methods->begin(s, ORDERED_WRITE), -EROFS);
	o->methods->release(s);
	ck_assert_int_eq(o->methods->sync(o), 0);
	ck_assert_int_eq(o->methods->checkpoint(o), 0);
	close_store();
}
END_TEST

/* --- crashes -------------------------------------------------------------- */

static void
write_and_crash(void)
{
	open_store();
	create(1);
	put_numbers(1, 0, 300);
	ck_assert_int_eq(o->methods->checkpoint(o), 0);
	put_numbers(1, 300, 500);
}

START_TEST(a_crash_loses_no_commit_and_is_told)
{
	in_child(write_and_crash);
	open_store();
	ck_assert_int_eq(count(1), 500);
	ck_assert_ptr_nonnull(strstr(logged, "recovered"));
	close_store();
	logged[0] = 0;
	open_store();
	ck_assert_str_eq(logged, "");
	close_store();
}
END_TEST

START_TEST(a_crashed_store_can_be_opened_for_reading)
{
	struct ordered_options with = options();

	in_child(write_and_crash);
	with.read_only = true;
	open_with(with);
	ck_assert_int_eq(count(1), 500);
	close_store();
}
END_TEST

static int acknowledged[2]; /* a pipe: numbers that sync promised */

static void
write_and_lose_power(void)
{
	setenv("CELLFS_SHADOW", store_dir_path("shadow"), 1);
	open_store();
	create(1);
	ck_assert_int_eq(o->methods->sync(o), 0);
	for (int i = 0; i < 400; i += 20) {
		put_numbers(1, i, i + 20);
		ck_assert_int_eq(o->methods->sync(o), 0);
		int promised = i + 20;
		ck_assert_int_eq(
		    write(acknowledged[1], &promised, sizeof(promised)),
		    sizeof(promised));
		if (i % 100 == 40)
			ck_assert_int_eq(o->methods->checkpoint(o), 0);
		if (i == 200)
			create(2);
	}
	put_numbers(1, 400, 450);
}

START_TEST(a_power_cut_keeps_what_sync_promised)
{
	struct ordered_options with = options();
	int promised = 0, next;

	ck_assert_int_eq(pipe(acknowledged), 0);
	in_child(write_and_lose_power);
	close(acknowledged[1]);
	while (read(acknowledged[0], &next, sizeof(next)) == sizeof(next))
		promised = next;
	ck_assert_int_eq(promised, 400);
	with.directory = store_dir_path("shadow");
	open_with(with);
	/* The shadow did forget: the last 50 were never synced. */
	ck_assert_int_eq(count(1), promised);
	ck_assert_int_eq(count(2), 0);
	close_store();
}
END_TEST

/* --- damage --------------------------------------------------------------- */

static void
flip(const char *name, off_t at)
{
	char path[64];
	uint8_t byte;

	snprintf(path, sizeof(path), "store/%s", name);
	int fd = open(store_dir_path(path), O_RDWR);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
	byte ^= 0x10;
	ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

/* Flips a bit within the record 00001000 of table 1, wherever it stands. */
static void
flip_record(void)
{
	static uint8_t bytes[4 << 20];
	int fd = open(store_dir_path("store/000001.wt"), O_RDONLY);
	ssize_t n = read(fd, bytes, sizeof(bytes));

	ck_assert_int_gt(n, 0);
	close(fd);
	const uint8_t *at = memmem(bytes, (size_t)n, "00001000", 8);
	ck_assert_ptr_nonnull(at);
	flip("000001.wt", at - bytes + 20); /* in the value */
}

/* A table of 2,000 records over many leaf pages, one of them damaged. */
static void
make_damaged_table(void)
{
	char key[16], value[200];

	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = 0;
	open_store();
	create(1);
	create(2);
	put_all(2, "a b c");
	struct ordered_session *s = begin(ORDERED_WRITE);
	for (int i = 0; i < 2000; i++) {
		snprintf(key, sizeof(key), "%08d", i);
		put(s, 1, key, value);
	}
	commit(s);
	close_store();
	flip_record();
}

/* Reads each of the 2,000: how many there are, and how many are EIO. */
static void
read_each(int *good, int *bad)
{
	struct ordered_session *s = begin(ORDERED_READ);
	struct buf value = {0};
	char key[16];

	*good = *bad = 0;
	for (int i = 0; i < 2000; i++) {
		snprintf(key, sizeof(key), "%08d", i);
		int r = o->methods->get(s, 1, slice_text(key), &value);
		*good += r == 0;
		*bad += r == -EIO;
		if (r == -EIO)
			ck_assert_ptr_nonnull(strstr(why_text(r), "--repair"));
	}
	buf_release(&value);
	o->methods->release(s);
}

START_TEST(a_flipped_byte_costs_the_records_of_its_page)
{
	int good, bad;

	make_damaged_table();
	open_store();
	read_each(&good, &bad);
	ck_assert_int_gt(bad, 0);
#if WIREDTIGER_VERSION_MAJOR < 10
	ck_assert_int_lt(bad, 300);
#endif /* later ones read all leaves of so small a table as they open it */
	ck_assert_int_eq(good + bad, 2000);
	ck_assert_ptr_nonnull(strstr(logged, "000001.wt"));
	ck_assert_str_eq(keys(2), "a b c");
	put_all(2, "d");
	put_all(1, "99999999");
	ck_assert_int_eq(o->methods->checkpoint(o), 0);
	ck_assert_int_eq(o->methods->verify(o, 2), 0);
	ck_assert_int_eq(o->methods->verify(o, 1), -EIO);
	ck_assert_ptr_nonnull(strstr(why_text(-EIO), "000001.wt"));
	close_store();
	open_store();
	ck_assert_str_eq(keys(2), "a b c d");
	close_store();
}
END_TEST

START_TEST(salvage_keeps_what_can_be_read)
{
	struct ordered_options with = options();
	int good, bad;

	make_damaged_table();
	with.salvage = true;
	open_with(with);
	ck_assert_int_eq(o->methods->verify(o, 2), 0);
	ck_assert_int_eq(o->methods->verify(o, 1), 1);
	ck_assert_int_eq(o->methods->verify(o, 1), 0);
	close_store();
	open_store();
	read_each(&good, &bad);
	ck_assert_int_eq(bad, 0);
	ck_assert_int_gt(good, 1700);
	ck_assert_int_lt(good, 2000);
	ck_assert_str_eq(keys(2), "a b c");
	close_store();
}
END_TEST

/* The names in the store and their sizes, as one text. */
static void
listing(char *out, size_t size)
{
	struct dirent **entries;
	struct stat st;
	char path[300];
	size_t used = 0;
	int n = scandir(home(), &entries, NULL, alphasort);

	ck_assert_int_gt(n, 0);
	out[0] = 0;
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "store/%s", entries[i]->d_name);
		ck_assert_int_eq(stat(store_dir_path(path), &st), 0);
		used += (size_t)snprintf(out + used, size - used, "%s %lld\n",
		    entries[i]->d_name, (long long)st.st_size);
		ck_assert_uint_lt(used, size);
		free(entries[i]);
	}
	free(entries);
}

/* Opens for repair: every table is there, and sound afterwards. */
static void
expect_repaired(const char *expected)
{
	struct ordered_options with = options();

	with.salvage = true;
	open_with(with);
	ck_assert_ptr_nonnull(strstr(logged, "last copy"));
	int r = o->methods->verify(o, 1);
	ck_assert_msg(r == 0 || r == 1, "%s", why_text(r));
	ck_assert_str_eq(keys(1), expected);
	put_all(1, "z");
	close_store();
	open_store();
	ck_assert_int_eq(o->methods->verify(o, 1), 0);
	ck_assert_ptr_nonnull(strstr(keys(1), "z"));
	close_store();
}

static const char *const parts[] = {
    "WiredTiger", "WiredTiger.turtle", "WiredTiger.wt"};

START_TEST(a_store_with_a_part_missing_is_refused_and_left_alone)
{
	char path[64], before[4096], after[4096];

	open_store();
	create(1);
	put_all(1, "a");
	close_store();
	snprintf(path, sizeof(path), "store/%s", parts[_i]);
	ck_assert_int_eq(unlink(store_dir_path(path)), 0);
	listing(before, sizeof(before));
	const char *text = refusal(options(), -EIO);
	ck_assert_msg(strstr(text, parts[_i]) != NULL, "%s", text);
	ck_assert_ptr_nonnull(strstr(text, "--repair"));
	listing(after, sizeof(after));
	ck_assert_str_eq(before, after);
	expect_repaired("a");
}
END_TEST

START_TEST(damaged_records_of_the_store_say_what_to_run)
{
	static const struct {
		const char *name;
		off_t from, step;
	} cases[] = {
	    {"WiredTiger.wt", 4096, 512}, /* every block of the metadata */
	    {"WiredTiger.turtle", 0, 16},
	};
	struct stat st;
	char path[64];

	open_store();
	create(1);
	put_all(1, "a");
	close_store();
	snprintf(path, sizeof(path), "store/%s", cases[_i].name);
	ck_assert_int_eq(stat(store_dir_path(path), &st), 0);
	for (off_t at = cases[_i].from; at < st.st_size; at += cases[_i].step)
		flip(cases[_i].name, at);
	const char *text = refusal(options(), -EIO);
	ck_assert_msg(strstr(text, "--repair") != NULL, "%s", text);
	expect_repaired("a");
}
END_TEST

START_TEST(repair_without_a_copy_is_refused)
{
	struct ordered_options with = options();

	open_store();
	create(1);
	close_store();
	ck_assert_int_eq(unlink(store_dir_path("store/WiredTiger.wt")), 0);
	ck_assert_int_eq(unlink(store_dir_path("store/cellfs.metadata")), 0);
	with.salvage = true;
	ck_assert_ptr_nonnull(strstr(refusal(with, -EIO), "from a backup"));
	ck_assert_int_eq(
	    access(store_dir_path("store/WiredTiger.turtle"), F_OK), 0);
}
END_TEST

static void
crash_between_checkpoints(void)
{
	open_store();
	create(1);
	create(3);
	put_all(1, "a b");
	put_all(3, "gone");
	ck_assert_int_eq(o->methods->checkpoint(o), 0);
	put_all(1, "c");
	create(2);
	put_all(2, "d");
	ck_assert_int_eq(o->methods->drop(o, 3), 0);
}

START_TEST(a_crash_and_lost_records_together_lose_no_commit)
{
	in_child(crash_between_checkpoints);
	ck_assert_int_eq(unlink(store_dir_path("store/WiredTiger.turtle")), 0);
	refusal(options(), -EIO);
	expect_repaired("a b c");
	open_store();
	ck_assert_str_eq(keys(2), "d");
	close_store();
}
END_TEST

/* --- faults --------------------------------------------------------------- */

START_TEST(writes_wait_for_room_instead_of_failing)
{
	open_store();
	create(1);
	put_all(1, "a");
	wt_files_fail(WT_FILES_WRITE, "Log", ENOSPC, 1, false);
	put_all(1, "b");
	wt_files_fail(WT_FILES_WRITE, ".wt", EDQUOT, 1, false);
	ck_assert_int_eq(o->methods->checkpoint(o), 0);
	ck_assert_str_eq(keys(1), "a b");
	ck_assert_ptr_nonnull(strstr(logged, "writing waits"));
	close_store();
}
END_TEST

START_TEST(a_read_that_fails_once_fails_alone)
{
	int good, bad;

	make_damaged_table();
	flip_record();
	open_store();
	wt_files_fail(WT_FILES_READ, "000001.wt", EIO, 3, false);
	struct ordered_session *s = begin(ORDERED_READ);
	struct buf value = {0};
	char key[16];
	good = bad = 0;
	for (int i = 0; i < 2000; i++) {
		snprintf(key, sizeof(key), "%08d", i);
		int r = o->methods->get(s, 1, slice_text(key), &value);
		good += r == 0;
		bad += r == -EIO;
	}
	buf_release(&value);
	o->methods->release(s);
	ck_assert_int_eq(good, 1999);
	ck_assert_int_eq(bad, 1);
	close_store();
}
END_TEST

static void
fail_and_close(void)
{
	open_store();
	create(1);
	put_all(1, "a b c");
	wt_files_fail(WT_FILES_WRITE, "Log", EIO, 1, true);
	struct ordered_session *s = begin(ORDERED_WRITE);
	put(s, 1, "d", "d");
	ck_assert_int_eq(o->methods->commit(s), -EIO);
	ck_assert_int_eq(o->methods->begin(s, ORDERED_WRITE), -EIO);
	ck_assert_int_eq(o->methods->begin(s, ORDERED_READ), -EIO);
	o->methods->release(s);
	ck_assert_int_eq(o->methods->sync(o), -EIO);
	time_t start = time(NULL);
	ck_assert_int_eq(o->methods->close(o), -EIO);
	ck_assert_int_le(time(NULL) - start, 3);
}

START_TEST(a_failed_store_says_so_closes_soon_and_lost_nothing)
{
	in_child(fail_and_close);
	open_store();
	ck_assert_int_eq(strncmp(keys(1), "a b c", 5), 0);
	close_store();
}
END_TEST

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

/* --- tables --------------------------------------------------------------- */

START_TEST(a_drop_succeeds_once_sessions_with_old_cursors_are_back)
{
	open_store();
	create(1);
	create(2);
	put_all(1, "a");
	put_all(2, "b");
	struct ordered_session *s = begin(ORDERED_READ);
	ck_assert_str_eq(value_seen(s, 1, "a"), "a");
	ck_assert_int_eq(o->methods->commit(s), 0);
	ck_assert_int_eq(o->methods->begin(s, ORDERED_READ), 0);
	ck_assert_str_eq(value_seen(s, 2, "b"), "b");
	ck_assert_int_eq(o->methods->drop(o, 1), -EBUSY);
	o->methods->release(s);
	ck_assert_int_eq(o->methods->drop(o, 1), 0);
	ck_assert_int_eq(access(store_dir_path("store/000001.wt"), F_OK), -1);
	ck_assert_str_eq(keys(2), "b");
	close_store();
}
END_TEST

START_TEST(tables_beyond_the_open_files_are_refused)
{
	const struct rlimit few = {160, 160};
	const struct ordered_table_options plain = {.compressor = "none"};
	uint32_t table = 1;
	int r;

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	open_store();
	while ((r = o->methods->create(o, table, &plain)) == 0) {
		put_all(table, "a");
		table++;
		ck_assert_uint_lt(table, 160);
	}
	ck_assert_int_eq(r, -EMFILE);
	ck_assert_ptr_nonnull(strstr(why_text(r), "limit of open files"));
	ck_assert_uint_gt(table, 50);
	put_all(1, "b");
	ck_assert_str_eq(keys(1), "a b");
	close_store();
}
END_TEST

static void
topic(Suite *suite, const char *name, const TTest *const *tests, int rounds)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, setup, store_dir_remove);
	tcase_set_timeout(tc, 120);
	for (; *tests; tests++)
		tcase_add_loop_test(tc, *tests, 0, rounds);
	suite_add_tcase(suite, tc);
}

static Suite *
ordered_wt_suite(void)
{
	Suite *suite = suite_create("ordered_wt");

	topic(suite, "options",
	    (const TTest *const[]){compressors_make_files_smaller,
		table_options_reach_wiredtiger, files_are_private, NULL},
	    1);
	topic(suite, "opening",
	    (const TTest *const[]){
		a_store_is_only_made_when_asked_and_in_an_empty_directory,
		a_second_opener_is_told_who_holds_the_store,
		another_process_is_refused_and_the_lock_goes_with_its_holder,
		reading_only_changes_nothing, NULL},
	    1);
	topic(suite, "crashes",
	    (const TTest *const[]){a_crash_loses_no_commit_and_is_told,
		a_crashed_store_can_be_opened_for_reading,
		a_power_cut_keeps_what_sync_promised, NULL},
	    1);
	topic(suite, "damage",
	    (const TTest *const[]){a_flipped_byte_costs_the_records_of_its_page,
		salvage_keeps_what_can_be_read,
		a_crash_and_lost_records_together_lose_no_commit,
		repair_without_a_copy_is_refused, NULL},
	    1);
	topic(suite, "missing",
	    (const TTest *const[]){
		a_store_with_a_part_missing_is_refused_and_left_alone, NULL},
	    sizeof(parts) / sizeof(*parts));
	topic(suite, "metadata",
	    (const TTest *const[]){
		damaged_records_of_the_store_say_what_to_run, NULL},
	    2);
	topic(suite, "faults",
	    (const TTest *const[]){writes_wait_for_room_instead_of_failing,
		a_read_that_fails_once_fails_alone,
		a_failed_store_says_so_closes_soon_and_lost_nothing, NULL},
	    1);
	topic(suite, "full",
	    (const TTest *const[]){a_full_disk_refuses_writes_and_serves_reads,
		writes_resume_when_a_stranger_makes_room,
		writes_resume_when_records_are_removed,
		a_store_on_a_full_disk_closes_and_opens, NULL},
	    1);
	topic(suite, "tables",
	    (const TTest *const[]){
		a_drop_succeeds_once_sessions_with_old_cursors_are_back,
		tables_beyond_the_open_files_are_refused, NULL},
	    1);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(ordered_wt_suite());

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
