/* scan: a scan while it runs (private to kv/local_scan.c, which goes from row
 * to row, and local_catch.c, which reads one).
 *
 * Cells are caught in a snapshot, a batch at a time, and given out when it has
 * ended; a row is read in one snapshot unless it is larger than a batch.
 */
#ifndef CELLFS_KV_LOCAL_SCAN_H
#define CELLFS_KV_LOCAL_SCAN_H

#include "local_sift.h"
#include "local_walk.h"

#define ROW_VALUES ((size_t)8 << 20) /* bytes of a row in one state */
#define SCAN_AGAIN 3		     /* a value went while it was looked at */
#define SCAN_FAMILY 4		     /* the rest of the family in the row, */
#define SCAN_ROW 5		     /* the rest of the row is passed over */

/* One family of a scan, with the qualifiers that are asked. */
struct asked {
	const struct local_family *family; /* NULL: dropped meanwhile */
	bool whole;
	struct slice *qualifiers; /* sorted; the bytes are the scan's */
	size_t count;
	int64_t since, until; /* as in the spec */
	struct walk walk;
	bool waiting; /* the walk's live version is still to be taken */
	bool ended;   /* no row of the snapshot is left in the family */
};

/* One cell of a batch; its bytes lie in scan.bytes. */
struct caught {
	const struct asked *asked;
	size_t row, row_size, qualifier, qualifier_size, value;
	struct cell cell;
};

struct scan {
	struct local *local;
	struct table *table;
	struct scan_spec spec; /* without its slices */
	struct buf owned;      /* the bytes of the qualifiers asked */
	struct asked *asked;   /* in the order of their names */
	size_t asked_count;
	uint32_t versions;

	/* Rows to come have keys from low on and below high (empty: open);
	 * reading moves low up, or, reversed, high down. */
	struct buf low, high;
	struct buf only; /* the one row that was asked for; empty: more */
	uint64_t rows; /* given out, of spec.limit */
	bool ended;

	/* Where in a row the last batch ended, if in the middle of one. */
	bool inside;
	struct buf row; /* its component */
	bool found;	/* it has given a cell */
	size_t at_family, at_qualifier;
	bool resumes;	   /* the family's walk is paused in it */
	struct buf column; /* that it is in, as the walk's */
	uint32_t taken;	   /* versions of that */
	uint64_t passed;   /* cells of the family in the row */

	struct buf cells; /* struct caught */
	struct buf bytes;
	size_t given; /* of cells */
	const struct caught *last;
	struct buf pins; /* struct pinned */
	struct sift sift;
};

struct pinned {
	uint32_t blobs;
	uint64_t id;
};

/* Reads s->row from (at_family, at_qualifier) on into the batch. put: the
 * walks do not stand at its front and are put there first. WALK_PAUSE: the
 * batch is full; SCAN_AGAIN. */
int catch_row(struct scan *s, bool put);

/* Puts a family's walk somewhere else. */
int catch_seek(struct asked *a, struct slice key);

static inline size_t
caught_count(const struct scan *s)
{
	return s->cells.size / sizeof(struct caught);
}

#endif
