/* The ordered store: the same claims on both implementations. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kv/why.h"
#include "tests/ordered_kit.h"

/* --- records -------------------------------------------------------------- */

START_TEST(records_come_in_order_of_unsigned_bytes)
{
	open_kind(_i);
	create(7);
	put_all(7, "b \xff a ab aa \x01 \x7f");
	ck_assert_str_eq(keys(7), "\x01 a aa ab b \x7f \xff");
	close_kind();
}
END_TEST

START_TEST(get_put_remove_act_on_one_record)
{
	open_kind(_i);
	create(1);
	put_all(1, "a b c");

	struct ordered_session *s = begin(ORDERED_WRITE);
	put(s, 1, "b", "new");
	ck_assert_str_eq(value_seen(s, 1, "b"), "new");
	ck_assert_int_eq(o->methods->remove(s, 1, slice_text("a")), 0);
	ck_assert_int_eq(o->methods->remove(s, 1, slice_text("none")), 0);
	ck_assert_str_eq(value_seen(s, 1, "a"), "-");
	put(s, 1, "empty", "");
	commit(s);
	s = begin(ORDERED_READ);
	ck_assert_str_eq(value_seen(s, 1, "b"), "new");
	ck_assert_str_eq(value_seen(s, 1, "empty"), "");
	ck_assert_str_eq(value_seen(s, 1, "a"), "-");
	o->methods->release(s);
	ck_assert_str_eq(keys(1), "b c empty");
	close_kind();
}
END_TEST

START_TEST(values_of_any_bytes_and_sizes_come_back)
{
	const size_t sizes[] = {0, 1, 8192, 70000, 1 << 20};
	struct buf value = {0}, got = {0};

	open_kind(_i);
	create(1);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const struct slice key = slice_text("k");
		ck_assert_int_eq(buf_resize(&value, sizes[i]), 0);
		for (size_t at = 0; at < sizes[i]; at++)
			value.data[at] = (uint8_t)(at * 7 + i);
		struct ordered_session *s = begin(ORDERED_WRITE);
		ck_assert_int_eq(
		    o->methods->put(s, 1, key, buf_slice(&value)), 0);
		commit(s);
		s = begin(ORDERED_READ);
		ck_assert_int_eq(o->methods->get(s, 1, key, &got), 0);
		ck_assert(slice_equal(buf_slice(&got), buf_slice(&value)));
		o->methods->release(s);
	}
	buf_release(&value);
	buf_release(&got);
	close_kind();
}
END_TEST

START_TEST(remove_range_takes_from_and_leaves_to)
{
	static const struct {
		const char *from, *to, *left;
	} cases[] = {
	    {"b", "d", "a d e"},       /* both there */
	    {"bb", "dd", "a b e"},     /* neither there */
	    {"", "c", "c d e"},	       /* from the start */
	    {"d", "", "a b c"},	       /* to the end */
	    {"", "", ""},	       /* everything */
	    {"c", "c", "a b c d e"},   /* empty */
	    {"d", "b", "a b c d e"},   /* the wrong way round */
	    {"f", "z", "a b c d e"},   /* behind the end */
	    {"bb", "bc", "a b c d e"}, /* between two */
	};

	open_kind(_i);
	create(1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		put_all(1, "a b c d e");
		struct ordered_session *s = begin(ORDERED_REMOVE);
		ck_assert_int_eq(
		    o->methods->remove_range(s, 1, slice_text(cases[i].from),
			slice_text(cases[i].to)),
		    0);
		ck_assert_str_eq(keys_seen(s, 1), cases[i].left);
		commit(s);
		ck_assert_str_eq(keys(1), cases[i].left);
	}
	close_kind();
}
END_TEST

/* --- cursors -------------------------------------------------------------- */

/* Where c stands, "-" for nowhere; valid until the next call. */
static const char *
standing(struct ordered_cursor *c, int r)
{
	static char text[64];
	struct slice key;

	if (r == 1)
		return "-";
	ck_assert_msg(r == 0, "%s", why_text(r));
	ck_assert_int_eq(o->methods->key(c, &key), 0);
	snprintf(
	    text, sizeof(text), "%.*s", (int)key.size, (const char *)key.data);
	return text;
}

