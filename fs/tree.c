#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../kv/kv_data.h"
#include "../kv/why.h"
#include "kind_schema.h"
#include "notify.h"
#include "tunnel.h"

/* Reads the thread group from /proc. */
static pid_t
read_process(pid_t thread)
{
	char path[40], line[256];
	int process = thread;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)thread);
	FILE *f = fopen(path, "re");
	if (!f)
		return thread;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &process) == 1)
			break;
	fclose(f);
	return process;
}

/* A descriptor can be had for the leading thread alone, and most are that:
 * asking so costs a tenth of reading /proc. */
pid_t
caller_process(pid_t thread)
{
	int fd = (int)syscall(SYS_pidfd_open, thread, 0);

	if (fd < 0)
		return read_process(thread);
	close(fd);
	return thread;
}

/* A name with all that is known of it: where it would stand and, if found,
 * how it looks. */
struct named {
	struct child child;
	struct spot spot;
	struct look look;
	bool means; /* it is a name of something */
	bool there;
};

static void
named_release(struct named *n)
{
	child_release(&n->child);
	spot_release(&n->spot);
}

/* Resolves name in dir. 0 also if it is not there; -EINVAL and the like for
 * what is no name. */
static int
resolve(struct fs *fs, struct inode *dir, struct slice name, struct named *out)
{
	struct spot spot;

	*out = (struct named){0};
	int r = inode_spot(fs, dir, &spot);
	if (r < 0)
		return r;
	r = node_parse(&spot, name, &out->child);
	out->means = r == 0;
	if (r == 0)
		r = spot_child(&spot, &out->child, &out->spot);
	spot_release(&spot);
	if (r == 0) {
		r = node_find(fs, &out->spot, &out->look);
		out->child.kind = out->spot.kind;
		out->there = r == 0;
		if (r == -ENOENT)
			r = 0;
	}
	if (r < 0)
		named_release(out);
	return r;
}

void
tree_overlay(struct fs *fs, struct inode *inode, const struct caller *caller,
    struct look *look)
{
	pthread_mutex_lock(&fs->nodes->lock);
	struct timespec touched = inode->touched;
	bool open = inode->handles != NULL;
	pthread_mutex_unlock(&fs->nodes->lock);

	if (touched.tv_sec)
		look->st.st_mtim = look->st.st_ctim = touched;
	if (open && handles_overlay(fs, inode, caller, &look->st))
		look->hold = 0;
}

int
tree_lookup(struct fs *fs, struct inode *dir, struct slice name,
    const struct caller *caller, struct inode **out, struct look *look)
{
	struct named n;
	int r = resolve(fs, dir, name, &n);

	*out = NULL;
	if ((r == -EPERM || r == -EINVAL) && !n.means)
		r = -ENOENT;
	if (r == 0 && !n.there)
		r = -ENOENT;
	if (r == 0) {
		*out = inode_get(fs, dir, &n.child);
		*look = n.look;
		r = *out ? 0 : -ENOMEM;
	}
	if (r == 0)
		tree_overlay(fs, *out, caller, look);
	named_release(&n);
	return r;
}

/* Looks at what the kernel has been told of. A counter that is being made
 * comes into the store only with its first addition. */
static int
look_again(struct fs *fs, struct spot *spot, const struct caller *caller,
    struct look *look)
{
	int r = node_find(fs, spot, look);

	if (r == -ENOENT && spot->kind == KIND_COUNTER) {
		struct info none = {.expires = NEVER, .attrs = {.mode = 0644,
			.uid = caller->uid, .gid = caller->gid}};
		stat_fill(fs, spot, &none, look);
		r = 0;
	}
	return r;
}

int
tree_look(struct fs *fs, struct inode *inode, const struct caller *caller,
    struct look *look)
{
	struct spot spot;
	int r = inode_spot(fs, inode, &spot);

	if (r == 0)
		r = look_again(fs, &spot, caller, look);
	else if (r == -ESTALE) {
		pthread_mutex_lock(&fs->nodes->lock);
		*look = (struct look){.st = inode->last};
		r = inode->gone ? 0 : -ESTALE;
		pthread_mutex_unlock(&fs->nodes->lock);
	}
	if (r == -ENOENT)
		r = -ESTALE;
	if (r == 0)
		tree_overlay(fs, inode, caller, look);
	spot_release(&spot);
	return r;
}

/* Owner and mode of what caller makes in dir. */
static int
fresh_attrs(struct fs *fs, struct inode *dir, mode_t mode, bool directory,
    const struct caller *caller, struct attrs *out)
{
	struct spot spot;
	struct look look;
	int r = inode_spot(fs, dir, &spot);

	if (r == 0)
		r = node_find(fs, &spot, &look);
	spot_release(&spot);
	if (r < 0)
		return r;
	*out = (struct attrs){.set = ATTR_MODE | ATTR_UID | ATTR_GID,
		.mode = mode & 07777, .uid = caller->uid, .gid = caller->gid};
	if (look.st.st_mode & S_ISGID) {
		out->gid = look.st.st_gid;
		if (directory)
			out->mode |= S_ISGID;
	}
	return 0;
}

