/* What an open file stores: prepared first, then one transaction, its own or
 * a rename's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/local_keys.h"
#include "kv/ordered.h"
#include "table_kit.h"

static const struct version newest = {.which = VERSION_NEWEST};

#define BIG ((2 << 20) + 17) /* three chunks */

static void
setup(void)
{
	kit_setup();
	OK(kit_create("t", "family f versions=5\nfamily g versions=2\n"));
	OK(kit_create("o", "table open=1\n"));
	OK(kit_put("o/r/f/other", 5, "v"));
}

/* A cell's place, or by a last component that begins with a dot a dot file's. */
static struct place
place_of(const char *path)
{
	static char families[4][64];
	static unsigned turn;
	const char *last = strrchr(path, '/') + 1;
	char *family = families[turn++ % 4];

	if (*last != '.')
		return kit_place(LEVEL_COLUMN, path);
	snprintf(family, 64, "%.*s", (int)(last - path - 1), path);
	return kit_dot(family, "", last);
}

static int
add_size(void *context, const struct cell *cell)
{
	buf_printf(context, " %lld:%llu", (long long)cell->timestamp,
	    (unsigned long long)cell->size);
	return 0;
}

/* "path TIMESTAMP:SIZE ..." of every version, newest first. */
static void
describe(const char *path, struct buf *out)
{
	const struct place p = place_of(path);
	struct info info;

	buf_printf(out, "%s", path);
	/* -ENOENT: a family that has not been declared yet */
	if (p.level == LEVEL_COLUMN)
		kit->methods->versions(kit, &p, TS_LATEST, add_size, out);
	else if (kit_stat(p, &info) == 0)
		buf_printf(out, " %llu", (unsigned long long)info.size);
	buf_printf(out, "; ");
}

/* Chunks, pending ones too. */
static size_t
all_chunks(void)
{
	return kit_records(kit_blobs_number("t", "f")) +
	       kit_records(kit_blobs_number("t", "g")) +
	       kit_records(kit_blobs_number("o", "f"));
}

static int
letters(const struct source *s, uint64_t offset, void *to, size_t size)
{
	(void)offset;
	memset(to, *(const char *)s->context, size);
	return 0;
}

static struct source
letters_of(const char *letter, uint64_t size)
{
	return (struct source){size, letters, letter};
}

static int
store(struct draft *d)
{
	int r;

	while ((r = kit->methods->draft_store(d)) == 1 &&
	       (r = kit->methods->draft_prepare(d)) == 0)
		;
	return r;
}

/* --- alone ------------------------------------------------------------------ */

START_TEST(a_draft_becomes_the_newest_version_and_replaces_its_own)
{
	const struct place p = place_of("t/r/f/q");
	const struct source abc = letters_of("a", 3), b = letters_of("b", BIG);
	struct content c = {.source = &abc};
	struct draft *d;

	OK(kit_put("t/r/f/q", 5, "five"));
	OK(kit->methods->draft_open(kit, &p, newest, &c, &d));
	ck_assert_int_eq(kit->methods->draft_store(d), 1);
	OK(kit->methods->draft_prepare(d));
	OK(kit->methods->draft_store(d));
	kit->methods->draft_close(d);
	ck_assert_int_eq(c.stored, KIT_NOW);
	SAYS("1000000=aaa 5=five", kit_history("t/r/f/q"));

	c = (struct content){.source = &b, .replaces = c.stored};
	OK(kit->methods->draft_open(kit, &p, newest, &c, &d));
	OK(store(d));
	kit->methods->draft_close(d);
	ck_assert_int_eq(c.stored, KIT_NOW + 1);
	ck_assert_uint_eq(all_chunks(), 3);
}
END_TEST

START_TEST(a_draft_that_is_not_stored_leaves_no_chunk)
{
	const struct source s = letters_of("a", BIG);
	struct content c = {.source = &s};
	static const char *const paths[] = {"t/r/f/q", "t/r/f/.q"};

	for (int i = 0; i < 2; i++) {
		const struct place p = place_of(paths[i]);
		struct draft *d;
		OK(kit->methods->draft_open(kit, &p, newest, &c, &d));
		OK(kit->methods->draft_prepare(d));
		ck_assert_uint_eq(all_chunks(), 4); /* one says: pending */
		kit->methods->draft_close(d);
		ck_assert_uint_eq(all_chunks(), 0);
	}
}
END_TEST

