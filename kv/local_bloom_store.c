#include "local_blooms.h"

#include <endian.h>
#include <errno.h>

#include "local_catalogue.h"
#include "local_keys.h"
#include "why.h"

#define CHUNK_WORDS (CHUNK / sizeof(uint64_t))

/* --- keys ------------------------------------------------------------- */

void
bloom_mark_key(uint32_t cells, struct buf *out)
{
	buf_be32(out, cells);
}

static void
chunk_key(uint32_t cells, unsigned part, uint64_t word, struct buf *out)
{
	buf_clear(out);
	buf_be32(out, cells);
	buf_byte(out, (uint8_t)part);
	buf_be32(out, (uint32_t)(word / CHUNK_WORDS));
}

/* --- marks ------------------------------------------------------------ */

static void
print_mark(const struct bloom_set *set, struct buf *out)
{
	buf_printf(out, "kind %u\n", (unsigned)set->kind);
	for (unsigned i = 0; i < set->keys.count; i++) {
		const struct bloom_part *p = &set->keys.parts[i];
		buf_printf(out, "lines %llu\nkeys %llu\n",
		    (unsigned long long)p->lines,
		    (unsigned long long)atomic_load(&p->keys));
	}
}

static bool
take_kind(struct slice *text, enum bloomfilter *out)
{
	uint64_t kind;

	if (!entry_take_number(text, "kind", BLOOMFILTER_ROWCOL, &kind))
		return false;
	*out = (enum bloomfilter)kind;
	return kind != BLOOMFILTER_NONE;
}

/* Remembers that a set is stored. What is no mark counts as none. */
static int
meet(struct local *l, struct slice key, struct slice text)
{
	struct blooms *b = l->blooms;
	struct bloom_set *set;
	enum bloomfilter kind;

	if (key.size != sizeof(uint32_t) || !take_kind(&text, &kind))
		return 0;
	int r = blooms_add(b, be32(key.data), &set);
	if (r)
		return r;
	set->kind = kind;
	set->state = BLOOM_STORED;
	set->marked = true;
	return 0;
}

/* Calls each for the first record of every number; c is at no record. */
static int
each_number(struct txn *t, struct ordered_cursor *c,
    int (*each)(struct txn *t, struct slice key, struct slice value))
{
	const struct ordered_methods *o = t->local->ordered->methods;
	struct buf next = {0};
	struct slice key, value;
	int r = o->seek(c, slice_of(NULL, 0), SEEK_FROM);

	while (r == 0) {
		r = o->key(c, &key);
		if (r == 0)
			r = o->value(c, &value);
		if (r)
			break;
		uint32_t number = be32(key.data);
		r = each(t, key, value);
		if (r || number == UINT32_MAX)
			break;
		buf_clear(&next);
		bloom_mark_key(number + 1, &next);
		r = buf_status(&next);
		if (r == 0)
			r = o->seek(c, buf_slice(&next), SEEK_FROM);
	}
	buf_release(&next);
	return r < 0 ? r : 0;
}

static int
meet_first(struct txn *t, struct slice key, struct slice value)
{
	return meet(t->local, key, value);
}

static int
open_body(struct txn *t, void *context)
{
	const struct ordered_methods *o = t->local->ordered->methods;
	struct ordered_cursor *c;

	(void)context;
	/* Stores that are older than the sets have no such table. */
	int r = o->cursor(t->session, BLOOMS, &c);
	if (r == -ENOENT)
		return 0;
	if (r)
		return r;
	t->local->blooms->there = true;
	r = each_number(t, c, meet_first);
	o->cursor_close(c);
	return r;
}

int
blooms_open(struct local *l)
{
	const struct ordered_table_options options = {.compressor = "none"};
	struct blooms *b = l->blooms;

	if (l->options.brief)
		return 0;
	int r = local_read(l, open_body, NULL);
	if (r == 0 && !b->there && !l->options.read_only)
		r = l->ordered->methods->create(l->ordered, BLOOMS, &options);
	b->opened = r == 0;
	return r;
}

/* --- loading ---------------------------------------------------------- */

/* Makes the parts that the mark tells of, empty; keys go in from now on. */
static int
make_parts(struct blooms *b, struct bloom_set *set, struct slice text)
{
	enum bloomfilter kind;
	uint64_t lines, keys;
	int r = 0;

	if (!take_kind(&text, &kind))
		return -EIO;
	while (r == 0 && text.size) {
		if (!entry_take_number(&text, "lines",
			BLOOMS_BYTES / BLOOM_LINE_BYTES, &lines) ||
		    !lines ||
		    !entry_take_number(&text, "keys", INT64_MAX, &keys))
			return -EIO;
		r = blooms_grow(b, &set->keys, lines);
		if (r == 0)
			set->keys.parts[set->keys.count - 1].keys = keys;
	}
	return r;
}

