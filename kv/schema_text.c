#include "schema.h"

#include "text.h"
#include "why.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ATTRIBUTES_MAX 64 /* in one go, far more than there are */

/* The attribute names met so far in one go. */
struct seen {
	struct slice names[ATTRIBUTES_MAX];
	size_t count;
};

static bool
blank(uint8_t byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

/* Takes the next word off the front of *line; empty at the end and where a
 * comment begins. */
static struct slice
take_word(struct slice *line)
{
	size_t size = 0;

	while (line->size && blank(line->data[0]))
		*line = slice_skip(*line, 1);
	if (line->size && line->data[0] == '#')
		*line = slice_skip(*line, line->size);
	while (size < line->size && !blank(line->data[size]))
		size++;
	struct slice word = slice_head(*line, size);
	*line = slice_skip(*line, size);
	return word;
}

/* The size of what stands before the first such byte of s, or of all. */
static size_t
size_before(struct slice s, uint8_t byte)
{
	const uint8_t *at = s.size ? memchr(s.data, byte, s.size) : NULL;

	return at ? (size_t)(at - s.data) : s.size;
}

static bool
quoted(struct slice value)
{
	return value.size && (value.data[0] == '\'' || value.data[0] == '"');
}

/* Takes the next NAME=VALUE off the front of *line: blanks in a quoted value
 * do not end it. */
static struct slice
take_attribute(struct slice *line)
{
	struct slice word = take_word(line);
	size_t sign = size_before(word, '=');
	struct slice value = slice_skip(word, sign + (sign < word.size));

	if (!quoted(value))
		return word;
	struct slice rest = slice_of(value.data, value.size + line->size);
	size_t size = 1 + size_before(slice_skip(rest, 1), rest.data[0]);

	while (size < rest.size && !blank(rest.data[size]))
		size++;
	*line = slice_skip(rest, size);
	return slice_of(word.data, word.size - value.size + size);
}

/* Leaves what stands between the quotes of a value that has them. */
static int
unquote(struct slice *value)
{
	if (!quoted(*value))
		return 0;
	struct slice inside = slice_skip(*value, 1);
	size_t size = size_before(inside, value->data[0]);

	if (size + 1 != inside.size)
		return text_refuse(
		    *value, "a value that begins with a quote ends with it");
	*value = slice_head(inside, size);
	return 0;
}

static bool
is(struct slice word, const char *text)
{
	return slice_equal(word, slice_text(text));
}

static int
see(struct seen *seen, struct slice name)
{
	for (size_t i = 0; i < seen->count; i++)
		if (seen->names[i].size == name.size &&
		    !strncasecmp((const char *)seen->names[i].data,
			(const char *)name.data, name.size))
			return text_refuse(name, "given twice, once is right");
	if (seen->count == ATTRIBUTES_MAX)
		return text_refuse(name, "too many attributes");
	seen->names[seen->count++] = name;
	return 0;
}

/* Applies one ATTR=VALUE. */
static int
apply_attribute(struct family *f, struct slice text, struct seen *seen)
{
	size_t size = size_before(text, '=');
	struct slice name = slice_head(text, size);

	if (size == text.size)
		return text_refuse(text,
		    "attributes are given as name=value, and a value with "
		    "blanks in quotes, as ttl='1 DAY 2 HOURS'");
	struct slice value = slice_skip(text, size + 1);
	int r = see(seen, name);
	if (r == 0)
		r = unquote(&value);
	return r ? r : family_set(f, name, value);
}

static int
declare_text(struct schema *s, struct slice text, struct family **out)
{
	struct buf name = {0};

	*out = NULL;
	int r = text_parse(text, &name);
	if (r == 0)
		r = schema_declare(s, buf_slice(&name), out);
	buf_release(&name);
	return r;
}

int
schema_parse_family(struct schema *s, struct slice text)
{
	struct seen seen = {0};
	struct family *f;
	size_t size = size_before(text, ':');
	bool attributes = size < text.size;

	int r = declare_text(s, slice_head(text, size), &f);
	text = slice_skip(text, attributes ? size + 1 : size);
	while (r == 0 && attributes) {
		size = size_before(text, ',');
		attributes = size < text.size;
		r = apply_attribute(f, slice_head(text, size), &seen);
		text = slice_skip(text, attributes ? size + 1 : size);
	}
	return r;
}

static int
parse_table_line(struct schema *s, struct slice line)
{
	struct slice word = take_word(&line);

	if (is(word, "open=0") || is(word, "open=1"))
		s->open = is(word, "open=1");
	else
		return text_refuse(word, "a table line says open=0 or open=1");
	word = take_word(&line);
	return word.size ? text_refuse(word, "one too many behind open=") : 0;
}

static int
parse_family_line(struct schema *s, struct slice line)
{
	struct seen seen = {0};
	struct family *f;
	struct slice word = take_word(&line);

	if (!word.size || size_before(word, '=') < word.size)
		return text_refuse(word, "behind 'family' stands the family's "
					 "name (a = in it is written \\x3D)");
	int r = declare_text(s, word, &f);
	while (r == 0 && (word = take_attribute(&line)).size)
		r = apply_attribute(f, word, &seen);
	return r;
}

static int
parse_line(struct schema *s, struct slice line)
{
	struct slice word = take_word(&line);

	if (!word.size)
		return 0;
	if (is(word, "table"))
		return parse_table_line(s, line);
	if (is(word, "family"))
		return parse_family_line(s, line);
	return text_refuse(word, "a line begins with table, family or #");
}

int
schema_parse(struct schema *s, struct slice text)
{
	int r = 0;

	for (unsigned number = 1; r == 0 && text.size; number++) {
		size_t size = size_before(text, '\n');

		r = parse_line(s, slice_head(text, size));
		text = slice_skip(text, size + (size < text.size));
		if (r == -EINVAL) {
			char reason[512];

			snprintf(reason, sizeof(reason), "%s", why_text(r));
			why(EINVAL, "line %u: %s", number, reason);
		}
	}
	return r;
}

int
schema_parse_lines(struct slice text)
{
	struct schema scratch = {0};

	while (text.size && text.data[text.size - 1] != '\n')
		text.size--;
	int r = schema_parse(&scratch, text);
	schema_release(&scratch);
	return r;
}
