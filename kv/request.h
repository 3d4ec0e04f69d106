/* request: what is asked of a store, and what it answers, as C types.
 *
 * Shared by the front door (kv.h, kv_data.h) and the engines behind it. No
 * functions, no I/O.
 */
#ifndef CELLFS_KV_REQUEST_H
#define CELLFS_KV_REQUEST_H

#include "cell.h"
#include "compare.h"

/* What one transaction takes; beyond it -E2BIG. */
#define MUTATE_OPS_MAX 10000
#define MUTATE_BYTES_MAX (4 << 20) /* values up to INLINE_MAX, and names */
#define MOVE_CELLS_MAX 10000

/* What is known of one thing in the tree without its bytes. */
struct info {
	struct attrs attrs;  /* complete; set: what is kept of its own */
	int64_t timestamp;   /* COLUMN: the version's; directories: creation
				of the table, ms */
	int64_t expires;     /* ms, NEVER */
	uint64_t size;	     /* bytes of the value */
	uint32_t versions;   /* COLUMN by kv_stat, newest: not counted, 0 */
	bool kept;	     /* a directory that is kept though empty */
};

/* One name of a directory as kv_list gives it, borrowed for the call. */
struct entry {
	enum level level;
	struct slice name; /* key bytes: row, prefix, family, qualifier... */
	struct info info;
};

enum list_answer {
	LIST_MORE = 0,
	LIST_STOP = 1,
	LIST_SKIP = 2, /* go on behind everything that begins with *skip */
};

/* Returns a list_answer or a negative errno, which ends the listing. */
typedef int (*list_emit)(void *context, const struct entry *entry,
    struct buf *skip);

/* For versions: 0 go on, 1 stop, negative errno. */
typedef int (*cell_emit)(void *context, const struct cell *cell);

/* One version held open: its bytes and info stay as they were until it is
 * closed, whatever becomes of the cell. Implementations begin with info. */
struct value {
	struct info info;
};

enum op_type {
	OP_PUT,
	OP_DELETE_VERSION,	  /* TS_LATEST: the newest */
	OP_DELETE_COLUMN,	  /* versions <= timestamp; TS_LATEST: all */
	OP_DELETE_FAMILY,	  /* likewise, every column of the family */
	OP_DELETE_FAMILY_VERSION, /* exactly timestamp, every column */
	OP_INCREMENT,
	OP_APPEND,
};

struct op {
	enum op_type type;
	struct slice family, qualifier;
	int64_t timestamp;	    /* TS_LATEST: the store chooses */
	struct slice value;	    /* PUT, APPEND */
	const struct source *source; /* PUT, APPEND: instead of value */
	int64_t delta;		    /* INCREMENT */
	int64_t ttl;		    /* PUT..: own TTL in ms, 0: none */
	struct attrs attrs;	    /* kept with the new version */
	struct attrs fresh;	    /* likewise, if the column has no version
				       to inherit from */
	/* Out: the timestamp it stored (0: pushed out at once), and for
	 * INCREMENT and APPEND the new value if result is not NULL. */
	int64_t stored;
	bool cleared; /* setuid or setgid bits of the version before are gone */
	struct buf *result;
};

/* The condition of a check-and-mutate: `expected op cell` (HBase's sense);
 * an empty expected value means "absent" as in the reference, 6.4. */
struct condition {
	struct slice family, qualifier;
	enum compare compare;
	struct slice expected;
};

enum {
	MUTATE_KEEP = 1,	  /* directories that lose their last cell stay */
	MUTATE_ABSENT = 2,	  /* -EEXIST if a PUT's column (at an explicit
				     timestamp: version) is there */
	MUTATE_REFUSE_PUSHED = 4, /* -EDQUOT if a PUT would be pushed out */
	MUTATE_PRESENT = 8,	  /* -ENOENT if a delete finds nothing */
};

/* Everything done to one row in one atomic call. */
struct mutation {
	struct slice table, row;
	struct op *ops;
	size_t count;
	unsigned flags;
	const struct condition *condition; /* NULL: none */
	bool applied; /* out: the condition held */
};

struct filter; /* filter.h */

/* Other timestamps for a family than the scan's. */
struct family_range {
	struct slice family;
	int64_t since, until; /* as the scan's */
};

struct scan_spec {
	struct slice table;
	struct slice start, stop; /* rows; empty: open */
	bool start_exclusive, stop_inclusive;
	bool reversed;		  /* start >= stop then */
	const struct column *columns; /* none: every family */
	size_t column_count;
	uint32_t versions;	  /* of a column; 0: all that are kept */
	int64_t since, until;	  /* timestamps in [since, until); until 0:
				     open */
	const struct family_range *ranges;
	size_t range_count;	  /* the last one of a family counts */
	uint64_t limit;		  /* rows; 0: no limit */
	/* Of each family's cells in a row, as the filter leaves them: */
	uint64_t family_offset;	  /* the first so many are left out, */
	uint64_t family_limit;	  /* and so many given then; 0: no limit */
	bool keys_only;		  /* no values are read */
	const struct filter *filter; /* NULL: none; outlives the scan */
};

/* Implementations begin with nothing in particular. */
struct scan;

typedef void (*stat_emit)(void *context, const char *name, uint64_t value);

struct space {
	uint64_t total, available, used; /* bytes */
};

#endif
