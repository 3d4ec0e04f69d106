#include "wt_pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wiredtiger.h>

#include "why.h"

#define CACHED_MAX 32 /* cursors that a session keeps */

/* A cursor that nobody uses at the moment, the last used first. */
struct cached {
	WT_CURSOR *cursor;
	uint32_t table;
	struct cached *next;
};

struct ordered_cursor {
	struct ordered_session *session;
	struct cached *cached; /* NULL: its transaction is over */
	bool placed;
	struct ordered_cursor *next;
};

struct ordered_session {
	struct wt_pool *pool;
	WT_SESSION *wt;
	bool active;
	enum ordered_intent intent;
	bool patient; /* waits for the cache to have room, as writers do */
	uint64_t generation;
	struct cached *cached;
	struct ordered_cursor *cursors;
	struct ordered_session *next; /* idle */
};

/* --- errors and names ----------------------------------------------------- */

int
wt_pool_error(struct wt_pool *pool, int code)
{
	if (code == 0)
		return 0;
	if (code == WT_ROLLBACK)
		return why(EAGAIN, "WiredTiger wants it done again: %s",
		    wiredtiger_strerror(code));
	if (code == WT_PANIC)
		atomic_store(&pool->failed, true);
	if (code == WT_PANIC || code == WT_RUN_RECOVERY)
		return why(EIO,
		    "the store failed; nothing that was written is lost; "
		    "mount it again");
	if (code == EIO) /* wt_files has named the block */
		return -EIO;
	if (code < 0)
		return why(EIO, "WiredTiger: %s", wiredtiger_strerror(code));
	return -code;
}

/* --- the cursors a session keeps ------------------------------------------ */

static void
cached_drop(struct cached **at)
{
	struct cached *c = *at;

	*at = c->next;
	c->cursor->close(c->cursor);
	free(c);
}

static void
cached_close(struct cached **at)
{
	while (*at)
		cached_drop(at);
}

static void
cached_close_table(struct ordered_session *s, uint32_t table)
{
	struct cached **at = &s->cached;

	while (*at) {
		if ((*at)->table == table)
			cached_drop(at);
		else
			at = &(*at)->next;
	}
}

/* A table that does not open is not there, or its file is not. */
static int
missing(WT_SESSION *session, uint32_t table)
{
	struct buf known = {0};
	int r = wt_pool_describe(session, table, &known);

	buf_release(&known);
	return r ? why(ENOENT, "there is no table %u", table)
		 : why(EIO, "%06u.wt is missing: run `cellfs check --repair`",
		       table);
}

static int
cached_open(struct ordered_session *s, uint32_t table, struct cached **out)
{
	char uri[WT_URI_BYTES];
	struct cached *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	wt_pool_uri(table, uri);
	int r = wt_pool_error(
	    s->pool, s->wt->open_cursor(s->wt, uri, NULL, NULL, &c->cursor));
	if (r == -ENOENT)
		r = missing(s->wt, table);
	if (r) {
		free(c);
		return r;
	}
	c->table = table;
	*out = c;
	return 0;
}

/* Takes a cursor on table out of the cache, or opens one. */
static int
cached_take(struct ordered_session *s, uint32_t table, struct cached **out)
{
	struct cached **at = &s->cached;

	*out = NULL;
	while (*at && (*at)->table != table)
		at = &(*at)->next;
	if (!*at)
		return cached_open(s, table, out);
	*out = *at;
	*at = (*at)->next;
	return 0;
}

static void
cached_give(struct ordered_session *s, struct cached *c)
{
	c->cursor->reset(c->cursor);
	c->next = s->cached;
	s->cached = c;
}

/* --- the pool ------------------------------------------------------------- */

void
wt_pool_init(struct wt_pool *pool)
{
	pthread_mutex_init(&pool->lock, NULL);
}

static void
session_free(struct ordered_session *s)
{
	cached_close(&s->cached);
	s->wt->close(s->wt, NULL);
	free(s);
}

void
wt_pool_release(struct wt_pool *pool)
{
	while (pool->idle) {
		struct ordered_session *s = pool->idle;
		pool->idle = s->next;
		session_free(s);
	}
	pthread_mutex_destroy(&pool->lock);
}

void
wt_pool_forget(struct wt_pool *pool, uint32_t table)
{
	pthread_mutex_lock(&pool->lock);
	pool->generation++;
	for (struct ordered_session *s = pool->idle; s; s = s->next) {
		cached_close_table(s, table);
		s->generation = pool->generation;
	}
	pthread_mutex_unlock(&pool->lock);
}

int
wt_pool_open(struct wt_pool *pool, WT_SESSION **out)
{
	WT_CONNECTION *connection = pool->connection;

	*out = NULL;
	return wt_pool_error(
	    pool, connection->open_session(connection, NULL,
		      "isolation=snapshot,cache_cursors=false", out));
}

