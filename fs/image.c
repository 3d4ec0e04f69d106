#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
image_init(struct image *i, struct budget *budget)
{
	*i = (struct image){.budget = budget, .fd = -1};
}

void
image_release(struct image *i)
{
	atomic_fetch_sub(&i->budget->used, i->charged);
	buf_release(&i->memory);
	if (i->spilled)
		close(i->fd);
	image_init(i, i->budget);
}

/* Takes the budget for size bytes of memory; false when it is spent. */
static bool
charge(struct image *i, uint64_t size)
{
	if (size <= i->charged)
		return true;

	uint64_t more = size - i->charged;
	uint64_t before = atomic_fetch_add(&i->budget->used, more);
	if (before + more > i->budget->limit) {
		atomic_fetch_sub(&i->budget->used, more);
		return false;
	}
	i->charged = size;
	return true;
}

static int
write_all(int fd, const void *from, size_t size, uint64_t offset)
{
	const uint8_t *p = from;

	while (size) {
		ssize_t n = pwrite(fd, p, size, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

/* A file without a name, also where the file system makes none at once. */
static int
open_unnamed(const char *directory)
{
	char path[PATH_MAX];
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || errno != EOPNOTSUPP)
		return fd < 0 ? -errno : fd;
	if (snprintf(path, sizeof(path), "%s/cellfs.image.XXXXXX",
		directory) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

/* Moves the bytes into an unnamed file. */
static int
spill(struct image *i)
{
	int fd = open_unnamed(i->budget->directory);
	if (fd < 0)
		return fd;

	int r = write_all(fd, i->memory.data, i->memory.size, 0);
	if (r < 0) {
		close(fd);
		return r;
	}
	buf_release(&i->memory);
	atomic_fetch_sub(&i->budget->used, i->charged);
	i->charged = 0;
	i->fd = fd;
	i->spilled = true;
	return 0;
}

int
image_truncate(struct image *i, uint64_t size)
{
	int r = 0;

	if (!i->spilled && !charge(i, size))
		r = spill(i);
	if (r == 0 && i->spilled)
		r = ftruncate(i->fd, (off_t)size) ? -errno : 0;
	else if (r == 0)
		r = buf_resize(&i->memory, size);
	if (r == 0)
		i->size = size;
	return r;
}

int
image_write(struct image *i, uint64_t offset, const void *from, size_t size)
{
	int r = 0;

	if (offset + size > i->size)
		r = image_truncate(i, offset + size);
	if (r < 0 || !size)
		return r;
	if (i->spilled)
		return write_all(i->fd, from, size, offset);
	memcpy(i->memory.data + offset, from, size);
	return 0;
}

int64_t
image_read(const struct image *i, uint64_t offset, void *to, size_t size)
{
	if (offset >= i->size)
		return 0;
	if (size > i->size - offset)
		size = (size_t)(i->size - offset);
	if (!i->spilled) {
		memcpy(to, i->memory.data + offset, size);
		return (int64_t)size;
	}

	size_t done = 0;
	while (done < size) {
		ssize_t n = pread(i->fd, (uint8_t *)to + done, size - done,
		    (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return (int64_t)done;
}

static int
read_tail(const struct source *s, uint64_t offset, void *to, size_t size)
{
	const struct image_tail *tail = s->context;
	int64_t n = image_read(tail->image, tail->offset + offset, to, size);

	if (n < 0)
		return (int)n;
	return (size_t)n == size ? 0 : -EIO;
}

struct source
image_source(const struct image *i, uint64_t offset, struct image_tail *tail)
{
	*tail = (struct image_tail){i, offset};
	return (struct source){
	    .size = i->size - offset, .read = read_tail, .context = tail};
}
