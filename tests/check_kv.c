/* The checked front door: opening, refusing, and what it lets through. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kv/kv.h"
#include "kv/kv_data.h"
#include "kv/why.h"
#include "store_dir.h"
#include "suite.h"

static const struct version newest = {.which = VERSION_NEWEST};
static const struct attrs owner = {.mode = 0755};
static struct kv *kv;

static int
open_at(const char *path, const char *mount_point, bool create)
{
	struct kv_options options = {.path = path,
	    .mount_point = mount_point,
	    .create = create,
	    .cache = 64 << 20};

	return kv_open(&options, &kv);
}

static void
open_memory(void)
{
	struct kv_options options = {.in_memory = true};

	OK(kv_open(&options, &kv));
}

static void
close_kv(void)
{
	OK(kv_close(kv));
	kv = NULL;
}

static int
create(const char *name, const char *text)
{
	struct schema schema = {0};

	OK(buf_set(&schema.name, slice_text(name)));
	OK(schema_parse(&schema, slice_text(text)));
	int r = kv_table_create(kv, &schema, &owner);
	schema_release(&schema);
	return r;
}

static struct place
cell(const char *row, const char *family, const char *qualifier)
{
	return (struct place){.level = LEVEL_COLUMN,
	    .table = slice_text("t"),
	    .row = slice_text(row),
	    .family = slice_text(family),
	    .qualifier = slice_text(qualifier)};
}

static int
put_op(struct slice row, struct op *op)
{
	struct mutation m = {
	    .table = slice_text("t"), .row = row, .ops = op, .count = 1};

	return kv_mutate(kv, &m);
}

static int
put(const char *row, const char *qualifier, const char *value)
{
	struct op op = {.type = OP_PUT,
	    .family = slice_text("f"),
	    .qualifier = slice_text(qualifier),
	    .timestamp = TS_LATEST,
	    .value = slice_text(value)};

	return put_op(slice_text(row), &op);
}

/* Whether the newest value of row r, column f:q is this. */
static bool
reads(const char *row, const char *expected)
{
	const struct place p = cell(row, "f", "q");
	struct value *v;
	char value[64];

	if (kv_value_open(kv, &p, newest, &v))
		return false;
	int64_t size = kv_value_read(kv, v, 0, value, sizeof(value));
	kv_value_close(kv, v);
	return size == (int64_t)strlen(expected) &&
	       memcmp(value, expected, (size_t)size) == 0;
}

/* --- opening
 * -------------------------------------------------------------------- */

START_TEST(a_missing_directory_becomes_a_store_nobody_else_can_read)
{
	const char *path = store_dir_path("new");
	struct stat st;

	REFUSED(ENOENT, open_at(path, NULL, false));
	ck_assert_int_ne(stat(path, &st), 0);
	OK(open_at(path, NULL, true));
	OK(create("t", "family f\n"));
	OK(put("r", "q", "v"));
	close_kv();
	OK(stat(path, &st));
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	OK(open_at(path, NULL, false));
	ck_assert(reads("r", "v"));
	close_kv();
}
END_TEST

START_TEST(an_empty_directory_becomes_a_store_only_when_asked)
{
	REFUSED(ENOENT, open_at(store_dir(), NULL, false));
	OK(open_at(store_dir(), NULL, true));
	close_kv();
}
END_TEST

START_TEST(a_directory_of_something_else_is_refused_and_left_alone)
{
	const char *path = store_dir_path("letter.txt");
	int fd = open(path, O_CREAT | O_WRONLY, 0644);

	ck_assert_int_ge(fd, 0);
	close(fd);
	REFUSED(EINVAL, open_at(store_dir(), NULL, true));
	ck_assert_ptr_nonnull(strstr(why_text(-EINVAL), "letter.txt"));
	OK(unlink(path));
	OK(rmdir(store_dir()));
	store_dir_make();
}
END_TEST

START_TEST(a_file_is_no_store)
{
	const char *path = store_dir_path("file");
	int fd = open(path, O_CREAT | O_WRONLY, 0644);

	ck_assert_int_ge(fd, 0);
	close(fd);
	REFUSED(ENOTDIR, open_at(path, NULL, true));
	REFUSED(ENOENT, open_at(store_dir_path("no/such/place"), NULL, true));
}
END_TEST

/* Runs in a process of its own; exits 0 if it was refused as it should be. */
static void
be_refused(pid_t holder)
{
	char pid[32];
	int r = open_at(store_dir(), NULL, true);

	snprintf(pid, sizeof(pid), "%ld", (long)holder);
	const char *why = why_text(r);
	_exit(r == -EBUSY && strstr(why, pid) && strstr(why, "/mnt/point") ? 0
									   : 1);
}

