#include "schema.h"

#include "text.h"

#include <errno.h>
#include <utf8proc.h>

#define COMPONENT_MAX 255 /* bytes of a file name, as everywhere */

/* Unicode's Other_Alphabetic below 10000: what is alphabetic besides letters
 * and letter numbers (vowel signs, circled letters). Unicode 14. */
/* clang-format off */
static const uint16_t other_alphabetic[][2] = {
	{0x0345, 0x0345}, {0x05b0, 0x05bd}, {0x05bf, 0x05bf}, {0x05c1, 0x05c2},
	{0x05c4, 0x05c5}, {0x05c7, 0x05c7}, {0x0610, 0x061a}, {0x064b, 0x0657},
	{0x0659, 0x065f}, {0x0670, 0x0670}, {0x06d6, 0x06dc}, {0x06e1, 0x06e4},
	{0x06e7, 0x06e8}, {0x06ed, 0x06ed}, {0x0711, 0x0711}, {0x0730, 0x073f},
	{0x07a6, 0x07b0}, {0x0816, 0x0817}, {0x081b, 0x0823}, {0x0825, 0x0827},
	{0x0829, 0x082c}, {0x08d4, 0x08df}, {0x08e3, 0x08e9}, {0x08f0, 0x0903},
	{0x093a, 0x093b}, {0x093e, 0x094c}, {0x094e, 0x094f}, {0x0955, 0x0957},
	{0x0962, 0x0963}, {0x0981, 0x0983}, {0x09be, 0x09c4}, {0x09c7, 0x09c8},
	{0x09cb, 0x09cc}, {0x09d7, 0x09d7}, {0x09e2, 0x09e3}, {0x0a01, 0x0a03},
	{0x0a3e, 0x0a42}, {0x0a47, 0x0a48}, {0x0a4b, 0x0a4c}, {0x0a51, 0x0a51},
	{0x0a70, 0x0a71}, {0x0a75, 0x0a75}, {0x0a81, 0x0a83}, {0x0abe, 0x0ac5},
	{0x0ac7, 0x0ac9}, {0x0acb, 0x0acc}, {0x0ae2, 0x0ae3}, {0x0afa, 0x0afc},
	{0x0b01, 0x0b03}, {0x0b3e, 0x0b44}, {0x0b47, 0x0b48}, {0x0b4b, 0x0b4c},
	{0x0b56, 0x0b57}, {0x0b62, 0x0b63}, {0x0b82, 0x0b82}, {0x0bbe, 0x0bc2},
	{0x0bc6, 0x0bc8}, {0x0bca, 0x0bcc}, {0x0bd7, 0x0bd7}, {0x0c00, 0x0c03},
	{0x0c3e, 0x0c44}, {0x0c46, 0x0c48}, {0x0c4a, 0x0c4c}, {0x0c55, 0x0c56},
	{0x0c62, 0x0c63}, {0x0c81, 0x0c83}, {0x0cbe, 0x0cc4}, {0x0cc6, 0x0cc8},
	{0x0cca, 0x0ccc}, {0x0cd5, 0x0cd6}, {0x0ce2, 0x0ce3}, {0x0d00, 0x0d03},
	{0x0d3e, 0x0d44}, {0x0d46, 0x0d48}, {0x0d4a, 0x0d4c}, {0x0d57, 0x0d57},
	{0x0d62, 0x0d63}, {0x0d81, 0x0d83}, {0x0dcf, 0x0dd4}, {0x0dd6, 0x0dd6},
	{0x0dd8, 0x0ddf}, {0x0df2, 0x0df3}, {0x0e31, 0x0e31}, {0x0e34, 0x0e3a},
	{0x0e4d, 0x0e4d}, {0x0eb1, 0x0eb1}, {0x0eb4, 0x0eb9}, {0x0ebb, 0x0ebc},
	{0x0ecd, 0x0ecd}, {0x0f71, 0x0f81}, {0x0f8d, 0x0f97}, {0x0f99, 0x0fbc},
	{0x102b, 0x1036}, {0x1038, 0x1038}, {0x103b, 0x103e}, {0x1056, 0x1059},
	{0x105e, 0x1060}, {0x1062, 0x1064}, {0x1067, 0x106d}, {0x1071, 0x1074},
	{0x1082, 0x108d}, {0x108f, 0x108f}, {0x109a, 0x109d}, {0x1712, 0x1713},
	{0x1732, 0x1733}, {0x1752, 0x1753}, {0x1772, 0x1773}, {0x17b6, 0x17c8},
	{0x1885, 0x1886}, {0x18a9, 0x18a9}, {0x1920, 0x192b}, {0x1930, 0x1938},
	{0x1a17, 0x1a1b}, {0x1a55, 0x1a5e}, {0x1a61, 0x1a74}, {0x1abf, 0x1ac0},
	{0x1acc, 0x1ace}, {0x1b00, 0x1b04}, {0x1b35, 0x1b43}, {0x1b80, 0x1b82},
	{0x1ba1, 0x1ba9}, {0x1bac, 0x1bad}, {0x1be7, 0x1bf1}, {0x1c24, 0x1c36},
	{0x1de7, 0x1df4}, {0x24b6, 0x24e9}, {0x2de0, 0x2dff}, {0xa674, 0xa67b},
	{0xa69e, 0xa69f}, {0xa802, 0xa802}, {0xa80b, 0xa80b}, {0xa823, 0xa827},
	{0xa880, 0xa881}, {0xa8b4, 0xa8c3}, {0xa8c5, 0xa8c5}, {0xa8ff, 0xa8ff},
	{0xa926, 0xa92a}, {0xa947, 0xa952}, {0xa980, 0xa983}, {0xa9b4, 0xa9bf},
	{0xa9e5, 0xa9e5}, {0xaa29, 0xaa36}, {0xaa43, 0xaa43}, {0xaa4c, 0xaa4d},
	{0xaa7b, 0xaa7d}, {0xaab0, 0xaab0}, {0xaab2, 0xaab4}, {0xaab7, 0xaab8},
	{0xaabe, 0xaabe}, {0xaaeb, 0xaaef}, {0xaaf5, 0xaaf5}, {0xabe3, 0xabea},
	{0xfb1e, 0xfb1e},
};
/* clang-format on */

