/* dirbuf: one open directory, read by readdir and readdirplus.
 *
 * The listing goes on behind the last name by its key, so a name that is there
 * throughout comes exactly once. Memory is bounded: where each name of the last
 * reply stood, and every so many names an anchor, thinned out as they grow
 * many. An offset that was never given here (the kernel reads on in a listing
 * that another open directory has filled) is found by its name.
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

/* Whether the kernel may keep the listing, and believe what it has of it. */
bool
dirbuf_is_kept(const struct dirbuf *d);

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
