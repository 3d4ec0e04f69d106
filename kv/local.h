/* local: the engine over ordered stores (private to kv/local*.c).
 *
 * Ordered tables: 0 is the catalogue, 1 the root's side table, 2 its blobs;
 * each table has a side table, each family a table of cells and one of blobs,
 * numbered upward and never reused (the catalogue keeps the next number).
 *
 * A mutation: encode, stream big values into chunks, take `writer`, begin,
 * read what it needs, write, commit, release. Lock order, outermost first:
 *   ddl (creating, altering, renaming, dropping) > writer > tables > pins.
 * No one waits for writer with a transaction open, nobody calls out of kv/
 * with any of them held.
 *
 * Keys of a side table (components as in key.h):
 *   'k' dir            kept row or family, empty value
 *   'p' dir            kept continuation directory, empty value
 *   'a' dir            attributes of a directory (record.h, empty value)
 *   't'                cells of the table have a TTL of their own, empty value
 *   'f' dir dotdir name   a dot file or, with an empty name, the dot directory
 *                      dotdir (record.h); dotdir is a component, empty outside
 *   dir = row                             a row, or  part(prefix)
 *       = row family                      a family
 *       = row family part(prefix)         a continuation of qualifiers
 *   of the table itself: dir is empty. In the root's side table: 'a' alone for
 *   the root, 'a' 00 00 for .schema, 'a' table for a schema file, and 'f' with
 *   dir 00 00 for the dot files of .schema. In front of dotdir a family itself
 *   has part(""), so that all files of a family lie together.
 *
 * Keys of the catalogue, and their values:
 *   'v'        the format's version, in decimal
 *   'n'        the next number for an ordered table or a table, in decimal
 *   'o'        of the store: "created MS\nowner MODE UID GID\n", MODE in octal
 *   't' id(4)  a table, as text of these lines, then its schema as schema.h
 *              prints it: "name NAME" (text.h), "side N", "created MS",
 *              "owner MODE UID GID", "family CELLS BLOBS" for each family in
 *              the schema's order, an empty line
 *   'x' below(4) key  an entry whose key was `key`, damaged and set aside by a
 *              repair: ordered tables numbered below may be its own, and stay
 * Another ordered table from FIRST_TABLE on that no entry names belongs to nobody
 * and is dropped: at once, by clean_all() while a reader is in it, or at open.
 *
 * Keys of a blob table: 'b' id(8) chunk(4) -> up to CHUNK bytes;
 *   'p' id(8): written with the first chunk and taken away by the transaction
 *   that stores the reference, or put by the one that drops it: whoever is
 *   listed at open belongs to nobody and is removed.
 */
#ifndef CELLFS_KV_LOCAL_H
#define CELLFS_KV_LOCAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "clock.h"
#include "engine.h"
#include "fold.h"
#include "key.h"
#include "ordered.h"
#include "record.h"

#define CATALOGUE 0
#define ROOT_SIDE 1
#define ROOT_BLOBS 2
#define FIRST_TABLE 16
#define CHUNK ((uint64_t)1 << 20)
#define BATCH_CELLS 10000	/* of one transaction of long work */
#define BATCH_BYTES (4 << 20)
#define READ_CELLS 1000		/* of one snapshot of a reader */

/* A family as the engine runs it. Immutable once published, but next_blob. */
struct local_family {
	struct family declared; /* borrowed from the table's schema */
	struct fold_rules rules;
	uint32_t cells, blobs; /* ordered tables */
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

/* What there may be in a side table: without it nobody need look. */
enum {
	SIDE_KEPT = 1,
	SIDE_ATTRS = 2,
	SIDE_FILES = 4,
	SIDE_TTL = 8, /* cells of the table have a TTL of their own */
};

struct local_options {
	bool read_only;
	bool repair;	 /* mend what the catalogue has lost */
	bool background; /* the clean-up and checkpoint threads run */
	unsigned sync_seconds;
	void (*log)(void *context, const char *line);
	void *log_context;
	struct clock *clock; /* NULL: the wall clock; else the caller's */
};

/* What local_stats() counts; the names stand in local.c. */
enum counter {
	COUNT_COMMITS,
	COUNT_ROLLBACKS,
	COUNT_RETRIES,
	COUNT_SNAPSHOTS,
	COUNT_PUTS, /* records written */
	COUNT_BYTES,
	COUNT_REMOVES,
	COUNT_SYNCS,
	COUNT_CHECKPOINTS,
	COUNT_CLEANUPS,
	COUNT_OF,
};

struct pins;   /* local_blob.c: blobs that readers hold */
struct depths; /* local_depth.c: how many versions deep columns store */
struct hints;  /* local_any.c: where rows were last found to hold cells */

struct local {
	struct engine engine;
	struct ordered *ordered;
	struct clock *clock;
	struct clock wall;
	struct local_options options;
	atomic_bool interrupted;

