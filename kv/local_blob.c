#include "local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "why.h"

#define BUCKETS 256

struct pin {
	struct pin *next;
	uint32_t blobs;
	uint64_t id;
	unsigned holders;
	bool dropped;	 /* to be collected when the last holder goes */
	bool collecting; /* its chunks are being removed: too late to pin */
};

/* The next id of a blob table; found out when it is first written to. */
struct counter_of {
	struct counter_of *next;
	uint32_t blobs;
	uint64_t id;
};

struct pins {
	pthread_mutex_t lock; /* guards all the rest */
	struct pin *buckets[BUCKETS];
	struct counter_of *counters;
};

struct pins *
pins_new(void)
{
	struct pins *pins = calloc(1, sizeof(*pins));

	if (pins)
		pthread_mutex_init(&pins->lock, NULL);
	return pins;
}

void
pins_free(struct pins *pins)
{
	if (!pins)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		while (pins->buckets[i]) {
			struct pin *pin = pins->buckets[i];
			pins->buckets[i] = pin->next;
			free(pin);
		}
	while (pins->counters) {
		struct counter_of *counter = pins->counters;
		pins->counters = counter->next;
		free(counter);
	}
	pthread_mutex_destroy(&pins->lock);
	free(pins);
}

/* --- keys --------------------------------------------------------------- */

static void
chunk_key(struct buf *key, uint64_t id, uint32_t chunk)
{
	buf_byte(key, 'b');
	buf_be64(key, id);
	buf_be32(key, chunk);
}

static void
pending_key(struct buf *key, uint64_t id)
{
	buf_byte(key, 'p');
	buf_be64(key, id);
}

/* A cursor's step that ends the transaction's use of it. */
static int
with_cursor(struct txn *t, uint32_t blobs,
    int (*step)(struct txn *t, struct ordered_cursor *c, void *context),
    void *context)
{
	const struct ordered_methods *m = t->local->ordered->methods;
	struct ordered_cursor *c;

	int r = m->cursor(t->session, blobs, &c);
	if (r)
		return r;
	r = step(t, c, context);
	m->cursor_close(c);
	return r;
}

/* --- pins --------------------------------------------------------------- */

static struct pin **
pin_slot(struct pins *pins, uint32_t blobs, uint64_t id)
{
	struct pin **at = &pins->buckets[(id + blobs * 31u) % BUCKETS];

	while (*at && ((*at)->blobs != blobs || (*at)->id != id))
		at = &(*at)->next;
	return at;
}

static struct pin *
pin_of(struct pins *pins, uint32_t blobs, uint64_t id)
{
	struct pin **at = pin_slot(pins, blobs, id);

	if (!*at) {
		*at = calloc(1, sizeof(**at));
		if (*at) {
			(*at)->blobs = blobs;
			(*at)->id = id;
		}
	}
	return *at;
}

static void
pin_free(struct pins *pins, uint32_t blobs, uint64_t id)
{
	struct pin **at = pin_slot(pins, blobs, id);
	struct pin *pin = *at;

	*at = pin->next;
	free(pin);
}

static int
seek_chunk(struct txn *t, struct ordered_cursor *c, void *context)
{
	const uint64_t *id = context;
	struct buf key = {0};

	chunk_key(&key, *id, 0);
	int r = buf_status(&key);
	if (r == 0)
		r = t->local->ordered->methods->seek(
		    c, buf_slice(&key), SEEK_EXACT);
	buf_release(&key);
	return r;
}

/* Whether the chunks are there now, in no older snapshot. */
static int
still_there(struct local *l, uint32_t blobs, uint64_t id)
{
	struct txn t;

	int r = txn_read(l, &t);
	if (r == 0)
		r = with_cursor(&t, blobs, seek_chunk, &id);
	r = txn_end(&t, r);
	return r == 1 ? -EAGAIN : r;
}

/* One holder less; whether that was the last one of a dropped blob. */
static bool
let_go(struct pins *pins, uint32_t blobs, uint64_t id)
{
	bool collect = false;

	pthread_mutex_lock(&pins->lock);
	struct pin *pin = *pin_slot(pins, blobs, id);
	if (--pin->holders == 0) {
		collect = pin->dropped;
		pin_free(pins, blobs, id);
	}
	pthread_mutex_unlock(&pins->lock);
	return collect;
}

int
blob_pin(struct local *l, uint32_t blobs, uint64_t id)
{
	struct pins *pins = l->pins;
	int r = 0;

	pthread_mutex_lock(&pins->lock);
	struct pin *pin = pin_of(pins, blobs, id);
	if (!pin)
		r = -ENOMEM;
	else if (pin->collecting)
		r = -EAGAIN;
	else
		pin->holders++;
	pthread_mutex_unlock(&pins->lock);
	if (r)
		return r;
	r = still_there(l, blobs, id);
	if (r)
		let_go(pins, blobs, id); /* what is gone is not collected */
	return r;
}

void
blob_unpin(struct local *l, uint32_t blobs, uint64_t id)
{
	if (let_go(l->pins, blobs, id))
		blob_collect(l, blobs, id);
}

