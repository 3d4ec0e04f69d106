/* The requests about extended attributes: ours answer, others cost nothing. */
#include "ops_own.h"

#include <errno.h>
#include <string.h>

/* Bytes of an attribute, or only how many when size is 0. */
void
ops_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct fs *fs = ops_begin(req);
	struct buf value = {0};
	struct caller caller = caller_of(req);
	int r = -EOPNOTSUPP;

	if (strncmp(name, "user.", 5) == 0)
		r = tree_xattr(fs, inode_of(fs, ino), slice_text(name),
		    &caller, &value);
	if (r == 0 && size && size < value.size)
		r = -ERANGE;
	if (r < 0)
		ops_refuse(req, ino, "", r);
	else if (!size)
		fuse_reply_xattr(req, value.size);
	else
		fuse_reply_buf(req, (char *)value.data, value.size);
	buf_release(&value);
}

void
ops_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	(void)ino;
	if (size)
		fuse_reply_buf(req, NULL, 0);
	else
		fuse_reply_xattr(req, 0);
}

void
ops_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name,
    const char *value, size_t size, int flags)
{
	(void)value;
	(void)size;
	(void)flags;
	ops_begin(req);
	if (strncmp(name, "user.", 5) == 0)
		why(EOPNOTSUPP, "extended attributes cannot be set");
	ops_refuse(req, ino, "", -EOPNOTSUPP);
}

void
ops_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	(void)ino;
	(void)name;
	fuse_reply_err(req, EOPNOTSUPP);
}
