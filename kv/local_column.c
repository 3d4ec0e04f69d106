#include "local_column.h"

#include <errno.h>
#include <string.h>

#include "why.h"

#define RANGE_MIN 64 /* removals that are made in one range */

static struct held *
held_at(const struct versions *v, size_t i)
{
	return (struct held *)v->list.data + i;
}

static size_t
held_count(const struct versions *v)
{
	return v->list.size / sizeof(struct held);
}

static void
key_of(const struct versions *v, int64_t timestamp, struct buf *key)
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

/* Removes a record and lets go of its blob. */
static int
erase(struct versions *v, int64_t timestamp, uint64_t blob)
{
	struct buf key = {0};

	key_of(v, timestamp, &key);
	int r = buf_status(&key);
	if (r == 0)
		r = txn_remove(v->txn, v->family->cells, buf_slice(&key));
	buf_release(&key);
	if (r == 0 && blob)
		r = dropped_add(v->txn, v->dropped, v->family->blobs, blob);
	return r;
}

/* Reads the stored version at timestamp, live or not; 1: none. */
static int
look_up(struct versions *v, int64_t timestamp, struct held *out)
{
	struct buf key = {0}, value = {0};
	struct record record = {0};

	key_of(v, timestamp, &key);
	int r = buf_status(&key);
	if (r == 0)
		r = txn_get(
		    v->txn, v->family->cells, buf_slice(&key), &value);
	if (r == 0)
		r = record_decode(buf_slice(&value), &record);
	*out = (struct held){timestamp, record.ttl, record.blob};
	buf_release(&key);
	buf_release(&value);
	return r;
}

/* Whether time alone has made a version of a counted column go out. */
static bool
expired(const struct versions *v, int64_t timestamp, int64_t ttl)
{
	return fold_expires(&v->family->rules, timestamp, ttl) <= v->txn->now;
}

/* --- opening ----------------------------------------------------------------- */

static bool
may_count(const struct local_family *f)
{
	return f->rules.versions > LISTED_MAX &&
	    !(f->rules.ttl && f->rules.min_versions);
}

static int
take_newest(struct versions *v, struct walk *w)
{
	const struct ordered_methods *m = v->txn->local->ordered->methods;
	struct stored *s = &v->newest;
	struct slice value;

	int r = m->value(w->cursor, &value);
	if (r == 0)
		r = buf_set(&s->bytes, value);
	if (r == 0)
		r = record_decode(buf_slice(&s->bytes), &s->record);
	s->timestamp = w->timestamp;
	s->expires =
	    fold_expires(&v->family->rules, w->timestamp, s->record.ttl);
	v->found = r == 0;
	return r;
}

/* Takes over what memory knows of the column, if it agrees with the newest
 * record, on which the walk stands. */
static int
open_counted(struct versions *v, struct walk *w)
{
	const struct depth *d = depth_of(
	    v->txn->local, v->family->cells, buf_slice(&v->column));

	if (!may_count(v->family) ||
	    !depth_is(d, v->family->cells, buf_slice(&v->column)) ||
	    d->newest != w->timestamp || d->count > v->family->rules.versions)
		return 0;
	v->counted = true;
	v->count = d->count;
	v->first = d->newest;
	v->last = d->oldest;
	if (expired(v, w->timestamp, 0))
		return 0;
	return take_newest(v, w);
}

static void
forget(struct versions *v)
{
	struct depth *d = depth_of(
	    v->txn->local, v->family->cells, buf_slice(&v->column));

	if (depth_is(d, v->family->cells, buf_slice(&v->column)))
		d->cells = 0;
}

static void
remember(struct versions *v)
{
	struct depth *d = depth_of(
	    v->txn->local, v->family->cells, buf_slice(&v->column));

	d->cells = 0;
	d->count = v->count;
	d->newest = v->first;
	d->oldest = v->last;
	if (v->count && buf_set(&d->column, buf_slice(&v->column)) == 0)
		d->cells = v->family->cells;
}

/* From a list that turned out long to the count of it. */
static void
count_list(struct versions *v)
{
	size_t count = held_count(v);

	for (size_t i = 0; i < count; i++)
		if (held_at(v, i)->ttl)
			return;
	v->count = count;
	v->first = held_at(v, 0)->timestamp;
	v->last = held_at(v, count - 1)->timestamp;
	remember(v);
}

/* One record of the column: listed if it is live, else removed. */
static int
list_one(struct versions *v, struct walk *w)
{
	struct held held = {w->timestamp, w->record.ttl, w->record.blob};
	int r = fold_add(&w->fold, held.timestamp, held.ttl);

	if (r < 0)
		return r;
	if (r == 0)
		return erase(v, held.timestamp, held.blob);
	buf_append(&v->list, slice_of(&held, sizeof(held)));
	if (v->list.failed)
		return -ENOMEM;
	return v->found ? 0 : take_newest(v, w);
}

