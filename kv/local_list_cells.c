#include "local_list.h"

#include <errno.h>
#include <stdlib.h>

#include "key.h"
#include "local_cells.h"
#include "local_side_attrs.h"

/* --- rows and columns --------------------------------------------------- */

/* The keys of all that begin with a name, or the first key of those that do
 * not sort before it. */
static int
key_of_name(const struct lister *x, struct slice name, struct buf *key)
{
	buf_clear(key);
	if (!x->rows)
		key_component(key, x->dir->row);
	key_prefix(key, name);
	return buf_status(key);
}

static int
place_walk(struct lister *x, struct walk *w)
{
	struct buf key = {0};

	int r = key_of_name(x, x->prefix, &w->stop);
	key_successor(&w->stop);
	if (r == 0)
		r = key_of_name(x, buf_slice(&x->from), &key);
	if (r == 0)
		r = walk_seek(w, buf_slice(&key));
	buf_release(&key);
	return r < 0 ? r : 0;
}

/* Opens the walks in a snapshot, where they stood or at x->from. */
static int
enter(struct lister *x, struct txn *t, struct budget *budget)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < x->walk_count; i++) {
		struct walk *w = &x->walks[i];
		if (x->placed) {
			r = walk_resume(w, t);
		} else {
			const struct local_family *family = w->family;
			walk_release(w);
			r = walk_open(w, t, family);
			if (r == 0)
				r = place_walk(x, w);
		}
		w->budget = budget;
	}
	x->placed = true;
	return r;
}

static int
leave(struct lister *x)
{
	int r = 0;

	for (size_t i = 0; i < x->walk_count; i++) {
		int paused = walk_pause(&x->walks[i]);
		x->walks[i].budget = NULL;
		if (r == 0)
			r = paused;
	}
	return r;
}

static int
name_of(const struct lister *x, const struct walk *w, struct buf *out)
{
	struct slice key = w->key;

	buf_clear(out);
	int r = key_take(&key, out, NULL);
	if (r || x->rows)
		return r;
	buf_clear(out);
	return key_take(&key, out, NULL);
}

static int
describe(struct lister *x, struct txn *t, const struct walk *w)
{
	struct place row = {
	    .level = LEVEL_ROW,
	    .table = x->dir->table,
	    .row = buf_slice(&x->name),
	};

	if (x->rows)
		return side_dir_info(t, x->table, &row, &x->info);
	x->info = (struct info){
	    .timestamp = w->timestamp,
	    .expires =
		fold_expires(&w->family->rules, w->timestamp, w->record.ttl),
	    .size = w->record.size,
	};
	attrs_complete(x->table, w->timestamp, &w->record.attrs, CELL_MODE,
	    &x->info.attrs);
	return 0;
}

/* Brings each walk to a live version, and gives the one that comes first;
 * *out NULL: none. */
static int
first_live(struct lister *x, struct walk **out)
{
	*out = NULL;
	for (size_t i = 0; i < x->walk_count; i++) {
		struct walk *w = &x->walks[i];
		int r = w->placed && w->judged ? 0 : walk_live(w);
		if (r == WALK_END)
			continue;
		if (r)
			return r;
		if (!*out || slice_compare(walk_row(w), walk_row(*out)) < 0)
			*out = w;
	}
	return 0;
}

/* Moves every walk that stands on the name of w behind it. */
static int
pass(struct lister *x, struct walk *w)
{
	struct buf row = {0};
	int r = buf_set(&row, walk_row(w));

	if (!x->rows && r == 0)
		r = walk_skip_column(w);
	for (size_t i = 0; x->rows && r >= 0 && i < x->walk_count; i++) {
		struct walk *other = &x->walks[i];
		if (other->placed &&
		    slice_equal(walk_row(other), buf_slice(&row)))
			r = walk_skip_row(other);
	}
	buf_release(&row);
	return r < 0 ? r : 0;
}

/* Fetches the next live name if none is waiting; WALK_END, WALK_PAUSE. */
static int
cells_fetch(struct lister *x, struct txn *t)
{
	while (!x->have) {
		struct walk *w;
		int r = first_live(x, &w);
		if (r == 0 && !w)
			return WALK_END;
		if (r == 0)
			r = name_of(x, w, &x->name);
		if (r == 0)
			r = describe(x, t, w);
		if (r == 0)
			r = pass(x, w);
		if (r)
			return r;
		x->have = !x->prefix.size || x->name.size > x->prefix.size;
	}
	return 0;
}

