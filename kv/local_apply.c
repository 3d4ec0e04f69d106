#include "local_mutate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "why.h"

#define COUNTER_SIZE 8

void
mutation_reset(struct work *work)
{
	for (size_t i = 0; i < work->group_count; i++) {
		versions_close(&work->groups[i].v);
		work->groups[i].v = (struct versions){0};
	}
	for (size_t i = 0; i < work->m->count; i++) {
		struct step *s = &work->steps[i];
		buf_release(&s->made);
		s->stores = s->adopted = false;
		s->hits = 0;
		s->op->stored = 0;
	}
	buf_clear(&work->dropped.ids);
	work->m->applied = false;
}

/* --- the condition ------------------------------------------------------------ */

static bool
holds(enum compare compare, int order)
{
	switch (compare) {
	case CMP_LESS:
		return order < 0;
	case CMP_LESS_OR_EQUAL:
		return order <= 0;
	case CMP_EQUAL:
		return order == 0;
	case CMP_NOT_EQUAL:
		return order != 0;
	case CMP_GREATER_OR_EQUAL:
		return order >= 0;
	case CMP_GREATER:
		return order > 0;
	}
	return false;
}

/* The order of the expected bytes against a value in chunks. */
static int
compare_blob(struct local *l, const struct local_family *f,
    const struct record *record, struct slice expected, int *order)
{
	uint8_t piece[4096];
	uint64_t at = 0;

	*order = 0;
	while (*order == 0 && at < expected.size && at < record->size) {
		struct slice rest = slice_skip(expected, (size_t)at);
		size_t size =
		    rest.size < sizeof(piece) ? rest.size : sizeof(piece);
		int64_t got = blob_read(l, f->blobs, record->blob,
		    record->size, at, piece, size);
		if (got < 0)
			return (int)got;
		*order = memcmp(rest.data, piece, (size_t)got);
		at += (uint64_t)got;
	}
	if (*order == 0)
		*order = expected.size < record->size ? -1 :
							expected.size > record->size;
	return 0;
}

static int
check_value(struct local *l, const struct local_family *f,
    const struct condition *c, const struct record *record, bool *out)
{
	int order;

	if (!c->expected.size) {
		*out = (record->size == 0) == (c->compare != CMP_NOT_EQUAL);
		return 0;
	}
	if (record->blob) {
		int r = compare_blob(l, f, record, c->expected, &order);
		if (r)
			return r;
	} else {
		order = slice_compare(c->expected, record->value);
	}
	*out = holds(c->compare, order);
	return 0;
}

/* Whether the condition of the call holds: the table of 6.4. */
static int
check_condition(struct txn *t, const struct work *work, bool *out)
{
	const struct condition *c = work->m->condition;
	const struct local_family *f = table_family(work->table, c->family);
	struct version newest = {.which = VERSION_NEWEST};
	struct stored s;

	if (!f)
		return why(ENOENT, "no family %.*s", (int)c->family.size,
		    (const char *)c->family.data);
	int r = column_find(t, f, work->m->row, c->qualifier, newest, &s);
	if (r == 0)
		r = check_value(t->local, f, c, &s.record, out);
	else if (r == 1)
		*out = !c->expected.size && c->compare != CMP_NOT_EQUAL;
	stored_release(&s);
	return r < 0 ? r : 0;
}

/* --- what each op becomes: decided on the state before the call --------------- */

static int
next_timestamp(const struct versions *v, int64_t *out)
{
	*out = v->txn->now;
	if (!v->found || v->newest.timestamp < v->txn->now)
		return 0;
	if (v->newest.timestamp >= TS_MAX)
		return why(EINVAL, "the newest version already has the "
				   "greatest timestamp there is");
	*out = v->newest.timestamp + 1;
	return 0;
}

/* Mode and owner come from the version before, else from `fresh`; the time
 * from the clock where the stamp is ahead of it. */
static void
decide_attrs(const struct work *work, const struct versions *v,
    struct step *s, bool chosen)
{
	const struct op *op = s->op;
	struct attrs *attrs = &s->record.attrs;

	if (v->found) {
		attrs_complete(work->table, 0, &v->newest.record.attrs,
		    CELL_MODE, attrs);
		attrs->mode &= 01777;
		attrs->set &= ~(unsigned)ATTR_MTIME;
	} else {
		attrs_complete(
		    work->table, 0, &op->fresh, CELL_MODE, attrs);
	}
	attrs_override(attrs, &op->attrs);
	if (!(attrs->set & ATTR_MTIME) && chosen &&
	    s->timestamp > v->txn->now) {
		attrs->mtime = timespec_of_ms(v->txn->now);
		attrs->set |= ATTR_MTIME;
	}
	attrs_reduce(work->table, CELL_MODE, attrs);
}

static int
decide_put(const struct work *work, const struct versions *v, struct step *s)
{
	bool chosen = s->op->timestamp == TS_LATEST;
	int r = 0;

	s->timestamp = s->op->timestamp;
	if (chosen)
		r = next_timestamp(v, &s->timestamp);
	if (r)
		return r;
	s->record = (struct record){
	    .ttl = s->op->ttl,
	    .blob = s->blob,
	    .size = s->blob ? s->blob_size : s->value.size,
	    .value = s->value,
	};
	decide_attrs(work, v, s, chosen);
	s->stores = true;
	return 0;
}

