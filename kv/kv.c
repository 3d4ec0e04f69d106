#include "kv_store.h"

#include <assert.h>
#include <errno.h>

#include "engine.h"
#include "key.h"
#include "kv_change.h"
#include "kv_data.h"
#include "local.h"
#include "why.h"

static const struct engine_methods *
methods(const struct kv *kv)
{
	return kv->engine->methods;
}

/* What a method may answer: nothing but 0, 1 for "no more", or an errno. */
static int
promised(int r)
{
	assert(r <= 0 && r > -4096);
	return r;
}

/* --- checks ----------------------------------------------------------- */

static int
check_writable(const struct kv *kv)
{
	return kv->read_only ? why(EROFS, "the store is open for reading only")
			     : 0;
}

static int
check_row(struct slice row)
{
	if (row.size == 0)
		return why(EINVAL, "a row key has at least one byte");
	if (row.size > ROW_MAX)
		return why(ENAMETOOLONG,
		    "a row key of %zu bytes: at most %d "
		    "are legal",
		    row.size, ROW_MAX);
	return 0;
}

static int
check_family(struct slice family)
{
	if (family.size == 0 || family.size > FAMILY_MAX)
		return why(
		    EINVAL, "a family name has 1 to %d bytes", FAMILY_MAX);
	return 0;
}

static int
check_qualifier(struct slice qualifier)
{
	if (qualifier.size > QUALIFIER_MAX)
		return why(ENAMETOOLONG,
		    "a qualifier of %zu bytes: at most "
		    "%d are legal",
		    qualifier.size, QUALIFIER_MAX);
	return 0;
}

static int
check_timestamp(int64_t timestamp)
{
	if (timestamp < 0)
		return why(EINVAL, "timestamp %lld: 0 to %lld are legal",
		    (long long)timestamp, (long long)TS_MAX);
	return 0;
}

static int
check_dot_name(struct slice name)
{
	return name.size ? 0 : why(EINVAL, "a dot file has a name");
}

/* Whether everything the level needs is there, in legal sizes. */
static int
check_place(const struct place *p)
{
	bool dots = p->level == LEVEL_DOT || p->level == LEVEL_DOT_DIR;
	int r = 0;

	if (p->level <= LEVEL_CONTROL)
		return 0;
	if (p->table.size == 0 && !dots)
		return why(EINVAL, "a place has a table");
	if (p->level >= LEVEL_ROW_PART && p->table.size)
		r = check_row(p->row);
	if (r == 0 && p->level >= LEVEL_FAMILY && p->table.size)
		r = check_family(p->family);
	if (r == 0)
		r = check_qualifier(p->qualifier);
	if (r == 0 && p->level == LEVEL_DOT_DIR)
		r = check_dot_name(p->dot_dir);
	if (r == 0 && p->level == LEVEL_DOT)
		r = check_dot_name(p->dot);
	return r;
}

static int
check_change(const struct kv *kv, const struct place *p)
{
	int r = check_writable(kv);

	return r ? r : check_place(p);
}

/* A version that is to be changed or made. */
static int
check_version(struct version version)
{
	if (version.which == VERSION_AT && version.number == TS_LATEST)
		return why(EINVAL, "timestamp %lld: 0 to %lld are legal",
		    (long long)version.number, (long long)TS_MAX);
	return version.which == VERSION_NEWEST
		   ? 0
		   : check_timestamp(version.number);
}

static int
check_schema(const struct schema *schema)
{
	int r = schema_check_table_name(buf_slice(&schema->name));

	for (size_t i = 0; r == 0 && i < schema->count; i++)
		r = schema_check_family_name(
		    buf_slice(&schema->families[i].name));
	return r ? r : schema_check(schema);
}

/* --- tables ----------------------------------------------------------- */

int
kv_table_create(
    struct kv *kv, const struct schema *schema, const struct attrs *owner)
{
	int r = check_writable(kv);

	if (r == 0)
		r = check_schema(schema);
	return r ? r
		 : promised(
		       methods(kv)->table_create(kv->engine, schema, owner));
}

