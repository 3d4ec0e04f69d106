#include "local_blob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "local_keys.h"
#include "local_pins.h"
#include "why.h"

#define CHUNKS_AT_ONCE 1000 /* removed by one transaction */

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

struct chunk_name {
	uint64_t id;
	uint32_t number;
};

static int
seek_chunk(struct txn *t, struct ordered_cursor *c,
    const struct chunk_name *name, enum ordered_seek how)
{
	struct buf key = {0};

	chunk_key(&key, name->id, name->number);
	int r = buf_status(&key);
	if (r == 0)
		r = t->local->ordered->methods->seek(c, buf_slice(&key), how);
	buf_release(&key);
	return r;
}

static int
step_to_chunk(struct txn *t, struct ordered_cursor *c, void *context)
{
	return seek_chunk(t, c, context, SEEK_EXACT);
}

/* 1: the blob has no chunk from that number on. */
static int
step_behind(struct txn *t, struct ordered_cursor *c, void *context)
{
	const struct chunk_name *name = context;
	struct slice key;

	int r = seek_chunk(t, c, name, SEEK_FROM);
	if (r == 0)
		r = t->local->ordered->methods->key(c, &key);
	if (r)
		return r;
	return key.size < 9 || key.data[0] != 'b' ||
	       be64(key.data + 1) != name->id;
}

/* Whether the chunks are there now, in no older snapshot. */
static int
still_there(struct local *l, uint32_t blobs, uint64_t id)
{
	struct chunk_name first = {.id = id};
	int r = look(l, blobs, step_to_chunk, &first);

	return r == 1 ? -EAGAIN : r;
}

int
blob_pin(struct local *l, uint32_t blobs, uint64_t id)
{
	int r = pins_hold(l->pins, blobs, id);

	if (r)
		return r;
	r = still_there(l, blobs, id);
	if (r)
		pins_let_go(
		    l->pins, blobs, id); /* what is gone is not collected */
	return r;
}

void
blob_unpin(struct local *l, uint32_t blobs, uint64_t id)
{
	if (pins_let_go(l->pins, blobs, id))
		blob_collect(l, blobs, id);
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
	struct look ends = {removal->blobs, step_behind, &behind};
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

void
blob_collect(struct local *l, uint32_t blobs, uint64_t id)
{
	if (!pins_claim(l->pins, blobs, id))
		return;
	int r = remove_blob(l, blobs, id);
	if (r)
		local_log(l, "a dropped value stays until the next start: %s",
		    why_text(r));
	pins_forget(l->pins, blobs, id);
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

static int
new_id(struct local *l, uint32_t blobs, uint64_t *id)
{
	uint64_t last = 0;
	int r = pins_next_id(l->pins, blobs, NULL, id);
	if (r != -ENOENT)
		return r;
	r = look(l, blobs, greatest, &last);
	return r ? r : pins_next_id(l->pins, blobs, &last, id);
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
	if (r == 0)
		r = write_chunks(l, &chunk, source);
	if (r && pins_closed(l->pins, blobs))
		return -ESTALE;
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
