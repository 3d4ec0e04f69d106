/* ordered_kit: short words for tests of ordered stores. Whatever fails fails
 * the test. */
#ifndef CELLFS_TESTS_ORDERED_KIT_H
#define CELLFS_TESTS_ORDERED_KIT_H

#include "kv/ordered.h"
#include "suite.h"

/* The store under test. */
extern struct ordered *o;

/* Makes it, one of the implementations, in the test's directory; closes it for
 * good; closes and opens it. */
enum { MEM, WT, IMPLEMENTATIONS };
void
open_kind(int which);
void
close_kind(void);
void
reopen(void);

void
create(uint32_t table);

struct ordered_session *
session(void);

struct ordered_session *
begin(enum ordered_intent intent);

/* And releases. */
void
commit(struct ordered_session *s);

void
put(struct ordered_session *s, uint32_t table, const char *key,
    const char *value);

/* Stores the keys, a space between, each as its own value, and commits. */
void
put_all(uint32_t table, const char *names);

/* The keys a session sees, a space between; valid until the next call. */
const char *
keys_seen(struct ordered_session *s, uint32_t table);

const char *
keys(uint32_t table);

/* The value of key, "-" for none; valid until the next call. */
const char *
value_seen(
    struct ordered_session *s, uint32_t table, const char *key);

/* Adds tests, NULL at the end, as a case; each runs on every implementation,
 * _i, in a fresh directory. */
void
add_both(Suite *suite, const char *name, const TTest *const *tests);

#endif
