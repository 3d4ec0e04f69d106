/* fs: one mount's state. No FUSE. */
#ifndef CELLFS_FS_FS_H
#define CELLFS_FS_FS_H

#include "caller.h"
#include "image.h"
#include "journal.h"
#include "traffic.h"
#include "../kv/kv.h"

struct nodes;
struct tunnel;
struct notify;
struct later;
struct times;

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
	struct traffic traffic;
	struct nodes *nodes;
	struct tunnel *tunnel;
	struct notify *notify;
	struct later *later; /* NULL without FUSE */
	struct times *times;
	atomic_flag long_verb;	/* a compaction runs by .cellfs/control */
	int64_t started; /* ms */
	uint64_t key;	 /* of inode numbers; the same after a remount */
	/* A handler says so before it waits for other requests. */
	void (*step_aside)(void *context);
	void *step_context;
};

#endif
