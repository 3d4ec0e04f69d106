#include "model.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct rules {
	uint32_t versions, min_versions;
	int64_t ttl;
};

struct model {
	int64_t now;
	struct rules rules[MODEL_FAMILIES];
	struct model_put *puts; /* in the order in which they were applied */
	size_t count, room;
};

struct model *
model_new(int64_t now)
{
	struct model *m = calloc(1, sizeof(*m));

	ck_assert_ptr_nonnull(m);
	m->now = now;
	for (int i = 0; i < MODEL_FAMILIES; i++)
		m->rules[i] = (struct rules){3, 0, 0};
	return m;
}

void
model_truncate(struct model *m)
{
	for (size_t i = 0; i < m->count; i++)
		buf_release(&m->puts[i].value);
	m->count = 0;
}

void
model_free(struct model *m)
{
	if (!m)
		return;
	model_truncate(m);
	free(m->puts);
	free(m);
}

static bool
same(struct model_column a, struct model_column b)
{
	return a.row == b.row && a.family == b.family &&
	       a.qualifier == b.qualifier;
}

/* The moment at which a version is out by its own TTL, or the family's. */
static int64_t
own_end(const struct model_put *p)
{
	return p->ttl && p->timestamp < INT64_MAX - p->ttl - 1
		   ? p->timestamp + p->ttl + 1
		   : INT64_MAX;
}

static int64_t
family_end(const struct model *m, const struct model_put *p)
{
	int64_t ttl = m->rules[p->column.family].ttl;

	return ttl && p->timestamp < INT64_MAX - ttl - 1
		   ? p->timestamp + ttl + 1
		   : INT64_MAX;
}

/* How many newer versions of the column are not out. */
static uint32_t
newer(const struct model *m, const struct model_put *p)
{
	uint32_t count = 0;

	for (size_t i = 0; i < m->count; i++)
		count += !m->puts[i].out &&
			 same(m->puts[i].column, p->column) &&
			 m->puts[i].timestamp > p->timestamp;
	return count;
}

static bool
goes_out(const struct model *m, const struct model_put *p, int64_t moment)
{
	const struct rules *rules = &m->rules[p->column.family];
	uint32_t count;

	if (p->out || own_end(p) <= moment)
		return !p->out;
	count = newer(m, p);
	return count >= rules->versions ||
	       (family_end(m, p) <= moment && count >= rules->min_versions);
}

/* Looks at every version at a moment, newer ones first: an older one is
 * judged by those that are left. */
static void
look(struct model *m, int64_t moment)
{
	bool changed = true;

	for (size_t i = 0; i < m->count; i++)
		if (own_end(&m->puts[i]) <= moment)
			m->puts[i].out = true;
	while (changed) {
		struct model_put *newest = NULL;
		changed = false;
		for (size_t i = 0; i < m->count; i++) {
			struct model_put *p = &m->puts[i];
			if (goes_out(m, p, moment) &&
			    (!newest || p->timestamp > newest->timestamp))
				newest = p;
		}
		if (newest)
			newest->out = changed = true;
	}
}

/* The next moment after `after`, up to now, at which a TTL ends; or now. */
static int64_t
next_moment(const struct model *m, int64_t after)
{
	int64_t next = m->now;

	for (size_t i = 0; i < m->count; i++) {
		const struct model_put *p = &m->puts[i];
		int64_t ends[2] = {own_end(p), family_end(m, p)};
		for (int j = 0; j < 2; j++)
			if (!p->out && ends[j] > after && ends[j] < next)
				next = ends[j];
	}
	return next;
}

void
model_clock(struct model *m, int64_t now)
{
	int64_t moment = m->now;

	m->now = now;
	while (moment < now) {
		moment = next_moment(m, moment);
		look(m, moment);
	}
}

void
model_rules(struct model *m, unsigned family, uint32_t versions,
    uint32_t min_versions, int64_t ttl)
{
	m->rules[family] = (struct rules){versions, min_versions, ttl};
	look(m, m->now);
}

const struct model_put *
model_version(const struct model *m, struct model_column c, size_t index)
{
	for (size_t i = 0; i < m->count; i++)
		if (!m->puts[i].out && same(m->puts[i].column, c) &&
		    newer(m, &m->puts[i]) == index)
			return &m->puts[i];
	return NULL;
}

/* --- calls -------------------------------------------------------------- */

static int64_t
newest_stamp(const struct model *m, struct model_column c, int64_t none)
{
	const struct model_put *p = model_version(m, c, 0);

	return p ? p->timestamp : none;
}