	pthread_mutex_t ddl;
	pthread_mutex_t writer;
	pthread_rwlock_t tables_lock; /* guards the next two */
	struct table **tables;	      /* by name */
	size_t table_count;
	uint32_t next_number;	   /* guarded by ddl */
	atomic_bool dead_tables;   /* there may be some to drop */
	uint32_t keep_below;	   /* nobody's below this are not dropped */
	struct attrs owner;	   /* of root and .schema, by default */
	int64_t created;	   /* ms */

	struct pins *pins;
	struct depths *depths; /* guarded by writer */
	struct hints *hints;
	atomic_uint_fast64_t counters[COUNT_OF];
	bool threaded; /* thread runs */
	pthread_t thread;
	pthread_mutex_t thread_lock; /* guards stopping */
	pthread_cond_t thread_wake;
	bool stopping;
};

/* --- local.c: opening, transactions, the background thread ------------- */

/* Takes over ordered, also on failure. */
int
local_open(struct ordered *ordered, const struct local_options *options,
    struct engine **out);

/* Long work of any thread ends with -EINTR from now on. */
void
local_interrupt(struct engine *e);

/* A line for the log: printf. */
void
local_log(struct local *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One transaction of one thread; `now` is read once, at its begin. */
struct txn {
	struct local *local;
	struct ordered_session *session;
	bool writing;
	int64_t now;
	/* If set by the body: called by txn_end() once the commit has
	 * succeeded, before the writer lock goes (DDL publishes so). */
	void (*committed)(void *context);
	void *committed_context;
};

/* Begins a read snapshot. End it before anything that may wait. */
int
txn_read(struct local *l, struct txn *out);

/* Takes the writer lock and begins. -ENOSPC, -EROFS. */
int
txn_write(struct local *l, enum ordered_intent intent, struct txn *out);

/* Commits a writing transaction if r is 0, else rolls back; gives the session
 * and the lock back. Returns r, or what commit said. Safe on a txn whose
 * begin failed. */
int
txn_end(struct txn *t, int r);

/* Runs body in a writing transaction, again (bounded) on -EAGAIN with fresh
 * values; body must be able to run twice. */
int
local_write(struct local *l, enum ordered_intent intent,
    int (*body)(struct txn *t, void *context), void *context);

/* The ordered store's get, put, remove and remove_range in t, counted. */
int
txn_get(struct txn *t, uint32_t table, struct slice key, struct buf *out);
int
txn_put(struct txn *t, uint32_t table, struct slice key, struct slice value);
int
txn_remove(struct txn *t, uint32_t table, struct slice key);
int
txn_remove_range(struct txn *t, uint32_t table, struct slice from,
    struct slice to);

/* --- local_catalogue.c: tables by name --------------------------------- */

/* Loads all tables; makes the catalogue of an empty store. */
int
catalogue_open(struct local *l);

void
catalogue_close(struct local *l);

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
table_stale(struct local *l, const struct table *t);

/* A table of id, side table and numbers that is not published; takes over
 * schema (also on failure). numbers: cells and blobs of each family. */
int
table_new(uint32_t id, struct schema *schema, const uint32_t *numbers,
    struct table **out);

/* What a DDL transaction does to the catalogue: `new` takes the place of
 * `old`; either may be NULL (created, dropped). */
struct table_change {
	struct local *local;
	struct table *old, *new;
};

/* Writes the entry and has it published on commit (ddl held; change lives
 * until then). The catalogue then owns `new`, and puts back its own hold on
 * `old`; the caller's holds stay the caller's. */
int
catalogue_change(struct txn *t, struct table_change *change);

/* The next count numbers (ddl held). */
uint32_t
catalogue_numbers(struct local *l, uint32_t count);

/* Drops the ordered tables that belong to nobody (ddl held). What is still
 * read stays for the next time: l->dead_tables. */
int
catalogue_sweep(struct local *l);

/* --- local_blob.c: values above INLINE_MAX ------------------------------ */

/* Stores source in chunks, each in a transaction of its own (call without
 * one open), and leaves it pending: *id. */
int
blob_write(struct local *l, uint32_t blobs, const struct source *source,
    uint64_t *id);

/* In the transaction that stores a reference: id is no longer pending. */
int
blob_adopt(struct txn *t, uint32_t blobs, uint64_t id);

/* In the transaction that drops the reference: id is pending again. */
int
blob_drop(struct txn *t, uint32_t blobs, uint64_t id);

/* Outside transactions: removes the chunks of a pending blob now, or when its
 * last pin goes. */
void
blob_collect(struct local *l, uint32_t blobs, uint64_t id);

/* Removes every pending blob of the table: at open. */
int
blob_sweep(struct local *l, uint32_t blobs);

/* A pinned blob's chunks stay. pin within the snapshot that saw the
 * reference, before it ends. -EAGAIN: it was dropped and collected since that
 * snapshot began; look again in a new one. */
int
blob_pin(struct local *l, uint32_t blobs, uint64_t id);
void
blob_unpin(struct local *l, uint32_t blobs, uint64_t id);

/* Whether anyone holds a blob of the table. */
bool
blob_pinned(struct local *l, uint32_t blobs);

/* Whether the table holds any chunk: 1, 0 or an errno. */
int
blob_any(struct txn *t, uint32_t blobs);

struct pins *
pins_new(void);
void
pins_free(struct pins *pins);

/* Reads in part, in a snapshot of its own: bytes read or a negative errno. */
int64_t
blob_read(struct local *l, uint32_t blobs, uint64_t id, uint64_t size,
    uint64_t offset, void *to, size_t count);

/* --- local_cells.c: one column ------------------------------------------ */

/* A stored version as found; owned, release with stored_release. */
struct stored {
	int64_t timestamp;
	int64_t expires;
	struct buf bytes;     /* what record.value points into */
	struct record record; /* attributes as kept, not filled in */
};

void
stored_release(struct stored *s);

/* The live version asked for, in t's snapshot. 1: none. */
int
column_find(struct txn *t, const struct local_family *f, struct slice row,
    struct slice qualifier, struct version version, struct stored *out);

/* Calls each for every live version, newest first (stamped below `before`);
 * each returns 0 more, 1 stop, or an errno. */
int
column_each(struct txn *t, const struct local_family *f, struct slice row,
    struct slice qualifier, int64_t before,
    int (*each)(void *context, const struct stored *s), void *context);

/* Whether the family holds a live cell in row (any row if empty): 1, 0, errno.
 * near: a qualifier that was just removed, where to look first; empty: no. */
int
cells_any(struct txn *t, const struct local_family *f, struct slice row,
    struct slice near);

/* Fills in what attributes a record does not keep. */
void
attrs_complete(const struct table *table, int64_t timestamp,
    const struct attrs *kept, mode_t mode_default, struct attrs *out);

/* What a file of a cell has by default beside the table's owner. */
#define CELL_MODE 0644

/* Leaves out of *kept (a version's or a dot file's) what the table's defaults
 * give anyway. */
void
attrs_reduce(const struct table *table, mode_t mode_default,
    struct attrs *kept);

/* *to, complete, with what `from` sets in its place. */
void
attrs_override(struct attrs *to, const struct attrs *from);

struct timespec
timespec_of_ms(int64_t ms);

struct hints *
hints_new(void);
void
hints_free(struct hints *h);

/* --- local_mutate.c, local_column.c: changing columns (writer held) ------ */

/* Forgets what is known in memory of how many versions columns store: in any
 * transaction that changes cells by other means than column_*, such as
 * moving rows or truncating. */
void
depths_forget(struct local *l);
struct depths *
depths_new(void);
void
depths_free(struct depths *d);

/* Blob ids that a transaction dropped, to be collected once it committed. */
struct dropped {
	struct buf ids; /* pairs: u32 table, u64 id in native form */
};
void
dropped_collect(struct local *l, struct dropped *d); /* and releases */

/* Removes from a column what is out already: first of all, always. */
int
column_clean(struct txn *t, const struct local_family *f, struct slice row,
    struct slice qualifier, struct dropped *d);

/* Stores a version at exactly timestamp and pushes out what is beyond
 * VERSIONS. *pushed: it was itself pushed out at once. */
int
column_store(struct txn *t, const struct local_family *f, struct slice row,
    struct slice qualifier, int64_t timestamp, const struct record *record,
    struct dropped *d, bool *pushed);

/* Removes one version; 1: it was not there. */
int
column_remove(struct txn *t, const struct local_family *f, struct slice row,
    struct slice qualifier, int64_t timestamp, struct dropped *d);

/* max(now, newest live + 1); -EINVAL: the newest is at the end of time. */
int
column_next_timestamp(struct txn *t, const struct local_family *f,
    struct slice row, struct slice qualifier, int64_t *out);

/* --- local_side.c: directories and dot files ----------------------------- */

/* In a mutation that put a cell: row and family are no longer kept. Cheap
 * where nothing is kept in the table. */
int
side_unkeep(struct txn *t, const struct table *table, struct slice row,
    struct slice family);

/* In a mutation through the mount that removed cells or files of a family:
 * keeps family (else row) if it is empty now. near as in cells_any. */
int
side_keep_if_empty(struct txn *t, struct table *table, struct slice row,
    const struct local_family *family, struct slice near);

/* In a mutation by other means: forgets the attributes of row and family if
 * they are no longer there. */
int
side_forget_if_gone(struct txn *t, const struct table *table, struct slice row,
    const struct local_family *family, struct slice near);

/* The next name of that level directly below dir that the side table makes be
 * there: rows and families kept or with files in them, kept parts and those
 * with files, dot files, dot directories; in key order, behind after (or from
 * it: inclusive). info is complete. 1: no more. For local_list.c. */
int
side_next(struct txn *t, const struct table *table, const struct place *dir,
    enum level level, struct slice after, bool inclusive, struct buf *name,
    struct info *out);

/* The attributes of a directory, complete. Whether it is there is not asked.
 * table: NULL for ROOT and SCHEMA. */
int
side_dir_info(struct txn *t, const struct table *table,
    const struct place *dir, struct info *out);

/* The record of a dot file or dot directory (place->level), 1: none; blobs:
 * the table its value stands in. table: NULL for those of .schema. */
int
side_dot_find(struct txn *t, const struct table *table,
    const struct place *place, struct stored *out, uint32_t *blobs);

/* In a mutation that stored a cell with a TTL of its own: the clean-up has to
 * look at the table from now on. */
int
side_note_ttl(struct txn *t, struct table *table);

/* What a side table may hold (SIDE_*), looked up when its table is loaded. */
int
side_look(struct txn *t, uint32_t side, unsigned *may);

/* In a DDL transaction: the attributes of .schema/TABLE follow. */
int
side_schema_changed(struct txn *t, const struct table *old,
    struct table *new);

/* In a DDL transaction: gives the side table of new what the directory of old
 * keeps of itself. */
int
side_table_attrs_copy(struct txn *t, const struct table *old,
    struct table *new);

/* Whether the table has a row: 1, 0, errno. */
int
side_table_any(struct txn *t, const struct table *table);

/* Whether any row has a file in the family: 1, 0, errno. */
int
side_family_files(struct txn *t, const struct table *table,
    struct slice family);

/* Outside transactions: removes everything the side table has of a family
 * that table does not declare, or its dot files only. */
int
side_family_forget(struct local *l, const struct table *table,
    struct slice family, bool files_only);

/* kv_stat() and kv_set_attrs() of every level but COLUMN. */
int
side_stat(struct local *l, const struct place *place, struct info *out);
int
side_set_attrs(struct local *l, const struct place *place,
    const struct attrs *attrs);

/* --- local_clean.c -------------------------------------------------------- */

/* One round of clean-up: removes what is out from every family, frees blobs,
 * forgets attributes of what is gone. Small transactions. */
int
clean_all(struct local *l);

/* Removes what is out from one family of a table, in small transactions. */
int
clean_family(struct local *l, const struct table *table,
    const struct local_family *f);

/* --- local_admin.c --------------------------------------------------------- */

/* Drops a table that has no rows, else -ENOTEMPTY. */
int
admin_drop_empty(struct local *l, struct slice table);

/* The methods that other files give to the table in local.c have the names
 * of kv.h with local_ in front. */

/* local.c */
int
local_sync(struct engine *e);
int
local_checkpoint(struct engine *e);
int
local_space(struct engine *e, struct space *out);
void
local_stats(struct engine *e, stat_emit emit, void *context);

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
int
local_family_declare(struct engine *e, struct slice table,
    struct slice family);

/* local_side.c */
int
local_dir_make(struct engine *e, const struct place *dir,
    const struct attrs *attrs);
int
local_dir_remove(struct engine *e, const struct place *dir);
int
local_dot_put(struct engine *e, const struct place *dot,
    const struct source *source, const struct attrs *attrs, unsigned flags);
int
local_dot_remove(struct engine *e, const struct place *dot);

/* local_move.c */
int
local_move(struct engine *e, const struct place *from,
    struct version from_version, const struct place *to,
    struct version to_version, unsigned flags, int64_t *stored);

/* local_clean.c */
int
local_compact(struct engine *e, struct slice table, struct slice family);
int
local_check(struct engine *e, bool repair,
    void (*problem)(void *context, const char *line), void *context);

#endif
