#include "mem_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "why.h"

static void
value_free(struct mem_value *v)
{
	buf_release(&v->bytes);
	free(v);
}

static void
item_free(struct mem_item *item)
{
	while (item->newest) {
		struct mem_value *older = item->newest->older;
		value_free(item->newest);
		item->newest = older;
	}
	buf_release(&item->key);
	free(item);
}

void
mem_table_free(struct mem_table *t)
{
	for (size_t i = 0; i < t->count; i++)
		item_free(t->items[i]);
	free(t->items);
	free(t);
}

size_t
mem_table_place(const struct mem_table *t, struct slice key)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct slice at = buf_slice(&t->items[middle]->key);
		if (slice_compare(at, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct mem_item *
mem_table_item(const struct mem_table *t, struct slice key)
{
	size_t place = mem_table_place(t, key);

	if (place == t->count ||
	    !slice_equal(buf_slice(&t->items[place]->key), key))
		return NULL;
	return t->items[place];
}

static struct mem_item *
insert(struct mem_table *t, struct slice key)
{
	size_t place = mem_table_place(t, key);

	if (t->count == t->room) {
		size_t room = t->room ? t->room * 2 : 16;
		struct mem_item **items =
		    realloc(t->items, room * sizeof(*items));
		if (!items)
			return NULL;
		t->items = items;
		t->room = room;
	}
	struct mem_item *item = calloc(1, sizeof(*item));
	if (!item || buf_set(&item->key, key)) {
		free(item);
		return NULL;
	}
	memmove(t->items + place + 1, t->items + place,
	    (t->count - place) * sizeof(*t->items));
	t->items[place] = item;
	t->count++;
	return item;
}

static void
forget(struct mem_table *t, struct mem_item *item)
{
	size_t place = mem_table_place(t, buf_slice(&item->key));

	memmove(t->items + place, t->items + place + 1,
	    (t->count - place - 1) * sizeof(*t->items));
	t->count--;
	item_free(item);
}

static bool
visible(const struct mem_value *v, struct mem_view view)
{
	return v->owner ? v->owner == view.owner : v->commit <= view.snapshot;
}

const struct mem_value *
mem_item_seen(const struct mem_item *item, struct mem_view view)
{
	const struct mem_value *v = item->newest;

	while (v && !visible(v, view))
		v = v->older;
	return v && !v->removed ? v : NULL;
}

/* A new value of the owner on top of item. */
static int
item_push(struct mem_item *item, const void *owner, const struct slice *bytes)
{
	struct mem_value *v = calloc(1, sizeof(*v));

	if (!v || (bytes && buf_set(&v->bytes, *bytes))) {
		free(v);
		return -ENOMEM;
	}
	v->older = item->newest;
	v->owner = owner;
	v->removed = !bytes;
	item->newest = v;
	return 0;
}

int
mem_table_write(struct mem_table *t, struct mem_view view, struct slice key,
    const struct slice *bytes, struct mem_item **item)
{
	*item = NULL;
	struct mem_item *at = mem_table_item(t, key);
	if (!at && !bytes)
		return 0;
	if (!at)
		at = insert(t, key);
	if (!at)
		return -ENOMEM;

	struct mem_value *newest = at->newest;
	if (newest && !visible(newest, view))
		return why(EAGAIN, "another writer was there first");
	if (newest && newest->owner) {
		newest->removed = !bytes;
		return buf_set(
		    &newest->bytes, bytes ? *bytes : (struct slice){0});
	}
	int r = item_push(at, view.owner, bytes);
	if (r == 0)
		*item = at;
	else if (!newest)
		forget(t, at);
	return r;
}

/* Frees the values of item that no snapshot from oldest on sees, and item
 * itself if nothing is left. */
static void
prune(struct mem_table *t, struct mem_item *item, uint64_t oldest)
{
	struct mem_value *v = item->newest;

	while (v && (v->owner || v->commit > oldest))
		v = v->older;
	while (v && v->older) {
		struct mem_value *dead = v->older;
		v->older = dead->older;
		value_free(dead);
	}
	if (!item->newest || (item->newest == v && v->removed))
		forget(t, item);
}

void
mem_table_settle(struct mem_table *t, struct mem_item *item, uint64_t commit,
    uint64_t oldest)
{
	struct mem_value *own = item->newest;

	if (commit) {
		own->owner = NULL;
		own->commit = commit;
	} else {
		item->newest = own->older;
		value_free(own);
	}
	prune(t, item, oldest);
}
