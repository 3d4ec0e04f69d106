#include "tests/filter_model_own.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ROW_AHEAD[] = "row";

/* --- comparing ---------------------------------------------------------- */

static int
test_order(const struct model_filter *f, const char *part)
{
	if (f->comparing == BINARYPREFIX)
		return strncmp(part, f->operand, strlen(f->operand));
	return strcmp(part, f->operand);
}

static bool
holds(const struct model_filter *f, const char *part)
{
	regex_t pattern;
	int order;

	if (f->comparing >= REGEX) {
		if (regcomp(&pattern, f->operand,
			REG_EXTENDED | REG_NOSUB |
			    (f->comparing == NOCASE ? REG_ICASE : 0)))
			abort();
		order = regexec(&pattern, part, 0, NULL, 0) != 0;
		regfree(&pattern);
	} else if (f->comparing == SUBSTRING) {
		order = strcasestr(part, f->operand) == NULL;
	} else {
		order = test_order(f, part);
	}
	const bool answers[] = {
	    order<0, order <= 0, order == 0, order != 0, order >= 0, order> 0};
	return answers[f->op];
}

static bool
is_column(const struct model_filter *f, const struct model_cell *c)
{
	return strcmp(c->family, f->text[0]) == 0 &&
	       strcmp(c->qualifier, f->text[1]) == 0;
}

static bool
begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* --- the steps ---------------------------------------------------------- */

static bool
all_remaining(const struct model_filter *f)
{
	bool any = false, all = true;

	for (int i = 0; i < f->count; i++) {
		bool one = all_remaining(f->child[i]);
		any |= one;
		all &= one;
	}
	switch (f->kind) {
	case PREFIX:
	case STOP:
		return f->done;
	case COUNT_GET:
		return f->seen > f->number[0];
	case PAGE:
		return f->seen >= f->number[0];
	case WHILE:
		return f->done || any;
	case AND:
		return any;
	case OR:
		return all;
	default:
		return false;
	}
}

static bool
gives_hints(const struct model_filter *f)
{
	return f->kind == PREFIX || f->kind == COLUMN_PREFIX ||
	       f->kind == MULTIPLE || f->kind == RANGE || f->kind == STAMPS;
}

static bool
row_key(struct model_filter *f, const char *row)
{
	bool any = false, all = true, hinting = false;
	int order = strcmp(row, f->text[0]);

	switch (f->kind) {
	case PREFIX:
		f->begun = true;
		f->matched = begins(row, f->text[0]);
		f->done |= !f->matched && (order > 0) != f->reversed;
		return f->done;
	case STOP:
		f->done |= f->reversed ? order < 0 : order > 0;
		return f->done;
	case ROW:
		f->rejected = !holds(f, row);
		return f->rejected;
	case COUNT_GET:
	case PAGE:
		return all_remaining(f);
	case WHILE:
		if (all_remaining(f))
			return true;
		any = row_key(f->child[0], row);
		f->done |= any;
		return any;
	case AND:
		for (int i = 0; i < f->count; i++) {
			if (all_remaining(f->child[i]))
				return true;
			if (row_key(f->child[i], row))
				any = true;
			else
				hinting |= gives_hints(f->child[i]);
		}
		return any && !hinting;
	case OR:
		for (int i = 0; i < f->count; i++)
			all &= all_remaining(f->child[i]) ||
			       row_key(f->child[i], row);
		return all;
	default:
		return false;
	}
}

static enum code ask(struct model_filter *f, const struct model_cell *c);

static bool
includes(enum code code)
{
	return code == INCLUDE || code == INCLUDE_COL || code == INCLUDE_ROW;
}

static int
step_of(enum code code)
{
	return code == HINT ? 0 : (int)code / 2;
}

static enum code
code_of(bool include, int step)
{
	return (enum code)(2 * step + !include);
}

/* The farther hint, NULL the nearest. */
static const char *
farther(const char *a, const char *b)
{
	if (!a || !b)
		return a ? a : b;
	if (a == ROW_AHEAD || b == ROW_AHEAD)
		return ROW_AHEAD;
	return strcmp(a, b) < 0 ? b : a;
}

