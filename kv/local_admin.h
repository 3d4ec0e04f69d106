/* local_admin: what the files that change tables share (private to them).
 *
 * Every change holds ddl, creates the ordered tables it needs, writes the
 * catalogue in one transaction that publishes, and then drops what belongs to
 * nobody any more: a crash between any two steps leaves the table as it was or
 * as it is to be, and ordered tables that the next opening drops.
 */
#ifndef CELLFS_KV_LOCAL_ADMIN_H
#define CELLFS_KV_LOCAL_ADMIN_H

#include "local_catalogue.h"

/* The ordered table of a family's cells, or of its blobs. */
int
admin_create_cells(
    struct local *l, const struct family *f, uint32_t number);
int
admin_create_blobs(
    struct local *l, const struct family *f, uint32_t number);

/* Appends the two numbers of a family. */
void
admin_append_pair(struct buf *numbers, uint32_t cells, uint32_t blobs);

/* A table with another schema (taken over) in the place of old. */
int
admin_successor(const struct table *old, struct schema *schema,
    const struct buf *numbers, struct table **out);

/* The body of a transaction that does no more than the change itself. */
int
admin_change_body(struct txn *t, void *change);

/* Writes a change unless r, or lets go of what was to be new; then drops what
 * belongs to nobody. A drop that fails is done later and is no failure. */
int
admin_finish(struct local *l, struct table_change *change,
    int (*body)(struct txn *t, void *context), int r);

/* Drops a table that has no rows, else -ENOTEMPTY. */
int
admin_drop_empty(struct local *l, struct slice table);

#endif
