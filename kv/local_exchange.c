#include "local_move.h"

#include <errno.h>
#include <string.h>

#include "local_column.h"
#include "why.h"

/* A qualifier that no column can have: longer than any. */
#define SPARE_SIZE (QUALIFIER_MAX + 1)

static int
check_places(const struct move *m)
{
	if (m->from->level != LEVEL_COLUMN || m->to->level != LEVEL_COLUMN ||
	    m->from_version.which == VERSION_AT ||
	    m->to_version.which == VERSION_AT)
		return why(EINVAL, "only cells can be exchanged");
	if (m->source != m->target)
		return why(EINVAL, "cells of one table only are exchanged");
	return 0;
}

/* Cleans the column; -ENOENT where nothing is left of it. */
static int
column_of(struct move *m, struct txn *t, const struct place *p,
    const struct local_family **out)
{
	const struct version newest = {.which = VERSION_NEWEST};
	struct stored found = {0};

	*out = table_family(m->source, p->family);
	if (!*out)
		return why(ENOENT, "there is no family %.*s",
		    (int)p->family.size, (const char *)p->family.data);
	int r = column_clean(t, *out, p->row, p->qualifier, &m->dropped);
	if (r == 0)
		r = column_find(t, *out, p->row, p->qualifier, newest, &found);
	stored_release(&found);
	return r == 1 ? why(ENOENT, "one of the two cells is not there") : r;
}

/* By way of a third column, which is there within the transaction only. */
int
move_exchange(struct move *m, struct txn *t)
{
	struct buf name = {0};
	bool moved;

	int r = check_places(m);
	struct span from = {.row = m->from->row,
	    .qualifier = &m->from->qualifier};
	struct span to = {.row = m->to->row, .qualifier = &m->to->qualifier};
	if (r == 0)
		r = column_of(m, t, m->from, &from.family);
	if (r == 0)
		r = column_of(m, t, m->to, &to.family);
	if (r == 0)
		r = buf_resize(&name, SPARE_SIZE);
	if (r == 0)
		memset(name.data, 0xff, name.size);
	const struct slice longest = buf_slice(&name);
	const struct span spare = {from.family, from.row, &longest};
	if (r == 0)
		r = span_move(m, t, &from, &spare, &moved);
	if (r == 0)
		r = span_move(m, t, &to, &from, &moved);
	if (r == 0)
		r = span_move(m, t, &spare, &to, &moved);
	buf_release(&name);
	return r;
}
