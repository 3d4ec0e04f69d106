/* kind_view: the methods of views, and of what stands in them. */
#ifndef CELLFS_FS_KIND_VIEW_H
#define CELLFS_FS_KIND_VIEW_H

#include "node.h"

/* A view's word in a table or a view; 1: it is none. */
int
view_child(const struct spot *dir, struct slice name, struct child *out);

/* What a plain kind is called in a view. */
enum kind
view_kind(enum kind plain);

int
view_parse(const struct spot *dir, struct slice name, struct child *out);
int
view_argument(const struct spot *dir, struct slice name, struct child *out);
int
view_row_parse(const struct spot *dir, struct slice name, struct child *out);
int
view_family_parse(const struct spot *dir, struct slice name,
    struct child *out);
int
view_find(struct fs *fs, struct spot *spot, struct look *look);
int
view_dir_find(struct fs *fs, struct spot *spot, struct look *look);
int
view_part_find(struct fs *fs, struct spot *spot, struct look *look);
int
view_cell_find(struct fs *fs, struct spot *spot, struct look *look);
int
view_time_find(struct fs *fs, struct spot *spot, struct look *look);
int
view_time_open(struct fs *fs, const struct spot *spot, struct reader *out);
int
view_cell_open(struct fs *fs, const struct spot *spot, struct reader *out);
int
view_nothing(struct fs *fs, const struct spot *dir, struct listing *to);

/* view_list.c: kv_list() of what a view shows. */
int
view_list(struct fs *fs, const struct spot *dir, const struct entry *after,
    list_emit emit, void *context);

#endif
