#include "model_reads.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "chance.h"
#include "kv/why.h"

struct engine *engine;
struct model *model;
int64_t now;
bool narrow;

const struct slice rows[MODEL_ROWS] = {
    {(const uint8_t *)"a", 1},
    {(const uint8_t *)"a\0", 2},
    {(const uint8_t *)"a\0\xff", 3},
    {(const uint8_t *)"row two", 7},
};
const struct slice families[MODEL_FAMILIES] = {
    {(const uint8_t *)"f", 1},
    {(const uint8_t *)"g", 1},
};
const struct slice qualifiers[MODEL_QUALIFIERS] = {
    {(const uint8_t *)"", 0},
    {(const uint8_t *)"q", 1},
    {(const uint8_t *)"q\0", 2},
    {(const uint8_t *)"r", 1},
};

struct slice
table_name(void)
{
	return slice_text("t");
}

static struct place
place_of(struct model_column c)
{
	return (struct place){.level = LEVEL_COLUMN,
	    .table = table_name(),
	    .row = rows[c.row],
	    .family = families[c.family],
	    .qualifier = qualifiers[c.qualifier]};
}

struct reading {
	struct model_column column;
	size_t count;
};

static int
compare_version(void *context, const struct cell *cell)
{
	struct reading *reading = context;
	const struct model_put *p =
	    model_version(model, reading->column, reading->count);

	ck_assert_msg(p, "version %lld of %u/%u/%u should be out",
	    (long long)cell->timestamp, reading->column.row,
	    reading->column.family, reading->column.qualifier);
	ck_assert_msg(cell->timestamp == p->timestamp,
	    "version %zu of %u/%u/%u is %lld, should be %lld", reading->count,
	    reading->column.row, reading->column.family,
	    reading->column.qualifier, (long long)cell->timestamp,
	    (long long)p->timestamp);
	ck_assert_int_eq(cell->ttl, p->ttl);
	ck_assert_uint_eq(cell->size, p->value.size);
	reading->count++;
	return 0;
}

static void
compare_value(const struct place *place, struct version version,
    const struct model_put *p)
{
	static uint8_t bytes[100000];
	struct value *value;

	int r = engine->methods->value_open(engine, place, version, &value);
	if (!p) {
		ck_assert_int_eq(r, -ENOENT);
		return;
	}
	ck_assert_msg(r == 0, "value: %s", why_text(r));
	ck_assert_int_eq(value->info.timestamp, p->timestamp);
	int64_t size =
	    engine->methods->value_read(value, 0, bytes, sizeof(bytes));
	ck_assert(
	    slice_equal(slice_of(bytes, (size_t)size), buf_slice(&p->value)));
	engine->methods->value_close(value);
}

int64_t
random_stamp(void)
{
	return now - 2000 +
	       (int64_t)chance(narrow ? 48 : 12) * 250 / (narrow ? 4 : 1);
}

static void
compare_column(struct model_column c)
{
	struct place place = place_of(c);
	struct reading reading = {.column = c};
	size_t nth = chance(3);
	int64_t at = random_stamp();
	const struct model_put *p = NULL;

	int r = engine->methods->versions(
	    engine, &place, TS_LATEST, compare_version, &reading);
	ck_assert_msg(r == 0, "versions: %s", why_text(r));
	p = model_version(model, c, reading.count);
	ck_assert_msg(!p, "version %lld of %u/%u/%u is missing",
	    p ? (long long)p->timestamp : 0, c.row, c.family, c.qualifier);
	compare_value(&place, (struct version){VERSION_NEWEST, 0},
	    model_version(model, c, 0));
	compare_value(&place, (struct version){VERSION_NTH, (int64_t)nth},
	    model_version(model, c, nth));
	for (size_t i = 0; (p = model_version(model, c, i)); i++)
		if (p->timestamp == at)
			break;
	compare_value(&place, (struct version){VERSION_AT, at}, p);
}

void
compare_columns(void)
{
	for (unsigned r = 0; r < MODEL_ROWS; r++)
		for (unsigned f = 0; f < MODEL_FAMILIES; f++)
			for (unsigned q = 0; q < MODEL_QUALIFIERS; q++)
				compare_column((struct model_column){r, f, q});
}

/* A random scan, by the model: its cells in order. */
struct expected {
	struct scan_spec spec;
	struct column columns[2];
	struct family_range ranges[2];
	int64_t since[MODEL_FAMILIES], until[MODEL_FAMILIES];
	unsigned first, end; /* rows from first on, below end */
};

