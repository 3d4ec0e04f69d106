/* The ordered store over WiredTiger: what concerns the whole store. What is
 * done with one session stands in wt_pool.c.
 *
 * Locks: checkpoint_lock is held over a whole checkpoint and with no other.
 */
#include "ordered.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wiredtiger.h>

#include "why.h"
#include "wt_config.h"
#include "wt_files.h"
#include "wt_home.h"
#include "wt_mend.h"
#include "wt_pool.h"
#include "wt_room.h"
#include "wt_wait.h"

#define MARKER_TEXT "cellfs store 1\n"
#define LAST_WORD_MS 500  /* for WiredTiger to finish what may never end */
#define COMPACT_LEAST ((uint64_t)1 << 20)
#define MAKE_ROOM_MS 1000 /* between checkpoints that make room */

struct wt_store {
	struct ordered ordered;
	struct wt_pool pool; /* with files and room */
	WT_EVENT_HANDLER handler;
	struct wt_claim *claim;
	char *directory;
	bool salvage;
	void (*log)(void *context, const char *line);
	void *log_context;

	pthread_mutex_t checkpoint_lock;
	WT_SESSION *checkpoint_session; /* guarded by checkpoint_lock */

	struct wt_group sync;
	WT_SESSION *sync_session; /* of who leads sync */

	_Atomic int64_t made_room; /* ms, when make_room last did */
};

static struct wt_store *
store_of(struct ordered *o)
{
	return (struct wt_store *)o;
}

/* --- what WiredTiger says ------------------------------------------------- */

static struct wt_store *
store_of_handler(WT_EVENT_HANDLER *handler)
{
	return (struct wt_store *)((char *)handler -
				   offsetof(struct wt_store, handler));
}

static void __attribute__((format(printf, 2, 3)))
store_log(struct wt_store *s, const char *format, ...)
{
	char line[1024];
	va_list args;

	if (!s->log)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	s->log(s->log_context, line);
}

static int
on_error(WT_EVENT_HANDLER *handler, WT_SESSION *session, int code,
    const char *message)
{
	struct wt_store *s = store_of_handler(handler);

	(void)session;
	if (code == WT_PANIC)
		atomic_store(&s->pool.failed, true);
	store_log(s, "WiredTiger: %s", message);
	return 0;
}

static int
on_message(WT_EVENT_HANDLER *handler, WT_SESSION *session, const char *message)
{
	(void)session;
	store_log(store_of_handler(handler), "WiredTiger: %s", message);
	return 0;
}

/* --- tables --------------------------------------------------------------- */

static int
wt_session(struct ordered *o, struct ordered_session **out)
{
	return wt_pool_take(&store_of(o)->pool, out);
}

static int
append_table(void *context, WT_SESSION *session, uint32_t table)
{
	struct buf *out = context;

	(void)session;
	buf_append(out, slice_of(&table, sizeof(table)));
	return buf_status(out);
}

static int
wt_tables(struct ordered *o, struct buf *out)
{
	return wt_pool_each_table(&store_of(o)->pool, append_table, out);
}

/* --- durability ----------------------------------------------------------- */

static int
work_flush(void *context)
{
	struct wt_store *s = context;
	WT_SESSION *session = s->sync_session;

	return wt_pool_error(&s->pool, session->log_flush(session, "sync=on"));
}

static int
wt_sync(struct ordered *o)
{
	struct wt_store *s = store_of(o);

	return s->pool.read_only ? 0 : wt_group_run(&s->sync, work_flush, s);
}

/* Copies WiredTiger's own records of the tables, as they are at the last
 * checkpoint: what a repair starts from where they are damaged. Without a new
 * copy the old one stays. Called with checkpoint_lock, or before others come.
 */
static void
keep_metadata(struct wt_store *s)
{
	WT_SESSION *session = s->checkpoint_session;
	WT_CURSOR *backup;

	if (session->open_cursor(session, "backup:", NULL, NULL, &backup))
		return;
	wt_files_copy(s->pool.files, WT_HOME_BACKUP, WT_HOME_METADATA);
	backup->close(backup);
}

/* Adds a new table to the copy; WiredTiger itself lists it there only from
 * the next checkpoint on. */
