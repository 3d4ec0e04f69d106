#include "local_methods.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "local_blob.h"
#include "local_dots.h"
#include "local_place.h"
#include "why.h"

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

struct opening {
	struct local_value *value;
	const struct place *place;
	struct version version;
};

/* Finds and pins in one snapshot. -EAGAIN: collected meanwhile. */
static int
open_body(struct txn *t, struct table *table, void *context)
{
	struct opening *o = context;
	struct local_value *v = o->value;

	stored_release(&v->stored);
	int r = find(t, o->place, o->version, table, v);
	if (r)
		return r == 1 ? no_value() : r;
	describe(v, table);
	if (!v->stored.record.blob)
		return 0;
	r = blob_pin(t->local, v->blobs, v->stored.record.blob);
	v->pinned = r == 0;
	return r;
}

int
local_value_open(struct engine *e, const struct place *place,
    struct version version, struct value **out)
{
	struct local_value *v = calloc(1, sizeof(*v));
	struct opening opening = {v, place, version};

	*out = NULL;
	if (!v)
		return -ENOMEM;
	v->local = (struct local *)e;
	int r = place_read(v->local, place, open_body, &opening);
	if (r) {
		local_value_close(&v->value);
		return r;
	}
	*out = &v->value;
	return 0;
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