/* Adds a chunk's bits from one word of a part on. */
static int
load_chunk(struct bloom_part *p, uint64_t word, struct slice bytes)
{
	const uint64_t *words = (const uint64_t *)(const void *)bytes.data;
	uint64_t left = p->lines * BLOOM_LINE - word;
	uint64_t count = left < CHUNK_WORDS ? left : CHUNK_WORDS;

	if (bytes.size != count * sizeof(*words))
		return -EIO;
	for (uint64_t i = 0; i < count; i++)
		atomic_fetch_or_explicit(&p->words[word + i], le64toh(words[i]),
		    memory_order_relaxed);
	return 0;
}

/* The part being loaded, with the lock held; NULL, and not held: nobody waits
 * for it any more. */
static struct bloom_part *
hold_part(struct blooms *b, uint32_t cells, unsigned part)
{
	pthread_rwlock_rdlock(&b->lock);
	struct bloom_set *set = blooms_find(b, cells);
	if (set && set->state == BLOOM_LOADING)
		return &set->keys.parts[part];
	pthread_rwlock_unlock(&b->lock);
	return NULL;
}

static int
load_part(struct txn *t, uint32_t cells, unsigned part, uint64_t lines)
{
	struct blooms *b = t->local->blooms;
	struct buf key = {0}, bytes = {0};
	int r = 0;

	for (uint64_t word = 0; r == 0 && word < lines * BLOOM_LINE;
	     word += CHUNK_WORDS) {
		chunk_key(cells, part, word, &key);
		r = buf_status(&key);
		if (r == 0)
			r = txn_get(t, BLOOMS, buf_slice(&key), &bytes);
		if (r)
			break;
		struct bloom_part *p = hold_part(b, cells, part);
		if (!p) {
			r = -ESTALE;
			break;
		}
		r = load_chunk(p, word, buf_slice(&bytes));
		pthread_rwlock_unlock(&b->lock);
	}
	buf_release(&key);
	buf_release(&bytes);
	return r == 1 ? -EIO : r;
}

/* Turns a stored set into one that keys go into. -ESTALE: it is none. */
static int
start_loading(struct blooms *b, uint32_t cells, struct slice mark,
    uint64_t lines[BLOOM_PARTS], unsigned *parts)
{
	pthread_rwlock_wrlock(&b->lock);
	struct bloom_set *set = blooms_find(b, cells);
	int r = set && set->state == BLOOM_STORED ? 0 : -ESTALE;
	if (r == 0) {
		r = make_parts(b, set, mark);
		set->state = BLOOM_LOADING;
		*parts = set->keys.count;
		for (unsigned i = 0; i < *parts; i++)
			lines[i] = set->keys.parts[i].lines;
	}
	pthread_rwlock_unlock(&b->lock);
	return r;
}

static void
end_loading(struct blooms *b, uint32_t cells, int r)
{
	pthread_rwlock_wrlock(&b->lock);
	struct bloom_set *set = blooms_find(b, cells);
	if (set && set->state == BLOOM_LOADING) {
		set->state = r ? BLOOM_LOST : BLOOM_LIVE;
		if (r)
			blooms_release(b, &set->keys);
	}
	pthread_rwlock_unlock(&b->lock);
}

/* Keys that were added at the end while it was being loaded stand in parts
 * that are not stored. */
void
bloom_load(struct txn *t, uint32_t cells)
{
	struct blooms *b = t->local->blooms;
	uint64_t lines[BLOOM_PARTS];
	struct buf key = {0}, mark = {0};
	unsigned parts = 0;

	bloom_mark_key(cells, &key);
	int r = buf_status(&key);
	if (r == 0)
		r = txn_get(t, BLOOMS, buf_slice(&key), &mark);
	r = r == 1 ? -EIO : r;
	int started = start_loading(
	    b, cells, r ? slice_of(NULL, 0) : buf_slice(&mark), lines, &parts);
	for (unsigned i = 0; r == 0 && started == 0 && i < parts; i++)
		r = load_part(t, cells, i, lines[i]);
	if (started != -ESTALE)
		end_loading(b, cells, r ? r : started);
	buf_release(&key);
	buf_release(&mark);
}

/* --- storing ---------------------------------------------------------- */

