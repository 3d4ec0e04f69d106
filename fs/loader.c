#include "loader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../kv/kv_data.h"
#include "../kv/text.h"
#include "../kv/why.h"

#define LINE_WHOLE ((size_t)512 << 10) /* bytes of a line that is read at once;
					  more than the longest key's */
#define ESCAPE 4 /* bytes of \xHH */

/* One cell that waits. Its small bytes lie in loader.bytes, family, qualifier
 * and value behind each other; a large value in the image. */
struct waiting {
	size_t at, family, qualifier;
	int64_t timestamp;
	bool large;
	uint64_t offset, size; /* of the value; offset in the image */
};

struct loader {
	struct fs *fs;
	bool whole_row;
	struct schema schema;
	struct buf row; /* that the waiting cells are of */
	struct buf cells; /* struct waiting */
	struct buf bytes;
	struct image image;

	uint64_t line;	   /* its number, from 1 */
	struct buf text;   /* of it, not yet understood */
	bool begun;	   /* its cell waits, its value is not whole */
	bool in_value;	   /* of a line too long to be read at once */
	struct buf scratch;
};

int
loader_open(struct fs *fs, const struct place *place, struct loader **out)
{
	struct loader *l = calloc(1, sizeof(*l));

	*out = NULL;
	if (!l)
		return -ENOMEM;
	l->fs = fs;
	l->line = 1;
	l->whole_row = place->level == LEVEL_ROW;
	image_init(&l->image, &fs->buffers);
	int r = kv_table_schema(fs->kv, place->table, &l->schema);
	if (r == 0 && l->whole_row)
		r = buf_set(&l->row, place->row);
	if (r < 0)
		loader_close(l);
	else
		*out = l;
	return r;
}

void
loader_close(struct loader *l)
{
	if (!l)
		return;
	schema_release(&l->schema);
	buf_release(&l->row);
	buf_release(&l->cells);
	buf_release(&l->bytes);
	buf_release(&l->text);
	buf_release(&l->scratch);
	image_release(&l->image);
	free(l);
}

/* --- storing ---------------------------------------------------------------- */

static size_t
count_of(const struct loader *l)
{
	return l->cells.size / sizeof(struct waiting);
}

static struct waiting *
cell_at(const struct loader *l, size_t i)
{
	return (struct waiting *)l->cells.data + i;
}

struct put {
	struct source source;
	struct image_tail tail;
};

static void
make_op(const struct loader *l, const struct waiting *w, struct put *put,
    struct op *op)
{
	const uint8_t *at = l->bytes.data + w->at;

	*op = (struct op){.type = OP_PUT, .timestamp = w->timestamp,
		.family = slice_of(at, w->family),
		.qualifier = slice_of(at + w->family, w->qualifier),
		.value = slice_of(at + w->family + w->qualifier, w->size)};
	if (!w->large)
		return;
	put->source = image_source(&l->image, w->offset, &put->tail);
	put->source.size = w->size;
	op->value = slice_text("");
	op->source = &put->source;
}

static void
forget_cells(struct loader *l)
{
	buf_clear(&l->cells);
	buf_clear(&l->bytes);
	image_release(&l->image);
}

static int
store(struct loader *l, const struct place *place, bool *stored)
{
	size_t count = count_of(l);
	struct op *ops = calloc(count + 1, sizeof(*ops));
	struct put *puts = calloc(count + 1, sizeof(*puts));
	struct mutation m = {.table = place->table,
		.row = buf_slice(&l->row), .ops = ops, .count = count};
	int r = ops && puts ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < count; i++)
		make_op(l, cell_at(l, i), &puts[i], &ops[i]);
	if (r == 0 && count)
		r = kv_mutate(l->fs->kv, &m);
	*stored = *stored || (r == 0 && count);
	free(ops);
	free(puts);
	forget_cells(l);
	return r;
}

