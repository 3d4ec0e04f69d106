#include "local_side_ddl.h"

#include <errno.h>

#include "key.h"
#include "local_cells.h"
#include "local_side_attrs.h"

int
side_schema_changed(struct txn *t, const struct table *old, struct table *new)
{
	struct place file = {.level = LEVEL_SCHEMA_FILE};
	struct attrs kept = {0};
	struct buf key = {0};

	if (!old)
		return 0;
	file.table = buf_slice(&old->schema.name);
	int r = side_get_attrs(t, ROOT_SIDE, &file, &kept);
	side_dir_key('a', &file, &key);
	if (r == 0)
		r = buf_status(&key);
	if (r == 0)
		r = txn_remove(t, ROOT_SIDE, buf_slice(&key));
	buf_release(&key);
	if (r || !new)
		return r;
	if (slice_equal(file.table, buf_slice(&new->schema.name))) {
		kept.mtime = timespec_of_ms(t->now);
		kept.set |= ATTR_MTIME;
	}
	file.table = buf_slice(&new->schema.name);
	return side_put_attrs(t, new, &file, &kept);
}

int
side_table_attrs_copy(struct txn *t, const struct table *old, struct table *new)
{
	const struct place dir = {.level = LEVEL_TABLE};
	struct attrs kept;

	int r = side_get_attrs(t, old->side, &dir, &kept);
	return r ? r : side_put_attrs(t, new, &dir, &kept);
}

/* --- families that go ------------------------------------------------- */

/* Whether a key (behind its tag) is in the family. */
static int
in_family(struct slice key, struct slice family)
{
	struct buf part = {0};
	bool continued;

	int r = key_take(&key, &part, &continued);
	buf_clear(&part);
	if (r == 0 && key.size && !continued)
		r = key_take(&key, &part, NULL);
	if (r == 0)
		r = slice_equal(buf_slice(&part), family);
	buf_release(&part);
	return r;
}

static int
is_file_of(struct txn *t, struct slice key, struct slice value, void *context)
{
	(void)t;
	(void)value;
	return in_family(slice_skip(key, 1), *(const struct slice *)context);
}

int
side_family_files(struct txn *t, const struct table *table, struct slice family)
{
	if (!side_may(table, SIDE_FILES))
		return 0;
	return txn_each(t, table->side, slice_text("f"), is_file_of, &family);
}

/* A walk over the whole side table in batches. */
struct forgetting {
	uint32_t side;
	struct slice family;
	bool files_only;
	struct buf from, next;
	bool done;
};

static int
forget_record(struct txn *t, const struct forgetting *f, struct slice key)
{
	int in = key.size > 1 ? in_family(slice_skip(key, 1), f->family) : 0;

	return in == 1 ? txn_remove(t, f->side, key) : in;
}

static int
forget_body(struct txn *t, void *context)
{
	const struct ordered_methods *o = t->local->ordered->methods;
	struct forgetting *f = context;
	struct ordered_cursor *c;
	struct slice key;
	size_t left = BATCH_CELLS;

	f->done = false;
	int r = txn_cursor(t, f->side, &c);
	if (r)
		return r;
	r = o->seek(c, buf_slice(&f->from), SEEK_FROM);
	while (r == 0) {
		r = o->key(c, &key);
		if (r == 0 && f->files_only && key.data[0] != 'f')
			r = 1;
		if (r == 0 && left-- == 0) {
			r = buf_set(&f->next, key);
			break;
		}
		if (r == 0)
			r = forget_record(t, f, key);
		if (r == 0)
			r = o->next(c);
	}
	o->cursor_close(c);
	f->done = r == 1;
	return r == 1 ? 0 : r;
}

int
side_family_forget(struct local *l, const struct table *table,
    struct slice family, bool files_only)
{
	struct forgetting f = {
	    .side = table->side, .family = family, .files_only = files_only};
	int r = 0;

	if (files_only && !side_may(table, SIDE_FILES))
		return 0;
	if (files_only)
		buf_text(&f.from, "f");
	while (r == 0 && !f.done) {
		r = local_interrupted(l);
		if (r == 0)
			r = local_write(l, ORDERED_REMOVE, forget_body, &f);
		if (r == 0 && !f.done)
			r = buf_set(&f.from, buf_slice(&f.next));
	}
	buf_release(&f.from);
	buf_release(&f.next);
	return r;
}
