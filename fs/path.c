#include "path.h"

#include "../kv/text.h"
#include "../kv/why.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define PART_BYTES 254 /* of a part that is continued, without its per cent */
#define UNIT_BYTES 4

/* The least that a name is made of: a character, or one byte as %XX. */
struct unit {
	uint8_t text[UNIT_BYTES];
	size_t width; /* bytes of text */
	size_t bytes; /* bytes of the key it stands for */
};

/* One component of a key's name, as a stretch of the key. */
struct stretch {
	size_t bytes; /* of the key */
	size_t width; /* of the name, without a bare per cent */
	bool last;
};

static size_t
key_max(enum name_of of)
{
	return of == NAME_OF_FAMILY ? FAMILY_MAX : ROW_MAX;
}

/* The greatest width of a last part. */
static size_t
last_max(enum name_of of)
{
	return of == NAME_OF_QUALIFIER ? QUALIFIER_BYTES : NAME_BYTES;
}

/* Whether an ASCII byte stands for itself; first: at the front of a part. */
static bool
plain(enum name_of of, uint8_t byte, bool first)
{
	return byte >= 0x20 && byte < 0x7f && byte != '/' && byte != '%' &&
	       !(byte == '@' && of == NAME_OF_QUALIFIER) &&
	       !(byte == '.' && first);
}

/* The unit of key at byte `at`, which is in front of one. */
static struct unit
unit_at(enum name_of of, struct slice key, size_t at, bool first)
{
	static const char digits[] = "0123456789ABCDEF";
	struct slice rest = slice_skip(key, at);
	uint8_t byte = rest.data[0];
	size_t length =
	    byte < 0x80 ? plain(of, byte, first) : utf8_length(rest);

	if (!length)
		return (struct unit){{'%', (uint8_t)digits[byte >> 4],
					 (uint8_t)digits[byte & 15]},
		    3, 1};
	struct unit unit = {.width = length, .bytes = length};
	memcpy(unit.text, rest.data, length);
	return unit;
}

/* How many bytes of key from `at`, not the first of a part, to before `end`
 * stand for themselves: most of a name goes by in such runs. */
static size_t
plain_run(enum name_of of, struct slice key, size_t at, size_t end)
{
	size_t to = at;

	while (to < end && plain(of, key.data[to], false))
		to++;
	return to - at;
}

/* How far a run at byte `at` may go that decides nothing: its end, and that of
 * every unit in it, leaves something over and lies within a part. */
static size_t
run_end(struct slice key, size_t at, size_t width)
{
	size_t room = width < PART_BYTES ? PART_BYTES - width : 0;
	size_t rest = at < key.size ? key.size - at - 1 : 0;

	return at + (room < rest ? room : rest);
}

/* The component of key's name that begins at byte `at`. */
static struct stretch
stretch_at(enum name_of of, struct slice key, size_t at)
{
	struct stretch whole = {.last = true}, head = {0};

	while (at + whole.bytes < key.size) {
		struct unit unit =
		    unit_at(of, key, at + whole.bytes, whole.bytes == 0);

		if (whole.width <= PART_BYTES)
			head = whole;
		whole.width += unit.width;
		whole.bytes += unit.bytes;
		if (of != NAME_OF_FAMILY && whole.width > NAME_BYTES)
			break;
		size_t run = plain_run(of, key, at + whole.bytes,
		    run_end(key, at + whole.bytes, whole.width));
		whole.width += run;
		whole.bytes += run;
	}
	if (of == NAME_OF_FAMILY || whole.width <= last_max(of))
		return whole;
	head.last = false;
	return head;
}

bool
path_inside(enum name_of of, struct slice prefix, struct slice key)
{
	size_t at = 0;

	while (at < prefix.size) {
		struct stretch part = stretch_at(of, key, at);

		if (part.last)
			return false;
		at += part.bytes;
	}
	return at == prefix.size;
}

/* What stands in front of a byte that is no character by itself may be another
 * unit in another key, until a whole character's bytes are alike. */
size_t
path_shared(enum name_of of, struct slice prefix, struct slice key)
{
	struct stretch part = stretch_at(of, key, prefix.size);

	if (part.last)
		return 0;
	size_t at = prefix.size + part.bytes;
	struct unit next = unit_at(of, key, at, false);
	if (part.width + next.width <= PART_BYTES)
		return 0;
	if (next.bytes > 1 || key.data[at] < 0x80)
		return part.bytes + next.bytes;
	return at + UNIT_BYTES <= key.size ? part.bytes + UNIT_BYTES : 0;
}

