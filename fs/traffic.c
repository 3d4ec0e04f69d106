#include "traffic.h"

#include <stddef.h>

static bool
is_told(const struct traffic *t, uint32_t opcode)
{
	return t->names && opcode < TRAFFIC_KINDS && t->names[opcode];
}

void
traffic_count(struct traffic *t, uint32_t opcode)
{
	atomic_fetch_add_explicit(
	    &t->requests[is_told(t, opcode) ? opcode : 0], 1,
	    memory_order_relaxed);
}

void
traffic_emit(const struct traffic *t,
    void (*emit)(void *context, const char *name, uint64_t value),
    void *context)
{
	for (uint32_t i = 0; i < TRAFFIC_KINDS; i++)
		if (is_told(t, i))
			emit(context, t->names[i], t->requests[i]);
}
