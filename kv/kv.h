/* kv: the checked front door of the store.
 *
 * All that is outside kv/ sees the store through this header alone. It
 * checks names, sizes and read-only, then calls the engine. Functions return
 * 0 or a negative errno, with the sentence in why_text(); outputs are zeroed
 * on failure. Any thread may call anything at any time, but a struct value or
 * scan belongs to one thread at a time. Nothing is held between two calls of
 * a scan that would stop a writer.
 */
#ifndef CELLFS_KV_KV_H
#define CELLFS_KV_KV_H

#include "engine.h"

struct kv;

struct kv_options {
	const char *path;	 /* the store's directory */
	const char *mount_point; /* NULL: a tool; told to whom we refuse */
	bool read_only;
	bool create;	/* a missing or empty directory becomes a store */
	bool repair;	/* for kv_check(): open what is damaged */
	bool in_memory; /* tests: no path, nothing on the disk */
	uint64_t cache; /* bytes; 0: 256 MiB */
	unsigned sync_seconds; /* between log syncs; 0: 5 */
	void (*log)(void *context, const char *line);
	void *log_context;
};

/* Opens a store and starts its threads (so after any fork). -EBUSY: another
 * process holds it (why_text names pid and mount point); -ENOENT: no store;
 * -EINVAL: not a store, or of a newer format; -EIO: damaged. */
int
kv_open(const struct kv_options *options, struct kv **out);

/* Ends the threads and closes; everything is durable after it. */
int
kv_close(struct kv *kv);

/* Who holds the store at path: pid (0: nobody) and mount point (empty: none,
 * owned by the caller). Opens nothing. */
int
kv_holder(const char *path, pid_t *pid, struct buf *mount_point);

/* --- tables ----------------------------------------------------------- */

/* owner: mode of the table's directory, uid and gid, also the defaults of
 * what is made in it later. -EEXIST. */
int
kv_table_create(
    struct kv *kv, const struct schema *schema, const struct attrs *owner);

/* Makes the table's schema equal to this one: attributes act at once and for
 * good. A family left out is dropped if it is empty or drop_data, else
 * -ENOTEMPTY and nothing is applied. */
int
kv_table_alter(struct kv *kv, const struct schema *schema, bool drop_data);

int
kv_table_drop(struct kv *kv, struct slice table);

/* All rows go, the schema stays. */
int
kv_table_truncate(struct kv *kv, struct slice table);

/* -EEXIST if `to` is there. */
int
kv_table_rename(struct kv *kv, struct slice from, struct slice to);

/* A copy of the schema; release it. -ENOENT. Tables are listed by kv_list()
 * at LEVEL_ROOT. */
int
kv_table_schema(struct kv *kv, struct slice table, struct schema *out);

/* Declares a family of an open table, with defaults, if it is not there:
 * -EPERM sealed, -EDQUOT too many. */
int
kv_family_declare(struct kv *kv, struct slice table, struct slice family);

/* --- one place of the tree -------------------------------------------- */

/* -ENOENT where there is nothing. Rows and families are there if they hold a
 * live cell or a dot file or are kept. A part (ROW_PART, COLUMN_PART) is
 * there for kv if it is kept or holds dot files; whether keys continue it the
 * caller asks by kv_list(). version counts for COLUMN only. */
int
kv_stat(struct kv *kv, const struct place *place, struct version version,
    struct info *out);

/* Keeps what attrs->set names: of a version (no new one comes of it), a dot
 * file, or a directory that is there. */
int
kv_set_attrs(struct kv *kv, const struct place *place,
    struct version version, const struct attrs *attrs);

/* The names in a directory, in the store's order, those behind *after (NULL:
 * all): ROOT: tables; SCHEMA: dot files, then SCHEMA_FILE; TABLE and
 * ROW_PART: rows and kept ROW_PARTs by their bytes (a ROW_PART lists the rows
 * and parts that begin with its prefix, itself not); ROW: families; FAMILY
 * and COLUMN_PART: dot files and dot directories, then columns and kept
 * COLUMN_PARTs; DOT_DIR: its dot files. Nothing is locked while emit runs
 * and emit may call kv; each call is given names that were there throughout
 * exactly once. */
int
kv_list(struct kv *kv, const struct place *dir, const struct entry *after,
    list_emit emit, void *context);

/* The live versions of a column, newest first, those stamped below before
 * (TS_LATEST: all). Values are not read; slices are borrowed for emit. */
