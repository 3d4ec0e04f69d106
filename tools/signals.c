#include "signals.h"

#include "../kv/kv.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

static sigset_t watched;
static sigset_t before;
static pthread_t watcher;
static atomic_int came;

/* What the caller ignores (nohup) stays ignored. */
static void
watch_unless_ignored(int signal)
{
	struct sigaction action;

	if (sigaction(signal, NULL, &action) == 0 &&
	    action.sa_handler != SIG_IGN)
		sigaddset(&watched, signal);
}

void
signals_block(void)
{
	sigemptyset(&watched);
	watch_unless_ignored(SIGINT);
	watch_unless_ignored(SIGTERM);
	watch_unless_ignored(SIGHUP);
	sigaddset(&watched, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &watched, &before);
	signal(SIGPIPE, SIG_IGN);
}

/* SIGUSR1 is how signals_unwatch() ends it. */
static void *
watch(void *kv)
{
	int signal;

	while (sigwait(&watched, &signal) == 0 && signal != SIGUSR1) {
		atomic_store(&came, signal);
		kv_interrupt(kv);
	}
	return NULL;
}

int
signals_watch(struct kv *kv)
{
	return -pthread_create(&watcher, NULL, watch, kv);
}

bool
signals_came(void)
{
	return atomic_load(&came) != 0;
}

void
signals_unwatch(void)
{
	pthread_kill(watcher, SIGUSR1);
	pthread_join(watcher, NULL);
}

void
signals_end(void)
{
	int signal = atomic_load(&came);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!signal)
		return;
	fflush(stdout);
	raise(signal);
}
