#include "local_dirs.h"

#include <errno.h>

#include "local_admin.h"
#include "local_dots.h"
#include "local_methods.h"
#include "local_names.h"
#include "local_place.h"
#include "local_side_attrs.h"
#include "why.h"

static const struct slice nothing;

static int
not_there(void)
{
	return why(ENOENT, "there is nothing of that name");
}

/* --- telling and setting ---------------------------------------------- */

struct asking {
	const struct place *place;
	struct info *out;
};

static int
stat_body(struct txn *t, struct table *table, void *context)
{
	const struct asking *a = context;

	bool part = a->place->level == LEVEL_ROW_PART ||
		    a->place->level == LEVEL_COLUMN_PART;
	int told = 0;

	int r = side_there(t, table, a->place, nothing);
	if (r == 1 || (r == 0 && part))
		told = side_info(t, table, a->place, a->out);
	if (told < 0 || r < 0)
		return told < 0 ? told : r;
	return r ? 0 : not_there();
}

int
side_stat(struct local *l, const struct place *place, struct info *out)
{
	struct asking a = {place, out};

	return place_read(l, place, stat_body, &a);
}

struct setting {
	const struct place *place;
	const struct attrs *attrs;
};

static int
set_dot_attrs(struct txn *t, struct table *table, const struct setting *s)
{
	struct stored found;
	uint32_t blobs;

	int r = side_dot_find(t, table, s->place, &found, &blobs);
	if (r == 1)
		r = not_there();
	if (r == 0) {
		attrs_override(&found.record.attrs, s->attrs);
		r = side_dot_store(t, table, s->place, &found.record);
	}
	stored_release(&found);
	return r;
}

static int
set_dir_attrs(struct txn *t, struct table *table, const struct setting *s)
{
	const struct place *place = s->place;
	struct attrs kept;

	int r = side_there(t, table, place, nothing);
	if (r != 1)
		return r ? r : not_there();
	r = side_get_attrs(t,
	    place->level == LEVEL_SCHEMA_FILE ? ROOT_SIDE : side_of(table),
	    place, &kept);
	if (r)
		return r;
	attrs_override(&kept, s->attrs);
	return side_put_attrs(t, table, place, &kept);
}

static int
set_body(struct txn *t, void *context)
{
	const struct setting *s = context;
	struct table *table;

	int r = place_table(t->local, s->place, &table);
	if (r)
		return r;
	if (s->place->level == LEVEL_DOT || s->place->level == LEVEL_DOT_DIR)
		r = set_dot_attrs(t, table, s);
	else
		r = set_dir_attrs(t, table, s);
	table_put(table);
	return r;
}

int
side_set_attrs(
    struct local *l, const struct place *place, const struct attrs *attrs)
{
	struct setting s = {place, attrs};

	return local_write(l, ORDERED_WRITE, set_body, &s);
}

struct timing {
	const struct dir_time *times;
	size_t count;
};

static int
times_body(struct txn *t, void *context)
{
	const struct timing *all = context;
	int r = 0;

	for (size_t i = 0; r == 0 && i < all->count; i++) {
		const struct attrs mtime = {
		    .set = ATTR_MTIME, .mtime = all->times[i].mtime};
		struct setting s = {&all->times[i].place, &mtime};
		r = set_body(t, &s);
		if (r == -ENOENT)
			r = 0;
	}
	return r;
}

int
local_dir_times(struct engine *e, const struct dir_time *times, size_t count)
{
	struct timing all = {times, count};

	return local_write((struct local *)e, ORDERED_WRITE, times_body, &all);
}

/* --- making ----------------------------------------------------------- */

static int
sealed(const struct table *table, struct slice family)
{
	return why(EPERM,
	    "family %.*s: table %.*s is sealed and does not "
	    "declare it; declare it in .schema/%.*s first",
	    (int)family.size, (const char *)family.data,
	    (int)table->schema.name.size, (const char *)table->schema.name.data,
	    (int)table->schema.name.size,
	    (const char *)table->schema.name.data);
}

/* Whether a directory of this level may be made in the table at all. */
static int
check_dir(const struct table *table, const struct place *dir)
{
	switch (dir->level) {
	case LEVEL_ROW:
	case LEVEL_ROW_PART:
		return 0;
	case LEVEL_FAMILY:
	case LEVEL_COLUMN_PART:
		if (table_family(table, dir->family))
			return 0;
		return table->schema.open
			   ? schema_check_family_name(dir->family)
			   : sealed(table, dir->family);
	case LEVEL_DOT_DIR:
		return !table || table_family(table, dir->family) ? 0 : -ESTALE;
	default:
		return why(EINVAL, "this is no place for a directory");
	}
}

static int
dot_is_there(struct txn *t, const struct table *table, const struct place *dir)
{
	struct place dot = *dir;

	if (dir->level != LEVEL_DOT_DIR)
		return 0;
	dot.level = LEVEL_DOT;
	dot.dot = dir->dot_dir;
	dot.dot_dir = nothing;
	return side_there(t, table, &dot, nothing);
}

