/* Lines that are written to .cells. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "kv/text.h"
#include "kv/why.h"
#include "suite.h"
#include "tree_kit.h"

static struct file a;

/* The bytes of a file, read whole. */
static void
read_all(const char *path, struct buf *out)
{
	struct file f;
	uint8_t bytes[8192];
	int64_t n;

	buf_clear(out);
	OK(tree_open(path, O_RDONLY, &f));
	while ((n = handle_read(&tree_fs, f.handle, out->size, bytes,
		    sizeof(bytes), false)) > 0)
		buf_append(out, slice_of(bytes, (size_t)n));
	ck_assert_int_eq(n, 0);
	OK(tree_close(&f));
}

START_TEST(what_is_written_reads_the_same)
{
	OK(tree_put("t/.cells", "a\tf:q\t5\tone\na\tg:\t6\t\nb\tf:\\x00\\xff\t7"
				"\t\\x5cx\\x09\n"));
	SAYS("a\tf:q\t5\tone\na\tg:\t6\t\nb\tf:\\x00\\xFF\t7\t\\x5Cx\\x09\n",
	    tree_cat("t/.cells"));
	SAYS("one", tree_cat("t/a/f/q@5"));
	SAYS("", tree_cat("t/a/g/%"));
	SAYS("\\x\t", tree_cat("t/b/f/%00%FF"));
}
END_TEST

START_TEST(both_redirections_add_and_nothing_is_removed)
{
	OK(tree_put("t/.cells", "a\tf:q\t5\tone\n"));
	OK(tree_append("t/.cells", "b\tf:q\t5\ttwo\n"));
	OK(tree_put("t/.cells", "c\tf:q\t5\tthree\n"));
	OK(tree_put("t/a/.cells", "a\tf:q\t6\tnewer\na\tg:r\t6\tother\n"));
	SAYS("a b c r", tree_list("t"));
	SAYS("newer one", tree_history("t/a/f/q"));
	SAYS("other", tree_cat("t/a/g/r"));
}
END_TEST

START_TEST(a_time_that_is_left_out_is_the_stores)
{
	struct stat st;

	OK(tree_put("t/r/f/q", "old"));
	OK(tree_stat("t/r/f/q", &st));
	OK(tree_put("t/.cells", "r\tf:q\t\tnew\n"));
	SAYS("new old", tree_history("t/r/f/q"));
	ck_assert_int_gt(atoll(tree_attribute("t/r/f/q", "timestamp")),
	    st.st_mtim.tv_sec * 1000);
}
END_TEST

/* What is written, what says no, and what of it is stored. */
static const struct {
	const char *text;
	int error;
	const char *stored;
	const char *says;
} refused[] = {
    /* the form */
    {"a\tf:q\t5\tv\nnonsense\n", EINVAL, "a", "line 2: row TAB"},
    {"\n", EINVAL, "", "line 1: row TAB"},
    {"a\tf:q\t5\n", EINVAL, "", "line 1: row TAB"},
    {"a\tfq\t5\tv\n", EINVAL, "", "line 1: row TAB"},
    {"\tf:q\t5\tv\n", EINVAL, "", "line 1: a row key"},
    {"a\tf:q\t5\tv\nb\tf:q\t05\tv\n", EINVAL, "a", "line 2: '05'"},
    {"a\tf:q\t9223372036854775807\tv\n", EINVAL, "", "no timestamp"},
    {"a\tf:q\t5\tv\na\tf:q\t6\t\\v\n", EINVAL, "a", "line 2: "},
    {"a\tf:q\t5\t\\x0\n", EINVAL, "", "line 1: "},
    /* what the store would refuse */
    {"a\tf:q\t5\tv\na\tnone:q\t6\tv\n", EPERM, "a", "line 2: no family"},
};

START_TEST(a_bad_line_is_named_and_those_before_it_are_stored)
{
	OK(tree_rmdir("t/r/f"));
	OK(tree_rmdir("t/r/g"));
	OK(tree_rmdir("t/r"));
	OK(tree_open("t/.cells", O_WRONLY, &a));
	REFUSED(refused[_i].error, tree_write(&a, refused[_i].text));
	ck_assert_ptr_nonnull(
	    strstr(why_text(-refused[_i].error), refused[_i].says));
	REFUSED(refused[_i].error, tree_write(&a, "z\tf:q\t5\tv\n"));
	REFUSED(refused[_i].error, tree_close(&a));
	SAYS(refused[_i].stored, tree_list("t"));
}
END_TEST

