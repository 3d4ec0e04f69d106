#include "later.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define THREADS 2

struct later {
	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t wake;
	struct job *first, **end;
	bool stopping;
	pthread_t threads[THREADS];
	unsigned count;
};

static void
enqueue(struct later *later, struct job *job)
{
	job->next = NULL;
	*later->end = job;
	later->end = &job->next;
	pthread_cond_signal(&later->wake);
}

/* The job whose turn it is; NULL: the end. */
static struct job *
dequeue(struct later *later)
{
	while (!later->first && !later->stopping)
		pthread_cond_wait(&later->wake, &later->lock);
	struct job *job = later->first;
	if (!job)
		return NULL;
	later->first = job->next;
	if (!later->first)
		later->end = &later->first;
	return job;
}

static void *
work(void *context)
{
	struct later *later = context;
	struct job *job;

	pthread_mutex_lock(&later->lock);
	while ((job = dequeue(later))) {
		bool last = later->stopping;
		pthread_mutex_unlock(&later->lock);
		bool done = job->step(job, last);
		pthread_mutex_lock(&later->lock);
		if (!done)
			enqueue(later, job);
	}
	pthread_mutex_unlock(&later->lock);
	return NULL;
}

int
later_open(struct later **out)
{
	struct later *later = calloc(1, sizeof(*later));

	*out = later;
	if (!later)
		return -ENOMEM;
	pthread_mutex_init(&later->lock, NULL);
	pthread_cond_init(&later->wake, NULL);
	later->end = &later->first;
	while (later->count < THREADS &&
	    pthread_create(&later->threads[later->count], NULL, work,
		later) == 0)
		later->count++;
	return later->count ? 0 : -EAGAIN;
}

void
later_add(struct later *later, struct job *job)
{
	pthread_mutex_lock(&later->lock);
	bool stopping = later->stopping;
	if (!stopping)
		enqueue(later, job);
	pthread_mutex_unlock(&later->lock);
	if (stopping)
		job->step(job, true);
}

void
later_stop(struct later *later)
{
	pthread_mutex_lock(&later->lock);
	later->stopping = true;
	pthread_cond_broadcast(&later->wake);
	pthread_mutex_unlock(&later->lock);
	for (unsigned i = 0; i < later->count; i++)
		pthread_join(later->threads[i], NULL);
	later->count = 0;
}

void
later_close(struct later *later)
{
	if (!later)
		return;
	later_stop(later);
	pthread_mutex_destroy(&later->lock);
	pthread_cond_destroy(&later->wake);
	free(later);
}
