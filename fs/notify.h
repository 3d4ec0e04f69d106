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
	/* take these as the first bytes of the inode's pages */
	void (*store)(void *context, struct inode *inode, struct slice bytes);
	/* drop a name of a directory */
	void (*entry)(void *context, struct inode *dir, const char *name);
	void *context;
};

int
notify_open(struct fs *fs, const struct notify_sender *sender);

/* Ends the thread while requests are still served, which it may wait for;
 * what is queued then or later is dropped, but for what comes after it. */
void
notify_stop(struct fs *fs);

/* After notify_stop(): frees. */
void
notify_close(struct fs *fs);

/* The bytes of inode are others: what the kernel has of them is dropped, at
 * once where that cannot wait for the caller. */
void
notify_bytes(struct fs *fs, struct inode *inode);

/* Likewise, but by and by: for the handler of a READ. */
void
notify_bytes_later(struct fs *fs, struct inode *inode);

/* Bytes that the kernel has none of yet. */
void
notify_store(struct fs *fs, struct inode *inode, struct slice bytes);

/* An open file of inode has been stored at spot: readers that were there
 * before see it, and the cell's other names. cleared: its mode is another, and
 * is not asked for again where writing changes times and size alone. */
void
notify_stored(struct fs *fs, struct inode *inode, const struct spot *spot,
    bool cleared);

/* The plain name of the cell at spot has another newest version. */
void
notify_cell(struct fs *fs, const struct spot *spot);

/* The table is gone, or emptied: what is open below it writes into the void.
 * names is held for writing. */
void
notify_table_gone(struct fs *fs, struct slice table);

/* inode stands elsewhere: it has another number, and so has all below it. names
 * is not held. */
void
notify_moved(struct fs *fs, struct inode *inode);

/* What the kernel has kept of dir's listing is dropped, at once. */
void
notify_listing(struct fs *fs, struct inode *dir);

/* Everything below a table may have changed. */
void
notify_table(struct fs *fs, struct slice table);

/* Calls then(context) once what is to be told so far has been told: now if
 * that is nothing, else from the thread. */
void
notify_after(struct fs *fs, void (*then)(void *context), void *context);

/* A name in a directory that the kernel may have cached as absent is there,
 * or the other way round. */
void
notify_name(struct fs *fs, struct inode *dir, struct slice name);

#endif
