/* All handles of an inode: what is done to, and known of, a file that is open,
 * by name. */
#include "handle_own.h"

#include <stddef.h>

/* The next handle that has something pending, or NULL. Holding names for
 * writing keeps the list from losing it. */
static struct handle *
next_pending(struct fs *fs, struct inode *inode)
{
	pthread_mutex_lock(&fs->nodes->lock);
	struct handle *h = inode->handles;
	while (h && !h->pending)
		h = h->next;
	pthread_mutex_unlock(&fs->nodes->lock);
	return h;
}

int
handles_settle(struct fs *fs, struct inode *inode)
{
	struct handle *h;
	int r = 0;

	while (r == 0 && (h = next_pending(fs, inode))) {
		pthread_mutex_lock(&h->lock);
		r = handle_commit(fs, h);
		pthread_mutex_unlock(&h->lock);
	}
	return r;
}

void
handles_follow(struct fs *fs, struct inode *inode, int64_t before,
    int64_t after)
{
	pthread_mutex_lock(&fs->nodes->lock);
	for (struct handle *h = inode->handles; h; h = h->next)
		if (h->mine)
			h->mine = h->mine == before ? after : 0;
	pthread_mutex_unlock(&fs->nodes->lock);
}

static void
attrs_merge(struct attrs *to, const struct attrs *from)
{
	if (from->set & ATTR_MTIME)
		to->mtime = from->mtime;
	if (from->set & ATTR_MODE)
		to->mode = from->mode;
	if (from->set & ATTR_UID)
		to->uid = from->uid;
	if (from->set & ATTR_GID)
		to->gid = from->gid;
	to->set |= from->set;
}

/* The pending handle of process, else the one last written. Locked. */
static struct handle *
pending_of(struct inode *inode, pid_t process)
{
	struct handle *best = NULL;

	for (struct handle *h = inode->handles; h; h = h->next) {
		if (!h->pending)
			continue;
		if (h->process == process)
			return h;
		if (!best || h->written.tv_sec > best->written.tv_sec ||
		    (h->written.tv_sec == best->written.tv_sec &&
			h->written.tv_nsec > best->written.tv_nsec))
			best = h;
	}
	return best;
}

bool
handles_take_attrs(struct fs *fs, struct inode *inode,
    const struct caller *caller, const struct attrs *attrs)
{
	bool pending = next_pending(fs, inode) != NULL;
	pid_t process = pending ? caller_process(caller->thread) : 0;

	pthread_mutex_lock(&fs->nodes->lock);
	struct handle *h = pending_of(inode, process);
	if (h)
		attrs_merge(&h->attrs, attrs);
	pthread_mutex_unlock(&fs->nodes->lock);
	return h != NULL;
}

/* Shows what was set while h is pending. Locked. */
static void
show_attrs(const struct fs *fs, const struct handle *h, struct stat *st)
{
	const struct masquerade *m = &fs->masquerade;
	const struct attrs *a = &h->attrs;

	if (a->set & ATTR_MTIME)
		st->st_mtim = a->mtime;
	if ((a->set & ATTR_MODE) && !m->has_umask)
		st->st_mode = (st->st_mode & S_IFMT) | a->mode;
	if ((a->set & ATTR_UID) && !m->has_uid)
		st->st_uid = a->uid;
	if ((a->set & ATTR_GID) && !m->has_gid)
		st->st_gid = a->gid;
}

bool
handles_overlay(struct fs *fs, struct inode *inode,
    const struct caller *caller, struct stat *st)
{
	bool writers = false, pending = false;
	pid_t process = 0;

	pthread_mutex_lock(&fs->nodes->lock);
	for (struct handle *h = inode->handles; h; h = h->next) {
		writers = writers || h->writes;
		pending = pending || h->pending;
	}
	pthread_mutex_unlock(&fs->nodes->lock);
	if (!pending)
		return writers;

	process = caller_process(caller->thread);
	off_t newest = st->st_size;
	pthread_mutex_lock(&fs->nodes->lock);
	for (struct handle *h = inode->handles; h; h = h->next) {
		if (!h->pending || !(h->mapped || h->process == process))
			continue;
		st->st_size = (off_t)h->shown + (h->behind ? newest : 0);
		st->st_blocks = (st->st_size + 511) / 512;
		st->st_mtim = h->written;
		if (h->process == process)
			break;
	}
	struct handle *set = pending_of(inode, process);
	if (set)
		show_attrs(fs, set, st);
	pthread_mutex_unlock(&fs->nodes->lock);
	return writers;
}

void
handles_close(struct fs *fs)
{
	while (fs->nodes->open)
		handle_release(fs, fs->nodes->open);
}
