#include "local_catalogue.h"

#include <errno.h>
#include <string.h>

#include "text.h"

void
entry_print_owner(const struct attrs *owner, struct buf *out)
{
	buf_printf(out, "owner %o %u %u\n", (unsigned)owner->mode & 07777,
	    (unsigned)owner->uid, (unsigned)owner->gid);
}

void
entry_print(const struct table *t, struct buf *out)
{
	buf_text(out, "name ");
	text_print(catalogue_name(t), out);
	buf_printf(
	    out, "\nside %u\ncreated %lld\n", t->side, (long long)t->created);
	entry_print_owner(&t->owner, out);
	for (size_t i = 0; i < t->schema.count; i++)
		buf_printf(out, "family %u %u\n", t->families[i].cells,
		    t->families[i].blobs);
	buf_byte(out, '\n');
	schema_print(&t->schema, out);
}

/* Takes the next line off text if it is "word rest" (or empty: word ""). */
static bool
take_line(struct slice *text, const char *word, struct slice *rest)
{
	const uint8_t *end =
	    text->size ? memchr(text->data, '\n', text->size) : NULL;
	struct slice begin = slice_text(word);

	if (!end)
		return false;
	struct slice line = slice_head(*text, (size_t)(end - text->data));
	if (begin.size == 0) {
		if (line.size)
			return false;
	} else if (!slice_begins(line, begin) || line.size == begin.size ||
		   line.data[begin.size] != ' ') {
		return false;
	} else {
		line = slice_skip(line, begin.size + 1);
	}
	*text = slice_skip(*text, (size_t)(end - text->data) + 1);
	if (rest)
		*rest = line;
	return true;
}

/* Takes a number, and the space behind it, off line. */
static bool
take_number(struct slice *line, unsigned base, uint64_t max, uint64_t *out)
{
	size_t i = 0;

	*out = 0;
	for (; i < line->size && line->data[i] != ' '; i++) {
		unsigned digit = (unsigned)line->data[i] - '0';
		if (digit >= base || *out > (max - digit) / base)
			return false;
		*out = *out * base + digit;
	}
	if (i == 0)
		return false;
	*line = slice_skip(*line, i < line->size ? i + 1 : i);
	return true;
}

/* A line "word NUMBER". */
bool
entry_take_number(
    struct slice *text, const char *word, uint64_t max, uint64_t *out)
{
	struct slice line;

	return take_line(text, word, &line) &&
	       take_number(&line, 10, max, out) && line.size == 0;
}

bool
entry_take_owner(struct slice *text, struct attrs *out)
{
	struct slice line;
	uint64_t mode, uid, gid;

	if (!take_line(text, "owner", &line) ||
	    !take_number(&line, 8, 07777, &mode) ||
	    !take_number(&line, 10, UINT32_MAX, &uid) ||
	    !take_number(&line, 10, UINT32_MAX, &gid))
		return false;
	*out = (struct attrs){.set = ATTR_MODE | ATTR_UID | ATTR_GID,
	    .mode = (mode_t)mode,
	    .uid = (uid_t)uid,
	    .gid = (gid_t)gid};
	return true;
}

/* Takes the "family" lines and the empty one; appends pairs of numbers. */
static bool
take_families(struct slice *text, struct buf *numbers)
{
	struct slice line;
	uint64_t pair[2];

	while (take_line(text, "family", &line)) {
		if (!take_number(&line, 10, UINT32_MAX, &pair[0]) ||
		    !take_number(&line, 10, UINT32_MAX, &pair[1]))
			return false;
		uint32_t stored[2] = {(uint32_t)pair[0], (uint32_t)pair[1]};
		buf_append(numbers, slice_of(stored, sizeof(stored)));
	}
	return take_line(text, "", NULL);
}

/* The table an entry describes. -EIO: damaged. */
int
entry_parse(uint32_t id, struct slice text, struct table **out)
{
	struct schema schema = {0};
	struct buf numbers = {0};
	struct slice name;
	uint64_t side = 0, created = 0;
	struct attrs owner = {0};
	int r = -EIO;

	*out = NULL;
	if (!take_line(&text, "name", &name) ||
	    text_parse(name, &schema.name) || schema.name.size == 0 ||
	    !entry_take_number(&text, "side", UINT32_MAX, &side) ||
	    !entry_take_number(&text, "created", INT64_MAX, &created) ||
	    !entry_take_owner(&text, &owner) ||
	    !take_families(&text, &numbers) || schema_parse(&schema, text) ||
	    schema_check(&schema) ||
	    schema.count * 2 * sizeof(uint32_t) != numbers.size)
		goto out;
	r = buf_status(&numbers);
	if (r)
		goto out;
	r = table_new(id, &schema, (const uint32_t *)numbers.data, out);
	if (r)
		goto out;
	(*out)->side = (uint32_t)side;
	(*out)->created = (int64_t)created;
	(*out)->owner = owner;
out:
	schema_release(&schema);
	buf_release(&numbers);
	return r;
}
