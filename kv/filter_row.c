#include "filter_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
filter_run_new(const struct filter *f, bool reversed, struct filter_run **out)
{
	struct filter_run *run = calloc(1, sizeof(*run));

	*out = NULL;
	if (!run)
		return -ENOMEM;
	run->filter = f;
	run->reversed = reversed;
	run->memory = calloc(f->count, sizeof(*run->memory));
	run->stamps = calloc(f->count, sizeof(*run->stamps));
	if (!run->memory || !run->stamps) {
		filter_run_free(run);
		return -ENOMEM;
	}
	*out = run;
	return 0;
}

void
filter_run_free(struct filter_run *run)
{
	if (!run)
		return;
	for (size_t i = 0; run->stamps && i < run->filter->count; i++)
		buf_release(&run->stamps[i]);
	free(run->stamps);
	free(run->memory);
	buf_release(&run->family);
	buf_release(&run->qualifier);
	compare_room_release(&run->room);
	free(run);
}

int
filter_run_copy(struct filter_run *to, const struct filter_run *from)
{
	size_t count = from->filter->count;
	int r = buf_set(&to->family, buf_slice(&from->family));

	if (r == 0)
		r = buf_set(&to->qualifier, buf_slice(&from->qualifier));
	for (size_t i = 0; r == 0 && from->filter->stamps && i < count; i++)
		r = buf_set(&to->stamps[i], buf_slice(&from->stamps[i]));
	memcpy(to->memory, from->memory, count * sizeof(*to->memory));
	to->begun = from->begun;
	to->rejected = from->rejected;
	to->ended = from->ended;
	to->error = from->error;
	to->family_at = from->family_at;
	to->column_at = from->column_at;
	return r;
}

/* Counts the families and columns of the row. */
static int
enter_column(struct filter_run *run, const struct filter_cell *cell)
{
	bool family = slice_equal(cell->family, buf_slice(&run->family));
	int r = 0;

	if (run->column_at && family &&
	    slice_equal(cell->qualifier, buf_slice(&run->qualifier)))
		return 0;
	run->column_at++;
	if (!family || !run->family_at) {
		run->family_at++;
		r = buf_set(&run->family, cell->family);
	}
	return r ? r : buf_set(&run->qualifier, cell->qualifier);
}

/* Whether the row step takes the cell's column out. */
static bool
is_hidden(const struct node *n, const struct filter_cell *cell)
{
	if (!n->listed)
		return false;
	if (n->kind->removes == REMOVES_COLUMN &&
	    slice_equal(cell->family, n->args[0].text) &&
	    slice_equal(cell->qualifier, n->args[1].text))
		return true;
	for (const struct node *c = n->child; c; c = c->next)
		if (is_hidden(c, cell))
			return true;
	return false;
}

static void
begin_row(struct filter_run *run, struct slice row)
{
	const struct node *root = run->filter->root;

	run->begun = true;
	for (size_t i = 0; run->filter->stamps && i < run->filter->count; i++)
		buf_clear(&run->stamps[i]);
	if (node_done(run, root))
		run->ended = run->rejected = true;
	else
		run->rejected = node_rejects_row(run, root, row);
	run->ended |= node_done(run, root);
}

static void
judge(struct filter_run *run, const struct filter_cell *cell,
    const struct answer *answer, struct filter_verdict *out)
{
	const struct node *root = run->filter->root;

	out->include = answer->include;
	out->step = answer->hints ? STEP_CELL : answer->step;
	if (answer->hints && answer->hint.kind == HINT_ROW)
		out->step = STEP_FAMILY;
	if (answer->hints && answer->hint.kind == HINT_QUALIFIER &&
	    !run->reversed)
		out->seek = answer->hint.qualifier;
	if (out->include && run->filter->changes_values)
		node_change(run, root, cell, out);
	out->hidden = out->include && is_hidden(root, cell);
	if (node_done(run, root)) {
		run->ended = true;
		out->step = STEP_ROW;
	}
}

int
filter_cell(struct filter_run *run, const struct filter_cell *cell,
    struct filter_verdict *out)
{
	struct answer answer;

	*out = (struct filter_verdict){.step = STEP_ROW};
	if (!run->begun)
		begin_row(run, cell->row);
	if (run->error || run->rejected || run->ended)
		return run->error;
	int r = enter_column(run, cell);
	if (r == 0)
		r = node_ask(run, run->filter->root, cell, &answer);
	if (r == 0)
		judge(run, cell, &answer, out);
	return r;
}

/* They were met newest first. */
static bool
has_stamp(struct slice stamps, int64_t timestamp)
{
	const int64_t *all = (const int64_t *)stamps.data;
	size_t low = 0, high = stamps.size / sizeof(*all);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (all[middle] > timestamp)
			low = middle + 1;
		else
			high = middle;
	}
	return low < stamps.size / sizeof(*all) && all[low] == timestamp;
}

static bool
keeps(const struct filter_run *run, const struct node *n, int64_t timestamp)
{
	if (!n->listed)
		return true;
	if (n->kind->removes == REMOVES_STAMPS &&
	    !has_stamp(buf_slice(&run->stamps[n->index]), timestamp))
		return false;
	for (const struct node *c = n->child; c; c = c->next)
		if (!keeps(run, c, timestamp))
			return false;
	return true;
}

bool
filter_keeps(const struct filter_run *run, int64_t timestamp)
{
	return !run->filter->stamps || keeps(run, run->filter->root, timestamp);
}

bool
filter_row_end(struct filter_run *run, bool any, bool left)
{
	const struct node *root = run->filter->root;
	bool dropped = true;

	if (run->begun && !run->rejected && any && left)
		dropped = node_drops_row(run, root);
	for (size_t i = 0; i < run->filter->count; i++)
		memset(&run->memory[i].row, 0, sizeof(run->memory[i].row));
	run->begun = run->rejected = false;
	run->family_at = run->column_at = 0;
	run->ended |= node_done(run, root);
	return dropped;
}

bool
filter_ended(const struct filter_run *run)
{
	return run->ended;
}
