#include "local_side.h"

#include <errno.h>

#include "key.h"
#include "local_any.h"
#include "local_dots.h"
#include "why.h"

#define KEPT_TAGS "kp"

static const struct slice nothing;

/* --- keys ------------------------------------------------------------- */

/* Whether the place is a dot file or dot directory of .schema. */
static bool
in_schema(const struct place *place)
{
	return place->table.size == 0;
}

void
side_dir_key(uint8_t tag, const struct place *dir, struct buf *out)
{
	buf_byte(out, tag);
	switch (dir->level) {
	case LEVEL_SCHEMA:
		key_component(out, nothing);
		break;
	case LEVEL_CONTROL:
		key_component(out, slice_text(".control"));
		break;
	case LEVEL_SCHEMA_FILE:
		key_component(out, dir->table);
		break;
	case LEVEL_ROW_PART:
		key_part(out, dir->row);
		break;
	case LEVEL_ROW:
		key_component(out, dir->row);
		break;
	case LEVEL_FAMILY:
	case LEVEL_COLUMN_PART:
		key_component(out, dir->row);
		key_component(out, dir->family);
		if (dir->level == LEVEL_COLUMN_PART)
			key_part(out, dir->qualifier);
		break;
	default: /* ROOT and TABLE: the tag alone */
		break;
	}
}

void
side_files_key(const struct place *place, struct buf *out)
{
	buf_byte(out, 'f');
	if (in_schema(place)) {
		key_component(out, nothing);
		return;
	}
	key_component(out, place->row);
	key_component(out, place->family);
	key_part(out, place->qualifier);
}

void
side_dot_key(const struct place *place, struct buf *out)
{
	side_files_key(place, out);
	key_component(out, place->dot_dir);
	key_component(out, place->level == LEVEL_DOT ? place->dot : nothing);
}

/* --- looking ---------------------------------------------------------- */

static int
found(struct txn *t, struct slice key, struct slice value, void *context)
{
	(void)t;
	(void)key;
	(void)value;
	(void)context;
	return 1;
}

int
side_any(struct txn *t, uint32_t side, struct slice prefix)
{
	return txn_each(t, side, prefix, found, NULL);
}

static int
any_tag(struct txn *t, uint32_t side, const char *tags)
{
	int r = 0;

	for (; r == 0 && *tags; tags++)
		r = side_any(t, side, slice_of(tags, 1));
	return r;
}

int
side_look(struct txn *t, uint32_t side, unsigned *may)
{
	static const struct {
		const char *tags;
		unsigned bit;
	} kinds[] = {{KEPT_TAGS, SIDE_KEPT}, {"a", SIDE_ATTRS},
	    {"f", SIDE_FILES}, {"t", SIDE_TTL}};

	*may = 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		int r = any_tag(t, side, kinds[i].tags);
		if (r < 0)
			return r;
		if (r)
			*may |= kinds[i].bit;
	}
	return 0;
}

int
side_note_ttl(struct txn *t, struct table *table)
{
	const struct slice mark = slice_text("t");
	struct buf value = {0};

	if (side_may(table, SIDE_TTL))
		return 0;
	/* The bit is set only once the mark is sure to be there. */
	int r = txn_get(t, table->side, mark, &value);
	if (r == 0)
		atomic_fetch_or(&table->side_may, SIDE_TTL);
	else if (r == 1)
		r = txn_put(t, table->side, mark, nothing);
	buf_release(&value);
	return r;
}

bool
side_counts(const struct table *table, uint8_t tag, struct slice family)
{
	return table_family(table, family) ||
	       (tag != 'f' && table->schema.open);
}

int
side_key_counts(const struct table *table, uint8_t tag, struct slice key)
{
	struct buf part = {0};
	bool continued;

	int r = key_take(&key, &part, &continued);
	if (r == 0 && key.size == 0) {
		buf_release(&part);
		return 1;
	}
	buf_clear(&part);
	if (r == 0)
		r = key_take(&key, &part, NULL);
	if (r == 0)
		r = side_counts(table, tag, buf_slice(&part)) ? 1 : 0;
	buf_release(&part);
	return r;
}

