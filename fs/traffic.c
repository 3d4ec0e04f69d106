#include "traffic.h"

#include <linux/fuse.h>
#include <stddef.h>

static const char *const names[TRAFFIC_KINDS] = {
	[0] = "requests_other",
	[FUSE_LOOKUP] = "requests_lookup",
	[FUSE_FORGET] = "requests_forget",
	[FUSE_BATCH_FORGET] = "requests_batch_forget",
	[FUSE_GETATTR] = "requests_getattr",
	[FUSE_SETATTR] = "requests_setattr",
	[FUSE_MKNOD] = "requests_mknod",
	[FUSE_MKDIR] = "requests_mkdir",
	[FUSE_UNLINK] = "requests_unlink",
	[FUSE_RMDIR] = "requests_rmdir",
	[FUSE_RENAME] = "requests_rename",
	[FUSE_CREATE] = "requests_create",
	[FUSE_OPEN] = "requests_open",
	[FUSE_READ] = "requests_read",
	[FUSE_WRITE] = "requests_write",
	[FUSE_FLUSH] = "requests_flush",
	[FUSE_FSYNC] = "requests_fsync",
	[FUSE_RELEASE] = "requests_release",
	[FUSE_FALLOCATE] = "requests_fallocate",
	[FUSE_LSEEK] = "requests_lseek",
	[FUSE_IOCTL] = "requests_ioctl",
	[FUSE_OPENDIR] = "requests_opendir",
	[FUSE_READDIR] = "requests_readdir",
	[FUSE_READDIRPLUS] = "requests_readdirplus",
	[FUSE_RELEASEDIR] = "requests_releasedir",
	[FUSE_FSYNCDIR] = "requests_fsyncdir",
	[FUSE_STATFS] = "requests_statfs",
	[FUSE_GETXATTR] = "requests_getxattr",
	[FUSE_LISTXATTR] = "requests_listxattr",
	[FUSE_SETXATTR] = "requests_setxattr",
};

void
traffic_count(struct traffic *t, uint32_t opcode)
{
	if (opcode == FUSE_RENAME2)
		opcode = FUSE_RENAME;
	if (opcode >= TRAFFIC_KINDS || !names[opcode])
		opcode = 0;
	atomic_fetch_add_explicit(&t->requests[opcode], 1,
	    memory_order_relaxed);
}

void
traffic_emit(const struct traffic *t,
    void (*emit)(void *context, const char *name, uint64_t value),
    void *context)
{
	for (size_t i = 0; i < TRAFFIC_KINDS; i++)
		if (names[i])
			emit(context, names[i], t->requests[i]);
}
