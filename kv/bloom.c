#include "bloom.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BITS 10 /* of memory, in a part that is full */
#define LINE_BITS (BLOOM_LINE * 64)
#define PROBES 6 /* bits of a key */
#define PROBE_BITS 9

void
bloom_release(struct bloom *b)
{
	for (unsigned i = 0; i < b->count; i++)
		free((void *)b->parts[i].words);
	*b = (struct bloom){0};
}

static uint64_t
room(uint64_t lines)
{
	return lines * LINE_BITS / KEY_BITS;
}

bool
bloom_full(const struct bloom *b)
{
	if (!b->count)
		return true;
	const struct bloom_part *last = &b->parts[b->count - 1];
	return atomic_load_explicit(&last->keys, memory_order_relaxed) >=
	       room(last->lines);
}

uint64_t
bloom_growth(const struct bloom *b, uint64_t keys)
{
	uint64_t lines = 0;

	for (unsigned i = 0; i < b->count; i++)
		lines += b->parts[i].lines;
	if (lines)
		return lines / 2;
	lines = keys * KEY_BITS / LINE_BITS + 1;
	return lines < BLOOM_LEAST ? BLOOM_LEAST : lines;
}

int
bloom_grow(struct bloom *b, uint64_t lines)
{
	size_t size = lines * LINE_BITS / 8;

	if (b->count == BLOOM_PARTS)
		return -ENOMEM;
	_Atomic uint64_t *words = aligned_alloc(LINE_BITS / 8, size);
	if (!words)
		return -ENOMEM;
	memset((void *)words, 0, size);
	b->parts[b->count++] =
	    (struct bloom_part){.words = words, .lines = lines};
	return 0;
}

/* Spreads a hash over all its bits. */
static uint64_t
mix(uint64_t hash)
{
	hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdu;
	hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53u;
	return hash ^ (hash >> 33);
}

static _Atomic uint64_t *
line_of(const struct bloom_part *p, uint64_t mixed)
{
	return p->words +
	       (mixed >> 32) * p->lines / ((uint64_t)1 << 32) * BLOOM_LINE;
}

/* A key's bits in its line. */
static void
bits_of(uint64_t mixed, uint64_t line[BLOOM_LINE])
{
	uint64_t bits = mix(mixed);

	memset(line, 0, BLOOM_LINE * sizeof(*line));
	for (int i = 0; i < PROBES; i++) {
		line[bits / 64 % BLOOM_LINE] |= (uint64_t)1 << bits % 64;
		bits >>= PROBE_BITS;
	}
}

static bool
part_may(
    const struct bloom_part *p, uint64_t mixed, const uint64_t bits[BLOOM_LINE])
{
	const _Atomic uint64_t *line = line_of(p, mixed);

	for (int i = 0; i < BLOOM_LINE; i++)
		if (bits[i] &
		    ~atomic_load_explicit(&line[i], memory_order_relaxed))
			return false;
	return true;
}

bool
bloom_may(const struct bloom *b, uint64_t hash)
{
	uint64_t mixed = mix(hash), bits[BLOOM_LINE];

	bits_of(mixed, bits);
	for (unsigned i = b->count; i-- > 0;)
		if (part_may(&b->parts[i], mixed, bits))
			return true;
	return false;
}

bool
bloom_add(struct bloom *b, uint64_t hash)
{
	uint64_t mixed = mix(hash), bits[BLOOM_LINE];

	if (bloom_may(b, hash))
		return false;
	struct bloom_part *last = &b->parts[b->count - 1];
	_Atomic uint64_t *line = line_of(last, mixed);
	bits_of(mixed, bits);
	for (int i = 0; i < BLOOM_LINE; i++)
		if (bits[i])
			atomic_fetch_or_explicit(
			    &line[i], bits[i], memory_order_relaxed);
	atomic_fetch_add_explicit(&last->keys, 1, memory_order_relaxed);
	return true;
}

uint64_t
bloom_keys(const struct bloom *b)
{
	uint64_t keys = 0;

	for (unsigned i = 0; i < b->count; i++)
		keys += atomic_load(&b->parts[i].keys);
	return keys;
}

uint64_t
bloom_bytes(const struct bloom *b)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < b->count; i++)
		bytes += b->parts[i].lines * LINE_BITS / 8;
	return bytes;
}