static enum level
level_of(const struct lister *x)
{
	return x->rows ? LEVEL_ROW : LEVEL_COLUMN;
}

/* Adds the least of what waits: cells and kept names of one level as one,
 * before a part of the same bytes. 1: nothing waits. */
static int
merge(struct lister *x)
{
	struct slice cell = buf_slice(&x->name);
	struct slice kept = buf_slice(&x->side.name);
	struct slice part = buf_slice(&x->parts.name);
	int order = !x->side.have ? -1
		    : !x->have	  ? 1
				  : slice_compare(cell, kept);
	struct slice name = order <= 0 ? cell : kept;

	if (x->parts.have &&
	    ((!x->have && !x->side.have) || slice_compare(part, name) < 0)) {
		list_add(x, x->parts.level, part, &x->parts.info);
		return side_consume(&x->parts);
	}
	if (!x->have && !x->side.have)
		return 1;
	list_add(x, level_of(x), name, order <= 0 ? &x->info : &x->side.info);
	if (order <= 0)
		x->have = false;
	return order >= 0 ? side_consume(&x->side) : 0;
}

static int
gather_merged(struct lister *x, struct txn *t)
{
	struct budget budget = budget_new();
	int r = enter(x, t, &budget);

	while (r == 0 && !list_full(x)) {
		r = cells_fetch(x, t);
		if (r == WALK_END)
			r = 0;
		if (r == 0)
			r = side_fetch(x, t, &x->side);
		if (r == 0)
			r = side_fetch(x, t, &x->parts);
		if (r == 0)
			r = merge(x);
	}
	int left = leave(x);
	if (r >= 0 && left)
		r = left;
	return r == WALK_PAUSE ? 0 : r;
}

static int
skip_merged(struct lister *x, struct slice skip)
{
	x->have = false;
	if (!list_behind(skip, &x->from)) {
		x->stopped = true;
		return 0;
	}
	x->placed = false;
	int r = side_restart(&x->side, buf_slice(&x->from), true);
	return r ? r : side_restart(&x->parts, buf_slice(&x->from), true);
}

/* Where to begin: at the prefix, or behind a name. */
static int
start(struct lister *x, const struct entry *after)
{
	bool is_part = after && after->level == x->parts.level;

	if (!after || (!is_part && after->level != level_of(x)))
		return buf_set(&x->from, x->prefix);
	int r = buf_set(&x->from, after->name);
	if (r == 0)
		r = side_restart(&x->side, after->name, false);
	if (r == 0)
		r = side_restart(&x->parts, after->name, !is_part);
	buf_byte(&x->from, 0);
	return r ? r : buf_status(&x->from);
}

static int
list_merged(struct lister *x, const struct entry *after)
{
	x->side = (struct side_names){
	    .level = level_of(x), .inclusive = true, .ended = !x->rows};
	x->parts = (struct side_names){
	    .level = x->rows ? LEVEL_ROW_PART : LEVEL_COLUMN_PART,
	    .inclusive = true};
	x->placed = x->have = false;
	int r = start(x, after);

	if (r == 0)
		r = list_run(x, gather_merged, skip_merged);
	for (size_t i = 0; i < x->walk_count; i++)
		walk_release(&x->walks[i]);
	side_release(&x->side);
	side_release(&x->parts);
	buf_release(&x->from);
	buf_release(&x->name);
	return r;
}

int
list_rows(struct lister *x, const struct entry *after)
{
	size_t count = x->table->schema.count;

	x->rows = true;
	x->prefix = x->dir->row;
	x->walks = calloc(count + 1, sizeof(*x->walks));
	if (!x->walks)
		return -ENOMEM;
	x->walk_count = count;
	for (size_t i = 0; i < count; i++)
		x->walks[i].family = &x->table->families[i];
	int r = list_merged(x, after);
	free(x->walks);
	return r;
}

int
list_columns(struct lister *x, const struct entry *after)
{
	struct walk walk = {.family = table_family(x->table, x->dir->family)};

	x->prefix = x->dir->qualifier;
	x->walks = &walk;
	x->walk_count = walk.family ? 1 : 0;
	return list_merged(x, after);
}
