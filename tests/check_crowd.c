/* Many threads at one cell: nothing is lost, mixed or left behind. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "tree_kit.h"

#define Q "t/r/f/q"

#define LINES 60
#define APPENDERS 4

/* Threads give the first error that they did not expect, or NULL. */
static void *
error_of(int r)
{
	return r ? strerror(-r) : NULL;
}

static void
await(pthread_t thread)
{
	void *error;

	ck_assert_int_eq(pthread_join(thread, &error), 0);
	ck_assert_msg(!error, "%s", (char *)error);
}

static void *
append_lines(void *context)
{
	int r = 0;

	(void)context;
	for (int i = 0; r == 0 && i < LINES; i++)
		r = tree_append(Q, "a line\n");
	return error_of(r);
}

START_TEST(appenders_in_threads_lose_no_line)
{
	pthread_t threads[APPENDERS];
	struct stat st;

	OK(tree_put(Q, ""));
	for (int i = 0; i < APPENDERS; i++)
		OK(pthread_create(&threads[i], NULL, append_lines, NULL));
	for (int i = 0; i < APPENDERS; i++)
		await(threads[i]);
	OK(tree_stat(Q, &st));
	ck_assert_int_eq(st.st_size, APPENDERS * LINES * 7);
}
END_TEST

static void *
write_whole(void *text)
{
	int r = 0;

	for (int i = 0; r == 0 && i < LINES; i++)
		r = tree_put(Q, text);
	return error_of(r);
}

static void *
rename_to_and_fro(void *context)
{
	int r = 0;

	(void)context;
	for (int i = 0; r == 0 && i < LINES; i++) {
		r = tree_move(Q, "t/r/f/p");
		if (r == 0)
			r = tree_move("t/r/f/p", Q);
	}
	return error_of(r);
}

static void *
look_and_read(void *context)
{
	struct file f;
	char bytes[16];
	int64_t n = 0;

	(void)context;
	for (int i = 0; n >= 0 && i < LINES; i++) {
		int r = tree_open(Q, O_RDONLY, &f);
		if (r == -ENOENT)
			continue;
		if (r < 0)
			return error_of(r);
		n = handle_read(&tree_fs, f.handle, 0, bytes, sizeof(bytes),
		    false);
		tree_close(&f);
	}
	return error_of(n < 0 ? (int)n : 0);
}

START_TEST(renames_among_writers_leave_whole_versions)
{
	pthread_t threads[4];

	OK(tree_put(Q, "aaaaaaaa"));
	OK(pthread_create(&threads[0], NULL, write_whole, "aaaaaaaa"));
	OK(pthread_create(&threads[1], NULL, write_whole, "bbbb"));
	OK(pthread_create(&threads[2], NULL, rename_to_and_fro, NULL));
	OK(pthread_create(&threads[3], NULL, look_and_read, NULL));
	for (int i = 0; i < 4; i++)
		await(threads[i]);
	char *history = strdup(tree_history(Q));
	for (char *v = strtok(history, " "); v; v = strtok(NULL, " "))
		ck_assert_msg(
		    strcmp(v, "aaaaaaaa") == 0 || strcmp(v, "bbbb") == 0,
		    "a mixed version: %s", v);
	free(history);
}
END_TEST

#define TOPIC(name, ...)                                                       \
	suite_topic(s, name, tree_setup_table, tree_teardown, TESTS(__VA_ARGS__))

static Suite *
crowd_suite(void)
{
	Suite *s = suite_create("crowd");

	TOPIC("crowd",
	    appenders_in_threads_lose_no_line,
	    renames_among_writers_leave_whole_versions);
	return s;
}

int
main(void)
{
	return suite_run(crowd_suite());
}
