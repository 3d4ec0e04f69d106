#include "local_walk.h"

#include <errno.h>
#include <time.h>

#include "key.h"
#include "why.h"

#define STEPS 4		     /* before skipping seeks */
#define SNAPSHOT_NS 10000000 /* of one snapshot */
#define TIMESTAMP_SIZE 8

static int64_t
monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct budget
budget_new(void)
{
	return (struct budget){
	    .records = READ_CELLS,
	    .deadline = monotonic_ns() + SNAPSHOT_NS,
	};
}

bool
budget_late(const struct budget *b)
{
	return monotonic_ns() > b->deadline;
}

bool
budget_spent(struct budget *b)
{
	if (!b->records)
		return true;
	b->records--;
	if (b->records % 64 == 0 && budget_late(b))
		b->records = 0;
	return false;
}

static const struct ordered_methods *
methods(const struct walk *w)
{
	return w->txn->local->ordered->methods;
}

static int
open_cursor(struct walk *w)
{
	return txn_cursor(w->txn, w->family->cells, &w->cursor);
}

int
walk_open(struct walk *w, struct txn *t, const struct local_family *f)
{
	*w = (struct walk){.txn = t, .family = f};
	fold_init(&w->fold, &f->rules, &f->past, t->now);
	return open_cursor(w);
}

static void
close_cursor(struct walk *w)
{
	if (!w->cursor)
		return;
	if (w->fold.now.passed > w->txn->passed)
		w->txn->passed = w->fold.now.passed;
	methods(w)->cursor_close(w->cursor);
	w->cursor = NULL;
}

void
walk_release(struct walk *w)
{
	close_cursor(w);
	fold_release(&w->fold);
	buf_release(&w->column);
	buf_release(&w->stop);
	buf_release(&w->position);
	*w = (struct walk){0};
}

int
walk_pause(struct walk *w)
{
	int r = 0;

	if (w->placed && w->cursor)
		r = buf_set(&w->position, w->key);
	close_cursor(w);
	return r;
}

/* Where the key does not belong to the column before, a new one begins; after
 * a seek there is none before. */
static int
enter_column(struct walk *w, size_t size)
{
	struct slice column = slice_head(w->key, size);

	if (slice_equal(column, buf_slice(&w->column)))
		return 0;
	fold_column(&w->fold);
	buf_clear(&w->column);
	buf_append(&w->column, column);
	return buf_status(&w->column);
}

static int
damaged(const struct walk *w)
{
	return why(EIO, "table file %u holds a record that is not a cell",
	    w->family->cells);
}

/* Takes apart the record that the cursor stands on. */
static int
load(struct walk *w)
{
	struct slice value;

	w->placed = false;
	w->judged = false;
	int r = methods(w)->key(w->cursor, &w->key);
	if (r)
		return r;
	if (w->stop.size && slice_compare(w->key, buf_slice(&w->stop)) >= 0)
		return WALK_END;
	w->row_size = key_component_size(w->key);
	size_t rest = key_component_size(slice_skip(w->key, w->row_size));
	if (!w->row_size || !rest ||
	    w->key.size != w->row_size + rest + TIMESTAMP_SIZE)
		return damaged(w);
	w->timestamp = (int64_t)~be64(w->key.data + w->row_size + rest);
	r = methods(w)->value(w->cursor, &value);
	if (r)
		return r;
	r = record_decode(value, &w->record);
	if (r)
		return damaged(w);
	r = enter_column(w, w->row_size + rest);
	if (r)
		return r;
	w->placed = true;
	return 0;
}

static int
seek(struct walk *w, struct slice key, enum ordered_seek how)
{
	w->placed = false;
	int r = methods(w)->seek(w->cursor, key, how);

	return r ? r : load(w);
}

int
walk_seek(struct walk *w, struct slice key)
{
	buf_clear(&w->column);
	return seek(w, key, SEEK_FROM);
}

int
walk_seek_before(struct walk *w, struct slice key)
{
	buf_clear(&w->column);
	return seek(w, key, SEEK_BEFORE);
}

int
walk_resume(struct walk *w, struct txn *t)
{
	w->txn = t;
	int r =
	    fold_resume(&w->fold, &w->family->rules, &w->family->past, t->now);
	if (r == 0)
		r = open_cursor(w);
	if (r || !w->placed)
		return r;
	bool judged = w->judged;
	r = seek(w, buf_slice(&w->position), SEEK_FROM);
	if (r == 0)
		w->judged =
		    judged && slice_equal(w->key, buf_slice(&w->position));
	return r == WALK_END ? 0 : r;
}

int
walk_next(struct walk *w)
{
	w->placed = false;
	int r = methods(w)->next(w->cursor);

	return r ? r : load(w);
}

/* To the first record that does not begin with the first size bytes of the
 * key, all of whose keys end in a finished component. */
static int
skip(struct walk *w, size_t size)
{
	struct buf prefix = {0};
	int r = buf_set(&prefix, slice_head(w->key, size));

	for (int i = 0; r == 0 && i < STEPS; i++) {
		r = walk_next(w);
		if (r == 0 && !slice_begins(w->key, buf_slice(&prefix)))
			goto out;
	}
	if (r)
		goto out;
	key_successor(&prefix);
	r = walk_seek(w, buf_slice(&prefix));
out:
	buf_release(&prefix);
	return r;
}

int
walk_skip_column(struct walk *w)
{
	return skip(w, w->key.size - TIMESTAMP_SIZE);
}

int
walk_skip_row(struct walk *w)
{
	return skip(w, w->row_size);
}

int
walk_judge(struct walk *w)
{
	w->judged = true;
	return fold_add(
	    &w->fold, w->timestamp, w->record.ttl, w->record.sequence);
}

/* On from a record that was judged. */
static int
advance(struct walk *w)
{
	return fold_full(&w->fold) ? walk_skip_column(w) : walk_next(w);
}

int
walk_live(struct walk *w)
{
	for (;;) {
		if (!w->placed)
			return WALK_END;
		int r = w->judged ? advance(w) : 0;
		if (r)
			return r;
		if (w->budget && budget_spent(w->budget))
			return WALK_PAUSE;
		r = walk_judge(w);
		if (r < 0)
			return r;
		if (r == 1)
			return 0;
	}
}

struct slice
walk_row(const struct walk *w)
{
	return slice_head(w->key, w->row_size);
}

int
walk_prefix(struct walk *w, struct slice prefix)
{
	int r = buf_set(&w->stop, prefix);

	if (r)
		return r;
	key_successor(&w->stop);
	return walk_seek(w, prefix);
}

int
walk_column(struct walk *w, struct slice row, struct slice qualifier)
{
	struct buf prefix = {0};

	key_column(&prefix, row, qualifier);
	int r = buf_status(&prefix);
	if (r == 0)
		r = walk_prefix(w, buf_slice(&prefix));
	buf_release(&prefix);
	return r;
}
