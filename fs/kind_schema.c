/* .schema/TABLE: what a table declares, as one text file. */
#include "kind_schema.h"

#include <errno.h>
#include <time.h>

#include "../kv/kv_data.h"
#include "../kv/why.h"
#include "kinds.h"

#define SCHEMA_BYTES (1 << 20) /* of one schema file */

static const struct version newest = {VERSION_NEWEST, 0};

/* Dot files and editors' backups are ordinary files here. */
int
schema_dir_parse(const struct spot *dir, struct slice name, struct child *out)
{
	(void)dir;
	if (name.data[0] == '.')
		return dot_parse(name, out);
	if (name.data[name.size - 1] == '~')
		return child_set(out, KIND_DOT_FILE, name, 0);

	int r = schema_check_table_name(name);
	return r < 0 ? r : child_set(out, KIND_SCHEMA_FILE, name, 0);
}

int
schema_open(struct fs *fs, const struct spot *spot, struct reader *out)
{
	struct schema schema;
	int r = kv_table_schema(fs->kv, spot->place.table, &schema);

	if (r < 0)
		return r;
	schema_print(&schema, &out->text);
	schema_release(&schema);
	return buf_status(&out->text);
}

int
schema_find(struct fs *fs, struct spot *spot, struct look *look)
{
	struct reader reader = {0};
	struct info info;
	int r = kv_stat(fs->kv, &spot->place, newest, &info);

	if (r == 0)
		r = schema_open(fs, spot, &reader);
	info.size = reader.text.size;
	if (r == 0)
		stat_fill(fs, spot, &info, look);
	reader_release(fs, &reader);
	return r;
}

/* The table comes with its schema file; who may read that may enter it. */
int
schema_make(struct fs *fs, const struct spot *spot, const struct attrs *fresh,
    int64_t *mine)
{
	struct schema schema = {0};
	struct attrs owner = *fresh;
	int r = buf_set(&schema.name, spot->place.table);

	owner.mode |= (owner.mode & 0444) >> 2;
	if (r == 0)
		r = kv_table_create(fs->kv, &schema, &owner);
	schema_release(&schema);
	if (r == 0) {
		r = kv_set_attrs(fs->kv, &spot->place, newest, fresh);
		if (r < 0)
			kv_table_drop(fs->kv, spot->place.table);
	}
	*mine = r == 0; /* made by this handle: gone again if it fails */
	return r;
}

static int
row_seen(void *context, const struct entry *e, struct buf *skip)
{
	(void)e;
	(void)skip;
	*(bool *)context = true;
	return LIST_STOP;
}

static int
has_rows(struct fs *fs, struct slice name, bool *rows)
{
	struct place table = {.level = LEVEL_TABLE, .table = name};

	*rows = false;
	return kv_list(fs->kv, &table, NULL, row_seen, rows);
}

int
schema_drop(struct fs *fs, const struct spot *spot)
{
	struct slice table = spot->place.table;
	bool rows;
	int r = has_rows(fs, table, &rows);

	if (r == 0 && rows)
		r = why(EPERM, "%.*s: the table has rows; drop it by "
		    "'drop %.*s' in .cellfs/control",
		    (int)table.size, table.data, (int)table.size, table.data);
	return r < 0 ? r : kv_table_drop(fs->kv, table);
}

int
schema_move(struct fs *fs, const struct spot *from, const struct spot *to,
    bool there)
{
	struct schema schema = {0};
	bool rows;

	if (!there)
		return kv_table_rename(fs->kv, from->place.table,
		    to->place.table);
	int r = has_rows(fs, from->place.table, &rows);
	if (r == 0 && rows)
		r = why(EEXIST, "table %.*s is there and %.*s has rows",
		    (int)to->place.table.size, to->place.table.data,
		    (int)from->place.table.size, from->place.table.data);
	if (r == 0)
		r = kv_table_schema(fs->kv, from->place.table, &schema);
	if (r == 0)
		r = buf_set(&schema.name, to->place.table);
	if (r == 0)
		r = kv_table_alter(fs->kv, &schema, false);
	if (r == 0)
		r = kv_table_drop(fs->kv, from->place.table);
	schema_release(&schema);
	return r;
}

