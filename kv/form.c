#include "form.h"

#include "text.h"
#include "why.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char digits64[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int
form_named(const char *word, enum form *out)
{
	static const char *const names[] = {[FORM_HEX] = "hex",
	    [FORM_BASE64] = "base64",
	    [FORM_BE64] = "be64",
	    [FORM_BE32] = "be32"};

	for (size_t i = FORM_HEX; i <= FORM_BE32; i++)
		if (strcmp(word, names[i]) == 0) {
			*out = i;
			return 0;
		}
	*out = FORM_TEXT;
	return why(EINVAL, "%s is no form; hex, base64, be64 or be32", word);
}

static int
hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int
read_hex(struct slice text, struct buf *out)
{
	for (size_t i = 0; i + 1 < text.size; i += 2) {
		int high = hex_digit(text.data[i]);
		int low = hex_digit(text.data[i + 1]);

		if (high < 0 || low < 0)
			return why(EINVAL,
			    "no hex digit in the two "
			    "characters at %zu",
			    i + 1);
		buf_byte(out, high << 4 | low);
	}
	if (text.size % 2)
		return why(EINVAL, "an odd number of hex digits");
	return 0;
}

static int
digit64(uint8_t c)
{
	const char *found = c ? strchr(digits64, c) : NULL;

	return found ? (int)(found - digits64) : -1;
}

static int
read_base64(struct slice text, struct buf *out)
{
	uint32_t group = 0;
	size_t size = text.size;

	if (size % 4)
		return why(EINVAL, "base64 comes in groups of four characters");
	while (size && text.size - size < 2 && text.data[size - 1] == '=')
		size--;
	for (size_t i = 0; i < size; i++) {
		int digit = digit64(text.data[i]);

		if (digit < 0)
			return why(EINVAL, "no base64 character at %zu", i + 1);
		group = group << 6 | digit;
		if (i % 4)
			buf_byte(out, group >> (6 - i % 4 * 2));
	}
	return 0;
}

static int
read_number(struct slice text, size_t width, struct buf *out)
{
	char digits[24];
	char *end;
	long long number;

	if (text.size == 0 || text.size >= sizeof(digits) ||
	    !strchr("-0123456789", text.data[0]))
		return why(EINVAL, "a decimal number is wanted");
	memcpy(digits, text.data, text.size);
	digits[text.size] = 0;
	errno = 0;
	number = strtoll(digits, &end, 10);
	if (*end || end == digits)
		return why(EINVAL, "a decimal number is wanted");
	if (errno || (width == 4 && (number < INT32_MIN || number > INT32_MAX)))
		return why(
		    EINVAL, "%s does not fit into %zu bytes", digits, width);
	if (width == 8)
		buf_be64(out, number);
	else
		buf_be32(out, number);
	return 0;
}

int
form_read(enum form form, struct slice text, struct buf *out)
{
	switch (form) {
	case FORM_TEXT:
		return text_parse(text, out);
	case FORM_HEX:
		return read_hex(text, out);
	case FORM_BASE64:
		return read_base64(text, out);
	case FORM_BE64:
		return read_number(text, 8, out);
	case FORM_BE32:
		return read_number(text, 4, out);
	case FORM_BYTES:
		buf_append(out, text);
	}
	return 0;
}

/* Leaves out the beginning of a character that the next piece goes on. */
static size_t
whole_characters(struct slice piece)
{
	for (size_t back = 1; back <= 3 && back < piece.size; back++) {
		uint8_t c = piece.data[piece.size - back];

		if (c >= 0xF0 || (c >= 0xE0 && back < 3) ||
		    (c >= 0xC0 && back < 2))
			return piece.size - back;
		if (c < 0x80 || c >= 0xC0)
			break;
	}
	return piece.size;
}

size_t
form_whole(enum form form, struct slice piece, bool last)
{
	if (last)
		return piece.size;
	if (form == FORM_TEXT)
		return whole_characters(piece);
	return form == FORM_BASE64 ? piece.size / 3 * 3 : piece.size;
}

static void
print_base64(struct slice piece, struct buf *out)
{
	for (size_t i = 0; i < piece.size; i += 3) {
		size_t left = piece.size - i;
		uint32_t group = piece.data[i] << 16;

		if (left > 1)
			group |= piece.data[i + 1] << 8;
		if (left > 2)
			group |= piece.data[i + 2];
		buf_byte(out, digits64[group >> 18]);
		buf_byte(out, digits64[group >> 12 & 63]);
		buf_byte(out, left > 1 ? digits64[group >> 6 & 63] : '=');
		buf_byte(out, left > 2 ? digits64[group & 63] : '=');
	}
}

static int
print_number(size_t width, struct slice piece, struct buf *out)
{
	if (piece.size != width)
		return why(EINVAL, "the value has %zu bytes, be%zu needs %zu",
		    piece.size, width * 8, width);
	buf_printf(out, "%" PRId64,
	    width == 8 ? (int64_t)be64(piece.data) : (int32_t)be32(piece.data));
	return 0;
}

int
form_print(enum form form, struct slice piece, struct buf *out)
{
	switch (form) {
	case FORM_TEXT:
		text_print(piece, out);
		break;
	case FORM_HEX:
		for (size_t i = 0; i < piece.size; i++)
			buf_printf(out, "%02x", piece.data[i]);
		break;
	case FORM_BASE64:
		print_base64(piece, out);
		break;
	case FORM_BE64:
		return print_number(8, piece, out);
	case FORM_BE32:
		return print_number(4, piece, out);
	case FORM_BYTES:
		buf_append(out, piece);
	}
	return 0;
}
