#include "local_list.h"

#include <errno.h>

#include "key.h"
#include "local_any.h"
#include "local_dirs.h"
#include "local_methods.h"
#include "local_names.h"
#include "local_side_attrs.h"
#include "why.h"

/* Entries of a batch: few at first, since who lists may skip at once. */
#define BATCH_FIRST 16

/* --- batches ------------------------------------------------------------ */

void
list_add(struct lister *x, enum level level, struct slice name,
    const struct info *info)
{
	struct gathered entry = {level, x->names.size, name.size, *info};

	buf_append(&x->names, name);
	buf_append(&x->entries, slice_of(&entry, sizeof(entry)));
}

struct slice
list_name(const struct lister *x, const struct gathered *entry)
{
	return slice_head(
	    slice_skip(buf_slice(&x->names), entry->at), entry->size);
}

bool
list_full(const struct lister *x)
{
	return x->entries.size / sizeof(struct gathered) >= x->room;
}

/* Gives out what was gathered, with no snapshot open. skip: what emit wants
 * to have skipped, empty: nothing. */
static int
give(struct lister *x, struct buf *skip)
{
	const struct gathered *all = (const struct gathered *)x->entries.data;
	size_t count = x->entries.size / sizeof(*all);

	if (x->entries.failed || x->names.failed)
		return -ENOMEM;
	buf_clear(skip);
	for (size_t i = 0; i < count && !x->stopped; i++) {
		struct entry entry = {
		    .level = all[i].level,
		    .name = list_name(x, &all[i]),
		    .info = all[i].info,
		};
		if (skip->size && slice_begins(entry.name, buf_slice(skip)))
			continue;
		buf_clear(skip);
		int r = x->emit(x->context, &entry, skip);
		if (r < 0)
			return r;
		x->stopped = r == LIST_STOP;
		if (r != LIST_SKIP)
			buf_clear(skip);
	}
	buf_clear(&x->entries);
	buf_clear(&x->names);
	return buf_status(skip);
}

/* Goes over to what has taken the place of the table. A family that has gone
 * has no names any more. */
static int
follow(struct lister *x)
{
	struct table *old = x->table;
	size_t kept = 0;

	if (!old)
		return 0;
	atomic_fetch_add(&old->holders, 1);
	int r = table_follow(x->local, &x->table);
	for (size_t i = 0; r == 0 && i < x->walk_count; i++) {
		struct walk w = x->walks[i];
		w.family =
		    table_family(x->table, buf_slice(&w.family->declared.name));
		if (w.family)
			x->walks[kept++] = w;
		else
			walk_release(&w);
	}
	if (r == 0)
		x->walk_count = kept;
	table_put(old);
	return r;
}

/* Gathers one batch in one snapshot, on the table as it is now. */
static int
gather_batch(struct lister *x, int (*gather)(struct lister *x, struct txn *t))
{
	struct txn t;
	int r;

	do {
		r = local_interrupted(x->local);
		if (r == 0)
			r = follow(x);
		if (r)
			return r;
		r = txn_read(x->local, &t);
		if (r == 0 && x->table && table_stale(x->table))
			r = -ESTALE;
		if (r == 0)
			r = gather(x, &t);
		r = txn_end(&t, r);
	} while (
	    r < 0 && x->table && table_stale(x->table) && !x->entries.size);
	return r;
}

int
list_run(struct lister *x, int (*gather)(struct lister *x, struct txn *t),
    int (*skip_to)(struct lister *x, struct slice skip))
{
	struct buf skip = {0};
	int r = 0;

	x->room = BATCH_FIRST;
	while (r == 0 && !x->stopped) {
		r = gather_batch(x, gather);
		if (r < 0)
			break;
		int given = give(x, &skip);
		if (given < 0)
			r = given;
		x->room = x->room * 2 < READ_CELLS ? x->room * 2 : READ_CELLS;
		if (skip.size && r == 0) {
			x->room = BATCH_FIRST;
			r = skip_to(x, buf_slice(&skip));
		}
	}
	buf_release(&skip);
	return r < 0 ? r : 0;
}

/* --- what the side table knows of --------------------------------------- */

void
side_release(struct side_names *s)
{
	buf_release(&s->after);
	buf_release(&s->name);
}

