#include "local_dots.h"

#include <errno.h>

#include "local_blob.h"
#include "local_methods.h"
#include "local_place.h"
#include "local_side_attrs.h"
#include "why.h"

/* The table that the values of dot files at a place stand in. false: none,
 * the family is not declared. */
static bool
blobs_at(const struct table *table, const struct place *place, uint32_t *blobs)
{
	const struct local_family *f;

	*blobs = ROOT_BLOBS;
	if (!table)
		return true;
	f = table_family(table, place->family);
	*blobs = f ? f->blobs : 0;
	return f;
}

int
side_dot_find(struct txn *t, const struct table *table,
    const struct place *place, struct stored *out, uint32_t *blobs)
{
	struct buf key = {0};

	*out = (struct stored){.expires = NEVER};
	if (!blobs_at(table, place, blobs) || !side_may(table, SIDE_FILES))
		return 1;
	side_dot_key(place, &key);
	int r = buf_status(&key);
	if (r == 0)
		r = txn_get(t, side_of(table), buf_slice(&key), &out->bytes);
	if (r == 0)
		r = record_decode(buf_slice(&out->bytes), &out->record);
	buf_release(&key);
	if (r) {
		stored_release(out);
		return r;
	}
	const struct timespec *mtime = &out->record.attrs.mtime;
	out->timestamp =
	    (int64_t)mtime->tv_sec * 1000 + mtime->tv_nsec / 1000000;
	return 0;
}

/* --- pieces of transactions ------------------------------------------- */

int
side_dot_store(struct txn *t, struct table *table, const struct place *place,
    const struct record *record)
{
	struct buf key = {0}, bytes = {0};
	struct record reduced = *record;

	side_reduce(t->local, table, place->level == LEVEL_DOT, &reduced.attrs);
	record_encode(&reduced, &bytes);
	side_dot_key(place, &key);
	int r = buf_status(&key);
	if (r == 0)
		r = buf_status(&bytes);
	if (r == 0 && table)
		atomic_fetch_or(&table->side_may, SIDE_FILES);
	if (r == 0)
		r = txn_put(
		    t, side_of(table), buf_slice(&key), buf_slice(&bytes));
	buf_release(&key);
	buf_release(&bytes);
	return r;
}

int
side_dot_erase(struct txn *t, const struct table *table,
    const struct place *place, const struct stored *found, uint32_t blobs,
    struct dropped *d)
{
	struct buf key = {0};

	side_dot_key(place, &key);
	int r = buf_status(&key);
	if (r == 0)
		r = txn_remove(t, side_of(table), buf_slice(&key));
	if (r == 0 && found->record.blob)
		r = dropped_add(t, d, blobs, found->record.blob);
	buf_release(&key);
	return r;
}

int
side_keep_above(struct txn *t, struct table *table, const struct place *place)
{
	struct place above = *place;

	if (!table || (place->level == LEVEL_DOT && place->dot_dir.size))
		return 0;
	above.level = place->qualifier.size ? LEVEL_COLUMN_PART : LEVEL_FAMILY;
	int r = side_there(t, table, &above, slice_of(NULL, 0));
	return r ? (r < 0 ? r : 0) : side_keep(t, table, &above);
}

/* --- putting ---------------------------------------------------------- */

int
side_dot_room(struct txn *t, const struct table *table, const struct place *dot)
{
	struct place dir = *dot;

	dir.level = LEVEL_DOT_DIR;
	if (dot->dot_dir.size == 0)
		dir.dot_dir = dot->dot;
	int r = side_there(t, table, &dir, slice_of(NULL, 0));
	if (r < 0)
		return r;
	if (dot->dot_dir.size == 0 && r)
		return why(EISDIR, "%.*s: it is a dot directory",
		    (int)dot->dot.size, (const char *)dot->dot.data);
	if (dot->dot_dir.size && !r)
		return why(ENOENT, "%.*s: there is no such dot directory",
		    (int)dot->dot_dir.size, (const char *)dot->dot_dir.data);
	return 0;
}

static int
replace_dot(struct txn *t, struct table *table, struct put *p)
{
	struct record record = {.blob = p->blob,
	    .size = p->source->size,
	    .value = buf_slice(&p->value)};
	struct stored old;
	uint32_t blobs;

	int r = side_dot_find(t, table, p->dot, &old, &blobs);
	if (r == 0 && p->flags & MUTATE_ABSENT)
		r = why(EEXIST, "%.*s: it is there already",
		    (int)p->dot->dot.size, (const char *)p->dot->dot.data);
	if (r == 0)
		r = side_dot_erase(t, table, p->dot, &old, blobs, &p->dropped);
	else if (r == 1)
		r = side_dot_room(t, table, p->dot);
	if (r == 0) {
		record.attrs = old.record.attrs;
		record.attrs.mtime = timespec_of_ms(t->now);
		record.attrs.set |= ATTR_MTIME;
		attrs_override(&record.attrs, p->attrs);
		r = side_dot_store(t, table, p->dot, &record);
	}
	if (r == 0 && p->blob)
		r = blob_adopt(t, p->blobs, p->blob);
	stored_release(&old);
	return r;
}

