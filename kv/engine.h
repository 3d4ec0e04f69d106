/* engine: the seam at cell level, the method table an engine fills.
 *
 * kv.h is the checked front door that everything outside kv/ goes through;
 * the rules of each call stand there and hold here too: the front door has
 * checked names, sizes and read-only before a method runs.
 */
#ifndef CELLFS_KV_ENGINE_H
#define CELLFS_KV_ENGINE_H

#include "change.h"
#include "request.h"
#include "schema.h"

struct engine;

/* One method for each function of kv.h, kv_data.h and kv_change.h, of the same
 * meaning; kv_move() is made of those of move. */
struct engine_methods {
	int (*close)(struct engine *e);

	int (*table_create)(struct engine *e, const struct schema *schema,
	    const struct attrs *owner);
	int (*table_alter)(struct engine *e, const struct schema *schema,
	    bool drop_data);
	int (*table_drop)(struct engine *e, struct slice table);
	int (*table_truncate)(struct engine *e, struct slice table);
	int (*table_rename)(struct engine *e, struct slice from,
	    struct slice to);
	int (*table_schema)(struct engine *e, struct slice table,
	    struct schema *out);

	int (*stat)(struct engine *e, const struct place *place,
	    struct version version, struct info *out);
	int (*set_attrs)(struct engine *e, const struct place *place,
	    struct version version, const struct attrs *attrs);
	int (*list)(struct engine *e, const struct place *dir,
	    const struct entry *after, list_emit emit, void *context);
	int (*versions)(struct engine *e, const struct place *column,
	    int64_t before, cell_emit emit, void *context);

	int (*value_open)(struct engine *e, const struct place *place,
	    struct version version, struct value **out);
	int64_t (*value_read)(struct value *v, uint64_t offset, void *to,
	    size_t size);
	void (*value_close)(struct value *v);

	int (*mutate)(struct engine *e, struct mutation *m);
	int (*draft_open)(struct engine *e, const struct place *place,
	    struct version version, struct content *content,
	    struct draft **out);
	int (*draft_prepare)(struct draft *d);
	int (*draft_store)(struct draft *d);
	void (*draft_close)(struct draft *d);
	int (*move_open)(struct engine *e, const struct move_spec *spec,
	    struct move **out);
	int (*move_prepare)(struct move *m);
	int (*move_try)(struct move *m, int64_t *stored);
	void (*move_close)(struct move *m);

	int (*dir_make)(struct engine *e, const struct place *dir,
	    const struct attrs *attrs);
	int (*dir_times)(struct engine *e, const struct dir_time *times,
	    size_t count);
	int (*dir_remove)(struct engine *e, const struct place *dir);
	int (*dot_put)(struct engine *e, const struct place *dot,
	    const struct source *source, const struct attrs *attrs,
	    unsigned flags);
	int (*dot_remove)(struct engine *e, const struct place *dot);

	int (*scan_open)(struct engine *e, const struct scan_spec *spec,
	    struct scan **out);
	int (*scan_next)(struct scan *s, struct cell *out);
	int64_t (*scan_read)(struct scan *s, uint64_t offset, void *to,
	    size_t size);
	void (*scan_close)(struct scan *s);

	int (*sync)(struct engine *e);
	int (*checkpoint)(struct engine *e);
	int (*compact)(struct engine *e, struct slice table,
	    struct slice family);
	int (*check)(struct engine *e, bool repair,
	    void (*problem)(void *context, const char *line), void *context);
	int (*space)(struct engine *e, struct space *out);
	void (*stats)(struct engine *e, stat_emit emit, void *context);
};

/* Implementations begin with this. */
struct engine {
	const struct engine_methods *methods;
};

#endif
