#include "filter_tree.h"

/* --- answers ------------------------------------------------------------ */

static const struct answer included = {.include = true};
static const struct answer skipped = {.step = STEP_CELL};
static const struct answer next_column = {.step = STEP_COLUMN};
static const struct answer next_family = {.step = STEP_FAMILY};

static struct answer
hint(struct slice qualifier)
{
	return (struct answer){
	    .hints = true,
	    .hint = {HINT_QUALIFIER, qualifier},
	};
}

static bool
holds_for(const struct argument *op_and_comparator, struct slice part,
    const struct source *source, struct filter_run *run, int *error)
{
	bool holds;

	*error = comparator_holds(&op_and_comparator[1].comparator,
	    op_and_comparator[0].op, part, source, &run->room, &holds);
	return holds;
}

/* Whether the cell is of the column that the first two arguments name. */
static bool
is_column(const struct node *n, const struct filter_cell *cell)
{
	return slice_equal(cell->qualifier, n->args[1].text) &&
	       slice_equal(cell->family, n->args[0].text);
}

/* --- by the row key ----------------------------------------------------- */

static bool
prefix_rejects_row(
    struct filter_run *run, const struct node *n, struct slice row)
{
	struct memory *m = memory_of(run, n);
	struct slice prefix = n->args[0].text;
	bool behind = slice_compare(row, prefix) > 0;

	m->row.begun = true;
	m->row.rejected = !slice_begins(row, prefix);
	m->row.matched = !m->row.rejected;
	if (m->row.rejected && behind != run->reversed)
		m->done = true;
	return m->done;
}

static int
prefix_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	const struct memory *m = memory_of(run, n);

	(void)cell;
	if (m->row.matched)
		*out = included;
	else if (m->row.begun && !m->done)
		*out = (struct answer){.hints = true, .hint = {HINT_ROW, {0}}};
	else
		*out = next_family;
	return 0;
}

static bool
prefix_drops_row(struct filter_run *run, const struct node *n)
{
	return !memory_of(run, n)->row.matched;
}

static bool
is_done(const struct filter_run *run, const struct node *n)
{
	return run->memory[n->index].done;
}

static void
prefix_rows(const struct node *n, bool reversed, struct filter_cut *low,
    struct filter_cut *high)
{
	(void)reversed;
	*low = (struct filter_cut){n->args[0].text, CUT_BEFORE};
	*high = (struct filter_cut){n->args[0].text, CUT_BEHIND_PREFIX};
}

static bool
stop_rejects_row(struct filter_run *run, const struct node *n, struct slice row)
{
	int order = slice_compare(row, n->args[0].text);

	if (run->reversed ? order < 0 : order > 0)
		memory_of(run, n)->done = true;
	return is_done(run, n);
}

static int
stop_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	(void)cell;
	*out = is_done(run, n) ? next_family : included;
	return 0;
}

static void
stop_rows(const struct node *n, bool reversed, struct filter_cut *low,
    struct filter_cut *high)
{
	if (reversed)
		*low = (struct filter_cut){n->args[0].text, CUT_BEFORE};
	else
		*high = (struct filter_cut){n->args[0].text, CUT_BEHIND};
}

static bool
row_rejects_row(struct filter_run *run, const struct node *n, struct slice row)
{
	struct memory *m = memory_of(run, n);
	int r;

	m->row.rejected = !holds_for(n->args, row, NULL, run, &r);
	if (r && !run->error)
		run->error = r;
	return m->row.rejected;
}

static int
row_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	(void)cell;
	*out = memory_of(run, n)->row.rejected ? next_family : included;
	return 0;
}

static bool
was_rejected(struct filter_run *run, const struct node *n)
{
	return memory_of(run, n)->row.rejected;
}

static void
row_rows(const struct node *n, bool reversed, struct filter_cut *low,
    struct filter_cut *high)
{
	(void)reversed;
	rows_compared(n->args, low, high);
}

/* --- by the parts of a cell --------------------------------------------- */

/* Included if a part of the cell agrees, else otherwise. */
static int
part_cell(struct filter_run *run, const struct node *n, struct slice part,
    const struct source *source, struct answer otherwise, struct answer *out)
{
	int r;

	*out = holds_for(n->args, part, source, run, &r) ? included : otherwise;
	return r;
}

static int
family_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	return part_cell(run, n, cell->family, NULL, next_family, out);
}

static int
qualifier_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	return part_cell(run, n, cell->qualifier, NULL, skipped, out);
}

static int
value_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	return part_cell(run, n, cell->value, cell->source, skipped, out);
}

static int
column_value_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	struct memory *m = memory_of(run, n);
	int r;

	if (!is_column(n, cell)) {
		*out = m->row.found ? next_family : next_column;
		return 0;
	}
	m->row.found = true;
	*out = holds_for(n->args + 2, cell->value, cell->source, run, &r)
		   ? included
		   : skipped;
	return r;
}