/* Makes room for one more cell of a row. */
static int
turn_to(struct loader *l, const struct place *place, struct slice row,
    size_t size, bool *stored)
{
	bool same = slice_equal(row, buf_slice(&l->row));
	bool full = count_of(l) == MUTATE_OPS_MAX ||
	    l->bytes.size + size > MUTATE_BYTES_MAX;

	if (l->whole_row && !same)
		return why(EINVAL, "another row than the directory's");
	if (l->whole_row && full)
		return why(E2BIG, "more than goes into one change of a row: "
		    "%d cells, or %d bytes of small values",
		    MUTATE_OPS_MAX, MUTATE_BYTES_MAX);
	if (same && !full)
		return 0;
	int r = store(l, place, stored);
	return r < 0 ? r : buf_set(&l->row, row);
}

/* --- lines ------------------------------------------------------------------- */

/* Cuts text at its first byte c. */
static bool
cut(struct slice *text, uint8_t c, struct slice *head)
{
	const uint8_t *found =
	    text->size ? memchr(text->data, c, text->size) : NULL;

	if (!found)
		return false;
	*head = slice_head(*text, (size_t)(found - text->data));
	*text = slice_skip(*text, head->size + 1);
	return true;
}

static int
read_timestamp(struct slice text, int64_t *out)
{
	uint64_t number = TS_LATEST;

	if (text.size && text_number(text, TS_MAX, &number) < 0)
		return text_refuse(text, "no timestamp, 0 to 2^63-2");
	*out = (int64_t)number;
	return 0;
}

/* The family in the schema as it is now. */
static int
find_family(struct loader *l, struct slice family, const struct place *place,
    const struct family **out)
{
	int r = 0;

	*out = schema_family(&l->schema, family);
	if (*out || l->schema.open)
		return 0;
	schema_release(&l->schema);
	r = kv_table_schema(l->fs->kv, place->table, &l->schema);
	*out = schema_family(&l->schema, family);
	return r;
}

/* What the store would refuse at the end of the row, said at once. */
static int
check_family(struct loader *l, struct slice family, uint64_t size,
    const struct place *place)
{
	const struct family *f = NULL;
	int r = schema_check_family_name(family);

	if (r == 0)
		r = find_family(l, family, place, &f);
	if (r < 0)
		return r;
	if (!f && !l->schema.open)
		return why(EPERM, "no family %.*s, and the table is sealed",
		    (int)family.size, (const char *)family.data);
	if (f && size > f->max_cell_size)
		return why(EFBIG, "%llu bytes: the family's max_cell_size "
		    "is %llu", (unsigned long long)size,
		    (unsigned long long)f->max_cell_size);
	return 0;
}

/* The fields in front of the value, which is left in *text; the qualifier's
 * and the family's bytes come to l->scratch, the row's in front. */
static int
read_head(struct loader *l, struct slice *text, size_t *row,
    struct waiting *out)
{
	struct slice key, column, family, stamp;

	if (!cut(text, '\t', &key) || !cut(text, '\t', &column) ||
	    !cut(text, '\t', &stamp) || !cut(&column, ':', &family))
		return why(EINVAL, "row TAB family:qualifier TAB timestamp "
		    "TAB value is wanted");
	buf_clear(&l->scratch);
	int r = text_parse(key, &l->scratch);
	*row = l->scratch.size;
	if (r == 0)
		r = text_parse(family, &l->scratch);
	out->family = l->scratch.size - *row;
	if (r == 0)
		r = text_parse(column, &l->scratch);
	out->qualifier = l->scratch.size - *row - out->family;
	if (r == 0 && (*row == 0 || *row > ROW_MAX))
		r = why(EINVAL, "a row key has 1 to %d bytes", ROW_MAX);
	if (r == 0 && out->qualifier > QUALIFIER_MAX)
		r = why(EINVAL, "a qualifier has at most %d bytes",
		    QUALIFIER_MAX);
	return r < 0 ? r : read_timestamp(stamp, &out->timestamp);
}

