/* mounted: a store that a mount holds, and its control file. */
#ifndef CELLFS_TOOLS_MOUNTED_H
#define CELLFS_TOOLS_MOUNTED_H

#include "../kv/bytes.h"

#include <stdbool.h>
#include <sys/types.h>

struct mounted {
	struct buf point; /* where it is mounted, with a closing zero byte */
	pid_t pid;
};

/* How long to wait for a store that mounted_passing() speaks of. */
#define PASSING_MS 5000
#define PASSING_POLL_MS 20

/* Whether what holds the store is about to let go of it: another command, or
 * the daemon of a mount that is gone. Waits for a moment if so. */
bool mounted_passing(const char *store);

/* The mount that STORE belongs to: a directory inside one, or a store
 * directory that one holds. 0; 1: none; or a negative errno. */
int mounted_find(const char *store, struct mounted *out);

/* The mount whose root directory, or something in it, path is: as above. */
int mounted_at(const char *path, struct mounted *out);

void mounted_release(struct mounted *m);

/* Writes a line to the control file; its errno, with the sentence. */
int mounted_control(const struct mounted *m, const char *line);

/* -EBUSY with the sentence that names pid and mount point. */
int mounted_refuse(const struct mounted *m);

#endif
