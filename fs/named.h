/* named: a name in a directory, with all that is known of it. */
#ifndef CELLFS_FS_NAMED_H
#define CELLFS_FS_NAMED_H

#include "inode.h"

/* Where a name would stand and, if it is there, how it looks. */
struct named {
	struct child child;
	struct spot spot;
	struct look look;
	bool means; /* it is a name of something */
	bool there;
};

void
named_release(struct named *n);

/* Resolves name in dir. 0 also if it is not there; -EINVAL and the like for
 * what is no name. */
int
named_resolve(struct fs *fs, struct inode *dir, struct slice name,
    struct named *out);

/* A dot file's name, taken for a dot directory's. */
void
named_as_dot_dir(struct named *n);

/* Its inode, if the kernel knows one, stands for nothing any more. */
void
named_lose(struct fs *fs, struct inode *dir, const struct named *n);

/* child came to dir, or went: what stat and the kernel are to know. */
void
named_changed(struct fs *fs, struct inode *dir, const struct spot *child);

/* After something went from dir, which may be the versions of a cell: a part
 * whose last key that was stays, as every directory does, until it is removed
 * itself. names is held. */
void
named_keep_parts(struct fs *fs, struct inode *dir);

#endif
