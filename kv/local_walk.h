/* walk: the versions of one family in the order of the store, with what the
 * fold says of each (private to kv/local*.c).
 *
 * A walk reads in one transaction at a time. walk_pause() before that ends
 * and walk_resume() in the next go on where it stood, in the middle of a
 * column too. It never looks at keys from `stop` on.
 */
#ifndef CELLFS_KV_LOCAL_WALK_H
#define CELLFS_KV_LOCAL_WALK_H

#include "fold.h"
#include "local_table.h"
#include "local_txn.h"
#include "record.h"

#define WALK_END 1
#define WALK_PAUSE 2 /* the budget is spent: end the snapshot, then go on */

/* How long a reader may hold one snapshot; shared by its walks. */
struct budget {
	unsigned records; /* still to be looked at */
	int64_t deadline; /* ns on the monotonic clock */
};

struct walk {
	struct txn *txn;
	const struct local_family *family;
	struct budget *budget; /* NULL: without end */
	struct ordered_cursor *cursor;
	struct fold fold;
	struct buf column;   /* what the keys of this column begin with */
	struct buf stop;     /* empty: none */
	struct buf position; /* of a paused walk */
	bool placed;	     /* on the record that the next fields describe */
	bool judged;	     /* by the fold */
	struct slice key;    /* valid until the cursor moves */
	size_t row_size;     /* of key, its row component */
	int64_t timestamp;
	struct record record;
};

/* A fresh budget for one snapshot. */
struct budget budget_new(void);

/* Takes one record from it; whether there was none left. */
bool budget_spent(struct budget *b);

/* Whether its time is over. */
bool budget_late(const struct budget *b);

/* A walk of all zeros is closed. Release it also where open failed. */
int walk_open(struct walk *w, struct txn *t, const struct local_family *f);
void walk_release(struct walk *w);

/* Ends and goes on with the reading in a transaction. A walk that is paused
 * already stays so. */
int walk_pause(struct walk *w);
int walk_resume(struct walk *w, struct txn *t);

/* To the first record from key on, or the last one before it; not judged, and
 * the fold begins anew. WALK_END: none. */
int walk_seek(struct walk *w, struct slice key);
int walk_seek_before(struct walk *w, struct slice key);

/* To the next record, dead ones too. */
int walk_next(struct walk *w);

/* To the first record behind this column, or behind this row. */
int walk_skip_column(struct walk *w);
int walk_skip_row(struct walk *w);

/* Asks the fold about this record: -ENOMEM, else 1 live, 0 out. */
int walk_judge(struct walk *w);

/* To the next live version: this record, if it was not judged yet, or one
 * behind it. */
int walk_live(struct walk *w);

/* The row component of the key, and the column's whole prefix. */
struct slice walk_row(const struct walk *w);

/* Makes the records of one column (row and qualifier) the whole walk. */
int walk_column(struct walk *w, struct slice row, struct slice qualifier);

/* Makes what begins with prefix (of a key) the whole walk. */
int walk_prefix(struct walk *w, struct slice prefix);

#endif