static enum code
ask_and(struct model_filter *f, const struct model_cell *c)
{
	enum code code = INCLUDE;
	bool hinted = false, stopped = false;

	f->asked_hint = NULL;
	for (int i = 0; i < f->count; i++) {
		struct model_filter *one = f->child[i];
		if (!stopped && all_remaining(one)) {
			code = NEXT_ROW;
			stopped = true;
			continue;
		}
		if (stopped && !gives_hints(one))
			continue;
		enum code answer = ask(one, c);
		if (answer == HINT) {
			f->asked_hint = farther(f->asked_hint, one->asked_hint);
			hinted = true;
		}
		if (stopped)
			continue;
		int step = step_of(answer) > step_of(code) ? step_of(answer)
							   : step_of(code);
		code = code_of(includes(answer), step);
		stopped = !includes(answer);
	}
	return hinted ? HINT : code;
}

/* What the last answer of a child still says of this cell; false: nothing. */
static bool
still_holds(const struct model_filter *f, int i, const struct model_cell *c,
    enum code *code)
{
	const struct model_cell *last = f->last_cell[i];

	if (!last)
		return false;
	bool family = strcmp(last->family, c->family) == 0;
	bool column = family && strcmp(last->qualifier, c->qualifier) == 0;
	switch (f->last[i]) {
	case INCLUDE_COL:
	case NEXT_COL:
		*code = NEXT_COL;
		return column;
	case INCLUDE_ROW:
	case NEXT_ROW:
		*code = NEXT_ROW;
		return family;
	case HINT:
		*code = HINT;
		if (f->hint[i] == ROW_AHEAD)
			return true;
		return f->hint[i] && !f->reversed && family &&
		       strcmp(c->qualifier, f->hint[i]) < 0;
	default:
		return false;
	}
}

static enum code
ask_or(struct model_filter *f, const struct model_cell *c)
{
	bool any = false, include = false, only_hints = true;
	const char *nearest = NULL;
	int step = 2;

	for (int i = 0; i < f->count; i++) {
		enum code code;
		f->included[i] = false;
		if (all_remaining(f->child[i]))
			continue;
		if (!still_holds(f, i, c, &code)) {
			code = ask(f->child[i], c);
			f->hint[i] = f->child[i]->asked_hint;
		}
		f->last[i] = code;
		f->last_cell[i] = c;
		f->included[i] = includes(code);
		include |= includes(code);
		only_hints &= code == HINT;
		if (!any || farther(nearest, f->hint[i]) == nearest)
			nearest = f->hint[i];
		step = step_of(code) < step ? step_of(code) : step;
		any = true;
	}
	if (any && only_hints) {
		f->asked_hint = nearest;
		return HINT;
	}
	return any ? code_of(include, step) : SKIP;
}

static enum code
ask_range(struct model_filter *f, const struct model_cell *c)
{
	int least = strcmp(c->qualifier, f->text[0]);
	int most = strcmp(c->qualifier, f->text[1]);

	f->asked_hint = f->text[0];
	if (*f->text[0] && least < 0)
		return HINT;
	if (*f->text[0] && least == 0 && !f->flag[0])
		return NEXT_COL;
	if (!*f->text[1] || most < 0 || (most == 0 && f->flag[1]))
		return INCLUDE;
	return NEXT_ROW;
}

static enum code
ask_multiple(struct model_filter *f, const struct model_cell *c)
{
	f->asked_hint = NULL;
	for (int i = 0; i < f->given; i++) {
		if (begins(c->qualifier, f->text[i]))
			return INCLUDE;
		if (strcmp(c->qualifier, f->text[i]) < 0 &&
		    (!f->asked_hint || strcmp(f->text[i], f->asked_hint) < 0))
			f->asked_hint = f->text[i];
	}
	return !f->given ? INCLUDE : f->asked_hint ? HINT : NEXT_ROW;
}

static enum code
ask_stamps(const struct model_filter *f, const struct model_cell *c)
{
	bool below = true;

	for (int i = 0; i < 3; i++) {
		if (c->timestamp == f->number[i])
			return INCLUDE;
		below &= c->timestamp < f->number[i];
	}
	return below ? NEXT_COL : SKIP;
}

static enum code
ask_single(struct model_filter *f, const struct model_cell *c)
{
	bool newest = !f->given || f->flag[1];

	if (f->matched)
		return INCLUDE;
	if (newest && f->found)
		return NEXT_ROW;
	if (!is_column(f, c))
		return INCLUDE;
	f->found = true;
	f->matched = holds(f, c->value);
	return f->matched || !newest ? INCLUDE : NEXT_ROW;
}

