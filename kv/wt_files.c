#include "wt_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wiredtiger.h>
#include <wiredtiger_ext.h>

#include "crc32c.h"
#include "own_file.h"
#include "shadow.h"
#include "why.h"

#define WAIT_MS 20

/* A block begins with a page header of 28 bytes, then, little-endian: */
#define BLOCK_SIZE_AT 28
#define BLOCK_CHECKSUM_AT 32
#define BLOCK_FLAGS_AT 36
#define BLOCK_WHOLE 1	/* the checksum is over the whole block, not 64 bytes */
#define BLOCK_UNIT 4096 /* what blocks are multiples of; the first is none */

struct wt_files {
	WT_FILE_SYSTEM system; /* first: WiredTiger gives this back */
	char *directory;
	int directory_fd;
	wt_files_log log;
	void *log_context;
	struct shadow *shadow; /* NULL but in tests */
	atomic_bool check;
	atomic_bool hurry;
	atomic_uint waiting;
	atomic_uint opened;
	_Atomic uint64_t damaged;
};

struct handle {
	WT_FILE_HANDLE handle; /* first, likewise */
	struct wt_files *files;
	const char *name; /* the last component, within handle.name */
	int fd;
	bool blocks;	       /* read in blocks that carry checksums */
	bool names;	       /* a directory, synced for the names in it */
	_Atomic int64_t named; /* offset of the damaged block last logged */
};

static _Thread_local struct wt_files *offered;

static struct {
	pthread_mutex_t lock; /* guards the rest but armed */
	atomic_bool armed;    /* whether errnum is not 0 */
	enum wt_files_call call;
	char part[64];
	int errnum;
	unsigned countdown;
	bool for_ever;
} fault = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- faults --------------------------------------------------------------- */

void
wt_files_fail(enum wt_files_call call, const char *part, int errnum,
    unsigned count, bool for_ever)
{
	pthread_mutex_lock(&fault.lock);
	fault.call = call;
	snprintf(fault.part, sizeof(fault.part), "%s", part);
	fault.errnum = errnum;
	fault.countdown = count;
	fault.for_ever = for_ever;
	atomic_store(&fault.armed, errnum != 0);
	pthread_mutex_unlock(&fault.lock);
}

static int
fault_due(enum wt_files_call call, const char *name)
{
	int errnum = 0;

	if (!atomic_load(&fault.armed))
		return 0;
	pthread_mutex_lock(&fault.lock);
	if (fault.errnum && fault.call == call && strstr(name, fault.part)) {
		if (fault.countdown > 1)
			fault.countdown--;
		else
			errnum = fault.errnum;
		if (errnum && !fault.for_ever)
			atomic_store(&fault.armed, fault.errnum = 0);
	}
	pthread_mutex_unlock(&fault.lock);
	return errnum;
}

/* --- waiting for room ----------------------------------------------------- */

static void __attribute__((format(printf, 2, 3)))
files_log(struct wt_files *f, const char *format, ...)
{
	char line[512];
	va_list args;

	if (!f->log)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	f->log(f->log_context, line);
}

/* Whether a call that failed with errnum is worth repeating: it was
 * interrupted, or what it lacked may come back. Then waits a little. */
static bool
files_again(struct wt_files *f, int errnum, const char *name)
{
	const struct timespec pause = {0, WAIT_MS * 1000000};

	if (errnum == EINTR)
		return true;
	if (errnum != ENOSPC && errnum != EDQUOT && errnum != EMFILE &&
	    errnum != ENFILE)
		return false;
	if (atomic_load(&f->hurry))
		return false;
	if (atomic_fetch_add(&f->waiting, 1) == 0)
		files_log(f, "%s: writing waits: %s", name, strerror(errnum));
	nanosleep(&pause, NULL);
	atomic_fetch_sub(&f->waiting, 1);
	return true;
}

/* --- checksums ------------------------------------------------------------ */

static uint32_t
le32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

/* Whether a block is what WiredTiger wrote. The checksum was made with its own
 * field zero. */
static bool
block_sound(struct slice block)
{
	const uint8_t zero[4] = {0};
	bool whole = block.data[BLOCK_FLAGS_AT] & BLOCK_WHOLE;
	struct slice covered = slice_head(block, whole ? block.size : 64);

	if (le32(block.data + BLOCK_SIZE_AT) != block.size)
		return false;
	uint32_t c = crc32c(0, slice_head(covered, BLOCK_CHECKSUM_AT));
	c = crc32c(c, slice_of(zero, sizeof(zero)));
	c = crc32c(c, slice_skip(covered, BLOCK_FLAGS_AT));
	return c == le32(block.data + BLOCK_CHECKSUM_AT);
}

