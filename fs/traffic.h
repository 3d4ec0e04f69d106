/* traffic: how many requests of each kind the kernel has sent.
 *
 * Speed here is a matter of how few there are, so they are counted.
 */
#ifndef CELLFS_FS_TRAFFIC_H
#define CELLFS_FS_TRAFFIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define TRAFFIC_KINDS 64

struct traffic {
	const char *const *names; /* by opcode: what .cellfs/stats calls it; NULL
				     and beyond: counted as opcode 0 */
	_Atomic uint64_t requests[TRAFFIC_KINDS];
};

/* opcode: as the kernel numbers them. Any thread. */
void
traffic_count(struct traffic *t, uint32_t opcode);

/* One call for each kind there is a name for. */
void
traffic_emit(const struct traffic *t,
    void (*emit)(void *context, const char *name, uint64_t value),
    void *context);

#endif
