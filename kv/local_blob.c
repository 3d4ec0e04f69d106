#include "local_blob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "local_keys.h"
#include "why.h"

#define BUCKETS 256
#define CHUNKS_AT_ONCE 1000 /* removed by one transaction */

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

/* A look into a blob table with a cursor of its own. */
struct look {
	uint32_t blobs;
	int (*step)(struct txn *t, struct ordered_cursor *c, void *context);
	void *context;
};

static int
look_body(struct txn *t, void *context)
{
	const struct look *look = context;
	struct ordered_cursor *c;

	int r = txn_cursor(t, look->blobs, &c);
	if (r)
		return r;
	r = look->step(t, c, look->context);
	t->local->ordered->methods->cursor_close(c);
	return r;
}

/* In a snapshot of its own; step must be able to run twice. */
static int
look(struct local *l, uint32_t blobs,
    int (*step)(struct txn *t, struct ordered_cursor *c, void *context),
    void *context)
{
	struct look look = {blobs, step, context};

	return local_read(l, look_body, &look);
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

struct chunk_name {
	uint64_t id;
	uint32_t number;
};

static int
seek_chunk(struct txn *t, struct ordered_cursor *c, void *context)
{
	const struct chunk_name *name = context;
	struct buf key = {0};

	chunk_key(&key, name->id, name->number);
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
	struct chunk_name first = {.id = id};
	int r = look(l, blobs, seek_chunk, &first);

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

/* A blob on its way out, some chunks in each transaction; it is pending until
 * the last. */
struct removal {
	uint32_t blobs;
	struct chunk_name from;
	bool last;
};

static int
remove_pending(struct txn *t, uint32_t blobs, uint64_t id)
{
	struct buf key = {0};

	pending_key(&key, id);
	int r = buf_status(&key);
	if (r == 0)
		r = txn_remove(t, blobs, buf_slice(&key));
	buf_release(&key);
	return r;
}

static int
remove_chunks(struct txn *t, void *context)
{
	struct removal *removal = context;
	struct chunk_name behind = removal->from;
	struct look ends = {removal->blobs, seek_chunk, &behind};
	struct buf from = {0}, to = {0};

	behind.number += CHUNKS_AT_ONCE;
	chunk_key(&from, behind.id, removal->from.number);
	chunk_key(&to, behind.id, behind.number);
	int r = buf_status(&from);
	if (r == 0)
		r = buf_status(&to);
	if (r == 0)
		r = txn_remove_range(
		    t, removal->blobs, buf_slice(&from), buf_slice(&to));
	if (r == 0)
		r = look_body(t, &ends);
	removal->last = r == 1;
	if (removal->last)
		r = remove_pending(t, removal->blobs, behind.id);
	buf_release(&from);
	buf_release(&to);
	return r;
}

static int
remove_blob(struct local *l, uint32_t blobs, uint64_t id)
{
	struct removal removal = {.blobs = blobs, .from.id = id};
	int r = 0;

	while (r == 0 && !removal.last) {
		r = local_write(l, ORDERED_REMOVE, remove_chunks, &removal);
		removal.from.number += CHUNKS_AT_ONCE;
	}
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
	if (!claim(l->pins, blobs, id))
		return;
	int r = remove_blob(l, blobs, id);
	if (r)
		local_log(l, "a dropped value stays until the next start: %s",
		    why_text(r));
	pthread_mutex_lock(&l->pins->lock);
	pin_free(l->pins, blobs, id);
	pthread_mutex_unlock(&l->pins->lock);
}

/* A walk over the pending blobs of a table. */
struct pending {
	uint32_t blobs;
	struct buf ids;
};

static int
gather_id(struct txn *t, struct slice key, struct slice value, void *context)
{
	struct pending *p = context;

	(void)t;
	(void)value;
	if (key.size != 1 + sizeof(uint64_t))
		return why(EIO, "blob table %u: a key is damaged", p->blobs);
	uint64_t id = be64(key.data + 1);
	buf_append(&p->ids, slice_of(&id, sizeof(id)));
	return buf_status(&p->ids);
}

static int
gather_pending(struct txn *t, void *context)
{
	struct pending *p = context;

	buf_clear(&p->ids);
	return txn_each(t, p->blobs, slice_text("p"), gather_id, p);
}

int
blob_sweep(struct local *l, uint32_t blobs)
{
	struct pending p = {.blobs = blobs};
	int r = local_read(l, gather_pending, &p);

	for (size_t i = 0; r == 0 && i < p.ids.size; i += sizeof(uint64_t)) {
		uint64_t id;
		memcpy(&id, p.ids.data + i, sizeof(id));
		blob_collect(l, blobs, id);
	}
	buf_release(&p.ids);
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
	struct look any = {blobs, greatest, &id};
	int r = look_body(t, &any);

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
	int r = take_id(l->pins, blobs, NULL, id);
	if (r != -ENOENT)
		return r;
	r = look(l, blobs, greatest, &last);
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
	return remove_pending(t, blobs, id);
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
	struct piece p = *(const struct piece *)context;

	while (p.count) {
		int64_t size = read_chunk(t, c, &p);
		if (size < 0)
			return (int)size;
		p.to += size;
		p.offset += (uint64_t)size;
		p.count -= (size_t)size;
	}
	return 0;
}

int64_t
blob_read(struct local *l, uint32_t blobs, uint64_t id, uint64_t size,
    uint64_t offset, void *to, size_t count)
{
	if (offset >= size)
		return 0;
	if (count > size - offset)
		count = (size_t)(size - offset);
	struct piece piece = {id, offset, to, count};
	int r = look(l, blobs, read_piece, &piece);
	return r ? r : (int64_t)count;
}
