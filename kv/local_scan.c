#include "local_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "key.h"
#include "local_blob.h"
#include "local_bloom.h"
#include "local_methods.h"
#include "why.h"

#define BATCH_VALUES ((size_t)1 << 20) /* bytes, after which a batch ends */
#define ROW_RECORDS (16 * READ_CELLS)  /* dead ones too, of one snapshot */

/* --- opening ------------------------------------------------------------ */

static int
compare_qualifiers(const void *a, const void *b)
{
	return slice_compare(
	    *(const struct slice *)a, *(const struct slice *)b);
}

static void
set_times(struct asked *a, const struct scan_spec *spec, struct slice name)
{
	a->since = spec->since;
	a->until = spec->until;
	for (size_t i = 0; i < spec->range_count; i++) {
		const struct family_range *range = &spec->ranges[i];
		if (!slice_equal(range->family, name))
			continue;
		a->since = range->since;
		a->until = range->until;
	}
}

/* Whether the spec asks for the family, and for which of its columns. */
static int
ask(struct scan *s, const struct scan_spec *spec, size_t family)
{
	struct slice name = buf_slice(&s->table->schema.families[family].name);
	struct asked *asked = &s->asked[s->asked_count];
	bool wanted = !spec->column_count;

	asked->family = &s->table->families[family];
	asked->whole = wanted;
	set_times(asked, spec, name);
	asked->qualifiers =
	    calloc(spec->column_count + 1, sizeof(*asked->qualifiers));
	if (!asked->qualifiers)
		return -ENOMEM;
	for (size_t i = 0; i < spec->column_count; i++) {
		const struct column *column = &spec->columns[i];
		if (!slice_equal(column->family, name))
			continue;
		wanted = true;
		if (column->whole_family)
			asked->whole = true;
		asked->qualifiers[asked->count++] = column->qualifier;
	}
	qsort(asked->qualifiers, asked->count, sizeof(*asked->qualifiers),
	    compare_qualifiers);
	s->asked_count++;
	if (!wanted) {
		s->asked_count--;
		free(asked->qualifiers);
		*asked = (struct asked){0};
	}
	return 0;
}

/* Leaves each qualifier once, and makes the bytes the scan's own. */
static int
own_qualifiers(struct scan *s)
{
	size_t at = 0;

	for (size_t i = 0; i < s->asked_count; i++) {
		struct asked *a = &s->asked[i];
		size_t kept = 0;
		for (size_t j = 0; j < a->count; j++)
			if (!kept || !slice_equal(a->qualifiers[kept - 1],
					 a->qualifiers[j]))
				a->qualifiers[kept++] = a->qualifiers[j];
		a->count = kept;
		for (size_t j = 0; j < kept; j++)
			buf_append(&s->owned, a->qualifiers[j]);
	}
	for (size_t i = 0; i < s->asked_count; i++)
		for (size_t j = 0; j < s->asked[i].count; j++) {
			struct slice *q = &s->asked[i].qualifiers[j];
			*q = slice_head(
			    slice_skip(buf_slice(&s->owned), at), q->size);
			at += q->size;
		}
	return buf_status(&s->owned);
}

static int
no_family(struct slice family)
{
	return why(ENOENT, "no family %.*s", (int)family.size,
	    (const char *)family.data);
}

static int
check_families(const struct scan *s, const struct scan_spec *spec)
{
	for (size_t i = 0; i < spec->column_count; i++) {
		struct slice family = spec->columns[i].family;
		if (!table_family(s->table, family))
			return no_family(family);
	}
	for (size_t i = 0; i < spec->range_count; i++)
		if (!table_family(s->table, spec->ranges[i].family))
			return no_family(spec->ranges[i].family);
	return 0;
}

/* The least key of the rows behind (or, with, from) a row. */
static int
bound(struct buf *out, struct slice row, bool behind)
{
	if (!row.size)
		return 0;
	key_component(out, row);
	if (behind)
		key_successor(out);
	return buf_status(out);
}

static int
set_bounds(struct scan *s, const struct scan_spec *spec)
{
	struct slice low = spec->reversed ? spec->stop : spec->start;
	struct slice high = spec->reversed ? spec->start : spec->stop;
	bool low_behind =
	    spec->reversed ? !spec->stop_inclusive : spec->start_exclusive;
	bool high_behind =
	    spec->reversed ? !spec->start_exclusive : spec->stop_inclusive;

	int r = bound(&s->low, low, low_behind);
	if (r == 0 && !low_behind && high_behind && slice_equal(low, high))
		r = buf_set(&s->only, low);
	return r ? r : bound(&s->high, high, high_behind);
}

static int
prepare(struct scan *s, const struct scan_spec *spec)
{
	int r = table_get(s->local, spec->table, &s->table);
	if (r)
		return r;
	s->spec = *spec;
	s->versions = spec->versions ? spec->versions : UINT32_MAX;
	s->asked = calloc(s->table->schema.count + 1, sizeof(*s->asked));
	if (!s->asked)
		return -ENOMEM;
	r = check_families(s, spec);
	for (size_t i = 0; r == 0 && i < s->table->schema.count; i++)
		r = ask(s, spec, i);
	if (r == 0)
		r = own_qualifiers(s);
	if (r == 0)
		r = set_bounds(s, spec);
	return r ? r : sift_open(s);
}

