/* suite: how a suite is put together and run, and what its tests claim. */
#ifndef CELLFS_TESTS_SUITE_H
#define CELLFS_TESTS_SUITE_H

#include <check.h>
#include <stdlib.h>

#define OK(call) ck_assert_int_eq((call), 0)
#define REFUSED(error, call) ck_assert_int_eq((call), -(error))
#define SAYS(expected, text) ck_assert_str_eq((text), (expected))

#define TESTS(...) ((const TTest *const[]){__VA_ARGS__, NULL})

/* Adds tests as a case with a checked fixture. */
static inline void
suite_topic(Suite *s, const char *name, void (*setup)(void),
    void (*teardown)(void), const TTest *const *tests)
{
	TCase *t = tcase_create(name);

	tcase_add_checked_fixture(t, setup, teardown);
	while (*tests)
		tcase_add_test(t, *tests++);
	suite_add_tcase(s, t);
}

/* What main() returns. */
static inline int
suite_run(Suite *s)
{
	SRunner *runner = srunner_create(s);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
