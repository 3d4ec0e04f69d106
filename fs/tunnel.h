/* tunnel: a history finds back to its name.
 *
 * Programs save by renaming q to q~ and making q anew, or by unlinking q
 * first. If the process that did so makes q again, or renames onto it, within
 * ten seconds, q takes its history back. A renamed history is still in the
 * store; an unlinked one waits in memory, within the images' budget.
 */
#ifndef CELLFS_FS_TUNNEL_H
#define CELLFS_FS_TUNNEL_H

#include "node.h"

int
tunnel_open(struct fs *fs);

void
tunnel_close(struct fs *fs);

/* from was just renamed to the free name to. Forgets on lack of memory. */
void
tunnel_renamed(struct fs *fs, const struct caller *caller,
    const struct spot *from, const struct spot *to);

/* cell is about to be unlinked: takes its history along, if it is small. */
void
tunnel_unlinking(struct fs *fs, const struct caller *caller,
    const struct spot *cell);

/* from is about to be renamed to the free name to, which takes its history
 * back as in tunnel_restore(), unless from comes with more than one version:
 * that history goes before. What of from will not be found there waits as if
 * it were unlinked. */
int
tunnel_renaming(struct fs *fs, const struct caller *caller,
    const struct spot *from, const struct spot *to);

/* Tables have changed their names or are gone: nothing is given back. */
void
tunnel_clear(struct fs *fs);

/* The unlink or rename did not come about. */
void
tunnel_forget(struct fs *fs, const struct caller *caller,
    const struct spot *cell);

/* cell is about to be made and is not there: gives its history back if this
 * process has taken it away. 1: it has; 0: nothing to give back. */
int
tunnel_restore(struct fs *fs, const struct caller *caller,
    const struct spot *cell);

#endif
