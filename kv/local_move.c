#include "local_move.h"

#include <errno.h>
#include <stdlib.h>

#include "key.h"
#include "local_column.h"
#include "local_depth.h"
#include "local_dots.h"
#include "local_draft.h"
#include "local_methods.h"
#include "local_place.h"
#include "local_side_attrs.h"
#include "why.h"

#define RUNS 20 /* of the transaction, while others change what it moves */
#define COLUMN_BYTES_MAX (32 << 20) /* of the history of one column */

static const struct version newest = {.which = VERSION_NEWEST};

/* --- what moves are made of ------------------------------------------- */

int
move_family(struct move *m, struct slice name, const struct local_family **out)
{
	*out = table_family(m->target, name);
	if (*out)
		return 0;
	const struct local_family *f = !m->source ? NULL
	    : table_family(m->source,
		  m->from->level == LEVEL_ROW ? name : m->from->family);
	m->like = f ? f->declared : (struct family){0};
	m->like.name = (struct buf){0};
	int r = buf_set(&m->lacking, name);
	return r ? r : -ESTALE;
}

int
move_refuse_size(const struct move *m)
{
	return why(E2BIG,
	    "it holds more than %d versions or %zu MiB, too much "
	    "to rename in one transaction; copy it instead",
	    MOVE_CELLS_MAX, m->bytes_max >> 20);
}

int
move_count(struct move *m, size_t bytes)
{
	m->cells++;
	m->bytes += bytes;
	if (m->cells <= MOVE_CELLS_MAX && m->bytes <= m->bytes_max)
		return 0;
	return move_refuse_size(m);
}

int
move_fits(const struct local_family *f, uint64_t size)
{
	if (size <= f->declared.max_cell_size)
		return 0;
	return why(EFBIG,
	    "family %.*s: a value of %llu bytes is more than its "
	    "max_cell_size of %llu",
	    (int)f->declared.name.size, (const char *)f->declared.name.data,
	    (unsigned long long)size,
	    (unsigned long long)f->declared.max_cell_size);
}

void
move_attrs(const struct move *m, bool file, struct attrs *attrs)
{
	struct attrs all;

	if (m->source == m->target)
		return;
	side_defaults(m->local, m->source, file, &all);
	attrs_override(&all, attrs);
	all.set |= attrs->set & ATTR_MTIME;
	*attrs = all;
	side_reduce(m->local, m->target, file, attrs);
}

/* --- cells and dot files ---------------------------------------------- */

/* One value on its way. */
struct load {
	const struct local_family *family; /* it comes from; NULL: a dot file */
	struct stored stored;
	uint32_t blobs; /* the table its chunks are in */
	bool own;	/* its blob stays the source's until it is dropped */
};

static int
no_source(void)
{
	return why(ENOENT, "there is nothing of that name to be renamed");
}

static int
load_source(struct move *m, struct txn *t, struct load *load)
{
	const struct place *from = m->from;

	if (from->level == LEVEL_DOT) {
		int r = side_dot_find(
		    t, m->source, from, &load->stored, &load->blobs);
		return r == 1 ? no_source() : r;
	}
	load->family = table_family(m->source, from->family);
	if (!load->family)
		return no_source();
	load->blobs = load->family->blobs;
	int r = column_clean(
	    t, load->family, from->row, from->qualifier, &m->dropped);
	if (r == 0)
		r = column_find(t, load->family, from->row, from->qualifier,
		    m->from_version, &load->stored);
	return r == 1 ? no_source() : r;
}

/* Removes every version of the source that is left. */
static int
remove_column(struct move *m, struct txn *t, const struct local_family *f)
{
	struct versions v = {.txn = t,
	    .family = f,
	    .row = m->from->row,
	    .qualifier = m->from->qualifier,
	    .dropped = &m->dropped};
	uint64_t count;

	int r = versions_open(&v, OPEN_LIST);
	if (r == 0)
		r = versions_remove_through(&v, TS_MAX, &count);
	versions_close(&v);
	return r;
}