/* After name came or went: what stat and the kernel are to know. */
static void
changed_in(struct fs *fs, struct inode *dir, const struct spot *child)
{
	inode_touch(fs, dir);
	if (child->kind == KIND_VERSION)
		notify_cell(fs, child);
	if (child->kind == KIND_SCHEMA_FILE)
		notify_name(fs, &fs->nodes->root, child->place.table);
}

static int
found(struct fs *fs, struct inode *dir, struct named *n,
    const struct caller *caller, struct inode **out, struct look *look)
{
	int r = look_again(fs, &n->spot, caller, look);

	if (r < 0)
		return r;
	*out = inode_get(fs, dir, &n->child);
	if (!*out)
		return -ENOMEM;
	tree_overlay(fs, *out, caller, look);
	return 0;
}

static int
create_named(struct fs *fs, struct inode *dir, struct named *n, int flags,
    const struct caller *caller, struct made *out)
{
	int r = 0;

	if (n->there && (flags & O_EXCL))
		return -EEXIST;
	if (kinds[n->spot.kind].directory)
		return n->there ? -EISDIR
				: why(EPERM, "files stand in families only");
	if (!n->there && n->spot.kind == KIND_CELL)
		r = tunnel_restore(fs, caller, &n->spot);
	if (r < 0)
		return r;
	out->restored = r == 1;
	if (!n->there && !out->restored) {
		r = node_make(fs, &n->spot, &out->fresh, &out->mine);
		if (r == -EEXIST && !(flags & O_EXCL))
			r = 0;
		else if (r == 0)
			changed_in(fs, dir, &n->spot);
	}
	return r < 0 ? r : found(fs, dir, n, caller, &out->inode, &out->look);
}

int
tree_create(struct fs *fs, struct inode *dir, struct slice name, mode_t mode,
    int flags, const struct caller *caller, struct made *out)
{
	struct named n;

	*out = (struct made){0};
	pthread_rwlock_rdlock(&fs->nodes->names);
	int r = resolve(fs, dir, name, &n);
	if (r == 0)
		r = fresh_attrs(fs, dir, mode, false, caller, &out->fresh);
	if (r == 0)
		r = create_named(fs, dir, &n, flags, caller, out);
	named_release(&n);
	pthread_rwlock_unlock(&fs->nodes->names);
	return r;
}

int
tree_mkdir(struct fs *fs, struct inode *dir, struct slice name, mode_t mode,
    const struct caller *caller, struct inode **out, struct look *look)
{
	struct attrs fresh;
	struct named n;
	int64_t mine;

	*out = NULL;
	pthread_rwlock_rdlock(&fs->nodes->names);
	int r = resolve(fs, dir, name, &n);
	if (r == 0 && n.there)
		r = -EEXIST;
	if (r == 0 && n.spot.kind == KIND_DOT_FILE &&
	    !n.spot.place.dot_dir.size) {
		n.child.kind = n.spot.kind = KIND_DOT_DIR;
		n.spot.place.level = LEVEL_DOT_DIR;
		n.spot.place.dot_dir = n.spot.place.dot;
		n.spot.place.dot = slice_text("");
	} else if (r == 0 && !kinds[n.spot.kind].directory)
		r = why(EPERM, "no directories here");
	if (r == 0)
		r = fresh_attrs(fs, dir, mode, true, caller, &fresh);
	if (r == 0)
		r = node_make(fs, &n.spot, &fresh, &mine);
	if (r == 0)
		changed_in(fs, dir, &n.spot);
	if (r == 0)
		r = found(fs, dir, &n, caller, out, look);
	named_release(&n);
	pthread_rwlock_unlock(&fs->nodes->names);
	return r;
}

/* The name's inode, if the kernel knows one, stands for nothing any more. */
static void
lose(struct fs *fs, struct inode *dir, const struct named *n)
{
	struct inode *inode = inode_known(fs, dir, &n->child);

	if (!inode)
		return;
	inode_gone(fs, inode, &n->look.st);
	inode_put(fs, inode);
}

/* A part whose last key was removed through the mount stays, as every
 * directory does, until it is removed itself. */
static int
keep_parts(struct fs *fs, struct inode *dir)
{
	struct spot spot = {0};
	struct look look;
	int r = 0;

	for (; r == 0 && (dir->kind == KIND_ROW_PART ||
	    dir->kind == KIND_COLUMN_PART); dir = dir->up) {
		r = inode_spot(fs, dir, &spot);
		if (r < 0)
			break;
		r = node_find(fs, &spot, &look);
		if (r == -ENOENT) {
			struct attrs none = {0};
			r = kv_dir_make(fs->kv, &spot.place, &none);
		}
		spot_release(&spot);
	}
	return r;
}

