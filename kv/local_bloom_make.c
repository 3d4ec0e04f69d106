#include "local_blooms.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "local_walk.h"

#define SLICE_MS 500 /* of work in the background at a time */

static int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- one set (making held) -------------------------------------------- */

/* From now on keys that are put go into what is made as well; those put
 * before are found by reading. */
static int
begin(struct local *l, const struct local_family *f, uint64_t keys)
{
	struct blooms *b = l->blooms;
	struct bloom_set *set;

	pthread_mutex_lock(&l->writer);
	pthread_rwlock_wrlock(&b->lock);
	int r = blooms_add(b, f->cells, &set);
	if (r == 0 && set->making)
		blooms_release(b, set->making);
	if (r == 0 && !set->making)
		set->making = calloc(1, sizeof(*set->making));
	if (r == 0 && !set->making)
		r = -ENOMEM;
	if (r == 0) {
		set->making_kind = f->declared.bloomfilter;
		set->settled = false;
		r = blooms_grow(
		    b, set->making, bloom_growth(set->making, keys));
		if (r)
			blooms_give_up(b, set);
	}
	pthread_rwlock_unlock(&b->lock);
	pthread_mutex_unlock(&l->writer);
	b->making_of = r ? 0 : f->cells;
	buf_clear(&b->making_from);
	return r;
}

/* -ESTALE: it is no longer being made. */
static int
put_key(struct blooms *b, uint32_t cells, struct slice key)
{
	struct bloom_set *set = blooms_hold_ready(b, cells);
	int r = set && set->making ? 0 : -ESTALE;

	if (r == 0)
		bloom_put(set->making, set->making_kind, key);
	pthread_rwlock_unlock(&b->lock);
	return r;
}

/* Reads what one snapshot allows: WALK_END, or WALK_PAUSE. */
static int
read_body(struct txn *t, void *context)
{
	const struct local_family *f = context;
	struct blooms *b = t->local->blooms;
	struct budget budget = budget_new();
	struct walk w = {0};

	int r = walk_open(&w, t, f);
	if (r == 0)
		r = walk_seek(&w, buf_slice(&b->making_from));
	while (r == 0) {
		if (budget_spent(&budget)) {
			r = buf_set(&b->making_from, w.key);
			r = r ? r : WALK_PAUSE;
			break;
		}
		r = put_key(b, f->cells, w.key);
		if (r == 0)
			r = f->declared.bloomfilter == BLOOMFILTER_ROW
				? walk_skip_row(&w)
				: walk_skip_column(&w);
	}
	walk_release(&w);
	return r;
}

/* Puts what was made in the place of what was there. Snapshots that have begun
 * may show what it has not. */
static void
finish(struct local *l, const struct local_family *f)
{
	struct blooms *b = l->blooms;

	pthread_mutex_lock(&l->writer);
	pthread_rwlock_wrlock(&b->lock);
	struct bloom_set *set = blooms_find(b, f->cells);
	if (set && set->making) {
		blooms_release(b, &set->keys);
		set->keys = *set->making;
		free(set->making);
		set->making = NULL;
		set->kind = set->making_kind;
		set->since = atomic_fetch_add(&b->moment, 1) + 1;
		set->behind = true;
		set->state = BLOOM_LIVE;
	}
	pthread_rwlock_unlock(&b->lock);
	pthread_mutex_unlock(&l->writer);
	b->making_of = 0;
}

static void
abandon(struct local *l, const struct local_family *f, bool for_good)
{
	struct blooms *b = l->blooms;

	pthread_rwlock_wrlock(&b->lock);
	struct bloom_set *set = blooms_find(b, f->cells);
	if (set && set->making) {
		blooms_give_up(b, set);
		set->settled = for_good;
	}
	pthread_rwlock_unlock(&b->lock);
	b->making_of = 0;
}

/* Goes on with what begin() began, until then. 1: it is not done yet. */
static int
go_on(struct local *l, const struct local_family *f, int64_t until)
{
	int r = 0;

	do {
		r = local_interrupted(l);
		if (r == 0)
			r = local_read(l, read_body, (void *)f);
	} while (r == WALK_PAUSE && now_ms() < until);
	if (r == WALK_PAUSE)
		return 1;
	if (r == WALK_END)
		finish(l, f);
	else if (r < 0)
		abandon(l, f, r == -EIO || r == -ENOMEM);
	return r < 0 ? r : 0;
}

/* The keys of the set, and whether it has grown into many parts. */
static bool
unwieldy(struct blooms *b, uint32_t cells, uint64_t *keys)
{
	pthread_rwlock_rdlock(&b->lock);
	const struct bloom_set *set = blooms_find(b, cells);
	bool many =
	    set && set->state == BLOOM_LIVE && set->keys.count > BLOOM_UNWIELDY;
	*keys = many ? bloom_keys(&set->keys) : 0;
	pthread_rwlock_unlock(&b->lock);
	return many;
}

int
bloom_remake(struct local *l, const struct local_family *f)
{
	struct blooms *b = l->blooms;
	uint64_t keys = 0;

	if (f->declared.bloomfilter == BLOOMFILTER_NONE)
		return 0;
	pthread_mutex_lock(&b->making);
	/* How many there are, the first reading tells. */
	int r = begin(l, f, 0);
	if (r == 0)
		r = go_on(l, f, INT64_MAX);
	if (r == 0 && unwieldy(b, f->cells, &keys)) {
		r = begin(l, f, keys);
		if (r == 0)
			r = go_on(l, f, INT64_MAX);
	}
	pthread_mutex_unlock(&b->making);
	return r == -ENOMEM || r == -ESTALE ? 0 : r;
}

/* --- all that need it ------------------------------------------------- */

static bool
needs_making(struct blooms *b, const struct local_family *f)
{
	bool needs = false;

	pthread_rwlock_rdlock(&b->lock);
	const struct bloom_set *set = blooms_find(b, f->cells);
	if (!set)
		needs = true;
	else if (!set->settled)
		needs = set->making || set->state == BLOOM_LOST ||
			set->kind != f->declared.bloomfilter ||
			set->keys.count > BLOOM_UNWIELDY;
	pthread_rwlock_unlock(&b->lock);
	return needs;
}

static int
work_on(struct local *l, const struct local_family *f, int64_t until)
{
	struct blooms *b = l->blooms;
	uint64_t keys;
	int r = 0;

	if (f->declared.bloomfilter == BLOOMFILTER_NONE) {
		bloom_forget(l, f->cells);
		return 0;
	}
	if (!needs_making(b, f))
		return 0;
	pthread_mutex_lock(&b->making);
	unwieldy(b, f->cells, &keys);
	if (b->making_of != f->cells)
		r = begin(l, f, keys);
	if (r == 0)
		r = go_on(l, f, until);
	pthread_mutex_unlock(&b->making);
	return r == -ENOMEM || r == -ESTALE ? 0 : r;
}

int
blooms_work(struct local *l)
{
	int64_t until = now_ms() + SLICE_MS;
	struct table **tables;
	size_t count;

	int r = tables_hold(l, &tables, &count);
	if (r)
		return r;
	for (size_t i = 0; r == 0 && i < count; i++)
		for (size_t j = 0; r == 0 && j < tables[i]->schema.count; j++) {
			if (table_stale(tables[i]))
				break;
			r = work_on(l, &tables[i]->families[j], until);
			if (r < 0 && r != -EINTR && table_stale(tables[i]))
				r = 0;
		}
	tables_put(tables, count);
	return r < 0 ? r : 0;
}
