#include "clock.h"

#include <time.h>

int64_t
clock_now(struct clock *clock)
{
	int64_t fixed = atomic_load(&clock->fixed);
	if (fixed)
		return fixed;

	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void
clock_set(struct clock *clock, int64_t now)
{
	atomic_store(&clock->fixed, now);
}
