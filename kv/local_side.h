/* local_side: what the files about side tables share (private to them).
 *
 * A `side` is a table's side table, or the root's where table is NULL.
 */
#ifndef CELLFS_KV_LOCAL_SIDE_H
#define CELLFS_KV_LOCAL_SIDE_H

#include "local.h"

static inline uint32_t
side_of(const struct table *table)
{
	return table ? table->side : ROOT_SIDE;
}

static inline bool
side_may(const struct table *table, unsigned bit)
{
	return !table || atomic_load(&table->side_may) & bit;
}

/* Whether the place is a dot file or dot directory of .schema. */
bool
side_in_schema(const struct place *place);

/* Appends `tag dir` for a directory of any level. */
void
side_dir_key(uint8_t tag, const struct place *dir, struct buf *out);

/* Appends 'f' and the directory that place's dot files stand in, without
 * dotdir and name. */
void
side_files_key(const struct place *place, struct buf *out);

/* Appends the key of a dot file or dot directory, by place->level. */
void
side_dot_key(const struct place *place, struct buf *out);

/* Whether a record of this tag in a family counts: the table declares it, or
 * is open and the family kept. */
bool
side_counts(const struct table *table, uint8_t tag, struct slice family);

/* Whether the row that key (behind its tag) begins with is there by it: 1, 0,
 * errno. */
int
side_key_counts(const struct table *table, uint8_t tag, struct slice key);

/* Whether a record whose key begins with prefix makes its row be there. */
int
side_any_counting(
    struct txn *t, const struct table *table, struct slice prefix);

/* Whether any key begins with prefix: 1, 0, errno. */
int
side_any(struct txn *t, uint32_t side, struct slice prefix);

/* Whether the thing is there, as kv_stat() says: 1, 0, errno. near as in
 * cells_any(). Any level but COLUMN. */
int
side_there(struct txn *t, const struct table *table,
    const struct place *place, struct slice near);

/* Keeps a directory: sets its mark. */
int
side_keep(struct txn *t, struct table *table, const struct place *dir);

/* What a directory keeps of its attributes, all zero without; and sets them
 * (what equals the defaults is not stored). */
int
side_get_attrs(
    struct txn *t, uint32_t side, const struct place *dir, struct attrs *out);
int
side_put_attrs(struct txn *t, struct table *table, const struct place *dir,
    const struct attrs *attrs);

/* The attributes of what keeps none: of a directory, or of a file. */
void
side_defaults(
    struct local *l, const struct table *table, bool file, struct attrs *out);

/* Leaves out of *attrs what the defaults give anyway; owner, group and mode
 * are kept together. */
void
side_reduce(
    struct local *l, const struct table *table, bool file, struct attrs *attrs);

/* Whether the directory's own mark is there: 1, 0, errno; takes it away. */
int
side_is_kept(
    struct txn *t, const struct table *table, const struct place *dir);
int
side_unmark(
    struct txn *t, const struct table *table, const struct place *dir);

/* Forgets the attributes of a directory and of all below it. */
int
side_forget(
    struct txn *t, const struct table *table, const struct place *dir);

/* The table a place is in, held; NULL for ROOT, SCHEMA and its dot files. */
int
side_table(struct local *l, const struct place *place, struct table **out);

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

/* The info of a directory or dot file that is there. */
int
side_info(struct txn *t, const struct table *table,
    const struct place *place, struct info *out);

/* Removes every key that begins with prefix. */
int
side_remove_all(struct txn *t, uint32_t side, struct slice prefix);

#endif
