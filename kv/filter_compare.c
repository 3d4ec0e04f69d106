#include "filter_compare.h"

#include <errno.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <utf8proc.h>

#include "filter.h"
#include "text.h"
#include "why.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

void
compare_room_release(struct compare_room *room)
{
	buf_release(&room->bytes);
	buf_release(&room->text);
	pcre2_match_data_free(room->match);
	*room = (struct compare_room){0};
}

/* --- text --------------------------------------------------------------- */

/* How many bytes at the front of s, which begins no valid character, one
 * U+FFFD stands for: as many as could have begun one. */
static size_t
damaged_length(struct slice s)
{
	uint8_t whole[4];
	size_t size = 1;

	for (; size < 3 && size < s.size; size++) {
		/* Is it the beginning of some character? */
		memcpy(whole, s.data, size + 1);
		memset(whole + size + 1, 0x80, sizeof(whole) - size - 1);
		bool begins = false;
		for (size_t n = size + 2; n <= 4; n++)
			begins |= utf8_length(slice_of(whole, n)) == n;
		if (!begins)
			break;
	}
	return size;
}

/* Appends text as Java decodes it: bytes that are no UTF-8 become U+FFFD. */
static void
decode(struct slice text, struct buf *out)
{
	while (text.size) {
		size_t size = utf8_length(text);
		if (size) {
			buf_append(out, slice_head(text, size));
		} else {
			size = damaged_length(text);
			buf_text(out, REPLACEMENT);
		}
		text = slice_skip(text, size);
	}
}

static bool
is_utf8(struct slice text)
{
	while (text.size) {
		size_t size = utf8_length(text);
		if (!size)
			return false;
		text = slice_skip(text, size);
	}
	return true;
}

static void
fold_character(struct slice character, struct buf *out)
{
	utf8proc_int32_t code;
	utf8proc_uint8_t folded[4];

	utf8proc_iterate(character.data, character.size, &code);
	utf8proc_ssize_t size =
	    utf8proc_encode_char(utf8proc_tolower(code), folded);
	buf_append(out, slice_of(folded, (size_t)size));
}

/* Appends text decoded and in lower case. */
static void
fold_text(struct slice text, struct buf *out)
{
	while (text.size) {
		size_t size = utf8_length(text);
		uint8_t first = text.data[0];
		if (size == 1)
			buf_byte(out, first >= 'A' && first <= 'Z'
					  ? first + ('a' - 'A')
					  : first);
		else if (size)
			fold_character(slice_head(text, size), out);
		else
			decode(
			    slice_head(text, size = damaged_length(text)), out);
		text = slice_skip(text, size);
	}
}

/* --- reading a comparator ----------------------------------------------- */

static const struct {
	const char *name;
	enum comparator_type type;
	uint32_t options; /* of PCRE2 */
} types[] = {
    {"binary", COMPARE_BINARY, 0},
    {"binaryprefix", COMPARE_PREFIX, 0},
    {"substring", COMPARE_SUBSTRING, 0},
    {"regexstring", COMPARE_REGEX, 0},
    {"regexstringnocase", COMPARE_REGEX, PCRE2_CASELESS},
};

#define TYPES (sizeof(types) / sizeof(*types))

static int
refuse_pattern(int error, size_t at)
{
	PCRE2_UCHAR reason[160];

	if (error == PCRE2_ERROR_NOMEMORY || error == PCRE2_ERROR_HEAP_FAILED)
		return -ENOMEM;
	pcre2_get_error_message(error, reason, sizeof(reason));
	return why(EINVAL,
	    "a regular expression that is one: at its byte "
	    "%zu, %s",
	    at + 1, (const char *)reason);
}

/* As Java: the dot matches newlines too, $ stands in front of any line end. */
static int
compile(struct comparator *c, uint32_t options)
{
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	struct buf text = {0};
	PCRE2_SIZE at = 0;
	int error = 0;

	decode(c->value, &text);
	int r = context ? buf_status(&text) : -ENOMEM;
	if (r == 0) {
		pcre2_set_newline(context, PCRE2_NEWLINE_ANY);
		c->pattern = pcre2_compile(
		    text.data ? text.data : (PCRE2_SPTR) "", text.size,
		    PCRE2_UTF | PCRE2_DOTALL | PCRE2_NEVER_BACKSLASH_C |
			options,
		    &error, &at, context);
		if (!c->pattern)
			r = refuse_pattern(error, at);
	}
	if (r == 0) /* without it matching is slower, not wrong */
		pcre2_jit_compile(c->pattern, PCRE2_JIT_COMPLETE);
	pcre2_compile_context_free(context);
	buf_release(&text);
	return r;
}

