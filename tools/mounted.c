#include "mounted.h"

#include "../kv/kv.h"
#include "../kv/text.h"
#include "../kv/why.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define FOLDER (O_PATH | O_DIRECTORY | O_CLOEXEC)
#define SENTENCE_MAX 1024

/* The directory at the top of the file system that fd is in; closes fd. */
static int
file_system_root(int fd)
{
	struct stat here, above;

	for (;;) {
		int parent = openat(fd, "..", FOLDER);

		if (parent < 0 || fstat(fd, &here) < 0 ||
		    fstat(parent, &above) < 0 || here.st_dev != above.st_dev ||
		    here.st_ino == above.st_ino) {
			if (parent >= 0)
				close(parent);
			return fd;
		}
		close(fd);
		fd = parent;
	}
}

/* 1 unless the directory holds a readable .cellfs/pid. */
static int
read_pid(int root, pid_t *out)
{
	char text[24] = "";
	uint64_t number;
	size_t size;
	int fd = openat(root, ".cellfs/pid", O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return 1;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (got < 0)
		return 1;
	size = strcspn(text, "\n");
	if (text_number(slice_of(text, size), INT32_MAX, &number) < 0)
		return 1;
	*out = number;
	return 0;
}

static int
path_of(int fd, struct buf *out)
{
	char name[40];
	char path[4096];
	ssize_t size;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	size = readlink(name, path, sizeof(path));
	if (size < 0)
		return -errno;
	buf_append(out, slice_of(path, size));
	buf_byte(out, 0);
	return buf_status(out);
}

int
mounted_at(const char *path, struct mounted *out)
{
	struct statfs fs;
	int fd = open(path, FOLDER);
	int r = 1;

	*out = (struct mounted){0};
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 1 : -errno;
	if (fstatfs(fd, &fs) == 0 && fs.f_type == FUSE_SUPER_MAGIC) {
		fd = file_system_root(fd);
		r = read_pid(fd, &out->pid);
		if (r == 0)
			r = path_of(fd, &out->point);
	}
	close(fd);
	if (r)
		mounted_release(out);
	return r;
}

/* Who holds the store, and where it is mounted: 1 if it is not, or not any
 * more. pid is 0 where nobody holds it. */
static int
mount_of_store(const char *store, struct mounted *out)
{
	struct mounted there;
	pid_t pid;
	int r = kv_holder(store, &pid, &out->point);

	out->pid = r == 0 ? pid : 0;
	if (r < 0)
		return r == -ENOENT ? 1 : r;
	if (!pid || !out->point.size)
		return 1;
	buf_byte(&out->point, 0);
	if (buf_status(&out->point) < 0)
		return -ENOMEM;
	r = mounted_at((char *)out->point.data, &there);
	if (r == 0 && there.pid != pid)
		r = 1;
	mounted_release(&there);
	return r;
}

bool
mounted_passing(const char *store)
{
	const struct timespec poll = {.tv_nsec = PASSING_POLL_MS * 1000000};
	struct mounted m = {0};
	bool passing = mount_of_store(store, &m) == 1;

	mounted_release(&m);
	if (passing)
		nanosleep(&poll, NULL);
	return passing;
}

int
mounted_find(const char *store, struct mounted *out)
{
	int r = mounted_at(store, out);

	if (r == 1)
		r = mount_of_store(store, out);
	if (r)
		mounted_release(out);
	return r;
}

void
mounted_release(struct mounted *m)
{
	buf_release(&m->point);
	*m = (struct mounted){0};
}

static int
open_in(const struct mounted *m, const char *name, int flags)
{
	char path[4200];
	int fd;

	snprintf(
	    path, sizeof(path), "%s/.cellfs/%s", (char *)m->point.data, name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? why(errno, "%s: %s", path, strerror(errno)) : fd;
}

/* The last line of the mount's log, cut to room. */
static void
last_of_log(const struct mounted *m, char *line, size_t room)
{
	FILE *log;
	char *read = NULL;
	size_t size = 0;
	int fd = open_in(m, "log", O_RDONLY);

	*line = 0;
	log = fd < 0 ? NULL : fdopen(fd, "r");
	if (!log)
		return;
	while (getline(&read, &size, log) > 0)
		snprintf(line, room, "%.*s", (int)strcspn(read, "\n"), read);
	free(read);
	fclose(log);
}

static int
refused(const struct mounted *m, int control, int errnum)
{
	char sentence[SENTENCE_MAX] = "";
	ssize_t size = fgetxattr(
	    control, "user.cellfs.error", sentence, sizeof(sentence) - 1);

	if (size <= 0)
		last_of_log(m, sentence, sizeof(sentence));
	if (*sentence)
		return why(errnum, "%s", sentence);
	return why(errnum, "%s", strerror(errnum));
}

int
mounted_control(const struct mounted *m, const char *line)
{
	int fd = open_in(m, "control", O_WRONLY);
	int r = 0;

	if (fd < 0)
		return fd;
	if (write(fd, line, strlen(line)) < 0)
		r = refused(m, fd, errno);
	close(fd);
	return r;
}

int
mounted_refuse(const struct mounted *m)
{
	return why(EBUSY,
	    "in use by pid %d, mounted at %s; work in the mount "
	    "or unmount it first",
	    (int)m->pid, (char *)m->point.data);
}
