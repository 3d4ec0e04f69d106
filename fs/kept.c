#include "kept.h"

#include <errno.h>
#include <stdlib.h>

#include "handle_own.h"

unsigned
kept_changes(struct fs *fs, struct inode *inode)
{
	pthread_mutex_lock(&fs->nodes->lock);
	unsigned changes = inode->changes + fs->nodes->epoch;
	pthread_mutex_unlock(&fs->nodes->lock);
	return changes;
}

bool
kept_changed(struct fs *fs, struct inode *inode)
{
	pthread_mutex_lock(&fs->nodes->lock);
	inode->changes++;
	bool seen = inode->readers ||
	    (inode->pages != PAGES_NONE && inode->open > 1);
	if (inode->pages != PAGES_NONE)
		inode->pages = PAGES_MIXED; /* also under an old timestamp */
	pthread_mutex_unlock(&fs->nodes->lock);
	return seen;
}

bool
kept_is_steady(struct fs *fs, struct inode *dir)
{
	pthread_mutex_lock(&fs->nodes->lock);
	bool steady = dir->steady == fs->nodes->epoch;
	pthread_mutex_unlock(&fs->nodes->lock);
	return steady;
}

void
kept_set_steady(struct fs *fs, struct inode *dir, unsigned epoch)
{
	pthread_mutex_lock(&fs->nodes->lock);
	dir->steady = epoch;
	pthread_mutex_unlock(&fs->nodes->lock);
}

void
kept_set_listed(struct fs *fs, struct inode *dir, unsigned listed)
{
	pthread_mutex_lock(&fs->nodes->lock);
	if (dir->listed != LISTED_NONE || listed != LISTED_OLD)
		dir->listed = listed;
	pthread_mutex_unlock(&fs->nodes->lock);
}

unsigned
kept_listed(struct fs *fs, struct inode *dir)
{
	pthread_mutex_lock(&fs->nodes->lock);
	unsigned listed = dir->listed;
	pthread_mutex_unlock(&fs->nodes->lock);
	return listed;
}

void
reading_begin(struct fs *fs, struct reading *r, struct inode *dir)
{
	struct nodes *n = fs->nodes;

	pthread_mutex_lock(&n->lock);
	dir->holds++;
	*r = (struct reading){.dir = dir, .sooner = n->reading};
	if (r->sooner)
		r->sooner->later = r;
	n->reading = r;
	pthread_mutex_unlock(&n->lock);
}

void
reading_end(struct fs *fs, struct reading *r)
{
	struct nodes *n = fs->nodes;

	pthread_mutex_lock(&n->lock);
	if (r->sooner)
		r->sooner->later = r->later;
	if (r->later)
		r->later->sooner = r->sooner;
	else
		n->reading = r->sooner;
	pthread_mutex_unlock(&n->lock);
	inode_put(fs, r->dir);
}

struct inode *
kept_below(struct fs *fs, struct inode *top, struct inode *at)
{
	struct inode *up = at;

	pthread_mutex_lock(&fs->nodes->lock);
	struct inode *next = at->below;
	for (; !next && up != top; up = up->up)
		next = up->beside;
	if (next)
		next->holds++;
	pthread_mutex_unlock(&fs->nodes->lock);
	if (at != top)
		inode_put(fs, at);
	return next;
}

int
kept_open(struct fs *fs, struct inode ***out, size_t *count)
{
	struct nodes *n = fs->nodes;
	size_t room = 1;

	*count = 0;
	pthread_mutex_lock(&n->lock);
	for (struct handle *h = n->open; h; h = h->sooner)
		room++;
	for (struct reading *r = n->reading; r; r = r->sooner)
		room++;
	struct inode **all = *out = calloc(room, sizeof(*all));
	for (struct handle *h = n->open; all && h; h = h->sooner)
		if (h->follows)
			all[(*count)++] = h->inode;
	for (struct reading *r = n->reading; all && r; r = r->sooner)
		all[(*count)++] = r->dir;
	for (size_t i = 0; i < *count; i++)
		all[i]->holds++;
	pthread_mutex_unlock(&n->lock);
	return all ? 0 : -ENOMEM;
}
