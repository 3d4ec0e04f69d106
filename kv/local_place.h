/* local_place: what a place of the tree means in the store (private to
 * kv/local*.c).
 */
#ifndef CELLFS_KV_LOCAL_PLACE_H
#define CELLFS_KV_LOCAL_PLACE_H

#include "local_table.h"
#include "local_txn.h"

/* The table a place is in, held; NULL for ROOT, SCHEMA and its dot files. */
int
place_table(struct local *l, const struct place *place, struct table **out);

/* Runs body in a read snapshot with the place's table; again (bounded) on
 * -EAGAIN, and where it failed because the table was replaced meanwhile. body
 * must be able to run twice. */
int
place_read(struct local *l, const struct place *place,
    int (*body)(struct txn *t, struct table *table, void *context),
    void *context);

#endif