int
kv_versions(struct kv *kv, const struct place *column, int64_t before,
    cell_emit emit, void *context);

/* Holds a version or a dot file open; close it before kv_close(). */
int
kv_value_open(struct kv *kv, const struct place *place,
    struct version version, struct value **out);

/* Reads up to size bytes at offset: how many, 0 behind the end. */
int64_t
kv_value_read(
    struct kv *kv, struct value *v, uint64_t offset, void *to, size_t size);

/* Safe on NULL. */
void
kv_value_close(struct kv *kv, struct value *v);

/* --- changing --------------------------------------------------------- */

#define MUTATE_OPS_MAX 10000
#define MUTATE_BYTES_MAX (4 << 20) /* of values up to INLINE_MAX, and names */

/* Applies all of m or nothing. -E2BIG: more of it. -EFBIG a value above the
 * family's limit; -EPERM a family a sealed table lacks (an open one declares
 * it); -ENOSPC. With a condition that does not hold: 0, applied false. */
int
kv_mutate(struct kv *kv, struct mutation *m);

/* Renames. Column to column: onto a live one that gains one version with the
 * source's newest value; to a free name the history moves whole. A version
 * (VERSION_AT) moves alone, to exactly the target's timestamp if the target
 * names one. Dot file to column: one version; column to dot file: its only
 * version, -EPERM with more. Rows and families: with everything in them, into
 * what is free or empty (-ENOTEMPTY), -E2BIG beyond MOVE_CELLS_MAX. Across
 * levels: -EINVAL. *stored (may be NULL): the timestamp of the new version
 * where one was made, else of the newest that moved, 0 for none. */
int
kv_move(struct kv *kv, const struct place *from,
    struct version from_version, const struct place *to,
    struct version to_version, unsigned flags, int64_t *stored);

#define MOVE_CELLS_MAX 10000

/* Keeps a row, family or part (-EEXIST if it is there), or makes a dot
 * directory; MUTATE_KEEP's mark. attrs: complete. */
int
kv_dir_make(
    struct kv *kv, const struct place *dir, const struct attrs *attrs);

/* -ENOTEMPTY while it holds a live cell, a dot file or a kept directory; the
 * directory above is kept if this was all it held. Of a part only dot files
 * are asked for: which keys continue it, names alone can tell. A table goes
 * if it holds no row. */
int
kv_dir_remove(struct kv *kv, const struct place *dir);

/* Creates or replaces a dot file. flags: MUTATE_ABSENT. The mode and
 * owner that attrs does not set stay, or are the table's; the mtime is now. */
int
kv_dot_put(struct kv *kv, const struct place *dot,
    const struct source *source, const struct attrs *attrs, unsigned flags);

/* The directory it was in is kept if this was all it held. */
int
kv_dot_remove(struct kv *kv, const struct place *dot);

/* --- scans ------------------------------------------------------------ */

int
kv_scan_open(
    struct kv *kv, const struct scan_spec *spec, struct scan **out);

/* The next cell; 1: no more. Slices are valid until the next call. */
int
kv_scan_next(struct kv *kv, struct scan *s, struct cell *out);

/* Reads the value of the cell last given, in part, also where it stands in
 * chunks: how many bytes, 0 behind the end. */
int64_t
kv_scan_read(
    struct kv *kv, struct scan *s, uint64_t offset, void *to, size_t size);

void
kv_scan_close(struct kv *kv, struct scan *s);

/* Fills start and stop (owned, to be released) for rows that begin with
 * prefix; an empty stop is open. */
int
kv_prefix_range(struct slice prefix, struct buf *start, struct buf *stop);

/* --- the store -------------------------------------------------------- */

/* What was committed before is on the disk after it. */
int
kv_sync(struct kv *kv);

int
kv_checkpoint(struct kv *kv);

/* Removes what no read can see any more and gives space back. Empty table or
 * family: all. May take long; -EINTR after kv_interrupt(). */
int
kv_compact(struct kv *kv, struct slice table, struct slice family);

/* Makes long work of any thread end soon with -EINTR (kv_close does it). */
void
kv_interrupt(struct kv *kv);

/* Reads everything and reports each fault in a line; 1 if there was one. */
int
kv_check(struct kv *kv, bool repair,
    void (*problem)(void *context, const char *line), void *context);

int
kv_space(struct kv *kv, struct space *out);

/* Counters, one call each; names are in cellfs.5. */
void
kv_stats(struct kv *kv, stat_emit emit, void *context);

#endif