static int64_t
at_least(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static bool
is_delete(const struct model_op *op)
{
	return op->type >= OP_DELETE_VERSION &&
	       op->type <= OP_DELETE_FAMILY_VERSION;
}

static bool
names(const struct model_op *op, struct model_column c)
{
	bool family = op->type == OP_DELETE_FAMILY ||
		      op->type == OP_DELETE_FAMILY_VERSION;

	return op->column.row == c.row && op->column.family == c.family &&
	       (family || op->column.qualifier == c.qualifier);
}

static bool
reaches(const struct model_op *op, int64_t delete, int64_t timestamp)
{
	return op->type == OP_DELETE_COLUMN || op->type == OP_DELETE_FAMILY
		   ? timestamp <= delete
		   : timestamp == delete;
}

/* The timestamp of a delete, by the state before the call. nth: how many
 * deletes of the newest version of that column the call has before it. */
static int64_t
delete_stamp(const struct model *m, const struct model_op *op, size_t nth)
{
	int64_t stamp = m->now;

	if (op->timestamp != TS_LATEST || op->type == OP_DELETE_FAMILY_VERSION)
		return op->timestamp == TS_LATEST ? m->now : op->timestamp;
	if (op->type == OP_DELETE_VERSION) {
		const struct model_put *p = model_version(m, op->column, nth);
		return p ? p->timestamp : m->now;
	}
	for (size_t i = 0; i < m->count; i++)
		if (!m->puts[i].out && names(op, m->puts[i].column))
			stamp = at_least(stamp, m->puts[i].timestamp);
	return stamp;
}

/* What an op that stores stores: value (owned) and stamp. */
static int
made(const struct model *m, const struct model_op *op, struct model_put *out)
{
	const struct model_put *old = model_version(m, op->column, 0);
	uint64_t number = 0;

	*out = (struct model_put){.column = op->column, .ttl = op->ttl};
	out->timestamp = op->timestamp;
	if (op->timestamp == TS_LATEST || (old && op->type != OP_PUT))
		out->timestamp =
		    at_least(m->now, newest_stamp(m, op->column, -1) + 1);
	if (op->type == OP_PUT) {
		buf_append(&out->value, op->value);
		return 0;
	}
	if (old && !out->ttl)
		out->ttl = old->ttl;
	if (op->type == OP_APPEND) {
		if (old)
			buf_append(&out->value, buf_slice(&old->value));
		buf_append(&out->value, op->value);
		return 0;
	}
	if (old && old->value.size != 8)
		return -EINVAL;
	for (size_t i = 0; old && i < 8; i++)
		number = number << 8 | old->value.data[i];
	buf_be64(&out->value, number + (uint64_t)op->delta);
	return 0;
}

static bool
version_at(const struct model *m, struct model_column c, int64_t timestamp)
{
	for (size_t i = 0; i < m->count; i++)
		if (!m->puts[i].out && same(m->puts[i].column, c) &&
		    m->puts[i].timestamp == timestamp)
			return true;
	return false;
}

static int
check_absent(const struct model *m, const struct model_op *op)
{
	if (op->type != OP_PUT)
		return 0;
	bool there = op->timestamp == TS_LATEST
			 ? model_version(m, op->column, 0) != NULL
			 : version_at(m, op->column, op->timestamp);
	return there ? -EEXIST : 0;
}

static bool
holds(const struct model *m, const struct model_condition *c)
{
	const struct model_put *p = model_version(m, c->column, 0);
	struct slice value = p ? buf_slice(&p->value) : (struct slice){0};

	if (!p)
		return !c->expected.size && c->compare != CMP_NOT_EQUAL;
	if (!c->expected.size)
		return !value.size == (c->compare != CMP_NOT_EQUAL);
	size_t common =
	    value.size < c->expected.size ? value.size : c->expected.size;
	int order = common ? memcmp(c->expected.data, value.data, common) : 0;
	if (!order)
		order = (c->expected.size > value.size) -
			(c->expected.size < value.size);
	return (c->compare == CMP_LESS && order < 0) ||
	       (c->compare == CMP_LESS_OR_EQUAL && order <= 0) ||
	       (c->compare == CMP_EQUAL && order == 0) ||
	       (c->compare == CMP_NOT_EQUAL && order != 0) ||
	       (c->compare == CMP_GREATER_OR_EQUAL && order >= 0) ||
	       (c->compare == CMP_GREATER && order > 0);
}

static size_t
newest_deletes_before(const struct model_op *ops, size_t i)
{
	size_t count = 0;

	for (size_t j = 0; j < i; j++)
		count += ops[j].type == OP_DELETE_VERSION &&
			 ops[j].timestamp == TS_LATEST &&
			 same(ops[j].column, ops[i].column);
	return count;
}

static void
add(struct model *m, struct model_put *put)
{
	for (size_t i = 0; i < m->count; i++)
		if (same(m->puts[i].column, put->column) &&
		    m->puts[i].timestamp == put->timestamp)
			m->puts[i].out = true;
	if (m->count == m->room) {
		m->room = m->room * 2 + 64;
		m->puts = realloc(m->puts, m->room * sizeof(*m->puts));
		ck_assert_ptr_nonnull(m->puts);
	}
	m->puts[m->count++] = *put;
	*put = (struct model_put){0};
}

/* A call under way: beside each op, what it stores or where it deletes. */
struct call {
	struct model_op *ops;
	size_t count;
	struct model_put *puts;
	int64_t *deletes;
	bool *hit;
	bool *stores;
};

static int
prepare(struct model *m, struct call *c, unsigned flags)
{
	int r = 0;

	for (size_t i = 0; i < c->count; i++) {
		struct model_op *op = &c->ops[i];
		int failed = 0;
		op->stored = 0;
		if (is_delete(op)) {
			c->deletes[i] = delete_stamp(
			    m, op, newest_deletes_before(c->ops, i));
			continue;
		}
		if (flags & MUTATE_ABSENT)
			failed = check_absent(m, op);
		int made_r = made(m, op, &c->puts[i]);
		c->stores[i] = true;
		if (!failed)
			failed = made_r;
		if (!r)
			r = failed;
	}
	return r;
}

static void
delete_stored(struct model *m, struct call *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct model_op *op = &c->ops[i];
		if (!is_delete(op))
			continue;
		for (size_t j = 0; j < m->count; j++) {
			struct model_put *p = &m->puts[j];
			if (p->out || !names(op, p->column) ||
			    !reaches(op, c->deletes[i], p->timestamp))
				continue;
			c->hit[i] = true;
		}
	}
	for (size_t i = 0; i < c->count; i++)
		for (size_t j = 0; is_delete(&c->ops[i]) && j < m->count; j++)
			if (names(&c->ops[i], m->puts[j].column) &&
			    reaches(&c->ops[i], c->deletes[i],
				m->puts[j].timestamp))
				m->puts[j].out = true;
}

