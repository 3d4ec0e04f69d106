/* stall: a store in memory whose writers of large values can be held.
 */
#ifndef CELLFS_TESTS_STALL_H
#define CELLFS_TESTS_STALL_H

#include <stdbool.h>

struct ordered;

/* Puts itself before the store's methods. One store at a time. */
void
stall_stand_before(struct ordered *o);

/* From now on a thread that has written a chunk of a value waits before its
 * next transaction, without a lock of the store; until stall(false). */
void
stall(bool on);

/* Returns once a thread waits so. */
void
stall_await(void);

#endif
