/* kinds: the methods that the rows of the kind table name, by file. */
#ifndef CELLFS_FS_KINDS_H
#define CELLFS_FS_KINDS_H

#include "node.h"
#include "path.h"
#include "../kv/kv_data.h"

/* kind_data.c: root, tables, rows, families and their parts */
int
root_parse(const struct spot *dir, struct slice name, struct child *out);
int
table_parse(const struct spot *dir, struct slice name, struct child *out);
int
row_parse(const struct spot *dir, struct slice name, struct child *out);
int
family_parse(const struct spot *dir, struct slice name, struct child *out);
int
data_find(struct fs *fs, struct spot *spot, struct look *look);
int
part_find(struct fs *fs, struct spot *spot, struct look *look);
int
data_make(struct fs *fs, const struct spot *spot, const struct attrs *fresh,
    int64_t *mine);
int
table_make(struct fs *fs, const struct spot *spot, const struct attrs *fresh,
    int64_t *mine);
int
family_make(struct fs *fs, const struct spot *spot, const struct attrs *fresh,
    int64_t *mine);
int
data_drop(struct fs *fs, const struct spot *spot);
int
part_drop(struct fs *fs, const struct spot *spot);
int
part_set(struct fs *fs, const struct spot *spot, const struct attrs *attrs);
int
data_set(struct fs *fs, const struct spot *spot, const struct attrs *attrs);

/* kind_cell.c: cells, versions, counters */
int
cell_find(struct fs *fs, struct spot *spot, struct look *look);
int
cell_make(struct fs *fs, const struct spot *spot, const struct attrs *fresh,
    int64_t *mine);
/* A new file above the history that is there: its owner and mode are fresh. */
int
cell_make_above(struct fs *fs, const struct spot *spot,
    const struct attrs *fresh, int64_t *mine);
int
cell_drop(struct fs *fs, const struct spot *spot);
int
cell_open(struct fs *fs, const struct spot *spot, struct reader *out);
int
cell_limit(struct fs *fs, const struct spot *spot, struct limit *out);
int
version_drop(struct fs *fs, const struct spot *spot);
int
counter_find(struct fs *fs, struct spot *spot, struct look *look);
int
counter_make(struct fs *fs, const struct spot *spot, const struct attrs *fresh,
    int64_t *mine);
int
counter_open(struct fs *fs, const struct spot *spot, struct reader *out);
int
counter_check(const struct image *image);
int
counter_store(struct fs *fs, const struct spot *spot, struct storing *how);

/* kind_versions.c: q@/ */
int
versions_parse(const struct spot *dir, struct slice name, struct child *out);
int
versions_find(struct fs *fs, struct spot *spot, struct look *look);
int
versions_list(struct fs *fs, const struct spot *dir, struct listing *to);

/* kind_dotfile.c: dot files and dot directories */
int
dot_parse(struct slice name, struct child *out);
int
dot_dir_parse(const struct spot *dir, struct slice name, struct child *out);
int
dot_find(struct fs *fs, struct spot *spot, struct look *look);
int
dot_make(struct fs *fs, const struct spot *spot, const struct attrs *fresh,
    int64_t *mine);
int
dot_drop(struct fs *fs, const struct spot *spot);

/* kind_schema.c: .schema/TABLE */
int
schema_dir_parse(const struct spot *dir, struct slice name, struct child *out);
int
schema_find(struct fs *fs, struct spot *spot, struct look *look);
int
schema_make(struct fs *fs, const struct spot *spot, const struct attrs *fresh,
    int64_t *mine);
int
schema_drop(struct fs *fs, const struct spot *spot);
int
schema_open(struct fs *fs, const struct spot *spot, struct reader *out);
int
schema_limit(struct fs *fs, const struct spot *spot, struct limit *out);
int
schema_check_image(const struct image *image);
int
schema_store(struct fs *fs, const struct spot *spot, struct storing *how);

/* kind_control.c: .cellfs/ */
int
control_dir_parse(const struct spot *dir, struct slice name,
    struct child *out);
int
control_dir_find(struct fs *fs, struct spot *spot, struct look *look);
int
control_dir_list(struct fs *fs, const struct spot *dir, struct listing *to);
int
control_find(struct fs *fs, struct spot *spot, struct look *look);
int
control_open(struct fs *fs, const struct spot *spot, struct reader *out);
int
control_set(struct fs *fs, const struct spot *spot, const struct attrs *attrs);
int
control_limit(struct fs *fs, const struct spot *spot, struct limit *out);
int
control_store(struct fs *fs, const struct spot *spot, struct storing *how);

#endif
