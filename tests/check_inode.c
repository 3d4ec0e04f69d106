/* What the kernel has a number for: holds, lookups, names that move. */
#include "fs/inode.h"
#include "suite.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fs fs;

static void
setup(void)
{
	ck_assert_int_eq(nodes_open(&fs), 0);
}

/* The table is empty when everything has been let go. */
static void
teardown(void)
{
	ck_assert_uint_eq(fs.nodes->count, 0);
	ck_assert_uint_eq(fs.nodes->root.holds, 1);
	nodes_close(&fs);
}

static struct inode *
get(struct inode *dir, enum kind kind, const char *key, int64_t number)
{
	struct child child = {0};

	ck_assert_int_eq(child_set(&child, kind, slice_text(key), number), 0);
	struct inode *inode = inode_get(&fs, dir, &child);
	child_release(&child);
	ck_assert_ptr_nonnull(inode);
	return inode;
}

static struct inode *
known(struct inode *dir, enum kind kind, const char *key, int64_t number)
{
	struct child child = {0};

	ck_assert_int_eq(child_set(&child, kind, slice_text(key), number), 0);
	struct inode *inode = inode_known(&fs, dir, &child);
	child_release(&child);
	return inode;
}

static void
move(struct inode *inode, struct inode *dir, enum kind kind, const char *key)
{
	struct child child = {0};

	ck_assert_int_eq(child_set(&child, kind, slice_text(key), 0), 0);
	inode_move(&fs, inode, dir, &child);
	child_release(&child);
}

/* t/r/f/q, each held. */
static struct inode *t, *r, *f, *q;

static void
plant(void)
{
	setup();
	t = get(&fs.nodes->root, KIND_TABLE, "t", 0);
	r = get(t, KIND_ROW, "r", 0);
	f = get(r, KIND_FAMILY, "f", 0);
	q = get(f, KIND_CELL, "q", 0);
}

static void
let_go(void)
{
	inode_put(&fs, q);
	inode_put(&fs, f);
	inode_put(&fs, r);
	inode_put(&fs, t);
}

static void
uproot(void)
{
	let_go();
	teardown();
}

/* Where an inode stands: "t/r/f/q". */
static const char *
where(struct inode *inode)
{
	static char text[256];
	struct spot s;
	int error = inode_spot(&fs, inode, &s);

	if (error)
		return strerror(-error);
	const struct slice parts[] = {s.place.table, s.place.row,
	    s.place.family, s.place.qualifier, s.place.dot_dir, s.place.dot};
	size_t size = 0;
	text[0] = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i].size)
			size += (size_t)snprintf(text + size,
			    sizeof(text) - size, "%s%.*s", size ? "/" : "",
			    (int)parts[i].size, parts[i].data);
	spot_release(&s);
	return text;
}

/* --- holds and lookups ------------------------------------------------------- */

START_TEST(the_same_child_is_the_same_inode)
{
	struct inode *again = get(f, KIND_CELL, "q", 0);

	ck_assert_ptr_eq(again, q);
	inode_put(&fs, again);
	again = known(f, KIND_CELL, "q", 0);
	ck_assert_ptr_eq(again, q);
	inode_put(&fs, again);
}
END_TEST

START_TEST(kind_key_number_and_directory_tell_children_apart)
{
	struct inode *others[] = {
	    get(f, KIND_CELL, "q2", 0),
	    get(f, KIND_VERSION, "q", 5),
	    get(f, KIND_VERSION, "q", 6),
	    get(f, KIND_COUNTER, "q", 0),
	    get(r, KIND_FAMILY, "q", 0),
	};
	size_t count = sizeof(others) / sizeof(*others);

	for (size_t i = 0; i < count; i++) {
		ck_assert_ptr_ne(others[i], q);
		for (size_t j = 0; j < i; j++)
			ck_assert_ptr_ne(others[i], others[j]);
	}
	for (size_t i = 0; i < count; i++)
		inode_put(&fs, others[i]);
}
END_TEST

START_TEST(what_nobody_knows_is_not_made)
{
	ck_assert_ptr_null(known(f, KIND_CELL, "other", 0));
	ck_assert_uint_eq(fs.nodes->count, 4);
}
END_TEST

