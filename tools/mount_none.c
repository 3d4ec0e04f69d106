/* What stands for fs/ in a program that is built without libfuse. */
#include "../fs/mount.h"
#include "../kv/why.h"

#include <errno.h>

int
mount_run(const struct mount_options *o)
{
	(void)o;
	return why(ENOSYS, "this cellfs was built without FUSE and cannot "
			   "mount");
}
