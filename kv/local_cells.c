#include "local_cells.h"

#include <errno.h>

#include "key.h"
#include "local_bloom.h"
#include "local_dirs.h"
#include "local_methods.h"
#include "local_place.h"
#include "local_walk.h"
#include "why.h"

#define DEEP 64 /* versions; above, an old one is not counted up to */

#define ATTR_OWNER (ATTR_MODE | ATTR_UID | ATTR_GID)

void
stored_release(struct stored *s)
{
	buf_release(&s->bytes);
	*s = (struct stored){0};
}

/* What the walk stands on, its value borrowed from the cursor. */
static struct stored
borrowed(const struct walk *w)
{
	return (struct stored){
	    .timestamp = w->timestamp,
	    .expires =
		fold_expires(&w->family->rules, w->timestamp, w->record.ttl),
	    .record = w->record,
	};
}

int
stored_take(const struct walk *w, struct stored *out)
{
	const struct ordered_methods *m = w->txn->local->ordered->methods;
	struct slice value;

	*out = borrowed(w);
	int r = m->value(w->cursor, &value);
	if (r == 0)
		r = buf_set(&out->bytes, value);
	if (r == 0)
		r = record_decode(buf_slice(&out->bytes), &out->record);
	if (r)
		stored_release(out);
	return r;
}

bool
family_tells_live(const struct local_family *f)
{
	return f->rules.versions > DEEP && !f->past.sequence &&
	       !(f->rules.ttl && f->rules.min_versions);
}

/* Opens a walk at the newest version stamped at most `from`. */
static int
open_at(struct walk *w, struct txn *t, const struct local_family *f,
    const struct cell *column, int64_t from)
{
	struct buf key = {0};

	if (bloom_lacks_column(t, f, column->row, column->qualifier))
		return WALK_END;
	int r = walk_open(w, t, f);
	if (r == 0)
		r = walk_column(w, column->row, column->qualifier);
	if (r || from == TS_LATEST || !family_tells_live(f))
		return r;
	key_cell(&key, column->row, column->qualifier, from);
	r = buf_status(&key);
	if (r == 0)
		r = walk_seek(w, buf_slice(&key));
	buf_release(&key);
	return r;
}

/* To the live version asked for; the walk stands at the column's first. */
static int
find(struct walk *w, struct version version)
{
	int64_t before = version.which == VERSION_NTH ? version.number : 0;
	int r = walk_live(w);

	if (version.which == VERSION_AT) {
		while (r == 0 && w->timestamp > version.number)
			r = walk_live(w);
		if (r == 0 && w->timestamp != version.number)
			return WALK_END;
		return r;
	}
	while (r == 0 && before-- > 0)
		r = walk_live(w);
	return r;
}

int
column_find(struct txn *t, const struct local_family *f, struct slice row,
    struct slice qualifier, struct version version, struct stored *out)
{
	struct cell column = {.row = row, .qualifier = qualifier};
	struct walk w = {0};

	*out = (struct stored){0};
	int r = open_at(&w, t, f, &column,
	    version.which == VERSION_AT ? version.number : TS_LATEST);
	if (r == 0)
		r = find(&w, version);
	if (r == 0)
		r = stored_take(&w, out);
	walk_release(&w);
	return r;
}

int
column_each(struct txn *t, const struct local_family *f, struct slice row,
    struct slice qualifier, int64_t before,
    int (*each)(void *context, const struct stored *s), void *context)
{
	struct cell column = {.row = row, .qualifier = qualifier};
	struct walk w = {0};

	int r = open_at(
	    &w, t, f, &column, before == TS_LATEST ? before : before - 1);
	while (r == 0 && (r = walk_live(&w)) == 0) {
		struct stored s = borrowed(&w);
		if (s.timestamp < before)
			r = each(context, &s);
	}
	walk_release(&w);
	return r < 0 ? r : 0;
}

/* --- attributes --------------------------------------------------------- */

struct timespec
timespec_of_ms(int64_t ms)
{
	return (struct timespec){
	    .tv_sec = ms / 1000,
	    .tv_nsec = ms % 1000 * 1000000,
	};
}

void
attrs_override(struct attrs *to, const struct attrs *from)
{
	if (from->set & ATTR_MTIME)
		to->mtime = from->mtime;
	if (from->set & ATTR_MODE)
		to->mode = from->mode & 07777;
	if (from->set & ATTR_UID)
		to->uid = from->uid;
	if (from->set & ATTR_GID)
		to->gid = from->gid;
	to->set |= from->set;
}

void
attrs_complete(const struct table *table, int64_t timestamp,
    const struct attrs *kept, mode_t mode_default, struct attrs *out)
{
	*out = (struct attrs){
	    .mtime = timespec_of_ms(timestamp),
	    .mode = mode_default,
	    .uid = table->owner.uid,
	    .gid = table->owner.gid,
	};
	attrs_override(out, kept);
}

void
attrs_reduce(const struct table *table, mode_t mode_default, struct attrs *kept)
{
	struct attrs all;

	attrs_complete(table, 0, kept, mode_default, &all);
	all.set = (kept->set & ATTR_MTIME) | ATTR_OWNER;
	if (all.mode == mode_default && all.uid == table->owner.uid &&
	    all.gid == table->owner.gid)
		all.set &= ~(unsigned)ATTR_OWNER;
	*kept = all;
}

/* --- methods ------------------------------------------------------------ */

static void
describe(const struct table *table, const struct stored *s, struct info *out)
{
	*out = (struct info){
	    .timestamp = s->timestamp,
	    .expires = s->expires,
	    .size = s->record.size,
	};
	attrs_complete(
	    table, s->timestamp, &s->record.attrs, CELL_MODE, &out->attrs);
}

