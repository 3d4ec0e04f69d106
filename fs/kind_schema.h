/* kind_schema: what a rename means in .schema. */
#ifndef CELLFS_FS_KIND_SCHEMA_H
#define CELLFS_FS_KIND_SCHEMA_H

#include "fs.h"
#include "spot.h"

/* Renames the table; onto one that is there (there) a schema without rows is
 * applied to it and gone, else -EEXIST. */
int
schema_move(struct fs *fs, const struct spot *from, const struct spot *to,
    bool there);

/* Applies a dot file of .schema, about to be renamed onto a schema file. */
int
schema_adopt(struct fs *fs, const struct spot *dot, const struct spot *file);

#endif
