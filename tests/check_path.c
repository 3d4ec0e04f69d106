#include "fs/path.h"
#include "kv/why.h"
#include "tests/chance.h"
#include "tests/laws.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum alphabet { LETTERS, BYTES, UTF8, FF, DOTS, PERCENT, BROKEN, ALPHABETS };

static void
append_any(struct buf *key, enum alphabet alphabet)
{
	static const char *const characters[] = {"a", "\xc3\xa9",
	    "\xe4\xb8\x96", "\xf0\x9f\x98\x80", " ", "\xcc\x81"};

	switch (alphabet) {
	case LETTERS:
		buf_byte(key, (uint8_t)('a' + chance(26)));
		break;
	case BYTES:
		buf_byte(key, (uint8_t)chance(256));
		break;
	case UTF8:
		buf_text(key, characters[chance(6)]);
		break;
	case FF:
		buf_byte(key, chance(9) ? 0xff : 0);
		break;
	case DOTS:
		buf_byte(key, "..a/"[chance(4)]);
		break;
	case PERCENT:
		buf_byte(key, "%@2F%a"[chance(6)]);
		break;
	default: /* sequences that break off */
		buf_text(key, characters[chance(6)]);
		if (chance(3) == 0)
			key->size--;
		break;
	}
}

static void
make_key(struct buf *key, enum alphabet alphabet, size_t size)
{
	buf_clear(key);
	while (key->size < size)
		append_any(key, chance(50) ? alphabet : chance(ALPHABETS));
	key->size = size;
}

static struct slice
bytes(const char *text)
{
	return slice_text(text);
}

/* --- one key, one name ---------------------------------------------------- */

struct named {
	enum name_of of;
	const char *key, *component;
};

static const struct named named[] = {
    /* what stands for itself */
    {NAME_OF_ROW, "com.cnn.www", "com.cnn.www"},
    {NAME_OF_ROW, "a b:c,d\\~#", "a b:c,d\\~#"},
    {NAME_OF_ROW, "\xe5\xad\xa6\xc3\xa9", "\xe5\xad\xa6\xc3\xa9"},
    {NAME_OF_ROW, "a@b", "a@b"},
    {NAME_OF_FAMILY, "a@b", "a@b"},
    /* what is escaped */
    {NAME_OF_QUALIFIER, "a@b", "a%40b"},
    {NAME_OF_ROW, "a/b", "a%2Fb"},
    {NAME_OF_ROW, "100%", "100%25"},
    {NAME_OF_ROW, "%41", "%2541"},
    {NAME_OF_ROW, "\x01\x1f\x7f", "%01%1F%7F"},
    /* a dot only in front */
    {NAME_OF_ROW, ".", "%2E"},
    {NAME_OF_ROW, "..", "%2E."},
    {NAME_OF_ROW, ".cells", "%2Ecells"},
    {NAME_OF_ROW, "a.", "a."},
    /* each byte of what is not UTF-8 */
    {NAME_OF_ROW, "\xff\xfe", "%FF%FE"},
    {NAME_OF_ROW, "\xc3(", "%C3("},
    {NAME_OF_ROW, "\xe4\xb8", "%E4%B8"},
    {NAME_OF_ROW, "\xed\xa0\x80", "%ED%A0%80"},
    {NAME_OF_ROW, "\xc0\xaf", "%C0%AF"},
    {NAME_OF_ROW, "\xf4\x90\x80\x80", "%F4%90%80%80"},
    {NAME_OF_QUALIFIER, "", "%"},
};

START_TEST(each_key_has_the_name_of_the_rule)
{
	const struct named *n = &named[_i];
	struct buf component = {0}, key = {0};
	enum name_form form;
	struct name name;
	size_t part;

	ck_assert_int_eq(path_write(n->of, bytes(""), bytes(n->key), &component,
			     &form, &part),
	    0);
	ck_assert_int_eq(form, FORM_KEY);
	ck_assert(slice_equal(buf_slice(&component), bytes(n->component)));
	ck_assert_int_eq(
	    path_read(n->of, bytes(""), bytes(n->component), &key, &name), 0);
	ck_assert(slice_equal(buf_slice(&key), bytes(n->key)));
	buf_release(&component);
	buf_release(&key);
}
END_TEST

