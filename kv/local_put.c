#include "local_column.h"

#include <errno.h>
#include <string.h>

#include "local_blob.h"

/* More than one, so that what has expired never gathers. */
#define TRIMMED 2

static int
write_record(struct versions *v, int64_t timestamp, const struct record *record)
{
	struct buf key = {0}, value = {0};
	struct record marked = *record;

	marked.sequence = v->family->past.sequence;
	column_key(v, timestamp, &key);
	record_encode(&marked, &value);
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

static int
put_counted(struct versions *v, int64_t timestamp, const struct record *record,
    bool *pushed)
{
	bool room = v->count < v->family->rules.versions;
	struct held old;
	int r = column_look_up(v, timestamp, &old);

	if (r < 0)
		return r;
	bool replaces = r == 0;
	*pushed = column_expired(v, timestamp) ||
		  (!replaces && !room && timestamp < v->last);
	if (*pushed)
		return replaces ? column_remove_counted(v, timestamp) : 0;
	if (replaces && old.blob)
		r = dropped_add(v->txn, v->dropped, v->family->blobs, old.blob);
	else
		r = 0;
	if (r == 0)
		r = write_record(v, timestamp, record);
	if (!v->count || timestamp > v->first)
		v->first = timestamp;
	if (!v->count || timestamp < v->last)
		v->last = timestamp;
	v->count += !replaces;
	column_remember(v);
	return r ? r : column_trim(v, TRIMMED);
}

/* Puts the version into the list; 1: in the place of *old, which had the same
 * timestamp. */
static int
enlist(struct versions *v, const struct held *held, struct held *old)
{
	size_t at = column_position(v, held->timestamp);

	*old = (struct held){0};
	if (column_listed(v, at, held->timestamp)) {
		*old = *column_at(v, at);
		*column_at(v, at) = *held;
		return 1;
	}
	size_t behind = (column_held(v) - at) * sizeof(*held);
	buf_append(&v->list, slice_of(held, sizeof(*held)));
	if (v->list.failed)
		return -ENOMEM;
	memmove(column_at(v, at) + 1, column_at(v, at), behind);
	*column_at(v, at) = *held;
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

	fold_init(&fold, &v->family->rules, NULL, v->txn->now);
	for (size_t i = 0; r >= 0 && i < column_held(v); i++) {
		struct held held = *column_at(v, i);
		r = fold_add(&fold, held.timestamp, held.ttl, 0);
		if (r == 1)
			*column_at(v, kept++) = held;
		else if (r == 0 && held.timestamp == timestamp)
			*pushed = true;
		else if (r == 0)
			r = column_erase(v, held.timestamp, held.blob);
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

	column_forget(v);
	if (r >= 0)
		r = push_out(v, timestamp, pushed);
	if (r)
		return r;
	if (*pushed)
		return replaces ? column_erase(v, timestamp, old.blob) : 0;
	if (old.blob)
		r = dropped_add(v->txn, v->dropped, v->family->blobs, old.blob);
	if (r == 0)
		r = write_record(v, timestamp, record);
	if (r == 0 && column_may_count(v->family) &&
	    column_held(v) > LISTED_MAX)
		column_count_list(v);
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
		r = column_list(v, &w, OPEN_LIST);
	walk_release(&w);
	return r == WALK_END ? 0 : r;
}

/* Takes the place of one of the same timestamp, and pushes nothing out. */
static int
put_dead(struct versions *v, int64_t timestamp)
{
	int r = versions_remove(v, timestamp);

	return r < 0 ? r : 0;
}

bool
versions_dead(
    const struct versions *v, int64_t timestamp, const struct record *record)
{
	static const struct fold_rules own_only;

	return fold_expires(&own_only, timestamp, record->ttl) <= v->txn->now;
}

int
versions_put(struct versions *v, int64_t timestamp, const struct record *record,
    bool *pushed)
{
	int r = 0;

	*pushed = versions_dead(v, timestamp, record);
	if (*pushed)
		return put_dead(v, timestamp);
	if (v->counted && record->ttl)
		r = list_again(v);
	if (r)
		return r;
	return v->counted ? put_counted(v, timestamp, record, pushed)
			  : put_listed(v, timestamp, record, pushed);
}
