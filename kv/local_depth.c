#include "local_depth.h"

#include <stdlib.h>

#define SLOTS 1024

struct depths {
	struct depth slots[SLOTS];
};

struct depths *
depths_new(void)
{
	return calloc(1, sizeof(struct depths));
}

void
depths_free(struct depths *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < SLOTS; i++)
		buf_release(&d->slots[i].column);
	free(d);
}

void
depths_forget(struct local *l)
{
	for (size_t i = 0; i < SLOTS; i++)
		l->depths->slots[i].cells = 0;
}

struct depth *
depth_of(struct local *l, uint32_t cells, struct slice column)
{
	return &l->depths->slots[slice_hash(column, cells) % SLOTS];
}

bool
depth_is(const struct depth *d, uint32_t cells, struct slice column)
{
	return d->cells == cells && slice_equal(buf_slice(&d->column), column);
}
