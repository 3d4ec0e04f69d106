/* Writing lines, which are stored as they come. */
#include "handle_own.h"

#include "../kv/why.h"
#include "loader.h"
#include "notify.h"

/* Hands bytes on, or ends; what was stored is new to the kernel. */
static int
load(struct fs *fs, struct handle *h, struct slice bytes, bool ends)
{
	struct spot spot = {0};
	bool stored = false;

	pthread_rwlock_rdlock(&fs->nodes->names);
	int r = inode_spot(fs, h->inode, &spot);
	if (r == 0 && ends)
		r = loader_end(h->loader, &spot.place, &stored);
	else if (r == 0)
		r = loader_take(h->loader, &spot.place, bytes, &stored);
	if (stored)
		notify_table(fs, spot.place.table);
	pthread_rwlock_unlock(&fs->nodes->names);
	spot_release(&spot);
	h->dirty = r == 0 && !ends;
	if (r < 0)
		handle_refuse(h, r);
	return r;
}

int
handle_load(struct fs *fs, struct handle *h, struct slice bytes)
{
	return load(fs, h, bytes, false);
}

int
handle_load_end(struct fs *fs, struct handle *h)
{
	return load(fs, h, slice_text(""), true);
}
