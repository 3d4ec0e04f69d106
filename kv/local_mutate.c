#include "local_mutate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "local_blob.h"
#include "local_methods.h"
#include "why.h"

#define ATTEMPTS 100 /* while others change what the call is about */

/* --- before the lock: order, sources, big values ------------------------ */

static int
compare_steps(const void *a, const void *b)
{
	const struct step *left = a, *right = b;
	int order = slice_compare(left->op->family, right->op->family);

	if (!order)
		order = step_is_family(right) - step_is_family(left);
	if (!order && !step_is_family(left))
		order =
		    slice_compare(left->op->qualifier, right->op->qualifier);
	if (!order)
		order = left->given < right->given ? -1 : 1;
	return order;
}

static bool
same_column(const struct step *a, const struct step *b)
{
	return a->family == b->family &&
	       slice_equal(a->op->qualifier, b->op->qualifier);
}

static struct step *
end_of_column(const struct work *work, struct step *from)
{
	struct step *end = work->steps + work->m->count, *to = from + 1;

	while (to < end && same_column(from, to))
		to++;
	return to;
}

static int
make_groups(struct work *work)
{
	struct step *end = work->steps + work->m->count;
	struct step *family = work->steps, *columns = work->steps, *next;

	work->groups = calloc(work->m->count + 1, sizeof(*work->groups));
	if (!work->groups)
		return -ENOMEM;
	for (struct step *s = work->steps; s < end; s = next) {
		next = s + 1;
		if (s->family != family->family)
			family = columns = s;
		if (step_is_family(s)) {
			columns = next;
			continue;
		}
		next = end_of_column(work, s);
		work->groups[work->group_count++] = (struct group){
		    .from = s,
		    .to = next,
		    .family_from = family,
		    .family_to = columns,
		};
	}
	return 0;
}

static bool
brings_value(const struct step *s)
{
	return s->op->type == OP_PUT || s->op->type == OP_APPEND;
}

/* Looks at what is to be stored before anything is read or written of it. */
static int
check_sizes(struct work *work)
{
	for (size_t i = 0; i < work->m->count; i++) {
		struct step *s = &work->steps[i];
		const struct op *op = s->op;
		if (!brings_value(s))
			continue;
		s->size = op->source ? op->source->size : op->value.size;
		if (s->size > s->family->declared.max_cell_size)
			return step_too_large(s, s->size);
	}
	return 0;
}

static int
read_memory(const struct source *s, uint64_t offset, void *to, size_t size)
{
	const struct slice *value = s->context;

	memcpy(to, value->data + offset, size);
	return 0;
}

/* Small values into memory, big ones of a put into chunks. */
static int
prepare_value(struct work *work, struct step *s)
{
	const struct op *op = s->op;

	s->value = op->value;
	if (s->size > INLINE_MAX) {
		struct source memory = {s->size, read_memory, &s->value};
		if (op->type != OP_PUT)
			return 0;
		s->blob_size = s->size;
		return blob_write(work->local, s->family->blobs,
		    op->source ? op->source : &memory, &s->blob);
	}
	if (!op->source)
		return 0;
	int r = buf_resize(&s->bytes, (size_t)s->size);
	if (r == 0 && s->size)
		r = op->source->read(
		    op->source, 0, s->bytes.data, (size_t)s->size);
	s->value = buf_slice(&s->bytes);
	return r;
}

static int
prepare(struct work *work)
{
	struct mutation *m = work->m;
	int r;

	work->steps = calloc(m->count + 1, sizeof(*work->steps));
	if (!work->steps)
		return -ENOMEM;
	for (size_t i = 0; i < m->count; i++) {
		struct step *s = &work->steps[i];
		s->op = &m->ops[i];
		s->given = i;
		s->family = table_family(work->table, s->op->family);
		if (!s->family)
			return why(ENOENT, "table %.*s has no family %.*s",
			    (int)m->table.size, (const char *)m->table.data,
			    (int)s->op->family.size,
			    (const char *)s->op->family.data);
	}
	if (m->count)
		qsort(
		    work->steps, m->count, sizeof(*work->steps), compare_steps);
	r = check_sizes(work);
	for (size_t i = 0; r == 0 && i < m->count; i++)
		if (brings_value(&work->steps[i]))
			r = prepare_value(work, &work->steps[i]);
	return r ? r : make_groups(work);
}

/* --- appending to what does not fit beside its key ---------------------- */

/* The bytes of a version, and behind them those that are appended. */
struct joint {
	struct local *local;
	const struct step *step;
};

static int
read_before(const struct joint *j, uint64_t offset, void *to, size_t size)
{
	const struct record *old = &j->step->joined.record;

	if (!old->blob) {
		memcpy(to, old->value.data + offset, size);
		return 0;
	}
	int64_t got = blob_read(j->local, j->step->family->blobs, old->blob,
	    old->size, offset, to, size);
	return got < 0 ? (int)got : 0;
}

static int
read_behind(const struct joint *j, uint64_t offset, void *to, size_t size)
{
	const struct step *s = j->step;

	if (s->op->source && !s->bytes.size)
		return s->op->source->read(s->op->source, offset, to, size);
	memcpy(to, s->value.data + offset, size);
	return 0;
}

