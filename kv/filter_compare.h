/* filter_compare: the comparators of the filter language (private to
 * kv/filter*.c).
 */
#ifndef CELLFS_KV_FILTER_COMPARE_H
#define CELLFS_KV_FILTER_COMPARE_H

#include "request.h"

enum comparator_type { COMPARE_BINARY, COMPARE_PREFIX, COMPARE_SUBSTRING,
	COMPARE_REGEX };

struct comparator {
	enum comparator_type type;
	struct slice value; /* borrowed */
	struct buf folded;  /* SUBSTRING: in lower case */
	void *pattern;	    /* REGEX: compiled */
};

/* What comparing needs of memory; of one thread. All zeros is ready. */
struct compare_room {
	struct buf bytes; /* of a value that is read */
	struct buf text;  /* decoded */
	void *match;
};

void
compare_room_release(struct compare_room *room);

/* Reads "type:value"; value stays borrowed. -EINVAL with what is wrong; an
 * op that is not = or != is wrong for REGEX and SUBSTRING. */
int
comparator_parse(struct slice text, enum compare op, struct comparator *out);

void
comparator_release(struct comparator *c);

/* Whether `part op comparator` holds, part being the bytes of source if that
 * is not NULL. */
int
comparator_holds(const struct comparator *c, enum compare op,
    struct slice part, const struct source *source,
    struct compare_room *room, bool *holds);

#endif
