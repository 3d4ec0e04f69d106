#include "ops_own.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "dirbuf.h"
#include "notify.h"
#include "path.h"
#include "read_job.h"
#include "refusal.h"

/* What is asked for and answered so in the course of things. */
static bool
is_everyday(int r)
{
	return r == -ENOENT || r == -EEXIST || r == -ENODATA ||
	    r == -ENOTEMPTY || r == -EOPNOTSUPP || r == -ERANGE ||
	    r == -ESTALE;
}

void
ops_refuse(fuse_req_t req, fuse_ino_t ino, const char *name, int r)
{
	struct fs *fs = fs_of(req);
	struct caller caller = caller_of(req);

	if (why_given(r) || !is_everyday(r))
		refusal_tell(
		    fs, &caller, inode_of(fs, ino), slice_text(name), r);
	fuse_reply_err(req, -r);
}

static void
answer(fuse_req_t req, fuse_ino_t ino, const char *name, int r)
{
	if (r < 0)
		ops_refuse(req, ino, name, r);
	else
		fuse_reply_err(req, 0);
}

static struct fuse_entry_param
entry_of(const struct inode *inode, const struct look *look)
{
	return (struct fuse_entry_param){
		.ino = (fuse_ino_t)inode,
		.generation = inode->generation,
		.attr = look->st,
		.attr_timeout = look->hold,
		.entry_timeout = look->name_hold,
	};
}

/* Answers with an inode; the kernel has looked it up. Lets go of it. */
static void
answer_entry(fuse_req_t req, struct inode *inode, const struct look *look)
{
	struct fs *fs = fs_of(req);
	struct fuse_entry_param e = entry_of(inode, look);
	inode_looked(fs, inode);
	if (fuse_reply_entry(req, &e) < 0)
		inode_forget(fs, inode, 1);
	inode_put(fs, inode);
}

/* --- names ----------------------------------------------------------------- */

/* How long the kernel may believe that a name is not there: what can come by
 * itself or by another name is asked for again. */
static double
absent_hold(fuse_req_t req, struct inode *dir, const char *name)
{
	struct caller caller = caller_of(req);
	struct look look;

	if (name[0] == '.' || strchr(name, '@') ||
	    tree_look(fs_of(req), dir, &caller, &look) < 0)
		return 0;
	return look.hold;
}

static void
op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = ops_begin(req);
	struct inode *dir = inode_of(fs, parent), *inode;
	struct caller caller = caller_of(req);
	struct look look;
	int r = tree_lookup(fs, dir, slice_text(name), &caller, &inode,
	    &look);

	if (r == 0) {
		answer_entry(req, inode, &look);
	} else if (r == -ENOENT && dir->kind != KIND_SCHEMA_DIR) {
		struct fuse_entry_param absent = {
			.entry_timeout = absent_hold(req, dir, name)};
		fuse_reply_entry(req, &absent);
	} else if (r == -ENOENT) {
		fuse_reply_err(req, ENOENT);
	} else {
		ops_refuse(req, parent, name, r);
	}
}

static void
op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t lookups)
{
	struct fs *fs = fs_of(req);

	inode_forget(fs, inode_of(fs, ino), lookups);
	fuse_reply_none(req);
}

static void
op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	struct fs *fs = fs_of(req);

	for (size_t i = 0; i < count; i++)
		inode_forget(fs, inode_of(fs, forgets[i].ino),
		    forgets[i].nlookup);
	fuse_reply_none(req);
}

static void
op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct fs *fs = ops_begin(req);
	struct caller caller = caller_of(req);
	struct inode *inode;
	struct look look;
	int r = tree_mkdir(fs, inode_of(fs, parent), slice_text(name), mode,
	    &caller, &inode, &look);

	if (r < 0)
		ops_refuse(req, parent, name, r);
	else
		answer_entry(req, inode, &look);
}

static void
op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
    dev_t device)
{
	struct fs *fs = ops_begin(req);
	struct caller caller = caller_of(req);
	struct made made = {0};
	int r;

	(void)device;
	if (!S_ISREG(mode))
		r = why(EPERM, "devices, fifos and sockets do not exist "
		    "here");
	else
		r = tree_create(fs, inode_of(fs, parent), slice_text(name),
		    mode, O_EXCL, &caller, &made);
	if (r < 0)
		ops_refuse(req, parent, name, r);
	else
		answer_entry(req, made.inode, &made.look);
}

static void
op_symlink(fuse_req_t req, const char *target, fuse_ino_t parent,
    const char *name)
{
	(void)target;
	(void)parent;
	ops_begin(req);
	ops_refuse(req, parent, name,
	    why(EPERM, "symbolic links do not exist here"));
}

static void
op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
	(void)ino;
	(void)parent;
	ops_begin(req);
	ops_refuse(req, parent, name,
	    why(EPERM, "hard links do not exist here"));
}