/* Takes the record away from where it was, its blob going along unless a copy
 * does. */
static int
take_record(struct move *m, struct txn *t, const struct load *load)
{
	const struct place *from = m->from;
	struct buf key = {0};
	uint32_t number = side_of(m->source);

	if (load->family) {
		number = load->family->cells;
		key_cell(
		    &key, from->row, from->qualifier, load->stored.timestamp);
		depths_forget(t->local);
	} else {
		side_dot_key(from, &key);
	}
	int r = buf_status(&key);
	if (r == 0)
		r = txn_remove(t, number, buf_slice(&key));
	if (r == 0 && load->own)
		r = dropped_add(
		    t, &m->dropped, load->blobs, load->stored.record.blob);
	buf_release(&key);
	return r;
}

/* The record as it will stand at the target, in its blob table. */
static int
pack(struct move *m, struct txn *t, struct load *load, uint32_t blobs,
    struct record *out)
{
	*out = load->stored.record;
	if (!(out->attrs.set & ATTR_MTIME))
		out->attrs.mtime = timespec_of_ms(load->stored.timestamp);
	out->attrs.set |= ATTR_MTIME;
	move_attrs(m, true, &out->attrs);
	return move_blob(m, t, load->blobs, blobs, false, out, &load->own);
}

/* Once the source has gone: the directories it was in. */
static int
settle_source(struct move *m, struct txn *t, const struct load *load)
{
	const struct place *from = m->from;

	if (!load->family)
		return side_keep_above(t, m->source, from);
	if (m->flags & MOVE_KEEP)
		return side_keep_if_empty(
		    t, m->source, from->row, load->family, from->qualifier);
	return side_forget_if_gone(
	    t, m->source, from->row, load->family, from->qualifier);
}

static int
refuse_target(void)
{
	return why(EEXIST, "the new name is there already");
}

/* --- onto a column ------------------------------------------------------ */

/* Whether the target is there: 1, 0, errno. A version, if it names one. */
static int
target_there(struct move *m, struct txn *t, const struct local_family *g)
{
	struct stored found;

	int r = column_find(t, g, m->to->row, m->to->qualifier,
	    m->to_version.which == VERSION_AT ? m->to_version : newest, &found);
	stored_release(&found);
	return r < 0 ? r : !r;
}

/* Whether the whole source goes: not where one of its versions moves, be it
 * within the column. */
static bool
takes_all(const struct move *m, const struct load *load)
{
	const struct place *a = m->from, *b = m->to;

	return load->family && m->from_version.which != VERSION_AT &&
	       !(slice_equal(a->table, b->table) &&
		   slice_equal(a->row, b->row) &&
		   slice_equal(a->family, b->family) &&
		   slice_equal(a->qualifier, b->qualifier));
}

/* Stores the value as one version. */
static int
store_version(struct move *m, struct txn *t, struct load *load,
    const struct local_family *g)
{
	const struct place *to = m->to;
	struct record record;
	bool pushed = false;

	int r = pack(m, t, load, g->blobs, &record);
	if (r == 0)
		r = take_record(m, t, load);
	if (r == 0 && takes_all(m, load))
		r = remove_column(m, t, load->family);
	m->stored = m->to_version.number;
	if (r == 0 && m->to_version.which != VERSION_AT)
		r = column_next_timestamp(
		    t, g, to->row, to->qualifier, &m->stored);
	if (r == 0)
		r = column_store(t, g, to->row, to->qualifier, m->stored,
		    &record, &m->dropped, &pushed);
	if (r == 0 && record.ttl)
		r = side_note_ttl(t, m->target);
	if (r == 0 && pushed)
		r = why(EDQUOT,
		    "timestamp %lld: VERSIONS or TTL of family "
		    "%.*s put such a version out at once",
		    (long long)m->stored, (int)to->family.size,
		    (const char *)to->family.data);
	return r;
}

