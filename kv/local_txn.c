#include "local_txn.h"

#include <errno.h>
#include <time.h>

#include "local_anew.h"
#include "local_bloom.h"
#include "local_depth.h"
#include "local_time.h"
#include "why.h"

#define RETRIES 20 /* of a transaction that cannot go on */

static const struct ordered_methods *
methods(const struct txn *t)
{
	return t->local->ordered->methods;
}

static int
begin(struct txn *t, enum ordered_intent intent)
{
	struct ordered *o = t->local->ordered;
	struct ordered_session *session;

	int r = o->methods->session(o, &session);
	if (r)
		return r;
	if (t->writing)
		pthread_mutex_lock(&t->local->writer);
	t->blooms = blooms_moment(t->local);
	r = o->methods->begin(session, intent);
	if (r) {
		if (t->writing)
			pthread_mutex_unlock(&t->local->writer);
		o->methods->release(session);
		return r;
	}
	t->session = session;
	t->now = local_now(t->local);
	return 0;
}

int
txn_read(struct local *l, struct txn *out)
{
	*out = (struct txn){.local = l};
	local_count(l, COUNT_SNAPSHOTS, 1);
	return begin(out, ORDERED_READ);
}

int
txn_write(struct local *l, enum ordered_intent intent, struct txn *out)
{
	*out = (struct txn){.local = l, .writing = true};
	if (l->options.read_only)
		return why(EROFS, "the store is open for reading only");
	return begin(out, intent);
}

/* Commits what is to be committed; what memory knows of the columns is no
 * longer sure where that fails. */
static int
conclude(struct txn *t, int r)
{
	if (r == 0) {
		r = methods(t)->commit(t->session);
		if (r)
			depths_forget(t->local);
		else if (t->committed)
			t->committed(t->committed_context);
		blooms_ended(t->local, r == 0);
		local_count(t->local, r ? COUNT_ROLLBACKS : COUNT_COMMITS, 1);
		return r;
	}
	methods(t)->rollback(t->session);
	depths_forget(t->local);
	blooms_ended(t->local, false);
	local_count(t->local, COUNT_ROLLBACKS, 1);
	return r;
}

int
txn_end(struct txn *t, int r)
{
	if (!t->session)
		return r;
	if (t->writing) {
		r = conclude(t, r);
		pthread_mutex_unlock(&t->local->writer);
	} else {
		methods(t)->rollback(t->session);
	}
	methods(t)->release(t->session);
	t->session = NULL;
	if (t->passed)
		time_passed(t->local, t->passed);
	return r;
}

/* Whether a transaction that ended so is to be done again, after a rest. */
static bool
again(struct local *l, int r, int times)
{
	if (r != -EAGAIN || times == RETRIES)
		return false;
	local_count(l, COUNT_RETRIES, 1);
	nanosleep(&(struct timespec){.tv_nsec = times * 1000000}, NULL);
	return true;
}

int
local_write(struct local *l, enum ordered_intent intent,
    int (*body)(struct txn *t, void *context), void *context)
{
	int times = 0, r;

	do {
		struct txn t;
		r = txn_write(l, intent, &t);
		if (r == 0)
			r = body(&t, context);
		r = txn_end(&t, r);
	} while (again(l, r, times++));
	return r;
}

int
local_read(
    struct local *l, int (*body)(struct txn *t, void *context), void *context)
{
	int times = 0, r;

	do {
		struct txn t;
		r = txn_read(l, &t);
		if (r == 0)
			r = body(&t, context);
		r = txn_end(&t, r);
	} while (again(l, r, times++));
	return r;
}

/* The tables that the catalogue names are there; so this is a loss, or a table
 * that was dropped since it was looked up. */
static int
counted_on(uint32_t table, int r)
{
	return r == -ENOENT ? why(EIO, "ordered table %u is missing", table)
			    : r;
}

int
txn_cursor(struct txn *t, uint32_t table, struct ordered_cursor **out)
{
	*out = NULL;
	return counted_on(table, methods(t)->cursor(t->session, table, out));
}

int
txn_get(struct txn *t, uint32_t table, struct slice key, struct buf *out)
{
	return counted_on(table, methods(t)->get(t->session, table, key, out));
}

static int
put(struct txn *t, uint32_t table, struct slice key, struct slice value)
{
	int r = bloom_note(t, table, key);

	return r ? r : methods(t)->put(t->session, table, key, value);
}

int
txn_put(struct txn *t, uint32_t table, struct slice key, struct slice value)
{
	local_count(t->local, COUNT_PUTS, 1);
	local_count(t->local, COUNT_BYTES, key.size + value.size);
	int r = put(t, table, key, value);
	uint32_t twin = anew_twin(t->local, table, key);
	if (r == 0 && twin)
		r = put(t, twin, key, value);
	return counted_on(table, r);
}

int
txn_remove(struct txn *t, uint32_t table, struct slice key)
{
	local_count(t->local, COUNT_REMOVES, 1);
	local_count(t->local, COUNT_BYTES, key.size);
	int r = methods(t)->remove(t->session, table, key);
	uint32_t twin = anew_twin(t->local, table, key);
	if (r == 0 && twin)
		r = methods(t)->remove(t->session, twin, key);
	return counted_on(table, r);
}

int
txn_remove_range(
    struct txn *t, uint32_t table, struct slice from, struct slice to)
{
	local_count(t->local, COUNT_REMOVES, 1);
	int r = methods(t)->remove_range(t->session, table, from, to);
	uint32_t twin = anew_twin_of(t->local, table);
	if (r == 0 && twin)
		r = methods(t)->remove_range(t->session, twin, from, to);
	return counted_on(table, r);
}

int
txn_each(struct txn *t, uint32_t table, struct slice prefix,
    int (*each)(
	struct txn *t, struct slice key, struct slice value, void *context),
    void *context)
{
	struct ordered_cursor *c;
	struct slice key, value;
	int answer = 0;

	int r = txn_cursor(t, table, &c);
	if (r)
		return r;
	r = methods(t)->seek(c, prefix, SEEK_FROM);
	while (r == 0) {
		r = methods(t)->key(c, &key);
		if (r || !slice_begins(key, prefix))
			break;
		r = methods(t)->value(c, &value);
		if (r == 0)
			r = answer = each(t, key, value, context);
		if (r == 0)
			r = methods(t)->next(c);
	}
	methods(t)->cursor_close(c);
	return r < 0 ? r : answer;
}
