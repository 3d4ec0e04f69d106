#include "local_any.h"

#include <stdlib.h>

#include "key.h"
#include "local_bloom.h"
#include "local_walk.h"

#define HINTS 64

struct hint {
	uint32_t cells;
	struct buf row;	   /* component; empty: the whole family */
	struct buf column; /* where the live cell was; empty: nothing known */
	bool backward;	   /* the last success lay before, not behind */
};

struct hints {
	pthread_mutex_t lock;
	struct hint slots[HINTS];
};

struct hints *
hints_new(void)
{
	struct hints *h = calloc(1, sizeof(*h));

	if (h)
		pthread_mutex_init(&h->lock, NULL);
	return h;
}

void
hints_free(struct hints *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < HINTS; i++) {
		buf_release(&h->slots[i].row);
		buf_release(&h->slots[i].column);
	}
	pthread_mutex_destroy(&h->lock);
	free(h);
}

static struct hint *
slot_of(struct hints *h, uint32_t cells, struct slice row)
{
	return &h->slots[slice_hash(row, cells) % HINTS];
}

/* Copies what is known of a row, if anything is. */
static int
hint_get(struct hints *h, struct hint *out)
{
	int r = 0;

	pthread_mutex_lock(&h->lock);
	const struct hint *hint = slot_of(h, out->cells, buf_slice(&out->row));
	if (hint->cells == out->cells &&
	    slice_equal(buf_slice(&hint->row), buf_slice(&out->row))) {
		out->backward = hint->backward;
		r = buf_set(&out->column, buf_slice(&hint->column));
	}
	pthread_mutex_unlock(&h->lock);
	return r;
}

static void
hint_put(struct hints *h, const struct hint *known)
{
	pthread_mutex_lock(&h->lock);
	struct hint *hint = slot_of(h, known->cells, buf_slice(&known->row));
	hint->cells = known->cells;
	hint->backward = known->backward;
	if (buf_set(&hint->row, buf_slice(&known->row)) ||
	    buf_set(&hint->column, buf_slice(&known->column)))
		hint->cells = 0;
	pthread_mutex_unlock(&h->lock);
}

/* Looks from the hint on towards the end of the row. 0 found, WALK_END. */
static int
look_forward(struct walk *w, struct hint *hint)
{
	int r = buf_set(&w->stop, buf_slice(&hint->row));

	if (r)
		return r;
	key_successor(&w->stop);
	r = walk_seek(
	    w, buf_slice(hint->column.size ? &hint->column : &hint->row));
	if (r == 0)
		r = walk_live(w);
	if (r == 0)
		r = buf_set(&hint->column, buf_slice(&w->column));
	return r;
}

/* Looks before the hint, column by column. 0 found, WALK_END. */
static int
look_backward(struct walk *w, struct hint *hint)
{
	struct buf at = {0};

	buf_clear(&w->stop);
	int r = buf_set(&at, buf_slice(&hint->column));
	while (r == 0) {
		r = walk_seek_before(w, buf_slice(&at));
		if (r == 0 && !slice_begins(w->key, buf_slice(&hint->row)))
			r = WALK_END;
		if (r)
			break;
		r = buf_set(&at, buf_slice(&w->column));
		if (r == 0)
			r = walk_prefix(w, buf_slice(&at));
		if (r == 0)
			r = walk_live(w);
		if (r != WALK_END)
			break;
		r = 0;
	}
	if (r == 0)
		r = buf_set(&hint->column, buf_slice(&at));
	buf_release(&at);
	return r;
}

/* Both directions, the more promising one first. 0 found, WALK_END. */
static int
look(struct walk *w, struct hint *hint)
{
	bool backward = hint->backward && hint->column.size;
	int r = backward ? look_backward(w, hint) : look_forward(w, hint);

	if (r != WALK_END || !hint->column.size)
		return r;
	hint->backward = !backward;
	return backward ? look_forward(w, hint) : look_backward(w, hint);
}

int
cells_any(struct txn *t, const struct local_family *f, struct slice row,
    struct slice near)
{
	struct hint hint = {.cells = f->cells};
	struct walk w = {0};

	if (row.size && bloom_lacks_row(t, f, row))
		return 0;
	if (row.size)
		key_component(&hint.row, row);
	int r = buf_status(&hint.row);
	if (r == 0)
		r = hint_get(t->local->hints, &hint);
	if (r == 0 && near.size) {
		buf_clear(&hint.column);
		key_column(&hint.column, row, near);
		r = buf_status(&hint.column);
	}
	if (r == 0)
		r = walk_open(&w, t, f);
	if (r == 0)
		r = look(&w, &hint);
	if (r == 0)
		hint_put(t->local->hints, &hint);
	walk_release(&w);
	buf_release(&hint.row);
	buf_release(&hint.column);
	return r < 0 ? r : r == 0;
}
