/* local_cells: reading one column (private to kv/local*.c).
 */
#ifndef CELLFS_KV_LOCAL_CELLS_H
#define CELLFS_KV_LOCAL_CELLS_H

#include "local_table.h"
#include "local_txn.h"
#include "record.h"

struct walk;

/* A stored version as found; owned, release with stored_release. */
struct stored {
	int64_t timestamp;
	int64_t expires;
	struct buf bytes;     /* what record.value points into */
	struct record record; /* attributes as kept, not filled in */
};

void
stored_release(struct stored *s);

/* Makes a copy of what a walk stands on. */
int
stored_take(const struct walk *w, struct stored *out);

/* Whether a version's record alone tells that it is live: pushed out ones are
 * not stored, and nothing is kept by min_versions. Only where counting would
 * be slow. */
bool
family_tells_live(const struct local_family *f);

/* The live version asked for, in t's snapshot. 1: none. */
int
column_find(struct txn *t, const struct local_family *f, struct slice row,
    struct slice qualifier, struct version version, struct stored *out);

/* Calls each for every live version, newest first (stamped below `before`);
 * each returns 0 more, 1 stop, or an errno. */
int
column_each(struct txn *t, const struct local_family *f, struct slice row,
    struct slice qualifier, int64_t before,
    int (*each)(void *context, const struct stored *s), void *context);

/* Fills in what attributes a record does not keep. */
void
attrs_complete(const struct table *table, int64_t timestamp,
    const struct attrs *kept, mode_t mode_default, struct attrs *out);

/* What a file of a cell has by default beside the table's owner. */
#define CELL_MODE 0644

/* Leaves out of *kept (a version's or a dot file's) what the table's defaults
 * give anyway. */
void
attrs_reduce(const struct table *table, mode_t mode_default,
    struct attrs *kept);

/* *to, complete, with what `from` sets in its place. */
void
attrs_override(struct attrs *to, const struct attrs *from);

struct timespec
timespec_of_ms(int64_t ms);

#endif
