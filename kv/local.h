/* local: the engine over ordered stores (private to kv/local*.c), as a whole.
 *
 * A mutation: encode, stream big values into chunks, take `writer`, begin,
 * read what it needs, write, commit, release. Lock order, outermost first:
 *   ddl (creating, altering, renaming, dropping) > writer > tables > pins >
 *   blooms.
 * No one waits for writer with a transaction open, nobody calls out of kv/
 * with any of them held.
 */
#ifndef CELLFS_KV_LOCAL_H
#define CELLFS_KV_LOCAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "clock.h"
#include "engine.h"

struct ordered;
struct table;
struct pins;   /* local_pins.h: blobs that readers hold */
struct depths; /* local_depth.h: how many versions deep columns store */
struct hints;  /* local_any.h: where rows were last found to hold cells */
struct blooms; /* local_bloom.h: rows and columns that are surely not there */

#define BATCH_CELLS 10000 /* of one transaction of long work */
#define BATCH_BYTES (4 << 20)
#define READ_CELLS 1000 /* of one snapshot of a reader */

struct local_options {
	bool read_only;
	bool repair;	 /* mend what the catalogue has lost */
	bool brief;	 /* for one read: tables it does not use stay shut */
	bool background; /* the clean-up and checkpoint threads run */
	unsigned sync_seconds;
	void (*log)(void *context, const char *line);
	void *log_context;
	struct clock *clock; /* NULL: the wall clock; else the caller's */
};

/* What local_stats() counts; the names stand in local.c. */
enum counter {
	COUNT_COMMITS,
	COUNT_ROLLBACKS,
	COUNT_RETRIES,
	COUNT_SNAPSHOTS,
	COUNT_PUTS, /* records written */
	COUNT_BYTES,
	COUNT_REMOVES,
	COUNT_SYNCS,
	COUNT_CHECKPOINTS,
	COUNT_CLEANUPS,
	COUNT_BLOOM_ABSENT,
	COUNT_BLOOM_MAYBE,
	COUNT_OF,
};

struct local {
	struct engine engine;
	struct ordered *ordered;
	struct clock *clock;
	struct clock wall;
	_Atomic int64_t latest, passed, kept; /* local_time.h */
	struct local_options options;
	atomic_bool interrupted;

	pthread_mutex_t ddl;
	pthread_mutex_t writer;
	pthread_rwlock_t tables_lock; /* guards the next two */
	struct table **tables;	      /* by name */
	size_t table_count;
	uint32_t next_number;	   /* guarded by ddl */
	atomic_bool dead_tables;   /* there may be some to drop */
	uint32_t keep_below;	   /* nobody's below this are not dropped */
	bool lost;		   /* the repair that opened it found a loss */
	struct attrs owner;	   /* of root and .schema, by default */
	int64_t created;	   /* ms */

	struct copying *copying; /* local_anew.h; NULL: none */
	struct pins *pins;
	struct depths *depths; /* guarded by writer */
	struct hints *hints;
	struct blooms *blooms;
	atomic_uint_fast64_t counters[COUNT_OF];
	bool threaded; /* thread runs */
	pthread_t thread;
	pthread_mutex_t thread_lock; /* guards stopping */
	pthread_cond_t thread_wake;
	bool stopping;
};

/* Takes over ordered, also on failure. */
int
local_open(struct ordered *ordered, const struct local_options *options,
    struct engine **out);

/* Long work of any thread ends with -EINTR from now on. */
void
local_interrupt(struct engine *e);

/* Who says whether long work of this thread is to end, too; NULL: nobody. */
void
local_ask(bool (*stop)(void *context), void *context);

/* -EINTR, with the sentence, once it is to end. */
int
local_interrupted(struct local *l);

/* Adds to what local_stats() counts. */
void
local_count(struct local *l, enum counter which, uint64_t by);

/* A line for the log: printf. */
void
local_log(struct local *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