/* The image's text, whole. */
static int
image_text(const struct image *image, struct buf *out)
{
	if (image->size > SCHEMA_BYTES)
		return why(EFBIG, "a schema of %llu bytes: at most %d",
		    (unsigned long long)image->size, SCHEMA_BYTES);
	int r = buf_resize(out, image->size);
	if (r < 0 || !image->size)
		return r;
	int64_t n = image_read(image, 0, out->data, out->size);
	return n < 0 ? (int)n : 0;
}

int
schema_limit(struct fs *fs, const struct spot *spot, struct limit *out)
{
	(void)fs;
	(void)spot;
	*out = (struct limit){SCHEMA_BYTES, "the most a schema holds"};
	return 0;
}

int
schema_check_image(const struct image *image)
{
	struct buf text = {0};
	int r = image_text(image, &text);

	if (r == 0)
		r = schema_parse_lines(buf_slice(&text));
	buf_release(&text);
	return r;
}

/* Makes the table what text says; makes it, owned so, if it is not there. */
static int
apply(struct fs *fs, struct slice table, struct slice text,
    const struct attrs *owner)
{
	struct schema schema = {0};
	int r = buf_set(&schema.name, table);

	if (r == 0)
		r = schema_parse(&schema, text);
	if (r == 0)
		r = schema_check(&schema);
	if (r == 0)
		r = kv_table_alter(fs->kv, &schema, false);
	if (r == -ENOENT && owner)
		r = kv_table_create(fs->kv, &schema, owner);
	schema_release(&schema);
	return r;
}

int
schema_store(struct fs *fs, const struct spot *spot, struct storing *how)
{
	struct attrs attrs = how->content.attrs;
	struct reader now = {0};
	struct buf text = {0};
	int r = image_text(how->image, &text);

	if (r == 0 && how->content.append)
		r = schema_open(fs, spot, &now);
	buf_append(&now.text, buf_slice(&text));
	if (r == 0)
		r = buf_status(&now.text);
	if (r == 0)
		r = apply(fs, spot->place.table, buf_slice(&now.text), NULL);
	reader_release(fs, &now);
	buf_release(&text);
	if (r < 0)
		return r;
	if (!(attrs.set & ATTR_MTIME)) {
		attrs.set |= ATTR_MTIME;
		clock_gettime(CLOCK_REALTIME, &attrs.mtime);
	}
	return kv_set_attrs(fs->kv, &spot->place, newest, &attrs);
}

int
schema_adopt(struct fs *fs, const struct spot *dot, const struct spot *file)
{
	struct value *value = NULL;
	struct buf text = {0};
	int r = kv_value_open(fs->kv, &dot->place, newest, &value);

	if (r < 0)
		return r;
	if (value->info.size > SCHEMA_BYTES)
		r = -EFBIG;
	if (r == 0)
		r = buf_resize(&text, value->info.size);
	if (r == 0 && text.size &&
	    kv_value_read(fs->kv, value, 0, text.data, text.size) !=
	    (int64_t)text.size)
		r = -EIO;
	struct attrs attrs = value->info.attrs;
	struct attrs owner = attrs;
	owner.mode |= (owner.mode & 0444) >> 2;
	if (r == 0)
		r = apply(fs, file->place.table, buf_slice(&text), &owner);
	attrs.set = ATTR_MODE | ATTR_UID | ATTR_GID | ATTR_MTIME;
	if (r == 0)
		r = kv_set_attrs(fs->kv, &file->place, newest, &attrs);
	if (r == 0)
		r = kv_dot_remove(fs->kv, &dot->place);
	kv_value_close(fs->kv, value);
	buf_release(&text);
	return r;
}
