/* mount: serves a store as a file tree. */
#ifndef CELLFS_FS_MOUNT_H
#define CELLFS_FS_MOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mount_options {
	const char *store, *mount_point;
	bool foreground, read_only;
	bool fake; /* check what can be checked, mount nothing */
	uint64_t cache, buffers; /* bytes; 0: the default */
	unsigned sync_seconds;	 /* 0: the default */
	uid_t uid;
	gid_t gid;
	mode_t umask;
	bool has_uid, has_gid, has_umask;
	const char *fuse_options; /* a comma list that is passed on */
};

/* Mounts, detaches unless foreground, serves. Returns in the parent when the
 * mount answers (0) or a negative errno with why_text(). */
int
mount_run(const struct mount_options *o);

#endif
