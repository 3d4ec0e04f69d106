/* asking: what a scan has to ask the store for a place of the tree. */
#ifndef CELLFS_FS_ASKING_H
#define CELLFS_FS_ASKING_H

#include "spot.h"
#include "../kv/request.h"

/* A specification with what its slices stand in; as long as the spot. */
struct asking {
	struct scan_spec spec;
	struct column column;
};

/* The newest cells at a table, a row or a family. */
void
asking_fill(struct asking *a, const struct spot *spot);

#endif
