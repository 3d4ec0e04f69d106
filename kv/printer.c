#include "printer.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "why.h"

#define PIECE ((size_t)1 << 16)

void
printer_init(struct printer *p, const struct printing *how)
{
	*p = (struct printer){.how = *how};
}

void
printer_release(struct printer *p)
{
	buf_release(&p->row);
	free(p->piece);
	*p = (struct printer){0};
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

/* --- values --------------------------------------------------------------- */

static bool
is_number(const struct printer *p)
{
	return p->how.form == FORM_BE64 || p->how.form == FORM_BE32;
}

/* Before anything of the record is printed. */
static int
check_width(const struct printer *p)
{
	unsigned width = p->how.form == FORM_BE64 ? 8 : 4;

	if (p->how.keys_only || !is_number(p) || p->cell.size == width)
		return 0;
	return why(EINVAL, "the value has %" PRIu64 " bytes, be%u needs %u",
	    p->cell.size, width * 8, width);
}

static int
print_piece(struct printer *p, struct slice piece, struct buf *out)
{
	struct buf text = {0};
	int r;

	if (!p->how.json)
		return form_print(p->how.form, piece, out);
	r = form_print(p->how.form, piece, &text);
	if (r == 0)
		r = buf_status(&text);
	if (r == 0)
		r = json_inside(buf_slice(&text), out);
	buf_release(&text);
	return r;
}

/* Reads on in a value that is not in memory; what a piece cannot show yet is
 * moved to the front of the next. 1: that was the last. */
static int
print_chunk(
    struct printer *p, struct kv *kv, struct scan *s, struct buf *out)
{
	if (!p->piece)
		p->piece = malloc(PIECE);
	if (!p->piece)
		return -ENOMEM;
	int64_t got = kv_scan_read(
	    kv, s, p->offset, p->piece + p->held, PIECE - p->held);
	if (got < 0)
		return (int)got;
	struct slice piece = slice_of(p->piece, p->held + (size_t)got);
	size_t whole = form_whole(p->how.form, piece, got == 0);
	int r = print_piece(p, slice_head(piece, whole), out);
	p->offset += (uint64_t)got;
	p->held = piece.size - whole;
	memmove(p->piece, p->piece + whole, p->held);
	return r < 0 ? r : got == 0;
}

/* --- records -------------------------------------------------------------- */

static void
end_object(struct printer *p, struct buf *out)
{
	buf_text(out, "]}");
	buf_byte(out, p->how.end);
	p->in_object = 0;
}

/* Opens an object for the cell's row unless it is open already. */
static int
begin_object(struct printer *p, bool same_row, struct buf *out)
{
	int r;

	if (p->in_object && (!same_row || p->in_object == p->how.batch))
		end_object(p, out);
	if (p->in_object++) {
		buf_byte(out, ',');
		return 0;
	}
	buf_text(out, "{\"row\":");
	r = json_text(p->cell.row, out);
	buf_text(out, ",\"cells\":[");
	return r;
}

/* The cell up to its value. */
static int
begin_json(struct printer *p, bool same_row, struct buf *out)
{
	int r = begin_object(p, same_row, out);

	buf_text(out, "{\"family\":");
	if (r == 0)
		r = json_text(p->cell.family, out);
	buf_text(out, ",\"qualifier\":");
	if (r == 0)
		r = json_text(p->cell.qualifier, out);
	buf_printf(out, ",\"timestamp\":%" PRId64, p->cell.timestamp);
	if (!p->how.keys_only)
		buf_text(out, is_number(p) ? ",\"value\":" : ",\"value\":\"");
	return r;
}

static void
begin_line(struct printer *p, struct buf *out)
{
	text_print(p->cell.row, out);
	buf_byte(out, '\t');
	text_print(p->cell.family, out);
	buf_byte(out, ':');
	text_print(p->cell.qualifier, out);
	buf_printf(out, "\t%" PRId64, p->cell.timestamp);
	if (!p->how.keys_only)
		buf_byte(out, '\t');
}

static int
begin_record(struct printer *p, bool same_row, struct buf *out)
{
	int r = check_width(p);

	if (r < 0 || p->how.form == FORM_BYTES)
		return r;
	if (p->how.json)
		return begin_json(p, same_row, out);
	begin_line(p, out);
	return 0;
}

static void
end_record(struct printer *p, struct buf *out)
{
	p->inside = false;
	if (p->how.form == FORM_BYTES)
		return;
	if (!p->how.json)
		buf_byte(out, p->how.end);
	else
		buf_text(out, p->how.keys_only || is_number(p) ? "}" : "\"}");
}

/* The value, or the first piece of it: 1 if that is all. */
static int
print_value(
    struct printer *p, struct kv *kv, struct scan *s, struct buf *out)
{
	if (p->how.keys_only)
		return 1;
	if (p->cell.blob)
		return print_chunk(p, kv, s, out);
	int r = print_piece(p, p->cell.value, out);
	return r < 0 ? r : 1;
}

static int
print_cell(struct printer *p, struct kv *kv, struct scan *s, bool same_row,
    struct buf *out)
{
	p->offset = p->held = 0;
	int r = begin_record(p, same_row, out);
	if (r == 0)
		r = print_value(p, kv, s, out);
	if (r == 1)
		end_record(p, out);
	return r < 0 ? r : 0;
}

static void
print_count(struct printer *p, struct buf *out)
{
	if (p->how.json)
		buf_printf(out, "{\"rows\":%" PRIu64 "}", p->rows);
	else
		buf_printf(out, "%" PRIu64, p->rows);
	buf_byte(out, p->how.end);
}

/* --- steps ---------------------------------------------------------------- */

void
printer_end(struct printer *p, struct buf *out)
{
	if (p->in_object)
		end_object(p, out);
}

static int
next_cell(struct printer *p, struct kv *kv, struct scan *s, struct buf *out)
{
	int r = kv_scan_next(kv, s, &p->cell);

	if (r == 1 && p->how.count)
		print_count(p, out);
	else if (r == 1)
		printer_end(p, out);
	if (r != 0)
		return r;
	if (p->how.family.size && !slice_equal(p->how.family, p->cell.family))
		return 0;

	bool same_row = p->any && slice_equal(buf_slice(&p->row), p->cell.row);
	p->any = true;
	p->rows += !same_row;
	if (!same_row)
		r = buf_set(&p->row, p->cell.row);
	if (r < 0 || p->how.count)
		return r;
	p->inside = true;
	return print_cell(p, kv, s, same_row, out);
}

int
printer_step(struct printer *p, struct kv *kv, struct scan *s, struct buf *out)
{
	int r;

	if (!p->inside) {
		r = next_cell(p, kv, s, out);
	} else {
		r = print_chunk(p, kv, s, out);
		if (r == 1)
			end_record(p, out);
		r = r < 0 ? r : 0;
	}
	return r < 0 || buf_status(out) == 0 ? r : -ENOMEM;
}
