#include "schema.h"

#include "text.h"
#include "units.h"
#include "why.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define VERSIONS_DEFAULT 3
#define BLOCKSIZE_DEFAULT 32768
#define CELL_SIZE_DEFAULT 10485760
#define CELL_SIZE_MAX ((uint64_t)1 << 40)

enum type {
	TYPE_COUNT,
	TYPE_TTL,
	TYPE_SIZE,
	TYPE_WORD, /* its place among words is the number */
};

/* An attribute of a family: a number of `width` bytes at `offset`. Without
 * width it is not kept: only the first of its words does something yet. */
struct attribute {
	const char *name;
	enum type type;
	size_t offset, width;
	uint64_t min, max, fallback;
	const char *const *words;
};

static const char *const booleans[] = {"false", "true", NULL};
static const char *const compressions[] = {"none", "snappy", "gz", NULL};
static const char *const encodings[] = {"none", "prefix", NULL};
static const char *const blooms[] = {"none", "row", "rowcol", NULL};
static const char *const keeps[] = {"false", "true", "ttl", NULL};

#define FIELD(name)                                                            \
	offsetof(struct family, name), sizeof(((struct family *)NULL)->name)

/* In the order in which they are printed. */
static const struct attribute attributes[] = {
    {"versions", TYPE_COUNT, FIELD(versions), 1, INT32_MAX, VERSIONS_DEFAULT,
	NULL},
    {"min_versions", TYPE_COUNT, FIELD(min_versions), 0, INT32_MAX, 0, NULL},
    {"ttl", TYPE_TTL, FIELD(ttl), 1, TTL_FOREVER, TTL_FOREVER, NULL},
    {"keep_deleted_cells", TYPE_WORD, 0, 0, 0, 0, 0, keeps},
    {"compression", TYPE_WORD, FIELD(compression), 0, COMPRESSION_GZ,
	COMPRESSION_SNAPPY, compressions},
    {"in_memory", TYPE_WORD, FIELD(in_memory), 0, 1, 0, booleans},
    {"bloomfilter", TYPE_WORD, FIELD(bloomfilter), 0, BLOOMFILTER_ROWCOL,
	BLOOMFILTER_ROW, blooms},
    {"blocksize", TYPE_SIZE, FIELD(blocksize), 1024, 16777216,
	BLOCKSIZE_DEFAULT, NULL},
    {"data_block_encoding", TYPE_WORD, FIELD(data_block_encoding), 0,
	ENCODING_PREFIX, ENCODING_NONE, encodings},
    {"max_cell_size", TYPE_SIZE, FIELD(max_cell_size), 1, CELL_SIZE_MAX,
	CELL_SIZE_DEFAULT, NULL},
};

#define ATTRIBUTES (sizeof(attributes) / sizeof(*attributes))

static uint64_t
field_get(const struct family *f, const struct attribute *a)
{
	const void *field = (const char *)f + a->offset;

	switch (a->width) {
	case sizeof(uint64_t):
		return *(const uint64_t *)field;
	case sizeof(uint32_t):
		return *(const uint32_t *)field;
	case sizeof(bool):
		return *(const bool *)field;
	default:
		return 0;
	}
}

static void
field_set(struct family *f, const struct attribute *a, uint64_t number)
{
	void *field = (char *)f + a->offset;

	switch (a->width) {
	case sizeof(uint64_t):
		*(uint64_t *)field = number;
		break;
	case sizeof(uint32_t):
		*(uint32_t *)field = (uint32_t)number;
		break;
	case sizeof(bool):
		*(bool *)field = number != 0;
		break;
	default:
		break;
	}
}

static bool
same_word(struct slice text, const char *word)
{
	return text.size == strlen(word) &&
	       !strncasecmp((const char *)text.data, word, text.size);
}

static int
refuse_word(const struct attribute *a, struct slice value)
{
	struct buf list = {0};

	for (size_t i = 0; a->words[i]; i++)
		buf_printf(&list, "%s%s", i ? ", " : "", a->words[i]);
	int r = text_refuse(value, "%s is one of %.*s", a->name, (int)list.size,
	    list.data ? (const char *)list.data : "");
	buf_release(&list);
	return r;
}

static int
parse_word(const struct attribute *a, struct slice value, uint64_t *out)
{
	size_t i = 0;

	*out = 0;
	while (a->words[i] && !same_word(value, a->words[i]))
		i++;
	if (!a->words[i])
		return refuse_word(a, value);
	if (i > a->max)
		return text_refuse(value,
		    "this %s is not yet supported, "
		    "only %s is",
		    a->name, a->words[0]);
	*out = i;
	return 0;
}

static int
parse_value(const struct attribute *a, struct slice value, uint64_t *out)
{
	static const char *const forms[] = {
	    [TYPE_COUNT] = "a number",
	    [TYPE_TTL] = "forever, seconds or a time as '2 HOURS'",
	    [TYPE_SIZE] = "bytes or a size as '64KB'",
	};
	int r;

	if (a->type == TYPE_WORD)
		return parse_word(a, value, out);
	if (a->type == TYPE_COUNT)
		r = text_number(value, a->max, out);
	else if (a->type == TYPE_TTL)
		r = units_ttl(value, out);
	else
		r = units_size(value, out);
	if (r || *out < a->min || *out > a->max)
		return text_refuse(value,
		    "%s is %s, from %" PRIu64 " to %" PRIu64, a->name,
		    forms[a->type], a->min, a->max);
	return 0;
}

