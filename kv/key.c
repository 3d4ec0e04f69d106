#include "key.h"

#include <errno.h>
#include <string.h>

/* What follows a 00 byte in a key. */
enum {
	AFTER_END = 0x00,
	AFTER_PART = 0x01,
	AFTER_ZERO = 0xff, /* the 00 is one of the component's own bytes */
};

void
key_prefix(struct buf *out, struct slice prefix)
{
	while (prefix.size) {
		const uint8_t *zero = memchr(prefix.data, 0, prefix.size);
		size_t plain =
		    zero ? (size_t)(zero - prefix.data) + 1 : prefix.size;

		buf_append(out, slice_head(prefix, plain));
		if (zero)
			buf_byte(out, AFTER_ZERO);
		prefix = slice_skip(prefix, plain);
	}
}

void
key_component(struct buf *out, struct slice part)
{
	key_prefix(out, part);
	buf_be16(out, AFTER_END);
}

void
key_part(struct buf *out, struct slice prefix)
{
	key_prefix(out, prefix);
	buf_be16(out, AFTER_PART);
}

void
key_column(struct buf *out, struct slice row, struct slice qualifier)
{
	key_component(out, row);
	key_component(out, qualifier);
}

void
key_cell(struct buf *out, struct slice row, struct slice qualifier,
    int64_t timestamp)
{
	key_column(out, row, qualifier);
	buf_be64(out, ~(uint64_t)timestamp);
}

/* The bytes of s up to and with its first 00 and what follows that; 0 if
 * there are none. */
static size_t
run_size(struct slice s)
{
	const uint8_t *zero = s.size ? memchr(s.data, 0, s.size) : NULL;

	if (!zero || zero + 1 == s.data + s.size)
		return 0;
	return (size_t)(zero - s.data) + 2;
}

int
key_take(struct slice *key, struct buf *out, bool *part)
{
	struct slice rest = *key;
	size_t run, before = out->size;

	if (part)
		*part = false;
	while ((run = run_size(rest)) != 0) {
		uint8_t after = rest.data[run - 1];
		bool ends = after == AFTER_END || (part && after == AFTER_PART);

		if (!ends && after != AFTER_ZERO)
			break;
		buf_append(out, slice_head(rest, run - (ends ? 2 : 1)));
		rest = slice_skip(rest, run);
		if (ends) {
			if (part)
				*part = after == AFTER_PART;
			*key = rest;
			return buf_status(out);
		}
	}
	out->size = before;
	return -EIO;
}

int
key_split(struct slice key, struct buf *row, struct buf *qualifier,
    int64_t *timestamp)
{
	*timestamp = 0;
	buf_clear(row);
	buf_clear(qualifier);
	int r = key_take(&key, row, NULL);
	if (r == 0)
		r = key_take(&key, qualifier, NULL);
	if (r == 0 && (key.size != 8 || !(key.data[0] & 0x80)))
		r = -EIO;
	if (r == 0) {
		*timestamp = (int64_t)~be64(key.data);
		return 0;
	}
	buf_clear(row);
	buf_clear(qualifier);
	return r;
}

size_t
key_component_size(struct slice key)
{
	size_t size = 0, run;

	while ((run = run_size(slice_skip(key, size))) != 0) {
		size += run;
		if (key.data[size - 1] != AFTER_ZERO)
			return size;
	}
	return 0;
}

bool
key_successor(struct buf *key)
{
	while (key->size && key->data[key->size - 1] == 0xff)
		key->size--;
	if (!key->size)
		return false;
	key->data[key->size - 1]++;
	return true;
}
