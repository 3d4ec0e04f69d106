/* later: work that takes long, on a few threads of its own.
 *
 * A job does a piece of what it has to do each time its turn comes, so that
 * any number of them goes on side by side and none keeps a request waiting.
 * No FUSE here.
 */
#ifndef CELLFS_FS_LATER_H
#define CELLFS_FS_LATER_H

#include <stdbool.h>

struct later;

/* Begins what somebody has allocated. */
struct job {
	struct job *next; /* the queue's */
	/* Goes on for a while: true if it is done, and job freed. With last
	 * it is to end now, come what may. */
	bool (*step)(struct job *job, bool last);
};

int
later_open(struct later **out);

/* Takes a job over; after later_stop() it is ended at once. Any thread. */
void
later_add(struct later *later, struct job *job);

/* Ends every job, and the threads. */
void
later_stop(struct later *later);

/* Stops and frees; safe on NULL. */
void
later_close(struct later *later);

#endif
