/* bloom: a set of keys, by their hashes, that says of one "surely not in it"
 * or "maybe".
 *
 * It grows with the keys: parts are added, each with room for half as many keys
 * as all before it have, so that a key never takes more than 15 bits of memory
 * (but for the first part of 1 KB). A key's bits lie in one line of the cache,
 * 10 bits a key: of the absent about 1 in 80 passes for each full part. Pure.
 *
 * Adding and asking may go on side by side on any threads; the rest needs the
 * set for itself.
 */
#ifndef CELLFS_KV_BLOOM_H
#define CELLFS_KV_BLOOM_H

#include <stdatomic.h>

#include "bytes.h"

#define BLOOM_PARTS 32 /* 400 MB, if it grew from the least */
#define BLOOM_LINE 8   /* words of a line */
#define BLOOM_LEAST 16 /* lines of the first part */

struct bloom_part {
	_Atomic uint64_t *words; /* aligned to lines */
	uint64_t lines;
	_Atomic uint64_t keys; /* added to it */
};

/* A set of all zeros is empty. */
struct bloom {
	struct bloom_part parts[BLOOM_PARTS];
	unsigned count;
};

/* Safe on empty; the set is empty then. */
void bloom_release(struct bloom *b);

/* Whether a key that is not in it yet needs room first. */
bool bloom_full(const struct bloom *b);

/* The lines that growing takes: for so many keys in a set that is empty, else
 * by the rule above. */
uint64_t bloom_growth(const struct bloom *b, uint64_t keys);

/* Adds an empty part. -ENOMEM. */
int bloom_grow(struct bloom *b, uint64_t lines);

/* Puts a key in; whether that changed anything. The set is not empty of parts.
 */
bool bloom_add(struct bloom *b, uint64_t hash);

/* Whether the key may be in it; false is sure. */
bool bloom_may(const struct bloom *b, uint64_t hash);

uint64_t bloom_keys(const struct bloom *b);
uint64_t bloom_bytes(const struct bloom *b);

#endif