static void
keep_table(struct wt_store *s, uint32_t table)
{
	struct buf lines = {0};

	pthread_mutex_lock(&s->checkpoint_lock);
	if (wt_pool_describe(s->checkpoint_session, table, &lines) == 0)
		wt_files_append(
		    s->pool.files, WT_HOME_METADATA, buf_slice(&lines));
	pthread_mutex_unlock(&s->checkpoint_lock);
	buf_release(&lines);
}

static int
checkpoint(struct wt_store *s)
{
	WT_SESSION *session = s->checkpoint_session;

	pthread_mutex_lock(&s->checkpoint_lock);
	int r = wt_pool_error(&s->pool, session->checkpoint(session, NULL));
	if (r == 0)
		keep_metadata(s);
	pthread_mutex_unlock(&s->checkpoint_lock);
	return r;
}

/* While there is no room, checkpoints wait: each takes some. */
static int
wt_checkpoint(struct ordered *o)
{
	struct wt_store *s = store_of(o);

	if (s->pool.read_only || atomic_load(&s->pool.room.refusing))
		return 0;
	return checkpoint(s);
}

/* --- looking after tables ------------------------------------------------- */

static int
wt_create(struct ordered *o, uint32_t table,
    const struct ordered_table_options *options)
{
	struct wt_store *s = store_of(o);
	struct buf config = {0};
	int r =
	    wt_home_files_left(s->directory, wt_files_opened(s->pool.files));

	if (r)
		return r;
	wt_config_table(options, &config);
	r = buf_status(&config);
	if (r == 0)
		r = wt_pool_do(
		    &s->pool, WT_CREATE, table, (const char *)config.data);
	if (r == 0)
		keep_table(s, table);
	buf_release(&config);
	return r == -EEXIST ? why(EEXIST, "table %u is already there", table)
			    : r;
}

static int
wt_drop(struct ordered *o, uint32_t table)
{
	struct wt_store *s = store_of(o);

	wt_pool_forget(&s->pool, table);
	int r = wt_pool_do(&s->pool, WT_DROP, table, NULL);
#if WIREDTIGER_VERSION_MAJOR >= 10
	/* This one drops no table with dirty pages. */
	if (r == -EBUSY && wt_checkpoint(o) == 0)
		r = wt_pool_do(&s->pool, WT_DROP, table, NULL);
#endif
	return r == -ENOENT ? 0 : r;
}

static int
wt_compact(struct ordered *o, uint32_t table)
{
	struct wt_store *s = store_of(o);

	if (s->pool.read_only)
		return why(EROFS, "the store is open for reading only");
	/* WiredTiger leaves a small one alone, but after many checkpoints. */
	if (wt_home_table_size(s->directory, table) <= COMPACT_LEAST)
		return 0;
	return wt_pool_do(&s->pool, WT_COMPACT, table,
	    WT_CONFIG_COMPACT(WIREDTIGER_VERSION_MAJOR));
}

static int
wt_verify(struct ordered *o, uint32_t table)
{
	struct wt_store *s = store_of(o);
	uint64_t damaged = wt_files_damaged(s->pool.files);

	wt_pool_forget(&s->pool, table);
	int r = wt_pool_do(&s->pool, WT_VERIFY, table, NULL);
	if (r == 0 && wt_files_damaged(s->pool.files) == damaged)
		return 0;
	if (r == -EBUSY || r == -ENOENT)
		return r;
	if (s->salvage)
		return wt_mend_salvage(&s->pool, table);
	return why(EIO,
	    "table %06u (%06u.wt) is damaged: run `cellfs check %s --repair`",
	    table, table, s->directory);
}

/* --- space and statistics ------------------------------------------------- */

static int
add_reusable(void *context, WT_SESSION *session, uint32_t table)
{
	uint64_t *sum = context;
	char uri[WT_URI_BYTES + sizeof("statistics:")];

	snprintf(uri, sizeof(uri), "statistics:table:%06u", table);
	*sum += wt_pool_statistic(session, uri, WT_STAT_DSRC_BLOCK_REUSE_BYTES);
	return 0;
}

static uint64_t
reusable(void *context)
{
	struct wt_pool *pool = context;
	uint64_t sum = 0;

	wt_pool_each_table(pool, add_reusable, &sum);
	return sum;
}

