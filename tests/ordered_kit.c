#include "tests/ordered_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/why.h"
#include "tests/store_dir.h"

struct ordered *o;

/* WiredTiger leaks where it fails. */
const char *__lsan_default_suppressions(void);

const char *
__lsan_default_suppressions(void)
{
	return "leak:libwiredtiger";
}

/* And it is not built for the thread sanitizer, which cannot see its locks. */
const char *__tsan_default_suppressions(void);

const char *
__tsan_default_suppressions(void)
{
	return "called_from_lib:libwiredtiger.so\n"
	       "race:wt_session_get\n"
	       "race:cached_open\n"
	       "race:wt_files.c\n";
}

static int kind;

static struct ordered_options
wt_options(void)
{
	return (struct ordered_options){
	    .directory = store_dir(), .cache = 16 << 20, .create = true};
}

void
open_kind(int which)
{
	struct ordered_options options;
	int r;

	kind = which;
	if (kind == MEM) {
		r = ordered_mem_open(&o);
	} else {
		options = wt_options();
		r = ordered_wt_open(&options, &o);
	}
	ck_assert_msg(r == 0, "%s", why_text(r));
}

void
close_kind(void)
{
	ck_assert_int_eq(o->methods->close(o), 0);
	if (kind == MEM)
		ordered_mem_free(o);
}

void
reopen(void)
{
	struct ordered_options options;

	ck_assert_int_eq(o->methods->close(o), 0);
	if (kind == MEM) {
		o = ordered_mem_reopen(o);
		return;
	}
	options = wt_options();
	ck_assert_int_eq(ordered_wt_open(&options, &o), 0);
}

void
create(uint32_t table)
{
	const struct ordered_table_options plain = {.compressor = "none"};
	int r = o->methods->create(o, table, &plain);

	ck_assert_msg(r == 0, "%s", why_text(r));
}

struct ordered_session *
session(void)
{
	struct ordered_session *s;
	int r = o->methods->session(o, &s);

	ck_assert_msg(r == 0, "%s", why_text(r));
	return s;
}

struct ordered_session *
begin(enum ordered_intent intent)
{
	struct ordered_session *s = session();
	int r = o->methods->begin(s, intent);

	ck_assert_msg(r == 0, "%s", why_text(r));
	return s;
}

void
commit(struct ordered_session *s)
{
	int r = o->methods->commit(s);

	ck_assert_msg(r == 0, "%s", why_text(r));
	o->methods->release(s);
}

void
put(struct ordered_session *s, uint32_t table, const char *key,
    const char *value)
{
	int r = o->methods->put(s, table, slice_text(key), slice_text(value));

	ck_assert_msg(r == 0, "%s", why_text(r));
}

/* Stores the keys, a space between, each as its own value. */
void
put_all(uint32_t table, const char *names)
{
	struct ordered_session *s = begin(ORDERED_WRITE);
	char copy[256], *state = NULL;

	snprintf(copy, sizeof(copy), "%s", names);
	for (char *key = strtok_r(copy, " ", &state); key;
	     key = strtok_r(NULL, " ", &state))
		put(s, table, key, key);
	commit(s);
}

/* The keys a session sees, a space between; valid until the next call. */
const char *
keys_seen(struct ordered_session *s, uint32_t table)
{
	static char text[4096];
	struct ordered_cursor *c;
	struct slice key;
	size_t size = 0;
	int r;

	ck_assert_int_eq(o->methods->cursor(s, table, &c), 0);
	text[0] = 0;
	while ((r = o->methods->next(c)) == 0) {
		ck_assert_int_eq(o->methods->key(c, &key), 0);
		size +=
		    (size_t)snprintf(text + size, sizeof(text) - size, "%s%.*s",
			size ? " " : "", (int)key.size, (const char *)key.data);
		ck_assert_uint_lt(size, sizeof(text));
	}
	ck_assert_int_eq(r, 1);
	o->methods->cursor_close(c);
	return text;
}

const char *
keys(uint32_t table)
{
	struct ordered_session *s = begin(ORDERED_READ);
	const char *text = keys_seen(s, table);

	o->methods->release(s);
	return text;
}

/* The value of key, "-" for none; valid until the next call. */
const char *
value_seen(struct ordered_session *s, uint32_t table, const char *key)
{
	static char text[256];
	struct buf value = {0};
	int r = o->methods->get(s, table, slice_text(key), &value);

	ck_assert_msg(r == 0 || r == 1, "%s", why_text(r));
	snprintf(text, sizeof(text), "%.*s", r ? 1 : (int)value.size,
	    r ? "-" : (const char *)value.data);
	buf_release(&value);
	return text;
}

void
add_both(Suite *suite, const char *name, const TTest *const *tests)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, store_dir_make, store_dir_remove);
	tcase_set_timeout(tc, 60);
	for (; *tests; tests++)
		tcase_add_loop_test(tc, *tests, 0, IMPLEMENTATIONS);
	suite_add_tcase(suite, tc);
}
