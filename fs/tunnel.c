#include "tunnel.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "../kv/kv_data.h"
#include "../kv/why.h"

#define SECONDS 10	   /* within which a name takes its history back */
#define ENTRIES 64	   /* histories that wait, at most */
#define KEPT_VERSIONS 1024 /* of one unlinked history, at most */

/* One version of an unlinked history. */
struct kept {
	int64_t timestamp, ttl;
	struct attrs attrs;
	struct buf value;
};

/* A history that has left its name; an entry without a process is free. */
struct entry_waiting {
	pid_t process;
	time_t until;
	struct spot name;    /* where it was */
	struct spot moved;   /* renamed: where it is, or its newest value */
	int64_t newest;	     /* and its newest version, to know it by */
	struct kept *kept;   /* unlinked: what it was, newest first */
	size_t count;
	uint64_t bytes;	     /* taken from the images' budget */
};

struct tunnel {
	pthread_mutex_t lock; /* guards the rest; nothing is called with it */
	struct entry_waiting waiting[ENTRIES];
	size_t next; /* the entry to be replaced */
};

int
tunnel_open(struct fs *fs)
{
	fs->tunnel = calloc(1, sizeof(*fs->tunnel));
	if (!fs->tunnel)
		return -ENOMEM;
	pthread_mutex_init(&fs->tunnel->lock, NULL);
	return 0;
}

static void
entry_release(struct fs *fs, struct entry_waiting *e)
{
	for (size_t i = 0; i < e->count; i++)
		buf_release(&e->kept[i].value);
	free(e->kept);
	spot_release(&e->name);
	spot_release(&e->moved);
	atomic_fetch_sub(&fs->buffers.used, e->bytes);
	*e = (struct entry_waiting){0};
}

void
tunnel_close(struct fs *fs)
{
	for (size_t i = 0; i < ENTRIES; i++)
		entry_release(fs, &fs->tunnel->waiting[i]);
	pthread_mutex_destroy(&fs->tunnel->lock);
	free(fs->tunnel);
	fs->tunnel = NULL;
}

static time_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* What has waited too long goes. Locked. */
static void
expire(struct fs *fs)
{
	for (size_t i = 0; i < ENTRIES; i++) {
		struct entry_waiting *e = &fs->tunnel->waiting[i];
		if (e->process && e->until < now())
			entry_release(fs, e);
	}
}

/* The entry of this process for cell, or NULL. Locked. */
static struct entry_waiting *
find(struct tunnel *t, pid_t process, const struct spot *cell)
{
	for (size_t i = 0; i < ENTRIES; i++) {
		struct entry_waiting *e = &t->waiting[i];
		if (e->process == process && e->until >= now() &&
		    spot_equal(&e->name, cell))
			return e;
	}
	return NULL;
}

/* Takes over *e; what waited for its name, or else the oldest, makes room. */
static void
wait_for(struct fs *fs, struct entry_waiting *e)
{
	struct tunnel *t = fs->tunnel;
	struct entry_waiting old;

	pthread_mutex_lock(&t->lock);
	expire(fs);
	struct entry_waiting *at = find(t, e->process, &e->name);
	if (!at) {
		at = &t->waiting[t->next];
		t->next = (t->next + 1) % ENTRIES;
	}
	old = *at;
	*at = *e;
	pthread_mutex_unlock(&t->lock);
	entry_release(fs, &old);
}

/* Takes the entry of this process for cell out; false: there is none. */
static bool
take(struct fs *fs, pid_t process, const struct spot *cell,
    struct entry_waiting *out)
{
	struct tunnel *t = fs->tunnel;

	pthread_mutex_lock(&t->lock);
	struct entry_waiting *e = find(t, process, cell);
	if (e) {
		*out = *e;
		*e = (struct entry_waiting){0};
	}
	pthread_mutex_unlock(&t->lock);
	return e;
}

static bool
anything_waits(struct fs *fs)
{
	bool any = false;

	pthread_mutex_lock(&fs->tunnel->lock);
	expire(fs);
	for (size_t i = 0; i < ENTRIES; i++)
		any = any || fs->tunnel->waiting[i].process;
	pthread_mutex_unlock(&fs->tunnel->lock);
	return any;
}

static int
copy_spot(const struct spot *from, struct spot *to)
{
	*to = *from;
	return spot_own(to);
}

void
tunnel_renamed(struct fs *fs, const struct caller *caller,
    const struct spot *from, const struct spot *to)
{
	struct entry_waiting e = {.process = caller_process(caller->thread),
		.until = now() + SECONDS};
	struct info info = {0};
	int r = copy_spot(from, &e.name);

	if (r == 0)
		r = copy_spot(to, &e.moved);
	if (r == 0)
		r = kv_stat(fs->kv, &to->place, to->version, &info);
	e.newest = info.timestamp;
	if (r == 0 && e.process)
		wait_for(fs, &e);
	else
		entry_release(fs, &e);
}

/* --- unlinked histories --------------------------------------------------- */

struct gathering {
	struct fs *fs;
	const struct spot *cell;
	struct entry_waiting *into;
	uint64_t small; /* what counts against MUTATE_BYTES_MAX */
};

/* Reads one version into memory, as far as the budget goes and one mutation
 * can put it back. */
