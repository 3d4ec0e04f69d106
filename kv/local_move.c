#include "local.h"

#include <errno.h>

int
local_move(struct engine *e, const struct place *from,
    struct version from_version, const struct place *to,
    struct version to_version, unsigned flags, int64_t *stored)
{
	(void)e, (void)from, (void)from_version, (void)to, (void)to_version;
	(void)flags, (void)stored;
	return -ENOSYS;
}
