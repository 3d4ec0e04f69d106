/* kv_store: an open store, as kv.c and kv_store.c share it (private to them).
 *
 * kv_store.c opens and closes, and keeps the holder file: the first line of
 * cellfs.holder is "PID MOUNTPOINT", true while the file is locked (flock).
 */
#ifndef CELLFS_KV_KV_STORE_H
#define CELLFS_KV_KV_STORE_H

#include "kv.h"

struct ordered;

struct kv {
	struct engine *engine;
	struct ordered *memory; /* in_memory: to be freed */
	bool read_only;
	int holder; /* locked while the store is open; -1: none */
};

#endif
