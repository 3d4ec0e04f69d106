/*
 * Writes a file in ways that shells and languages seldom do.
 *
 * usage: syscalls WAY FILE SOURCE BESIDE
 *
 * SOURCE is a file to copy from, BESIDE a free name beside FILE. Exit 0 the
 * way works, 1 a call was refused, 2 no such way.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *file, *source, *beside;

static const char text[] = "new\n";
#define TEXT ((ssize_t)sizeof(text) - 1)

static long
must(const char *what, long got)
{
	if (got >= 0)
		return got;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static int
opened(const char *name, int flags)
{
	return (int)must(name, open(name, flags, 0644));
}

static int
truncated(void)
{
	return opened(file, O_WRONLY | O_CREAT | O_TRUNC);
}

static void
put(int fd, const char *bytes)
{
	must("write", write(fd, bytes, strlen(bytes)));
}

static void
done(int fd)
{
	must("close", close(fd));
}

static char *
mapped(int fd, size_t size)
{
	char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	must("mmap", map == MAP_FAILED ? -1 : 0);
	return map;
}

static void
map(void)
{
	int fd = opened(file, O_RDWR);
	char *bytes = mapped(fd, 4);

	memcpy(bytes, "NEW", 3);
	must("munmap", munmap(bytes, 4));
	done(fd);
}

static void
map_closed(void)
{
	int fd = opened(file, O_RDWR);
	char *bytes = mapped(fd, 4);

	done(fd);
	memcpy(bytes, "NEW", 3);
	must("msync", msync(bytes, 4, MS_SYNC));
	must("munmap", munmap(bytes, 4));
}

static void
map_grown(void)
{
	int fd = opened(file, O_RDWR | O_CREAT);
	char *bytes;

	must("ftruncate", ftruncate(fd, 0));
	must("ftruncate", ftruncate(fd, TEXT + 8188));
	bytes = mapped(fd, TEXT + 8188);
	memcpy(bytes, text, TEXT);
	must("munmap", munmap(bytes, TEXT + 8188));
	done(fd);
}

static void
dup_closed(void)
{
	int fd = truncated();
	int other = (int)must("dup", dup(fd));

	put(other, "ne");
	done(other);
	put(fd, "w\n");
	done(fd);
}

/* Waits for a child that writes "w\n", or for the program it becomes. */
static void
child_writes(int fd, int exec)
{
	pid_t pid = (pid_t)must("fork", fork());
	int status;

	if (pid == 0) {
		if (exec) {
			must("dup2", dup2(fd, 1));
			must("exec", execlp("echo", "echo", "w", NULL));
		}
		put(fd, "w\n");
		_exit(0);
	}
	must("wait", waitpid(pid, &status, 0));
	if (status != 0)
		exit(1);
}

static void
forked(void)
{
	int fd = truncated();

	put(fd, "ne");
	child_writes(fd, 0);
	done(fd);
}

static void
forked_exec(void)
{
	int fd = truncated();

	put(fd, "ne");
	child_writes(fd, 1);
	done(fd);
}

static void
pass(int socket, int *fd, int send)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {.bytes = {0}};
	char byte = 0;
	struct iovec iov = {&byte, 1};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	if (!send) {
		must("recvmsg", recvmsg(socket, &message, 0));
		memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(*fd));
		return;
	}
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(*fd));
	memcpy(CMSG_DATA(head), fd, sizeof(*fd));
	must("sendmsg", sendmsg(socket, &message, 0));
}

/* The writer hands its descriptor to another process and ends before it. */
static void
passed(void)
{
	int pair[2], fd, status;
	pid_t pid;

	must("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	pid = (pid_t)must("fork", fork());
	if (pid == 0) {
		fd = truncated();
		put(fd, "ne");
		pass(pair[1], &fd, 1);
		_exit(0);
	}
	pass(pair[0], &fd, 0);
	must("wait", waitpid(pid, &status, 0));
	put(fd, "w\n");
	done(fd);
}

static void
unnamed(void)
{
	char *end = strdup(beside);

	*strrchr(end, '/') = '\0';
	done(opened(end, O_TMPFILE | O_RDWR));
	free(end);
}

static void
direct(void)
{
	int fd = opened(file, O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT);
	char *block = aligned_alloc(4096, 8192);

	memset(block, 0, 8192);
	must("write", write(fd, block, 8192));
	free(block);
	done(fd);
}

static void
copied(void)
{
	int from = opened(beside, O_RDWR | O_CREAT), to = truncated();

	put(from, text);
	must("lseek", lseek(from, 0, SEEK_SET));
	must("copy_file_range",
	    copy_file_range(from, NULL, to, NULL, TEXT, 0));
	done(to);
	done(from);
	must("unlink", unlink(beside));
}

static void
sent(void)
{
	int from = opened(source, O_RDONLY), to = truncated();

	must("sendfile", sendfile(to, from, NULL, TEXT));
	done(to);
	done(from);
}

static void
spliced(void)
{
	int from = opened(source, O_RDONLY), to = truncated(), pipes[2];

	must("pipe", pipe(pipes));
	must("splice", splice(from, NULL, pipes[1], NULL, TEXT, 0));
	must("splice", splice(pipes[0], NULL, to, NULL, TEXT, 0));
	done(to);
	done(from);
}

static void
vectors(void)
{
	char ne[] = "ne", w[] = "w\n";
	struct iovec iov[] = {{w, 2}, {ne, 2}};
	int fd = truncated();

	must("pwritev", pwritev(fd, iov, 1, 2));
	must("pwritev", pwritev(fd, iov + 1, 1, 0));
	done(fd);
}

static void
synced(void)
{
	int fd = truncated();

	put(fd, "ne");
	must("fdatasync", fdatasync(fd));
	put(fd, "w\n");
	must("syncfs", syncfs(fd));
	done(fd);
}

static void
cut(void)
{
	int fd = opened(file, O_RDWR | O_CREAT);

	put(fd, "longer than new");
	must("ftruncate", ftruncate(fd, 0));
	must("pwrite", pwrite(fd, text, TEXT, 0));
	done(fd);
}

static void
two(void)
{
	int first = truncated(), second = truncated();

	put(second, "b\n");
	put(first, "a\n");
	done(first);
	done(second);
}

static void
rename_with(unsigned flags)
{
	int fd = opened(beside, O_WRONLY | O_CREAT);

	put(fd, text);
	done(fd);
	must("renameat2",
	    renameat2(AT_FDCWD, beside, AT_FDCWD, file, flags));
}

static void
not_over(void)
{
	rename_with(RENAME_NOREPLACE);
}

static void
exchanged(void)
{
	rename_with(RENAME_EXCHANGE);
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
    {"shared map", map},
    {"shared map closed first", map_closed},
    {"shared map of a grown file", map_grown},
    {"dup", dup_closed},
    {"fork", forked},
    {"fork and exec", forked_exec},
    {"SCM_RIGHTS", passed},
    {"O_TMPFILE", unnamed},
    {"O_DIRECT", direct},
    {"copy_file_range inside", copied},
    {"sendfile", sent},
    {"splice", spliced},
    {"pwritev", vectors},
    {"fdatasync", synced},
    {"truncated and written", cut},
    {"two descriptors", two},
    {"RENAME_NOREPLACE", not_over},
    {"RENAME_EXCHANGE", exchanged},
};

int
main(int argc, char **argv)
{
	size_t i;

	if (argc != 5)
		return 2;
	file = argv[2];
	source = argv[3];
	beside = argv[4];
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(ways[i].name, argv[1]) == 0) {
			ways[i].run();
			return 0;
		}
	return 2;
}
