/* clock: the store's idea of now, which tests may set. */
#ifndef CELLFS_KV_CLOCK_H
#define CELLFS_KV_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

/* A clock of all zeros is the wall clock. */
struct clock {
	_Atomic int64_t fixed; /* ms since the epoch; 0: the wall clock */
};

/* Milliseconds since the epoch. Any thread. */
int64_t
clock_now(struct clock *clock);

/* Stops the clock at now (tests); 0 lets the wall clock speak again. */
void
clock_set(struct clock *clock, int64_t now);

#endif
