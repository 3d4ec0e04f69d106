/* handle_own: a handle's insides, for handle.c and handles.c alone. */
#ifndef CELLFS_FS_HANDLE_OWN_H
#define CELLFS_FS_HANDLE_OWN_H

#include "handle.h"

struct handle {
	struct inode *inode;
	/* Guarded by nodes->lock, down to attrs: */
	struct handle *next;	       /* of the same inode */
	struct handle *later, *sooner; /* of all that are open */
	bool pending;	     /* shown to the writer: dirty or truncated */
	bool mapped;	     /* shown to all */
	uint64_t shown;	     /* the writer's size */
	bool behind;	     /* it counts from the end of the newest bytes */
	struct timespec written;
	struct attrs attrs;  /* set by name while pending */
	bool writes;
	bool at_end; /* O_APPEND */
	pid_t process;

	pthread_mutex_t lock; /* guards all that follows */
	bool collects;	      /* the image is a list of bytes to be added */
	bool imaged, dirty, truncated;
	struct image image;
	struct limit limit;
	int64_t mine; /* changed by others only under names */
	bool made;    /* mine is the empty version of its creation */
	int refused;  /* the errno of a refused write or commit: nothing of
			 this open file is stored any more */
	struct buf why; /* the sentence behind it */
	struct attrs fresh;
	bool ended; /* its end has been read */
	struct reader reader;
};

/* A rename in another thread may change it at any time. */
enum kind
handle_kind(const struct handle *h);

/* Takes h's lock, and before it names for reading, but for a control file:
 * its verbs take names themselves. Returns whether it took names. */
bool
handle_lock(struct fs *fs, struct handle *h);

void
handle_unlock(struct fs *fs, struct handle *h, bool names);

void
handle_enlist(struct fs *fs, struct handle *h);

/* Tells the others what state the handle is in. Its lock is held, as it is
 * for all that follow. */
void
handle_show(struct fs *fs, struct handle *h, bool wrote);

/* Makes h->reader the newest bytes; a file whose name is gone keeps what it
 * had, a writer's that has expired is empty. */
int
handle_refresh(struct fs *fs, struct handle *h);

/* Before the first change since the last commit: the image is the newest
 * bytes, and what was kept of an old image counts no more. */
int
handle_take_image(struct fs *fs, struct handle *h);

/* Refuses early what the store would refuse at commit. */
int
handle_check_size(struct fs *fs, struct handle *h, uint64_t size);

/* -ENOSPC on a full disk: said at open, since shells do not look at what
 * close answers. */
int
handle_check_room(struct fs *fs);

/* Nothing of this open file is stored any more, because of r. */
void
handle_refuse(struct handle *h, int r);

/* Why it is so, said again to who goes on: 0 if it is not. */
int
handle_refused(const struct handle *h);

/* Keeps by name what was set on the pending file, and not stored with it. */
int
handle_set_late(struct fs *fs, struct handle *h, const struct spot *spot);

/* Stores the image. names is held for reading or writing (not for a control
 * file), and h's lock. */
int
handle_commit(struct fs *fs, struct handle *h);

#endif
