#include "change.h"

#include "parse.h"

#include "../kv/kv_data.h"
#include "../kv/text.h"
#include "../kv/why.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static int
make_ops(struct arguments *a, struct change *c, size_t count)
{
	c->mutation.ops = calloc(count, sizeof(*c->mutation.ops));
	if (!c->mutation.ops)
		return failed(a->command->name, -ENOMEM);
	c->mutation.count = count;
	for (size_t i = 0; i < count; i++)
		c->mutation.ops[i].timestamp = TS_LATEST;
	return STATUS_DONE;
}

static int
read_cell(struct arguments *a, size_t operand, struct op *op)
{
	struct column column;
	int status = parse_cell(a, a->operands[operand], &column);

	op->family = column.family;
	op->qualifier = column.qualifier;
	return status;
}

/* The one op of a change that takes least to most operands. */
static int
single(struct arguments *a, struct change *c, size_t given, size_t least,
    size_t most)
{
	if (given < least)
		return usage(a, "too few operands");
	if (given > most)
		return usage(
		    a, "one operand too many: %s", a->operands[a->count - 1]);
	return make_ops(a, c, 1);
}

static int
read_put(struct arguments *a, size_t operand, struct op *op)
{
	uint64_t ttl = 0;
	int status = read_cell(a, operand, op);

	op->type = OP_PUT;
	if (status == STATUS_DONE)
		status = parse_input(a, a->operands[operand + 1], op);
	if (status == STATUS_DONE)
		status = parse_timestamp(a, &op->timestamp);
	if (status == STATUS_DONE)
		status = parse_number(a, OPTION_TTL, 1, INT64_MAX, &ttl);
	op->ttl = ttl;
	return status;
}

int
change_put(struct arguments *a, size_t first, struct change *c)
{
	size_t given = a->count - first;
	int status;

	if (given < 2 || given % 2)
		return usage(a, "columns and values come in pairs, "
				"FAMILY:QUALIFIER VALUE");
	/* What a family keeps no longer would be stored in name only. */
	c->mutation.flags = MUTATE_REFUSE_PUSHED;
	status = make_ops(a, c, given / 2);
	for (size_t i = 0; i < given / 2 && status == STATUS_DONE; i++)
		status = read_put(a, first + 2 * i, &c->mutation.ops[i]);
	return status;
}

int
change_delete(struct arguments *a, size_t first, struct change *c)
{
	bool newest = option(a, OPTION_NEWEST) != NULL;
	int status;

	if (!option(a, OPTION_TS) && !newest)
		return usage(a, "--ts TS or --newest says which version; "
				"deleteall deletes all of them");
	if (option(a, OPTION_TS) && newest)
		return usage(a, "--ts and --newest exclude each other");
	status = single(a, c, a->count - first, 1, 1);
	if (status)
		return status;
	c->mutation.ops->type = OP_DELETE_VERSION;
	status = read_cell(a, first, c->mutation.ops);
	if (status)
		return status;
	return parse_timestamp(a, &c->mutation.ops->timestamp);
}

int
change_deleteall(struct arguments *a, size_t first, struct change *c)
{
	struct column column;
	struct op *op;
	int status;

	c->timestamp = TS_LATEST;
	c->whole_row = a->count == first;
	status = parse_timestamp(a, &c->timestamp);
	if (status || c->whole_row)
		return status;
	status = single(a, c, a->count - first, 1, 1);
	if (status == STATUS_DONE)
		status = parse_column(a, a->operands[first], &column);
	if (status)
		return status;
	op = c->mutation.ops;
	op->type = column.whole_family ? OP_DELETE_FAMILY : OP_DELETE_COLUMN;
	op->family = column.family;
	op->qualifier = column.qualifier;
	op->timestamp = c->timestamp;
	return STATUS_DONE;
}

static int
read_delta(const char *text, int64_t *out)
{
	struct buf bytes = {0};
	int r = form_read(FORM_BE64, slice_text(text), &bytes);

	if (r == 0)
		r = buf_status(&bytes);
	if (r == 0)
		*out = (int64_t)be64(bytes.data);
	buf_release(&bytes);
	return r < 0 ? malformed(text, r) : STATUS_DONE;
}

int
change_incr(struct arguments *a, size_t first, struct change *c)
{
	struct op *op;
	int status = single(a, c, a->count - first, 1, 2);

	if (status)
		return status;
	op = c->mutation.ops;
	op->type = OP_INCREMENT;
	op->delta = 1;
	op->result = &c->result;
	status = read_cell(a, first, op);
	if (status == STATUS_DONE && a->count > first + 1)
		status = read_delta(a->operands[first + 1], &op->delta);
	return status;
}

int
change_append(struct arguments *a, size_t first, struct change *c)
{
	struct op *op;
	int status = single(a, c, a->count - first, 2, 2);

	if (status)
		return status;
	op = c->mutation.ops;
	op->type = OP_APPEND;
	op->result = &c->result;
	status = read_cell(a, first, op);
	if (status == STATUS_DONE)
		status = parse_input(a, a->operands[first + 1], op);
	return status;
}

int
change_place(struct arguments *a, struct change *c)
{
	int status = parse_table(a, a->operands[1], &c->mutation.table);

	if (status == STATUS_DONE)
		status = parse_row(a, a->operands[2], &c->mutation.row);
	return status;
}

/* The ops that delete each family the table has now. */
static int
spread(struct store *s, struct change *c)
{
	struct mutation *m = &c->mutation;
	int r;

	if (!c->whole_row || c->schema.count)
		return 0;
	r = kv_table_schema(s->kv, m->table, &c->schema);
	if (r < 0 || c->schema.count == 0)
		return r;
	m->ops = calloc(c->schema.count, sizeof(*m->ops));
	if (!m->ops)
		return -ENOMEM;
	m->count = c->schema.count;
	for (size_t i = 0; i < m->count; i++)
		m->ops[i] = (struct op){.type = OP_DELETE_FAMILY,
		    .family = buf_slice(&c->schema.families[i].name),
		    .timestamp = c->timestamp};
	return 0;
}

int
change_apply(struct store *s, const char *subject, struct change *c)
{
	int r = spread(s, c);

	if (r == 0 && (c->mutation.count || c->mutation.condition))
		r = kv_mutate(s->kv, &c->mutation);
	return r < 0 ? failed(subject, r) : STATUS_DONE;
}

void
change_release(struct change *c)
{
	free(c->mutation.ops);
	buf_release(&c->result);
	schema_release(&c->schema);
}