START_TEST(seek_lands_right_at_every_edge)
{
	static const struct {
		const char *key;
		const char *exact, *from, *before;
	} cases[] = {
	    {"", "-", "b", "f"},   /* empty: the first, the last */
	    {"a", "-", "b", "-"},  /* before the first */
	    {"b", "b", "b", "-"},  /* on the first */
	    {"bb", "-", "d", "b"}, /* between */
	    {"d", "d", "d", "b"},  /* on one */
	    {"f", "f", "f", "d"},  /* on the last */
	    {"ff", "-", "-", "f"}, /* behind the last */
	};
	struct ordered_cursor *c;

	open_kind(_i);
	create(1);
	put_all(1, "b d f");
	struct ordered_session *s = begin(ORDERED_READ);
	ck_assert_int_eq(o->methods->cursor(s, 1, &c), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct slice key = slice_text(cases[i].key);
		ck_assert_str_eq(
		    standing(c, o->methods->seek(c, key, SEEK_EXACT)),
		    cases[i].exact);
		ck_assert_str_eq(
		    standing(c, o->methods->seek(c, key, SEEK_FROM)),
		    cases[i].from);
		ck_assert_str_eq(
		    standing(c, o->methods->seek(c, key, SEEK_BEFORE)),
		    cases[i].before);
	}
	o->methods->release(s);
	close_kind();
}
END_TEST

START_TEST(seek_passes_over_what_the_snapshot_does_not_see)
{
	struct ordered_cursor *c;

	open_kind(_i);
	create(1);
	put_all(1, "b f");
	struct ordered_session *reader = begin(ORDERED_READ);
	ck_assert_str_eq(keys_seen(reader, 1), "b f");
	put_all(1, "a d z");
	ck_assert_int_eq(o->methods->cursor(reader, 1, &c), 0);
	ck_assert_str_eq(
	    standing(c, o->methods->seek(c, slice_text("c"), SEEK_FROM)), "f");
	ck_assert_str_eq(
	    standing(c, o->methods->seek(c, slice_text("e"), SEEK_BEFORE)),
	    "b");
	ck_assert_str_eq(
	    standing(c, o->methods->seek(c, slice_text("d"), SEEK_EXACT)), "-");
	ck_assert_str_eq(
	    standing(c, o->methods->seek(c, slice_text(""), SEEK_BEFORE)), "f");
	ck_assert_str_eq(
	    standing(c, o->methods->seek(c, slice_text("b"), SEEK_BEFORE)),
	    "-");
	o->methods->release(reader);
	close_kind();
}
END_TEST

START_TEST(cursors_walk_both_ways)
{
	struct ordered_cursor *c;

	open_kind(_i);
	create(1);
	put_all(1, "a b c");
	struct ordered_session *s = begin(ORDERED_READ);
	ck_assert_int_eq(o->methods->cursor(s, 1, &c), 0);
	ck_assert_str_eq(standing(c, o->methods->next(c)), "a");
	ck_assert_str_eq(standing(c, o->methods->next(c)), "b");
	ck_assert_str_eq(standing(c, o->methods->prev(c)), "a");
	ck_assert_str_eq(standing(c, o->methods->prev(c)), "-");
	ck_assert_str_eq(
	    standing(c, o->methods->seek(c, slice_text(""), SEEK_BEFORE)), "c");
	ck_assert_str_eq(standing(c, o->methods->prev(c)), "b");
	ck_assert_str_eq(standing(c, o->methods->next(c)), "c");
	ck_assert_str_eq(standing(c, o->methods->next(c)), "-");
	o->methods->release(s);
	close_kind();
}
END_TEST

