/* change: what is asked of changes made in steps, or of many, as C types.
 *
 * Shared by the front door (kv_change.h) and the engines behind it. No
 * functions, no I/O.
 */
#ifndef CELLFS_KV_CHANGE_H
#define CELLFS_KV_CHANGE_H

#include "cell.h"

/* What an open file stores: a version of a cell, or the bytes of a dot file. */
struct content {
	const struct source *source;
	bool append;	    /* behind the newest value, not instead of it */
	struct attrs attrs; /* kept with it */
	struct attrs fresh; /* likewise, if there is nothing to inherit from */
	int64_t replaces;   /* the version that goes as it comes, 0: none */
	int64_t stored;	    /* out: its timestamp, 1: a dot file; 0: it is not */
	bool cleared;	    /* out: setuid or setgid bits are gone by it */
};

/* On their way. */
struct draft;
struct move;

enum move_flags {
	MOVE_KEEP = 1,	    /* as MUTATE_KEEP, at the source */
	MOVE_NOREPLACE = 2, /* -EEXIST if the target is there */
	MOVE_TAKE_BACK = 4, /* column to column: the whole history moves and
			       a copy of the newest version stays behind */
	MOVE_EXCHANGE = 8,  /* what stands at `to` comes to `from` */
};

/* A rename as it is asked for. */
struct move_spec {
	const struct place *from, *to;
	struct version from_version, to_version; /* count for COLUMN only */
	unsigned flags;
	struct draft *draft; /* what is pending at `from`: stored there first,
				in the same transaction; NULL: nothing */
};

/* When a directory was last changed in. */
struct dir_time {
	struct place place;
	struct timespec mtime;
};

#endif
