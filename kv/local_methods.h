/* local_methods: the methods of the engine, named as in kv.h with local_ in
 * front; local.c has the table of them (private to kv/local*.c).
 */
#ifndef CELLFS_KV_LOCAL_METHODS_H
#define CELLFS_KV_LOCAL_METHODS_H

#include "engine.h"

/* local_cells.c */
int
local_stat(struct engine *e, const struct place *place,
    struct version version, struct info *out);
int
local_set_attrs(struct engine *e, const struct place *place,
    struct version version, const struct attrs *attrs);
int
local_versions(struct engine *e, const struct place *column, int64_t before,
    cell_emit emit, void *context);

/* local_value.c */
int
local_value_open(struct engine *e, const struct place *place,
    struct version version, struct value **out);
int64_t
local_value_read(struct value *v, uint64_t offset, void *to, size_t size);
void
local_value_close(struct value *v);

/* local_list.c */
int
local_list(struct engine *e, const struct place *dir,
    const struct entry *after, list_emit emit, void *context);

/* local_mutate.c */
int
local_mutate(struct engine *e, struct mutation *m);

/* local_scan.c */
int
local_scan_open(struct engine *e, const struct scan_spec *spec,
    struct scan **out);
int
local_scan_next(struct scan *s, struct cell *out);
int64_t
local_scan_read(struct scan *s, uint64_t offset, void *to, size_t size);
void
local_scan_close(struct scan *s);

/* local_admin.c */
int
local_table_create(struct engine *e, const struct schema *schema,
    const struct attrs *owner);
int
local_table_alter(struct engine *e, const struct schema *schema,
    bool drop_data);
int
local_table_drop(struct engine *e, struct slice table);
int
local_table_truncate(struct engine *e, struct slice table);
int
local_table_rename(struct engine *e, struct slice from, struct slice to);
int
local_table_schema(struct engine *e, struct slice table, struct schema *out);

/* Declares a family of an open table, with defaults, if it is not there; for
 * the changes that find it missing. -EPERM: sealed, -EDQUOT: too many. */
int
local_family_declare(struct engine *e, struct slice table,
    struct slice family);

/* The same with the attributes of like; NULL: with defaults. */
int
local_family_declare_like(struct engine *e, struct slice table,
    struct slice family, const struct family *like);

/* local_side.c */
int
local_dir_make(struct engine *e, const struct place *dir,
    const struct attrs *attrs);
int
local_dir_times(struct engine *e, const struct dir_time *times, size_t count);
int
local_dir_remove(struct engine *e, const struct place *dir);
int
local_dot_put(struct engine *e, const struct place *dot,
    const struct source *source, const struct attrs *attrs, unsigned flags);
int
local_dot_remove(struct engine *e, const struct place *dot);

/* local_draft.c */
int
local_draft_open(struct engine *e, const struct place *place,
    struct version version, struct content *content, struct draft **out);
int
local_draft_prepare(struct draft *d);
int
local_draft_store(struct draft *d);
void
local_draft_close(struct draft *d);

/* local_move.c */
int
local_move_open(struct engine *e, const struct move_spec *spec,
    struct move **out);
int
local_move_prepare(struct move *m);
int
local_move_try(struct move *m, int64_t *stored);
void
local_move_close(struct move *m);

/* local_clean.c */
int
local_compact(struct engine *e, struct slice table, struct slice family);
int
local_check(struct engine *e, bool repair,
    void (*problem)(void *context, const char *line), void *context);

#endif
