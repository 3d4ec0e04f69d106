/* What only the store over WiredTiger promises: options that act, one opener,
 * commits that outlive a crash and a power cut. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wiredtiger.h>

#include "kv/why.h"
#include "tests/store_dir.h"
#include "tests/wt_kit.h"

/* --- options -------------------------------------------------------------- */

static off_t
file_size(uint32_t table)
{
	struct stat st;
	char name[64];

	snprintf(name, sizeof(name), "store/%06u.wt", table);
	ck_assert_int_eq(stat(store_dir_path(name), &st), 0);
	return st.st_size;
}

/* The bytes of table's file once 4 MB of text are in it. */
static off_t
file_size_of(uint32_t table, const char *compressor)
{
	const struct ordered_table_options with = {.compressor = compressor};
	char key[16], value[1024];

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
	return file_size(table);
}

START_TEST(compressors_make_files_smaller)
{
	open_store();
	off_t none = file_size_of(1, "none");
	off_t snappy = file_size_of(2, "snappy");
	off_t zlib = file_size_of(3, "zlib");
	ck_assert_int_gt(none, 4 << 20);
	ck_assert_int_lt(snappy, none / 2);
	ck_assert_int_lt(zlib, none / 2);
	close_store();
}
END_TEST

START_TEST(compacting_a_small_table_writes_no_checkpoint)
{
	const struct ordered_table_options with = {.compressor = "none"};

	open_store();
	ck_assert_int_eq(o->methods->create(o, 1, &with), 0);
	off_t before = file_size(1);
	put_numbers(1, 0, 1000);
	ck_assert_int_eq(o->methods->compact(o, 1), 0);
	ck_assert_int_eq(file_size(1), before);
	ck_assert_int_eq(o->methods->checkpoint(o), 0);
	ck_assert_int_gt(file_size(1), before);
	close_store();
}
END_TEST

START_TEST(compacting_gives_space_back)
{
	open_store();
	off_t before = file_size_of(1, "none");
	struct ordered_session *s = begin(ORDERED_REMOVE);
	ck_assert_int_eq(o->methods->remove_range(s, 1, slice_text("00000000"),
			     slice_text("00003000")), 0);
	commit(s);
	ck_assert_int_eq(o->methods->compact(o, 1), 0);
	ck_assert_int_lt(file_size(1), before / 2);
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

/* Whether a store that is opened and closed again and again was found open. */
static bool
was_recovered(void)
{
	const struct ordered_options with = options();

	for (int opened = 0; opened < 25;) {
		int r = ordered_wt_open(&with, &o);
		if (r && r != -EBUSY)
			return true;
		if (r)
			continue;
		close_store();
		opened++;
	}
	return strstr(logged, "was not closed") != NULL;
}

/* The marker of who closes must not be seen, nor that of who opens go. */
START_TEST(two_who_open_and_close_in_turn_never_recover)
{
	int status;

	open_store();
	close_store();
	pid_t other = fork();
	if (other == 0)
		_exit(was_recovered());
	ck_assert(!was_recovered());
	ck_assert_int_eq(waitpid(other, &status, 0), other);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

START_TEST(a_store_that_is_being_closed_is_busy)
{
	open_store();
	close_store();
	int fd = open(home(), O_RDONLY | O_DIRECTORY);
	ck_assert_int_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
	ck_assert_ptr_nonnull(
	    strstr(refusal(options(), -EBUSY), "another process"));
	close(fd);
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

/* Writes, syncs, checkpoints, makes and drops tables for ever; tells each
 * number that sync promised. */
static void
write_for_ever(unsigned seed)
{
	setenv("CELLFS_SHADOW", store_dir_path("shadow"), 1);
	open_store();
	create(1);
	for (int i = 0;; i++) {
		uint32_t other = 2 + (uint32_t)i;
		put_numbers(1, i, i + 1);
		switch (rand_r(&seed) % 32) {
		case 0:
			ck_assert_int_eq(o->methods->checkpoint(o), 0);
			break;
		case 1:
			create(other);
			put_all(other, "a");
			break;
		case 2:
			create(other);
			ck_assert_int_eq(o->methods->drop(o, other), 0);
			break;
		}
		if (rand_r(&seed) % 4)
			continue;
		ck_assert_int_eq(o->methods->sync(o), 0);
		ck_assert_int_eq(
		    write(acknowledged[1], &i, sizeof(i)), sizeof(i));
	}
}

START_TEST(a_power_cut_at_any_moment_keeps_what_sync_promised)
{
	struct ordered_options with = options();
	unsigned seed = (unsigned)time(NULL) * 16 + (unsigned)_i;
	int promised = -1, next;

	printf("seed %u\n", seed);
	ck_assert_int_eq(pipe(acknowledged), 0);
	pid_t child = fork();
	if (child == 0)
		write_for_ever(seed);
	close(acknowledged[1]);
	/* The cut comes some time after the first promise. */
	ck_assert_int_eq(read(acknowledged[0], &promised, sizeof(promised)),
	    sizeof(promised));
	usleep(10000 + (useconds_t)rand_r(&seed) % 400000);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	while (read(acknowledged[0], &next, sizeof(next)) == sizeof(next))
		promised = next;
	close(acknowledged[0]);
	with.directory = store_dir_path("shadow");
	open_with(with);
	ck_assert_int_gt(count(1), promised);
	ck_assert_int_eq(o->methods->verify(o, 1), 0);
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

int
main(void)
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
		two_who_open_and_close_in_turn_never_recover,
		a_store_that_is_being_closed_is_busy,
		reading_only_changes_nothing, NULL},
	    1);
	topic(suite, "crashes",
	    (const TTest *const[]){a_crash_loses_no_commit_and_is_told,
		a_crashed_store_can_be_opened_for_reading,
		a_power_cut_keeps_what_sync_promised, NULL},
	    1);
	topic(suite, "power",
	    (const TTest *const[]){
		a_power_cut_at_any_moment_keeps_what_sync_promised, NULL},
	    6);
	topic(suite, "tables",
	    (const TTest *const[]){
		a_drop_succeeds_once_sessions_with_old_cursors_are_back,
		compacting_a_small_table_writes_no_checkpoint,
		compacting_gives_space_back,
		tables_beyond_the_open_files_are_refused, NULL},
	    1);
	return suite_run(suite);
}
