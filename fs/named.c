#include "named.h"

#include <errno.h>

#include "../kv/kv_data.h"
#include "../kv/why.h"
#include "notify.h"
#include "refusal.h"
#include "times.h"

void
named_release(struct named *n)
{
	child_release(&n->child);
	spot_release(&n->spot);
}

int
named_resolve(struct fs *fs, struct inode *dir, struct slice name,
    struct named *out)
{
	struct spot spot;

	*out = (struct named){0};
	int r = inode_spot(fs, dir, &spot);
	if (r < 0)
		return r;
	r = node_parse(&spot, name, &out->child);
	out->means = r == 0;
	if (r == 0)
		r = spot_child(&spot, &out->child, &out->spot);
	spot_release(&spot);
	if (r == 0) {
		r = node_find(fs, &out->spot, &out->look);
		out->child.kind = out->spot.kind;
		out->there = r == 0;
		if (r == -ENOENT)
			r = 0;
	}
	if (r < 0)
		named_release(out);
	return r;
}

void
named_as_dot_dir(struct named *n)
{
	struct place *place = &n->spot.place;

	n->child.kind = n->spot.kind = KIND_DOT_DIR;
	place->level = LEVEL_DOT_DIR;
	place->dot_dir = place->dot;
	place->dot = slice_text("");
}

void
named_lose(struct fs *fs, struct inode *dir, const struct named *n)
{
	struct inode *inode = inode_known(fs, dir, &n->child);

	if (!inode)
		return;
	inode_gone(fs, inode, &n->look.st);
	inode_put(fs, inode);
}

void
named_changed(struct fs *fs, struct inode *dir, const struct spot *child)
{
	times_touch(fs, dir);
	if (child->kind == KIND_VERSION)
		notify_cell(fs, child);
	if (child->kind == KIND_SCHEMA_FILE)
		notify_name(fs, &fs->nodes->root, child->place.table);
}

void
named_keep_parts(struct fs *fs, struct inode *dir)
{
	const struct attrs none = {0};
	struct spot spot = {0};
	struct look look;
	int r = 0;

	if (dir->kind == KIND_VERSIONS)
		dir = dir->up;
	for (; r == 0 && (dir->kind == KIND_ROW_PART ||
	    dir->kind == KIND_COLUMN_PART); dir = dir->up) {
		r = inode_spot(fs, dir, &spot);
		if (r == 0)
			r = node_find(fs, &spot, &look);
		if (r == -ENOENT)
			r = kv_dir_make(fs->kv, &spot.place, &none);
		spot_release(&spot);
	}
	if (r < 0)
		refusal_note(fs, NULL, dir, "an empty directory is gone", r);
}
