/* kind_list: the listings of root, tables, rows, families and their parts. */
#ifndef CELLFS_FS_KIND_LIST_H
#define CELLFS_FS_KIND_LIST_H

#include "node.h"
#include "path.h"
#include "../kv/kv_data.h"

int
root_list(struct fs *fs, const struct spot *dir, struct listing *to);
int
rows_list(struct fs *fs, const struct spot *dir, struct listing *to);
int
row_list(struct fs *fs, const struct spot *dir, struct listing *to);
int
columns_list(struct fs *fs, const struct spot *dir, struct listing *to);
int
dots_list(struct fs *fs, const struct spot *dir, struct listing *to);

/* Whether anything has its name in a part: probe_entry() is for kv_list() and
 * view_list() on it, and stops at the first. */
struct probe {
	enum name_of of;
	struct slice prefix; /* borrowed of the spot */
	bool found;
};

struct probe
part_probe(const struct spot *part, bool row);

int
probe_entry(void *probe, const struct entry *e, struct buf *skip);

#endif