/* A set on its way into the store, a transaction's worth at a time. */
struct storing {
	struct bloom_set *set;
	unsigned part, next_part;
	uint64_t word, next_word;
	bool begun, done;
};

static int
store_chunk(
    struct txn *t, const struct storing *s, struct buf *key, struct buf *bytes)
{
	const struct bloom_part *p = &s->set->keys.parts[s->next_part];
	uint64_t left = p->lines * BLOOM_LINE - s->next_word;
	uint64_t count = left < CHUNK_WORDS ? left : CHUNK_WORDS;

	chunk_key(s->set->cells, s->next_part, s->next_word, key);
	int r = buf_status(key);
	if (r == 0)
		r = buf_resize(bytes, count * sizeof(uint64_t));
	if (r)
		return r;
	uint64_t *words = (uint64_t *)(void *)bytes->data;
	for (uint64_t i = 0; i < count; i++)
		words[i] = htole64(atomic_load_explicit(
		    &p->words[s->next_word + i], memory_order_relaxed));
	return txn_put(t, BLOOMS, buf_slice(key), buf_slice(bytes));
}

/* Removes what is stored of a number. */
static int
remove_stored(struct txn *t, uint32_t cells)
{
	struct buf from = {0}, to = {0};

	bloom_mark_key(cells, &from);
	bloom_mark_key(cells + 1, &to);
	int r = buf_status(&from);
	if (r == 0)
		r = buf_status(&to);
	if (r == 0)
		r = txn_remove_range(
		    t, BLOOMS, buf_slice(&from), buf_slice(&to));
	buf_release(&from);
	buf_release(&to);
	return r;
}

static int
store_mark(struct txn *t, const struct storing *s, struct buf *key)
{
	struct buf mark = {0};

	buf_clear(key);
	bloom_mark_key(s->set->cells, key);
	print_mark(s->set, &mark);
	int r = buf_status(key);
	if (r == 0)
		r = buf_status(&mark);
	if (r == 0)
		r = txn_put(t, BLOOMS, buf_slice(key), buf_slice(&mark));
	buf_release(&mark);
	return r;
}

static int
store_body(struct txn *t, void *context)
{
	struct storing *s = context;
	const struct bloom *keys = &s->set->keys;
	struct buf key = {0}, bytes = {0};
	int r = s->begun ? 0 : remove_stored(t, s->set->cells);
	uint64_t written = 0;

	s->next_part = s->part;
	s->next_word = s->word;
	while (r == 0 && s->next_part < keys->count &&
	       written + CHUNK <= BATCH_BYTES) {
		r = store_chunk(t, s, &key, &bytes);
		written += bytes.size;
		s->next_word += CHUNK_WORDS;
		if (s->next_word >=
		    keys->parts[s->next_part].lines * BLOOM_LINE) {
			s->next_part++;
			s->next_word = 0;
		}
	}
	s->done = s->next_part == keys->count;
	if (r == 0 && s->done)
		r = store_mark(t, s, &key);
	buf_release(&key);
	buf_release(&bytes);
	return r;
}

struct closing {
	struct local *local;
	int r;
};

static void
store_set(struct bloom_set *set, void *context)
{
	struct closing *c = context;
	struct storing s = {.set = set};

	if (set->state != BLOOM_LIVE || !set->behind)
		return;
	while (c->r == 0 && !s.done) {
		c->r = local_write(c->local, ORDERED_WRITE, store_body, &s);
		s.begun = true;
		s.part = s.next_part;
		s.word = s.next_word;
	}
}

static int
sweep_first(struct txn *t, struct slice key, struct slice value)
{
	(void)value;
	return blooms_find(t->local->blooms, be32(key.data))
		   ? 0
		   : remove_stored(t, be32(key.data));
}

static int
sweep_body(struct txn *t, void *context)
{
	struct ordered_cursor *c;

	(void)context;
	int r = txn_cursor(t, BLOOMS, &c);
	if (r)
		return r;
	r = each_number(t, c, sweep_first);
	t->local->ordered->methods->cursor_close(c);
	return r;
}

void
blooms_close(struct local *l)
{
	struct blooms *b = l->blooms;
	struct closing c = {.local = l};

	if (!b || !b->opened || l->options.read_only)
		return;
	blooms_each(b, store_set, &c);
	if (c.r == 0 && b->forgot)
		c.r = local_write(l, ORDERED_REMOVE, sweep_body, NULL);
	if (c.r)
		local_log(l,
		    "what bloomfilters know was not stored: %s; they are made "
		    "again",
		    why_text(c.r));
}