/* The copy of the newest version that stays when a history is taken back. */
static int
leave_copy(struct move *m, struct txn *t, const struct load *load)
{
	const struct place *from = m->from;
	const struct local_family *f = load->family;
	struct record record = load->stored.record;
	bool own, pushed;

	int r = move_blob(m, t, load->blobs, load->blobs, true, &record, &own);
	if (r == 0 && !m->wanting)
		r = column_store(t, f, from->row, from->qualifier,
		    load->stored.timestamp, &record, &m->dropped, &pushed);
	return r;
}

/* The whole history goes to a free name. */
static int
move_history(struct move *m, struct txn *t, struct load *load,
    const struct local_family *g)
{
	const struct span from = {
	    load->family, m->from->row, &m->from->qualifier};
	const struct span to = {g, m->to->row, &m->to->qualifier};
	bool moved;

	m->stored = load->stored.timestamp;
	int r = span_clean(m, t, &to);
	if (r == 0)
		r = span_move(m, t, &from, &to, &moved);
	if (r == 0 && m->flags & MOVE_TAKE_BACK)
		r = leave_copy(m, t, load);
	return r;
}

static int
to_column(struct move *m, struct txn *t, struct load *load)
{
	const struct local_family *g;
	bool whole = load->family && m->from_version.which != VERSION_AT &&
		     m->to_version.which != VERSION_AT;

	int r = move_family(m, m->to->family, &g);
	if (r == 0)
		r = move_fits(g, load->stored.record.size);
	if (r)
		return r;
	int there = target_there(m, t, g);
	if (there < 0)
		return there;
	if (there && m->flags & (MOVE_NOREPLACE | MOVE_TAKE_BACK))
		return refuse_target();
	if (whole && !there)
		r = move_history(m, t, load, g);
	else
		r = store_version(m, t, load, g);
	return r ? r : side_unkeep(t, m->target, m->to->row, m->to->family);
}

/* --- onto a dot file ---------------------------------------------------- */

struct counting {
	int versions;
};

static int
count_version(void *context, const struct stored *s)
{
	struct counting *c = context;

	(void)s;
	return ++c->versions > 1;
}

/* A dot file has one version: a history must not get lost by a rename. */
static int
refuse_history(struct move *m, struct txn *t, const struct load *load)
{
	struct counting c = {0};

	if (!load->family || m->from_version.which == VERSION_AT)
		return 0;
	int r = column_each(t, load->family, m->from->row, m->from->qualifier,
	    TS_LATEST, count_version, &c);
	if (r == 0 && c.versions > 1)
		r = why(EPERM,
		    "the cell has older versions, which a dot file "
		    "would lose; remove them first or copy the cell");
	return r;
}

/* Makes room for the dot file; one that is there goes. */
static int
clear_dot(struct move *m, struct txn *t)
{
	struct stored old;
	uint32_t blobs;

	int r = side_dot_find(t, m->target, m->to, &old, &blobs);
	if (r == 0 && m->flags & MOVE_NOREPLACE)
		r = refuse_target();
	else if (r == 0)
		r = side_dot_erase(
		    t, m->target, m->to, &old, blobs, &m->dropped);
	else if (r == 1)
		r = side_dot_room(t, m->target, m->to);
	stored_release(&old);
	return r;
}

static int
to_dot(struct move *m, struct txn *t, struct load *load)
{
	const struct local_family *g = NULL;
	struct record record;

	int r = refuse_history(m, t, load);
	if (r == 0 && m->target)
		r = move_family(m, m->to->family, &g);
	if (r == 0 && g)
		r = move_fits(g, load->stored.record.size);
	if (r == 0)
		r = clear_dot(m, t);
	if (r == 0)
		r = pack(m, t, load, g ? g->blobs : ROOT_BLOBS, &record);
	if (r == 0)
		r = take_record(m, t, load);
	record.ttl = 0;
	if (r == 0)
		r = side_dot_store(t, m->target, m->to, &record);
	return r;
}

/* --- all of it ---------------------------------------------------------- */

