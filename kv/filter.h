/* filter: HBase's filter language, and what a filter says of rows and cells.
 *
 * A parsed filter never changes and serves any number of scans and threads
 * at once; what it remembers while a scan runs stands in a struct filter_run,
 * which belongs to one thread at a time. Pure: values that are not in memory
 * are read through the struct source the caller gives.
 *
 * The protocol of a scan: for each row filter_cell() of its cells, families
 * in the order of their names, newest version first, then filter_row_end();
 * until filter_ended(). No cell is held.
 */
#ifndef CELLFS_KV_FILTER_H
#define CELLFS_KV_FILTER_H

#include "request.h"

/* Bytes of a value that a regular expression or substring looks at. */
#define FILTER_SEARCH_MAX ((size_t)10 << 20)

struct filter_run;

/* Reads a filter. -EINVAL: the sentence names the position and what was
 * expected there. text is not needed afterwards. */
int
filter_parse(struct slice text, struct filter **out);

/* No run of it may be left. Safe on NULL. */
void
filter_free(struct filter *f);

/* Whether it looks at values. */
bool
filter_reads_values(const struct filter *f);

/* Whether it decides some rows only at their end: their cells may not be
 * given out before filter_row_end(). */
bool
filter_judges_rows(const struct filter *f);

/* A place between rows: in front of the row key, behind it, or behind all
 * rows that begin with it. */
struct filter_cut {
	struct slice key;
	enum { CUT_BEFORE, CUT_BEHIND, CUT_BEHIND_PREFIX } at;
};

/* Rows outside of [low, high) the filter rejects without consequence for
 * others, so a scan need not read them; false: it rejects every row. An open
 * end has an empty key. Valid as long as f. */
bool
filter_rows(const struct filter *f, bool reversed, struct filter_cut *low,
    struct filter_cut *high);

/* Whether cells are rejected by a list of timestamps before any other part of
 * the filter sees them; then *next becomes the greatest of the list below
 * *next, -1 for none. */
bool
filter_next_timestamp(const struct filter *f, int64_t *next);

int
filter_run_new(
    const struct filter *f, bool reversed, struct filter_run **out);

void
filter_run_free(struct filter_run *run);

/* Makes *to, of the same filter, remember what *from does: to read a row
 * again. */
int
filter_run_copy(struct filter_run *to, const struct filter_run *from);

struct filter_cell {
	struct slice row, family, qualifier;
	int64_t timestamp;
	struct slice value;
	const struct source *source; /* instead of value, where not NULL */
};

/* How far on the next cell is that can be included. */
enum filter_step { STEP_CELL, STEP_COLUMN, STEP_FAMILY, STEP_ROW };

/* What a cell's value becomes in the answer. */
enum filter_value { VALUE_SAME, VALUE_EMPTY, VALUE_LENGTH };

struct filter_verdict {
	bool include;
	bool hidden; /* included, but not to be given out */
	enum filter_step step;
	struct slice seek; /* data not NULL: no column of this family before
			      this qualifier will be included */
	enum filter_value value;
	uint32_t length; /* VALUE_LENGTH: 4 bytes big-endian */
};

/* What becomes of a cell. Cells before the next that can be included may be
 * offered or not. -EFBIG: a value too large to be searched; -E2BIG: a regular
 * expression that takes too long; what source->read() returned. */
int
filter_cell(struct filter_run *run, const struct filter_cell *cell,
    struct filter_verdict *out);

/* At the end of a row and until the next begins: whether a cell of it that
 * was included stays. */
bool
filter_keeps(const struct filter_run *run, int64_t timestamp);

/* Ends the row; true: it is dropped. any: a cell was included; left: one of
 * them is not hidden and stays. */
bool
filter_row_end(struct filter_run *run, bool any, bool left);

/* Whether nothing more will be included: neither in this row, which is still
 * to be ended, nor behind it. */
bool
filter_ended(const struct filter_run *run);

#endif
