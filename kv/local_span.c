#include "local_move.h"

#include <errno.h>
#include <stdio.h>

#include "fold.h"
#include "key.h"
#include "local_depth.h"
#include "local_side.h"
#include "why.h"

static const struct ordered_methods *
methods(struct txn *t)
{
	return t->local->ordered->methods;
}

static int
span_prefix(const struct span *s, struct buf *out)
{
	if (s->qualifier)
		key_column(out, s->row, *s->qualifier);
	else
		key_component(out, s->row);
	return buf_status(out);
}

/* --- cleaning --------------------------------------------------------- */

/* Cleans the first column from key on that begins with prefix, and moves key
 * behind it. 1: there is none. */
static int
clean_next(struct txn *t, const struct span *s, struct ordered_cursor *c,
    struct slice prefix, struct buf *key, struct dropped *d)
{
	struct buf row = {0}, qualifier = {0};
	struct slice found;
	int64_t timestamp;

	int r = methods(t)->seek(c, buf_slice(key), SEEK_FROM);
	if (r == 0)
		r = methods(t)->key(c, &found);
	if (r == 0 && !slice_begins(found, prefix))
		r = 1;
	if (r == 0)
		r = key_split(found, &row, &qualifier, &timestamp);
	if (r == 0)
		r = column_clean(
		    t, s->family, buf_slice(&row), buf_slice(&qualifier), d);
	if (r == 0) {
		buf_clear(key);
		key_column(key, buf_slice(&row), buf_slice(&qualifier));
		key_successor(key);
		r = buf_status(key);
	}
	buf_release(&row);
	buf_release(&qualifier);
	return r;
}

int
span_clean(struct move *m, struct txn *t, const struct span *s)
{
	struct dropped *d = &m->dropped;
	struct buf prefix = {0}, key = {0};
	struct ordered_cursor *c;
	int columns = 0;

	if (s->qualifier)
		return column_clean(t, s->family, s->row, *s->qualifier, d);
	int r = txn_cursor(t, s->family->cells, &c);
	if (r)
		return r;
	r = span_prefix(s, &prefix);
	if (r == 0)
		r = buf_set(&key, buf_slice(&prefix));
	while (r == 0) {
		r = clean_next(t, s, c, buf_slice(&prefix), &key, d);
		if (r == 0 && ++columns > MOVE_CELLS_MAX)
			r = move_refuse_size(m);
	}
	methods(t)->cursor_close(c);
	buf_release(&prefix);
	buf_release(&key);
	return r == 1 ? 0 : r;
}

/* --- moving ----------------------------------------------------------- */

/* Where one record goes. */
struct passage {
	struct move *move;
	const struct span *from, *to;
	size_t from_size; /* of the prefix that to_prefix takes the place of */
	struct buf to_prefix, key, value;
	struct fold fold; /* by the rules of another family */
	struct buf column, row, qualifier; /* of the last record */
	bool moved;
};

/* The target's family does not keep the version that passes. */
static int
refuse_loss(const struct passage *p, bool late)
{
	const struct family *g = &p->to->family->declared;
	const struct buf *table = &p->move->target->schema.name;
	const struct buf *q = &p->qualifier;
	char kept[64];

	if (late)
		snprintf(kept, sizeof(kept),
		    "for %u seconds, some are older", g->ttl);
	else
		snprintf(kept, sizeof(kept), "%u of a cell, there are more",
		    g->versions);
	return why(EDQUOT,
	    "%.*s would lose versions: family %.*s of table %.*s keeps them "
	    "%s",
	    (int)q->size, (const char *)q->data, (int)g->name.size,
	    (const char *)g->name.data, (int)table->size,
	    (const char *)table->data, kept);
}

/* All that moves is live: another family must not put any of it out, be it
 * that it keeps fewer versions or for a shorter time. */
static int
check_kept(struct txn *t, struct passage *p, struct slice key,
    const struct record *record)
{
	const struct local_family *g = p->to->family;
	int64_t timestamp;

	if (p->from->family == g)
		return 0;
	int r = key_split(key, &p->row, &p->qualifier, &timestamp);
	struct slice column = slice_head(key, key.size - sizeof(timestamp));
	if (r == 0 && !slice_equal(column, buf_slice(&p->column))) {
		fold_column(&p->fold);
		r = buf_set(&p->column, column);
	}
	if (r == 0)
		r = fold_add(
		    &p->fold, timestamp, record->ttl, record->sequence);
	if (r)
		return r < 0 ? r : 0;
	return refuse_loss(
	    p, fold_expires(&g->rules, timestamp, 0) <= t->now);
}

/* Writes the record under its new key and removes the old one. */
static int
pass_record(struct txn *t, struct passage *p, struct slice key,
    const struct record *record)
{
	buf_clear(&p->key);
	buf_clear(&p->value);
	buf_append(&p->key, buf_slice(&p->to_prefix));
	buf_append(&p->key, slice_skip(key, p->from_size));
	record_encode(record, &p->value);
	int r = buf_status(&p->key);
	if (r == 0)
		r = buf_status(&p->value);
	if (r == 0)
		r = txn_put(t, p->to->family->cells, buf_slice(&p->key),
		    buf_slice(&p->value));
	return r ? r : txn_remove(t, p->from->family->cells, key);
}

static int
move_record(struct txn *t, struct slice key, struct slice value, void *context)
{
	struct passage *p = context;
	struct move *m = p->move;
	const struct local_family *f = p->from->family, *g = p->to->family;
	struct record record;
	bool own = false;

	p->moved = true;
	int r = record_decode(value, &record);
	if (r == 0)
		r = move_count(m, key.size + value.size);
	if (r == 0)
		r = move_fits(g, record.size);
	uint64_t blob = record.blob;
	if (r == 0)
		r = move_blob(m, t, f->blobs, g->blobs, false, &record, &own);
	if (r == 0 && record.ttl)
		r = side_note_ttl(t, m->target);
	move_attrs(m, true, &record.attrs);
	record.sequence = g->past.sequence;
	if (r == 0)
		r = check_kept(t, p, key, &record);
	if (r == 0)
		r = pass_record(t, p, key, &record);
	if (r == 0 && own)
		r = dropped_add(t, &m->dropped, f->blobs, blob);
	return r;
}

int
span_move(struct move *m, struct txn *t, const struct span *from,
    const struct span *to, bool *moved)
{
	struct passage p = {.move = m, .from = from, .to = to};
	struct buf prefix = {0};

	depths_forget(t->local);
	fold_init(&p.fold, &to->family->rules, &to->family->past, t->now);
	int r = span_prefix(from, &prefix);
	if (r == 0)
		r = span_prefix(to, &p.to_prefix);
	p.from_size = prefix.size;
	if (r == 0)
		r = txn_each(t, from->family->cells, buf_slice(&prefix),
		    move_record, &p);
	*moved = p.moved;
	buf_release(&prefix);
	buf_release(&p.to_prefix);
	buf_release(&p.key);
	buf_release(&p.value);
	buf_release(&p.column);
	buf_release(&p.row);
	buf_release(&p.qualifier);
	fold_release(&p.fold);
	return r;
}
