#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter_tree.h"
#include "text.h"
#include "why.h"

#define DEEP 100 /* parentheses, SKIP and WHILE within each other */
#define SHOWN 20 /* bytes of the text in a message */

struct parser {
	struct slice text;
	size_t at;
	uint8_t *to; /* where the next argument's bytes go */
	unsigned depth;
	struct filter *filter;
};

/* --- what is wrong ------------------------------------------------------ */

/* "at byte 12, before "x)": expected ..." */
static int
refuse_at(struct parser *p, size_t at, const char *expected)
{
	struct slice rest = slice_skip(p->text, at);
	struct buf shown = {0};

	if (rest.size > SHOWN)
		rest = slice_head(rest, SHOWN);
	text_print(rest, &shown);
	buf_byte(&shown, 0);
	int r = buf_status(&shown);
	if (r == 0 && rest.size)
		r = why(EINVAL,
		    "at byte %zu, before \"%s%s\": "
		    "expected %s",
		    at + 1, (const char *)shown.data,
		    p->text.size > at + SHOWN ? "..." : "", expected);
	else if (r == 0)
		r = why(EINVAL, "at its end, byte %zu: expected %s", at + 1,
		    expected);
	buf_release(&shown);
	return r;
}

static int
refuse(struct parser *p, const char *expected)
{
	return refuse_at(p, p->at, expected);
}

static int
refuse_form(struct parser *p, const char *expected, const struct kind *kind)
{
	char text[200];

	snprintf(text, sizeof(text), "%s, as in %s", expected, kind->form);
	return refuse(p, text);
}

/* --- characters --------------------------------------------------------- */

static int
peek(const struct parser *p)
{
	return p->at < p->text.size ? p->text.data[p->at] : -1;
}

static bool
is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void
skip_blanks(struct parser *p)
{
	while (is_blank(peek(p)))
		p->at++;
}

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

/* --- arguments ---------------------------------------------------------- */

