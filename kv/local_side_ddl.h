/* local_side_ddl: what becomes of side tables when tables change (private to
 * kv/local*.c).
 */
#ifndef CELLFS_KV_LOCAL_SIDE_DDL_H
#define CELLFS_KV_LOCAL_SIDE_DDL_H

#include "local_side.h"

/* In a DDL transaction: the attributes of .schema/TABLE follow. */
int
side_schema_changed(struct txn *t, const struct table *old,
    struct table *new);

/* In a DDL transaction: gives the side table of new what the directory of old
 * keeps of itself. */
int
side_table_attrs_copy(struct txn *t, const struct table *old,
    struct table *new);

/* Whether any row has a file in the family: 1, 0, errno. */
int
side_family_files(struct txn *t, const struct table *table,
    struct slice family);

/* Outside transactions: removes everything the side table has of a family
 * that table does not declare, or its dot files only. */
int
side_family_forget(struct local *l, const struct table *table,
    struct slice family, bool files_only);

#endif
