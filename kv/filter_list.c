#include "filter_tree.h"

/* --- any node ----------------------------------------------------------- */

bool
node_rejects_row(struct filter_run *run, const struct node *n, struct slice row)
{
	return n->kind->rejects_row && n->kind->rejects_row(run, n, row);
}

int
node_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	*out = (struct answer){.include = true};
	return n->kind->cell ? n->kind->cell(run, n, cell, out) : 0;
}

bool
node_drops_row(struct filter_run *run, const struct node *n)
{
	return n->kind->drops_row && n->kind->drops_row(run, n);
}

bool
node_done(const struct filter_run *run, const struct node *n)
{
	return n->kind->done && n->kind->done(run, n);
}

void
node_change(const struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct filter_verdict *verdict)
{
	if (n->kind->change)
		n->kind->change(run, n, cell, verdict);
}

/* Whether the cell lies in front of what the last answer pointed to. */
static bool
covers(const struct filter_run *run, const struct memory *m,
    const struct filter_cell *cell)
{
	const struct answer *last = &m->row.last;

	if (!m->row.answered)
		return false;
	if (!last->hints)
		return last->step == STEP_COLUMN
			   ? m->row.column == run->column_at
			   : last->step == STEP_FAMILY &&
				 m->row.family == run->family_at;
	/* In a reversed scan hints point the wrong way within a row. */
	if (last->hint.kind == HINT_QUALIFIER)
		return !run->reversed && m->row.family == run->family_at &&
		       slice_compare(cell->qualifier, last->hint.qualifier) < 0;
	return last->hint.kind == HINT_ROW;
}

int
node_ask(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	struct memory *m = memory_of(run, n);

	if (covers(run, m, cell)) {
		*out = m->row.last;
		out->include = false;
		return 0;
	}
	int r = node_cell(run, n, cell, out);
	m->row.answered = true;
	m->row.last = *out;
	m->row.family = run->family_at;
	m->row.column = run->column_at;
	return r;
}

/* Below, at or above 0 as a is nearer, the same, farther. */
static int
hint_order(struct hint a, struct hint b)
{
	return a.kind != b.kind ? (int)a.kind - (int)b.kind
				: slice_compare(a.qualifier, b.qualifier);
}

/* --- AND ---------------------------------------------------------------- */

/* What hints keeps the row from being passed over by its key alone, so that
 * it can give the hint. */
static bool
and_rejects_row(struct filter_run *run, const struct node *n, struct slice row)
{
	bool rejected = false, hinting = false;

	for (const struct node *c = n->child; c; c = c->next) {
		if (node_done(run, c))
			return true;
		if (node_rejects_row(run, c, row))
			rejected = true;
		else if (c->kind->hints)
			hinting = true;
	}
	return rejected && !hinting;
}

static void
add_hint(struct answer *to, const struct answer *from)
{
	if (!to->hints || hint_order(to->hint, from->hint) < 0)
		to->hint = from->hint;
	to->hints = true;
}

/* Asked in order up to the first that does not include; behind it only for
 * hints. */
static int
and_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	struct answer one;
	int r = 0;

	for (const struct node *c = n->child; c && r == 0; c = c->next) {
		if (out->include && node_done(run, c)) {
			out->include = false;
			out->step = STEP_FAMILY;
			continue;
		}
		if (!out->include && !c->kind->hints)
			continue;
		bool asked = out->include;
		r = node_cell(run, c, cell, &one);
		if (one.hints)
			add_hint(out, &one);
		if (asked && one.step > out->step)
			out->step = one.step;
		out->include = out->include && one.include;
	}
	return r;
}

static bool
and_drops_row(struct filter_run *run, const struct node *n)
{
	for (const struct node *c = n->child; c; c = c->next)
		if (node_drops_row(run, c))
			return true;
	return false;
}

static bool
and_done(const struct filter_run *run, const struct node *n)
{
	for (const struct node *c = n->child; c; c = c->next)
		if (node_done(run, c))
			return true;
	return false;
}

static void
and_change(const struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct filter_verdict *verdict)
{
	for (const struct node *c = n->child; c; c = c->next)
		node_change(run, c, cell, verdict);
}

const struct kind kind_and = {
    .name = "AND",
    .rejects_row = and_rejects_row,
    .cell = and_cell,
    .drops_row = and_drops_row,
    .done = and_done,
    .change = and_change,
};