static int
read_joint(const struct source *source, uint64_t offset, void *to, size_t size)
{
	const struct joint *j = source->context;
	uint64_t before = j->step->joined.record.size;
	size_t part = 0;
	int r = 0;

	if (offset < before) {
		part =
		    before - offset < size ? (size_t)(before - offset) : size;
		r = read_before(j, offset, to, part);
	}
	if (r == 0 && part < size)
		r = read_behind(j, offset + part - before, (uint8_t *)to + part,
		    size - part);
	return r;
}

/* Finds the newest version and pins its chunks. */
static int
find_before(struct txn *t, void *context)
{
	struct work *work = context;
	struct step *s = work->join;
	struct version newest = {.which = VERSION_NEWEST};

	stored_release(&s->joined);
	int r = column_find(
	    t, s->family, work->m->row, s->op->qualifier, newest, &s->joined);
	s->joined_found = r == 0;
	if (r == 0 && s->joined.record.blob)
		r = blob_pin(t->local, s->family->blobs, s->joined.record.blob);
	return r == 1 ? 0 : r;
}

static int
join(struct work *work)
{
	struct step *s = work->join;
	struct joint joint = {work->local, s};

	if (s->blob)
		blob_collect(work->local, s->family->blobs, s->blob);
	s->blob = 0;
	int r = local_read(work->local, find_before, work);
	if (r)
		return r;
	struct source source = {
	    s->joined.record.size + s->size, read_joint, &joint};
	r = blob_write(work->local, s->family->blobs, &source, &s->blob);
	if (s->joined.record.blob)
		blob_unpin(
		    work->local, s->family->blobs, s->joined.record.blob);
	return r;
}

/* --- the call ----------------------------------------------------------- */

void
work_release(struct work *work, bool committed)
{
	for (size_t i = 0; work->steps && i < work->m->count; i++) {
		struct step *s = &work->steps[i];
		if (s->blob && !(committed && s->adopted))
			blob_collect(work->local, s->family->blobs, s->blob);
		buf_release(&s->bytes);
		buf_release(&s->made);
		stored_release(&s->joined);
	}
	for (size_t i = 0; i < work->group_count; i++)
		versions_close(&work->groups[i].v);
	if (committed)
		dropped_collect(work->local, &work->dropped);
	buf_release(&work->dropped.ids);
	free(work->steps);
	free(work->groups);
	table_put(work->table);
	*work = (struct work){
	    .local = work->local, .m = work->m, .times = work->times};
}

/* Has the families declared that the table lacks for what is to be stored:
 * -ESTALE where there were some, -EPERM in a sealed table. */
static int
declare(struct local *l, const struct mutation *m, const struct table *table)
{
	int r = 0;

	for (size_t i = 0; i < m->count && (r == 0 || r == -ESTALE); i++) {
		const struct op *op = &m->ops[i];
		bool stores = op->type == OP_PUT || op->type == OP_APPEND ||
			      op->type == OP_INCREMENT;
		if (!stores || table_family(table, op->family))
			continue;
		r = local_family_declare(&l->engine, m->table, op->family);
		if (r == 0)
			r = -ESTALE;
	}
	return r;
}

static int
prepare_anew(struct work *work)
{
	int r;

	work_release(work, false);
	r = table_get(work->local, work->m->table, &work->table);
	if (r)
		return r;
	r = declare(work->local, work->m, work->table);
	if (r == 0)
		r = prepare(work);
	/* Whatever it was, it was said of a table that is no more. */
	return r && table_stale(work->table) ? -ESTALE : r;
}

/* Others were faster each time. */
static int
give_up(const struct work *work)
{
	const struct slice *table = &work->m->table;

	return work->join ? why(EAGAIN, "others keep changing the value that "
					"is appended to")
			  : why(EBUSY, "table %.*s: it is changed too often",
				(int)table->size, (const char *)table->data);
}

int
work_prepare(struct work *work)
{
	int r = -ESTALE;

	while (!work->ready && r == -ESTALE) {
		if (work->times++ == ATTEMPTS)
			return give_up(work);
		r = work->join ? join(work) : prepare_anew(work);
		work->join = NULL;
		work->ready = r == 0;
	}
	return work->ready ? 0 : r;
}

int
work_settle(struct work *work, int r)
{
	if (r && r != -ECANCELED)
		work->join = NULL;
	work->ready = r == 0 ||
		      (r != -ECANCELED && !table_stale(work->table));
	return work->ready ? r : 1;
}

static enum ordered_intent
intent(const struct mutation *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->ops[i].type == OP_PUT || m->ops[i].type == OP_APPEND ||
		    m->ops[i].type == OP_INCREMENT)
			return ORDERED_WRITE;
	return ORDERED_REMOVE;
}

int
local_mutate(struct engine *e, struct mutation *m)
{
	struct work work = {.local = (struct local *)e, .m = m};
	int r = 1;

	m->applied = false;
	while (r == 1) {
		r = work_prepare(&work);
		if (r == 0)
			r = work_settle(&work,
			    local_write(work.local, intent(m), mutation_apply,
				&work));
	}
	work_release(&work, r == 0);
	if (r)
		m->applied = false;
	return r;
}