static int
column_prefix_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	struct slice prefix = n->args[0].text;

	(void)run;
	if (slice_begins(cell->qualifier, prefix))
		*out = included;
	else if (slice_compare(cell->qualifier, prefix) < 0)
		*out = hint(prefix);
	else
		*out = next_family;
	return 0;
}

/* The prefixes stand in order. */
static int
multiple_prefix_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	size_t i = 0;

	(void)run;
	*out = n->count ? next_family : included;
	for (; i < n->count; i++) {
		if (slice_begins(cell->qualifier, n->args[i].text)) {
			*out = included;
			break;
		}
		if (slice_compare(cell->qualifier, n->args[i].text) < 0) {
			*out = hint(n->args[i].text);
			break;
		}
	}
	return 0;
}

static int
column_range_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	struct slice least = n->args[0].text, most = n->args[2].text;
	int above = least.size ? slice_compare(cell->qualifier, least) : 1;
	int below = most.size ? slice_compare(cell->qualifier, most) : -1;

	(void)run;
	if (above < 0)
		*out = hint(least);
	else if (above == 0 && !n->args[1].flag)
		*out = next_column;
	else if (below < 0 || (below == 0 && n->args[3].flag))
		*out = included;
	else
		*out = next_family;
	return 0;
}

/* The timestamps stand in order. */
static int
timestamps_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	size_t low = 0, high = n->count;

	(void)run;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (n->args[middle].number < cell->timestamp)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < n->count && n->args[low].number == cell->timestamp)
		*out = included;
	else
		*out = low ? skipped : next_column;
	return 0;
}

/* --- by counting -------------------------------------------------------- */

static int
first_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	struct memory *m = memory_of(run, n);

	(void)cell;
	*out = m->row.found ? next_family : included;
	m->row.found = true;
	return 0;
}

static bool
column_count_done(const struct filter_run *run, const struct node *n)
{
	return run->memory[n->index].row.count > (uint64_t)n->args[0].number;
}

static int
column_count_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	(void)cell;
	memory_of(run, n)->row.count++;
	*out = (struct answer){
	    .include = !column_count_done(run, n),
	    .step = STEP_COLUMN,
	};
	return 0;
}

static bool
done_rejects_row(struct filter_run *run, const struct node *n, struct slice row)
{
	(void)row;
	return node_done(run, n);
}

static int
pagination_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	uint64_t limit = n->args[0].number, offset = n->args[1].number;
	struct memory *m = memory_of(run, n);

	(void)cell;
	if (m->row.count >= offset + limit) {
		*out = next_family;
		return 0;
	}
	*out = (struct answer){
	    .include = m->row.count++ >= offset,
	    .step = STEP_COLUMN,
	};
	return 0;
}

static bool
page_done(const struct filter_run *run, const struct node *n)
{
	return run->memory[n->index].count >= (uint64_t)n->args[0].number;
}

static bool
page_drops_row(struct filter_run *run, const struct node *n)
{
	return ++memory_of(run, n)->count > (uint64_t)n->args[0].number;
}

/* --- by another cell of the row ----------------------------------------- */

static int
single_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	bool newest_only = n->count < 6 || n->args[5].flag;
	struct memory *m = memory_of(run, n);
	int r = 0;

	*out = included;
	if (m->row.matched)
		return 0;
	if (newest_only && m->row.found) {
		*out = next_family;
		return 0;
	}
	if (!is_column(n, cell))
		return 0;
	m->row.found = true;
	m->row.matched =
	    holds_for(n->args + 2, cell->value, cell->source, run, &r);
	if (!m->row.matched && newest_only)
		*out = next_family;
	return r;
}

static bool
single_drops_row(struct filter_run *run, const struct node *n)
{
	const struct memory *m = memory_of(run, n);

	if (m->row.found)
		return !m->row.matched;
	return n->count == 6 && n->args[4].flag;
}

static int
dependent_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out)
{
	struct buf *stamps = &run->stamps[n->index];
	bool holds = true;
	int r = 0;

	*out = included;
	if (!is_column(n, cell))
		return 0;
	if (n->count == 5)
		holds =
		    holds_for(n->args + 3, cell->value, cell->source, run, &r);
	if (holds)
		buf_append(stamps,
		    slice_of(&cell->timestamp, sizeof(cell->timestamp)));
	if (!holds || (n->count > 2 && n->args[2].flag))
		*out = skipped;
	return r ? r : buf_status(stamps);
}

/* --- the value left out ------------------------------------------------- */

static void
key_only_change(const struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct filter_verdict *verdict)
{
	uint64_t size = cell->source ? cell->source->size : cell->value.size;

	(void)run;
	if (verdict->value == VALUE_EMPTY)
		size = 0;
	else if (verdict->value == VALUE_LENGTH)
		size = sizeof(verdict->length);
	bool length = n->count && n->args[0].flag;
	verdict->value = length ? VALUE_LENGTH : VALUE_EMPTY;
	verdict->length = length ? (uint32_t)size : 0;
}

/* --- the table ---------------------------------------------------------- */