bool
blob_pinned(struct local *l, uint32_t blobs)
{
	bool pinned = false;

	pthread_mutex_lock(&l->pins->lock);
	for (size_t i = 0; !pinned && i < BUCKETS; i++)
		for (const struct pin *p = l->pins->buckets[i]; p; p = p->next)
			pinned = pinned || (p->blobs == blobs && p->holders);
	pthread_mutex_unlock(&l->pins->lock);
	return pinned;
}

/* --- removing ----------------------------------------------------------- */

struct blob_name {
	uint32_t blobs;
	uint64_t id;
};

static int
remove_chunks(struct txn *t, void *context)
{
	const struct blob_name *name = context;
	struct buf from = {0}, to = {0}, pending = {0};

	chunk_key(&from, name->id, 0);
	chunk_key(&to, name->id + 1, 0);
	pending_key(&pending, name->id);
	int r = buf_status(&pending);
	if (r == 0)
		r = txn_remove_range(
		    t, name->blobs, buf_slice(&from), buf_slice(&to));
	if (r == 0)
		r = txn_remove(t, name->blobs, buf_slice(&pending));
	buf_release(&from);
	buf_release(&to);
	buf_release(&pending);
	return r;
}

/* Whether nobody holds it; then nobody can pin it any more. */
static bool
claim(struct pins *pins, uint32_t blobs, uint64_t id)
{
	bool free_now = false;

	pthread_mutex_lock(&pins->lock);
	struct pin *pin = pin_of(pins, blobs, id);
	if (pin && pin->holders) {
		pin->dropped = true;
	} else if (pin && !pin->collecting) {
		pin->collecting = true;
		free_now = true;
	}
	pthread_mutex_unlock(&pins->lock);
	return free_now;
}

void
blob_collect(struct local *l, uint32_t blobs, uint64_t id)
{
	struct blob_name name = {blobs, id};

	if (!claim(l->pins, blobs, id))
		return;
	int r = local_write(l, ORDERED_REMOVE, remove_chunks, &name);
	if (r)
		local_log(l, "a dropped value stays until the next start: %s",
		    why_text(r));
	pthread_mutex_lock(&l->pins->lock);
	pin_free(l->pins, blobs, id);
	pthread_mutex_unlock(&l->pins->lock);
}

/* Appends the ids of all pending blobs to the buffer in context. */
static int
gather_pending(struct txn *t, struct ordered_cursor *c, void *context)
{
	const struct ordered_methods *m = t->local->ordered->methods;
	struct buf *ids = context;
	struct slice key;

	int r = m->seek(c, slice_text("p"), SEEK_FROM);
	for (; r == 0; r = m->next(c)) {
		r = m->key(c, &key);
		if (r)
			return r;
		if (key.size != 9 || key.data[0] != 'p')
			return 0;
		uint64_t id = be64(key.data + 1);
		buf_append(ids, slice_of(&id, sizeof(id)));
	}
	return r == 1 ? buf_status(ids) : r;
}

int
blob_sweep(struct local *l, uint32_t blobs)
{
	struct buf ids = {0};
	struct txn t;

	int r = txn_read(l, &t);
	if (r == 0)
		r = with_cursor(&t, blobs, gather_pending, &ids);
	r = txn_end(&t, r);
	for (size_t i = 0; r == 0 && i < ids.size; i += sizeof(uint64_t)) {
		uint64_t id;
		memcpy(&id, ids.data + i, sizeof(id));
		blob_collect(l, blobs, id);
	}
	buf_release(&ids);
	return r;
}

/* --- writing ------------------------------------------------------------ */

/* The greatest id that has chunks, 0 without. */
static int
greatest(struct txn *t, struct ordered_cursor *c, void *context)
{
	const struct ordered_methods *m = t->local->ordered->methods;
	uint64_t *id = context;
	struct slice key;

	int r = m->seek(c, slice_text("c"), SEEK_BEFORE);
	if (r == 0)
		r = m->key(c, &key);
	if (r == 0 && key.size >= 9 && key.data[0] == 'b')
		*id = be64(key.data + 1);
	return r == 1 ? 0 : r;
}

int
blob_any(struct txn *t, uint32_t blobs)
{
	uint64_t id = 0;
	int r = with_cursor(t, blobs, greatest, &id);

	return r ? r : id != 0;
}

/* Takes the next id where the counter is known (or from *from); -ENOENT. */
static int
take_id(struct pins *pins, uint32_t blobs, const uint64_t *from, uint64_t *id)
{
	int r = 0;

	pthread_mutex_lock(&pins->lock);
	struct counter_of *counter = pins->counters;
	while (counter && counter->blobs != blobs)
		counter = counter->next;
	if (!counter && from) {
		counter = calloc(1, sizeof(*counter));
		if (counter) {
			counter->blobs = blobs;
			counter->id = *from;
			counter->next = pins->counters;
			pins->counters = counter;
		}
		r = counter ? 0 : -ENOMEM;
	} else if (!counter) {
		r = -ENOENT;
	}
	if (r == 0)
		*id = ++counter->id;
	pthread_mutex_unlock(&pins->lock);
	return r;
}