static int
key_counts(struct txn *t, struct slice key, struct slice value, void *context)
{
	(void)t;
	(void)value;
	return side_key_counts(context, key.data[0], slice_skip(key, 1));
}

int
side_any_counting(struct txn *t, const struct table *table, struct slice prefix)
{
	return txn_each(t, table->side, prefix, key_counts, (void *)table);
}

/* Whether the side table alone makes the row be there; an empty row: any. */
static int
row_in_side(struct txn *t, const struct table *table, struct slice row)
{
	static const struct {
		const char *tag;
		unsigned bit;
	} kinds[] = {{"k", SIDE_KEPT}, {"p", SIDE_KEPT}, {"f", SIDE_FILES}};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct buf key = {0};
		if (!side_may(table, kinds[i].bit))
			continue;
		buf_text(&key, kinds[i].tag);
		if (row.size)
			key_component(&key, row);
		r = buf_status(&key);
		if (r == 0)
			r = side_any_counting(t, table, buf_slice(&key));
		buf_release(&key);
	}
	return r;
}

static int
row_there(struct txn *t, const struct table *table, struct slice row,
    const struct local_family *first, struct slice near)
{
	int r = first ? cells_any(t, first, row, near) : 0;

	for (size_t i = 0; r == 0 && i < table->schema.count; i++)
		if (&table->families[i] != first)
			r = cells_any(t, &table->families[i], row, nothing);
	return r ? r : row_in_side(t, table, row);
}

int
side_table_any(struct txn *t, const struct table *table)
{
	return row_there(t, table, nothing, NULL, nothing);
}

/* Whether there are keys `tag dir...`, if the table may have any. */
static int
below(struct txn *t, const struct table *table, uint8_t tag,
    const struct place *dir)
{
	struct buf key = {0};

	if (!side_may(table, tag == 'f' ? SIDE_FILES : SIDE_KEPT))
		return 0;
	side_dir_key(tag, dir, &key);
	int r = buf_status(&key);
	if (r == 0)
		r = side_any(t, side_of(table), buf_slice(&key));
	buf_release(&key);
	return r;
}

static int
family_there(struct txn *t, const struct table *table,
    const struct place *place, struct slice near)
{
	const struct local_family *f = table_family(table, place->family);
	const struct place dir = {
	    .level = LEVEL_FAMILY, .row = place->row, .family = place->family};

	int r = f ? cells_any(t, f, place->row, near) : 0;
	if (r == 0 && f)
		r = below(t, table, 'f', &dir);
	if (r == 0 && side_counts(table, 'k', place->family))
		r = below(t, table, 'k', &dir);
	if (r == 0 && side_counts(table, 'k', place->family))
		r = below(t, table, 'p', &dir);
	return r;
}

static int
part_there(struct txn *t, const struct table *table, const struct place *place)
{
	if (place->level == LEVEL_ROW_PART)
		return below(t, table, 'p', place);
	if (!side_counts(table, 'p', place->family))
		return 0;
	int r = below(t, table, 'p', place);
	if (r == 0 && table_family(table, place->family))
		r = below(t, table, 'f', place);
	return r;
}

static int
dot_there(struct txn *t, const struct table *table, const struct place *place)
{
	struct stored found;
	uint32_t blobs;

	int r = side_dot_find(t, table, place, &found, &blobs);
	stored_release(&found);
	return r < 0 ? r : !r;
}

int
side_there(struct txn *t, const struct table *table, const struct place *place,
    struct slice near)
{
	switch (place->level) {
	case LEVEL_ROW:
		return row_there(t, table, place->row, NULL, nothing);
	case LEVEL_FAMILY:
		return family_there(t, table, place, near);
	case LEVEL_ROW_PART:
	case LEVEL_COLUMN_PART:
		return part_there(t, table, place);
	case LEVEL_DOT:
	case LEVEL_DOT_DIR:
		return dot_there(t, table, place);
	default: /* ROOT and SCHEMA always, else the table was found */
		return 1;
	}
}

