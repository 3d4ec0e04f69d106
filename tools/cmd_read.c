/* get, scan, count: the commands that read cells. */
#include "cmd.h"
#include "parse.h"
#include "store.h"

#include "../kv/filter.h"
#include "../kv/kv_data.h"
#include "../kv/printer.h"
#include "../kv/why.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a read asks for, and what its slices stand in. */
struct reading {
	const char *table; /* as it was typed */
	struct scan_spec spec;
	struct column *columns;
	struct filter *filter;
	struct buf start, stop;
};

static void
reading_release(struct reading *r)
{
	free(r->columns);
	filter_free(r->filter);
	buf_release(&r->start);
	buf_release(&r->stop);
}

static int
read_versions(const struct arguments *a, struct scan_spec *spec)
{
	const char *text = option(a, OPTION_VERSIONS);
	uint64_t versions = 1;
	int status = STATUS_DONE;

	if (text && strcmp(text, "all") == 0)
		versions = 0;
	else
		status =
		    parse_number(a, OPTION_VERSIONS, 1, INT32_MAX, &versions);
	spec->versions = versions;
	return status;
}

/* --ts, --since and --until as the half-open range of the engine. */
static int
read_times(const struct arguments *a, struct scan_spec *spec)
{
	int64_t ts = -1, until = -1;
	int status = parse_time(a, OPTION_SINCE, &spec->since);

	if (status == STATUS_DONE)
		status = parse_time(a, OPTION_UNTIL, &until);
	if (status == STATUS_DONE)
		status = parse_timestamp(a, &ts);
	if (status)
		return status;
	if (ts >= 0 && (option(a, OPTION_SINCE) || option(a, OPTION_UNTIL)))
		return usage(a, "--ts excludes --since and --until");
	if (ts >= 0)
		spec->since = until = ts;
	if (until >= 0)
		spec->until = until + 1;
	return STATUS_DONE;
}

static int
add_column(struct arguments *a, struct reading *r, const char *text)
{
	struct column *grown =
	    realloc(r->columns, (r->spec.column_count + 1) * sizeof(*grown));

	if (!grown)
		return failed(a->command->name, -ENOMEM);
	r->columns = grown;
	r->spec.columns = grown;
	return parse_column(a, text, &grown[r->spec.column_count++]);
}

static int
read_columns(struct arguments *a, struct reading *r)
{
	const char *list = option(a, OPTION_COLUMNS);
	int status = STATUS_DONE;

	while (list && status == STATUS_DONE) {
		size_t size = strcspn(list, ",");
		char *one = strndup(list, size);

		if (!one)
			return failed(a->command->name, -ENOMEM);
		status = add_column(a, r, one);
		free(one);
		list = list[size] ? list + size + 1 : NULL;
	}
	return status;
}

static int
read_filter(const struct arguments *a, struct reading *r)
{
	const char *text = option(a, OPTION_FILTER);
	int e = text ? filter_parse(slice_text(text), &r->filter) : 0;

	r->spec.filter = r->filter;
	return e < 0 ? malformed("--filter", e) : STATUS_DONE;
}

/* --prefix, --from and --to together: the rows that all of them allow. */
static int
read_rows(struct arguments *a, struct reading *r)
{
	struct slice prefix, from, to;
	int status = parse_bound(a, OPTION_PREFIX, &prefix);
	int e;

	if (status == STATUS_DONE)
		status = parse_bound(a, OPTION_FROM, &from);
	if (status == STATUS_DONE)
		status = parse_bound(a, OPTION_TO, &to);
	if (status)
		return status;
	e = kv_prefix_range(prefix, &r->start, &r->stop);
	if (e == 0 && slice_compare(from, buf_slice(&r->start)) > 0)
		e = buf_set(&r->start, from);
	if (e == 0 && to.size &&
	    (r->stop.size == 0 || slice_compare(to, buf_slice(&r->stop)) < 0))
		e = buf_set(&r->stop, to);
	return e < 0 ? failed(a->command->name, e) : STATUS_DONE;
}