static bool
asked(const struct expected *e, struct model_column c)
{
	for (size_t i = 0; i < e->spec.column_count; i++)
		if (slice_equal(e->columns[i].family, families[c.family]) &&
		    (e->columns[i].whole_family ||
			slice_equal(
			    e->columns[i].qualifier, qualifiers[c.qualifier])))
			return true;
	return !e->spec.column_count;
}

static void
choose_times(int64_t *since, int64_t *until)
{
	*since = now - (int64_t)chance(8) * 250;
	*until = chance(4) ? *since + (int64_t)chance(8) * 250 : 0;
}

/* Those of the scan, and others for some families. */
static void
choose_ranges(struct expected *e)
{
	if (chance(3) == 0)
		choose_times(&e->spec.since, &e->spec.until);
	for (unsigned f = 0; f < MODEL_FAMILIES; f++) {
		e->since[f] = e->spec.since;
		e->until[f] = e->spec.until;
	}
	e->spec.ranges = e->ranges;
	e->spec.range_count = chance(3) ? 0 : chance(3);
	for (size_t i = 0; i < e->spec.range_count; i++) {
		unsigned f = (unsigned)chance(MODEL_FAMILIES);
		choose_times(&e->since[f], &e->until[f]);
		e->ranges[i] = (struct family_range){
		    families[f], e->since[f], e->until[f]};
	}
}

/* All rows, or those between two, in one of four ways. */
static void
choose_rows(struct expected *e)
{
	unsigned a = (unsigned)chance(MODEL_ROWS);
	unsigned b = (unsigned)chance(MODEL_ROWS);
	struct scan_spec *spec = &e->spec;

	e->end = MODEL_ROWS;
	if (chance(2))
		return;
	unsigned low = a < b ? a : b, high = a < b ? b : a;
	spec->start = rows[spec->reversed ? high : low];
	spec->stop = rows[spec->reversed ? low : high];
	spec->start_exclusive = chance(3) == 0;
	spec->stop_inclusive = chance(3) != 0;
	bool without_low =
	    spec->reversed ? !spec->stop_inclusive : spec->start_exclusive;
	bool without_high =
	    spec->reversed ? spec->start_exclusive : !spec->stop_inclusive;
	e->first = low + without_low;
	e->end = high + !without_high;
}

static void
choose_scan(struct expected *e)
{
	*e = (struct expected){0};
	e->spec = (struct scan_spec){.table = table_name(),
	    .versions = (uint32_t)chance(4),
	    .reversed = chance(2),
	    .limit = chance(4),
	    .family_offset = chance(3) ? 0 : chance(4),
	    .family_limit = chance(3) ? 0 : chance(4)};
	choose_ranges(e);
	choose_rows(e);
	e->spec.columns = e->columns;
	e->spec.column_count = chance(3);
	for (size_t i = 0; i < e->spec.column_count; i++)
		e->columns[i] =
		    (struct column){.family = families[chance(MODEL_FAMILIES)],
			.qualifier = qualifiers[chance(MODEL_QUALIFIERS)],
			.whole_family = chance(3) == 0};
}

static void
expect_cell(struct scan *scan, const struct model_put *p)
{
	uint8_t bytes[64];
	struct cell cell;

	int r = engine->methods->scan_next(scan, &cell);
	ck_assert_msg(r == 0, "scan: misses %u/%u/%u@%lld", p->column.row,
	    p->column.family, p->column.qualifier, (long long)p->timestamp);
	ck_assert(slice_equal(cell.row, rows[p->column.row]));
	ck_assert(slice_equal(cell.family, families[p->column.family]));
	ck_assert(slice_equal(cell.qualifier, qualifiers[p->column.qualifier]));
	ck_assert_int_eq(cell.timestamp, p->timestamp);
	int64_t size =
	    engine->methods->scan_read(scan, 0, bytes, sizeof(bytes));
	size_t want =
	    p->value.size < sizeof(bytes) ? p->value.size : sizeof(bytes);
	ck_assert_int_eq(size, (int64_t)want);
	ck_assert(size == 0 || memcmp(bytes, p->value.data, want) == 0);
}

/* The cells of one column: how many. passed: of the family in the row before.
 */
static size_t
expect_column(struct scan *scan, const struct expected *e,
    struct model_column c, uint64_t *passed)
{
	const struct scan_spec *spec = &e->spec;
	const struct model_put *p;
	size_t taken = 0, given = 0;

