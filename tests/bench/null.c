/* null: a FUSE daemon that does nothing, as fast as it can.
 *
 * The floor for cellfs: the same tree t/ROW/FAMILY/QUALIFIER, made by
 * arithmetic, served with the best settings known. What is created gets a
 * node and a size; its bytes are thrown away and it is not listed.
 *
 * usage: null MOUNT ROWS FAMILIES QUALIFIERS	(stays in the foreground)
 */
#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOREVER 1e6
#define VALUE_SIZE 100
#define PLUS_NAMES 100000 /* of a directory; names alone behind them */
#define MADE_MAX (1 << 21) /* a power of two; twice what may be created */

/* A node id is the kind in the top bits and a number: of the row, of the
 * family counted through all rows, of the cell counted likewise, or the slot
 * in made[]. */
enum kind { ROOT = 1, TABLE, ROW, FAMILY, CELL, MADE };

#define KIND_SHIFT 40
#define NODE(kind, number) ((fuse_ino_t)(kind) << KIND_SHIFT | (number))

struct made {
	uint64_t key; /* hash of parent and name; 0: free */
	uint64_t size;
	mode_t mode;
};

static uint64_t rows, families, qualifiers;
static struct made *made;
static bool *pushed; /* by cell: its bytes are in the kernel's page cache */
static struct fuse_session *session;

static enum kind
node_kind(fuse_ino_t ino)
{
	return ino == FUSE_ROOT_ID ? ROOT : (enum kind)(ino >> KIND_SHIFT);
}

static uint64_t
node_number(fuse_ino_t ino)
{
	return ino & (((uint64_t)1 << KIND_SHIFT) - 1);
}

static uint64_t
made_key(fuse_ino_t parent, const char *name)
{
	uint64_t h = parent * 0x9e3779b97f4a7c15u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3u;
	return h | 1;
}

/* The slot of that name: taken if it exists, else free. */
static uint64_t
made_slot(fuse_ino_t parent, const char *name)
{
	uint64_t key = made_key(parent, name);
	uint64_t i = (key >> 8) & (MADE_MAX - 1);

	while (made[i].key && made[i].key != key)
		i = (i + 1) & (MADE_MAX - 1);
	return i;
}

static void
stat_fill(fuse_ino_t ino, struct stat *st)
{
	enum kind kind = node_kind(ino);
	struct made *m = &made[node_number(ino) & (MADE_MAX - 1)];

	*st = (struct stat){.st_ino = ino,
	    .st_nlink = 1,
	    .st_mode = S_IFDIR | 0755,
	    .st_mtime = 1600000000,
	    .st_ctime = 1600000000,
	    .st_atime = 1600000000};
	if (kind == CELL) {
		st->st_mode = S_IFREG | 0644;
		st->st_size = VALUE_SIZE;
	} else if (kind == MADE) {
		st->st_mode = m->mode;
		st->st_size = m->size;
	}
	st->st_blocks = (st->st_size + 511) / 512;
}

static struct fuse_entry_param
entry_of(fuse_ino_t ino)
{
	struct fuse_entry_param e = {
	    .ino = ino, .attr_timeout = FOREVER, .entry_timeout = FOREVER};

	if (ino)
		stat_fill(ino, &e.attr);
	return e;
}

/* Children of a node that arithmetic knows; 0 where there are none. */
static uint64_t
child_count(fuse_ino_t dir)
{
	switch (node_kind(dir)) {
	case ROOT:
		return 1;
	case TABLE:
		return rows;
	case ROW:
		return families;
	case FAMILY:
		return qualifiers;
	default:
		return 0;
	}
}

static fuse_ino_t
child_node(fuse_ino_t dir, uint64_t i)
{
	enum kind kind = node_kind(dir);

	return NODE(kind + 1,
	    kind == ROOT ? i : node_number(dir) * child_count(dir) + i);
}

static const char *
child_format(fuse_ino_t dir)
{
	static const char *formats[] = {[ROOT] = "t",
	    [TABLE] = "r%07lu",
	    [ROW] = "f%lu",
	    [FAMILY] = "q%03lu"};

	return formats[node_kind(dir)];
}

static fuse_ino_t
child_find(fuse_ino_t dir, const char *name)
{
	uint64_t count = child_count(dir), slot = made_slot(dir, name);
	char again[32];
	uint64_t i;

	if (made[slot].key)
		return NODE(MADE, slot);
	if (!count)
		return 0;
	i = node_kind(dir) == ROOT ? 0 : strtoul(name + 1, NULL, 10);
	snprintf(again, sizeof(again), child_format(dir), i);
	return i < count && !strcmp(name, again) ? child_node(dir, i) : 0;
}

static void
value_fill(fuse_ino_t ino, char value[VALUE_SIZE + 1])
{
	snprintf(value, VALUE_SIZE + 1, "%099lu\n", node_number(ino));
}

static void
null_init(void *user, struct fuse_conn_info *conn)
{
	(void)user;
	conn->want &= ~(FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_AUTO_INVAL_DATA |
			FUSE_CAP_WRITEBACK_CACHE | FUSE_CAP_SPLICE_READ |
			FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
	conn->want |= conn->capable &
		      (FUSE_CAP_READDIRPLUS | FUSE_CAP_EXPLICIT_INVAL_DATA |
			  FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_ASYNC_READ |
			  FUSE_CAP_ASYNC_DIO);
}

static void
null_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e = entry_of(child_find(parent, name));

	fuse_reply_entry(req, &e);
}

static void
null_forget(fuse_req_t req, fuse_ino_t ino, uint64_t count)
{
	(void)count;
	if (node_kind(ino) == CELL)
		pushed[node_number(ino)] = false;
	fuse_reply_none(req);
}

