/* The ordered store in memory. A snapshot is the number of the last commit
 * before it. One mutex guards everything; cursors hold copies.
 */
#include "ordered.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "mem_table.h"
#include "why.h"

struct ordered_cursor {
	struct ordered_session *session;
	struct mem_table *table;
	struct buf key, value;
	bool placed;
	struct ordered_cursor *next;
};

struct written {
	struct mem_table *table;
	struct mem_item *item;
	struct written *next;
};

struct ordered_session {
	struct mem_store *store;
	bool active;
	enum ordered_intent intent;
	uint64_t snapshot;
	struct written *written;
	struct buf touched; /* uint32_t: tables this transaction pins */
	struct ordered_cursor *cursors;
	struct ordered_session *next;
};

struct mem_store {
	struct ordered ordered;
	pthread_mutex_t lock; /* guards everything below */
	struct mem_table *tables;
	struct ordered_session *sessions;
	uint64_t commits;
	int error;
	unsigned countdown;
	bool for_ever;
};

/* --- faults and locking -------------------------------------------------- */

static struct mem_store *
store_of(struct ordered *o)
{
	return (struct mem_store *)o;
}

/* Called with the lock held, at the start of each call that may fail. */
static int
fault(struct mem_store *m)
{
	if (!m->error)
		return 0;
	if (m->countdown > 1) {
		m->countdown--;
		return 0;
	}

	int error = m->error;
	if (!m->for_ever)
		m->error = 0;
	return why(error, "a fault was injected");
}

/* Takes the lock: 0, or an injected fault. The lock is held either way. */
static int
enter(struct mem_store *m)
{
	pthread_mutex_lock(&m->lock);
	return fault(m);
}

static int
leave(struct mem_store *m, int r)
{
	pthread_mutex_unlock(&m->lock);
	return r;
}

/* --- tables -------------------------------------------------------------- */

static struct mem_table *
table_find(struct mem_store *m, uint32_t number)
{
	struct mem_table *t = m->tables;

	while (t && t->number != number)
		t = t->next;
	return t;
}

/* The oldest snapshot anybody reads. */
static uint64_t
oldest_snapshot(const struct mem_store *m)
{
	uint64_t oldest = m->commits;

	for (struct ordered_session *s = m->sessions; s; s = s->next)
		if (s->active && s->snapshot < oldest)
			oldest = s->snapshot;
	return oldest;
}

static int
mem_create(struct ordered *o, uint32_t number,
    const struct ordered_table_options *options)
{
	struct mem_store *m = store_of(o);
	int r = enter(m);

	(void)options;
	if (r == 0 && table_find(m, number))
		r = why(EEXIST, "table %u is already there", number);
	if (r)
		return leave(m, r);

	struct mem_table *t = calloc(1, sizeof(*t));
	if (!t)
		return leave(m, -ENOMEM);
	t->number = number;
	t->next = m->tables;
	m->tables = t;
	return leave(m, 0);
}

static bool
session_pins(const struct ordered_session *s, uint32_t number)
{
	const uint32_t *touched = (const uint32_t *)s->touched.data;

	for (size_t i = 0; i < s->touched.size / sizeof(number); i++)
		if (touched[i] == number)
			return true;
	return false;
}

static int
mem_drop(struct ordered *o, uint32_t number)
{
	struct mem_store *m = store_of(o);
	int r = enter(m);

	if (r)
		return leave(m, r);
	for (struct ordered_session *s = m->sessions; s; s = s->next)
		if (session_pins(s, number))
			return leave(
			    m, why(EBUSY, "table %u is being read", number));

	struct mem_table **at = &m->tables;
	while (*at && (*at)->number != number)
		at = &(*at)->next;
	if (*at) {
		struct mem_table *t = *at;
		*at = t->next;
		mem_table_free(t);
	}
	return leave(m, 0);
}

static int
mem_tables(struct ordered *o, struct buf *out)
{
	struct mem_store *m = store_of(o);
	int r = enter(m);

	for (struct mem_table *t = m->tables; r == 0 && t; t = t->next)
		buf_append(out, slice_of(&t->number, sizeof(t->number)));
	return leave(m, r ? r : buf_status(out));
}

