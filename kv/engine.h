/* engine: the seam at cell level.
 *
 * The types every engine answers in, and the method table an engine fills.
 * kv.h is the checked front door that everything outside kv/ goes through;
 * the rules of each call stand there and hold here too: the front door has
 * checked names, sizes and read-only before a method runs.
 */
#ifndef CELLFS_KV_ENGINE_H
#define CELLFS_KV_ENGINE_H

#include "cell.h"
#include "schema.h"

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
	struct buf *result;
};

enum compare { CMP_LESS, CMP_LESS_OR_EQUAL, CMP_EQUAL, CMP_NOT_EQUAL,
	CMP_GREATER_OR_EQUAL, CMP_GREATER };

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
	uint64_t limit;		  /* rows; 0: no limit */
	bool keys_only;		  /* no values are read */
};

/* Implementations begin with nothing in particular. */
struct scan;

typedef void (*stat_emit)(void *context, const char *name, uint64_t value);

struct space {
	uint64_t total, available, used; /* bytes */
};

enum move_flags {
	MOVE_KEEP = 1,	    /* as MUTATE_KEEP, at the source */
	MOVE_NOREPLACE = 2, /* -EEXIST if the target is there */
	MOVE_TAKE_BACK = 4, /* column to column: the whole history moves and
			       a copy of the newest version stays behind */
};

struct engine;

/* One method for each function of kv.h, of the same meaning. */
struct engine_methods {
	int (*close)(struct engine *e);

	int (*table_create)(struct engine *e, const struct schema *schema,
	    const struct attrs *owner);
	int (*table_alter)(struct engine *e, const struct schema *schema,
	    bool drop_data);
	int (*table_drop)(struct engine *e, struct slice table);
	int (*table_truncate)(struct engine *e, struct slice table);
	int (*table_rename)(struct engine *e, struct slice from,
	    struct slice to);
	int (*table_schema)(struct engine *e, struct slice table,
	    struct schema *out);
	int (*family_declare)(struct engine *e, struct slice table,
	    struct slice family);

	int (*stat)(struct engine *e, const struct place *place,
	    struct version version, struct info *out);
	int (*set_attrs)(struct engine *e, const struct place *place,
	    struct version version, const struct attrs *attrs);
	int (*list)(struct engine *e, const struct place *dir,
	    const struct entry *after, list_emit emit, void *context);
	int (*versions)(struct engine *e, const struct place *column,
	    int64_t before, cell_emit emit, void *context);

	int (*value_open)(struct engine *e, const struct place *place,
	    struct version version, struct value **out);
	int64_t (*value_read)(struct value *v, uint64_t offset, void *to,
	    size_t size);
	void (*value_close)(struct value *v);

	int (*mutate)(struct engine *e, struct mutation *m);
	int (*move)(struct engine *e, const struct place *from,
	    struct version from_version, const struct place *to,
	    struct version to_version, unsigned flags, int64_t *stored);

	int (*dir_make)(struct engine *e, const struct place *dir,
	    const struct attrs *attrs);
	int (*dir_remove)(struct engine *e, const struct place *dir);
	int (*dot_put)(struct engine *e, const struct place *dot,
	    const struct source *source, const struct attrs *attrs,
	    unsigned flags);
	int (*dot_remove)(struct engine *e, const struct place *dot);

	int (*scan_open)(struct engine *e, const struct scan_spec *spec,
	    struct scan **out);
	int (*scan_next)(struct scan *s, struct cell *out);
	int64_t (*scan_read)(struct scan *s, uint64_t offset, void *to,
	    size_t size);
	void (*scan_close)(struct scan *s);

	int (*sync)(struct engine *e);
	int (*checkpoint)(struct engine *e);
	int (*compact)(struct engine *e, struct slice table,
	    struct slice family);
	int (*check)(struct engine *e, bool repair,
	    void (*problem)(void *context, const char *line), void *context);
	int (*space)(struct engine *e, struct space *out);
	void (*stats)(struct engine *e, stat_emit emit, void *context);
};

/* Implementations begin with this. */
struct engine {
	const struct engine_methods *methods;
};

#endif
