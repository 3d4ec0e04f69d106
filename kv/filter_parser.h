/* filter_parser: a filter's text while it is read: filter_parse.c reads lists
 * and names, filter_arguments.c what stands in their parentheses (private to
 * these two).
 */
#ifndef CELLFS_KV_FILTER_PARSER_H
#define CELLFS_KV_FILTER_PARSER_H

#include "filter_tree.h"

struct parser {
	struct slice text;
	size_t at;
	uint8_t *to; /* where the next argument's bytes go */
	unsigned depth;
	struct filter *filter;
};

/* -EINVAL with "at byte 12, before "x)": expected ..."; there, or where the
 * parser stands. */
int
refuse_at(const struct parser *p, size_t at, const char *expected);
int
refuse(const struct parser *p, const char *expected);

/* The byte where the parser stands, -1 at the end. */
int
peek(const struct parser *p);

void
skip_blanks(struct parser *p);

/* Reads from the parenthesis to its other one into n, as n->kind wants. */
int
parse_arguments(struct parser *p, struct node *n);

#endif