/* --- sessions and transactions ------------------------------------------- */

static int
mem_session(struct ordered *o, struct ordered_session **out)
{
	struct mem_store *m = store_of(o);
	int r = enter(m);

	*out = NULL;
	if (r)
		return leave(m, r);
	struct ordered_session *s = calloc(1, sizeof(*s));
	if (!s)
		return leave(m, -ENOMEM);
	s->store = m;
	s->next = m->sessions;
	m->sessions = s;
	*out = s;
	return leave(m, 0);
}

/* Ends the transaction of s, its values committed or undone. */
static void
session_end(struct ordered_session *s, bool commit)
{
	struct mem_store *m = s->store;

	if (s->written && commit)
		m->commits++;
	s->active = false;
	while (s->written) {
		struct written *w = s->written;
		s->written = w->next;
		mem_table_settle(w->table, w->item, commit ? m->commits : 0,
		    oldest_snapshot(m));
		free(w);
	}
	for (struct ordered_cursor *c = s->cursors; c; c = c->next)
		c->placed = false;
	buf_clear(&s->touched);
}

static void
session_free(struct ordered_session *s)
{
	while (s->cursors) {
		struct ordered_cursor *c = s->cursors;
		s->cursors = c->next;
		buf_release(&c->key);
		buf_release(&c->value);
		free(c);
	}
	buf_release(&s->touched);
	free(s);
}

static void
mem_release(struct ordered_session *s)
{
	struct mem_store *m = s->store;

	pthread_mutex_lock(&m->lock);
	session_end(s, false);
	struct ordered_session **at = &m->sessions;
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	pthread_mutex_unlock(&m->lock);
	session_free(s);
}

static int
mem_begin(struct ordered_session *s, enum ordered_intent intent)
{
	int r = enter(s->store);

	if (r == 0) {
		s->active = true;
		s->intent = intent;
		s->snapshot = s->store->commits;
	}
	return leave(s->store, r);
}

static int
mem_commit(struct ordered_session *s)
{
	int r = enter(s->store);

	session_end(s, r == 0);
	return leave(s->store, r);
}

static void
mem_rollback(struct ordered_session *s)
{
	pthread_mutex_lock(&s->store->lock);
	session_end(s, false);
	pthread_mutex_unlock(&s->store->lock);
}

/* Takes the lock and finds a table, which s pins until its transaction ends.
 * The lock is held either way. */
static int
session_enter(
    struct ordered_session *s, uint32_t number, struct mem_table **out)
{
	int r = enter(s->store);

	*out = NULL;
	if (r)
		return r;
	struct mem_table *t = table_find(s->store, number);
	if (!t)
		return why(ENOENT, "there is no table %u", number);
	if (!session_pins(s, number))
		buf_append(&s->touched, slice_of(&number, sizeof(number)));
	r = buf_status(&s->touched);
	if (r == 0)
		*out = t;
	return r;
}

static struct mem_view
view(const struct ordered_session *s)
{
	return (struct mem_view){s, s->snapshot};
}

/* --- cursors ------------------------------------------------------------- */

static int
mem_cursor(
    struct ordered_session *s, uint32_t number, struct ordered_cursor **out)
{
	struct mem_table *t;
	int r = session_enter(s, number, &t);

	*out = NULL;
	if (r)
		return leave(s->store, r);
	struct ordered_cursor *c = calloc(1, sizeof(*c));
	if (!c)
		return leave(s->store, -ENOMEM);
	c->session = s;
	c->table = t;
	c->next = s->cursors;
	s->cursors = c;
	*out = c;
	return leave(s->store, 0);
}

static void
mem_cursor_close(struct ordered_cursor *c)
{
	struct ordered_session *s = c->session;
	struct ordered_cursor **at = &s->cursors;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	buf_release(&c->key);
	buf_release(&c->value);
	free(c);
}

/* Puts c on the first visible item from place on, in the direction of step.
 * 1 and not placed without one. */
