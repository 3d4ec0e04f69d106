#include "wt_home.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "own_file.h"
#include "why.h"

#define LOCK_NAME "WiredTiger.lock"
#define FILES_SPARE 64 /* descriptors a new table must leave over */

struct wt_claim {
	dev_t device;
	ino_t inode;
	int directory; /* locked */
	struct wt_claim *next;
};

/* The stores that are open in this process. */
static struct wt_claim *claims;
static pthread_mutex_t claims_lock = PTHREAD_MUTEX_INITIALIZER;

/* What stands in a directory. */
struct found {
	bool marker, version, turtle, metadata;
	unsigned tables;
	char stranger[256]; /* a file that is not ours, or empty */
};

/* NUMBER.wt */
static bool
is_table(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits && strcmp(name + digits, ".wt") == 0;
}

static void
found_add(struct found *f, const char *name)
{
	if (strcmp(name, WT_HOME_MARKER) == 0)
		f->marker = true;
	else if (strcmp(name, "WiredTiger") == 0)
		f->version = true;
	else if (strcmp(name, "WiredTiger.turtle") == 0)
		f->turtle = true;
	else if (strcmp(name, "WiredTiger.wt") == 0)
		f->metadata = true;
	else if (is_table(name))
		f->tables++;
	else if (name[0] != '.' && strcmp(name, "lost+found") != 0 &&
		 strncmp(name, "WiredTiger", 10) != 0 &&
		 strncmp(name, "cellfs.", 7) != 0)
		snprintf(f->stranger, sizeof(f->stranger), "%s", name);
}

static int
look(const char *directory, struct found *f)
{
	DIR *d = opendir(directory);
	const struct dirent *e;

	*f = (struct found){0};
	if (!d)
		return why(errno, "%s: %s", directory, strerror(errno));
	while ((e = readdir(d)))
		found_add(f, e->d_name);
	closedir(d);
	return 0;
}

static bool
has(const char *directory, const char *name)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return access(path, F_OK) == 0;
}

/* A store in another's directory would be copied and removed with it. */
static int
check_above(const char *directory)
{
	char above[PATH_MAX];
	char *slash;

	if (!realpath(directory, above))
		return why(errno, "%s: %s", directory, strerror(errno));
	while ((slash = strrchr(above, '/'))) {
		*slash = 0;
		if (has(above, WT_HOME_MARKER))
			return why(EINVAL, "%s: it lies in the store %s",
			    directory, *above ? above : "/");
	}
	return 0;
}

int
wt_home_look(const char *directory, bool create, bool repair, bool *fresh)
{
	struct found f;
	int r = look(directory, &f);

	*fresh = false;
	if (r)
		return r;
	if (f.marker || f.tables) {
		const char *missing = !f.version    ? "WiredTiger"
				      : !f.turtle   ? "WiredTiger.turtle"
				      : !f.metadata ? "WiredTiger.wt"
						    : NULL;
		if (!missing || repair)
			return 0;
		return why(EIO,
		    "%s: %s is missing: bring it back from a backup, or run "
		    "`cellfs check %s --repair`",
		    directory, missing, directory);
	}
	if (!create)
		return why(ENOENT,
		    "%s: there is no store: `cellfs create` makes one",
		    directory);
	if (f.stranger[0])
		return why(ENOTEMPTY,
		    "%s: %s is in it: a store is made in an empty directory",
		    directory, f.stranger);
	r = check_above(directory);
	*fresh = r == 0;
	return r;
}

bool
wt_home_was_open(const char *directory)
{
	return has(directory, WT_HOME_OPEN);
}

bool
wt_home_has_metadata(const char *directory)
{
	return has(directory, WT_HOME_METADATA);
}

void
wt_home_closed(const char *directory)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", directory, WT_HOME_OPEN);
	unlink(path);
}

