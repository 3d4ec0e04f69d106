#include "shadow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes that changed since the last sync. */
struct range {
	off_t offset;
	off_t size;
};

/* A file as the shadow holds it, perhaps under no name yet. It lives as long
 * as the shadow, so that changes of names can refer to it. */
struct file {
	char *name; /* its name now, which need not be synced; NULL: removed */
	int fd;	    /* its synced bytes */
	struct range *ranges;
	size_t count, room;
	off_t shortest; /* the least size since the last sync, or -1 */
	struct file *next;
};

/* A change of names that is not synced yet. */
struct change {
	struct file *file; /* created; NULL: from is renamed, or removed */
	char *from, *to;
	struct change *next;
};

struct shadow {
	pthread_mutex_t lock; /* guards everything */
	int from, to;	      /* directories */
	struct file *files;
	struct change *first, **last;
};

/* --- files ---------------------------------------------------------------- */

static struct file *
file_find(struct shadow *s, const char *name)
{
	struct file *f = s->files;

	while (f && !(f->name && strcmp(f->name, name) == 0))
		f = f->next;
	return f;
}

static struct file *
file_new(struct shadow *s, const char *name, int fd)
{
	struct file *f = calloc(1, sizeof(*f));

	if (!f || !(f->name = strdup(name))) {
		free(f);
		return NULL;
	}
	f->fd = fd;
	f->shortest = -1;
	f->next = s->files;
	s->files = f;
	return f;
}

static void
file_free(struct file *f)
{
	close(f->fd);
	free(f->name);
	free(f->ranges);
	free(f);
}

/* Remembers a changed range, as part of the last one where they touch. */
static int
file_change(struct file *f, off_t offset, off_t size)
{
	struct range *last = f->count ? &f->ranges[f->count - 1] : NULL;

	if (last && last->offset + last->size == offset) {
		last->size += size;
		return 0;
	}
	if (f->count == f->room) {
		size_t room = f->room ? 2 * f->room : 8;
		last = realloc(f->ranges, room * sizeof(*last));
		if (!last)
			return -ENOMEM;
		f->ranges = last;
		f->room = room;
	}
	f->ranges[f->count++] = (struct range){offset, size};
	return 0;
}

/* Copies size bytes at offset, or what is there of them. */
static int
copy_range(int from, int to, off_t offset, off_t size)
{
	char block[65536];

	while (size > 0) {
		size_t part =
		    size < (off_t)sizeof(block) ? (size_t)size : sizeof(block);
		ssize_t n = pread(from, block, part, offset);
		if (n == 0)
			return 0;
		if (n < 0)
			return -errno;
		if (pwrite(to, block, (size_t)n, offset) != n)
			return -EIO;
		offset += n;
		size -= n;
	}
	return 0;
}

/* Brings the synced bytes of f up to those of from. */
static int
file_sync(struct file *f, int from)
{
	struct stat st;
	int r = 0;

	if (fstat(from, &st))
		return -errno;
	if (f->shortest >= 0 && ftruncate(f->fd, f->shortest))
		return -errno;
	for (size_t i = 0; r == 0 && i < f->count; i++)
		r = copy_range(
		    from, f->fd, f->ranges[i].offset, f->ranges[i].size);
	if (r == 0 && ftruncate(f->fd, st.st_size))
		r = -errno;
	f->count = 0;
	f->shortest = -1;
	return r;
}

/* --- names ---------------------------------------------------------------- */

/* Takes over nothing; from or to may be NULL. */
static int
name_change(
    struct shadow *s, struct file *file, const char *from, const char *to)
{
	struct change *c = calloc(1, sizeof(*c));

	if (c) {
		c->file = file;
		c->from = from ? strdup(from) : NULL;
		c->to = to ? strdup(to) : NULL;
	}
	if (!c || (from && !c->from) || (to && !c->to)) {
		free(c);
		return -ENOMEM;
	}
	*s->last = c;
	s->last = &c->next;
	return 0;
}

static int
change_apply(struct shadow *s, const struct change *c)
{
	if (c->file) {
		char path[64];
		snprintf(path, sizeof(path), "/proc/self/fd/%d", c->file->fd);
		if (linkat(AT_FDCWD, path, s->to, c->to, AT_SYMLINK_FOLLOW))
			return -errno;
	} else if (c->to) {
		if (renameat(s->to, c->from, s->to, c->to))
			return -errno;
	} else if (unlinkat(s->to, c->from, 0)) {
		return -errno;
	}
	return 0;
}

static void
change_free(struct change *c)
{
	free(c->from);
	free(c->to);
	free(c);
}

/* Takes the first change off the list. */
static struct change *
change_take(struct shadow *s)
{
	struct change *c = s->first;

	s->first = c->next;
	if (!s->first)
		s->last = &s->first;
	return c;
}

/* --- what the owner tells ------------------------------------------------- */