static void
op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = ops_begin(req);
	struct caller caller = caller_of(req);

	answer(req, parent, name,
	    tree_remove(fs, inode_of(fs, parent), slice_text(name), false,
		&caller));
}

static void
op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = ops_begin(req);
	struct caller caller = caller_of(req);

	answer(req, parent, name,
	    tree_remove(fs, inode_of(fs, parent), slice_text(name), true,
		&caller));
}

static void
op_rename(fuse_req_t req, fuse_ino_t parent, const char *name,
    fuse_ino_t new_parent, const char *new_name, unsigned flags)
{
	struct fs *fs = ops_begin(req);
	struct caller caller = caller_of(req);
	struct renaming how = {
		.from_dir = inode_of(fs, parent), .from = slice_text(name),
		.to_dir = inode_of(fs, new_parent),
		.to = slice_text(new_name),
		.no_replace = flags & RENAME_NOREPLACE,
		.exchange = flags & RENAME_EXCHANGE,
	};

	if (flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE))
		ops_refuse(req, parent, name,
		    why(EINVAL, "nothing takes a removed name's place"));
	else
		answer(req, parent, name, tree_rename(fs, &how, &caller));
}

/* --- attributes -------------------------------------------------------------- */

static void
answer_look(fuse_req_t req, fuse_ino_t ino)
{
	struct fs *fs = fs_of(req);
	struct caller caller = caller_of(req);
	struct look look;
	int r = tree_look(fs, inode_of(fs, ino), &caller, &look);

	if (r < 0)
		ops_refuse(req, ino, "", r);
	else
		fuse_reply_attr(req, &look.st, look.hold);
}

static void
op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)fi;
	ops_begin(req);
	answer_look(req, ino);
}

static struct attrs
attrs_of(const struct stat *st, int set)
{
	struct attrs a = {.mode = st->st_mode & 07777, .uid = st->st_uid,
		.gid = st->st_gid, .mtime = st->st_mtim};

	if (set & FUSE_SET_ATTR_MODE)
		a.set |= ATTR_MODE;
	if (set & FUSE_SET_ATTR_UID)
		a.set |= ATTR_UID;
	if (set & FUSE_SET_ATTR_GID)
		a.set |= ATTR_GID;
	if (set & (FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_MTIME_NOW))
		a.set |= ATTR_MTIME;
	if (set & FUSE_SET_ATTR_MTIME_NOW)
		clock_gettime(CLOCK_REALTIME, &a.mtime);
	return a;
}

static void
op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *st, int set,
    struct fuse_file_info *fi)
{
	struct fs *fs = ops_begin(req);
	struct inode *inode = inode_of(fs, ino);
	struct caller caller = caller_of(req);
	struct attrs attrs = attrs_of(st, set);
	int r = 0;

	if ((set & FUSE_SET_ATTR_SIZE) && fi)
		r = handle_resize(fs, (struct handle *)fi->fh,
		    (uint64_t)st->st_size, false);
	else if (set & FUSE_SET_ATTR_SIZE)
		r = handle_truncate_name(fs, inode, (uint64_t)st->st_size);
	if (r == 0 && attrs.set)
		r = tree_set(fs, inode, &attrs, &caller);
	if (r < 0)
		ops_refuse(req, ino, "", r);
	else
		answer_look(req, ino);
}

static void
op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct fs *fs = ops_begin(req);
	struct space space;
	int r = kv_space(fs->kv, &space);

	if (r < 0) {
		ops_refuse(req, ino, "", r);
		return;
	}
	struct statvfs v = {
		.f_bsize = 4096, .f_frsize = 4096,
		.f_blocks = space.total / 4096,
		.f_bfree = space.available / 4096,
		.f_bavail = space.available / 4096,
		.f_namemax = NAME_BYTES,
	};
	fuse_reply_statfs(req, &v);
}

/* --- open files ---------------------------------------------------------------- */

static struct handle *
handle_of(const struct fuse_file_info *fi)
{
	return (struct handle *)fi->fh;
}

static void
tell(struct fuse_file_info *fi, struct handle *h)
{
	fi->fh = (uint64_t)h;
	fi->direct_io = handle_bypasses(h);
	fi->keep_cache = !fi->direct_io;
	fi->noflush = (fi->flags & O_ACCMODE) == O_RDONLY &&
	    !(fi->flags & O_TRUNC);
}

static void
op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	read_job_link(ops_begin(req), req, inode_of(fs_of(req), ino));
}

static void
op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
    struct fuse_file_info *fi)
{
	struct fs *fs = ops_begin(req);
	struct caller caller = caller_of(req);
	struct handle *h = NULL;
	struct made made;
	int r = tree_create(fs, inode_of(fs, parent), slice_text(name), mode,
	    fi->flags, &caller, &made);

