/* Listings of what the store holds: keys become names, long names become the
 * directories that continue them, listed once at their prefix's place. */
#include "kind_list.h"

#include <errno.h>

#include "../kv/kv_data.h"
#include "kind_view.h"

struct walk {
	struct fs *fs;
	const struct spot *dir;
	struct listing *to;
	enum name_of of;
	struct slice prefix; /* of the directory */
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
	bool view = w->dir->view.size != 0;
	int r = child_set(&child, view ? view_kind(kind) : kind, key, 0);

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

static bool
is_part(const struct entry *e)
{
	return e->level == LEVEL_ROW_PART || e->level == LEVEL_COLUMN_PART;
}

static bool
is_key(enum level level)
{
	return level == LEVEL_ROW || level == LEVEL_ROW_PART ||
	    level == LEVEL_FAMILY || level == LEVEL_COLUMN ||
	    level == LEVEL_COLUMN_PART;
}

/* How many bytes behind the directory's prefix an entry has in common with
 * the one before it. */
static size_t
alike(const struct walk *w, const struct entry *e)
{
	const struct mark *mark = w->to->mark;
	struct slice before = buf_slice(&mark->name);
	size_t at = w->prefix.size;

	if (!mark->started || !is_key(mark->level) || !is_key(e->level))
		return 0;
	while (at < before.size && at < e->name.size &&
	    before.data[at] == e->name.data[at])
		at++;
	return at - w->prefix.size;
}

static bool
part_listed(const struct mark *mark, size_t size, size_t same)
{
	return size <= same && (mark->parts[size / 64] >> size % 64 & 1);
}

/* Moves the mark behind an entry, whose part (0: none) was listed. Keys of a
 * part stand on both sides of keys that go on in longer ones, so each part is
 * remembered while entries begin like it. */
static int
mark_set(struct mark *mark, const struct entry *e, size_t same, size_t part)
{
	for (size_t n = same + 1; n <= NAME_BYTES; n++)
		mark->parts[n / 64] &= ~(UINT64_C(1) << n % 64);
	if (part)
		mark->parts[part / 64] |= UINT64_C(1) << part % 64;
	mark->started = true;
	mark->level = e->level;
	return buf_set(&mark->name, e->name);
}

/* A key that continues below: its part, unless it was listed. What is in
 * there for certain is skipped. */
static int
give_part(struct walk *w, const struct entry *e, size_t part, bool listed,
    struct buf *skip)
{
	bool row = w->of == NAME_OF_ROW;
	size_t prefix = w->prefix.size;
	int r = LIST_MORE;

	if (!listed)
		r = give(w, row ? KIND_ROW_PART : KIND_COLUMN_PART,
		    slice_head(e->name, prefix + part), buf_slice(&w->name),
		    NULL);
	if (r != LIST_MORE || e->name.size <= prefix + part)
		return r;
	size_t shared = path_shared(w->of, w->prefix, e->name);
	if (!shared)
		return LIST_MORE;
	r = buf_set(skip, slice_head(e->name, prefix + shared));
	return r < 0 ? r : LIST_SKIP;
}

/* Which name an entry appears under here; a part covers the first part_size
 * bytes of the key behind the prefix. 1: its name is not in this directory. */
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
	return r;
}

/* An entry whose name is made from a key. *part: the part it is in, or 0. */
static int
walk_key(struct walk *w, const struct entry *e, size_t same, size_t *part,
    struct buf *skip)
{
	enum name_form form;
	int r = entry_name(w, e, &form, part);

	if (r == 1)
		return LIST_MORE;
	if (r < 0)
		return r;
	if (form == FORM_PART)
		return give_part(w, e, *part,
		    part_listed(w->to->mark, *part, same), skip);
	return give(
	    w, kind_of(e->level), e->name, buf_slice(&w->name), &e->info);
}

static int
walk_entry(void *context, const struct entry *e, struct buf *skip)
{
	struct walk *w = context;
	size_t same = alike(w, e), part = 0;
	int r;

	if (is_key(e->level))
		r = walk_key(w, e, same, &part, skip);
	else
		r = give(w, kind_of(e->level), e->name, e->name,
		    e->level == LEVEL_SCHEMA_FILE ? NULL : &e->info);
	if (r != LIST_MORE && r != LIST_SKIP)
		return r;

	int marked = mark_set(w->to->mark, e, same, part);
	return marked < 0 ? marked : r;
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
	}
	const struct entry *behind = to->mark->started ? &after : NULL;
	if (r == 0 && dir->view.size)
		r = view_list(fs, dir, behind, walk_entry, &w);
	else if (r == 0)
		r = kv_list(fs->kv, &dir->place, behind, walk_entry, &w);
	buf_release(&name);
	buf_release(&w.name);
	return r;
}

struct probe
part_probe(const struct spot *part, bool row)
{
	return (struct probe){
		.of = row ? NAME_OF_ROW : NAME_OF_QUALIFIER,
		.prefix = row ? part->place.row : part->place.qualifier,
	};
}

int
probe_entry(void *probe, const struct entry *e, struct buf *skip)
{
	struct probe *p = probe;
	struct walk w = {.of = p->of, .prefix = p->prefix};
	enum name_form form;
	size_t part_size;
	bool dot = e->level == LEVEL_DOT || e->level == LEVEL_DOT_DIR;
	int r = dot ? 0 : entry_name(&w, e, &form, &part_size);

	(void)skip;
	p->found = r == 0;
	buf_release(&w.name);
	if (r < 0)
		return r;
	return p->found ? LIST_STOP : LIST_MORE;
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
		r = mark_set(to->mark, &schema, 0, 0);
		if (r < 0)
			return r;
	}

	/* Behind .schema the tables begin. */
	to->mark->started = to->mark->level != LEVEL_SCHEMA;
	int r = dots_list(fs, dir, to);
	to->mark->started = true;
	return r;
}
