/* dirbuf: one open directory, read by readdir and readdirplus.
 *
 * An offset is the number of names before it. The listing goes on behind the
 * last name by its key, so a name that is there throughout comes exactly
 * once. Memory is bounded: where each name of the last reply stood, and every
 * so many names an anchor, thinned out as they grow many.
 */
#ifndef CELLFS_FS_DIRBUF_H
#define CELLFS_FS_DIRBUF_H

#define FUSE_USE_VERSION 312
#include <fuse3/fuse_lowlevel.h>

#include "tree.h"

struct dirbuf;

/* -ENOMEM. Holds the inode until dirbuf_close(). */
int
dirbuf_open(struct fs *fs, struct inode *dir, struct dirbuf **out);

void
dirbuf_close(struct fs *fs, struct dirbuf *d);

struct dirbuf_request {
	fuse_req_t req;
	struct caller caller;
	size_t size;	 /* bytes of the reply, at most */
	uint64_t offset;
	bool plus;	 /* with attributes and lookups */
};

/* Appends the reply to out; empty: the end. */
int
dirbuf_read(struct fs *fs, struct dirbuf *d,
    const struct dirbuf_request *request, struct buf *out);

#endif
