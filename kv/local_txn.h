/* local_txn: transactions of the local engine (private to kv/local*.c).
 */
#ifndef CELLFS_KV_LOCAL_TXN_H
#define CELLFS_KV_LOCAL_TXN_H

#include "local.h"
#include "ordered.h"

/* One transaction of one thread; `now` is read once, at its begin. */
struct txn {
	struct local *local;
	struct ordered_session *session;
	bool writing;
	int64_t now;
	uint64_t blooms; /* blooms_moment() in front of its snapshot */
	int64_t passed; /* the latest moment at which it found one expired */
	/* If set by the body: called by txn_end() once the commit has
	 * succeeded, before the writer lock goes (DDL publishes so). */
	void (*committed)(void *context);
	void *committed_context;
};

/* Begins a read snapshot. End it before anything that may wait. */
int
txn_read(struct local *l, struct txn *out);

/* Takes the writer lock and begins. -ENOSPC, -EROFS. */
int
txn_write(struct local *l, enum ordered_intent intent, struct txn *out);

/* Commits a writing transaction if r is 0, else rolls back; gives the session
 * and the lock back. Returns r, or what commit said. Safe on a txn whose
 * begin failed. */
int
txn_end(struct txn *t, int r);

/* Runs body in a writing transaction, again (bounded) on -EAGAIN with fresh
 * values; body must be able to run twice. */
int
local_write(struct local *l, enum ordered_intent intent,
    int (*body)(struct txn *t, void *context), void *context);

/* The same in a read snapshot. */
int
local_read(struct local *l, int (*body)(struct txn *t, void *context),
    void *context);

/* The ordered store's calls in t, counted. A table that is not there is never
 * -ENOENT, which would be taken for a cell that is not: -EIO. */
int
txn_cursor(struct txn *t, uint32_t table, struct ordered_cursor **out);
int
txn_get(struct txn *t, uint32_t table, struct slice key, struct buf *out);
int
txn_put(struct txn *t, uint32_t table, struct slice key, struct slice value);
int
txn_remove(struct txn *t, uint32_t table, struct slice key);
int
txn_remove_range(struct txn *t, uint32_t table, struct slice from,
    struct slice to);

/* Calls each for the records whose keys begin with prefix, in order: it
 * returns 0 to go on, 1 to stop, or an errno, and may write and remove. 1: it
 * has stopped. */
int
txn_each(struct txn *t, uint32_t table, struct slice prefix,
    int (*each)(struct txn *t, struct slice key, struct slice value,
	void *context),
    void *context);

#endif