static int
new_id(struct local *l, uint32_t blobs, uint64_t *id)
{
	uint64_t last = 0;
	struct txn t;

	int r = take_id(l->pins, blobs, NULL, id);
	if (r != -ENOENT)
		return r;
	r = txn_read(l, &t);
	if (r == 0)
		r = with_cursor(&t, blobs, greatest, &last);
	r = txn_end(&t, r);
	return r ? r : take_id(l->pins, blobs, &last, id);
}

struct chunk {
	uint32_t blobs, number;
	uint64_t id;
	struct slice bytes;
};

static int
put_chunk(struct txn *t, void *context)
{
	const struct chunk *chunk = context;
	struct buf key = {0}, pending = {0};

	chunk_key(&key, chunk->id, chunk->number);
	pending_key(&pending, chunk->id);
	int r = buf_status(&key);
	if (r == 0)
		r = buf_status(&pending);
	if (r == 0 && chunk->number == 0)
		r = txn_put(
		    t, chunk->blobs, buf_slice(&pending), (struct slice){0});
	if (r == 0)
		r = txn_put(t, chunk->blobs, buf_slice(&key), chunk->bytes);
	buf_release(&key);
	buf_release(&pending);
	return r;
}

static int
write_chunks(struct local *l, struct chunk *chunk, const struct source *source)
{
	size_t room = source->size < CHUNK ? source->size : CHUNK;
	uint8_t *bytes = malloc(room ? room : 1);
	int r = bytes ? 0 : -ENOMEM;

	for (uint64_t at = 0; r == 0 && at < source->size; at += room) {
		size_t size = source->size - at < room
				  ? (size_t)(source->size - at)
				  : room;
		r = source->read(source, at, bytes, size);
		if (r)
			break;
		chunk->bytes = slice_of(bytes, size);
		r = local_write(l, ORDERED_WRITE, put_chunk, chunk);
		chunk->number++;
	}
	free(bytes);
	return r;
}

int
blob_write(
    struct local *l, uint32_t blobs, const struct source *source, uint64_t *id)
{
	struct chunk chunk = {.blobs = blobs};

	*id = 0;
	int r = new_id(l, blobs, &chunk.id);
	if (r)
		return r;
	r = write_chunks(l, &chunk, source);
	if (r) {
		if (chunk.number)
			blob_collect(l, blobs, chunk.id);
		return r;
	}
	*id = chunk.id;
	return 0;
}

int
blob_adopt(struct txn *t, uint32_t blobs, uint64_t id)
{
	struct buf key = {0};

	pending_key(&key, id);
	int r = buf_status(&key);
	if (r == 0)
		r = txn_remove(t, blobs, buf_slice(&key));
	buf_release(&key);
	return r;
}

int
blob_drop(struct txn *t, uint32_t blobs, uint64_t id)
{
	struct buf key = {0};

	pending_key(&key, id);
	int r = buf_status(&key);
	if (r == 0)
		r = txn_put(t, blobs, buf_slice(&key), (struct slice){0});
	buf_release(&key);
	return r;
}

/* --- reading ------------------------------------------------------------ */

struct piece {
	uint64_t id, offset;
	uint8_t *to;
	size_t count;
};

/* Copies what one chunk holds of the piece: how many bytes. */
static int64_t
read_chunk(struct txn *t, struct ordered_cursor *c, const struct piece *p)
{
	const struct ordered_methods *m = t->local->ordered->methods;
	struct buf key = {0};
	struct slice value = {0};

	chunk_key(&key, p->id, (uint32_t)(p->offset / CHUNK));
	int r = buf_status(&key);
	if (r == 0)
		r = m->seek(c, buf_slice(&key), SEEK_EXACT);
	buf_release(&key);
	if (r == 0)
		r = m->value(c, &value);
	size_t skip = p->offset % CHUNK;
	if (r == 1 || (r == 0 && value.size <= skip))
		return why(EIO, "a chunk of value %llu is missing",
		    (unsigned long long)p->id);
	if (r)
		return r;
	size_t size =
	    value.size - skip < p->count ? value.size - skip : p->count;
	memcpy(p->to, value.data + skip, size);
	return (int64_t)size;
}

static int
read_piece(struct txn *t, struct ordered_cursor *c, void *context)
{
	struct piece *p = context;

	while (p->count) {
		int64_t size = read_chunk(t, c, p);
		if (size < 0)
			return (int)size;
		p->to += size;
		p->offset += (uint64_t)size;
		p->count -= (size_t)size;
	}
	return 0;
}

int64_t
blob_read(struct local *l, uint32_t blobs, uint64_t id, uint64_t size,
    uint64_t offset, void *to, size_t count)
{
	struct txn t;

	if (offset >= size)
		return 0;
	if (count > size - offset)
		count = (size_t)(size - offset);
	struct piece piece = {id, offset, to, count};
	int r = txn_read(l, &t);
	if (r == 0)
		r = with_cursor(&t, blobs, read_piece, &piece);
	r = txn_end(&t, r);
	return r ? r : (int64_t)count;
}