static int
hex(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Whether \xHH stands at the front of s, and for which byte. */
static bool
is_escape(struct slice s, uint8_t *byte)
{
	if (s.size < 4 || s.data[0] != '\\' || s.data[1] != 'x' ||
	    hex(s.data[2]) < 0 || hex(s.data[3]) < 0)
		return false;
	*byte = (uint8_t)(hex(s.data[2]) << 4 | hex(s.data[3]));
	return true;
}

/* In place: \xHH becomes its byte. */
static struct slice
unescape(uint8_t *data, size_t size)
{
	size_t to = 0;

	for (size_t from = 0; from < size; to++) {
		struct slice rest = slice_of(data + from, size - from);
		uint8_t byte = data[from];
		from += is_escape(rest, &byte) ? 4 : 1;
		data[to] = byte;
	}
	return slice_of(data, to);
}

/* A quoted argument as it stands, '' being one quote. */
static int
read_quoted(struct parser *p, struct slice *out)
{
	size_t start = p->at;
	uint8_t *to = p->to;

	if (peek(p) != '\'')
		return refuse(p, "'");
	for (p->at++;; p->at++) {
		int c = peek(p);
		if (c < 0)
			return refuse_at(p, start, "a ' that ends this text");
		if (c == '\'' && (++p->at, peek(p) != '\''))
			break;
		*to++ = (uint8_t)c;
	}
	*out = slice_of(p->to, (size_t)(to - p->to));
	p->to = to;
	return 0;
}

static int
read_text(struct parser *p, struct argument *a)
{
	uint8_t *data = p->to;
	int r = read_quoted(p, &a->text);

	if (r == 0)
		a->text = unescape(data, a->text.size);
	return r;
}

/* A regular expression keeps its backslashes. */
static int
read_comparator(struct parser *p, struct argument *a, enum compare op)
{
	size_t start = p->at;
	uint8_t *data = p->to;
	struct slice text;

	int r = read_quoted(p, &text);
	if (r)
		return r;
	if (!slice_begins(text, slice_text("regexstring")))
		text = unescape(data, text.size);
	r = comparator_parse(text, op, &a->comparator);
	if (r != -EINVAL)
		return r;
	char expected[400];
	snprintf(expected, sizeof(expected), "%s", why_text(r));
	return refuse_at(p, start, expected);
}

/* Up to a blank, a comma, a quote or the parenthesis. */
static struct slice
read_bare(struct parser *p)
{
	size_t start = p->at;

	for (int c; (c = peek(p)) >= 0 && !is_blank(c) && c != ',' &&
		    c != ')' && c != '\'';)
		p->at++;
	return slice_head(slice_skip(p->text, start), p->at - start);
}

static int
read_number(struct parser *p, struct argument *a, bool is_long)
{
	int64_t most = is_long ? INT64_MAX : INT32_MAX;
	size_t start = p->at;
	struct slice text = read_bare(p);
	bool good = text.size > 0;

	for (size_t i = 0; i < text.size && good; i++) {
		int digit = text.data[i] - '0';
		good = digit >= 0 && digit <= 9 &&
		       a->number <= (most - digit) / 10;
		if (good)
			a->number = a->number * 10 + digit;
	}
	if (good)
		return 0;
	return refuse_at(p, start,
	    is_long ? "a number from 0 to 9223372036854775807"
		    : "a number from 0 to 2147483647");
}

static bool
is_word(struct slice text, const char *lower)
{
	if (text.size != strlen(lower))
		return false;
	for (size_t i = 0; i < text.size; i++)
		if ((text.data[i] | 0x20) != lower[i])
			return false;
	return true;
}

static int
read_flag(struct parser *p, struct argument *a)
{
	size_t start = p->at;
	struct slice text = read_bare(p);

	a->flag = is_word(text, "true");
	if (a->flag || is_word(text, "false"))
		return 0;
	return refuse_at(p, start, "true or false, without quotes");
}

static int
read_operator(struct parser *p, struct argument *a)
{
	static const char *const words[] = {
	    [CMP_LESS] = "<",
	    [CMP_LESS_OR_EQUAL] = "<=",
	    [CMP_EQUAL] = "=",
	    [CMP_NOT_EQUAL] = "!=",
	    [CMP_GREATER_OR_EQUAL] = ">=",
	    [CMP_GREATER] = ">",
	};
	size_t start = p->at;
	struct slice text = read_bare(p);

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (slice_equal(text, slice_text(words[i]))) {
			a->op = (enum compare)i;
			return 0;
		}
	return refuse_at(p, start, "<, <=, =, !=, >= or >, without quotes");
}

static int
read_argument(struct parser *p, struct node *n, char type)
{
	struct argument *grown =
	    realloc(n->args, (n->count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	n->args = grown;
	struct argument *a = &n->args[n->count++];
	*a = (struct argument){0};
	switch (type) {
	case 'q':
		return read_text(p, a);
	case 'b':
		return read_flag(p, a);
	case 'o':
		return read_operator(p, a);
	case 'c':
		return read_comparator(p, a, a[-1].op);
	default:
		return read_number(p, a, type == 'l');
	}
}

/* To the next argument or the parenthesis. Commas are as good as blanks. */
static int
skip_separators(struct parser *p, const struct node *n)
{
	size_t start = p->at;

	while (is_blank(peek(p)) || peek(p) == ',')
		p->at++;
	if (p->at == start && n->count && peek(p) != ')')
		return refuse(p, ", or )");
	return 0;
}

static int
read_arguments(struct parser *p, struct node *n)
{
	const char *type = n->kind->arguments;
	int r;

	skip_blanks(p);
	if (peek(p) != '(')
		return refuse_form(p, "(", n->kind);
	p->at++;
	while ((r = skip_separators(p, n)) == 0 && peek(p) != ')') {
		type += *type == '[';
		if (!*type)
			return refuse_form(p, ")", n->kind);
		r = read_argument(p, n, *type);
		if (r)
			return r;
		if (type[1] != '*')
			type++;
	}
	if (r == 0 && *type && *type != '[' && type[1] != '*')
		r = refuse_form(p, "one more argument", n->kind);
	if (r == 0)
		p->at++;
	return r;
}

static int
argument_order(const void *a, const void *b)
{
	const struct argument *one = a, *two = b;

	if (one->number != two->number)
		return one->number < two->number ? -1 : 1;
	return slice_compare(one->text, two->text);
}

static int
sort_arguments(struct parser *p, struct node *n, size_t start)
{
	if (n->count)
		qsort(n->args, n->count, sizeof(*n->args), argument_order);
	for (size_t i = 1; i < n->count && !n->kind->stamped; i++)
		if (slice_equal(n->args[i - 1].text, n->args[i].text))
			return refuse_at(p, start, "each prefix once");
	return 0;
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
	size_t start = p->at;

	if (!kind)
		return refuse(p, word(p).size
				     ? "a filter; no filter has this name"
				     : "a filter");
	p->at += strlen(kind->name);
	*out = node_new(p, kind);
	if (!*out)
		return -ENOMEM;
	int r = read_arguments(p, *out);
	return r == 0 && kind->sorts ? sort_arguments(p, *out, start) : r;
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