static int
cursor_settle(struct ordered_cursor *c, size_t place, int step)
{
	struct mem_table *t = c->table;

	c->placed = false;
	for (; place < t->count; place += (size_t)step) {
		const struct mem_item *item = t->items[place];
		const struct mem_value *v =
		    mem_item_seen(item, view(c->session));
		if (!v)
			continue;
		int r = buf_set(&c->key, buf_slice(&item->key));
		if (r == 0)
			r = buf_set(&c->value, buf_slice(&v->bytes));
		c->placed = r == 0;
		return r;
	}
	return 1;
}

static int
mem_seek(struct ordered_cursor *c, struct slice key, enum ordered_seek how)
{
	struct mem_store *m = c->session->store;
	int r = enter(m);

	c->placed = false;
	if (r)
		return leave(m, r);
	size_t place = mem_table_place(c->table, key);
	if (how == SEEK_BEFORE && key.size == 0)
		place = c->table->count;
	if (how == SEEK_BEFORE)
		r = cursor_settle(c, place - 1, -1);
	else if (how == SEEK_EXACT && !mem_table_item(c->table, key))
		r = 1;
	else
		r = cursor_settle(c, place, 1);
	if (r == 0 && how == SEEK_EXACT &&
	    !slice_equal(buf_slice(&c->key), key)) {
		c->placed = false;
		r = 1;
	}
	return leave(m, r);
}

static int
mem_next(struct ordered_cursor *c)
{
	struct mem_store *m = c->session->store;
	int r = enter(m);

	if (r)
		return leave(m, r);
	size_t place = 0;
	if (c->placed) {
		place = mem_table_place(c->table, buf_slice(&c->key));
		if (mem_table_item(c->table, buf_slice(&c->key)))
			place++;
	}
	return leave(m, cursor_settle(c, place, 1));
}

static int
mem_prev(struct ordered_cursor *c)
{
	struct mem_store *m = c->session->store;
	int r = enter(m);

	if (r)
		return leave(m, r);
	size_t place = c->table->count;
	if (c->placed)
		place = mem_table_place(c->table, buf_slice(&c->key));
	return leave(m, cursor_settle(c, place - 1, -1));
}

static int
mem_key(struct ordered_cursor *c, struct slice *out)
{
	*out = c->placed ? buf_slice(&c->key) : (struct slice){0};
	return c->placed ? 0 : -EINVAL;
}

static int
mem_value(struct ordered_cursor *c, struct slice *out)
{
	*out = c->placed ? buf_slice(&c->value) : (struct slice){0};
	return c->placed ? 0 : -EINVAL;
}

/* --- records ------------------------------------------------------------- */

static int
mem_get(struct ordered_session *s, uint32_t number, struct slice key,
    struct buf *out)
{
	struct mem_table *t;
	int r = session_enter(s, number, &t);

	if (r == 0) {
		const struct mem_item *item = mem_table_item(t, key);
		const struct mem_value *v =
		    item ? mem_item_seen(item, view(s)) : NULL;
		r = v ? buf_set(out, buf_slice(&v->bytes)) : 1;
	}
	if (r)
		buf_clear(out);
	return leave(s->store, r);
}

/* Writes one record of s's transaction, NULL: removes it; the lock is held. */
static int
session_write(struct ordered_session *s, struct mem_table *t, struct slice key,
    const struct slice *value)
{
	struct mem_item *item;
	struct written *w = calloc(1, sizeof(*w));

	assert(s->active && s->intent != ORDERED_READ);
	if (!w)
		return -ENOMEM;
	int r = mem_table_write(t, view(s), key, value, &item);
	if (!item) {
		free(w);
		return r;
	}
	*w = (struct written){t, item, s->written};
	s->written = w;
	return r;
}

static int
mem_put(struct ordered_session *s, uint32_t number, struct slice key,
    struct slice value)
{
	struct mem_table *t;
	int r = session_enter(s, number, &t);

	if (r == 0 && !key.size)
		r = why(EINVAL, "a key has at least one byte");
	if (r == 0)
		r = session_write(s, t, key, &value);
	return leave(s->store, r);
}

static int
mem_remove(struct ordered_session *s, uint32_t number, struct slice key)
{
	struct mem_table *t;
	int r = session_enter(s, number, &t);

	if (r == 0)
		r = session_write(s, t, key, NULL);
	return leave(s->store, r);
}

