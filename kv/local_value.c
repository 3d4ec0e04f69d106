#include "local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "why.h"

#define LOOKS 100 /* at a value that is replaced each time */

struct local_value {
	struct value value;
	struct local *local;
	struct stored stored;
	uint32_t blobs;
	bool pinned;
};

static int
no_value(void)
{
	return why(ENOENT, "no such cell, version or file");
}

/* The record a place names, in t's snapshot; table: NULL for .schema's. */
static int
find(struct txn *t, const struct place *place, struct version version,
    const struct table *table, struct local_value *v)
{
	if (place->level == LEVEL_DOT)
		return side_dot_find(t, table, place, &v->stored, &v->blobs);
	const struct local_family *f = table_family(table, place->family);
	if (!f)
		return no_value();
	v->blobs = f->blobs;
	return column_find(
	    t, f, place->row, place->qualifier, version, &v->stored);
}

static void
describe(struct local_value *v, const struct table *table)
{
	const struct stored *s = &v->stored;
	struct table root = {.owner = v->local->owner};

	v->value.info = (struct info){
	    .timestamp = s->timestamp,
	    .expires = s->expires,
	    .size = s->record.size,
	};
	attrs_complete(table ? table : &root, s->timestamp, &s->record.attrs,
	    CELL_MODE, &v->value.info.attrs);
}

/* Finds and pins in one snapshot. -EAGAIN: collected meanwhile. */
static int
look(struct local_value *v, const struct place *place, struct version version,
    const struct table *table)
{
	struct txn t;

	stored_release(&v->stored);
	int r = txn_read(v->local, &t);
	if (r == 0)
		r = find(&t, place, version, table, v);
	if (r == 1)
		r = no_value();
	if (r == 0 && v->stored.record.blob) {
		r = blob_pin(v->local, v->blobs, v->stored.record.blob);
		v->pinned = r == 0;
	}
	return txn_end(&t, r);
}

int
local_value_open(struct engine *e, const struct place *place,
    struct version version, struct value **out)
{
	struct local_value *v = calloc(1, sizeof(*v));
	struct table *table = NULL;
	int r = v ? 0 : -ENOMEM;

	*out = NULL;
	if (r == 0 && place->table.size)
		r = table_get((struct local *)e, place->table, &table);
	if (r)
		goto out;
	v->local = (struct local *)e;
	r = -EAGAIN;
	for (int i = 0; r == -EAGAIN && i < LOOKS; i++)
		r = look(v, place, version, table);
	if (r)
		goto out;
	describe(v, table);
	*out = &v->value;
out:
	if (r && v)
		local_value_close(&v->value);
	table_put(table);
	return r;
}

int64_t
local_value_read(struct value *value, uint64_t offset, void *to, size_t size)
{
	struct local_value *v = (struct local_value *)value;
	const struct record *record = &v->stored.record;

	if (record->blob)
		return blob_read(v->local, v->blobs, record->blob, record->size,
		    offset, to, size);
	if (offset >= record->size)
		return 0;
	if (size > record->size - offset)
		size = (size_t)(record->size - offset);
	if (size)
		memcpy(to, record->value.data + offset, size);
	return (int64_t)size;
}

void
local_value_close(struct value *value)
{
	struct local_value *v = (struct local_value *)value;

	if (!v)
		return;
	if (v->pinned)
		blob_unpin(v->local, v->blobs, v->stored.record.blob);
	stored_release(&v->stored);
	free(v);
}
