#include "spot.h"

#include <errno.h>

#include "node.h"

void
child_release(struct child *c)
{
	buf_release(&c->key);
}

int
child_set(struct child *c, enum kind kind, struct slice key, int64_t number)
{
	c->kind = kind;
	c->number = number;
	return buf_set(&c->key, key);
}

void
spot_release(struct spot *s)
{
	buf_release(&s->bytes);
	*s = (struct spot){0};
}

/* The fields of a place that can hold bytes, in their order in the spot. */
static struct slice *
field(struct spot *s, unsigned i)
{
	struct slice *fields[] = {&s->place.table, &s->place.row,
	    &s->place.family, &s->place.qualifier, &s->place.dot_dir,
	    &s->place.dot, &s->view, &s->word};

	return i < sizeof(fields) / sizeof(*fields) ? fields[i] : NULL;
}

int
spot_own(struct spot *s)
{
	size_t at = 0;

	s->bytes = (struct buf){0};
	for (unsigned i = 0; field(s, i); i++)
		buf_append(&s->bytes, *field(s, i));
	if (buf_status(&s->bytes)) {
		spot_release(s);
		return -ENOMEM;
	}
	for (unsigned i = 0; field(s, i); i++) {
		size_t size = field(s, i)->size;
		*field(s, i) = slice_of(size ? s->bytes.data + at : NULL,
		    size);
		at += size;
	}
	return 0;
}

/* Which field of the place a child's key fills. */
static struct slice *
key_field(struct spot *s)
{
	switch (s->kind) {
	case KIND_TABLE:
	case KIND_SCHEMA_FILE:
		return &s->place.table;
	case KIND_ROW_PART:
	case KIND_ROW:
	case KIND_VIEW_ROW_PART:
	case KIND_VIEW_ROW:
		return &s->place.row;
	case KIND_FAMILY:
	case KIND_VIEW_FAMILY:
		return &s->place.family;
	case KIND_DOT_DIR:
		return &s->place.dot_dir;
	case KIND_DOT_FILE:
		return &s->place.dot;
	case KIND_VIEW_NAME:
	case KIND_VIEW_TIME:
	case KIND_VIEW:
		return &s->view;
	case KIND_CONTROL_FILE:
	case KIND_STREAM:
	case KIND_CELLS:
		return &s->word;
	default:
		return &s->place.qualifier;
	}
}

void
spot_step(struct spot *s, enum kind kind, struct slice key, int64_t number)
{
	s->kind = kind;
	if (!kind_is_stream(kind))
		s->place.level = kinds[kind].level;
	s->version = (struct version){VERSION_NEWEST, 0};
	if (kind == KIND_VERSION)
		s->version = (struct version){VERSION_AT, number};
	else if (kind == KIND_NTH)
		s->version = (struct version){VERSION_NTH, number};
	if (key.size) /* a version in q@/ has its directory's qualifier */
		*key_field(s) = key;
}

int
spot_child(const struct spot *dir, const struct child *child, struct spot *out)
{
	*out = *dir;
	spot_step(out, child->kind, buf_slice(&child->key), child->number);
	return spot_own(out);
}

bool
spot_equal(const struct spot *a, const struct spot *b)
{
	struct spot *x = (struct spot *)a, *y = (struct spot *)b;
	bool equal = a->kind == b->kind &&
	    a->version.which == b->version.which &&
	    a->version.number == b->version.number;

	for (unsigned i = 0; equal && field(x, i); i++) /* which only looks */
		equal = slice_equal(*field(x, i), *field(y, i));
	return equal;
}

/* Spreads a hash over all bits (the finish of SplitMix64). */
static uint64_t
mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

uint64_t
spot_number(const struct spot *s, uint64_t key)
{
	struct spot *fields = (struct spot *)s; /* field() only looks */
	uint64_t hash = mix(key ^ ((uint64_t)s->kind + 1));

	if (s->kind == KIND_ROOT)
		return 1;
	if (s->kind == KIND_SCHEMA_DIR)
		return 2;
	for (unsigned i = 0; field(fields, i); i++)
		hash = mix(slice_hash(*field(fields, i), hash));
	hash = mix(hash ^ (uint64_t)s->version.number);
	return hash | (uint64_t)1 << 63;
}