int
kv_table_alter(struct kv *kv, const struct schema *schema, bool drop_data)
{
	int r = check_writable(kv);

	if (r == 0)
		r = check_schema(schema);
	return r ? r
		 : promised(
		       methods(kv)->table_alter(kv->engine, schema, drop_data));
}

int
kv_table_drop(struct kv *kv, struct slice table)
{
	int r = check_writable(kv);

	return r ? r : promised(methods(kv)->table_drop(kv->engine, table));
}

int
kv_table_truncate(struct kv *kv, struct slice table)
{
	int r = check_writable(kv);

	return r ? r : promised(methods(kv)->table_truncate(kv->engine, table));
}

int
kv_table_rename(struct kv *kv, struct slice from, struct slice to)
{
	int r = check_writable(kv);

	if (r == 0)
		r = schema_check_table_name(to);
	return r ? r
		 : promised(methods(kv)->table_rename(kv->engine, from, to));
}

int
kv_table_schema(struct kv *kv, struct slice table, struct schema *out)
{
	return promised(methods(kv)->table_schema(kv->engine, table, out));
}

/* --- one place of the tree -------------------------------------------- */

int
kv_stat(struct kv *kv, const struct place *place, struct version version,
    struct info *out)
{
	*out = (struct info){0};
	int r = check_place(place);
	return r ? r
		 : promised(methods(kv)->stat(kv->engine, place, version, out));
}

int
kv_set_attrs(struct kv *kv, const struct place *place, struct version version,
    const struct attrs *attrs)
{
	int r = check_change(kv, place);

	return r ? r
		 : promised(methods(kv)->set_attrs(
		       kv->engine, place, version, attrs));
}

int
kv_list(struct kv *kv, const struct place *dir, const struct entry *after,
    list_emit emit, void *context)
{
	int r = check_place(dir);

	return r ? r : methods(kv)->list(kv->engine, dir, after, emit, context);
}

int
kv_versions(struct kv *kv, const struct place *column, int64_t before,
    cell_emit emit, void *context)
{
	int r = check_place(column);

	return r ? r
		 : methods(kv)->versions(
		       kv->engine, column, before, emit, context);
}

int
kv_value_open(struct kv *kv, const struct place *place, struct version version,
    struct value **out)
{
	*out = NULL;
	int r = check_place(place);
	if (r == 0 && place->level != LEVEL_COLUMN && place->level != LEVEL_DOT)
		r = why(EINVAL, "only cells and dot files have bytes");
	return r ? r
		 : promised(methods(kv)->value_open(
		       kv->engine, place, version, out));
}

int64_t
kv_value_read(
    struct kv *kv, struct value *v, uint64_t offset, void *to, size_t size)
{
	return methods(kv)->value_read(v, offset, to, size);
}

void
kv_value_close(struct kv *kv, struct value *v)
{
	if (v)
		methods(kv)->value_close(v);
}

/* --- changing --------------------------------------------------------- */

static int
check_op(const struct op *op, uint64_t *bytes)
{
	int r = check_family(op->family);

	if (r == 0)
		r = check_qualifier(op->qualifier);
	if (r == 0)
		r = check_timestamp(op->timestamp);
	if (r == 0 && op->ttl < 0)
		r = why(EINVAL, "a TTL of %lld ms: it is never negative",
		    (long long)op->ttl);
	uint64_t size = op->source ? op->source->size : op->value.size;
	if (size <= INLINE_MAX)
		*bytes += size;
	*bytes += op->qualifier.size;
	return r;
}