static bool
alphabetic(utf8proc_int32_t code)
{
	size_t low = 0;
	size_t high = sizeof(other_alphabetic) / sizeof(*other_alphabetic);

	switch (utf8proc_category(code)) {
	case UTF8PROC_CATEGORY_LU:
	case UTF8PROC_CATEGORY_LL:
	case UTF8PROC_CATEGORY_LT:
	case UTF8PROC_CATEGORY_LM:
	case UTF8PROC_CATEGORY_LO:
	case UTF8PROC_CATEGORY_NL:
		return true;
	default:
		break;
	}
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (code > other_alphabetic[middle][1])
			low = middle + 1;
		else
			high = middle;
	}
	return low < sizeof(other_alphabetic) / sizeof(*other_alphabetic) &&
	       code >= other_alphabetic[low][0];
}

/* Whether the valid character s may stand in a table's name. As in HBase,
 * which looks at UTF-16 units, characters beyond FFFF may not. */
static bool
name_character(struct slice s)
{
	utf8proc_int32_t code;

	utf8proc_iterate(s.data, (utf8proc_ssize_t)s.size, &code);
	return code == '_' || code == '-' || code == '.' ||
	       (code <= 0xffff &&
		   (alphabetic(code) ||
		       utf8proc_category(code) == UTF8PROC_CATEGORY_ND));
}

static bool
is(struct slice name, const char *text)
{
	return slice_equal(name, slice_text(text));
}

static int
check_characters(struct slice name)
{
	for (struct slice rest = name; rest.size;) {
		size_t length = utf8_length(rest);

		if (!length || !name_character(slice_head(rest, length)))
			return text_refuse(name,
			    "a table's name has letters, "
			    "digits, _ - and . only (UTF-8, up to U+FFFF)");
		rest = slice_skip(rest, length);
	}
	return 0;
}

static int
check_qualifier(struct slice name)
{
	if (!name.size || name.data[0] == '.' || name.data[0] == '-')
		return text_refuse(
		    name, "a table's name begins with a letter, a digit or _");
	if (is(name, "zookeeper"))
		return text_refuse(name, "reserved, choose another name");
	return check_characters(name);
}

static int
check_namespace(struct slice name, struct slice qualifier)
{
	if (is(name, "default"))
		return text_refuse(name,
		    "the namespace that is meant without "
		    "naming it: the table is called '%.*s'",
		    (int)qualifier.size, (const char *)qualifier.data);
	if (is(name, "hbase") || is(name, "zookeeper"))
		return text_refuse(
		    name, "a reserved namespace, choose another");
	for (size_t i = 0; i < name.size; i++)
		if (name.data[i] == '-' || name.data[i] == '.')
			return text_refuse(name, "a namespace has letters, "
						 "digits and _ only");
	if (!name.size)
		return text_refuse(name, "a namespace has a name, or leave "
					 "its colon out too");
	return check_characters(name);
}

int
schema_check_table_name(struct slice name)
{
	size_t colon = 0;

	if (name.size > TABLE_MAX)
		return text_refuse(name,
		    "a table's name has at most %d bytes, "
		    "this one %zu",
		    TABLE_MAX, name.size);
	while (colon < name.size && name.data[colon] != ':')
		colon++;
	if (colon == name.size)
		return check_qualifier(name);
	int r = check_qualifier(slice_skip(name, colon + 1));
	return r ? r
		 : check_namespace(
		       slice_head(name, colon), slice_skip(name, colon + 1));
}

/* The bytes that a family's name takes in the tree, where a per cent sign and
 * each byte of what is not UTF-8 become %XX. */
static size_t
escaped_size(struct slice name)
{
	size_t size = 0;

	while (name.size) {
		size_t length = utf8_length(name);

		size += length && name.data[0] != '%' ? length : 3;
		name = slice_skip(name, length ? length : 1);
	}
	return size;
}

int
schema_check_family_name(struct slice name)
{
	if (!name.size || name.size > FAMILY_MAX)
		return text_refuse(name,
		    "a family's name has 1 to %d bytes, "
		    "this one %zu",
		    FAMILY_MAX, name.size);
	if (name.data[0] == '.')
		return text_refuse(
		    name, "a family's name does not begin with a dot");
	if (is(name, "recovered.edits"))
		return text_refuse(name, "reserved, choose another name");
	for (size_t i = 0; i < name.size; i++) {
		uint8_t byte = name.data[i];

		if (byte < 0x20 || byte == 0x7f || byte == ':' ||
		    byte == '\\' || byte == '/')
			return text_refuse(name,
			    "a family's name has no "
			    "control bytes and none of : / and backslash");
	}
	if (escaped_size(name) > COMPONENT_MAX)
		return text_refuse(name,
		    "a family's name takes at most %d "
		    "bytes as a file name, this one %zu (%% and bytes that "
		    "are not UTF-8 take three)",
		    COMPONENT_MAX, escaped_size(name));
	return 0;
}
