/* caller: the process behind a request. */
#ifndef CELLFS_FS_CALLER_H
#define CELLFS_FS_CALLER_H

#include <sys/types.h>

struct caller {
	uid_t uid;
	gid_t gid;
	pid_t thread; /* FUSE names the thread; 0: of another namespace */
};

/* The thread group of a thread: the process as tools know it. */
pid_t
caller_process(pid_t thread);

#endif
