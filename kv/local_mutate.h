/* mutate: one atomic call on one row, while it is being applied (private to
 * kv/local_mutate.c, which prepares, local_decide.c, which says what each op
 * becomes, local_apply.c, which makes it so, and local_draft.c, which has an
 * open file's bytes stored by it).
 */
#ifndef CELLFS_KV_LOCAL_MUTATE_H
#define CELLFS_KV_LOCAL_MUTATE_H

#include "local_column.h"

/* An op on its way. Steps are in the order of family, then those of the
 * whole family, then by qualifier; in a column as they were given, and newest
 * first once they are stored. */
struct step {
	struct op *op;
	size_t given; /* its place in the mutation */
	const struct local_family *family;

	/* Made ready without the lock. */
	struct buf bytes;   /* the bytes of a small source */
	struct slice value; /* to put or append, where it is small */
	uint64_t size;	    /* of what is to be put or appended */
	uint64_t blob;	    /* a big value, stored and pending */
	uint64_t blob_size;
	/* APPEND: blob holds this version's value and the bytes behind it. */
	bool joined_found;
	struct stored joined;

	/* Decided under the lock. */
	bool stores; /* a version is to be stored, so: */
	int64_t timestamp;
	struct record record;
	struct buf made; /* the new value of an increment or append */
	bool stored;	 /* it was not covered or pushed out at once */
	bool adopted;	 /* blob is now referred to */
	int64_t through; /* a delete covers stored versions up to here, */
	int64_t covers;	 /* and those of the same call up to here */
	uint64_t hits;	 /* live versions a delete removed */
};

/* The steps that name one column. */
struct group {
	struct step *from, *to;
	struct step *family_from; /* those of the whole family; to `from` of
				     the family's first column */
	struct step *family_to;
	struct versions v;
};

/* local and m are set by the caller, the rest zero. */
struct work {
	struct local *local;
	struct mutation *m;
	bool ready;	/* for the transaction, so far as is known */
	unsigned times; /* it was prepared */
	struct table *table; /* held while it is ready */
	struct step *steps; /* m->count of them */
	struct group *groups;
	size_t group_count;
	struct dropped dropped;
	struct step *join; /* -ECANCELED: this one must be joined first */
};

static inline bool
step_is_delete(const struct step *s)
{
	return s->op->type == OP_DELETE_VERSION ||
	       s->op->type == OP_DELETE_COLUMN ||
	       s->op->type == OP_DELETE_FAMILY ||
	       s->op->type == OP_DELETE_FAMILY_VERSION;
}

static inline bool
step_is_family(const struct step *s)
{
	return s->op->type == OP_DELETE_FAMILY ||
	       s->op->type == OP_DELETE_FAMILY_VERSION;
}

/* Does what goes before the transaction: finds the table, declares what it
 * lacks, writes big values. Nothing to do while it is ready. */
int work_prepare(struct work *work);

/* The body of the transaction, of a struct work. -ESTALE: the table has
 * changed since; -ECANCELED: see join. */
int mutation_apply(struct txn *t, void *work);

/* After a transaction that ended with r: what that means for the call, or 1:
 * it is to be prepared again. */
int work_settle(struct work *work, int r);

/* Once it is over: takes away what was not stored, or has been dropped. */
void work_release(struct work *work, bool committed);

/* -EFBIG, with the sentence. */
int step_too_large(const struct step *s, uint64_t size);

/* Whether the condition of the call holds: the table of 6.4. */
int mutation_condition(struct txn *t, const struct work *work, bool *out);

/* Opens a column and settles what its steps store and cover, on the state
 * before the call. */
int mutation_decide(struct txn *t, struct work *work, struct group *g);

#endif
