/* The lines of .cellfs/log. */
#include "fs/journal.h"
#include "suite.h"

#include <check.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct journal journal;
static struct buf text;

static void
setup(void)
{
	journal_init(&journal, false);
}

static void
teardown(void)
{
	buf_release(&text);
	journal_release(&journal);
}

/* The whole log as a string. */
static const char *
whole(void)
{
	buf_clear(&text);
	journal_read(&journal, &text);
	buf_byte(&text, 0);
	ck_assert_int_eq(buf_status(&text), 0);
	return (const char *)text.data;
}

static void
refuse(uid_t uid, const char *what, const char *sentence)
{
	const struct caller caller = {.uid = uid};

	journal_refusal(&journal, &caller, what, sentence);
}

static const char *
last_of(uid_t uid)
{
	buf_clear(&text);
	journal_last(&journal, uid, &text);
	buf_byte(&text, 0);
	return (const char *)text.data;
}

static const char *
last(void)
{
	return last_of(7);
}

static bool
matches(const char *pattern, const char *s)
{
	regex_t r;

	ck_assert_int_eq(regcomp(&r, pattern, REG_EXTENDED | REG_NOSUB), 0);
	bool yes = regexec(&r, s, 0, NULL, 0) == 0;
	regfree(&r);
	return yes;
}

#define STAMP "20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-9:]{8}\\.[0-9]{3}Z"

START_TEST(a_new_journal_is_empty)
{
	ck_assert_str_eq(whole(), "");
	ck_assert_str_eq(last(), "");
}
END_TEST

START_TEST(lines_are_stamped_and_kept_in_order)
{
	journal_line(&journal, "first");
	journal_line(&journal, "second");
	ck_assert(matches("^" STAMP " first\n" STAMP " second\n$", whole()));
	ck_assert_str_eq(last(), "");
}
END_TEST

START_TEST(a_refusal_is_a_line_and_the_last_error)
{
	refuse(7, "open", "no such family");
	journal_line(&journal, "something else");
	ck_assert(matches("^" STAMP " open: no such family\n", whole()));
	ck_assert_str_eq(last(), "no such family");
	refuse(7, "write", "too large");
	ck_assert_str_eq(last(), "too large");
}
END_TEST

START_TEST(a_sentence_that_is_too_long_for_an_attribute_is_cut)
{
	static char sentence[2 * sizeof(journal.refused->sentence)];

	memset(sentence, 'x', sizeof(sentence) - 1);
	refuse(7, "open", sentence);
	ck_assert_uint_eq(
	    strlen(last()), sizeof(journal.refused->sentence) - 1);
	ck_assert_ptr_nonnull(strstr(whole(), sentence));
}
END_TEST

START_TEST(each_user_is_told_of_its_own)
{
	char sentence[32];

	refuse(7, "open", "mine");
	refuse(0, "open", "root's");
	journal_refusal(&journal, NULL, "", "nobody's");
	ck_assert_str_eq(last_of(7), "mine");
	ck_assert_str_eq(last_of(0), "root's");
	ck_assert_str_eq(last_of(8), "");
	for (uid_t uid = 100; uid < 100 + JOURNAL_USERS - 1; uid++) {
		snprintf(sentence, sizeof(sentence), "of %u", uid);
		refuse(uid, "open", sentence);
		refuse(0, "open", "root's");
	}
	ck_assert_str_eq(last_of(7), "");
	ck_assert_str_eq(last_of(0), "root's");
	ck_assert_str_eq(last_of(100), "of 100");
}
END_TEST

#define MANY 20000

START_TEST(old_lines_go_whole_and_memory_stays_bounded)
{
	char line[64], *end;

	for (int i = 0; i < MANY; i++) {
		snprintf(line, sizeof(line), "line %d of a long log", i);
		journal_line(&journal, line);
		ck_assert_uint_le(journal.lines.size,
		    JOURNAL_BYTES + sizeof(line) + 32);
	}
	const char *log = whole();
	ck_assert(matches("^" STAMP " line [0-9]+ of a long log\n", log));
	const char *first = strstr(log, "line ");
	long n = strtol(first + 5, &end, 10);
	ck_assert_int_gt(n, 0);
	for (; n < MANY; n++) {
		snprintf(line, sizeof(line), " line %ld of a long log\n", n);
		log = strstr(log, line);
		ck_assert_msg(log != NULL, "line %ld is missing", n);
	}
}
END_TEST

static void *
write_lines(void *name)
{
	char line[32];

	for (int i = 0; i < 500; i++) {
		snprintf(line, sizeof(line), "%s %d", (const char *)name, i);
		journal_line(&journal, line);
	}
	return NULL;
}

START_TEST(threads_do_not_mix_their_lines)
{
	static char *names[] = {"a", "b", "c"};
	pthread_t threads[3];
	size_t lines = 0;

	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL,
		    write_lines, names[i]), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	char *log = strdup(whole());
	for (char *l = strtok(log, "\n"); l; l = strtok(NULL, "\n")) {
		ck_assert_msg(matches("^" STAMP " [abc] [0-9]+$", l), "%s",
		    l);
		lines++;
	}
	free(log);
	ck_assert_uint_eq(lines, 1500);
}
END_TEST

static Suite *
journal_suite(void)
{
	Suite *s = suite_create("journal");
	TCase *t = tcase_create("lines");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 30);
	tcase_add_test(t, a_new_journal_is_empty);
	tcase_add_test(t, lines_are_stamped_and_kept_in_order);
	tcase_add_test(t, a_refusal_is_a_line_and_the_last_error);
	tcase_add_test(t,
	    a_sentence_that_is_too_long_for_an_attribute_is_cut);
	tcase_add_test(t, each_user_is_told_of_its_own);
	tcase_add_test(t, old_lines_go_whole_and_memory_stays_bounded);
	tcase_add_test(t, threads_do_not_mix_their_lines);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return suite_run(journal_suite());
}
