#include "local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"
#include "why.h"

#define FORMAT 1

#define RUN_CHECK "; run: cellfs check --repair STORE"

/* --- tables in memory ---------------------------------------------------- */

static struct slice
table_name(const struct table *t)
{
	return buf_slice(&t->schema.name);
}

static void
table_free(struct table *t)
{
	schema_release(&t->schema);
	free(t->families);
	free(t);
}

int
table_new(uint32_t id, struct schema *schema, const uint32_t *numbers,
    struct table **out)
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
		families[i].rules.versions = f->versions;
		families[i].rules.min_versions = f->min_versions;
		if (f->ttl != TTL_FOREVER)
			families[i].rules.ttl = (int64_t)f->ttl * 1000;
		families[i].cells = numbers[2 * i];
		families[i].blobs = numbers[2 * i + 1];
	}
	*out = t;
	return 0;
}

/* Where name stands in l->tables, or would; tables_lock is held. */
static size_t
position(struct local *l, struct slice name, bool *found)
{
	size_t low = 0, high = l->table_count;

	*found = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = slice_compare(table_name(l->tables[middle]), name);
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
	size_t i = position(l, name, &found);
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
table_stale(struct local *l, const struct table *t)
{
	(void)l;
	return atomic_load(&t->stale);
}

/* Room for one more table; so that publishing cannot fail. */
static int
reserve(struct local *l)
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
	size_t i = position(l, table_name(t), &found);

	if (!found || l->tables[i] != t)
		return;
	l->table_count--;
	memmove(&l->tables[i], &l->tables[i + 1],
	    (l->table_count - i) * sizeof(struct table *));
}

static void
array_insert(struct local *l, struct table *t)
{
	bool found;
	size_t i = position(l, table_name(t), &found);

	memmove(&l->tables[i + 1], &l->tables[i],
	    (l->table_count - i) * sizeof(struct table *));
	l->tables[i] = t;
	l->table_count++;
}

/* --- entries ------------------------------------------------------------- */

static void
print_owner(const struct attrs *owner, struct buf *out)
{
	buf_printf(out, "owner %o %u %u\n", (unsigned)owner->mode & 07777,
	    (unsigned)owner->uid, (unsigned)owner->gid);
}

static void
print_entry(const struct table *t, struct buf *out)
{
	buf_text(out, "name ");
	text_print(table_name(t), out);
	buf_printf(out, "\nside %u\ncreated %lld\n", t->side,
	    (long long)t->created);
	print_owner(&t->owner, out);
	for (size_t i = 0; i < t->schema.count; i++)
		buf_printf(out, "family %u %u\n", t->families[i].cells,
		    t->families[i].blobs);
	buf_byte(out, '\n');
	schema_print(&t->schema, out);
}

/* Takes the next line off text if it is "word rest" (or empty: word ""). */
static bool
take_line(struct slice *text, const char *word, struct slice *rest)
{
	const uint8_t *end =
	    text->size ? memchr(text->data, '\n', text->size) : NULL;
	struct slice begin = slice_text(word);

	if (!end)
		return false;
	struct slice line = slice_head(*text, (size_t)(end - text->data));
	if (begin.size == 0) {
		if (line.size)
			return false;
	} else if (!slice_begins(line, begin) || line.size == begin.size ||
	    line.data[begin.size] != ' ') {
		return false;
	} else {
		line = slice_skip(line, begin.size + 1);
	}
	*text = slice_skip(*text, (size_t)(end - text->data) + 1);
	if (rest)
		*rest = line;
	return true;
}

/* Takes a number, and the space behind it, off line. */
static bool
take_number(struct slice *line, unsigned base, uint64_t max, uint64_t *out)
{
	size_t i = 0;

	*out = 0;
	for (; i < line->size && line->data[i] != ' '; i++) {
		unsigned digit = (unsigned)line->data[i] - '0';
		if (digit >= base || *out > (max - digit) / base)
			return false;
		*out = *out * base + digit;
	}
	if (i == 0)
		return false;
	*line = slice_skip(*line, i < line->size ? i + 1 : i);
	return true;
}

/* A line "word NUMBER". */
static bool
take_field(struct slice *text, const char *word, uint64_t max, uint64_t *out)
{
	struct slice line;

	return take_line(text, word, &line) &&
	    take_number(&line, 10, max, out) && line.size == 0;
}

