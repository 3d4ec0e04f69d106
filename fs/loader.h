/* loader: lines as a stream prints them, stored as they come.
 *
 * A line is row TAB family:qualifier TAB timestamp TAB value, in the text form,
 * ended by a newline; an empty timestamp is the store's to choose. Lines that
 * follow each other with one row are one atomic change, unless they are more
 * than one change takes. Memory is bounded by that; large values stand in an
 * image. Belongs to one thread at a time.
 */
#ifndef CELLFS_FS_LOADER_H
#define CELLFS_FS_LOADER_H

#include "fs.h"
#include "../kv/cell.h"

struct loader;

/* Into the table at place; or into the row there, and then all that is given
 * is one change, made at the end. */
int
loader_open(struct fs *fs, const struct place *place, struct loader **out);

/* Takes more bytes; place is where the table stands now. -EINVAL: a malformed
 * line, the sentence names it; -EPERM, -EFBIG: what the store would refuse.
 * Whole lines before it are stored, but for a row's. Nothing may be given to
 * it after an error. *stored: something was. */
int
loader_take(struct loader *l, const struct place *place, struct slice bytes,
    bool *stored);

/* Stores what waits. -EINVAL: the last line has no end. */
int
loader_end(struct loader *l, const struct place *place, bool *stored);

/* Safe on NULL. */
void
loader_close(struct loader *l);

#endif
