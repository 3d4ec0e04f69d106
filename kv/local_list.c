#include "local_walk.h"

#include <errno.h>
#include <stdlib.h>

#include "why.h"

/* Entries of a batch: few at first, since who lists may skip at once. */
#define BATCH_FIRST 16

/* One entry of a batch; its name lies in lister.names. */
struct gathered {
	enum level level;
	size_t at, size;
	struct info info;
};

/* The next name of one level that the side table knows of. */
struct side_names {
	enum level level;
	struct buf after;  /* where to look on */
	bool inclusive;
	bool have, ended;
	struct buf name; /* have: the next one */
	struct info info;
};

struct lister {
	struct local *local;
	const struct place *dir;
	struct table *table; /* NULL: .schema */
	list_emit emit;
	void *context;
	struct buf entries, names;
	unsigned room; /* of the present batch, in entries */
	bool stopped;

	/* Rows or columns: of one walk for each family that is asked. */
	bool rows;
	struct walk *walks;
	size_t walk_count;
	struct slice prefix; /* all names begin with it and are longer */
	struct buf from;     /* where to begin, as a name */
	bool placed;	     /* the walks have begun */
	bool have;	     /* name and info are the next live one's */
	struct buf name;
	struct info info;
	struct side_names side, parts;
};

/* --- batches ------------------------------------------------------------------- */

static void
add(struct lister *x, enum level level, struct slice name,
    const struct info *info)
{
	struct gathered entry = {level, x->names.size, name.size, *info};

	buf_append(&x->names, name);
	buf_append(&x->entries, slice_of(&entry, sizeof(entry)));
}

static struct slice
name_at(const struct lister *x, const struct gathered *entry)
{
	return slice_head(
	    slice_skip(buf_slice(&x->names), entry->at), entry->size);
}

static bool
full(const struct lister *x)
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
		    .name = name_at(x, &all[i]),
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

/* Gathers and gives out until a phase has no more: gather returns 1 then. */
static int
run(struct lister *x, int (*gather)(struct lister *x, struct txn *t),
    int (*skip_to)(struct lister *x, struct slice skip))
{
	struct buf skip = {0};
	int r = 0;

	x->room = BATCH_FIRST;
	while (r == 0 && !x->stopped) {
		struct txn t;
		if (atomic_load(&x->local->interrupted)) {
			r = -EINTR;
			break;
		}
		r = txn_read(x->local, &t);
		if (r == 0)
			r = gather(x, &t);
		r = txn_end(&t, r);
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

/* --- what the side table knows of ------------------------------------------------ */

static void
side_release(struct side_names *s)
{
	buf_release(&s->after);
	buf_release(&s->name);
}

/* Fetches the next name if none is waiting. */
static int
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

static int
side_consume(struct side_names *s)
{
	s->have = false;
	s->inclusive = false;
	return buf_set(&s->after, buf_slice(&s->name));
}

/* On from name; what waits is looked up again. */
static int
side_restart(struct side_names *s, struct slice name, bool inclusive)
{
	s->have = false;
	s->inclusive = inclusive;
	return buf_set(&s->after, name);
}

/* --- dot files --------------------------------------------------------------------- */

static int
gather_side(struct lister *x, struct txn *t)
{
	struct side_names *s = &x->side;

	while (!full(x)) {
		int r = side_fetch(x, t, s);
		if (r)
			return r;
		if (s->ended)
			return 1;
		add(x, s->level, buf_slice(&s->name), &s->info);
		r = side_consume(s);
		if (r)
			return r;
	}
	return 0;
}

/* What follows everything that begins with skip; false: nothing can. */
static bool
behind(struct slice skip, struct buf *out)
{
	return buf_set(out, skip) == 0 && key_successor(out);
}

static int
skip_side(struct lister *x, struct slice skip)
{
	struct buf from = {0};
	int r = 0;

	if (behind(skip, &from))
		r = side_restart(&x->side, buf_slice(&from), true);
	else
		x->side.ended = true;
	buf_release(&from);
	return r;
}

/* The names of one level, behind *after if that is of this level. */
static int
list_side(struct lister *x, enum level level, const struct entry *after)
{
	x->side = (struct side_names){.level = level, .inclusive = true};
	int r = 0;

	if (after && after->level == level)
		r = side_restart(&x->side, after->name, false);
	if (r == 0)
		r = run(x, gather_side, skip_side);
	side_release(&x->side);
	x->side = (struct side_names){0};
	return r;
}

/* --- rows and columns ---------------------------------------------------------------- */

/* The keys of all that begin with a name, or the first key of those that do
 * not sort before it. */
static int
key_of_name(const struct lister *x, struct slice name, struct buf *key)
{
	buf_clear(key);
	if (!x->rows)
		key_component(key, x->dir->row);
	key_prefix(key, name);
	return buf_status(key);
}

static int
place_walk(struct lister *x, struct walk *w)
{
	struct buf key = {0};

	int r = key_of_name(x, x->prefix, &w->stop);
	key_successor(&w->stop);
	if (r == 0)
		r = key_of_name(x, buf_slice(&x->from), &key);
	if (r == 0)
		r = walk_seek(w, buf_slice(&key));
	buf_release(&key);
	return r < 0 ? r : 0;
}

/* Opens the walks in a snapshot, where they stood or at x->from. */
static int
enter(struct lister *x, struct txn *t, struct budget *budget)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < x->walk_count; i++) {
		struct walk *w = &x->walks[i];
		if (x->placed) {
			r = walk_resume(w, t);
		} else {
			const struct local_family *family = w->family;
			walk_release(w);
			r = walk_open(w, t, family);
			if (r == 0)
				r = place_walk(x, w);
		}
		w->budget = budget;
	}
	x->placed = true;
	return r;
}