int
side_fetch(struct lister *x, struct txn *t, struct side_names *s)
{
	if (s->have || s->ended)
		return 0;
	int r = side_next(t, x->table, x->dir, s->level, buf_slice(&s->after),
	    s->inclusive, &s->name, &s->info);
	s->have = r == 0;
	s->ended = r == 1;
	return r < 0 ? r : 0;
}

int
side_consume(struct side_names *s)
{
	s->have = false;
	s->inclusive = false;
	return buf_set(&s->after, buf_slice(&s->name));
}

int
side_restart(struct side_names *s, struct slice name, bool inclusive)
{
	s->have = false;
	s->inclusive = inclusive;
	return buf_set(&s->after, name);
}

/* --- dot files ---------------------------------------------------------- */

static int
gather_side(struct lister *x, struct txn *t)
{
	struct side_names *s = &x->side;

	while (!list_full(x)) {
		int r = side_fetch(x, t, s);
		if (r)
			return r;
		if (s->ended)
			return 1;
		list_add(x, s->level, buf_slice(&s->name), &s->info);
		r = side_consume(s);
		if (r)
			return r;
	}
	return 0;
}

bool
list_behind(struct slice skip, struct buf *out)
{
	return buf_set(out, skip) == 0 && key_successor(out);
}

/* Goes on with x->side behind everything that begins with skip. */
static int
skip_side(struct lister *x, struct slice skip)
{
	struct buf from = {0};
	int r = 0;

	if (list_behind(skip, &from))
		r = side_restart(&x->side, buf_slice(&from), true);
	else
		x->side.ended = true;
	buf_release(&from);
	return r;
}

/* The names of one level of the side table, behind *after if that is of this
 * level. */
static int
list_dots(struct lister *x, enum level level, const struct entry *after)
{
	x->side = (struct side_names){.level = level, .inclusive = true};
	int r = 0;

	if (after && after->level == level)
		r = side_restart(&x->side, after->name, false);
	if (r == 0)
		r = list_run(x, gather_side, skip_side);
	side_release(&x->side);
	x->side = (struct side_names){0};
	return r;
}

/* Dot files, dot directories, then the columns. */
static int
list_family(struct lister *x, const struct entry *after)
{
	enum level phase = after ? after->level : LEVEL_DOT;
	bool dots = phase == LEVEL_DOT;
	bool dirs = dots || phase == LEVEL_DOT_DIR;
	int r = 0;

	if (dots)
		r = list_dots(x, LEVEL_DOT, after);
	if (r == 0 && dirs && !x->stopped)
		r = list_dots(x, LEVEL_DOT_DIR, after);
	if (r == 0 && !x->stopped)
		r = list_columns(x, after);
	return r;
}

/* --- families ----------------------------------------------------------- */

/* Adds a declared family if it holds a live cell here. */
static int
gather_family(struct lister *x, struct txn *t, size_t i)
{
	struct place place = *x->dir;
	struct info info;

	int r = cells_any(
	    t, &x->table->families[i], x->dir->row, (struct slice){0});
	if (r <= 0)
		return r;
	place.level = LEVEL_FAMILY;
	place.family = buf_slice(&x->table->schema.families[i].name);
	r = side_dir_info(t, x->table, &place, &info);
	if (r == 0)
		list_add(x, LEVEL_FAMILY, place.family, &info);
	return r;
}

/* All at once: declared ones that hold cells, merged with what is kept. */
static int
gather_families(struct lister *x, struct txn *t)
{
	const struct schema *schema = &x->table->schema;
	struct side_names *s = &x->side;
	struct slice after = buf_slice(&x->from);
	size_t i = 0;

	for (;;) {
		int r = side_fetch(x, t, s);
		if (r)
			return r;
		if (i == schema->count && s->ended)
			return 1;
		int order =
		    i == schema->count ? 1
		    : s->ended
			? -1
			: slice_compare(buf_slice(&schema->families[i].name),
			      buf_slice(&s->name));
		if (order >= 0) {
			list_add(
			    x, LEVEL_FAMILY, buf_slice(&s->name), &s->info);
			r = side_consume(s);
		} else if (slice_compare(buf_slice(&schema->families[i].name),
			       after) > 0) {
			r = gather_family(x, t, i);
		}
		if (r)
			return r;
		i += order <= 0;
	}
}