	if (r == 0)
		r = handle_open(fs, made.inode, fi->flags, &caller,
		    &made.fresh, made.mine, &h);
	if (r < 0) {
		if (made.mine)
			handle_unmake(fs, made.inode, made.mine);
		inode_put(fs, made.inode);
		ops_refuse(req, parent, name, r);
		return;
	}
	struct fuse_entry_param e = entry_of(made.inode, &made.look);
	if (!made.mine)
		e.attr_timeout = 0; /* its maker sees another size than all */
	tell(fi, h);
	inode_looked(fs, made.inode);
	if (fuse_reply_create(req, &e, fi) < 0) {
		handle_release(fs, h);
		inode_forget(fs, made.inode, 1);
	}
	inode_put(fs, made.inode);
}

static void
op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = ops_begin(req);
	struct caller caller = caller_of(req);
	struct attrs fresh = {.set = ATTR_MODE | ATTR_UID | ATTR_GID,
		.mode = 0644, .uid = caller.uid, .gid = caller.gid};
	struct handle *h;
	int r = handle_open(fs, inode_of(fs, ino), fi->flags, &caller, &fresh,
	    0, &h);

	if (r < 0) {
		ops_refuse(req, ino, "", r);
		return;
	}
	tell(fi, h);
	if (fuse_reply_open(req, fi) < 0)
		handle_release(fs, h);
}

static void
op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
    struct fuse_file_info *fi)
{
	struct read_job how = {.fs = ops_begin(req), .req = req, .ino = ino,
		.handle = handle_of(fi), .offset = (uint64_t)offset,
		.size = size, .mapped = fi->lock_owner == 0};

	read_job_serve(&how);
}

/* Whether a signal came to who waits for the answer. */
static bool
is_interrupted(void *req)
{
	return fuse_req_interrupted(req);
}

static void
op_write(fuse_req_t req, fuse_ino_t ino, const char *bytes, size_t size,
    off_t offset, struct fuse_file_info *fi)
{
	struct fs *fs = ops_begin(req);

	kv_ask(is_interrupted, req);
	int r = handle_write(fs, handle_of(fi), (uint64_t)offset, bytes, size,
	    fi->writepage);
	kv_ask(NULL, NULL);
	if (r < 0)
		ops_refuse(req, ino, "", r);
	else
		fuse_reply_write(req, size);
}

static void
answer_done(void *req)
{
	fuse_reply_err(req, 0);
}

/* Answers when no page of what was there before is left in the kernel: who
 * maps it sees what has been stored. */
static void
answer_stored(fuse_req_t req, fuse_ino_t ino, int r)
{
	if (r < 0)
		ops_refuse(req, ino, "", r);
	else
		notify_after(fs_of(req), answer_done, req);
}

static void
op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = ops_begin(req);
	bool told = handle_is_refused(handle_of(fi));
	int r = handle_flush(fs, handle_of(fi), fuse_req_ctx(req)->pid);

	if (r < 0 && told) /* when it was refused */
		fuse_reply_err(req, -r);
	else
		answer_stored(req, ino, r);
}

static void
op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = ops_begin(req);

	(void)ino;
	handle_release(fs, handle_of(fi));
	fuse_reply_err(req, 0);
}

static void
op_fsync(fuse_req_t req, fuse_ino_t ino, int data_only,
    struct fuse_file_info *fi)
{
	struct fs *fs = ops_begin(req);

	(void)data_only;
	answer_stored(req, ino, handle_sync(fs, handle_of(fi)));
}

static void
op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset,
    off_t size, struct fuse_file_info *fi)
{
	struct fs *fs = ops_begin(req);

	answer(req, ino, "",
	    mode ? why(EOPNOTSUPP, "only plain growth is known here")
		 : handle_resize(fs, handle_of(fi),
		       (uint64_t)offset + (uint64_t)size, true));
}

static void
op_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned command, void *arg,
    struct fuse_file_info *fi, unsigned flags, const void *in, size_t in_size,
    size_t out_size)
{
	(void)ino, (void)command, (void)arg, (void)fi;
	(void)flags, (void)in, (void)in_size, (void)out_size;
	fuse_reply_err(req, ENOTTY);
}

/* --- directories ------------------------------------------------------------------ */

static void
op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = ops_begin(req);
	struct dirbuf *d;
	int r = dirbuf_open(fs, inode_of(fs, ino), &d);

	if (r < 0) {
		ops_refuse(req, ino, "", r);
		return;
	}
	fi->fh = (uint64_t)d;
	fi->cache_readdir = fi->keep_cache = dirbuf_is_kept(d);
	if (fuse_reply_open(req, fi) < 0)
		dirbuf_close(fs, d);
}