static int
make_dir(struct txn *t, struct table *table, const struct setting *s)
{
	const struct place *dir = s->place;
	struct record record = {.attrs = *s->attrs};

	int r = check_dir(table, dir);
	if (r == 0)
		r = side_there(t, table, dir, nothing);
	if (r == 0)
		r = dot_is_there(t, table, dir);
	if (r)
		return r < 0 ? r : why(EEXIST, "it is there already");
	if (dir->level == LEVEL_DOT_DIR) {
		if (!(record.attrs.set & ATTR_MTIME)) {
			record.attrs.mtime = timespec_of_ms(t->now);
			record.attrs.set |= ATTR_MTIME;
		}
		return side_dot_store(t, table, dir, &record);
	}
	r = side_forget(t, table, dir);
	if (r == 0)
		r = side_keep(t, table, dir);
	return r ? r : side_put_attrs(t, table, dir, s->attrs);
}

static int
make_body(struct txn *t, void *context)
{
	const struct setting *s = context;
	struct table *table;

	int r = place_table(t->local, s->place, &table);
	if (r == 0)
		r = make_dir(t, table, s);
	table_put(table);
	return r;
}

int
local_dir_make(
    struct engine *e, const struct place *dir, const struct attrs *attrs)
{
	struct local *l = (struct local *)e;
	struct setting s = {.place = dir, .attrs = attrs};

	for (;;) {
		int r = local_write(l, ORDERED_WRITE, make_body, &s);
		if (r != -ESTALE)
			return r;
		/* The family of a dot directory is declared first. */
		r = local_family_declare(e, dir->table, dir->family);
		if (r)
			return r;
	}
}

/* --- removing --------------------------------------------------------- */

/* Whether anything the side table has stands in dir under this level. */
static int
names_any(struct txn *t, const struct table *table, const struct place *dir,
    enum level level)
{
	struct buf name = {0};
	struct info info;

	int r = side_next(t, table, dir, level, nothing, false, &name, &info);
	buf_release(&name);
	return r < 0 ? r : !r;
}

/* Whether a directory holds anything once its own mark is gone. */
static int
dir_holds(struct txn *t, const struct table *table, const struct place *dir)
{
	if (dir->level == LEVEL_DOT_DIR)
		return names_any(t, table, dir, LEVEL_DOT);
	return side_there(t, table, dir, nothing);
}

/* In a transaction that took a directory away: the one above is kept if that
 * was all it held. */
static int
keep_above(struct txn *t, struct table *table, const struct place *dir)
{
	struct place above = *dir;

	if (dir->level == LEVEL_DOT_DIR)
		return side_keep_above(t, table, dir);
	if (dir->level == LEVEL_FAMILY)
		above.level = LEVEL_ROW;
	else if (dir->level == LEVEL_COLUMN_PART)
		above.level = LEVEL_FAMILY;
	else
		return 0;
	int r = side_there(t, table, &above, nothing);
	return r ? (r < 0 ? r : 0) : side_keep(t, table, &above);
}

/* Takes the directory's own mark or record; 1: it had one. */
static int
take_mark(struct txn *t, struct table *table, const struct place *dir)
{
	struct dropped none = {0};
	struct stored found;
	uint32_t blobs;

	if (dir->level != LEVEL_DOT_DIR) {
		int kept = side_is_kept(t, table, dir);
		int r = kept == 1 ? side_unmark(t, table, dir) : kept;
		return r ? r : kept;
	}
	int r = side_dot_find(t, table, dir, &found, &blobs);
	if (r == 0)
		r = side_dot_erase(t, table, dir, &found, blobs, &none);
	else if (r == 1)
		return 0;
	stored_release(&found);
	buf_release(&none.ids);
	return r ? r : 1;
}

static int
remove_dir(struct txn *t, struct table *table, const struct place *dir)
{
	if (dir->level < LEVEL_ROW_PART || dir->level == LEVEL_COLUMN ||
	    dir->level == LEVEL_DOT)
		return why(EINVAL, "this is no directory that can be removed");
	int kept = take_mark(t, table, dir);
	if (kept < 0)
		return kept;
	int r = dir_holds(t, table, dir);
	if (r == 1)
		return why(ENOTEMPTY, "it holds cells, dot files or kept "
				      "directories");
	if (r == 0 && !kept)
		r = not_there();
	if (r == 0 && dir->level != LEVEL_DOT_DIR)
		r = side_forget(t, table, dir);
	return r ? r : keep_above(t, table, dir);
}

static int
remove_body(struct txn *t, void *context)
{
	const struct place *dir = context;
	struct table *table;

	int r = place_table(t->local, dir, &table);
	if (r == 0)
		r = remove_dir(t, table, dir);
	table_put(table);
	return r;
}

int
local_dir_remove(struct engine *e, const struct place *dir)
{
	struct local *l = (struct local *)e;
	struct place place = *dir;

	if (dir->level == LEVEL_TABLE)
		return admin_drop_empty(l, dir->table);
	return local_write(l, ORDERED_REMOVE, remove_body, &place);
}
