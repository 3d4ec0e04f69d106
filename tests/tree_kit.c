#include "tree_kit.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/notify.h"
#include "fs/times.h"
#include "fs/tunnel.h"
#include "kv/kv_store.h"
#include "kv/ordered.h"
#include "kv/why.h"
#include "stall.h"
#include "store_dir.h"

struct fs tree_fs;

static struct caller callers[PROCESSES];
static enum who present;

/* A text that lives for eight calls. */
static const char *
keep(const struct buf *b)
{
	static char texts[8][1 << 16];
	static unsigned turn;
	char *text = texts[turn++ % 8];

	ck_assert_uint_lt(b->size, sizeof(texts[0]));
	if (b->size)
		memcpy(text, b->data, b->size);
	text[b->size] = 0;
	return text;
}

static const char *
refusal(int r)
{
	struct buf b = {0};

	buf_printf(&b, "(%s)", strerror(-r));
	const char *text = keep(&b);
	buf_release(&b);
	return text;
}

void
tree_fail(int error, unsigned count)
{
	ordered_mem_fail(tree_fs.kv->memory, error, count, true);
}

/* --- notices ------------------------------------------------------------------ */

static pthread_mutex_t notices_lock = PTHREAD_MUTEX_INITIALIZER;
static struct buf notices;
static pthread_cond_t told_wake = PTHREAD_COND_INITIALIZER;

static void
note(const char *what, struct inode *inode, struct slice name)
{
	struct slice key = name.size ? name : buf_slice(&inode->key);

	pthread_mutex_lock(&notices_lock);
	buf_printf(&notices, "%s%s %.*s", notices.size ? "; " : "", what,
	    (int)key.size, key.size ? (char *)key.data : "");
	pthread_mutex_unlock(&notices_lock);
}

static void
note_inode(void *context, struct inode *inode, bool data)
{
	(void)context;
	note(data ? "data" : "attr", inode, slice_text(""));
}

static void
note_store(void *context, struct inode *inode, struct slice bytes)
{
	(void)context;
	(void)bytes;
	note("store", inode, slice_text(""));
}

static void
note_entry(void *context, struct inode *dir, const char *name)
{
	(void)context;
	note("entry", dir, slice_text(name)); /* with ASan: there is a NUL */
}

static void
note_told(void *told)
{
	pthread_mutex_lock(&notices_lock);
	*(bool *)told = true;
	pthread_cond_signal(&told_wake);
	pthread_mutex_unlock(&notices_lock);
}

const char *
tree_notices(void)
{
	bool told = false;

	notify_after(&tree_fs, note_told, &told);
	pthread_mutex_lock(&notices_lock);
	while (!told)
		pthread_cond_wait(&told_wake, &notices_lock);
	const char *text = keep(&notices);
	buf_clear(&notices);
	pthread_mutex_unlock(&notices_lock);
	return text;
}

/* --- fixtures ------------------------------------------------------------------ */

