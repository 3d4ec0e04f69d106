/* ops: FUSE's requests, each taken apart, done by tree, handle or dirbuf, and
 * answered exactly once. */
#ifndef CELLFS_FS_OPS_H
#define CELLFS_FS_OPS_H

#define FUSE_USE_VERSION 312
#include <fuse3/fuse_lowlevel.h>

#include "fs.h"

/* The request table; its user data is a struct fs. */
extern const struct fuse_lowlevel_ops ops;

/* What .cellfs/stats calls the kernel's requests, by opcode; 0: all others. */
extern const char *const ops_requests[TRAFFIC_KINDS];

/* The one way errors go to the kernel; those worth a sentence leave it in the
 * log, with the path of ino or, unless name is empty, of that in it. */
void
ops_refuse(fuse_req_t req, fuse_ino_t ino, const char *name, int r);

#endif
