#include "wt_wait.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define TICK_MS 20

int64_t
wt_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void
wt_sleep(unsigned ms)
{
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000L};

	nanosleep(&ts, NULL);
}

void
wt_group_init(struct wt_group *g)
{
	*g = (struct wt_group){0};
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->done, NULL);
}

void
wt_group_release(struct wt_group *g)
{
	pthread_mutex_destroy(&g->lock);
	pthread_cond_destroy(&g->done);
}

/* Runs work for all who asked so far; the lock is held on entry and return,
 * not meanwhile. */
static int
lead(struct wt_group *g, int (*work)(void *context), void *context)
{
	uint64_t reached = g->asked;

	g->led = true;
	pthread_mutex_unlock(&g->lock);
	int r = work(context);
	pthread_mutex_lock(&g->lock);
	g->led = false;
	if (r == 0)
		g->reached = reached;
	pthread_cond_broadcast(&g->done);
	return r;
}

int
wt_group_run(struct wt_group *g, int (*work)(void *context), void *context)
{
	int r = 0;

	pthread_mutex_lock(&g->lock);
	uint64_t mine = ++g->asked;
	while (r == 0 && g->reached < mine) {
		if (g->led)
			pthread_cond_wait(&g->done, &g->lock);
		else
			r = lead(g, work, context);
	}
	pthread_mutex_unlock(&g->lock);
	return r;
}

/* Never freed if the thread does not end in time: it may yet write here. */
struct watched {
	int (*work)(void *context);
	void *context;
	int answer;
};

static void *
watched_thread(void *context)
{
	struct watched *w = context;

	w->answer = w->work(w->context);
	return NULL;
}

/* Joins thread: whether it ended within ms. */
static bool
join_within(pthread_t thread, unsigned ms)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += ms * 1000000L;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	return pthread_timedjoin_np(thread, NULL, &end) == 0;
}

/* Joins thread, waiting as wt_run_watched() says: whether it ended. */
static bool
join_watching(pthread_t thread, const atomic_bool *failed, unsigned patience)
{
	while (!join_within(thread, TICK_MS))
		if (atomic_load(failed))
			return join_within(thread, patience);
	return true;
}

int
wt_run_watched(int (*work)(void *context), void *context,
    const atomic_bool *failed, unsigned patience, bool *done)
{
	pthread_t thread;

	*done = false;
	struct watched *w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->work = work;
	w->context = context;
	int r = -pthread_create(&thread, NULL, watched_thread, w);
	if (r) {
		free(w);
		return r;
	}
	*done = join_watching(thread, failed, patience);
	if (!*done) {
		pthread_detach(thread);
		return -ETIMEDOUT;
	}
	r = w->answer;
	free(w);
	return r;
}
