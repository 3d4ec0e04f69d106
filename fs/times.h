/* times: when directories were last changed in, brought into the store.
 *
 * A name made, removed or renamed in a directory is noted at its inode, where
 * every look finds it, and stored a second later, many directories in one
 * transaction: no request waits for it. Until then the inode is held. What a
 * tool has set since is not set back.
 */
#ifndef CELLFS_FS_TIMES_H
#define CELLFS_FS_TIMES_H

#include "inode.h"

/* Starts the thread that does it. */
int
times_open(struct fs *fs);

/* A name was made, removed or renamed in dir just now. */
void
times_touch(struct fs *fs, struct inode *dir);

/* Stores at once what is noted. -ENOSPC: it stays noted. */
int
times_store(struct fs *fs);

/* Ends the thread; stores what is left, or says in the log that it is lost. */
void
times_close(struct fs *fs);

#endif
