/* Views: tables narrowed by what stands in their path. */
#include "kind_view.h"

#include <errno.h>
#include <time.h>

#include "../kv/form.h"
#include "../kv/kv_data.h"
#include "../kv/text.h"
#include "../kv/why.h"
#include "asking.h"
#include "kind_list.h"
#include "kind_stream.h"
#include "kinds.h"

#define CHAIN_MAX 16384 /* bytes of words and arguments */

static const struct version newest = {VERSION_NEWEST, 0};

/* --- names ------------------------------------------------------------------- */

/* The chain of dir, and one component more. */
static int
lengthen(const struct spot *dir, enum kind kind, struct slice component,
    struct child *out)
{
	struct asking a = {0};

	out->kind = kind;
	buf_append(&out->key, dir->view);
	buf_append(&out->key, component);
	buf_byte(&out->key, 0);
	if (buf_status(&out->key) < 0)
		return -ENOMEM;
	if (out->key.size > CHAIN_MAX)
		return why(EINVAL, "views of more than %d bytes", CHAIN_MAX);
	int r = asking_chain(&a, buf_slice(&out->key));
	asking_release(&a);
	return r;
}

int
view_child(const struct spot *dir, struct slice name, struct child *out)
{
	bool argument;

	if (!view_has_word(name, &argument))
		return 1;
	return lengthen(dir, argument ? KIND_VIEW_NAME : KIND_VIEW, name, out);
}

static int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A time as a link to its milliseconds; 1: it is in these, or not one. */
static int
parse_time(const struct spot *dir, struct slice name, struct child *out)
{
	int64_t time;
	uint64_t ms;

	if (!view_takes_time(dir->view) ||
	    text_number(name, TS_MAX, &ms) == 0)
		return 1;
	int r = time_read(name, now_ms(), &time);
	if (r < 0)
		return r;
	buf_append(&out->key, dir->view);
	buf_append(&out->key, name);
	buf_byte(&out->key, 0);
	out->kind = KIND_VIEW_TIME;
	return buf_status(&out->key);
}

int
view_argument(const struct spot *dir, struct slice name, struct child *out)
{
	int r = parse_time(dir, name, out);

	if (r != 1)
		return r;
	return lengthen(dir, KIND_VIEW, name, out);
}

enum kind
view_kind(enum kind plain)
{
	switch (plain) {
	case KIND_ROW_PART:
		return KIND_VIEW_ROW_PART;
	case KIND_ROW:
		return KIND_VIEW_ROW;
	case KIND_FAMILY:
		return KIND_VIEW_FAMILY;
	case KIND_COLUMN_PART:
		return KIND_VIEW_COLUMN_PART;
	case KIND_CELL:
		return KIND_VIEW_CELL;
	case KIND_CELLS:
		return KIND_STREAM;
	default:
		return plain;
	}
}

/* As in the table; what a view does not show has no name there. */
static int
parse_plain(int (*parse)(const struct spot *dir, struct slice name,
		struct child *out),
    enum kind as, const struct spot *dir, struct slice name,
    struct child *out)
{
	struct spot plain = *dir;

	plain.kind = as;
	int r = parse(&plain, name, out);
	if (r < 0)
		return r;
	out->kind = view_kind(out->kind);
	if (out->kind != KIND_STREAM && !kinds[out->kind].read_only)
		return why(EINVAL, "views show the cells of their rows only");
	return 0;
}

int
view_parse(const struct spot *dir, struct slice name, struct child *out)
{
	enum kind as =
	    dir->kind == KIND_VIEW_ROW_PART ? KIND_ROW_PART : KIND_TABLE;

	return parse_plain(table_parse, as, dir, name, out);
}

int
view_row_parse(const struct spot *dir, struct slice name, struct child *out)
{
	return parse_plain(row_parse, KIND_ROW, dir, name, out);
}

int
view_family_parse(const struct spot *dir, struct slice name, struct child *out)
{
	enum kind as = dir->kind == KIND_VIEW_COLUMN_PART ? KIND_COLUMN_PART
							  : KIND_FAMILY;

	return parse_plain(family_parse, as, dir, name, out);
}

/* --- looking ------------------------------------------------------------------- */

/* What the plain place says of a directory. */
static int
look_plain(struct fs *fs, const struct spot *spot, struct look *look)
{
	struct place place = spot->place;
	struct info info;

	if (place.level == LEVEL_ROW_PART) {
		place.level = LEVEL_TABLE;
		place.row = slice_text("");
	} else if (place.level == LEVEL_COLUMN_PART) {
		place.level = LEVEL_FAMILY;
		place.qualifier = slice_text("");
	}
	int r = kv_stat(fs->kv, &place, newest, &info);
	if (r == 0)
		stat_fill(fs, spot, &info, look);
	return r;
}

