#include "local_catalogue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "local_anew.h"
#include "local_bloom.h"
#include "local_pins.h"
#include "local_side.h"
#include "local_time.h"
#include "why.h"

/* --- tables in memory ------------------------------------------------- */

static void
table_free(struct table *t)
{
	schema_release(&t->schema);
	free(t->families);
	free(t);
}

struct fold_rules
family_rules(const struct family *f)
{
	return (struct fold_rules){
	    .versions = f->versions,
	    .min_versions = f->min_versions,
	    .ttl = f->ttl == TTL_FOREVER ? 0 : (int64_t)f->ttl * 1000,
	};
}

int
table_new(uint32_t id, struct schema *schema,
    const struct family_entry *entries, struct table **out)
{
	struct table *t = calloc(1, sizeof(*t));
	struct local_family *families =
	    calloc(schema->count + 1, sizeof(*families));

	*out = NULL;
	if (!t || !families) {
		free(t);
		free(families);
		schema_release(schema);
		return -ENOMEM;
	}
	t->holders = 1;
	t->id = id;
	t->schema = *schema;
	t->families = families;
	*schema = (struct schema){0};
	for (size_t i = 0; i < t->schema.count; i++) {
		const struct family *f = &t->schema.families[i];
		families[i].declared = *f;
		families[i].rules = family_rules(f);
		families[i].cells = entries[i].cells;
		families[i].blobs = entries[i].blobs;
		families[i].outdated = entries[i].outdated;
		families[i].past = entries[i].past;
	}
	*out = t;
	return 0;
}