START_TEST(a_cursor_stays_where_it_is_while_its_transaction_writes)
{
	struct ordered_cursor *c;
	struct slice key, value;

	open_kind(_i);
	create(1);
	put_all(1, "a b c d e");
	struct ordered_session *s = begin(ORDERED_WRITE);
	ck_assert_int_eq(o->methods->cursor(s, 1, &c), 0);
	ck_assert_str_eq(
	    standing(c, o->methods->seek(c, slice_text("b"), SEEK_EXACT)), "b");
	put(s, 1, "aa", "x");
	put(s, 1, "bb", "x");
	ck_assert_int_eq(o->methods->remove(s, 1, slice_text("b")), 0);
	ck_assert_int_eq(o->methods->remove(s, 1, slice_text("c")), 0);
	ck_assert_int_eq(o->methods->key(c, &key), 0);
	ck_assert(slice_equal(key, slice_text("b")));
	ck_assert_int_eq(o->methods->value(c, &value), 0);
	ck_assert(slice_equal(value, slice_text("b")));
	ck_assert_str_eq(standing(c, o->methods->next(c)), "bb");
	ck_assert_str_eq(standing(c, o->methods->next(c)), "d");
	ck_assert_str_eq(standing(c, o->methods->prev(c)), "bb");
	ck_assert_str_eq(standing(c, o->methods->prev(c)), "aa");
	commit(s);
	close_kind();
}
END_TEST

START_TEST(a_walk_may_remove_what_it_stands_on)
{
	struct ordered_cursor *c;
	struct slice key;
	struct buf copy = {0};
	unsigned removed = 0;

	open_kind(_i);
	create(1);
	struct ordered_session *s = begin(ORDERED_WRITE);
	for (int i = 0; i < 500; i++) {
		char text[16];
		snprintf(text, sizeof(text), "%04d", i);
		put(s, 1, text, text);
	}
	commit(s);
	s = begin(ORDERED_REMOVE);
	ck_assert_int_eq(o->methods->cursor(s, 1, &c), 0);
	while (o->methods->next(c) == 0) {
		ck_assert_int_eq(o->methods->key(c, &key), 0);
		ck_assert_int_eq(buf_set(&copy, key), 0);
		ck_assert_int_eq(o->methods->remove(s, 1, buf_slice(&copy)), 0);
		removed++;
	}
	buf_release(&copy);
	ck_assert_uint_eq(removed, 500);
	commit(s);
	ck_assert_str_eq(keys(1), "");
	close_kind();
}
END_TEST

START_TEST(a_cursor_can_be_closed_after_its_transaction)
{
	struct ordered_cursor *c, *d;

	open_kind(_i);
	create(1);
	put_all(1, "a");
	struct ordered_session *s = begin(ORDERED_READ);
	ck_assert_int_eq(o->methods->cursor(s, 1, &c), 0);
	ck_assert_int_eq(o->methods->next(c), 0);
	ck_assert_int_eq(o->methods->commit(s), 0);
	ck_assert_int_eq(o->methods->begin(s, ORDERED_READ), 0);
	ck_assert_int_eq(o->methods->cursor(s, 1, &d), 0);
	o->methods->cursor_close(c);
	ck_assert_str_eq(standing(d, o->methods->next(d)), "a");
	o->methods->release(s);
	close_kind();
}
END_TEST

/* --- transactions --------------------------------------------------------- */

START_TEST(others_see_nothing_before_the_commit)
{
	open_kind(_i);
	create(1);
	create(2);
	put_all(1, "a b");
	struct ordered_session *early = begin(ORDERED_READ);
	ck_assert_str_eq(keys_seen(early, 1), "a b");
	struct ordered_session *writer = begin(ORDERED_WRITE);
	put(writer, 1, "c", "c");
	put(writer, 2, "other", "x");
	ck_assert_int_eq(o->methods->remove(writer, 1, slice_text("a")), 0);
	ck_assert_str_eq(keys_seen(writer, 1), "b c");
	ck_assert_str_eq(keys(1), "a b");
	ck_assert_str_eq(keys(2), "");
	commit(writer);
	ck_assert_str_eq(keys_seen(early, 1), "a b");
	ck_assert_str_eq(value_seen(early, 1, "a"), "a");
	ck_assert_str_eq(value_seen(early, 1, "c"), "-");
	o->methods->release(early);
	ck_assert_str_eq(keys(1), "b c");
	ck_assert_str_eq(keys(2), "other");
	close_kind();
}
END_TEST

