/* journal: the lines of .cellfs/log, the newest kept in bounded memory. */
#ifndef CELLFS_FS_JOURNAL_H
#define CELLFS_FS_JOURNAL_H

#include <pthread.h>
#include <stdbool.h>

#include "../kv/bytes.h"

#define JOURNAL_BYTES (256 * 1024)

struct journal {
	pthread_mutex_t lock; /* guards the rest */
	struct buf lines;
	char last[1024]; /* the newest refusal, for user.cellfs.error */
	bool echo;	 /* to stderr too: a mount in the foreground */
};

void
journal_init(struct journal *j, bool echo);

void
journal_release(struct journal *j);

/* Adds a line, stamped with the time. context is the journal: the form that
 * kv_options.log wants. Any thread. */
void
journal_line(void *context, const char *line);

/* A call was refused: its sentence goes into the log and is the last error. */
void
journal_refusal(struct journal *j, const char *what, const char *sentence);

/* Copies of the whole log and of the last refusal, appended to out. */
void
journal_read(struct journal *j, struct buf *out);

void
journal_last(struct journal *j, struct buf *out);

#endif
