/* key: how (row, qualifier, timestamp) become bytes that sort as HBase sorts.
 *
 *   esc(row) 00 00  esc(qualifier) 00 00  ~timestamp (8, big-endian)
 *
 * esc: 00 becomes 00 FF. A live put ends there; a kept delete marker or a
 * covered put (keep_deleted_cells) adds its type and ~sequence. A part (the
 * prefix that a continuation directory stands for) ends in 00 01 instead of
 * 00 00. Unsigned order of these bytes is the order of the tree. Pure.
 */
#ifndef CELLFS_KV_KEY_H
#define CELLFS_KV_KEY_H

#include "bytes.h"

/* Appends esc(part) 00 00: a finished component. */
void
key_component(struct buf *out, struct slice part);

/* Appends esc(prefix) alone: what every component that begins so begins with. */
void
key_prefix(struct buf *out, struct slice prefix);

/* Appends esc(prefix) 00 01: the component of a continuation directory. */
void
key_part(struct buf *out, struct slice prefix);

/* Appends the whole key of a live version. */
void
key_cell(struct buf *out, struct slice row, struct slice qualifier,
    int64_t timestamp);

/* Appends what all versions of a column begin with. */
void
key_column(struct buf *out, struct slice row, struct slice qualifier);

/* Takes one component off the front of *key, appends it unescaped to out and
 * sets *part if it was a continuation's (may be NULL: then refused). -EIO:
 * not a key of ours; *key and out are then as before. */
int
key_take(struct slice *key, struct buf *out, bool *part);

/* Splits a cell's key; row and qualifier are replaced. -EIO: damaged. */
int
key_split(struct slice key, struct buf *row, struct buf *qualifier,
    int64_t *timestamp);

/* The size in bytes of the leading component (escape and end included) of
 * key, 0 if it is not whole: to compare rows without unescaping. */
size_t
key_component_size(struct slice key);

/* Changes key to the least bytes above everything that begins with it;
 * false (key then empty) when there are none, all being FF. */
bool
key_successor(struct buf *key);

#endif