START_TEST(rollback_undoes_everything)
{
	open_kind(_i);
	create(1);
	put_all(1, "a b c");
	struct ordered_session *s = begin(ORDERED_WRITE);
	put(s, 1, "a", "changed");
	put(s, 1, "d", "d");
	ck_assert_int_eq(
	    o->methods->remove_range(s, 1, slice_text("b"), slice_text("")), 0);
	o->methods->rollback(s);
	ck_assert_int_eq(o->methods->begin(s, ORDERED_READ), 0);
	ck_assert_str_eq(keys_seen(s, 1), "a b c");
	ck_assert_str_eq(value_seen(s, 1, "a"), "a");
	o->methods->release(s);
	close_kind();
}
END_TEST

START_TEST(release_rolls_back)
{
	open_kind(_i);
	create(1);
	struct ordered_session *s = begin(ORDERED_WRITE);
	put(s, 1, "a", "a");
	o->methods->release(s);
	ck_assert_str_eq(keys(1), "");
	close_kind();
}
END_TEST

START_TEST(a_second_writer_of_a_record_is_told_to_try_again)
{
	open_kind(_i);
	create(1);
	struct ordered_session *a = begin(ORDERED_WRITE);
	struct ordered_session *b = begin(ORDERED_WRITE);
	put(a, 1, "k", "a");
	ck_assert_int_eq(
	    o->methods->put(b, 1, slice_text("k"), slice_text("b")), -EAGAIN);
	o->methods->rollback(b);
	o->methods->release(b);
	commit(a);
	struct ordered_session *s = begin(ORDERED_READ);
	ck_assert_str_eq(value_seen(s, 1, "k"), "a");
	o->methods->release(s);
	close_kind();
}
END_TEST

/* --- tables and the store ------------------------------------------------- */

START_TEST(tables_are_made_listed_and_dropped)
{
	const struct ordered_table_options plain = {.compressor = "none"};
	struct buf numbers = {0};

	open_kind(_i);
	create(3);
	ck_assert_int_eq(o->methods->create(o, 3, &plain), -EEXIST);
	create(1000000);
	ck_assert_int_eq(o->methods->tables(o, &numbers), 0);
	ck_assert_uint_eq(numbers.size, 2 * sizeof(uint32_t));
	uint32_t sum =
	    ((uint32_t *)numbers.data)[0] + ((uint32_t *)numbers.data)[1];
	ck_assert_uint_eq(sum, 1000003);
	buf_release(&numbers);
	ck_assert_int_eq(o->methods->drop(o, 3), 0);
	ck_assert_int_eq(o->methods->drop(o, 3), 0);
	struct ordered_session *s = begin(ORDERED_READ);
	struct ordered_cursor *c;
	ck_assert_int_eq(o->methods->cursor(s, 3, &c), -ENOENT);
	ck_assert_ptr_null(c);
	o->methods->release(s);
	create(3);
	ck_assert_str_eq(keys(3), "");
	close_kind();
}
END_TEST

START_TEST(a_table_that_is_read_is_not_dropped)
{
	struct ordered_cursor *c;

	open_kind(_i);
	create(1);
	put_all(1, "a b");
	struct ordered_session *s = begin(ORDERED_READ);
	ck_assert_int_eq(o->methods->cursor(s, 1, &c), 0);
	ck_assert_int_eq(o->methods->next(c), 0);
	ck_assert_int_eq(o->methods->drop(o, 1), -EBUSY);
	ck_assert_str_eq(standing(c, o->methods->next(c)), "b");
	o->methods->release(s);
	ck_assert_int_eq(o->methods->drop(o, 1), 0);
	close_kind();
}
END_TEST

START_TEST(what_was_committed_is_there_after_reopening)
{
	open_kind(_i);
	create(1);
	put_all(1, "a b");
	reopen();
	ck_assert_str_eq(keys(1), "a b");
	put_all(1, "c");
	ck_assert_int_eq(o->methods->checkpoint(o), 0);
	put_all(1, "d");
	ck_assert_int_eq(o->methods->sync(o), 0);
	reopen();
	ck_assert_str_eq(keys(1), "a b c d");
	close_kind();
}
END_TEST

