#include "times.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "../kv/kv_data.h"
#include "../kv/why.h"

#define BATCH 256 /* in one transaction: names are held for it */
#define REST 1	  /* seconds in which one directory is stored once */

struct times {
	pthread_t thread;
	bool stopping; /* guarded by nodes->lock */
};

struct batch {
	size_t count;
	struct inode *inodes[BATCH]; /* held */
	struct spot spots[BATCH];
	struct dir_time times[BATCH];
	size_t timed;
};

/* Puts it into the list of what is to be stored. */
static void
note(struct fs *fs, struct inode *dir)
{
	struct nodes *n = fs->nodes;

	pthread_mutex_lock(&n->lock);
	if (!dir->pending) {
		dir->pending = true;
		dir->holds++;
		dir->later = NULL;
		*n->touched_last = dir;
		n->touched_last = &dir->later;
		pthread_cond_signal(&n->touch);
	}
	pthread_mutex_unlock(&n->lock);
}

void
times_touch(struct fs *fs, struct inode *dir)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	pthread_mutex_lock(&fs->nodes->lock);
	dir->touched = now;
	pthread_mutex_unlock(&fs->nodes->lock);
	if (kinds[dir->kind].set)
		note(fs, dir);
}

/* The first of the list, its hold handed over, and its time, zero if a tool
 * has set another since; or NULL. */
static struct inode *
first(struct nodes *n, struct timespec *when)
{
	pthread_mutex_lock(&n->lock);
	struct inode *dir = n->touched;
	if (dir) {
		*when = dir->touched;
		dir->pending = false;
		n->touched = dir->later;
		if (!n->touched)
			n->touched_last = &n->touched;
	}
	pthread_mutex_unlock(&n->lock);
	return dir;
}

/* Takes one more; false: there is none. */
static bool
take(struct fs *fs, struct batch *b)
{
	struct timespec when;
	struct inode *dir = first(fs->nodes, &when);
	struct spot *spot = &b->spots[b->count];

	if (!dir)
		return false;
	b->inodes[b->count++] = dir;
	*spot = (struct spot){0};
	if (when.tv_sec && inode_spot(fs, dir, spot) == 0)
		b->times[b->timed++] = (struct dir_time){spot->place, when};
	return true;
}

static int
store(struct fs *fs, struct batch *b, bool *more)
{
	struct nodes *n = fs->nodes;
	int r = 0;

	pthread_rwlock_rdlock(&n->names);
	pthread_mutex_lock(&n->times);
	while (b->count < BATCH && take(fs, b))
		;
	*more = b->count == BATCH;
	if (b->timed)
		r = kv_dir_times(fs->kv, b->times, b->timed);
	pthread_mutex_unlock(&n->times);
	pthread_rwlock_unlock(&n->names);
	return r;
}

int
times_store(struct fs *fs)
{
	struct batch *b = malloc(sizeof(*b));
	bool more = true;
	int r = b ? 0 : -ENOMEM;

	while (r == 0 && more) {
		b->count = b->timed = 0;
		r = store(fs, b, &more);
		for (size_t i = 0; i < b->count; i++) {
			spot_release(&b->spots[i]);
			if (r == -ENOSPC)
				note(fs, b->inodes[i]);
			inode_put(fs, b->inodes[i]);
		}
	}
	free(b);
	return r;
}

/* Says so once, and again only after it has worked. */
static void
report(struct fs *fs, int r, bool *failing)
{
	if (r < 0 && !*failing)
		journal_refusal(&fs->journal, NULL,
		    "times of directories", why_text(r));
	*failing = r < 0;
}

/* Waits until something has been noted for a while; false: the end. */
static bool
wait_for_some(struct fs *fs)
{
	struct nodes *n = fs->nodes;
	struct timespec until;
	int r = 0;

	pthread_mutex_lock(&n->lock);
	while (!n->touched && !fs->times->stopping)
		pthread_cond_wait(&n->touch, &n->lock);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += REST;
	while (r == 0 && !fs->times->stopping)
		r = pthread_cond_timedwait(&n->touch, &n->lock, &until);
	bool goes_on = !fs->times->stopping;
	pthread_mutex_unlock(&n->lock);
	return goes_on;
}

static void *
run(void *context)
{
	struct fs *fs = context;
	bool failing = false;

	while (wait_for_some(fs)) {
		why_clear();
		report(fs, times_store(fs), &failing);
	}
	return NULL;
}

int
times_open(struct fs *fs)
{
	struct times *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	fs->times = t;
	int r = pthread_create(&t->thread, NULL, run, fs);
	if (r == 0)
		return 0;
	fs->times = NULL;
	free(t);
	return -r;
}

void
times_close(struct fs *fs)
{
	bool failing = false;

	pthread_mutex_lock(&fs->nodes->lock);
	fs->times->stopping = true;
	pthread_cond_signal(&fs->nodes->touch);
	pthread_mutex_unlock(&fs->nodes->lock);
	pthread_join(fs->times->thread, NULL);
	free(fs->times);
	fs->times = NULL;
	why_clear();
	report(fs, times_store(fs), &failing);
}
