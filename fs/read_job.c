#include "read_job.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "../kv/kv.h"
#include "../kv/why.h"

#define TURN 10 /* ms; a batch of the store's takes as long */

static int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Whether a signal came to who waits, or others are to have their turn. */
static bool
is_over(void *context)
{
	struct read_job *r = context;

	return fuse_req_interrupted(r->req) || now_ms() >= r->deadline;
}

/* One turn; false: it is not done, and there is nothing to give yet. */
static bool
take_turn(struct read_job *r, bool last)
{
	why_clear();
	r->deadline = now_ms() + TURN;
	kv_ask(is_over, r);
	int64_t n = handle_read(r->fs, r->handle, r->offset, r->bytes,
	    r->size, r->mapped);
	kv_ask(NULL, NULL);
	if (n == -EINTR && !last && !fuse_req_interrupted(r->req))
		return false;
	if (n < 0)
		ops_refuse(r->req, r->ino, "", (int)n);
	else
		fuse_reply_buf(r->req, r->bytes, (size_t)n);
	free(r->bytes);
	return true;
}

static bool
step(struct job *job, bool last)
{
	struct read_job *r = (struct read_job *)job;

	if (!take_turn(r, last))
		return false;
	free(r);
	return true;
}

void
read_job_serve(struct read_job *r)
{
	struct read_job *copy;

	r->job.step = step;
	r->bytes = malloc(r->size);
	if (!r->bytes) {
		ops_refuse(r->req, r->ino, "", -ENOMEM);
		return;
	}
	if (take_turn(r, false))
		return;
	copy = malloc(sizeof(*copy));
	if (!copy) {
		free(r->bytes);
		ops_refuse(r->req, r->ino, "", -ENOMEM);
		return;
	}
	*copy = *r;
	later_add(r->fs->later, &copy->job);
}

void
read_job_link(struct fs *fs, fuse_req_t req, struct inode *inode)
{
	struct reader reader = {0};
	struct spot spot;
	int r = inode_spot(fs, inode, &spot);

	if (r == 0)
		r = node_open(fs, &spot, &reader);
	buf_byte(&reader.text, 0);
	if (r == 0)
		r = buf_status(&reader.text);
	if (r < 0)
		ops_refuse(req, (fuse_ino_t)inode, "", r);
	else
		fuse_reply_readlink(req, (const char *)reader.text.data);
	reader_release(fs, &reader);
	spot_release(&spot);
}