START_TEST(an_inode_lives_while_the_kernel_has_looked_it_up)
{
	struct inode *other = get(f, KIND_CELL, "other", 0);

	inode_looked(&fs, other);
	inode_looked(&fs, other);
	inode_put(&fs, other);
	ck_assert_uint_eq(fs.nodes->count, 5);
	inode_forget(&fs, other, 1);
	ck_assert_uint_eq(fs.nodes->count, 5);
	inode_forget(&fs, other, 1);
	ck_assert_uint_eq(fs.nodes->count, 4);
}
END_TEST

START_TEST(a_held_inode_outlives_the_kernels_interest)
{
	struct inode *other = get(f, KIND_CELL, "other", 0);

	inode_looked(&fs, other);
	inode_forget(&fs, other, 1);
	ck_assert_str_eq(where(other), "t/r/f/other");
	inode_put(&fs, other);
	ck_assert_ptr_null(known(f, KIND_CELL, "other", 0));
}
END_TEST

START_TEST(a_child_holds_its_parents)
{
	inode_hold(&fs, q);
	let_go();
	ck_assert_uint_eq(fs.nodes->count, 4);
	ck_assert_str_eq(where(q), "t/r/f/q");
	inode_put(&fs, q);
	ck_assert_uint_eq(fs.nodes->count, 0);
	t = r = f = q = NULL;
}
END_TEST

START_TEST(letting_go_of_nothing_is_safe)
{
	inode_put(&fs, NULL);
	inode_forget(&fs, &fs.nodes->root, 3);
	ck_assert_str_eq(where(&fs.nodes->root), "");
}
END_TEST

#define CROWD 5000 /* several times the table's first room */

START_TEST(thousands_are_found_again)
{
	static struct inode *crowd[CROWD];
	char key[16];

	for (int i = 0; i < CROWD; i++) {
		snprintf(key, sizeof(key), "%d", i);
		crowd[i] = get(f, KIND_CELL, key, 0);
	}
	ck_assert_uint_eq(fs.nodes->count, CROWD + 4);
	for (int i = 0; i < CROWD; i++) {
		snprintf(key, sizeof(key), "%d", i);
		struct inode *again = known(f, KIND_CELL, key, 0);
		ck_assert_ptr_eq(again, crowd[i]);
		inode_put(&fs, again);
		inode_put(&fs, crowd[i]);
	}
	ck_assert_uint_eq(fs.nodes->count, 4);
}
END_TEST

/* What an unmount leaves: only the address sanitizer sees a leak here. */
START_TEST(closing_frees_what_the_kernel_never_forgot)
{
	setup();
	struct inode *table = get(&fs.nodes->root, KIND_TABLE, "t", 0);
	struct inode *row = get(table, KIND_ROW, "a long row key", 0);
	struct inode *lost = get(table, KIND_ROW, "another", 0);
	const struct stat st = {.st_size = 3};

	inode_looked(&fs, row);
	inode_gone(&fs, lost, &st);
	inode_put(&fs, lost);
	inode_put(&fs, row);
	inode_put(&fs, table);
	ck_assert_uint_eq(fs.nodes->count, 2);
	nodes_close(&fs);
	ck_assert_ptr_null(fs.nodes);
}
END_TEST

/* --- where it stands ---------------------------------------------------------- */

START_TEST(a_spot_names_kind_place_and_version)
{
	struct inode *version = get(f, KIND_VERSION, "q", 77);
	struct spot s;

	ck_assert_int_eq(inode_spot(&fs, version, &s), 0);
	ck_assert_int_eq(s.kind, KIND_VERSION);
	ck_assert_int_eq(s.place.level, LEVEL_COLUMN);
	ck_assert_int_eq(s.version.which, VERSION_AT);
	ck_assert_int_eq(s.version.number, 77);
	ck_assert_str_eq(where(version), "t/r/f/q");
	spot_release(&s);
	inode_put(&fs, version);
}
END_TEST

