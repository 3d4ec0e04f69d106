#include "local_clean.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "key.h"
#include "local_admin.h"
#include "local_anew.h"
#include "local_bloom.h"
#include "local_methods.h"
#include "local_side.h"
#include "local_store.h"
#include "local_walk.h"
#include "why.h"

#define SIDE_BATCH 200 /* directories looked at in one transaction */

/* --- cells ------------------------------------------------------------ */

/* One family's clean-up. Reading looks for columns with something out in a
 * snapshot; each is then cleaned whole under the writer lock, which asks
 * again. */
struct cleaning {
	const struct table *table;
	const struct local_family *family;
	struct buf columns; /* of each: its prefix of keys, with a be32 of its
			       size in front */
	struct buf last;    /* the one gathered last */
	struct dropped dropped;
	bool left; /* one transaction was not enough for a column */
};

static int
gather(struct cleaning *c, struct walk *w)
{
	if (slice_equal(buf_slice(&c->last), buf_slice(&w->column)))
		return 0;
	buf_be32(&c->columns, (uint32_t)w->column.size);
	buf_append(&c->columns, buf_slice(&w->column));
	int r = buf_status(&c->columns);
	return r ? r : buf_set(&c->last, buf_slice(&w->column));
}

/* Looks at what one snapshot allows. WALK_END, WALK_PAUSE, or an errno. */
static int
look(struct cleaning *c, struct walk *w)
{
	struct budget budget = budget_new();
	int r = 0;

	while (r == 0) {
		if (!w->placed)
			return WALK_END;
		if (!w->judged) {
			r = walk_judge(w);
			if (r == 0)
				r = gather(c, w);
			if (r < 0)
				return r;
		}
		if (budget_spent(&budget) || c->columns.size > BATCH_BYTES)
			return WALK_PAUSE;
		r = walk_next(w);
	}
	return r;
}

static int
clean_column(struct txn *t, struct cleaning *c, struct slice column)
{
	struct buf row = {0}, qualifier = {0};

	int r = key_take(&column, &row, NULL);
	if (r == 0)
		r = key_take(&column, &qualifier, NULL);
	if (r == 0)
		r = column_clean_some(t, c->family, buf_slice(&row),
		    buf_slice(&qualifier), &c->dropped, &c->left);
	if (r == 0)
		r = side_forget_if_gone(t, c->table, buf_slice(&row), c->family,
		    buf_slice(&qualifier));
	buf_release(&row);
	buf_release(&qualifier);
	return r;
}

static int
clean_body(struct txn *t, void *context)
{
	struct cleaning *c = context;
	struct slice rest = buf_slice(&c->columns);
	int r = 0;

	buf_clear(&c->dropped.ids);
	c->left = false;
	if (table_stale(c->table))
		return -ESTALE;
	while (r == 0 && !c->left && rest.size) {
		size_t size = be32(rest.data);
		r = clean_column(t, c, slice_of(rest.data + 4, size));
		rest = slice_skip(rest, 4 + size);
	}
	return r;
}

/* Cleans what was gathered. */
static int
clean_gathered(struct local *l, struct cleaning *c)
{
	int r = 0;

	c->left = c->columns.size;
	while (r == 0 && c->left) {
		r = local_write(l, ORDERED_REMOVE, clean_body, c);
		if (r == 0)
			dropped_collect(l, &c->dropped);
		else
			buf_release(&c->dropped.ids);
		if (r == 0 && c->left)
			r = local_interrupted(l);
	}
	buf_clear(&c->columns);
	return r;
}

static int
clean_cells(struct local *l, struct cleaning *c)
{
	struct walk w = {0};
	struct txn t;

	int r = txn_read(l, &t);
	if (r)
		return r;
	r = walk_open(&w, &t, c->family);
	if (r == 0)
		r = walk_seek(&w, slice_of(NULL, 0));
	if (r == 0)
		r = look(c, &w);
	while (r == WALK_PAUSE) {
		r = walk_pause(&w);
		r = txn_end(&t, r);
		if (r == 0)
			r = clean_gathered(l, c);
		if (r == 0)
			r = local_interrupted(l);
		if (r == 0)
			r = txn_read(l, &t);
		if (r == 0)
			r = walk_resume(&w, &t);
		if (r == 0)
			r = look(c, &w);
	}
	walk_release(&w);
	r = txn_end(&t, r);
	return r == WALK_END ? clean_gathered(l, c) : r;
}

