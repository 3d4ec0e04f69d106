/* wt_kit: short words for tests of the store over WiredTiger, on top of
 * ordered_kit. Whatever fails fails the test. */
#ifndef CELLFS_TESTS_WT_KIT_H
#define CELLFS_TESTS_WT_KIT_H

#include "tests/ordered_kit.h"

/* What the store said to its log. */
extern char logged[65536];

/* The store's directory; the test may put other things beside it. */
const char *
home(void);

/* To make or open the store there. */
struct ordered_options
options(void);

void
open_with(struct ordered_options with);

void
open_store(void);

void
close_store(void);

/* Tries to open; what it says, or "" if it opens (and is closed again). Valid
 * until the next call. */
const char *
refusal(struct ordered_options with, int expected);

/* Runs body in a child that ends without closing anything. */
void
in_child(void (*body)(void));

/* Stores numbers as keys and values, each in a transaction of its own. */
void
put_numbers(uint32_t table, int from, int to);

/* How many records a table has. */
int
count(uint32_t table);

/* Adds tests, NULL at the end, as a case; each runs for _i below rounds, in a
 * fresh directory. */
void
topic(Suite *suite, const char *name, const TTest *const *tests, int rounds);

#endif