static int
wt_space(struct ordered *o, struct ordered_space *out)
{
	struct wt_store *s = store_of(o);

	*out = (struct ordered_space){
	    .total = s->pool.room.total,
	    .available = wt_room_writable(&s->pool.room),
	    .used = wt_room_used(&s->pool.room),
	};
	return 0;
}

/* --- room ----------------------------------------------------------------- */

/* Whether the disk has what a checkpoint would write now. */
static bool
checkpoint_fits(struct wt_store *s)
{
	WT_SESSION *session;

	if (wt_pool_open(&s->pool, &session))
		return false;
	uint64_t dirty = wt_pool_statistic(
	    session, "statistics:", WT_STAT_CONN_CACHE_BYTES_DIRTY);
	session->close(session, NULL);
	return wt_room_available(&s->pool.room, true) >
	       dirty + dirty / 4 + s->pool.room.log_file;
}

/* A checkpoint frees what the log and removed records took; WiredTiger gives
 * the files of its log back a little later. */
static void
make_room(struct wt_pool *pool, bool first)
{
	struct wt_store *s =
	    (struct wt_store *)((char *)pool - offsetof(struct wt_store, pool));
	struct wt_room *room = &pool->room;
	int64_t now = wt_now();

	if (first)
		store_log(s, "%s: %s", s->directory, why_text(-ENOSPC));
	else if (now - atomic_load(&s->made_room) < MAKE_ROOM_MS)
		return;
	if (!checkpoint_fits(s))
		return;
	atomic_store(&s->made_room, now);
	atomic_fetch_sub(&pool->owed, 1);
	if (checkpoint(s))
		return;
	while (first && wt_now() - now < LAST_WORD_MS &&
	       wt_room_available(room, true) <
		   room->threshold + room->threshold / 2)
		wt_sleep(10);
	atomic_store(&room->counted, 0);
}

static const struct {
	const char *name;
	int which;
} statistics[] = {
    {"cache_bytes", WT_STAT_CONN_CACHE_BYTES_INUSE},
    {"cache_bytes_max", WT_STAT_CONN_CACHE_BYTES_MAX},
    {"cache_dirty_bytes", WT_STAT_CONN_CACHE_BYTES_DIRTY},
    {"cache_pages_read", WT_STAT_CONN_CACHE_READ},
    {"cache_pages_written", WT_STAT_CONN_CACHE_WRITE},
    {"disk_bytes_read", WT_STAT_CONN_BLOCK_BYTE_READ},
    {"disk_bytes_written", WT_STAT_CONN_BLOCK_BYTE_WRITE},
    {"log_bytes_written", WT_STAT_CONN_LOG_BYTES_WRITTEN},
    {"log_syncs", WT_STAT_CONN_LOG_SYNC},
    {"files_open", WT_STAT_CONN_FILE_OPEN},
};

static void
wt_stats(struct ordered *o, ordered_stat_emit emit, void *context)
{
	struct wt_store *s = store_of(o);
	WT_SESSION *session;

	if (wt_pool_open(&s->pool, &session))
		return;
	for (size_t i = 0; i < sizeof(statistics) / sizeof(*statistics); i++)
		emit(context, statistics[i].name,
		    wt_pool_statistic(
			session, "statistics:", statistics[i].which));
	session->close(session, NULL);
	emit(context, "damaged_blocks", wt_files_damaged(s->pool.files));
	emit(context, "waiting_for_room", wt_files_waiting(s->pool.files));
}

/* --- closing -------------------------------------------------------------- */

static int
work_close(void *context)
{
	struct wt_store *s = context;
	WT_CONNECTION *connection = s->pool.connection;

	return wt_pool_error(&s->pool, connection->close(connection, NULL));
}

/* WiredTiger may never come back from closing a store that failed. *done: it
 * is gone, and what it used may be freed. */
static int
disconnect(struct wt_store *s, bool *done)
{
	int r =
	    wt_run_watched(work_close, s, &s->pool.failed, LAST_WORD_MS, done);

	if (!*done)
		return why(EIO, "%s: the store failed", s->directory);
	s->pool.connection = NULL;
	if (r == 0)
		wt_home_closed(s->directory);
	return r;
}

