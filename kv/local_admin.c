#include "local.h"

#include <errno.h>
#include <string.h>

#include "why.h"

/* What changing how a family is stored may copy in its one transaction. */
#define REWRITE_CELLS 100000
#define REWRITE_BYTES (32 << 20)

static struct local *
local_of(struct engine *e)
{
	return (struct local *)e;
}

/* --- ordered tables ------------------------------------------------------ */

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

static int
create_cells(struct local *l, const struct family *f, uint32_t number)
{
	struct ordered_table_options options;

	storage_options(f, &options);
	return l->ordered->methods->create(l->ordered, number, &options);
}

static int
create_blobs(struct local *l, const struct family *f, uint32_t number)
{
	struct ordered_table_options options;

	storage_options(f, &options);
	options = (struct ordered_table_options){
	    .compressor = options.compressor};
	return l->ordered->methods->create(l->ordered, number, &options);
}

static int
create_side(struct local *l, uint32_t number)
{
	const struct ordered_table_options options = {.compressor = "none"};

	return l->ordered->methods->create(l->ordered, number, &options);
}

static void
append_pair(struct buf *numbers, uint32_t cells, uint32_t blobs)
{
	uint32_t pair[2] = {cells, blobs};

	buf_append(numbers, slice_of(pair, sizeof(pair)));
}

/* Fresh ordered tables for every family of s: their numbers. */
static int
create_families(struct local *l, const struct schema *s, struct buf *numbers)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->count; i++) {
		uint32_t first = catalogue_numbers(l, 2);
		append_pair(numbers, first, first + 1);
		r = create_cells(l, &s->families[i], first);
		if (r == 0)
			r = create_blobs(l, &s->families[i], first + 1);
	}
	return r ? r : buf_status(numbers);
}

/* --- the transaction of a change ----------------------------------------- */

static int
change_body(struct txn *t, void *context)
{
	struct table_change *change = context;

	int r = side_schema_changed(t, change->old, change->new);
	return r ? r : catalogue_change(t, change);
}

/* Writes a change, or lets go of what was to be new; then drops what belongs
 * to nobody any more. A drop that fails is done later and is no failure. */
static int
finish(struct local *l, struct table_change *change,
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

/* A table with another schema (taken over) in the place of old. */
static int
successor(const struct table *old, struct schema *schema,
    const struct buf *numbers, struct table **out)
{
	int r = buf_status(numbers);

	*out = NULL;
	if (r) {
		schema_release(schema);
		return r;
	}
	r = table_new(old->id, schema, (const uint32_t *)numbers->data, out);
	if (r)
		return r;
	(*out)->side = old->side;
	(*out)->owner = old->owner;
	(*out)->created = old->created;
	return 0;
}

static void
present_numbers(const struct table *t, struct buf *numbers)
{
	for (size_t i = 0; i < t->schema.count; i++)
		append_pair(numbers, t->families[i].cells,
		    t->families[i].blobs);
}

/* --- creating ------------------------------------------------------------ */

static int
make_table(struct local *l, const struct schema *schema,
    const struct attrs *owner, struct table **out)
{
	struct schema copy = {0};
	struct buf numbers = {0};
	uint32_t id = catalogue_numbers(l, 2);

	*out = NULL;
	int r = create_side(l, id + 1);
	if (r == 0)
		r = create_families(l, schema, &numbers);
	if (r == 0)
		r = schema_copy(schema, &copy);
	if (r == 0)
		r = table_new(id, &copy, (const uint32_t *)numbers.data, out);
	buf_release(&numbers);
	if (r)
		return r;
	(*out)->side = id + 1;
	(*out)->created = clock_now(l->clock);
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
	return r ? r :
		   why(EEXIST, "table %.*s: there is one of that name already",
		       (int)name.size, (const char *)name.data);
}

int
local_table_create(struct engine *e, const struct schema *schema,
    const struct attrs *owner)
{
	struct local *l = local_of(e);
	struct table_change change = {0};

	pthread_mutex_lock(&l->ddl);
	int r = refuse_present(l, buf_slice(&schema->name));
	if (r == 0) {
		r = make_table(l, schema, owner, &change.new);
		r = finish(l, &change, change_body, r);
	}
	pthread_mutex_unlock(&l->ddl);
	return r;
}

/* --- altering ------------------------------------------------------------ */

struct alteration {
	struct table_change change; /* first: finish() knows only this */
	bool drop_data;
};

static bool
rules_differ(const struct family *a, const struct family *b)
{
	return a->versions != b->versions || a->ttl != b->ttl ||
	    a->min_versions != b->min_versions;
}

static bool
storage_differs(const struct family *a, const struct family *b)
{
	return a->compression != b->compression ||
	    a->data_block_encoding != b->data_block_encoding ||
	    a->in_memory != b->in_memory || a->blocksize != b->blocksize;
}

/* Removes for good what the rules in force have put out, from each family
 * whose rules differ from those of schema. */
static int
clean_changed(struct local *l, const struct table *t,
    const struct schema *schema)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < t->schema.count; i++) {
		const struct family *f = &t->schema.families[i];
		const struct family *other =
		    schema_family(schema, buf_slice(&f->name));
		if (other && rules_differ(f, other))
			r = clean_family(l, t, &t->families[i]);
	}
	return r;
}