/* A process that does nothing, so that its number is one of its own. */
static pid_t
sleeper(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

void
tree_setup(void)
{
	const struct kv_options options = {.in_memory = true,
		.log = journal_line, .log_context = &tree_fs.journal};
	const struct notify_sender sender = {
		.inode = note_inode, .store = note_store,
		.entry = note_entry};

	for (int i = 0; i < PROCESSES; i++)
		callers[i] = (struct caller){
			.uid = 1000, .gid = 100, .thread = sleeper()};
	present = ALICE;
	store_dir_make();
	tree_fs = (struct fs){.store = store_dir(), .started = 1,
		.buffers = {.directory = store_dir(), .limit = 1 << 20}};
	journal_init(&tree_fs.journal, false);
	ck_assert_int_eq(kv_open(&options, &tree_fs.kv), 0);
	stall_stand_before(tree_fs.kv->memory);
	ck_assert_int_eq(nodes_open(&tree_fs), 0);
	ck_assert_int_eq(tunnel_open(&tree_fs), 0);
	ck_assert_int_eq(notify_open(&tree_fs, &sender), 0);
}

void
tree_setup_table(void)
{
	tree_setup();
	ck_assert_int_eq(tree_put(".schema/t", "table open=0\n"
	    "family f versions=100\nfamily g versions=3\n"), 0);
	ck_assert_int_eq(tree_mkdir_path("t/r", 0755), 0);
	ck_assert_int_eq(tree_mkdir_path("t/r/f", 0755), 0);
	ck_assert_int_eq(tree_mkdir_path("t/r/g", 0755), 0);
	tree_notices();
}

/* In the order in which a mount ends. */
void
tree_teardown(void)
{
	if (tree_fs.notify)
		notify_close(&tree_fs);
	handles_close(&tree_fs);
	tunnel_close(&tree_fs);
	ck_assert_int_eq(times_store(&tree_fs), 0);
	ck_assert_uint_eq(tree_fs.buffers.used, 0);
	ck_assert_uint_eq(tree_fs.nodes->count, 0);
	nodes_close(&tree_fs);
	ck_assert_int_eq(kv_close(tree_fs.kv), 0);
	journal_release(&tree_fs.journal);
	buf_release(&notices);
	store_dir_remove();
	for (int i = 0; i < PROCESSES; i++) {
		kill(callers[i].thread, SIGKILL);
		waitpid(callers[i].thread, NULL, 0);
	}
}

void
tree_as(enum who who)
{
	present = who;
}

const struct caller *
tree_caller(void)
{
	return &callers[present];
}

/* --- paths ------------------------------------------------------------------------ */

/* The kernel changes names in a directory one at a time, and while it looks
 * none up there. */
static pthread_rwlock_t directories = PTHREAD_RWLOCK_INITIALIZER;

/* One component down; takes dir's hold over. NULL and *r on failure. */
static struct inode *
down(struct inode *dir, struct slice name, int *r)
{
	struct inode *out = NULL;
	struct look look;

	why_clear();
	pthread_rwlock_rdlock(&directories);
	*r = tree_lookup(&tree_fs, dir, name, tree_caller(), &out, &look);
	pthread_rwlock_unlock(&directories);
	inode_put(&tree_fs, dir);
	return out;
}

/* The directory of a path, held, and the last component; or the whole. */
static int
walk(const char *path, bool whole, struct inode **out, struct slice *last)
{
	struct inode *at = &tree_fs.nodes->root;
	int r = 0;

	inode_hold(&tree_fs, at);
	for (const char *end; at && (end = strchr(path, '/')); path = end + 1)
		at = down(at, slice_of(path, (size_t)(end - path)), &r);
	*last = slice_text(path);
	if (at && whole && last->size)
		at = down(at, *last, &r);
	*out = at;
	return r;
}

static int
find(const char *path, struct inode **out)
{
	struct slice last;

	return walk(path, true, out, &last);
}

/* --- open files ----------------------------------------------------------------------- */

static int
open_found(int flags, struct file *f)
{
	const struct caller *c = tree_caller();
	const struct attrs fresh = {.set = ATTR_MODE | ATTR_UID | ATTR_GID,
		.mode = 0644, .uid = c->uid, .gid = c->gid};

	return handle_open(&tree_fs, f->inode, flags, c, &fresh, 0,
	    &f->handle);
}

static int
open_made(struct inode *dir, struct slice name, int flags, mode_t mode,
    struct file *f)
{
	struct made made;
	int r = tree_create(&tree_fs, dir, name, mode, flags, tree_caller(),
	    &made);

	f->inode = made.inode;
	if (r == 0)
		r = handle_open(&tree_fs, made.inode, flags, tree_caller(),
		    &made.fresh, made.mine, &f->handle);
	return r;
}

static int
open_once(const char *path, int flags, mode_t mode, struct file *out)
{
	struct inode *dir;
	struct slice name;
	struct look look;

	*out = (struct file){.owner = present};
	why_clear();
	int r = walk(path, false, &dir, &name);
	if (r < 0)
		return r;
	pthread_rwlock_wrlock(&directories);
	r = tree_lookup(&tree_fs, dir, name, tree_caller(), &out->inode,
	    &look);
	bool found = r == 0;
	if (r == -ENOENT && (flags & O_CREAT))
		r = open_made(dir, name, flags, mode, out);
	pthread_rwlock_unlock(&directories);
	if (found)
		r = flags & O_EXCL ? -EEXIST : open_found(flags, out);
	inode_put(&tree_fs, dir);
	if (r < 0) {
		inode_put(&tree_fs, out->inode);
		out->inode = NULL;
	}
	return r;
}

/* As the kernel, looks again when what it found has just been replaced. */
int
tree_open_mode(const char *path, int flags, mode_t mode, struct file *out)
{
	int r;

	do
		r = open_once(path, flags, mode, out);
	while (r == -ESTALE);
	return r;
}

int
tree_open(const char *path, int flags, struct file *out)
{
	return tree_open_mode(path, flags, 0644, out);
}

int
tree_write(struct file *f, const char *text)
{
	size_t size = strlen(text);

	why_clear();
	int r = handle_write(&tree_fs, f->handle, f->at, text, size, false);
	if (r == 0)
		f->at += size;
	return r;
}

const char *
tree_read(struct file *f)
{
	struct buf b = {0};
	char bytes[4096];
	int64_t n;

	while ((n = handle_read(&tree_fs, f->handle, f->at, bytes,
	    sizeof(bytes), false)) > 0) {
		buf_append(&b, slice_of(bytes, (size_t)n));
		f->at += (uint64_t)n;
	}
	const char *text = n < 0 ? refusal((int)n) : keep(&b);
	buf_release(&b);
	return text;
}

int
tree_flush(struct file *f)
{
	why_clear();
	return handle_flush(&tree_fs, f->handle, tree_caller()->thread);
}

int
tree_close(struct file *f)
{
	int r = tree_flush(f);

	handle_release(&tree_fs, f->handle);
	inode_put(&tree_fs, f->inode);
	*f = (struct file){0};
	return r;
}

/* --- by name ------------------------------------------------------------------------------ */

/* A redirection closes its first descriptor before it writes. */
static int
put_by(const char *path, int flags, const char *text)
{
	struct file f;
	int r = tree_open(path, O_WRONLY | O_CREAT | flags, &f);

	if (r < 0)
		return r;
	r = tree_flush(&f);
	if (r == 0 && *text)
		r = tree_write(&f, text);
	int closed = tree_close(&f);
	return r < 0 ? r : closed;
}

int
tree_put(const char *path, const char *text)
{
	return put_by(path, O_TRUNC, text);
}

int
tree_append(const char *path, const char *text)
{
	return put_by(path, O_APPEND, text);
}

const char *
tree_cat(const char *path)
{
	struct file f;
	int r = tree_open(path, O_RDONLY, &f);

	if (r < 0)
		return refusal(r);
	const char *text = tree_read(&f);
	tree_close(&f);
	return text;
}

struct names {
	struct listing listing;
	struct buf text;
};

static int
take_name(struct listing *to, const struct child *child, struct slice name,
    const struct look *look)
{
	struct names *n = (struct names *)to;

	(void)child;
	(void)look;
	buf_printf(&n->text, "%s%.*s", n->text.size ? " " : "",
	    (int)name.size, (const char *)name.data);
	return LIST_MORE;
}

const char *
tree_list(const char *path)
{
	struct mark mark = {0};
	struct names n = {.listing = {.take = take_name, .mark = &mark}};
	struct inode *dir;
	struct spot spot = {0};
	int r = find(path, &dir);

	if (r == 0)
		r = inode_spot(&tree_fs, dir, &spot);
	if (r == 0)
		r = node_list(&tree_fs, &spot, &n.listing);
	const char *text = r < 0 ? refusal(r) : keep(&n.text);
	inode_put(&tree_fs, dir);
	spot_release(&spot);
	buf_release(&n.text);
	buf_release(&mark.name);
	return text;
}

const char *
tree_history(const char *cell)
{
	struct buf b = {0};
	char path[512];

	snprintf(path, sizeof(path), "%s@", cell);
	char *names = strdup(tree_list(path));
	if (names[0] == '(')
		buf_text(&b, names);
	for (char *n = strtok(names, " "); n && n[0] != '(';
	     n = strtok(NULL, " ")) {
		snprintf(path, sizeof(path), "%s@/%s", cell, n);
		buf_printf(&b, "%s%s", b.size ? " " : "", tree_cat(path));
	}
	free(names);
	const char *text = keep(&b);
	buf_release(&b);
	return text;
}

unsigned
tree_versions(const char *cell)
{
	const char *count = tree_attribute(cell, "versions");

	return count[0] == '(' ? 0 : (unsigned)atoi(count);
}

int
tree_stat(const char *path, struct stat *out)
{
	struct inode *inode;
	struct look look;
	int r = find(path, &inode);

	if (r == 0)
		r = tree_look(&tree_fs, inode, tree_caller(), &look);
	if (r == 0)
		*out = look.st;
	inode_put(&tree_fs, inode);
	return r;
}

static int
set(const char *path, const struct attrs *attrs)
{
	struct inode *inode;
	int r = find(path, &inode);

	if (r == 0)
		r = tree_set(&tree_fs, inode, attrs, tree_caller());
	inode_put(&tree_fs, inode);
	return r;
}

int
tree_chmod(const char *path, mode_t mode)
{
	return set(path, &(struct attrs){.set = ATTR_MODE, .mode = mode});
}

int
tree_touch(const char *path, int64_t seconds)
{
	return set(path, &(struct attrs){.set = ATTR_MTIME,
	    .mtime = {.tv_sec = seconds, .tv_nsec = 5}});
}

int
tree_chown(const char *path, uid_t uid, gid_t gid)
{
	return set(path, &(struct attrs){.set = ATTR_UID | ATTR_GID,
	    .uid = uid, .gid = gid});
}

int
tree_truncate(const char *path, uint64_t size)
{
	struct inode *inode;
	int r = find(path, &inode);

	if (r == 0)
		r = handle_truncate_name(&tree_fs, inode, size);
	inode_put(&tree_fs, inode);
	return r;
}

int
tree_mkdir_path(const char *path, mode_t mode)
{
	struct inode *dir, *made = NULL;
	struct slice name;
	struct look look;
	int r = walk(path, false, &dir, &name);

	pthread_rwlock_wrlock(&directories);
	if (r == 0)
		r = tree_mkdir(&tree_fs, dir, name, mode, tree_caller(),
		    &made, &look);
	pthread_rwlock_unlock(&directories);
	inode_put(&tree_fs, dir);
	inode_put(&tree_fs, made);
	return r;
}

static int
remove_path(const char *path, bool directory)
{
	struct inode *dir;
	struct slice name;
	int r = walk(path, false, &dir, &name);

	pthread_rwlock_wrlock(&directories);
	if (r == 0)
		r = tree_remove(&tree_fs, dir, name, directory,
		    tree_caller());
	pthread_rwlock_unlock(&directories);
	inode_put(&tree_fs, dir);
	return r;
}

int
tree_unlink(const char *path)
{
	return remove_path(path, false);
}

int
tree_rmdir(const char *path)
{
	return remove_path(path, true);
}

static int
move_so(const char *from, const char *to, struct renaming how)
{
	int r = walk(from, false, &how.from_dir, &how.from);

	if (r == 0)
		r = walk(to, false, &how.to_dir, &how.to);
	pthread_rwlock_wrlock(&directories);
	if (r == 0)
		r = tree_rename(&tree_fs, &how, tree_caller());
	pthread_rwlock_unlock(&directories);
	inode_put(&tree_fs, how.from_dir);
	inode_put(&tree_fs, how.to_dir);
	return r;
}

int
tree_move(const char *from, const char *to)
{
	return move_so(from, to, (struct renaming){0});
}

int
tree_move_new(const char *from, const char *to)
{
	return move_so(from, to, (struct renaming){.no_replace = true});
}

int
tree_exchange(const char *from, const char *to)
{
	return move_so(from, to, (struct renaming){.exchange = true});
}

const char *
tree_attribute(const char *path, const char *name)
{
	struct buf b = {0};
	struct inode *inode;
	char whole[64];
	int r = find(path, &inode);

	snprintf(whole, sizeof(whole), "user.cellfs.%s", name);
	if (r == 0)
		r = tree_xattr(&tree_fs, inode, slice_text(whole),
		    tree_caller(), &b);
	const char *text = r < 0 ? refusal(r) : keep(&b);
	inode_put(&tree_fs, inode);
	buf_release(&b);
	return text;
}
