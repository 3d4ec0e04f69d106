/* image: the bytes of a file that is being written, before they are stored.
 *
 * In memory while the budget that all images share allows it, beyond it in an
 * unnamed file in the store's directory. Not locked: its handle's lock is.
 */
#ifndef CELLFS_FS_IMAGE_H
#define CELLFS_FS_IMAGE_H

#include <stdatomic.h>
#include <sys/types.h>

#include "../kv/cell.h"

struct budget {
	const char *directory;	  /* where unnamed files are made */
	uint64_t limit;		  /* bytes of memory for all images */
	_Atomic uint64_t used;
};

/* An image of all zeros but the budget is empty and ready. */
struct image {
	struct budget *budget;
	uint64_t size;
	struct buf memory; /* the bytes, unless spilled */
	uint64_t charged;  /* what this image has taken from the budget */
	bool spilled;
	int fd;		   /* the unnamed file, if spilled */
};

/* The greatest size an image may reach, and what sets it. */
struct limit {
	uint64_t bytes;
	const char *name;
};

void
image_init(struct image *i, struct budget *budget);

/* Gives memory, budget and file back; the image is empty and ready again. */
void
image_release(struct image *i);

/* Writes; what lies between the end and offset becomes zeros. -ENOSPC. */
int
image_write(struct image *i, uint64_t offset, const void *from, size_t size);

/* Sets the size, with zeros behind the old end. */
int
image_truncate(struct image *i, uint64_t size);

/* Reads up to size bytes: how many, 0 behind the end, or a negative errno. */
int64_t
image_read(const struct image *i, uint64_t offset, void *to, size_t size);

/* The bytes from offset on as a source; valid until the image changes. The
 * tail (owned by the caller) keeps what the source needs. */
struct image_tail {
	const struct image *image;
	uint64_t offset;
};

struct source
image_source(const struct image *i, uint64_t offset, struct image_tail *tail);

#endif