static int
session_new(struct wt_pool *pool, struct ordered_session **out)
{
	struct ordered_session *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (!s)
		return -ENOMEM;
	int r = wt_pool_open(pool, &s->wt);
	if (r) {
		free(s);
		return r;
	}
	s->pool = pool;
	s->patient = true;
	*out = s;
	return 0;
}

int
wt_pool_take(struct wt_pool *pool, struct ordered_session **out)
{
	int r = 0;

	pthread_mutex_lock(&pool->lock);
	struct ordered_session *s = pool->idle;
	if (s)
		pool->idle = s->next;
	uint64_t generation = pool->generation;
	pthread_mutex_unlock(&pool->lock);
	if (!s)
		r = session_new(pool, &s);
	if (r == 0)
		s->generation = generation;
	*out = s;
	return r;
}

void
wt_pool_give(struct ordered_session *s)
{
	struct wt_pool *pool = s->pool;

	if (s->active)
		wt_session_rollback(s);
	while (s->cursors)
		wt_cursor_close(s->cursors);

	struct cached **at = &s->cached;
	for (unsigned i = 0; *at && i < CACHED_MAX; i++)
		at = &(*at)->next;
	cached_close(at);
	pthread_mutex_lock(&pool->lock);
	if (s->generation != pool->generation)
		cached_close(&s->cached);
	s->next = pool->idle;
	pool->idle = s;
	pthread_mutex_unlock(&pool->lock);
}

/* --- the store's own sessions --------------------------------------------- */

static int
session_do(
    WT_SESSION *session, enum wt_verb verb, const char *uri, const char *config)
{
	WT_CURSOR *cursor; /* closed with the session */

	switch (verb) {
	case WT_OPEN:
		return session->open_cursor(session, uri, NULL, config, &cursor);
	case WT_CREATE:
		return session->create(session, uri, config);
	case WT_DROP:
		return session->drop(session, uri, config);
	case WT_COMPACT:
		return session->compact(session, uri, config);
	case WT_VERIFY:
		return session->verify(session, uri, config);
	case WT_SALVAGE:
		return session->salvage(session, uri, config);
	}
	return EINVAL;
}

int
wt_pool_do(
    struct wt_pool *pool, enum wt_verb verb, uint32_t table, const char *config)
{
	char uri[WT_URI_BYTES];
	WT_SESSION *session;
	int r = wt_pool_open(pool, &session);

	if (r)
		return r;
	atomic_store(&pool->changed, true);
	wt_pool_uri(table, uri);
	r = wt_pool_error(pool, session_do(session, verb, uri, config));
	session->close(session, NULL);
	if (r == -ENOENT)
		return why(ENOENT, "there is no table %u", table);
	return r == -EBUSY ? why(EBUSY, "table %u is in use", table) : r;
}

int
wt_pool_each_table(struct wt_pool *pool,
    int (*each)(void *context, WT_SESSION *session, uint32_t table),
    void *context)
{
	WT_SESSION *session;
	WT_CURSOR *cursor;
	const char *uri;
	unsigned table;
	int r = wt_pool_open(pool, &session);

	if (r)
		return r;
	int code =
	    session->open_cursor(session, "metadata:", NULL, NULL, &cursor);
	while (r == 0 && code == 0 && (code = cursor->next(cursor)) == 0) {
		code = cursor->get_key(cursor, &uri);
		if (code == 0 && sscanf(uri, "table:%u", &table) == 1)
			r = each(context, session, table);
	}
	session->close(session, NULL);
	if (r == 0 && code != WT_NOTFOUND)
		r = wt_pool_error(pool, code);
	return r;
}

int
wt_pool_describe(WT_SESSION *session, uint32_t table, struct buf *out)
{
	static const char *const kinds[] = {
	    "colgroup:%06u", "file:%06u.wt", "table:%06u"};
	WT_CURSOR *cursor;
	const char *value;
	char key[WT_URI_BYTES];
	int code =
	    session->open_cursor(session, "metadata:", NULL, NULL, &cursor);

	if (code)
		return -EIO;
	for (size_t i = 0; code == 0 && i < 3; i++) {
		snprintf(key, sizeof(key), kinds[i], table);
		cursor->set_key(cursor, key);
		code = cursor->search(cursor);
		if (code == 0)
			code = cursor->get_value(cursor, &value);
		if (code == 0)
			buf_printf(out, "%s\n%s\n", key, value);
	}
	cursor->close(cursor);
	return code ? -EIO : buf_status(out);
}