static bool
take_owner(struct slice *text, struct attrs *out)
{
	struct slice line;
	uint64_t mode, uid, gid;

	if (!take_line(text, "owner", &line) ||
	    !take_number(&line, 8, 07777, &mode) ||
	    !take_number(&line, 10, UINT32_MAX, &uid) ||
	    !take_number(&line, 10, UINT32_MAX, &gid))
		return false;
	*out = (struct attrs){.set = ATTR_MODE | ATTR_UID | ATTR_GID,
	    .mode = (mode_t)mode,
	    .uid = (uid_t)uid,
	    .gid = (gid_t)gid};
	return true;
}

/* Takes the "family" lines and the empty one; appends pairs of numbers. */
static bool
take_families(struct slice *text, struct buf *numbers)
{
	struct slice line;
	uint64_t pair[2];

	while (take_line(text, "family", &line)) {
		if (!take_number(&line, 10, UINT32_MAX, &pair[0]) ||
		    !take_number(&line, 10, UINT32_MAX, &pair[1]))
			return false;
		uint32_t stored[2] = {(uint32_t)pair[0], (uint32_t)pair[1]};
		buf_append(numbers, slice_of(stored, sizeof(stored)));
	}
	return take_line(text, "", NULL);
}

/* The table an entry describes. -EIO: damaged. */
static int
parse_entry(uint32_t id, struct slice text, struct table **out)
{
	struct schema schema = {0};
	struct buf numbers = {0};
	struct slice name;
	uint64_t side = 0, created = 0;
	struct attrs owner = {0};
	int r = -EIO;

	*out = NULL;
	if (!take_line(&text, "name", &name) ||
	    text_parse(name, &schema.name) || schema.name.size == 0 ||
	    !take_field(&text, "side", UINT32_MAX, &side) ||
	    !take_field(&text, "created", INT64_MAX, &created) ||
	    !take_owner(&text, &owner) || !take_families(&text, &numbers) ||
	    schema_parse(&schema, text) || schema_check(&schema) ||
	    schema.count * 2 * sizeof(uint32_t) != numbers.size)
		goto out;
	r = buf_status(&numbers);
	if (r)
		goto out;
	r = table_new(id, &schema, (const uint32_t *)numbers.data, out);
	if (r)
		goto out;
	(*out)->side = (uint32_t)side;
	(*out)->created = (int64_t)created;
	(*out)->owner = owner;
out:
	schema_release(&schema);
	buf_release(&numbers);
	return r;
}

/* --- changing ------------------------------------------------------------ */

uint32_t
catalogue_numbers(struct local *l, uint32_t count)
{
	uint32_t first = l->next_number;

	l->next_number += count;
	return first;
}

static int
put_number(struct txn *t, const char *key, uint32_t number)
{
	struct buf text = {0};

	buf_printf(&text, "%u", number);
	int r = buf_status(&text);
	if (r == 0)
		r = t->local->ordered->methods->put(t->session, CATALOGUE,
		    slice_text(key), buf_slice(&text));
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
		array_insert(l, new);
	pthread_rwlock_unlock(&l->tables_lock);
	if (old) {
		atomic_store(&old->stale, true);
		table_put(old);
	}
}

int
catalogue_change(struct txn *t, struct table_change *change)
{
	const struct ordered_methods *o = t->local->ordered->methods;
	const struct table *named = change->new ? change->new : change->old;
	struct buf key = {0}, text = {0};

	int r = reserve(t->local);
	if (r)
		return r;
	buf_byte(&key, 't');
	buf_be32(&key, named->id);
	if (change->new)
		print_entry(change->new, &text);
	r = buf_status(&key);
	if (r == 0)
		r = buf_status(&text);
	if (r == 0 && change->new)
		r = o->put(t->session, CATALOGUE, buf_slice(&key),
		    buf_slice(&text));
	else if (r == 0)
		r = o->remove(t->session, CATALOGUE, buf_slice(&key));
	if (r == 0)
		r = put_number(t, "n", t->local->next_number);
	buf_release(&key);
	buf_release(&text);
	change->local = t->local;
	t->committed = publish;
	t->committed_context = change;
	return r;
}

/* --- numbers of ordered tables ------------------------------------------- */

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

static bool
has_number(const struct buf *sorted, uint32_t number)
{
	return sorted->size &&
	    bsearch(&number, sorted->data, sorted->size / sizeof(number),
		sizeof(number), compare_numbers);
}

/* The numbers of all ordered tables there are, sorted. */
static int
numbers_there(struct local *l, struct buf *out)
{
	int r = l->ordered->methods->tables(l->ordered, out);

	if (r == 0)
		r = buf_status(out);
	if (r == 0)
		sort_numbers(out);
	return r;
}

static void
append_numbers(const struct table *t, struct buf *out)
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
		append_numbers(l->tables[i], out);
	pthread_rwlock_unlock(&l->tables_lock);
	sort_numbers(out);
	return buf_status(out);
}

