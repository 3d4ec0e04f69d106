/* Listings of long keys: each name once, none missing, wherever they end. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/node.h"
#include "fs/path.h"
#include "kv/kv_data.h"
#include "tests/chance.h"
#include "tests/suite.h"
#include "tree_kit.h"

#define KEYS 120
#define ROUNDS 12

static struct buf keys[KEYS];
static struct buf parts[KEYS]; /* kept, some of them empty */
static enum name_of of;

/* --- what is there ---------------------------------------------------------- */

/* Keys that begin alike and end near the last byte a component may have, in
 * units of every width. */
static void
choose_key(struct buf *key, size_t stem)
{
	static const char *const units[] = {
		"a", "a", "a", "b", "\x01", "\xc3", "\xc3\xa9", "\xe2\x82\xac",
		"\xf0\x90\x80\x80", "\xf0"};
	size_t more = chance(40);

	buf_clear(key);
	for (size_t i = 0; i < stem; i++)
		buf_byte(key, 'a');
	for (size_t i = 0; i < more; i++)
		buf_text(key, units[chance(chance(4) ? 3 : 10)]);
	OK(buf_status(key));
}

static void
put(struct slice key)
{
	bool rows = of == NAME_OF_ROW;
	struct op op = {.type = OP_PUT, .timestamp = TS_LATEST,
		.family = slice_text("f"),
		.qualifier = rows ? slice_text("q") : key};
	struct mutation m = {.table = slice_text("t"),
		.row = rows ? key : slice_text("r"), .ops = &op, .count = 1};

	OK(kv_mutate(tree_fs.kv, &m));
}

static void
keep_part(struct slice prefix)
{
	bool rows = of == NAME_OF_ROW;
	struct place place = {
		.level = rows ? LEVEL_ROW_PART : LEVEL_COLUMN_PART,
		.table = slice_text("t"),
		.row = rows ? prefix : slice_text("r"),
		.family = slice_text(rows ? "" : "f"),
		.qualifier = rows ? slice_text("") : prefix};
	struct attrs attrs = {.set = ATTR_MODE | ATTR_UID | ATTR_GID,
		.mode = 0755};
	int r = kv_dir_make(tree_fs.kv, &place, &attrs);

	ck_assert(r == 0 || r == -EEXIST);
}

static void
fill(void)
{
	size_t stem = 215 + chance(25);

	for (size_t i = 0; i < KEYS; i++) {
		struct buf name = {0};
		enum name_form form;
		size_t part;

		choose_key(&keys[i], stem);
		put(buf_slice(&keys[i]));
		buf_clear(&parts[i]);
		if (chance(3))
			continue;
		choose_key(&parts[i], stem);
		OK(path_write(of, slice_text(""), buf_slice(&parts[i]), &name,
		    &form, &part));
		parts[i].size = form == FORM_PART ? part : 0;
		if (parts[i].size)
			keep_part(buf_slice(&parts[i]));
		buf_release(&name);
	}
}

/* --- what is listed ---------------------------------------------------------- */

struct seen {
	enum kind kind;
	struct buf key;
};

struct names {
	struct listing listing;
	struct seen seen[2 * KEYS];
	size_t count, left;
};

static bool
seen_before(const struct names *n, enum kind kind, struct slice key)
{
	for (size_t i = 0; i < n->count; i++)
		if (n->seen[i].kind == kind &&
		    slice_equal(buf_slice(&n->seen[i].key), key))
			return true;
	return false;
}

static int
take_name(struct listing *to, const struct child *child, struct slice name,
    const struct look *look)
{
	struct names *n = (struct names *)to;

	(void)name;
	(void)look;
	if (!n->left--)
		return LIST_STOP;
	ck_assert_msg(!seen_before(n, child->kind, buf_slice(&child->key)),
	    "listed twice: %zu bytes", child->key.size);
	ck_assert_uint_lt(n->count, 2 * KEYS);
	n->seen[n->count].kind = child->kind;
	OK(buf_set(&n->seen[n->count++].key, buf_slice(&child->key)));
	return LIST_MORE;
}

/* Lists a directory in pieces of random size, as the kernel does. */
static void
list(const struct spot *dir, struct names *n)
{
	struct mark mark = {0};
	size_t before;

	*n = (struct names){.listing = {.take = take_name, .mark = &mark}};
	do {
		before = n->count;
		n->left = 1 + chance(20);
		OK(node_list(&tree_fs, dir, &n->listing));
	} while (n->count > before);
	buf_release(&mark.name);
}

static struct spot
spot_of(struct slice prefix)
{
	bool rows = of == NAME_OF_ROW, part = prefix.size;
	struct spot s = {.place = {.table = slice_text("t"), .row = prefix,
		.family = slice_text(""), .qualifier = slice_text("")}};

	s.kind = rows && part ? KIND_ROW_PART
	    : rows	      ? KIND_TABLE
	    : part	      ? KIND_COLUMN_PART
			      : KIND_FAMILY;
	s.place.level = kinds[s.kind].level;
	if (!rows) {
		s.place.row = slice_text("r");
		s.place.family = slice_text("f");
		s.place.qualifier = prefix;
	}
	return s;
}

/* Every key is in the listing of each directory its name leads through. */
static void
check_directory(struct slice prefix)
{
	struct names *n = malloc(sizeof(*n));
	struct spot dir = spot_of(prefix);
	enum kind key_kind = of == NAME_OF_ROW ? KIND_ROW : KIND_CELL;
	enum kind part_kind =
	    of == NAME_OF_ROW ? KIND_ROW_PART : KIND_COLUMN_PART;
	struct buf name = {0};

	ck_assert_ptr_nonnull(n);
	list(&dir, n);
	for (size_t i = 0; i < KEYS; i++) {
		struct slice key = buf_slice(&keys[i]);
		enum name_form form;
		size_t part;

		if (!slice_begins(key, prefix) ||
		    !path_inside(of, prefix, key))
			continue;
		OK(path_write(of, prefix, key, &name, &form, &part));
		bool whole = form == FORM_KEY;
		ck_assert_msg(seen_before(n, whole ? key_kind : part_kind,
			whole ? key : slice_head(key, prefix.size + part)),
		    "a key of %zu bytes is not listed", key.size);
	}
	for (size_t i = 0; i < KEYS && !prefix.size; i++)
		ck_assert(!parts[i].size ||
		    seen_before(n, part_kind, buf_slice(&parts[i])));
	for (size_t i = 0; i < n->count; i++) {
		if (n->seen[i].kind == part_kind)
			check_directory(buf_slice(&n->seen[i].key));
		buf_release(&n->seen[i].key);
	}
	buf_release(&name);
	free(n);
}

static void
check_rounds(enum name_of which)
{
	of = which;
	chance_seed();
	for (int round = 0; round < ROUNDS; round++) {
		tree_setup_table();
		fill();
		check_directory(slice_text(""));
		tree_teardown();
	}
	for (size_t i = 0; i < KEYS; i++) {
		buf_release(&keys[i]);
		buf_release(&parts[i]);
	}
}

START_TEST(rows_of_every_length_are_listed_once)
{
	check_rounds(NAME_OF_ROW);
}
END_TEST

START_TEST(qualifiers_of_every_length_are_listed_once)
{
	check_rounds(NAME_OF_QUALIFIER);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("parts");
	TCase *listings = tcase_create("listings");

	tcase_set_timeout(listings, 60);
	tcase_add_test(listings, rows_of_every_length_are_listed_once);
	tcase_add_test(listings, qualifiers_of_every_length_are_listed_once);
	suite_add_tcase(suite, listings);
	return suite_run(suite);
}