int
path_write(enum name_of of, struct slice prefix, struct slice key,
    struct buf *component, enum name_form *form, size_t *part_size)
{
	struct stretch stretch = stretch_at(of, key, prefix.size);
	size_t end = prefix.size + stretch.bytes;

	assert(slice_begins(key, prefix));
	*form = stretch.last ? FORM_KEY : FORM_PART;
	*part_size = stretch.last ? 0 : stretch.bytes;
	buf_clear(component);
	int r = buf_resize(component, stretch.width);
	if (r)
		return r;
	uint8_t *to = component->data;
	for (size_t at = prefix.size; at < end;) {
		struct unit unit = unit_at(of, key, at, at == prefix.size);

		memcpy(to, unit.text, unit.width);
		to += unit.width;
		at += unit.bytes;
		size_t run = plain_run(of, key, at, end);
		memcpy(to, key.data + at, run);
		to += run;
		at += run;
	}
	if (!stretch.last || key.size == 0)
		buf_byte(component, '%');
	return buf_status(component);
}

/* Whether the bytes of key behind its first `at` are spelled like that. */
static bool
spelled(enum name_of of, struct slice key, size_t at, struct slice text)
{
	bool first = true;

	while (at < key.size) {
		struct unit unit = unit_at(of, key, at, first);

		if (!slice_begins(text, slice_of(unit.text, unit.width)))
			return false;
		text = slice_skip(text, unit.width);
		at += unit.bytes;
		first = false;
		size_t run = plain_run(of, key, at, key.size);
		if (!slice_begins(text, slice_of(key.data + at, run)))
			return false;
		text = slice_skip(text, run);
		at += run;
	}
	return text.size == 0;
}

