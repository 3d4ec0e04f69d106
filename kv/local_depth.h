/* local_depth: how many versions deep columns store, in memory (private to
 * kv/local_column.c and kv/local_put.c; the writer lock is held).
 */
#ifndef CELLFS_KV_LOCAL_DEPTH_H
#define CELLFS_KV_LOCAL_DEPTH_H

#include "local.h"

/* Forgets what is known in memory of how many versions columns store: in any
 * transaction that changes cells by other means than column_*, such as
 * moving rows or truncating. */
void
depths_forget(struct local *l);
struct depths *
depths_new(void);
void
depths_free(struct depths *d);

/* What is known of a deep column without looking. No version of it has a TTL
 * of its own, and its family keeps nothing by min_versions. */
struct depth {
	uint32_t cells;
	struct buf column; /* its prefix of keys */
	uint64_t count;	   /* stored versions, expired ones too */
	int64_t newest, oldest;
};

/* The slot where the column is or would be. */
struct depth *depth_of(struct local *l, uint32_t cells, struct slice column);

/* Whether the slot is about that column. */
bool depth_is(const struct depth *d, uint32_t cells, struct slice column);

#endif
