#include "local.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "local_any.h"
#include "local_blob.h"
#include "local_bloom.h"
#include "local_catalogue.h"
#include "local_clean.h"
#include "local_depth.h"
#include "local_keys.h"
#include "local_methods.h"
#include "local_pins.h"
#include "local_time.h"
#include "why.h"

#define CHECKPOINT_SECONDS 60
#define CHECKPOINT_BYTES ((uint64_t)128 << 20)
#define CLEANUP_SECONDS 300

static const char *const counter_names[COUNT_OF] = {
    [COUNT_COMMITS] = "commits",
    [COUNT_ROLLBACKS] = "rollbacks",
    [COUNT_RETRIES] = "retries",
    [COUNT_SNAPSHOTS] = "snapshots",
    [COUNT_PUTS] = "records_written",
    [COUNT_BYTES] = "bytes_written",
    [COUNT_REMOVES] = "records_removed",
    [COUNT_SYNCS] = "syncs",
    [COUNT_CHECKPOINTS] = "checkpoints",
    [COUNT_CLEANUPS] = "cleanups",
    [COUNT_BLOOM_ABSENT] = "bloom_absent",
    [COUNT_BLOOM_MAYBE] = "bloom_maybe",
};

void
local_count(struct local *l, enum counter which, uint64_t by)
{
	atomic_fetch_add_explicit(
	    &l->counters[which], by, memory_order_relaxed);
}

static uint64_t
counted(struct local *l, enum counter which)
{
	return atomic_load_explicit(&l->counters[which], memory_order_relaxed);
}

void
local_log(struct local *l, const char *format, ...)
{
	char line[1024];
	va_list args;

	if (!l->options.log)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	l->options.log(l->options.log_context, line);
}

/* --- the store as a whole ----------------------------------------------- */

static int
local_sync(struct engine *e)
{
	struct local *l = (struct local *)e;

	local_count(l, COUNT_SYNCS, 1);
	return l->ordered->methods->sync(l->ordered);
}

static int
local_checkpoint(struct engine *e)
{
	struct local *l = (struct local *)e;

	if (l->options.read_only)
		return 0;
	local_count(l, COUNT_CHECKPOINTS, 1);
	return l->ordered->methods->checkpoint(l->ordered);
}

static int
local_space(struct engine *e, struct space *out)
{
	struct local *l = (struct local *)e;
	struct ordered_space space;

	*out = (struct space){0};
	int r = l->ordered->methods->space(l->ordered, &space);
	if (r)
		return r;
	out->total = space.total;
	out->available = space.available;
	out->used = space.used;
	return 0;
}

static void
local_stats(struct engine *e, stat_emit emit, void *context)
{
	struct local *l = (struct local *)e;

	for (int i = 0; i < COUNT_OF; i++)
		emit(context, counter_names[i], counted(l, (enum counter)i));
	blooms_stats(l, emit, context);
	l->ordered->methods->stats(l->ordered, emit, context);
}

/* --- the background thread ---------------------------------------------- */

/* When what was last done, on the monotonic clock in seconds, and how much
 * had been committed and written then. */
struct rounds {
	int64_t sync_at, checkpoint_at, cleanup_at;
	uint64_t synced_commits, checked_commits, checked_bytes;
	bool failing; /* the last attempt failed; said so once */
};

static int64_t
seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Says once that background work fails, and once that it works again. */
static void
report(struct local *l, struct rounds *round, const char *what, int r)
{
	if (r == -EINTR)
		return;
	if (r && !round->failing)
		local_log(l, "%s: %s", what, why_text(r));
	round->failing = r != 0;
}

static void
round_sync(struct local *l, struct rounds *round, int64_t now)
{
	uint64_t commits = counted(l, COUNT_COMMITS);

	if (now - round->sync_at < l->options.sync_seconds)
		return;
	round->sync_at = now;
	if (commits == round->synced_commits)
		return;
	int r = local_sync(&l->engine);
	report(l, round, "sync", r);
	if (r == 0)
		round->synced_commits = commits;
}

static void
round_checkpoint(struct local *l, struct rounds *round, int64_t now)
{
	uint64_t commits = counted(l, COUNT_COMMITS);
	uint64_t bytes = counted(l, COUNT_BYTES);

	if (commits == round->checked_commits ||
	    (now - round->checkpoint_at < CHECKPOINT_SECONDS &&
		bytes - round->checked_bytes < CHECKPOINT_BYTES))
		return;
	round->checkpoint_at = now;
	round->checked_bytes = bytes;
	int r = local_checkpoint(&l->engine);
	report(l, round, "checkpoint", r);
	if (r == 0)
		round->checked_commits = commits;
}

static void
round_cleanup(struct local *l, struct rounds *round, int64_t now)
{
	if (now < round->cleanup_at)
		return;
	local_count(l, COUNT_CLEANUPS, 1);
	report(l, round, "clean-up", clean_all(l));
	round->cleanup_at = seconds_now() + CLEANUP_SECONDS;
}

static void
round_blooms(struct local *l, struct rounds *round)
{
	report(l, round, "bloomfilters", blooms_work(l));
}

/* Waits a second; false once the store closes. */
static bool
wait_a_second(struct local *l)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec++;
	pthread_mutex_lock(&l->thread_lock);
	int r = 0;
	while (!l->stopping && r == 0)
		r = pthread_cond_timedwait(
		    &l->thread_wake, &l->thread_lock, &until);
	bool stopping = l->stopping;
	pthread_mutex_unlock(&l->thread_lock);
	return !stopping && !atomic_load(&l->interrupted);
}

