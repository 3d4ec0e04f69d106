/* rename(2) in all its forms. */
#include "tree.h"

#include <errno.h>

#include "../kv/kv.h"
#include "../kv/kv_change.h"
#include "../kv/kv_data.h"
#include "../kv/why.h"
#include "kind_schema.h"
#include "named.h"
#include "notify.h"
#include "times.h"
#include "tunnel.h"

/* A rename on its way. It begins again, with names let go in between, where
 * something is to be made ready first. */
struct course {
	const struct renaming *how;
	struct named from, to;
	struct inode *moved; /* the source's inode, or NULL */
	struct inode *other; /* the one it changes places with, or NULL */
	struct inode *twin;  /* what is renamed along with it, or NULL */
	struct offer offer;  /* what its open file has not stored yet */
	struct draft *draft; /* of that */
	struct move *move;   /* in kv */
	bool restored;	     /* the target has taken its history back */
};

enum { PREPARE = 1, SETTLE }; /* what is to be made ready */

static bool
is_file(enum kind kind)
{
	return kind == KIND_CELL || kind == KIND_VERSION ||
	    kind == KIND_DOT_FILE;
}

/* Whether a rename between these kinds means anything. */
static int
check_kinds(const struct course *m)
{
	enum kind from = m->from.spot.kind, to = m->to.spot.kind;

	if (!m->from.there || (m->how->exchange && !m->to.there))
		return -ENOENT;
	if (m->to.there && m->how->no_replace && !m->restored)
		return -EEXIST;
	if (kinds[from].read_only || kinds[to].read_only)
		return -EROFS;
	if (m->how->exchange && (from != KIND_CELL || to != KIND_CELL))
		return why(EINVAL, "only cells can be exchanged");
	if (m->to.there && kinds[from].directory != kinds[to].directory)
		return kinds[from].directory ? -ENOTDIR : -EISDIR;
	if (is_file(from) && is_file(to))
		return 0;
	if (kind_is_stream(from) || kind_is_stream(to))
		return why(EPERM, "a stream is not renamed, nor replaced");
	if (from != to && !(from == KIND_DOT_FILE && to == KIND_SCHEMA_FILE))
		return why(EINVAL, "a %s cannot become a %s",
		    kinds[from].name, kinds[to].name);
	if (from == KIND_ROW || from == KIND_FAMILY || from == KIND_TABLE ||
	    from == KIND_SCHEMA_FILE || from == KIND_DOT_FILE ||
	    from == KIND_DOT_DIR)
		return 0;
	return why(EPERM, "a %s cannot be renamed", kinds[from].name);
}

/* --- what is ready ---------------------------------------------------------- */

static void
forget_move(struct fs *fs, struct course *m)
{
	kv_move_close(fs->kv, m->move);
	kv_draft_close(fs->kv, m->draft);
	m->move = NULL;
	m->draft = NULL;
	offer_declined(fs, &m->offer);
}

static void
course_release(struct fs *fs, struct course *m)
{
	forget_move(fs, m);
	inode_put(fs, m->moved);
	inode_put(fs, m->other);
	inode_put(fs, m->twin);
	named_release(&m->from);
	named_release(&m->to);
}

/* Whether what has been made ready is still what is asked for. */
static bool
is_same(const struct course *a, const struct course *b)
{
	return a->moved == b->moved && a->other == b->other &&
	    spot_equal(&a->from.spot, &b->from.spot) &&
	    spot_equal(&a->to.spot, &b->to.spot);
}

/* What kv was told of a place stays where it is. */
static void
look_anew(struct named *known, struct named *now)
{
	struct spot spot = known->spot;

	known->spot = now->spot;
	now->spot = spot;
	named_release(known);
	*known = *now;
	*now = (struct named){0};
}

/* Beside a dot directory a name that is free is a dot directory's. */
static void
see_dot_dir(struct course *m)
{
	const struct spot *to = &m->to.spot;

	if (m->from.spot.kind == KIND_DOT_DIR && !m->to.there &&
	    to->kind == KIND_DOT_FILE && !to->place.dot_dir.size)
		named_as_dot_dir(&m->to);
}

/* What the names mean, now that names is held. */
static int
resolve(struct fs *fs, struct course *m)
{
	struct course now = {.how = m->how, .restored = m->restored};
	int r = named_resolve(fs, m->how->from_dir, m->how->from, &now.from);

	if (r == 0)
		r = named_resolve(fs, m->how->to_dir, m->how->to, &now.to);
	see_dot_dir(&now);
	if (r == 0)
		now.moved = inode_known(fs, m->how->from_dir, &now.from.child);
	if (r == 0 && m->how->exchange)
		now.other = inode_known(fs, m->how->to_dir, &now.to.child);
	if (r == 0 && m->move && is_same(m, &now)) {
		look_anew(&m->from, &now.from);
		look_anew(&m->to, &now.to);
	} else {
		struct course old = *m;
		forget_move(fs, &old);
		*m = now;
		now = old;
	}
	course_release(fs, &now);
	return r;
}

