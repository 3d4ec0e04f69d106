/* Dot files and dot directories: ordinary files kept beside the cells. */
#include "kinds.h"

#include <errno.h>

#include "../kv/kv_data.h"
#include "../kv/why.h"
#include "kind_stream.h"

int
dot_parse(struct slice name, struct child *out)
{
	if (stream_names(name))
		return why(EPERM, "%.*s: a stream's name, not a file's",
		    (int)name.size, (const char *)name.data);
	return child_set(out, KIND_DOT_FILE, name, 0);
}

int
dot_dir_parse(const struct spot *dir, struct slice name, struct child *out)
{
	(void)dir;
	return child_set(out, KIND_DOT_FILE, name, 0);
}

/* A name outside dot directories may turn out to be one. */
int
dot_find(struct fs *fs, struct spot *spot, struct look *look)
{
	const struct version newest = {VERSION_NEWEST, 0};
	struct info info;
	int r = kv_stat(fs->kv, &spot->place, newest, &info);

	if (r == -ENOENT && spot->kind == KIND_DOT_FILE &&
	    !spot->place.dot_dir.size) {
		struct spot dir = *spot;
		dir.kind = KIND_DOT_DIR;
		dir.place.level = LEVEL_DOT_DIR;
		dir.place.dot_dir = spot->place.dot;
		dir.place.dot = slice_text("");
		r = kv_stat(fs->kv, &dir.place, newest, &info);
		if (r == 0)
			*spot = dir;
	}
	if (r == 0)
		stat_fill(fs, spot, &info, look);
	return r;
}

static int
no_bytes(const struct source *s, uint64_t offset, void *to, size_t size)
{
	(void)s;
	(void)offset;
	(void)to;
	return size ? -EIO : 0;
}

int
dot_make(struct fs *fs, const struct spot *spot, const struct attrs *fresh,
    int64_t *mine)
{
	struct source empty = {.read = no_bytes};
	int r = kv_dot_put(fs->kv, &spot->place, &empty, fresh,
	    MUTATE_ABSENT);

	*mine = r == 0 ? DOT_MINE : 0;
	return r;
}

int
dot_drop(struct fs *fs, const struct spot *spot)
{
	return kv_dot_remove(fs->kv, &spot->place);
}
