#include "local_admin.h"

#include <errno.h>

#include "local_any.h"
#include "local_clean.h"
#include "local_depth.h"
#include "local_methods.h"
#include "local_side_ddl.h"
#include "local_time.h"
#include "why.h"

struct alteration {
	struct table_change change; /* first: admin_finish() knows only this */
	bool drop_data;
};

/* Whether a change of rules puts something out that could come back under the
 * new ones: what was beyond VERSIONS before is not stored. */
static bool
puts_out(const struct fold_rules *old, const struct fold_rules *new)
{
	return new->versions < old->versions || new->ttl != old->ttl ||
	       new->min_versions != old->min_versions;
}

/* What the rules that a family had put out stays out, and what the new number
 * of versions puts out at once; alter_body() tells when. */
static struct fold_past
past_of(struct local *l, const struct local_family *was, const struct family *f)
{
	struct fold_rules rules = family_rules(f);

	if (!puts_out(&was->rules, &rules))
		return was->past;
	struct fold_past past = {
	    .sequence = catalogue_numbers(l, 1), .rules = was->rules};
	if (rules.versions < past.rules.versions)
		past.rules.versions = rules.versions;
	return past;
}

/* The entry of a family that is declared already; compact stores anew what is
 * stored otherwise. */
static struct family_entry
altered(struct local *l, const struct local_family *was, const struct family *f)
{
	struct family_entry entry = admin_entry(was);

	entry.past = past_of(l, was, f);
	entry.outdated |= admin_storage_differs(f, &was->declared);
	return entry;
}

/* The entries that the altered table's families get. */
static int
prepare_entries(struct local *l, const struct table *old,
    const struct schema *schema, struct buf *entries)
{
	struct family_entry entry;
	int r = 0;

	for (size_t i = 0; r == 0 && i < schema->count; i++) {
		const struct family *f = &schema->families[i];
		struct slice name = buf_slice(&f->name);
		const struct local_family *was = table_family(old, name);
		/* What a drop that was cut short has left of its files. */
		if (!was)
			r = side_family_forget(l, old, name, true);
		if (r)
			return r;
		if (was)
			entry = altered(l, was, f);
		else
			r = admin_create_family(l, f, &entry);
		admin_append(entries, &entry);
	}
	return r ? r : buf_status(entries);
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
	const struct table *old = a->change.old;
	struct table *new = a->change.new;
	int r = 0;

	for (size_t i = 0; r == 0 && i < old->schema.count; i++) {
		const struct local_family *f = &old->families[i];
		if (!a->drop_data &&
		    !table_family(new, buf_slice(&f->declared.name)))
			r = refuse_cells(t, old, f);
	}
	if (r)
		return r;
	depths_forget(t->local);
	int64_t moment = local_hold_time(t->local);
	for (size_t i = 0; i < new->schema.count; i++)
		new->families[i].past.at = moment;
	return admin_change_body(t, &a->change);
}

/* Removes the files of families that are no longer declared, and what the
 * change has put out. A failure leaves it to the clean-up. */
static void
after_alter(struct local *l, const struct table *old, struct table *new)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < old->schema.count; i++) {
		struct slice name = buf_slice(&old->schema.families[i].name);
		if (!table_family(new, name))
			r = side_family_forget(l, new, name, false);
	}
	if (r == 0)
		r = clean_pasts(l, new);
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
	struct buf entries = {0};
	struct table *old, *new = NULL;

	int r = table_get(l, buf_slice(&schema->name), &old);
	if (r == 0)
		r = clean_pasts(l, old);
	if (r == 0)
		r = table_follow(l, &old);
	if (r) {
		table_put(old);
		return r;
	}
	a.change.old = old;
	r = prepare_entries(l, old, schema, &entries);
	if (r == 0)
		r = schema_copy(schema, &copy);
	if (r == 0)
		r = admin_successor(old, &copy, &entries, &a.change.new);
	new = a.change.new;
	if (new)
		atomic_fetch_add(&new->holders, 1);
	r = admin_finish(l, &a.change, alter_body, r);
	local_let_time(l);
	if (r == 0)
		after_alter(l, old, new);
	buf_release(&entries);
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
		    "not declare it; declare it in .schema/%.*s, or by "
		    "`cellfs alter`, first",
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
declare_locked(struct local *l, struct slice table, struct slice family,
    const struct family *like)
{
	struct table_change change = {0};
	struct schema schema = {0};
	struct buf entries = {0};
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
	if (r == 0 && like)
		family_follow(declared, like);
	if (r == 0)
		r = prepare_entries(l, change.old, &schema, &entries);
	if (r == 0)
		r = admin_successor(change.old, &schema, &entries, &change.new);
	r = admin_finish(l, &change, admin_change_body, r);
out:
	schema_release(&schema);
	buf_release(&entries);
	table_put(change.old);
	return r;
}

int
local_family_declare_like(struct engine *e, struct slice table,
    struct slice family, const struct family *like)
{
	struct local *l = (struct local *)e;

	pthread_mutex_lock(&l->ddl);
	int r = declare_locked(l, table, family, like);
	pthread_mutex_unlock(&l->ddl);
	return r;
}

int
local_family_declare(struct engine *e, struct slice table, struct slice family)
{
	return local_family_declare_like(e, table, family, NULL);
}
