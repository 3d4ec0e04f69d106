#include "tests/laws.h"

#include "kv/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rule of names once more, as plainly as it can be said: the key as a list
 * of units, each with its text. */
struct plain_unit {
	char text[5];
	size_t width, bytes;
};

void
law_broken(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	abort();
}

static bool
must_escape(enum name_of of, uint8_t byte)
{
	return byte < 0x20 || byte == 0x7f || byte == '/' || byte == '%' ||
	       (of == NAME_OF_QUALIFIER && byte == '@');
}

static size_t
plain_units(enum name_of of, struct slice key, struct plain_unit *units)
{
	size_t count = 0;

	while (key.size) {
		struct plain_unit *u = &units[count++];
		size_t length = utf8_length(key);

		memset(u, 0, sizeof(*u));
		if (length == 0 || must_escape(of, key.data[0])) {
			snprintf(
			    u->text, sizeof(u->text), "%%%02X", key.data[0]);
			u->bytes = 1;
		} else {
			memcpy(u->text, key.data, length);
			u->bytes = length;
		}
		u->width = strlen(u->text);
		key = slice_skip(key, u->bytes);
	}
	return count;
}

static void
escape_leading_dot(struct plain_unit *u)
{
	if (!strcmp(u->text, ".")) {
		memcpy(u->text, "%2E", sizeof("%2E"));
		u->width = 3;
	}
}

/* How many of the units make the next component; all of them: the last. */
static size_t
plain_component(enum name_of of, struct plain_unit *units, size_t count)
{
	size_t width = 0, max = of == NAME_OF_QUALIFIER ? 235 : 255, taken = 0;

	escape_leading_dot(units);
	for (size_t i = 0; i < count; i++)
		width += units[i].width;
	if (width <= max || of == NAME_OF_FAMILY)
		return count;
	for (width = 0; taken < count - 1; taken++) {
		width += units[taken].width;
		if (width > 254)
			break;
	}
	return taken;
}

/* One step of the key's name, against the plain rule and back. */
static size_t
step(enum name_of of, struct slice key, size_t at, struct slice expected,
    bool last)
{
	struct slice prefix = slice_head(key, at);
	struct buf component = {0}, back = {0};
	enum name_form form;
	struct name name;
	size_t part;

	REQUIRE(path_inside(of, prefix, key));
	REQUIRE(path_write(of, prefix, key, &component, &form, &part) == 0);
	REQUIRE(slice_equal(buf_slice(&component), expected));
	REQUIRE(form == (last ? FORM_KEY : FORM_PART));
	REQUIRE(component.size <= NAME_BYTES);
	REQUIRE(of != NAME_OF_QUALIFIER || !last ||
		component.size <= QUALIFIER_BYTES);
	REQUIRE(path_read(of, prefix, expected, &back, &name) == 0);
	REQUIRE(name.form == form);
	size_t reached = last ? key.size : at + part;
	REQUIRE(slice_equal(buf_slice(&back), slice_head(key, reached)));
	for (size_t i = at + 1; i < reached; i++)
		if (key.size < 300 || i < at + 4 || i + 4 > reached)
			REQUIRE(!path_inside(of, slice_head(key, i), key));
	buf_release(&component);
	buf_release(&back);
	return reached;
}

void
law_key_has_one_name(enum name_of of, struct slice key)
{
	struct plain_unit *units = calloc(key.size + 1, sizeof(*units));
	struct buf expected = {0};
	size_t at = 0, done = 0;

	REQUIRE(units);
	size_t count = plain_units(of, key, units);
	do {
		size_t taken = plain_component(of, units + done, count - done);

		buf_clear(&expected);
		for (size_t i = 0; i < taken; i++)
			buf_text(&expected, units[done + i].text);
		done += taken;
		if (done < count || count == 0)
			buf_text(&expected, "%");
		at = step(of, key, at, buf_slice(&expected), done == count);
	} while (done < count);
	REQUIRE(at == key.size);
	REQUIRE(!key.size || !path_inside(of, key, key));
	buf_release(&expected);
	free(units);
}

/* Whether key is the prefix of some longer key whose name has component as
 * its part in the directory of the first `at` bytes. */
static bool
continued_by(enum name_of of, struct slice key, size_t at,
    struct slice component, struct slice tail)
{
	struct buf longer = {0}, written = {0};
	enum name_form form;
	size_t part;

	buf_append(&longer, key);
	buf_append(&longer, tail);
	struct slice whole = buf_slice(&longer);
	bool is = whole.size <= ROW_MAX &&
		  path_inside(of, slice_head(whole, at), whole) &&
		  path_write(of, slice_head(whole, at), whole, &written, &form,
		      &part) == 0 &&
		  form == FORM_PART && at + part == key.size &&
		  slice_equal(buf_slice(&written), component);
	buf_release(&longer);
	buf_release(&written);
	return is;
}

static bool
some_key_continues(
    enum name_of of, struct slice key, size_t at, struct slice component)
{
	static const char *const ends[] = {
	    "", "y", "yy", "yyyyyyyyyyyyyyyyyyy"};
	static const char *const firsts[] = {"x", "\x01", "\xc3\xa9",
	    "\xe4\xb8\x96", "\xf0\x9f\x98\x80", "\xff"};
	char tail[32];

	for (size_t i = 0; i < sizeof(firsts) / sizeof(*firsts); i++)
		for (size_t j = 0; j < sizeof(ends) / sizeof(*ends); j++) {
			snprintf(
			    tail, sizeof(tail), "%s%s", firsts[i], ends[j]);
			if (continued_by(
				of, key, at, component, slice_text(tail)))
				return true;
		}
	return false;
}

static void
written_again(enum name_of of, struct slice prefix, struct slice component,
    const struct buf *key)
{
	struct buf written = {0};
	enum name_form form;
	size_t part;

	REQUIRE(slice_begins(buf_slice(key), prefix));
	REQUIRE(path_inside(of, prefix, buf_slice(key)));
	REQUIRE(path_write(
		    of, prefix, buf_slice(key), &written, &form, &part) == 0);
	REQUIRE(form == FORM_KEY);
	REQUIRE(slice_equal(buf_slice(&written), component));
	buf_release(&written);
}

void
law_component_is_canonical(
    enum name_of of, struct slice prefix, struct slice component)
{
	struct buf key = {0};
	struct name name;
	int r = path_read(of, prefix, component, &key, &name);

	if (r) {
		REQUIRE(r == -EINVAL || r == -ENAMETOOLONG);
		REQUIRE(key.size == 0);
	} else if (name.form == FORM_PART) {
		REQUIRE(some_key_continues(
		    of, buf_slice(&key), prefix.size, component));
	} else if (name.form == FORM_KEY) {
		written_again(of, prefix, component, &key);
	} else {
		const uint8_t *at = memchr(component.data, '@', component.size);
		REQUIRE(of == NAME_OF_QUALIFIER && at);
		written_again(of, prefix,
		    slice_head(component, (size_t)(at - component.data)), &key);
	}
	buf_release(&key);
}