/* The stamp, TTL and attributes of a version made from the one before. */
static int
decide_made(const struct work *work, const struct versions *v, struct step *s)
{
	bool chosen = v->found || s->op->timestamp == TS_LATEST;
	int r = 0;

	s->timestamp = s->op->timestamp;
	if (chosen)
		r = next_timestamp(v, &s->timestamp);
	if (r)
		return r;
	s->record.ttl = s->op->ttl;
	if (!s->record.ttl && v->found)
		s->record.ttl = v->newest.record.ttl;
	decide_attrs(work, v, s, chosen);
	s->stores = true;
	return 0;
}

static int
decide_increment(
    const struct work *work, const struct versions *v, struct step *s)
{
	const struct record *old = &v->newest.record;
	uint64_t number = 0;

	if (v->found && old->size != COUNTER_SIZE)
		return why(EINVAL,
		    "the cell is %llu bytes wide, a counter has 8",
		    (unsigned long long)old->size);
	if (v->found)
		number = be64(old->value.data);
	buf_be64(&s->made, number + (uint64_t)s->op->delta);
	s->record = (struct record){
	    .size = COUNTER_SIZE, .value = buf_slice(&s->made)};
	int r = buf_status(&s->made);
	return r ? r : decide_made(work, v, s);
}

/* Whether the blob of an append was made from the version that is there. */
static bool
joins(const struct versions *v, const struct step *s)
{
	if (!s->blob || s->joined_found != v->found)
		return false;
	return !v->found ||
	    (s->joined.timestamp == v->newest.timestamp &&
		slice_equal(buf_slice(&s->joined.bytes),
		    buf_slice(&v->newest.bytes)));
}

static int
decide_append(struct work *work, const struct versions *v, struct step *s)
{
	const struct record *old = &v->newest.record;
	uint64_t before = v->found ? old->size : 0;

	if (s->size + before > s->family->declared.max_cell_size)
		return why(EFBIG, "the cell would have %llu bytes, the "
				  "family's max_cell_size is %llu",
		    (unsigned long long)(s->size + before),
		    (unsigned long long)s->family->declared.max_cell_size);
	s->record = (struct record){.size = s->size + before};
	if (s->record.size > INLINE_MAX) {
		if (!joins(v, s)) {
			work->join = s;
			return -ECANCELED;
		}
		s->record.blob = s->blob;
	} else {
		if (v->found)
			buf_append(&s->made, old->value);
		buf_append(&s->made, s->value);
		s->record.value = buf_slice(&s->made);
	}
	int r = buf_status(&s->made);
	return r ? r : decide_made(work, v, s);
}

/* What a delete of a column covers. nth: how many deletes of the newest
 * version stand before it. */
static int
decide_delete(struct group *g, struct step *s, uint64_t nth)
{
	const struct versions *v = &g->v;
	struct version version = {VERSION_NTH, (int64_t)nth};
	struct stored old;

	s->through = s->covers = s->op->timestamp;
	if (s->op->timestamp != TS_LATEST)
		return 0;
	s->covers = v->txn->now;
	if (s->op->type == OP_DELETE_COLUMN) {
		s->through = TS_MAX;
		if (v->found && v->newest.timestamp > s->covers)
			s->covers = v->newest.timestamp;
		return 0;
	}
	int r = column_find(
	    v->txn, v->family, v->row, v->qualifier, version, &old);
	if (r == 0)
		s->covers = old.timestamp;
	s->through = s->covers;
	stored_release(&old);
	return r < 0 ? r : 0;
}

static int
decide(struct work *work, struct group *g)
{
	uint64_t newest_deletes = 0;
	int r = 0;

	for (struct step *s = g->from; r == 0 && s < g->to; s++) {
		if (s->op->type == OP_PUT)
			r = decide_put(work, &g->v, s);
		else if (s->op->type == OP_INCREMENT)
			r = decide_increment(work, &g->v, s);
		else if (s->op->type == OP_APPEND)
			r = decide_append(work, &g->v, s);
		else
			r = decide_delete(g, s, newest_deletes);
		if (s->op->type == OP_DELETE_VERSION &&
		    s->op->timestamp == TS_LATEST)
			newest_deletes++;
	}
	return r;
}

/* -EEXIST where a put must not find what it stores already there. */
static int
check_absent(struct txn *t, const struct group *g, const struct step *s)
{
	struct version version = {VERSION_AT, s->op->timestamp};
	struct stored old;

	if (s->op->type != OP_PUT)
		return 0;
	if (s->op->timestamp == TS_LATEST)
		return g->v.found ? why(EEXIST, "the cell is there") : 0;
	int r = column_find(
	    t, g->v.family, g->v.row, g->v.qualifier, version, &old);
	stored_release(&old);
	if (r == 0)
		return why(EEXIST, "the version is there");
	return r < 0 ? r : 0;
}

