/* points: places in a listing, by the offsets the kernel was given for them.
 *
 * An offset is how many names there were up to and with one, in the upper
 * half, and a hash of that name in the lower: so it is known again by its
 * name where the count has changed. 0, 1, 2 stand before, between and behind
 * . and .. .
 */
#ifndef CELLFS_FS_POINTS_H
#define CELLFS_FS_POINTS_H

#include "node.h"

#define POINTS_DOTS 2 /* the offset behind . and .. */

uint64_t
points_offset(uint64_t count, struct slice name);

uint64_t
points_count(uint64_t offset);

/* Frees what a mark owns; it is the beginning then. */
void
mark_clear(struct mark *mark);

/* Makes *to a copy. -ENOMEM. */
int
mark_copy(const struct mark *from, struct mark *to);

struct point {
	uint64_t offset;
	struct mark mark; /* but for its name, which lies in the bytes */
	size_t at, size;
};

/* All zeros: empty and ready. Offsets are added in ascending order. */
struct points {
	struct point *points;
	size_t count, room;
	struct buf names;
};

void
points_release(struct points *p);

/* Forgets all, keeps the memory. */
void
points_clear(struct points *p);

int
points_add(struct points *p, uint64_t offset, const struct mark *mark);

/* The point of exactly that offset, or the last of no higher count; NULL:
 * none. Valid until the points change. */
const struct point *
points_exact(const struct points *p, uint64_t offset);
const struct point *
points_before(const struct points *p, uint64_t offset);

/* Makes mark a copy of the point's. -ENOMEM. */
int
points_mark(const struct points *p, const struct point *point,
    struct mark *mark);

/* Every second point goes. */
int
points_thin(struct points *p);

#endif
