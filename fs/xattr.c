/* The virtual attributes user.cellfs.*: answered, never listed. */
#include "tree.h"

#include <errno.h>

#include "../kv/kv_data.h"
#include "../kv/why.h"

struct about {
	struct fs *fs;
	const struct spot *spot;
	uid_t asking;
};

static int
print_timestamp(const struct about *a, struct buf *out)
{
	struct info info;

	if (a->spot->place.level != LEVEL_COLUMN)
		return -ENODATA;
	int r = kv_stat(a->fs->kv, &a->spot->place, a->spot->version, &info);
	if (r == 0)
		buf_printf(out, "%lld", (long long)info.timestamp);
	return r;
}

static int
count_version(void *context, const struct cell *cell)
{
	(void)cell;
	++*(uint64_t *)context;
	return 0;
}

static int
print_versions(const struct about *a, struct buf *out)
{
	uint64_t count = 0;

	if (a->spot->place.level != LEVEL_COLUMN)
		return -ENODATA;
	int r = kv_versions(a->fs->kv, &a->spot->place, TS_LATEST,
	    count_version, &count);
	if (r == 0)
		buf_printf(out, "%llu", (unsigned long long)count);
	return r;
}

static int
print_bytes(struct slice bytes, bool known, struct buf *out)
{
	if (!known)
		return -ENODATA;
	buf_append(out, bytes);
	return 0;
}

static int
print_row(const struct about *a, struct buf *out)
{
	return print_bytes(a->spot->place.row, a->spot->place.row.size, out);
}

static int
print_family(const struct about *a, struct buf *out)
{
	return print_bytes(a->spot->place.family,
	    a->spot->place.family.size, out);
}

static int
print_qualifier(const struct about *a, struct buf *out)
{
	return print_bytes(a->spot->place.qualifier,
	    a->spot->place.level == LEVEL_COLUMN, out);
}

/* The key of the thing itself, in hex: a row's, a qualifier's. */
static int
print_key(const struct about *a, struct buf *out)
{
	const struct place *p = &a->spot->place;
	struct slice key = p->level == LEVEL_COLUMN ||
		p->level == LEVEL_COLUMN_PART ? p->qualifier
	    : p->level == LEVEL_FAMILY ? p->family : p->row;

	if (!p->row.size)
		return -ENODATA;
	for (size_t i = 0; i < key.size; i++)
		buf_printf(out, "%02x", key.data[i]);
	return 0;
}

static int
print_error(const struct about *a, struct buf *out)
{
	journal_last(&a->fs->journal, a->asking, out);
	return 0;
}

static const struct attribute {
	const char *name;
	int (*print)(const struct about *a, struct buf *out);
} attributes[] = {
	{"user.cellfs.timestamp", print_timestamp},
	{"user.cellfs.versions", print_versions},
	{"user.cellfs.row", print_row},
	{"user.cellfs.family", print_family},
	{"user.cellfs.qualifier", print_qualifier},
	{"user.cellfs.key", print_key},
	{"user.cellfs.error", print_error},
};

int
tree_xattr(struct fs *fs, struct inode *inode, struct slice name,
    const struct caller *caller, struct buf *out)
{
	struct spot spot;
	int r = inode_spot(fs, inode, &spot);

	if (r < 0)
		return r;
	struct about about = {fs, &spot, caller->uid};
	r = -ENODATA;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++)
		if (slice_equal(name, slice_text(attributes[i].name)))
			r = attributes[i].print(&about, out);
	spot_release(&spot);
	return r < 0 ? r : buf_status(out);
}
