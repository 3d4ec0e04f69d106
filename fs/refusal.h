/* refusal: what was refused goes into the log, by its path inside the mount,
 * and is the last error of who asked. */
#ifndef CELLFS_FS_REFUSAL_H
#define CELLFS_FS_REFUSAL_H

#include "inode.h"

/* A call about name in the directory inode, or (empty) about inode itself. The
 * sentence is why_text()'s. */
void
refusal_tell(struct fs *fs, const struct caller *caller, struct inode *inode,
    struct slice name, int error);

/* What no call can answer any more, and what came of it. caller: who caused
 * it, or NULL. */
void
refusal_note(struct fs *fs, const struct caller *caller, struct inode *inode,
    const char *note, int error);

/* The path of an inode from the root of the mount, as the tree spells it,
 * appended; nothing for the root. */
void
refusal_path(struct fs *fs, struct inode *inode, struct buf *out);

#endif