static int
gather(void *context, const struct cell *cell)
{
	struct gathering *g = context;
	struct entry_waiting *e = g->into;
	struct version at = {VERSION_AT, cell->timestamp};
	struct value *value;

	if (e->count == KEPT_VERSIONS ||
	    atomic_load(&g->fs->buffers.used) + cell->size >
		g->fs->buffers.limit / 2)
		return -EFBIG;
	g->small += g->cell->place.qualifier.size +
	    (cell->size <= INLINE_MAX ? cell->size : 0);
	if (g->small > MUTATE_BYTES_MAX)
		return -EFBIG;
	struct kept *kept =
	    realloc(e->kept, (e->count + 1) * sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	e->kept = kept;
	kept = &kept[e->count];
	*kept = (struct kept){.timestamp = cell->timestamp,
		.ttl = cell->ttl, .attrs = cell->attrs};
	int r = kv_value_open(g->fs->kv, &g->cell->place, at, &value);
	if (r < 0)
		return r;
	r = buf_resize(&kept->value, cell->size);
	if (r == 0 &&
	    kv_value_read(g->fs->kv, value, 0, kept->value.data,
		cell->size) != (int64_t)cell->size)
		r = -EIO;
	kv_value_close(g->fs->kv, value);
	e->count++;
	e->bytes += cell->size;
	atomic_fetch_add(&g->fs->buffers.used, cell->size);
	return r;
}

/* Keeps the history of cell in memory; to is NULL if it is not renamed. */
static void
keep(struct fs *fs, const struct caller *caller, const struct spot *cell,
    const struct spot *to)
{
	struct entry_waiting e = {.process = caller_process(caller->thread),
		.until = now() + SECONDS};
	struct gathering g = {.fs = fs, .cell = cell, .into = &e};
	int r = copy_spot(cell, &e.name);

	if (r == 0 && to)
		r = copy_spot(to, &e.moved);
	if (r == 0)
		r = kv_versions(fs->kv, &cell->place, TS_LATEST, gather, &g);
	if (r == 0 && e.count && e.process)
		wait_for(fs, &e);
	else
		entry_release(fs, &e);
}

void
tunnel_unlinking(struct fs *fs, const struct caller *caller,
    const struct spot *cell)
{
	keep(fs, caller, cell, NULL);
}

/* Puts an unlinked history back, each version at its own timestamp. */
static int
put_back(struct fs *fs, const struct spot *cell, const struct entry_waiting *e)
{
	struct op *ops = calloc(e->count, sizeof(*ops));
	struct mutation m = {.table = cell->place.table,
		.row = cell->place.row, .ops = ops, .count = e->count,
		.flags = MUTATE_KEEP};

	if (!ops)
		return -ENOMEM;
	for (size_t i = 0; i < e->count; i++)
		ops[i] = (struct op){.type = OP_PUT,
			.family = cell->place.family,
			.qualifier = cell->place.qualifier,
			.timestamp = e->kept[i].timestamp,
			.ttl = e->kept[i].ttl,
			.value = buf_slice(&e->kept[i].value),
			.attrs = e->kept[i].attrs};
	int r = kv_mutate(fs->kv, &m);
	free(ops);
	return r;
}

void
tunnel_forget(struct fs *fs, const struct caller *caller,
    const struct spot *cell)
{
	struct entry_waiting e;

	if (anything_waits(fs) &&
	    take(fs, caller_process(caller->thread), cell, &e))
		entry_release(fs, &e);
}

void
tunnel_clear(struct fs *fs)
{
	pthread_mutex_lock(&fs->tunnel->lock);
	for (size_t i = 0; i < ENTRIES; i++)
		entry_release(fs, &fs->tunnel->waiting[i]);
	pthread_mutex_unlock(&fs->tunnel->lock);
}

/* Moves a renamed history back, if what stands under that name is still it. */
static int
move_back(struct fs *fs, const struct spot *cell,
    const struct entry_waiting *e)
{
	struct info info;
	int r = kv_stat(fs->kv, &e->moved.place, e->moved.version, &info);

	if (r < 0)
		return r;
	if (info.timestamp != e->newest)
		return -ENOENT;
	const struct move_spec back = {.from = &e->moved.place,
		.from_version = e->moved.version, .to = &cell->place,
		.to_version = cell->version,
		.flags = MOVE_KEEP | MOVE_TAKE_BACK};
	return kv_move(fs->kv, &back, NULL);
}

int
tunnel_restore(struct fs *fs, const struct caller *caller,
    const struct spot *cell)
{
	struct entry_waiting e;

	if (!anything_waits(fs) ||
	    !take(fs, caller_process(caller->thread), cell, &e))
		return 0;
	int r = e.kept ? put_back(fs, cell, &e) : move_back(fs, cell, &e);
	entry_release(fs, &e);
	if (r == -ENOENT)
		return 0; /* removed since: nothing to take back */
	return r < 0 ? r : 1;
}

/* Whether what waits for `to` has become from: it is only coming home. */
static bool
comes_home(struct fs *fs, pid_t process, const struct spot *from,
    const struct spot *to)
{
	pthread_mutex_lock(&fs->tunnel->lock);
	struct entry_waiting *e = find(fs->tunnel, process, to);
	bool home = e && spot_equal(&e->moved, from);
	pthread_mutex_unlock(&fs->tunnel->lock);
	return home;
}

static int
count_two(void *context, const struct cell *cell)
{
	(void)cell;
	return ++*(int *)context == 2;
}

int
tunnel_renaming(struct fs *fs, const struct caller *caller,
    const struct spot *from, const struct spot *to)
{
	pid_t process = caller_process(caller->thread);
	bool cell = from->kind == KIND_CELL;
	int versions = 0, r = 0;

	if (to->kind == KIND_CELL && anything_waits(fs)) {
		if (cell)
			r = kv_versions(fs->kv, &from->place, TS_LATEST,
			    count_two, &versions);
		if (r < 0)
			return r;
		if (versions > 1 || comes_home(fs, process, from, to))
			tunnel_forget(fs, caller, to);
		r = tunnel_restore(fs, caller, to);
	}
	if (cell && (r == 1 || to->kind != KIND_CELL))
		keep(fs, caller, from, to);
	return r;
}
