/* column: the stored versions of one column, to be changed (private to
 * kv/local*.c; all of it in a writing transaction).
 *
 * What is out already goes when a column is opened, before anything else is
 * done to it, so nothing that was out can come back. Columns of few versions
 * are listed. Of deep ones (VERSIONS above LISTED_MAX) memory keeps the number
 * and the ends, so that a write costs the same however many there are.
 */
#ifndef CELLFS_KV_LOCAL_COLUMN_H
#define CELLFS_KV_LOCAL_COLUMN_H

#include "local_cells.h"
#include "local_store.h"
#include "local_walk.h"

#define LISTED_MAX 16

struct held {
	int64_t timestamp, ttl;
	uint64_t blob;
};

struct versions {
	struct txn *txn;
	const struct local_family *family;
	struct slice row, qualifier; /* borrowed */
	struct dropped *dropped;
	struct buf column;
	bool counted; /* count and ends are known, the list is not */
	uint64_t count;
	int64_t first, last; /* counted: the newest and oldest timestamp */
	struct buf list;     /* struct held, newest first, all of them live */
	bool found;	     /* newest is set: there is a live version */
	struct stored newest;
	size_t at_most; /* removals of what is out already; 0: all of them */
	size_t removed;
	bool left; /* not all were removed: there is nothing else to do now */
};

enum open_for {
	OPEN_PUT,    /* to put: what lies beyond VERSIONS may stay unseen */
	OPEN_REMOVE, /* to remove single versions too */
	OPEN_LIST,   /* every version is to be listed */
};

/* v's first five fields are set by the caller, the rest zero. Close it also
 * where open failed. */
int versions_open(struct versions *v, enum open_for what);
void versions_close(struct versions *v);

/* Whether a version's own TTL was over before it came: it never lives. */
bool versions_dead(
    const struct versions *v, int64_t timestamp, const struct record *record);

/* Stores a version at exactly timestamp and removes what it pushes out;
 * *pushed: itself, it is not stored then. A blob is adopted if stored. */
int versions_put(struct versions *v, int64_t timestamp,
    const struct record *record, bool *pushed);

/* Removes a live version; 1: there is none. */
int versions_remove(struct versions *v, int64_t timestamp);

/* Removes every version (listed) stamped at most timestamp. *count: how many
 * there were. */
int versions_remove_through(
    struct versions *v, int64_t timestamp, uint64_t *count);

/* --- shared by local_column.c and local_put.c --------------------------- */

static inline struct held *
column_at(const struct versions *v, size_t i)
{
	return (struct held *)v->list.data + i;
}

static inline size_t
column_held(const struct versions *v)
{
	return v->list.size / sizeof(struct held);
}

/* Where the first version stamped at most timestamp stands in the list, and
 * whether that is it. */
size_t column_position(const struct versions *v, int64_t timestamp);
bool column_listed(const struct versions *v, size_t at, int64_t timestamp);

void column_key(const struct versions *v, int64_t timestamp, struct buf *key);

/* Removes a record and lets go of its blob. */
int column_erase(struct versions *v, int64_t timestamp, uint64_t blob);

/* Reads the stored version at timestamp, live or not; 1: none. */
int column_look_up(struct versions *v, int64_t timestamp, struct held *out);

/* Whether time alone has made a version of a counted column go out. */
bool column_expired(const struct versions *v, int64_t timestamp);

bool column_may_count(const struct local_family *f);

/* What memory knows of a counted column. */
void column_forget(struct versions *v);
void column_remember(struct versions *v);

/* From a list that turned out long to the count of it. */
void column_count_list(struct versions *v);

/* Lists the live versions and removes the others, from where the walk stands.
 * To put, it is enough to see as many as can be live: that what lies beyond
 * is out a later opening to remove will find. But not beside a past, for what
 * is stored says of all that is left that it is not out by it; nor under
 * min_versions, for only newer ones that are removed now may say so. */
int column_list(struct versions *v, struct walk *w, enum open_for what);

/* Removes the oldest of a counted column that are out, so many at most. */
int column_trim(struct versions *v, size_t at_most);

int column_remove_counted(struct versions *v, int64_t timestamp);

#endif
