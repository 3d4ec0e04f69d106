#include "local_draft.h"

#include <errno.h>
#include <stdlib.h>

#include "local_dots.h"
#include "local_methods.h"
#include "local_mutate.h"

struct draft {
	struct content *content;
	bool of_cell;
	bool stored; /* in a transaction that was committed */
	struct work work; /* of a cell */
	struct mutation mutation;
	struct op ops[2]; /* it comes, and the version it replaces goes */
	struct put put; /* of a dot file */
};

static void
draft_cell(struct draft *d, const struct place *place, struct version version)
{
	struct content *c = d->content;
	bool exactly = version.which == VERSION_AT;

	d->of_cell = true;
	d->ops[0] = (struct op){.type = c->append ? OP_APPEND : OP_PUT,
	    .family = place->family,
	    .qualifier = place->qualifier,
	    .timestamp = exactly ? version.number : TS_LATEST,
	    .source = c->source,
	    .attrs = c->attrs,
	    .fresh = c->fresh};
	d->ops[1] = (struct op){.type = OP_DELETE_VERSION,
	    .family = place->family,
	    .qualifier = place->qualifier,
	    .timestamp = c->replaces};
	d->mutation = (struct mutation){.table = place->table,
	    .row = place->row,
	    .ops = d->ops,
	    .count = c->replaces && !exactly ? 2 : 1,
	    .flags = MUTATE_KEEP | (exactly ? MUTATE_REFUSE_PUSHED : 0)};
	d->work.m = &d->mutation;
}

int
local_draft_open(struct engine *e, const struct place *place,
    struct version version, struct content *content, struct draft **out)
{
	struct draft *d = calloc(1, sizeof(*d));

	*out = d;
	if (!d)
		return -ENOMEM;
	d->content = content;
	d->work.local = d->put.local = (struct local *)e;
	d->put.dot = place;
	d->put.source = content->source;
	d->put.attrs = &content->attrs;
	if (place->level == LEVEL_COLUMN)
		draft_cell(d, place, version);
	return 0;
}

bool
draft_ready(const struct draft *d)
{
	return d->of_cell ? d->work.ready : d->put.ready;
}

int
local_draft_prepare(struct draft *d)
{
	return d->of_cell ? work_prepare(&d->work) : put_prepare(&d->put);
}

int
draft_apply(struct txn *t, struct draft *d)
{
	return d->of_cell ? mutation_apply(t, &d->work)
			  : put_apply(t, &d->put);
}

int
draft_settle(struct draft *d, int r)
{
	d->stored = r == 0;
	r = d->of_cell ? work_settle(&d->work, r) : put_settle(&d->put, r);
	d->content->stored = !d->stored ? 0 : d->of_cell ? d->ops[0].stored : 1;
	d->content->cleared = d->stored && d->ops[0].cleared;
	return r;
}

static int
apply_alone(struct txn *t, void *draft)
{
	return draft_apply(t, draft);
}

int
local_draft_store(struct draft *d)
{
	if (!draft_ready(d))
		return 1;
	return draft_settle(d,
	    local_write(d->work.local, ORDERED_WRITE, apply_alone, d));
}

void
local_draft_close(struct draft *d)
{
	work_release(&d->work, d->stored);
	put_release(&d->put, d->stored);
	free(d);
}
