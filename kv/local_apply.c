#include "local_mutate.h"

#include <errno.h>
#include <stdlib.h>

#include "key.h"
#include "local_any.h"
#include "local_blob.h"
#include "local_depth.h"
#include "local_side.h"
#include "why.h"

/* Lets go of what an attempt held in memory. */
static void
reset(struct work *work)
{
	for (size_t i = 0; i < work->group_count; i++) {
		versions_close(&work->groups[i].v);
		work->groups[i].v = (struct versions){0};
	}
	for (size_t i = 0; i < work->m->count; i++) {
		struct step *s = &work->steps[i];
		buf_release(&s->made);
		s->stores = s->stored = s->adopted = false;
		s->hits = 0;
		s->op->stored = 0;
		s->op->cleared = false;
	}
	buf_clear(&work->dropped.ids);
	work->m->applied = false;
}

/* --- deletes ------------------------------------------------------------ */

/* Removes what a delete covers of an opened column. */
static int
cover(struct versions *v, struct step *s)
{
	uint64_t count = 0;
	int r;

	if (s->op->type == OP_DELETE_COLUMN ||
	    s->op->type == OP_DELETE_FAMILY) {
		r = versions_remove_through(v, s->through, &count);
	} else {
		r = versions_remove(v, s->through);
		count = r == 0;
	}
	s->hits += count;
	return r < 0 ? r : 0;
}

static int
delete_in_group(struct group *g)
{
	int r = 0;

	for (struct step *s = g->from; r == 0 && s < g->to; s++)
		if (step_is_delete(s))
			r = cover(&g->v, s);
	for (struct step *s = g->family_from; r == 0 && s < g->family_to; s++)
		r = cover(&g->v, s);
	return r;
}

/* Lets go of every blob of the row's family. */
static int
drop_blobs(
    struct txn *t, struct work *work, const struct step *s, struct slice row)
{
	struct walk w = {0};

	int r = walk_open(&w, t, s->family);
	if (r == 0)
		r = walk_prefix(&w, row);
	while (r == 0) {
		if (w.record.blob)
			r = dropped_add(
			    t, &work->dropped, s->family->blobs, w.record.blob);
		if (r == 0)
			r = walk_next(&w);
	}
	walk_release(&w);
	return r < 0 ? r : 0;
}

/* The whole family of the row goes in one range. */
static int
delete_all(struct txn *t, struct work *work, struct step *s, struct slice row)
{
	struct buf to = {0};

	if (work->m->flags & MUTATE_PRESENT) {
		int any =
		    cells_any(t, s->family, work->m->row, (struct slice){0});
		if (any < 0)
			return any;
		s->hits += (uint64_t)any;
	}
	int r = blob_any(t, s->family->blobs);
	if (r == 1)
		r = drop_blobs(t, work, s, row);
	if (r == 0)
		r = buf_set(&to, row);
	key_successor(&to);
	if (r == 0)
		r = txn_remove_range(t, s->family->cells, row, buf_slice(&to));
	buf_release(&to);
	depths_forget(t->local);
	return r;
}

static int
delete_in_column(
    struct txn *t, struct work *work, struct step *s, struct slice column)
{
	struct buf row = {0}, qualifier = {0};
	struct slice rest = column;

	int r = key_take(&rest, &row, NULL);
	if (r == 0)
		r = key_take(&rest, &qualifier, NULL);
	struct versions v = {.txn = t,
	    .family = s->family,
	    .row = work->m->row,
	    .qualifier = buf_slice(&qualifier),
	    .dropped = &work->dropped};
	if (r == 0)
		r = versions_open(&v, OPEN_LIST);
	if (r == 0)
		r = cover(&v, s);
	versions_close(&v);
	buf_release(&row);
	buf_release(&qualifier);
	return r;
}

/* Column by column, as many as one transaction takes. */
static int
delete_some(struct txn *t, struct work *work, struct step *s, struct slice row)
{
	struct walk w = {0};
	unsigned columns = 0;

	int r = walk_open(&w, t, s->family);
	if (r == 0)
		r = walk_prefix(&w, row);
	while (r == 0) {
		r = delete_in_column(t, work, s, buf_slice(&w.column));
		if (r == 0 &&
		    (++columns > BATCH_CELLS || s->hits > BATCH_CELLS))
			r = why(E2BIG,
			    "the delete touches more than %d cells "
			    "of one row: delete in parts, or the "
			    "whole family without a timestamp",
			    BATCH_CELLS);
		if (r == 0)
			r = walk_skip_column(&w);
	}
	walk_release(&w);
	return r < 0 ? r : 0;
}