START_TEST(of_nested_parts_only_the_last_counts)
{
	struct inode *a = get(t, KIND_ROW_PART, "a", 0);
	struct inode *ab = get(a, KIND_ROW_PART, "ab", 0);
	struct inode *row = get(ab, KIND_ROW, "abc", 0);
	struct inode *family = get(row, KIND_FAMILY, "f", 0);
	struct inode *x = get(family, KIND_COLUMN_PART, "x", 0);
	struct inode *xy = get(x, KIND_COLUMN_PART, "xy", 0);
	struct inode *cell = get(xy, KIND_CELL, "xyz", 0);

	ck_assert_str_eq(where(ab), "t/ab");
	ck_assert_str_eq(where(cell), "t/abc/f/xyz");
	inode_put(&fs, cell);
	inode_put(&fs, xy);
	inode_put(&fs, x);
	inode_put(&fs, family);
	inode_put(&fs, row);
	inode_put(&fs, ab);
	inode_put(&fs, a);
}
END_TEST

START_TEST(a_key_of_hundreds_of_parts_still_has_a_place)
{
	struct inode *way[200];
	char key[202] = "";
	size_t count = sizeof(way) / sizeof(*way);

	for (size_t i = 0; i < count; i++) {
		key[i] = 'k';
		way[i] = get(i ? way[i - 1] : f, KIND_COLUMN_PART, key, 0);
	}
	key[count] = 'k';
	struct inode *cell = get(way[count - 1], KIND_CELL, key, 0);
	ck_assert_uint_eq(strlen(where(cell)), strlen("t/r/f/") + count + 1);
	inode_put(&fs, cell);
	while (count)
		inode_put(&fs, way[--count]);
}
END_TEST

/* --- names that go and move ------------------------------------------------- */

START_TEST(what_is_gone_stands_nowhere_and_keeps_its_last_stat)
{
	const struct stat st = {.st_size = 9, .st_nlink = 1};

	inode_gone(&fs, q, &st);
	ck_assert_str_eq(where(q), strerror(ESTALE));
	ck_assert_int_eq(q->last->st_size, 9);
	ck_assert_int_eq(q->last->st_nlink, 0);
	ck_assert_ptr_null(known(f, KIND_CELL, "q", 0));
}
END_TEST

START_TEST(a_name_that_is_made_anew_is_another_inode)
{
	const struct stat st = {0};

	inode_gone(&fs, q, &st);
	struct inode *other = get(f, KIND_CELL, "q", 0);
	ck_assert_ptr_ne(other, q);
	ck_assert_str_eq(where(other), "t/r/f/q");
	ck_assert_str_eq(where(q), strerror(ESTALE));
	inode_put(&fs, other);
}
END_TEST

START_TEST(being_gone_twice_changes_nothing)
{
	const struct stat first = {.st_size = 1}, second = {.st_size = 2};

	inode_gone(&fs, q, &first);
	inode_gone(&fs, q, &second);
	ck_assert_int_eq(q->last->st_size, 1);
}
END_TEST

START_TEST(below_what_is_gone_nothing_stands)
{
	const struct stat st = {0};

	inode_gone(&fs, r, &st);
	ck_assert_str_eq(where(q), strerror(ESTALE));
	ck_assert_str_eq(where(f), strerror(ESTALE));
	ck_assert_str_eq(where(t), "t");
}
END_TEST

START_TEST(an_inode_moves_with_its_parents)
{
	struct inode *other = get(t, KIND_ROW, "other", 0);

	move(r, t, KIND_ROW, "r2");
	ck_assert_str_eq(where(q), "t/r2/f/q");
	move(f, other, KIND_FAMILY, "g");
	ck_assert_str_eq(where(q), "t/other/g/q");
	move(t, &fs.nodes->root, KIND_TABLE, "t2");
	ck_assert_str_eq(where(q), "t2/other/g/q");
	ck_assert_ptr_null(known(r, KIND_FAMILY, "f", 0));
	inode_put(&fs, other);
}
END_TEST

START_TEST(a_move_gives_the_new_name_and_takes_the_old)
{
	move(q, f, KIND_CELL, "p");
	struct inode *at = known(f, KIND_CELL, "p", 0);
	ck_assert_ptr_eq(at, q);
	inode_put(&fs, at);
	ck_assert_ptr_null(known(f, KIND_CELL, "q", 0));
}
END_TEST

START_TEST(a_move_to_another_kind_is_followed)
{
	move(q, f, KIND_DOT_FILE, ".q");
	ck_assert_int_eq(q->kind, KIND_DOT_FILE);
	ck_assert_str_eq(where(q), "t/r/f/.q");
}
END_TEST

