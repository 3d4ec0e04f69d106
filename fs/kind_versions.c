/* q@/: the live versions of a cell, newest first, each under its timestamp. */
#include "kinds.h"

#include <errno.h>
#include <stdio.h>

#include "../kv/kv_data.h"
#include "../kv/text.h"
#include "path.h"

int
versions_parse(const struct spot *dir, struct slice name, struct child *out)
{
	int64_t timestamp;
	int r = path_timestamp(name, &timestamp);

	(void)dir;
	if (r < 0)
		return text_refuse(name,
		    "here are versions, each under its timestamp");
	return child_set(out, KIND_VERSION, slice_text(""), timestamp);
}

int
versions_find(struct fs *fs, struct spot *spot, struct look *look)
{
	struct info info;
	int r = kv_stat(fs->kv, &spot->place, spot->version, &info);

	if (r < 0)
		return r;
	stat_fill(fs, spot, &info, look);
	look->st.st_size = 0;
	look->st.st_blocks = 0;
	look->st.st_mode |= (look->st.st_mode & 0444) >> 2; /* who may read may enter */
	return 0;
}

struct walk {
	struct fs *fs;
	const struct spot *dir;
	struct listing *to;
};

static int
walk_version(void *context, const struct cell *cell)
{
	struct walk *w = context;
	struct child child = {
		.kind = KIND_VERSION, .number = cell->timestamp};
	struct info info = {.attrs = cell->attrs,
		.timestamp = cell->timestamp, .expires = cell->expires,
		.size = cell->size};
	struct spot spot;
	struct look look;
	char name[24];

	int r = spot_child(w->dir, &child, &spot);
	if (r < 0)
		return r;
	stat_fill(w->fs, &spot, &info, &look);
	int size = snprintf(name, sizeof(name), "%lld",
	    (long long)cell->timestamp);
	r = w->to->take(w->to, &child, slice_of(name, (size_t)size), &look);
	spot_release(&spot);
	if (r != LIST_MORE)
		return r;
	w->to->mark->started = true;
	w->to->mark->level = LEVEL_COLUMN;
	buf_clear(&w->to->mark->name);
	buf_be64(&w->to->mark->name, (uint64_t)cell->timestamp);
	return buf_status(&w->to->mark->name);
}

int
versions_list(struct fs *fs, const struct spot *dir, struct listing *to)
{
	struct walk w = {fs, dir, to};
	int64_t before = to->mark->started
	    ? (int64_t)be64(to->mark->name.data) : TS_LATEST;

	return kv_versions(fs->kv, &dir->place, before, walk_version, &w);
}