static int
check_mutation(const struct kv *kv, const struct mutation *m)
{
	uint64_t bytes = 0;
	int r = check_writable(kv);

	if (r == 0)
		r = check_row(m->row);
	if (r == 0 && m->count > MUTATE_OPS_MAX)
		r = why(E2BIG,
		    "%zu changes to one row: at most %d go in one "
		    "call",
		    m->count, MUTATE_OPS_MAX);
	for (size_t i = 0; r == 0 && i < m->count; i++)
		r = check_op(&m->ops[i], &bytes);
	if (r == 0 && bytes > MUTATE_BYTES_MAX)
		r = why(E2BIG,
		    "%llu bytes of small values to one row: at most "
		    "%d go in one call",
		    (unsigned long long)bytes, MUTATE_BYTES_MAX);
	if (r == 0 && m->condition)
		r = check_family(m->condition->family);
	return r;
}

int
kv_mutate(struct kv *kv, struct mutation *m)
{
	m->applied = false;
	int r = check_mutation(kv, m);
	return r ? r : promised(methods(kv)->mutate(kv->engine, m));
}

static int
check_levels(enum level from, enum level to)
{
	bool cell = from == LEVEL_COLUMN || from == LEVEL_DOT;

	if (cell && (to == LEVEL_COLUMN || to == LEVEL_DOT))
		return 0;
	if (from == to && (from == LEVEL_ROW || from == LEVEL_FAMILY ||
			      from == LEVEL_DOT_DIR))
		return 0;
	return why(EINVAL, "a rename goes from a row to a row, a family to a "
			   "family, a cell or dot file to a cell or dot file, "
			   "a dot directory to a dot directory");
}

int
kv_draft_open(struct kv *kv, const struct place *place, struct version version,
    struct content *content, struct draft **out)
{
	*out = NULL;
	int r = check_change(kv, place);
	if (r == 0)
		r = check_version(version);
	if (r == 0 && place->level != LEVEL_COLUMN && place->level != LEVEL_DOT)
		r = why(EINVAL, "only cells and dot files have bytes");
	return r ? r
		 : promised(methods(kv)->draft_open(
		       kv->engine, place, version, content, out));
}

int
kv_draft_prepare(struct kv *kv, struct draft *d)
{
	return promised(methods(kv)->draft_prepare(d));
}

int
kv_draft_store(struct kv *kv, struct draft *d)
{
	return methods(kv)->draft_store(d);
}

void
kv_draft_close(struct kv *kv, struct draft *d)
{
	if (d)
		methods(kv)->draft_close(d);
}

int
kv_move_open(struct kv *kv, const struct move_spec *spec, struct move **out)
{
	*out = NULL;
	int r = check_change(kv, spec->from);
	if (r == 0)
		r = check_place(spec->to);
	if (r == 0)
		r = check_levels(spec->from->level, spec->to->level);
	if (r == 0)
		r = check_version(spec->from_version);
	if (r == 0)
		r = check_version(spec->to_version);
	return r ? r
		 : promised(methods(kv)->move_open(kv->engine, spec, out));
}

int
kv_move_prepare(struct kv *kv, struct move *m)
{
	return promised(methods(kv)->move_prepare(m));
}

int
kv_move_try(struct kv *kv, struct move *m, int64_t *stored)
{
	return methods(kv)->move_try(m, stored);
}

void
kv_move_close(struct kv *kv, struct move *m)
{
	if (m)
		methods(kv)->move_close(m);
}

int
kv_move(struct kv *kv, const struct move_spec *spec, int64_t *stored)
{
	struct move *m;
	int64_t ignored;

	if (!stored)
		stored = &ignored;
	*stored = 0;
	int r = kv_move_open(kv, spec, &m);
	if (r == 0)
		r = kv_move_try(kv, m, stored);
	while (r == 1) {
		r = kv_move_prepare(kv, m);
		if (r == 0)
			r = kv_move_try(kv, m, stored);
	}
	kv_move_close(kv, m);
	return r;
}

int
kv_dir_make(struct kv *kv, const struct place *dir, const struct attrs *attrs)
{
	int r = check_change(kv, dir);

	return r ? r : promised(methods(kv)->dir_make(kv->engine, dir, attrs));
}