/* --- OR ----------------------------------------------------------------- */

static bool
or_rejects_row(struct filter_run *run, const struct node *n, struct slice row)
{
	bool rejected = true;

	for (const struct node *c = n->child; c; c = c->next)
		if (!node_done(run, c) && !node_rejects_row(run, c, row))
			rejected = false;
	return rejected;
}

/* The nearest step and hint; a hint beside other answers is no step. */
static void
or_merge(struct answer *to, const struct answer *from)
{
	bool include = to->include || from->include;

	if (to->hints && from->hints)
		to->hint = hint_order(to->hint, from->hint) > 0 ? from->hint
								: to->hint;
	else if (to->hints || from->hints)
		*to = (struct answer){.step = STEP_CELL};
	else if (from->step < to->step)
		to->step = from->step;
	to->include = include;
}

/* Every one is asked, but for those whose last answer covers the cell. */
static int
or_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	struct answer one;
	bool first = true;
	int r = 0;

	*out = (struct answer){.step = STEP_CELL};
	for (const struct node *c = n->child; c && r == 0; c = c->next) {
		memory_of(run, c)->row.included = false;
		if (node_done(run, c))
			continue;
		r = node_ask(run, c, cell, &one);
		memory_of(run, c)->row.included = one.include;
		if (first)
			*out = one;
		else
			or_merge(out, &one);
		first = false;
	}
	return r;
}

static bool
or_drops_row(struct filter_run *run, const struct node *n)
{
	for (const struct node *c = n->child; c; c = c->next)
		if (!node_drops_row(run, c))
			return false;
	return true;
}

static bool
or_done(const struct filter_run *run, const struct node *n)
{
	for (const struct node *c = n->child; c; c = c->next)
		if (!node_done(run, c))
			return false;
	return true;
}

static void
or_change(const struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct filter_verdict *verdict)
{
	for (const struct node *c = n->child; c; c = c->next)
		if (run->memory[c->index].row.included)
			node_change(run, c, cell, verdict);
}

const struct kind kind_or = {
    .name = "OR",
    .rejects_row = or_rejects_row,
    .cell = or_cell,
    .drops_row = or_drops_row,
    .done = or_done,
    .change = or_change,
};

/* --- SKIP and WHILE ----------------------------------------------------- */

/* What wraps asks what it wraps, and passes its hints on as no more than that
 * there is one. */
static int
wrapped_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out, bool *plain)
{
	int r = node_cell(run, n->child, cell, out);

	*plain = out->include && out->step == STEP_CELL;
	out->hint = (struct hint){0};
	return r;
}

static int
skip_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	bool plain;
	int r = wrapped_cell(run, n, cell, out, &plain);

	if (!plain)
		memory_of(run, n)->row.rejected = true;
	return r;
}

static bool
skip_drops_row(struct filter_run *run, const struct node *n)
{
	return memory_of(run, n)->row.rejected;
}

static void
wrapped_change(const struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct filter_verdict *verdict)
{
	node_change(run, n->child, cell, verdict);
}

const struct kind kind_skip = {
    .name = "SKIP",
    .judges = true,
    .cell = skip_cell,
    .drops_row = skip_drops_row,
    .change = wrapped_change,
};

static bool
while_done(const struct filter_run *run, const struct node *n)
{
	return run->memory[n->index].done || node_done(run, n->child);
}

static bool
while_rejects_row(
    struct filter_run *run, const struct node *n, struct slice row)
{
	if (while_done(run, n))
		return true;
	bool rejected = node_rejects_row(run, n->child, row);
	memory_of(run, n)->done |= rejected;
	return rejected;
}

static int
while_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	bool plain;
	int r = wrapped_cell(run, n, cell, out, &plain);

	if (!plain)
		memory_of(run, n)->done = true;
	return r;
}

static bool
while_drops_row(struct filter_run *run, const struct node *n)
{
	bool dropped = node_drops_row(run, n->child);

	memory_of(run, n)->done |= dropped;
	return dropped;
}

const struct kind kind_while = {
    .name = "WHILE",
    .judges = true,
    .rejects_row = while_rejects_row,
    .cell = while_cell,
    .drops_row = while_drops_row,
    .done = while_done,
    .change = wrapped_change,
};