static int
no_version(const struct place *place)
{
	return why(ENOENT, "no such version of a cell in family %.*s",
	    (int)place->family.size, (const char *)place->family.data);
}

struct asking {
	const struct place *place;
	struct version version;
	struct info *out;
};

static int
stat_body(struct txn *t, struct table *table, void *context)
{
	const struct asking *a = context;
	const struct local_family *f = table_family(table, a->place->family);
	struct stored s = {0};

	int r = f ? column_find(t, f, a->place->row, a->place->qualifier,
			a->version, &s)
		  : WALK_END;
	if (r == 0)
		describe(table, &s, a->out);
	stored_release(&s);
	return r == WALK_END ? no_version(a->place) : r;
}

int
local_stat(struct engine *e, const struct place *place, struct version version,
    struct info *out)
{
	struct local *l = (struct local *)e;
	struct asking a = {place, version, out};

	*out = (struct info){0};
	if (place->level != LEVEL_COLUMN)
		return side_stat(l, place, out);
	return place_read(l, place, stat_body, &a);
}

struct attrs_change {
	const struct place *place;
	struct version version;
	const struct attrs *attrs;
};

/* Writes the version's header anew at the same timestamp. */
static int
rewrite(struct txn *t, const struct table *table, struct stored *s,
    const struct attrs_change *change)
{
	const struct place *place = change->place;
	const struct local_family *f = table_family(table, place->family);
	struct buf key = {0}, bytes = {0};
	struct attrs attrs;

	attrs_complete(
	    table, s->timestamp, &s->record.attrs, CELL_MODE, &attrs);
	attrs_override(&attrs, change->attrs);
	attrs_reduce(table, CELL_MODE, &attrs);
	s->record.attrs = attrs;
	record_encode(&s->record, &bytes);
	key_cell(&key, place->row, place->qualifier, s->timestamp);
	int r = buf_status(&bytes);
	if (r == 0)
		r = buf_status(&key);
	if (r == 0)
		r = txn_put(t, f->cells, buf_slice(&key), buf_slice(&bytes));
	buf_release(&key);
	buf_release(&bytes);
	return r;
}

static int
set_attrs(struct txn *t, void *context)
{
	const struct attrs_change *change = context;
	const struct place *place = change->place;
	struct stored s = {0};
	struct table *table;

	int r = table_get(t->local, place->table, &table);
	if (r)
		return r;
	const struct local_family *f = table_family(table, place->family);
	r = f ? column_find(
		    t, f, place->row, place->qualifier, change->version, &s)
	      : WALK_END;
	if (r == 0)
		r = rewrite(t, table, &s, change);
	stored_release(&s);
	table_put(table);
	return r == WALK_END ? no_version(place) : r;
}

int
local_set_attrs(struct engine *e, const struct place *place,
    struct version version, const struct attrs *attrs)
{
	struct local *l = (struct local *)e;
	struct attrs_change change = {place, version, attrs};

	if (place->level != LEVEL_COLUMN)
		return side_set_attrs(l, place, attrs);
	return local_write(l, ORDERED_WRITE, set_attrs, &change);
}

/* --- listing versions --------------------------------------------------- */

/* Cells gathered in one snapshot, to be told once it has ended. */
struct told {
	const struct place *place;
	int64_t before;	  /* what is to be told is older */
	struct buf cells; /* struct cell */
};

static void
gather(struct told *told, const struct table *table, const struct walk *w)
{
	struct stored s = borrowed(w);
	struct cell cell = {
	    .row = told->place->row,
	    .family = told->place->family,
	    .qualifier = told->place->qualifier,
	    .timestamp = s.timestamp,
	    .ttl = s.record.ttl,
	    .expires = s.expires,
	    .size = s.record.size,
	    .blob = s.record.blob,
	};

	attrs_complete(
	    table, s.timestamp, &s.record.attrs, CELL_MODE, &cell.attrs);
	buf_append(&told->cells, slice_of(&cell, sizeof(cell)));
}

/* Gathers what one snapshot allows, at least one: WALK_PAUSE, or WALK_END. */
static int
gather_body(struct txn *t, struct table *table, void *context)
{
	struct told *told = context;
	const struct place *place = told->place;
	const struct local_family *f = table_family(table, place->family);
	struct cell column = {.row = place->row, .qualifier = place->qualifier};
	struct budget budget = budget_new();
	struct walk w = {0};

	if (!f)
		return no_version(place);
	buf_clear(&told->cells);
	int r = open_at(&w, t, f, &column,
	    told->before == TS_LATEST ? TS_LATEST : told->before - 1);
	while (r == 0 && (r = walk_live(&w)) == 0)
		if (w.timestamp < told->before) {
			w.budget = &budget;
			gather(told, table, &w);
		}
	walk_release(&w);
	return r >= 0 && told->cells.failed ? -ENOMEM : r;
}

static int
tell(struct told *told, cell_emit emit, void *context)
{
	const struct cell *cells = (const struct cell *)told->cells.data;
	size_t count = told->cells.size / sizeof(*cells);
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		told->before = cells[i].timestamp;
		r = emit(context, &cells[i]);
	}
	return r;
}

int
local_versions(struct engine *e, const struct place *column, int64_t before,
    cell_emit emit, void *context)
{
	struct told told = {.place = column, .before = before};
	int r;

	do {
		r = place_read((struct local *)e, column, gather_body, &told);
		int answer = r < 0 ? 0 : tell(&told, emit, context);
		if (answer)
			r = answer < 0 ? answer : WALK_END;
	} while (r == WALK_PAUSE);
	buf_release(&told.cells);
	return r < 0 ? r : 0;
}
