/* kv_data: rows, cells and files through the checked front door.
 *
 * The rules of kv.h hold: 0 or a negative errno with the sentence in
 * why_text(), outputs zeroed on failure, any thread. A struct value or scan
 * belongs to one thread at a time. Nothing is held between two calls of a
 * scan that would stop a writer.
 */
#ifndef CELLFS_KV_KV_DATA_H
#define CELLFS_KV_KV_DATA_H

#include "change.h"
#include "request.h"

struct kv;

/* --- one place of the tree -------------------------------------------- */

/* -ENOENT where there is nothing. Rows and families are there if they hold a
 * live cell or a dot file or are kept. A part (ROW_PART, COLUMN_PART) is
 * there for kv if it is kept or holds dot files; whether keys continue it the
 * caller asks by kv_list(), and if so *out is true with -ENOENT, too. version counts for COLUMN only. */
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

/* Applies all of m or nothing. -E2BIG: more of it. -EFBIG a value above the
 * family's limit; -EPERM a family a sealed table lacks (an open one declares
 * it); -ENOSPC. With a condition that does not hold: 0, applied false. */
int
kv_mutate(struct kv *kv, struct mutation *m);

/* Renames. Column to column: onto a live one that gains one version with the
 * source's newest value; to a free name the history moves whole. A version
 * (VERSION_AT) moves alone, to exactly the target's timestamp if the target
 * names one. Dot file to column: one version; column to dot file: its only
 * version, -EPERM with more. Rows, families and dot directories: with
 * everything in them, into what is free or empty (-ENOTEMPTY), -E2BIG beyond
 * MOVE_CELLS_MAX. Across levels: -EINVAL. MOVE_EXCHANGE: two columns of a
 * table change their histories, else -EINVAL. *stored (may be NULL): the
 * timestamp of the new version where one was made, else of the newest that
 * moved, 0 for none. Chunks may have to be copied first: kv_change.h does so
 * with nothing locked. */
int
kv_move(struct kv *kv, const struct move_spec *spec, int64_t *stored);

/* Keeps a row, family or part (-EEXIST if it is there), or makes a dot
 * directory; MUTATE_KEEP's mark. attrs: complete. */
int
kv_dir_make(
    struct kv *kv, const struct place *dir, const struct attrs *attrs);

/* Keeps the mtimes of directories, in one transaction; at most MUTATE_OPS_MAX.
 * Those that are not there are passed over. */
int
kv_dir_times(struct kv *kv, const struct dir_time *times, size_t count);

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

#endif