	for (size_t i = 0; (p = model_version(model, c, i)); i++) {
		if (p->timestamp < e->since[c.family] ||
		    (e->until[c.family] &&
			p->timestamp >= e->until[c.family]) ||
		    (spec->versions && taken == spec->versions))
			continue;
		taken++;
		uint64_t at = (*passed)++;
		if (at < spec->family_offset ||
		    (spec->family_limit &&
			at >= spec->family_offset + spec->family_limit))
			continue;
		given++;
		expect_cell(scan, p);
	}
	return given;
}

/* The cells of one row in the order of the scan: how many. */
static size_t
expect_row(struct scan *scan, const struct expected *e, unsigned row)
{
	size_t cells = 0;

	for (unsigned f = 0; f < MODEL_FAMILIES; f++) {
		uint64_t passed = 0;
		for (unsigned q = 0; q < MODEL_QUALIFIERS; q++) {
			struct model_column c = {row, f, q};
			if (asked(e, c))
				cells += expect_column(scan, e, c, &passed);
		}
	}
	return cells;
}

void
compare_scan(void)
{
	struct expected e;
	struct scan *scan;
	struct cell cell;
	uint64_t given = 0;

	choose_scan(&e);
	int r = engine->methods->scan_open(engine, &e.spec, &scan);
	ck_assert_msg(r == 0, "scan: %s", why_text(r));
	for (unsigned i = e.first; i < e.end; i++) {
		unsigned row = e.spec.reversed ? e.first + e.end - 1 - i : i;
		if (e.spec.limit && given == e.spec.limit)
			break;
		given += expect_row(scan, &e, row) > 0;
	}
	r = engine->methods->scan_next(scan, &cell);
	ck_assert_msg(r == 1, "scan: too many cells, or %s", why_text(r));
	engine->methods->scan_close(scan);
}

struct listing {
	unsigned next;
};

static bool
row_there(unsigned row, int family)
{
	for (unsigned f = 0; f < MODEL_FAMILIES; f++)
		for (unsigned q = 0; q < MODEL_QUALIFIERS; q++)
			if ((family < 0 || f == (unsigned)family) &&
			    model_version(
				model, (struct model_column){row, f, q}, 0))
				return true;
	return false;
}

static int
compare_row(void *context, const struct entry *entry, struct buf *skip)
{
	struct listing *listing = context;

	(void)skip;
	while (listing->next < MODEL_ROWS && !row_there(listing->next, -1))
		listing->next++;
	ck_assert_int_eq(entry->level, LEVEL_ROW);
	ck_assert_msg(listing->next < MODEL_ROWS &&
			  slice_equal(entry->name, rows[listing->next]),
	    "listed a row that is not there, or not in order");
	listing->next++;
	return LIST_MORE;
}

static int
compare_entry(void *context, const struct entry *entry, struct buf *skip)
{
	struct model_column *next = context;
	const struct model_put *p = NULL;

	(void)skip;
	while (next->qualifier < MODEL_QUALIFIERS &&
	       !(p = model_version(model, *next, 0)))
		next->qualifier++;
	ck_assert_msg(p, "listed a column that is not there");
	ck_assert(slice_equal(entry->name, qualifiers[next->qualifier]));
	ck_assert_int_eq(entry->info.timestamp, p->timestamp);
	ck_assert_uint_eq(entry->info.size, p->value.size);
	next->qualifier++;
	return LIST_MORE;
}

static void
compare_family(unsigned row, unsigned family)
{
	struct model_column next = {row, family, 0};
	struct place place = place_of(next);

	place.level = LEVEL_FAMILY;
	place.qualifier = (struct slice){0};
	ck_assert_int_eq(
	    engine->methods->list(engine, &place, NULL, compare_entry, &next),
	    0);
	for (; next.qualifier < MODEL_QUALIFIERS; next.qualifier++)
		ck_assert_msg(
		    !model_version(model, next, 0), "a column is not listed");
	struct info info;
	int r =
	    engine->methods->stat(engine, &place, (struct version){0}, &info);
	ck_assert_int_eq(r, row_there(row, (int)family) ? 0 : -ENOENT);
}

void
compare_listings(void)
{
	struct place table = {.level = LEVEL_TABLE, .table = table_name()};
	struct listing listing = {0};

	ck_assert_int_eq(
	    engine->methods->list(engine, &table, NULL, compare_row, &listing),
	    0);
	while (listing.next < MODEL_ROWS) {
		ck_assert_msg(!row_there(listing.next, -1),
		    "row %u is not listed", listing.next);
		listing.next++;
	}
	compare_family(
	    (unsigned)chance(MODEL_ROWS), (unsigned)chance(MODEL_FAMILIES));
}
