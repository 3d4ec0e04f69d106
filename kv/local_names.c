#include "local_names.h"

#include <errno.h>

#include "key.h"
#include "local_dots.h"

static const struct ordered_methods *
methods(struct txn *t)
{
	return t->local->ordered->methods;
}

/* Where side_next() looks for one kind of name. */
struct names {
	uint8_t tag;
	bool parts;	     /* wanted are continuations' components */
	struct slice base;   /* what keys begin with, before the component */
	struct slice within; /* what names begin with */
	const struct place *dir;
	enum level level;
};

/* Makes key the least that a name behind (or from: inclusive) after has. */
static void
start_key(
    const struct names *n, struct slice after, bool inclusive, struct buf *key)
{
	static const uint8_t behind_name[] = {0, 1}, behind_part[] = {0, 2};

	buf_clear(key);
	buf_append(key, n->base);
	if (slice_compare(after, n->within) < 0 || after.size == 0) {
		key_prefix(key, n->within);
		return;
	}
	key_prefix(key, after);
	if (!inclusive)
		buf_append(
		    key, slice_of(n->parts ? behind_part : behind_name, 2));
}

/* Whether a component found as a name of the kind wanted is one. */
static int
is_name(struct txn *t, const struct table *table, const struct names *n,
    struct slice key, struct slice name)
{
	struct buf prefix = {0};

	if (name.size == 0 || name.size <= n->within.size)
		return 0;
	if (n->level == LEVEL_FAMILY)
		return side_counts(table, n->tag, name);
	if (n->level != LEVEL_ROW)
		return 1;
	int r = side_key_counts(table, n->tag, slice_skip(key, 1));
	if (r)
		return r;
	buf_byte(&prefix, n->tag);
	key_component(&prefix, name);
	r = buf_status(&prefix);
	if (r == 0)
		r = side_any_counting(t, table, buf_slice(&prefix));
	buf_release(&prefix);
	return r;
}

/* Where the search goes on behind a key that gave no name: 1, none can
 * follow; 0 with the name, or with key moved on and *again set. */
static int
judge(struct txn *t, const struct table *table, const struct names *n,
    struct slice found, struct buf *key, struct buf *name, bool *again)
{
	struct slice rest = slice_skip(found, n->base.size);
	bool part;

	buf_clear(key);
	buf_append(key, n->base);
	*again = true;
	if (rest.size == 0) { /* the mark of dir itself */
		buf_byte(key, 0);
		return 0;
	}
	buf_clear(name);
	int r = key_take(&rest, name, &part);
	if (r)
		return r;
	if (!slice_begins(buf_slice(name), n->within))
		return 1;
	if (part == n->parts)
		r = is_name(t, table, n, found, buf_slice(name));
	if (r) {
		*again = false;
		return r < 0 ? r : 0;
	}
	key_prefix(key, buf_slice(name));
	buf_be16(key, part ? 2 : 1);
	return 0;
}

/* The next name of one kind, from key on. 1: no more. */
static int
next_name(struct txn *t, const struct table *table, const struct names *n,
    struct buf *key, struct buf *name)
{
	struct ordered_cursor *c;
	struct slice found;
	bool again = true;

	int r = txn_cursor(t, side_of(table), &c);
	if (r)
		return r;
	while (r == 0 && again) {
		r = buf_status(key);
		if (r == 0)
			r = methods(t)->seek(c, buf_slice(key), SEEK_FROM);
		if (r == 0)
			r = methods(t)->key(c, &found);
		if (r == 0 && !slice_begins(found, n->base))
			r = 1;
		if (r == 0)
			r = judge(t, table, n, found, key, name, &again);
	}
	methods(t)->cursor_close(c);
	return r;
}

static void
base_key(const struct names *n, struct buf *base)
{
	struct place family = *n->dir;

	buf_clear(base);
	switch (n->level) {
	case LEVEL_DOT:
	case LEVEL_DOT_DIR:
		side_files_key(n->dir, base);
		if (n->level == LEVEL_DOT)
			key_component(base, n->dir->dot_dir);
		break;
	case LEVEL_COLUMN_PART:
		family.level = LEVEL_FAMILY;
		side_dir_key(n->tag, &family, base);
		break;
	case LEVEL_FAMILY:
		side_dir_key(n->tag, n->dir, base);
		break;
	default:
		buf_byte(base, n->tag);
		break;
	}
}

/* The lesser of the next names under each tag. 1: no more. */
static int
least_name(struct txn *t, const struct table *table, struct names *n,
    const char *tags, struct slice after, bool inclusive, struct buf *name)
{
	struct buf base = {0}, key = {0}, other = {0};
	bool found = false;
	int r = 0;

	for (; r == 0 && *tags; tags++) {
		n->tag = (uint8_t)*tags;
		if (!side_may(table, n->tag == 'f' ? SIDE_FILES : SIDE_KEPT))
			continue;
		base_key(n, &base);
		r = buf_status(&base);
		if (r)
			break;
		n->base = buf_slice(&base);
		start_key(n, after, inclusive, &key);
		r = next_name(t, table, n, &key, &other);
		if (r == 1) {
			r = 0;
			continue;
		}
		if (r == 0 && found &&
		    slice_compare(buf_slice(&other), buf_slice(name)) >= 0)
			continue;
		if (r == 0)
			r = buf_set(name, buf_slice(&other));
		found = true;
	}
	buf_release(&base);
	buf_release(&key);
	buf_release(&other);
	return r ? r : !found;
}

/* The place of a name found in dir. */
static void
named_place(const struct names *n, struct slice name, struct place *out)
{
	*out = *n->dir;
	out->level = n->level;
	switch (n->level) {
	case LEVEL_ROW:
	case LEVEL_ROW_PART:
		out->row = name;
		break;
	case LEVEL_FAMILY:
		out->family = name;
		break;
	case LEVEL_COLUMN_PART:
		out->qualifier = name;
		break;
	case LEVEL_DOT_DIR:
		out->dot_dir = name;
		break;
	default:
		out->dot = name;
		break;
	}
}

int
side_next(struct txn *t, const struct table *table, const struct place *dir,
    enum level level, struct slice after, bool inclusive, struct buf *name,
    struct info *out)
{
	static const char *const tags[] = {
	    [LEVEL_ROW] = "kpf",
	    [LEVEL_ROW_PART] = "p",
	    [LEVEL_FAMILY] = "kpf",
	    [LEVEL_COLUMN_PART] = "pf",
	    [LEVEL_DOT] = "f",
	    [LEVEL_DOT_DIR] = "f",
	};
	struct names n = {.dir = dir,
	    .level = level,
	    .parts = level == LEVEL_ROW_PART || level == LEVEL_COLUMN_PART};
	struct place place;

	*out = (struct info){0};
	if (dir->level == LEVEL_ROW_PART)
		n.within = dir->row;
	else if (level == LEVEL_COLUMN_PART)
		n.within = dir->qualifier;
	int r = 0;
	if (table && dir->family.size && !table_family(table, dir->family))
		r = level == LEVEL_COLUMN_PART && table->schema.open ? 0 : 1;
	if (r == 0)
		r = least_name(
		    t, table, &n, tags[level], after, inclusive, name);
	if (r)
		return r;
	named_place(&n, buf_slice(name), &place);
	return side_info(t, table, &place, out);
}