/* Sets the bounds in the order of the scan: the set of rows is the same in
 * both directions, the lower bound belongs to it, the upper one does not. */
static void
set_bounds(struct reading *r)
{
	struct slice low = buf_slice(&r->start), high = buf_slice(&r->stop);
	struct scan_spec *spec = &r->spec;

	spec->start = spec->reversed ? high : low;
	spec->stop = spec->reversed ? low : high;
	spec->start_exclusive = spec->reversed && high.size;
	spec->stop_inclusive = spec->reversed && low.size;
}

static int
read_scan(struct arguments *a, struct reading *r)
{
	int status = parse_table(a, a->operands[1], &r->spec.table);

	r->spec.reversed = option(a, OPTION_REVERSED) != NULL;
	r->spec.keys_only = option(a, OPTION_KEYS_ONLY) != NULL;
	if (status == STATUS_DONE)
		status = read_rows(a, r);
	if (status == STATUS_DONE)
		status = read_versions(a, &r->spec);
	if (status == STATUS_DONE)
		status = read_times(a, &r->spec);
	if (status == STATUS_DONE)
		status = read_columns(a, r);
	if (status == STATUS_DONE)
		status = read_filter(a, r);
	if (status == STATUS_DONE)
		status =
		    parse_number(a, OPTION_LIMIT, 1, INT64_MAX, &r->spec.limit);
	set_bounds(r);
	return status;
}

static int
cell_failed(const struct cell *cell, int error)
{
	struct buf name = {0};
	char *sentence = strdup(why_text(error));
	int status;

	form_print(FORM_TEXT, cell->row, &name);
	buf_byte(&name, ' ');
	form_print(FORM_TEXT, cell->family, &name);
	buf_byte(&name, ':');
	form_print(FORM_TEXT, cell->qualifier, &name);
	buf_byte(&name, 0);
	status = failed(buf_status(&name) < 0 ? "cell" : (char *)name.data,
	    sentence ? why(-error, "%s", sentence) : error);
	buf_release(&name);
	free(sentence);
	return status;
}

/* Reads the options --as, --raw-value, --json, --keys-only, --null and
 * --batch. */
static int
read_printing(const struct arguments *a, struct printing *how)
{
	*how = (struct printing){.json = option(a, OPTION_JSON) != NULL,
	    .keys_only = option(a, OPTION_KEYS_ONLY) != NULL,
	    .end = option(a, OPTION_NULL) ? 0 : '\n'};
	int status = parse_form(a, &how->form);

	if (status)
		return status;
	if (how->json && how->form == FORM_BYTES)
		return usage(a, "--json holds text, not --raw-value");
	return parse_number(a, OPTION_BATCH, 1, INT32_MAX, &how->batch);
}

/* Writes text out and empties it; main() says why where it could not. */
static int
put_out(struct buf *text)
{
	size_t size = text->size;
	size_t put = size ? fwrite(text->data, 1, size, stdout) : 0;

	buf_clear(text);
	return put == size ? 0 : -EIO;
}

/* Prints all that a scan gives; STATUS_NOT_SO if that is nothing. */
static int
print_scan(struct printer *p, struct store *s, const struct reading *reading)
{
	struct buf text = {0};
	struct scan *scan;
	int status = STATUS_NOT_SO;
	int r = kv_scan_open(s->kv, &reading->spec, &scan);

	if (r < 0)
		return failed(reading->table, r);
	while (r == 0) {
		r = printer_step(p, s->kv, scan, &text);
		if (r >= 0 && put_out(&text) < 0)
			r = -EIO;
	}
	if (r == 1)
		status = p->any || p->how.count ? STATUS_DONE : STATUS_NOT_SO;
	else if (ferror(stdout))
		status = STATUS_FAILED;
	else
		status = p->inside ? cell_failed(&p->cell, r)
				   : failed(reading->table, r);
	printer_end(p, &text);
	put_out(&text);
	kv_scan_close(s->kv, scan);
	buf_release(&text);
	return status;
}

