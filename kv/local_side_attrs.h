/* local_side_attrs: what directories keep of their attributes (private to
 * kv/local*.c).
 */
#ifndef CELLFS_KV_LOCAL_SIDE_ATTRS_H
#define CELLFS_KV_LOCAL_SIDE_ATTRS_H

#include "local_side.h"

/* The attributes of a directory, complete. Whether it is there is not asked.
 * table: NULL for ROOT and SCHEMA. */
int
side_dir_info(struct txn *t, const struct table *table,
    const struct place *dir, struct info *out);

/* Whether it is worth looking what a directory keeps of its attributes. */
bool
side_may_keep(const struct table *table, const struct place *dir);

/* What a directory keeps of its attributes, all zero without; and sets them
 * (what equals the defaults is not stored). */
int
side_get_attrs(
    struct txn *t, uint32_t side, const struct place *dir, struct attrs *out);
int
side_put_attrs(struct txn *t, struct table *table, const struct place *dir,
    const struct attrs *attrs);

/* The attributes of what keeps none: of a directory, or of a file. */
void
side_defaults(
    struct local *l, const struct table *table, bool file, struct attrs *out);

/* Leaves out of *attrs what the defaults give anyway; owner, group and mode
 * are kept together. */
void
side_reduce(
    struct local *l, const struct table *table, bool file, struct attrs *attrs);

#endif
