#include "kv_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "local.h"
#include "ordered.h"
#include "why.h"

#define HOLDER "cellfs.holder" /* in the store's directory */
#define HOLDER_TRIES 200       /* of 10 ms */
#define DEFAULT_CACHE ((uint64_t)256 << 20)
#define DEFAULT_SYNC_SECONDS 5

/* --- who holds a store ------------------------------------------------ */

static int
open_in(const char *directory, const char *name, int flags)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	int fd = open(path, flags | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

/* Reads "PID MOUNTPOINT\n". */
static int
read_holder(int fd, pid_t *pid, struct buf *mount_point)
{
	char text[4200];
	ssize_t size = pread(fd, text, sizeof(text) - 1, 0);

	if (size < 0)
		return -errno;
	text[size] = 0;
	char *rest = NULL;
	*pid = (pid_t)strtol(text, &rest, 10);
	size_t length = strcspn(rest, "\n");
	if (length > 1)
		buf_append(mount_point, slice_of(rest + 1, length - 1));
	return buf_status(mount_point);
}

int
kv_holder(const char *path, pid_t *pid, struct buf *mount_point)
{
	int r = 0;

	*pid = 0;
	buf_clear(mount_point);
	int fd = open_in(path, HOLDER, O_RDONLY);
	if (fd == -ENOENT || fd == -ENOTDIR)
		return 0;
	if (fd < 0)
		return fd;
	/* Who left a file without holding its lock has died. */
	if (flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK)
		r = read_holder(fd, pid, mount_point);
	close(fd);
	return r;
}

/* Locks the holder file of a store that is ours already: who asks for its
 * holder may have it locked for a moment. */
static int
lock_holder(int fd)
{
	for (int i = 0; flock(fd, LOCK_EX | LOCK_NB); i++) {
		if (errno != EWOULDBLOCK || i == HOLDER_TRIES)
			return -errno;
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	return 0;
}

/* Takes the holder file of a store just opened. A read-only file system has
 * none. */
static int
hold(struct kv *kv, const struct kv_options *options)
{
	int fd = open_in(options->path, HOLDER, O_RDWR | O_CREAT);

	if (fd < 0 && options->read_only)
		return 0;
	if (fd < 0)
		return why(
		    -fd, "%s/" HOLDER ": %s", options->path, strerror(-fd));
	const char *mount = options->mount_point ? options->mount_point : "";
	int r = lock_holder(fd);
	if (r == 0 && (ftruncate(fd, 0) ||
			  dprintf(fd, "%ld %s\n", (long)getpid(), mount) < 0))
		r = -errno;
	if (r) {
		close(fd);
		return why(
		    -r, "%s/" HOLDER ": %s", options->path, strerror(-r));
	}
	kv->holder = fd;
	return 0;
}

static void
let_go(struct kv *kv)
{
	if (kv->holder < 0)
		return;
	/* What the file says does not count once the lock has gone. */
	int ignored = ftruncate(kv->holder, 0);
	(void)ignored;
	close(kv->holder);
}

/* The sentence for a store that is in use, with what its holder says. */
static int
refuse_busy(const char *path)
{
	struct buf mount = {0};
	char text[512];
	pid_t pid;
	int r = -EBUSY;

	snprintf(text, sizeof(text), "%s", why_text(-EBUSY));
	if (kv_holder(path, &pid, &mount) == 0 && pid && mount.size)
		r = why(EBUSY, "%s: process %ld holds it, mounted at %.*s",
		    path, (long)pid, (int)mount.size, (const char *)mount.data);
	else if (pid)
		r = why(EBUSY, "%s: process %ld holds it", path, (long)pid);
	else
		r = why(EBUSY, "%s", text);
	buf_release(&mount);
	return r;
}

/* --- opening ---------------------------------------------------------- */

static int
make_directory(const struct kv_options *options, bool *made)
{
	struct stat st;

	*made = false;
	if (stat(options->path, &st) == 0) {
		if (!S_ISDIR(st.st_mode))
			return why(ENOTDIR, "%s: it is not a directory",
			    options->path);
		return 0;
	}
	if (errno == ENOENT && (!options->create || options->read_only))
		return why(ENOENT,
		    "%s: there is no store: `cellfs create` makes one",
		    options->path);
	if (errno != ENOENT)
		return why(errno, "%s: %s", options->path, strerror(errno));
	if (mkdir(options->path, 0700))
		return why(errno, "%s: %s", options->path, strerror(errno));
	*made = true;
	return 0;
}

static int
open_ordered(const struct kv_options *options, struct ordered **out)
{
	struct ordered_options ordered = {
	    .directory = options->path,
	    .cache = options->cache ? options->cache : DEFAULT_CACHE,
	    .read_only = options->read_only,
	    .create = options->create && !options->read_only,
	    .salvage = options->repair,
	    .log = options->log,
	    .log_context = options->log_context,
	};
	char text[512];
	bool made;

	int r = make_directory(options, &made);
	if (r == 0)
		r = ordered_wt_open(&ordered, out);
	if (r && made)
		rmdir(options->path); /* unless something is in it already */
	if (r == -EBUSY)
		return refuse_busy(options->path);
	if (r == -ENOTEMPTY) {
		snprintf(text, sizeof(text), "%s", why_text(r));
		return why(EINVAL, "%s", text);
	}
	return r;
}

static int
open_engine(struct kv *kv, const struct kv_options *options)
{
	struct local_options local = {
	    .read_only = options->read_only,
	    .repair = options->repair,
	    .brief = options->read_only && !options->mount_point,
	    .background = !options->in_memory && !options->read_only,
	    .sync_seconds = options->sync_seconds ? options->sync_seconds
						  : DEFAULT_SYNC_SECONDS,
	    .log = options->log,
	    .log_context = options->log_context,
	};
	struct ordered *ordered = NULL;

	int r = options->in_memory ? ordered_mem_open(&kv->memory)
				   : open_ordered(options, &ordered);
	if (r)
		return r;
	if (!options->in_memory)
		r = hold(kv, options);
	if (r) {
		ordered->methods->close(ordered);
		return r;
	}
	return local_open(
	    kv->memory ? kv->memory : ordered, &local, &kv->engine);
}

static void
kv_free(struct kv *kv)
{
	let_go(kv);
	if (kv->memory)
		ordered_mem_free(kv->memory);
	free(kv);
}

int
kv_open(const struct kv_options *options, struct kv **out)
{
	struct kv *kv = calloc(1, sizeof(*kv));

	*out = NULL;
	if (!kv)
		return -ENOMEM;
	kv->holder = -1;
	kv->read_only = options->read_only;
	int r = open_engine(kv, options);
	if (r) {
		kv_free(kv);
		return r;
	}
	*out = kv;
	return 0;
}

int
kv_close(struct kv *kv)
{
	int r = kv->engine->methods->close(kv->engine);

	kv_free(kv);
	return r;
}