static int
clean_family(
    struct local *l, const struct table *table, const struct local_family *f)
{
	struct cleaning c = {.table = table, .family = f};

	int r = clean_cells(l, &c);
	buf_release(&c.columns);
	buf_release(&c.last);
	/* A table that was dropped or altered meanwhile needs no cleaning
	 * any more, or gets its own. */
	return table_stale(table) && r != -EINTR ? 0 : r;
}

/* --- what changes of rules have put out -------------------------------- */

static bool
has_past(const struct table *table)
{
	for (size_t i = 0; i < table->schema.count; i++)
		if (table->families[i].past.sequence)
			return true;
	return false;
}

/* Of a table whose families were just cleaned. One that was replaced
 * meanwhile is cleaned another time. */
static int
drop_pasts(struct local *l, struct table *table)
{
	int r = 0;

	if (!has_past(table))
		return 0;
	pthread_mutex_lock(&l->ddl);
	if (!table_stale(table))
		r = admin_drop_pasts(l, table);
	pthread_mutex_unlock(&l->ddl);
	return r;
}

int
clean_pasts(struct local *l, struct table *table)
{
	if (!has_past(table))
		return 0;
	int r = local_interrupted(l);
	for (size_t i = 0; r == 0 && i < table->schema.count; i++)
		if (table->families[i].past.sequence)
			r = clean_family(l, table, &table->families[i]);
	return r ? r : admin_drop_pasts(l, table);
}

/* --- attributes of what is gone --------------------------------------- */

/* A walk over the attribute records of a side table. */
struct side_walk {
	struct table *table;
	struct buf from, next;
	bool done;
};

/* The directory whose attributes stand under key; false: none that can go by
 * itself. Its names are put into row and family. */
static bool
directory_of(
    struct slice key, struct buf *row, struct buf *family, struct place *out)
{
	bool part;

	buf_clear(row);
	buf_clear(family);
	key = slice_skip(key, 1);
	*out = (struct place){.level = LEVEL_ROW};
	if (key_take(&key, row, &part) || part)
		return false;
	out->row = buf_slice(row);
	if (key.size == 0)
		return true;
	if (key_take(&key, family, &part) || part || key.size)
		return false;
	out->level = LEVEL_FAMILY;
	out->family = buf_slice(family);
	return true;
}

static int
forget_gone(struct txn *t, struct side_walk *w, struct ordered_cursor *c)
{
	const struct ordered_methods *o = t->local->ordered->methods;
	struct buf row = {0}, family = {0};
	struct place dir;
	struct slice key;

	int r = o->seek(c, buf_slice(&w->from), SEEK_FROM);
	for (int i = 0; r == 0; i++) {
		r = o->key(c, &key);
		if (r == 0 && key.data[0] != 'a')
			r = 1;
		if (r == 0 && i == SIDE_BATCH) {
			r = buf_set(&w->next, key);
			break;
		}
		if (r == 0 && directory_of(key, &row, &family, &dir)) {
			r = side_there(t, w->table, &dir, slice_of(NULL, 0));
			r = r == 0 ? side_forget(t, w->table, &dir)
				   : (r < 0 ? r : 0);
		}
		if (r == 0)
			r = o->next(c);
	}
	w->done = r == 1;
	buf_release(&row);
	buf_release(&family);
	return r == 1 ? 0 : r;
}

static int
side_body(struct txn *t, void *context)
{
	const struct ordered_methods *o = t->local->ordered->methods;
	struct side_walk *w = context;
	struct ordered_cursor *c;

	w->done = false;
	if (table_stale(w->table))
		return -ESTALE;
	int r = txn_cursor(t, w->table->side, &c);
	if (r)
		return r;
	r = forget_gone(t, w, c);
	o->cursor_close(c);
	return r;
}

/* Forgets the attributes of rows and families that are no longer there. */
static int
clean_side(struct local *l, struct table *table)
{
	struct side_walk w = {.table = table};
	int r;

	if (!side_may(table, SIDE_ATTRS))
		return 0;
	buf_text(&w.from, "a");
	r = buf_status(&w.from);
	while (r == 0 && !w.done) {
		r = local_interrupted(l);
		if (r == 0)
			r = local_write(l, ORDERED_REMOVE, side_body, &w);
		if (r == 0 && !w.done)
			r = buf_set(&w.from, buf_slice(&w.next));
	}
	buf_release(&w.from);
	buf_release(&w.next);
	return r == -ESTALE ? 0 : r;
}

