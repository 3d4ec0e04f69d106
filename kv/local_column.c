#include "local_column.h"

#include <errno.h>
#include <string.h>

#include "key.h"
#include "local_blob.h"
#include "local_depth.h"

#define RANGE_MIN 64 /* removals that are made in one range */

void
column_key(const struct versions *v, int64_t timestamp, struct buf *key)
{
	buf_append(key, buf_slice(&v->column));
	buf_be64(key, ~(uint64_t)timestamp);
}

int
dropped_add(struct txn *t, struct dropped *d, uint32_t blobs, uint64_t id)
{
	int r = blob_drop(t, blobs, id);

	if (r)
		return r;
	buf_append(&d->ids, slice_of(&blobs, sizeof(blobs)));
	buf_append(&d->ids, slice_of(&id, sizeof(id)));
	return buf_status(&d->ids);
}

int
column_erase(struct versions *v, int64_t timestamp, uint64_t blob)
{
	struct buf key = {0};

	column_key(v, timestamp, &key);
	int r = buf_status(&key);
	if (r == 0)
		r = txn_remove(v->txn, v->family->cells, buf_slice(&key));
	buf_release(&key);
	if (r == 0 && blob)
		r = dropped_add(v->txn, v->dropped, v->family->blobs, blob);
	return r;
}

int
column_look_up(struct versions *v, int64_t timestamp, struct held *out)
{
	struct buf key = {0}, value = {0};
	struct record record = {0};

	column_key(v, timestamp, &key);
	int r = buf_status(&key);
	if (r == 0)
		r = txn_get(v->txn, v->family->cells, buf_slice(&key), &value);
	if (r == 0)
		r = record_decode(buf_slice(&value), &record);
	*out = (struct held){timestamp, record.ttl, record.blob};
	buf_release(&key);
	buf_release(&value);
	return r;
}

bool
column_expired(const struct versions *v, int64_t timestamp)
{
	return fold_expires(&v->family->rules, timestamp, 0) <= v->txn->now;
}

/* --- opening ------------------------------------------------------------ */

bool
column_may_count(const struct local_family *f)
{
	return f->rules.versions > LISTED_MAX &&
	       !(f->rules.ttl && f->rules.min_versions);
}

static int
take_newest(struct versions *v, const struct walk *w)
{
	int r = stored_take(w, &v->newest);

	v->found = r == 0;
	return r;
}

/* Takes over what memory knows of the column, if it agrees with the newest
 * record, on which the walk stands. */
static int
open_counted(struct versions *v, struct walk *w)
{
	const struct depth *d =
	    depth_of(v->txn->local, v->family->cells, buf_slice(&v->column));

	if (!column_may_count(v->family) ||
	    !depth_is(d, v->family->cells, buf_slice(&v->column)) ||
	    d->newest != w->timestamp || d->count > v->family->rules.versions)
		return 0;
	v->counted = true;
	v->count = d->count;
	v->first = d->newest;
	v->last = d->oldest;
	if (column_expired(v, w->timestamp))
		return 0;
	return take_newest(v, w);
}

void
column_forget(struct versions *v)
{
	struct depth *d =
	    depth_of(v->txn->local, v->family->cells, buf_slice(&v->column));

	if (depth_is(d, v->family->cells, buf_slice(&v->column)))
		d->cells = 0;
}

void
column_remember(struct versions *v)
{
	struct depth *d =
	    depth_of(v->txn->local, v->family->cells, buf_slice(&v->column));

	d->cells = 0;
	d->count = v->count;
	d->newest = v->first;
	d->oldest = v->last;
	if (v->count && buf_set(&d->column, buf_slice(&v->column)) == 0)
		d->cells = v->family->cells;
}

void
column_count_list(struct versions *v)
{
	size_t count = column_held(v);

	for (size_t i = 0; i < count; i++)
		if (column_at(v, i)->ttl)
			return;
	v->count = count;
	v->first = column_at(v, 0)->timestamp;
	v->last = column_at(v, count - 1)->timestamp;
	column_remember(v);
}

/* One record of the column: listed if it is live, else removed. */
static int
list_one(struct versions *v, struct walk *w)
{
	struct held held = {w->timestamp, w->record.ttl, w->record.blob};
	int r = walk_judge(w);

	if (r < 0)
		return r;
	if (r == 0) {
		v->left = v->at_most && v->removed == v->at_most;
		if (v->left)
			return WALK_END;
		v->removed++;
		return column_erase(v, held.timestamp, held.blob);
	}
	buf_append(&v->list, slice_of(&held, sizeof(held)));
	if (v->list.failed)
		return -ENOMEM;
	return v->found ? 0 : take_newest(v, w);
}

int
column_list(struct versions *v, struct walk *w, enum open_for what)
{
	const struct local_family *f = v->family;
	bool all = what != OPEN_PUT || column_may_count(f) ||
		   f->past.sequence || (f->rules.ttl && f->rules.min_versions);
	int r = 0;

	while (r == 0) {
		r = list_one(v, w);
		if (r == 0 && !all && fold_full(&w->fold))
			break;
		if (r == 0)
			r = walk_next(w);
	}
	if (r < 0 || v->left)
		return r < 0 ? r : 0;
	if (column_may_count(f) && column_held(v) > LISTED_MAX)
		column_count_list(v);
	return 0;
}

