/* All handles of an inode: what is done to, and known of, a file that is open,
 * by name. */
#include "handle_own.h"

#include <stddef.h>

void
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

/* The handles that have something pending. Locked. */
static unsigned
count_pending(const struct inode *inode)
{
	unsigned count = 0;

	for (struct handle *h = inode->handles; h; h = h->next)
		count += h->pending;
	return count;
}

bool
handles_pending(struct fs *fs, struct inode *inode)
{
	pthread_mutex_lock(&fs->nodes->lock);
	bool any = count_pending(inode) != 0;
	pthread_mutex_unlock(&fs->nodes->lock);
	return any;
}

int
handles_offer(struct fs *fs, struct inode *inode, const struct caller *caller,
    struct offer *out)
{
	pid_t process = caller_process(caller->thread);

	*out = (struct offer){0};
	pthread_mutex_lock(&fs->nodes->lock);
	unsigned count = count_pending(inode);
	struct handle *h = count == 1 ? pending_of(inode, process) : NULL;
	if (h && pthread_mutex_trylock(&h->lock) == 0)
		h->holds++;
	else
		h = NULL;
	pthread_mutex_unlock(&fs->nodes->lock);
	if (!h)
		return count != 0;
	out->handle = h;
	handle_storing(fs, h, &out->storing);
	out->storing.mine = h->mine;
	return 0;
}

static void
offer_end(struct fs *fs, struct offer *o)
{
	pthread_mutex_unlock(&o->handle->lock);
	handle_put(fs, o->handle);
	o->handle = NULL;
}

void
offer_taken(struct fs *fs, struct offer *o, const struct spot *spot,
    int64_t mine)
{
	o->storing.mine = mine;
	handle_stored(fs, o->handle, spot, &o->storing, 0);
	offer_end(fs, o);
}

void
offer_declined(struct fs *fs, struct offer *o)
{
	if (!o->handle)
		return;
	handle_not_stored(fs, o->handle, &o->storing);
	offer_end(fs, o);
}

/* The next handle to be stored, held, or NULL: one that is pending, the last
 * one last; *last: this is it. */
static struct handle *
next_pending(struct fs *fs, struct inode *inode, pid_t process, bool *last)
{
	pthread_mutex_lock(&fs->nodes->lock);
	struct handle *kept = pending_of(inode, process);
	struct handle *h = inode->handles;
	while (h && (!h->pending || h == kept))
		h = h->next;
	*last = !h;
	if (!h)
		h = kept;
	if (h)
		h->holds++;
	pthread_mutex_unlock(&fs->nodes->lock);
	return h;
}

int
handles_settle(struct fs *fs, struct inode *inode, const struct caller *caller,
    bool all)
{
	pid_t process = caller_process(caller->thread);
	bool last = false;
	struct handle *h;
	int r = 0;

	while (r == 0 && !last &&
	    (h = next_pending(fs, inode, process, &last))) {
		pthread_mutex_lock(&h->lock); /* what is being stored, is */
		if ((all || !last) && (h->dirty || h->truncated))
			r = handle_commit(fs, h);
		pthread_mutex_unlock(&h->lock);
		handle_put(fs, h);
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

bool
handles_take_attrs(struct fs *fs, struct inode *inode,
    const struct caller *caller, const struct attrs *attrs)
{
	bool pending = handles_pending(fs, inode);
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

bool
handles_write(struct fs *fs, struct inode *inode)
{
	bool writes = false;

	pthread_mutex_lock(&fs->nodes->lock);
	for (struct handle *h = inode->handles; h; h = h->next)
		writes = writes || h->writes;
	pthread_mutex_unlock(&fs->nodes->lock);
	return writes;
}
