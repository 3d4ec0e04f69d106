/* local_blob: values above INLINE_MAX, in chunks (private to kv/local*.c).
 *
 * A blob is pending until a transaction stores a reference to it, and again
 * from the one that drops the reference on; so whatever a crash leaves, the
 * next opening removes.
 */
#ifndef CELLFS_KV_LOCAL_BLOB_H
#define CELLFS_KV_LOCAL_BLOB_H

#include "local_txn.h"

/* Stores source in chunks, each in a transaction of its own (call without
 * one open), and leaves it pending: *id. -ESTALE: the table is being
 * dropped. */
int
blob_write(struct local *l, uint32_t blobs, const struct source *source,
    uint64_t *id);

/* In the transaction that stores a reference: id is no longer pending. */
int
blob_adopt(struct txn *t, uint32_t blobs, uint64_t id);

/* In the transaction that drops the reference: id is pending again. */
int
blob_drop(struct txn *t, uint32_t blobs, uint64_t id);

/* Outside transactions: removes the chunks of a pending blob now, or when its
 * last pin goes. */
void
blob_collect(struct local *l, uint32_t blobs, uint64_t id);

/* Removes every pending blob of the table: at open. */
int
blob_sweep(struct local *l, uint32_t blobs);

/* A pinned blob's chunks stay. pin within the snapshot that saw the
 * reference, before it ends. -EAGAIN: it was dropped and collected since that
 * snapshot began; look again in a new one; -ESTALE: its table was. */
int
blob_pin(struct local *l, uint32_t blobs, uint64_t id);
void
blob_unpin(struct local *l, uint32_t blobs, uint64_t id);

/* Whether the table holds any chunk: 1, 0 or an errno. */
int
blob_any(struct txn *t, uint32_t blobs);

/* Reads in part, in a snapshot of its own: bytes read or a negative errno. */
int64_t
blob_read(struct local *l, uint32_t blobs, uint64_t id, uint64_t size,
    uint64_t offset, void *to, size_t count);

#endif