START_TEST(what_changed_since_it_was_prepared_is_prepared_for)
{
	const struct place p = place_of("t/r/f/q");
	const struct source s = letters_of("a", 10000);
	struct content c = {.source = &s, .append = true};
	struct draft *d;

	OK(kit_put("t/r/f/q", 5, "five"));
	OK(kit->methods->draft_open(kit, &p, newest, &c, &d));
	OK(kit->methods->draft_prepare(d));
	OK(kit_put("t/r/f/q", 6, "sixsix"));
	ck_assert_int_eq(kit->methods->draft_store(d), 1); /* to be joined */
	OK(kit->methods->draft_prepare(d));
	OK(kit_put("t/r/f/q", 7, "sevenseven"));
	ck_assert_int_eq(kit->methods->draft_store(d), 1);
	OK(kit->methods->draft_prepare(d));
	OK(kit->methods->table_truncate(kit, slice_text("t")));
	ck_assert_int_eq(kit->methods->draft_store(d), 1);
	OK(store(d));
	kit->methods->draft_close(d);
	struct info info;
	OK(kit_stat(p, &info));
	ck_assert_uint_eq(info.size, 10000);
	ck_assert_uint_eq(all_chunks(), 1);
}
END_TEST

START_TEST(bits_that_go_with_a_new_version_are_said)
{
	static const struct {
		mode_t before, set;
		bool cleared;
	} rows[] = {{0644, 0, false}, {04755, 0, true}, {02755, 0, true},
	    {01755, 0, false}, {04755, 04700, false}, {06755, 04700, true}};
	const struct place p = place_of("t/r/f/q");
	const struct source s = letters_of("a", 3);

	for (int i = 0; i < COUNT(rows); i++) {
		const struct attrs mode = {
		    .set = ATTR_MODE, .mode = rows[i].before};
		struct content c = {.source = &s};
		struct draft *d;
		c.attrs.set = rows[i].set ? ATTR_MODE : 0;
		c.attrs.mode = rows[i].set;
		OK(kit_put("t/r/f/q", TS_LATEST, "v"));
		OK(kit->methods->set_attrs(kit, &p, newest, &mode));
		OK(kit->methods->draft_open(kit, &p, newest, &c, &d));
		OK(store(d));
		kit->methods->draft_close(d);
		ck_assert_msg(c.cleared == rows[i].cleared, "row %d", i);
	}
}
END_TEST

/* --- with a rename ---------------------------------------------------------- */

static const struct {
	const char *from, *to;
	const char *history; /* of `from`, and what stands at `to` */
	const char *target;
	uint64_t size;
	bool append;
} forms[] = {
    /* onto a free name, */
    {"t/r/f/q", "t/r/f/p", "old", NULL, 3, false},
    {"t/r/f/q", "t/s/g/p", "old", NULL, BIG, false},
    {"t/r/f/q", "o/s/f/p", "old", NULL, BIG, false},
    {"t/r/f/q", "o/s/new/p", "old", NULL, BIG, false},
    {"t/r/f/q", "t/s/f/p", "old", NULL, 9000, true},
    /* onto a cell, */
    {"t/r/f/q", "t/r/f/p", "old", "there", 3, false},
    {"t/r/f/q", "t/r/f/p", "old", "there", BIG, false},
    {"t/r/f/q", "t/r/g/p", "old", "there", BIG, false},
    {"t/r/f/q", "o/r/f/p", "old", "there", 9000, true},
    /* from and to dot files */
    {"t/r/f/.q", "t/r/f/p", "old", NULL, 3, false},
    {"t/r/f/.q", "t/r/f/p", "old", "there", BIG, false},
    {"t/r/f/.q", "o/r/f/p", "old", "there", BIG, false},
    {"t/r/f/.q", "t/r/g/.p", "old", "there", BIG, false},
    {"t/r/f/q", "t/r/g/.p", NULL, "there", BIG, false},
};

static void
put_text(const char *path, int64_t timestamp, const char *text)
{
	const struct place p = place_of(path);

	if (p.level == LEVEL_DOT)
		OK(kit_dot_put(p, text));
	else
		OK(kit_put(path, timestamp, text));
}