int
kv_dir_times(struct kv *kv, const struct dir_time *times, size_t count)
{
	int r = check_writable(kv);

	if (r == 0 && count > MUTATE_OPS_MAX)
		r = why(E2BIG, "%zu times in one call: at most %d", count,
		    MUTATE_OPS_MAX);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = check_place(&times[i].place);
	return r ? r
		 : promised(methods(kv)->dir_times(kv->engine, times, count));
}

int
kv_dir_remove(struct kv *kv, const struct place *dir)
{
	int r = check_change(kv, dir);

	return r ? r : promised(methods(kv)->dir_remove(kv->engine, dir));
}

int
kv_dot_put(struct kv *kv, const struct place *dot, const struct source *source,
    const struct attrs *attrs, unsigned flags)
{
	int r = check_change(kv, dot);

	if (r == 0 && dot->level != LEVEL_DOT)
		r = why(EINVAL, "this is no place for a dot file");
	return r ? r
		 : promised(methods(kv)->dot_put(
		       kv->engine, dot, source, attrs, flags));
}

int
kv_dot_remove(struct kv *kv, const struct place *dot)
{
	int r = check_change(kv, dot);

	if (r == 0 && dot->level != LEVEL_DOT)
		r = why(EINVAL, "this is no place for a dot file");
	return r ? r : promised(methods(kv)->dot_remove(kv->engine, dot));
}

/* --- scans ------------------------------------------------------------ */

int
kv_scan_open(struct kv *kv, const struct scan_spec *spec, struct scan **out)
{
	*out = NULL;
	if (spec->start.size > ROW_MAX || spec->stop.size > ROW_MAX)
		return why(EINVAL, "a row key has at most %d bytes", ROW_MAX);
	bool negative = spec->since < 0 || spec->until < 0;
	for (size_t i = 0; i < spec->range_count; i++)
		negative = negative || spec->ranges[i].since < 0 ||
			   spec->ranges[i].until < 0;
	if (negative)
		return why(EINVAL, "a time range has no negative bounds");
	return promised(methods(kv)->scan_open(kv->engine, spec, out));
}

int
kv_scan_next(struct kv *kv, struct scan *s, struct cell *out)
{
	return methods(kv)->scan_next(s, out);
}

int64_t
kv_scan_read(
    struct kv *kv, struct scan *s, uint64_t offset, void *to, size_t size)
{
	return methods(kv)->scan_read(s, offset, to, size);
}

void
kv_scan_close(struct kv *kv, struct scan *s)
{
	if (s)
		methods(kv)->scan_close(s);
}

int
kv_prefix_range(struct slice prefix, struct buf *start, struct buf *stop)
{
	int r = buf_set(start, prefix);

	if (r == 0)
		r = buf_set(stop, prefix);
	if (r == 0)
		key_successor(stop);
	else
		buf_release(start);
	return r;
}

/* --- the store -------------------------------------------------------- */

int
kv_sync(struct kv *kv)
{
	return kv->read_only ? 0 : methods(kv)->sync(kv->engine);
}

int
kv_checkpoint(struct kv *kv)
{
	int r = check_writable(kv);

	return r ? r : methods(kv)->checkpoint(kv->engine);
}

int
kv_compact(struct kv *kv, struct slice table, struct slice family)
{
	int r = check_writable(kv);

	return r ? r
		 : promised(methods(kv)->compact(kv->engine, table, family));
}

void
kv_interrupt(struct kv *kv)
{
	local_interrupt(kv->engine);
}

void
kv_ask(bool (*stop)(void *context), void *context)
{
	local_ask(stop, context);
}

int
kv_check(struct kv *kv, bool repair,
    void (*problem)(void *context, const char *line), void *context)
{
	int r = repair ? check_writable(kv) : 0;

	return r ? r : methods(kv)->check(kv->engine, repair, problem, context);
}

int
kv_space(struct kv *kv, struct space *out)
{
	return promised(methods(kv)->space(kv->engine, out));
}

void
kv_stats(struct kv *kv, stat_emit emit, void *context)
{
	methods(kv)->stats(kv->engine, emit, context);
}
