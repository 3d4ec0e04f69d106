/* ops_own: what the requests share (private to fs/ops*.c). */
#ifndef CELLFS_FS_OPS_OWN_H
#define CELLFS_FS_OPS_OWN_H

#include "../kv/why.h"
#include "inode.h"
#include "ops.h"
#include "tree.h"

static inline struct fs *
fs_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

static inline struct inode *
inode_of(struct fs *fs, fuse_ino_t ino)
{
	return ino == FUSE_ROOT_ID ? &fs->nodes->root : (struct inode *)ino;
}

static inline struct caller
caller_of(fuse_req_t req)
{
	const struct fuse_ctx *c = fuse_req_ctx(req);

	return (struct caller){
	    .uid = c->uid, .gid = c->gid, .thread = c->pid};
}

/* Begins a request: nothing has been refused yet. */
static inline struct fs *
ops_begin(fuse_req_t req)
{
	why_clear();
	return fs_of(req);
}

/* ops_xattr.c */
void
ops_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size);
void
ops_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size);
void
ops_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name,
    const char *value, size_t size, int flags);
void
ops_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name);

#endif
