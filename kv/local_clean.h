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

/* Removes what changes of rules have put out of a table, in small
 * transactions, and takes their pasts away (ddl held). */
int
clean_pasts(struct local *l, struct table *table);

#endif
