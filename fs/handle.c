#include "handle_own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../kv/why.h"
#include "notify.h"

#define COPY_BYTES (1 << 20)

/* A rename in another thread may change it at any time. */
static enum kind
kind_of(const struct handle *h)
{
	return atomic_load(&h->inode->kind);
}

/* --- the lists of handles ------------------------------------------------ */

static void
enlist(struct fs *fs, struct handle *h)
{
	pthread_mutex_lock(&fs->nodes->lock);
	h->inode->holds++;
	h->next = h->inode->handles;
	h->inode->handles = h;
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
	if (h->sooner)
		h->sooner->later = h->later;
	if (h->later)
		h->later->sooner = h->sooner;
	else
		fs->nodes->open = h->sooner;
	pthread_mutex_unlock(&fs->nodes->lock);
	inode_put(fs, h->inode);
}

/* Tells the others what state the handle is in. Its lock is held. */
static void
show(struct fs *fs, struct handle *h, bool wrote)
{
	uint64_t base = h->collects && !h->truncated
	    ? reader_size(&h->reader) : 0;

	pthread_mutex_lock(&fs->nodes->lock);
	h->pending = h->dirty || h->truncated;
	h->shown = base + h->image.size;
	if (wrote) {
		clock_gettime(CLOCK_REALTIME, &h->written);
		h->attrs.set &= ~(unsigned)ATTR_MTIME;
	}
	pthread_mutex_unlock(&fs->nodes->lock);
}

/* --- reading -------------------------------------------------------------- */

/* Makes h->reader the newest bytes; a file whose name is gone keeps what it
 * had. */
static int
refresh(struct fs *fs, struct handle *h)
{
	struct reader reader;
	struct spot spot;
	int r;

	if (h->bound && !h->ended)
		return 0;
	r = inode_spot(fs, h->inode, &spot);
	if (r == -ESTALE)
		return 0;
	if (r == 0)
		r = node_open(fs, &spot, &reader);
	spot_release(&spot);
	if (r < 0)
		return r;
	reader_release(fs, &h->reader);
	h->reader = reader;
	h->ended = false;
	return 0;
}

/* Reads through an appending handle: the newest bytes, then its own. */
static int64_t
read_appended(struct fs *fs, struct handle *h, uint64_t offset, void *to,
    size_t size)
{
	uint64_t base = h->truncated ? 0 : reader_size(&h->reader);

	if (offset < base)
		return reader_read(fs, &h->reader, offset, to, size);
	return image_read(&h->image, offset - base, to, size);
}

static int64_t
read_locked(struct fs *fs, struct handle *h, uint64_t offset, void *to,
    size_t size)
{
	bool own = h->dirty || h->truncated;

	if (own && !h->collects)
		return image_read(&h->image, offset, to, size);
	int r = refresh(fs, h);
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
	int64_t n = read_locked(fs, h, offset, to, size);
	pthread_mutex_unlock(&h->lock);
	if (n == -ENOENT) { /* or it is just being renamed */
		pthread_rwlock_rdlock(&fs->nodes->names);
		pthread_mutex_lock(&h->lock);
		n = read_locked(fs, h, offset, to, size);
		pthread_mutex_unlock(&h->lock);
		pthread_rwlock_unlock(&fs->nodes->names);
	}
	return n;
}

/* --- the image ------------------------------------------------------------ */

static int
copy_to_image(struct fs *fs, struct handle *h)
{
	uint64_t size = reader_size(&h->reader);
	uint8_t *bytes = malloc(COPY_BYTES);
	int r = bytes ? 0 : -ENOMEM;

	image_release(&h->image);
	for (uint64_t at = 0; r == 0 && at < size;) {
		int64_t n = reader_read(fs, &h->reader, at, bytes,
		    COPY_BYTES);
		if (n <= 0)
			r = n < 0 ? (int)n : -EIO;
		else
			r = image_write(&h->image, at, bytes, (size_t)n);
		at += (uint64_t)n;
	}
	free(bytes);
	return r;
}

/* Before the first change since the last commit: the image is the newest
 * bytes, and what was kept of an old image counts no more. */
