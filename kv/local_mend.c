#include "local_catalogue.h"

#include <errno.h>

#include "local_keys.h"
#include "why.h"

struct mending {
	struct local *local;
	const struct buf *there; /* numbers of ordered tables, sorted */
	uint32_t next;		 /* above every number met */
	bool lost;		 /* there was no catalogue at all */
	struct buf missing;	 /* ordered tables that entries name in vain */
	struct buf names; /* of the tables so far, each with a be32 size */
};

static void
meet(struct mending *m, uint32_t number)
{
	if (number >= m->next)
		m->next = number + 1;
}

static void
meet_all(struct mending *m, const struct buf *numbers)
{
	const uint32_t *n = (const uint32_t *)numbers->data;

	for (size_t i = 0; i < numbers->size / sizeof(*n); i++)
		meet(m, n[i]);
}

/* Puts an entry that cannot be read out of the way. What nobody owns below
 * the number in its new key is not dropped any more, for it may be its own. */
static int
set_aside(struct txn *t, struct mending *m, struct slice key, struct slice text)
{
	struct buf aside = {0};

	buf_byte(&aside, 'x');
	buf_be32(&aside, m->next);
	buf_append(&aside, key);
	int r = buf_status(&aside);
	if (r == 0)
		r = txn_put(t, CATALOGUE, buf_slice(&aside), text);
	if (r == 0 && key.size)
		r = txn_remove(t, CATALOGUE, key);
	buf_release(&aside);
	t->local->lost = true;
	local_log(t->local, "the catalogue is damaged; what it has lost stays "
			    "in the store's directory, for wt(1)");
	return r;
}

/* Says what an ordered table that is missing was to a table. */
static void
log_loss(struct local *l, const struct table *t, uint32_t number)
{
	struct slice name = t->schema.name.size ? buf_slice(&t->schema.name)
						: slice_text(".schema");
	struct slice family = slice_text("");
	const char *what = "its changes and directories' attributes";

	for (size_t i = 0; i < t->schema.count; i++) {
		const struct local_family *f = &t->families[i];
		if (f->cells != number && f->blobs != number)
			continue;
		family = buf_slice(&f->declared.name);
		what = f->cells == number ? "all its cells"
					  : "the bytes of its large values";
	}
	local_log(l, "ordered table %u is missing; an empty one takes its "
	    "place: table %.*s%s%.*s has lost %s", number, (int)name.size,
	    (const char *)name.data, family.size ? " family " : "",
	    (int)family.size, family.size ? (const char *)family.data : "",
	    what);
	l->lost = true;
}

static int
note_missing(struct mending *m, const struct table *table)
{
	struct buf numbers = {0};

	catalogue_append(table, &numbers);
	int r = buf_status(&numbers);
	meet_all(m, &numbers);
	meet(m, table->id);
	const uint32_t *n = (const uint32_t *)numbers.data;
	for (size_t i = 0; r == 0 && i < numbers.size / sizeof(*n); i++)
		if (!catalogue_has(m->there, n[i])) {
			buf_append(&m->missing, slice_of(&n[i], sizeof(*n)));
			log_loss(m->local, table, n[i]);
		}
	buf_release(&numbers);
	return r ? r : buf_status(&m->missing);
}

/* Whether an entry before had the name; it is remembered. */
static bool
named_before(struct mending *m, struct slice name)
{
	struct slice rest = buf_slice(&m->names);

	while (rest.size) {
		size_t size = be32(rest.data);
		if (slice_equal(slice_of(rest.data + 4, size), name))
			return true;
		rest = slice_skip(rest, 4 + size);
	}
	buf_be32(&m->names, (uint32_t)name.size);
	buf_append(&m->names, name);
	return false;
}

static int
mend_entry(struct txn *t, struct slice key, struct slice text, void *context)
{
	struct mending *m = context;
	struct table *table = NULL;
	int r = -EIO;

	if (key.size == 5)
		r = entry_parse(be32(key.data + 1), text, &table);
	if (r == -EIO || (r == 0 && named_before(m, catalogue_name(table))))
		r = set_aside(t, m, key, text);
	else if (r == 0)
		r = note_missing(m, table);
	table_put(table);
	return r ? r : buf_status(&m->names);
}

static int
mend_body(struct txn *t, void *context)
{
	struct mending *m = context;

	buf_clear(&m->missing);
	buf_clear(&m->names);
	m->next = FIRST_TABLE;
	meet_all(m, m->there);
	int r = load_marks_missing(t, m->next);
	if (r == 0)
		r = txn_each(t, CATALOGUE, slice_text("t"), mend_entry, m);
	/* An entry that names what is not there may have lost what it owned. */
	if (r == 0 && (m->lost || m->missing.size))
		r = set_aside(t, m, slice_of(NULL, 0), slice_of(NULL, 0));
	return r;
}

static int
create_missing(struct mending *m)
{
	const struct ordered_table_options options = {.compressor = "none"};
	const uint32_t *n = (const uint32_t *)m->missing.data;
	struct ordered *o = m->local->ordered;
	int r = 0;

	for (size_t i = 0; r == 0 && i < m->missing.size / sizeof(*n); i++)
		r = o->methods->create(o, n[i], &options);
	return r;
}

int
catalogue_mend(struct local *l, const struct buf *there)
{
	struct mending m = {.local = l,
	    .there = there,
	    .lost = l->ordered->mended || !catalogue_has(there, CATALOGUE)};

	if (there->size == 0)
		return 0;
	l->lost = l->ordered->mended;
	int r = load_create_tables(l, there);
	if (r == 0)
		r = local_write(l, ORDERED_WRITE, mend_body, &m);
	if (r == 0)
		r = create_missing(&m);
	buf_release(&m.missing);
	buf_release(&m.names);
	return r;
}
