#include "tests/wt_kit.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kv/why.h"
#include "tests/store_dir.h"

char logged[65536];
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
const char *
home(void)
{
	return store_dir_path("store");
}

struct ordered_options
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
wt_setup(void)
{
	store_dir_make();
	ck_assert_int_eq(mkdir(home(), 0700), 0);
	logged[0] = 0;
}

void
open_with(struct ordered_options with)
{
	int r = ordered_wt_open(&with, &o);

	ck_assert_msg(r == 0, "%s\n%s", why_text(r), logged);
}

void
open_store(void)
{
	open_with(options());
}

void
close_store(void)
{
	int r = o->methods->close(o);

	ck_assert_msg(r == 0, "%s", why_text(r));
}

/* Tries to open; what it says, or "" if it opens (and is closed again). Valid
 * until the next call. */
const char *
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
void
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

void
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
int
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

/* A test may have mounted something there. */
static void
wt_teardown(void)
{
	umount2(home(), MNT_DETACH);
	store_dir_remove();
}

void
topic(Suite *suite, const char *name, const TTest *const *tests, int rounds)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, wt_setup, wt_teardown);
	tcase_set_timeout(tc, 120);
	for (; *tests; tests++)
		tcase_add_loop_test(tc, *tests, 0, rounds);
	suite_add_tcase(suite, tc);
}
