/* kind_stream: the methods of streams, and which names they have. */
#ifndef CELLFS_FS_KIND_STREAM_H
#define CELLFS_FS_KIND_STREAM_H

#include "node.h"

bool
stream_names(struct slice name);

/* What a name means in a table, row or family; 1: it is no stream's. */
int
stream_parse(const struct spot *dir, struct slice name, struct child *out);

int
stream_find(struct fs *fs, struct spot *spot, struct look *look);

int
stream_start(struct fs *fs, const struct spot *spot, struct reader *out);

#endif
