#include "local_move.h"

#include <errno.h>

#include "local_column.h"
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
	int r = methods(t)->cursor(t->session, s->family->cells, &c);
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
struct step {
	const struct span *from, *to;
	struct slice from_prefix, to_prefix;
	struct buf key, value;
};

static int
move_record(struct move *m, struct txn *t, struct step *s, struct slice key,
    struct slice value)
{
	const struct local_family *f = s->from->family, *g = s->to->family;
	struct record record;
	bool own = false;

	int r = record_decode(value, &record);
	if (r == 0)
		r = move_count(m, key.size + value.size);
	if (r == 0)
		r = move_fits(g, record.size);
	uint64_t blob = record.blob;
	if (r == 0)
		r = move_blob(m, t, f->blobs, g->blobs, false, &record, &own);
	if (r)
		return r;
	if (record.ttl)
		r = side_note_ttl(t, m->target);
	move_attrs(m, true, &record.attrs);
	buf_clear(&s->key);
	buf_clear(&s->value);
	buf_append(&s->key, s->to_prefix);
	buf_append(&s->key, slice_skip(key, s->from_prefix.size));
	record_encode(&record, &s->value);
	if (r == 0)
		r = buf_status(&s->key);
	if (r == 0)
		r = buf_status(&s->value);
	if (r == 0)
		r = txn_put(
		    t, g->cells, buf_slice(&s->key), buf_slice(&s->value));
	if (r == 0)
		r = txn_remove(t, f->cells, key);
	if (r == 0 && own)
		r = dropped_add(t, &m->dropped, f->blobs, blob);
	return r;
}

static int
move_records(struct move *m, struct txn *t, struct step *s,
    struct ordered_cursor *c, bool *moved)
{
	struct slice key, value;

	int r = methods(t)->seek(c, s->from_prefix, SEEK_FROM);
	while (r == 0) {
		r = methods(t)->key(c, &key);
		if (r == 0 && !slice_begins(key, s->from_prefix))
			return 0;
		if (r == 0)
			r = methods(t)->value(c, &value);
		if (r == 0)
			r = move_record(m, t, s, key, value);
		if (r == 0)
			r = methods(t)->next(c);
		*moved = true;
	}
	return r == 1 ? 0 : r;
}

int
span_move(struct move *m, struct txn *t, const struct span *from,
    const struct span *to, bool *moved)
{
	struct buf from_prefix = {0}, to_prefix = {0};
	struct step step = {.from = from, .to = to};
	struct ordered_cursor *c;

	*moved = false;
	depths_forget(t->local);
	int r = methods(t)->cursor(t->session, from->family->cells, &c);
	if (r)
		return r;
	r = span_prefix(from, &from_prefix);
	if (r == 0)
		r = span_prefix(to, &to_prefix);
	step.from_prefix = buf_slice(&from_prefix);
	step.to_prefix = buf_slice(&to_prefix);
	if (r == 0)
		r = move_records(m, t, &step, c, moved);
	methods(t)->cursor_close(c);
	/* Another family may keep fewer versions, or for a shorter time. */
	if (r == 0 && *moved && from->family != to->family)
		r = span_clean(m, t, to);
	buf_release(&from_prefix);
	buf_release(&to_prefix);
	buf_release(&step.key);
	buf_release(&step.value);
	return r;
}
