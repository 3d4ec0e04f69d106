/* read_job: a READ on its way to its answer. What is not there within a few
 * milliseconds is made by the threads of later.h. */
#ifndef CELLFS_FS_READ_JOB_H
#define CELLFS_FS_READ_JOB_H

#include "handle.h"
#include "later.h"
#include "ops.h"

struct read_job {
	struct job job;
	struct fs *fs;
	fuse_req_t req;
	fuse_ino_t ino;
	struct handle *handle; /* open as long as the kernel waits */
	uint64_t offset;
	size_t size;
	bool mapped;
	int64_t deadline; /* of this turn, ms; 0: none */
	char *bytes;
};

/* Answers, now or later; a copy of it is made for that. */
void
read_job_serve(struct read_job *r);

/* Answers a READLINK. */
void
read_job_link(struct fs *fs, fuse_req_t req, struct inode *inode);

#endif
