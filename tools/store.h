/* store: opening and closing what the operand STORE names. */
#ifndef CELLFS_TOOLS_STORE_H
#define CELLFS_TOOLS_STORE_H

#include "cmd.h"

enum store_use {
	STORE_READ, /* read-only: a signal may end us at once */
	STORE_WRITE,
	STORE_CREATE, /* a new store is made */
	STORE_REPAIR, /* open what is damaged */
};

struct store {
	struct kv *kv;
	const char *path;
	struct buf opening; /* what was logged before it was open */
	bool opened;
	bool watched; /* signals are */
};

/* STATUS_DONE, or STATUS_FAILED with the reason said: also on a store that a
 * mount holds, and in a mount. For another command it waits some seconds. s
 * stays where it is until store_close(). */
int store_open(struct store *s, const char *path, enum store_use use);

/* The same without a word: 0 or a negative errno. */
int store_try(struct store *s, const char *path, enum store_use use);

/* Closes; returns status, or STATUS_FAILED if the store could not be closed.
 * Ends the process if a signal came. */
int store_close(struct store *s, int status);

/* For commands that a mount can do: writes the line to the control file of
 * the mount that holds STORE. False: no mount does, nothing was done. */
bool store_delegate(const struct arguments *a, const char *subject,
    const char *line, int *status);

#endif
