/* record: the stored form of one version: a small header and the bytes.
 *
 *   byte 0     bits 7-5 format (1), bits 4-0 flags
 *   then, in this order, for each flag that is set (all big-endian):
 *   MTIME 01   8 bytes seconds since the epoch, 4 bytes nanoseconds
 *   OWNER 02   2 bytes mode, 4 bytes uid, 4 bytes gid
 *   TTL   04   8 bytes, the cell's own time to live in ms
 *   SEQ   08   8 bytes, of the change of rules it was stored after (fold.h)
 *   BLOB  10   8 bytes size of the value, 8 bytes blob id; no bytes follow
 *   the value
 *
 * Dot files are stored in the same form. Pure: no I/O, no clock.
 */
#ifndef CELLFS_KV_RECORD_H
#define CELLFS_KV_RECORD_H

#include "cell.h"

struct record {
	struct attrs attrs; /* ATTR_MTIME, and MODE, UID, GID together */
	int64_t ttl;	    /* ms, 0: none */
	uint64_t sequence;  /* 0: none */
	uint64_t blob;	    /* 0: the value follows */
	uint64_t size;	    /* bytes of the value, wherever it stands */
	struct slice value;
};

/* Appends the stored form of r to out (buf_status tells of memory). With a
 * blob the value is not looked at; else r->size is r->value.size. */
void
record_encode(const struct record *r, struct buf *out);

/* Reads a stored form; value points into stored. -EIO: damaged or of a later
 * format, *out zeroed. */
int
record_decode(struct slice stored, struct record *out);

#endif
