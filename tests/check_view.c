/* Views: any of them in each other show what a list in memory, gone through
 * cell by cell, says. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chance.h"
#include "suite.h"
#include "tree_kit.h"

#define CELLS 120
#define TIMES 60

static struct stat st;

/* --- the model ------------------------------------------------------------------ */

struct item {
	char row[8], family[2], qualifier[4], value[24];
	int time;
};

static struct item items[CELLS];

static int
compare(const void *x, const void *y)
{
	const struct item *a = x, *b = y;
	int r = strcmp(a->row, b->row);

	r = r ? r : strcmp(a->family, b->family);
	r = r ? r : strcmp(a->qualifier, b->qualifier);
	return r ? r : b->time - a->time;
}

/* What one view narrows; first those that need no others. */
struct narrowing {
	enum { PREFIX, FROM, TO, REVERSED, COLUMNS, SINCE, UNTIL, VALUE,
		SINGLE, FIRST, LAST } what;
	char text[32]; /* row, column, value */
	int number;
};

static const char *const families[] = {"f", "g"};

static void
random_row(char *out, unsigned least)
{
	size_t size = least + chance(3);

	for (size_t i = 0; i < size; i++)
		out[i] = (char)('a' + chance(3));
	out[size] = 0;
}

static struct narrowing
random_narrowing(void)
{
	struct narrowing n = {.what = chance(SINGLE + 1)};

	n.number = 1 + (int)chance(12);
	if (n.what == COLUMNS)
		snprintf(n.text, sizeof(n.text),
		    n.number % 2 ? "%s" : "%s:q%d", families[chance(2)],
		    (int)chance(4));
	else if (n.what == VALUE)
		snprintf(n.text, sizeof(n.text), "v%d", (int)chance(4));
	else if (n.what == SINGLE)
		snprintf(n.text, sizeof(n.text), "v%d", (int)chance(4));
	else
		random_row(n.text, 1);
	return n;
}

static void
print_narrowing(const struct narrowing *n, struct buf *path)
{
	static const char *const words[] = {[PREFIX] = ".prefix",
	    [FROM] = ".from", [TO] = ".to", [COLUMNS] = ".columns"};

	switch (n->what) {
	case REVERSED:
		buf_text(path, "/.reversed");
		break;
	case SINCE:
		buf_printf(path, "/.since/%d", n->number);
		break;
	case UNTIL:
		buf_printf(path, "/.until/%d", n->number);
		break;
	case FIRST:
		buf_printf(path, "/.first/%d", n->number);
		break;
	case LAST:
		buf_printf(path, "/.last/%d", n->number);
		break;
	case VALUE:
		buf_printf(path, "/.filter/ValueFilter(=,'substring:%s')",
		    n->text);
		break;
	case SINGLE:
		buf_printf(path, "/.filter/SingleColumnValueFilter('f','q0',=,"
		    "'substring:%s')", n->text);
		break;
	default:
		buf_printf(path, "/%s/%s", words[n->what], n->text);
	}
}

/* Whether a cell meets a narrowing that looks at cells alone. */
static bool
meets(const struct item *i, const struct narrowing *n)
{
	char column[8];

	snprintf(column, sizeof(column), "%s:%s", i->family, i->qualifier);
	switch (n->what) {
	case PREFIX:
		return strncmp(i->row, n->text, strlen(n->text)) == 0;
	case FROM:
		return strcmp(i->row, n->text) >= 0;
	case TO:
		return strcmp(i->row, n->text) < 0;
	case COLUMNS:
		return strcmp(column, n->text) == 0 ||
		    strcmp(i->family, n->text) == 0;
	case SINCE:
		return i->time >= n->number;
	case UNTIL:
		return i->time <= n->number;
	case VALUE:
		return strstr(i->value, n->text) != NULL;
	default:
		return true;
	}
}

/* What is left, in order. */
static struct item *left[CELLS];
static size_t count;

static void
keep_if(bool (*keep)(struct item *i, const void *context), const void *context)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (keep(left[i], context))
			left[kept++] = left[i];
	count = kept;
}

static bool
meets_it(struct item *i, const void *n)
{
	return meets(i, n);
}

static struct item *newest_before;

static bool
is_newest(struct item *i, const void *unused)
{
	struct item *before = newest_before;

	(void)unused;
	newest_before = i;
	return !before || strcmp(before->row, i->row) ||
	    strcmp(before->family, i->family) ||
	    strcmp(before->qualifier, i->qualifier);
}