START_TEST(verify_and_compact_pass_over_a_sound_table)
{
	open_kind(_i);
	create(1);
	put_all(1, "a b");
	ck_assert_int_eq(o->methods->checkpoint(o), 0);
	ck_assert_int_eq(o->methods->verify(o, 1), 0);
	ck_assert_int_eq(o->methods->compact(o, 1), 0);
	ck_assert_int_eq(o->methods->verify(o, 2), -ENOENT);
	ck_assert_str_eq(keys(1), "a b");
	close_kind();
}
END_TEST

static void
count_stat(void *context, const char *name, uint64_t value)
{
	unsigned *count = context;

	(void)value;
	for (const char *p = name; *p; p++)
		ck_assert_msg(
		    strchr("abcdefghijklmnopqrstuvwxyz_", *p), "%s", name);
	++*count;
}

START_TEST(space_and_statistics_are_told)
{
	struct ordered_space space;
	unsigned count = 0;

	open_kind(_i);
	ck_assert_int_eq(o->methods->space(o, &space), 0);
	ck_assert_uint_gt(space.total, 0);
	ck_assert_uint_gt(space.available, 0);
	ck_assert_uint_le(space.available, space.total);
	o->methods->stats(o, count_stat, &count);
	ck_assert_uint_gt(count, 0);
	close_kind();
}
END_TEST

/* --- the memory store's own ----------------------------------------------- */

START_TEST(mem_fails_at_the_call_it_was_told)
{
	open_kind(MEM);
	create(1);
	struct ordered_session *s = begin(ORDERED_WRITE);
	ordered_mem_fail(o, EIO, 2, false);
	ck_assert_int_eq(
	    o->methods->put(s, 1, slice_text("a"), slice_text("a")), 0);
	ck_assert_int_eq(
	    o->methods->put(s, 1, slice_text("b"), slice_text("b")), -EIO);
	ck_assert_int_eq(
	    o->methods->put(s, 1, slice_text("c"), slice_text("c")), 0);
	ordered_mem_fail(o, ENOSPC, 1, true);
	ck_assert_int_eq(o->methods->commit(s), -ENOSPC);
	ck_assert_int_eq(o->methods->begin(s, ORDERED_READ), -ENOSPC);
	ordered_mem_fail(o, 0, 0, false);
	o->methods->release(s);
	ck_assert_str_eq(keys(1), "");
	close_kind();
}
END_TEST

START_TEST(mem_forgets_what_was_not_committed)
{
	open_kind(MEM);
	create(1);
	put_all(1, "a");
	struct ordered_session *s = begin(ORDERED_WRITE);
	put(s, 1, "b", "b");
	o = ordered_mem_reopen(o);
	ck_assert_str_eq(keys(1), "a");
	close_kind();
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("ordered");
	TCase *tc = tcase_create("memory");

	add_both(suite, "records",
	    (const TTest *const[]){records_come_in_order_of_unsigned_bytes,
		get_put_remove_act_on_one_record,
		values_of_any_bytes_and_sizes_come_back,
		remove_range_takes_from_and_leaves_to, NULL});
	add_both(suite, "cursors",
	    (const TTest *const[]){seek_lands_right_at_every_edge,
		seek_passes_over_what_the_snapshot_does_not_see,
		cursors_walk_both_ways,
		a_cursor_stays_where_it_is_while_its_transaction_writes,
		a_walk_may_remove_what_it_stands_on,
		a_cursor_can_be_closed_after_its_transaction, NULL});
	add_both(suite, "transactions",
	    (const TTest *const[]){others_see_nothing_before_the_commit,
		rollback_undoes_everything, release_rolls_back,
		a_second_writer_of_a_record_is_told_to_try_again, NULL});
	add_both(suite, "store",
	    (const TTest *const[]){tables_are_made_listed_and_dropped,
		a_table_that_is_read_is_not_dropped,
		what_was_committed_is_there_after_reopening,
		verify_and_compact_pass_over_a_sound_table,
		space_and_statistics_are_told, NULL});
	tcase_add_test(tc, mem_fails_at_the_call_it_was_told);
	tcase_add_test(tc, mem_forgets_what_was_not_committed);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
