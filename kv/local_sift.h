/* sift: a scan's filter at work (private to kv/local_scan.c and
 * local_catch.c).
 *
 * What a filter rejects or steps over never enters the batch. A filter that
 * judges rows at their end lets a row's cells wait in the batch until then. A
 * row that does not fit is read to its end without keeping a cell, and if it
 * stays once more, to be given out in parts:
 *
 *   TRY --full, alone--> JUDGE --stays--> GIVE --end--> TRY
 *                          \--is dropped-----------------^
 */
#ifndef CELLFS_KV_LOCAL_SIFT_H
#define CELLFS_KV_LOCAL_SIFT_H

#include "filter.h"

struct asked;
struct caught;
struct record;
struct scan;

enum sift_stage { SIFT_TRY, SIFT_JUDGE, SIFT_GIVE };

struct sift {
	struct filter_run *run;	  /* NULL: the scan has no filter */
	struct filter_run *spare; /* as run was in front of the row; GIVE: as
				     it was behind it, judged */
	enum sift_stage stage;
	bool judges, reads_values;
	bool any, left;	    /* of the row, as filter_row_end() asks */
	struct slice ahead; /* the family's next qualifier that can pass */
};

/* Readies the scan's filter, if it has one, and narrows the rows to come. */
int sift_open(struct scan *s);
void sift_release(struct scan *s);

/* In front of a row; and back there, nothing of it having been given out. */
int sift_row(struct scan *s);
int sift_undo(struct scan *s);

/* Asks the filter about a version whose names stand in the batch's bytes. */
int sift_cell(struct scan *s, const struct asked *a, const struct caught *c,
    const struct record *record, struct filter_verdict *verdict);

/* Whether a version so judged goes into the batch now. */
bool sift_takes(const struct scan *s, const struct caught *c,
    const struct filter_verdict *verdict);

/* The batch holds nothing but this row and is full. */
void sift_pause(struct scan *s);

/* Ends a row whose cells stand from `cells` on in the batch. 1: it is to be
 * read again from its beginning. */
int sift_row_end(struct scan *s, size_t cells);

/* Whether no row behind the last one passes. */
bool sift_ended(const struct scan *s);

#endif