/* Frees s; WiredTiger is gone. */
static void
store_free(struct wt_store *s)
{
	wt_files_free(s->pool.files);
	wt_room_release(&s->pool.room);
	wt_home_release(s->claim);
	pthread_mutex_destroy(&s->checkpoint_lock);
	wt_group_release(&s->sync);
	free(s->directory);
	free(s);
}

/* The log has every commit. Closing writes a checkpoint too, and where there
 * is no room for one the next opening does the work. What still runs after a
 * failure keeps its memory. */
static int
wt_close(struct ordered *o)
{
	struct wt_store *s = store_of(o);
	bool failed = atomic_load(&s->pool.failed);
	bool done;
	int r = failed ? why(EIO, "%s: the store failed", s->directory)
		       : wt_sync(o);

	if (!failed)
		wt_pool_release(&s->pool);
	if (wt_room_available(&s->pool.room, true) < s->pool.room.threshold / 2)
		wt_files_hurry(s->pool.files);
	else if (r == 0 && atomic_load(&s->pool.changed))
		checkpoint(s);
	int closed = disconnect(s, &done);
	if (closed)
		store_log(s,
		    "%s: not closed cleanly; the next opening "
		    "recovers it from its log",
		    s->directory);
	if (done)
		store_free(s);
	return r;
}

/* --- opening -------------------------------------------------------------- */

static const struct ordered_methods wt_methods = {
    .close = wt_close,
    .create = wt_create,
    .drop = wt_drop,
    .tables = wt_tables,
    .session = wt_session,
    .release = wt_pool_give,
    .begin = wt_session_begin,
    .commit = wt_session_commit,
    .rollback = wt_session_rollback,
    .cursor = wt_session_cursor,
    .cursor_close = wt_cursor_close,
    .seek = wt_cursor_seek,
    .next = wt_cursor_next,
    .prev = wt_cursor_prev,
    .key = wt_cursor_key,
    .value = wt_cursor_value,
    .get = wt_session_get,
    .put = wt_session_put,
    .remove = wt_session_remove,
    .remove_range = wt_session_remove_range,
    .sync = wt_sync,
    .checkpoint = wt_checkpoint,
    .compact = wt_compact,
    .verify = wt_verify,
    .space = wt_space,
    .stats = wt_stats,
};

/* What wiredtiger_open() said, in our words. */
static int
open_error(struct wt_store *s, int code)
{
	int r = 0;

	if (code == 0)
		return 0;
	if (code == EBUSY)
		r = wt_home_busy(s->directory);
	if (r)
		return r;
	if (code > 0 && code != EIO && code != EINVAL && code != ENOENT)
		return why(code, "%s: %s", s->directory, strerror(code));
	return why(EIO,
	    "%s: the store's own records are damaged (%s): run "
	    "`cellfs check %s --repair`",
	    s->directory, wiredtiger_strerror(code), s->directory);
}

/* mode begins the configuration. */
static int
connect(struct wt_store *s, const char *mode)
{
	struct buf config = {0};
	int r;

	wt_config_open(
	    mode, s->pool.room.cache, s->pool.room.log_file, &config);
	r = buf_status(&config);
	if (r)
		return r;
	wt_files_offer(s->pool.files);
	r = open_error(s, wiredtiger_open(s->directory, &s->handler,
			      (const char *)config.data, &s->pool.connection));
	wt_files_offer(NULL);
	buf_release(&config);
	return r;
}

/* Opens what may be damaged: as it is or, failing that, with the tables that
 * our copy of the metadata knows. */
static int
connect_repairing(struct wt_store *s)
{
	bool fresh;
	int r = wt_home_look(s->directory, false, false, &fresh);

	if (r == 0)
		r = connect(s, "create=false");
	if (r != -EIO)
		return r;
	store_log(s, "%s", why_text(r));
	r = wt_home_restore(s->directory);
	if (r)
		return r;
	atomic_store(&s->pool.failed, false);
	store_log(s, "%s: starting from the last copy of the list of tables",
	    s->directory);
	return connect(s, "create=true");
}

/* Opens for writing, which recovers a store that was not closed. */
static int
mend_tables(struct wt_store *s)
{
	struct buf numbers = {0};
	int r = wt_tables(&s->ordered, &numbers);
	const uint32_t *n = (const uint32_t *)numbers.data;

	for (size_t i = 0; r >= 0 && i < numbers.size / sizeof(*n); i++) {
		r = wt_mend_table(&s->pool, n[i]);
		if (r == 1)
			store_log(s, "%s", why_text(-EIO));
		s->ordered.mended |= r == 1;
	}
	buf_release(&numbers);
	return r < 0 ? r : 0;
}

