/* cell: the words of the data model as C types. No functions, no I/O. */
#ifndef CELLFS_KV_CELL_H
#define CELLFS_KV_CELL_H

#include <sys/types.h>
#include <time.h>

#include "bytes.h"

#define TS_LATEST INT64_MAX	/* "the store chooses"; never stored */
#define TS_MAX (INT64_MAX - 1)	/* the greatest legal timestamp */
#define NEVER INT64_MAX		/* the expiry of what does not expire */

#define ROW_MAX 32767		/* bytes of a row key, at least 1 */
#define QUALIFIER_MAX 32767	/* bytes of a qualifier: as rows, so that
				   every key has a name in the tree */
#define SCHEMA_DOT_MAX (10 << 20) /* bytes of a dot file of .schema */
#define FAMILY_MAX 127		/* bytes of a family name, at least 1 */
#define TABLE_MAX 255		/* bytes of a table name, at least 1 */
#define INLINE_MAX 8192		/* bytes of a value kept beside its key */

/* What can be kept of a file's attributes; only what `set` names counts. */
enum {
	ATTR_MTIME = 1,
	ATTR_MODE = 2, /* permission bits, 07777 */
	ATTR_UID = 4,
	ATTR_GID = 8,
};

struct attrs {
	unsigned set;
	struct timespec mtime;
	mode_t mode;
	uid_t uid;
	gid_t gid;
};

/* One version as a read gives it. Every slice is borrowed; the giver says for
 * how long. Attributes are complete: what the version does not keep has been
 * filled in from the table's defaults, mtime from the timestamp. */
struct cell {
	struct slice row, family, qualifier;
	int64_t timestamp; /* ms since the epoch */
	int64_t ttl;	   /* the cell's own TTL in ms, 0: none */
	int64_t expires;   /* ms since the epoch, NEVER: does not */
	uint64_t size;	   /* bytes of the value */
	uint64_t blob;	   /* not 0: the value stands in chunks under it */
	struct slice value; /* the bytes, where blob is 0 and they were asked */
	struct attrs attrs;
};

/* A column as a read names it. */
struct column {
	struct slice family;
	struct slice qualifier;
	bool whole_family; /* all qualifiers; qualifier does not count */
};

/* Where something stands in the tree below a table, or beside the tables. */
enum level {
	LEVEL_ROOT,	   /* the mount's root directory */
	LEVEL_SCHEMA,	   /* the directory .schema */
	LEVEL_CONTROL,	   /* .cellfs/control: only its attributes are kept */
	LEVEL_SCHEMA_FILE, /* .schema/TABLE */
	LEVEL_TABLE,
	LEVEL_ROW_PART,	   /* a directory that continues row keys: row = prefix */
	LEVEL_ROW,
	LEVEL_FAMILY,
	LEVEL_COLUMN_PART, /* likewise: qualifier = prefix */
	LEVEL_COLUMN,
	LEVEL_DOT_DIR,	   /* dot_dir in a family, a column part or .schema */
	LEVEL_DOT,	   /* dot in those, or in a dot directory */
};

/* An address. Fields beyond the level are empty. Borrowed throughout. A dot
 * file of a family has an empty qualifier; one of .schema an empty table. */
struct place {
	enum level level;
	struct slice table, row, family, qualifier;
	struct slice dot_dir, dot;
};

/* Which version of a column is meant. */
enum which { VERSION_NEWEST, VERSION_AT, VERSION_NTH };

struct version {
	enum which which;
	int64_t number; /* AT: the timestamp; NTH: how many before the newest */
};

/* Bytes to be stored that need not lie in memory at once. read() fills size
 * bytes at offset, all of them: 0 or a negative errno. */
struct source {
	uint64_t size;
	int (*read)(const struct source *s, uint64_t offset, void *to,
	    size_t size);
	const void *context;
};

#endif
