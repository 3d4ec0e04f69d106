/* Opening, and truncating by name. */
#include "handle_own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "../kv/kv.h"
#include "../kv/why.h"
#include "loader.h"
#include "kept.h"

int
handle_check_room(struct fs *fs)
{
	struct space space;
	int r = kv_space(fs->kv, &space);

	if (r == 0 && !space.available)
		r = why(ENOSPC, "no room on the file system of %s",
		    fs->store);
	return r;
}

/* What is opened by this inode: who looked its name up just before something
 * else took it means the name. The kernel has asked for the rights to what
 * stood there, so they must be the same. */
static int
find_standing(struct fs *fs, struct inode *inode, struct inode **out,
    struct spot *spot)
{
	struct look look;

	*out = inode_standing(fs, inode);
	int r = inode_spot(fs, *out, spot);
	if (r < 0 || *out == inode)
		return r;
	r = node_find(fs, spot, &look);
	pthread_mutex_lock(&fs->nodes->lock);
	const struct stat *last = inode->last;
	if (r == 0 && !(last && last->st_mode == look.st.st_mode &&
	    last->st_uid == look.st.st_uid && last->st_gid == look.st.st_gid))
		r = -ESTALE;
	pthread_mutex_unlock(&fs->nodes->lock);
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
	h->imaged = h->truncated || h->made || k->collects;
	if (r == 0 && !k->collects)
		r = handle_check_room(fs);
	if (r == 0 && k->loads)
		r = loader_open(fs, &spot->place, &h->loader);
	return r;
}

int
handle_open(struct fs *fs, struct inode *inode, int flags,
    const struct caller *caller, const struct attrs *fresh, int64_t mine,
    struct handle **out)
{
	struct spot spot;
	struct handle *h = calloc(1, sizeof(*h));

	*out = NULL;
	if (!h)
		return -ENOMEM;
	h->writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);
	h->process = h->writes ? caller_process(caller->thread) : 0;
	h->fresh = *fresh;
	h->mine = mine;
	h->made = mine != 0;
	h->limit.bytes = UINT64_MAX;
	image_init(&h->image, &fs->buffers);
	pthread_mutex_init(&h->lock, NULL);

	if (h->writes)
		handle_await_readers(fs, inode);
	pthread_rwlock_rdlock(&fs->nodes->names);
	int r = find_standing(fs, inode, &h->inode, &spot);
	unsigned changes = r == 0 ? kept_changes(fs, h->inode) : 0;
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
		handle_enlist(fs, h);
	pthread_rwlock_unlock(&fs->nodes->names);
	inode_put(fs, h->inode);
	if (r < 0) {
		pthread_mutex_destroy(&h->lock);
		free(h);
		return r;
	}
	if (h->truncated)
		handle_show(fs, h, true);
	if (h->inode == inode) /* whose pages the kernel means */
		handle_share_pages(fs, h, changes);
	*out = h;
	return 0;
}

int
handle_truncate_name(struct fs *fs, struct inode *inode, uint64_t size)
{
	struct handle h = {
	    .writes = true, .limit = {.bytes = UINT64_MAX}};
	struct spot spot;

	image_init(&h.image, &fs->buffers);
	handle_await_readers(fs, inode);
	pthread_rwlock_rdlock(&fs->nodes->names);
	int r = find_standing(fs, inode, &h.inode, &spot);
	pthread_rwlock_unlock(&fs->nodes->names);
	if (r == 0)
		r = node_limit(fs, &spot, &h.limit);
	if (r == 0 && !kinds[spot.kind].collects) {
		r = handle_take_image(fs, &h);
		if (r == 0)
			r = handle_check_size(fs, &h, size);
		if (r == 0)
			r = image_truncate(&h.image, size);
		if (r == 0)
			r = handle_commit(fs, &h);
	}
	inode_put(fs, h.inode);
	reader_release(fs, &h.reader);
	image_release(&h.image);
	buf_release(&h.why);
	spot_release(&spot);
	return r;
}
