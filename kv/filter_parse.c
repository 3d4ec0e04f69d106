#include "filter_parser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEEP 100 /* parentheses, SKIP and WHILE within each other */

/* --- words -------------------------------------------------------------- */

static bool
is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (c >= '0' && c <= '9');
}

/* The word that begins here, which may be empty. */
static struct slice
word(const struct parser *p)
{
	struct slice rest = slice_skip(p->text, p->at);
	size_t size = 0;

	while (size < rest.size && is_letter(rest.data[size]))
		size++;
	return slice_head(rest, size);
}

static bool
take_word(struct parser *p, const char *expected)
{
	bool is = slice_equal(word(p), slice_text(expected));

	if (is)
		p->at += strlen(expected);
	return is;
}

/* --- filters ------------------------------------------------------------ */

static struct node *
node_new(struct parser *p, const struct kind *kind)
{
	struct node *n = calloc(1, sizeof(*n));

	if (n) {
		n->kind = kind;
		n->index = p->filter->count++;
	}
	return n;
}

static void
node_free(struct node *n)
{
	while (n) {
		struct node *next = n->next;
		node_free(n->child);
		for (size_t i = 0; i < n->count; i++)
			comparator_release(&n->args[i].comparator);
		free(n->args);
		free(n);
		n = next;
	}
}

static int parse_or(struct parser *p, struct node **out);

static int
parse_simple(struct parser *p, struct node **out)
{
	const struct kind *kind = kind_named(word(p));

	if (!kind)
		return refuse(p, word(p).size
				     ? "a filter; no filter has this name"
				     : "a filter");
	p->at += strlen(kind->name);
	*out = node_new(p, kind);
	if (!*out)
		return -ENOMEM;
	return parse_arguments(p, *out);
}

static int
parse_parenthesis(struct parser *p, struct node **out)
{
	size_t start = p->at++;
	int r = parse_or(p, out);

	if (r)
		return r;
	if (peek(p) < 0)
		return refuse_at(p, start, "a ) for this parenthesis");
	if (peek(p) != ')')
		return refuse(p, "AND, OR or )");
	p->at++;
	return 0;
}

static int parse_unary(struct parser *p, struct node **out);

static int
parse_wrapped(struct parser *p, const struct kind *kind, struct node **out)
{
	*out = node_new(p, kind);
	return *out ? parse_unary(p, &(*out)->child) : -ENOMEM;
}

static int
parse_unary(struct parser *p, struct node **out)
{
	int r;

	skip_blanks(p);
	if (++p->depth > DEEP)
		return refuse(p, "at most 100 levels");
	if (take_word(p, "SKIP"))
		r = parse_wrapped(p, &kind_skip, out);
	else if (take_word(p, "WHILE"))
		r = parse_wrapped(p, &kind_while, out);
	else if (peek(p) == '(')
		r = parse_parenthesis(p, out);
	else
		r = parse_simple(p, out);
	p->depth--;
	skip_blanks(p);
	return r;
}

/* What stands between keywords, as one list if there are several. */
static int
parse_list(struct parser *p, const struct kind *kind,
    int (*parse)(struct parser *, struct node **), struct node **out)
{
	int r = parse(p, out);
	struct node *first = *out, **end = first ? &first->next : NULL;

	while (r == 0 && take_word(p, kind->name)) {
		if (*out == first) {
			*out = node_new(p, kind);
			if (!*out) {
				*out = first;
				return -ENOMEM;
			}
			(*out)->child = first;
		}
		r = parse(p, end);
		if (*end)
			end = &(*end)->next;
	}
	return r;
}

static int
parse_and(struct parser *p, struct node **out)
{
	return parse_list(p, &kind_and, parse_unary, out);
}

static int
parse_or(struct parser *p, struct node **out)
{
	return parse_list(p, &kind_or, parse_and, out);
}

/* Fills in what follows from what. */
static void
finish(struct filter *f, struct node *n, bool listed)
{
	bool list = n->kind == &kind_and || n->kind == &kind_or;

	n->listed = listed;
	n->judges = n->kind->judges;
	for (struct node *c = n->child; c; c = c->next) {
		finish(f, c, listed && list);
		n->judges |= c->judges;
	}
	f->reads_values |= n->kind->reads_values;
	f->changes_values |= n->kind->change && !n->child;
	f->stamps |= n->kind->removes == REMOVES_STAMPS;
}

int
filter_parse(struct slice text, struct filter **out)
{
	struct filter *f = calloc(1, sizeof(*f));
	struct parser p = {.text = text, .filter = f};

	*out = NULL;
	if (f)
		f->bytes = p.to = malloc(text.size + 1);
	if (!f || !f->bytes) {
		filter_free(f);
		return -ENOMEM;
	}
	int r = parse_or(&p, &f->root);
	if (r == 0 && p.at < text.size)
		r = refuse(&p, "AND, OR or the end");
	if (r) {
		filter_free(f);
		return r;
	}
	finish(f, f->root, true);
	*out = f;
	return 0;
}

void
filter_free(struct filter *f)
{
	if (!f)
		return;
	node_free(f->root);
	free(f->bytes);
	free(f);
}

bool
filter_reads_values(const struct filter *f)
{
	return f->reads_values;
}

bool
filter_judges_rows(const struct filter *f)
{
	return f->root->judges;
}