/* The place of the attribute of that name, or ATTRIBUTES. */
static size_t
find_attribute(struct slice name)
{
	size_t i = 0;

	while (i < ATTRIBUTES && !same_word(name, attributes[i].name))
		i++;
	return i;
}

static int
refuse_attribute(struct slice name)
{
	struct buf list = {0};

	for (size_t i = 0; i < ATTRIBUTES; i++)
		buf_printf(&list, "%s%s", i ? ", " : "", attributes[i].name);
	int r = text_refuse(name, "no attribute of a family; there are %.*s",
	    (int)list.size, list.data ? (const char *)list.data : "");
	buf_release(&list);
	return r;
}

int
family_set(struct family *f, struct slice name, struct slice value)
{
	size_t i = find_attribute(name);
	uint64_t number;

	if (i == ATTRIBUTES)
		return refuse_attribute(name);
	int r = parse_value(&attributes[i], value, &number);
	if (r == 0)
		field_set(f, &attributes[i], number);
	return r;
}

void
schema_release(struct schema *s)
{
	for (size_t i = 0; i < s->count; i++)
		buf_release(&s->families[i].name);
	free(s->families);
	buf_release(&s->name);
	*s = (struct schema){0};
}

int
schema_copy(const struct schema *from, struct schema *to)
{
	*to = (struct schema){.open = from->open};
	int r = buf_set(&to->name, buf_slice(&from->name));
	if (r == 0 && from->count) {
		to->families = calloc(from->count, sizeof(*to->families));
		r = to->families ? 0 : -ENOMEM;
	}
	for (size_t i = 0; r == 0 && i < from->count; i++) {
		struct family *f = &to->families[to->count++];

		*f = from->families[i];
		f->name = (struct buf){0};
		r = buf_set(&f->name, buf_slice(&from->families[i].name));
	}
	if (r)
		schema_release(to);
	return r;
}

/* Where the family of that name stands, or would. */
static size_t
family_place(const struct schema *s, struct slice name, bool *found)
{
	size_t i = 0;
	int order = 1;

	while (i < s->count) {
		order = slice_compare(buf_slice(&s->families[i].name), name);
		if (order >= 0)
			break;
		i++;
	}
	*found = order == 0;
	return i;
}

struct family *
schema_family(const struct schema *s, struct slice name)
{
	bool found;
	size_t place = family_place(s, name, &found);

	return found ? &s->families[place] : NULL;
}

/* Makes room for a family at place, with defaults and its name. */
static int
family_insert(struct schema *s, size_t place, struct slice name)
{
	struct family fresh = {0};
	struct family *families =
	    realloc(s->families, (s->count + 1) * sizeof(*families));

	if (!families)
		return -ENOMEM;
	s->families = families;
	int r = buf_set(&fresh.name, name);
	if (r)
		return r;
	for (size_t i = 0; i < ATTRIBUTES; i++)
		field_set(&fresh, &attributes[i], attributes[i].fallback);
	memmove(families + place + 1, families + place,
	    (s->count - place) * sizeof(*families));
	families[place] = fresh;
	s->count++;
	return 0;
}

int
schema_declare(struct schema *s, struct slice name, struct family **out)
{
	bool found;

	*out = NULL;
	int r = schema_check_family_name(name);
	if (r)
		return r;
	size_t place = family_place(s, name, &found);
	if (!found)
		r = family_insert(s, place, name);
	if (r == 0)
		*out = &s->families[place];
	return r;
}

void
family_follow(struct family *f, const struct family *other)
{
	struct buf name = f->name;

	*f = *other;
	f->name = name;
}

void
schema_undeclare(struct schema *s, struct slice name)
{
	bool found;
	size_t place = family_place(s, name, &found);

	if (!found)
		return;
	buf_release(&s->families[place].name);
	s->count--;
	memmove(s->families + place, s->families + place + 1,
	    (s->count - place) * sizeof(*s->families));
}

int
schema_check(const struct schema *s)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct family *f = &s->families[i];

		if (f->min_versions > f->versions)
			return text_refuse(buf_slice(&f->name),
			    "min_versions=%u is above versions=%u; it is at "
			    "most as many",
			    f->min_versions, f->versions);
	}
	return 0;
}

/* The text form of a family's name as one word of a schema file, which is
 * neither a comment nor taken for an attribute. */
static void
print_name(struct slice name, struct buf *out)
{
	size_t begin = out->size;
	struct buf plain = {0};

	text_print(name, &plain);
	for (size_t i = 0; i < plain.size; i++) {
		uint8_t byte = plain.data[i];

		if (byte == ' ' || byte == '=' ||
		    (byte == '#' && out->size == begin))
			buf_printf(out, "\\x%02X", byte);
		else
			buf_byte(out, byte);
	}
	out->failed |= plain.failed;
	buf_release(&plain);
}

static void
print_attribute(
    const struct family *f, const struct attribute *a, struct buf *out)
{
	uint64_t number = field_get(f, a);

	buf_printf(out, " %s=", a->name);
	if (a->type == TYPE_WORD)
		buf_text(out, a->words[number]);
	else if (a->type == TYPE_TTL && number == TTL_FOREVER)
		buf_text(out, "forever");
	else
		buf_printf(out, "%" PRIu64, number);
}

void
schema_print(const struct schema *s, struct buf *out)
{
	buf_printf(out, "table open=%d\n", s->open);
	for (size_t i = 0; i < s->count; i++) {
		buf_text(out, "family ");
		print_name(buf_slice(&s->families[i].name), out);
		for (size_t j = 0; j < ATTRIBUTES; j++)
			print_attribute(&s->families[i], &attributes[j], out);
		buf_byte(out, '\n');
	}
}