/* A row whose f:q0 there is none of passes. */
static bool
row_passes(struct item *i, const void *n)
{
	const char *want = ((const struct narrowing *)n)->text;

	for (size_t j = 0; j < CELLS; j++)
		if (left[j] && strcmp(left[j]->row, i->row) == 0 &&
		    strcmp(left[j]->family, "f") == 0 &&
		    strcmp(left[j]->qualifier, "q0") == 0)
			return strstr(left[j]->value, want) != NULL;
	return true;
}

static void
keep_rows(size_t from, size_t to)
{
	size_t rows = 0, kept = 0;
	const char *last = "";

	for (size_t i = 0; i < count; i++) {
		if (strcmp(left[i]->row, last) != 0)
			rows++;
		last = left[i]->row;
		if (rows > from && rows <= to)
			left[kept++] = left[i];
	}
	count = kept;
}

static size_t
count_rows(void)
{
	size_t rows = 0;

	for (size_t i = 0; i < count; i++)
		rows += i == 0 || strcmp(left[i]->row, left[i - 1]->row) != 0;
	return rows;
}

/* The rows the other way round, what stands in them as before. */
static void
turn_round(void)
{
	struct item *other[CELLS];
	size_t at = 0;

	for (size_t end = count; end;) {
		size_t begin = end - 1;
		while (begin && !strcmp(left[begin - 1]->row, left[begin]->row))
			begin--;
		for (size_t i = begin; i < end; i++)
			other[at++] = left[i];
		end = begin;
	}
	memcpy(left, other, count * sizeof(*left));
}

static void
narrow(const struct narrowing *n, size_t views)
{
	bool reversed = false;

	count = 0;
	memset(left, 0, sizeof(left));
	for (size_t i = 0; i < CELLS; i++)
		left[count++] = &items[i];
	for (size_t i = 0; i < views; i++)
		if (n[i].what != VALUE)
			keep_if(meets_it, &n[i]);
	newest_before = NULL;
	keep_if(is_newest, NULL);
	for (size_t i = 0; i < views; i++)
		if (n[i].what == VALUE)
			keep_if(meets_it, &n[i]);
	for (size_t i = 0; i < views; i++) {
		reversed = reversed || n[i].what == REVERSED;
		if (n[i].what != SINGLE)
			continue;
		for (size_t j = count; j < CELLS; j++)
			left[j] = NULL;
		struct item *kept[CELLS];
		size_t some = 0;
		for (size_t j = 0; j < count; j++)
			if (row_passes(left[j], &n[i]))
				kept[some++] = left[j];
		memcpy(left, kept, some * sizeof(*kept));
		count = some;
	}
	if (reversed)
		turn_round();
	size_t rows = count_rows(), last = n[views - 1].number;
	if (n[views - 1].what == FIRST)
		keep_rows(0, last);
	else if (n[views - 1].what == LAST)
		keep_rows(rows > last ? rows - last : 0, rows);
}

/* --- the comparison --------------------------------------------------------------- */

static const char *
text_of(const struct buf *b)
{
	return b->size ? (const char *)b->data : "";
}

static void
end(struct buf *b)
{
	buf_byte(b, 0);
	b->size--;
}

/* What left says at level 0 rows, 1 families, 2 columns of names[0..]. */
static void
expected_names(const char *row, const char *family, struct buf *out)
{
	const char *last = "";

	buf_clear(out);
	for (size_t i = 0; i < count; i++) {
		const char *name = family ? left[i]->qualifier
		    : row ? left[i]->family : left[i]->row;
		if ((row && strcmp(row, left[i]->row)) ||
		    (family && strcmp(family, left[i]->family)) ||
		    strcmp(last, name) == 0)
			continue;
		buf_printf(out, "%s%s", out->size ? " " : "", name);
		last = name;
	}
	end(out);
}

static void
compare_streams(const char *view)
{
	struct buf want = {0};
	char path[1024];

	for (size_t i = 0; i < count; i++)
		buf_printf(&want, "%s\t%s:%s\t%d\t%s\n", left[i]->row,
		    left[i]->family, left[i]->qualifier, left[i]->time,
		    left[i]->value);
	end(&want);
	snprintf(path, sizeof(path), "%s/.cells", view);
	ck_assert_msg(!strcmp(tree_cat(path), text_of(&want)),
	    "%s: %s, not %s", path, tree_cat(path), text_of(&want));
	buf_clear(&want);
	buf_printf(&want, "%zu\n", count_rows());
	end(&want);
	snprintf(path, sizeof(path), "%s/.count", view);
	SAYS(text_of(&want), tree_cat(path));
	buf_release(&want);
}

