#include "tests/chance.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t state;

void
chance_seed(void)
{
	const char *given = getenv("CELLFS_TEST_SEED");

	state = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
	if (!state)
		state = 1; /* xorshift would stay at 0 */
	printf("CELLFS_TEST_SEED=%" PRIu64 "\n", state);
	fflush(stdout);
}

uint64_t
chance(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}