/* --- kept directories ------------------------------------------------- */

static uint8_t
kept_tag(const struct place *dir)
{
	return dir->level == LEVEL_ROW || dir->level == LEVEL_FAMILY ? 'k'
								     : 'p';
}

int
side_keep(struct txn *t, struct table *table, const struct place *dir)
{
	struct buf key = {0};

	side_dir_key(kept_tag(dir), dir, &key);
	atomic_fetch_or(&table->side_may, SIDE_KEPT);
	int r = buf_status(&key);
	if (r == 0)
		r = txn_put(t, table->side, buf_slice(&key), nothing);
	buf_release(&key);
	return r;
}

int
side_is_kept(struct txn *t, const struct table *table, const struct place *dir)
{
	struct buf key = {0}, value = {0};

	if (!table || dir->level < LEVEL_ROW_PART ||
	    !side_may(table, SIDE_KEPT))
		return 0;
	side_dir_key(kept_tag(dir), dir, &key);
	int r = buf_status(&key);
	if (r == 0)
		r = txn_get(t, table->side, buf_slice(&key), &value);
	buf_release(&key);
	buf_release(&value);
	return r < 0 ? r : !r;
}

int
side_unmark(struct txn *t, const struct table *table, const struct place *dir)
{
	struct buf key = {0};

	side_dir_key(kept_tag(dir), dir, &key);
	int r = buf_status(&key);
	if (r == 0)
		r = txn_remove(t, table->side, buf_slice(&key));
	buf_release(&key);
	return r;
}

int
side_unkeep(struct txn *t, const struct table *table, struct slice row,
    struct slice family)
{
	struct place dir = {.level = LEVEL_ROW, .row = row, .family = family};

	if (!side_may(table, SIDE_KEPT))
		return 0;
	int r = side_unmark(t, table, &dir);
	dir.level = LEVEL_FAMILY;
	return r ? r : side_unmark(t, table, &dir);
}

int
side_keep_if_empty(struct txn *t, struct table *table, struct slice row,
    const struct local_family *family, struct slice near)
{
	struct place dir = {.level = LEVEL_ROW, .row = row};

	if (family) {
		dir.level = LEVEL_FAMILY;
		dir.family = buf_slice(&family->declared.name);
	}
	int r = side_there(t, table, &dir, near);
	if (r)
		return r < 0 ? r : 0;
	return side_keep(t, table, &dir);
}

/* --- what is gone ----------------------------------------------------- */

int
side_remove_all(struct txn *t, uint32_t side, struct slice prefix)
{
	struct buf end = {0};

	int r = buf_set(&end, prefix);
	if (r == 0) {
		key_successor(&end);
		r = txn_remove_range(t, side, prefix, buf_slice(&end));
	}
	buf_release(&end);
	return r;
}

int
side_forget(struct txn *t, const struct table *table, const struct place *dir)
{
	struct buf key = {0};

	side_dir_key('a', dir, &key);
	int r = buf_status(&key);
	if (r == 0)
		r = side_remove_all(t, table->side, buf_slice(&key));
	buf_release(&key);
	return r;
}

int
side_forget_if_gone(struct txn *t, const struct table *table, struct slice row,
    const struct local_family *family, struct slice near)
{
	struct place dir = {.level = LEVEL_FAMILY, .row = row};
	int r = 0;

	if (!side_may(table, SIDE_ATTRS))
		return 0;
	if (family) {
		dir.family = buf_slice(&family->declared.name);
		r = family_there(t, table, &dir, near);
		if (r == 0)
			r = side_forget(t, table, &dir);
	}
	if (r == 0)
		r = row_there(t, table, row, family, near);
	dir.level = LEVEL_ROW;
	if (r == 0)
		r = side_forget(t, table, &dir);
	return r < 0 ? r : 0;
}
