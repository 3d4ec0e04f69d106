#define FUSE_USE_VERSION 312
#include "mount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fuse.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "../kv/kv_data.h"
#include "../kv/why.h"
#include "handle.h"
#include "later.h"
#include "notify.h"
#include "ops.h"
#include "times.h"
#include "tunnel.h"

#define DEFAULT_CACHE (256 << 20)
#define DEFAULT_BUFFERS (64 << 20)
#define THREADS 8
#define TICK 20	      /* ms in one request before another thread reads */
#define ALONE_TICKS 25 /* before it may be one that is not to be overtaken */
#define IDLE_TICK 1000 /* ms between looks when there is nothing to do */
#define TIDY_SECONDS 5	  /* between two times that memory is given back */
#define TIDY_REQUESTS 1000 /* in them, or there is nothing to give */
#define LARGE_BYTES (512 << 10) /* of memory that is given back at once: pieces
				   of large values would leave holes */

/* Later than the kernel headers this is built with may know. */
#define DIRECT_IO_ALLOW_MMAP ((uint64_t)1 << 36)

struct mount {
	struct fs fs;
	struct fuse_session *session;
	char store[PATH_MAX], mount_point[PATH_MAX];
	pthread_mutex_t lock; /* guards becoming the reader, and: */
	unsigned serving;     /* threads that have not ended */
	pthread_cond_t wake;
	_Atomic unsigned named, reader; /* thread numbers; reader 0: none yet */
	_Atomic unsigned served; /* requests */
	_Atomic int state;	 /* of the reader */
	unsigned tidied;	 /* requests, and when (s, monotonic), as memory */
	time_t tidied_at;	 /* was last given back */
	int report;		 /* where the parent hears of us, or -1 */
};

/* --- the session's ends -------------------------------------------------------- */

/* What the kernel offered in INIT; libfuse 3.14 does not pass these two on. */
static uint64_t offered;
static bool answered;

static ssize_t
session_read(int fd, void *to, size_t size, void *userdata)
{
	ssize_t n = read(fd, to, size);
	const struct fuse_in_header *in = to;
	const struct fuse_init_in *init = (const void *)(in + 1);

	(void)userdata;
	if (!answered && n >= (ssize_t)(sizeof(*in) + sizeof(*init)) &&
	    in->opcode == FUSE_INIT)
		offered = init->flags | (uint64_t)init->flags2 << 32;
	return n;
}

/* Adds what we want to the answer to INIT, as far as it was offered. */
static void
complete_init(struct fuse_init_out *out)
{
	uint64_t more = offered & (FUSE_PARALLEL_DIROPS |
	    (offered & FUSE_INIT_EXT
		    ? FUSE_INIT_EXT | DIRECT_IO_ALLOW_MMAP : 0));

	out->flags |= (uint32_t)more;
	out->flags2 |= (uint32_t)(more >> 32);
	answered = true;
}

static ssize_t
session_writev(int fd, struct iovec *iov, int count, void *userdata)
{
	(void)userdata;
	if (!answered && count == 2 &&
	    iov[1].iov_len == sizeof(struct fuse_init_out))
		complete_init(iov[1].iov_base);
	return writev(fd, iov, count);
}

static const struct fuse_custom_io session_io = {
	.read = session_read,
	.writev = session_writev,
};

/* --- serving ------------------------------------------------------------------- */

/*
 * One thread, the reader, takes requests and serves them itself: handing each
 * to another costs more than most of them. Standby threads look now and then;
 * when the reader has been inside one request for a whole tick, one of them
 * becomes the reader, and the old one stands by when it is done.
 *
 * A RELEASE, whose answer the kernel does not wait for, is not overtaken so,
 * unless it takes half a second: whoever closed and then looks sees it done.
 */
enum state { STATE_WAITING, STATE_BUSY, STATE_ALONE };

static enum state
state_of(const struct fuse_buf *buf)
{
	const struct fuse_in_header *in = buf->mem;
	bool alone = in->opcode == FUSE_RELEASE ||
	    in->opcode == FUSE_FORGET || in->opcode == FUSE_BATCH_FORGET;

	return alone ? STATE_ALONE : STATE_BUSY;
}

