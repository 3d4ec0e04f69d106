/* ops: FUSE's requests, each taken apart, done by tree, handle or dirbuf, and
 * answered exactly once. */
#ifndef CELLFS_FS_OPS_H
#define CELLFS_FS_OPS_H

#define FUSE_USE_VERSION 312
#include <fuse3/fuse_lowlevel.h>

#include "fs.h"

/* The request table; its user data is a struct fs. */
extern const struct fuse_lowlevel_ops ops;

#endif
