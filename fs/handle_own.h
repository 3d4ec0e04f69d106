/* handle_own: a handle's insides, for handle*.c and kept.c alone. */
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
	unsigned holds; /* its file, and who waits for its lock */
	bool follows; /* reads through the kernel's pages */
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
	struct loader *loader; /* takes what is written; NULL: the image does */
};

/* A rename in another thread may change it at any time. */
enum kind
handle_kind(const struct handle *h);

/* Lets go of a hold; the last frees it. */
void
handle_put(struct fs *fs, struct handle *h);

void
handle_enlist(struct fs *fs, struct handle *h);

/* Tells the others what state the handle is in. Its lock is held, as it is
 * for all that follow. */
void
handle_show(struct fs *fs, struct handle *h, bool wrote);

/* Makes h->reader the newest bytes; a file whose name is gone keeps what it
 * had, a writer's that has expired is empty. Takes names. */
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

/* Before a writer opens: readers bypass the kernel's pages from now on, and
 * those that do not are given a moment to come to their end. */
void
handle_await_readers(struct fs *fs, struct inode *inode);

/* h is closed. nodes->lock is held. */
void
handle_leave_pages(struct fs *fs, struct handle *h);

/* Where a listed handle that reads only may go through the kernel's pages,
 * makes them right, and full of a small value. changes: the inode's, counted
 * before what it reads was opened. */
void
handle_share_pages(struct fs *fs, struct handle *h, unsigned changes);

/* The kernel's pages were given bytes of h. */
void
handle_filled_pages(struct fs *fs, struct handle *h);

/* Keeps by name what was set on the pending file, and not stored with it.
 * names is held. */
int
handle_set_late(struct fs *fs, struct handle *h, const struct spot *spot);

/* Stores the image. Takes names (not for a control file: its verbs do). */
int
handle_commit(struct fs *fs, struct handle *h);

/* What is written to a loader's handle; and its end, which is its commit. Both
 * take names. */
int
handle_load(struct fs *fs, struct handle *h, struct slice bytes);
int
handle_load_end(struct fs *fs, struct handle *h);

/* What h wants stored, all but mine, which names guards; what was set while it
 * was pending goes along. */
void
handle_storing(struct fs *fs, struct handle *h, struct storing *how);

/* That is stored at spot, as how->mine, or r says why not. Returns r, or what
 * setting its attributes said. names is held. */
int
handle_stored(struct fs *fs, struct handle *h, const struct spot *spot,
    struct storing *how, int r);

/* It has not been stored, and is to be so later. */
void
handle_not_stored(struct fs *fs, struct handle *h,
    const struct storing *how);

/* Adds what `from` sets to *to. */
void
attrs_merge(struct attrs *to, const struct attrs *from);

#endif
