#include "bytes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct slice
slice_of(const void *data, size_t size)
{
	return (struct slice){data, size};
}

struct slice
slice_text(const char *text)
{
	return slice_of(text, strlen(text));
}

int
slice_compare(struct slice a, struct slice b)
{
	size_t common = a.size < b.size ? a.size : b.size;
	int order = common ? memcmp(a.data, b.data, common) : 0;

	if (order)
		return order;
	return a.size < b.size ? -1 : a.size > b.size;
}

bool
slice_equal(struct slice a, struct slice b)
{
	return a.size == b.size && slice_compare(a, b) == 0;
}

bool
slice_begins(struct slice s, struct slice prefix)
{
	return s.size >= prefix.size &&
	    slice_equal(slice_head(s, prefix.size), prefix);
}

struct slice
slice_skip(struct slice s, size_t n)
{
	return n ? slice_of(s.data + n, s.size - n) : s;
}

struct slice
slice_head(struct slice s, size_t n)
{
	return slice_of(s.data, n);
}

uint64_t
slice_hash(struct slice s, uint64_t seed)
{
	uint64_t hash = seed ^ 0xcbf29ce484222325u;

	for (size_t i = 0; i < s.size; i++)
		hash = (hash ^ s.data[i]) * 0x100000001b3u;
	return hash;
}

void
buf_release(struct buf *b)
{
	free(b->data);
	*b = (struct buf){0};
}

void
buf_clear(struct buf *b)
{
	b->size = 0;
	b->failed = false;
}

int
buf_status(const struct buf *b)
{
	return b->failed ? -ENOMEM : 0;
}

struct slice
buf_slice(const struct buf *b)
{
	return slice_of(b->data, b->size);
}

/* Room for more bytes behind the present ones; false and failed without. */
static bool
grow(struct buf *b, size_t more)
{
	if (b->failed)
		return false;
	if (more <= b->room - b->size)
		return true;
	if (more > SIZE_MAX / 2 - b->size) {
		b->failed = true;
		return false;
	}

	size_t room = b->room + b->room / 2;
	if (room < b->size + more)
		room = b->size + more;
	if (room < 32)
		room = 32;
	uint8_t *data = realloc(b->data, room);
	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->room = room;
	return true;
}

void
buf_append(struct buf *b, struct slice s)
{
	if (!s.size || !grow(b, s.size))
		return;
	memcpy(b->data + b->size, s.data, s.size);
	b->size += s.size;
}

void
buf_byte(struct buf *b, uint8_t byte)
{
	buf_append(b, slice_of(&byte, 1));
}

void
buf_text(struct buf *b, const char *text)
{
	buf_append(b, slice_text(text));
}

void
buf_printf(struct buf *b, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int size = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (size < 0 || !grow(b, (size_t)size + 1))
		return;
	va_start(args, format);
	vsnprintf((char *)b->data + b->size, (size_t)size + 1, format, args);
	va_end(args);
	b->size += (size_t)size;
}

void
buf_be16(struct buf *b, uint16_t number)
{
	uint8_t bytes[2] = {(uint8_t)(number >> 8), (uint8_t)number};

	buf_append(b, slice_of(bytes, sizeof(bytes)));
}

void
buf_be32(struct buf *b, uint32_t number)
{
	buf_be16(b, (uint16_t)(number >> 16));
	buf_be16(b, (uint16_t)number);
}

void
buf_be64(struct buf *b, uint64_t number)
{
	buf_be32(b, (uint32_t)(number >> 32));
	buf_be32(b, (uint32_t)number);
}

int
buf_set(struct buf *b, struct slice s)
{
	struct buf copy = {0};

	buf_append(&copy, s);
	int r = buf_status(&copy);
	buf_release(b);
	if (r == 0)
		*b = copy;
	return r;
}

int
buf_resize(struct buf *b, size_t size)
{
	if (size > b->size) {
		if (!grow(b, size - b->size)) {
			b->failed = false;
			return -ENOMEM;
		}
		memset(b->data + b->size, 0, size - b->size);
	}
	b->size = size;
	return 0;
}

uint16_t
be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

uint32_t
be32(const uint8_t *p)
{
	return (uint32_t)be16(p) << 16 | be16(p + 2);
}

uint64_t
be64(const uint8_t *p)
{
	return (uint64_t)be32(p) << 32 | be32(p + 4);
}