/* Where name stands in l->tables, or would; tables_lock is held. */
size_t
catalogue_position(struct local *l, struct slice name, bool *found)
{
	size_t low = 0, high = l->table_count;

	*found = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order =
		    slice_compare(catalogue_name(l->tables[middle]), name);
		if (order == 0) {
			*found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int
table_get(struct local *l, struct slice name, struct table **out)
{
	bool found;

	*out = NULL;
	pthread_rwlock_rdlock(&l->tables_lock);
	size_t i = catalogue_position(l, name, &found);
	if (found) {
		*out = l->tables[i];
		atomic_fetch_add(&(*out)->holders, 1);
	}
	pthread_rwlock_unlock(&l->tables_lock);
	if (!found)
		return why(ENOENT, "table %.*s: there is none of that name",
		    (int)name.size, (const char *)name.data);
	return 0;
}

void
table_put(struct table *t)
{
	if (t && atomic_fetch_sub(&t->holders, 1) == 1)
		table_free(t);
}

int
tables_hold(struct local *l, struct table ***out, size_t *count)
{
	*count = 0;
	pthread_rwlock_rdlock(&l->tables_lock);
	*out = calloc(l->table_count + 1, sizeof(**out));
	for (size_t i = 0; *out && i < l->table_count; i++) {
		(*out)[i] = l->tables[i];
		atomic_fetch_add(&l->tables[i]->holders, 1);
		*count = i + 1;
	}
	pthread_rwlock_unlock(&l->tables_lock);
	return *out ? 0 : -ENOMEM;
}

void
tables_put(struct table **tables, size_t count)
{
	for (size_t i = 0; i < count; i++)
		table_put(tables[i]);
	free(tables);
}

const struct local_family *
table_family(const struct table *t, struct slice name)
{
	const struct family *f = schema_family(&t->schema, name);

	return f ? &t->families[f - t->schema.families] : NULL;
}

bool
table_stale(const struct table *t)
{
	return atomic_load(&t->stale);
}

int
table_follow(struct local *l, struct table **t)
{
	struct table *now = NULL;

	if (!table_stale(*t))
		return 0;
	pthread_rwlock_rdlock(&l->tables_lock);
	for (size_t i = 0; !now && i < l->table_count; i++)
		if (l->tables[i]->id == (*t)->id)
			now = l->tables[i];
	if (now)
		atomic_fetch_add(&now->holders, 1);
	pthread_rwlock_unlock(&l->tables_lock);
	if (!now)
		return why(ENOENT, "table %.*s: it was dropped meanwhile",
		    (int)(*t)->schema.name.size,
		    (const char *)(*t)->schema.name.data);
	table_put(*t);
	*t = now;
	return 0;
}

/* Room for one more table; so that publishing cannot fail. */
int
catalogue_reserve(struct local *l)
{
	pthread_rwlock_wrlock(&l->tables_lock);
	struct table **tables =
	    realloc(l->tables, (l->table_count + 1) * sizeof(struct table *));
	if (tables)
		l->tables = tables;
	pthread_rwlock_unlock(&l->tables_lock);
	return tables ? 0 : -ENOMEM;
}

static void
array_remove(struct local *l, struct table *t)
{
	bool found;
	size_t i = catalogue_position(l, catalogue_name(t), &found);

	if (!found || l->tables[i] != t)
		return;
	l->table_count--;
	memmove(&l->tables[i], &l->tables[i + 1],
	    (l->table_count - i) * sizeof(struct table *));
}

void
catalogue_insert(struct local *l, struct table *t)
{
	bool found;
	size_t i = catalogue_position(l, catalogue_name(t), &found);

	memmove(&l->tables[i + 1], &l->tables[i],
	    (l->table_count - i) * sizeof(struct table *));
	l->tables[i] = t;
	l->table_count++;
}

/* --- changing --------------------------------------------------------- */

uint32_t
catalogue_numbers(struct local *l, uint32_t count)
{
	uint32_t first = l->next_number;

	l->next_number += count;
	return first;
}

int
catalogue_put_number(struct txn *t, const char *key, uint32_t number)
{
	struct buf text = {0};

	buf_printf(&text, "%u", number);
	int r = buf_status(&text);
	if (r == 0)
		r = txn_put(t, CATALOGUE, slice_text(key), buf_slice(&text));
	buf_release(&text);
	return r;
}

static void
publish(void *context)
{
	struct table_change *change = context;
	struct local *l = change->local;
	struct table *old = change->old, *new = change->new;

	if (old && new && old->side == new->side)
		atomic_fetch_or(&new->side_may, atomic_load(&old->side_may));
	pthread_rwlock_wrlock(&l->tables_lock);
	if (old)
		array_remove(l, old);
	if (new)
		catalogue_insert(l, new);
	pthread_rwlock_unlock(&l->tables_lock);
	if (old)
		atomic_store(&old->stale, true);
	local_let_time(l);
	table_put(old);
}

int
catalogue_change(struct txn *t, struct table_change *change)
{
	const struct table *named = change->new ? change->new : change->old;
	struct buf key = {0}, text = {0};

	int r = catalogue_reserve(t->local);
	if (r)
		return r;
	buf_byte(&key, 't');
	buf_be32(&key, named->id);
	if (change->new)
		entry_print(change->new, &text);
	r = buf_status(&key);
	if (r == 0)
		r = buf_status(&text);
	if (r == 0 && change->new)
		r = txn_put(t, CATALOGUE, buf_slice(&key), buf_slice(&text));
	else if (r == 0)
		r = txn_remove(t, CATALOGUE, buf_slice(&key));
	if (r == 0)
		r = catalogue_put_number(t, "n", t->local->next_number);
	buf_release(&key);
	buf_release(&text);
	change->local = t->local;
	t->committed = publish;
	t->committed_context = change;
	return r;
}

/* --- numbers of ordered tables ---------------------------------------- */

static int
compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void
sort_numbers(struct buf *numbers)
{
	if (numbers->size)
		qsort(numbers->data, numbers->size / sizeof(uint32_t),
		    sizeof(uint32_t), compare_numbers);
}

bool
catalogue_has(const struct buf *sorted, uint32_t number)
{
	return sorted->size &&
	       bsearch(&number, sorted->data, sorted->size / sizeof(number),
		   sizeof(number), compare_numbers);
}

/* The numbers of all ordered tables there are, sorted. */
int
catalogue_there(struct local *l, struct buf *out)
{
	int r = l->ordered->methods->tables(l->ordered, out);

	if (r == 0)
		r = buf_status(out);
	if (r == 0)
		sort_numbers(out);
	return r;
}

void
catalogue_append(const struct table *t, struct buf *out)
{
	buf_append(out, slice_of(&t->side, sizeof(t->side)));
	for (size_t i = 0; i < t->schema.count; i++) {
		const struct local_family *f = &t->families[i];
		buf_append(out, slice_of(&f->cells, sizeof(f->cells)));
		buf_append(out, slice_of(&f->blobs, sizeof(f->blobs)));
	}
}

/* The numbers of all ordered tables that have an owner, sorted. */
static int
numbers_owned(struct local *l, struct buf *out)
{
	pthread_rwlock_rdlock(&l->tables_lock);
	for (size_t i = 0; i < l->table_count; i++)
		catalogue_append(l->tables[i], out);
	pthread_rwlock_unlock(&l->tables_lock);
	sort_numbers(out);
	return buf_status(out);
}

/* Drops an ordered table that nobody owns, or says that it has to stay for
 * now: 1. */
static int
drop_dead(struct local *l, uint32_t number)
{
	if (!pins_close(l->pins, number))
		return 1;
	int r = l->ordered->methods->drop(l->ordered, number);
	if (r == 0)
		bloom_forget(l, number);
	return r == -EBUSY || r == -EAGAIN ? 1 : r;
}

int
catalogue_sweep(struct local *l)
{
	struct buf there = {0}, owned = {0};
	bool left = false;

	int r = catalogue_there(l, &there);
	if (r == 0)
		r = numbers_owned(l, &owned);
	const uint32_t *numbers = (const uint32_t *)there.data;
	for (size_t i = 0; r >= 0 && i < there.size / sizeof(*numbers); i++) {
		if (numbers[i] < FIRST_TABLE || numbers[i] < l->keep_below ||
		    catalogue_has(&owned, numbers[i]) ||
		    (l->copying && l->copying->to == numbers[i]))
			continue;
		r = drop_dead(l, numbers[i]);
		left = left || r == 1;
	}
	atomic_store(&l->dead_tables, left || r < 0);
	buf_release(&there);
	buf_release(&owned);
	return r < 0 ? r : 0;
}

/* --- closing ---------------------------------------------------------- */

void
catalogue_close(struct local *l)
{
	for (size_t i = 0; i < l->table_count; i++)
		table_put(l->tables[i]);
	free(l->tables);
	l->tables = NULL;
	l->table_count = 0;
}
