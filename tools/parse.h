/* parse: operands and options as what they stand for.
 *
 * Each function says on stderr what is malformed and returns a status. What
 * is handed out stays valid until arguments_release().
 */
#ifndef CELLFS_TOOLS_PARSE_H
#define CELLFS_TOOLS_PARSE_H

#include "cmd.h"
#include "../kv/form.h"

/* A table's name. */
int parse_table(struct arguments *a, const char *text, struct slice *out);

/* A row key, 1 to ROW_MAX bytes. */
int parse_row(struct arguments *a, const char *text, struct slice *out);

/* The bound of a range, 0 to ROW_MAX bytes; empty where the option is not
 * given. */
int parse_bound(struct arguments *a, enum option_id id, struct slice *out);

int parse_family(struct arguments *a, const char *text, struct slice *out);

/* FAMILY or FAMILY:QUALIFIER; parse_cell() wants the latter. */
int parse_column(struct arguments *a, const char *text, struct column *out);

int parse_cell(struct arguments *a, const char *text, struct column *out);

/* The form of values that --as and --raw-value ask for. */
int parse_form(const struct arguments *a, enum form *out);

/* A value, in memory. */
int parse_value(struct arguments *a, const char *text, struct slice *out);

/* The value of a PUT or APPEND; with --raw-value, - is standard input, which
 * is not held in memory. */
int parse_input(struct arguments *a, const char *text, struct op *op);

/* These leave *out alone where the option is not given. */
int parse_number(const struct arguments *a, enum option_id id, uint64_t least,
    uint64_t most, uint64_t *out);

int parse_time(const struct arguments *a, enum option_id id, int64_t *out);

int parse_timestamp(const struct arguments *a, int64_t *out);

#endif