int
comparator_parse(struct slice text, enum compare op, struct comparator *out)
{
	const uint8_t *colon =
	    text.size ? memchr(text.data, ':', text.size) : NULL;
	size_t at = colon ? (size_t)(colon - text.data) : 0, i = 0;

	*out = (struct comparator){0};
	while (i < TYPES && !(colon && slice_equal(slice_head(text, at),
					   slice_text(types[i].name))))
		i++;
	if (i == TYPES)
		return why(EINVAL, "'binary:...', 'binaryprefix:...', "
				   "'substring:...', 'regexstring:...' or "
				   "'regexstringnocase:...'");
	out->type = types[i].type;
	out->value = slice_skip(text, at + 1);
	if (out->type >= COMPARE_SUBSTRING && op != CMP_EQUAL &&
	    op != CMP_NOT_EQUAL)
		return why(EINVAL, "= or != in front of %s", types[i].name);
	if (out->type == COMPARE_SUBSTRING) {
		fold_text(out->value, &out->folded);
		return buf_status(&out->folded);
	}
	return out->type == COMPARE_REGEX ? compile(out, types[i].options) : 0;
}

void
comparator_release(struct comparator *c)
{
	buf_release(&c->folded);
	pcre2_code_free(c->pattern);
	*c = (struct comparator){0};
}

/* --- comparing ---------------------------------------------------------- */

/* How many bytes at the front of a part decide. */
static uint64_t
wanted(const struct comparator *c, uint64_t size)
{
	uint64_t most = c->value.size;

	if (c->type == COMPARE_BINARY)
		most++;
	return c->type >= COMPARE_SUBSTRING || size < most ? size : most;
}

static int
read_source(const struct source *source, uint64_t size, struct buf *out)
{
	int r = buf_resize(out, (size_t)size);

	return r || !size ? r : source->read(source, 0, out->data, size);
}

static int
match(const struct comparator *c, struct slice text, struct compare_room *room,
    bool *found)
{
	if (!is_utf8(text)) {
		buf_clear(&room->text);
		decode(text, &room->text);
		if (buf_status(&room->text))
			return -ENOMEM;
		text = buf_slice(&room->text);
	}
	if (!room->match)
		room->match = pcre2_match_data_create(1, NULL);
	if (!room->match)
		return -ENOMEM;
	PCRE2_SPTR data = text.size ? text.data : (PCRE2_SPTR) "";
	int r = pcre2_match(c->pattern, data, text.size, 0, PCRE2_NO_UTF_CHECK,
	    room->match, NULL);
	if (r == PCRE2_ERROR_JIT_STACKLIMIT)
		r = pcre2_match(c->pattern, data, text.size, 0,
		    PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, room->match, NULL);
	*found = r >= 0;
	if (r >= 0 || r == PCRE2_ERROR_NOMATCH)
		return 0;
	if (r == PCRE2_ERROR_NOMEMORY)
		return -ENOMEM;
	return why(E2BIG,
	    "filter: the regular expression takes too many "
	    "steps on %zu bytes",
	    text.size);
}

static int
contains(const struct comparator *c, struct slice text,
    struct compare_room *room, bool *found)
{
	buf_clear(&room->text);
	fold_text(text, &room->text);
	if (buf_status(&room->text))
		return -ENOMEM;
	*found = !c->folded.size ||
		 (room->text.size && memmem(room->text.data, room->text.size,
					 c->folded.data, c->folded.size));
	return 0;
}

int
comparator_holds(const struct comparator *c, enum compare op, struct slice part,
    const struct source *source, struct compare_room *room, bool *holds)
{
	uint64_t size = wanted(c, source ? source->size : part.size);
	bool found = false;
	int r = 0;

	*holds = false;
	if (c->type >= COMPARE_SUBSTRING && size > FILTER_SEARCH_MAX)
		return why(EFBIG,
		    "filter: a value of %llu bytes cannot be "
		    "searched, at most %zu",
		    (unsigned long long)size, FILTER_SEARCH_MAX);
	if (source) {
		r = read_source(source, size, &room->bytes);
		part = buf_slice(&room->bytes);
	} else {
		part = slice_head(part, (size_t)size);
	}
	if (r)
		return r;
	if (c->type < COMPARE_SUBSTRING) {
		*holds = compare_holds(op, slice_compare(part, c->value));
		return 0;
	}
	r = c->type == COMPARE_REGEX ? match(c, part, room, &found)
				     : contains(c, part, room, &found);
	*holds = r == 0 && found == (op == CMP_EQUAL);
	return r;
}