static void
compare_names(const char *path, const char *row, const char *family)
{
	struct buf want = {0};

	expected_names(row, family, &want);
	if (want.size == 0 && row)
		REFUSED(ENOENT, tree_stat(path, &st));
	else
		ck_assert_msg(!strcmp(tree_list(path), text_of(&want)),
		    "%s: %s, not %s", path, tree_list(path), text_of(&want));
	buf_release(&want);
}

/* One row, which may be in the view or not. */
static void
compare_row(const char *view, const char *row)
{
	char path[1024], cell[1100];

	snprintf(path, sizeof(path), "%s/%s", view, row);
	compare_names(path, row, NULL);
	for (int f = 0; f < 2; f++) {
		snprintf(path, sizeof(path), "%s/%s/%s", view, row,
		    families[f]);
		compare_names(path, row, families[f]);
		for (int q = 0; q < 4; q++) {
			const char *want = "(No such file or directory)";
			char name[8];
			snprintf(name, sizeof(name), "q%d", q);
			for (size_t i = 0; i < count; i++)
				if (!strcmp(left[i]->row, row) &&
				    !strcmp(left[i]->family, families[f]) &&
				    !strcmp(left[i]->qualifier, name))
					want = left[i]->value;
			snprintf(cell, sizeof(cell), "%s/%s", path, name);
			SAYS(want, tree_cat(cell));
		}
	}
}

/* There is one like it, or three versions of its column, which is what g
 * keeps. */
static bool
is_refused(int i)
{
	const struct item *it = &items[i];
	int versions = 0;

	for (int j = 0; j < i; j++) {
		if (compare(it, &items[j]) == 0)
			return true;
		versions += !strcmp(it->row, items[j].row) &&
		    !strcmp(it->family, items[j].family) &&
		    !strcmp(it->qualifier, items[j].qualifier);
	}
	return versions == 3;
}

static void
fill(void)
{
	struct buf lines = {0};

	for (int i = 0; i < CELLS; i++) {
		struct item *it = &items[i];
		bool again = true;
		while (again) {
			random_row(it->row, 1);
			strcpy(it->family, families[chance(2)]);
			snprintf(it->qualifier, sizeof(it->qualifier), "q%d",
			    (int)chance(4));
			it->time = 1 + (int)chance(12);
			again = is_refused(i);
		}
		/* All versions of a column pass a filter or none does. */
		snprintf(it->value, sizeof(it->value), "v%d at %d",
		    (it->row[0] + it->row[1] + it->qualifier[1]) % 4, it->time);
		buf_printf(&lines, "%s\t%s:%s\t%d\t%s\n", it->row, it->family,
		    it->qualifier, it->time, it->value);
	}
	end(&lines);
	OK(tree_put("t/.cells", text_of(&lines)));
	buf_release(&lines);
	qsort(items, CELLS, sizeof(*items), compare);
}

/* Filters that look at single cells and at rows do not stand together here:
 * what they say to each other is for the suites of filters. */
static size_t
random_views(struct narrowing *n)
{
	size_t views = 1 + chance(5);
	int judging = 0;

	for (size_t i = 0; i < views; i++) {
		do
			n[i] = random_narrowing();
		while ((n[i].what == VALUE && judging == SINGLE) ||
		    (n[i].what == SINGLE && judging));
		if (n[i].what >= VALUE)
			judging = n[i].what;
	}
	if (chance(3) == 0)
		n[views - 1].what = chance(2) ? FIRST : LAST;
	return views;
}

START_TEST(any_views_in_each_other_show_what_a_list_says)
{
	struct narrowing n[5];
	const char *given = getenv("CELLFS_TEST_TIMES");
	int times = given ? atoi(given) : 1;

	chance_seed();
	fill();
	for (int i = 0; i < TIMES * times; i++) {
		struct buf path = {0};
		size_t views = random_views(n);
		buf_text(&path, "t");
		for (size_t j = 0; j < views; j++)
			print_narrowing(&n[j], &path);
		end(&path);
		narrow(n, views);
		compare_streams(text_of(&path));
		compare_names(text_of(&path), NULL, NULL);
		for (int j = 0; j < 3; j++)
			compare_row(text_of(&path), items[chance(CELLS)].row);
		buf_release(&path);
	}
}
END_TEST

