/* chance: random numbers that a seed repeats everywhere. */
#ifndef CELLFS_TESTS_CHANCE_H
#define CELLFS_TESTS_CHANCE_H

#include <stdint.h>

/* Seeds from CELLFS_TEST_SEED, else from the clock, and prints the seed. */
void
chance_seed(void);

/* A number from 0 to below - 1. */
uint64_t
chance(uint64_t below);

#endif