int
put_apply(struct txn *t, void *context)
{
	struct put *p = context;
	struct table *table;
	uint32_t blobs;

	buf_clear(&p->dropped.ids);
	int r = place_table(t->local, p->dot, &table);
	if (r)
		return r;
	/* What was prepared for another family's tables is done again. */
	if (!blobs_at(table, p->dot, &blobs) || blobs != p->blobs)
		r = -ESTALE;
	if (r == 0)
		r = replace_dot(t, table, p);
	table_put(table);
	return r;
}

/* Finds, in an open table declares, where the value goes, and its limit. */
static int
find_blobs(
    struct local *l, const struct place *dot, uint32_t *blobs, uint64_t *limit)
{
	struct table *table;

	*limit = SCHEMA_DOT_MAX;
	int r = place_table(l, dot, &table);
	if (r)
		return r;
	if (!blobs_at(table, dot, blobs)) {
		table_put(table);
		r = local_family_declare(&l->engine, dot->table, dot->family);
		return r ? r : -ESTALE;
	}
	if (table)
		*limit =
		    table_family(table, dot->family)->declared.max_cell_size;
	table_put(table);
	return 0;
}

static int
write_value(struct put *p)
{
	const struct source *source = p->source;
	uint64_t limit;

	int r = find_blobs(p->local, p->dot, &p->blobs, &limit);
	if (r)
		return r;
	if (source->size > limit)
		return why(EFBIG,
		    "%.*s: %llu bytes are more than the "
		    "%llu that max_cell_size allows",
		    (int)p->dot->dot.size, (const char *)p->dot->dot.data,
		    (unsigned long long)source->size,
		    (unsigned long long)limit);
	if (source->size > INLINE_MAX)
		return blob_write(p->local, p->blobs, source, &p->blob);
	r = buf_resize(&p->value, source->size);
	if (r == 0 && source->size)
		r = source->read(source, 0, p->value.data, source->size);
	return r;
}

/* Whether its table was emptied or dropped while the value was written. */
static bool
has_moved(const struct put *p)
{
	uint64_t limit;
	uint32_t blobs;

	return find_blobs(p->local, p->dot, &blobs, &limit) ||
	       blobs != p->blobs;
}

int
put_prepare(struct put *p)
{
	int r = -ESTALE;

	while (!p->ready && r == -ESTALE) {
		put_release(p, false);
		r = write_value(p);
		p->ready = r == 0;
	}
	return p->ready ? 0 : r;
}

int
put_settle(struct put *p, int r)
{
	p->ready = r != -ESTALE || !has_moved(p);
	return p->ready ? r : 1;
}

void
put_release(struct put *p, bool committed)
{
	if (p->blob && !committed)
		blob_collect(p->local, p->blobs, p->blob);
	if (committed)
		dropped_collect(p->local, &p->dropped);
	buf_release(&p->dropped.ids);
	buf_release(&p->value);
	p->blob = 0;
}

int
local_dot_put(struct engine *e, const struct place *dot,
    const struct source *source, const struct attrs *attrs, unsigned flags)
{
	struct put p = {.local = (struct local *)e,
	    .dot = dot,
	    .source = source,
	    .attrs = attrs,
	    .flags = flags};
	int r = 1;

	while (r == 1) {
		r = put_prepare(&p);
		if (r == 0)
			r = put_settle(&p,
			    local_write(
				p.local, ORDERED_WRITE, put_apply, &p));
	}
	put_release(&p, r == 0);
	return r;
}

/* --- removing --------------------------------------------------------- */

struct removal {
	const struct place *dot;
	struct dropped dropped;
};

static int
remove_body(struct txn *t, void *context)
{
	struct removal *removal = context;
	const struct place *dot = removal->dot;
	struct stored found = {0};
	struct table *table;
	uint32_t blobs;

	buf_clear(&removal->dropped.ids);
	int r = place_table(t->local, dot, &table);
	if (r)
		return r;
	r = side_dot_find(t, table, dot, &found, &blobs);
	if (r == 1)
		r = why(ENOENT, "%.*s: there is no such dot file",
		    (int)dot->dot.size, (const char *)dot->dot.data);
	if (r == 0)
		r = side_dot_erase(
		    t, table, dot, &found, blobs, &removal->dropped);
	if (r == 0)
		r = side_keep_above(t, table, dot);
	stored_release(&found);
	table_put(table);
	return r;
}

int
local_dot_remove(struct engine *e, const struct place *dot)
{
	struct local *l = (struct local *)e;
	struct removal removal = {.dot = dot};

	int r = local_write(l, ORDERED_REMOVE, remove_body, &removal);
	if (r == 0)
		dropped_collect(l, &removal.dropped);
	else
		buf_release(&removal.dropped.ids);
	return r;
}

/* --- telling and setting ---------------------------------------------- */

int
side_info(struct txn *t, const struct table *table, const struct place *place,
    struct info *out)
{
	struct stored found;
	uint32_t blobs;

	*out = (struct info){0};
	if (place->level != LEVEL_DOT && place->level != LEVEL_DOT_DIR)
		return side_dir_info(t, table, place, out);
	int r = side_dot_find(t, table, place, &found, &blobs);
	if (r == 0) {
		*out = (struct info){.timestamp = found.timestamp,
		    .expires = NEVER,
		    .size = found.record.size};
		side_defaults(
		    t->local, table, place->level == LEVEL_DOT, &out->attrs);
		attrs_override(&out->attrs, &found.record.attrs);
		out->attrs.set = found.record.attrs.set;
	}
	stored_release(&found);
	return r == 1 ? -ENOENT : r;
}
