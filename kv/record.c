#include "record.h"

#include "why.h"

#include <assert.h>
#include <errno.h>

#define FORMAT 1
#define FORMAT_SHIFT 5

enum {
	HAS_MTIME = 0x01,
	HAS_OWNER = 0x02,
	HAS_TTL = 0x04,
	HAS_SEQUENCE = 0x08,
	HAS_BLOB = 0x10,
	HAS_MASK = 0x1f,
};

#define ATTR_OWNER (ATTR_MODE | ATTR_UID | ATTR_GID)

static unsigned
record_flags(const struct record *r)
{
	return (r->attrs.set & ATTR_MTIME ? HAS_MTIME : 0) |
	       ((r->attrs.set & ATTR_OWNER) == ATTR_OWNER ? HAS_OWNER : 0) |
	       (r->ttl ? HAS_TTL : 0) | (r->sequence ? HAS_SEQUENCE : 0) |
	       (r->blob ? HAS_BLOB : 0);
}

void
record_encode(const struct record *r, struct buf *out)
{
	unsigned flags = record_flags(r);

	assert(flags & HAS_OWNER || !(r->attrs.set & ATTR_OWNER));
	buf_byte(out, (uint8_t)(FORMAT << FORMAT_SHIFT | flags));
	if (flags & HAS_MTIME) {
		buf_be64(out, (uint64_t)r->attrs.mtime.tv_sec);
		buf_be32(out, (uint32_t)r->attrs.mtime.tv_nsec);
	}
	if (flags & HAS_OWNER) {
		buf_be16(out, (uint16_t)(r->attrs.mode & 07777));
		buf_be32(out, r->attrs.uid);
		buf_be32(out, r->attrs.gid);
	}
	if (flags & HAS_TTL)
		buf_be64(out, (uint64_t)r->ttl);
	if (flags & HAS_SEQUENCE)
		buf_be64(out, r->sequence);
	if (flags & HAS_BLOB) {
		buf_be64(out, r->size);
		buf_be64(out, r->blob);
	} else {
		buf_append(out, r->value);
	}
}

static size_t
header_size(unsigned flags)
{
	return 1 + (flags & HAS_MTIME ? 12 : 0) + (flags & HAS_OWNER ? 10 : 0) +
	       (flags & HAS_TTL ? 8 : 0) + (flags & HAS_SEQUENCE ? 8 : 0) +
	       (flags & HAS_BLOB ? 16 : 0);
}

/* The number of 2, 4 or 8 bytes at *p, which moves behind it. */
static uint64_t
take(const uint8_t **p, size_t size)
{
	const uint8_t *at = *p;

	*p += size;
	if (size == 2)
		return be16(at);
	return size == 4 ? be32(at) : be64(at);
}

/* Reads the fields behind the first byte; all of them are there. */
static void
read_fields(const uint8_t *p, unsigned flags, struct record *out)
{
	if (flags & HAS_MTIME) {
		out->attrs.set |= ATTR_MTIME;
		out->attrs.mtime.tv_sec = (time_t)take(&p, 8);
		out->attrs.mtime.tv_nsec = (long)take(&p, 4);
	}
	if (flags & HAS_OWNER) {
		out->attrs.set |= ATTR_OWNER;
		out->attrs.mode = (mode_t)take(&p, 2);
		out->attrs.uid = (uid_t)take(&p, 4);
		out->attrs.gid = (gid_t)take(&p, 4);
	}
	if (flags & HAS_TTL)
		out->ttl = (int64_t)take(&p, 8);
	if (flags & HAS_SEQUENCE)
		out->sequence = take(&p, 8);
	if (flags & HAS_BLOB) {
		out->size = take(&p, 8);
		out->blob = take(&p, 8);
	}
}

/* Whether what the flags promise is what record_encode() can have written. */
static bool
plausible(const struct record *r, unsigned flags)
{
	if (flags & HAS_MTIME &&
	    (r->attrs.mtime.tv_nsec < 0 || r->attrs.mtime.tv_nsec > 999999999))
		return false;
	if (flags & HAS_OWNER && r->attrs.mode > 07777)
		return false;
	return (!(flags & HAS_TTL) || r->ttl > 0) &&
	       (!(flags & HAS_SEQUENCE) || r->sequence) &&
	       (!(flags & HAS_BLOB) || r->blob);
}

int
record_decode(struct slice stored, struct record *out)
{
	*out = (struct record){0};
	if (!stored.size)
		return why(EIO, "a stored value without its header: the store "
				"is damaged; run cellfs check");

	unsigned format = stored.data[0] >> FORMAT_SHIFT;
	unsigned flags = stored.data[0] & HAS_MASK;
	size_t size = header_size(flags);
	if (format != FORMAT)
		return why(EIO,
		    "a stored value of format %u, this program "
		    "reads %d: use a later cellfs, or run cellfs "
		    "check",
		    format, FORMAT);
	if (stored.size < size || (flags & HAS_BLOB && stored.size != size))
		return why(EIO, "a stored value whose header is cut off: the "
				"store is damaged; run cellfs check");

	read_fields(stored.data + 1, flags, out);
	if (!plausible(out, flags)) {
		*out = (struct record){0};
		return why(EIO, "a stored value with a senseless header: the "
				"store is damaged; run cellfs check");
	}
	if (!(flags & HAS_BLOB)) {
		out->value = slice_skip(stored, size);
		out->size = out->value.size;
	}
	return 0;
}
