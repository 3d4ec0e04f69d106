#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "../kv/kv_data.h"
#include "../kv/why.h"
#include "kinds.h"
#include "named.h"
#include "notify.h"
#include "path.h"
#include "refusal.h"
#include "times.h"
#include "tunnel.h"

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

/* A name that no key has is not there. Why is told, but for dot names, which
 * programs look for everywhere. */
static int
senseless(struct fs *fs, struct inode *dir, const struct caller *caller,
    struct slice name, int r)
{
	if (name.size && name.data[0] != '.')
		refusal_tell(fs, caller, dir, name, r);
	return -ENOENT;
}

/* What the store says of an inode where it stands now. */
static int
look_now(struct fs *fs, struct inode *inode, struct look *look)
{
	struct spot spot;
	int r = inode_spot(fs, inode, &spot);

	if (r == 0)
		r = node_find(fs, &spot, look);
	spot_release(&spot);
	return r;
}

/* Who has removed the last version in q@/ removes the directory next, as rm -r
 * does: for that process it is there until then. */
static void
note_emptied(struct fs *fs, struct inode *dir, const struct caller *caller)
{
	struct look look;
	int r = look_now(fs, dir, &look);

	if (r != -ENOENT)
		return;
	pid_t process = caller_process(caller->thread);
	pthread_mutex_lock(&fs->nodes->lock);
	dir->emptied = process;
	pthread_mutex_unlock(&fs->nodes->lock);
}

static bool
was_emptied(struct fs *fs, struct inode *dir, const struct named *n,
    const struct caller *caller, bool removed)
{
	if (n->there || n->spot.kind != KIND_VERSIONS)
		return false;
	struct inode *inode = inode_known(fs, dir, &n->child);
	if (!inode)
		return false;
	pid_t process = caller_process(caller->thread);
	pthread_mutex_lock(&fs->nodes->lock);
	bool emptied = inode->emptied && inode->emptied == process;
	if (emptied && removed)
		inode->emptied = 0;
	pthread_mutex_unlock(&fs->nodes->lock);
	inode_put(fs, inode);
	return emptied;
}

