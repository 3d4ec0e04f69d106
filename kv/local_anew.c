#include "local_anew.h"

#include <errno.h>

#include "local_admin.h"
#include "why.h"

uint32_t
anew_twin_of(const struct local *l, uint32_t table)
{
	return l->copying && l->copying->from == table ? l->copying->to : 0;
}

uint32_t
anew_twin(const struct local *l, uint32_t table, struct slice key)
{
	const struct copying *c = l->copying;

	if (!c || c->from != table)
		return 0;
	return c->all || slice_compare(key, buf_slice(&c->upto)) < 0 ? c->to
								     : 0;
}

/* One ordered table on its way. */
struct renewal {
	struct local *local;
	struct table *table;	 /* as it is now, held */
	const struct family *as; /* how the copy is stored */
	unsigned what;		 /* OUTDATED_CELLS or OUTDATED_BLOBS */
	struct copying copying;
	struct buf next; /* from here on after the batch */
	bool last;	 /* there is nothing from there on */
};

static uint32_t
number_of(const struct local_family *f, unsigned what)
{
	return what == OUTDATED_CELLS ? f->cells : f->blobs;
}

/* The family as it is now, or NULL where it is no longer in that ordered
 * table: dropped, or emptied. */
static const struct local_family *
present(const struct renewal *n)
{
	const struct local_family *f =
	    table_family(n->table, buf_slice(&n->as->name));

	return f && number_of(f, n->what) == n->copying.from ? f : NULL;
}

/* --- copying ---------------------------------------------------------- */

/* The batch is committed: what it copied is written twice from now on. */
static void
advance(void *context)
{
	struct renewal *n = context;
	struct buf upto = n->copying.upto;

	n->copying.upto = n->next;
	n->next = upto;
	n->copying.all = n->last;
}

static int
copy_records(struct txn *t, struct renewal *n, struct ordered_cursor *c)
{
	const struct ordered_methods *o = t->local->ordered->methods;
	size_t records = 0, bytes = 0;
	struct slice key, value;

	int r = o->seek(c, buf_slice(&n->copying.upto), SEEK_FROM);
	while (r == 0) {
		r = o->key(c, &key);
		if (r == 0 && (records++ == BATCH_CELLS || bytes > BATCH_BYTES))
			return buf_set(&n->next, key);
		if (r == 0)
			r = o->value(c, &value);
		bytes += key.size + value.size;
		if (r == 0)
			r = txn_put(t, n->copying.to, key, value);
		if (r == 0)
			r = o->next(c);
	}
	n->last = r == 1;
	return r == 1 ? 0 : r;
}

static int
copy_body(struct txn *t, void *context)
{
	struct renewal *n = context;
	struct ordered_cursor *c;

	int r = table_follow(t->local, &n->table);
	if (r == 0 && !present(n))
		r = -ESTALE;
	if (r == 0)
		r = txn_cursor(t, n->copying.from, &c);
	if (r)
		return r;
	n->last = false;
	r = copy_records(t, n, c);
	t->local->ordered->methods->cursor_close(c);
	t->committed = advance;
	t->committed_context = n;
	return r;
}

static int
copy(struct renewal *n)
{
	int r = 0;

	while (r == 0 && !n->copying.all) {
		r = local_interrupted(n->local);
		if (r == 0)
			r = local_write(n->local, ORDERED_WRITE, copy_body, n);
	}
	return r;
}

/* --- beginning and ending (ddl held) ---------------------------------- */

static void
set_copying(struct local *l, struct copying *c)
{
	pthread_mutex_lock(&l->writer);
	l->copying = c;
	pthread_mutex_unlock(&l->writer);
}

static int
begin(struct renewal *n)
{
	struct local *l = n->local;

	if (l->copying)
		return why(EBUSY, "another family is being stored anew just "
				  "now; compact it again after that");
	int r = table_follow(l, &n->table);
	if (r == 0 && !present(n))
		r = -ESTALE;
	if (r)
		return r;
	n->copying.to = catalogue_numbers(l, 1);
	r = n->what == OUTDATED_CELLS
		? admin_create_cells(l, n->as, n->copying.to)
		: admin_create_blobs(l, n->as, n->copying.to);
	if (r == 0)
		set_copying(l, &n->copying);
	return r;
}

/* The catalogue names the copy, unless the family is to be stored otherwise
 * again. */
static int
switch_over(struct renewal *n)
{
	struct table_change change = {0};

	int r = table_follow(n->local, &n->table);
	if (r)
		return r;
	const struct local_family *f = present(n);
	if (!f || (admin_storage_differs(&f->declared, n->as) & n->what))
		return -ESTALE;
	size_t i = (size_t)(f - n->table->families);
	change.old = n->table;
	r = admin_same(n->table, &change.new);
	if (r == 0) {
		struct local_family *new = &change.new->families[i];
		if (n->what == OUTDATED_CELLS)
			new->cells = n->copying.to;
		else
			new->blobs = n->copying.to;
		new->outdated &= ~n->what;
	}
	return admin_finish(n->local, &change, admin_entry_body, r);
}

static int
end(struct renewal *n, int r)
{
	struct local *l = n->local;

	if (r == 0)
		r = switch_over(n);
	set_copying(l, NULL);
	int swept = r ? catalogue_sweep(l) : 0;
	if (swept)
		local_log(l, "dropping tables: %s; it is tried again",
		    why_text(swept));
	return r;
}

/* --- all of a table --------------------------------------------------- */

static int
renew(struct local *l, struct table **t, const struct local_family *f,
    unsigned what)
{
	struct renewal n = {.local = l,
	    .table = *t,
	    .as = &f->declared,
	    .what = what,
	    .copying.from = number_of(f, what)};
	struct table *as_of = *t;

	atomic_fetch_add(&as_of->holders, 1);
	pthread_mutex_lock(&l->ddl);
	int r = begin(&n);
	pthread_mutex_unlock(&l->ddl);
	if (r == 0) {
		r = copy(&n);
		pthread_mutex_lock(&l->ddl);
		r = end(&n, r);
		pthread_mutex_unlock(&l->ddl);
	}
	buf_release(&n.copying.upto);
	buf_release(&n.next);
	*t = n.table;
	table_put(as_of);
	/* Others have altered or emptied it, or it is gone. */
	return r == -ESTALE || (r == -ENOENT && table_stale(n.table)) ? 0 : r;
}

int
anew_table(struct local *l, struct table **t, struct slice family)
{
	struct table *first = *t;
	int r = 0;

	atomic_fetch_add(&first->holders, 1);
	for (size_t i = 0; r == 0 && i < first->schema.count; i++) {
		struct slice name = buf_slice(&first->schema.families[i].name);
		if (family.size && !slice_equal(family, name))
			continue;
		for (unsigned what = 1; r == 0 && what <= OUTDATED_BLOBS;
		     what <<= 1) {
			const struct local_family *f = table_family(*t, name);
			if (f && f->outdated & what)
				r = renew(l, t, f, what);
		}
	}
	table_put(first);
	int followed = r ? 0 : table_follow(l, t);
	return followed == -ENOENT ? 0 : r ? r : followed;
}
