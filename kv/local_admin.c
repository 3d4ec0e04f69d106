#include "local_admin.h"

#include <errno.h>
#include <string.h>

#include "local_bloom.h"
#include "local_methods.h"
#include "local_side_ddl.h"
#include "local_time.h"
#include "why.h"

static struct local *
local_of(struct engine *e)
{
	return (struct local *)e;
}

/* --- ordered tables --------------------------------------------------- */

static void
storage_options(const struct family *f, struct ordered_table_options *out)
{
	static const char *const compressors[] = {
	    [COMPRESSION_NONE] = "none",
	    [COMPRESSION_SNAPPY] = "snappy",
	    [COMPRESSION_GZ] = "zlib",
	};

	*out = (struct ordered_table_options){
	    .compressor = compressors[f->compression],
	    .prefix_compression = f->data_block_encoding == ENCODING_PREFIX,
	    .cache_resident = f->in_memory,
	    .leaf_page_max = f->blocksize,
	};
}

int
admin_create_cells(struct local *l, const struct family *f, uint32_t number)
{
	struct ordered_table_options options;

	storage_options(f, &options);
	int r = l->ordered->methods->create(l->ordered, number, &options);
	if (r == 0)
		bloom_begin(l, f, number);
	return r;
}

int
admin_create_blobs(struct local *l, const struct family *f, uint32_t number)
{
	struct ordered_table_options options;

	storage_options(f, &options);
	options =
	    (struct ordered_table_options){.compressor = options.compressor};
	return l->ordered->methods->create(l->ordered, number, &options);
}

static int
create_side(struct local *l, uint32_t number)
{
	const struct ordered_table_options options = {.compressor = "none"};

	return l->ordered->methods->create(l->ordered, number, &options);
}

unsigned
admin_storage_differs(const struct family *a, const struct family *b)
{
	if (a->compression != b->compression)
		return OUTDATED_CELLS | OUTDATED_BLOBS;
	return a->data_block_encoding != b->data_block_encoding ||
		       a->in_memory != b->in_memory ||
		       a->blocksize != b->blocksize
		   ? OUTDATED_CELLS
		   : 0;
}

int
admin_create_family(
    struct local *l, const struct family *f, struct family_entry *out)
{
	uint32_t first = catalogue_numbers(l, 2);

	*out = (struct family_entry){.cells = first, .blobs = first + 1};
	int r = admin_create_cells(l, f, out->cells);
	return r ? r : admin_create_blobs(l, f, out->blobs);
}

void
admin_append(struct buf *entries, const struct family_entry *entry)
{
	buf_append(entries, slice_of(entry, sizeof(*entry)));
}

/* Fresh ordered tables for every family of s. */
static int
create_families(struct local *l, const struct schema *s, struct buf *entries)
{
	struct family_entry entry;
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->count; i++) {
		r = admin_create_family(l, &s->families[i], &entry);
		admin_append(entries, &entry);
	}
	return r ? r : buf_status(entries);
}

/* --- the transaction of a change -------------------------------------- */

int
admin_change_body(struct txn *t, void *context)
{
	struct table_change *change = context;

	int r = side_schema_changed(t, change->old, change->new);
	return r ? r : catalogue_change(t, change);
}

int
admin_finish(struct local *l, struct table_change *change,
    int (*body)(struct txn *t, void *context), int r)
{
	if (r == 0)
		r = local_write(l, change->new ? ORDERED_WRITE : ORDERED_REMOVE,
		    body, change);
	if (r)
		table_put(change->new);
	if (r || change->old) {
		int swept = catalogue_sweep(l);
		if (swept)
			local_log(l, "dropping tables: %s; it is tried again",
			    strerror(-swept));
	}
	return r;
}

int
admin_successor(const struct table *old, struct schema *schema,
    const struct buf *entries, struct table **out)
{
	int r = buf_status(entries);

	*out = NULL;
	if (r) {
		schema_release(schema);
		return r;
	}
	r = table_new(
	    old->id, schema, (const struct family_entry *)entries->data, out);
	if (r)
		return r;
	(*out)->side = old->side;
	(*out)->owner = old->owner;
	(*out)->created = old->created;
	return 0;
}

struct family_entry
admin_entry(const struct local_family *f)
{
	return (struct family_entry){.cells = f->cells,
	    .blobs = f->blobs,
	    .outdated = f->outdated,
	    .past = f->past};
}

static void
present_entries(const struct table *t, struct buf *entries)
{
	for (size_t i = 0; i < t->schema.count; i++) {
		struct family_entry entry = admin_entry(&t->families[i]);
		admin_append(entries, &entry);
	}
}

int
admin_same(const struct table *old, struct table **out)
{
	struct schema copy = {0};
	struct buf entries = {0};

	*out = NULL;
	present_entries(old, &entries);
	int r = schema_copy(&old->schema, &copy);
	if (r == 0)
		r = admin_successor(old, &copy, &entries, out);
	buf_release(&entries);
	return r;
}

/* --- what a change of rules has left ----------------------------------- */

int
admin_entry_body(struct txn *t, void *change)
{
	return catalogue_change(t, change);
}