/* The newest live timestamp of the row's family, or now if that is later. */
static int
family_newest(struct txn *t, struct step *s, struct slice row)
{
	struct walk w = {0};

	int r = walk_open(&w, t, s->family);
	if (r == 0)
		r = walk_prefix(&w, row);
	while (r == 0 && (r = walk_live(&w)) == 0) {
		if (w.timestamp > s->covers)
			s->covers = w.timestamp;
		r = walk_skip_column(&w);
	}
	walk_release(&w);
	return r < 0 ? r : 0;
}

/* A delete of a family must look at its newest only where a version of the
 * same call is stamped ahead of the clock. */
static bool
ahead(const struct txn *t, const struct work *work, const struct step *s)
{
	for (size_t i = 0; i < work->m->count; i++) {
		const struct step *other = &work->steps[i];
		if (other->family == s->family && other->stores &&
		    other->timestamp > t->now)
			return true;
	}
	return false;
}

static int
decide_family(
    struct txn *t, struct work *work, struct step *s, struct slice row)
{
	s->through = s->covers = s->op->timestamp;
	if (s->op->timestamp != TS_LATEST)
		return 0;
	s->covers = t->now;
	s->through = s->op->type == OP_DELETE_FAMILY ? TS_MAX : s->covers;
	if (s->op->type == OP_DELETE_FAMILY && ahead(t, work, s))
		return family_newest(t, s, row);
	return 0;
}

/* Runs one of the two passes over the deletes of whole families. */
static int
each_family_step(struct txn *t, struct work *work,
    int (*pass)(
	struct txn *t, struct work *work, struct step *s, struct slice row))
{
	struct buf row = {0};

	key_component(&row, work->m->row);
	int r = buf_status(&row);
	for (size_t i = 0; r == 0 && i < work->m->count; i++)
		if (step_is_family(&work->steps[i]))
			r = pass(t, work, &work->steps[i], buf_slice(&row));
	buf_release(&row);
	return r;
}

static int
delete_family(
    struct txn *t, struct work *work, struct step *s, struct slice row)
{
	if (s->op->type == OP_DELETE_FAMILY && s->through == TS_MAX)
		return delete_all(t, work, s, row);
	return delete_some(t, work, s, row);
}

/* -ENOENT where each delete must find something. */
static int
check_present(const struct work *work)
{
	if (!(work->m->flags & MUTATE_PRESENT))
		return 0;
	for (size_t i = 0; i < work->m->count; i++)
		if (step_is_delete(&work->steps[i]) && !work->steps[i].hits)
			return why(ENOENT, "there is nothing to delete");
	return 0;
}

static int
apply_deletes(struct txn *t, struct work *work)
{
	int r = each_family_step(t, work, decide_family);

	for (size_t i = 0; r == 0 && i < work->group_count; i++)
		r = delete_in_group(&work->groups[i]);
	if (r == 0)
		r = each_family_step(t, work, delete_family);
	return r ? r : check_present(work);
}

/* --- stores ------------------------------------------------------------- */

static bool
step_covers(const struct step *s, int64_t timestamp)
{
	if (s->op->type == OP_DELETE_COLUMN || s->op->type == OP_DELETE_FAMILY)
		return timestamp <= s->covers;
	return timestamp == s->covers;
}

/* Whether a delete of the same call covers what the step would store. */
static bool
covered(const struct group *g, const struct step *s)
{
	for (const struct step *o = g->family_from; o < g->family_to; o++)
		if (step_covers(o, s->timestamp))
			return true;
	for (const struct step *o = g->from; o < g->to; o++)
		if (step_is_delete(o) && step_covers(o, s->timestamp))
			return true;
	return false;
}

/* The new value, for who asked for it. */
static int
give_result(struct txn *t, const struct step *s)
{
	const struct record *record = &s->record;
	struct buf *out = s->op->result;

	if (!out)
		return 0;
	if (!record->blob)
		return buf_set(out, record->value);
	buf_clear(out);
	int r = buf_resize(out, record->size);
	if (r)
		return r;
	int64_t got = blob_read(t->local, s->family->blobs, record->blob,
	    record->size, 0, out->data, record->size);
	return got < 0 ? (int)got : 0;
}

