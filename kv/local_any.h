/* local_any: whether there is any live cell (private to kv/local*.c).
 *
 * Removing many names one by one leaves a long run of removed keys that a
 * cursor walks over one by one. So it is remembered where a row was last
 * found to hold a cell, and in which direction that lay.
 */
#ifndef CELLFS_KV_LOCAL_ANY_H
#define CELLFS_KV_LOCAL_ANY_H

#include "local_table.h"
#include "local_txn.h"

/* Whether the family holds a live cell in row (any row if empty): 1, 0, errno.
 * near: a qualifier that was just removed, where to look first; empty: no. */
int
cells_any(struct txn *t, const struct local_family *f, struct slice row,
    struct slice near);

struct hints *
hints_new(void);
void
hints_free(struct hints *h);

#endif
