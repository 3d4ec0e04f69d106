/* local_dirs: directories as the tree sees them (private to kv/local*.c).
 */
#ifndef CELLFS_KV_LOCAL_DIRS_H
#define CELLFS_KV_LOCAL_DIRS_H

#include "local.h"

/* kv_stat() and kv_set_attrs() of every level but COLUMN. */
int
side_stat(struct local *l, const struct place *place, struct info *out);
int
side_set_attrs(struct local *l, const struct place *place,
    const struct attrs *attrs);

#endif
