#include "local_admin.h"

#include <errno.h>

#include "local_any.h"
#include "local_clean.h"
#include "local_methods.h"
#include "local_side_ddl.h"
#include "why.h"

/* What changing how a family is stored may copy in its one transaction. */
#define REWRITE_CELLS 100000
#define REWRITE_BYTES (32 << 20)

struct alteration {
	struct table_change change; /* first: admin_finish() knows only this */
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
clean_changed(
    struct local *l, const struct table *t, const struct schema *schema)
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
			admin_append_pair(numbers, was->cells, was->blobs);
			continue;
		}
		/* What a drop that was cut short has left of its files. */
		if (!was)
			r = side_family_forget(
			    l, old, buf_slice(&f->name), true);
		if (r)
			return r;
		uint32_t cells = catalogue_numbers(l, 2);
		admin_append_pair(numbers, cells, was ? was->blobs : cells + 1);
		r = admin_create_cells(l, f, cells);
		if (r == 0 && !was)
			r = admin_create_blobs(l, f, cells + 1);
	}
	return r ? r : buf_status(numbers);
}

static int
too_much(const struct local_family *f)
{
	return why(E2BIG,
	    "family %.*s: it holds more than %d cells or %d MiB, "
	    "too much to change compression, data_block_encoding, in_memory "
	    "or blocksize; copy it into a new family instead",
	    (int)f->declared.name.size, (const char *)f->declared.name.data,
	    REWRITE_CELLS, REWRITE_BYTES >> 20);
}

/* A family's cells on their way to another ordered table. */
struct copying {
	const struct local_family *from;
	uint32_t to;
	size_t cells, bytes;
};

static int
copy_cell(struct txn *t, struct slice key, struct slice value, void *context)
{
	struct copying *c = context;

	c->bytes += key.size + value.size;
	if (++c->cells > REWRITE_CELLS || c->bytes > REWRITE_BYTES)
		return too_much(c->from);
	return txn_put(t, c->to, key, value);
}

static int
copy_cells(struct txn *t, const struct local_family *from, uint32_t to)
{
	struct copying c = {.from = from, .to = to};

	return txn_each(t, from->cells, slice_of(NULL, 0), copy_cell, &c);
}

static int
refuse_cells(
    struct txn *t, const struct table *old, const struct local_family *f)
{
	struct slice none = slice_of(NULL, 0);

	int r = cells_any(t, f, none, none);
	if (r == 0)
		r = side_family_files(t, old, buf_slice(&f->declared.name));
	if (r == 1)
		r = why(ENOTEMPTY,
		    "family %.*s: it holds data, so leaving it "
		    "out of the schema is refused; cellfs alter --drop drops "
		    "it with its data",
		    (int)f->declared.name.size,
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
		const struct local_family *f = &old->families[i],
					  *now = table_family(new,
					      buf_slice(&f->declared.name));
		if (!now && !a->drop_data)
			r = refuse_cells(t, old, f);
		else if (now && now->cells != f->cells)
			r = copy_cells(t, f, now->cells);
	}
	return r ? r : admin_change_body(t, &a->change);
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
			r = side_family_forget(l, new, name, false);
	}
	if (r == 0)
		r = clean_changed(l, new, &old->schema);
	if (r)
		local_log(l,
		    "cleaning up after an alter: %s; it is tried "
		    "again",
		    why_text(r));
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
	r = prepare_numbers(l, old, schema, &numbers);
	if (r == 0)
		r = schema_copy(schema, &copy);
	if (r == 0)
		r = admin_successor(old, &copy, &numbers, &a.change.new);
	new = a.change.new;
	if (new)
		atomic_fetch_add(&new->holders, 1);
	/* Last, for what goes out after it by the old rules may come back. */
	if (r == 0)
		r = clean_changed(l, old, schema);
	r = admin_finish(l, &a.change, alter_body, r);
	if (r == 0)
		after_alter(l, old, new);
	buf_release(&numbers);
	table_put(new);
	table_put(old);
	return r;
}

int
local_table_alter(struct engine *e, const struct schema *schema, bool drop_data)
{
	struct local *l = (struct local *)e;

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
		return why(EPERM,
		    "family %.*s: table %.*s is sealed and does "
		    "not declare it; declare it in .schema/%.*s first",
		    (int)family.size, (const char *)family.data,
		    (int)name->size, (const char *)name->data, (int)name->size,
		    (const char *)name->data);
	if (t->schema.count >= OPEN_FAMILIES_MAX)
		return why(EDQUOT,
		    "family %.*s: table %.*s has %d families, "
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
		r = admin_successor(change.old, &schema, &numbers, &change.new);
	r = admin_finish(l, &change, admin_change_body, r);
out:
	schema_release(&schema);
	buf_release(&numbers);
	table_put(change.old);
	return r;
}

int
local_family_declare(struct engine *e, struct slice table, struct slice family)
{
	struct local *l = (struct local *)e;

	pthread_mutex_lock(&l->ddl);
	int r = declare_locked(l, table, family);
	pthread_mutex_unlock(&l->ddl);
	return r;
}
