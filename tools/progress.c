#include "progress.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define BAR 30
#define REDRAW_NS 200000000

static pthread_t drawer;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static bool drawing; /* there is a drawer */
static bool over;    /* under lock: it is to end */
static const char *label;
static atomic_ullong steps_done, steps_total;

static void
draw(time_t seconds)
{
	unsigned long long total = atomic_load(&steps_total);
	unsigned long long done = atomic_load(&steps_done);
	int full = total ? (int)(done * BAR / total) : 0;

	fprintf(stderr, "\r\033[K%s: ", label);
	if (total)
		fprintf(stderr, "[%.*s%*s] %llu/%llu, ", full,
		    "##############################", BAR - full, "", done,
		    total);
	else if (done)
		fprintf(stderr, "%llu, ", done);
	fprintf(stderr, "%lld s", (long long)seconds);
	fflush(stderr);
}

static void *
draw_until_over(void *nothing)
{
	struct timespec start, now;
	bool drawn = false;

	(void)nothing;
	clock_gettime(CLOCK_REALTIME, &start);
	now = start;
	pthread_mutex_lock(&lock);
	while (!over) {
		now.tv_nsec += REDRAW_NS;
		if (now.tv_nsec >= 1000000000) {
			now.tv_nsec -= 1000000000;
			now.tv_sec++;
		}
		pthread_cond_timedwait(&wake, &lock, &now);
		if (!over && now.tv_sec > start.tv_sec) {
			draw(now.tv_sec - start.tv_sec);
			drawn = true;
		}
	}
	pthread_mutex_unlock(&lock);
	if (drawn)
		fputs("\r\033[K", stderr);
	return NULL;
}

static bool
wanted(const struct arguments *a)
{
	if (option(a, OPTION_NO_PROGRESS))
		return false;
	return option(a, OPTION_PROGRESS) || isatty(STDERR_FILENO);
}

void
progress_begin(const struct arguments *a, const char *what)
{
	if (!wanted(a))
		return;
	label = what;
	over = false;
	drawing = pthread_create(&drawer, NULL, draw_until_over, NULL) == 0;
}

void
progress_step(uint64_t done, uint64_t total)
{
	atomic_store(&steps_done, done);
	atomic_store(&steps_total, total);
}

void
progress_end(void)
{
	if (!drawing)
		return;
	pthread_mutex_lock(&lock);
	over = true;
	pthread_cond_signal(&wake);
	pthread_mutex_unlock(&lock);
	pthread_join(drawer, NULL);
	drawing = false;
}
