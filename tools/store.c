#include "store.h"

#include "mounted.h"
#include "signals.h"

#include "../kv/why.h"

#include <errno.h>

static void
log_line(void *path, const char *line)
{
	message(path, line);
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
open_kv(struct store *s, enum store_use use)
{
	const struct kv_options options = {
	    .path = s->path,
	    .read_only = use == STORE_READ,
	    .create = use == STORE_CREATE,
	    .repair = use == STORE_REPAIR,
	    .log = log_line,
	    .log_context = (void *)s->path,
	};
	int r;

	if (use != STORE_READ)
		signals_block();
	r = kv_open(&options, &s->kv);
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
store_delegate(const char *path, const char *subject, const char *line,
    int *status)
{
	struct mounted m;
	int r = mounted_find(path, &m);

	*status = STATUS_DONE;
	if (r == 1)
		return false;
	if (r == 0)
		r = mounted_control(&m, line);
	mounted_release(&m);
	if (r < 0)
		*status = failed(subject, r);
	return true;
}
