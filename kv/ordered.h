/* ordered: tables of bytes in order, behind one seam (private to kv/local*).
 *
 * Tables are numbers. A session belongs to the thread that took it; whatever
 * it reads between begin and the end of the transaction is one snapshot. Two
 * implementations: ordered_wt (WiredTiger) and ordered_mem (a sorted array
 * for tests, which can fail on request). Every function returns 0 or a
 * negative errno; seek, next and prev also 1: no such record. Keys have at
 * least one byte.
 *
 * Writers hold the engine's writer lock from begin to commit, so commits
 * never conflict; -EAGAIN can still come out of any call of a transaction
 * (cache pressure): roll back and do it all again.
 */
#ifndef CELLFS_KV_ORDERED_H
#define CELLFS_KV_ORDERED_H

#include "bytes.h"

struct ordered;
struct ordered_session;
struct ordered_cursor;

struct ordered_table_options {
	const char *compressor; /* "none", "snappy", "zlib" */
	bool prefix_compression;
	bool cache_resident;
	uint32_t leaf_page_max; /* bytes; 0: the default */
};

struct ordered_options {
	const char *directory; /* ordered_wt: exists */
	uint64_t cache;	       /* bytes */
	bool read_only;
	bool create;	       /* an empty directory becomes a store */
	bool salvage;	       /* check --repair: accept what is damaged */
	void (*log)(void *context, const char *line);
	void *log_context;
};

enum ordered_intent {
	ORDERED_READ,
	ORDERED_WRITE,	/* -ENOSPC at begin when room is short */
	ORDERED_REMOVE, /* frees room in the end: may dig deeper */
};

enum ordered_seek {
	SEEK_EXACT,
	SEEK_FROM,   /* the least key >= the one given */
	SEEK_BEFORE, /* the greatest key < the one given; empty: the last */
};

struct ordered_space {
	uint64_t total;	    /* bytes of the file system the store is on */
	uint64_t available; /* what writes can still take before -ENOSPC */
	uint64_t used;	    /* bytes of the store's own files */
};

typedef void (*ordered_stat_emit)(void *context, const char *name,
    uint64_t value);

struct ordered_methods {
	/* Everything committed is durable afterwards. Frees o. */
	int (*close)(struct ordered *o);

	/* Tables. create: -EEXIST; -EMFILE: too many open files. drop:
	 * -EBUSY while somebody still reads it (try again later), 0 also when
	 * there is none. tables appends uint32_t numbers to out. */
	int (*create)(struct ordered *o, uint32_t table,
	    const struct ordered_table_options *options);
	int (*drop)(struct ordered *o, uint32_t table);
	int (*tables)(struct ordered *o, struct buf *out);

	/* A session out of the pool; release rolls back what is open and
	 * closes the cursors. */
	int (*session)(struct ordered *o, struct ordered_session **out);
	void (*release)(struct ordered_session *s);

	int (*begin)(struct ordered_session *s, enum ordered_intent intent);
	int (*commit)(struct ordered_session *s);
	void (*rollback)(struct ordered_session *s);

	/* A cursor of this session's; once its transaction has ended it can
	 * only be closed, which release does too. Writes by put and remove do
	 * not move cursors; next after the end begins anew, prev likewise. */
	int (*cursor)(struct ordered_session *s, uint32_t table,
	    struct ordered_cursor **out);
	void (*cursor_close)(struct ordered_cursor *c);
	int (*seek)(struct ordered_cursor *c, struct slice key,
	    enum ordered_seek how);
	int (*next)(struct ordered_cursor *c);
	int (*prev)(struct ordered_cursor *c);
	/* Where the cursor stands; valid until it moves or closes. */
	int (*key)(struct ordered_cursor *c, struct slice *out);
	int (*value)(struct ordered_cursor *c, struct slice *out);

	/* One record. get replaces out; 1: none. remove: 0 also without. */
	int (*get)(struct ordered_session *s, uint32_t table, struct slice key,
	    struct buf *out);
	int (*put)(struct ordered_session *s, uint32_t table, struct slice key,
	    struct slice value);
	int (*remove)(struct ordered_session *s, uint32_t table,
	    struct slice key);
	/* All records in [from, to); empty to: to the end. In the open
	 * transaction. */
	int (*remove_range)(struct ordered_session *s, uint32_t table,
	    struct slice from, struct slice to);

	/* Commits that returned before are on the disk after sync. */
	int (*sync)(struct ordered *o);
	int (*checkpoint)(struct ordered *o);
	/* Gives space of a table back to the file system. */
	int (*compact)(struct ordered *o, uint32_t table);
	/* Reads every block of a table: -EIO names it in why(); 1: it was
	 * damaged and is salvaged, as why() says for EIO (with
	 * options.salvage). No session may be in use: -EBUSY. */
	int (*verify)(struct ordered *o, uint32_t table);

	int (*space)(struct ordered *o, struct ordered_space *out);
	void (*stats)(struct ordered *o, ordered_stat_emit emit, void *context);
};

/* Implementations begin with this. */
struct ordered {
	const struct ordered_methods *methods;
	bool mended; /* with salvage: a table did not open, and lost something */
};

/* Opens the WiredTiger store in a directory. -EBUSY: another process holds
 * it (why names its pid); -ENOENT: no store and not create; -EIO: damaged. */
int
ordered_wt_open(const struct ordered_options *options, struct ordered **out);

/* An empty store in memory. It outlives close() and can be opened again
 * through ordered_mem_reopen() until ordered_mem_free(). */
int
ordered_mem_open(struct ordered **out);

/* A crash or a restart: what was committed is there, nothing else. */
struct ordered *
ordered_mem_reopen(struct ordered *o);

void
ordered_mem_free(struct ordered *o);

/* From now on the count-th call that may fail returns -error, and all after
 * it too if for_ever; error 0 ends it. */
void
ordered_mem_fail(struct ordered *o, int error, unsigned count, bool for_ever);

#endif
