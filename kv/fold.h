/* fold: which of a column's stored versions are visible.
 *
 * Give it the versions of one column, newest first; it says of each whether
 * it is live. The answer depends on the records, the family's rules and the
 * time, on nothing else, and what is out once stays out: a version beyond
 * min_versions that a newer one outlived stays hidden although that newer one
 * has gone since. Pure: no I/O, no clock of its own.
 */
#ifndef CELLFS_KV_FOLD_H
#define CELLFS_KV_FOLD_H

#include "cell.h"

struct fold_rules {
	uint32_t versions;     /* at least 1 */
	uint32_t min_versions; /* these stay though the family's TTL is over */
	int64_t ttl;	       /* ms, 0: for ever */
};

/* A change of rules: what they had put out by then stays out under the new
 * ones, whether or not it was removed since. What was stored after it bears
 * its sequence, and was stored into a column out of which all that had been
 * removed. Sequence 0: there was none. */
struct fold_past {
	uint64_t sequence;
	int64_t at; /* the moment of the change */
	struct fold_rules rules;
};

/* One column by one set of rules. */
struct judge {
	struct fold_rules rules;
	int64_t now;
	uint32_t live;	   /* found visible so far */
	bool full;	   /* the family's TTL is over for all that follow */
	struct buf expiry; /* when each stored but dead newer version died */
	int64_t passed;	   /* the latest moment at which time has put one out */
};

struct fold {
	struct judge now, past;
	uint64_t since; /* the past's sequence */
	bool after;	/* the past says nothing of this column any more */
};

/* Ready for the first column; past may be NULL. Release with
 * fold_release(). */
void fold_init(struct fold *f, const struct fold_rules *rules,
    const struct fold_past *past, int64_t now);

/* The same in the middle of a column, at a later time and maybe under other
 * rules. */
int fold_resume(struct fold *f, const struct fold_rules *rules,
    const struct fold_past *past, int64_t now);

void fold_release(struct fold *f);

/* The next version belongs to another column. */
void fold_column(struct fold *f);

/* Whether this version, next in order (newest first), is live; ttl is its own
 * in ms, 0: none; sequence its record's. -ENOMEM, else 1 live, 0 out. */
int fold_add(struct fold *f, int64_t timestamp, int64_t ttl, uint64_t sequence);

/* Whether no older version of this column can be live any more. */
bool fold_full(const struct fold *f);

/* The first ms at which a live version stamped so is out by time; NEVER: does
 * not (min_versions not considered). */
int64_t fold_expires(
    const struct fold_rules *rules, int64_t timestamp, int64_t ttl);

#endif