static int
store(struct txn *t, struct work *work, struct group *g, struct step *s)
{
	bool pushed;

	if (covered(g, s))
		return 0;
	int r = versions_put(&g->v, s->timestamp, &s->record, &pushed);
	if (r)
		return r;
	if (pushed && (work->m->flags & MUTATE_REFUSE_PUSHED))
		return why(EDQUOT,
		    "a version stamped %lld would be pushed "
		    "out at once by newer ones, or has expired",
		    (long long)s->timestamp);
	s->stored = !pushed;
	s->op->stored = pushed ? 0 : s->timestamp;
	s->adopted = !pushed && s->record.blob;
	return give_result(t, s);
}

/* Newest first, so that each is judged by all that are newer; of those with
 * the same timestamp the one given last comes first, and stands for all. */
static int
compare_stores(const void *a, const void *b)
{
	const struct step *left = a, *right = b;

	if (left->stores != right->stores)
		return left->stores ? -1 : 1;
	if (left->stores && left->timestamp != right->timestamp)
		return left->timestamp > right->timestamp ? -1 : 1;
	return left->given > right->given ? -1 : 1;
}

/* Stores those that never lived, or the others. */
static int
store_those(struct txn *t, struct work *work, struct group *g, bool dead)
{
	const struct step *first = g->from; /* of its timestamp */
	int r = 0;

	for (struct step *s = g->from; r == 0 && s < g->to && s->stores; s++) {
		if (s->timestamp != first->timestamp)
			first = s;
		if (versions_dead(&g->v, first->timestamp, &first->record) !=
		    dead)
			continue;
		if (s == first) {
			r = store(t, work, g, s);
			continue;
		}
		s->op->stored = first->op->stored;
		s->stored = first->stored;
		if (s->stored)
			r = give_result(t, s);
	}
	return r;
}

/* What takes the place of a version without ever living goes first: in the
 * moment of the call that version is not there to push out others. */
static int
store_group(struct txn *t, struct work *work, struct group *g)
{
	if (g->to - g->from > 1)
		qsort(g->from, (size_t)(g->to - g->from), sizeof(*g->from),
		    compare_stores);
	int r = store_those(t, work, g, true);
	return r ? r : store_those(t, work, g, false);
}

static int
apply_stores(struct txn *t, struct work *work)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < work->group_count; i++)
		r = store_group(t, work, &work->groups[i]);
	return r;
}

/* --- directories -------------------------------------------------------- */

/* What the call did to one family, told to the keeper of directories. */
static int
tell_family(struct txn *t, struct work *work, const struct step *from,
    const struct step *to)
{
	const struct local_family *f = from->family;
	bool stored = false, removed = false, expires = false;
	struct slice near = {0};
	int r = 0;

	for (const struct step *s = from; s < to; s++) {
		stored = stored || s->stored;
		expires = expires || s->op->ttl;
		removed = removed || s->hits || step_is_family(s);
		if (s->hits && !step_is_family(s))
			near = s->op->qualifier;
	}
	if (stored && expires)
		r = side_note_ttl(t, work->table);
	if (r || stored)
		return r ? r
			 : side_unkeep(
			       t, work->table, work->m->row, from->op->family);
	if (!removed)
		return 0;
	if (work->m->flags & MUTATE_KEEP)
		return side_keep_if_empty(
		    t, work->table, work->m->row, f, near);
	return side_forget_if_gone(t, work->table, work->m->row, f, near);
}

static int
tell_directories(struct txn *t, struct work *work)
{
	struct step *end = work->steps + work->m->count, *next;
	int r = 0;

	for (struct step *s = work->steps; r == 0 && s < end; s = next) {
		for (next = s + 1; next < end && next->family == s->family;)
			next++;
		r = tell_family(t, work, s, next);
	}
	return r;
}

int
mutation_apply(struct txn *t, void *context)
{
	struct work *work = context;
	bool applies = true;
	int r = 0;

	reset(work);
	if (table_stale(work->table))
		return -ESTALE;
	if (work->m->condition)
		r = mutation_condition(t, work, &applies);
	if (r || !applies)
		return r;
	for (size_t i = 0; r == 0 && i < work->group_count; i++)
		r = mutation_decide(t, work, &work->groups[i]);
	if (r == 0)
		r = apply_deletes(t, work);
	if (r == 0)
		r = apply_stores(t, work);
	if (r == 0)
		r = tell_directories(t, work);
	work->m->applied = r == 0;
	return r;
}