/* Says so; EIO. */
static int
damaged(struct handle *h, wt_off_t offset, size_t size)
{
	struct wt_files *f = h->files;

	atomic_fetch_add(&f->damaged, 1);
	int r = why(EIO,
	    "%s: the %zu bytes at %lld are damaged: run "
	    "`cellfs check %s --repair`",
	    h->name, size, (long long)offset, f->directory);
	if (atomic_exchange(&h->named, offset) != offset)
		files_log(f, "%s", why_text(r));
	return EIO;
}

static int
read_failed(const struct handle *h, int errnum)
{
	why(errnum, "reading %s/%s: %s", h->files->directory, h->name,
	    strerror(errnum));
	return errnum;
}

/* 0, or EIO for a damaged block. */
static int
block_check(struct handle *h, wt_off_t offset, struct slice bytes)
{
	if (!h->blocks || !atomic_load(&h->files->check) ||
	    offset < BLOCK_UNIT || bytes.size < BLOCK_UNIT ||
	    bytes.size % BLOCK_UNIT || block_sound(bytes))
		return 0;
	return damaged(h, offset, bytes.size);
}

/* --- one file ------------------------------------------------------------- */

static struct handle *
handle_of(WT_FILE_HANDLE *h)
{
	return (struct handle *)h;
}

static int
file_close(WT_FILE_HANDLE *file, WT_SESSION *session)
{
	struct handle *h = handle_of(file);
	int r = close(h->fd) ? errno : 0;

	(void)session;
	atomic_fetch_sub(&h->files->opened, 1);
	free(h->handle.name);
	free(h);
	return r;
}

static int
file_lock(WT_FILE_HANDLE *file, WT_SESSION *session, bool lock)
{
	struct flock byte = {.l_type = lock ? F_WRLCK : F_UNLCK,
	    .l_whence = SEEK_SET,
	    .l_start = 0,
	    .l_len = 1};

	(void)session;
	return fcntl(handle_of(file)->fd, F_SETLK, &byte) ? errno : 0;
}

static int
file_read(WT_FILE_HANDLE *file, WT_SESSION *session, wt_off_t offset,
    size_t size, void *to)
{
	struct handle *h = handle_of(file);
	int r = fault_due(WT_FILES_READ, h->name);

	(void)session;
	if (r)
		return read_failed(h, r);
	for (size_t done = 0; done < size;) {
		ssize_t n = pread(h->fd, (char *)to + done, size - done,
		    offset + (wt_off_t)done);
		if (n == 0)
			return h->blocks ? damaged(h, offset, size) : WT_ERROR;
		if (n > 0)
			done += (size_t)n;
		else if (errno != EINTR)
			return read_failed(h, errno);
	}
	return block_check(h, offset, slice_of(to, size));
}

static int
file_write(WT_FILE_HANDLE *file, WT_SESSION *session, wt_off_t offset,
    size_t size, const void *from)
{
	struct handle *h = handle_of(file);

	(void)session;
	for (size_t done = 0; done < size;) {
		int r = fault_due(WT_FILES_WRITE, h->name);
		ssize_t n = r ? -1
			      : pwrite(h->fd, (const char *)from + done,
				    size - done, offset + (wt_off_t)done);
		if (n >= 0)
			done += (size_t)n;
		else if (!files_again(h->files, r ? r : errno, h->name))
			return r ? r : errno;
	}
	return -shadow_written(h->files->shadow, h->name, offset, size);
}

static int
file_size(WT_FILE_HANDLE *file, WT_SESSION *session, wt_off_t *size)
{
	struct stat st;

	(void)session;
	if (fstat(handle_of(file)->fd, &st))
		return errno;
	*size = st.st_size;
	return 0;
}

static int
file_sync(WT_FILE_HANDLE *file, WT_SESSION *session)
{
	struct handle *h = handle_of(file);
	int r = fault_due(WT_FILES_SYNC, h->name);

	(void)session;
	while (r == 0 && fdatasync(h->fd))
		if (errno != EINTR)
			r = errno;
	if (r)
		return r;
	return h->names ? -shadow_synced_names(h->files->shadow)
			: -shadow_synced(h->files->shadow, h->name, h->fd);
}

static int
file_truncate(WT_FILE_HANDLE *file, WT_SESSION *session, wt_off_t size)
{
	struct handle *h = handle_of(file);

	(void)session;
	while (ftruncate(h->fd, size))
		if (!files_again(h->files, errno, h->name))
			return errno;
	return -shadow_truncated(h->files->shadow, h->name, size);
}

