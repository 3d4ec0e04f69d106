#include "print.h"

#include "cmd.h"
#include "parse.h"

#include "../kv/kv_data.h"
#include "../kv/text.h"
#include "../kv/why.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE (1 << 16)

int
printer_init(struct printer *p, const struct arguments *a)
{
	int status;

	*p = (struct printer){.json = option(a, OPTION_JSON) != NULL,
	    .keys_only = option(a, OPTION_KEYS_ONLY) != NULL,
	    .end = option(a, OPTION_NULL) ? 0 : '\n',
	    .room = PIECE};
	status = parse_form(a, &p->form);
	if (status)
		return status;
	if (p->json && p->form == FORM_BYTES)
		return usage(a, "--json holds text, not --raw-value");
	status = parse_number(a, OPTION_BATCH, 1, INT32_MAX, &p->batch);
	if (status)
		return status;
	p->piece = malloc(p->room);
	return p->piece ? STATUS_DONE : failed(a->command->name, -ENOMEM);
}

void
printer_release(struct printer *p)
{
	buf_release(&p->row);
	buf_release(&p->line);
	free(p->piece);
}

/* Appends text, which is valid UTF-8, as the inside of a JSON string. */
static int
json_inside(struct slice text, struct buf *out)
{
	struct json_object *string =
	    json_object_new_string_len((const char *)text.data, text.size);
	const char *quoted;
	size_t size;

	if (!string)
		return -ENOMEM;
	quoted = json_object_to_json_string_length(string,
	    JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &size);
	if (quoted)
		buf_append(out, slice_of(quoted + 1, size - 2));
	json_object_put(string);
	return quoted ? 0 : -ENOMEM;
}

int
json_text(struct slice bytes, struct buf *out)
{
	struct buf text = {0};
	int r;

	text_print(bytes, &text);
	r = buf_status(&text);
	buf_byte(out, '"');
	if (r == 0)
		r = json_inside(buf_slice(&text), out);
	buf_byte(out, '"');
	buf_release(&text);
	return r;
}

/* Writes the line out and empties it. */
static int
put_line(struct printer *p)
{
	int r = buf_status(&p->line);

	if (r == 0 && p->line.size &&
	    fwrite(p->line.data, 1, p->line.size, stdout) != p->line.size)
		r = -errno;
	buf_clear(&p->line);
	return r;
}

static int
print_piece(struct printer *p, struct slice piece)
{
	struct buf text = {0};
	int r;

	if (!p->json)
		return form_print(p->form, piece, &p->line);
	r = form_print(p->form, piece, &text);
	if (r == 0)
		r = buf_status(&text);
	if (r == 0)
		r = json_inside(buf_slice(&text), &p->line);
	buf_release(&text);
	return r;
}

/* Reads a value that is not in memory, a piece at a time; what a piece cannot
 * show yet is moved to the front of the next. */
static int
print_chunks(struct printer *p, struct kv *kv, struct scan *s)
{
	uint64_t offset = 0;
	size_t held = 0;
	int r = 0;

	while (r == 0) {
		int64_t got = kv_scan_read(
		    kv, s, offset, p->piece + held, p->room - held);
		struct slice piece = slice_of(p->piece, held);
		size_t whole;

		if (got < 0)
			return got;
		piece.size += got;
		whole = form_whole(p->form, piece, got == 0);
		r = print_piece(p, slice_head(piece, whole));
		if (r == 0)
			r = put_line(p);
		if (got == 0)
			break;
		offset += got;
		held = piece.size - whole;
		memmove(p->piece, p->piece + whole, held);
	}
	return r;
}

static bool
is_number(const struct printer *p)
{
	return p->form == FORM_BE64 || p->form == FORM_BE32;
}

/* Before anything of the record is printed. */
static int
check_width(const struct printer *p, const struct cell *cell)
{
	unsigned width = p->form == FORM_BE64 ? 8 : 4;

	if (p->keys_only || !is_number(p) || cell->size == width)
		return 0;
	return why(EINVAL, "the value has %" PRIu64 " bytes, be%u needs %u",
	    cell->size, width * 8, width);
}

static int
print_cell_value(
    struct printer *p, struct kv *kv, struct scan *s, const struct cell *cell)
{
	return cell->blob ? print_chunks(p, kv, s)
			  : print_piece(p, cell->value);
}

static int
print_line(
    struct printer *p, struct kv *kv, struct scan *s, const struct cell *cell)
{
	int r = 0;

	text_print(cell->row, &p->line);
	buf_byte(&p->line, '\t');
	text_print(cell->family, &p->line);
	buf_byte(&p->line, ':');
	text_print(cell->qualifier, &p->line);
	buf_printf(&p->line, "\t%" PRId64, cell->timestamp);
	if (!p->keys_only) {
		buf_byte(&p->line, '\t');
		r = print_cell_value(p, kv, s, cell);
	}
	buf_byte(&p->line, p->end);
	return r;
}

static void
end_object(struct printer *p)
{
	buf_text(&p->line, "]}");
	buf_byte(&p->line, p->end);
	p->in_object = 0;
}

/* Opens an object for the cell's row unless it is open already. */
static int
begin_object(struct printer *p, const struct cell *cell)
{
	int r;

	if (p->in_object && (!slice_equal(buf_slice(&p->row), cell->row) ||
				p->in_object == p->batch))
		end_object(p);
	if (p->in_object++) {
		buf_byte(&p->line, ',');
		return 0;
	}
	r = buf_set(&p->row, cell->row);
	buf_text(&p->line, "{\"row\":");
	if (r == 0)
		r = json_text(cell->row, &p->line);
	buf_text(&p->line, ",\"cells\":[");
	return r;
}

static int
print_json(
    struct printer *p, struct kv *kv, struct scan *s, const struct cell *cell)
{
	const char *quote = is_number(p) ? "" : "\"";
	int r = begin_object(p, cell);

	buf_text(&p->line, "{\"family\":");
	if (r == 0)
		r = json_text(cell->family, &p->line);
	buf_text(&p->line, ",\"qualifier\":");
	if (r == 0)
		r = json_text(cell->qualifier, &p->line);
	buf_printf(&p->line, ",\"timestamp\":%" PRId64, cell->timestamp);
	if (!p->keys_only) {
		buf_printf(&p->line, ",\"value\":%s", quote);
		if (r == 0)
			r = print_cell_value(p, kv, s, cell);
		buf_text(&p->line, quote);
	}
	buf_byte(&p->line, '}');
	return r;
}

int
printer_cell(
    struct printer *p, struct kv *kv, struct scan *s, const struct cell *cell)
{
	int r = check_width(p, cell);

	if (r < 0)
		return r;
	if (p->form == FORM_BYTES)
		r = print_cell_value(p, kv, s, cell);
	else if (p->json)
		r = print_json(p, kv, s, cell);
	else
		r = print_line(p, kv, s, cell);
	if (r < 0)
		return r;
	return put_line(p);
}

void
printer_end(struct printer *p)
{
	if (p->in_object)
		end_object(p);
	put_line(p);
}

int
print_text(int r, struct buf *text)
{
	if (r == 0)
		r = buf_status(text);
	if (r == 0)
		fwrite(text->data, 1, text->size, stdout);
	buf_release(text);
	return r;
}

int
print_value(enum form form, struct slice value)
{
	struct buf line = {0};
	int r = form_print(form, value, &line);

	if (form != FORM_BYTES)
		buf_byte(&line, '\n');
	return print_text(r, &line);
}