START_TEST(of_a_row_all_or_nothing_is_stored)
{
	OK(tree_open("t/r/.cells", O_WRONLY, &a));
	OK(tree_write(&a, "r\tf:a\t5\tv\nr\tf:b\t5\tv\n"));
	SAYS("", tree_cat("t/.cells"));
	REFUSED(EINVAL, tree_write(&a, "s\tf:c\t5\tv\n"));
	REFUSED(EINVAL, tree_close(&a));
	SAYS("", tree_cat("t/.cells"));
	OK(tree_put("t/r/.cells", "r\tf:a\t5\tv\nr\tg:b\t5\tv\n"));
	SAYS("r\tf:a\t5\tv\nr\tg:b\t5\tv\n", tree_cat("t/.cells"));
}
END_TEST

START_TEST(a_last_line_without_end_is_not_stored)
{
	OK(tree_open("t/.cells", O_WRONLY, &a));
	OK(tree_write(&a, "r\tf:a\t5\tv\nr\tf:b\t5\tcut sh"));
	REFUSED(EINVAL, tree_close(&a));
	SAYS("r\tf:a\t5\tv\n", tree_cat("t/.cells"));
}
END_TEST

START_TEST(a_row_of_more_than_one_change_is_stored_whole)
{
	struct buf text = {0}, back = {0};

	for (int i = 0; i < 25000; i++)
		buf_printf(&text, "r\tf:%06d\t1\tv\n", i);
	buf_byte(&text, 0);
	OK(tree_put("t/.cells", (char *)text.data));
	text.size--;
	read_all("t/.cells", &back);
	ck_assert(slice_equal(buf_slice(&text), buf_slice(&back)));
	REFUSED(E2BIG, tree_put("t/r/.cells", (char *)text.data));
	buf_release(&text);
	buf_release(&back);
}
END_TEST

/* Random lines with small and large values, written in random pieces. */
START_TEST(random_cells_come_back_byte_for_byte)
{
	struct buf text = {0}, bytes = {0}, back = {0};
	uint64_t at = 0;

	chance_seed();
	for (int i = 0; i < 60; i++) {
		size_t size = chance(3) ? chance(60)
					: chance(2) ? chance(40000)
						    : chance(700000);
		buf_clear(&bytes);
		for (size_t j = 0; j < size; j++)
			buf_byte(&bytes, (uint8_t)(chance(3) ? chance(256)
							     : '\\'));
		buf_printf(&text, "r%02d\tf:q%d\t%d\t", i / 3, i % 3, i);
		text_print(buf_slice(&bytes), &text);
		buf_byte(&text, '\n');
	}
	OK(tree_open("t/.cells", O_WRONLY, &a));
	while (at < text.size) {
		size_t size = 1 + chance(300000);
		if (size > text.size - at)
			size = (size_t)(text.size - at);
		OK(handle_write(&tree_fs, a.handle, at, text.data + at, size,
		    false));
		at += size;
	}
	OK(tree_close(&a));
	read_all("t/.cells", &back);
	ck_assert(slice_equal(buf_slice(&text), buf_slice(&back)));
	buf_release(&text);
	buf_release(&bytes);
	buf_release(&back);
}
END_TEST

START_TEST(the_kernel_is_told_that_the_table_has_changed)
{
	struct stat st;

	OK(tree_stat("t/r/f", &st));
	tree_notices();
	OK(tree_put("t/.cells", "r\tf:q\t5\tv\n"));
	ck_assert_ptr_nonnull(strstr(tree_notices(), "entry t"));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("loader");
	TCase *bad = tcase_create("refused"), *random = tcase_create("random");

	suite_topic(s, "lines", tree_setup_table, tree_teardown,
	    TESTS(what_is_written_reads_the_same,
		both_redirections_add_and_nothing_is_removed,
		a_time_that_is_left_out_is_the_stores,
		of_a_row_all_or_nothing_is_stored,
		a_last_line_without_end_is_not_stored,
		a_row_of_more_than_one_change_is_stored_whole,
		the_kernel_is_told_that_the_table_has_changed));
	tcase_add_checked_fixture(bad, tree_setup_table, tree_teardown);
	tcase_add_loop_test(bad,
	    a_bad_line_is_named_and_those_before_it_are_stored, 0,
	    sizeof(refused) / sizeof(*refused));
	suite_add_tcase(s, bad);
	tcase_add_checked_fixture(random, tree_setup_table, tree_teardown);
	tcase_set_timeout(random, 60);
	tcase_add_test(random, random_cells_come_back_byte_for_byte);
	suite_add_tcase(s, random);
	return suite_run(s);
}
