#include "filter_tree.h"

/* --- cuts --------------------------------------------------------------- */

/* Below, at or above 0 as a lies in front of, at or behind b. */
static int
cut_order(const struct filter_cut *a, const struct filter_cut *b)
{
	int order = slice_compare(a->key, b->key);

	if (order == 0)
		return (int)a->at - (int)b->at;
	/* What lies behind a whole prefix lies behind what begins with it. */
	if (order < 0 && a->at == CUT_BEHIND_PREFIX &&
	    slice_begins(b->key, a->key))
		return 1;
	if (order > 0 && b->at == CUT_BEHIND_PREFIX &&
	    slice_begins(a->key, b->key))
		return -1;
	return order;
}

static void
set_all(struct filter_cut *low, struct filter_cut *high)
{
	*low = (struct filter_cut){.at = CUT_BEFORE};
	*high = (struct filter_cut){.at = CUT_BEHIND_PREFIX};
}

void
rows_compared(
    const struct argument *a, struct filter_cut *low, struct filter_cut *high)
{
	const struct comparator *c = &a[1].comparator;
	struct filter_cut before = {c->value, CUT_BEFORE};
	struct filter_cut behind = {c->value,
	    c->type == COMPARE_PREFIX ? CUT_BEHIND_PREFIX : CUT_BEHIND};
	enum compare op = a[0].op;

	set_all(low, high);
	if (c->type >= COMPARE_SUBSTRING)
		return;
	if (op == CMP_EQUAL || op == CMP_GREATER_OR_EQUAL)
		*low = before;
	if (op == CMP_GREATER)
		*low = behind;
	if (op == CMP_EQUAL || op == CMP_LESS_OR_EQUAL)
		*high = behind;
	if (op == CMP_LESS)
		*high = before;
}

/* --- ranges of rows ----------------------------------------------------- */

static void
rows_of(const struct node *n, bool reversed, struct filter_cut *low,
    struct filter_cut *high)
{
	bool all = n->kind == &kind_and;
	struct filter_cut l, h;

	set_all(low, high);
	if (n->kind->rows)
		n->kind->rows(n, reversed, low, high);
	if (n->kind == &kind_while)
		rows_of(n->child, reversed, low, high);
	if (!all && n->kind != &kind_or)
		return;
	for (const struct node *c = n->child; c; c = c->next) {
		rows_of(c, reversed, &l, &h);
		bool first = c == n->child;
		/* AND: the narrowest range; OR: the widest. */
		if (first || (cut_order(&l, low) > 0) == all)
			*low = l;
		if (first || (cut_order(&h, high) < 0) == all)
			*high = h;
	}
}

static bool
has_while(const struct node *n)
{
	if (n->kind == &kind_while)
		return true;
	for (const struct node *c = n->child; c; c = c->next)
		if (has_while(c))
			return true;
	return false;
}

bool
filter_rows(const struct filter *f, bool reversed, struct filter_cut *low,
    struct filter_cut *high)
{
	struct filter_cut all_low, all_high;

	rows_of(f->root, reversed, low, high);
	/* A row in front of the range may be what ends the scan. */
	set_all(&all_low, &all_high);
	if (has_while(f->root) && reversed)
		*high = all_high;
	else if (has_while(f->root))
		*low = all_low;
	return cut_order(low, high) < 0 &&
	       (high->key.size || high->at == CUT_BEHIND_PREFIX);
}

/* --- timestamps --------------------------------------------------------- */

bool
filter_next_timestamp(const struct filter *f, int64_t *next)
{
	const struct node *n = f->root;
	int64_t below = *next;

	while (n->kind == &kind_and)
		n = n->child;
	if (!n->kind->stamped)
		return false;
	*next = -1;
	for (size_t i = 0; i < n->count && n->args[i].number < below; i++)
		*next = n->args[i].number;
	return true;
}