static enum code
ask_dependent(struct model_filter *f, const struct model_cell *c)
{
	if (!is_column(f, c))
		return INCLUDE;
	if (f->given > 1 && !holds(f, c->value))
		return SKIP;
	f->stamps[f->stamp_count++] = c->timestamp;
	return f->given && f->flag[0] ? SKIP : INCLUDE;
}

static enum code
ask_counting(struct model_filter *f)
{
	if (f->kind == COUNT_GET)
		return ++f->seen > f->number[0] ? NEXT_COL : INCLUDE_COL;
	if (f->kind == FIRST)
		return f->seen++ ? NEXT_ROW : INCLUDE;
	if (f->seen >= f->number[0] + f->number[1])
		return NEXT_ROW;
	return f->seen++ < f->number[1] ? NEXT_COL : INCLUDE_COL;
}

static enum code
ask_wrapped(struct model_filter *f, const struct model_cell *c)
{
	enum code code = ask(f->child[0], c);

	f->asked_hint = NULL;
	if (code != INCLUDE && f->kind == WHILE)
		f->done = true;
	if (code != INCLUDE && f->kind == SKIPPING)
		f->rejected = true;
	return code;
}

static enum code
ask(struct model_filter *f, const struct model_cell *c)
{
	switch (f->kind) {
	case PREFIX:
		f->asked_hint = ROW_AHEAD;
		return f->matched	      ? INCLUDE
		       : f->begun && !f->done ? HINT
					      : NEXT_ROW;
	case COLUMN_PREFIX:
		f->asked_hint = f->text[0];
		return begins(c->qualifier, f->text[0])	      ? INCLUDE
		       : strcmp(c->qualifier, f->text[0]) < 0 ? HINT
							      : NEXT_ROW;
	case MULTIPLE:
		return ask_multiple(f, c);
	case RANGE:
		return ask_range(f, c);
	case FIRST:
	case COUNT_GET:
	case PAGINATION:
		return ask_counting(f);
	case STOP:
		return f->done ? NEXT_ROW : INCLUDE;
	case STAMPS:
		return ask_stamps(f, c);
	case ROW:
		return f->rejected ? NEXT_ROW : INCLUDE;
	case FAMILY:
		return holds(f, c->family) ? INCLUDE : NEXT_ROW;
	case QUALIFIER:
		return holds(f, c->qualifier) ? INCLUDE : SKIP;
	case VALUE:
		return holds(f, c->value) ? INCLUDE : SKIP;
	case SINGLE:
	case EXCLUDE:
		return ask_single(f, c);
	case DEPENDENT:
		return ask_dependent(f, c);
	case COLUMN_VALUE:
		if (!is_column(f, c))
			return f->found ? NEXT_ROW : NEXT_COL;
		f->found = true;
		return holds(f, c->value) ? INCLUDE : SKIP;
	case SKIPPING:
	case WHILE:
		return ask_wrapped(f, c);
	case AND:
		return ask_and(f, c);
	case OR:
		return ask_or(f, c);
	default:
		return INCLUDE;
	}
}

static bool
has_row_step(const struct model_filter *f)
{
	for (int i = 0; i < f->count; i++)
		if (has_row_step(f->child[i]))
			return true;
	return f->kind == PAGE || f->kind == SINGLE || f->kind == EXCLUDE ||
	       f->kind == DEPENDENT || f->kind == SKIPPING || f->kind == WHILE;
}

static bool
drops_row(struct model_filter *f)
{
	bool answer;

	switch (f->kind) {
	case PREFIX:
		return !f->matched;
	case ROW:
	case SKIPPING:
		return f->rejected;
	case PAGE:
		return ++f->seen > f->number[0];
	case SINGLE:
	case EXCLUDE:
		return f->found ? !f->matched : f->given && f->flag[0];
	case WHILE:
		answer = drops_row(f->child[0]);
		f->done |= answer;
		return answer;
	case AND:
		for (int i = 0; i < f->count; i++)
			if (drops_row(f->child[i]))
				return true;
		return false;
	case OR:
		for (int i = 0; i < f->count; i++)
			if (!drops_row(f->child[i]))
				return false;
		return true;
	default:
		return false;
	}
}

/* The row's cells and what their values became. */
struct gathered {
	const struct model_cell *cell[CELLS_OF_ROW];
	char mark[CELLS_OF_ROW]; /* 0, e, l */
	int count;
};