/* The version `mine` of a file that was just made, if it has no other. */
static void
plant(int i)
{
	if (forms[i].history)
		put_text(forms[i].from, 5, forms[i].history);
	put_text(forms[i].from, 7, "mine");
	if (forms[i].target)
		put_text(forms[i].to, 9, forms[i].target);
}

static int
move_pending(int i)
{
	const struct place from = place_of(forms[i].from),
			   to = place_of(forms[i].to);
	const struct source s = letters_of("z", forms[i].size);
	struct content c = {
	    .source = &s, .append = forms[i].append, .replaces = 7};
	struct move_spec spec = {.from = &from, .to = &to, .flags = MOVE_KEEP};
	int64_t stored;

	OK(kit->methods->draft_open(kit, &from, newest, &c, &spec.draft));
	int r = kit_move(&spec, &stored);
	kit->methods->draft_close(spec.draft);
	return r;
}

/* Both sides, and how many chunks there are. */
static void
look(int i, struct buf *out)
{
	buf_clear(out);
	describe(forms[i].from, out);
	describe(forms[i].to, out);
	buf_printf(out, "%zu", all_chunks());
	buf_byte(out, 0);
	OK(buf_status(out));
}

START_TEST(what_is_pending_moves_with_its_name_or_stays)
{
	struct buf before = {0}, after = {0}, found = {0};
	int r = -1;

	plant(_i);
	look(_i, &before);
	OK(move_pending(_i));
	kit_reopen();
	look(_i, &after);
	ck_assert_str_ne((char *)before.data, (char *)after.data);
	for (unsigned count = 1; r; count++) {
		kit_teardown();
		setup();
		plant(_i);
		ordered_mem_fail(kit_store, EIO, count, true);
		r = move_pending(_i);
		ordered_mem_fail(kit_store, 0, 0, false);
		kit_reopen();
		look(_i, &found);
		SAYS((char *)(r ? before : after).data, (char *)found.data);
	}
	buf_release(&before);
	buf_release(&after);
	buf_release(&found);
}
END_TEST

START_TEST(the_pending_version_is_the_newest_of_the_history_that_moves)
{
	plant(0);
	OK(move_pending(0));
	SAYS("1000000=zzz 5=old", kit_history("t/r/f/p"));
	SAYS("", kit_history("t/r/f/q"));
}
END_TEST

START_TEST(onto_a_cell_the_pending_value_is_its_one_new_version)
{
	plant(5);
	OK(move_pending(5));
	SAYS("1000000=zzz 9=there", kit_history("t/r/f/p"));
	SAYS("", kit_history("t/r/f/q"));
}
END_TEST

START_TEST(what_the_target_does_not_take_is_not_stored_at_the_source)
{
	const struct place from = place_of("t/r/f/q"),
			   to = place_of("t/r/g/p");
	const struct source s = letters_of("z", 200);
	struct content c = {.source = &s};
	struct move_spec spec = {.from = &from, .to = &to};
	int64_t stored;

	OK(kit_alter(
	    "t", "family f versions=5\nfamily g max_cell_size=100\n", false));
	OK(kit_put("t/r/f/q", 5, "five"));
	OK(kit->methods->draft_open(kit, &from, newest, &c, &spec.draft));
	REFUSED(EFBIG, kit_move(&spec, &stored));
	kit->methods->draft_close(spec.draft);
	SAYS("5=five", kit_history("t/r/f/q"));
}
END_TEST

/* --- the suite -------------------------------------------------------------- */

int
main(void)
{
	Suite *s = suite_create("draft");

	TCase *c = kit_topic(s, "alone", setup, kit_teardown);
	tcase_add_test(
	    c, a_draft_becomes_the_newest_version_and_replaces_its_own);
	tcase_add_test(c, a_draft_that_is_not_stored_leaves_no_chunk);
	tcase_add_test(c, what_changed_since_it_was_prepared_is_prepared_for);
	tcase_add_test(c, bits_that_go_with_a_new_version_are_said);
	c = kit_topic(s, "renamed", setup, kit_teardown);
	tcase_add_loop_test(c, what_is_pending_moves_with_its_name_or_stays, 0,
	    COUNT(forms));
	tcase_add_test(
	    c, the_pending_version_is_the_newest_of_the_history_that_moves);
	tcase_add_test(
	    c, onto_a_cell_the_pending_value_is_its_one_new_version);
	tcase_add_test(
	    c, what_the_target_does_not_take_is_not_stored_at_the_source);
	return suite_run(s);
}
