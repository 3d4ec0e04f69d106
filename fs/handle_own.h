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
	struct timespec written;
	struct attrs attrs;  /* set by name while pending */
	bool writes;
	bool at_end; /* O_APPEND */
	pid_t process;

	pthread_mutex_t lock; /* guards all that follows */
	bool collects;	      /* the image is a list of bytes to be added */
	bool imaged, dirty, truncated;
	struct image image;
	uint64_t limit;
	int64_t mine; /* changed by others only under names */
	bool made;    /* mine is the empty version of its creation */
	bool failed;  /* the last commit, or a write, was refused */
	int refused;  /* what refused a write, 0: nothing has */
	struct attrs fresh;
	bool bound; /* reads one version until its end was read */
	bool ended;
	struct reader reader;
};

/* Stores the image. names is held for reading or writing, and h's lock. */
int
handle_commit(struct fs *fs, struct handle *h);

#endif
