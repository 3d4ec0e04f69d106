#include "local_move.h"

#include <errno.h>

#include "local_blob.h"

static struct blob_copy *
copy_at(struct move *m, size_t i)
{
	return (struct blob_copy *)m->copies.data + i;
}

static size_t
copy_count(const struct move *m)
{
	return m->copies.size / sizeof(struct blob_copy);
}

static struct blob_copy *
find_copy(struct move *m, uint32_t from, uint32_t to, uint64_t id)
{
	for (size_t i = 0; i < copy_count(m); i++) {
		struct blob_copy *c = copy_at(m, i);
		if (c->from == from && c->to == to && c->id == id && !c->used)
			return c;
	}
	return NULL;
}

int
move_blob(struct move *m, struct txn *t, uint32_t from, uint32_t to,
    bool doubled, struct record *record, bool *own)
{
	*own = false;
	if (!record->blob || (from == to && !doubled))
		return 0;
	struct blob_copy *copy = find_copy(m, from, to, record->blob);
	if (!copy) {
		struct blob_copy wanted = {.from = from,
		    .to = to,
		    .id = record->blob,
		    .size = record->size,
		    .used = true};
		buf_append(&m->copies, slice_of(&wanted, sizeof(wanted)));
		m->wanting = true;
		return m->copies.failed ? -ENOMEM : 0;
	}
	copy->used = true;
	*own = true;
	record->blob = copy->copy;
	return copy->copy ? blob_adopt(t, to, copy->copy) : 0;
}

/* --- copying chunks, without the lock --------------------------------- */

struct chunks {
	struct local *local;
	uint32_t blobs;
	uint64_t id;
};

static int
read_chunks(const struct source *s, uint64_t offset, void *to, size_t size)
{
	const struct chunks *c = s->context;
	int64_t n =
	    blob_read(c->local, c->blobs, c->id, s->size, offset, to, size);

	return n < 0 ? (int)n : n == (int64_t)size ? 0 : -EIO;
}

/* Makes one wanted copy. What has gone meanwhile is no longer wanted. */
static int
make_copy(struct local *l, struct blob_copy *c)
{
	const struct chunks chunks = {l, c->from, c->id};
	const struct source source = {
	    .size = c->size, .read = read_chunks, .context = &chunks};

	int r = blob_pin(l, c->from, c->id);
	if (r)
		return r == -EAGAIN ? 0 : r;
	r = blob_write(l, c->to, &source, &c->copy);
	blob_unpin(l, c->from, c->id);
	return r;
}

int
copies_make(struct move *m)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < copy_count(m); i++) {
		r = local_interrupted(m->local);
		if (r == 0 && !copy_at(m, i)->copy)
			r = make_copy(m->local, copy_at(m, i));
	}
	return r;
}

void
copies_discard(struct move *m, bool committed)
{
	for (size_t i = 0; i < copy_count(m); i++) {
		const struct blob_copy *c = copy_at(m, i);
		if (c->copy && !(committed && c->used))
			blob_collect(m->local, c->to, c->copy);
	}
	buf_release(&m->copies);
}

void
copies_restart(struct move *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < copy_count(m); i++) {
		struct blob_copy c = *copy_at(m, i);
		c.used = false;
		if (c.copy)
			*copy_at(m, kept++) = c;
	}
	m->copies.size = kept * sizeof(struct blob_copy);
}
