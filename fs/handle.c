#include "handle_own.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "../kv/why.h"
#include "loader.h"
#include "notify.h"
#include "refusal.h"

enum kind
handle_kind(const struct handle *h)
{
	return atomic_load(&h->inode->kind);
}

/* --- the lists of handles ------------------------------------------------ */

void
handle_enlist(struct fs *fs, struct handle *h)
{
	pthread_mutex_lock(&fs->nodes->lock);
	h->holds = 1;
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
	handle_leave_pages(fs, h);
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
handle_put(struct fs *fs, struct handle *h)
{
	pthread_mutex_lock(&fs->nodes->lock);
	bool last = --h->holds == 0;
	pthread_mutex_unlock(&fs->nodes->lock);
	if (!last)
		return;
	reader_release(fs, &h->reader);
	loader_close(h->loader);
	image_release(&h->image);
	buf_release(&h->why);
	pthread_mutex_destroy(&h->lock);
	free(h);
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

static int
open_newest(struct fs *fs, struct handle *h, struct reader *out)
{
	struct spot spot;
	int r = inode_spot(fs, h->inode, &spot);

	*out = (struct reader){0};
	if (r == 0)
		r = node_open(fs, &spot, out);
	spot_release(&spot);
	return r;
}

int
handle_refresh(struct fs *fs, struct handle *h)
{
	struct reader reader;
	int r = h->writes ? -ENOENT : open_newest(fs, h, &reader);

	if (r == -ENOENT) { /* or it is just being renamed */
		pthread_rwlock_rdlock(&fs->nodes->names);
		r = open_newest(fs, h, &reader);
		pthread_rwlock_unlock(&fs->nodes->names);
	}
	if (r == -ESTALE)
		return 0;
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

/* pages: for the kernel's pages, which hold what is newest. */
static int64_t
read_locked(struct fs *fs, struct handle *h, uint64_t offset, void *to,
    size_t size, bool pages)
{
	bool own = h->dirty || h->truncated;

	if (own && !h->collects)
		return image_read(&h->image, offset, to, size);
	/* A reader stays with one version until it begins anew or has read
	 * the end, so what it reads in pieces is whole. Pages are everybody's:
	 * as the kernel believes the size, of the newest. */
	bool anew = h->writes || pages || offset == 0 || h->ended;
	int r = anew && !h->reader.stream ? handle_refresh(fs, h) : 0;
	if (r < 0)
		return r;
	int64_t n = own ? read_appended(fs, h, offset, to, size)
			: reader_read(fs, &h->reader, offset, to, size);
	h->ended = n == 0;
	return n;
}

int64_t
handle_read(struct fs *fs, struct handle *h, uint64_t offset, void *to,
    size_t size, bool pages)
{
	pthread_mutex_lock(&h->lock);
	int64_t n = read_locked(fs, h, offset, to, size, pages);
	if (pages && n >= 0)
		handle_filled_pages(fs, h);
	pthread_mutex_unlock(&h->lock);
	return n;
}

/* --- closing ---------------------------------------------------------------- */

static int
commit_pending(struct fs *fs, struct handle *h, bool truncated_too)
{
	if (h->refused)
		return handle_refused(h);
	return h->dirty || (truncated_too && h->truncated)
	    ? handle_commit(fs, h) : 0;
}

bool
handle_is_refused(struct handle *h)
{
	pthread_mutex_lock(&h->lock);
	bool refused = h->refused;
	pthread_mutex_unlock(&h->lock);
	return refused;
}

int
handle_flush(struct fs *fs, struct handle *h, pid_t thread)
{
	int r = 0;

	if (!h->writes)
		return 0;
	pthread_mutex_lock(&h->lock);
	if ((h->dirty || h->refused) && h->process &&
	    caller_process(thread) == h->process)
		r = commit_pending(fs, h, false);
	pthread_mutex_unlock(&h->lock);
	return r;
}

int
handle_sync(struct fs *fs, struct handle *h)
{
	int r = 0;

	if (h->writes) {
		pthread_mutex_lock(&h->lock);
		r = commit_pending(fs, h, true);
		pthread_mutex_unlock(&h->lock);
	}
	return r < 0 ? r : kv_sync(fs->kv);
}

static void
tell_gone(struct fs *fs, struct inode *inode, struct slice name)
{
	struct inode *dir = inode_up(fs, inode);

	notify_name(fs, dir, name);
	inode_put(fs, dir);
}

static void
unmake(struct fs *fs, struct inode *inode, int64_t mine)
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
	else if (r == 0 && spot.kind == KIND_DOT_FILE)
		tell_gone(fs, inode, spot.place.dot);
	else if (r == 0)
		notify_cell(fs, &spot);
	else if (r != -ENOENT)
		refusal_note(fs, NULL, inode, "an empty file is left", r);
	spot_release(&spot);
}

void
handle_unmake(struct fs *fs, struct inode *inode, int64_t mine)
{
	pthread_rwlock_rdlock(&fs->nodes->names);
	unmake(fs, inode, mine);
	pthread_rwlock_unlock(&fs->nodes->names);
}

void
handle_release(struct fs *fs, struct handle *h)
{
	int r = 0;

	pthread_mutex_lock(&h->lock);
	if (!h->refused && (h->dirty || h->truncated))
		r = handle_commit(fs, h);
	if (h->made && h->refused) {
		pthread_rwlock_rdlock(&fs->nodes->names);
		unmake(fs, h->inode, h->mine);
		pthread_rwlock_unlock(&fs->nodes->names);
	}
	pthread_mutex_unlock(&h->lock);
	delist(fs, h);
	if (r < 0)
		refusal_note(fs, &(struct caller){.uid = h->fresh.uid},
		    h->inode, "after the last close", r);
	handle_put(fs, h);
}
