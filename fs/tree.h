/* tree: what is done to names: look up, make, remove, rename, set.
 *
 * Between FUSE's requests and the kinds. Functions return 0 or a negative
 * errno; inodes come out held.
 */
#ifndef CELLFS_FS_TREE_H
#define CELLFS_FS_TREE_H

#include "handle.h"

/* What a component of dir is: *out held. -ENOENT, also for what is no name
 * at all. */
int
tree_lookup(struct fs *fs, struct inode *dir, struct slice name,
    const struct caller *caller, struct inode **out, struct look *look);

/* stat of a known inode, also once its name is gone. */
int
tree_look(struct fs *fs, struct inode *inode, const struct caller *caller,
    struct look *look);

/* What only this mount knows of a known inode: a directory changed in, the
 * size a writer sees; look->hold is 0 while somebody writes. */
void
tree_overlay(struct fs *fs, struct inode *inode, const struct caller *caller,
    struct look *look);

/* A file as open(O_CREAT) found or made it. */
struct made {
	struct inode *inode;
	struct look look;
	int64_t mine;	    /* the version that making it stored, 0: none */
	struct attrs fresh;
};

/* -EEXIST if it is there and flags has O_EXCL. */
int
tree_create(struct fs *fs, struct inode *dir, struct slice name, mode_t mode,
    int flags, const struct caller *caller, struct made *out);

int
tree_mkdir(struct fs *fs, struct inode *dir, struct slice name, mode_t mode,
    const struct caller *caller, struct inode **out, struct look *look);

/* unlink(2), or rmdir(2) for directories. */
int
tree_remove(struct fs *fs, struct inode *dir, struct slice name,
    bool directory, const struct caller *caller);

struct renaming {
	struct inode *from_dir, *to_dir;
	struct slice from, to;
	bool no_replace, exchange;
};

int
tree_rename(struct fs *fs, const struct renaming *how,
    const struct caller *caller);

/* chmod, chown, utimens. */
int
tree_set(struct fs *fs, struct inode *inode, const struct attrs *attrs,
    const struct caller *caller);

/* What was changed in directories is on the disk after it. */
int
tree_sync(struct fs *fs);

/* A virtual attribute's value, appended. -ENODATA: not one of ours. */
int
tree_xattr(struct fs *fs, struct inode *inode, struct slice name,
    const struct caller *caller, struct buf *out);

#endif
