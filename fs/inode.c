#include "inode.h"

#include <errno.h>
#include <stdlib.h>

#include "../kv/why.h"

#define FIRST_ROOM 1024
#define DEEPEST 16 /* levels; of a name's parts only the last counts */

int
nodes_open(struct fs *fs)
{
	struct nodes *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->table = calloc(FIRST_ROOM, sizeof(*n->table));
	if (!n->table) {
		free(n);
		return -ENOMEM;
	}
	n->room = FIRST_ROOM;
	n->root.kind = KIND_ROOT;
	n->root.holds = 1;
	n->epoch = 1;
	pthread_mutex_init(&n->lock, NULL);
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&n->closed, &monotonic);
	pthread_cond_init(&n->touch, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&n->times, NULL);
	n->touched_last = &n->touched;
	pthread_rwlock_init(&n->names, NULL);
	fs->nodes = n;
	return 0;
}

/* The kernel forgets nothing when it unmounts: what is left is freed. */
void
nodes_close(struct fs *fs)
{
	struct nodes *n = fs->nodes;

	for (size_t i = 0; i < n->room; i++) {
		while (n->table[i]) {
			struct inode *inode = n->table[i];
			n->table[i] = inode->next;
			buf_release(&inode->key);
			free(inode->last);
			free(inode);
		}
	}
	free(n->table);
	pthread_mutex_destroy(&n->lock);
	pthread_cond_destroy(&n->closed);
	pthread_cond_destroy(&n->touch);
	pthread_mutex_destroy(&n->times);
	pthread_rwlock_destroy(&n->names);
	free(n);
	fs->nodes = NULL;
}

static size_t
bucket(const struct nodes *n, const struct inode *up, enum kind kind,
    struct slice key, int64_t number)
{
	uint64_t hash = slice_hash(key, (uintptr_t)up >> 4);

	hash = (hash ^ (uint64_t)number) * 0x9e3779b97f4a7c15u + kind;
	return (hash ^ hash >> 32) & (n->room - 1);
}

static struct inode **
slot_of(struct nodes *n, const struct inode *i)
{
	return &n->table[bucket(n, i->up, i->kind, buf_slice(&i->key),
	    i->number)];
}

static struct inode *
find(struct nodes *n, const struct inode *up, const struct child *c)
{
	size_t at =
	    bucket(n, up, c->kind, buf_slice(&c->key), c->number);

	for (struct inode *i = n->table[at]; i; i = i->next)
		if (!i->gone && i->up == up && i->kind == c->kind &&
		    i->number == c->number &&
		    slice_equal(buf_slice(&i->key), buf_slice(&c->key)))
			return i;
	return NULL;
}

static void
hash_in(struct nodes *n, struct inode *inode)
{
	struct inode **slot = slot_of(n, inode);

	inode->next = *slot;
	*slot = inode;
	n->count++;
}

static void
link_in(struct nodes *n, struct inode *inode)
{
	hash_in(n, inode);
	inode->hung = &inode->up->below;
	inode->beside = *inode->hung;
	if (inode->beside)
		inode->beside->hung = &inode->beside;
	*inode->hung = inode;
}

static void
take_out(struct nodes *n, struct inode *inode)
{
	struct inode **p = slot_of(n, inode);

	while (*p != inode)
		p = &(*p)->next;
	*p = inode->next;
	n->count--;
	*inode->hung = inode->beside;
	if (inode->beside)
		inode->beside->hung = inode->hung;
}

/* Doubles the table when it is full; without memory it stays as it is. */
static void
grow(struct nodes *n)
{
	struct inode **old = n->table;
	size_t room = n->room;
	struct inode **table = calloc(room * 2, sizeof(*table));

	if (!table)
		return;
	n->table = table;
	n->room = room * 2;
	n->count = 0;
	for (size_t i = 0; i < room; i++) {
		while (old[i]) {
			struct inode *inode = old[i];
			old[i] = inode->next;
			hash_in(n, inode);
		}
	}
	free(old);
}

/* Lets go of one hold; frees it and what was held only by it. Locked. */
static void
release(struct nodes *n, struct inode *inode)
{
	while (inode && --inode->holds == 0 && inode->lookups == 0) {
		struct inode *up = inode->up;
		take_out(n, inode);
		buf_release(&inode->key);
		free(inode->last);
		free(inode);
		inode = up;
	}
}

static struct inode *
make(struct nodes *n, struct inode *up, const struct child *child)
{
	struct inode *inode = calloc(1, sizeof(*inode));

	if (!inode || buf_set(&inode->key, buf_slice(&child->key)) < 0) {
		free(inode);
		return NULL;
	}
	inode->kind = child->kind;
	inode->number = child->number;
	inode->up = up;
	inode->generation = ++n->made;
	up->holds++;
	if (n->count >= n->room)
		grow(n);
	link_in(n, inode);
	return inode;
}

struct inode *
inode_get(struct fs *fs, struct inode *dir, const struct child *child)
{
	struct nodes *n = fs->nodes;

	pthread_mutex_lock(&n->lock);
	struct inode *inode = find(n, dir, child);
	if (!inode)
		inode = make(n, dir, child);
	if (inode)
		inode->holds++;
	pthread_mutex_unlock(&n->lock);
	return inode;
}

struct inode *
inode_known(struct fs *fs, struct inode *dir, const struct child *child)
{
	struct nodes *n = fs->nodes;

	pthread_mutex_lock(&n->lock);
	struct inode *inode = find(n, dir, child);
	if (inode)
		inode->holds++;
	pthread_mutex_unlock(&n->lock);
	return inode;
}

