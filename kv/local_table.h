/* local_table: the tables as the engine runs them (private to kv/local*.c).
 */
#ifndef CELLFS_KV_LOCAL_TABLE_H
#define CELLFS_KV_LOCAL_TABLE_H

#include "fold.h"
#include "local.h"
#include "schema.h"

/* A family as the engine runs it. Immutable once published. */
struct local_family {
	struct family declared; /* borrowed from the table's schema */
	struct fold_rules rules;
	uint32_t cells, blobs; /* ordered tables */
	unsigned outdated;     /* OUTDATED_* */
	struct fold_past past; /* until what it put out is removed */
};

/* Which ordered tables of a family are stored otherwise than declared. */
enum {
	OUTDATED_CELLS = 1,
	OUTDATED_BLOBS = 2,
};

/* What the catalogue has of a family beside its schema. */
struct family_entry {
	uint32_t cells, blobs;
	unsigned outdated;
	struct fold_past past;
};

/* What there may be in a side table: without it nobody need look. */
enum {
	SIDE_KEPT = 1,
	SIDE_ATTRS = 2,
	SIDE_FILES = 4,
	SIDE_TTL = 8, /* cells of the table have a TTL of their own */
	SIDE_ANY = 15,
};

/* A table as the engine runs it: immutable once published, replaced as a
 * whole by DDL, freed when the last holder puts it back. */
struct table {
	atomic_uint holders;
	struct schema schema;
	struct local_family *families; /* parallel to schema.families */
	uint32_t side;
	uint32_t id;	 /* stays through renames */
	atomic_bool stale;   /* no longer published; set under writer */
	atomic_uint side_may; /* SIDE_*: what the side table may hold; set
				 before it does, never cleared */
	struct attrs owner; /* mode of directories made by default is its */
	int64_t created; /* ms */
};

/* The published table of that name, held until table_put: -ENOENT. */
int
table_get(struct local *l, struct slice name, struct table **out);

/* Safe on NULL. */
void
table_put(struct table *t);

/* All published tables, held; give the array back with tables_put(). */
int
tables_hold(struct local *l, struct table ***out, size_t *count);
void
tables_put(struct table **tables, size_t count);

/* The family of that name, or NULL; valid while the table is held. */
const struct local_family *
table_family(const struct table *t, struct slice name);

/* Whether the table was dropped or replaced since it was got: a mutation
 * asks under the writer lock and starts again from table_get (-EAGAIN). What
 * table_get gives under the writer lock is never stale. */
bool
table_stale(const struct table *t);

/* Where *t is stale, what has taken its place, under whatever name, replaces
 * it (and is held instead). -ENOENT: it was dropped. */
int
table_follow(struct local *l, struct table **t);

/* A table of that id that is not published; takes over schema (also on
 * failure). entries: of each of its families. */
int
table_new(uint32_t id, struct schema *schema,
    const struct family_entry *entries, struct table **out);

/* The rules that a declaration makes. */
struct fold_rules
family_rules(const struct family *f);

#endif