START_TEST(what_a_move_replaces_is_gone)
{
	struct inode *p = get(f, KIND_CELL, "p", 0);

	move(q, f, KIND_CELL, "p");
	ck_assert_str_eq(where(q), "t/r/f/p");
	ck_assert_str_eq(where(p), strerror(ESTALE));
	inode_put(&fs, p);
}
END_TEST

START_TEST(a_move_onto_itself_keeps_it)
{
	move(q, f, KIND_CELL, "q");
	ck_assert_str_eq(where(q), "t/r/f/q");
}
END_TEST

START_TEST(the_old_directory_is_let_go_by_a_move)
{
	struct inode *old = get(r, KIND_FAMILY, "old", 0);
	struct inode *cell = get(old, KIND_CELL, "c", 0);

	inode_put(&fs, old);
	ck_assert_uint_eq(fs.nodes->count, 6);
	move(cell, f, KIND_CELL, "c");
	ck_assert_uint_eq(fs.nodes->count, 5);
	inode_put(&fs, cell);
}
END_TEST

/* --- threads -------------------------------------------------------------------- */

/* One of the threads also moves what the others look at. */
static void *
come_and_go(void *moves)
{
	char key[16];

	for (int i = 0; i < 2000; i++) {
		struct spot s;
		snprintf(key, sizeof(key), "%d", i % 17);
		struct inode *inode = get(f, KIND_CELL, key, 0);
		inode_looked(&fs, inode);
		if (moves && i % 5 == 0)
			move(inode, f, KIND_CELL, "moved");
		int error = inode_spot(&fs, inode, &s);
		ck_assert(error == 0 || error == -ESTALE);
		spot_release(&s);
		inode_forget(&fs, inode, 1);
		inode_put(&fs, inode);
	}
	return NULL;
}

START_TEST(threads_leave_nothing_behind)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL,
		    come_and_go, i ? NULL : &fs), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(fs.nodes->count, 4);
}
END_TEST

static Suite *
inode_suite(void)
{
	Suite *s = suite_create("inode");

	TCase *holds = tcase_create("holds");
	tcase_add_checked_fixture(holds, plant, uproot);
	tcase_add_test(holds, the_same_child_is_the_same_inode);
	tcase_add_test(holds, kind_key_number_and_directory_tell_children_apart);
	tcase_add_test(holds, what_nobody_knows_is_not_made);
	tcase_add_test(holds, an_inode_lives_while_the_kernel_has_looked_it_up);
	tcase_add_test(holds, a_held_inode_outlives_the_kernels_interest);
	tcase_add_test(holds, a_child_holds_its_parents);
	tcase_add_test(holds, letting_go_of_nothing_is_safe);
	tcase_add_test(holds, thousands_are_found_again);
	suite_add_tcase(s, holds);

	TCase *end = tcase_create("end");
	tcase_add_test(end, closing_frees_what_the_kernel_never_forgot);
	suite_add_tcase(s, end);

	TCase *spots = tcase_create("spots");
	tcase_add_checked_fixture(spots, plant, uproot);
	tcase_add_test(spots, a_spot_names_kind_place_and_version);
	tcase_add_test(spots, of_nested_parts_only_the_last_counts);
	tcase_add_test(spots, a_key_of_hundreds_of_parts_still_has_a_place);
	suite_add_tcase(s, spots);

	TCase *names = tcase_create("names");
	tcase_add_checked_fixture(names, plant, uproot);
	tcase_add_test(names,
	    what_is_gone_stands_nowhere_and_keeps_its_last_stat);
	tcase_add_test(names, a_name_that_is_made_anew_is_another_inode);
	tcase_add_test(names, being_gone_twice_changes_nothing);
	tcase_add_test(names, below_what_is_gone_nothing_stands);
	tcase_add_test(names, an_inode_moves_with_its_parents);
	tcase_add_test(names, a_move_gives_the_new_name_and_takes_the_old);
	tcase_add_test(names, a_move_to_another_kind_is_followed);
	tcase_add_test(names, what_a_move_replaces_is_gone);
	tcase_add_test(names, a_move_onto_itself_keeps_it);
	tcase_add_test(names, the_old_directory_is_let_go_by_a_move);
	tcase_add_test(names, threads_leave_nothing_behind);
	suite_add_tcase(s, names);
	return s;
}

int
main(void)
{
	return suite_run(inode_suite());
}
