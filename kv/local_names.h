/* local_names: the names that the side tables know of (private to
 * kv/local_list*.c and kv/local_dirs.c).
 */
#ifndef CELLFS_KV_LOCAL_NAMES_H
#define CELLFS_KV_LOCAL_NAMES_H

#include "local_side.h"

/* The next name of that level directly below dir that the side table makes be
 * there: rows and families kept or with files in them, kept parts and those
 * with files, dot files, dot directories; in key order, behind after (or from
 * it: inclusive). info is complete. 1: no more. For local_list.c. */
int
side_next(struct txn *t, const struct table *table, const struct place *dir,
    enum level level, struct slice after, bool inclusive, struct buf *name,
    struct info *out);

#endif