static int
leave(struct lister *x)
{
	int r = 0;

	for (size_t i = 0; i < x->walk_count; i++) {
		int paused = walk_pause(&x->walks[i]);
		x->walks[i].budget = NULL;
		if (r == 0)
			r = paused;
	}
	return r;
}

static int
name_of(const struct lister *x, const struct walk *w, struct buf *out)
{
	struct slice key = w->key;

	buf_clear(out);
	int r = key_take(&key, out, NULL);
	if (r || x->rows)
		return r;
	buf_clear(out);
	return key_take(&key, out, NULL);
}

static int
describe(struct lister *x, struct txn *t, const struct walk *w)
{
	struct place row = {
	    .level = LEVEL_ROW,
	    .table = x->dir->table,
	    .row = buf_slice(&x->name),
	};

	if (x->rows)
		return side_dir_info(t, x->table, &row, &x->info);
	x->info = (struct info){
	    .timestamp = w->timestamp,
	    .expires =
		fold_expires(&w->fold.rules, w->timestamp, w->record.ttl),
	    .size = w->record.size,
	};
	attrs_complete(x->table, w->timestamp, &w->record.attrs, CELL_MODE,
	    &x->info.attrs);
	return 0;
}

/* Brings each walk to a live version, and gives the one that comes first;
 * *out NULL: none. */
static int
first_live(struct lister *x, struct walk **out)
{
	*out = NULL;
	for (size_t i = 0; i < x->walk_count; i++) {
		struct walk *w = &x->walks[i];
		int r = w->placed && w->judged ? 0 : walk_live(w);
		if (r == WALK_END)
			continue;
		if (r)
			return r;
		if (!*out || slice_compare(walk_row(w), walk_row(*out)) < 0)
			*out = w;
	}
	return 0;
}