/* Files of the log begin at their full size, without taking room: recovery
 * takes one that ends behind its header for damaged. */
static int
file_extend(WT_FILE_HANDLE *file, WT_SESSION *session, wt_off_t size)
{
	wt_off_t now;
	int r = file_size(file, session, &now);

	return r || now >= size ? r : file_truncate(file, session, size);
}

/* --- the directory -------------------------------------------------------- */

static struct wt_files *
files_of(WT_FILE_SYSTEM *system)
{
	return (struct wt_files *)system;
}

static const char *
last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int
sync_names(struct wt_files *f)
{
	if (fsync(f->directory_fd))
		return errno;
	return -shadow_synced_names(f->shadow);
}

static int
system_exist(
    WT_FILE_SYSTEM *system, WT_SESSION *session, const char *path, bool *there)
{
	struct stat st;

	(void)system;
	(void)session;
	*there = stat(path, &st) == 0;
	return *there || errno == ENOENT ? 0 : errno;
}

static int
open_flags(WT_FS_OPEN_FILE_TYPE type, uint32_t flags)
{
	if (type == WT_FS_OPEN_FILE_TYPE_DIRECTORY)
		return O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int mode = flags & WT_FS_OPEN_READONLY ? O_RDONLY : O_RDWR;
	if (flags & WT_FS_OPEN_CREATE)
		mode |= O_CREAT;
	if (flags & WT_FS_OPEN_EXCLUSIVE)
		mode |= O_EXCL;
	return mode | O_CLOEXEC;
}

static struct handle *
handle_new(struct wt_files *f, const char *path)
{
	struct handle *h = calloc(1, sizeof(*h));

	if (!h || !(h->handle.name = strdup(path))) {
		free(h);
		return NULL;
	}
	h->handle.file_system = &f->system;
	h->handle.close = file_close;
	h->handle.fh_extend = file_extend;
	h->handle.fh_lock = file_lock;
	h->handle.fh_read = file_read;
	h->handle.fh_size = file_size;
	h->handle.fh_sync = file_sync;
	h->handle.fh_truncate = file_truncate;
	h->handle.fh_write = file_write;
	h->name = last_component(h->handle.name);
	h->files = f;
	return h;
}

static int
system_open(WT_FILE_SYSTEM *system, WT_SESSION *session, const char *path,
    WT_FS_OPEN_FILE_TYPE type, uint32_t flags, WT_FILE_HANDLE **out)
{
	struct wt_files *f = files_of(system);
	struct handle *h = handle_new(f, path);
	int r = 0;

	(void)session;
	*out = NULL;
	if (!h)
		return ENOMEM;
	h->blocks = type == WT_FS_OPEN_FILE_TYPE_DATA ||
		    type == WT_FS_OPEN_FILE_TYPE_CHECKPOINT;
	h->names = type == WT_FS_OPEN_FILE_TYPE_DIRECTORY;
	while ((h->fd = open(path, open_flags(type, flags), 0600)) < 0)
		if (!files_again(f, errno, h->name)) {
			r = errno;
			free(h->handle.name);
			free(h);
			return r;
		}
	atomic_fetch_add(&f->opened, 1);
	if (flags & WT_FS_OPEN_CREATE)
		r = -shadow_created(f->shadow, h->name);
	if (r == 0 && flags & WT_FS_OPEN_CREATE && flags & WT_FS_OPEN_DURABLE)
		r = sync_names(f);
	if (r)
		file_close(&h->handle, session);
	else
		*out = &h->handle;
	return r;
}

static int
system_remove(WT_FILE_SYSTEM *system, WT_SESSION *session, const char *path,
    uint32_t flags)
{
	struct wt_files *f = files_of(system);

	(void)session;
	if (unlink(path))
		return errno;
	int r = -shadow_removed(f->shadow, last_component(path));
	return r == 0 && flags & WT_FS_DURABLE ? sync_names(f) : r;
}

static int
system_rename(WT_FILE_SYSTEM *system, WT_SESSION *session, const char *from,
    const char *to, uint32_t flags)
{
	struct wt_files *f = files_of(system);

	(void)session;
	while (rename(from, to))
		if (!files_again(f, errno, last_component(to)))
			return errno;
	int r = -shadow_renamed(
	    f->shadow, last_component(from), last_component(to));
	return r == 0 && flags & WT_FS_DURABLE ? sync_names(f) : r;
}

static int
system_size(WT_FILE_SYSTEM *system, WT_SESSION *session, const char *path,
    wt_off_t *size)
{
	struct stat st;

	(void)system;
	(void)session;
	if (stat(path, &st))
		return errno;
	*size = st.st_size;
	return 0;
}