static struct timespec
after(long ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += ms * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* What the store's cache has freed lies scattered between what it holds, and
 * stays with the allocator: a standby thread gives it back to the system.
 * m->lock is held, and let go meanwhile. */
static void
tidy(struct mount *m)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	if (t.tv_sec < m->tidied_at + TIDY_SECONDS ||
	    m->served - m->tidied < TIDY_REQUESTS)
		return;
	m->tidied_at = t.tv_sec;
	m->tidied = m->served;
	pthread_mutex_unlock(&m->lock);
	malloc_trim(0);
	pthread_mutex_lock(&m->lock);
}

/* Stands by until this thread is to be the reader; false: the end. */
static bool
stand_by(struct mount *m, unsigned me)
{
	pthread_mutex_lock(&m->lock);
	unsigned seen = m->served, ticks = 0;
	while (m->reader && !fuse_session_exited(m->session)) {
		bool idle = m->state == STATE_WAITING && ticks;
		struct timespec until = after(idle ? IDLE_TICK : TICK);
		pthread_cond_timedwait(&m->wake, &m->lock, &until);
		tidy(m);
		ticks = m->served == seen ? ticks + 1 : 0;
		seen = m->served;
		if (ticks && (m->state == STATE_BUSY ||
		    (m->state == STATE_ALONE && ticks > ALONE_TICKS)))
			break;
	}
	m->reader = me;
	m->state = STATE_WAITING;
	pthread_mutex_unlock(&m->lock);
	return !fuse_session_exited(m->session);
}

/* Takes and serves requests while this thread is the reader. */
/* The two forms of a rename are one kind. */
static void
count_request(struct mount *m, const struct fuse_buf *buf)
{
	uint32_t opcode = ((const struct fuse_in_header *)buf->mem)->opcode;

	traffic_count(&m->fs.traffic,
	    opcode == FUSE_RENAME2 ? FUSE_RENAME : opcode);
}

static void
read_requests(struct mount *m, unsigned me, struct fuse_buf *buf)
{
	while (m->reader == me && !fuse_session_exited(m->session)) {
		int n = fuse_session_receive_buf(m->session, buf);
		if (n == -EINTR || n == -EAGAIN || n == -ENOMEM)
			continue;
		if (n <= 0) {
			fuse_session_exit(m->session);
			break;
		}
		m->state = state_of(buf);
		count_request(m, buf);
		fuse_session_process_buf(m->session, buf);
		pthread_mutex_lock(&m->lock);
		m->served++;
		if (m->reader == me)
			m->state = STATE_WAITING;
		pthread_mutex_unlock(&m->lock);
	}
}

static _Thread_local unsigned own_number;

/* The thread that calls is in for a wait: if it is the reader, another becomes
 * it now. */
static void
step_aside(void *context)
{
	struct mount *m = context;

	pthread_mutex_lock(&m->lock);
	if (m->reader == own_number)
		m->reader = 0;
	pthread_cond_signal(&m->wake);
	pthread_mutex_unlock(&m->lock);
}

static void *
serve(void *context)
{
	struct mount *m = context;
	struct fuse_buf buf = {0};
	unsigned me = own_number = ++m->named;

	while (stand_by(m, me))
		read_requests(m, me, &buf);
	free(buf.mem);
	pthread_mutex_lock(&m->lock);
	m->serving--;
	pthread_cond_broadcast(&m->wake);
	pthread_mutex_unlock(&m->lock);
	kill(getpid(), SIGUSR1); /* the main thread waits for this, too */
	return NULL;
}

static void
no_action(int signal)
{
	(void)signal;
}

/* The signals that end the mount are waited for by the main thread alone;
 * SIGUSR2 does nothing but wake a thread that waits for a request. */