int
admin_drop_pasts(struct local *l, struct table *table)
{
	struct table_change change = {.old = table};
	int r = admin_same(table, &change.new);

	for (size_t i = 0; r == 0 && i < table->schema.count; i++)
		change.new->families[i].past = (struct fold_past){0};
	return admin_finish(l, &change, admin_entry_body, r);
}

/* --- creating --------------------------------------------------------- */

static int
make_table(struct local *l, const struct schema *schema,
    const struct attrs *owner, struct table **out)
{
	struct schema copy = {0};
	struct buf entries = {0};
	uint32_t id = catalogue_numbers(l, 2);

	*out = NULL;
	int r = create_side(l, id + 1);
	if (r == 0)
		r = create_families(l, schema, &entries);
	if (r == 0)
		r = schema_copy(schema, &copy);
	if (r == 0)
		r = table_new(
		    id, &copy, (const struct family_entry *)entries.data, out);
	buf_release(&entries);
	if (r)
		return r;
	(*out)->side = id + 1;
	(*out)->created = local_now(l);
	(*out)->owner = *owner;
	(*out)->owner.set = ATTR_MODE | ATTR_UID | ATTR_GID;
	return 0;
}

static int
refuse_present(struct local *l, struct slice name)
{
	struct table *t;

	int r = table_get(l, name, &t);
	if (r == -ENOENT)
		return 0;
	table_put(t);
	return r ? r
		 : why(EEXIST, "table %.*s: there is one of that name already",
		       (int)name.size, (const char *)name.data);
}

int
local_table_create(
    struct engine *e, const struct schema *schema, const struct attrs *owner)
{
	struct local *l = local_of(e);
	struct table_change change = {0};

	pthread_mutex_lock(&l->ddl);
	int r = refuse_present(l, buf_slice(&schema->name));
	if (r == 0) {
		r = make_table(l, schema, owner, &change.new);
		r = admin_finish(l, &change, admin_change_body, r);
	}
	pthread_mutex_unlock(&l->ddl);
	return r;
}

/* --- dropping, emptying, renaming ------------------------------------- */

/* Runs prepare to make the successor of a table (none: it is dropped). */
static int
change_table(struct local *l, struct slice table,
    int (*prepare)(struct local *l, struct table_change *change, void *context),
    int (*body)(struct txn *t, void *context), void *context)
{
	struct table_change change = {0};

	pthread_mutex_lock(&l->ddl);
	int r = table_get(l, table, &change.old);
	if (r == 0) {
		struct table *old = change.old;
		if (prepare)
			r = prepare(l, &change, context);
		r = admin_finish(l, &change, body, r);
		table_put(old);
	}
	pthread_mutex_unlock(&l->ddl);
	return r;
}

int
local_table_drop(struct engine *e, struct slice table)
{
	return change_table(local_of(e), table, NULL, admin_change_body, NULL);
}

static int
drop_empty_body(struct txn *t, void *context)
{
	struct table_change *change = context;

	int r = side_table_any(t, change->old);
	if (r == 1)
		r = why(ENOTEMPTY,
		    "table %.*s: it has rows; drop %.*s in "
		    ".cellfs/control or cellfs drop drops it with them",
		    (int)change->old->schema.name.size,
		    (const char *)change->old->schema.name.data,
		    (int)change->old->schema.name.size,
		    (const char *)change->old->schema.name.data);
	return r ? r : admin_change_body(t, context);
}

int
admin_drop_empty(struct local *l, struct slice table)
{
	return change_table(l, table, NULL, drop_empty_body, NULL);
}

static int
prepare_truncate(struct local *l, struct table_change *change, void *context)
{
	struct schema copy = {0};
	struct buf entries = {0};
	uint32_t side = catalogue_numbers(l, 1);

	(void)context;
	int r = create_side(l, side);
	if (r == 0)
		r = create_families(l, &change->old->schema, &entries);
	if (r == 0)
		r = schema_copy(&change->old->schema, &copy);
	if (r == 0)
		r = admin_successor(change->old, &copy, &entries, &change->new);
	if (r == 0)
		change->new->side = side;
	buf_release(&entries);
	return r;
}

/* The directory of the table keeps its attributes. */
static int
truncate_body(struct txn *t, void *context)
{
	struct table_change *change = context;

	int r = side_table_attrs_copy(t, change->old, change->new);
	return r ? r : catalogue_change(t, change);
}

int
local_table_truncate(struct engine *e, struct slice table)
{
	return change_table(
	    local_of(e), table, prepare_truncate, truncate_body, NULL);
}

static int
prepare_rename(struct local *l, struct table_change *change, void *context)
{
	const struct slice *to = context;
	int r = refuse_present(l, *to);
	if (r == 0)
		r = admin_same(change->old, &change->new);
	return r ? r : buf_set(&change->new->schema.name, *to);
}

int
local_table_rename(struct engine *e, struct slice from, struct slice to)
{
	return change_table(
	    local_of(e), from, prepare_rename, admin_change_body, &to);
}

int
local_table_schema(struct engine *e, struct slice table, struct schema *out)
{
	struct table *t;

	*out = (struct schema){0};
	int r = table_get(local_of(e), table, &t);
	if (r == 0)
		r = schema_copy(&t->schema, out);
	table_put(t);
	return r;
}