/* Lists the live versions and removes the others, from where the walk stands.
 * To put, it is enough to see as many as can be live: that what lies beyond
 * is out a later opening to remove will find. */
static int
open_listed(struct versions *v, struct walk *w, enum open_for what)
{
	bool all = what != OPEN_PUT || may_count(v->family);
	int r = 0;

	while (r == 0) {
		r = list_one(v, w);
		if (r == 0 && !all &&
		    w->fold.live >= v->family->rules.versions)
			break;
		if (r == 0)
			r = walk_next(w);
	}
	if (r < 0)
		return r;
	if (may_count(v->family) && held_count(v) > LISTED_MAX)
		count_list(v);
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
		r = open_listed(v, &w, what);
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

/* --- removing ---------------------------------------------------------------- */

/* The stored timestamp next to one that is, older or newer; 1: none. */
static int
neighbour(struct versions *v, int64_t timestamp, bool newer, int64_t *out)
{
	struct walk w = {0};
	struct buf key = {0};

	key_of(v, newer ? timestamp : timestamp - 1, &key);
	int r = buf_status(&key);
	if (r == 0)
		r = walk_open(&w, v->txn, v->family);
	if (r == 0)
		r = newer ? walk_seek_before(&w, buf_slice(&key)) :
			    walk_seek(&w, buf_slice(&key));
	if (r == 0 && !slice_begins(w.key, buf_slice(&v->column)))
		r = 1;
	if (r == 0)
		*out = w.timestamp;
	walk_release(&w);
	buf_release(&key);
	return r;
}

/* The count and the ends after one version has gone. */
static int
uncount(struct versions *v, int64_t timestamp)
{
	int r = 0;

	v->count--;
	if (v->count && timestamp == v->last)
		r = neighbour(v, timestamp, true, &v->last);
	else if (v->count && timestamp == v->first)
		r = neighbour(v, timestamp, false, &v->first);
	if (r == 1) {
		forget(v);
		return why(EIO, "the number of versions of a column in table "
				"file %u is not what memory knows",
		    v->family->cells);
	}
	if (r == 0)
		remember(v);
	return r;
}

static int
remove_counted(struct versions *v, int64_t timestamp)
{
	struct held held;
	int r = look_up(v, timestamp, &held);

	if (r == 0)
		r = erase(v, timestamp, held.blob);
	if (r == 0)
		r = uncount(v, timestamp);
	return r;
}

/* Where the first version stamped at most timestamp stands in the list. */
static size_t
position(const struct versions *v, int64_t timestamp)
{
	size_t low = 0, high = held_count(v);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (held_at(v, middle)->timestamp > timestamp)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool
listed(const struct versions *v, size_t at, int64_t timestamp)
{
	return at < held_count(v) && held_at(v, at)->timestamp == timestamp;
}

static void
unlist(struct versions *v, size_t at)
{
	size_t behind = (held_count(v) - at - 1) * sizeof(struct held);

	memmove(held_at(v, at), held_at(v, at) + 1, behind);
	v->list.size -= sizeof(struct held);
}

int
versions_remove(struct versions *v, int64_t timestamp)
{
	if (v->counted)
		return expired(v, timestamp, 0) ? 1 :
						  remove_counted(v, timestamp);
	size_t at = position(v, timestamp);
	if (!listed(v, at, timestamp))
		return 1;
	int r = erase(v, timestamp, held_at(v, at)->blob);
	if (r == 0)
		unlist(v, at);
	forget(v);
	return r;
}

/* Removes the keys of all versions stamped at most timestamp at once. */
static int
erase_range(struct versions *v, int64_t timestamp)
{
	struct buf from = {0}, to = {0};

	key_of(v, timestamp, &from);
	buf_append(&to, buf_slice(&v->column));
	int r = buf_status(&from);
	if (r == 0)
		r = buf_status(&to);
	key_successor(&to);
	if (r == 0)
		r = txn_remove_range(v->txn, v->family->cells,
		    buf_slice(&from), buf_slice(&to));
	buf_release(&from);
	buf_release(&to);
	return r;
}

int
versions_remove_through(struct versions *v, int64_t timestamp, uint64_t *count)
{
	size_t from = position(v, timestamp);
	bool range = held_count(v) - from >= RANGE_MIN;
	int r = 0;

	*count = held_count(v) - from;
	forget(v);
	if (range)
		r = erase_range(v, timestamp);
	for (size_t i = from; r == 0 && i < held_count(v); i++) {
		const struct held *held = held_at(v, i);
		if (!range)
			r = erase(v, held->timestamp, held->blob);
		else if (held->blob)
			r = dropped_add(v->txn, v->dropped,
			    v->family->blobs, held->blob);
	}
	v->list.size = from * sizeof(struct held);
	return r;
}

/* --- putting ----------------------------------------------------------------- */

static int
write_record(
    struct versions *v, int64_t timestamp, const struct record *record)
{
	struct buf key = {0}, value = {0};

	key_of(v, timestamp, &key);
	record_encode(record, &value);
	int r = buf_status(&key);
	if (r == 0)
		r = buf_status(&value);
	if (r == 0)
		r = txn_put(v->txn, v->family->cells, buf_slice(&key),
		    buf_slice(&value));
	if (r == 0 && record->blob)
		r = blob_adopt(v->txn, v->family->blobs, record->blob);
	buf_release(&key);
	buf_release(&value);
	return r;
}

/* Removes the oldest of a counted column while it is beyond VERSIONS, and two
 * at most that have expired, so that they never gather. */
static int
trim(struct versions *v)
{
	int r = 0;

	for (int i = 0; r == 0 && i < 2 && v->count > 1; i++) {
		if (v->count <= v->family->rules.versions &&
		    !expired(v, v->last, 0))
			break;
		r = remove_counted(v, v->last);
	}
	return r;
}

static int
put_counted(struct versions *v, int64_t timestamp, const struct record *record,
    bool *pushed)
{
	bool room = v->count < v->family->rules.versions;
	struct held old;
	int r = look_up(v, timestamp, &old);

	if (r < 0)
		return r;
	bool replaces = r == 0;
	*pushed = expired(v, timestamp, 0) ||
	    (!replaces && !room && timestamp < v->last);
	if (*pushed)
		return replaces ? remove_counted(v, timestamp) : 0;
	if (replaces && old.blob)
		r = dropped_add(
		    v->txn, v->dropped, v->family->blobs, old.blob);
	else
		r = 0;
	if (r == 0)
		r = write_record(v, timestamp, record);
	if (!v->count || timestamp > v->first)
		v->first = timestamp;
	if (!v->count || timestamp < v->last)
		v->last = timestamp;
	v->count += !replaces;
	remember(v);
	return r ? r : trim(v);
}

/* Puts the version into the list; 1: in the place of *old, which had the same
 * timestamp. */
static int
enlist(struct versions *v, const struct held *held, struct held *old)
{
	size_t at = position(v, held->timestamp);

	*old = (struct held){0};
	if (listed(v, at, held->timestamp)) {
		*old = *held_at(v, at);
		*held_at(v, at) = *held;
		return 1;
	}
	size_t behind = (held_count(v) - at) * sizeof(*held);
	buf_append(&v->list, slice_of(held, sizeof(*held)));
	if (v->list.failed)
		return -ENOMEM;
	memmove(held_at(v, at) + 1, held_at(v, at), behind);
	*held_at(v, at) = *held;
	return 0;
}

/* Removes from list and store what the fold finds out; *pushed: the version
 * at timestamp, which is not stored yet, was among them. */
static int
push_out(struct versions *v, int64_t timestamp, bool *pushed)
{
	struct fold fold;
	size_t kept = 0;
	int r = 0;

	fold_init(&fold, v->family->rules, v->txn->now);
	for (size_t i = 0; r >= 0 && i < held_count(v); i++) {
		struct held held = *held_at(v, i);
		r = fold_add(&fold, held.timestamp, held.ttl);
		if (r == 1)
			*held_at(v, kept++) = held;
		else if (r == 0 && held.timestamp == timestamp)
			*pushed = true;
		else if (r == 0)
			r = erase(v, held.timestamp, held.blob);
	}
	fold_release(&fold);
	v->list.size = kept * sizeof(struct held);
	return r < 0 ? r : 0;
}

static int
put_listed(struct versions *v, int64_t timestamp, const struct record *record,
    bool *pushed)
{
	struct held held = {timestamp, record->ttl, record->blob}, old;
	int r = enlist(v, &held, &old);
	bool replaces = r == 1;

	forget(v);
	if (r >= 0)
		r = push_out(v, timestamp, pushed);
	if (r)
		return r;
	if (*pushed)
		return replaces ? erase(v, timestamp, old.blob) : 0;
	if (old.blob)
		r = dropped_add(
		    v->txn, v->dropped, v->family->blobs, old.blob);
	if (r == 0)
		r = write_record(v, timestamp, record);
	if (r == 0 && may_count(v->family) && held_count(v) > LISTED_MAX)
		count_list(v);
	return r;
}

/* Lists what was only counted, for a version that has a TTL of its own. */
static int
list_again(struct versions *v)
{
	struct walk w = {0};

	v->counted = false;
	v->found = false;
	stored_release(&v->newest);
	int r = walk_open(&w, v->txn, v->family);
	if (r == 0)
		r = walk_prefix(&w, buf_slice(&v->column));
	if (r == 0)
		r = open_listed(v, &w, OPEN_LIST);
	walk_release(&w);
	return r == WALK_END ? 0 : r;
}

int
versions_put(struct versions *v, int64_t timestamp,
    const struct record *record, bool *pushed)
{
	int r = 0;

	*pushed = false;
	if (v->counted && record->ttl)
		r = list_again(v);
	if (r)
		return r;
	return v->counted ? put_counted(v, timestamp, record, pushed) :
			    put_listed(v, timestamp, record, pushed);
}
