/* handle: one open file description.
 *
 * One that wrote or truncated gives exactly one version:
 *
 *   state      image          reads see        becomes, by
 *   clean      none or old    the newest (1)   dirty: WRITE, size change
 *   truncated  empty          the image        dirty: WRITE
 *   dirty      own            the image        clean: commit
 *   refused    counts no more the newest       nothing: writes and close
 *                                              answer what refused it
 *
 * (1) one open for reading only stays with a version until it begins at 0 again
 * or has read the end.
 *
 * commit: FLUSH, only from the process that opened it and only if dirty
 * (every redirection sends a FLUSH before it writes, every child that
 * inherited the descriptor sends one when it ends); FSYNC; RELEASE. The
 * version stored before by the same handle goes as the new one comes. An
 * appending handle's image is the list of bytes it adds. A new file is stored
 * empty when it is created, so a name is there from create on, and that
 * version is the handle's own. Functions return 0 or a negative errno.
 *
 * The kernel keeps one size and one set of pages for all who have a file open,
 * but a writer and its readers see different versions. So its pages serve only
 * who opens a small cell for reading while nobody writes it, nor has within
 * the last two seconds; such a handle follows the cell. All others bypass them.
 */
#ifndef CELLFS_FS_HANDLE_H
#define CELLFS_FS_HANDLE_H

#include "inode.h"

struct handle;

/* Opens. mine: the version that making the file by this very call has stored,
 * 0: it was there. fresh: owner and mode should it have to be made again. */
int
handle_open(struct fs *fs, struct inode *inode, int flags,
    const struct caller *caller, const struct attrs *fresh, int64_t mine,
    struct handle **out);

/* Whether reads and writes are to bypass the kernel's pages; what it has in
 * them is right where they are not. */
bool
handle_bypasses(const struct handle *h);

/* How many bytes, 0 at the end. pages: for the kernel's pages. */
int64_t
handle_read(struct fs *fs, struct handle *h, uint64_t offset, void *to,
    size_t size, bool pages);

int
handle_write(struct fs *fs, struct handle *h, uint64_t offset,
    const void *from, size_t size, bool mapped);

/* ftruncate(2), and growth by fallocate(2) with grow_only. */
int
handle_resize(struct fs *fs, struct handle *h, uint64_t size, bool grow_only);

/* Whether a write or commit was refused: the close says it again. */
bool
handle_is_refused(struct handle *h);

/* close(2): its answer is close's. */
int
handle_flush(struct fs *fs, struct handle *h, pid_t thread);

/* fsync(2): stored and on the disk. */
int
handle_sync(struct fs *fs, struct handle *h);

/* The last reference is gone: stores what is left, logs an error, frees. */
void
handle_release(struct fs *fs, struct handle *h);

/* A file that was just made, and whose bytes were then refused, is not there:
 * what its creation stored (mine) goes again. Takes names. */
void
handle_unmake(struct fs *fs, struct inode *inode, int64_t mine);

/* Whether somebody has it open for writing. */
bool
handles_write(struct fs *fs, struct inode *inode);

/* At the end of the mount: releases every handle that is still open. */
void
handles_close(struct fs *fs);

/* truncate(2) of a name: one version at once. */
int
handle_truncate_name(struct fs *fs, struct inode *inode, uint64_t size);

/* What is pending of a file whose name is to be moved, so that it is stored in
 * the same transaction. */
struct offer {
	struct handle *handle; /* held, its lock too; NULL: nothing is */
	struct storing storing;
};

/* Makes the offer. 1: there is more than one handle's, or it is just being
 * stored; with names let go, handles_settle() comes first. names is held for
 * writing. */
int
handles_offer(struct fs *fs, struct inode *inode, const struct caller *caller,
    struct offer *out);

/* Stores what is pending but for the last of it, the caller's if there is
 * one; or with `all` that too. Takes names. */
int
handles_settle(struct fs *fs, struct inode *inode, const struct caller *caller,
    bool all);

/* Whether anything is. */
bool
handles_pending(struct fs *fs, struct inode *inode);

/* It is stored at spot, as the version `mine`. names is held. */
void
offer_taken(struct fs *fs, struct offer *o, const struct spot *spot,
    int64_t mine);

/* It is not, and stays pending. Safe on none. */
void
offer_declined(struct fs *fs, struct offer *o);

/* After it moved onto another cell: the version `before` of its handles is
 * now called `after` (0: no more). names is held. */
void
handles_follow(struct fs *fs, struct inode *inode, int64_t before,
    int64_t after);

/* Attributes set by name while a handle is pending belong to that version:
 * the caller's handle, else the last written; false: none is pending. */
bool
handles_take_attrs(struct fs *fs, struct inode *inode,
    const struct caller *caller, const struct attrs *attrs);

/* Shows the writer's own size and time where st is asked by the writer, or a
 * handle is mapped; and what was set while it was pending. Returns whether it
 * is open for writing at all. */
bool
handles_overlay(struct fs *fs, struct inode *inode,
    const struct caller *caller, struct stat *st);

#endif
