#include "local_mutate.h"

#include <errno.h>
#include <string.h>

#include "local_blob.h"
#include "why.h"

#define COUNTER_SIZE 8

/* --- the condition ------------------------------------------------------ */

/* The order of the expected bytes against a value in chunks. */
static int
compare_blob(struct local *l, const struct local_family *f,
    const struct record *record, struct slice expected, int *order)
{
	uint8_t piece[1 << 16];
	uint64_t at = 0;

	*order = 0;
	while (*order == 0 && at < expected.size && at < record->size) {
		struct slice rest = slice_skip(expected, (size_t)at);
		size_t size =
		    rest.size < sizeof(piece) ? rest.size : sizeof(piece);
		int64_t got = blob_read(
		    l, f->blobs, record->blob, record->size, at, piece, size);
		if (got < 0)
			return (int)got;
		*order = memcmp(rest.data, piece, (size_t)got);
		at += (uint64_t)got;
	}
	if (*order == 0)
		*order = expected.size < record->size
			     ? -1
			     : expected.size > record->size;
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
	*out = compare_holds(c->compare, order);
	return 0;
}

int
mutation_condition(struct txn *t, const struct work *work, bool *out)
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

/* --- what each op becomes: decided on the state before the call --------- */

/* Mode and owner come from the version before, else from `fresh`; the time
 * from the clock where the stamp is ahead of it. */
static void
decide_attrs(const struct work *work, const struct versions *v, struct step *s,
    bool chosen)
{
	struct op *op = s->op;
	struct attrs *attrs = &s->record.attrs;
	mode_t cleared = 0;

	if (v->found) {
		attrs_complete(
		    work->table, 0, &v->newest.record.attrs, CELL_MODE, attrs);
		cleared = attrs->mode & 06000;
		attrs->mode &= 01777;
		attrs->set &= ~(unsigned)ATTR_MTIME;
	} else {
		attrs_complete(work->table, 0, &op->fresh, CELL_MODE, attrs);
	}
	attrs_override(attrs, &op->attrs);
	op->cleared = cleared & ~attrs->mode;
	if (!(attrs->set & ATTR_MTIME) && chosen &&
	    s->timestamp > v->txn->now) {
		attrs->mtime = timespec_of_ms(v->txn->now);
		attrs->set |= ATTR_MTIME;
	}
	attrs_reduce(work->table, CELL_MODE, attrs);
}

/* The stamp, chosen by the store or by who calls, and what goes with it. */
static int
decide_stamp(const struct work *work, const struct versions *v, struct step *s,
    bool chosen)
{
	int r = 0;

	s->timestamp = s->op->timestamp;
	if (chosen)
		r = next_timestamp(
		    v->txn, v->found ? &v->newest : NULL, &s->timestamp);
	if (r)
		return r;
	decide_attrs(work, v, s, chosen);
	s->stores = true;
	return 0;
}

static int
decide_put(const struct work *work, const struct versions *v, struct step *s)
{
	s->record = (struct record){
	    .ttl = s->op->ttl,
	    .blob = s->blob,
	    .size = s->blob ? s->blob_size : s->value.size,
	    .value = s->value,
	};
	return decide_stamp(work, v, s, s->op->timestamp == TS_LATEST);
}

/* The stamp, TTL and attributes of a version made from the one before. */
static int
decide_made(const struct work *work, const struct versions *v, struct step *s)
{
	s->record.ttl = s->op->ttl;
	if (!s->record.ttl && v->found)
		s->record.ttl = v->newest.record.ttl;
	return decide_stamp(
	    work, v, s, v->found || s->op->timestamp == TS_LATEST);
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
	s->record =
	    (struct record){.size = COUNTER_SIZE, .value = buf_slice(&s->made)};
	int r = buf_status(&s->made);
	return r ? r : decide_made(work, v, s);
}

/* Whether the blob of an append was made from the version that is there. */
static bool
joins(const struct versions *v, const struct step *s)
{
	if (!s->blob || s->joined_found != v->found)
		return false;
	return !v->found || (s->joined.timestamp == v->newest.timestamp &&
				slice_equal(buf_slice(&s->joined.bytes),
				    buf_slice(&v->newest.bytes)));
}

int
step_too_large(const struct step *s, uint64_t size)
{
	return why(EFBIG,
	    "the cell would have %llu bytes, the family's max_cell_size is "
	    "%llu",
	    (unsigned long long)size,
	    (unsigned long long)s->family->declared.max_cell_size);
}

static int
decide_append(struct work *work, const struct versions *v, struct step *s)
{
	const struct record *old = &v->newest.record;
	uint64_t before = v->found ? old->size : 0;

	if (s->size + before > s->family->declared.max_cell_size)
		return step_too_large(s, s->size + before);
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
	int r =
	    column_find(v->txn, v->family, v->row, v->qualifier, version, &old);
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

int
mutation_decide(struct txn *t, struct work *work, struct group *g)
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
