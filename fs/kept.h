/* kept: what the kernel may have kept of an inode, and who looks at it.
 *
 * Of a cell its bytes, of a directory its listing. What changes either is
 * noted here, and told to the kernel by notify.
 */
#ifndef CELLFS_FS_KEPT_H
#define CELLFS_FS_KEPT_H

#include "inode.h"

/* How often its bytes have changed, or whole tables. */
unsigned
kept_changes(struct fs *fs, struct inode *inode);

/* Its bytes are others from now on: returns whether somebody may be looking
 * at the old ones. */
bool
kept_changed(struct fs *fs, struct inode *inode);

/* dir is being read from now on, until reading_end(). */
void
reading_begin(struct fs *fs, struct reading *r, struct inode *dir);

void
reading_end(struct fs *fs, struct reading *r);

/* Whether dir was seen not to expire since the last change of a table; and
 * that it was, in an epoch read before. */
bool
kept_is_steady(struct fs *fs, struct inode *dir);

void
kept_set_steady(struct fs *fs, struct inode *dir, unsigned epoch);

/* Notes what the kernel may have kept of dir's listing. LISTED_OLD does not
 * replace LISTED_NONE. */
void
kept_set_listed(struct fs *fs, struct inode *dir, unsigned listed);

unsigned
kept_listed(struct fs *fs, struct inode *dir);

/* Goes through what the kernel knows below top, at any depth: returns the one
 * behind at, which is top at first, held, or NULL; lets go of at. names is
 * held. */
struct inode *
kept_below(struct fs *fs, struct inode *top, struct inode *at);

/* The inodes of open directories, and of files read through the kernel's
 * pages; held. *out, of *count, is the caller's to free. -ENOMEM. */
int
kept_open(struct fs *fs, struct inode ***out, size_t *count);

#endif
