/* lookup DIR [ROWS]: what a bloomfilter spares a lookup of an absent row, in a
 * store whose pages are not in the cache and in one whose are, and what it
 * costs a put. Makes its stores in DIR, an empty directory; ROWS are 400000
 * unless given.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kv/kv.h"
#include "kv/kv_data.h"
#include "kv/why.h"

#define VALUE_SIZE 100
#define LOOKUPS 20000
#define COLD ((uint64_t)8 << 20) /* bytes of cache, far fewer than of rows */
#define WARM ((uint64_t)512 << 20)

static int64_t rows = 400000;

static void
check(int r, const char *what)
{
	if (r == 0)
		return;
	fprintf(stderr, "lookup: %s: %s\n", what, why_text(r));
	exit(1);
}

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct kv *
open_store(const char *directory, const char *kind, uint64_t cache)
{
	char path[4096];
	struct kv_options options = {
	    .path = path, .create = true, .cache = cache};
	struct kv *kv;

	snprintf(path, sizeof(path), "%s/%s", directory, kind);
	check(kv_open(&options, &kv), path);
	return kv;
}

/* Every second number is a row; they come in no order of theirs. */
static struct slice
row_of(int64_t number, char text[32])
{
	uint64_t spread = (uint64_t)number * 0x9e3779b97f4a7c15u;

	snprintf(text, 32, "%016llx", (unsigned long long)spread);
	return slice_text(text);
}

static double
put_rows(struct kv *kv, const char *kind)
{
	char text[64], value[VALUE_SIZE] = {0};
	struct schema schema = {0};
	struct attrs owner = {.mode = 0755};
	struct op op = {.type = OP_PUT,
	    .family = slice_text("f"),
	    .qualifier = slice_text("q"),
	    .timestamp = TS_LATEST,
	    .value = slice_of(value, sizeof(value))};
	struct mutation m = {.table = slice_text("t"), .ops = &op, .count = 1};

	snprintf(text, sizeof(text), "family f bloomfilter=%s\n", kind);
	check(buf_set(&schema.name, slice_text("t")), "memory");
	check(schema_parse(&schema, slice_text(text)), text);
	check(kv_table_create(kv, &schema, &owner), "create");
	schema_release(&schema);
	double start = seconds();
	for (int64_t i = 0; i < rows; i++) {
		m.row = row_of(2 * i, text);
		check(kv_mutate(kv, &m), "put");
	}
	return (seconds() - start) / (double)rows;
}

static void
take_pages(void *context, const char *name, uint64_t value)
{
	if (strcmp(name, "cache_pages_read") == 0)
		*(uint64_t *)context = value;
}

/* Seconds for a lookup of what is not there; *pages: for each, too. */
static double
look_up(struct kv *kv, double *pages)
{
	struct place place = {.level = LEVEL_ROW, .table = slice_text("t")};
	struct version newest = {.which = VERSION_NEWEST};
	uint64_t before = 0, after = 0;
	struct info info;
	char text[32];

	kv_stats(kv, take_pages, &before);
	double start = seconds();
	for (int64_t i = 0; i < LOOKUPS; i++) {
		place.row = row_of(2 * (i * rows / LOOKUPS) + 1, text);
		if (kv_stat(kv, &place, newest, &info) != -ENOENT)
			check(-EIO, "a row is there that was not put");
	}
	double took = (seconds() - start) / LOOKUPS;
	kv_stats(kv, take_pages, &after);
	*pages = (double)(after - before) / LOOKUPS;
	return took;
}

static void
measure(const char *directory, const char *kind)
{
	double cold_pages, warm_pages;
	struct kv *kv = open_store(directory, kind, WARM);
	double put = put_rows(kv, kind);

	check(kv_close(kv), "close");
	kv = open_store(directory, kind, COLD);
	double cold = look_up(kv, &cold_pages);
	check(kv_close(kv), "close");
	kv = open_store(directory, kind, WARM);
	look_up(kv, &warm_pages);
	double warm = look_up(kv, &warm_pages);
	check(kv_close(kv), "close");
	printf("%-8s put %6.2f us   cold %6.2f us %.4f pages   warm %6.2f us "
	       "%.4f pages\n",
	    kind, put * 1e6, cold * 1e6, cold_pages, warm * 1e6, warm_pages);
}

int
main(int argc, char **argv)
{
	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: lookup DIR [ROWS]\n");
		return 2;
	}
	if (argc == 3)
		rows = strtoll(argv[2], NULL, 10);
	measure(argv[1], "none");
	measure(argv[1], "row");
	measure(argv[1], "rowcol");
	return 0;
}
