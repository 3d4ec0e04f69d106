/* local_blooms: what the files about the sets of local_bloom.h share (private
 * to them): local_bloom.c asks and keeps, local_bloom_store.c loads and stores,
 * local_bloom_make.c makes anew.
 *
 *   state      asked  keys go in  becomes
 *   STORED     no     no          LOADING when it is first asked; LOST when a
 *                                 key comes before that
 *   LOADING    no     yes         LIVE, or LOST on failure
 *   LIVE       yes    yes         LOST when memory runs out
 *   LOST       no     no          LIVE by being made anew
 */
#ifndef CELLFS_KV_LOCAL_BLOOMS_H
#define CELLFS_KV_LOCAL_BLOOMS_H

#include "bloom.h"
#include "local_bloom.h"

#define BLOOMS_BYTES ((uint64_t)64 << 20) /* of all sets together */
#define BLOOM_UNWIELDY 8		  /* parts */
#define BLOOM_BUCKETS 256
#define BLOOM_LINE_BYTES (BLOOM_LINE * sizeof(uint64_t))

enum bloom_state { BLOOM_STORED, BLOOM_LOADING, BLOOM_LIVE, BLOOM_LOST };

/* The set of one ordered table of cells. */
struct bloom_set {
	struct bloom_set *next; /* of the bucket */
	uint32_t cells;
	enum bloomfilter kind;
	enum bloom_state state;
	uint64_t since; /* snapshots that began before must not ask it */
	struct bloom keys;

	/* What is being made to take its place; NULL: nothing. */
	struct bloom *making;
	enum bloomfilter making_kind;
	bool settled; /* it cannot be made: no more tries but by compact */

	/* Guarded by the writer lock. */
	bool marked;	/* what is stored counts */
	bool unmarking; /* not any more once this transaction has committed */
	bool behind;	/* what is stored lacks a key */
};

struct blooms {
	/* Guards the buckets, and all of a set that is not its keys' bits or
	 * guarded by the writer lock. */
	pthread_rwlock_t lock;
	struct bloom_set *buckets[BLOOM_BUCKETS];
	uint64_t bytes;		 /* of all keys and makings */
	_Atomic uint64_t moment; /* counts sets that were made anew */
	bool opened;		 /* what is stored is known */
	bool forgot;		 /* a set is gone since the opening */
	bool there;		 /* their ordered table is */
	bool unmarking;		 /* one of the sets is: guarded by writer */

	pthread_mutex_t making; /* one set at a time; before all other locks
				   but ddl */
	uint32_t making_of;	/* its cells, 0: none */
	struct buf making_from; /* where the reading goes on */
};

/* The set, or NULL (lock held). */
struct bloom_set *
blooms_find(struct blooms *b, uint32_t cells);

/* The same, made STORED if there is none (lock held for writing); -ENOMEM. */
int
blooms_add(struct blooms *b, uint32_t cells, struct bloom_set **out);

/* Frees the memory of a set's keys (lock held for writing). */
void
blooms_release(struct blooms *b, struct bloom *keys);

/* Room for so many lines more (lock held for writing). -ENOMEM: beyond what
 * all sets may take, too. */
int
blooms_grow(struct blooms *b, struct bloom *keys, uint64_t lines);

/* The set with the lock held, for reading or writing: a key can go into it. */
struct bloom_set *
blooms_hold_ready(struct blooms *b, uint32_t cells);

/* Lets go of what is being made, for good (lock held for writing). */
void
blooms_give_up(struct blooms *b, struct bloom_set *set);

/* Puts what a cell's key is made of into keys, which is not full: how much of
 * it was new. 0 for what is no key. */
unsigned
bloom_put(struct bloom *keys, enum bloomfilter kind, struct slice key);

/* Loads a set that is asked for the first time. */
void
bloom_load(struct txn *t, uint32_t cells);

/* Has each called for all sets (lock held). */
void
blooms_each(struct blooms *b,
    void (*each)(struct bloom_set *set, void *context), void *context);

/* The key of a set's mark. */
void
bloom_mark_key(uint32_t cells, struct buf *out);

#endif