static int
connect_writing(struct wt_store *s, bool fresh)
{
	bool recover = wt_home_was_open(s->directory);
	int r = wt_room_for_opening(&s->pool.room, s->directory);

	if (r)
		return r;
	if (recover)
		store_log(s, "%s: was not closed: recovering from its log",
		    s->directory);
	if (s->salvage)
		r = connect_repairing(s);
	else
		r = connect(s, fresh ? "create=true" : "create=false");
	if (r == 0 && s->salvage)
		r = mend_tables(s);
	if (r)
		return r;
	if (recover)
		store_log(s, "%s: recovered", s->directory);
	atomic_store(&s->pool.changed, recover || s->salvage);
	r = wt_files_save(s->pool.files, WT_HOME_OPEN, slice_text("1\n"));
	if (r == 0 && fresh)
		r = wt_files_save(
		    s->pool.files, WT_HOME_MARKER, slice_text(MARKER_TEXT));
	return r;
}

/* A store that was not closed must be recovered, which reading alone cannot
 * do: so it is opened for writing, and closed again, first. */
static int
connect_read_only(struct wt_store *s)
{
	bool done;
	int r = 0;

	if (wt_home_was_open(s->directory)) {
		if (access(s->directory, W_OK))
			return why(EROFS,
			    "%s was not closed and must be recovered: open "
			    "it for writing once",
			    s->directory);
		r = connect_writing(s, false);
		if (r == 0)
			r = disconnect(s, &done);
	}
	atomic_store(&s->pool.changed, false);
	return r ? r : connect(s, "readonly=true");
}

static struct wt_store *
store_new(const struct ordered_options *options)
{
	struct wt_store *s = calloc(1, sizeof(*s));

	if (!s || !(s->directory = strdup(options->directory))) {
		free(s);
		return NULL;
	}
	s->ordered.methods = &wt_methods;
	s->handler.handle_error = on_error;
	s->handler.handle_message = on_message;
	s->salvage = options->salvage;
	s->log = options->log;
	s->log_context = options->log_context;
	s->pool.read_only = options->read_only;
	s->pool.make_room = make_room;
	s->pool.room.directory = -1;
	pthread_mutex_init(&s->checkpoint_lock, NULL);
	wt_group_init(&s->sync);
	wt_pool_init(&s->pool);
	return s;
}

/* All that comes before WiredTiger. */
static int
prepare(struct wt_store *s, const struct ordered_options *options, bool *fresh)
{
	int r = wt_home_look(s->directory,
	    options->create && !options->read_only, options->salvage, fresh);

	if (r == 0)
		r = wt_home_claim(s->directory, &s->claim);
	if (r == 0)
		r = wt_files_new(
		    s->directory, s->log, s->log_context, &s->pool.files);
	if (r == 0)
		r = wt_room_init(&s->pool.room, s->directory, options->cache);
	wt_home_raise_limits();
	return r;
}

/* All that comes after. */
static int
get_ready(struct wt_store *s)
{
	int r = wt_pool_open(&s->pool, &s->sync_session);

	if (r == 0)
		r = wt_pool_open(&s->pool, &s->checkpoint_session);
	s->pool.room.reusable = reusable;
	s->pool.room.context = &s->pool;
	if (r || s->pool.read_only)
		return r;
	wt_room_keep_reserve(&s->pool.room);
	if (!wt_home_has_metadata(s->directory))
		keep_metadata(s);
	return 0;
}

int
ordered_wt_open(const struct ordered_options *options, struct ordered **out)
{
	struct wt_store *s = store_new(options);
	bool fresh, done = true;

	*out = NULL;
	if (!s)
		return -ENOMEM;
	int r = prepare(s, options, &fresh);
	if (r)
		goto out;
	r = options->read_only ? connect_read_only(s)
			       : connect_writing(s, fresh);
	if (r)
		goto out;
	r = get_ready(s);
out:
	if (r && s->pool.connection)
		disconnect(s, &done);
	if (r && done)
		store_free(s);
	if (r == 0)
		*out = &s->ordered;
	return r;
}