int
tree_lookup(struct fs *fs, struct inode *dir, struct slice name,
    const struct caller *caller, struct inode **out, struct look *look)
{
	struct named n;
	int r = named_resolve(fs, dir, name, &n);

	*out = NULL;
	if ((r == -EPERM || r == -EINVAL) && !n.means)
		r = senseless(fs, dir, caller, name, r);
	if (r == 0 && was_emptied(fs, dir, &n, caller, false)) {
		n.there = true;
		stat_plain(fs, &n.spot, 0500, 0, &n.look);
		n.look.hold = n.look.name_hold = 0;
	}
	if (r == 0 && !n.there) {
		r = -ENOENT;
		if (n.spot.kind == KIND_VIEW && why_given(r))
			refusal_tell(fs, caller, dir, name, r);
	}
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

/* What fstat says of an open file whose name is gone. */
static int
look_gone(struct fs *fs, struct inode *inode, struct look *look)
{
	int r = -ESTALE;

	pthread_mutex_lock(&fs->nodes->lock);
	if (inode->gone && inode->last) {
		*look = (struct look){.st = *inode->last};
		r = 0;
	}
	pthread_mutex_unlock(&fs->nodes->lock);
	return r;
}

static int
look_standing(struct fs *fs, struct inode *inode, const struct caller *caller,
    struct look *look)
{
	struct spot spot;
	int r = inode_spot(fs, inode, &spot);

	if (r == 0)
		r = look_again(fs, &spot, caller, look);
	else if (r == -ESTALE)
		r = look_gone(fs, inode, look);
	if (r == -ENOENT)
		r = -ESTALE;
	if (r == 0)
		tree_overlay(fs, inode, caller, look);
	spot_release(&spot);
	return r;
}

int
tree_look(struct fs *fs, struct inode *inode, const struct caller *caller,
    struct look *look)
{
	pthread_mutex_lock(&fs->nodes->lock);
	bool itself = !inode->gone || inode->handles;
	pthread_mutex_unlock(&fs->nodes->lock);
	if (itself)
		return look_standing(fs, inode, caller, look);

	struct inode *now = inode_standing(fs, inode);
	int r = look_standing(fs, now, caller, look);
	inode_put(fs, now);
	return r;
}

/* Owner and mode of what caller makes in dir. */
static int
fresh_attrs(struct fs *fs, struct inode *dir, mode_t mode, bool directory,
    const struct caller *caller, struct attrs *out)
{
	struct look look;
	int r = look_now(fs, dir, &look);

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
	if (!n->there) {
		r = (r == 1 ? cell_make_above : node_make)(fs, &n->spot,
		    &out->fresh, &out->mine);
		if (r == -EEXIST && !(flags & O_EXCL))
			r = 0;
		else if (r == 0)
			named_changed(fs, dir, &n->spot);
	}
	return r < 0 ? r : found(fs, dir, n, caller, &out->inode, &out->look);
}

/* What a name means where it is to be made; in a view nothing is. */
static int
resolve_to_make(struct fs *fs, struct inode *dir, struct slice name,
    struct named *out)
{
	const struct kind_methods *k = &kinds[dir->kind];
	int r = named_resolve(fs, dir, name, out);

	if (!k->read_only || (r == 0 && out->there))
		return r;
	return why(EROFS, "%s: it is for reading only", k->name);
}

int
tree_create(struct fs *fs, struct inode *dir, struct slice name, mode_t mode,
    int flags, const struct caller *caller, struct made *out)
{
	struct named n;

	*out = (struct made){0};
	pthread_rwlock_rdlock(&fs->nodes->names);
	int r = resolve_to_make(fs, dir, name, &n);
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
	int r = resolve_to_make(fs, dir, name, &n);
	if (r == 0 && n.there)
		r = -EEXIST;
	if (r == 0 && n.spot.kind == KIND_DOT_FILE &&
	    !n.spot.place.dot_dir.size && name.data[0] == '.')
		named_as_dot_dir(&n);
	else if (r == 0 && !kinds[n.spot.kind].directory)
		r = why(EPERM, "no directories here");
	if (r == 0)
		r = fresh_attrs(fs, dir, mode, true, caller, &fresh);
	if (r == 0)
		r = node_make(fs, &n.spot, &fresh, &mine);
	if (r == 0)
		named_changed(fs, dir, &n.spot);
	if (r == 0)
		r = found(fs, dir, &n, caller, out, look);
	named_release(&n);
	pthread_rwlock_unlock(&fs->nodes->names);
	return r;
}

static int
remove_named(struct fs *fs, struct inode *dir, struct named *n, bool directory,
    const struct caller *caller)
{
	if (!n->there)
		return directory && was_emptied(fs, dir, n, caller, true)
		    ? 0 : -ENOENT;
	if (kinds[n->spot.kind].directory != directory)
		return directory ? -ENOTDIR : -EISDIR;
	if (n->spot.kind == KIND_CELL && !fs->read_only)
		tunnel_unlinking(fs, caller, &n->spot);
	int r = node_drop(fs, &n->spot);
	if (r < 0) {
		tunnel_forget(fs, caller, &n->spot);
		return r;
	}
	named_lose(fs, dir, n);
	named_changed(fs, dir, &n->spot);
	named_keep_parts(fs, dir);
	if (dir->kind == KIND_VERSIONS)
		note_emptied(fs, dir, caller);
	return 0;
}

int
tree_remove(struct fs *fs, struct inode *dir, struct slice name,
    bool directory, const struct caller *caller)
{
	struct named n;

	pthread_rwlock_wrlock(&fs->nodes->names);
	int r = named_resolve(fs, dir, name, &n);
	if (r == 0)
		r = remove_named(fs, dir, &n, directory, caller);
	named_release(&n);
	pthread_rwlock_unlock(&fs->nodes->names);
	return r;
}

/* An open file whose name is gone still has attributes. */
static int
set_gone(struct fs *fs, struct inode *inode, const struct attrs *attrs)
{
	int r = -ESTALE;

	pthread_mutex_lock(&fs->nodes->lock);
	struct stat *last = inode->last;
	if (last) {
		r = 0;
		if (attrs->set & ATTR_MODE)
			last->st_mode =
			    (last->st_mode & S_IFMT) | attrs->mode;
		if (attrs->set & ATTR_UID)
			last->st_uid = attrs->uid;
		if (attrs->set & ATTR_GID)
			last->st_gid = attrs->gid;
		if (attrs->set & ATTR_MTIME)
			last->st_mtim = attrs->mtime;
	}
	pthread_mutex_unlock(&fs->nodes->lock);
	return r;
}

/* A tool's time counts from now on, not that of the last change. */
static int
set_directory(struct fs *fs, struct inode *inode, const struct spot *spot,
    const struct attrs *attrs)
{
	struct nodes *n = fs->nodes;

	pthread_mutex_lock(&n->times);
	int r = node_set(fs, spot, attrs);
	if (r == 0 && (attrs->set & ATTR_MTIME)) {
		pthread_mutex_lock(&n->lock);
		inode->touched = (struct timespec){0};
		pthread_mutex_unlock(&n->lock);
	}
	pthread_mutex_unlock(&n->times);
	return r;
}

static int
set_standing(struct fs *fs, struct inode *inode, const struct spot *spot,
    const struct attrs *attrs)
{
	if (kinds[spot->kind].directory)
		return set_directory(fs, inode, spot, attrs);
	int r = node_set(fs, spot, attrs);
	if (r == 0 && spot->kind == KIND_VERSION)
		notify_cell(fs, spot);
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
			r = set_standing(fs, inode, &spot, attrs);
		else if (r == -ESTALE)
			r = set_gone(fs, inode, attrs);
	}
	spot_release(&spot);
	pthread_rwlock_unlock(&fs->nodes->names);
	return r;
}

int
tree_sync(struct fs *fs)
{
	int r = times_store(fs);

	return r < 0 ? r : kv_sync(fs->kv);
}

