/* store: the local engine beside the same work by WiredTiger's own calls.
 *
 * usage: store kv DIR CELLS	puts CELLS cells, a commit each, then reads each
 *	  store raw DIR CELLS	the same without cellfs
 *	  store fill DIR ROWS QUALIFIERS	a store with table t, family f
 *	  store get DIR ROWS READS	reads cells of a filled store, cached
 *	  store stall DIR CELLS	commits before and during checkpoints
 *
 * Prints lines "what number": seconds, or of stall milliseconds.
 */
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <wiredtiger.h>

#include "kv/key.h"
#include "kv/kv.h"
#include "kv/kv_data.h"
#include "kv/why.h"

#define VALUE_SIZE 100
#define CACHE ((uint64_t)1 << 30)
#define TIMES_MAX 2000000
#define BATCH 256

static struct kv *kv;
static struct buf row;
static char value[VALUE_SIZE];

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
need(int r, const char *what)
{
	if (r)
		errx(1, "%s: %s", what, r < 0 ? why_text(r) : "none");
}

/* The i-th row's key. */
static struct slice
row_key(unsigned long i)
{
	buf_clear(&row);
	buf_printf(&row, "row%010lu", i);
	return buf_slice(&row);
}

/* Each number below count once, in an order that is none; count and the
 * factor have no common divisor. */
static unsigned long
shuffled(unsigned long i, unsigned long count)
{
	return (unsigned long)((__uint128_t)i * 2654435761u % count);
}

static void
store_open(const char *dir)
{
	const struct kv_options options = {
	    .path = dir, .create = true, .cache = CACHE};
	const struct attrs owner = {
	    .set = ATTR_MODE | ATTR_UID | ATTR_GID, .mode = 0755};
	struct schema schema = {0};

	need(kv_open(&options, &kv), dir);
	buf_text(&schema.name, "t");
	need(schema_parse(&schema, slice_text("family f versions=1\n")),
	    "schema");
	int r = kv_table_create(kv, &schema, &owner);
	if (r != -EEXIST)
		need(r, "table");
	schema_release(&schema);
}

/* Puts count columns of a row, the first of them named first. */
static void
put(unsigned long r, unsigned long first, unsigned long count)
{
	struct op ops[BATCH];
	char names[BATCH][16];
	struct mutation m = {.table = slice_text("t"), .row = row_key(r),
	    .ops = ops, .count = count};

	for (unsigned long i = 0; i < count; i++) {
		snprintf(names[i], sizeof(names[i]), "q%07lu", first + i);
		ops[i] = (struct op){.type = OP_PUT, .timestamp = TS_LATEST,
		    .family = slice_text("f"), .qualifier = slice_text(names[i]),
		    .value = slice_of(value, VALUE_SIZE)};
	}
	need(kv_mutate(kv, &m), "put");
}

static void
get(unsigned long r)
{
	const struct place place = {.level = LEVEL_COLUMN,
	    .table = slice_text("t"), .row = row_key(r),
	    .family = slice_text("f"), .qualifier = slice_text("q0000000")};
	const struct version newest = {VERSION_NEWEST, 0};
	char bytes[VALUE_SIZE];
	struct value *v;

	need(kv_value_open(kv, &place, newest, &v), "get");
	if (kv_value_read(kv, v, 0, bytes, VALUE_SIZE) != VALUE_SIZE)
		errx(1, "a short value");
	kv_value_close(kv, v);
}

static void
run_kv(const char *dir, unsigned long cells)
{
	store_open(dir);
	double start = now();
	for (unsigned long i = 0; i < cells; i++)
		put(shuffled(i, cells), 0, 1);
	printf("put %.6f\n", now() - start);
	start = now();
	for (unsigned long i = 0; i < cells; i++)
		get(shuffled(i, cells));
	printf("get %.6f\n", now() - start);
	need(kv_close(kv), "close");
}

static void
run_get(const char *dir, unsigned long rows, unsigned long reads)
{
	store_open(dir);
	for (unsigned long i = 0; i < reads; i++) /* into the cache */
		get(shuffled(i, rows));
	double start = now();
	for (unsigned long i = 0; i < reads; i++)
		get(shuffled(i, rows));
	printf("get %.6f\n", now() - start);
	need(kv_close(kv), "close");
}

static void
run_fill(const char *dir, unsigned long rows, unsigned long qualifiers)
{
	store_open(dir);
	double start = now();
	for (unsigned long i = 0; i < rows; i++)
		for (unsigned long q = 0; q < qualifiers; q += BATCH)
			put(i, q, qualifiers - q < BATCH ? qualifiers - q
							 : BATCH);
	printf("fill %.6f\n", now() - start);
	need(kv_close(kv), "close");
}

/* --- without cellfs -------------------------------------------------------- */

static void
need_wt(int r, const char *what)
{
	if (r)
		errx(1, "%s: %s", what, wiredtiger_strerror(r));
}