/* The value of an upper-case hexadecimal digit, -1 for another byte. */
static int
hex_digit(uint8_t byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/* Appends the key bytes that text spells; whether it is the right spelling is
 * seen later. */
static int
unescape(struct slice text, struct buf *key)
{
	const uint8_t *escape;

	while (text.size && (escape = memchr(text.data, '%', text.size))) {
		size_t run = (size_t)(escape - text.data);
		int high = run + 2 < text.size ? hex_digit(escape[1]) : -1;
		int low = high >= 0 ? hex_digit(escape[2]) : -1;

		if (low < 0)
			return text_refuse(slice_skip(text, run),
			    "%% must begin an escape of "
			    "two upper-case hexadecimal digits: write %%25 "
			    "for %% itself");
		buf_append(key, slice_head(text, run));
		buf_byte(key, (uint8_t)(high << 4 | low));
		text = slice_skip(text, run + 3);
	}
	buf_append(key, text);
	return buf_status(key);
}

static int
refuse_spelling(struct slice text)
{
	return text_refuse(text,
	    "no key is spelled like that: write %%25 for %%; %%XX stands "
	    "for exactly what has to be escaped, and parts are full");
}

static int
refuse_length(size_t max)
{
	return why(ENAMETOOLONG,
	    "a name of this kind has at most %zu bytes; "
	    "longer keys continue in directories",
	    max);
}

static int
refuse_key_length(enum name_of of)
{
	return why(ENAMETOOLONG, "a key of this kind has at most %zu bytes",
	    key_max(of));
}

/* Reads what names a whole key. */
static int
read_key(
    enum name_of of, struct slice prefix, struct slice text, struct buf *key)
{
	if (of == NAME_OF_QUALIFIER && !prefix.size && text.size == 1 &&
	    text.data[0] == '%')
		return 0;
	if (!text.size)
		return text_refuse(text, "a name of no bytes");
	if (text.size > last_max(of))
		return refuse_length(last_max(of));
	buf_append(key, prefix);
	int r = unescape(text, key);
	if (r)
		return r;
	struct slice whole = buf_slice(key);
	if (whole.size > key_max(of))
		return refuse_key_length(of);
	if (!path_inside(of, prefix, whole) ||
	    !spelled(of, whole, prefix.size, text))
		return refuse_spelling(text);
	return 0;
}

/* Whether key + tail is a key whose name has a part that ends after key and
 * is spelled like that. */
static int
part_possible(enum name_of of, struct slice prefix, struct buf *key,
    struct slice tail, bool *out)
{
	size_t size = key->size;

	*out = false;
	buf_append(key, tail);
	int r = buf_status(key);
	if (r)
		return r;
	struct slice whole = buf_slice(key);
	if (whole.size <= key_max(of) && path_inside(of, prefix, whole)) {
		struct stretch part = stretch_at(of, whole, prefix.size);
		*out = !part.last && prefix.size + part.bytes == size;
	}
	key->size = size;
	return 0;
}

/* If any key continues a part, one of these tails makes one: they are the
 * widest next units (a character of four bytes, an escape), which complete no
 * character, alone and with the byte more that keeps them out of a last part.
 */
static const char *const tails[] = {
    "\x01", "\x01x", "\xf0\x90\x80\x80", "\xf0\x90\x80\x80x"};

#define TAIL_COUNT (sizeof(tails) / sizeof(*tails))

/* Reads a part, text being without its bare per cent. It is one if some key
 * continues it. */
static int
read_part(
    enum name_of of, struct slice prefix, struct slice text, struct buf *key)
{
	bool possible = false;

	if (of == NAME_OF_FAMILY)
		return text_refuse(text, "a family's name is not continued");
	buf_append(key, prefix);
	int r = unescape(text, key);
	if (r)
		return r;
	if (key->size >= key_max(of))
		return refuse_key_length(of);
	for (size_t i = 0; r == 0 && !possible; i++) {
		if (i == TAIL_COUNT)
			return refuse_spelling(text);
		r = part_possible(
		    of, prefix, key, slice_text(tails[i]), &possible);
	}
	if (r == 0 && !spelled(of, buf_slice(key), prefix.size, text))
		r = refuse_spelling(text);
	return r;
}

/* Reads what stands behind the @ of a qualifier. */
static int
read_suffix(struct slice suffix, struct name *out)
{
	struct slice count = suffix;
	uint64_t number = 0;
	int r = 0;

	if (!suffix.size) {
		out->form = FORM_VERSIONS;
	} else if (slice_equal(suffix, slice_text("counter"))) {
		out->form = FORM_COUNTER;
	} else if (suffix.data[0] == '~') {
		out->form = FORM_NTH;
		count = slice_skip(suffix, 1);
		r = text_number(count, INT64_MAX, &number);
		out->number = (int64_t)number;
	} else {
		out->form = FORM_AT;
		r = path_timestamp(suffix, &out->number);
	}
	if (r)
		return text_refuse(suffix,
		    "write %%40 for @ in a name; behind @ stands a timestamp "
		    "0 to 2^63-2, ~ and a number, or counter");
	return 0;
}

static int
read_component(enum name_of of, struct slice prefix, struct slice component,
    struct buf *key, struct name *out)
{
	size_t base = component.size;
	const uint8_t *at = NULL;

	if (component.size > NAME_BYTES)
		return refuse_length(NAME_BYTES);
	if (of == NAME_OF_QUALIFIER && component.size)
		at = memchr(component.data, '@', component.size);
	if (at) {
		base = (size_t)(at - component.data);
		int r = read_suffix(slice_skip(component, base + 1), out);
		if (r)
			return r;
	} else if (base > 1 && component.data[base - 1] == '%') {
		out->form = FORM_PART;
		return read_part(
		    of, prefix, slice_head(component, base - 1), key);
	}
	return read_key(of, prefix, slice_head(component, base), key);
}

int
path_read(enum name_of of, struct slice prefix, struct slice component,
    struct buf *key, struct name *out)
{
	*out = (struct name){.form = FORM_KEY};
	buf_clear(key);
	int r = read_component(of, prefix, component, key, out);
	if (r) {
		*out = (struct name){.form = FORM_KEY};
		buf_clear(key);
	}
	return r;
}

int
path_write_part(enum name_of of, struct slice prefix, struct slice part,
    struct buf *component, size_t *part_size)
{
	struct buf key = {0};
	enum name_form form;
	int r = part.size > prefix.size && slice_begins(part, prefix)
	    ? 0 : 1;

	*part_size = 0;
	for (size_t i = 0; r == 0; i++) {
		if (i == TAIL_COUNT) {
			r = 1;
			break;
		}
		buf_clear(&key);
		buf_append(&key, part);
		buf_text(&key, tails[i]);
		r = buf_status(&key);
		if (r == 0 && path_inside(of, part, buf_slice(&key)) &&
		    path_inside(of, prefix, buf_slice(&key))) {
			r = path_write(of, prefix, buf_slice(&key), component,
			    &form, part_size);
			break;
		}
	}
	buf_release(&key);
	return r;
}

int
path_timestamp(struct slice text, int64_t *out)
{
	uint64_t number;
	int r = text_number(text, TS_MAX, &number);

	*out = (int64_t)number;
	return r;
}