static void *
background(void *context)
{
	struct local *l = context;
	struct rounds round = {.sync_at = seconds_now()};

	round.checkpoint_at = round.sync_at;
	while (wait_a_second(l)) {
		int64_t now = seconds_now();
		round_sync(l, &round, now);
		round_checkpoint(l, &round, now);
		round_cleanup(l, &round, now);
		round_blooms(l, &round);
	}
	return NULL;
}

static void
background_stop(struct local *l)
{
	if (!l->threaded)
		return;
	pthread_mutex_lock(&l->thread_lock);
	l->stopping = true;
	pthread_cond_signal(&l->thread_wake);
	pthread_mutex_unlock(&l->thread_lock);
	pthread_join(l->thread, NULL);
	l->threaded = false;
}

void
local_interrupt(struct engine *e)
{
	struct local *l = (struct local *)e;

	atomic_store(&l->interrupted, true);
}

static _Thread_local struct {
	bool (*stop)(void *context);
	void *context;
} asked;

void
local_ask(bool (*stop)(void *context), void *context)
{
	asked.stop = stop;
	asked.context = context;
}

int
local_interrupted(struct local *l)
{
	if (!atomic_load(&l->interrupted) &&
	    !(asked.stop && asked.stop(asked.context)))
		return 0;
	return why(EINTR, "the work was interrupted");
}

/* --- opening and closing ------------------------------------------------ */

/* Blobs that were pending when the store last stopped. */
static int
sweep(struct local *l)
{
	int r = blob_sweep(l, ROOT_BLOBS);

	for (size_t i = 0; r == 0 && i < l->table_count; i++) {
		const struct table *table = l->tables[i];
		for (size_t j = 0; r == 0 && j < table->schema.count; j++)
			r = blob_sweep(l, table->families[j].blobs);
	}
	return r;
}

static int
start(struct local *l)
{
	if (!l->pins || !l->depths || !l->hints || !l->blooms)
		return -ENOMEM;
	int r = catalogue_open(l);
	if (r == 0)
		r = blooms_open(l);
	if (r || l->options.read_only)
		return r;
	r = sweep(l);
	if (r)
		local_log(
		    l, "what was left of big values stays: %s", why_text(r));
	if (!l->options.background)
		return 0;
	r = pthread_create(&l->thread, NULL, background, l);
	l->threaded = r == 0;
	return -r;
}

static void
init_locks(struct local *l)
{
	pthread_condattr_t monotonic;

	pthread_mutex_init(&l->ddl, NULL);
	pthread_mutex_init(&l->writer, NULL);
	pthread_rwlock_init(&l->tables_lock, NULL);
	pthread_mutex_init(&l->thread_lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&l->thread_wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

static int
local_close(struct engine *e)
{
	struct local *l = (struct local *)e;

	local_interrupt(e);
	background_stop(l);
	blooms_close(l);
	time_close(l);
	catalogue_close(l);
	int r = l->ordered->methods->close(l->ordered);
	pins_free(l->pins);
	depths_free(l->depths);
	hints_free(l->hints);
	blooms_free(l->blooms);
	pthread_mutex_destroy(&l->ddl);
	pthread_mutex_destroy(&l->writer);
	pthread_rwlock_destroy(&l->tables_lock);
	pthread_mutex_destroy(&l->thread_lock);
	pthread_cond_destroy(&l->thread_wake);
	free(l);
	return r;
}

static const struct engine_methods local_methods = {
    .close = local_close,
    .table_create = local_table_create,
    .table_alter = local_table_alter,
    .table_drop = local_table_drop,
    .table_truncate = local_table_truncate,
    .table_rename = local_table_rename,
    .table_schema = local_table_schema,
    .stat = local_stat,
    .set_attrs = local_set_attrs,
    .list = local_list,
    .versions = local_versions,
    .value_open = local_value_open,
    .value_read = local_value_read,
    .value_close = local_value_close,
    .mutate = local_mutate,
    .draft_open = local_draft_open,
    .draft_prepare = local_draft_prepare,
    .draft_store = local_draft_store,
    .draft_close = local_draft_close,
    .move_open = local_move_open,
    .move_prepare = local_move_prepare,
    .move_try = local_move_try,
    .move_close = local_move_close,
    .dir_make = local_dir_make,
    .dir_times = local_dir_times,
    .dir_remove = local_dir_remove,
    .dot_put = local_dot_put,
    .dot_remove = local_dot_remove,
    .scan_open = local_scan_open,
    .scan_next = local_scan_next,
    .scan_read = local_scan_read,
    .scan_close = local_scan_close,
    .sync = local_sync,
    .checkpoint = local_checkpoint,
    .compact = local_compact,
    .check = local_check,
    .space = local_space,
    .stats = local_stats,
};

int
local_open(struct ordered *ordered, const struct local_options *options,
    struct engine **out)
{
	struct local *l = calloc(1, sizeof(*l));

	*out = NULL;
	if (!l) {
		ordered->methods->close(ordered);
		return -ENOMEM;
	}
	l->engine.methods = &local_methods;
	l->ordered = ordered;
	l->options = *options;
	l->clock = options->clock ? options->clock : &l->wall;
	init_locks(l);
	l->pins = pins_new();
	l->depths = depths_new();
	l->hints = hints_new();
	l->blooms = blooms_new();
	int r = start(l);
	if (r) {
		local_close(&l->engine);
		return r;
	}
	*out = &l->engine;
	return 0;
}