/* --- all tables ------------------------------------------------------- */

static int
sweep_dead(struct local *l)
{
	if (!atomic_load(&l->dead_tables))
		return 0;
	pthread_mutex_lock(&l->ddl);
	int r = catalogue_sweep(l);
	pthread_mutex_unlock(&l->ddl);
	return r;
}

/* Cleans the families in which time alone puts versions out, or has put them
 * out before a change of rules. */
static int
clean_table(struct local *l, struct table *table)
{
	bool own = side_may(table, SIDE_TTL), expires = own;
	int r = 0;

	for (size_t i = 0; r == 0 && i < table->schema.count; i++) {
		const struct local_family *f = &table->families[i];
		if (!own && !f->rules.ttl && !f->past.sequence)
			continue;
		expires = true;
		r = clean_family(l, table, f);
	}
	if (r == 0)
		r = drop_pasts(l, table);
	return r == 0 && expires ? clean_side(l, table) : r;
}

/* Drops what is dead, then has something done to every table. */
static int
each_table(struct local *l, int (*each)(struct local *l, struct table *table))
{
	struct table **tables;
	size_t count;

	int r = sweep_dead(l);
	if (r == 0)
		r = tables_hold(l, &tables, &count);
	if (r)
		return r;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = each(l, tables[i]);
	tables_put(tables, count);
	return r;
}

int
clean_all(struct local *l)
{
	return each_table(l, clean_table);
}

/* --- compacting ------------------------------------------------------- */

static int
compact_number(struct local *l, uint32_t number)
{
	int r = local_interrupted(l);

	if (r == 0)
		r = l->ordered->methods->compact(l->ordered, number);
	/* Whoever uses it just now keeps it from shrinking this time. */
	return r == -EBUSY ? 0 : r;
}

static int
compact_family(
    struct local *l, const struct table *table, const struct local_family *f)
{
	int r = clean_family(l, table, f);

	if (r == 0)
		r = bloom_remake(l, f);
	if (r == 0)
		r = compact_number(l, f->cells);
	if (r == 0)
		r = compact_number(l, f->blobs);
	return table_stale(table) && r != -EINTR ? 0 : r;
}

/* A table, or one family of it; *t, held, is then what has taken its place. */
static int
compact_table(struct local *l, struct table **t, struct slice family)
{
	int r = anew_table(l, t, family);
	struct table *table = *t;

	for (size_t i = 0; r == 0 && i < table->schema.count; i++)
		if (!family.size ||
		    slice_equal(
			family, buf_slice(&table->schema.families[i].name)))
			r = compact_family(l, table, &table->families[i]);
	if (family.size)
		return r;
	if (r == 0)
		r = drop_pasts(l, table);
	if (r == 0)
		r = clean_side(l, table);
	if (r == 0)
		r = compact_number(l, table->side);
	return table_stale(table) && r != -EINTR ? 0 : r;
}

static int
compact_whole(struct local *l, struct table *table)
{
	struct table *now = table;

	atomic_fetch_add(&now->holders, 1);
	int r = compact_table(l, &now, slice_of(NULL, 0));
	table_put(now);
	return r;
}

static int
compact_all(struct local *l)
{
	int r = each_table(l, compact_whole);

	for (uint32_t i = CATALOGUE; r == 0 && i <= BLOOMS; i++)
		r = compact_number(l, i);
	return r;
}

int
local_compact(struct engine *e, struct slice name, struct slice family)
{
	struct local *l = (struct local *)e;
	struct table *table;

	if (name.size == 0)
		return compact_all(l);
	int r = table_get(l, name, &table);
	if (r)
		return r;
	const struct local_family *f = table_family(table, family);
	if (family.size && !f)
		r = why(ENOENT, "family %.*s: table %.*s does not declare it",
		    (int)family.size, (const char *)family.data, (int)name.size,
		    (const char *)name.data);
	else
		r = compact_table(l, &table, family);
	table_put(table);
	return r;
}
