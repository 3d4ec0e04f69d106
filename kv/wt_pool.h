/* wt_pool: WiredTiger's sessions, pooled, and what is done with one.
 *
 * The session half of ordered_wt: no WT_SESSION of a request exists outside.
 * Each pooled session caches a few cursors, which are reset whenever nobody
 * uses them. Dropping a table closes those of idle sessions at once; sessions
 * in use see the pool's generation when they are given back, and then close
 * theirs.
 */
#ifndef CELLFS_KV_WT_POOL_H
#define CELLFS_KV_WT_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "ordered.h"
#include "wt_files.h"
#include "wt_room.h"

struct __wt_connection;
struct __wt_session;

/* What a store and its sessions share. */
struct wt_pool {
	struct __wt_connection *connection;
	struct wt_files *files;
	struct wt_room room;
	bool read_only;
	atomic_bool failed; /* WiredTiger gave up: nothing works any more */
	atomic_bool changed; /* the copy of the metadata may be stale */
	/* Checkpoints that may free room: one when it has run out, two when
	 * something was removed since. Made by make_room, which is called with
	 * no lock of ours held; first: room has just run out. */
	atomic_uint owed;
	void (*make_room)(struct wt_pool *pool, bool first);

	pthread_mutex_t lock; /* guards the next two */
	struct ordered_session *idle;
	uint64_t generation;
};

/* connection, files and room stay the caller's. */
void
wt_pool_init(struct wt_pool *pool);

/* Closes the idle sessions; no other may be there unless the store failed. */
void
wt_pool_release(struct wt_pool *pool);

/* Cursors on table are closed, those of sessions in use a little later. */
void
wt_pool_forget(struct wt_pool *pool, uint32_t table);

/* A session for the store's own work; never pooled. 0 or a negative errno. */
int
wt_pool_open(struct wt_pool *pool, struct __wt_session **out);

/* Does one thing to a table on a session of its own. */
enum wt_verb {
	WT_OPEN, WT_CREATE, WT_DROP, WT_COMPACT, WT_VERIFY, WT_SALVAGE
};
int
wt_pool_do(struct wt_pool *pool, enum wt_verb verb, uint32_t table,
    const char *config);

/* Calls each for the number of every table: 0, or its first other answer. */
int
wt_pool_each_table(struct wt_pool *pool,
    int (*each)(void *context, struct __wt_session *session, uint32_t table),
    void *context);

/* Appends what WiredTiger's metadata says of a table, in the text form of its
 * backups: a line for each key, a line for its value. */
int
wt_pool_describe(struct __wt_session *session, uint32_t table,
    struct buf *out);

/* One of WiredTiger's statistics, 0 where it has none. */
uint64_t
wt_pool_statistic(
    struct __wt_session *session, const char *uri, int which);

/* WiredTiger's code as a negative errno, with a sentence where the system's
 * words say too little. Sets pool->failed. */
int
wt_pool_error(struct wt_pool *pool, int code);

/* "table:000012"; out has room for WT_URI_BYTES. */
#define WT_URI_BYTES 32
static inline void
wt_pool_uri(uint32_t table, char *out)
{
	snprintf(out, WT_URI_BYTES, "table:%06u", table);
}

/* The session's methods of struct ordered_methods. */
int
wt_pool_take(struct wt_pool *pool, struct ordered_session **out);
void
wt_pool_give(struct ordered_session *s);
int
wt_session_begin(struct ordered_session *s, enum ordered_intent intent);
int
wt_session_commit(struct ordered_session *s);
void
wt_session_rollback(struct ordered_session *s);
int
wt_session_cursor(
    struct ordered_session *s, uint32_t table, struct ordered_cursor **out);
void
wt_cursor_close(struct ordered_cursor *c);
int
wt_cursor_seek(
    struct ordered_cursor *c, struct slice key, enum ordered_seek how);
int
wt_cursor_next(struct ordered_cursor *c);
int
wt_cursor_prev(struct ordered_cursor *c);
int
wt_cursor_key(struct ordered_cursor *c, struct slice *out);
int
wt_cursor_value(struct ordered_cursor *c, struct slice *out);
int
wt_session_get(struct ordered_session *s, uint32_t table, struct slice key,
    struct buf *out);
int
wt_session_put(struct ordered_session *s, uint32_t table, struct slice key,
    struct slice value);
int
wt_session_remove(
    struct ordered_session *s, uint32_t table, struct slice key);
int
wt_session_remove_range(struct ordered_session *s, uint32_t table,
    struct slice from, struct slice to);

#endif
