#include "store.h"

#include "mounted.h"
#include "progress.h"
#include "signals.h"

#include "../kv/why.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define CACHE ((uint64_t)64 << 20) /* bytes: what a command reads it reads once */

/* Guards what log_line() reads and writes: it is called by any thread. */
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

/* What the store logs while it opens (a recovery) is shown once it is open:
 * of one that does not open, the refusal says it all. */
static void
log_line(void *context, const char *line)
{
	struct store *s = context;

	pthread_mutex_lock(&log_lock);
	if (s->opened) {
		message(s->path, line);
	} else {
		buf_text(&s->opening, line);
		buf_byte(&s->opening, '\n');
	}
	pthread_mutex_unlock(&log_lock);
}

static void
show_opening(struct store *s)
{
	char *rest;

	pthread_mutex_lock(&log_lock);
	s->opened = true;
	buf_byte(&s->opening, 0);
	if (buf_status(&s->opening) == 0)
		for (char *line =
			 strtok_r((char *)s->opening.data, "\n", &rest);
		     line; line = strtok_r(NULL, "\n", &rest))
			message(s->path, line);
	buf_clear(&s->opening);
	pthread_mutex_unlock(&log_lock);
}

/* A directory inside a mount is no store; say so in terms of the mount. */
static int
refuse_mount(const char *path)
{
	struct mounted m;
	int r = mounted_at(path, &m);

	if (r == 0)
		r = mounted_refuse(&m);
	mounted_release(&m);
	return r == 1 ? 0 : r;
}

static int
open_patiently(struct store *s, const struct kv_options *options)
{
	int r = kv_open(options, &s->kv);

	for (int waited = 0;
	     r == -EBUSY && waited < PASSING_MS && mounted_passing(s->path);
	     waited += PASSING_POLL_MS) {
		buf_clear(&s->opening);
		r = kv_open(options, &s->kv);
	}
	if (r == 0)
		show_opening(s);
	buf_release(&s->opening);
	return r;
}

static int
open_kv(struct store *s, enum store_use use)
{
	const struct kv_options options = {
	    .path = s->path,
	    .cache = CACHE,
	    .read_only = use == STORE_READ,
	    .create = use == STORE_CREATE,
	    .repair = use == STORE_REPAIR,
	    .log = log_line,
	    .log_context = s,
	};
	int r;

	if (use != STORE_READ)
		signals_block();
	r = open_patiently(s, &options);
	if (r < 0 || use == STORE_READ)
		return r;
	r = signals_watch(s->kv);
	if (r < 0) {
		kv_close(s->kv);
		return r;
	}
	s->watched = true;
	return 0;
}

int
store_try(struct store *s, const char *path, enum store_use use)
{
	int r = refuse_mount(path);

	*s = (struct store){.path = path};
	return r < 0 ? r : open_kv(s, use);
}

int
store_open(struct store *s, const char *path, enum store_use use)
{
	int r = store_try(s, path, use);

	return r < 0 ? failed(path, r) : STATUS_DONE;
}

int
store_close(struct store *s, int status)
{
	int r;

	if (s->watched)
		signals_unwatch();
	r = kv_close(s->kv);
	if (r < 0 && status != STATUS_FAILED)
		status = failed(s->path, r);
	if (s->watched)
		signals_end();
	return status;
}

bool
store_delegate(const struct arguments *a, const char *subject, const char *line,
    int *status)
{
	struct mounted m;
	int r = mounted_find(a->operands[0], &m);

	*status = STATUS_DONE;
	if (r == 1)
		return false;
	if (r == 0) {
		progress_begin(a, a->command->name);
		r = mounted_control(&m, line);
		progress_end();
	}
	mounted_release(&m);
	if (r < 0)
		*status = failed(subject, r);
	return true;
}