static int
list_free(
    WT_FILE_SYSTEM *system, WT_SESSION *session, char **names, uint32_t count)
{
	(void)system;
	(void)session;
	for (uint32_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
	return 0;
}

/* Appends a copy of name to the count names: 0 or ENOMEM. */
static int
list_add(char ***names, uint32_t *count, const char *name)
{
	char **more = realloc(*names, (*count + 1) * sizeof(*more));

	if (!more)
		return ENOMEM;
	*names = more;
	more[*count] = strdup(name);
	if (!more[*count])
		return ENOMEM;
	++*count;
	return 0;
}

static int
list(const char *path, const char *prefix, uint32_t limit, char ***names,
    uint32_t *count)
{
	const struct dirent *e;
	DIR *d = opendir(path);
	int r = 0;

	*names = NULL;
	*count = 0;
	if (!d)
		return errno;
	while (r == 0 && *count < limit && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (!prefix || strncmp(e->d_name, prefix, strlen(prefix)) == 0)
			r = list_add(names, count, e->d_name);
	}
	closedir(d);
	if (r) {
		list_free(NULL, NULL, *names, *count);
		*names = NULL;
		*count = 0;
	}
	return r;
}

static int
system_list(WT_FILE_SYSTEM *system, WT_SESSION *session, const char *path,
    const char *prefix, char ***names, uint32_t *count)
{
	(void)system;
	(void)session;
	return list(path, prefix, UINT32_MAX, names, count);
}

static int
system_list_single(WT_FILE_SYSTEM *system, WT_SESSION *session,
    const char *path, const char *prefix, char ***names, uint32_t *count)
{
	(void)system;
	(void)session;
	return list(path, prefix, 1, names, count);
}

static const WT_FILE_SYSTEM system_methods = {
    .fs_directory_list = system_list,
    .fs_directory_list_single = system_list_single,
    .fs_directory_list_free = list_free,
    .fs_exist = system_exist,
    .fs_open_file = system_open,
    .fs_remove = system_remove,
    .fs_rename = system_rename,
    .fs_size = system_size,
};

/* --- ours ----------------------------------------------------------------- */

int
wt_files_new(const char *directory, wt_files_log log, void *context,
    struct wt_files **out)
{
	const char *shadow = secure_getenv("CELLFS_SHADOW");
	int r = 0;

	*out = NULL;
	struct wt_files *f = calloc(1, sizeof(*f));
	if (!f || !(f->directory = strdup(directory))) {
		free(f);
		return -ENOMEM;
	}
	f->system = system_methods;
	f->log = log;
	f->log_context = context;
	atomic_store(&f->check, true);
	f->directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->directory_fd < 0)
		r = why(errno, "%s: %s", directory, strerror(errno));
	if (r == 0 && shadow)
		r = shadow_open(directory, shadow, &f->shadow);
	if (r)
		wt_files_free(f);
	else
		*out = f;
	return r;
}

void
wt_files_free(struct wt_files *f)
{
	if (!f)
		return;
	shadow_close(f->shadow);
	if (f->directory_fd >= 0)
		close(f->directory_fd);
	free(f->directory);
	free(f);
}

void
wt_files_offer(struct wt_files *f)
{
	offered = f;
}

/* What WiredTiger calls, by its name in the executable. */
int cellfs_wt_files(WT_CONNECTION *connection, WT_CONFIG_ARG *config);

int
cellfs_wt_files(WT_CONNECTION *connection, WT_CONFIG_ARG *config)
{
	(void)config;
	if (!offered)
		return EINVAL;
	return connection->set_file_system(connection, &offered->system, NULL);
}

void
wt_files_check_blocks(struct wt_files *f, bool check)
{
	atomic_store(&f->check, check);
}

void
wt_files_hurry(struct wt_files *f)
{
	atomic_store(&f->hurry, true);
}

unsigned
wt_files_waiting(const struct wt_files *f)
{
	return atomic_load(&f->waiting);
}

unsigned
wt_files_opened(const struct wt_files *f)
{
	return atomic_load(&f->opened);
}

uint64_t
wt_files_damaged(const struct wt_files *f)
{
	return atomic_load(&f->damaged);
}

int
wt_files_save(struct wt_files *f, const char *name, struct slice bytes)
{
	return own_file_save(f->directory_fd, f->shadow, name, bytes);
}

int
wt_files_append(struct wt_files *f, const char *name, struct slice bytes)
{
	return own_file_append(f->directory_fd, f->shadow, name, bytes);
}

int
wt_files_copy(struct wt_files *f, const char *from, const char *to)
{
	return own_file_copy(f->directory_fd, f->shadow, from, to);
}