int
catalogue_sweep(struct local *l)
{
	struct buf there = {0}, owned = {0};
	bool left = false;

	int r = numbers_there(l, &there);
	if (r == 0)
		r = numbers_owned(l, &owned);
	const uint32_t *numbers = (const uint32_t *)there.data;
	for (size_t i = 0; r == 0 && i < there.size / sizeof(*numbers); i++) {
		if (numbers[i] < FIRST_TABLE || has_number(&owned, numbers[i]))
			continue;
		r = l->ordered->methods->drop(l->ordered, numbers[i]);
		if (r == -EBUSY || r == -EAGAIN) {
			left = true;
			r = 0;
		}
	}
	atomic_store(&l->dead_tables, left || r);
	buf_release(&there);
	buf_release(&owned);
	return r;
}

/* --- opening ------------------------------------------------------------- */

static int
create_tables(struct local *l, const struct buf *there)
{
	const struct ordered_table_options options = {.compressor = "none"};
	int r = 0;

	for (uint32_t i = CATALOGUE; r == 0 && i <= ROOT_BLOBS; i++)
		if (!has_number(there, i))
			r = l->ordered->methods->create(l->ordered, i,
			    &options);
	return r;
}

static int
write_marks(struct txn *t, void *context)
{
	const struct ordered_methods *o = t->local->ordered->methods;
	struct attrs owner = {
	    .mode = 0755, .uid = geteuid(), .gid = getegid()};
	struct buf text = {0};

	(void)context;
	buf_printf(&text, "created %lld\n",
	    (long long)clock_now(t->local->clock));
	print_owner(&owner, &text);
	int r = buf_status(&text);
	if (r == 0)
		r = o->put(t->session, CATALOGUE, slice_text("o"),
		    buf_slice(&text));
	buf_release(&text);
	if (r == 0)
		r = put_number(t, "n", FIRST_TABLE);
	if (r == 0)
		r = put_number(t, "v", FORMAT);
	return r;
}

/* A number under a key of the catalogue. -ENODATA: there is none. */
static int
get_number(struct txn *t, const char *key, uint32_t *out)
{
	struct buf text = {0};
	uint64_t number = 0;

	*out = 0;
	int r = t->local->ordered->methods->get(t->session, CATALOGUE,
	    slice_text(key), &text);
	if (r == 1) {
		r = -ENODATA;
	} else if (r == 0) {
		struct slice line = buf_slice(&text);
		if (!take_number(&line, 10, UINT32_MAX, &number) || line.size)
			r = why(EIO, "store: the catalogue's key %s is "
			    "damaged" RUN_CHECK, key);
	}
	buf_release(&text);
	*out = (uint32_t)number;
	return r;
}

static int
check_format(struct txn *t)
{
	uint32_t format;
	int r = get_number(t, "v", &format);

	if (r == -ENODATA)
		return why(EIO, "store: the catalogue has lost its format "
		    "version" RUN_CHECK);
	if (r)
		return r;
	if (format > FORMAT)
		return why(EINVAL, "store: its format is %u, newer than the "
		    "%d that this cellfs knows; use a newer cellfs",
		    format, FORMAT);
	return 0;
}

static int
load_marks(struct txn *t)
{
	struct local *l = t->local;
	struct buf text = {0};
	uint64_t created = 0;

	int r = get_number(t, "n", &l->next_number);
	if (r == -ENODATA)
		r = why(EIO, "store: the catalogue has lost its next "
		    "number" RUN_CHECK);
	if (r == 0)
		r = l->ordered->methods->get(t->session, CATALOGUE,
		    slice_text("o"), &text);
	if (r == 0 || r == 1) {
		struct slice rest = buf_slice(&text);
		r = 0;
		if (!take_field(&rest, "created", INT64_MAX, &created) ||
		    !take_owner(&rest, &l->owner))
			r = why(EIO, "store: the catalogue's key o is "
			    "damaged" RUN_CHECK);
	}
	l->created = (int64_t)created;
	buf_release(&text);
	return r;
}

/* All of a table's ordered tables must be there, and were never given. */
static int
check_numbers(struct local *l, const struct table *t, const struct buf *there)
{
	struct buf numbers = {0};

	append_numbers(t, &numbers);
	int r = buf_status(&numbers);
	const uint32_t *n = (const uint32_t *)numbers.data;
	for (size_t i = 0; r == 0 && i < numbers.size / sizeof(*n); i++) {
		if (!has_number(there, n[i]))
			r = why(EIO, "table %.*s: its ordered table %u is "
			    "missing" RUN_CHECK, (int)t->schema.name.size,
			    (const char *)t->schema.name.data, n[i]);
		if (n[i] >= l->next_number)
			l->next_number = n[i] + 1;
	}
	buf_release(&numbers);
	return r;
}

