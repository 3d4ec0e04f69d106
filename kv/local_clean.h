/* local_clean: removing what no read can see any more (private to
 * kv/local*.c).
 */
#ifndef CELLFS_KV_LOCAL_CLEAN_H
#define CELLFS_KV_LOCAL_CLEAN_H

#include "local_table.h"

/* One round of clean-up: removes what is out from every family, frees blobs,
 * forgets attributes of what is gone. Small transactions. */
int
clean_all(struct local *l);

/* Removes what is out from one family of a table, in small transactions. */
int
clean_family(struct local *l, const struct table *table,
    const struct local_family *f);

#endif
