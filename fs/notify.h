/* notify: what changed behind the kernel's back is made known to it.
 *
 * A change through the same name needs nothing. A change through another name
 * of a cell (q@TS, q@counter), of a whole table (control, schema) or by the
 * tunnel does: attributes at once, pages and names from a thread of their
 * own, since the kernel holds locks while a handler runs. No FUSE here: the
 * mount hands in what sends.
 */
#ifndef CELLFS_FS_NOTIFY_H
#define CELLFS_FS_NOTIFY_H

#include "inode.h"

struct notify_sender {
	/* drop an inode's attributes; with data also its pages */
	void (*inode)(void *context, struct inode *inode, bool data);
	/* drop a name of a directory */
	void (*entry)(void *context, struct inode *dir, struct slice name);
	void *context;
};

int
notify_open(struct fs *fs, const struct notify_sender *sender);

/* Ends the thread; what is still queued is dropped. Nobody is told anything
 * from then on. */
void
notify_close(struct fs *fs);

/* The plain name of the cell at spot has another newest version. */
void
notify_cell(struct fs *fs, const struct spot *spot);

/* Everything below a table may have changed. */
void
notify_table(struct fs *fs, struct slice table);

/* A name in a directory that the kernel may have cached as absent is there,
 * or the other way round. */
void
notify_name(struct fs *fs, struct inode *dir, struct slice name);

#endif