int
wt_home_restore(const char *directory)
{
	static const char *const own[] = {
	    "WiredTiger.turtle", "WiredTiger.wt", "WiredTigerLAS.wt"};
	char aside[64];
	int r = 0;
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || faccessat(fd, WT_HOME_METADATA, R_OK, 0))
		r = why(EIO,
		    "%s: there is no copy of the list of tables (%s): bring "
		    "the store back from a backup",
		    directory, WT_HOME_METADATA);
	for (size_t i = 0; r == 0 && i < sizeof(own) / sizeof(*own); i++) {
		snprintf(aside, sizeof(aside), "%s.damaged", own[i]);
		if (renameat(fd, own[i], fd, aside) && errno != ENOENT)
			r = -errno;
	}
	if (r == 0)
		r = own_file_copy(fd, NULL, WT_HOME_METADATA, WT_HOME_BACKUP);
	if (fd >= 0)
		close(fd);
	return r;
}

uint64_t
wt_home_table_size(const char *directory, uint32_t table)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%06u.wt", directory, table);
	return stat(path, &st) ? 0 : (uint64_t)st.st_size;
}

void
wt_home_raise_limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int
wt_home_files_left(const char *directory, unsigned opened)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) ||
	    opened + FILES_SPARE < limit.rlim_cur)
		return 0;
	return why(EMFILE,
	    "%s: %u files are open of %llu the system allows: raise the limit "
	    "of open files to have more tables and families",
	    directory, opened, (unsigned long long)limit.rlim_cur);
}

int
wt_home_busy(const char *directory)
{
	struct flock byte = {
	    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", directory, LOCK_NAME);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	int r = fcntl(fd, F_GETLK, &byte) ? -errno : 0;
	close(fd);
	if (r || byte.l_type == F_UNLCK)
		return r;
	if (byte.l_pid <= 0)
		return why(
		    EBUSY, "%s: a process elsewhere holds it", directory);
	return why(
	    EBUSY, "%s: process %ld holds it", directory, (long)byte.l_pid);
}

static bool
claimed(const struct stat *st)
{
	struct wt_claim *c = claims;

	while (c && !(c->device == st->st_dev && c->inode == st->st_ino))
		c = c->next;
	return c != NULL;
}

/* WiredTiger's own lock goes before we are done with a store: this one is held
 * from before its files are looked at until the last of them is written. Where
 * directories take no locks there is WiredTiger's alone. */
static int
lock_directory(const char *directory, int *out)
{
	*out = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*out < 0)
		return why(errno, "%s: %s", directory, strerror(errno));
	if (flock(*out, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return 0;
	close(*out);
	int r = wt_home_busy(directory);
	return r ? r
		 : why(EBUSY, "%s is being opened or closed by another process",
		       directory);
}

int
wt_home_claim(const char *directory, struct wt_claim **out)
{
	struct stat st;
	int fd = -1, r = 0;

	*out = NULL;
	if (stat(directory, &st))
		return why(errno, "%s: %s", directory, strerror(errno));
	struct wt_claim *c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	pthread_mutex_lock(&claims_lock);
	if (claimed(&st))
		r = why(EBUSY, "%s: process %ld holds it", directory,
		    (long)getpid());
	else
		r = wt_home_busy(directory);
	if (r == 0)
		r = lock_directory(directory, &fd);
	if (r == 0) {
		*c = (struct wt_claim){st.st_dev, st.st_ino, fd, claims};
		claims = c;
	}
	pthread_mutex_unlock(&claims_lock);
	if (r)
		free(c);
	else
		*out = c;
	return r;
}

void
wt_home_release(struct wt_claim *claim)
{
	if (!claim)
		return;
	pthread_mutex_lock(&claims_lock);
	struct wt_claim **at = &claims;
	while (*at != claim)
		at = &(*at)->next;
	*at = claim->next;
	pthread_mutex_unlock(&claims_lock);
	flock(claim->directory, LOCK_UN);
	close(claim->directory);
	free(claim);
}