/* The numbers the altered table's families get: present ones stay, but where
 * the storage differs cells move to a new ordered table. */
static int
prepare_numbers(struct local *l, const struct table *old,
    const struct schema *schema, struct buf *numbers)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < schema->count; i++) {
		const struct family *f = &schema->families[i];
		const struct local_family *was =
		    table_family(old, buf_slice(&f->name));
		if (was && !storage_differs(f, &was->declared)) {
			append_pair(numbers, was->cells, was->blobs);
			continue;
		}
		uint32_t cells = catalogue_numbers(l, 2);
		append_pair(numbers, cells, was ? was->blobs : cells + 1);
		r = create_cells(l, f, cells);
		if (r == 0 && !was)
			r = create_blobs(l, f, cells + 1);
	}
	return r ? r : buf_status(numbers);
}

static int
too_much(const struct local_family *f)
{
	return why(E2BIG, "family %.*s: it holds more than %d cells or %d MiB, "
	    "too much to change compression, data_block_encoding, in_memory "
	    "or blocksize; copy it into a new family instead",
	    (int)f->declared.name.size, (const char *)f->declared.name.data,
	    REWRITE_CELLS, REWRITE_BYTES >> 20);
}

static int
copy_cells(struct txn *t, const struct local_family *from, uint32_t to)
{
	const struct ordered_methods *o = t->local->ordered->methods;
	struct ordered_cursor *c;
	size_t cells = 0, bytes = 0;
	struct slice key, value;

	int r = o->cursor(t->session, from->cells, &c);
	if (r)
		return r;
	r = o->seek(c, slice_of(NULL, 0), SEEK_FROM);
	while (r == 0) {
		r = o->key(c, &key);
		if (r == 0)
			r = o->value(c, &value);
		if (r == 0)
			r = o->put(t->session, to, key, value);
		bytes += key.size + value.size;
		if (r == 0 && (++cells > REWRITE_CELLS || bytes > REWRITE_BYTES))
			r = too_much(from);
		if (r == 0)
			r = o->next(c);
	}
	o->cursor_close(c);
	return r == 1 ? 0 : r;
}

static int
refuse_cells(struct txn *t, const struct table *old,
    const struct local_family *f)
{
	struct slice none = slice_of(NULL, 0);

	int r = cells_any(t, f, none, none);
	if (r == 0)
		r = side_family_files(t, old, buf_slice(&f->declared.name));
	if (r == 1)
		r = why(ENOTEMPTY, "family %.*s: it holds data, so leaving it "
		    "out of the schema is refused; cellfs alter --drop drops "
		    "it with its data", (int)f->declared.name.size,
		    (const char *)f->declared.name.data);
	return r;
}

static int
alter_body(struct txn *t, void *context)
{
	struct alteration *a = context;
	const struct table *old = a->change.old, *new = a->change.new;
	int r = 0;

	for (size_t i = 0; r == 0 && i < old->schema.count; i++) {
		const struct local_family *f = &old->families[i], *now =
		    table_family(new, buf_slice(&f->declared.name));
		if (!now && !a->drop_data)
			r = refuse_cells(t, old, f);
		else if (now && now->cells != f->cells)
			r = copy_cells(t, f, now->cells);
	}
	return r ? r : change_body(t, &a->change);
}

/* The files of families that are no longer declared, and what lowered rules
 * put out. A failure leaves it to the clean-up. */
static void
after_alter(struct local *l, const struct table *old, const struct table *new)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < old->schema.count; i++) {
		struct slice name = buf_slice(&old->schema.families[i].name);
		if (!table_family(new, name))
			r = side_family_forget(l, new, name);
	}
	if (r == 0)
		r = clean_changed(l, new, &old->schema);
	if (r)
		local_log(l, "cleaning up after an alter: %s; it is tried "
		    "again", why_text(r));
}

static int
alter_locked(struct local *l, const struct schema *schema, bool drop_data)
{
	struct alteration a = {.drop_data = drop_data};
	struct schema copy = {0};
	struct buf numbers = {0};
	struct table *old, *new = NULL;

	int r = table_get(l, buf_slice(&schema->name), &old);
	if (r)
		return r;
	a.change.old = old;
	r = clean_changed(l, old, schema);
	if (r == 0)
		r = prepare_numbers(l, old, schema, &numbers);
	if (r == 0)
		r = schema_copy(schema, &copy);
	if (r == 0)
		r = successor(old, &copy, &numbers, &a.change.new);
	new = a.change.new;
	if (new)
		atomic_fetch_add(&new->holders, 1);
	r = finish(l, &a.change, alter_body, r);
	if (r == 0)
		after_alter(l, old, new);
	buf_release(&numbers);
	table_put(new);
	table_put(old);
	return r;
}