/* Takes the front of the line; its value is still to come. */
static int
begin_cell(struct loader *l, const struct place *place, struct slice *text,
    bool *stored)
{
	struct waiting w = {0};
	size_t row = 0;
	int r = read_head(l, text, &row, &w);
	struct slice names = buf_slice(&l->scratch);

	if (r == 0)
		r = buf_status(&l->scratch);
	if (r == 0)
		r = check_family(l,
		    slice_of(names.data + row, w.family), 0, place);
	if (r == 0)
		r = turn_to(l, place, slice_head(names, row),
		    names.size - row + INLINE_MAX, stored);
	if (r < 0)
		return r;
	w.at = l->bytes.size;
	w.offset = l->image.size;
	buf_append(&l->bytes, slice_skip(names, row));
	buf_append(&l->cells, slice_of(&w, sizeof(w)));
	l->begun = buf_status(&l->cells) == 0;
	return buf_status(&l->bytes) < 0 ? -ENOMEM : buf_status(&l->cells);
}

/* Adds value bytes, in text form, to the last cell. */
static int
add_value(struct loader *l, struct slice text, const struct place *place)
{
	struct waiting *w = cell_at(l, count_of(l) - 1);
	struct slice family = slice_of(l->bytes.data + w->at, w->family);

	buf_clear(&l->scratch);
	int r = text_parse(text, &l->scratch);
	if (r == 0)
		r = buf_status(&l->scratch);
	struct slice value = buf_slice(&l->scratch);
	w->large = w->large || l->in_value || value.size > INLINE_MAX;
	if (r == 0)
		r = check_family(l, family, w->size + value.size, place);
	if (r == 0 && w->large)
		r = image_write(&l->image, l->image.size, value.data,
		    value.size);
	else if (r == 0)
		buf_append(&l->bytes, value);
	w->size += value.size;
	return r < 0 ? r : buf_status(&l->bytes);
}

/* How much of a value's text is whole escapes. */
static size_t
whole_escapes(struct slice text)
{
	for (size_t back = 1; back < ESCAPE && back <= text.size; back++)
		if (text.data[text.size - back] == '\\')
			return text.size - back;
	return text.size;
}

/* Understands what there is of the line; ended: all of it. */
static int
read_line(struct loader *l, const struct place *place, bool ended,
    bool *stored)
{
	struct slice text = buf_slice(&l->text);
	int r = 0;

	if (!ended && !l->in_value && text.size < LINE_WHOLE)
		return 0;
	if (!l->in_value)
		r = begin_cell(l, place, &text, stored);
	l->in_value = !ended;
	size_t size = ended ? text.size : whole_escapes(text);
	if (r == 0)
		r = add_value(l, slice_head(text, size), place);
	if (r < 0)
		return r;
	l->begun = !ended;
	text = slice_skip(text, size);
	memmove(l->text.data, text.data, text.size);
	l->text.size = text.size;
	return 0;
}

/* Says which line it was; of a table the whole ones before it are stored. */
static int
refuse(struct loader *l, const struct place *place, int error, bool *stored)
{
	struct buf sentence = {0};

	buf_text(&sentence, why_text(error));
	if (l->begun)
		l->cells.size -= sizeof(struct waiting);
	if (!l->whole_row)
		store(l, place, stored);
	forget_cells(l);
	why(-error, "line %llu: %.*s", (unsigned long long)l->line,
	    (int)sentence.size, (const char *)sentence.data);
	buf_release(&sentence);
	return error;
}

int
loader_take(struct loader *l, const struct place *place, struct slice bytes,
    bool *stored)
{
	struct slice piece;
	int r = 0;

	*stored = false;
	while (r == 0 && bytes.size) {
		bool ended = cut(&bytes, '\n', &piece);
		if (!ended) {
			piece = bytes;
			bytes.size = 0;
		}
		buf_append(&l->text, piece);
		r = buf_status(&l->text);
		if (r == 0)
			r = read_line(l, place, ended, stored);
		if (r == 0)
			l->line += ended;
	}
	return r < 0 ? refuse(l, place, r, stored) : 0;
}

int
loader_end(struct loader *l, const struct place *place, bool *stored)
{
	*stored = false;
	if (l->text.size || l->in_value)
		return refuse(l, place,
		    why(EINVAL, "it has no newline at its end"), stored);
	int r = store(l, place, stored);
	return r < 0 ? refuse(l, place, r, stored) : 0;
}