START_TEST(a_second_opener_is_told_who_holds_it_and_where)
{
	struct buf mount = {0};
	pid_t pid;
	int status;

	OK(open_at(store_dir(), "/mnt/point", true));
	OK(kv_holder(store_dir(), &pid, &mount));
	ck_assert_int_eq(pid, getpid());
	ck_assert(slice_equal(buf_slice(&mount), slice_text("/mnt/point")));
	pid_t child = fork();
	if (child == 0)
		be_refused(getppid());
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	OK(create("t", "family f\n"));
	close_kv();
	OK(kv_holder(store_dir(), &pid, &mount));
	ck_assert_int_eq(pid, 0);
	ck_assert_uint_eq(mount.size, 0);
	buf_release(&mount);
}
END_TEST

START_TEST(a_holder_that_was_killed_holds_nothing_and_lost_nothing)
{
	struct buf mount = {0};
	char byte;
	int ends[2];
	pid_t pid;

	OK(pipe(ends));
	pid_t child = fork();
	if (child == 0) {
		bool ok = open_at(store_dir(), "/mnt", true) == 0 &&
			  create("t", "family f\n") == 0 &&
			  put("r", "q", "v") == 0;
		if (write(ends[1], ok ? "y" : "n", 1) == 1)
			pause();
		_exit(1);
	}
	ck_assert_int_eq(read(ends[0], &byte, 1), 1);
	ck_assert_int_eq(byte, 'y');
	OK(kv_holder(store_dir(), &pid, &mount));
	ck_assert_int_eq(pid, child);
	OK(kill(child, SIGKILL));
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	OK(kv_holder(store_dir(), &pid, &mount));
	ck_assert_int_eq(pid, 0);
	OK(open_at(store_dir(), NULL, false));
	ck_assert(reads("r", "v"));
	close_kv();
	buf_release(&mount);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

static void *
look_a_while(void *context)
{
	usleep(100000);
	close(*(const int *)context);
	return NULL;
}

/* Who asks for the holder locks the file for that moment. */
START_TEST(a_store_is_opened_while_somebody_looks_who_holds_it)
{
	pthread_t thread;

	OK(open_at(store_dir(), NULL, true));
	OK(kv_close(kv));
	int fd = open(store_dir_path("cellfs.holder"), O_RDONLY);
	OK(flock(fd, LOCK_SH));
	OK(pthread_create(&thread, NULL, look_a_while, &fd));
	OK(open_at(store_dir(), NULL, false));
	OK(pthread_join(thread, NULL));
	OK(kv_close(kv));
}
END_TEST

START_TEST(no_holder_is_found_where_there_is_no_store)
{
	struct buf mount = {0};
	pid_t pid;

	OK(kv_holder(store_dir(), &pid, &mount));
	ck_assert_int_eq(pid, 0);
	OK(kv_holder(store_dir_path("nothing"), &pid, &mount));
	ck_assert_int_eq(pid, 0);
	buf_release(&mount);
}
END_TEST

/* --- read-only
 * --------------------------------------------------------------------- */

static void
open_read_only(void)
{
	struct kv_options options = {
	    .path = store_dir(), .read_only = true, .cache = 64 << 20};

	store_dir_make();
	OK(open_at(store_dir(), NULL, true));
	OK(create("t", "family f\n"));
	OK(put("r", "q", "v"));
	close_kv();
	OK(kv_open(&options, &kv));
}

static void
close_read_only(void)
{
	close_kv();
	store_dir_remove();
}

START_TEST(a_read_only_store_reads_and_changes_nothing)
{
	const struct place c = cell("r", "f", "q"),
			   row = {.level = LEVEL_ROW,
			       .table = slice_text("t"),
			       .row = slice_text("s")};
	const struct slice t = slice_text("t"), f = slice_text("f");
	const struct attrs mode = {.set = ATTR_MODE, .mode = 0700};
	struct schema schema;
	int64_t stored;

	ck_assert(reads("r", "v"));
	REFUSED(EROFS, put("r", "q", "w"));
	REFUSED(EROFS, create("u", "family f\n"));
	REFUSED(EROFS, kv_table_drop(kv, t));
	REFUSED(EROFS, kv_table_truncate(kv, t));
	REFUSED(EROFS, kv_table_rename(kv, t, slice_text("u")));
	REFUSED(EROFS, kv_set_attrs(kv, &c, newest, &mode));
	REFUSED(EROFS,
	    kv_move(kv, &(struct move_spec){.from = &c, .to = &c}, &stored));
	REFUSED(EROFS, kv_dir_make(kv, &row, &owner));
	REFUSED(EROFS, kv_dir_remove(kv, &row));
	REFUSED(EROFS, kv_compact(kv, t, f));
	REFUSED(EROFS, kv_checkpoint(kv));
	OK(kv_table_schema(kv, t, &schema));
	REFUSED(EROFS, kv_table_alter(kv, &schema, true));
	schema_release(&schema);
	OK(kv_sync(kv));
	ck_assert(reads("r", "v"));
}
END_TEST

/* --- what is refused before the engine sees it
 * ------------------------------------- */

static void
table_in_memory(void)
{
	open_memory();
	OK(create("t", "family f\n"));
}

static const struct {
	const char *name;
	int error;
} names[] = {
    {"ok", 0},
    {"ns:ok", 0},
    {"", EINVAL},
    {".hidden", EINVAL},
    {"a/b", EINVAL},
    {"a:b:c", EINVAL},
};

START_TEST(table_names_are_checked_where_they_are_made)
{
	REFUSED(names[_i].error, create(names[_i].name, "family f\n"));
	if (names[_i].error)
		REFUSED(names[_i].error, kv_table_rename(kv, slice_text("t"),
					     slice_text(names[_i].name)));
}
END_TEST

START_TEST(rows_have_1_to_32767_bytes)
{
	static uint8_t bytes[ROW_MAX + 1];
	struct op op = {
	    .type = OP_PUT, .family = slice_text("f"), .timestamp = TS_LATEST};

	REFUSED(EINVAL, put_op(slice_of(bytes, 0), &op));
	OK(put_op(slice_of(bytes, 1), &op));
	OK(put_op(slice_of(bytes, ROW_MAX), &op));
	REFUSED(ENAMETOOLONG, put_op(slice_of(bytes, ROW_MAX + 1), &op));
}
END_TEST

static const struct {
	const char *family;
	int64_t timestamp, ttl;
	int error;
} ops[] = {
    {"f", TS_LATEST, 0, 0},
    {"f", 0, 0, 0},
    {"f", TS_MAX, 0, 0},
    {"f", -1, 0, EINVAL},
    {"f", INT64_MIN, 0, EINVAL},
    {"f", 5, 1, 0},
    {"f", 5, -1, EINVAL},
    {"", 5, 0, EINVAL},
    {"x", 5, 0, EPERM},
};

START_TEST(families_timestamps_and_ttls_are_checked)
{
	struct op op = {.type = OP_PUT,
	    .family = slice_text(ops[_i].family),
	    .timestamp = ops[_i].timestamp,
	    .ttl = ops[_i].ttl};

	REFUSED(ops[_i].error, put_op(slice_text("r"), &op));
}
END_TEST

START_TEST(a_mutation_has_bounds)
{
	static struct op many[MUTATE_OPS_MAX + 1];
	static uint8_t value[INLINE_MAX];
	struct mutation m = {.table = slice_text("t"),
	    .row = slice_text("r"),
	    .ops = many,
	    .count = MUTATE_OPS_MAX + 1};

	for (size_t i = 0; i < m.count; i++)
		many[i] = (struct op){.type = OP_PUT,
		    .family = slice_text("f"),
		    .qualifier = slice_of(&many[i], 4),
		    .timestamp = TS_LATEST};
	REFUSED(E2BIG, kv_mutate(kv, &m));
	m.count = 600;
	for (size_t i = 0; i < m.count; i++)
		many[i].value = slice_of(value, sizeof(value));
	REFUSED(E2BIG, kv_mutate(kv, &m));
	ck_assert(!m.applied);
}
END_TEST

static const struct {
	enum level from, to;
	int error;
} levels[] = {
    {LEVEL_COLUMN, LEVEL_ROW, EINVAL},
    {LEVEL_ROW, LEVEL_COLUMN, EINVAL},
    {LEVEL_ROW, LEVEL_FAMILY, EINVAL},
    {LEVEL_TABLE, LEVEL_TABLE, EINVAL},
    {LEVEL_DOT, LEVEL_FAMILY, EINVAL},
    {LEVEL_COLUMN, LEVEL_COLUMN, 0},
    {LEVEL_COLUMN, LEVEL_DOT, 0},
    {LEVEL_ROW, LEVEL_ROW, 0},
};

START_TEST(renames_across_levels_are_refused)
{
	struct place from = cell("r", "f", "q"), to = cell("s", "f", "q");
	int64_t stored;

	OK(put("r", "q", "v"));
	from.level = levels[_i].from;
	to.level = levels[_i].to;
	from.dot = to.dot = slice_text(".x");
	REFUSED(levels[_i].error,
	    kv_move(kv, &(struct move_spec){.from = &from, .to = &to},
		&stored));
}
END_TEST

START_TEST(a_rename_never_makes_a_version_at_the_end_of_time)
{
	const struct place c = cell("r", "f", "q");
	const struct version end = {VERSION_AT, TS_LATEST};

	OK(put("r", "q", "v"));
	struct move_spec spec = {.from = &c, .to = &c, .to_version = end};
	REFUSED(EINVAL, kv_move(kv, &spec, NULL));
	spec.from_version = end;
	spec.to_version = newest;
	REFUSED(EINVAL, kv_move(kv, &spec, NULL));
}
END_TEST

START_TEST(only_cells_and_dot_files_have_bytes)
{
	struct place row = cell("r", "f", "q");
	struct value *v;

	OK(put("r", "q", "v"));
	row.level = LEVEL_ROW;
	REFUSED(EINVAL, kv_value_open(kv, &row, newest, &v));
	ck_assert_ptr_null(v);
	row.level = LEVEL_COLUMN;
	OK(kv_value_open(kv, &row, newest, &v));
	kv_value_close(kv, v);
	kv_value_close(kv, NULL);
}
END_TEST

START_TEST(a_failed_stat_leaves_nothing_in_its_answer)
{
	const struct place c = cell("none", "f", "q");
	struct info info = {.size = 5};

	REFUSED(ENOENT, kv_stat(kv, &c, newest, &info));
	ck_assert_uint_eq(info.size, 0);
}
END_TEST

/* --- prefixes
 * ------------------------------------------------------------------------- */

static const struct {
	const char *prefix, *stop;
	size_t prefix_size, stop_size;
} ranges[] = {
    {"", "", 0, 0},
    {"a", "b", 1, 1},
    {"a\xff", "b", 2, 1},
    {"a\xff\xff", "b", 3, 1},
    {"\xff", "", 1, 0},
    {"\xff\xff", "", 2, 0},
    {"\xff\x00", "\xff\x01", 2, 2},
};

START_TEST(the_range_of_a_prefix_ends_before_its_successor)
{
	struct buf start = {0}, stop = {0};
	struct slice prefix =
	    slice_of(ranges[_i].prefix, ranges[_i].prefix_size);

	OK(kv_prefix_range(prefix, &start, &stop));
	ck_assert(slice_equal(buf_slice(&start), prefix));
	ck_assert(slice_equal(
	    buf_slice(&stop), slice_of(ranges[_i].stop, ranges[_i].stop_size)));
	buf_release(&start);
	buf_release(&stop);
}
END_TEST

/* --- the suite
 * ------------------------------------------------------------------------- */

#define COUNT(list) (int)(sizeof(list) / sizeof(*(list)))

int
main(void)
{
	Suite *s = suite_create("kv");

	TCase *c = tcase_create("opening");
	tcase_add_checked_fixture(c, store_dir_make, store_dir_remove);
	tcase_set_timeout(c, 60);
	tcase_add_test(
	    c, a_missing_directory_becomes_a_store_nobody_else_can_read);
	tcase_add_test(c, an_empty_directory_becomes_a_store_only_when_asked);
	tcase_add_test(
	    c, a_directory_of_something_else_is_refused_and_left_alone);
	tcase_add_test(c, a_file_is_no_store);
	tcase_add_test(c, a_second_opener_is_told_who_holds_it_and_where);
	tcase_add_test(
	    c, a_holder_that_was_killed_holds_nothing_and_lost_nothing);
	tcase_add_test(c, a_store_is_opened_while_somebody_looks_who_holds_it);
	tcase_add_test(c, no_holder_is_found_where_there_is_no_store);
	suite_add_tcase(s, c);

	c = tcase_create("read-only");
	tcase_add_checked_fixture(c, open_read_only, close_read_only);
	tcase_add_test(c, a_read_only_store_reads_and_changes_nothing);
	suite_add_tcase(s, c);

	c = tcase_create("checks");
	tcase_add_checked_fixture(c, table_in_memory, close_kv);
	tcase_add_loop_test(
	    c, table_names_are_checked_where_they_are_made, 0, COUNT(names));
	tcase_add_test(c, rows_have_1_to_32767_bytes);
	tcase_add_loop_test(
	    c, families_timestamps_and_ttls_are_checked, 0, COUNT(ops));
	tcase_add_test(c, a_mutation_has_bounds);
	tcase_add_loop_test(
	    c, renames_across_levels_are_refused, 0, COUNT(levels));
	tcase_add_test(c, a_rename_never_makes_a_version_at_the_end_of_time);
	tcase_add_test(c, only_cells_and_dot_files_have_bytes);
	tcase_add_test(c, a_failed_stat_leaves_nothing_in_its_answer);
	tcase_add_loop_test(c, the_range_of_a_prefix_ends_before_its_successor,
	    0, COUNT(ranges));
	suite_add_tcase(s, c);

	return suite_run(s);
}