int
local_table_alter(struct engine *e, const struct schema *schema,
    bool drop_data)
{
	struct local *l = local_of(e);

	pthread_mutex_lock(&l->ddl);
	int r = alter_locked(l, schema, drop_data);
	pthread_mutex_unlock(&l->ddl);
	return r;
}

static int
refuse_declaration(const struct table *t, struct slice family)
{
	const struct buf *name = &t->schema.name;

	if (!t->schema.open)
		return why(EPERM, "family %.*s: table %.*s is sealed and does "
		    "not declare it; declare it in .schema/%.*s first",
		    (int)family.size, (const char *)family.data,
		    (int)name->size, (const char *)name->data,
		    (int)name->size, (const char *)name->data);
	if (t->schema.count >= OPEN_FAMILIES_MAX)
		return why(EDQUOT, "family %.*s: table %.*s has %d families, "
		    "more are declared in .schema/%.*s only",
		    (int)family.size, (const char *)family.data,
		    (int)name->size, (const char *)name->data,
		    OPEN_FAMILIES_MAX, (int)name->size,
		    (const char *)name->data);
	return 0;
}

static int
declare_locked(struct local *l, struct slice table, struct slice family)
{
	struct table_change change = {0};
	struct schema schema = {0};
	struct buf numbers = {0};
	struct family *declared;

	int r = table_get(l, table, &change.old);
	if (r || table_family(change.old, family))
		goto out;
	r = refuse_declaration(change.old, family);
	if (r)
		goto out;
	r = schema_copy(&change.old->schema, &schema);
	if (r == 0)
		r = schema_declare(&schema, family, &declared);
	if (r == 0)
		r = prepare_numbers(l, change.old, &schema, &numbers);
	if (r == 0)
		r = successor(change.old, &schema, &numbers, &change.new);
	struct table *held = change.old;
	r = finish(l, &change, change_body, r);
	change.old = held;
out:
	schema_release(&schema);
	buf_release(&numbers);
	table_put(change.old);
	return r;
}

int
local_family_declare(struct engine *e, struct slice table,
    struct slice family)
{
	struct local *l = local_of(e);

	pthread_mutex_lock(&l->ddl);
	int r = declare_locked(l, table, family);
	pthread_mutex_unlock(&l->ddl);
	return r;
}

/* --- dropping, emptying, renaming ---------------------------------------- */

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
		r = finish(l, &change, body, r);
		table_put(old);
	}
	pthread_mutex_unlock(&l->ddl);
	return r;
}

int
local_table_drop(struct engine *e, struct slice table)
{
	return change_table(local_of(e), table, NULL, change_body, NULL);
}

static int
drop_empty_body(struct txn *t, void *context)
{
	struct table_change *change = context;

	int r = side_table_any(t, change->old);
	if (r == 1)
		r = why(ENOTEMPTY, "table %.*s: it has rows; drop %.*s in "
		    ".cellfs/control or cellfs drop drops it with them",
		    (int)change->old->schema.name.size,
		    (const char *)change->old->schema.name.data,
		    (int)change->old->schema.name.size,
		    (const char *)change->old->schema.name.data);
	return r ? r : change_body(t, context);
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
	struct buf numbers = {0};
	uint32_t side = catalogue_numbers(l, 1);

	(void)context;
	int r = create_side(l, side);
	if (r == 0)
		r = create_families(l, &change->old->schema, &numbers);
	if (r == 0)
		r = schema_copy(&change->old->schema, &copy);
	if (r == 0)
		r = successor(change->old, &copy, &numbers, &change->new);
	if (r == 0)
		change->new->side = side;
	buf_release(&numbers);
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
	return change_table(local_of(e), table, prepare_truncate,
	    truncate_body, NULL);
}

static int
prepare_rename(struct local *l, struct table_change *change, void *context)
{
	const struct slice *to = context;
	struct schema copy = {0};
	struct buf numbers = {0};

	int r = refuse_present(l, *to);
	if (r == 0)
		r = schema_copy(&change->old->schema, &copy);
	if (r == 0)
		r = buf_set(&copy.name, *to);
	present_numbers(change->old, &numbers);
	if (r == 0)
		r = successor(change->old, &copy, &numbers, &change->new);
	schema_release(&copy);
	buf_release(&numbers);
	return r;
}

int
local_table_rename(struct engine *e, struct slice from, struct slice to)
{
	return change_table(local_of(e), from, prepare_rename, change_body,
	    &to);
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
