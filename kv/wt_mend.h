/* wt_mend: what a repair does with a table whose file is damaged or gone. */
#ifndef CELLFS_KV_WT_MEND_H
#define CELLFS_KV_WT_MEND_H

#include "wt_pool.h"

/* Keeps what can be read of a table: 1, and why() says so for EIO. -EIO. */
int
wt_mend_salvage(struct wt_pool *pool, uint32_t table);

/* Likewise if it does not open; if its file is missing, the table is not there
 * from now on: 1. 0: it opens. */
int
wt_mend_table(struct wt_pool *pool, uint32_t table);

#endif
