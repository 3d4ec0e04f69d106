/* journal: the lines of .cellfs/log, the newest kept in bounded memory. */
#ifndef CELLFS_FS_JOURNAL_H
#define CELLFS_FS_JOURNAL_H

#include <pthread.h>
#include <stdbool.h>

#include "../kv/bytes.h"
#include "caller.h"

#define JOURNAL_BYTES (256 * 1024)

#define JOURNAL_USERS 16 /* whose last refusal is kept */

/* The newest refusal of a user, for user.cellfs.error. */
struct refused {
	uid_t uid;
	uint64_t turn; /* counted; 0: none */
	char sentence[1024];
};

struct journal {
	pthread_mutex_t lock; /* guards the rest */
	struct buf lines;
	struct refused refused[JOURNAL_USERS];
	uint64_t turns;
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

/* A call of the caller (NULL: nobody's) was refused: its sentence goes into
 * the log and is the user's last error. */
void
journal_refusal(struct journal *j, const struct caller *caller,
    const char *what, const char *sentence);

/* A copy of the whole log, appended to out. */
void
journal_read(struct journal *j, struct buf *out);

/* The user's last error, appended to out: what others were refused may speak
 * of what this one must not see. */
void
journal_last(struct journal *j, uid_t uid, struct buf *out);

#endif
