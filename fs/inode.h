/* inode: what the kernel has a number for.
 *
 * An inode hangs on its parent, so renaming a directory moves what is below
 * it. It lives while the kernel looks it up, a child hangs on it, a handle or
 * a request holds it. The number handed to the kernel is its address with a
 * counted generation; it is never used to find anything in the store.
 *
 * Locks, outermost first: a handle's > names > times > nodes->lock > kv's.
 *   handle lock  everything in one open file
 *   names        read by what stores or makes, written by what renames or
 *                removes: no commit lands under a name that has just moved
 *   times        what is stored of directories' times: the latest stays
 *   nodes->lock  all inodes and lists of handles; a leaf: nothing is called
 *                with it held
 * A handle's lock may be held for as long as a value takes to be read or
 * written; names for one small transaction of kv: a commit writes its chunks,
 * and a rename has them copied, before it takes names. A rename, which finds
 * its handles by names, only tries their locks, and lets names go to wait.
 * Either is held while the kernel is told that attributes are not to be
 * believed, which waits for nothing. Telling it of pages waits for the READs
 * that fill them, and for WRITEs of what is mapped: so not while names is held
 * for writing, nor a handle's lock by which such a READ or WRITE may come.
 */
#ifndef CELLFS_FS_INODE_H
#define CELLFS_FS_INODE_H

#include <limits.h>
#include <pthread.h>

#include "node.h"

struct handle;

#define LISTED_NONE 0
#define LISTED_OLD UINT_MAX

#define PAGES_NONE 0
#define PAGES_MIXED (-1) /* of several versions, or of none */

struct inode {
	/* All guarded by nodes->lock; the kind may be read without. */
	_Atomic enum kind kind;
	struct inode *up; /* NULL: the root, or gone for good */
	struct inode *below, *beside, **hung; /* first child; next, before */
	struct buf key;
	int64_t number;
	uint64_t lookups;     /* the kernel's */
	unsigned holds;	      /* children, handles, requests */
	bool gone;	      /* its name has been removed or replaced */
	struct stat *last;    /* what fstat answers once it is gone */
	struct handle *handles;
	unsigned open;	      /* how many */
	unsigned readers;     /* of them through the kernel's pages */
	bool lasting;	      /* a writer has waited for them in vain */
	unsigned changes;     /* of its bytes, counted */
	int64_t pages;	      /* PAGES_, or 1 + the timestamp of the version
				 that the kernel may have in its pages */
	time_t busy;	      /* monotonic: it counts as written until then */
	unsigned steady;      /* the epoch in which it was seen not to expire */
	unsigned listed;      /* LISTED_, or the epoch of what the kernel kept */
	struct timespec touched; /* a directory that was changed in */
	struct inode *later;  /* another such: both are to be stored, and held */
	bool pending;	      /* it is in that list */
	pid_t emptied;	      /* q@/: who removed the last version in it */
	uint64_t generation;  /* tells it from others of the same address */
	struct inode *next;   /* of the same hash */
};

/* An open directory. Guarded by nodes->lock. */
struct reading {
	struct inode *dir; /* held */
	struct reading *later, *sooner;
};

struct nodes {
	pthread_rwlock_t names;
	pthread_mutex_t lock;
	pthread_cond_t closed; /* the last reader through pages of an inode
				  has; by CLOCK_MONOTONIC */
	pthread_mutex_t times;
	pthread_cond_t touch;  /* likewise: something came into the list of: */
	struct inode *touched, **touched_last;
	struct inode root;
	struct handle *open; /* all handles there are */
	struct reading *reading;
	struct inode **table;
	size_t room, count;
	uint64_t made;
	_Atomic unsigned epoch; /* goes up as whole tables change */
};

int
nodes_open(struct fs *fs);

void
nodes_close(struct fs *fs);

/* The child of dir, which is held, made if need be; held. NULL: no memory. */
struct inode *
inode_get(struct fs *fs, struct inode *dir, const struct child *child);

/* Likewise, or NULL if the kernel does not know it; and by kind and key. */
struct inode *
inode_known(struct fs *fs, struct inode *dir, const struct child *child);
struct inode *
inode_below(struct fs *fs, struct inode *dir, enum kind kind,
    struct slice key);

void
inode_hold(struct fs *fs, struct inode *inode);

/* Safe on NULL. */
void
inode_put(struct fs *fs, struct inode *inode);

/* The kernel was told of it, and forgets again. */
void
inode_looked(struct fs *fs, struct inode *inode);

void
inode_forget(struct fs *fs, struct inode *inode, uint64_t lookups);

/* Its name is no more; last is what fstat of open files says from now on. */
void
inode_gone(struct fs *fs, struct inode *inode, const struct stat *last);

/* It is now that child of dir, whose key it takes; what stood there before is
 * gone. */
void
inode_move(struct fs *fs, struct inode *inode, struct inode *dir,
    struct child *child);

/* Itself; or, once something else has taken its name, what stands there now:
 * who looked a name up just before it was replaced means the name. Held. */
struct inode *
inode_standing(struct fs *fs, struct inode *inode);

/* Two inodes change places, and what is below them. */
void
inode_exchange(struct fs *fs, struct inode *a, struct inode *b);

/* Where it stands now. -ESTALE: nowhere, its name is gone; -ENOMEM. */
int
inode_spot(struct fs *fs, struct inode *inode, struct spot *out);

/* The directory above, held; the root's is the root. */
struct inode *
inode_up(struct fs *fs, struct inode *inode);

#endif
