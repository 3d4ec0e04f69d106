/* asking: what a scan has to ask the store for a place of the tree, as the
 * views it stands in narrow it.
 *
 * The views are the spot's `view`: word and argument of each, ended by a zero
 * byte, as they were typed. Row bounds, columns, filters and times intersect;
 * .reversed sets the order; .first and .last end the chain.
 */
#ifndef CELLFS_FS_ASKING_H
#define CELLFS_FS_ASKING_H

#include "fs.h"
#include "spot.h"
#include "../kv/kv_data.h"

#define VIEWS_MAX 16 /* in each other */

struct asking {
	struct scan_spec spec;
	bool nothing; /* what is asked for excludes itself */
	/* Below a filter, which has to see the others: the cells meant. */
	struct slice family;

	/* Rows from low to high, which are of it or not. Owned, as is the
	 * rest. */
	struct buf low, high;
	bool low_out, high_in;
	uint64_t rows; /* of .first or .last, 0: neither */
	bool last;
	struct column *columns;
	size_t column_count;
	struct buf filter_text;
	struct filter *filter;
	struct buf held[VIEWS_MAX];
	size_t held_count;
	struct column own; /* of the spot */
};

/* Whether a view has that name; with an argument it is a directory of it. */
bool
view_has_word(struct slice name, bool *argument);

/* Whether what comes next in a chain is a time. */
bool
view_takes_time(struct slice chain);

/* Narrows *a, all zeros, by a chain. -EINVAL: it makes no sense. */
int
asking_chain(struct asking *a, struct slice chain);

/* Fills in everything at a table, a row, a family or a column, in its views.
 * -EINVAL: an argument that makes no sense, -ENOENT: a family there is not.
 * Release it also then. */
int
asking_fill(struct fs *fs, struct asking *a, const struct spot *spot);

/* Leaves out rows that do not begin with prefix, and what stands up to a row
 * in the order of the view. */
int
asking_prefix(struct asking *a, struct slice prefix);
int
asking_behind(struct asking *a, struct slice row);

/* Leaves out rows before, or from row on. */
int
asking_from(struct asking *a, struct slice row);
int
asking_before(struct asking *a, struct slice row);

/* Begins to ask. */
int
asking_open(struct fs *fs, struct asking *a, struct scan **out);

/* The next cell that is meant; 1: no more. */
int
asking_next(struct fs *fs, const struct asking *a, struct scan *s,
    struct cell *out);

void
asking_release(struct asking *a);

#endif
