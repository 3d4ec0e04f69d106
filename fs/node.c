#include "node.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../kv/kv_change.h"
#include "../kv/kv_data.h"
#include "../kv/why.h"
#include "path.h"
#include "stream.h"

void
reader_release(struct fs *fs, struct reader *r)
{
	kv_value_close(fs->kv, r->value);
	stream_close(fs, r->stream);
	buf_release(&r->text);
	*r = (struct reader){0};
}

int64_t
reader_read(struct fs *fs, struct reader *r, uint64_t offset, void *to,
    size_t size)
{
	if (r->value)
		return kv_value_read(fs->kv, r->value, offset, to, size);
	if (r->stream)
		return stream_read(fs, r->stream, offset, to, size);
	if (offset >= r->text.size)
		return 0;
	if (size > r->text.size - offset)
		size = (size_t)(r->text.size - offset);
	memcpy(to, r->text.data + offset, size);
	return (int64_t)size;
}

uint64_t
reader_size(const struct reader *r)
{
	return r->value ? r->value->info.size : r->text.size;
}

int
node_parse(const struct spot *dir, struct slice component, struct child *out)
{
	*out = (struct child){0};
	size_t most = dir->kind == KIND_VIEW_NAME ? VIEW_BYTES : NAME_BYTES;
	if (component.size > most)
		return why(ENAMETOOLONG, "a name of %zu bytes: at most %zu",
		    component.size, most);
	if (!kinds[dir->kind].parse)
		return -ENOTDIR;

	int r = kinds[dir->kind].parse(dir, component, out);
	if (r < 0)
		child_release(out);
	return r;
}

int
node_find(struct fs *fs, struct spot *spot, struct look *look)
{
	memset(look, 0, sizeof(*look));
	return kinds[spot->kind].find(fs, spot, look);
}

int
node_list(struct fs *fs, const struct spot *dir, struct listing *to)
{
	if (!kinds[dir->kind].list)
		return -ENOTDIR;
	return kinds[dir->kind].list(fs, dir, to);
}

/* The one answer to a change that a kind does not know: it cannot be done so. */
static int
refuse(const struct fs *fs, const struct spot *spot, bool known,
    const char *done)
{
	if (fs->read_only)
		return why(EROFS, "the mount is read-only");
	if (kinds[spot->kind].read_only)
		return why(EROFS, "%s: it is for reading only",
		    kinds[spot->kind].name);
	if (!known)
		return why(EPERM, "%s: it cannot be %s",
		    kinds[spot->kind].name, done);
	return 0;
}

int
node_make(struct fs *fs, const struct spot *spot, const struct attrs *fresh,
    int64_t *mine)
{
	int r = refuse(fs, spot, kinds[spot->kind].make != NULL, "made");

	*mine = 0;
	return r < 0 ? r : kinds[spot->kind].make(fs, spot, fresh, mine);
}

int
node_drop(struct fs *fs, const struct spot *spot)
{
	int r = refuse(fs, spot, kinds[spot->kind].drop != NULL, "removed");

	return r < 0 ? r : kinds[spot->kind].drop(fs, spot);
}

int
node_set(struct fs *fs, const struct spot *spot, const struct attrs *attrs)
{
	int r = refuse(fs, spot, kinds[spot->kind].set != NULL,
	    "given other attributes");

	return r < 0 ? r : kinds[spot->kind].set(fs, spot, attrs);
}

int
node_open(struct fs *fs, const struct spot *spot, struct reader *out)
{
	*out = (struct reader){0};
	if (!kinds[spot->kind].open)
		return kinds[spot->kind].directory ? -EISDIR : -EPERM;
	return kinds[spot->kind].open(fs, spot, out);
}

int
node_limit(struct fs *fs, const struct spot *spot, struct limit *out)
{
	const struct kind_methods *k = &kinds[spot->kind];
	int r = refuse(fs, spot, k->store || k->drafted || k->loads, "written");

	*out = (struct limit){UINT64_MAX, ""};
	return r < 0 || !k->limit ? r : k->limit(fs, spot, out);
}