static void
block_signals(sigset_t *ends)
{
	struct sigaction wake = {.sa_handler = no_action};

	sigemptyset(ends);
	sigaddset(ends, SIGTERM);
	sigaddset(ends, SIGINT);
	sigaddset(ends, SIGHUP);
	sigaddset(ends, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, ends, NULL);
	sigaction(SIGUSR2, &wake, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* Wakes the threads, wherever they wait, until all have come to their end. */
static void
stop_threads(struct mount *m, pthread_t *threads, size_t count)
{
	notify_stop(&m->fs); /* it may wait for a request: these are served */
	kv_interrupt(m->fs.kv);
	later_stop(m->fs.later);
	fuse_session_exit(m->session);
	pthread_mutex_lock(&m->lock);
	while (m->serving) {
		struct timespec until = after(TICK);
		pthread_cond_broadcast(&m->wake);
		for (size_t i = 0; i < count; i++)
			pthread_kill(threads[i], SIGUSR2);
		pthread_cond_timedwait(&m->wake, &m->lock, &until);
	}
	pthread_mutex_unlock(&m->lock);
	for (size_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

/* Serves until the mount is taken away or a signal ends it. */
static int
serve_all(struct mount *m, const sigset_t *ends)
{
	pthread_t threads[THREADS];
	size_t count = 0;
	int signal;

	m->serving = THREADS;
	while (count < THREADS &&
	    pthread_create(&threads[count], NULL, serve, m) == 0)
		count++;
	pthread_mutex_lock(&m->lock);
	m->serving -= THREADS - (unsigned)count;
	pthread_mutex_unlock(&m->lock);
	if (count)
		sigwait(ends, &signal);
	stop_threads(m, threads, count);
	fuse_session_unmount(m->session);
	return count ? 0 : -EAGAIN;
}

static void
send_inode(void *context, struct inode *inode, bool data)
{
	struct mount *m = context;
	fuse_ino_t ino = inode == &m->fs.nodes->root ? FUSE_ROOT_ID
						     : (fuse_ino_t)inode;

	fuse_lowlevel_notify_inval_inode(m->session, ino, data ? 0 : -1, 0);
}

static void
send_store(void *context, struct inode *inode, struct slice bytes)
{
	struct mount *m = context;
	struct fuse_bufvec v = FUSE_BUFVEC_INIT(bytes.size);

	v.buf[0].mem = (void *)(uintptr_t)bytes.data;
	fuse_lowlevel_notify_store(m->session, (fuse_ino_t)inode, 0, &v, 0);
}

static void
send_entry(void *context, struct inode *dir, const char *name)
{
	struct mount *m = context;
	fuse_ino_t ino = dir == &m->fs.nodes->root ? FUSE_ROOT_ID
						   : (fuse_ino_t)dir;

	/* which sends the NUL, too */
	fuse_lowlevel_notify_inval_entry(m->session, ino, name, strlen(name));
}

/* --- opening and closing ----------------------------------------------------------- */

/* Opens everything but the session, in the process that will serve. */
static int
fs_open(struct mount *m, const struct mount_options *o)
{
	struct fs *fs = &m->fs;
	const struct notify_sender sender = {
		.inode = send_inode, .store = send_store,
		.entry = send_entry, .context = m};
	const struct kv_options options = {
		.path = m->store, .mount_point = m->mount_point,
		.read_only = o->read_only, .create = !o->read_only,
		.cache = o->cache ? o->cache : DEFAULT_CACHE,
		.sync_seconds = o->sync_seconds,
		.log = journal_line, .log_context = &fs->journal,
	};
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	fs->started = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	fs->store = m->store;
	fs->step_aside = step_aside;
	fs->step_context = m;
	fs->read_only = o->read_only;
	fs->masquerade = (struct masquerade){.has_uid = o->has_uid,
		.has_gid = o->has_gid, .has_umask = o->has_umask,
		.uid = o->uid, .gid = o->gid, .umask = o->umask};
	fs->buffers = (struct budget){.directory = m->store,
		.limit = o->buffers ? o->buffers : DEFAULT_BUFFERS};
	fs->traffic.names = ops_requests;
	journal_init(&fs->journal, o->foreground);
	const struct place root = {.level = LEVEL_ROOT};
	const struct version newest = {VERSION_NEWEST, 0};
	struct info info = {0};
	int r = kv_open(&options, &fs->kv);
	if (r == 0)
		r = kv_stat(fs->kv, &root, newest, &info);
	fs->key = (uint64_t)info.timestamp * 0x9e3779b97f4a7c15u;
	if (r == 0)
		r = nodes_open(fs);
	if (r == 0)
		r = tunnel_open(fs);
	if (r == 0)
		r = notify_open(fs, &sender);
	if (r == 0)
		r = later_open(&fs->later);
	if (r == 0 && !fs->read_only)
		r = times_open(fs);
	return r;
}

/* Ends what fs_open() began, however far it came. */
static int
fs_close(struct fs *fs)
{
	int r = 0;

	later_close(fs->later);
	if (fs->notify)
		notify_close(fs);
	if (fs->nodes)
		handles_close(fs);
	if (fs->tunnel)
		tunnel_close(fs);
	if (fs->times)
		times_close(fs);
	if (fs->nodes)
		nodes_close(fs);
	if (fs->kv)
		r = kv_close(fs->kv);
	journal_release(&fs->journal);
	return r;
}

/* The session's options: ours, then what the caller passes on. */
static int
session_options(const struct mount *m, const struct mount_options *o,
    struct buf *out)
{
	buf_text(out, "default_permissions,subtype=cellfs,fsname=");
	for (const char *c = m->store; *c; c++) {
		if (*c == ',' || *c == '\\')
			buf_byte(out, '\\');
		buf_byte(out, (uint8_t)*c);
	}
	if (geteuid() == 0)
		buf_text(out, ",allow_other");
	if (o->read_only)
		buf_text(out, ",ro");
	if (o->fuse_options && *o->fuse_options)
		buf_printf(out, ",%s", o->fuse_options);
	buf_byte(out, '\0');
	return buf_status(out);
}

static int
session_open(struct mount *m, const struct mount_options *o)
{
	struct buf options = {0};
	int r = session_options(m, o, &options);
	char *argv[] = {"cellfs", "-o", (char *)options.data, NULL};
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);

	if (r == 0) {
		m->session = fuse_session_new(&args, &ops, sizeof(ops),
		    &m->fs);
		fuse_opt_free_args(&args);
		if (!m->session)
			r = why(EINVAL, "libfuse refuses the mount options");
	}
	if (r == 0 && fuse_session_mount(m->session, m->mount_point) < 0)
		r = why(EIO, "cannot mount at %s: is /dev/fuse there, and may "
		    "you use it? (allow_other needs user_allow_other in "
		    "/etc/fuse.conf)", m->mount_point);
	if (r == 0 &&
	    fuse_session_custom_io(m->session, &session_io,
		fuse_session_fd(m->session)) < 0)
		r = why(EIO, "libfuse takes no reader of ours");
	buf_release(&options);
	return r;
}

/* --- the two processes --------------------------------------------------------------- */

struct report {
	int result;
	char sentence[1024];
};

/* Tells the parent, once, how it went. */
static void
report(struct mount *m, int r)
{
	struct report out = {.result = r};

	if (m->report < 0)
		return;
	if (r < 0)
		snprintf(out.sentence, sizeof(out.sentence), "%s",
		    why_text(r));
	if (write(m->report, &out, sizeof(out)) < 0 && r == 0)
		fuse_session_exit(m->session); /* nobody waits for us */
	close(m->report);
	m->report = -1;
}

/* Opens, serves and closes; in the serving process. */
static int
run(struct mount *m, const struct mount_options *o)
{
	sigset_t ends;
	int r;

	mallopt(M_ARENA_MAX, 2); /* more keep what a listing has used */
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	block_signals(&ends);
	pthread_mutex_init(&m->lock, NULL);
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&m->wake, &monotonic);
	r = fs_open(m, o);
	if (r == 0)
		r = session_open(m, o);
	report(m, r);
	if (r == 0)
		r = serve_all(m, &ends);
	int closed = fs_close(&m->fs);
	if (m->session) {
		fuse_session_unmount(m->session);
		fuse_session_destroy(m->session);
	}
	return r < 0 ? r : closed;
}

/* Leaves the caller's terminal, directory and descriptors alone. */
static void
detach(int keep)
{
	setsid();
	int moved = chdir("/");
	(void)moved; /* to stay where it was does no harm */
	int null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	close_range(3, (unsigned)keep - 1, 0);
	close_range((unsigned)keep + 1, ~0u, 0);
}

/* Waits for the child's word and for the mount to answer. */
static int
await(int from, const char *mount_point)
{
	struct report in;
	struct statvfs v;
	ssize_t n;

	do
		n = read(from, &in, sizeof(in));
	while (n < 0 && errno == EINTR);
	close(from);
	if (n != sizeof(in))
		return why(EIO, "the mounting process has died");
	if (in.result < 0)
		return why(-in.result, "%s", in.sentence);
	if (statvfs(mount_point, &v) < 0)
		return why(errno, "%s does not answer", mount_point);
	return 0;
}

static int
run_detached(struct mount *m, const struct mount_options *o)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid_t child = fork();
	if (child < 0)
		return -errno;
	if (child == 0) {
		m->report = fcntl(ends[1], F_DUPFD_CLOEXEC, 3);
		detach(m->report);
		exit(run(m, o) < 0);
	}
	close(ends[1]);
	return await(ends[0], m->mount_point);
}

static int
check_directory(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return why(errno, "%s: %s", path, strerror(errno));
	return S_ISDIR(st.st_mode)
	    ? 0 : why(ENOTDIR, "%s: not a directory", path);
}

/* The mount point as an absolute path. What a killed daemon has left mounted
 * there is taken away. */
static int
find_mount_point(const struct mount_options *o, char *out)
{
	const char *path = o->mount_point;
	struct statvfs v;

	/* stat() may answer for a dead mount from what the kernel kept. */
	if (statvfs(path, &v) < 0 && errno == ENOTCONN && !o->fake &&
	    umount2(path, MNT_DETACH) < 0)
		return why(ENOTCONN, "%s: a dead mount is in the way: run "
		    "fusermount3 -u %s", path, path);
	int r = check_directory(path);
	return r < 0 || realpath(path, out) ? r : -errno;
}

/* The store's absolute path; its last part may not be there yet. */
static int
find_store(const char *path, char *out)
{
	char above[PATH_MAX], real[PATH_MAX];

	if (realpath(path, out))
		return check_directory(out);
	size_t size = strlen(path);
	while (size > 1 && path[size - 1] == '/')
		size--;
	size_t base = size;
	while (base && path[base - 1] != '/')
		base--;
	snprintf(above, sizeof(above), "%.*s", (int)base, base ? path : "");
	if (errno != ENOENT || !realpath(base ? above : ".", real))
		return why(errno, "%s: %s", path, strerror(errno));
	return snprintf(out, PATH_MAX, "%s/%.*s", real[1] ? real : "",
		   (int)(size - base), path + base) < PATH_MAX
	    ? 0 : -ENAMETOOLONG;
}

static bool
lies_in(const char *path, const char *above)
{
	size_t size = strlen(above);

	return strncmp(path, above, size) == 0 &&
	    (size == 1 || !path[size] || path[size] == '/');
}

/* A mount that hides its own store would wait for itself for ever. */
static int
check_apart(const char *store, const char *mount_point)
{
	if (!lies_in(store, mount_point) && !lies_in(mount_point, store))
		return 0;
	return why(EINVAL, "%s and the store %s lie within each other",
	    mount_point, store);
}

int
mount_run(const struct mount_options *o)
{
	struct mount *m = calloc(1, sizeof(*m));
	int r = m ? 0 : -ENOMEM;

	if (r == 0)
		m->report = -1;
	if (r == 0)
		r = find_mount_point(o, m->mount_point);
	if (r == 0)
		r = find_store(o->store, m->store);
	if (r == 0)
		r = check_apart(m->store, m->mount_point);
	if (r == 0 && !o->fake)
		r = o->foreground ? run(m, o) : run_detached(m, o);
	free(m);
	return r;
}
