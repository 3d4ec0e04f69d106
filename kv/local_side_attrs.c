#include "local_side_attrs.h"

#include <errno.h>

#include "local_cells.h"

void
side_defaults(
    struct local *l, const struct table *table, bool file, struct attrs *out)
{
	*out = table ? table->owner : l->owner;
	out->set = ATTR_MODE | ATTR_UID | ATTR_GID;
	if (file)
		out->mode = CELL_MODE;
}

void
side_reduce(
    struct local *l, const struct table *table, bool file, struct attrs *attrs)
{
	struct attrs all;

	side_defaults(l, table, file, &all);
	const struct attrs defaults = all;
	attrs_override(&all, attrs);
	if (all.mode == defaults.mode && all.uid == defaults.uid &&
	    all.gid == defaults.gid)
		all.set &= ATTR_MTIME;
	*attrs = all;
}

/* The side table that attributes of a place stand in. */
static uint32_t
attrs_side(const struct table *table, const struct place *dir)
{
	return dir->level == LEVEL_SCHEMA_FILE ? ROOT_SIDE : side_of(table);
}

int
side_get_attrs(
    struct txn *t, uint32_t side, const struct place *dir, struct attrs *out)
{
	struct buf key = {0}, stored = {0};
	struct record record;

	*out = (struct attrs){0};
	side_dir_key('a', dir, &key);
	int r = buf_status(&key);
	if (r == 0)
		r = txn_get(t, side, buf_slice(&key), &stored);
	if (r == 0) {
		r = record_decode(buf_slice(&stored), &record);
		*out = record.attrs;
	}
	buf_release(&key);
	buf_release(&stored);
	return r == 1 ? 0 : r;
}

int
side_put_attrs(struct txn *t, struct table *table, const struct place *dir,
    const struct attrs *attrs)
{
	struct buf key = {0}, stored = {0};
	struct record record = {.attrs = *attrs};
	bool file = dir->level == LEVEL_SCHEMA_FILE;

	/* What control's own default is, is not known here. */
	if (dir->level != LEVEL_CONTROL)
		side_reduce(t->local, table, file, &record.attrs);
	record_encode(&record, &stored);
	side_dir_key('a', dir, &key);
	int r = buf_status(&key);
	if (r == 0)
		r = buf_status(&stored);
	if (r == 0 && record.attrs.set && table && !file)
		atomic_fetch_or(&table->side_may, SIDE_ATTRS);
	if (r == 0 && record.attrs.set)
		r = txn_put(t, attrs_side(table, dir), buf_slice(&key),
		    buf_slice(&stored));
	else if (r == 0)
		r = txn_remove(t, attrs_side(table, dir), buf_slice(&key));
	buf_release(&key);
	buf_release(&stored);
	return r;
}

bool
side_may_keep(const struct table *table, const struct place *dir)
{
	return !table || dir->level == LEVEL_TABLE ||
	       dir->level == LEVEL_SCHEMA_FILE || side_may(table, SIDE_ATTRS);
}

static int
schema_size(const struct table *table, uint64_t *out)
{
	struct buf text = {0};

	schema_print(&table->schema, &text);
	int r = buf_status(&text);
	*out = text.size;
	buf_release(&text);
	return r;
}

/* Whether a row or family may be gone without anybody's doing. */
static bool
may_expire(const struct table *table)
{
	for (size_t i = 0; i < table->schema.count; i++)
		if (table->families[i].rules.ttl)
			return true;
	return side_may(table, SIDE_TTL);
}

int
side_dir_info(struct txn *t, const struct table *table, const struct place *dir,
    struct info *out)
{
	struct attrs kept = {0};
	int64_t created = table ? table->created : t->local->created;

	*out = (struct info){.timestamp = created, .expires = NEVER};
	side_defaults(
	    t->local, table, dir->level == LEVEL_SCHEMA_FILE, &out->attrs);
	out->attrs.mtime = timespec_of_ms(created);
	int r = 0;
	if (side_may_keep(table, dir))
		r = side_get_attrs(t, attrs_side(table, dir), dir, &kept);
	attrs_override(&out->attrs, &kept);
	out->attrs.set = kept.set;
	if (r == 0)
		r = side_is_kept(t, table, dir);
	out->kept = r == 1;
	if (table && may_expire(table))
		out->expires = t->now + 1000; /* with the cells it has */
	if (r >= 0 && dir->level == LEVEL_SCHEMA_FILE)
		r = schema_size(table, &out->size);
	if (r < 0)
		*out = (struct info){0};
	return r < 0 ? r : 0;
}