static int
move_value(struct move *m, struct txn *t)
{
	struct load load = {0};

	int r = load_source(m, t, &load);
	if (r == 0)
		r = m->to->level == LEVEL_COLUMN ? to_column(m, t, &load)
						 : to_dot(m, t, &load);
	if (r == 0)
		r = settle_source(m, t, &load);
	stored_release(&load.stored);
	return r;
}

static int
move_body(struct txn *t, void *context)
{
	struct move *m = context;

	copies_restart(m);
	buf_clear(&m->dropped.ids);
	buf_clear(&m->lacking);
	m->wanting = false;
	m->cells = m->bytes = 0;
	int r = m->draft ? draft_apply(t, m->draft) : 0;
	if (r == 0)
		r = place_table(t->local, m->from, &m->source);
	if (r == 0)
		r = place_table(t->local, m->to, &m->target);
	if (r == 0)
		r = m->flags & MOVE_EXCHANGE ? move_exchange(m, t)
		    : m->from->level == LEVEL_COLUMN ||
			    m->from->level == LEVEL_DOT
			? move_value(m, t)
			: move_directory(m, t);
	if (r == 0 && m->wanting)
		r = -ESTALE;
	table_put(m->source);
	table_put(m->target);
	m->source = m->target = NULL;
	return r;
}

static bool
same_place(const struct move *m)
{
	const struct place *a = m->from, *b = m->to;

	return a->level == b->level && slice_equal(a->table, b->table) &&
	       slice_equal(a->row, b->row) &&
	       slice_equal(a->family, b->family) &&
	       slice_equal(a->qualifier, b->qualifier) &&
	       slice_equal(a->dot_dir, b->dot_dir) &&
	       slice_equal(a->dot, b->dot) &&
	       m->from_version.which == m->to_version.which &&
	       m->from_version.number == m->to_version.number;
}

static int
stay(const struct move *m, int64_t *stored)
{
	struct engine *e = &m->local->engine;
	struct info info;

	int r = e->methods->stat(e, m->from, m->from_version, &info);
	if (r == 0 && m->from->level == LEVEL_COLUMN)
		*stored = info.timestamp;
	return r;
}

int
local_move_open(
    struct engine *e, const struct move_spec *spec, struct move **out)
{
	struct move *m;

	*out = NULL;
	if (spec->from_version.which == VERSION_NTH ||
	    spec->to_version.which == VERSION_NTH)
		return why(EINVAL, "only a column or a version with its "
				   "timestamp can be renamed");
	*out = m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->local = (struct local *)e;
	m->from = spec->from;
	m->to = spec->to;
	m->from_version = spec->from_version;
	m->to_version = spec->to_version;
	m->flags = spec->flags;
	m->draft = spec->draft;
	m->bytes_max = spec->from->level == LEVEL_COLUMN ? COLUMN_BYTES_MAX
							 : BATCH_BYTES;
	return 0;
}

int
local_move_prepare(struct move *m)
{
	if (m->draft && !draft_ready(m->draft))
		return local_draft_prepare(m->draft);
	if (m->lacking.size)
		return local_family_declare_like(&m->local->engine, m->to->table,
		    buf_slice(&m->lacking), m->like.versions ? &m->like : NULL);
	return copies_make(m);
}

int
local_move_try(struct move *m, int64_t *stored)
{
	int again = 0;

	*stored = 0;
	if (same_place(m))
		return stay(m, stored);
	if (m->draft && !draft_ready(m->draft))
		return 1;
	if (m->times++ == RUNS)
		return why(
		    EBUSY, "others change it faster than it can be renamed");
	int r = local_write(m->local, ORDERED_WRITE, move_body, m);
	if (m->draft)
		again = draft_settle(m->draft, r);
	if (again == 1 || r == -ESTALE)
		return 1;
	m->committed = r == 0;
	if (r == 0)
		*stored = m->stored;
	return r;
}

void
local_move_close(struct move *m)
{
	copies_discard(m, m->committed);
	if (m->committed)
		dropped_collect(m->local, &m->dropped);
	buf_release(&m->dropped.ids);
	buf_release(&m->lacking);
	free(m);
}
