/* What a view shows in a directory: the rows, families and columns that a scan
 * finds, as kv_list() would give them. */
#include "kind_view.h"

#include <errno.h>

#include "../kv/filter.h"
#include "asking.h"

#define SAME 32 /* cells of one row, after which its end is sought */

struct lister {
	struct fs *fs;
	const struct spot *dir;
	list_emit emit;
	void *context;
	struct asking asking;
	struct scan *scan;
	struct buf name;  /* the last that was given */
	struct buf skip;
	struct filter *range; /* of columns */
};

static void
close_scan(struct lister *x)
{
	kv_scan_close(x->fs->kv, x->scan);
	x->scan = NULL;
}

/* Gives a name; *r is what to go on with: LIST_ or a negative errno. */
static int
give(struct lister *x, enum level level, struct slice name,
    const struct info *info)
{
	struct entry e = {.level = level, .name = name, .info = *info};

	buf_clear(&x->skip);
	return x->emit(x->context, &e, &x->skip);
}

/* Gives a directory that the view shows, as it is in the table. */
static int
give_dir(struct lister *x, enum level level, struct slice name)
{
	const struct version newest = {VERSION_NEWEST, 0};
	struct place place = x->dir->place;
	struct info info;

	place.level = level;
	if (level == LEVEL_ROW)
		place.row = name;
	else
		place.family = name;
	int r = kv_stat(x->fs->kv, &place, newest, &info);
	if (r == -ENOENT)
		return LIST_MORE; /* gone since it was seen */
	return r < 0 ? r : give(x, level, name, &info);
}

/* --- rows ---------------------------------------------------------------------- */

/* Goes on behind the last row, or behind all that begin as skip does. */
static int
reopen(struct lister *x, bool skip)
{
	struct asking *a = &x->asking;
	struct buf start = {0}, stop = {0};
	int r = 0;

	close_scan(x);
	if (!skip) {
		r = asking_behind(a, buf_slice(&x->name));
	} else if (a->spec.reversed) {
		r = asking_before(a, buf_slice(&x->skip));
	} else {
		r = kv_prefix_range(buf_slice(&x->skip), &start, &stop);
		if (r == 0 && !stop.size)
			a->nothing = true;
		else if (r == 0)
			r = asking_from(a, buf_slice(&stop));
	}
	buf_release(&start);
	buf_release(&stop);
	return r < 0 ? r : asking_open(x->fs, a, &x->scan);
}

/* The next row other than the last; 1: there is none. */
static int
next_row(struct lister *x, struct cell *cell)
{
	unsigned same = 0;
	int r;

	while ((r = kv_scan_next(x->fs->kv, x->scan, cell)) == 0 &&
	    slice_equal(cell->row, buf_slice(&x->name)))
		if (++same == SAME && (r = reopen(x, false)) < 0)
			return r;
	return r < 0 || r == 1 ? r : buf_set(&x->name, cell->row);
}

static int
list_rows(struct lister *x, const struct entry *after)
{
	struct cell cell;
	int r = 0, answer = LIST_MORE;

	x->asking.spec.keys_only = true;
	if (x->dir->place.level == LEVEL_ROW_PART)
		r = asking_prefix(&x->asking, x->dir->place.row);
	if (r == 0 && after)
		r = asking_behind(&x->asking, after->name);
	if (r == 0)
		r = asking_open(x->fs, &x->asking, &x->scan);
	while (r == 0 && answer != LIST_STOP) {
		r = next_row(x, &cell);
		if (r)
			break;
		answer = give_dir(x, LEVEL_ROW, buf_slice(&x->name));
		if (answer == LIST_SKIP)
			r = reopen(x, true);
		else if (answer < 0)
			r = answer;
	}
	return r < 0 ? r : 0;
}

/* --- families -------------------------------------------------------------------- */

/* Whether the view has a cell in the family. */
static int
has_cell(struct lister *x, struct slice family)
{
	struct spot spot = *x->dir;
	struct asking a;
	struct scan *scan = NULL;
	struct cell cell;

	spot.place.family = family;
	spot.place.level = LEVEL_FAMILY;
	int r = asking_fill(x->fs, &a, &spot);
	a.spec.keys_only = true;
	if (r == 0)
		r = asking_open(x->fs, &a, &scan);
	if (r == 0)
		r = asking_next(x->fs, &a, scan, &cell);
	kv_scan_close(x->fs->kv, scan);
	asking_release(&a);
	return r < 0 ? r : r == 0;
}