int
versions_open(struct versions *v, enum open_for what)
{
	struct walk w = {0};

	key_column(&v->column, v->row, v->qualifier);
	int r = buf_status(&v->column);
	if (r == 0)
		r = walk_open(&w, v->txn, v->family);
	if (r == 0)
		r = walk_prefix(&w, buf_slice(&v->column));
	if (r == 0 && what != OPEN_LIST)
		r = open_counted(v, &w);
	if (r == 0 && !v->counted)
		r = column_list(v, &w, what);
	walk_release(&w);
	return r == WALK_END ? 0 : r;
}

void
versions_close(struct versions *v)
{
	stored_release(&v->newest);
	buf_release(&v->column);
	buf_release(&v->list);
}

/* --- removing ----------------------------------------------------------- */

/* The stored timestamp next to one that is, older or newer; 1: none. */
static int
neighbour(struct versions *v, int64_t timestamp, bool newer, int64_t *out)
{
	struct walk w = {0};
	struct buf key = {0};

	column_key(v, newer ? timestamp : timestamp - 1, &key);
	int r = buf_status(&key);
	if (r == 0)
		r = walk_open(&w, v->txn, v->family);
	if (r == 0)
		r = newer ? walk_seek_before(&w, buf_slice(&key))
			  : walk_seek(&w, buf_slice(&key));
	if (r == 0 && !slice_begins(w.key, buf_slice(&v->column)))
		r = 1;
	if (r == 0)
		*out = w.timestamp;
	walk_release(&w);
	buf_release(&key);
	return r;
}

/* The ends without one version. It is still there: from a removed key a
 * cursor would walk over all removed ones. */
static int
move_ends(struct versions *v, int64_t timestamp)
{
	if (v->count > 1 && timestamp == v->last)
		return neighbour(v, timestamp, true, &v->last);
	if (v->count > 1 && timestamp == v->first)
		return neighbour(v, timestamp, false, &v->first);
	return 0;
}

int
column_remove_counted(struct versions *v, int64_t timestamp)
{
	struct held held;
	int r = column_look_up(v, timestamp, &held);
	bool end = timestamp == v->last || timestamp == v->first;

	if (r == 0)
		r = move_ends(v, timestamp);
	if (r == 1 && end) {
		column_forget(v);
		return -EAGAIN; /* memory was wrong: once more, by counting */
	}
	if (r == 0)
		r = column_erase(v, timestamp, held.blob);
	if (r)
		return r;
	v->count--;
	column_remember(v);
	return 0;
}

int
column_trim(struct versions *v, size_t at_most)
{
	int r = 0;

	for (size_t i = 0; r == 0 && v->count; i++) {
		if (v->count <= v->family->rules.versions &&
		    !column_expired(v, v->last))
			break;
		v->left = i == at_most;
		if (v->left)
			break;
		r = column_remove_counted(v, v->last);
	}
	return r;
}

size_t
column_position(const struct versions *v, int64_t timestamp)
{
	size_t low = 0, high = column_held(v);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (column_at(v, middle)->timestamp > timestamp)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool
column_listed(const struct versions *v, size_t at, int64_t timestamp)
{
	return at < column_held(v) && column_at(v, at)->timestamp == timestamp;
}

static void
unlist(struct versions *v, size_t at)
{
	size_t behind = (column_held(v) - at - 1) * sizeof(struct held);

	memmove(column_at(v, at), column_at(v, at) + 1, behind);
	v->list.size -= sizeof(struct held);
}

int
versions_remove(struct versions *v, int64_t timestamp)
{
	if (v->counted)
		return column_expired(v, timestamp)
			   ? 1
			   : column_remove_counted(v, timestamp);
	size_t at = column_position(v, timestamp);
	if (!column_listed(v, at, timestamp))
		return 1;
	int r = column_erase(v, timestamp, column_at(v, at)->blob);
	if (r == 0)
		unlist(v, at);
	column_forget(v);
	return r;
}

/* Removes the keys of all versions stamped at most timestamp at once. */
static int
erase_range(struct versions *v, int64_t timestamp)
{
	struct buf from = {0}, to = {0};

	column_key(v, timestamp, &from);
	buf_append(&to, buf_slice(&v->column));
	int r = buf_status(&from);
	if (r == 0)
		r = buf_status(&to);
	key_successor(&to);
	if (r == 0)
		r = txn_remove_range(
		    v->txn, v->family->cells, buf_slice(&from), buf_slice(&to));
	buf_release(&from);
	buf_release(&to);
	return r;
}

int
versions_remove_through(struct versions *v, int64_t timestamp, uint64_t *count)
{
	size_t from = column_position(v, timestamp);
	bool range = column_held(v) - from >= RANGE_MIN;
	int r = 0;

	*count = column_held(v) - from;
	column_forget(v);
	if (range)
		r = erase_range(v, timestamp);
	for (size_t i = from; r == 0 && i < column_held(v); i++) {
		const struct held *held = column_at(v, i);
		if (!range)
			r = column_erase(v, held->timestamp, held->blob);
		else if (held->blob)
			r = dropped_add(
			    v->txn, v->dropped, v->family->blobs, held->blob);
	}
	v->list.size = from * sizeof(struct held);
	return r;
}
