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

int
column_clean(struct txn *t, const struct local_family *f, struct slice row,
    struct slice qualifier, struct dropped *d)
{
	struct versions v = versions_of(t, f, row, qualifier, d);
	int r = versions_open(&v, OPEN_LIST);

	versions_close(&v);
	return r;
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
column_next_timestamp(struct txn *t, const struct local_family *f,
    struct slice row, struct slice qualifier, int64_t *out)
{
	struct version newest = {.which = VERSION_NEWEST};
	struct stored s;

	*out = t->now;
	int r = column_find(t, f, row, qualifier, newest, &s);
	if (r == 0 && s.timestamp >= TS_MAX)
		r = why(EINVAL, "the newest version already has the greatest "
				"timestamp there is");
	else if (r == 0 && s.timestamp >= t->now)
		*out = s.timestamp + 1;
	stored_release(&s);
	return r < 0 ? r : 0;
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
