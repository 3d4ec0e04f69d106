/* kv: the checked front door of the store: opening, tables, upkeep.
 *
 * All that is outside kv/ sees the store through this header and kv_data.h
 * (rows, cells, files). They check names, sizes and read-only, then call the
 * engine. Functions return 0 or a negative errno, with the sentence in
 * why_text(); outputs are zeroed on failure. Any thread may call anything at
 * any time.
 */
#ifndef CELLFS_KV_KV_H
#define CELLFS_KV_KV_H

#include "request.h"
#include "schema.h"

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

/* --- the store -------------------------------------------------------- */

/* What was committed before is on the disk after it. */
int
kv_sync(struct kv *kv);

int
kv_checkpoint(struct kv *kv);

/* Removes what no read can see any more and gives space back. Empty table or
 * family: all. May take long; -EINTR by kv_interrupt() or kv_ask(). */
int
kv_compact(struct kv *kv, struct slice table, struct slice family);

/* Makes long work of any thread end soon with -EINTR (kv_close does it). */
void
kv_interrupt(struct kv *kv);

/* From now on long work of this thread asks now and then whether it is to end
 * with -EINTR; NULL: it asks nobody. */
void
kv_ask(bool (*stop)(void *context), void *context);

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