static void
null_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st;

	(void)fi;
	stat_fill(ino, &st);
	fuse_reply_attr(req, &st, FOREVER);
}

static void
null_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set,
    struct fuse_file_info *fi)
{
	if (node_kind(ino) == MADE && (to_set & FUSE_SET_ATTR_SIZE))
		made[node_number(ino)].size = attr->st_size;
	null_getattr(req, ino, fi);
}

static void
null_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	fi->cache_readdir = 1;
	fi->keep_cache = 1;
	fuse_reply_open(req, fi);
}

static void
null_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
    struct fuse_file_info *fi)
{
	uint64_t i = off, count = child_count(ino);
	char *reply = malloc(size), name[32];
	size_t used = 0, need;
	struct fuse_entry_param e;

	(void)fi;
	for (; reply && i < count; i++, used += need) {
		snprintf(name, sizeof(name), child_format(ino), i);
		e = entry_of(child_node(ino, i));
		if (i >= PLUS_NAMES)
			e.ino = 0;
		need = fuse_add_direntry_plus(
		    req, reply + used, size - used, name, &e, i + 1);
		if (need > size - used)
			break;
	}
	fuse_reply_buf(req, reply, used);
	free(reply);
}

/* A cell's bytes go along with its first open, so no READ follows. */
static void
value_push(fuse_ino_t ino)
{
	char value[VALUE_SIZE + 1];
	struct fuse_bufvec v = FUSE_BUFVEC_INIT(VALUE_SIZE);

	if (pushed[node_number(ino)])
		return;
	pushed[node_number(ino)] = true;
	value_fill(ino, value);
	v.buf[0].mem = value;
	fuse_lowlevel_notify_store(session, ino, 0, &v, 0);
}

static void
null_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	if ((fi->flags & O_ACCMODE) == O_RDONLY) {
		if (node_kind(ino) == CELL && !(fi->flags & O_TRUNC))
			value_push(ino);
		fi->keep_cache = 1;
		fi->noflush = 1;
	} else {
		fi->direct_io = 1;
	}
	if (node_kind(ino) == MADE && (fi->flags & O_TRUNC))
		made[node_number(ino)].size = 0;
	fuse_reply_open(req, fi);
}

static void
null_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
    struct fuse_file_info *fi)
{
	char value[VALUE_SIZE + 1];
	size_t n = off < VALUE_SIZE ? VALUE_SIZE - off : 0;

	(void)fi;
	value_fill(ino, value);
	if (node_kind(ino) != CELL)
		n = 0;
	fuse_reply_buf(req, value + off, n < size ? n : size);
}

static fuse_ino_t
made_add(fuse_ino_t parent, const char *name, mode_t mode)
{
	uint64_t slot = made_slot(parent, name);

	made[slot] = (struct made){made_key(parent, name), 0, mode};
	return NODE(MADE, slot);
}

static void
null_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
    struct fuse_file_info *fi)
{
	struct fuse_entry_param e =
	    entry_of(made_add(parent, name, S_IFREG | (mode & 07777)));

	fi->direct_io = 1;
	fuse_reply_create(req, &e, fi);
}

static void
null_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct fuse_entry_param e =
	    entry_of(made_add(parent, name, S_IFDIR | (mode & 07777)));

	fuse_reply_entry(req, &e);
}

static void
null_write(fuse_req_t req, fuse_ino_t ino, const char *bytes, size_t size,
    off_t off, struct fuse_file_info *fi)
{
	struct made *m = &made[node_number(ino) & (MADE_MAX - 1)];

	(void)bytes;
	(void)fi;
	if (node_kind(ino) == MADE && off + size > m->size)
		m->size = off + size;
	fuse_reply_write(req, size);
}

static void
null_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	(void)fi;
	fuse_reply_err(req, 0);
}

static void
null_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	(void)ino;
	(void)name;
	(void)size;
	fuse_reply_err(req, EOPNOTSUPP);
}

static void
null_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	(void)ino;
	(void)size;
	fuse_reply_err(req, EOPNOTSUPP);
}

static const struct fuse_lowlevel_ops ops = {
    .init = null_init,
    .lookup = null_lookup,
    .forget = null_forget,
    .getattr = null_getattr,
    .setattr = null_setattr,
    .opendir = null_opendir,
    .readdirplus = null_readdirplus,
    .open = null_open,
    .read = null_read,
    .create = null_create,
    .mkdir = null_mkdir,
    .write = null_write,
    .flush = null_flush,
    .getxattr = null_getxattr,
    .listxattr = null_listxattr,
};

static int
serve(const char *mount)
{
	char *argv[] = {"null", "-o", "fsname=null,default_permissions"};
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);
	int r = 1;

	session = fuse_session_new(&args, &ops, sizeof(ops), NULL);
	if (!session)
		goto out;
	if (fuse_set_signal_handlers(session) == 0 &&
	    fuse_session_mount(session, mount) == 0) {
		r = fuse_session_loop(session);
		fuse_session_unmount(session);
	}
	fuse_remove_signal_handlers(session);
	fuse_session_destroy(session);
out:
	fuse_opt_free_args(&args);
	return r != 0;
}

int
main(int argc, char **argv)
{
	int r;

	if (argc != 5) {
		fprintf(stderr, "usage: null MOUNT ROWS FAMILIES QUALIFIERS\n");
		return 2;
	}
	rows = strtoul(argv[2], NULL, 10);
	families = strtoul(argv[3], NULL, 10);
	qualifiers = strtoul(argv[4], NULL, 10);
	made = calloc(MADE_MAX, sizeof(*made));
	pushed = calloc(rows * families * qualifiers + 1, sizeof(*pushed));
	r = made && pushed ? serve(argv[1]) : 1;
	free(made);
	free(pushed);
	return r;
}