static int
read_and_print(const struct arguments *a, const struct reading *r,
    const struct printing *how)
{
	struct printer p;
	struct store s;
	int status = store_open(&s, a->operands[0], STORE_READ);

	if (status)
		return status;
	printer_init(&p, how);
	status = store_close(&s, print_scan(&p, &s, r));
	printer_release(&p);
	return status;
}

static int
print_cells(const struct arguments *a, const struct reading *r)
{
	struct printing how;
	int status = read_printing(a, &how);

	return status ? status : read_and_print(a, r, &how);
}

static int
run_get(struct arguments *a)
{
	struct reading r = {.table = a->operands[1]};
	int status = parse_table(a, a->operands[1], &r.spec.table);

	if (status == STATUS_DONE)
		status = parse_row(a, a->operands[2], &r.spec.start);
	r.spec.stop = r.spec.start;
	r.spec.stop_inclusive = true;
	if (status == STATUS_DONE)
		status = read_versions(a, &r.spec);
	if (status == STATUS_DONE)
		status = read_times(a, &r.spec);
	for (size_t i = 3; i < a->count && status == STATUS_DONE; i++)
		status = add_column(a, &r, a->operands[i]);
	if (status == STATUS_DONE)
		status = read_filter(a, &r);
	if (status == STATUS_DONE)
		status = print_cells(a, &r);
	reading_release(&r);
	return status;
}

static int
run_scan(struct arguments *a)
{
	struct reading r = {.table = a->operands[1]};
	int status = read_scan(a, &r);

	if (status == STATUS_DONE)
		status = print_cells(a, &r);
	reading_release(&r);
	return status == STATUS_NOT_SO ? STATUS_DONE : status;
}

static int
run_count(struct arguments *a)
{
	struct reading r = {.table = a->operands[1]};
	int status = read_scan(a, &r);

	const struct printing how = {.count = true,
	    .json = option(a, OPTION_JSON) != NULL, .end = '\n'};
	r.spec.keys_only = true;
	if (status == STATUS_DONE)
		status = read_and_print(a, &r, &how);
	reading_release(&r);
	return status;
}

const struct command command_get = {
    .name = "get",
    .synopsis = "STORE TABLE ROW [COLUMN]... [OPTION]...",
    .summary = "Print cells of a row",
    .options = (const enum option_id[]){OPTION_VERSIONS, OPTION_TS,
	OPTION_SINCE, OPTION_UNTIL, OPTION_FILTER, OPTION_AS, OPTION_RAW_VALUE,
	OPTION_JSON, OPTION_END},
    .least = 3,
    .most = MANY,
    .run = run_get,
};

const struct command command_scan = {
    .name = "scan",
    .synopsis = "STORE TABLE [OPTION]...",
    .summary = "Print the cells of a table",
    .options = (const enum option_id[]){OPTION_PREFIX, OPTION_FROM, OPTION_TO,
	OPTION_REVERSED, OPTION_LIMIT, OPTION_COLUMNS, OPTION_FILTER,
	OPTION_VERSIONS, OPTION_SINCE, OPTION_UNTIL, OPTION_BATCH,
	OPTION_KEYS_ONLY, OPTION_RAW, OPTION_NULL, OPTION_AS, OPTION_JSON,
	OPTION_END},
    .least = 2,
    .most = 2,
    .run = run_scan,
};

const struct command command_count = {
    .name = "count",
    .synopsis = "STORE TABLE [OPTION]...",
    .summary = "Print the number of rows of a table",
    .options = (const enum option_id[]){OPTION_PREFIX, OPTION_FROM, OPTION_TO,
	OPTION_REVERSED, OPTION_LIMIT, OPTION_COLUMNS, OPTION_FILTER,
	OPTION_VERSIONS, OPTION_SINCE, OPTION_UNTIL, OPTION_BATCH,
	OPTION_KEYS_ONLY, OPTION_RAW, OPTION_JSON, OPTION_END},
    .least = 2,
    .most = 2,
    .run = run_count,
};