static struct slice
cell_key(struct buf *key, unsigned long i)
{
	buf_clear(key);
	key_cell(key, row_key(i), slice_text("q0000000"), 1);
	return buf_slice(key);
}

static void
raw_put(WT_SESSION *s, WT_CURSOR *c, struct slice key)
{
	WT_ITEM k = {.data = key.data, .size = key.size};
	WT_ITEM v = {.data = value, .size = VALUE_SIZE};

	need_wt(s->begin_transaction(s, NULL), "begin");
	c->set_key(c, &k);
	c->set_value(c, &v);
	need_wt(c->insert(c), "insert");
	need_wt(s->commit_transaction(s, NULL), "commit");
	c->reset(c);
}

static void
raw_get(WT_SESSION *s, WT_CURSOR *c, struct slice key)
{
	WT_ITEM k = {.data = key.data, .size = key.size};
	WT_ITEM v;
	char bytes[VALUE_SIZE];
	int exact;

	need_wt(s->begin_transaction(s, NULL), "begin");
	c->set_key(c, &k);
	need_wt(c->search_near(c, &exact), "search");
	need_wt(c->get_value(c, &v), "value");
	memcpy(bytes, v.data, v.size);
	c->reset(c);
	need_wt(s->rollback_transaction(s, NULL), "end");
}

static void
run_raw(const char *dir, unsigned long cells)
{
	WT_CONNECTION *wt;
	WT_SESSION *s;
	WT_CURSOR *c;
	struct buf key = {0};
	char config[256];

	snprintf(config, sizeof(config),
	    "create,cache_size=%llu,log=(enabled=true,prealloc=false),"
	    "transaction_sync=(enabled=true,method=none)",
	    (unsigned long long)CACHE);
	need_wt(wiredtiger_open(dir, NULL, config, &wt), dir);
	need_wt(wt->open_session(wt, NULL, "isolation=snapshot", &s), "session");
	need_wt(s->create(s, "table:t", "key_format=u,value_format=u,"
	    "checksum=on,leaf_page_max=32768"), "table");
	need_wt(s->open_cursor(s, "table:t", NULL, NULL, &c), "cursor");
	double start = now();
	for (unsigned long i = 0; i < cells; i++)
		raw_put(s, c, cell_key(&key, shuffled(i, cells)));
	printf("put %.6f\n", now() - start);
	start = now();
	for (unsigned long i = 0; i < cells; i++)
		raw_get(s, c, cell_key(&key, shuffled(i, cells)));
	printf("get %.6f\n", now() - start);
	need_wt(wt->close(wt, NULL), "close");
	buf_release(&key);
}

/* --- commits during a checkpoint --------------------------------------------- */

static atomic_bool done;

static void *
checkpoints(void *none)
{
	(void)none;
	for (int i = 0; i < 3; i++)
		need(kv_checkpoint(kv), "checkpoint");
	done = true;
	return NULL;
}

static int
by_length(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Commits until done, or count of them; prints how long they took. */
static void
commits(const char *what, unsigned long count, const atomic_bool *end)
{
	double *times = calloc(TIMES_MAX, sizeof(*times));
	size_t n = 0;

	if (!times)
		errx(1, "no memory");
	for (; n < TIMES_MAX && (end ? !*end : n < count); n++) {
		double start = now();
		put(shuffled(n, count), 0, 1);
		times[n] = (now() - start) * 1e3;
	}
	qsort(times, n, sizeof(*times), by_length);
	printf("%s-median %.4f\n%s-p99 %.4f\n%s-longest %.4f\n", what,
	    times[n / 2], what, times[n * 99 / 100], what, times[n - 1]);
	free(times);
}

static void
run_stall(const char *dir, unsigned long cells)
{
	pthread_t thread;

	store_open(dir);
	commits("before", cells, NULL);
	if (pthread_create(&thread, NULL, checkpoints, NULL))
		errx(1, "no thread");
	commits("during", cells, &done);
	pthread_join(thread, NULL);
	need(kv_close(kv), "close");
}

int
main(int argc, char **argv)
{
	unsigned long n = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	unsigned long m = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
	const char *mode = argc > 3 ? argv[1] : "";

	memset(value, 'v', sizeof(value));
	if (!strcmp(mode, "kv"))
		run_kv(argv[2], n);
	else if (!strcmp(mode, "raw"))
		run_raw(argv[2], n);
	else if (!strcmp(mode, "fill") && m)
		run_fill(argv[2], n, m);
	else if (!strcmp(mode, "get") && m)
		run_get(argv[2], n, m);
	else if (!strcmp(mode, "stall"))
		run_stall(argv[2], n);
	else
		errx(2, "usage: store kv|raw|stall DIR CELLS, or store "
		    "fill DIR ROWS QUALIFIERS, or store get DIR ROWS READS");
	buf_release(&row);
	return 0;
}
