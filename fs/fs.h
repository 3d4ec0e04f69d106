/* fs: one mount's state, and who is asking. No FUSE. */
#ifndef CELLFS_FS_FS_H
#define CELLFS_FS_FS_H

#include "image.h"
#include "journal.h"
#include "../kv/kv.h"

struct nodes;
struct tunnel;
struct notify;

/* The owner and mode that a mount shows instead of what is kept. */
struct masquerade {
	bool has_uid, has_gid, has_umask;
	uid_t uid;
	gid_t gid;
	mode_t umask;
};

struct fs {
	struct kv *kv;
	const char *store;	/* absolute path, for messages */
	bool read_only;
	struct masquerade masquerade;
	struct budget buffers;	/* shared by all images */
	struct journal journal; /* .cellfs/log */
	struct nodes *nodes;
	struct tunnel *tunnel;
	struct notify *notify;
	int64_t started; /* ms */
};

/* The process behind a request. */
struct caller {
	uid_t uid;
	gid_t gid;
	pid_t thread; /* FUSE names the thread */
};

/* The thread group of a thread: the process as tools know it. */
pid_t
caller_process(pid_t thread);

#endif
