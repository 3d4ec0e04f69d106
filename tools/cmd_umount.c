/* umount: unmounts and waits until the daemon has closed the store. */
#include "cmd.h"
#include "mounted.h"

#include "../kv/why.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The absolute path of a mount point, without looking at what is mounted on
 * it: a dead mount answers nothing. */
static int
absolute(const char *path, char out[PATH_MAX])
{
	char *copy = strdup(path);
	char *last;
	char folder[PATH_MAX];
	int size;

	if (!copy)
		return -ENOMEM;
	for (size_t end = strlen(copy); end > 1 && copy[end - 1] == '/'; end--)
		copy[end - 1] = 0;
	last = strrchr(copy, '/');
	if (last)
		*last++ = 0;
	if (!realpath(!last ? "." : *copy ? copy : "/", folder)) {
		free(copy);
		return -errno;
	}
	size = snprintf(out, PATH_MAX, "%s/%s",
	    strcmp(folder, "/") ? folder : "", last ? last : copy);
	free(copy);
	return size < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Whether a cellfs is mounted exactly there. */
static int
is_mount(const char *path)
{
	FILE *table = setmntent("/proc/self/mounts", "re");
	struct mntent *entry;
	bool found = false;

	if (!table)
		return -errno;
	while ((entry = getmntent(table)))
		if (strcmp(entry->mnt_dir, path) == 0)
			found = strcmp(entry->mnt_type, "fuse.cellfs") == 0;
	endmntent(table);
	return found ? 0 : why(EINVAL, "no cellfs is mounted there");
}

/* The mount point that path names: as it stands, or what it leads to. */
static int
find_mount(const char *path, char out[PATH_MAX])
{
	char real[PATH_MAX];
	int r = absolute(path, out);

	if (r == 0)
		r = is_mount(out);
	if (r == -EINVAL && realpath(path, real) && is_mount(real) == 0) {
		memcpy(out, real, sizeof(real));
		return 0;
	}
	return r;
}

static int
wait_exit(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EBUSY;
}

/* Runs fusermount3 with its standard error in out. */
static int
spawn_fusermount(const char *path, int out, pid_t *pid)
{
	char *argv[] = {"fusermount3", "-u", "--", (char *)path, NULL};
	posix_spawn_file_actions_t actions;
	int r;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
	r = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return r ? why(r, "fusermount3: %s", strerror(r)) : 0;
}

static int
run_fusermount(const char *path)
{
	char said[512];
	int ends[2];
	ssize_t size;
	pid_t pid;
	int r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	r = spawn_fusermount(path, ends[1], &pid);
	close(ends[1]);
	size = r == 0 ? read(ends[0], said, sizeof(said) - 1) : 0;
	close(ends[0]);
	if (r < 0)
		return r;
	r = wait_exit(pid);
	said[size > 0 ? size : 0] = 0;
	if (r == -EBUSY && *said)
		return why(EBUSY, "%.*s", (int)strcspn(said, "\n"), said);
	return r;
}

static int
unmount(const char *path)
{
	if (geteuid() != 0)
		return run_fusermount(path);
	if (umount2(path, UMOUNT_NOFOLLOW) == 0)
		return 0;
	if (errno == EBUSY)
		return why(EBUSY, "busy: something is open in it, or works in "
				  "it");
	return -errno;
}

/* The process of a mount, or -1 where nothing answers. */
static int
daemon_of(const char *path)
{
	struct mounted m;
	int fd = -1;

	if (mounted_at(path, &m) == 0)
		fd = syscall(SYS_pidfd_open, m.pid, 0);
	mounted_release(&m);
	return fd;
}

static int
wait_for(int daemon)
{
	struct pollfd wanted = {.fd = daemon, .events = POLLIN};

	while (poll(&wanted, 1, -1) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

static int
umount_and_wait(const char *path)
{
	int daemon = daemon_of(path);
	int r = unmount(path);

	if (r == 0 && daemon >= 0)
		r = wait_for(daemon);
	if (daemon >= 0)
		close(daemon);
	return r;
}

static int
run_umount(struct arguments *a)
{
	char path[PATH_MAX];
	int r = find_mount(a->operands[0], path);

	if (r == 0)
		r = umount_and_wait(path);
	return r < 0 ? failed(a->operands[0], r) : STATUS_DONE;
}

const struct command command_umount = {
    .name = "umount",
    .synopsis = "DIR",
    .summary = "Unmount and wait until the store is closed",
    .options = (const enum option_id[]){OPTION_END},
    .least = 1,
    .most = 1,
    .run = run_umount,
};
