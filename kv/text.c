#include "text.h"

#include "why.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <utf8proc.h>

#define SHOWN_MAX 120 /* bytes of a bad text that a sentence repeats */

size_t
utf8_length(struct slice s)
{
	const uint8_t *p = s.data;
	size_t size;
	uint8_t low = 0x80, high = 0xbf; /* of the second byte */

	if (!s.size)
		return 0;
	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	size = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (s.size < size)
		return 0;
	if (p[0] == 0xe0)
		low = 0xa0; /* else overlong */
	else if (p[0] == 0xed)
		high = 0x9f; /* else a surrogate */
	else if (p[0] == 0xf0)
		low = 0x90; /* else overlong */
	else if (p[0] == 0xf4)
		high = 0x8f; /* else above 10FFFF */
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < size; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return size;
}

/* Whether the valid character s may go to a terminal as it is. */
static bool
printable(struct slice s)
{
	utf8proc_int32_t code;

	if (s.size == 1)
		return s.data[0] >= 0x20 && s.data[0] < 0x7f;
	utf8proc_iterate(s.data, (utf8proc_ssize_t)s.size, &code);
	switch (utf8proc_category(code)) {
	case UTF8PROC_CATEGORY_CC:
	case UTF8PROC_CATEGORY_CF:
	case UTF8PROC_CATEGORY_CS:
	case UTF8PROC_CATEGORY_CO:
	case UTF8PROC_CATEGORY_CN:
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP:
		return false;
	default:
		return true;
	}
}

static void
escape(struct slice bytes, struct buf *out)
{
	for (size_t i = 0; i < bytes.size; i++)
		buf_printf(out, "\\x%02X", bytes.data[i]);
}

/* How many bytes at the front of s are printable ASCII but a backslash. */
static size_t
plain_run(struct slice s)
{
	size_t size = 0;

	while (size < s.size && s.data[size] >= 0x20 && s.data[size] < 0x7f &&
	       s.data[size] != '\\')
		size++;
	return size;
}

void
text_print(struct slice bytes, struct buf *out)
{
	for (;;) {
		size_t run = plain_run(bytes);

		buf_append(out, slice_head(bytes, run));
		bytes = slice_skip(bytes, run);
		if (!bytes.size)
			break;
		size_t length = utf8_length(bytes);
		struct slice unit = slice_head(bytes, length ? length : 1);

		if (length && unit.data[0] != '\\' && printable(unit))
			buf_append(out, unit);
		else
			escape(unit, out);
		bytes = slice_skip(bytes, unit.size);
	}
}

/* The value of a hexadecimal digit in either case, -1 for another byte. */
static int
hex_digit(uint8_t byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	byte |= 0x20;
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* The byte that the four bytes \xHH at the front of s stand for, or -1. */
static int
escaped_byte(struct slice s)
{
	if (s.size < 4 || s.data[1] != 'x')
		return -1;
	int high = hex_digit(s.data[2]), low = hex_digit(s.data[3]);
	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

int
text_parse(struct slice text, struct buf *out)
{
	size_t before = out->size;

	for (size_t i = 0; i < text.size; i++) {
		if (text.data[i] != '\\') {
			buf_byte(out, text.data[i]);
			continue;
		}
		int byte = escaped_byte(slice_skip(text, i));
		if (byte < 0) {
			out->size = before;
			return text_refuse(text,
			    "a backslash must begin "
			    "\\xHH, itself it is written \\x5C");
		}
		buf_byte(out, (uint8_t)byte);
		i += 3;
	}
	return buf_status(out);
}

int
text_number(struct slice text, uint64_t max, uint64_t *out)
{
	uint64_t number = 0;

	*out = 0;
	if (!text.size || (text.size > 1 && text.data[0] == '0'))
		return -EINVAL;
	for (size_t i = 0; i < text.size; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return -EINVAL;
		unsigned digit = text.data[i] - '0';
		if (digit > max || number > (max - digit) / 10)
			return -EINVAL;
		number = number * 10 + digit;
	}
	*out = number;
	return 0;
}

int
text_refuse(struct slice bad, const char *format, ...)
{
	struct buf shown = {0};
	char reason[512];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	bool whole = bad.size <= SHOWN_MAX;
	text_print(whole ? bad : slice_head(bad, SHOWN_MAX), &shown);
	int r = why(EINVAL, "'%.*s%s': %s", (int)shown.size,
	    shown.size ? (const char *)shown.data : "", whole ? "" : "...",
	    reason);
	buf_release(&shown);
	return r;
}