static bool
takes_out(const struct model_filter *f, const struct model_cell *c)
{
	if (f->kind == EXCLUDE)
		return is_column(f, c);
	if (f->kind != DEPENDENT)
		return false;
	for (int i = 0; i < f->stamp_count; i++)
		if (f->stamps[i] == c->timestamp)
			return false;
	return true;
}

static void
row_cells(const struct model_filter *f, struct gathered *g)
{
	int left = 0;

	if (f->kind == AND || f->kind == OR)
		for (int i = 0; i < f->count; i++)
			row_cells(f->child[i], g);
	for (int i = 0; i < g->count; i++)
		if (!takes_out(f, g->cell[i])) {
			g->cell[left] = g->cell[i];
			g->mark[left++] = g->mark[i];
		}
	g->count = left;
}

static void
transform(const struct model_filter *f, char *mark)
{
	if (f->kind == KEY_ONLY)
		*mark = f->given && f->flag[0] ? 'l' : 'e';
	for (int i = 0; i < f->count; i++)
		if (f->kind != OR || f->included[i])
			transform(f->child[i], mark);
}

static void
reset(struct model_filter *f)
{
	for (int i = 0; i < f->count; i++) {
		reset(f->child[i]);
		f->last_cell[i] = NULL;
		f->hint[i] = NULL;
		f->included[i] = false;
	}
	f->found = f->matched = f->rejected = f->begun = false;
	f->stamp_count = 0;
	if (f->kind != PAGE)
		f->seen = 0;
}

/* --- the scan ----------------------------------------------------------- */

static void
set_reversed(struct model_filter *f, bool reversed)
{
	f->reversed = reversed;
	for (int i = 0; i < f->count; i++)
		set_reversed(f->child[i], reversed);
}

/* Asks about the cells of a row; true: nothing more is to be asked. */
static bool
gather_row(struct model_filter *f, const struct model_cell *cells, int count,
    uint32_t versions, struct gathered *g)
{
	const struct model_cell *last = NULL;
	enum code code = INCLUDE;
	uint32_t version = 0;

	if (row_key(f, cells->row))
		return all_remaining(f);
	for (int i = 0; i < count; i++) {
		const struct model_cell *c = &cells[i];
		bool family = last && strcmp(last->family, c->family) == 0;
		bool column =
		    family && strcmp(last->qualifier, c->qualifier) == 0;
		bool same = i && strcmp(c[-1].family, c->family) == 0 &&
			    strcmp(c[-1].qualifier, c->qualifier) == 0;
		version = same ? version + 1 : 0;
		if (version >= versions || (column && step_of(code) == 1) ||
		    (family && step_of(code) == 2))
			continue;
		if (code == HINT && f->asked_hint == ROW_AHEAD)
			continue;
		if (code == HINT && family && f->asked_hint && !f->reversed &&
		    strcmp(c->qualifier, f->asked_hint) < 0)
			continue;
		if (all_remaining(f))
			return true;
		last = c;
		code = ask(f, c);
		if (!includes(code))
			continue;
		g->mark[g->count] = *c->value ? 0 : 'e';
		transform(f, &g->mark[g->count]);
		g->cell[g->count++] = c;
	}
	return all_remaining(f);
}

static void
give(const struct gathered *g, char *out, size_t room)
{
	for (int i = 0; i < g->count; i++) {
		size_t used = strlen(out);
		char mark[2] = {g->mark[i], 0};
		snprintf(out + used, room - used, "%s%d%s", used ? " " : "",
		    g->cell[i]->number, mark);
	}
}

void
model_filter_scan(struct model_filter *f, const struct model_cell *cells,
    size_t count, uint32_t versions, bool reversed, char *out, size_t room)
{
	size_t low = 0, high = count;
	bool ended = false;

	*out = 0;
	set_reversed(f, reversed);
	while (low < high && !ended && !all_remaining(f)) {
		struct gathered g = {.count = 0};
		size_t from = reversed ? high - 1 : low, to = from + 1;
		while (from > low &&
		       strcmp(cells[from - 1].row, cells[from].row) == 0)
			from--;
		while (to < high && strcmp(cells[to].row, cells[from].row) == 0)
			to++;
		ended =
		    gather_row(f, cells + from, (int)(to - from), versions, &g);
		bool empty = !g.count;
		if (has_row_step(f))
			row_cells(f, &g);
		if (!empty && g.count && !drops_row(f))
			give(&g, out, room);
		reset(f);
		low = reversed ? low : to;
		high = reversed ? from : high;
	}
}