int
local_scan_open(
    struct engine *e, const struct scan_spec *spec, struct scan **out)
{
	struct scan *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (!s)
		return -ENOMEM;
	s->local = (struct local *)e;
	int r = prepare(s, spec);
	if (r) {
		local_scan_close(s);
		return r;
	}
	*out = s;
	return 0;
}

/* --- rows --------------------------------------------------------------- */

/* Empties the batch back to its first count cells, which ended at byte. */
static void
cut(struct scan *s, size_t count, size_t byte)
{
	s->cells.size = count * sizeof(struct caught);
	s->bytes.size = byte;
}

static void
unpin_all(struct scan *s)
{
	const struct pinned *pins = (const struct pinned *)s->pins.data;
	size_t count = s->pins.size / sizeof(*pins);

	for (size_t i = 0; i < count; i++)
		blob_unpin(s->local, pins[i].blobs, pins[i].id);
	buf_clear(&s->pins);
}

/* Whether the family surely has no row of the scan. */
static bool
is_empty(const struct scan *s, struct txn *t, const struct asked *a)
{
	return !a->family || (s->only.size && bloom_lacks_row(t, a->family,
						  buf_slice(&s->only)));
}

static int
open_walks(struct scan *s, struct txn *t, struct budget *budget)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->asked_count; i++) {
		struct asked *a = &s->asked[i];
		bool resumes = s->resumes && i == s->at_family && a->family;
		if (resumes)
			r = walk_resume(&a->walk, t);
		else
			walk_release(&a->walk);
		a->ended = !resumes && is_empty(s, t, a);
		if (!resumes && !a->ended)
			r = walk_open(&a->walk, t, a->family);
		a->waiting = a->waiting && resumes;
		a->walk.budget = budget;
	}
	return r;
}

static int
pause_walks(struct scan *s)
{
	int r = 0;

	for (size_t i = 0; i < s->asked_count; i++) {
		int paused = walk_pause(&s->asked[i].walk);
		s->asked[i].walk.budget = NULL;
		if (r == 0)
			r = paused;
	}
	return r;
}

/* Moves one walk to the scan's next row in its family, if it has one. */
static int
approach(struct scan *s, struct asked *a)
{
	struct slice low = buf_slice(&s->low), high = buf_slice(&s->high);
	struct walk *w = &a->walk;
	int r = 0;

	if (a->ended)
		return 0;
	if (s->spec.reversed)
		r = walk_seek_before(w, high);
	else if (!w->placed || slice_compare(w->key, low) < 0)
		r = catch_seek(a, low);
	if (r < 0)
		return r;
	a->ended = r == WALK_END || slice_compare(w->key, low) < 0 ||
		   (high.size && slice_compare(w->key, high) >= 0);
	return 0;
}

/* The component of the next row that any family has; WALK_END. */
static int
next_row(struct scan *s)
{
	const struct walk *best = NULL;

	for (size_t i = 0; i < s->asked_count; i++) {
		struct walk *w = &s->asked[i].walk;
		int r = approach(s, &s->asked[i]);
		if (r)
			return r;
		if (s->asked[i].ended)
			continue;
		int order =
		    best ? slice_compare(walk_row(w), walk_row(best)) : -1;
		if (!best || (s->spec.reversed ? order > 0 : order < 0))
			best = w;
	}
	if (!best)
		return WALK_END;
	return buf_set(&s->row, walk_row(best));
}

static void
forget_row(struct scan *s)
{
	s->inside = s->resumes = s->found = false;
	s->at_family = s->at_qualifier = 0;
	s->passed = 0;
	buf_clear(&s->column);
}

/* The row is done with: the next one lies behind it. */
static int
leave_row(struct scan *s)
{
	struct buf *edge = s->spec.reversed ? &s->high : &s->low;
	int r = buf_set(edge, buf_slice(&s->row));

	if (!s->spec.reversed)
		key_successor(edge);
	s->rows += s->found;
	forget_row(s);
	return r;
}

/* Goes back to before the row, of which nothing was given out. */
static int
undo_row(struct scan *s, size_t cells, size_t bytes)
{
	cut(s, cells, bytes);
	forget_row(s);
	return sift_undo(s);
}

/* The row was read to its end. */
static int
end_row(struct scan *s, size_t cells, size_t bytes)
{
	int r = sift_row_end(s, cells);

	if (caught_count(s) == cells)
		s->bytes.size = bytes;
	if (r <= 0)
		return r ? r : leave_row(s);
	forget_row(s);
	s->inside = true;
	return 0;
}

/* The row was not read to its end. One that does not fit behind others waits
 * for the next snapshot; one that is alone is given in parts. */
static int
stop_row(struct scan *s, size_t cells, size_t bytes, bool undo)
{
	if (undo)
		return undo_row(s, cells, bytes);
	s->resumes = true;
	sift_pause(s);
	return 0;
}

