#include "handle_own.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "../kv/why.h"
#include "notify.h"

enum kind
handle_kind(const struct handle *h)
{
	return atomic_load(&h->inode->kind);
}

bool
handle_lock(struct fs *fs, struct handle *h)
{
	bool needed = !kinds[handle_kind(h)].immediate;

	if (needed)
		pthread_rwlock_rdlock(&fs->nodes->names);
	pthread_mutex_lock(&h->lock);
	return needed;
}

void
handle_unlock(struct fs *fs, struct handle *h, bool needed)
{
	pthread_mutex_unlock(&h->lock);
	if (needed)
		pthread_rwlock_unlock(&fs->nodes->names);
}

/* --- the lists of handles ------------------------------------------------ */

void
handle_enlist(struct fs *fs, struct handle *h)
{
	pthread_mutex_lock(&fs->nodes->lock);
	h->inode->holds++;
	h->next = h->inode->handles;
	h->inode->handles = h;
	h->inode->open++;
	h->sooner = fs->nodes->open;
	if (h->sooner)
		h->sooner->later = h;
	fs->nodes->open = h;
	pthread_mutex_unlock(&fs->nodes->lock);
}

static void
delist(struct fs *fs, struct handle *h)
{
	pthread_mutex_lock(&fs->nodes->lock);
	struct handle **p = &h->inode->handles;
	while (*p != h)
		p = &(*p)->next;
	*p = h->next;
	h->inode->open--;
	if (h->sooner)
		h->sooner->later = h->later;
	if (h->later)
		h->later->sooner = h->sooner;
	else
		fs->nodes->open = h->sooner;
	pthread_mutex_unlock(&fs->nodes->lock);
	inode_put(fs, h->inode);
}

void
handle_show(struct fs *fs, struct handle *h, bool wrote)
{
	pthread_mutex_lock(&fs->nodes->lock);
	h->pending = h->dirty || h->truncated;
	h->shown = h->image.size;
	h->behind = h->collects && !h->truncated &&
	    !kinds[handle_kind(h)].collects;
	if (wrote) {
		clock_gettime(CLOCK_REALTIME, &h->written);
		h->attrs.set &= ~(unsigned)ATTR_MTIME;
	}
	pthread_mutex_unlock(&fs->nodes->lock);
}

/* --- reading -------------------------------------------------------------- */

int
handle_refresh(struct fs *fs, struct handle *h)
{
	struct reader reader = {0};
	struct spot spot;
	int r;

	r = inode_spot(fs, h->inode, &spot);
	if (r == -ESTALE)
		return 0;
	if (r == 0)
		r = node_open(fs, &spot, &reader);
	spot_release(&spot);
	if (r == -ENOENT && h->writes)
		r = 0; /* expired under its writer: empty, as a new one */
	if (r < 0)
		return r;
	reader_release(fs, &h->reader);
	h->reader = reader;
	h->ended = false;
	return 0;
}

/* Reads through an appending handle: the newest bytes, then its own, without
 * a gap that would be taken for the end. */
static int64_t
read_appended(struct fs *fs, struct handle *h, uint64_t offset, void *to,
    size_t size)
{
	uint64_t base = h->truncated ? 0 : reader_size(&h->reader);
	int64_t n = offset < base
	    ? reader_read(fs, &h->reader, offset, to, size) : 0;

	if (n < 0 || offset + (uint64_t)n < base)
		return n;
	int64_t own = image_read(&h->image, offset + (uint64_t)n - base,
	    (uint8_t *)to + n, size - (size_t)n);
	return own < 0 ? own : n + own;
}

static int64_t
read_locked(struct fs *fs, struct handle *h, uint64_t offset, void *to,
    size_t size, bool mapped)
{
	bool own = h->dirty || h->truncated;

	if (own && !h->collects)
		return image_read(&h->image, offset, to, size);
	/* A reader stays with one version until it begins anew or has read
	 * the end, so what it reads in pieces is whole. Pages of a map are
	 * everybody's: as the kernel believes the size, of the newest. */
	int r = h->writes || mapped || offset == 0 || h->ended
	    ? handle_refresh(fs, h) : 0;
	if (r < 0)
		return r;
	int64_t n = own ? read_appended(fs, h, offset, to, size)
			: reader_read(fs, &h->reader, offset, to, size);
	h->ended = n == 0;
	return n;
}

int64_t
handle_read(struct fs *fs, struct handle *h, uint64_t offset, void *to,
    size_t size, bool mapped)
{
	pthread_mutex_lock(&h->lock);
	if (mapped && h->writes) {
		pthread_mutex_lock(&fs->nodes->lock);
		h->mapped = true;
		pthread_mutex_unlock(&fs->nodes->lock);
	}
	int64_t n = read_locked(fs, h, offset, to, size, mapped);
	pthread_mutex_unlock(&h->lock);
	if (n == -ENOENT) { /* or it is just being renamed */
		pthread_rwlock_rdlock(&fs->nodes->names);
		pthread_mutex_lock(&h->lock);
		n = read_locked(fs, h, offset, to, size, mapped);
		pthread_mutex_unlock(&h->lock);
		pthread_rwlock_unlock(&fs->nodes->names);
	}
	return n;
}

