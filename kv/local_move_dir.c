#include "local_move.h"

#include <errno.h>

#include "key.h"
#include "local_dots.h"
#include "local_side_attrs.h"
#include "why.h"

static const struct slice nothing;

/* --- cells ------------------------------------------------------------ */

/* Whether any record stands in the span once it is clean: 1, 0, errno. */
static int
span_any(struct txn *t, const struct span *s)
{
	struct buf prefix = {0};

	key_component(&prefix, s->row);
	int r = buf_status(&prefix);
	if (r == 0)
		r = side_any(t, s->family->cells, buf_slice(&prefix));
	buf_release(&prefix);
	return r;
}

/* Moves a row's cells from one family to the one named so. */
static int
move_cells(struct move *m, struct txn *t, const struct local_family *f,
    struct slice name, bool *moved)
{
	struct span from = {.family = f, .row = m->from->row},
		    to = {.row = m->to->row};

	*moved = false;
	int r = span_clean(m, t, &from);
	if (r == 0)
		r = span_any(t, &from);
	if (r != 1)
		return r;
	r = move_family(m, name, &to.family);
	if (r == 0)
		r = span_clean(m, t, &to);
	return r ? r : span_move(m, t, &from, &to, moved);
}

/* --- the side table --------------------------------------------------- */

/* What stands under one tag in a directory, on its way. */
struct records {
	struct move *move;
	uint8_t tag;
	struct slice from_prefix, to_prefix; /* of keys */
	struct buf key, value;
};

/* The blob tables of the dot file that key names; the target's family may
 * have to be declared. */
static int
file_blobs(struct move *m, struct slice key, uint32_t *from, uint32_t *to)
{
	struct buf name = {0};
	const struct local_family *f, *g = NULL;

	key = slice_skip(key, 1);
	int r = key_take(&key, &name, NULL);
	buf_clear(&name);
	if (r == 0)
		r = key_take(&key, &name, NULL);
	f = table_family(m->source, buf_slice(&name));
	if (r == 0)
		r = move_family(m,
		    m->from->level == LEVEL_ROW ? buf_slice(&name)
						: m->to->family,
		    &g);
	*from = f ? f->blobs : 0;
	*to = g ? g->blobs : 0;
	buf_release(&name);
	return r;
}

static int
convert_file(struct move *m, struct txn *t, struct slice key, bool dot_dir,
    struct record *record)
{
	uint32_t from, to;
	bool own = false;

	int r = file_blobs(m, key, &from, &to);
	uint64_t blob = record->blob;
	if (r == 0)
		r = move_blob(m, t, from, to, false, record, &own);
	if (r == 0 && own)
		r = dropped_add(t, &m->dropped, from, blob);
	move_attrs(m, !dot_dir, &record->attrs);
	return r;
}

/* Whether the key of a file is a dot directory's: its name is empty. */
static bool
is_dot_dir(struct slice key)
{
	static const uint8_t ends[] = {0, 0, 0, 0};

	return key.size > sizeof(ends) &&
	       slice_equal(slice_skip(key, key.size - sizeof(ends)),
		   slice_of(ends, sizeof(ends)));
}

static int
move_side_record(
    struct txn *t, struct slice key, struct slice value, void *context)
{
	struct records *w = context;
	struct move *m = w->move;
	struct record record;
	int r = move_count(m, key.size + value.size);

	buf_clear(&w->key);
	buf_clear(&w->value);
	buf_append(&w->key, w->to_prefix);
	buf_append(&w->key, slice_skip(key, w->from_prefix.size));
	if (r == 0 && (w->tag == 'f' || w->tag == 'a')) {
		r = record_decode(value, &record);
		if (r == 0 && w->tag == 'f')
			r = convert_file(m, t, key, is_dot_dir(key), &record);
		else if (r == 0)
			move_attrs(m, false, &record.attrs);
		if (r == 0)
			record_encode(&record, &w->value);
	}
	if (r == 0)
		r = buf_status(&w->key);
	if (r == 0)
		r = buf_status(&w->value);
	if (r == 0)
		r = txn_put(t, m->target->side, buf_slice(&w->key),
		    buf_slice(&w->value));
	return r ? r : txn_remove(t, m->source->side, key);
}

/* Whatever the side table has of the directory and below it. */
static int
move_side(struct move *m, struct txn *t)
{
	struct buf from = {0}, to = {0};
	int r = 0;

	atomic_fetch_or(
	    &m->target->side_may, atomic_load(&m->source->side_may));
	for (const char *tag = "kpaf"; r == 0 && *tag; tag++) {
		struct records w = {.move = m, .tag = (uint8_t)*tag};
		buf_clear(&from);
		buf_clear(&to);
		side_dir_key(w.tag, m->from, &from);
		side_dir_key(w.tag, m->to, &to);
		r = buf_status(&from);
		if (r == 0)
			r = buf_status(&to);
		w.from_prefix = buf_slice(&from);
		w.to_prefix = buf_slice(&to);
		/* What the empty target kept of itself gives way. */
		if (r == 0)
			r = side_remove_all(t, m->target->side, w.to_prefix);
		if (r == 0)
			r = txn_each(t, m->source->side, w.from_prefix,
			    move_side_record, &w);
		buf_release(&w.key);
		buf_release(&w.value);
	}
	buf_release(&from);
	buf_release(&to);
	return r;
}

/* --- rows and families -------------------------------------------------- */

static int
check_source(struct move *m, struct txn *t)
{
	int r = side_there(t, m->source, m->from, nothing);

	if (r == 0)
		r = why(ENOENT, "there is nothing of that name to be renamed");
	return r < 0 ? r : 0;
}

