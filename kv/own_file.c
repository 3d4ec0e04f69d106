#include "own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shadow.h"

/* Writes all of bytes behind what is there, and syncs. */
static int
write_synced(
    int fd, struct shadow *shadow, const char *name, struct slice bytes)
{
	off_t end = lseek(fd, 0, SEEK_END);

	if (end < 0)
		return -errno;
	ssize_t n = write(fd, bytes.data, bytes.size);
	if (n < 0 || fdatasync(fd))
		return -errno;
	if ((size_t)n < bytes.size)
		return -ENOSPC;
	int r = shadow_written(shadow, name, end, bytes.size);
	return r ? r : shadow_synced(shadow, name, fd);
}

static int
write_new(
    int directory, struct shadow *shadow, const char *name, struct slice bytes)
{
	int fd = openat(
	    directory, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	int r = shadow_created(shadow, name);
	if (r == 0)
		r = write_synced(fd, shadow, name, bytes);
	close(fd);
	return r;
}

int
own_file_save(
    int directory, struct shadow *shadow, const char *name, struct slice bytes)
{
	char fresh[64];

	snprintf(fresh, sizeof(fresh), "%s.new", name);
	int r = write_new(directory, shadow, fresh, bytes);
	if (r == 0 && renameat(directory, fresh, directory, name))
		r = -errno;
	if (r) {
		unlinkat(directory, fresh, 0);
		return r;
	}
	r = shadow_renamed(shadow, fresh, name);
	if (r == 0 && fsync(directory))
		r = -errno;
	return r ? r : shadow_synced_names(shadow);
}

int
own_file_append(
    int directory, struct shadow *shadow, const char *name, struct slice bytes)
{
	struct stat st;
	int fd = openat(directory, name, O_RDWR | O_APPEND | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	int r = fstat(fd, &st) ? -errno : 0;
	if (r == 0) {
		r = write_synced(fd, shadow, name, bytes);
		if (r && ftruncate(fd, st.st_size))
			r = -errno;
	}
	close(fd);
	return r;
}

int
own_file_copy(
    int directory, struct shadow *shadow, const char *from, const char *name)
{
	struct buf bytes = {0};
	struct stat st;
	int r = 0;
	int fd = openat(directory, from, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		r = -errno;
	if (r == 0)
		r = buf_resize(&bytes, (size_t)st.st_size);
	if (r == 0 && read(fd, bytes.data, bytes.size) != st.st_size)
		r = -EIO;
	if (r == 0)
		r = own_file_save(directory, shadow, name, buf_slice(&bytes));
	if (fd >= 0)
		close(fd);
	buf_release(&bytes);
	return r;
}