/* --- committing ----------------------------------------------------------- */

/* The attributes set while it was pending, which are then used up. */
static struct attrs
claim_attrs(struct fs *fs, struct handle *h)
{
	pthread_mutex_lock(&fs->nodes->lock);
	struct attrs attrs = h->attrs;
	h->attrs.set = 0;
	pthread_mutex_unlock(&fs->nodes->lock);
	return attrs;
}

void
handle_refuse(struct handle *h, int r)
{
	h->refused = r;
	buf_set(&h->why, slice_text(why_text(r)));
}

int
handle_refused(const struct handle *h)
{
	return h->refused ? why(-h->refused, "%.*s", (int)h->why.size,
				(const char *)h->why.data)
			  : 0;
}

int
handle_set_late(struct fs *fs, struct handle *h, const struct spot *spot)
{
	struct attrs late = claim_attrs(fs, h);

	return late.set ? node_set(fs, spot, &late) : 0;
}

int
handle_commit(struct fs *fs, struct handle *h)
{
	struct storing how = {
		.image = &h->image,
		.append = h->collects && !h->truncated,
		.fresh = h->fresh,
		.mine = h->mine,
	};
	struct spot spot;
	int r = inode_spot(fs, h->inode, &spot);

	if (r == -ESTALE)
		return 0; /* its name is gone: into the void */
	how.attrs = claim_attrs(fs, h);
	if (r == 0)
		r = node_store(fs, &spot, &how);
	h->mine = how.mine;
	bool stored = r == 0;
	if (stored)
		r = handle_set_late(fs, h, &spot);
	if (r < 0 && !kinds[spot.kind].immediate)
		handle_refuse(h, r); /* what it holds is no whole any more */
	if (!stored && how.attrs.set)
		node_set(fs, &spot, &how.attrs); /* they were accepted */
	h->dirty = h->truncated = false;
	if (r == 0) {
		h->made = false;
		if (h->collects)
			image_release(&h->image);
		notify_stored(fs, h->inode, &spot);
	}
	handle_show(fs, h, false);
	spot_release(&spot);
	return h->refused ? handle_refused(h) : r;
}

static int
commit_under_names(struct fs *fs, struct handle *h, bool truncated_too)
{
	bool names = handle_lock(fs, h);
	int r = handle_refused(h);
	if (r == 0 && (h->dirty || (truncated_too && h->truncated)))
		r = handle_commit(fs, h);
	handle_unlock(fs, h, names);
	return r;
}

int
handle_flush(struct fs *fs, struct handle *h, pid_t thread)
{
	if (!h->writes)
		return 0;
	pthread_mutex_lock(&h->lock);
	bool due = (h->dirty || h->refused) && h->process &&
	    caller_process(thread) == h->process;
	pthread_mutex_unlock(&h->lock);
	return due ? commit_under_names(fs, h, false) : 0;
}

int
handle_sync(struct fs *fs, struct handle *h)
{
	int r = h->writes ? commit_under_names(fs, h, true) : 0;

	return r < 0 ? r : kv_sync(fs->kv);
}

void
handle_unmake(struct fs *fs, struct inode *inode, int64_t mine)
{
	struct spot spot;

	if (inode_spot(fs, inode, &spot) < 0)
		return;
	if (spot.kind == KIND_CELL) {
		spot.kind = KIND_VERSION;
		spot.version = (struct version){VERSION_AT, mine};
	}
	int r = node_drop(fs, &spot);
	if (r == 0 && spot.kind == KIND_SCHEMA_FILE)
		notify_name(fs, &fs->nodes->root, spot.place.table);
	else if (r == 0)
		notify_cell(fs, &spot);
	else if (r != -ENOENT)
		journal_refusal(&fs->journal, "an empty file is left",
		    why_text(r));
	spot_release(&spot);
}

void
handle_release(struct fs *fs, struct handle *h)
{
	int r = 0;

	bool names = handle_lock(fs, h);
	if (!h->refused && (h->dirty || h->truncated))
		r = handle_commit(fs, h);
	if (h->made && h->refused)
		handle_unmake(fs, h->inode, h->mine);
	pthread_mutex_unlock(&h->lock);
	delist(fs, h);
	if (names)
		pthread_rwlock_unlock(&fs->nodes->names);
	if (r < 0)
		journal_refusal(&fs->journal, "after the last close",
		    why_text(r));
	reader_release(fs, &h->reader);
	image_release(&h->image);
	buf_release(&h->why);
	pthread_mutex_destroy(&h->lock);
	free(h);
}
