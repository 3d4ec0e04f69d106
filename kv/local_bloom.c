#include "local_blooms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "key.h"
#include "local_keys.h"

#define END_SIZE 2 /* of a component */

/* --- the sets --------------------------------------------------------- */

struct blooms *
blooms_new(void)
{
	struct blooms *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	pthread_rwlock_init(&b->lock, NULL);
	pthread_mutex_init(&b->making, NULL);
	return b;
}

static struct bloom_set **
bucket_of(struct blooms *b, uint32_t cells)
{
	return &b->buckets[cells % BLOOM_BUCKETS];
}

struct bloom_set *
blooms_find(struct blooms *b, uint32_t cells)
{
	struct bloom_set *set = *bucket_of(b, cells);

	while (set && set->cells != cells)
		set = set->next;
	return set;
}

int
blooms_add(struct blooms *b, uint32_t cells, struct bloom_set **out)
{
	*out = blooms_find(b, cells);
	if (*out)
		return 0;
	struct bloom_set *set = calloc(1, sizeof(*set));
	if (!set)
		return -ENOMEM;
	set->cells = cells;
	set->state = BLOOM_LOST;
	set->next = *bucket_of(b, cells);
	*bucket_of(b, cells) = set;
	*out = set;
	return 0;
}

void
blooms_release(struct blooms *b, struct bloom *keys)
{
	b->bytes -= bloom_bytes(keys);
	bloom_release(keys);
}

int
blooms_grow(struct blooms *b, struct bloom *keys, uint64_t lines)
{
	uint64_t before = bloom_bytes(keys);

	if (lines > (BLOOMS_BYTES - b->bytes) / BLOOM_LINE_BYTES)
		return -ENOMEM;
	int r = bloom_grow(keys, lines);
	b->bytes += bloom_bytes(keys) - before;
	return r;
}

static void
set_free(struct blooms *b, struct bloom_set *set)
{
	blooms_release(b, &set->keys);
	if (set->making)
		blooms_release(b, set->making);
	free(set->making);
	free(set);
}

void
blooms_free(struct blooms *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < BLOOM_BUCKETS; i++)
		while (b->buckets[i]) {
			struct bloom_set *set = b->buckets[i];
			b->buckets[i] = set->next;
			set_free(b, set);
		}
	buf_release(&b->making_from);
	pthread_rwlock_destroy(&b->lock);
	pthread_mutex_destroy(&b->making);
	free(b);
}

void
bloom_begin(struct local *l, const struct family *f, uint32_t cells)
{
	struct blooms *b = l->blooms;
	struct bloom_set *set;

	if (f->bloomfilter == BLOOMFILTER_NONE)
		return;
	pthread_rwlock_wrlock(&b->lock);
	if (blooms_add(b, cells, &set) == 0) {
		set->kind = f->bloomfilter;
		set->state = BLOOM_LIVE;
		set->behind = true;
	}
	pthread_rwlock_unlock(&b->lock);
}

void
bloom_forget(struct local *l, uint32_t cells)
{
	struct blooms *b = l->blooms;

	pthread_rwlock_wrlock(&b->lock);
	struct bloom_set **at = bucket_of(b, cells);
	while (*at && (*at)->cells != cells)
		at = &(*at)->next;
	struct bloom_set *set = *at;
	if (set) {
		*at = set->next;
		b->forgot = true;
		set_free(b, set);
	}
	pthread_rwlock_unlock(&b->lock);
}

/* --- asking ----------------------------------------------------------- */

/* The hash of what stands in a key for a row or a qualifier, its end left out.
 */
static int
hash_name(struct slice name, uint64_t *hash)
{
	struct buf escaped = {0};
	int r = 0;

	if (!name.size || !memchr(name.data, 0, name.size)) {
		*hash = slice_hash(name, *hash);
		return 0;
	}
	key_prefix(&escaped, name);
	r = buf_status(&escaped);
	*hash = slice_hash(buf_slice(&escaped), *hash);
	buf_release(&escaped);
	return r;
}

uint64_t
blooms_moment(struct local *l)
{
	return atomic_load(&l->blooms->moment);
}

enum answer { UNKNOWN, UNLOADED, ABSENT, MAYBE };

static enum answer
ask(struct txn *t, const struct local_family *f, uint64_t hash)
{
	struct blooms *b = t->local->blooms;
	enum answer answer = UNKNOWN;

	pthread_rwlock_rdlock(&b->lock);
	const struct bloom_set *set = blooms_find(b, f->cells);
	if (!set || set->kind != f->declared.bloomfilter)
		answer = UNKNOWN;
	else if (set->state == BLOOM_STORED)
		answer = UNLOADED;
	else if (set->state == BLOOM_LIVE && set->since <= t->blooms)
		answer = bloom_may(&set->keys, hash) ? MAYBE : ABSENT;
	pthread_rwlock_unlock(&b->lock);
	return answer;
}

static bool
lacks(struct txn *t, const struct local_family *f, struct slice row,
    const struct slice *qualifier)
{
	uint64_t hash = 0;

	if (f->declared.bloomfilter == BLOOMFILTER_NONE ||
	    t->local->options.brief)
		return false;
	if (hash_name(row, &hash))
		return false;
	if (qualifier && f->declared.bloomfilter == BLOOMFILTER_ROWCOL &&
	    hash_name(*qualifier, &hash))
		return false;
	enum answer answer = ask(t, f, hash);
	if (answer == UNLOADED) {
		bloom_load(t, f->cells);
		answer = ask(t, f, hash);
	}
	if (answer == ABSENT)
		local_count(t->local, COUNT_BLOOM_ABSENT, 1);
	else if (answer == MAYBE)
		local_count(t->local, COUNT_BLOOM_MAYBE, 1);
	return answer == ABSENT;
}