static int
load_entry(struct txn *t, struct slice key, struct slice text,
    const struct buf *there)
{
	struct local *l = t->local;
	struct table *table = NULL;
	unsigned may = 0;
	bool found = false;

	int r = -EIO;
	if (key.size == 5)
		r = parse_entry(be32(key.data + 1), text, &table);
	if (r == -EIO)
		return why(EIO, "store: the catalogue's entry of table number "
		    "%u is damaged" RUN_CHECK,
		    key.size == 5 ? be32(key.data + 1) : 0);
	if (r == 0)
		r = check_numbers(l, table, there);
	if (r == 0)
		r = side_look(t, table->side, &may);
	if (r == 0)
		r = reserve(l);
	if (r == 0) {
		position(l, table_name(table), &found);
		if (found)
			r = why(EIO, "store: the catalogue names table %.*s "
			    "twice" RUN_CHECK, (int)table->schema.name.size,
			    (const char *)table->schema.name.data);
	}
	if (r) {
		table_put(table);
		return r;
	}
	if (table->id >= l->next_number)
		l->next_number = table->id + 1;
	atomic_store(&table->side_may, may);
	array_insert(l, table);
	return 0;
}

static int
load_entries(struct txn *t, const struct buf *there)
{
	const struct ordered_methods *o = t->local->ordered->methods;
	struct ordered_cursor *c;

	int r = o->cursor(t->session, CATALOGUE, &c);
	if (r)
		return r;
	for (r = o->seek(c, slice_text("t"), SEEK_FROM); r == 0;
	     r = o->next(c)) {
		struct slice key, text;
		r = o->key(c, &key);
		if (r == 0 && key.data[0] != 't')
			break;
		if (r == 0)
			r = o->value(c, &text);
		if (r == 0)
			r = load_entry(t, key, text, there);
		if (r)
			break;
	}
	o->cursor_close(c);
	return r == 1 ? 0 : r;
}

/* Whether a new store is to be made of what is there: 1, 0, or -EIO for data
 * without a catalogue. A store whose making was cut short is made again. */
static int
is_new(struct local *l, const struct buf *there)
{
	const uint32_t *numbers = (const uint32_t *)there->data;
	size_t count = there->size / sizeof(*numbers);
	uint32_t format;
	struct txn t;

	if (count && (numbers[0] != CATALOGUE || numbers[count - 1] > ROOT_BLOBS))
		return numbers[0] == CATALOGUE ?
		    0 :
		    why(EIO, "store: it holds data but no catalogue"
			RUN_CHECK);
	if (count < ROOT_BLOBS + 1)
		return 1;
	int r = txn_read(l, &t);
	if (r == 0)
		r = get_number(&t, "v", &format);
	r = txn_end(&t, r);
	return r == -ENODATA ? 1 : r;
}

static int
load(struct local *l, const struct buf *there)
{
	const uint32_t *numbers = (const uint32_t *)there->data;
	size_t count = there->size / sizeof(*numbers);
	struct txn t;

	int r = txn_read(l, &t);
	if (r == 0)
		r = check_format(&t);
	if (r == 0)
		r = load_marks(&t);
	if (r == 0 && numbers[count - 1] >= l->next_number)
		l->next_number = numbers[count - 1] + 1;
	if (r == 0)
		r = load_entries(&t, there);
	return txn_end(&t, r);
}

int
catalogue_open(struct local *l)
{
	struct buf there = {0};

	int r = numbers_there(l, &there);
	if (r == 0)
		r = is_new(l, &there);
	if (r == 1 && l->options.read_only) {
		r = why(ENOENT, "store: there is none yet, and read-only "
		    "none is made");
	} else if (r == 1) {
		r = create_tables(l, &there);
		if (r == 0)
			r = local_write(l, ORDERED_WRITE, write_marks, NULL);
		buf_clear(&there);
		if (r == 0)
			r = numbers_there(l, &there);
	}
	if (r == 0)
		r = load(l, &there);
	buf_release(&there);
	if (r == 0 && !l->options.read_only)
		r = catalogue_sweep(l);
	return r;
}

void
catalogue_close(struct local *l)
{
	for (size_t i = 0; i < l->table_count; i++)
		table_put(l->tables[i]);
	free(l->tables);
	l->tables = NULL;
	l->table_count = 0;
}