static const struct named aliases[] = {
    {NAME_OF_QUALIFIER, "escaped without need", "%41"},
    {NAME_OF_QUALIFIER, "lower case", "%2f"},
    {NAME_OF_QUALIFIER, "cut off", "%4"},
    {NAME_OF_QUALIFIER, "no escape", "%zz"},
    {NAME_OF_QUALIFIER, "a part that is not full", "A%"},
    {NAME_OF_ROW, "a part of nothing", "%"},
    {NAME_OF_ROW, "a leading dot", ".a"},
    {NAME_OF_ROW, "a raw control byte", "a\x01"},
    {NAME_OF_ROW, "a raw bad byte", "a\xff"},
    {NAME_OF_ROW, "a raw slash", "a/b"},
    {NAME_OF_ROW, "an escaped inner dot", "a%2E"},
    {NAME_OF_ROW, "an escaped character", "%C3%A9"},
    {NAME_OF_ROW, "an escaped at in a row", "a%40"},
    {NAME_OF_ROW, "nothing", ""},
    {NAME_OF_FAMILY, "the empty qualifier's", "%"},
};

START_TEST(every_other_spelling_is_refused_with_a_sentence)
{
	struct buf key = {0};
	struct name name;

	why_clear();
	ck_assert_int_eq(path_read(aliases[_i].of, bytes(""),
			     bytes(aliases[_i].component), &key, &name),
	    -EINVAL);
	ck_assert_str_ne(why_text(-EINVAL), strerror(EINVAL));
	ck_assert_uint_eq(key.size, 0);
	buf_release(&key);
}
END_TEST

START_TEST(all_keys_of_one_and_two_bytes_have_one_name)
{
	for (unsigned i = 0; i < 65536; i++) {
		uint8_t key[2] = {(uint8_t)(i >> 8), (uint8_t)i};

		law_key_has_one_name(_i, slice_of(key, 2));
		if (i < 256)
			law_key_has_one_name(_i, slice_of(key + 1, 1));
	}
}
END_TEST

/* --- continuation --------------------------------------------------------- */

struct continued {
	enum name_of of;
	size_t size;	    /* this many x */
	const char *tail;   /* and this */
	size_t first;	    /* bytes of the key in the first component */
	const char *second; /* NULL: there is none */
};

static const struct continued continued[] = {
    {NAME_OF_ROW, 255, "", 255, NULL},
    {NAME_OF_ROW, 254, ".", 255, NULL},
    {NAME_OF_ROW, 256, "", 254, "xx"},
    {NAME_OF_ROW, 254, "..", 254, "%2E."},
    {NAME_OF_ROW, 254, "/", 254, "%2F"},
    {NAME_OF_ROW, 252, "/", 253, NULL},
    {NAME_OF_ROW, 252, "/x", 252, "%2Fx"},
    {NAME_OF_ROW, 253, "\xe4\xb8\x96", 253, "\xe4\xb8\x96"},
    {NAME_OF_ROW, 251, "\xf0\x9f\x98\x80", 255, NULL},
    {NAME_OF_ROW, 251, "\xf0\x9f\x98\x80x", 251, "\xf0\x9f\x98\x80x"},
    {NAME_OF_ROW, 253, "\xe4\xb8", 253, "%E4%B8"},
    {NAME_OF_QUALIFIER, 235, "", 235, NULL},
    {NAME_OF_QUALIFIER, 236, "", 235, "x"},
    {NAME_OF_QUALIFIER, 232, "\xf0\x9f\x98\x80", 232, "\xf0\x9f\x98\x80"},
    {NAME_OF_QUALIFIER, 233, "@", 233, "%40"},
    {NAME_OF_QUALIFIER, 254, "", 253, "x"},
    {NAME_OF_QUALIFIER, 255, "", 254, "x"},
    {NAME_OF_QUALIFIER, 253, "\xe4\xb8\x96", 253, "\xe4\xb8\x96"},
};

START_TEST(long_keys_continue_where_the_rule_says)
{
	const struct continued *c = &continued[_i];
	struct buf key = {0}, component = {0};
	enum name_form form;
	size_t part;

	for (size_t i = 0; i < c->size; i++)
		buf_byte(&key, 'x');
	buf_text(&key, c->tail);
	ck_assert_int_eq(path_write(c->of, bytes(""), buf_slice(&key),
			     &component, &form, &part),
	    0);
	ck_assert_int_eq(form, c->second ? FORM_PART : FORM_KEY);
	ck_assert_uint_eq(c->second ? part : key.size, c->first);
	if (c->second) {
		ck_assert_int_eq(component.data[component.size - 1], '%');
		ck_assert_int_eq(
		    path_write(c->of, slice_head(buf_slice(&key), part),
			buf_slice(&key), &component, &form, &part),
		    0);
		ck_assert_int_eq(form, FORM_KEY);
		ck_assert(slice_equal(buf_slice(&component), bytes(c->second)));
	}
	law_key_has_one_name(c->of, buf_slice(&key));
	buf_release(&key);
	buf_release(&component);
}
END_TEST