static int
remove_named(struct fs *fs, struct inode *dir, struct named *n, bool directory,
    const struct caller *caller)
{
	if (!n->there)
		return -ENOENT;
	if (kinds[n->spot.kind].directory != directory)
		return directory ? -ENOTDIR : -EISDIR;
	if (n->spot.kind == KIND_CELL)
		tunnel_unlinking(fs, caller, &n->spot);
	int r = node_drop(fs, &n->spot);
	if (r < 0)
		return r;
	lose(fs, dir, n);
	changed_in(fs, dir, &n->spot);
	return keep_parts(fs, dir);
}

int
tree_remove(struct fs *fs, struct inode *dir, struct slice name,
    bool directory, const struct caller *caller)
{
	struct named n;

	pthread_rwlock_wrlock(&fs->nodes->names);
	int r = resolve(fs, dir, name, &n);
	if (r == 0)
		r = remove_named(fs, dir, &n, directory, caller);
	named_release(&n);
	pthread_rwlock_unlock(&fs->nodes->names);
	return r;
}

int
tree_set(struct fs *fs, struct inode *inode, const struct attrs *attrs,
    const struct caller *caller)
{
	struct spot spot = {0};
	int r = 0;

	pthread_rwlock_rdlock(&fs->nodes->names);
	if (!handles_take_attrs(fs, inode, caller, attrs)) {
		r = inode_spot(fs, inode, &spot);
		if (r == 0)
			r = node_set(fs, &spot, attrs);
		if (r == 0 && spot.kind == KIND_VERSION)
			notify_cell(fs, &spot);
	}
	if (r == 0 && (attrs->set & ATTR_MTIME)) {
		pthread_mutex_lock(&fs->nodes->lock);
		inode->touched = (struct timespec){0};
		pthread_mutex_unlock(&fs->nodes->lock);
	}
	spot_release(&spot);
	pthread_rwlock_unlock(&fs->nodes->names);
	return r;
}

/* --- rename ---------------------------------------------------------------- */

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
	if (from == KIND_DOT_DIR && to == KIND_DOT_FILE)
		return 0; /* a free dot name */
	if (from != to && !(from == KIND_DOT_FILE && to == KIND_SCHEMA_FILE))
		return why(EINVAL, "a %s cannot become a %s",
		    kinds[from].name, kinds[to].name);
	if (from == KIND_ROW || from == KIND_FAMILY || from == KIND_TABLE ||
	    from == KIND_DOT_DIR || from == KIND_SCHEMA_FILE ||
	    from == KIND_DOT_FILE)
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
		r = kv_move(fs->kv, &from->place, from->version, &to->place,
		    to->version, MOVE_KEEP, &stored);
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

/* A dot directory's new name was taken for a dot file's. */
static void
settle_dot_dir(struct move *m)
{
	struct spot *to = &m->to.spot;

	if (m->from.spot.kind != KIND_DOT_DIR || to->kind != KIND_DOT_FILE)
		return;
	to->kind = m->to.child.kind = KIND_DOT_DIR;
	to->place.level = LEVEL_DOT_DIR;
	to->place.dot_dir = to->place.dot;
	to->place.dot = slice_text("");
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
	if (from != KIND_SCHEMA_FILE && to != KIND_SCHEMA_FILE) {
		settle_dot_dir(m);
		return move_data(fs, m, caller);
	}
	r = from == KIND_SCHEMA_FILE
	    ? schema_move(fs, &m->from.spot, &m->to.spot, m->to.there)
	    : schema_adopt(fs, &m->from.spot, &m->to.spot);
	if (r == 0 && m->moved)
		handles_follow(fs, m->moved, 0, 0); /* a schema has no versions */
	return r;
}

/* The kernel and the inodes learn what has moved. */
static int
moved(struct fs *fs, const struct renaming *how, struct move *m)
{
	int r = 0;

	if (m->to.there)
		lose(fs, how->to_dir, &m->to);
	if (m->moved)
		r = inode_move(fs, m->moved, how->to_dir, &m->to.child);
	changed_in(fs, how->from_dir, &m->from.spot);
	changed_in(fs, how->to_dir, &m->to.spot);
	return r < 0 ? r : keep_parts(fs, how->from_dir);
}

static bool
same_name(const struct move *m)
{
	return m->from.there && m->to.there &&
	    spot_number(&m->from.spot) == spot_number(&m->to.spot);
}

int
tree_rename(struct fs *fs, const struct renaming *how,
    const struct caller *caller)
{
	struct move m = {0};

	if (fs->read_only)
		return why(EROFS, "the mount is read-only");
	pthread_rwlock_wrlock(&fs->nodes->names);
	int r = resolve(fs, how->from_dir, how->from, &m.from);
	if (r == 0)
		r = resolve(fs, how->to_dir, how->to, &m.to);
	if (r == 0)
		r = check_kinds(&m, how->no_replace);
	if (r == 0 && !same_name(&m)) {
		m.moved = inode_known(fs, how->from_dir, &m.from.child);
		r = move_any(fs, &m, caller);
		if (r == 0)
			r = moved(fs, how, &m);
		inode_put(fs, m.moved);
	}
	named_release(&m.from);
	named_release(&m.to);
	pthread_rwlock_unlock(&fs->nodes->names);
	return r;
}