uint64_t
wt_pool_statistic(WT_SESSION *session, const char *uri, int which)
{
	WT_CURSOR *cursor;
	const char *description, *text;
	uint64_t value = 0;

	if (session->open_cursor(
		session, uri, NULL, "statistics=(fast)", &cursor))
		return 0;
	cursor->set_key(cursor, which);
	if (cursor->search(cursor) ||
	    cursor->get_value(cursor, &description, &text, &value))
		value = 0;
	cursor->close(cursor);
	return value;
}

/* --- transactions --------------------------------------------------------- */

static int
session_set_patient(struct ordered_session *s, bool patient)
{
	if (s->patient == patient)
		return 0;
	int r = wt_pool_error(s->pool,
	    s->wt->reconfigure(s->wt, patient ? "ignore_cache_size=false"
					      : "ignore_cache_size=true"));
	if (r == 0)
		s->patient = patient;
	return r;
}

/* Readers do not wait for the cache then: what they would wait for may be a
 * write that waits for the disk. */
static bool
disk_is_full(struct wt_pool *pool)
{
	return wt_files_waiting(pool->files) ||
	    atomic_load(&pool->room.refusing);
}

static int
session_room(struct ordered_session *s, enum ordered_intent intent)
{
	struct wt_pool *pool = s->pool;
	bool first;

	if (intent == ORDERED_READ)
		return 0;
	if (pool->read_only)
		return why(EROFS, "the store is open for reading only");
	if (wt_files_waiting(pool->files))
		return why(ENOSPC, "the disk is full: writes wait for room");
	int r = wt_room_ask(&pool->room, intent, &first);
	if (first)
		atomic_store(&pool->owed, 1);
	if (r == 0 || intent != ORDERED_WRITE || !atomic_load(&pool->owed))
		return r;
	pool->make_room(pool, first);
	return wt_room_ask(&pool->room, intent, &first);
}

int
wt_session_begin(struct ordered_session *s, enum ordered_intent intent)
{
	int r = session_room(s, intent);

	if (r == 0)
		r = session_set_patient(s,
		    intent != ORDERED_READ || !disk_is_full(s->pool));
	if (r == 0)
		r = wt_pool_error(s->pool,
		    s->wt->begin_transaction(s->wt, NULL));
	s->active = r == 0;
	s->intent = intent;
	if (intent != ORDERED_READ)
		atomic_store(&s->pool->changed, true);
	return r;
}

/* The transaction is over, its cursors can only be closed now. */
static void
session_end(struct ordered_session *s)
{
	for (struct ordered_cursor *c = s->cursors; c; c = c->next) {
		if (c->cached)
			cached_give(s, c->cached);
		c->cached = NULL;
		c->placed = false;
	}
	s->active = false;
}

int
wt_session_commit(struct ordered_session *s)
{
	struct wt_pool *pool = s->pool;
	int r = wt_pool_error(pool, s->wt->commit_transaction(s->wt, NULL));

	session_end(s);
	if (r == 0 && s->intent == ORDERED_REMOVE &&
	    atomic_load(&pool->room.refusing))
		atomic_store(&pool->owed, 2);
	return r;
}

void
wt_session_rollback(struct ordered_session *s)
{
	s->wt->rollback_transaction(s->wt, NULL);
	session_end(s);
}

/* --- cursors -------------------------------------------------------------- */

int
wt_session_cursor(
    struct ordered_session *s, uint32_t table, struct ordered_cursor **out)
{
	struct ordered_cursor *c = calloc(1, sizeof(*c));

	*out = NULL;
	if (!c)
		return -ENOMEM;
	int r = cached_take(s, table, &c->cached);
	if (r) {
		free(c);
		return r;
	}
	c->session = s;
	c->next = s->cursors;
	s->cursors = c;
	*out = c;
	return 0;
}

void
wt_cursor_close(struct ordered_cursor *c)
{
	struct ordered_cursor **at = &c->session->cursors;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	if (c->cached)
		cached_give(c->session, c->cached);
	free(c);
}

static void
set_key(WT_CURSOR *cursor, struct slice key)
{
	const WT_ITEM item = {.data = key.data, .size = key.size};

	cursor->set_key(cursor, &item);
}

/* WiredTiger's answer to a move: 0, 1 for no such record, or an errno. */
static int
cursor_moved(struct ordered_cursor *c, int code)
{
	c->placed = code == 0;
	if (code == WT_NOTFOUND)
		return 1;
	return wt_pool_error(c->session->pool, code);
}

/* To the key, or its neighbour on the side of how; the empty key is the end
 * that how comes from. */
