/* wt_room: whether the disk has room for another write. (No WiredTiger.)
 *
 * A store that runs out of room in the middle of a write is stuck, so writes
 * are refused while there is still enough for what WiredTiger must yet write:
 * below the threshold T, until there are 1.5 T again. Removals, which give
 * room in the end, may go down to T/2. Any thread.
 */
#ifndef CELLFS_KV_WT_ROOM_H
#define CELLFS_KV_WT_ROOM_H

#include <pthread.h>
#include <stdatomic.h>

#include "ordered.h"

struct wt_room {
	int directory;	    /* a descriptor */
	uint64_t cache;	    /* bytes WiredTiger may use of memory */
	uint64_t log_file;  /* bytes of one file of its log */
	uint64_t threshold; /* T */
	uint64_t reserve;   /* bytes kept in a file, to open a full store */
	uint64_t total;	    /* bytes of the file system */
	/* Bytes that can be written without taking any from the disk. Called
	 * at most once a second, with no lock held. */
	uint64_t (*reusable)(void *context);
	void *context;

	/* ms, when each of the next three was asked for */
	_Atomic int64_t looked, counted, summed;
	_Atomic uint64_t available, reuse, used;
	_Atomic uint64_t took; /* bytes written since looked */
	atomic_bool refusing;
};

/* Plans a store in directory with that much cache, less on a small disk. */
int
wt_room_init(struct wt_room *room, const char *directory, uint64_t cache);

void
wt_room_release(struct wt_room *room);

/* Whether a transaction may begin: 0 or -ENOSPC. *first: this is the refusal
 * that ends a time of plenty. */
int
wt_room_ask(struct wt_room *room, enum ordered_intent intent, bool *first);

/* So many bytes were written: each goes to the log and to its table. */
void
wt_room_took(struct wt_room *room, uint64_t size);

/* Bytes left on the disk, asked at most 30 ms ago; fresh: now. */
uint64_t
wt_room_available(struct wt_room *room, bool fresh);

/* What writes can still take: what is above T. */
uint64_t
wt_room_writable(struct wt_room *room);

/* Bytes that the directory's files take, counted at most a second ago. */
uint64_t
wt_room_used(struct wt_room *room);

/* Gives the reserve up if the disk is too full to open the store on it:
 * -ENOSPC if that does not help. */
int
wt_room_for_opening(struct wt_room *room, const char *directory);

/* Makes the reserve where it is not and there is plenty of room. */
void
wt_room_keep_reserve(struct wt_room *room);

#endif
