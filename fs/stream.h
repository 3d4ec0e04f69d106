/* stream: a text that is made while it is read, of what a scan gives.
 *
 * It has no size and no end that are known before; it takes up where the last
 * read ended, and a read from elsewhere makes it anew from the beginning, so
 * what has changed meanwhile shows. Belongs to one thread at a time.
 */
#ifndef CELLFS_FS_STREAM_H
#define CELLFS_FS_STREAM_H

#include "fs.h"
#include "spot.h"
#include "../kv/printer.h"

struct stream;

/* Of the table, row or family at spot; nothing is read yet. */
int
stream_open(const struct spot *spot, const struct printing *how,
    struct stream **out);

/* Up to size bytes at offset: how many, 0 at the end. -EINTR: the time that
 * kv_ask() gave is over and nothing is there yet; asked again, it goes on. */
int64_t
stream_read(struct fs *fs, struct stream *s, uint64_t offset, void *to,
    size_t size);

/* Safe on NULL. */
void
stream_close(struct fs *fs, struct stream *s);

#endif