bool
bloom_lacks_row(struct txn *t, const struct local_family *f, struct slice row)
{
	return lacks(t, f, row, NULL);
}

bool
bloom_lacks_column(struct txn *t, const struct local_family *f,
    struct slice row, struct slice qualifier)
{
	return lacks(t, f, row, &qualifier);
}

/* --- keeping ---------------------------------------------------------- */

unsigned
bloom_put(struct bloom *keys, enum bloomfilter kind, struct slice key)
{
	size_t size = key_component_size(key);

	if (!size)
		return 0;
	uint64_t hash = slice_hash(slice_head(key, size - END_SIZE), 0);
	unsigned fresh = bloom_add(keys, hash);
	key = slice_skip(key, size);
	size = key_component_size(key);
	if (kind != BLOOMFILTER_ROWCOL || !size)
		return fresh;
	hash = slice_hash(slice_head(key, size - END_SIZE), hash);
	return fresh + bloom_add(keys, hash);
}

static bool
takes_keys(const struct bloom_set *set)
{
	return set->state == BLOOM_LOADING || set->state == BLOOM_LIVE;
}

/* Whether a key can go into it as it is. */
static bool
is_ready(const struct bloom_set *set)
{
	return set->state != BLOOM_STORED &&
	       !(takes_keys(set) && bloom_full(&set->keys)) &&
	       !(set->making && bloom_full(set->making));
}

void
blooms_give_up(struct blooms *b, struct bloom_set *set)
{
	blooms_release(b, set->making);
	free(set->making);
	set->making = NULL;
	set->settled = true;
}

static void
make_ready(struct blooms *b, struct bloom_set *set)
{
	if (set->state == BLOOM_STORED)
		set->state = BLOOM_LOST;
	if (takes_keys(set) && bloom_full(&set->keys) &&
	    blooms_grow(b, &set->keys, bloom_growth(&set->keys, 0))) {
		set->state = BLOOM_LOST;
		set->settled = true;
		blooms_release(b, &set->keys);
	}
	if (set->making && bloom_full(set->making) &&
	    blooms_grow(b, set->making, bloom_growth(set->making, 0)))
		blooms_give_up(b, set);
}

struct bloom_set *
blooms_hold_ready(struct blooms *b, uint32_t cells)
{
	pthread_rwlock_rdlock(&b->lock);
	struct bloom_set *set = blooms_find(b, cells);
	if (!set || is_ready(set))
		return set;
	pthread_rwlock_unlock(&b->lock);
	pthread_rwlock_wrlock(&b->lock);
	set = blooms_find(b, cells);
	if (set)
		make_ready(b, set);
	return set;
}

/* Whether what is stored is to count no longer. */
static bool
note(struct blooms *b, struct bloom_set *set, struct slice key)
{
	if (!takes_keys(set) || bloom_put(&set->keys, set->kind, key))
		set->behind = true;
	if (set->making)
		bloom_put(set->making, set->making_kind, key);
	if (!set->marked || !set->behind || set->unmarking)
		return false;
	set->unmarking = b->unmarking = true;
	return true;
}

int
bloom_note(struct txn *t, uint32_t table, struct slice key)
{
	struct blooms *b = t->local->blooms;
	struct buf mark = {0};
	bool unmark = false;

	if (table < FIRST_TABLE)
		return 0;
	struct bloom_set *set = blooms_hold_ready(b, table);
	if (set)
		unmark = note(b, set, key);
	pthread_rwlock_unlock(&b->lock);
	if (!unmark)
		return 0;
	bloom_mark_key(table, &mark);
	int r = buf_status(&mark);
	if (r == 0)
		r = txn_remove(t, BLOOMS, buf_slice(&mark));
	buf_release(&mark);
	return r;
}

void
blooms_each(struct blooms *b,
    void (*each)(struct bloom_set *set, void *context), void *context)
{
	for (size_t i = 0; i < BLOOM_BUCKETS; i++)
		for (struct bloom_set *s = b->buckets[i]; s; s = s->next)
			each(s, context);
}

static void
ended(struct bloom_set *set, void *committed)
{
	if (set->unmarking && *(const bool *)committed)
		set->marked = false;
	set->unmarking = false;
}

void
blooms_ended(struct local *l, bool committed)
{
	struct blooms *b = l->blooms;

	if (!b->unmarking)
		return;
	b->unmarking = false;
	pthread_rwlock_rdlock(&b->lock);
	blooms_each(b, ended, &committed);
	pthread_rwlock_unlock(&b->lock);
}

/* --- counting --------------------------------------------------------- */

static void
add_keys(struct bloom_set *set, void *sum)
{
	*(uint64_t *)sum += bloom_keys(&set->keys);
}

void
blooms_stats(struct local *l, stat_emit emit, void *context)
{
	struct blooms *b = l->blooms;
	uint64_t keys = 0;

	pthread_rwlock_rdlock(&b->lock);
	uint64_t bytes = b->bytes;
	blooms_each(b, add_keys, &keys);
	pthread_rwlock_unlock(&b->lock);
	emit(context, "bloom_keys", keys);
	emit(context, "bloom_bytes", bytes);
}