static void
read_directory(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
    struct dirbuf *d, bool plus)
{
	struct fs *fs = ops_begin(req);
	struct dirbuf_request request = {.req = req,
		.caller = caller_of(req), .size = size,
		.offset = (uint64_t)offset, .plus = plus};
	struct buf reply = {0};
	int r = dirbuf_read(fs, d, &request, &reply);

	if (r < 0 && !reply.size)
		ops_refuse(req, ino, "", r);
	else
		fuse_reply_buf(req, (char *)reply.data, reply.size);
	buf_release(&reply);
}

static void
op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
    struct fuse_file_info *fi)
{
	read_directory(
	    req, ino, size, offset, (struct dirbuf *)fi->fh, false);
}

static void
op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
    struct fuse_file_info *fi)
{
	read_directory(
	    req, ino, size, offset, (struct dirbuf *)fi->fh, true);
}

static void
op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	dirbuf_close(fs_of(req), (struct dirbuf *)fi->fh);
	fuse_reply_err(req, 0);
}

static void
op_fsyncdir(fuse_req_t req, fuse_ino_t ino, int data_only,
    struct fuse_file_info *fi)
{
	struct fs *fs = ops_begin(req);

	(void)data_only;
	(void)fi;
	answer(req, ino, "", tree_sync(fs));
}

static void
op_init(void *userdata, struct fuse_conn_info *conn)
{
	(void)userdata;
	conn->want &= ~(unsigned)(FUSE_CAP_READDIRPLUS_AUTO |
	    FUSE_CAP_AUTO_INVAL_DATA | FUSE_CAP_WRITEBACK_CACHE |
	    FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE |
	    FUSE_CAP_SPLICE_MOVE);
	conn->want |= conn->capable &
	    (FUSE_CAP_READDIRPLUS | FUSE_CAP_EXPLICIT_INVAL_DATA |
		FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_ASYNC_READ |
		FUSE_CAP_ASYNC_DIO);
}

const struct fuse_lowlevel_ops ops = {
	.init = op_init,
	.lookup = op_lookup,
	.forget = op_forget,
	.forget_multi = op_forget_multi,
	.getattr = op_getattr,
	.setattr = op_setattr,
	.mknod = op_mknod,
	.mkdir = op_mkdir,
	.unlink = op_unlink,
	.rmdir = op_rmdir,
	.symlink = op_symlink,
	.rename = op_rename,
	.link = op_link,
	.create = op_create,
	.open = op_open,
	.readlink = op_readlink,
	.read = op_read,
	.write = op_write,
	.flush = op_flush,
	.release = op_release,
	.fsync = op_fsync,
	.fallocate = op_fallocate,
	.ioctl = op_ioctl,
	.opendir = op_opendir,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
	.releasedir = op_releasedir,
	.fsyncdir = op_fsyncdir,
	.statfs = op_statfs,
	.getxattr = ops_getxattr,
	.setxattr = ops_setxattr,
	.listxattr = ops_listxattr,
	.removexattr = ops_removexattr,
};

const char *const ops_requests[TRAFFIC_KINDS] = {
	[0] = "requests_other",
	[FUSE_LOOKUP] = "requests_lookup",
	[FUSE_FORGET] = "requests_forget",
	[FUSE_BATCH_FORGET] = "requests_batch_forget",
	[FUSE_GETATTR] = "requests_getattr",
	[FUSE_SETATTR] = "requests_setattr",
	[FUSE_MKNOD] = "requests_mknod",
	[FUSE_MKDIR] = "requests_mkdir",
	[FUSE_UNLINK] = "requests_unlink",
	[FUSE_RMDIR] = "requests_rmdir",
	[FUSE_RENAME] = "requests_rename",
	[FUSE_CREATE] = "requests_create",
	[FUSE_OPEN] = "requests_open",
	[FUSE_READ] = "requests_read",
	[FUSE_WRITE] = "requests_write",
	[FUSE_FLUSH] = "requests_flush",
	[FUSE_FSYNC] = "requests_fsync",
	[FUSE_RELEASE] = "requests_release",
	[FUSE_FALLOCATE] = "requests_fallocate",
	[FUSE_LSEEK] = "requests_lseek",
	[FUSE_IOCTL] = "requests_ioctl",
	[FUSE_OPENDIR] = "requests_opendir",
	[FUSE_READDIR] = "requests_readdir",
	[FUSE_READDIRPLUS] = "requests_readdirplus",
	[FUSE_RELEASEDIR] = "requests_releasedir",
	[FUSE_FSYNCDIR] = "requests_fsyncdir",
	[FUSE_STATFS] = "requests_statfs",
	[FUSE_GETXATTR] = "requests_getxattr",
	[FUSE_LISTXATTR] = "requests_listxattr",
	[FUSE_SETXATTR] = "requests_setxattr",
};
