/* local_bloom: what memory knows of the rows and columns that a family does
 * not have (private to kv/local*.c).
 *
 * A family with a bloomfilter has a set (bloom.h) of its rows, with rowcol of
 * its columns too. Every key goes in before it is stored, so what is not in
 * the set is not in the family: a lookup of it reads no page. Removing takes
 * nothing out; compact makes the set anew.
 *
 * A set is stored when the store is closed, and loaded when it is first asked;
 * the first change that it does not know takes its mark away in the same
 * transaction. A set that is missing, as after a crash, or that has grown
 * unwieldy is made by reading the family, in the background: until then the
 * answer is "maybe".
 */
#ifndef CELLFS_KV_LOCAL_BLOOM_H
#define CELLFS_KV_LOCAL_BLOOM_H

#include "local_table.h"
#include "local_txn.h"

/* NULL: no memory. */
struct blooms *
blooms_new(void);
void
blooms_free(struct blooms *b);

/* --- asking ----------------------------------------------------------- */

/* Whether t's snapshot surely has no cell in that row, or column, of f. */
bool
bloom_lacks_row(
    struct txn *t, const struct local_family *f, struct slice row);
bool
bloom_lacks_column(struct txn *t, const struct local_family *f,
    struct slice row, struct slice qualifier);

/* What a snapshot that is about to begin keeps in txn.blooms. */
uint64_t
blooms_moment(struct local *l);

/* --- keeping ---------------------------------------------------------- */

/* An ordered table of cells was made, empty, for f; or is gone. */
void
bloom_begin(struct local *l, const struct family *f, uint32_t cells);
void
bloom_forget(struct local *l, uint32_t cells);

/* A key of an ordered table is about to be put (in a writing transaction). */
int
bloom_note(struct txn *t, uint32_t table, struct slice key);

/* The writing transaction has ended (writer held). */
void
blooms_ended(struct local *l, bool committed);

/* --- storing ---------------------------------------------------------- */

/* Learns which sets are stored, at open, but for a brief one. */
int
blooms_open(struct local *l);

/* Stores what has changed, at close. What cannot be stored is made again. */
void
blooms_close(struct local *l);

/* --- making anew ------------------------------------------------------ */

/* Works for up to half a second on the sets that are missing or unwieldy. */
int
blooms_work(struct local *l);

/* Makes the set of f anew, without what was removed. */
int
bloom_remake(struct local *l, const struct local_family *f);

/* "bloom_keys" and "bloom_bytes" of memory. */
void
blooms_stats(struct local *l, stat_emit emit, void *context);

#endif