static int
mem_remove_range(struct ordered_session *s, uint32_t number, struct slice from,
    struct slice to)
{
	struct mem_table *t;
	int r = session_enter(s, number, &t);

	if (r)
		return leave(s->store, r);
	for (size_t i = mem_table_place(t, from); r == 0 && i < t->count; i++) {
		struct mem_item *item = t->items[i];
		struct slice key = buf_slice(&item->key);
		if (to.size && slice_compare(key, to) >= 0)
			break;
		if (mem_item_seen(item, view(s)))
			r = session_write(s, t, key, NULL);
	}
	return leave(s->store, r);
}

/* --- the store ----------------------------------------------------------- */

static int
mem_nothing(struct ordered *o)
{
	return leave(store_of(o), enter(store_of(o)));
}

static int
mem_nothing_with(struct ordered *o, uint32_t number)
{
	struct mem_store *m = store_of(o);
	int r = enter(m);

	if (r == 0 && !table_find(m, number))
		r = why(ENOENT, "there is no table %u", number);
	return leave(m, r);
}

static int
mem_space(struct ordered *o, struct ordered_space *out)
{
	struct mem_store *m = store_of(o);
	int r = enter(m);

	*out = (struct ordered_space){0};
	if (r)
		return leave(m, r);
	for (struct mem_table *t = m->tables; t; t = t->next)
		for (size_t i = 0; i < t->count; i++)
			out->used += t->items[i]->key.size +
				     t->items[i]->newest->bytes.size;
	out->total = (uint64_t)1 << 40;
	out->available = out->total - out->used;
	return leave(m, 0);
}

static void
mem_stats(struct ordered *o, ordered_stat_emit emit, void *context)
{
	struct mem_store *m = store_of(o);

	pthread_mutex_lock(&m->lock);
	uint64_t commits = m->commits;
	pthread_mutex_unlock(&m->lock);
	emit(context, "commits", commits);
}

/* Nothing to free: the store outlives its user. */
static int
mem_close(struct ordered *o)
{
	(void)o;
	return 0;
}

static const struct ordered_methods mem_methods = {
    .close = mem_close,
    .create = mem_create,
    .drop = mem_drop,
    .tables = mem_tables,
    .session = mem_session,
    .release = mem_release,
    .begin = mem_begin,
    .commit = mem_commit,
    .rollback = mem_rollback,
    .cursor = mem_cursor,
    .cursor_close = mem_cursor_close,
    .seek = mem_seek,
    .next = mem_next,
    .prev = mem_prev,
    .key = mem_key,
    .value = mem_value,
    .get = mem_get,
    .put = mem_put,
    .remove = mem_remove,
    .remove_range = mem_remove_range,
    .sync = mem_nothing,
    .checkpoint = mem_nothing,
    .compact = mem_nothing_with,
    .verify = mem_nothing_with,
    .space = mem_space,
    .stats = mem_stats,
};

int
ordered_mem_open(struct ordered **out)
{
	*out = NULL;
	struct mem_store *m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->ordered.methods = &mem_methods;
	pthread_mutex_init(&m->lock, NULL);
	*out = &m->ordered;
	return 0;
}

struct ordered *
ordered_mem_reopen(struct ordered *o)
{
	struct mem_store *m = store_of(o);

	while (m->sessions)
		mem_release(m->sessions);
	m->error = 0;
	return o;
}

void
ordered_mem_free(struct ordered *o)
{
	struct mem_store *m = store_of(ordered_mem_reopen(o));

	while (m->tables) {
		struct mem_table *t = m->tables;
		m->tables = t->next;
		mem_table_free(t);
	}
	pthread_mutex_destroy(&m->lock);
	free(m);
}

void
ordered_mem_fail(struct ordered *o, int error, unsigned count, bool for_ever)
{
	struct mem_store *m = store_of(o);

	pthread_mutex_lock(&m->lock);
	m->error = error;
	m->countdown = count;
	m->for_ever = for_ever;
	pthread_mutex_unlock(&m->lock);
}
