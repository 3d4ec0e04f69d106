/* spot: an address in the tree, copied out of it.
 *
 * Handlers never hold on to an inode's names: they copy them into a spot,
 * under the inodes' lock, and work on that. No I/O.
 */
#ifndef CELLFS_FS_SPOT_H
#define CELLFS_FS_SPOT_H

#include "../kv/cell.h"

enum kind {
	KIND_ROOT,
	KIND_TABLE,
	KIND_ROW_PART,
	KIND_ROW,
	KIND_FAMILY,
	KIND_COLUMN_PART,
	KIND_CELL,
	KIND_VERSION,  /* q@TS */
	KIND_NTH,      /* q@~N */
	KIND_COUNTER,  /* q@counter */
	KIND_VERSIONS, /* q@/ */
	KIND_DOT_FILE,
	KIND_DOT_DIR,
	KIND_STREAM, /* .cells, .json, .count */
	KIND_CELLS,  /* .cells that takes lines, too */
	KIND_VIEW_NAME, /* .prefix, whose argument is still to come */
	KIND_VIEW_TIME, /* another form of a time, a link to its ms */
	KIND_VIEW,
	KIND_VIEW_ROW_PART,
	KIND_VIEW_ROW,
	KIND_VIEW_FAMILY,
	KIND_VIEW_COLUMN_PART,
	KIND_VIEW_CELL,
	KIND_SCHEMA_DIR,
	KIND_SCHEMA_FILE,
	KIND_CONTROL_DIR,
	KIND_CONTROL_FILE,
	KIND_COUNT,
};

/* Which stand at their directory's own place. */
static inline bool
kind_is_stream(enum kind kind)
{
	return kind == KIND_STREAM || kind == KIND_CELLS;
}

/* What a component means inside a directory: owned key bytes. */
struct child {
	enum kind kind;
	struct buf key;	 /* row, prefix, family, qualifier, name */
	int64_t number;	 /* timestamp or n */
};

void
child_release(struct child *c);

/* An address copied out of the tree: kind, place and version, with their
 * bytes. Owned; release with spot_release(). */
struct spot {
	enum kind kind;
	struct place place;
	struct version version;
	struct slice view; /* asking.h's chain of those it stands in */
	struct slice word; /* a control file's or a stream's name */
	struct buf bytes;
};

void
spot_release(struct spot *s);

/* Goes one component down; the bytes stay borrowed until spot_own(). */
void
spot_step(struct spot *s, enum kind kind, struct slice key, int64_t number);

/* Makes the spot own the bytes that its fields borrow: 0, or -ENOMEM and the
 * spot is empty. */
int
spot_own(struct spot *s);

/* The spot of a child of dir, which may or may not be there. -ENOMEM. */
int
spot_child(const struct spot *dir, const struct child *child,
    struct spot *out);

/* Whether two spots are the same address. */
bool
spot_equal(const struct spot *a, const struct spot *b);

/* The inode number that stat shows: a hash of what the spot stands for, keyed
 * so that nobody can choose names that fall together. */
uint64_t
spot_number(const struct spot *s, uint64_t key);

/* A control word or a name as a child. -ENOMEM. */
int
child_set(struct child *c, enum kind kind, struct slice key, int64_t number);

#endif