START_TEST(a_rest_that_completes_a_character_is_refused)
{
	struct buf prefix = {0}, key = {0};
	struct name name;

	for (int i = 0; i < 248; i++)
		buf_byte(&prefix, 'x');
	buf_text(&prefix, "\xe4\xb8"); /* %E4%B8: a full part of 254 bytes */
	struct slice dir = buf_slice(&prefix);
	ck_assert_int_eq(
	    path_read(NAME_OF_ROW, dir, bytes("%96"), &key, &name), -EINVAL);
	ck_assert_int_eq(
	    path_read(NAME_OF_ROW, dir, bytes("%FF"), &key, &name), 0);
	buf_release(&prefix);
	buf_release(&key);
}
END_TEST

START_TEST(what_is_too_long_says_so)
{
	struct buf key = {0}, component = {0}, back = {0};
	struct name name;
	enum name_form form;
	size_t part, at = 0;

	for (int i = 0; i < 300; i++)
		buf_byte(&component, 'x');
	struct slice xs = buf_slice(&component);
	for (size_t size = 200; size <= 300; size++) {
		int qualifier = path_read(NAME_OF_QUALIFIER, bytes(""),
		    slice_head(xs, size), &back, &name);
		int row = path_read(
		    NAME_OF_ROW, bytes(""), slice_head(xs, size), &back, &name);

		ck_assert_int_eq(qualifier, size > 235 ? -ENAMETOOLONG : 0);
		ck_assert_int_eq(row, size > 255 ? -ENAMETOOLONG : 0);
	}
	ck_assert_int_eq(path_read(NAME_OF_FAMILY, bytes(""),
			     slice_head(xs, 128), &back, &name),
	    -ENAMETOOLONG);

	/* A row of 32767 bytes, then one byte more in its last directory. */
	buf_byte(&key, '/');
	while (key.size < ROW_MAX)
		buf_byte(&key, 'x');
	struct slice row = buf_slice(&key);
	do {
		ck_assert_int_eq(path_write(NAME_OF_ROW, slice_head(row, at),
				     row, &component, &form, &part),
		    0);
		at += part;
	} while (form == FORM_PART);
	ck_assert_int_eq(path_read(NAME_OF_ROW, slice_head(row, at),
			     buf_slice(&component), &back, &name),
	    0);
	buf_byte(&component, 'x');
	ck_assert_int_eq(path_read(NAME_OF_ROW, slice_head(row, at),
			     buf_slice(&component), &back, &name),
	    -ENAMETOOLONG);
	buf_release(&key);
	buf_release(&component);
	buf_release(&back);
}
END_TEST

START_TEST(keys_of_every_length_up_to_1200_have_one_name)
{
	struct buf key = {0};
	enum name_of of = _i ? NAME_OF_QUALIFIER : NAME_OF_ROW;

	chance_seed();
	for (size_t size = _i ? 0 : 1; size <= 1200; size++)
		for (int alphabet = 0; alphabet < ALPHABETS; alphabet++) {
			make_key(&key, alphabet, size);
			law_key_has_one_name(of, buf_slice(&key));
		}
	buf_release(&key);
}
END_TEST

START_TEST(very_long_keys_have_one_name)
{
	struct buf key = {0};

	chance_seed();
	make_key(&key, _i % ALPHABETS,
	    _i < ALPHABETS ? ROW_MAX : 2000 + chance(4000));
	law_key_has_one_name(
	    chance(2) ? NAME_OF_ROW : NAME_OF_QUALIFIER, buf_slice(&key));
	buf_release(&key);
}
END_TEST

START_TEST(the_last_bytes_a_row_may_have_can_still_be_a_component)
{
	static const struct {
		size_t size;
		const char *tail;
	} ends[] = {{32766, "/"}, {32764, "/x"}, {32512, "x"}};
	struct buf key = {0};

	while (key.size < ends[_i].size)
		buf_byte(&key, 'x');
	buf_text(&key, ends[_i].tail);
	law_key_has_one_name(NAME_OF_ROW, buf_slice(&key));
	law_key_has_one_name(NAME_OF_QUALIFIER, buf_slice(&key));
	buf_release(&key);
}
END_TEST