int
node_check(enum kind kind, const struct image *image)
{
	return kinds[kind].check ? kinds[kind].check(image) : 0;
}

int
node_store(struct fs *fs, const struct spot *spot, struct storing *how)
{
	int r = refuse(fs, spot, kinds[spot->kind].store != NULL, "written");

	return r < 0 ? r : kinds[spot->kind].store(fs, spot, how);
}

int
node_draft(struct fs *fs, const struct spot *spot, struct storing *how,
    struct draft **out)
{
	int r = refuse(fs, spot, kinds[spot->kind].drafted, "written");

	*out = NULL;
	how->source = image_source(how->image, 0, &how->tail);
	how->content.source = &how->source;
	how->content.replaces = how->mine;
	return r < 0 ? r : kv_draft_open(fs->kv, &spot->place, spot->version,
	    &how->content, out);
}

/* What every look shares; then the mount's own owner and mode over it. */
static void
finish(const struct fs *fs, const struct spot *spot, struct look *look)
{
	const struct masquerade *m = &fs->masquerade;
	bool directory = kinds[spot->kind].directory;
	struct stat *st = &look->st;

	st->st_ino = spot_number(spot, fs->key);
	st->st_nlink = 1;
	st->st_blksize = 4096;
	st->st_blocks = (blkcnt_t)((st->st_size + 511) / 512);
	st->st_mode |= directory		 ? S_IFDIR
	    : kinds[spot->kind].link ? S_IFLNK
				     : S_IFREG;
	st->st_atim = st->st_mtim;
	look->hold = look->name_hold = kinds[spot->kind].hold;
	if (spot->kind == KIND_CONTROL_FILE)
		return; /* who may drop tables is not a matter of looks */
	if (m->has_uid)
		st->st_uid = m->uid;
	if (m->has_gid)
		st->st_gid = m->gid;
	if (m->has_umask)
		st->st_mode &= ~m->umask;
	if (kinds[spot->kind].read_only)
		st->st_mode &= ~(mode_t)0222;
}

static struct timespec
from_ms(int64_t ms)
{
	return (struct timespec){
	    .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
}

/* What expires is not believed longer than a second, or than it lives. */
static double
until(int64_t expires, double hold)
{
	struct timespec now;

	if (expires == NEVER || hold == 0)
		return hold;
	clock_gettime(CLOCK_REALTIME, &now);
	double left = (double)expires / 1e3 - (double)now.tv_sec -
	    (double)now.tv_nsec / 1e9;
	return left < 0 ? 0 : left > 1 ? 1 : left;
}

void
stat_fill(const struct fs *fs, const struct spot *spot,
    const struct info *info, struct look *look)
{
	struct stat *st = &look->st;

	memset(look, 0, sizeof(*look));
	st->st_mode = info->attrs.mode & 07777;
	st->st_uid = info->attrs.uid;
	st->st_gid = info->attrs.gid;
	st->st_size = (off_t)info->size;
	st->st_mtim = info->attrs.mtime;
	st->st_ctim = info->attrs.mtime;
	if (kinds[spot->kind].level == LEVEL_COLUMN)
		st->st_ctim = from_ms(info->timestamp);
	finish(fs, spot, look);
	look->hold = look->name_hold = until(info->expires, look->hold);
}

void
stat_plain(const struct fs *fs, const struct spot *spot, mode_t mode,
    uint64_t size, struct look *look)
{
	struct stat *st = &look->st;

	memset(look, 0, sizeof(*look));
	st->st_mode = mode;
	st->st_uid = geteuid();
	st->st_gid = getegid();
	st->st_size = (off_t)size;
	st->st_mtim = from_ms(fs->started);
	st->st_ctim = st->st_mtim;
	finish(fs, spot, look);
}