static bool
covered(const struct call *c, size_t i)
{
	for (size_t j = 0; j < c->count; j++)
		if (is_delete(&c->ops[j]) &&
		    names(&c->ops[j], c->puts[i].column) &&
		    reaches(&c->ops[j], c->deletes[j], c->puts[i].timestamp))
			return true;
	return false;
}

static void
store(struct model *m, struct call *c)
{
	for (size_t i = 0; i < c->count; i++) {
		if (!c->stores[i] || covered(c, i))
			continue;
		struct model_put put = c->puts[i];
		c->puts[i].value = (struct buf){0};
		add(m, &put);
		c->ops[i].stored = c->puts[i].timestamp;
	}
	look(m, m->now);
	for (size_t i = 0; i < c->count; i++)
		if (c->ops[i].stored &&
		    !version_at(m, c->puts[i].column, c->puts[i].timestamp))
			c->ops[i].stored = 0;
}

/* Deep copies, so that a refused call leaves nothing behind. */
static struct model *
copy(const struct model *m)
{
	struct model *to = model_new(m->now);

	memcpy(to->rules, m->rules, sizeof(to->rules));
	to->puts = calloc(m->count + 1, sizeof(*to->puts));
	ck_assert_ptr_nonnull(to->puts);
	to->count = m->count;
	to->room = m->count + 1;
	for (size_t i = 0; i < m->count; i++) {
		to->puts[i] = m->puts[i];
		to->puts[i].value = (struct buf){0};
		ck_assert_int_eq(
		    buf_set(&to->puts[i].value, buf_slice(&m->puts[i].value)),
		    0);
	}
	return to;
}

static int
apply(struct model *m, struct call *c, unsigned flags)
{
	int r = prepare(m, c, flags);
	if (r)
		return r;
	delete_stored(m, c);
	for (size_t i = 0; i < c->count; i++)
		if ((flags & MUTATE_PRESENT) && is_delete(&c->ops[i]) &&
		    !c->hit[i])
			return -ENOENT;
	store(m, c);
	for (size_t i = 0; i < c->count; i++)
		if ((flags & MUTATE_REFUSE_PUSHED) && c->stores[i] &&
		    !covered(c, i) && !c->ops[i].stored)
			return -EDQUOT;
	return 0;
}

int
model_mutate(struct model *m, struct model_op *ops, size_t count,
    unsigned flags, const struct model_condition *condition, bool *applied)
{
	struct call c = {ops, count, NULL, NULL, NULL, NULL};

	*applied = !condition || holds(m, condition);
	if (!*applied)
		return 0;
	struct model *before = copy(m);
	c.puts = calloc(count, sizeof(*c.puts));
	c.deletes = calloc(count, sizeof(*c.deletes));
	c.hit = calloc(count, sizeof(*c.hit));
	c.stores = calloc(count, sizeof(*c.stores));
	int r = apply(m, &c, flags);
	for (size_t i = 0; i < count; i++)
		buf_release(&c.puts[i].value);
	free(c.puts);
	free(c.deletes);
	free(c.hit);
	free(c.stores);
	if (r) {
		*applied = false;
		struct model refused = *m;
		*m = *before;
		*before = refused;
	}
	model_free(before);
	return r;
}
