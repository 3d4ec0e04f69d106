#include "local_scan.h"

#include <errno.h>

#include "key.h"
#include "local_blob.h"
#include "local_cells.h"

/* Keeps the chunks of a cell readable while the batch lasts. */
static int
pin(struct scan *s, const struct asked *a, uint64_t id)
{
	struct pinned pinned = {a->family->blobs, id};
	int r = blob_pin(s->local, pinned.blobs, id);

	if (r)
		return r == -EAGAIN ? SCAN_AGAIN : r;
	buf_append(&s->pins, slice_of(&pinned, sizeof(pinned)));
	if (!s->pins.failed)
		return 0;
	blob_unpin(s->local, pinned.blobs, id);
	return -ENOMEM;
}

/* Appends the components of the key to the batch: row and qualifier. */
static int
catch_names(struct scan *s, const struct walk *w, struct caught *c)
{
	struct slice key = w->key;

	c->row = s->bytes.size;
	int r = key_take(&key, &s->bytes, NULL);
	c->row_size = s->bytes.size - c->row;
	c->qualifier = s->bytes.size;
	if (r == 0)
		r = key_take(&key, &s->bytes, NULL);
	c->qualifier_size = s->bytes.size - c->qualifier;
	return r;
}

/* Takes the version that the walk stands on into the batch. */
static int catch (struct scan *s, const struct asked *a)
{
	const struct walk *w = &a->walk;
	const struct ordered_methods *m = s->local->ordered->methods;
	struct caught c = {.asked = a};
	struct record record;
	struct slice value;

	int r = catch_names(s, w, &c);
	if (r == 0)
		r = m->value(w->cursor, &value);
	if (r == 0)
		r = record_decode(value, &record);
	if (r)
		return r;
	c.value = s->bytes.size;
	c.cell = (struct cell){
	    .timestamp = w->timestamp,
	    .ttl = record.ttl,
	    .expires =
		fold_expires(&a->family->rules, w->timestamp, record.ttl),
	    .size = record.size,
	    .blob = record.blob,
	};
	attrs_complete(
	    s->table, w->timestamp, &record.attrs, CELL_MODE, &c.cell.attrs);
	if (!s->spec.keys_only && record.blob)
		r = pin(s, a, record.blob);
	else if (!s->spec.keys_only)
		buf_append(&s->bytes, record.value);
	if (r == 0)
		r = buf_status(&s->bytes);
	if (r)
		return r;
	buf_append(&s->cells, slice_of(&c, sizeof(c)));
	s->found = true;
	return buf_status(&s->cells);
}

/* Whether a row can go on in this batch. */
static bool
row_full(const struct scan *s)
{
	return caught_count(s) >= READ_CELLS || s->bytes.size >= ROW_VALUES;
}

static int
next_live(struct asked *a)
{
	bool waiting = a->waiting && a->walk.judged;

	a->waiting = false;
	return waiting ? 0 : walk_live(&a->walk);
}

int
catch_seek(struct asked *a, struct slice key)
{
	a->waiting = false;
	return walk_seek(&a->walk, key);
}

/* Takes the next version of the column, or leaves the column: WALK_END. */
static int
catch_version(struct scan *s, struct asked *a)
{
	const struct scan_spec *spec = &s->spec;
	struct walk *w = &a->walk;

	int r = row_full(s) ? WALK_PAUSE : next_live(a);
	if (r)
		return r;
	if (!slice_equal(buf_slice(&s->column), buf_slice(&w->column))) {
		a->waiting = true;
		return WALK_END;
	}
	if (w->timestamp < spec->since) {
		r = walk_skip_column(w);
		return r ? r : WALK_END;
	}
	if (spec->until && w->timestamp >= spec->until)
		return 0;
	r = catch (s, a);
	if (r == 0 && ++s->taken >= s->versions) {
		r = walk_skip_column(w);
		return r ? r : WALK_END;
	}
	return r;
}

/* Takes what is asked of the column that the walk stands in and leaves it. */
static int
catch_column(struct scan *s, struct asked *a)
{
	int r = 0;

	if (!slice_equal(buf_slice(&s->column), buf_slice(&a->walk.column))) {
		s->taken = 0;
		r = buf_set(&s->column, buf_slice(&a->walk.column));
	}
	while (r == 0)
		r = catch_version(s, a);
	if (r != WALK_END)
		return r;
	buf_clear(&s->column);
	return 0;
}

static bool
in_row(const struct scan *s, const struct walk *w)
{
	return w->placed && slice_equal(walk_row(w), buf_slice(&s->row));
}

/* Every column of the family in the row. */
static int
catch_family(struct scan *s, struct asked *a)
{
	int r = 0;

	while (r == 0 && in_row(s, &a->walk))
		r = catch_column(s, a);
	return r;
}

/* To the column, unless the walk was paused: there or already behind it.
 * WALK_END: there is none. */
static int
reach_qualifier(struct scan *s, struct asked *a, struct slice qualifier)
{
	struct buf key = {0};

	buf_append(&key, buf_slice(&s->row));
	key_component(&key, qualifier);
	int r = buf_status(&key);
	if (r == 0 && !s->resumes)
		r = catch_seek(a, buf_slice(&key));
	s->resumes = false;
	if (r == 0 &&
	    (!a->walk.placed || !slice_begins(a->walk.key, buf_slice(&key))))
		r = WALK_END;
	buf_release(&key);
	return r;
}

/* The columns asked of the family in the row. */
static int
catch_qualifiers(struct scan *s, struct asked *a)
{
	for (; s->at_qualifier < a->count; s->at_qualifier++) {
		int r = reach_qualifier(s, a, a->qualifiers[s->at_qualifier]);
		if (r == 0)
			r = catch_column(s, a);
		if (r != 0 && r != WALK_END)
			return r;
	}
	return 0;
}

int
catch_row(struct scan *s, bool put)
{
	for (; s->at_family < s->asked_count; s->at_family++) {
		struct asked *a = &s->asked[s->at_family];
		bool resumes = s->resumes && a->family;
		int r = 0;
		if (put && !resumes && a->family)
			r = catch_seek(a, buf_slice(&s->row));
		if (r == 0 && (resumes || in_row(s, &a->walk)))
			r = a->whole ? catch_family(s, a)
				     : catch_qualifiers(s, a);
		if (r < 0 || r > WALK_END)
			return r;
		s->resumes = false;
		s->at_qualifier = 0;
		buf_clear(&s->column);
	}
	return 0;
}
