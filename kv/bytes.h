/* bytes: borrowed and owned runs of bytes, the bottom of everything.
 *
 * A slice is borrowed and never freed by who holds it; a buf is owned. A buf
 * that could not grow remembers it: appends after that do nothing, and
 * buf_status() tells once, at the end. No function here locks; a buf belongs
 * to one thread at a time.
 */
#ifndef CELLFS_KV_BYTES_H
#define CELLFS_KV_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slice {
	const uint8_t *data;
	size_t size;
};

struct buf {
	uint8_t *data;
	size_t size;
	size_t room;
	bool failed; /* memory ran out since the last buf_clear() */
};

/* The slice over size bytes at data; the bytes stay the caller's. */
struct slice
slice_of(const void *data, size_t size);

/* The slice over a C string, without its end. */
struct slice
slice_text(const char *text);

/* Order of unsigned bytes, a prefix first: below, at or above 0. */
int
slice_compare(struct slice a, struct slice b);

bool
slice_equal(struct slice a, struct slice b);

/* Whether s begins with prefix; the empty prefix begins everything. */
bool
slice_begins(struct slice s, struct slice prefix);

/* The rest of s after its first n bytes; n is at most s.size. */
struct slice
slice_skip(struct slice s, size_t n);

/* The first n bytes of s; n is at most s.size. */
struct slice
slice_head(struct slice s, size_t n);

/* An FNV-1a hash of s, carried on from seed. */
uint64_t
slice_hash(struct slice s, uint64_t seed);

/* A buf of all zeros is empty and ready. Frees the bytes; safe on empty. */
void
buf_release(struct buf *b);

/* Empties b, keeps its room, forgets an earlier failure. */
void
buf_clear(struct buf *b);

/* 0, or -ENOMEM where an append since the last clear found no memory. */
int
buf_status(const struct buf *b);

/* The bytes of b; valid until b next changes. */
struct slice
buf_slice(const struct buf *b);

void
buf_append(struct buf *b, struct slice s);

void
buf_byte(struct buf *b, uint8_t byte);

void
buf_text(struct buf *b, const char *text);

void
buf_printf(struct buf *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends a big-endian number of 2, 4 or 8 bytes. */
void
buf_be16(struct buf *b, uint16_t number);
void
buf_be32(struct buf *b, uint32_t number);
void
buf_be64(struct buf *b, uint64_t number);

/* Makes b a copy of s: 0 or -ENOMEM, b then empty. s may lie within b. */
int
buf_set(struct buf *b, struct slice s);

/* Makes b size bytes long, new bytes zero: 0 or -ENOMEM, b then as before. */
int
buf_resize(struct buf *b, size_t size);

/* Reads a big-endian number. */
uint16_t
be16(const uint8_t *p);
uint32_t
be32(const uint8_t *p);
uint64_t
be64(const uint8_t *p);

#endif