static int
list_families(struct lister *x, const struct entry *after)
{
	int r = 0;

	x->side = (struct side_names){.level = LEVEL_FAMILY, .inclusive = true};
	if (after) {
		r = side_restart(&x->side, after->name, false);
		if (r == 0)
			r = buf_set(&x->from, after->name);
	}
	if (r == 0)
		r = list_run(x, gather_families, skip_side);
	side_release(&x->side);
	buf_release(&x->from);
	return r;
}

/* --- tables ------------------------------------------------------------- */

/* Adds up to a batch of table names behind x->from. */
static int
gather_tables(struct lister *x)
{
	struct local *l = x->local;
	struct info none = {0};

	pthread_rwlock_rdlock(&l->tables_lock);
	size_t i = 0;
	for (; i < l->table_count && !list_full(x); i++) {
		struct slice name = buf_slice(&l->tables[i]->schema.name);
		if (slice_compare(name, buf_slice(&x->from)) > 0)
			list_add(x, LEVEL_TABLE, name, &none);
	}
	bool all = i == l->table_count;
	pthread_rwlock_unlock(&l->tables_lock);
	if (x->entries.failed || x->names.failed)
		return -ENOMEM;
	return all ? 1 : 0;
}

/* Fills in the infos of a batch of tables; those dropped since go. */
static int
describe_tables(struct lister *x)
{
	struct gathered *all = (struct gathered *)x->entries.data;
	size_t count = x->entries.size / sizeof(*all), kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct slice name = list_name(x, &all[i]);
		struct place place = {
		    .level = x->dir->level == LEVEL_ROOT ? LEVEL_TABLE
							 : LEVEL_SCHEMA_FILE,
		    .table = name,
		};
		int r = buf_set(&x->from, name);
		if (r == 0)
			r = side_stat(x->local, &place, &all[i].info);
		if (r == -ENOENT)
			continue;
		if (r)
			return r;
		all[i].level = place.level;
		all[kept++] = all[i];
	}
	x->entries.size = kept * sizeof(*all);
	return 0;
}

static int
list_tables(struct lister *x, const struct entry *after)
{
	struct buf skip = {0};
	int r = 0;

	x->room = READ_CELLS;
	if (after &&
	    (after->level == LEVEL_TABLE || after->level == LEVEL_SCHEMA_FILE))
		r = buf_set(&x->from, after->name);
	while (r == 0 && !x->stopped) {
		r = gather_tables(x);
		int described = r < 0 ? r : describe_tables(x);
		int given = described ? described : give(x, &skip);
		if (given)
			r = given;
	}
	buf_release(&skip);
	buf_release(&x->from);
	return r < 0 ? r : 0;
}

static int
list_schema(struct lister *x, const struct entry *after)
{
	enum level phase = after ? after->level : LEVEL_DOT;
	int r = 0;

	if (phase == LEVEL_DOT)
		r = list_dots(x, LEVEL_DOT, after);
	if (r == 0 && !x->stopped &&
	    (phase == LEVEL_DOT || phase == LEVEL_DOT_DIR))
		r = list_dots(x, LEVEL_DOT_DIR, after);
	if (r == 0 && !x->stopped)
		r = list_tables(x, after);
	return r;
}

/* --- the method --------------------------------------------------------- */

static int
list(struct lister *x, const struct entry *after)
{
	switch (x->dir->level) {
	case LEVEL_ROOT:
		return list_tables(x, after);
	case LEVEL_SCHEMA:
		return list_schema(x, after);
	case LEVEL_TABLE:
	case LEVEL_ROW_PART:
		return list_rows(x, after);
	case LEVEL_ROW:
		return list_families(x, after);
	case LEVEL_FAMILY:
	case LEVEL_COLUMN_PART:
		return list_family(x, after);
	case LEVEL_DOT_DIR:
		return list_dots(x, LEVEL_DOT, after);
	default:
		return why(ENOTDIR, "this is not a directory");
	}
}

int
local_list(struct engine *e, const struct place *dir, const struct entry *after,
    list_emit emit, void *context)
{
	struct lister x = {
	    .local = (struct local *)e,
	    .dir = dir,
	    .emit = emit,
	    .context = context,
	};
	int r = 0;

	if (dir->table.size)
		r = table_get(x.local, dir->table, &x.table);
	if (r == 0)
		r = list(&x, after);
	buf_release(&x.entries);
	buf_release(&x.names);
	table_put(x.table);
	return r;
}
