/* Listings of what the store holds: keys become names, long names become the
 * directories that continue them, listed once at their prefix's place. */
#include "kinds.h"

#include <errno.h>

#include "../kv/kv_data.h"

struct walk {
	struct fs *fs;
	const struct spot *dir;
	struct listing *to;
	enum name_of of;
	struct slice prefix;  /* of the directory */
	struct buf last_part; /* listed already; empty: none */
	struct buf name;
};

/* The kind of entry that a level is; keys of parts are told apart later. */
static enum kind
kind_of(enum level level)
{
	switch (level) {
	case LEVEL_TABLE:
		return KIND_TABLE;
	case LEVEL_ROW:
		return KIND_ROW;
	case LEVEL_ROW_PART:
		return KIND_ROW_PART;
	case LEVEL_FAMILY:
		return KIND_FAMILY;
	case LEVEL_COLUMN:
		return KIND_CELL;
	case LEVEL_COLUMN_PART:
		return KIND_COLUMN_PART;
	case LEVEL_SCHEMA_FILE:
		return KIND_SCHEMA_FILE;
	case LEVEL_DOT_DIR:
		return KIND_DOT_DIR;
	default:
		return KIND_DOT_FILE;
	}
}

/* Hands one name on. info NULL: the child is asked. */
static int
give(struct walk *w, enum kind kind, struct slice key, struct slice name,
    const struct info *info)
{
	struct child child = {0};
	struct spot spot = {0};
	struct look look;
	int r = child_set(&child, kind, key, 0);

	if (r == 0)
		r = spot_child(w->dir, &child, &spot);
	if (r == 0 && info)
		stat_fill(w->fs, &spot, info, &look);
	else if (r == 0)
		r = node_find(w->fs, &spot, &look);
	if (r == 0)
		r = w->to->take(w->to, &child, name, &look);
	else if (r == -ENOENT)
		r = LIST_MORE; /* gone since it was seen */
	spot_release(&spot);
	child_release(&child);
	return r;
}

static int
mark_set(struct mark *mark, const struct entry *e)
{
	mark->started = true;
	mark->level = e->level;
	return buf_set(&mark->name, e->name);
}

/* A key that continues below: its part, once; what else begins so is skipped
 * (but not shorter names that end within one component, so one more byte). */
static int
give_part(struct walk *w, const struct entry *e, size_t part_size,
    struct buf *skip)
{
	bool row = w->of == NAME_OF_ROW;
	struct slice part = slice_head(e->name, part_size);
	int r = LIST_MORE;

	if (!slice_equal(part, buf_slice(&w->last_part)) ||
	    !w->last_part.size) {
		r = give(w, row ? KIND_ROW_PART : KIND_COLUMN_PART, part,
		    buf_slice(&w->name), NULL);
		if (r != LIST_MORE)
			return r;
		r = buf_set(&w->last_part, part);
	}
	if (r < 0 || e->name.size <= part_size)
		return r;
	r = buf_set(skip, slice_head(e->name, part_size + 1));
	return r < 0 ? r : LIST_SKIP;
}

static bool
is_part(const struct entry *e)
{
	return e->level == LEVEL_ROW_PART || e->level == LEVEL_COLUMN_PART;
}

/* Which name an entry appears under here; a part covers the first part_size
 * bytes of the key. 1: its name is not in this directory. */
static int
entry_name(struct walk *w, const struct entry *e, enum name_form *form,
    size_t *part_size)
{
	int r;

	*part_size = 0;
	*form = FORM_PART;
	if (is_part(e))
		r = path_write_part(w->of, w->prefix, e->name, &w->name,
		    part_size);
	else if (w->prefix.size && !path_inside(w->of, w->prefix, e->name))
		r = 1;
	else
		r = path_write(w->of, w->prefix, e->name, &w->name, form,
		    part_size);
	*part_size += w->prefix.size;
	return r;
}

