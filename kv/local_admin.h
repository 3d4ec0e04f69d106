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

/* Which of them are stored otherwise: OUTDATED_*. */
unsigned
admin_storage_differs(const struct family *a, const struct family *b);

/* Fresh ordered tables for a family: its entry. */
int
admin_create_family(
    struct local *l, const struct family *f, struct family_entry *out);

/* The entry of a family as it is, and appending one to a list. */
struct family_entry
admin_entry(const struct local_family *f);
void
admin_append(struct buf *entries, const struct family_entry *entry);

/* A table with another schema (taken over) and these entries in the place of
 * old; and one that is the same in all. */
int
admin_successor(const struct table *old, struct schema *schema,
    const struct buf *entries, struct table **out);
int
admin_same(const struct table *old, struct table **out);

/* The body of a transaction that does no more than the change itself; and
 * where the schema stays as it is. */
int
admin_change_body(struct txn *t, void *change);
int
admin_entry_body(struct txn *t, void *change);

/* Writes a change unless r, or lets go of what was to be new; then drops what
 * belongs to nobody. A drop that fails is done later and is no failure. */
int
admin_finish(struct local *l, struct table_change *change,
    int (*body)(struct txn *t, void *context), int r);

/* Takes the pasts away from the families of a table, once all is removed that
 * they put out. */
int
admin_drop_pasts(struct local *l, struct table *table);

/* Drops a table that has no rows, else -ENOTEMPTY. */
int
admin_drop_empty(struct local *l, struct slice table);

#endif