/* A view is there if it can be asked at all. */
int
view_find(struct fs *fs, struct spot *spot, struct look *look)
{
	struct asking a;
	struct scan *scan = NULL;
	int r = look_plain(fs, spot, look);

	if (r < 0 || spot->kind == KIND_VIEW_NAME)
		return r;
	r = asking_fill(fs, &a, spot);
	if (r == 0)
		r = asking_open(fs, &a, &scan);
	kv_scan_close(fs->kv, scan);
	asking_release(&a);
	return r;
}

/* The first cell that the view has at spot: *scan is to be closed. */
static int
first_cell(struct fs *fs, const struct spot *spot, bool keys_only,
    struct asking *a, struct scan **scan, struct cell *cell)
{
	const struct place *place = &spot->place;
	int r = asking_fill(fs, a, spot);

	*scan = NULL;
	a->spec.keys_only = keys_only;
	if (r == 0)
		r = asking_open(fs, a, scan);
	do
		r = r < 0 ? r : asking_next(fs, a, *scan, cell);
	while (r == 0 && place->level == LEVEL_COLUMN &&
	    !slice_equal(place->qualifier, cell->qualifier));
	return r == 1 ? -ENOENT : r;
}

int
view_dir_find(struct fs *fs, struct spot *spot, struct look *look)
{
	struct asking a;
	struct scan *scan;
	struct cell cell;
	int r = first_cell(fs, spot, true, &a, &scan, &cell);

	kv_scan_close(fs->kv, scan);
	asking_release(&a);
	return r < 0 ? r : look_plain(fs, spot, look);
}

int
view_part_find(struct fs *fs, struct spot *spot, struct look *look)
{
	struct probe p = part_probe(spot, spot->kind == KIND_VIEW_ROW_PART);
	int r = view_list(fs, spot, NULL, probe_entry, &p);

	if (r == 0 && !p.found)
		r = -ENOENT;
	return r < 0 ? r : look_plain(fs, spot, look);
}

int
view_cell_find(struct fs *fs, struct spot *spot, struct look *look)
{
	struct asking a;
	struct scan *scan;
	struct cell cell;
	int r = first_cell(fs, spot, true, &a, &scan, &cell);

	if (r == 0) {
		struct info info = {.attrs = cell.attrs,
			.timestamp = cell.timestamp, .expires = cell.expires,
			.size = cell.size};
		stat_fill(fs, spot, &info, look);
	}
	kv_scan_close(fs->kv, scan);
	asking_release(&a);
	return r;
}

/* A filter may give another value than the version has, which then is small. */
int
view_cell_open(struct fs *fs, const struct spot *spot, struct reader *out)
{
	struct asking a;
	struct scan *scan;
	struct cell cell;
	int r = first_cell(fs, spot, false, &a, &scan, &cell);

	if (r == 0 && cell.blob) {
		struct version at = {VERSION_AT, cell.timestamp};
		r = kv_value_open(fs->kv, &spot->place, at, &out->value);
	} else if (r == 0) {
		r = buf_set(&out->text, cell.value);
	}
	kv_scan_close(fs->kv, scan);
	asking_release(&a);
	return r;
}

/* The chain ends in the time and a zero byte. */
int
view_time_open(struct fs *fs, const struct spot *spot, struct reader *out)
{
	struct slice chain = spot->view;
	size_t at = chain.size - 1;
	int64_t time = 0;

	(void)fs;
	while (at && chain.data[at - 1])
		at--;
	int r = time_read(slice_of(chain.data + at, chain.size - 1 - at),
	    now_ms(), &time);
	if (r == 0)
		buf_printf(&out->text, "%lld", (long long)time);
	return r < 0 ? r : buf_status(&out->text);
}

int
view_time_find(struct fs *fs, struct spot *spot, struct look *look)
{
	struct reader reader = {0};
	int r = view_time_open(fs, spot, &reader);

	if (r == 0)
		stat_plain(fs, spot, 0777, reader.text.size, look);
	reader_release(fs, &reader);
	return r;
}

int
view_nothing(struct fs *fs, const struct spot *dir, struct listing *to)
{
	(void)fs;
	(void)dir;
	(void)to;
	return 0;
}
