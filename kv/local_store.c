#include "local_store.h"

#include <errno.h>
#include <string.h>

#include "local_blob.h"
#include "local_column.h"
#include "why.h"

static struct versions
versions_of(struct txn *t, const struct local_family *f, struct slice row,
    struct slice qualifier, struct dropped *d)
{
	return (struct versions){.txn = t,
	    .family = f,
	    .row = row,
	    .qualifier = qualifier,
	    .dropped = d};
}

static int
clean(struct txn *t, const struct local_family *f, struct slice row,
    struct slice qualifier, size_t at_most, struct dropped *d, bool *left)
{
	struct versions v = versions_of(t, f, row, qualifier, d);
	bool deep = column_may_count(f);

	v.at_most = deep ? at_most : 0;
	int r = versions_open(&v, deep ? OPEN_REMOVE : OPEN_LIST);
	if (r == 0 && v.counted)
		r = column_trim(&v, at_most ? at_most : SIZE_MAX);
	*left = v.left;
	versions_close(&v);
	return r;
}

int
column_clean(struct txn *t, const struct local_family *f, struct slice row,
    struct slice qualifier, struct dropped *d)
{
	bool left;

	return clean(t, f, row, qualifier, 0, d, &left);
}

int
column_clean_some(struct txn *t, const struct local_family *f, struct slice row,
    struct slice qualifier, struct dropped *d, bool *left)
{
	return clean(t, f, row, qualifier, BATCH_CELLS, d, left);
}

int
column_store(struct txn *t, const struct local_family *f, struct slice row,
    struct slice qualifier, int64_t timestamp, const struct record *record,
    struct dropped *d, bool *pushed)
{
	struct versions v = versions_of(t, f, row, qualifier, d);
	int r = versions_open(&v, OPEN_REMOVE);

	*pushed = false;
	if (r == 0)
		r = versions_put(&v, timestamp, record, pushed);
	versions_close(&v);
	return r;
}

int
next_timestamp(const struct txn *t, const struct stored *newest, int64_t *out)
{
	*out = t->now;
	if (!newest || newest->timestamp < t->now)
		return 0;
	if (newest->timestamp >= TS_MAX)
		return why(EINVAL, "the newest version already has the "
				   "greatest timestamp there is");
	*out = newest->timestamp + 1;
	return 0;
}

int
column_next_timestamp(struct txn *t, const struct local_family *f,
    struct slice row, struct slice qualifier, int64_t *out)
{
	struct version newest = {.which = VERSION_NEWEST};
	struct stored s;

	int r = column_find(t, f, row, qualifier, newest, &s);
	if (r >= 0)
		r = next_timestamp(t, r == 0 ? &s : NULL, out);
	stored_release(&s);
	return r;
}

void
dropped_collect(struct local *l, struct dropped *d)
{
	size_t size = sizeof(uint32_t) + sizeof(uint64_t);

	for (size_t i = 0; i + size <= d->ids.size; i += size) {
		uint32_t blobs;
		uint64_t id;
		memcpy(&blobs, d->ids.data + i, sizeof(blobs));
		memcpy(&id, d->ids.data + i + sizeof(blobs), sizeof(id));
		blob_collect(l, blobs, id);
	}
	buf_release(&d->ids);
}