/* Moves every walk that stands on the name of w behind it. */
static int
pass(struct lister *x, struct walk *w)
{
	struct buf row = {0};
	int r = buf_set(&row, walk_row(w));

	if (!x->rows && r == 0)
		r = walk_skip_column(w);
	for (size_t i = 0; x->rows && r >= 0 && i < x->walk_count; i++) {
		struct walk *other = &x->walks[i];
		if (other->placed &&
		    slice_equal(walk_row(other), buf_slice(&row)))
			r = walk_skip_row(other);
	}
	buf_release(&row);
	return r < 0 ? r : 0;
}

/* Fetches the next live name if none is waiting; WALK_END, WALK_PAUSE. */
static int
cells_fetch(struct lister *x, struct txn *t)
{
	while (!x->have) {
		struct walk *w;
		int r = first_live(x, &w);
		if (r == 0 && !w)
			return WALK_END;
		if (r == 0)
			r = name_of(x, w, &x->name);
		if (r == 0)
			r = describe(x, t, w);
		if (r == 0)
			r = pass(x, w);
		if (r)
			return r;
		x->have = !x->prefix.size || x->name.size > x->prefix.size;
	}
	return 0;
}

static enum level
level_of(const struct lister *x)
{
	return x->rows ? LEVEL_ROW : LEVEL_COLUMN;
}

/* Adds the least of what waits: cells and kept names of one level as one,
 * before a part of the same bytes. 1: nothing waits. */
static int
merge(struct lister *x)
{
	struct slice cell = buf_slice(&x->name);
	struct slice kept = buf_slice(&x->side.name);
	struct slice part = buf_slice(&x->parts.name);
	int order = !x->side.have ? -1 : !x->have ? 1 :
							slice_compare(cell, kept);
	struct slice name = order <= 0 ? cell : kept;

	if (x->parts.have && ((!x->have && !x->side.have) ||
				 slice_compare(part, name) < 0)) {
		add(x, x->parts.level, part, &x->parts.info);
		return side_consume(&x->parts);
	}
	if (!x->have && !x->side.have)
		return 1;
	add(x, level_of(x), name, order <= 0 ? &x->info : &x->side.info);
	if (order <= 0)
		x->have = false;
	return order >= 0 ? side_consume(&x->side) : 0;
}

static int
gather_merged(struct lister *x, struct txn *t)
{
	struct budget budget = budget_new();
	int r = enter(x, t, &budget);

	while (r == 0 && !full(x)) {
		r = cells_fetch(x, t);
		if (r == WALK_END)
			r = 0;
		if (r == 0)
			r = side_fetch(x, t, &x->side);
		if (r == 0)
			r = side_fetch(x, t, &x->parts);
		if (r == 0)
			r = merge(x);
	}
	int left = leave(x);
	if (r >= 0 && left)
		r = left;
	return r == WALK_PAUSE ? 0 : r;
}

static int
skip_merged(struct lister *x, struct slice skip)
{
	x->have = false;
	if (!behind(skip, &x->from)) {
		x->stopped = true;
		return 0;
	}
	x->placed = false;
	int r = side_restart(&x->side, buf_slice(&x->from), true);
	return r ? r : side_restart(&x->parts, buf_slice(&x->from), true);
}

/* Where to begin: at the prefix, or behind a name. */
static int
start(struct lister *x, const struct entry *after)
{
	bool is_part = after && after->level == x->parts.level;

	if (!after || (!is_part && after->level != level_of(x)))
		return buf_set(&x->from, x->prefix);
	int r = buf_set(&x->from, after->name);
	if (r == 0)
		r = side_restart(&x->side, after->name, false);
	if (r == 0)
		r = side_restart(&x->parts, after->name, !is_part);
	buf_byte(&x->from, 0);
	return r ? r : buf_status(&x->from);
}