/* --- by hand ----------------------------------------------------------------------- */

#define LONG "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

START_TEST(long_rows_and_columns_continue_in_views_too)
{
	char text[4096], part[300], row[1000], list[1000];

	snprintf(text, sizeof(text),
	    "b\tf:q\t1\tv\n" LONG LONG LONG LONG "%s\tf:" LONG LONG LONG LONG
	    "x\t1\tone\n" LONG LONG LONG LONG "%s\tf:q\t1\ttwo\n",
	    "b", "c");
	OK(tree_put("t/.cells", text));
	snprintf(part, sizeof(part), "%.254s%%", LONG LONG LONG LONG);
	snprintf(list, sizeof(list), "%s", part);
	SAYS(list, tree_list("t/.prefix/aa"));
	snprintf(list, sizeof(list), "b %s", part);
	SAYS(list, tree_list("t/.reversed"));
	snprintf(row, sizeof(row), "t/.prefix/aa/%s", part);
	SAYS("aab aac", tree_list(row));
	snprintf(row, sizeof(row), "t/.reversed/%s", part);
	SAYS("aac aab", tree_list(row));
	snprintf(row, sizeof(row), "t/.prefix/b/%s", part);
	REFUSED(ENOENT, tree_stat(row, &st));
	snprintf(row, sizeof(row), "t/.from/a/%s/aab/f", part);
	SAYS(part, tree_list(row));
	snprintf(row, sizeof(row), "t/.from/a/%s/aab/f/%s", part, part);
	SAYS("aax", tree_list(row));
	snprintf(row, sizeof(row), "t/.from/a/%s/aab/f/%s/aax", part, part);
	SAYS("one", tree_cat(row));
}
END_TEST

/* Components that make no sense, and those that only look so. */
static const struct {
	const char *path;
	int error;
} odd[] = {
    {"t/.prefix", 0},
    {"t/.prefix/none", 0},
    {"t/.prefix/none/r", ENOENT},
    {"t/.first/0", ENOENT},
    {"t/.first/-1", ENOENT},
    {"t/.first/x", ENOENT},
    {"t/.first/1", 0},
    {"t/.first/1/.prefix", ENOENT},
    {"t/.first/1/.count", 0},
    {"t/.columns/none", ENOENT},
    {"t/.columns/f:", 0},
    {"t/.columns/:q", ENOENT},
    {"t/.columns/f,,g", ENOENT},
    {"t/.columns/f/.columns/g", 0},
    {"t/.filter/Nonsense", ENOENT},
    {"t/.until/yesterday-ish", ENOENT},
    {"t/.until/2026-02-30", ENOENT},
    {"t/.until/-2y", ENOENT},
    {"t/.until/2026-01-31", 0},
    {"t/.prefix/2026-01-31/2026-01-31", ENOENT},
    {"t/.until/9223372036854775807", ENOENT},
    {"t/.since/007", ENOENT},
    {"t/.from/%2F", 0},
    {"t/.from/%2f", ENOENT},
    {"t/.from/b/.to/a", 0},
    {"t/.nothing", ENOENT},
    {"t/r/.prefix", ENOENT},
    {"t/.reversed/r", ENOENT}, /* a row without a cell */
};

START_TEST(a_component_that_makes_no_sense_is_not_there)
{
	ck_assert_int_eq(tree_stat(odd[_i].path, &st), -odd[_i].error);
}
END_TEST

/* What a link points to; "-" if it is none. */
static const char *
target(const char *path)
{
	struct file f;
	static char text[40];

	OK(tree_stat(path, &st));
	if (!S_ISLNK(st.st_mode))
		return "-";
	OK(tree_open(path, O_RDONLY, &f));
	snprintf(text, sizeof(text), "%s", tree_read(&f));
	OK(tree_close(&f));
	ck_assert_int_eq(st.st_size, (off_t)strlen(text));
	return text;
}

START_TEST(other_forms_of_a_time_are_links_to_its_milliseconds)
{
	int64_t now = (int64_t)time(NULL) * 1000;

	SAYS("1769817600000", target("t/.since/2026-01-31"));
	SAYS("1769860800000", target("t/.until/2026-01-31T12:00:00Z"));
	SAYS("1769853600000",
	    target("t/.prefix/a/.until/2026-01-31T12:00:00+02:00"));
	SAYS("-", target("t/.until/1769817600000"));
	SAYS("-", target("t/.prefix/2026-01-31"));
	int64_t hours = atoll(target("t/.since/-2h"));
	ck_assert_int_ge(hours, now - 7200000 - 1000);
	ck_assert_int_le(hours, (int64_t)time(NULL) * 1000 - 7200000 + 1000);
}
END_TEST