/* The target is free, or an empty directory. */
static int
check_target(struct move *m, struct txn *t)
{
	int kept = side_is_kept(t, m->target, m->to);
	if (kept < 0)
		return kept;
	if (kept && m->flags & MOVE_NOREPLACE)
		return why(EEXIST, "the new name is there already");
	int r = kept ? side_unmark(t, m->target, m->to) : 0;
	if (r == 0)
		r = side_there(t, m->target, m->to, nothing);
	if (r == 1)
		r = m->flags & MOVE_NOREPLACE
			? why(EEXIST, "the new name is there already")
			: why(ENOTEMPTY, "the new name holds something");
	return r;
}

static int
move_row(struct move *m, struct txn *t)
{
	const struct table *table = m->source;
	int r = 0;

	for (size_t i = 0; r == 0 && i < table->schema.count; i++) {
		const struct local_family *f = &table->families[i];
		bool moved;
		r = move_cells(m, t, f, buf_slice(&f->declared.name), &moved);
	}
	return r;
}

/* A family without cells need not be declared in an open table. */
static int
move_one_family(struct move *m, struct txn *t)
{
	const struct local_family *f = table_family(m->source, m->from->family);
	const struct local_family *g;
	bool moved = false;

	int r = f ? move_cells(m, t, f, m->to->family, &moved) : 0;
	if (r == 0 && !moved && !side_counts(m->target, 'k', m->to->family))
		r = move_family(m, m->to->family, &g);
	if (r == 0 && moved)
		r = side_unkeep(t, m->target, m->to->row, m->to->family);
	return r;
}

/* The directories around: the target's attributes, where its table has other
 * defaults, and the source's row, which may have lost its last family. */
static int
settle(struct move *m, struct txn *t, const struct attrs *attrs)
{
	int r = 0;

	if (m->source != m->target)
		r = side_put_attrs(t, m->target, m->to, attrs);
	if (r || m->from->level == LEVEL_ROW)
		return r;
	if (m->flags & MOVE_KEEP)
		return side_keep_if_empty(
		    t, m->source, m->from->row, NULL, nothing);
	return side_forget_if_gone(t, m->source, m->from->row, NULL, nothing);
}

static int
move_row_or_family(struct move *m, struct txn *t)
{
	struct info info = {0};

	int r = check_source(m, t);
	if (r == 0)
		r = side_dir_info(t, m->source, m->from, &info);
	if (r == 0)
		r = check_target(m, t);
	if (r == 0)
		r = m->from->level == LEVEL_ROW ? move_row(m, t)
						: move_one_family(m, t);
	if (r == 0)
		r = move_side(m, t);
	unsigned kept = info.attrs.set & ATTR_MTIME;
	info.attrs.set = kept | ATTR_MODE | ATTR_UID | ATTR_GID;
	return r ? r : settle(m, t, &info.attrs);
}

/* --- dot directories --------------------------------------------------- */

/* The keys of a dot directory and of the files in it begin so. */
static int
dot_dir_prefix(const struct place *dir, struct buf *out)
{
	side_files_key(dir, out);
	key_component(out, dir->dot_dir);
	return buf_status(out);
}

/* The target is free, or an empty dot directory, which gives way. */
static int
clear_dot_dir(struct move *m, struct txn *t, struct slice prefix)
{
	struct place file = *m->to;
	struct buf own = {0};

	file.level = LEVEL_DOT;
	file.dot = file.dot_dir;
	file.dot_dir = nothing;
	int r = side_there(t, m->target, &file, nothing);
	if (r == 1)
		return why(ENOTDIR, "the new name is a dot file's");
	if (r == 0)
		r = side_there(t, m->target, m->to, nothing);
	if (r == 1 && m->flags & MOVE_NOREPLACE)
		return why(EEXIST, "the new name is there already");
	if (r < 0)
		return r;
	side_dot_key(m->to, &own);
	r = buf_status(&own);
	if (r == 0)
		r = txn_remove(t, m->target->side, buf_slice(&own));
	if (r == 0)
		r = side_any(t, m->target->side, prefix);
	buf_release(&own);
	return r == 1 ? why(ENOTEMPTY, "the new name holds something") : r;
}

static int
move_dot_dir(struct move *m, struct txn *t)
{
	struct buf from = {0}, to = {0};
	const struct local_family *g;

	if (!m->source || !m->target)
		return why(EPERM, "dot directories stand in families");
	int r = check_source(m, t);
	if (r == 0)
		r = move_family(m, m->to->family, &g);
	if (r == 0)
		r = dot_dir_prefix(m->from, &from);
	if (r == 0)
		r = dot_dir_prefix(m->to, &to);
	struct records w = {.move = m,
	    .tag = 'f',
	    .from_prefix = buf_slice(&from),
	    .to_prefix = buf_slice(&to)};
	if (r == 0)
		r = clear_dot_dir(m, t, w.to_prefix);
	atomic_fetch_or(&m->target->side_may, SIDE_FILES);
	if (r == 0)
		r = txn_each(t, m->source->side, w.from_prefix,
		    move_side_record, &w);
	buf_release(&w.key);
	buf_release(&w.value);
	buf_release(&from);
	buf_release(&to);
	return r ? r : side_keep_above(t, m->source, m->from);
}

int
move_directory(struct move *m, struct txn *t)
{
	return m->from->level == LEVEL_DOT_DIR ? move_dot_dir(m, t)
					       : move_row_or_family(m, t);
}
