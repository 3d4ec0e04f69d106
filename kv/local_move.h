/* local_move: one rename, as the files about it share it (private to them).
 *
 * A rename is one transaction, which begins with storing what is pending at
 * the source. Where a value in chunks must change its blob table, or be
 * doubled, the transaction cannot do it: it notes what it wants, is rolled
 * back, the chunks are copied without the lock, and it runs again from the
 * beginning, whatever has changed meanwhile. Likewise where a family of an
 * open table has to be declared first.
 */
#ifndef CELLFS_KV_LOCAL_MOVE_H
#define CELLFS_KV_LOCAL_MOVE_H

#include "local_store.h"
#include "local_txn.h"

struct blob_copy {
	uint32_t from, to; /* blob tables */
	uint64_t id, copy; /* copy: 0, it is wanted */
	uint64_t size;
	bool used; /* by this run of the transaction */
};

struct move {
	struct local *local;
	const struct place *from, *to;
	struct version from_version, to_version;
	unsigned flags;
	struct draft *draft;	       /* pending at the source, or NULL */
	unsigned times;		       /* the transaction has run */
	bool committed;
	int64_t stored;		       /* the answer */
	struct table *source, *target; /* held while the transaction runs */
	struct buf copies;	       /* struct blob_copy */
	bool wanting;		       /* some have to be made first */
	struct buf lacking;	       /* a family to be declared first, */
	struct family like;	       /* with these attributes, if any */
	size_t cells, bytes, bytes_max;
	struct dropped dropped;
};

/* The target's family; -ESTALE: it is to be declared first. */
int
move_family(
    struct move *m, struct slice name, const struct local_family **out);

/* What becomes of a record's blob on its way: where the blob table stays it
 * goes along, else (or with `doubled`) it is the copy, and adopted. The record
 * at the source then still has its own: *own. */
int
move_blob(struct move *m, struct txn *t, uint32_t from, uint32_t to,
    bool doubled, struct record *record, bool *own);

/* The transaction runs anew: copies made so far are ready for it, the others
 * wanted anew if at all. */
void
copies_restart(struct move *m);

/* Makes the copies that are wanted, without the lock. */
int
copies_make(struct move *m);

/* Collects the copies that no committed transaction has taken. */
void
copies_discard(struct move *m, bool committed);

/* Rewrites attributes so that they mean at the target what they did at the
 * source. */
void
move_attrs(const struct move *m, bool file, struct attrs *attrs);

/* -E2BIG, with the sentence. */
int
move_refuse_size(const struct move *m);

/* Counts one cell: -E2BIG. */
int
move_count(struct move *m, size_t bytes);

/* -EFBIG where the target's family does not take the value. */
int
move_fits(const struct local_family *f, uint64_t size);

/* The cells of a row in one family, or of one column of it. */
struct span {
	const struct local_family *family;
	struct slice row;
	const struct slice *qualifier; /* NULL: all columns */
};

/* Removes what is out already from every column of the span. -E2BIG: there
 * are more of them than one transaction takes. */
int
span_clean(struct move *m, struct txn *t, const struct span *s);

/* Moves every cell, history and all, from one clean span to another that is
 * empty. -EDQUOT: the family there would not keep all. *moved: there were
 * some. */
int
span_move(struct move *m, struct txn *t, const struct span *from,
    const struct span *to, bool *moved);

/* The transaction in which two columns change places. */
int
move_exchange(struct move *m, struct txn *t);

/* The transaction of a rename of a row, family or dot directory. */
int
move_directory(struct move *m, struct txn *t);

#endif
