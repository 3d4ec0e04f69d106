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

static void
print_family(const struct local_family *f, struct buf *out)
{
	const struct fold_past *past = &f->past;

	buf_printf(out, "family %u %u", f->cells, f->blobs);
	if (f->outdated || past->sequence)
		buf_printf(out, " %u", f->outdated);
	if (past->sequence)
		buf_printf(out, " %llu %lld %u %u %lld",
		    (unsigned long long)past->sequence, (long long)past->at,
		    past->rules.versions, past->rules.min_versions,
		    (long long)past->rules.ttl);
	buf_byte(out, '\n');
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
		print_family(&t->families[i], out);
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

/* Takes what is outdated and the past, where there is any, off the line. */
static bool
take_rest(struct slice *line, struct family_entry *out)
{
	uint64_t outdated, sequence, at, versions, min_versions, ttl;

	if (line->size == 0)
		return true;
	if (!take_number(line, 10, OUTDATED_CELLS | OUTDATED_BLOBS, &outdated))
		return false;
	out->outdated = (unsigned)outdated;
	if (line->size == 0)
		return true;
	if (!take_number(line, 10, UINT64_MAX, &sequence) || !sequence ||
	    !take_number(line, 10, INT64_MAX, &at) ||
	    !take_number(line, 10, UINT32_MAX, &versions) ||
	    !take_number(line, 10, UINT32_MAX, &min_versions) ||
	    !take_number(line, 10, INT64_MAX, &ttl))
		return false;
	out->past = (struct fold_past){.sequence = sequence,
	    .at = (int64_t)at,
	    .rules = {
		(uint32_t)versions, (uint32_t)min_versions, (int64_t)ttl}};
	return line->size == 0;
}

/* Takes the "family" lines and the empty one; appends a struct family_entry
 * each. */
static bool
take_families(struct slice *text, struct buf *entries)
{
	struct family_entry entry;
	struct slice line;
	uint64_t cells, blobs;

	while (take_line(text, "family", &line)) {
		entry = (struct family_entry){0};
		if (!take_number(&line, 10, UINT32_MAX, &cells) ||
		    !take_number(&line, 10, UINT32_MAX, &blobs) ||
		    !take_rest(&line, &entry))
			return false;
		entry.cells = (uint32_t)cells;
		entry.blobs = (uint32_t)blobs;
		buf_append(entries, slice_of(&entry, sizeof(entry)));
	}
	return take_line(text, "", NULL);
}

/* The table an entry describes. -EIO: damaged. */
int
entry_parse(uint32_t id, struct slice text, struct table **out)
{
	struct schema schema = {0};
	struct buf entries = {0};
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
	    !take_families(&text, &entries) || schema_parse(&schema, text) ||
	    schema_check(&schema) ||
	    schema.count * sizeof(struct family_entry) != entries.size)
		goto out;
	r = buf_status(&entries);
	if (r)
		goto out;
	r = table_new(
	    id, &schema, (const struct family_entry *)entries.data, out);
	if (r)
		goto out;
	(*out)->side = (uint32_t)side;
	(*out)->created = (int64_t)created;
	(*out)->owner = owner;
out:
	schema_release(&schema);
	buf_release(&entries);
	return r;
}