static int
list_families(struct lister *x, const struct entry *after)
{
	struct schema schema;
	int r = kv_table_schema(x->fs->kv, x->dir->place.table, &schema);

	for (size_t i = 0; r >= 0 && r != LIST_STOP && i < schema.count; i++) {
		struct slice family = buf_slice(&schema.families[i].name);
		if (after && slice_compare(family, after->name) <= 0)
			continue;
		r = has_cell(x, family);
		if (r == 1)
			r = give_dir(x, LEVEL_FAMILY, family);
	}
	schema_release(&schema);
	return r < 0 ? r : 0;
}

/* --- columns ---------------------------------------------------------------------- */

/* Scans from a qualifier on (or behind it), where no filter has to see what is
 * before it. */
static int
open_columns(struct lister *x, struct slice from, bool behind)
{
	struct asking *a = &x->asking;
	struct buf text = {0};
	int r = 0;

	close_scan(x);
	if (!a->filter && from.size) {
		buf_text(&text, "ColumnRangeFilter('");
		for (size_t i = 0; i < from.size; i++) {
			if (from.data[i] == '\'')
				buf_byte(&text, '\'');
			buf_byte(&text, from.data[i]);
		}
		buf_printf(&text, "',%s,'',true)", behind ? "false" : "true");
		filter_free(x->range);
		x->range = NULL;
		r = buf_status(&text);
		if (r == 0)
			r = filter_parse(buf_slice(&text), &x->range);
	}
	a->filter = a->filter ? a->filter : x->range;
	if (r == 0)
		r = asking_open(x->fs, a, &x->scan);
	if (a->filter == x->range)
		a->filter = NULL;
	buf_release(&text);
	return r;
}

/* Moves on to what follows everything that begins with skip. */
static int
skip_columns(struct lister *x, struct buf *from)
{
	struct buf start = {0};
	int r = kv_prefix_range(buf_slice(&x->skip), &start, from);

	buf_release(&start);
	if (r < 0)
		return r;
	return from->size ? open_columns(x, buf_slice(from), false) : 1;
}

static int
give_column(struct lister *x, const struct cell *cell)
{
	struct info info = {.attrs = cell->attrs,
		.timestamp = cell->timestamp, .expires = cell->expires,
		.size = cell->size};

	return give(x, LEVEL_COLUMN, cell->qualifier, &info);
}

static int
list_columns(struct lister *x, const struct entry *after)
{
	struct slice prefix = x->dir->place.qualifier;
	struct buf from = {0};
	struct cell cell;
	int r = buf_set(&from, after ? after->name : prefix);
	bool behind = after != NULL;

	x->asking.spec.keys_only = true;
	if (r == 0)
		r = open_columns(x, buf_slice(&from), behind);
	while (r == 0 &&
	    (r = asking_next(x->fs, &x->asking, x->scan, &cell)) == 0) {
		int order = slice_compare(cell.qualifier, buf_slice(&from));
		if (order < 0 || (order == 0 && behind))
			continue;
		if (!slice_begins(cell.qualifier, prefix))
			break;
		r = give_column(x, &cell);
		behind = false;
		if (r == LIST_SKIP)
			r = skip_columns(x, &from);
	}
	buf_release(&from);
	return r < 0 ? r : 0;
}

int
view_list(struct fs *fs, const struct spot *dir, const struct entry *after,
    list_emit emit, void *context)
{
	struct lister x = {
	    .fs = fs, .dir = dir, .emit = emit, .context = context};
	int r = asking_fill(fs, &x.asking, dir);

	if (r < 0)
		;
	else if (dir->place.level == LEVEL_ROW)
		r = list_families(&x, after);
	else if (dir->place.family.size)
		r = list_columns(&x, after);
	else
		r = list_rows(&x, after);
	close_scan(&x);
	filter_free(x.range);
	asking_release(&x.asking);
	buf_release(&x.name);
	buf_release(&x.skip);
	return r;
}
