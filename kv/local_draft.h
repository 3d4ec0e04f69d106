/* local_draft: what an open file stores, on its way (private to kv/local*.c).
 *
 * A cell's is a mutation of one row, a dot file's a put: prepared without a
 * lock, then part of a transaction, its own or that of a rename.
 */
#ifndef CELLFS_KV_LOCAL_DRAFT_H
#define CELLFS_KV_LOCAL_DRAFT_H

#include "local_txn.h"

/* Whether nothing is to be prepared, so far as is known. */
bool
draft_ready(const struct draft *d);

/* A piece of a writing transaction. -ESTALE, -ECANCELED: it has to be
 * prepared again. */
int
draft_apply(struct txn *t, struct draft *d);

/* After that transaction, which ended with r: what that means, or 1: the draft
 * is to be prepared again. */
int
draft_settle(struct draft *d, int r);

#endif
