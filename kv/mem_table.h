/* mem_table: a sorted array of keys in memory, each with a chain of values.
 *
 * What ordered_mem keeps its tables in. A value belongs to its writer until a
 * commit numbers it; a view sees its owner's values and what was committed
 * up to its snapshot. No locks.
 */
#ifndef CELLFS_KV_MEM_TABLE_H
#define CELLFS_KV_MEM_TABLE_H

#include "bytes.h"

struct mem_value {
	struct mem_value *older;
	const void *owner; /* NULL: committed */
	uint64_t commit;
	bool removed;
	struct buf bytes;
};

struct mem_item {
	struct buf key;
	struct mem_value *newest;
};

struct mem_table {
	uint32_t number;
	struct mem_item **items;
	size_t count, room;
	struct mem_table *next; /* the owner's */
};

struct mem_view {
	const void *owner;
	uint64_t snapshot;
};

void
mem_table_free(struct mem_table *t);

/* The place of the first key at or behind key. */
size_t
mem_table_place(const struct mem_table *t, struct slice key);

/* The item of that key, or NULL. */
struct mem_item *
mem_table_item(const struct mem_table *t, struct slice key);

/* Its value in a view, or NULL; valid until the item is written or settled. */
const struct mem_value *
mem_item_seen(
    const struct mem_item *item, struct mem_view view);

/* Puts a value of the view's owner (NULL: a removal) on top of key. *item is
 * set if it is the owner's first there: mem_table_settle() it in the end.
 * -EAGAIN: another writer was there since the snapshot. */
int
mem_table_write(struct mem_table *t, struct mem_view view, struct slice key,
    const struct slice *bytes, struct mem_item **item);

/* The newest value of item is committed under that number or, if 0, undone;
 * what no snapshot from oldest on sees is freed, perhaps item with it. */
void
mem_table_settle(struct mem_table *t, struct mem_item *item,
    uint64_t commit, uint64_t oldest);

#endif
