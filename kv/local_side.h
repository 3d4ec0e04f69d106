/* local_side: the side tables: which directories are there and kept (private
 * to kv/local*.c).
 *
 * A `side` is a table's side table, or the root's where table is NULL.
 */
#ifndef CELLFS_KV_LOCAL_SIDE_H
#define CELLFS_KV_LOCAL_SIDE_H

#include "local_keys.h"
#include "local_table.h"
#include "local_txn.h"

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

/* Appends `tag dir` for a directory of any level. */
void
side_dir_key(uint8_t tag, const struct place *dir, struct buf *out);

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

/* Removes every key that begins with prefix. */
int
side_remove_all(struct txn *t, uint32_t side, struct slice prefix);

/* In a mutation that put a cell: row and family are no longer kept. Cheap
 * where nothing is kept in the table. */
int
side_unkeep(struct txn *t, const struct table *table, struct slice row,
    struct slice family);

/* In a mutation through the mount that removed cells or files of a family:
 * keeps family (else row) if it is empty now. near as in cells_any. */
int
side_keep_if_empty(struct txn *t, struct table *table, struct slice row,
    const struct local_family *family, struct slice near);

/* In a mutation by other means: forgets the attributes of row and family if
 * they are no longer there. */
int
side_forget_if_gone(struct txn *t, const struct table *table, struct slice row,
    const struct local_family *family, struct slice near);

/* In a mutation that stored a cell with a TTL of its own: the clean-up has to
 * look at the table from now on. */
int
side_note_ttl(struct txn *t, struct table *table);

/* What a side table may hold (SIDE_*), looked up when its table is loaded. */
int
side_look(struct txn *t, uint32_t side, unsigned *may);

/* Whether the table has a row: 1, 0, errno. */
int
side_table_any(struct txn *t, const struct table *table);

#endif