/* Whether what is pending is stored in the transaction of the rename. What
 * becomes of a schema is several, so there it is stored before; and where two
 * cells change places, both of which may be open. */
static bool
takes_pending(const struct course *m)
{
	return kinds[m->from.spot.kind].drafted && !m->how->exchange &&
	    m->to.spot.kind != KIND_SCHEMA_FILE;
}

static bool
is_pending(struct fs *fs, struct inode *inode)
{
	return inode && handles_pending(fs, inode);
}

static int
offer(struct fs *fs, struct course *m, const struct caller *caller)
{
	struct spot *from = &m->from.spot;

	if (!takes_pending(m))
		return is_pending(fs, m->moved) || is_pending(fs, m->other)
		    ? SETTLE : 0;
	if (!m->moved || m->offer.handle)
		return 0;
	if (handles_offer(fs, m->moved, caller, &m->offer))
		return SETTLE;
	return m->offer.handle
	    ? node_draft(fs, from, &m->offer.storing, &m->draft) : 0;
}

/* --- what moves ------------------------------------------------------------- */

/* The version that handles may call theirs: the newest. */
static int
newest_of(struct fs *fs, const struct course *m, int64_t *out)
{
	const struct spot *from = &m->from.spot;
	struct info info = {0};
	int r = 0;

	*out = from->version.number;
	if (from->kind == KIND_DOT_FILE)
		*out = DOT_MINE;
	if (from->kind == KIND_CELL) {
		r = kv_stat(fs->kv, &from->place, from->version, &info);
		*out = info.timestamp;
	}
	return r;
}

/* What its open files have stored is called otherwise. */
static void
follow(struct fs *fs, struct course *m, bool whole, int64_t before,
    int64_t stored)
{
	enum kind to = m->to.spot.kind;

	if (m->offer.handle)
		before = m->offer.storing.content.stored;
	if (to == KIND_DOT_FILE)
		stored = DOT_MINE;
	if (m->moved && !whole)
		handles_follow(fs, m->moved, before, stored);
	if (m->offer.handle)
		offer_taken(fs, &m->offer, &m->to.spot,
		    whole ? before : stored);
}

/* Cells, versions, dot files, rows and families: one transaction in kv. A cell
 * or file in a directory that moves is stored where it then is. */
static int
move_data(struct fs *fs, struct course *m, const struct caller *caller)
{
	const struct spot *from = &m->from.spot, *to = &m->to.spot;
	const struct move_spec spec = {.from = &from->place,
		.from_version = from->version, .to = &to->place,
		.to_version = to->version, .flags = MOVE_KEEP,
		.draft = m->draft};
	bool cells = from->kind == KIND_CELL && to->kind == KIND_CELL;
	int64_t before, stored;
	int r = newest_of(fs, m, &before);

	if (r == 0 && !m->to.there)
		r = tunnel_renaming(fs, caller, from, to);
	if (r < 0)
		return r;
	m->restored = m->restored || r == 1;
	bool whole = cells && !m->to.there && !m->restored;
	r = m->move ? 0 : kv_move_open(fs->kv, &spec, &m->move);
	if (r == 0)
		r = kv_move_try(fs->kv, m->move, &stored);
	if (r < 0)
		tunnel_forget(fs, caller, from);
	if (r)
		return r;
	follow(fs, m, whole, before, stored);
	if (whole)
		tunnel_renamed(fs, caller, from, to);
	return 0;
}

static int
move_any(struct fs *fs, struct course *m, const struct caller *caller)
{
	enum kind from = m->from.spot.kind, to = m->to.spot.kind;

	if (from == KIND_TABLE)
		return m->to.there ? -EEXIST
				   : kv_table_rename(fs->kv,
					 m->from.spot.place.table,
					 m->to.spot.place.table);
	if (from != KIND_SCHEMA_FILE && to != KIND_SCHEMA_FILE)
		return move_data(fs, m, caller);
	int r = from == KIND_SCHEMA_FILE
	    ? schema_move(fs, &m->from.spot, &m->to.spot, m->to.there)
	    : schema_adopt(fs, &m->from.spot, &m->to.spot);
	if (r == 0 && m->moved)
		handles_follow(fs, m->moved, 0, 0); /* a schema has no versions */
	return r;
}