struct inode *
inode_below(struct fs *fs, struct inode *dir, enum kind kind,
    struct slice key)
{
	struct child child = {0};
	struct inode *inode = NULL;

	if (child_set(&child, kind, key, 0) == 0)
		inode = inode_known(fs, dir, &child);
	child_release(&child);
	return inode;
}

void
inode_hold(struct fs *fs, struct inode *inode)
{
	pthread_mutex_lock(&fs->nodes->lock);
	inode->holds++;
	pthread_mutex_unlock(&fs->nodes->lock);
}

void
inode_put(struct fs *fs, struct inode *inode)
{
	if (!inode)
		return;
	pthread_mutex_lock(&fs->nodes->lock);
	release(fs->nodes, inode);
	pthread_mutex_unlock(&fs->nodes->lock);
}

void
inode_looked(struct fs *fs, struct inode *inode)
{
	pthread_mutex_lock(&fs->nodes->lock);
	inode->lookups++;
	pthread_mutex_unlock(&fs->nodes->lock);
}

void
inode_forget(struct fs *fs, struct inode *inode, uint64_t lookups)
{
	if (inode == &fs->nodes->root)
		return;
	pthread_mutex_lock(&fs->nodes->lock);
	inode->holds++; /* release() frees what nothing holds */
	inode->lookups -= lookups;
	release(fs->nodes, inode);
	pthread_mutex_unlock(&fs->nodes->lock);
}

void
inode_gone(struct fs *fs, struct inode *inode, const struct stat *last)
{
	struct stat *copy = malloc(sizeof(*copy));

	if (copy) {
		*copy = *last;
		copy->st_nlink = 0;
	}
	pthread_mutex_lock(&fs->nodes->lock);
	if (!inode->last) {
		inode->last = copy;
		copy = NULL;
	}
	inode->gone = inode->up != NULL;
	pthread_mutex_unlock(&fs->nodes->lock);
	free(copy);
}

void
inode_move(struct fs *fs, struct inode *inode, struct inode *dir,
    struct child *child)
{
	struct nodes *n = fs->nodes;

	pthread_mutex_lock(&n->lock);
	struct inode *there = find(n, dir, child);
	if (there && there != inode)
		there->gone = true;
	take_out(n, inode);
	inode->gone = false;
	free(inode->last);
	inode->last = NULL;
	buf_release(&inode->key);
	inode->key = child->key;
	child->key = (struct buf){0};
	inode->kind = child->kind;
	inode->number = child->number;
	struct inode *old = inode->up;
	inode->up = dir;
	dir->holds++;
	link_in(n, inode);
	release(n, old);
	pthread_mutex_unlock(&n->lock);
}

void
inode_exchange(struct fs *fs, struct inode *a, struct inode *b)
{
	struct nodes *n = fs->nodes;

	pthread_mutex_lock(&n->lock);
	take_out(n, a);
	take_out(n, b);
	struct inode *up = a->up;
	struct buf key = a->key;
	a->up = b->up; /* what one holds no more the other does */
	a->key = b->key;
	b->up = up;
	b->key = key;
	link_in(n, a);
	link_in(n, b);
	pthread_mutex_unlock(&n->lock);
}

/* Whether a name says all that the one above it says: of parts, and views. */
static bool
continues(enum kind kind, enum kind above)
{
	bool view = kind == KIND_VIEW || kind == KIND_VIEW_NAME;

	return kind == above ||
	    (view && (above == KIND_VIEW || above == KIND_VIEW_NAME));
}

/* Borrows the names along the way down to inode. Locked. */
static int
descend(const struct inode *inode, struct spot *out)
{
	const struct inode *way[DEEPEST];
	size_t depth = 0;

	for (const struct inode *i = inode; i->up; i = i->up) {
		bool longer = depth && continues(way[depth - 1]->kind, i->kind);
		if (i->gone || depth == DEEPEST)
			return -ESTALE;
		if (!longer)
			way[depth++] = i;
	}
	*out = (struct spot){
	    .kind = KIND_ROOT, .place = {.level = LEVEL_ROOT}};
	while (depth) {
		const struct inode *i = way[--depth];
		spot_step(out, i->kind, buf_slice(&i->key), i->number);
	}
	return 0;
}

int
inode_spot(struct fs *fs, struct inode *inode, struct spot *out)
{
	pthread_mutex_lock(&fs->nodes->lock);
	int r = descend(inode, out);
	if (r == 0)
		r = spot_own(out);
	else
		*out = (struct spot){0};
	pthread_mutex_unlock(&fs->nodes->lock);
	return r;
}

struct inode *
inode_standing(struct fs *fs, struct inode *inode)
{
	pthread_mutex_lock(&fs->nodes->lock);
	const struct child name = {.kind = inode->kind, .key = inode->key,
		.number = inode->number};
	struct inode *now =
	    inode->gone ? find(fs->nodes, inode->up, &name) : inode;
	if (!now)
		now = inode;
	now->holds++;
	pthread_mutex_unlock(&fs->nodes->lock);
	return now;
}

struct inode *
inode_up(struct fs *fs, struct inode *inode)
{
	pthread_mutex_lock(&fs->nodes->lock);
	struct inode *up = inode->up ? inode->up : inode;
	up->holds++;
	pthread_mutex_unlock(&fs->nodes->lock);
	return up;
}
