/* Cells, their single versions, and cells seen as counters. */
#include "kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../kv/kv_data.h"
#include "../kv/why.h"

#define COUNTER_TEXT 32 /* bytes of a decimal 64-bit number and spaces */

int
cell_find(struct fs *fs, struct spot *spot, struct look *look)
{
	struct info info;
	int r = kv_stat(fs->kv, &spot->place, spot->version, &info);

	if (r == 0)
		stat_fill(fs, spot, &info, look);
	return r;
}

int
cell_open(struct fs *fs, const struct spot *spot, struct reader *out)
{
	return kv_value_open(fs->kv, &spot->place, spot->version,
	    &out->value);
}

int
cell_limit(struct fs *fs, const struct spot *spot, struct limit *out)
{
	struct schema schema;

	if (!spot->place.table.size) {
		*out = (struct limit){
		    SCHEMA_DOT_MAX, "the most a file of .schema holds"};
		return 0;
	}
	int r = kv_table_schema(fs->kv, spot->place.table, &schema);
	if (r < 0)
		return r;
	const struct family *f =
	    schema_family(&schema, spot->place.family);
	if (f)
		*out = (struct limit){
		    f->max_cell_size, "the family's max_cell_size"};
	schema_release(&schema);
	return 0;
}

static int
mutate(struct fs *fs, const struct spot *spot, struct op *ops, size_t count,
    unsigned flags)
{
	struct mutation m = {
		.table = spot->place.table,
		.row = spot->place.row,
		.ops = ops,
		.count = count,
		.flags = flags | MUTATE_KEEP,
	};

	for (size_t i = 0; i < count; i++) {
		ops[i].family = spot->place.family;
		ops[i].qualifier = spot->place.qualifier;
	}
	return kv_mutate(fs->kv, &m);
}

/* The timestamp a put to this spot asks for. */
static int64_t
stamp_of(const struct spot *spot)
{
	return spot->version.which == VERSION_AT ? spot->version.number
						 : TS_LATEST;
}

int
cell_make(struct fs *fs, const struct spot *spot, const struct attrs *fresh,
    int64_t *mine)
{
	struct op put = {
		.type = OP_PUT, .timestamp = stamp_of(spot), .fresh = *fresh};
	int r = mutate(fs, spot, &put, 1,
	    MUTATE_ABSENT | MUTATE_REFUSE_PUSHED);

	*mine = put.stored;
	return r;
}

int
cell_make_above(struct fs *fs, const struct spot *spot,
    const struct attrs *fresh, int64_t *mine)
{
	struct op put = {
		.type = OP_PUT, .timestamp = TS_LATEST, .attrs = *fresh};
	int r = mutate(fs, spot, &put, 1, 0);

	*mine = put.stored;
	return r;
}

int
cell_drop(struct fs *fs, const struct spot *spot)
{
	struct op all = {.type = OP_DELETE_COLUMN, .timestamp = TS_LATEST};

	return mutate(fs, spot, &all, 1, MUTATE_PRESENT);
}

int
version_drop(struct fs *fs, const struct spot *spot)
{
	struct op one = {
		.type = OP_DELETE_VERSION, .timestamp = stamp_of(spot)};

	return mutate(fs, spot, &one, 1, MUTATE_PRESENT);
}

/* --- counters ------------------------------------------------------------ */

int
counter_open(struct fs *fs, const struct spot *spot, struct reader *out)
{
	struct value *value;
	uint8_t bytes[8];
	int r = kv_value_open(fs->kv, &spot->place, spot->version, &value);

	if (r < 0)
		return r;
	if (value->info.size != sizeof(bytes))
		r = why(EINVAL, "not a counter: %llu bytes wide, not 8",
		    (unsigned long long)value->info.size);
	else if (kv_value_read(fs->kv, value, 0, bytes, sizeof(bytes)) !=
	    sizeof(bytes))
		r = -EIO;
	kv_value_close(fs->kv, value);
	if (r < 0)
		return r;
	buf_printf(&out->text, "%lld\n", (long long)(int64_t)be64(bytes));
	return buf_status(&out->text);
}

int
counter_find(struct fs *fs, struct spot *spot, struct look *look)
{
	struct reader reader = {0};
	int r = cell_find(fs, spot, look);

	if (r == 0)
		r = counter_open(fs, spot, &reader);
	look->st.st_size = (off_t)reader.text.size;
	reader_release(fs, &reader);
	return r;
}

/* A counter that is not there comes into being with its first addition. */
int
counter_make(struct fs *fs, const struct spot *spot, const struct attrs *fresh,
    int64_t *mine)
{
	(void)fs;
	(void)spot;
	(void)fresh;
	(void)mine;
	return 0;
}

/* Reads the addend; blanks around it do not count. */
static int
addend(const struct image *image, int64_t *out)
{
	char text[COUNTER_TEXT + 1] = "";
	char *end;
	int64_t n = image_read(image, 0, text, COUNTER_TEXT);

	if (n < 0)
		return (int)n;
	errno = 0;
	*out = strtoll(text, &end, 10);
	end += strspn(end, " \t\n");
	if (errno || end == text || *end || text + image->size != end)
		return why(EINVAL, "not a whole number of 64 bits: %s", text);
	return 0;
}

/* A number that may still be growing is one that its digits do not contradict;
 * the end of a line ends it. */
int
counter_check(const struct image *image)
{
	char text[COUNTER_TEXT + 1] = "";
	int64_t n = image_read(image, 0, text, COUNTER_TEXT), ignored;
	bool growing = n < COUNTER_TEXT && !strchr(text, '\n') &&
	    !text[strspn(text, " \t+-")];

	if (n < 0)
		return (int)n;
	return growing ? 0 : addend(image, &ignored);
}

int
counter_store(struct fs *fs, const struct spot *spot, struct storing *how)
{
	struct op add = {.type = OP_INCREMENT, .timestamp = TS_LATEST,
		.fresh = how->content.fresh};
	int r;

	if (!how->image->size)
		return 0; /* opened and truncated: nothing to add */
	r = addend(how->image, &add.delta);
	if (r == 0)
		r = mutate(fs, spot, &add, 1, 0);
	image_release(how->image);
	return r;
}
