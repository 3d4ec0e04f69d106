/* Root, tables, rows, families, and the directories that continue names. */
#include "kinds.h"

#include <errno.h>

#include "../kv/kv_data.h"
#include "../kv/why.h"
#include "kind_list.h"
#include "kind_stream.h"
#include "kind_view.h"

static const struct version newest = {VERSION_NEWEST, 0};

int
root_parse(const struct spot *dir, struct slice name, struct child *out)
{
	(void)dir;
	if (slice_equal(name, slice_text(".schema")))
		return child_set(out, KIND_SCHEMA_DIR, slice_text(""), 0);
	if (slice_equal(name, slice_text(".cellfs")))
		return child_set(out, KIND_CONTROL_DIR, slice_text(""), 0);
	if (name.data[0] == '.')
		return why(EPERM, "%.*s: there is no such control name",
		    (int)name.size, name.data);

	int r = schema_check_table_name(name);
	return r < 0 ? r : child_set(out, KIND_TABLE, name, 0);
}

/* Reads a key's name below prefix; parts become the kind `part`. */
static int
parse_key(enum name_of of, struct slice prefix, struct slice name,
    struct child *out, struct name *form)
{
	if (name.data[0] == '.')
		return why(EPERM, "%.*s: no file or directory of a table "
		    "begins with a dot here", (int)name.size, name.data);
	return path_read(of, prefix, name, &out->key, form);
}

int
table_parse(const struct spot *dir, struct slice name, struct child *out)
{
	struct name form;
	int r = dir->kind == KIND_TABLE ? stream_parse(dir, name, out) : 1;

	if (r == 1 && dir->kind == KIND_TABLE)
		r = view_child(dir, name, out);
	if (r != 1)
		return r;
	r = parse_key(NAME_OF_ROW, dir->place.row, name, out, &form);
	out->kind = form.form == FORM_PART ? KIND_ROW_PART : KIND_ROW;
	return r;
}

int
row_parse(const struct spot *dir, struct slice name, struct child *out)
{
	struct name form;
	int r = stream_parse(dir, name, out);

	if (r != 1)
		return r;
	r = parse_key(NAME_OF_FAMILY, slice_text(""), name, out, &form);
	if (r == 0)
		r = schema_check_family_name(buf_slice(&out->key));
	out->kind = KIND_FAMILY;
	return r;
}

int
family_parse(const struct spot *dir, struct slice name, struct child *out)
{
	static const enum kind by_form[] = {
		[FORM_KEY] = KIND_CELL,
		[FORM_PART] = KIND_COLUMN_PART,
		[FORM_AT] = KIND_VERSION,
		[FORM_NTH] = KIND_NTH,
		[FORM_COUNTER] = KIND_COUNTER,
		[FORM_VERSIONS] = KIND_VERSIONS,
	};
	struct name form;

	int r = dir->kind == KIND_FAMILY ? stream_parse(dir, name, out) : 1;

	if (r != 1)
		return r;
	if (name.data[0] == '.')
		return dot_parse(name, out);
	r = path_read(NAME_OF_QUALIFIER, dir->place.qualifier, name,
	    &out->key, &form);
	if (r < 0)
		return r;
	out->kind = by_form[form.form];
	out->number = form.number;
	return 0;
}

int
data_find(struct fs *fs, struct spot *spot, struct look *look)
{
	struct info info;
	int r = kv_stat(fs->kv, &spot->place, newest, &info);

	if (r == 0)
		stat_fill(fs, spot, &info, look);
	return r;
}

/* --- parts ------------------------------------------------------------- */

/* Whether keys, kept parts or dot files continue this part. */
static int
part_used(struct fs *fs, const struct spot *spot, bool *used)
{
	struct probe p = part_probe(spot, spot->kind == KIND_ROW_PART);
	int r = kv_list(fs->kv, &spot->place, NULL, probe_entry, &p);

	*used = p.found;
	return r;
}

int
part_find(struct fs *fs, struct spot *spot, struct look *look)
{
	struct info info;
	bool used = true;
	int r = kv_stat(fs->kv, &spot->place, newest, &info);

	if (r == -ENOENT) {
		r = part_used(fs, spot, &used);
		if (r == 0 && !used)
			return -ENOENT;
	}
	if (r == 0)
		stat_fill(fs, spot, &info, look);
	return r;
}

int
part_drop(struct fs *fs, const struct spot *spot)
{
	bool used;
	int r = part_used(fs, spot, &used);

	if (r == 0 && used)
		return why(ENOTEMPTY, "names continue in it");
	return r < 0 ? r : kv_dir_remove(fs->kv, &spot->place);
}

/* --- making and removing ------------------------------------------------ */

int
data_make(struct fs *fs, const struct spot *spot, const struct attrs *fresh,
    int64_t *mine)
{
	(void)mine;
	return kv_dir_make(fs->kv, &spot->place, fresh);
}

int
family_make(struct fs *fs, const struct spot *spot, const struct attrs *fresh,
    int64_t *mine)
{
	struct schema schema;
	int r = kv_table_schema(fs->kv, spot->place.table, &schema);

	if (r < 0)
		return r;
	if (!schema.open && !schema_family(&schema, spot->place.family))
		r = why(EPERM, "table %.*s has no family %.*s and is sealed: "
		    "declare it in .schema/%.*s",
		    (int)spot->place.table.size, spot->place.table.data,
		    (int)spot->place.family.size, spot->place.family.data,
		    (int)spot->place.table.size, spot->place.table.data);
	schema_release(&schema);
	return r < 0 ? r : data_make(fs, spot, fresh, mine);
}

int
table_make(struct fs *fs, const struct spot *spot, const struct attrs *fresh,
    int64_t *mine)
{
	struct schema schema = {.open = true};
	int r = buf_set(&schema.name, spot->place.table);

	(void)mine;
	if (r == 0)
		r = kv_table_create(fs->kv, &schema, fresh);
	schema_release(&schema);
	return r;
}

int
data_drop(struct fs *fs, const struct spot *spot)
{
	return kv_dir_remove(fs->kv, &spot->place);
}

int
data_set(struct fs *fs, const struct spot *spot, const struct attrs *attrs)
{
	return kv_set_attrs(fs->kv, &spot->place, spot->version, attrs);
}

/* A part that keys alone make be there is kept from then on. */
int
part_set(struct fs *fs, const struct spot *spot, const struct attrs *attrs)
{
	const struct attrs none = {0};
	bool used = false;
	int r = data_set(fs, spot, attrs);

	if (r != -ENOENT)
		return r;
	r = part_used(fs, spot, &used);
	if (r == 0 && !used)
		return -ENOENT;
	if (r == 0)
		r = kv_dir_make(fs->kv, &spot->place, &none);
	return r < 0 ? r : data_set(fs, spot, attrs);
}