static int
take_image(struct fs *fs, struct handle *h)
{
	if (kinds[kind_of(h)].collects ||
	    (h->imaged && (h->dirty || h->truncated)))
		return 0;
	int r = refresh(fs, h);
	if (r < 0)
		return r;
	if (h->collects)
		image_release(&h->image);
	else
		r = copy_to_image(fs, h);
	h->imaged = r == 0;
	return r;
}

/* Refuses early what the store would refuse at commit. */
static int
check_growth(struct handle *h, uint64_t size)
{
	uint64_t base = h->collects && !h->truncated
	    ? reader_size(&h->reader) : 0;

	if (base + size > h->limit)
		return why(EFBIG, "%llu bytes: the family's max_cell_size "
		    "is %llu", (unsigned long long)(base + size),
		    (unsigned long long)h->limit);
	return 0;
}

static int
changed(struct fs *fs, struct handle *h)
{
	h->dirty = true;
	show(fs, h, true);
	return node_check(kind_of(h), &h->image);
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

int
handle_commit(struct fs *fs, struct handle *h)
{
	struct storing how = {
		.image = &h->image,
		.append = h->collects && !h->truncated,
		.attrs = claim_attrs(fs, h),
		.fresh = h->fresh,
		.mine = h->mine,
	};
	struct spot spot;
	int r = inode_spot(fs, h->inode, &spot);

	if (r == -ESTALE)
		r = 0; /* its name is gone: into the void */
	else if (r == 0) {
		r = node_store(fs, &spot, &how);
		h->mine = how.mine;
		if (r == 0)
			notify_cell(fs, &spot);
	}
	h->dirty = h->truncated = false;
	h->failed = r < 0;
	h->made = h->made && h->failed;
	if (r == 0 && h->collects)
		image_release(&h->image);
	show(fs, h, false);
	spot_release(&spot);
	return r;
}

static int
commit_under_names(struct fs *fs, struct handle *h, bool truncated_too)
{
	int r = 0;

	pthread_rwlock_rdlock(&fs->nodes->names);
	pthread_mutex_lock(&h->lock);
	if (h->dirty || (truncated_too && h->truncated))
		r = handle_commit(fs, h);
	pthread_mutex_unlock(&h->lock);
	pthread_rwlock_unlock(&fs->nodes->names);
	return r;
}

int
handle_flush(struct fs *fs, struct handle *h, pid_t thread)
{
	if (!h->writes)
		return 0;
	pthread_mutex_lock(&h->lock);
	bool due = h->dirty && caller_process(thread) == h->process;
	pthread_mutex_unlock(&h->lock);
	return due ? commit_under_names(fs, h, false) : 0;
}

int
handle_sync(struct fs *fs, struct handle *h)
{
	int r = h->writes ? commit_under_names(fs, h, true) : 0;

	return r < 0 ? r : kv_sync(fs->kv);
}

/* A file that was made and whose bytes were then refused is not there: what
 * its creation stored goes again. names is held. */
static void
unmake(struct fs *fs, struct handle *h)
{
	bool schema = h->inode->kind == KIND_SCHEMA_FILE;
	struct spot spot;

	if (!h->made || !h->failed ||
	    (kinds[h->inode->kind].level != LEVEL_COLUMN && !schema) ||
	    inode_spot(fs, h->inode, &spot) < 0)
		return;
	if (!schema) {
		spot.kind = KIND_VERSION;
		spot.version = (struct version){VERSION_AT, h->mine};
	}
	int r = node_drop(fs, &spot);
	if (r == 0 && schema)
		notify_name(fs, &fs->nodes->root, spot.place.table);
	else if (r == 0)
		notify_cell(fs, &spot);
	else if (r != -ENOENT)
		journal_refusal(&fs->journal, "an empty cell is left",
		    why_text(r));
	spot_release(&spot);
}

void
handle_release(struct fs *fs, struct handle *h)
{
	int r = 0;

	pthread_rwlock_rdlock(&fs->nodes->names);
	pthread_mutex_lock(&h->lock);
	if (h->dirty || h->truncated)
		r = handle_commit(fs, h);
	unmake(fs, h);
	pthread_mutex_unlock(&h->lock);
	delist(fs, h);
	pthread_rwlock_unlock(&fs->nodes->names);
	if (r < 0)
		journal_refusal(&fs->journal, "after the last close",
		    why_text(r));
	reader_release(fs, &h->reader);
	image_release(&h->image);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

/* --- writing -------------------------------------------------------------- */

/* A control file's whole lines act at once. */
static int
store_lines(struct fs *fs, struct handle *h)
{
	uint8_t end = 0;

	if (!kinds[kind_of(h)].immediate || !h->image.size)
		return 0;
	image_read(&h->image, h->image.size - 1, &end, 1);
	return end == '\n' ? handle_commit(fs, h) : 0;
}

static int
write_locked(struct fs *fs, struct handle *h, uint64_t offset,
    const void *from, size_t size)
{
	int r = h->refused ? h->refused : take_image(fs, h);

	if (r < 0)
		return r;
	if (h->at_end || h->collects)
		offset = h->image.size;
	r = check_growth(h, offset + size);
	if (r == 0)
		r = image_write(&h->image, offset, from, size);
	if (r == 0)
		r = changed(fs, h);
	if (r == 0)
		r = store_lines(fs, h);
	return r;
}

/* Bytes that were refused leave a hole in the whole: nothing of this open
 * file is stored any more, and its further writes are refused alike. */
static void
refuse_rest(struct fs *fs, struct handle *h, int r)
{
	if (kinds[kind_of(h)].immediate)
		return; /* a line is refused by itself */
	h->refused = r;
	h->failed = true;
	h->dirty = h->truncated = false;
	show(fs, h, false);
}

int
handle_write(struct fs *fs, struct handle *h, uint64_t offset,
    const void *from, size_t size, bool mapped)
{
	pthread_mutex_lock(&h->lock);
	if (mapped) {
		pthread_mutex_lock(&fs->nodes->lock);
		h->mapped = true;
		pthread_mutex_unlock(&fs->nodes->lock);
	}
	int r = write_locked(fs, h, offset, from, size);
	if (r < 0)
		refuse_rest(fs, h, r);
	pthread_mutex_unlock(&h->lock);
	return r;
}

/* An appending handle that is cut to size has a whole image from then on. */
static int
stop_collecting(struct fs *fs, struct handle *h)
{
	struct image list = h->image;
	int r = refresh(fs, h);

	if (r < 0)
		return r;
	uint64_t base = h->truncated ? 0 : reader_size(&h->reader);
	image_init(&h->image, &fs->buffers);
	if (base)
		r = copy_to_image(fs, h);
	uint8_t *bytes = malloc(COPY_BYTES);
	if (!bytes)
		r = -ENOMEM;
	for (uint64_t at = 0; r == 0 && at < list.size;) {
		int64_t n = image_read(&list, at, bytes, COPY_BYTES);
		r = n < 0 ? (int)n
			  : image_write(&h->image, base + at, bytes, (size_t)n);
		at += (uint64_t)n;
	}
	free(bytes);
	image_release(&list);
	h->collects = false;
	h->imaged = true;
	return r;
}

int
handle_resize(struct fs *fs, struct handle *h, uint64_t size, bool grow_only)
{
	int r;

	pthread_mutex_lock(&h->lock);
	if (h->collects && kinds[kind_of(h)].appends)
		r = stop_collecting(fs, h);
	else
		r = take_image(fs, h);
	if (r == 0)
		r = check_growth(h, size);
	if (r == 0 && size != h->image.size &&
	    (size > h->image.size || !grow_only)) {
		r = image_truncate(&h->image, size);
		if (r == 0)
			r = changed(fs, h);
		pthread_mutex_lock(&fs->nodes->lock);
		h->mapped = true;
		pthread_mutex_unlock(&fs->nodes->lock);
	}
	pthread_mutex_unlock(&h->lock);
	return r;
}

/* --- opening -------------------------------------------------------------- */

/* What the kernel may keep: a plain file that nobody writes, while the
 * version in its cache is still the newest. */
static void
decide(struct fs *fs, struct handle *h, struct opening *how)
{
	struct inode *inode = h->inode;
	int64_t version =
	    h->reader.value ? h->reader.value->info.timestamp : 0;
	bool writers = false;

	how->no_flush = !h->writes;
	how->direct_io = h->writes || !h->reader.value;
	pthread_mutex_lock(&fs->nodes->lock);
	for (struct handle *o = inode->handles; o; o = o->next)
		writers = writers || o->writes;
	if (!how->direct_io && writers)
		how->direct_io = h->bound = true;
	if (!how->direct_io) {
		how->keep_cache = version && inode->cached == version &&
		    kinds[inode->kind].hold == HOLD_LONG;
		inode->cached = version;
	}
	pthread_mutex_unlock(&fs->nodes->lock);
	if (!h->reader.value)
		h->bound = !h->writes;
}

/* A full disk is said at open: shells do not look at what close answers. */
static int
check_room(struct fs *fs)
{
	struct space space;
	int r = kv_space(fs->kv, &space);

	if (r == 0 && !space.available)
		r = why(ENOSPC, "no room on the file system of %s",
		    fs->store);
	return r;
}

static int
start_writing(struct fs *fs, struct handle *h, const struct spot *spot,
    int flags)
{
	const struct kind_methods *k = &kinds[spot->kind];
	int r = node_limit(fs, spot, &h->limit);

	h->at_end = flags & O_APPEND;
	h->collects = k->collects || (k->appends && h->at_end);
	h->truncated = (flags & O_TRUNC) && !k->collects && !h->mine;
	h->imaged = h->truncated || k->collects;
	if (r == 0 && !k->collects)
		r = check_room(fs);
	return r;
}

int
handle_open(struct fs *fs, struct inode *inode, int flags,
    const struct caller *caller, const struct attrs *fresh, int64_t mine,
    struct handle **out, struct opening *how)
{
	struct spot spot;
	struct handle *h = calloc(1, sizeof(*h));

	*out = NULL;
	*how = (struct opening){0};
	if (!h)
		return -ENOMEM;
	h->inode = inode;
	h->writes = (flags & O_ACCMODE) != O_RDONLY;
	h->process = h->writes ? caller_process(caller->thread) : 0;
	h->fresh = *fresh;
	h->mine = mine;
	h->made = mine != 0;
	h->limit = UINT64_MAX;
	image_init(&h->image, &fs->buffers);
	pthread_mutex_init(&h->lock, NULL);

	pthread_rwlock_rdlock(&fs->nodes->names);
	int r = inode_spot(fs, inode, &spot);
	if (r == 0 && h->writes)
		r = start_writing(fs, h, &spot, flags);
	if (r == 0 && !(h->writes && kinds[spot.kind].collects))
		r = node_open(fs, &spot, &h->reader);
	/* What was just made is empty for its maker, also where its kind
	 * begins with a text of its own. */
	if (r == 0 && mine && h->reader.text.size)
		h->truncated = h->imaged = true;
	spot_release(&spot);
	if (r == 0)
		enlist(fs, h);
	pthread_rwlock_unlock(&fs->nodes->names);
	if (r < 0) {
		pthread_mutex_destroy(&h->lock);
		free(h);
		return r;
	}
	decide(fs, h, how);
	if (h->truncated)
		show(fs, h, true);
	*out = h;
	return 0;
}

int
handle_truncate_name(struct fs *fs, struct inode *inode, uint64_t size)
{
	struct handle h = {.inode = inode, .limit = UINT64_MAX};
	struct spot spot;

	image_init(&h.image, &fs->buffers);
	pthread_rwlock_rdlock(&fs->nodes->names);
	int r = inode_spot(fs, inode, &spot);
	if (r == 0)
		r = node_limit(fs, &spot, &h.limit);
	if (r == 0 && !kinds[spot.kind].collects) {
		r = take_image(fs, &h);
		if (r == 0)
			r = check_growth(&h, size);
		if (r == 0)
			r = image_truncate(&h.image, size);
		if (r == 0)
			r = handle_commit(fs, &h);
	}
	pthread_rwlock_unlock(&fs->nodes->names);
	reader_release(fs, &h.reader);
	image_release(&h.image);
	spot_release(&spot);
	return r;
}