/* Changes a byte or two of a component in the ways people and bugs do. */
static void
mutate(struct buf *component)
{
	size_t at = chance(component->size + 1);
	struct buf copy = {0};
	struct slice s = buf_slice(component);

	buf_append(&copy, slice_head(s, at));
	switch (chance(6)) {
	case 0:
		buf_byte(&copy, (uint8_t)chance(256));
		break;
	case 1:
		buf_byte(&copy, "%@./09AFaf~"[chance(11)]);
		break;
	case 2:
		buf_printf(&copy, "%%%02X", (unsigned)chance(256));
		break;
	case 3:
		buf_text(&copy, "@12");
		at = s.size;
		break;
	case 4:
		buf_byte(&copy, '%');
		at = s.size;
		break;
	default:
		break;
	}
	if (at < s.size)
		buf_append(&copy, slice_skip(s, at + chance(2)));
	buf_release(component);
	*component = copy;
}

START_TEST(mutated_components_are_refused_or_canonical)
{
	struct buf key = {0}, component = {0};
	enum name_form form = FORM_KEY;
	size_t part;

	chance_seed();
	for (int i = 0; i < 40000; i++) {
		enum name_of of = chance(2) ? NAME_OF_ROW : NAME_OF_QUALIFIER;
		size_t at = 0;

		make_key(&key, chance(ALPHABETS), 1 + chance(700));
		struct slice s = buf_slice(&key);
		do {
			ck_assert_int_eq(path_write(of, slice_head(s, at), s,
					     &component, &form, &part),
			    0);
			if (form == FORM_KEY || chance(3) == 0)
				break;
			at += part;
		} while (form == FORM_PART);
		for (uint64_t n = chance(3) + 1; n; n--)
			mutate(&component);
		law_component_is_canonical(
		    of, slice_head(s, at), buf_slice(&component));
	}
	buf_release(&key);
	buf_release(&component);
}
END_TEST

START_TEST(a_directory_shows_what_continues_through_it_only)
{
	struct buf key = {0};

	/* 254 x and two more: the directory of 254 x, no other. */
	for (int i = 0; i < 256; i++)
		buf_byte(&key, 'x');
	struct slice s = buf_slice(&key);
	for (size_t size = 1; size <= 256; size++)
		ck_assert_int_eq(
		    path_inside(NAME_OF_ROW, slice_head(s, size), s),
		    size == 254);
	ck_assert(path_inside(NAME_OF_ROW, bytes(""), s));
	/* 255 x fit into one component: in no directory. */
	ck_assert(
	    !path_inside(NAME_OF_ROW, slice_head(s, 254), slice_head(s, 255)));
	buf_release(&key);
}
END_TEST

/* --- behind the @ --------------------------------------------------------- */

static const struct {
	const char *component;
	int result;
	enum name_form form;
	int64_t number;
} suffixes[] = {
    {"q@0", 0, FORM_AT, 0},
    {"q@1700000000000", 0, FORM_AT, 1700000000000},
    {"q@9223372036854775806", 0, FORM_AT, TS_MAX},
    {"%@5", 0, FORM_AT, 5},
    {"q%40@5", 0, FORM_AT, 5},
    {"q@~0", 0, FORM_NTH, 0},
    {"q@~12", 0, FORM_NTH, 12},
    {"q@counter", 0, FORM_COUNTER, 0},
    {"q@", 0, FORM_VERSIONS, 0},
    {"q@9223372036854775807", -EINVAL, FORM_KEY, 0},
    {"q@9223372036854775808", -EINVAL, FORM_KEY, 0},
    {"q@99999999999999999999", -EINVAL, FORM_KEY, 0},
    {"q@-1", -EINVAL, FORM_KEY, 0},
    {"q@+5", -EINVAL, FORM_KEY, 0},
    {"q@007", -EINVAL, FORM_KEY, 0},
    {"q@00", -EINVAL, FORM_KEY, 0},
    {"q@0x10", -EINVAL, FORM_KEY, 0},
    {"q@1e3", -EINVAL, FORM_KEY, 0},
    {"q@abc", -EINVAL, FORM_KEY, 0},
    {"q@ 5", -EINVAL, FORM_KEY, 0},
    {"q@5 ", -EINVAL, FORM_KEY, 0},
    {"q@~", -EINVAL, FORM_KEY, 0},
    {"q@~01", -EINVAL, FORM_KEY, 0},
    {"q@~-1", -EINVAL, FORM_KEY, 0},
    {"q@Counter", -EINVAL, FORM_KEY, 0},
    {"q@5@6", -EINVAL, FORM_KEY, 0},
    {"q@@", -EINVAL, FORM_KEY, 0},
    {"@5", -EINVAL, FORM_KEY, 0},
    {"@", -EINVAL, FORM_KEY, 0},
    {"%41@5", -EINVAL, FORM_KEY, 0},
    {".q@5", -EINVAL, FORM_KEY, 0},
};