static int
walk_entry(void *context, const struct entry *e, struct buf *skip)
{
	struct walk *w = context;
	enum name_form form;
	size_t part_size;
	int r;

	if (e->level == LEVEL_DOT || e->level == LEVEL_DOT_DIR ||
	    e->level == LEVEL_TABLE || e->level == LEVEL_SCHEMA_FILE) {
		r = give(w, kind_of(e->level), e->name, e->name,
		    e->level == LEVEL_SCHEMA_FILE ? NULL : &e->info);
	} else {
		r = entry_name(w, e, &form, &part_size);
		if (r == 0 && form == FORM_PART)
			r = give_part(w, e, part_size, skip);
		else if (r == 0)
			r = give(w, kind_of(e->level), e->name,
			    buf_slice(&w->name), &e->info);
		else if (r == 1)
			r = LIST_MORE;
	}
	if (r != LIST_MORE && r != LIST_SKIP)
		return r;

	int marked = mark_set(w->to->mark, e);
	return marked < 0 ? marked : r;
}

/* Where a listing that goes on stands, the part it last listed is known by
 * the key it stopped at. */
static int
recall_part(struct walk *w, const struct entry *after)
{
	enum name_form form;
	size_t part_size;
	bool named = after->level == LEVEL_ROW ||
	    after->level == LEVEL_COLUMN || is_part(after);

	if (!named)
		return 0;
	int r = entry_name(w, after, &form, &part_size);
	if (r == 0 && form == FORM_PART)
		r = buf_set(&w->last_part,
		    slice_head(after->name, part_size));
	return r < 0 ? r : 0;
}

static int
walk_list(struct fs *fs, const struct spot *dir, struct listing *to,
    enum name_of of, struct slice prefix)
{
	struct walk w = {
		.fs = fs, .dir = dir, .to = to, .of = of, .prefix = prefix};
	struct buf name = {0};
	struct entry after = {.level = to->mark->level};
	int r = 0;

	if (to->mark->started) {
		r = buf_set(&name, buf_slice(&to->mark->name));
		after.name = buf_slice(&name);
		if (r == 0)
			r = recall_part(&w, &after);
	}
	if (r == 0)
		r = kv_list(fs->kv, &dir->place,
		    to->mark->started ? &after : NULL, walk_entry, &w);
	buf_release(&name);
	buf_release(&w.last_part);
	buf_release(&w.name);
	return r;
}

int
part_holds(enum name_of of, struct slice prefix, const struct entry *e,
    bool *holds)
{
	struct walk w = {.of = of, .prefix = prefix};
	enum name_form form;
	size_t part_size;
	bool dot = e->level == LEVEL_DOT || e->level == LEVEL_DOT_DIR;
	int r = dot ? 0 : entry_name(&w, e, &form, &part_size);

	*holds = r == 0;
	buf_release(&w.name);
	return r < 0 ? r : 0;
}

int
rows_list(struct fs *fs, const struct spot *dir, struct listing *to)
{
	return walk_list(fs, dir, to, NAME_OF_ROW, dir->place.row);
}

int
row_list(struct fs *fs, const struct spot *dir, struct listing *to)
{
	return walk_list(fs, dir, to, NAME_OF_FAMILY, slice_text(""));
}

int
columns_list(struct fs *fs, const struct spot *dir, struct listing *to)
{
	return walk_list(fs, dir, to, NAME_OF_QUALIFIER,
	    dir->place.qualifier);
}

int
dots_list(struct fs *fs, const struct spot *dir, struct listing *to)
{
	return walk_list(fs, dir, to, NAME_OF_QUALIFIER, slice_text(""));
}

/* .schema comes first, so that what copies the tree in the order it is
 * listed carries the schema before the cells. */
int
root_list(struct fs *fs, const struct spot *dir, struct listing *to)
{
	if (!to->mark->started) {
		struct walk w = {.fs = fs, .dir = dir, .to = to};
		struct entry schema = {.level = LEVEL_SCHEMA};
		int r = give(&w, KIND_SCHEMA_DIR, slice_text(""),
		    slice_text(".schema"), NULL);
		if (r != LIST_MORE)
			return r < 0 ? r : 0;
		r = mark_set(to->mark, &schema);
		if (r < 0)
			return r;
	}

	/* Behind .schema the tables begin. */
	to->mark->started = to->mark->level != LEVEL_SCHEMA;
	int r = dots_list(fs, dir, to);
	to->mark->started = true;
	return r;
}