static int
list_merged(struct lister *x, const struct entry *after)
{
	x->side = (struct side_names){
	    .level = level_of(x), .inclusive = true, .ended = !x->rows};
	x->parts = (struct side_names){
	    .level = x->rows ? LEVEL_ROW_PART : LEVEL_COLUMN_PART,
	    .inclusive = true};
	x->placed = x->have = false;
	int r = start(x, after);

	if (r == 0)
		r = run(x, gather_merged, skip_merged);
	for (size_t i = 0; i < x->walk_count; i++)
		walk_release(&x->walks[i]);
	side_release(&x->side);
	side_release(&x->parts);
	buf_release(&x->from);
	buf_release(&x->name);
	return r;
}

static int
list_rows(struct lister *x, const struct entry *after)
{
	size_t count = x->table->schema.count;

	x->rows = true;
	x->prefix = x->dir->row;
	x->walks = calloc(count + 1, sizeof(*x->walks));
	if (!x->walks)
		return -ENOMEM;
	x->walk_count = count;
	for (size_t i = 0; i < count; i++)
		x->walks[i].family = &x->table->families[i];
	int r = list_merged(x, after);
	free(x->walks);
	return r;
}

static int
list_columns(struct lister *x, const struct entry *after)
{
	struct walk walk = {
	    .family = table_family(x->table, x->dir->family)};

	x->prefix = x->dir->qualifier;
	x->walks = &walk;
	x->walk_count = walk.family ? 1 : 0;
	return list_merged(x, after);
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
		r = list_side(x, LEVEL_DOT, after);
	if (r == 0 && dirs && !x->stopped)
		r = list_side(x, LEVEL_DOT_DIR, after);
	if (r == 0 && !x->stopped)
		r = list_columns(x, after);
	return r;
}

/* --- families ------------------------------------------------------------------------- */

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
		add(x, LEVEL_FAMILY, place.family, &info);
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
		int order = i == schema->count ? 1 :
		    s->ended		       ? -1 :
		      slice_compare(buf_slice(&schema->families[i].name),
					    buf_slice(&s->name));
		if (order >= 0) {
			add(x, LEVEL_FAMILY, buf_slice(&s->name), &s->info);
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

	x->side = (struct side_names){
	    .level = LEVEL_FAMILY, .inclusive = true};
	if (after) {
		r = side_restart(&x->side, after->name, false);
		if (r == 0)
			r = buf_set(&x->from, after->name);
	}
	if (r == 0)
		r = run(x, gather_families, skip_side);
	side_release(&x->side);
	buf_release(&x->from);
	return r;
}

/* --- tables ----------------------------------------------------------------------------- */

/* Adds up to a batch of table names behind x->from. */
static int
gather_tables(struct lister *x)
{
	struct local *l = x->local;
	struct info none = {0};

	pthread_rwlock_rdlock(&l->tables_lock);
	size_t i = 0;
	for (; i < l->table_count && !full(x); i++) {
		struct slice name = buf_slice(&l->tables[i]->schema.name);
		if (slice_compare(name, buf_slice(&x->from)) > 0)
			add(x, LEVEL_TABLE, name, &none);
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
		struct slice name = name_at(x, &all[i]);
		struct place place = {
		    .level = x->dir->level == LEVEL_ROOT ? LEVEL_TABLE :
							   LEVEL_SCHEMA_FILE,
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
	if (after && (after->level == LEVEL_TABLE ||
			 after->level == LEVEL_SCHEMA_FILE))
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
		r = list_side(x, LEVEL_DOT, after);
	if (r == 0 && !x->stopped &&
	    (phase == LEVEL_DOT || phase == LEVEL_DOT_DIR))
		r = list_side(x, LEVEL_DOT_DIR, after);
	if (r == 0 && !x->stopped)
		r = list_tables(x, after);
	return r;
}

/* --- the method --------------------------------------------------------------------------- */

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
		return list_side(x, LEVEL_DOT, after);
	default:
		return why(ENOTDIR, "this is not a directory");
	}
}

int
local_list(struct engine *e, const struct place *dir,
    const struct entry *after, list_emit emit, void *context)
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