START_TEST(slashes_commas_and_binary_keys_are_written_in_hex)
{
	OK(tree_put("t/.cells", "a/b\tf:x,y\t1\tv\n\\xFFz\tf:q\t2\tw\n"));
	SAYS("a%2Fb", tree_list("t/.prefix/a%2F"));
	SAYS("x,y", tree_list("t/.columns/f:x%2Cy/a%2Fb/f"));
	SAYS("%FFz", tree_list("t/.from/%FF"));
	SAYS("w", tree_cat("t/.filter/RowFilter(=,'substring:z')/%FFz/f/q"));
}
END_TEST

START_TEST(nothing_is_changed_in_a_view)
{
	struct file f;

	OK(tree_put("t/.cells", "r\tf:q\t1\tv\n"));
	REFUSED(EROFS, tree_open("t/.prefix/r/r/f/p", O_CREAT | O_WRONLY, &f));
	REFUSED(EROFS, tree_open("t/.prefix/r/r/f/q", O_WRONLY, &f));
	REFUSED(EROFS, tree_mkdir_path("t/.prefix/r/rr", 0755));
	REFUSED(EROFS, tree_mkdir_path("t/.prefix/r/r/f/.d", 0755));
	REFUSED(EROFS, tree_unlink("t/.prefix/r/r/f/q"));
	REFUSED(EROFS, tree_rmdir("t/.prefix/r/r/f"));
	REFUSED(EROFS, tree_rmdir("t/.prefix/r"));
	REFUSED(EROFS, tree_move("t/.prefix/r/r", "t/.prefix/r/s"));
	REFUSED(EROFS, tree_move("t/r/f/q", "t/.prefix/r/r/f/q"));
	REFUSED(EROFS, tree_chmod("t/.prefix/r/r/f/q", 0600));
	REFUSED(EROFS, tree_truncate("t/.prefix/r/r/f/q", 0));
	REFUSED(EPERM, tree_open("t/.prefix/r/.cells", O_WRONLY, &f));
	SAYS("v", tree_cat("t/.prefix/r/r/f/q"));
	OK(tree_stat("t/.prefix/r/r/f/q", &st));
	ck_assert_int_eq(st.st_mode & 0222, 0);
	SAYS("r", tree_list("t"));
}
END_TEST

START_TEST(many_columns_are_listed_in_pieces)
{
	struct buf lines = {0}, names = {0};

	for (int i = 0; i < 3000; i++)
		buf_printf(&lines, "r\tf:%04d'\t1\tv\n", i);
	end(&lines);
	OK(tree_put("t/.cells", text_of(&lines)));
	for (int i = 0; i < 3000; i++)
		buf_printf(&names, "%s%04d'", i ? " " : "", i);
	end(&names);
	SAYS(text_of(&names), tree_list("t/.until/5/r/f"));
	SAYS(text_of(&names), tree_list("t/.filter/KeyOnlyFilter()/r/f"));
	SAYS("", tree_cat("t/.filter/KeyOnlyFilter()/r/f/0007'"));
	buf_release(&lines);
	buf_release(&names);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("view");
	TCase *model = tcase_create("model"), *names = tcase_create("names");

	tcase_add_checked_fixture(model, tree_setup_table, tree_teardown);
	tcase_set_timeout(model, 600);
	tcase_add_test(model, any_views_in_each_other_show_what_a_list_says);
	suite_add_tcase(s, model);
	tcase_add_checked_fixture(names, tree_setup_table, tree_teardown);
	tcase_add_loop_test(names,
	    a_component_that_makes_no_sense_is_not_there, 0,
	    sizeof(odd) / sizeof(*odd));
	suite_add_tcase(s, names);
	suite_topic(s, "by hand", tree_setup_table, tree_teardown,
	    TESTS(long_rows_and_columns_continue_in_views_too,
		slashes_commas_and_binary_keys_are_written_in_hex,
		other_forms_of_a_time_are_links_to_its_milliseconds,
		nothing_is_changed_in_a_view,
		many_columns_are_listed_in_pieces));
	return suite_run(s);
}
