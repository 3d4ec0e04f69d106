/* wt_wait: two ways to wait for WiredTiger. (No WiredTiger.) */
#ifndef CELLFS_KV_WT_WAIT_H
#define CELLFS_KV_WT_WAIT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Milliseconds of a clock that never goes back. */
int64_t
wt_now(void);

void
wt_sleep(unsigned ms);

/* Work that is done once for all who asked for it before it began: of those
 * who wait, one leads. */
struct wt_group {
	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t done;
	uint64_t asked, reached;
	bool led;
};

void
wt_group_init(struct wt_group *g);
void
wt_group_release(struct wt_group *g);

/* Returns once work(context), 0 or a negative errno, was begun after this call
 * and succeeded, in this thread or another; or failed in this one. No two run
 * at a time. */
int
wt_group_run(struct wt_group *g, int (*work)(void *context), void *context);

/* Runs work(context) in a thread of its own and waits for it; once *failed is
 * true, for another `patience` ms only. *done: it came back, and this is what
 * it said; else, with a negative errno, it may run for ever, and context must
 * stay. */
int
wt_run_watched(int (*work)(void *context), void *context,
    const atomic_bool *failed, unsigned patience, bool *done);

#endif