#define SINGLE_ARGUMENTS                                                       \
	"('FAMILY','QUALIFIER',OP,'COMPARATOR'[,IF_MISSING,NEWEST_ONLY])"

static const struct kind kinds[] = {
    {
	.name = "PrefixFilter",
	.form = "PrefixFilter('PREFIX')",
	.arguments = "q",
	.hints = true,
	.rejects_row = prefix_rejects_row,
	.cell = prefix_cell,
	.drops_row = prefix_drops_row,
	.done = is_done,
	.rows = prefix_rows,
    },
    {
	.name = "InclusiveStopFilter",
	.form = "InclusiveStopFilter('ROW')",
	.arguments = "q",
	.rejects_row = stop_rejects_row,
	.cell = stop_cell,
	.done = is_done,
	.rows = stop_rows,
    },
    {
	.name = "RowFilter",
	.form = "RowFilter(OP,'COMPARATOR')",
	.arguments = "oc",
	.rejects_row = row_rejects_row,
	.cell = row_cell,
	.drops_row = was_rejected,
	.rows = row_rows,
    },
    {
	.name = "KeyOnlyFilter",
	.form = "KeyOnlyFilter([LENGTHS])",
	.arguments = "[b",
	.change = key_only_change,
    },
    {
	.name = "TimestampsFilter",
	.form = "TimestampsFilter(TIMESTAMP,...)",
	.arguments = "l*",
	.hints = true,
	.sorts = true,
	.stamped = true,
	.cell = timestamps_cell,
    },
    {
	.name = "MultipleColumnPrefixFilter",
	.form = "MultipleColumnPrefixFilter('PREFIX',...)",
	.arguments = "q*",
	.hints = true,
	.sorts = true,
	.cell = multiple_prefix_cell,
    },
    {
	.name = "DependentColumnFilter",
	.form = "DependentColumnFilter('FAMILY','QUALIFIER'"
		"[,DROP[,OP,'COMPARATOR']])",
	.arguments = "qq[b[oc",
	.judges = true,
	.removes = REMOVES_STAMPS,
	.reads_values = true,
	.cell = dependent_cell,
    },
    {
	.name = "SingleColumnValueExcludeFilter",
	.form = "SingleColumnValueExcludeFilter" SINGLE_ARGUMENTS,
	.arguments = "qqoc[bb",
	.judges = true,
	.removes = REMOVES_COLUMN,
	.reads_values = true,
	.cell = single_cell,
	.drops_row = single_drops_row,
    },
    {
	.name = "SingleColumnValueFilter",
	.form = "SingleColumnValueFilter" SINGLE_ARGUMENTS,
	.arguments = "qqoc[bb",
	.judges = true,
	.reads_values = true,
	.cell = single_cell,
	.drops_row = single_drops_row,
    },
    {
	.name = "FirstKeyOnlyFilter",
	.form = "FirstKeyOnlyFilter()",
	.arguments = "",
	.cell = first_cell,
    },
    {
	.name = "ColumnPrefixFilter",
	.form = "ColumnPrefixFilter('PREFIX')",
	.arguments = "q",
	.hints = true,
	.cell = column_prefix_cell,
    },
    {
	.name = "ColumnCountGetFilter",
	.form = "ColumnCountGetFilter(N)",
	.arguments = "i",
	.rejects_row = done_rejects_row,
	.cell = column_count_cell,
	.done = column_count_done,
    },
    {
	.name = "PageFilter",
	.form = "PageFilter(N)",
	.arguments = "l",
	.judges = true,
	.rejects_row = done_rejects_row,
	.drops_row = page_drops_row,
	.done = page_done,
    },
    {
	.name = "ColumnPaginationFilter",
	.form = "ColumnPaginationFilter(LIMIT,OFFSET)",
	.arguments = "ii",
	.cell = pagination_cell,
    },
    {
	.name = "FamilyFilter",
	.form = "FamilyFilter(OP,'COMPARATOR')",
	.arguments = "oc",
	.cell = family_cell,
    },
    {
	.name = "QualifierFilter",
	.form = "QualifierFilter(OP,'COMPARATOR')",
	.arguments = "oc",
	.cell = qualifier_cell,
    },
    {
	.name = "ValueFilter",
	.form = "ValueFilter(OP,'COMPARATOR')",
	.arguments = "oc",
	.reads_values = true,
	.cell = value_cell,
    },
    {
	.name = "ColumnRangeFilter",
	.form = "ColumnRangeFilter('LEAST',INCLUSIVE,'MOST',INCLUSIVE)",
	.arguments = "qbqb",
	.hints = true,
	.cell = column_range_cell,
    },
    {
	.name = "ColumnValueFilter",
	.form = "ColumnValueFilter('FAMILY','QUALIFIER',OP,'COMPARATOR')",
	.arguments = "qqoc",
	.reads_values = true,
	.cell = column_value_cell,
    },
};

const struct kind *
kind_named(struct slice name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (slice_equal(name, slice_text(kinds[i].name)))
			return &kinds[i];
	return NULL;
}
