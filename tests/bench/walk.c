/* walk: what the benchmark measures, without an interpreter's own time.
 *
 * usage: walk lstat DIR	lists everything below DIR, lstat of each entry
 *	  walk cat DIR		the same, and reads every file
 *	  walk create DIR N	creates N files of 100 bytes in DIR
 *
 * Prints how many files and the seconds it took.
 */
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static unsigned long files;

static void
file_read(int dir, const char *name)
{
	char bytes[65536];
	ssize_t n;
	int fd = openat(dir, name, O_RDONLY);

	if (fd < 0)
		err(1, "%s", name);
	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		continue;
	if (n < 0)
		err(1, "%s", name);
	close(fd);
}

static void
walk(int at, const char *name, bool cat)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d;
	struct stat st;

	if (!dir)
		err(1, "%s", name);
	while ((d = readdir(dir))) {
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		if (fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			err(1, "%s", d->d_name);
		if (S_ISDIR(st.st_mode)) {
			walk(fd, d->d_name, cat);
			continue;
		}
		files++;
		if (cat)
			file_read(fd, d->d_name);
	}
	closedir(dir);
}

static void
create(const char *name, unsigned long count)
{
	int fd, dir = open(name, O_RDONLY | O_DIRECTORY);
	char file[32], value[100];

	if (dir < 0)
		err(1, "%s", name);
	memset(value, 'v', sizeof(value));
	for (; files < count; files++) {
		snprintf(file, sizeof(file), "n%07lu", files);
		fd = openat(dir, file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		if (fd < 0 || write(fd, value, sizeof(value)) != sizeof(value))
			err(1, "%s", file);
		if (close(fd) < 0)
			err(1, "%s", file);
	}
	close(dir);
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int
main(int argc, char **argv)
{
	double start = now();

	if (argc == 3 && !strcmp(argv[1], "lstat"))
		walk(AT_FDCWD, argv[2], false);
	else if (argc == 3 && !strcmp(argv[1], "cat"))
		walk(AT_FDCWD, argv[2], true);
	else if (argc == 4 && !strcmp(argv[1], "create"))
		create(argv[2], strtoul(argv[3], NULL, 10));
	else
		errx(2, "usage: walk lstat|cat DIR, or walk create DIR N");
	printf("%lu %.6f\n", files, now() - start);
	return 0;
}
