/* local_dots: dot files and dot directories (private to kv/local*.c).
 */
#ifndef CELLFS_KV_LOCAL_DOTS_H
#define CELLFS_KV_LOCAL_DOTS_H

#include "local_cells.h"
#include "local_side.h"
#include "local_store.h"

/* Appends 'f' and the directory that place's dot files stand in, without
 * dotdir and name. */
void
side_files_key(const struct place *place, struct buf *out);

/* Appends the key of a dot file or dot directory, by place->level. */
void
side_dot_key(const struct place *place, struct buf *out);

/* The record of a dot file or dot directory (place->level), 1: none; blobs:
 * the table its value stands in. table: NULL for those of .schema. */
int
side_dot_find(struct txn *t, const struct table *table,
    const struct place *place, struct stored *out, uint32_t *blobs);

/* Stores the record of a dot file or dot directory; its attributes are
 * reduced. */
int
side_dot_store(struct txn *t, struct table *table,
    const struct place *place, const struct record *record);

/* Removes a dot file or dot directory that was found so, and its blob. */
int
side_dot_erase(struct txn *t, const struct table *table,
    const struct place *place, const struct stored *found, uint32_t blobs,
    struct dropped *d);

/* -EISDIR, -ENOENT where the names around a new dot file forbid it. */
int
side_dot_room(
    struct txn *t, const struct table *table, const struct place *dot);

/* In a transaction that took a dot file or dot directory away: the directory
 * it was in is kept if that was all it held. */
int
side_keep_above(
    struct txn *t, struct table *table, const struct place *place);

/* A dot file on its way: local, dot, source, attrs and flags are set by the
 * caller, the rest zero. */
struct put {
	struct local *local;
	const struct place *dot;
	const struct source *source;
	const struct attrs *attrs;
	unsigned flags; /* MUTATE_ABSENT */
	bool ready;
	struct buf value; /* or */
	uint64_t blob;	  /* its value, written before */
	uint32_t blobs;	  /* the table it was written to */
	struct dropped dropped;
};

/* Does what goes before the transaction: declares the family, writes a big
 * value. Nothing to do while it is ready. */
int
put_prepare(struct put *p);

/* The body of the transaction, of a struct put. */
int
put_apply(struct txn *t, void *put);

/* After a transaction that ended with r: what that means, or 1: it is to be
 * prepared again. */
int
put_settle(struct put *p, int r);

/* Once it is over: takes away what was not stored, or has been dropped. */
void
put_release(struct put *p, bool committed);

/* The info of a directory or dot file that is there. */
int
side_info(struct txn *t, const struct table *table,
    const struct place *place, struct info *out);

#endif
