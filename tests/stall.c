#include "stall.h"

#include <pthread.h>

#include "kv/ordered.h"

#define CHUNK_AT_LEAST (1 << 19)

static const struct ordered_methods *real;
static struct ordered_methods stalling;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static bool stalls, stalled;	     /* guarded by lock, as is */
static unsigned turn;		     /* how often stall() was called */
static _Thread_local unsigned wrote; /* the turn in which it wrote a chunk */

static int
note_chunk(struct ordered_session *s, uint32_t table, struct slice key,
    struct slice value)
{
	if (value.size >= CHUNK_AT_LEAST) {
		pthread_mutex_lock(&lock);
		wrote = turn;
		pthread_mutex_unlock(&lock);
	}
	return real->put(s, table, key, value);
}

/* What every transaction begins with, before it waits for any other. */
static int
wait_for_session(struct ordered *o, struct ordered_session **out)
{
	pthread_mutex_lock(&lock);
	while (stalls && wrote == turn) {
		stalled = true;
		pthread_cond_broadcast(&wake);
		pthread_cond_wait(&wake, &lock);
	}
	pthread_mutex_unlock(&lock);
	return real->session(o, out);
}

void
stall_stand_before(struct ordered *o)
{
	real = o->methods;
	stalling = *real;
	stalling.put = note_chunk;
	stalling.session = wait_for_session;
	o->methods = &stalling;
}

void
stall(bool on)
{
	pthread_mutex_lock(&lock);
	stalls = on;
	stalled = false;
	turn++;
	pthread_cond_broadcast(&wake);
	pthread_mutex_unlock(&lock);
}

void
stall_await(void)
{
	pthread_mutex_lock(&lock);
	while (!stalled)
		pthread_cond_wait(&wake, &lock);
	pthread_mutex_unlock(&lock);
}
