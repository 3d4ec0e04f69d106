/* rename(2) in all its forms. */
#include "tree.h"

#include <errno.h>

#include "../kv/kv.h"
#include "../kv/kv_data.h"
#include "../kv/why.h"
#include "kind_schema.h"
#include "named.h"
#include "notify.h"
#include "tunnel.h"

struct move {
	struct named from, to;
	struct inode *moved; /* the source's inode, or NULL */
};

static bool
is_file(enum kind kind)
{
	return kind == KIND_CELL || kind == KIND_VERSION ||
	    kind == KIND_DOT_FILE;
}

/* Whether a rename between these kinds means anything. */
static int
check_kinds(const struct move *m, bool no_replace)
{
	enum kind from = m->from.spot.kind, to = m->to.spot.kind;

	if (!m->from.there)
		return -ENOENT;
	if (m->to.there && no_replace)
		return -EEXIST;
	if (kinds[from].read_only || kinds[to].read_only)
		return -EROFS;
	if (m->to.there && kinds[from].directory != kinds[to].directory)
		return kinds[from].directory ? -ENOTDIR : -EISDIR;
	if (is_file(from) && is_file(to))
		return 0;
	if (from != to && !(from == KIND_DOT_FILE && to == KIND_SCHEMA_FILE))
		return why(EINVAL, "a %s cannot become a %s",
		    kinds[from].name, kinds[to].name);
	if (from == KIND_ROW || from == KIND_FAMILY || from == KIND_TABLE ||
	    from == KIND_SCHEMA_FILE || from == KIND_DOT_FILE)
		return 0;
	return why(EPERM, "a %s cannot be renamed", kinds[from].name);
}

/* Cells, versions, dot files, rows and families: one transaction in kv. */
static int
move_data(struct fs *fs, struct move *m, const struct caller *caller)
{
	const struct spot *from = &m->from.spot, *to = &m->to.spot;
	int64_t before = 0, stored = 0;
	bool whole = from->kind == KIND_CELL && to->kind == KIND_CELL;
	struct info info;
	int r = 0;

	if (from->kind == KIND_DOT_FILE)
		before = DOT_MINE;
	if (from->kind == KIND_CELL) {
		r = kv_stat(fs->kv, &from->place, from->version, &info);
		before = info.timestamp;
	}
	if (r == 0 && !m->to.there && to->kind == KIND_CELL)
		r = tunnel_restore(fs, caller, to);
	bool free_name = r == 0 && !m->to.there;
	if (r >= 0)
		r = kv_move(fs->kv, &(struct move_spec){.from = &from->place,
		    .from_version = from->version, .to = &to->place,
		    .to_version = to->version, .flags = MOVE_KEEP}, &stored);
	if (r < 0)
		return r;
	if (m->moved && !(whole && free_name))
		handles_follow(fs, m->moved, before,
		    to->kind == KIND_CELL	? stored
			: to->kind == KIND_DOT_FILE ? DOT_MINE
						    : 0);
	if (whole && free_name)
		tunnel_renamed(fs, caller, from, to);
	return 0;
}

static int
move_any(struct fs *fs, struct move *m, const struct caller *caller)
{
	enum kind from = m->from.spot.kind, to = m->to.spot.kind;
	int r = m->moved ? handles_settle(fs, m->moved) : 0;

	if (r < 0)
		return r;
	if (from == KIND_TABLE)
		return m->to.there ? -EEXIST
				   : kv_table_rename(fs->kv,
					 m->from.spot.place.table,
					 m->to.spot.place.table);
	if (from != KIND_SCHEMA_FILE && to != KIND_SCHEMA_FILE)
		return move_data(fs, m, caller);
	r = from == KIND_SCHEMA_FILE
	    ? schema_move(fs, &m->from.spot, &m->to.spot, m->to.there)
	    : schema_adopt(fs, &m->from.spot, &m->to.spot);
	if (r == 0 && m->moved)
		handles_follow(fs, m->moved, 0, 0); /* a schema has no versions */
	return r;
}

/* The inode of a child of the root, or of .schema, by its table's name. */
static struct inode *
root_child(struct fs *fs, struct inode *dir, enum kind kind,
    struct slice table)
{
	struct child child = {.kind = kind};
	struct inode *inode = NULL;

	if (buf_set(&child.key, table) == 0)
		inode = inode_known(fs, dir, &child);
	child_release(&child);
	return inode;
}

static void
move_child(struct fs *fs, struct inode *dir, enum kind kind,
    const struct move *m)
{
	struct child to = {.kind = kind};
	struct inode *inode =
	    root_child(fs, dir, kind, m->from.spot.place.table);

	if (inode && buf_set(&to.key, m->to.spot.place.table) == 0)
		inode_move(fs, inode, dir, &to);
	child_release(&to);
	inode_put(fs, inode);
}

/* A table and its schema file are renamed together. */
static void
move_twin(struct fs *fs, const struct move *m)
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
	    root_child(fs, root, KIND_SCHEMA_DIR, slice_text(""));
	if (schema)
		move_child(fs, schema, KIND_SCHEMA_FILE, m);
	inode_put(fs, schema);
}

/* The kernel and the inodes learn what has moved. */
static void
moved(struct fs *fs, const struct renaming *how, struct move *m)
{
	if (m->to.there)
		named_lose(fs, how->to_dir, &m->to);
	if (m->moved)
		inode_move(fs, m->moved, how->to_dir, &m->to.child);
	move_twin(fs, m);
	named_changed(fs, how->from_dir, &m->from.spot);
	named_changed(fs, how->to_dir, &m->to.spot);
	named_keep_parts(fs, how->from_dir);
}

int
tree_rename(struct fs *fs, const struct renaming *how,
    const struct caller *caller)
{
	struct move m = {0};

	if (fs->read_only)
		return why(EROFS, "the mount is read-only");
	pthread_rwlock_wrlock(&fs->nodes->names);
	int r = named_resolve(fs, how->from_dir, how->from, &m.from);
	if (r == 0)
		r = named_resolve(fs, how->to_dir, how->to, &m.to);
	if (r == 0)
		r = check_kinds(&m, how->no_replace);
	if (r == 0 && !spot_equal(&m.from.spot, &m.to.spot)) {
		m.moved = inode_known(fs, how->from_dir, &m.from.child);
		r = move_any(fs, &m, caller);
		if (r == 0)
			moved(fs, how, &m);
		inode_put(fs, m.moved);
	}
	named_release(&m.from);
	named_release(&m.to);
	pthread_rwlock_unlock(&fs->nodes->names);
	return r;
}