/* Reads one row, or on in one. */
static int
catch_next(struct scan *s)
{
	size_t cells = caught_count(s), bytes = s->bytes.size;
	bool continued = s->inside;
	int r = continued ? 0 : next_row(s);

	if (r == 0 && !continued)
		r = sift_row(s);
	if (r)
		return r;
	s->inside = true;
	r = catch_row(s, continued || s->spec.reversed);
	if (r == 0)
		return end_row(s, cells, bytes);
	bool undo = r == WALK_PAUSE ? cells > 0 : r == SCAN_AGAIN && !continued;
	int stopped = stop_row(s, cells, bytes, undo);
	return r < 0 ? r : stopped ? stopped : WALK_PAUSE;
}

static int
catch_rows(struct scan *s, struct budget *whole, struct budget *row)
{
	for (;;) {
		row->records = ROW_RECORDS;
		int r = catch_next(s);
		if (r)
			return r;
		if ((s->spec.limit && s->rows >= s->spec.limit) ||
		    sift_ended(s))
			return WALK_END;
		if (caught_count(s) >= READ_CELLS ||
		    s->bytes.size >= BATCH_VALUES || budget_late(whole))
			return WALK_PAUSE;
	}
}

/* Goes over to what has taken the place of the scan's table. What has been
 * read of a row by qualifiers or versions is remembered by names, not by
 * tables. */
static int
follow(struct scan *s)
{
	struct table *old = s->table;

	atomic_fetch_add(&old->holders, 1);
	int r = table_follow(s->local, &s->table);
	for (size_t i = 0; r == 0 && i < s->asked_count; i++) {
		struct asked *a = &s->asked[i];
		if (a->family)
			a->family = table_family(
			    s->table, buf_slice(&a->family->declared.name));
		a->walk.family = a->family;
	}
	table_put(old);
	return r;
}

/* Begins a snapshot with every walk in it. What they then read can no longer
 * be dropped under them. */
static int
enter(struct scan *s, struct txn *t, struct budget *budget)
{
	int r = follow(s);

	if (r == 0)
		r = txn_read(s->local, t);
	if (r)
		return r;
	r = table_stale(s->table) ? -ESTALE : open_walks(s, t, budget);
	if (r) {
		pause_walks(s);
		txn_end(t, r);
	}
	return r;
}

static int
next_batch(struct scan *s)
{
	struct budget whole = budget_new();
	struct budget row = {.deadline = INT64_MAX};
	struct txn t;

	unpin_all(s);
	buf_clear(&s->cells);
	buf_clear(&s->bytes);
	s->given = 0;
	int r = local_interrupted(s->local);
	if (r)
		return r;
	do
		r = enter(s, &t, &row);
	while (r && r != -ENOENT && table_stale(s->table));
	if (r)
		return r;
	r = catch_rows(s, &whole, &row);
	int paused = pause_walks(s);
	if (r >= 0 && paused)
		r = paused;
	r = txn_end(&t, r);
	s->ended = r == WALK_END;
	return r < 0 ? r : 0;
}

/* --- methods ------------------------------------------------------------ */

int
local_scan_next(struct scan *s, struct cell *out)
{
	*out = (struct cell){0};
	s->last = NULL;
	while (s->given >= caught_count(s)) {
		if (s->ended)
			return 1;
		int r = next_batch(s);
		if (r)
			return r;
	}
	const struct caught *c =
	    (const struct caught *)s->cells.data + s->given++;
	*out = c->cell;
	out->row = slice_of(s->bytes.data + c->row, c->row_size);
	out->family = buf_slice(&c->asked->family->declared.name);
	out->qualifier =
	    slice_of(s->bytes.data + c->qualifier, c->qualifier_size);
	if (!s->spec.keys_only && !out->blob)
		out->value = slice_of(s->bytes.data + c->value, out->size);
	s->last = c;
	return 0;
}

int64_t
local_scan_read(struct scan *s, uint64_t offset, void *to, size_t size)
{
	const struct caught *c = s->last;

	if (!c || s->spec.keys_only)
		return why(EINVAL, "the scan reads no values");
	if (c->cell.blob)
		return blob_read(s->local, c->asked->family->blobs,
		    c->cell.blob, c->cell.size, offset, to, size);
	if (offset >= c->cell.size)
		return 0;
	if (size > c->cell.size - offset)
		size = (size_t)(c->cell.size - offset);
	if (size)
		memcpy(to, s->bytes.data + c->value + offset, size);
	return (int64_t)size;
}

void
local_scan_close(struct scan *s)
{
	if (!s)
		return;
	unpin_all(s);
	for (size_t i = 0; i < s->asked_count; i++) {
		walk_release(&s->asked[i].walk);
		free(s->asked[i].qualifiers);
	}
	free(s->asked);
	sift_release(s);
	buf_release(&s->owned);
	buf_release(&s->low);
	buf_release(&s->high);
	buf_release(&s->only);
	buf_release(&s->row);
	buf_release(&s->column);
	buf_release(&s->cells);
	buf_release(&s->bytes);
	buf_release(&s->pins);
	table_put(s->table);
	free(s);
}
