#include "filter_parser.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "why.h"

#define SHOWN 20 /* bytes of the text in a message */

/* --- what is wrong ------------------------------------------------------ */

int
refuse_at(const struct parser *p, size_t at, const char *expected)
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

int
refuse(const struct parser *p, const char *expected)
{
	return refuse_at(p, p->at, expected);
}

static int
refuse_form(
    const struct parser *p, const char *expected, const struct kind *kind)
{
	char text[200];

	snprintf(text, sizeof(text), "%s, as in %s", expected, kind->form);
	return refuse(p, text);
}

/* --- characters --------------------------------------------------------- */

int
peek(const struct parser *p)
{
	return p->at < p->text.size ? p->text.data[p->at] : -1;
}

static bool
is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void
skip_blanks(struct parser *p)
{
	while (is_blank(peek(p)))
		p->at++;
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

int
parse_arguments(struct parser *p, struct node *n)
{
	size_t start = p->at;
	int r = read_arguments(p, n);

	return r == 0 && n->kind->sorts ? sort_arguments(p, n, start) : r;
}
