/* put, delete, deleteall, incr, append: the commands that change a row. */
#include "change.h"
#include "parse.h"
#include "print.h"
#include "progress.h"
#include "signals.h"

#include "../kv/kv_data.h"
#include "../kv/why.h"

#include <errno.h>

static int
apply(struct arguments *a, struct change *c)
{
	struct store s;
	int status = store_open(&s, a->operands[0], STORE_WRITE);

	if (status)
		return status;
	return store_close(&s, change_apply(&s, a->operands[1], c));
}

/* Changes one row, and prints what comes of it in that form unless NULL. */
static int
change_row(struct arguments *a, change_reader reader, const enum form *result)
{
	struct change c = {0};
	int status = change_place(a, &c);
	int r = 0;

	if (status == STATUS_DONE)
		status = reader(a, 3, &c);
	if (status == STATUS_DONE)
		status = apply(a, &c);
	if (status == STATUS_DONE && result)
		r = print_value(*result, buf_slice(&c.result));
	change_release(&c);
	return r < 0 ? failed(a->operands[1], r) : status;
}

static int
run_put(struct arguments *a)
{
	return change_row(a, change_put, NULL);
}

static int
run_delete(struct arguments *a)
{
	return change_row(a, change_delete, NULL);
}

static int
run_incr(struct arguments *a)
{
	static const enum form number = FORM_BE64;

	return change_row(a, change_incr, &number);
}

static int
run_append(struct arguments *a)
{
	enum form form;
	int status = parse_form(a, &form);

	return status ? status : change_row(a, change_append, &form);
}

/* Applies c to each row that the scan finds; a row is deleted when the scan
 * has left it. */
static int
apply_to_rows(
    struct store *s, const char *subject, struct scan *scan, struct change *c)
{
	struct buf row = {0};
	struct cell cell;
	uint64_t rows = 0;
	int status = STATUS_DONE;
	int r;

	while (status == STATUS_DONE && !signals_came()) {
		r = kv_scan_next(s->kv, scan, &cell);
		if (r == 0 && slice_equal(cell.row, buf_slice(&row)))
			continue;
		c->mutation.row = buf_slice(&row);
		if (r >= 0 && row.size) {
			status = change_apply(s, subject, c);
			progress_step(++rows, 0);
		}
		if (r == 0)
			r = buf_set(&row, cell.row);
		if (r < 0 && status == STATUS_DONE)
			status = failed(subject, r);
		if (r == 1)
			break;
	}
	buf_release(&row);
	return status;
}

static int
delete_prefix(struct arguments *a, struct slice prefix, struct change *c)
{
	struct scan_spec spec = {
	    .table = c->mutation.table, .versions = 1, .keys_only = true};
	struct buf start = {0}, stop = {0};
	struct scan *scan;
	struct store s;
	int status = store_open(&s, a->operands[0], STORE_WRITE);
	int r;

	if (status)
		return status;
	r = kv_prefix_range(prefix, &start, &stop);
	spec.start = buf_slice(&start);
	spec.stop = buf_slice(&stop);
	if (r == 0)
		r = kv_scan_open(s.kv, &spec, &scan);
	if (r < 0) {
		status = failed(a->operands[1], r);
	} else {
		progress_begin(a, "deleteall: rows");
		status = apply_to_rows(&s, a->operands[1], scan, c);
		progress_end();
		kv_scan_close(s.kv, scan);
	}
	buf_release(&start);
	buf_release(&stop);
	return store_close(&s, status);
}

static int
read_and_delete_prefix(struct arguments *a, struct change *c)
{
	struct slice prefix;
	int status = parse_bound(a, OPTION_PREFIX, &prefix);

	if (status == STATUS_DONE && prefix.size == 0)
		status = usage(a, "an empty prefix means every row; truncate "
				  "does that");
	if (status == STATUS_DONE)
		status = parse_table(a, a->operands[1], &c->mutation.table);
	if (status == STATUS_DONE)
		status = change_deleteall(a, 2, c);
	if (status == STATUS_DONE)
		status = delete_prefix(a, prefix, c);
	return status;
}

static int
run_deleteall(struct arguments *a)
{
	struct change c = {0};
	int status;

	if (!option(a, OPTION_PREFIX))
		return a->count < 3 ? usage(a, "a ROW or --prefix P is wanted")
				    : change_row(a, change_deleteall, NULL);
	status = read_and_delete_prefix(a, &c);
	change_release(&c);
	return status;
}

const struct command command_put = {
    .name = "put",
    .synopsis = "STORE TABLE ROW FAMILY:QUALIFIER VALUE "
		"[FAMILY:QUALIFIER VALUE]... [OPTION]...",
    .summary = "Store cells of a row, all of them or none",
    .note = "VALUE is in the text form: \\xHH stands for a byte, \\x5C for a "
	    "backslash.\n",
    .options = (const enum option_id[]){OPTION_TS, OPTION_TTL, OPTION_AS,
	OPTION_RAW_VALUE, OPTION_END},
    .least = 5,
    .most = MANY,
    .run = run_put,
};

const struct command command_delete = {
    .name = "delete",
    .synopsis = "STORE TABLE ROW FAMILY:QUALIFIER --ts TS|--newest",
    .summary = "Delete one version of a cell",
    .options = (const enum option_id[]){OPTION_TS, OPTION_NEWEST, OPTION_END},
    .least = 4,
    .most = 4,
    .run = run_delete,
};

const struct command command_deleteall = {
    .name = "deleteall",
    .synopsis = "STORE TABLE ROW|--prefix P [COLUMN] [OPTION]...",
    .summary = "Delete every version of a column, a family or whole rows",
    .options = (const enum option_id[]){OPTION_TS, OPTION_PREFIX,
	OPTION_PROGRESS, OPTION_NO_PROGRESS, OPTION_END},
    .least = 2,
    .most = 4,
    .run = run_deleteall,
};

const struct command command_incr = {
    .name = "incr",
    .synopsis = "STORE TABLE ROW FAMILY:QUALIFIER [N]",
    .summary = "Add N (1) to a counter and print its new value",
    .options = (const enum option_id[]){OPTION_END},
    .least = 4,
    .most = 5,
    .run = run_incr,
};

const struct command command_append = {
    .name = "append",
    .synopsis = "STORE TABLE ROW FAMILY:QUALIFIER VALUE [OPTION]...",
    .summary = "Append to a cell and print its new value",
    .options =
	(const enum option_id[]){OPTION_AS, OPTION_RAW_VALUE, OPTION_END},
    .least = 5,
    .most = 5,
    .run = run_append,
};