static int
exchange(struct fs *fs, struct course *m)
{
	const struct move_spec spec = {.from = &m->from.spot.place,
		.to = &m->to.spot.place, .flags = MOVE_KEEP | MOVE_EXCHANGE};
	int64_t stored;
	int r = m->move ? 0 : kv_move_open(fs->kv, &spec, &m->move);

	if (r == 0)
		r = kv_move_try(fs->kv, m->move, &stored);
	if (r)
		return r;
	if (m->moved && m->other)
		inode_exchange(fs, m->moved, m->other);
	else if (m->moved)
		inode_move(fs, m->moved, m->how->to_dir, &m->to.child);
	else if (m->other)
		inode_move(fs, m->other, m->how->from_dir, &m->from.child);
	times_touch(fs, m->how->from_dir);
	times_touch(fs, m->how->to_dir);
	return 0;
}

/* A child of the root, or of .schema, by its table's name. */
static void
move_child(struct fs *fs, struct inode *dir, enum kind kind, struct course *m)
{
	struct child to = {.kind = kind};

	m->twin = inode_below(fs, dir, kind, m->from.spot.place.table);
	if (m->twin && buf_set(&to.key, m->to.spot.place.table) == 0)
		inode_move(fs, m->twin, dir, &to);
	child_release(&to);
}

/* A table and its schema file are renamed together. */
static void
move_twin(struct fs *fs, struct course *m)
{
	struct inode *root = &fs->nodes->root;

	if (m->from.spot.kind == KIND_TABLE ||
	    m->from.spot.kind == KIND_SCHEMA_FILE)
		tunnel_clear(fs);
	if (m->from.spot.kind == KIND_SCHEMA_FILE && !m->to.there)
		move_child(fs, root, KIND_TABLE, m);
	if (m->from.spot.kind != KIND_TABLE)
		return;
	struct inode *schema =
	    inode_below(fs, root, KIND_SCHEMA_DIR, slice_text(""));
	if (schema)
		move_child(fs, schema, KIND_SCHEMA_FILE, m);
	inode_put(fs, schema);
}

/* The kernel and the inodes learn what has moved. */
static void
moved(struct fs *fs, struct course *m)
{
	const struct renaming *how = m->how;

	if (m->to.there)
		named_lose(fs, how->to_dir, &m->to);
	if (m->moved)
		inode_move(fs, m->moved, how->to_dir, &m->to.child);
	move_twin(fs, m);
	named_changed(fs, how->from_dir, &m->from.spot);
	named_changed(fs, how->to_dir, &m->to.spot);
	named_keep_parts(fs, how->from_dir);
}

/* The rename, or what is to be made ready for it. names is held for writing. */
static int
attempt(struct fs *fs, struct course *m, const struct caller *caller)
{
	int r = resolve(fs, m);

	if (r == 0)
		r = check_kinds(m);
	if (r < 0 || spot_equal(&m->from.spot, &m->to.spot))
		return r;
	r = offer(fs, m, caller);
	if (r == 0 && m->how->exchange)
		return exchange(fs, m);
	if (r == 0)
		r = move_any(fs, m, caller);
	if (r == 0)
		moved(fs, m);
	if (r < 0 && m->restored) /* which the kernel does not know of */
		notify_name(fs, m->how->to_dir, m->how->to);
	return r;
}

static int
make_ready(struct fs *fs, struct course *m, const struct caller *caller,
    int what)
{
	if (what == PREPARE)
		return kv_move_prepare(fs->kv, m->move);
	int r = m->moved ? handles_settle(fs, m->moved, caller,
	    !takes_pending(m)) : 0;
	if (r == 0 && m->other)
		r = handles_settle(fs, m->other, caller, true);
	return r;
}

/* The kernel goes by numbers that are others now. */
static void
tell_moved(struct fs *fs, const struct course *m)
{
	struct inode *const moved[] = {m->moved, m->other, m->twin};

	for (int i = 0; i < 3; i++)
		if (moved[i])
			notify_moved(fs, moved[i]);
}

int
tree_rename(struct fs *fs, const struct renaming *how,
    const struct caller *caller)
{
	struct course m = {.how = how};
	int r, again;

	if (fs->read_only)
		return why(EROFS, "the mount is read-only");
	do {
		pthread_rwlock_wrlock(&fs->nodes->names);
		r = attempt(fs, &m, caller);
		pthread_rwlock_unlock(&fs->nodes->names);
		again = r > 0;
		if (again)
			r = make_ready(fs, &m, caller, r);
	} while (again && r == 0);
	if (r == 0)
		tell_moved(fs, &m);
	course_release(fs, &m);
	return r;
}