static int
created(struct shadow *s, const char *name)
{
	int fd = openat(s->to, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	struct file *f = file_new(s, name, fd);
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	return name_change(s, f, NULL, name);
}

int
shadow_created(struct shadow *s, const char *name)
{
	if (!s)
		return 0;
	pthread_mutex_lock(&s->lock);
	int r = file_find(s, name) ? 0 : created(s, name);
	pthread_mutex_unlock(&s->lock);
	return r;
}

/* The file under name, if there is one, has no name any more. */
static void
name_forget(struct shadow *s, const char *name)
{
	struct file *f = file_find(s, name);

	if (f) {
		free(f->name);
		f->name = NULL;
	}
}

int
shadow_removed(struct shadow *s, const char *name)
{
	if (!s)
		return 0;
	pthread_mutex_lock(&s->lock);
	name_forget(s, name);
	int r = name_change(s, NULL, name, NULL);
	pthread_mutex_unlock(&s->lock);
	return r;
}

int
shadow_renamed(struct shadow *s, const char *from, const char *to)
{
	if (!s)
		return 0;
	pthread_mutex_lock(&s->lock);
	int r = name_change(s, NULL, from, to);
	name_forget(s, to);
	struct file *f = file_find(s, from);
	char *name = f ? strdup(to) : NULL;
	if (name) {
		free(f->name);
		f->name = name;
	}
	pthread_mutex_unlock(&s->lock);
	return r;
}

int
shadow_written(struct shadow *s, const char *name, off_t offset, size_t size)
{
	if (!s)
		return 0;
	pthread_mutex_lock(&s->lock);
	struct file *f = file_find(s, name);
	int r = f ? file_change(f, offset, (off_t)size) : 0;
	pthread_mutex_unlock(&s->lock);
	return r;
}

int
shadow_truncated(struct shadow *s, const char *name, off_t size)
{
	if (!s)
		return 0;
	pthread_mutex_lock(&s->lock);
	struct file *f = file_find(s, name);
	if (f && (f->shortest < 0 || size < f->shortest))
		f->shortest = size;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

int
shadow_synced(struct shadow *s, const char *name, int fd)
{
	if (!s)
		return 0;
	pthread_mutex_lock(&s->lock);
	struct file *f = file_find(s, name);
	int r = f ? file_sync(f, fd) : 0;
	pthread_mutex_unlock(&s->lock);
	return r;
}

int
shadow_synced_names(struct shadow *s)
{
	int r = 0;

	if (!s)
		return 0;
	pthread_mutex_lock(&s->lock);
	while (r == 0 && s->first) {
		struct change *c = change_take(s);
		r = change_apply(s, c);
		change_free(c);
	}
	pthread_mutex_unlock(&s->lock);
	return r;
}

/* --- opening -------------------------------------------------------------- */

/* Makes the shadow's copy of a file that is there from the start. */
static int
adopt(struct shadow *s, const char *name)
{
	struct stat st;
	int from = openat(s->from, name, O_RDONLY | O_CLOEXEC);
	int to = -1;
	int r = 0;

	if (from < 0 || fstat(from, &st)) {
		r = -errno;
		goto out;
	}
	if (!S_ISREG(st.st_mode))
		goto out;
	to = openat(s->to, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (to < 0)
		r = -errno;
	if (r == 0)
		r = copy_range(from, to, 0, st.st_size);
	if (r == 0 && !file_new(s, name, to))
		r = -ENOMEM;
	if (r == 0)
		to = -1;
out:
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return r;
}

/* Removes what an earlier shadow left. */
static int
sweep(struct shadow *s, const char *to)
{
	DIR *d = opendir(to);
	const struct dirent *e;
	int r = 0;

	if (!d)
		return -errno;
	while (r == 0 && (e = readdir(d)))
		if (e->d_name[0] != '.' && unlinkat(s->to, e->d_name, 0))
			r = -errno;
	closedir(d);
	return r;
}

static int
adopt_all(struct shadow *s, const char *directory)
{
	DIR *d = opendir(directory);
	const struct dirent *e;
	int r = 0;

	if (!d)
		return -errno;
	while (r == 0 && (e = readdir(d)))
		if (e->d_name[0] != '.')
			r = adopt(s, e->d_name);
	closedir(d);
	return r;
}

int
shadow_open(const char *directory, const char *to, struct shadow **out)
{
	*out = NULL;
	if (mkdir(to, 0700) && errno != EEXIST)
		return -errno;
	struct shadow *s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	pthread_mutex_init(&s->lock, NULL);
	s->last = &s->first;
	s->from = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	s->to = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = s->from < 0 || s->to < 0 ? -errno : 0;
	if (r == 0)
		r = sweep(s, to);
	if (r == 0)
		r = adopt_all(s, directory);
	if (r) {
		shadow_close(s);
		return r;
	}
	*out = s;
	return 0;
}

void
shadow_close(struct shadow *s)
{
	if (!s)
		return;
	while (s->first)
		change_free(change_take(s));
	while (s->files) {
		struct file *f = s->files;
		s->files = f->next;
		file_free(f);
	}
	if (s->from >= 0)
		close(s->from);
	if (s->to >= 0)
		close(s->to);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
