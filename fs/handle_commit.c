/* Storing what an open file holds. */
#include "handle_own.h"

#include <errno.h>

#include "../kv/kv_change.h"
#include "../kv/why.h"
#include "notify.h"

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

void
handle_storing(struct fs *fs, struct handle *h, struct storing *how)
{
	*how = (struct storing){
		.image = &h->image,
		.content = {
			.append = h->collects && !h->truncated,
			.attrs = claim_attrs(fs, h),
			.fresh = h->fresh,
		},
	};
}

int
handle_stored(struct fs *fs, struct handle *h, const struct spot *spot,
    struct storing *how, int r)
{
	bool stored = r == 0;

	h->mine = how->mine;
	if (stored)
		r = handle_set_late(fs, h, spot);
	if (r < 0 && !kinds[spot->kind].immediate)
		handle_refuse(h, r); /* what it holds is no whole any more */
	if (!stored && how->content.attrs.set)
		node_set(fs, spot, &how->content.attrs); /* as was answered */
	h->dirty = h->truncated = false;
	if (r == 0) {
		h->made = false;
		if (h->collects)
			image_release(&h->image);
		notify_stored(fs, h->inode, spot, how->content.cleared);
	}
	handle_show(fs, h, false);
	return h->refused ? handle_refused(h) : r;
}

void
handle_not_stored(struct fs *fs, struct handle *h, const struct storing *how)
{
	pthread_mutex_lock(&fs->nodes->lock);
	struct attrs attrs = how->content.attrs;
	attrs_merge(&attrs, &h->attrs);
	h->attrs = attrs;
	pthread_mutex_unlock(&fs->nodes->lock);
}

/* A commit on its way. */
struct commit {
	struct handle *handle;
	struct storing how;
	struct spot spot; /* where the draft is to stand */
	struct draft *draft;
};

/* Where the file stands now; a draft of another place counts no more, nor one
 * that replaces what is no longer its own. */
static int
place_commit(struct fs *fs, struct commit *c)
{
	struct handle *h = c->handle;
	struct spot now;
	int r = inode_spot(fs, h->inode, &now);

	if (r == 0 && c->draft && h->mine == c->how.mine &&
	    spot_equal(&now, &c->spot)) {
		spot_release(&now);
		return 0;
	}
	kv_draft_close(fs->kv, c->draft);
	c->draft = NULL;
	spot_release(&c->spot);
	c->spot = now;
	c->how.mine = h->mine;
	if (r == 0 && kinds[now.kind].drafted)
		r = node_draft(fs, &c->spot, &c->how, &c->draft);
	return r;
}

/* Stores it, or 1: the draft is to be prepared first, without names. */
static int
try_commit(struct fs *fs, struct commit *c)
{
	int r = place_commit(fs, c);

	if (r < 0)
		return r;
	if (!kinds[c->spot.kind].drafted)
		return node_store(fs, &c->spot, &c->how);
	r = kv_draft_store(fs->kv, c->draft);
	if (r == 0)
		c->how.mine = c->how.content.stored;
	return r;
}

/* Into the void, if its name is gone. */
static int
end_commit(struct fs *fs, struct commit *c, int r)
{
	if (r != -ESTALE && r != -ENOMEM)
		return handle_stored(fs, c->handle, &c->spot, &c->how, r);
	handle_not_stored(fs, c->handle, &c->how);
	return r == -ESTALE ? 0 : r;
}

int
handle_commit(struct fs *fs, struct handle *h)
{
	bool names = !kinds[handle_kind(h)].immediate;
	struct commit c = {.handle = h};
	int r = 0;

	if (h->loader)
		return handle_load_end(fs, h);
	handle_storing(fs, h, &c.how);
	do {
		if (r == 1)
			r = kv_draft_prepare(fs->kv, c.draft);
		if (names)
			pthread_rwlock_rdlock(&fs->nodes->names);
		if (r == 0)
			r = try_commit(fs, &c);
		if (r != 1)
			r = end_commit(fs, &c, r);
		if (names)
			pthread_rwlock_unlock(&fs->nodes->names);
	} while (r == 1);
	kv_draft_close(fs->kv, c.draft);
	spot_release(&c.spot);
	return r;
}