START_TEST(suffixes_are_canonical_or_refused)
{
	struct buf key = {0};
	struct name name;

	ck_assert_int_eq(path_read(NAME_OF_QUALIFIER, bytes(""),
			     bytes(suffixes[_i].component), &key, &name),
	    suffixes[_i].result);
	ck_assert_int_eq(name.form, suffixes[_i].form);
	ck_assert_int_eq(name.number, suffixes[_i].number);
	buf_release(&key);
}
END_TEST

START_TEST(a_suffix_always_fits_and_never_follows_a_part)
{
	struct buf full = {0}, key = {0};
	struct name name;

	for (int i = 0; i < 235; i++)
		buf_byte(&full, 'x');
	buf_text(&full, "@9223372036854775806");
	ck_assert_uint_eq(full.size, NAME_BYTES);
	ck_assert_int_eq(path_read(NAME_OF_QUALIFIER, bytes(""),
			     buf_slice(&full), &key, &name),
	    0);
	ck_assert_int_eq(name.form, FORM_AT);
	ck_assert_uint_eq(key.size, 235);

	full.size = 235;
	buf_text(&full, "x@5");
	ck_assert_int_eq(path_read(NAME_OF_QUALIFIER, bytes(""),
			     buf_slice(&full), &key, &name),
	    -ENAMETOOLONG);
	full.size = 235;
	buf_text(&full, "%@5");
	ck_assert_int_eq(path_read(NAME_OF_QUALIFIER, bytes(""),
			     buf_slice(&full), &key, &name),
	    -ENAMETOOLONG);
	full.size = 100;
	buf_text(&full, "%@5");
	ck_assert_int_eq(path_read(NAME_OF_QUALIFIER, bytes(""),
			     buf_slice(&full), &key, &name),
	    -EINVAL);
	buf_release(&full);
	buf_release(&key);
}
END_TEST

START_TEST(timestamps_are_read_as_they_are_written)
{
	int64_t number;

	ck_assert_int_eq(
	    path_timestamp(bytes("9223372036854775806"), &number), 0);
	ck_assert_int_eq(number, TS_MAX);
	ck_assert_int_eq(
	    path_timestamp(bytes("9223372036854775807"), &number), -EINVAL);
	ck_assert_int_eq(number, 0);
	ck_assert_int_eq(path_timestamp(bytes(""), &number), -EINVAL);
}
END_TEST

#define COUNT(table) (int)(sizeof(table) / sizeof(*(table)))

static Suite *
suite(void)
{
	Suite *s = suite_create("path");
	TCase *names = tcase_create("names");
	TCase *parts = tcase_create("parts");
	TCase *at = tcase_create("at");

	tcase_set_timeout(names, 60);
	tcase_add_loop_test(
	    names, each_key_has_the_name_of_the_rule, 0, COUNT(named));
	tcase_add_loop_test(names,
	    every_other_spelling_is_refused_with_a_sentence, 0, COUNT(aliases));
	tcase_add_loop_test(names, all_keys_of_one_and_two_bytes_have_one_name,
	    NAME_OF_ROW, NAME_OF_QUALIFIER + 1);
	suite_add_tcase(s, names);

	tcase_set_timeout(parts, 120);
	tcase_add_loop_test(
	    parts, long_keys_continue_where_the_rule_says, 0, COUNT(continued));
	tcase_add_test(parts, a_rest_that_completes_a_character_is_refused);
	tcase_add_test(parts, what_is_too_long_says_so);
	tcase_add_loop_test(
	    parts, keys_of_every_length_up_to_1200_have_one_name, 0, 2);
	tcase_add_loop_test(
	    parts, very_long_keys_have_one_name, 0, 2 * ALPHABETS);
	tcase_add_loop_test(parts,
	    the_last_bytes_a_row_may_have_can_still_be_a_component, 0, 3);
	tcase_add_test(parts, mutated_components_are_refused_or_canonical);
	tcase_add_test(parts, a_directory_shows_what_continues_through_it_only);
	suite_add_tcase(s, parts);

	tcase_add_loop_test(
	    at, suffixes_are_canonical_or_refused, 0, COUNT(suffixes));
	tcase_add_test(at, a_suffix_always_fits_and_never_follows_a_part);
	tcase_add_test(at, timestamps_are_read_as_they_are_written);
	suite_add_tcase(s, at);
	return s;
}

int
main(void)
{
	return suite_run(suite());
}