static enum open_for
opening(const struct group *g)
{
	enum open_for what = OPEN_PUT;

	if (g->family_from < g->family_to)
		return OPEN_LIST;
	for (const struct step *s = g->from; s < g->to; s++) {
		if (s->op->type == OP_DELETE_COLUMN)
			return OPEN_LIST;
		if (step_is_delete(s) || s->op->timestamp != TS_LATEST)
			what = OPEN_REMOVE;
	}
	return what;
}

static int
decide_group(struct txn *t, struct work *work, struct group *g)
{
	g->v = (struct versions){.txn = t,
	    .family = g->from->family,
	    .row = work->m->row,
	    .qualifier = g->from->op->qualifier,
	    .dropped = &work->dropped};
	int r = versions_open(&g->v, opening(g));

	if (r == 0)
		r = decide(work, g);
	if (work->m->flags & MUTATE_ABSENT)
		for (struct step *s = g->from; r == 0 && s < g->to; s++)
			r = check_absent(t, g, s);
	return r;
}

/* --- deletes ------------------------------------------------------------------- */

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
drop_blobs(struct txn *t, struct work *work, const struct step *s,
    struct slice row)
{
	struct walk w = {0};

	int r = walk_open(&w, t, s->family);
	if (r == 0)
		r = walk_prefix(&w, row);
	while (r == 0) {
		if (w.record.blob)
			r = dropped_add(t, &work->dropped, s->family->blobs,
			    w.record.blob);
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
		int any = cells_any(
		    t, s->family, work->m->row, (struct slice){0});
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
		r = txn_remove_range(
		    t, s->family->cells, row, buf_slice(&to));
	buf_release(&to);
	depths_forget(t->local);
	return r;
}

static int
delete_in_column(struct txn *t, struct work *work, struct step *s,
    struct slice column)
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
delete_some(struct txn *t, struct work *work, struct step *s,
    struct slice row)
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
			r = why(E2BIG, "the delete touches more than %d cells "
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
decide_family(struct txn *t, struct work *work, struct step *s,
    struct slice row)
{
	s->through = s->covers = s->op->timestamp;
	if (s->op->timestamp != TS_LATEST)
		return 0;
	s->covers = t->now;
	s->through =
	    s->op->type == OP_DELETE_FAMILY ? TS_MAX : s->covers;
	if (s->op->type == OP_DELETE_FAMILY && ahead(t, work, s))
		return family_newest(t, s, row);
	return 0;
}

/* Runs one of the two passes over the deletes of whole families. */
static int
each_family_step(struct txn *t, struct work *work,
    int (*pass)(struct txn *t, struct work *work, struct step *s,
	struct slice row))
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
delete_family(struct txn *t, struct work *work, struct step *s,
    struct slice row)
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

/* --- stores --------------------------------------------------------------------- */

static bool
step_covers(const struct step *s, int64_t timestamp)
{
	if (s->op->type == OP_DELETE_COLUMN ||
	    s->op->type == OP_DELETE_FAMILY)
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
		return why(EDQUOT, "a version stamped %lld would be pushed "
				   "out at once by newer ones, or has expired",
		    (long long)s->timestamp);
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

static int
store_group(struct txn *t, struct work *work, struct group *g)
{
	int r = 0;

	if (g->to - g->from > 1)
		qsort(g->from, (size_t)(g->to - g->from), sizeof(*g->from),
		    compare_stores);
	for (struct step *s = g->from; r == 0 && s < g->to && s->stores; s++) {
		if (s == g->from || s[-1].timestamp != s->timestamp) {
			r = store(t, work, g, s);
			continue;
		}
		s->op->stored = s[-1].op->stored;
		if (s->op->stored)
			r = give_result(t, s);
	}
	return r;
}

static int
apply_stores(struct txn *t, struct work *work)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < work->group_count; i++)
		r = store_group(t, work, &work->groups[i]);
	return r;
}

/* --- directories ------------------------------------------------------------------ */

/* What the call did to one family, told to the keeper of directories. */
static int
tell_family(struct txn *t, struct work *work, const struct step *from,
    const struct step *to)
{
	const struct local_family *f = from->family;
	bool stored = false, removed = false;
	struct slice near = {0};

	for (const struct step *s = from; s < to; s++) {
		stored = stored || s->op->stored;
		removed = removed || s->hits || step_is_family(s);
		if (s->hits && !step_is_family(s))
			near = s->op->qualifier;
	}
	if (stored)
		return side_unkeep(
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

	mutation_reset(work);
	if (table_stale(t->local, work->table))
		return -ESTALE;
	if (work->m->condition)
		r = check_condition(t, work, &applies);
	if (r || !applies)
		return r;
	for (size_t i = 0; r == 0 && i < work->group_count; i++)
		r = decide_group(t, work, &work->groups[i]);
	if (r == 0)
		r = apply_deletes(t, work);
	if (r == 0)
		r = apply_stores(t, work);
	if (r == 0)
		r = tell_directories(t, work);
	work->m->applied = r == 0;
	return r;
}