static int
cursor_seek(WT_CURSOR *cursor, struct slice key, enum ordered_seek how)
{
	int side = how == SEEK_FROM ? -1 : 1;
	int code;

	if (how == SEEK_EXACT && !key.size)
		return WT_NOTFOUND;
	if (key.size)
		set_key(cursor, key);
	if (how == SEEK_EXACT)
		return cursor->search(cursor);
	code = key.size ? cursor->search_near(cursor, &side)
			: cursor->reset(cursor);
	if (code || (how == SEEK_FROM ? side >= 0 : side < 0))
		return code;
	return how == SEEK_FROM ? cursor->next(cursor) : cursor->prev(cursor);
}

int
wt_cursor_seek(
    struct ordered_cursor *c, struct slice key, enum ordered_seek how)
{
	return cursor_moved(c, cursor_seek(c->cached->cursor, key, how));
}

int
wt_cursor_next(struct ordered_cursor *c)
{
	return cursor_moved(c, c->cached->cursor->next(c->cached->cursor));
}

int
wt_cursor_prev(struct ordered_cursor *c)
{
	return cursor_moved(c, c->cached->cursor->prev(c->cached->cursor));
}

/* What get, one of a cursor's readers, says of the record it stands on. */
static int
cursor_read(struct ordered_cursor *c, int (*get)(WT_CURSOR *cursor, ...),
    struct slice *out)
{
	WT_ITEM item = {0};
	int r = -EINVAL;

	if (c->placed)
		r = wt_pool_error(
		    c->session->pool, get(c->cached->cursor, &item));
	*out = r ? (struct slice){0} : slice_of(item.data, item.size);
	return r;
}

int
wt_cursor_key(struct ordered_cursor *c, struct slice *out)
{
	return cursor_read(c, c->cached->cursor->get_key, out);
}

int
wt_cursor_value(struct ordered_cursor *c, struct slice *out)
{
	return cursor_read(c, c->cached->cursor->get_value, out);
}

/* --- records -------------------------------------------------------------- */

int
wt_session_get(struct ordered_session *s, uint32_t table, struct slice key,
    struct buf *out)
{
	struct cached *c;
	WT_ITEM item = {0};
	int r = cached_take(s, table, &c);

	buf_clear(out);
	if (r)
		return r;
	int code = cursor_seek(c->cursor, key, SEEK_EXACT);
	if (code == 0)
		code = c->cursor->get_value(c->cursor, &item);
	if (code == 0) {
		buf_append(out, slice_of(item.data, item.size));
		r = buf_status(out);
	} else {
		r = code == WT_NOTFOUND ? 1 : wt_pool_error(s->pool, code);
	}
	cached_give(s, c);
	return r;
}

int
wt_session_put(struct ordered_session *s, uint32_t table, struct slice key,
    struct slice value)
{
	const WT_ITEM item = {.data = value.data, .size = value.size};
	struct cached *c;
	int r = cached_take(s, table, &c);

	if (r)
		return r;
	set_key(c->cursor, key);
	c->cursor->set_value(c->cursor, &item);
	r = wt_pool_error(s->pool, c->cursor->insert(c->cursor));
	wt_room_took(&s->pool->room, key.size + value.size);
	cached_give(s, c);
	return r;
}

int
wt_session_remove(struct ordered_session *s, uint32_t table, struct slice key)
{
	struct cached *c;
	int r = key.size ? cached_take(s, table, &c) : 0;

	if (r || !key.size)
		return r;
	set_key(c->cursor, key);
	int code = c->cursor->remove(c->cursor);
	if (code != WT_NOTFOUND)
		r = wt_pool_error(s->pool, code);
	cached_give(s, c);
	return r;
}

/* Puts first and last on the ends of [from, to): WT_NOTFOUND if nothing lies
 * between. */
static int
range_ends(
    WT_CURSOR *first, WT_CURSOR *last, struct slice from, struct slice to)
{
	WT_ITEM a, b;
	int code = cursor_seek(first, from, SEEK_FROM);

	if (code == 0)
		code = cursor_seek(last, to, SEEK_BEFORE);
	if (code == 0)
		code = first->get_key(first, &a);
	if (code == 0)
		code = last->get_key(last, &b);
	if (code == 0 && slice_compare(slice_of(a.data, a.size),
			     slice_of(b.data, b.size)) > 0)
		code = WT_NOTFOUND;
	return code;
}

int
wt_session_remove_range(struct ordered_session *s, uint32_t table,
    struct slice from, struct slice to)
{
	struct cached *first = NULL, *last = NULL;
	int r = cached_take(s, table, &first);

	if (r == 0)
		r = cached_take(s, table, &last);
	if (r)
		goto out;
	int code = range_ends(first->cursor, last->cursor, from, to);
	if (code == 0)
		code = s->wt->truncate(
		    s->wt, NULL, first->cursor, last->cursor, NULL);
	if (code != WT_NOTFOUND)
		r = wt_pool_error(s->pool, code);
out:
	if (first)
		cached_give(s, first);
	if (last)
		cached_give(s, last);
	return r;
}
