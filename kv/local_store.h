/* local_store: changing one column in one call (private to kv/local*.c; all of
 * it in a writing transaction).
 */
#ifndef CELLFS_KV_LOCAL_STORE_H
#define CELLFS_KV_LOCAL_STORE_H

#include "local_table.h"
#include "local_txn.h"
#include "record.h"

struct stored;

/* Blob ids that a transaction dropped, to be collected once it committed. */
struct dropped {
	struct buf ids; /* pairs: u32 table, u64 id in native form */
};

/* Collects them, and releases *d. */
void
dropped_collect(struct local *l, struct dropped *d);

/* Remembers that blob id of table blobs has lost its reference. */
int
dropped_add(struct txn *t, struct dropped *d, uint32_t blobs, uint64_t id);

/* Removes from a column what is out already: first of all, always. */
int
column_clean(struct txn *t, const struct local_family *f, struct slice row,
    struct slice qualifier, struct dropped *d);

/* The same as far as one transaction of long work goes, for that alone. *left:
 * there is more. */
int
column_clean_some(struct txn *t, const struct local_family *f, struct slice row,
    struct slice qualifier, struct dropped *d, bool *left);

/* Stores a version at exactly timestamp and pushes out what is beyond
 * VERSIONS. *pushed: it was itself pushed out at once. */
int
column_store(struct txn *t, const struct local_family *f, struct slice row,
    struct slice qualifier, int64_t timestamp, const struct record *record,
    struct dropped *d, bool *pushed);

/* max(now, newest + 1), newest NULL: there is none; -EINVAL: it is at the end
 * of time. */
int
next_timestamp(
    const struct txn *t, const struct stored *newest, int64_t *out);

/* The same for a column, of its newest live version. */
int
column_next_timestamp(struct txn *t, const struct local_family *f,
    struct slice row, struct slice qualifier, int64_t *out);

#endif
