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
		return r == -EAGAIN || table_stale(s->table) ? SCAN_AGAIN : r;
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

/* Puts a version into the batch as the filter leaves it. */
static int
keep(struct scan *s, struct caught *c, const struct record *record,
    const struct filter_verdict *verdict)
{
	const struct walk *w = &c->asked->walk;
	int r = 0;

	c->value = s->bytes.size;
	attrs_complete(
	    s->table, w->timestamp, &record->attrs, CELL_MODE, &c->cell.attrs);
	if (verdict->value != VALUE_SAME) {
		c->cell.blob = 0;
		c->cell.size = 0;
	}
	if (verdict->value == VALUE_LENGTH) {
		buf_be32(&s->bytes, verdict->length);
		c->cell.size = s->bytes.size - c->value;
	} else if (!s->spec.keys_only && c->cell.blob) {
		r = pin(s, c->asked, c->cell.blob);
	} else if (!s->spec.keys_only && verdict->value == VALUE_SAME) {
		buf_append(&s->bytes, record->value);
	}
	if (r == 0)
		r = buf_status(&s->bytes);
	if (r)
		return r;
	buf_append(&s->cells, slice_of(c, sizeof(*c)));
	s->found = true;
	return buf_status(&s->cells);
}

/* Takes the version that the walk stands on into the batch, unless the filter
 * has it left out. */
static int
catch_one(
    struct scan *s, const struct asked *a, struct filter_verdict *verdict)
{
	const struct walk *w = &a->walk;
	const struct ordered_methods *m = s->local->ordered->methods;
	struct caught c = {.asked = a};
	size_t before = s->bytes.size;
	struct record record;
	struct slice value;

	int r = catch_names(s, w, &c);
	if (r == 0)
		r = m->value(w->cursor, &value);
	if (r == 0)
		r = record_decode(value, &record);
	if (r)
		return r;
	c.cell = (struct cell){
	    .timestamp = w->timestamp,
	    .ttl = record.ttl,
	    .expires =
		fold_expires(&a->family->rules, w->timestamp, record.ttl),
	    .size = record.size,
	    .blob = record.blob,
	};
	if (record.blob && s->sift.reads_values)
		r = pin(s, a, record.blob);
	if (r == 0)
		r = sift_cell(s, a, &c, &record, verdict);
	if (r == 0 && sift_takes(s, &c, verdict))
		return keep(s, &c, &record, verdict);
	s->bytes.size = before;
	return r;
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

/* To a key that was put together for it, and is released. */
static int
seek_made(struct asked *a, struct buf *key)
{
	int r = buf_status(key);

	if (r == 0)
		r = catch_seek(a, buf_slice(key));
	buf_release(key);
	return r;
}

/* Steps over the versions of the column that the filter's timestamps leave
 * out. */
static int
seek_timestamp(struct scan *s, struct asked *a)
{
	struct walk *w = &a->walk;
	struct slice name = slice_head(w->key, w->key.size - sizeof(int64_t));
	int64_t next = w->timestamp;
	struct buf key = {0};

	if (s->versions != UINT32_MAX || !family_tells_live(a->family) ||
	    !filter_next_timestamp(s->spec.filter, &next) || next < 0 ||
	    next >= w->timestamp - 1)
		return 0;
	buf_append(&key, name);
	buf_be64(&key, ~(uint64_t)next);
	return seek_made(a, &key);
}

/* To the family's next qualifier that can pass. */
static int
seek_ahead(struct scan *s, struct asked *a)
{
	struct buf key = {0};

	buf_append(&key, buf_slice(&s->row));
	key_component(&key, s->sift.ahead);
	return seek_made(a, &key);
}

/* Whether the row is to give no more cells of the family. */
static bool
family_done(const struct scan *s)
{
	const struct scan_spec *spec = &s->spec;

	return spec->family_limit && s->passed > spec->family_offset &&
	       s->passed - spec->family_offset >= spec->family_limit;
}

/* Goes on behind a version as the filter allows. WALK_END: out of the column;
 * SCAN_FAMILY, SCAN_ROW: out of that. */
static int
step(struct scan *s, struct asked *a, const struct filter_verdict *verdict)
{
	int r;

	if (verdict->step == STEP_ROW)
		return SCAN_ROW;
	if (verdict->step == STEP_FAMILY || family_done(s))
		return SCAN_FAMILY;
	if (verdict->seek.data)
		r = seek_ahead(s, a);
	else if (verdict->step == STEP_COLUMN || s->taken >= s->versions)
		r = walk_skip_column(&a->walk);
	else
		return s->sift.run ? seek_timestamp(s, a) : 0;
	return r ? r : WALK_END;
}

/* Takes the next version of the column, or leaves the column: WALK_END. */
static int
catch_version(struct scan *s, struct asked *a)
{
	struct walk *w = &a->walk;
	struct filter_verdict verdict;

	int r = row_full(s) ? WALK_PAUSE : next_live(a);
	if (r)
		return r;
	if (!slice_equal(buf_slice(&s->column), buf_slice(&w->column))) {
		a->waiting = true;
		return WALK_END;
	}
	if (w->timestamp < a->since) {
		r = walk_skip_column(w);
		return r ? r : WALK_END;
	}
	if (a->until && w->timestamp >= a->until)
		return 0;
	r = catch_one(s, a, &verdict);
	if (r)
		return r;
	s->taken++;
	return step(s, a, &verdict);
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
		struct slice qualifier = a->qualifiers[s->at_qualifier];
		if (slice_compare(qualifier, s->sift.ahead) < 0)
			continue;
		int r = reach_qualifier(s, a, qualifier);
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
		if (put && !resumes && !a->ended)
			r = catch_seek(a, buf_slice(&s->row));
		if (r == 0 && (resumes || in_row(s, &a->walk)))
			r = a->whole ? catch_family(s, a)
				     : catch_qualifiers(s, a);
		if (r == SCAN_ROW)
			return 0;
		if (r < 0 || (r > WALK_END && r != SCAN_FAMILY))
			return r;
		s->resumes = false;
		s->at_qualifier = 0;
		s->passed = 0;
		s->sift.ahead = (struct slice){0};
		buf_clear(&s->column);
	}
	return 0;
}
