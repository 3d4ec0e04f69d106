/* local_anew: storing a family's ordered tables anew, as it is declared now
 * (private to kv/local*.c).
 *
 * How an ordered table is stored cannot be changed in place. So its records
 * are copied into another, in small transactions while readers and writers go
 * on: reads are of the old one alone; what is written into it goes into the
 * other one too, where that has been copied already. Once all has been, the
 * catalogue names the other one instead. Before that it is nobody's: after a
 * crash the next opening drops it, and the next compact begins again.
 */
#ifndef CELLFS_KV_LOCAL_ANEW_H
#define CELLFS_KV_LOCAL_ANEW_H

#include "local_table.h"

/* An ordered table being copied, one at a time in a store (ddl and writer held
 * to begin and to end it, writer to go on). */
struct copying {
	uint32_t from, to;
	struct buf upto; /* keys below this are copied; */
	bool all;	 /* all are */
};

/* Where what is done to a key of an ordered table is to be done as well
 * (writer held); 0: nowhere. */
uint32_t
anew_twin(const struct local *l, uint32_t table, struct slice key);

/* The same where any key may be meant. */
uint32_t
anew_twin_of(const struct local *l, uint32_t table);

/* Stores anew what is outdated of a table's families, or of one; *t, held, is
 * then what has taken its place. -EBUSY: somebody else does so just now. */
int
anew_table(struct local *l, struct table **t, struct slice family);

#endif
