#include "wt_room.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "why.h"
#include "wt_wait.h"

#define MB ((uint64_t)1 << 20)
#define LOG_FILE (8 * MB)
#define LOG_FILE_LEAST (128 << 10) /* WiredTiger takes no less than 100 KB */
#define CACHE_LEAST (2 * MB)
#define BATCH (4 * MB) /* of one transaction */
#define SPARE (8 * MB)
#define RESERVE (16 * MB)
#define LOOK_MS 30
#define COUNT_MS 1000
#define RESERVE_NAME "cellfs.reserve"

static uint64_t
at_least(uint64_t n, uint64_t least)
{
	return n < least ? least : n;
}

static uint64_t
at_most(uint64_t n, uint64_t most)
{
	return n > most ? most : n;
}

/* T is what dirty pages, the log, a transaction and a checkpoint can take. On
 * a disk where that would be more than an eighth, an eighth is shared out:
 * a fifth to dirty pages, three tenths to the log, the rest is spare. */
static void
plan(struct wt_room *room, uint64_t cache)
{
	uint64_t most = room->total / 8;

	room->cache = at_least(cache, CACHE_LEAST);
	room->log_file = LOG_FILE;
	room->threshold = room->cache / 5 + 3 * room->log_file + BATCH + SPARE;
	room->reserve = at_most(RESERVE, room->total / 32);
	if (room->threshold <= most)
		return;
	room->threshold = most;
	room->cache = at_least(at_most(room->cache, most), CACHE_LEAST);
	room->log_file = at_least(at_most(LOG_FILE, most / 10), LOG_FILE_LEAST);
}

int
wt_room_init(struct wt_room *room, const char *directory, uint64_t cache)
{
	struct statvfs st;

	*room = (struct wt_room){.directory = -1};
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return why(errno, "%s: %s", directory, strerror(errno));
	if (fstatvfs(fd, &st)) {
		int r = why(errno, "%s: %s", directory, strerror(errno));
		close(fd);
		return r;
	}
	room->directory = fd;
	room->total = (uint64_t)st.f_blocks * st.f_frsize;
	plan(room, cache);
	return 0;
}

void
wt_room_release(struct wt_room *room)
{
	if (room->directory >= 0)
		close(room->directory);
	room->directory = -1;
}

void
wt_room_took(struct wt_room *room, uint64_t size)
{
	atomic_fetch_add(&room->took, 2 * size);
}

/* Asks the file system. */
static void
look(struct wt_room *room, int64_t now)
{
	struct statvfs st;

	atomic_store(&room->took, 0);
	if (fstatvfs(room->directory, &st) == 0)
		/* Not f_bfree, for root either: ext4 keeps part of that for
		 * itself. */
		atomic_store(
		    &room->available, (uint64_t)st.f_bavail * st.f_frsize);
	atomic_store(&room->looked, now);
}

uint64_t
wt_room_available(struct wt_room *room, bool fresh)
{
	int64_t now = wt_now(), looked = atomic_load(&room->looked);

	if (fresh || !looked || now - looked >= LOOK_MS)
		look(room, now);
	uint64_t available = atomic_load(&room->available);
	uint64_t took = atomic_load(&room->took);
	return available > took ? available - took : 0;
}

/* What is free, and once the log has its share, what is free inside files. */
static uint64_t
room_now(struct wt_room *room, bool fresh)
{
	uint64_t available = wt_room_available(room, fresh);
	int64_t now = wt_now();

	if (available >= room->threshold + room->threshold / 2 ||
	    available < 3 * room->log_file || !room->reusable)
		return available;
	if (fresh || now - atomic_load(&room->counted) >= COUNT_MS) {
		atomic_store(&room->counted, now);
		atomic_store(&room->reuse, room->reusable(room->context));
	}
	return available + atomic_load(&room->reuse);
}

int
wt_room_ask(struct wt_room *room, enum ordered_intent intent, bool *first)
{
	uint64_t t = room->threshold;
	bool refusing = atomic_load(&room->refusing);

	*first = false;
	if (intent == ORDERED_READ)
		return 0;
	uint64_t now = room_now(room, false);
	uint64_t needed = refusing ? t + t / 2 : t;
	if (intent == ORDERED_REMOVE)
		needed = t / 2;
	if (now >= needed) {
		if (intent == ORDERED_WRITE)
			atomic_store(&room->refusing, false);
		return 0;
	}
	if (intent == ORDERED_WRITE)
		*first = !atomic_exchange(&room->refusing, true);
	return why(ENOSPC,
	    "the disk is full: %llu MB are left and this needs %llu MB to be "
	    "safe; reads go on, and writes once there is room",
	    (unsigned long long)(now / MB), (unsigned long long)(needed / MB));
}

uint64_t
wt_room_writable(struct wt_room *room)
{
	uint64_t t = room->threshold, now = room_now(room, false);

	if (atomic_load(&room->refusing) && now < t + t / 2)
		return 0;
	return now > t ? now - t : 0;
}

/* Adds up the files of the directory. */
static uint64_t
sum_files(int directory)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	struct stat st;
	uint64_t used = 0;

	while (d && (e = readdir(d)))
		if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			used += (uint64_t)st.st_blocks * 512;
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return used;
}

uint64_t
wt_room_used(struct wt_room *room)
{
	int64_t now = wt_now();

	if (now - atomic_load(&room->summed) >= COUNT_MS ||
	    !atomic_load(&room->summed)) {
		atomic_store(&room->summed, now);
		atomic_store(&room->used, sum_files(room->directory));
	}
	return atomic_load(&room->used);
}

int
wt_room_for_opening(struct wt_room *room, const char *directory)
{
	uint64_t needed = at_most(room->reserve, room->threshold) / 4;

	if (wt_room_available(room, true) < room->threshold / 2)
		unlinkat(room->directory, RESERVE_NAME, 0);
	if (wt_room_available(room, true) >= needed)
		return 0;
	return why(ENOSPC,
	    "%s: the disk is full: opening for writing needs %llu kB",
	    directory, (unsigned long long)needed / 1024);
}

void
wt_room_keep_reserve(struct wt_room *room)
{
	if (faccessat(room->directory, RESERVE_NAME, F_OK, 0) == 0 ||
	    wt_room_available(room, true) < 2 * room->threshold + room->reserve)
		return;
	int fd = openat(room->directory, RESERVE_NAME,
	    O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (posix_fallocate(fd, 0, (off_t)room->reserve))
		unlinkat(room->directory, RESERVE_NAME, 0);
	close(fd);
}
