#include "local_catalogue.h"

#include <errno.h>
#include <unistd.h>

#include "local_side.h"
#include "local_time.h"
#include "text.h"
#include "why.h"

#define FORMAT 1
#define RUN_CHECK "; run: cellfs check --repair STORE"

int
load_create_tables(struct local *l, const struct buf *there)
{
	const struct ordered_table_options options = {.compressor = "none"};
	int r = 0;

	for (uint32_t i = CATALOGUE; r == 0 && i <= BLOOMS; i++)
		if (!catalogue_has(there, i))
			r = l->ordered->methods->create(
			    l->ordered, i, &options);
	return r;
}

static int
put_origin(struct txn *t)
{
	struct attrs owner = {.mode = 0755, .uid = geteuid(), .gid = getegid()};
	struct buf text = {0};

	buf_printf(&text, "created %lld\n", (long long)t->now);
	entry_print_owner(&owner, &text);
	int r = buf_status(&text);
	if (r == 0)
		r = txn_put(t, CATALOGUE, slice_text("o"), buf_slice(&text));
	buf_release(&text);
	return r;
}

static int
write_marks(struct txn *t, void *context)
{
	(void)context;
	int r = put_origin(t);
	if (r == 0)
		r = catalogue_put_number(t, "n", FIRST_TABLE);
	return r ? r : catalogue_put_number(t, "v", FORMAT);
}

/* A number under a key of the catalogue. -ENODATA: there is none. */
static int
get_number(struct txn *t, const char *key, uint32_t *out)
{
	struct buf text = {0};
	uint64_t number = 0;

	int r = txn_get(t, CATALOGUE, slice_text(key), &text);
	if (r == 1)
		r = -ENODATA;
	else if (r == 0 && text_number(buf_slice(&text), UINT32_MAX, &number))
		r = why(EIO,
		    "store: the catalogue's key %s is damaged" RUN_CHECK, key);
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
		return why(EINVAL,
		    "store: its format is %u, newer than the "
		    "%d that this cellfs knows; use a newer cellfs",
		    format, FORMAT);
	return 0;
}

static int
get_origin(struct txn *t)
{
	struct local *l = t->local;
	struct buf text = {0};
	uint64_t created = 0;

	int r = txn_get(t, CATALOGUE, slice_text("o"), &text);
	struct slice rest = buf_slice(&text);
	if (r == 1 || (r == 0 && (!entry_take_number(
				      &rest, "created", INT64_MAX, &created) ||
				     !entry_take_owner(&rest, &l->owner))))
		r = why(EIO, "store: the catalogue's key o is missing or "
			     "damaged" RUN_CHECK);
	l->created = (int64_t)created;
	buf_release(&text);
	return r;
}

static int
load_marks(struct txn *t)
{
	int r = get_number(t, "n", &t->local->next_number);

	if (r == -ENODATA)
		r = why(EIO, "store: the catalogue has lost its next "
			     "number" RUN_CHECK);
	if (r == 0)
		r = time_load(t);
	return r ? r : get_origin(t);
}

int
load_marks_missing(struct txn *t, uint32_t next)
{
	uint32_t number;
	int r = get_number(t, "v", &number);

	if (r == -ENODATA || r == -EIO)
		r = catalogue_put_number(t, "v", FORMAT);
	else if (r == 0)
		r = check_format(t);
	if (r == 0)
		r = get_number(t, "n", &number);
	if (r == -ENODATA || r == -EIO || (r == 0 && number < next))
		r = catalogue_put_number(t, "n", next);
	if (r == 0)
		r = time_load(t);
	if (r == -EIO)
		r = txn_remove(t, CATALOGUE, slice_text("c"));
	if (r == 0)
		r = get_origin(t);
	return r == -EIO ? put_origin(t) : r;
}

/* All of a table's ordered tables must be there, and were never given. */
static int
check_numbers(struct local *l, const struct table *t, const struct buf *there)
{
	struct buf numbers = {0};

	catalogue_append(t, &numbers);
	int r = buf_status(&numbers);
	const uint32_t *n = (const uint32_t *)numbers.data;
	for (size_t i = 0; r == 0 && i < numbers.size / sizeof(*n); i++) {
		if (!catalogue_has(there, n[i]))
			r = why(EIO,
			    "table %.*s: its ordered table %u is "
			    "missing" RUN_CHECK,
			    (int)t->schema.name.size,
			    (const char *)t->schema.name.data, n[i]);
		if (n[i] >= l->next_number)
			l->next_number = n[i] + 1;
	}
	buf_release(&numbers);
	return r;
}

static int
load_entry(
    struct txn *t, struct slice key, struct slice text, const struct buf *there)
{
	struct local *l = t->local;
	struct table *table = NULL;
	unsigned may = SIDE_ANY;
	bool found = false;

	int r = -EIO;
	if (key.size == 5)
		r = entry_parse(be32(key.data + 1), text, &table);
	if (r == -EIO)
		return why(EIO,
		    "store: the catalogue's entry of table number "
		    "%u is damaged" RUN_CHECK,
		    key.size == 5 ? be32(key.data + 1) : 0);
	if (r == 0)
		r = check_numbers(l, table, there);
	if (r == 0 && !l->options.brief)
		r = side_look(t, table->side, &may);
	if (r == 0)
		r = catalogue_reserve(l);
	if (r == 0) {
		catalogue_position(l, catalogue_name(table), &found);
		if (found)
			r = why(EIO,
			    "store: the catalogue names table %.*s "
			    "twice" RUN_CHECK,
			    (int)table->schema.name.size,
			    (const char *)table->schema.name.data);
	}
	if (r) {
		table_put(table);
		return r;
	}
	if (table->id >= l->next_number)
		l->next_number = table->id + 1;
	atomic_store(&table->side_may, may);
	catalogue_insert(l, table);
	return 0;
}

/* A 't' is a table, an 'x' an entry set aside by a repair. */
static int
load_record(struct txn *t, struct slice key, struct slice text, void *context)
{
	struct local *l = t->local;

	if (key.data[0] == 't')
		return load_entry(t, key, text, context);
	if (key.data[0] == 'x' && key.size >= 5 &&
	    be32(key.data + 1) > l->keep_below)
		l->keep_below = be32(key.data + 1);
	return 0;
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

	if (count &&
	    (numbers[0] != CATALOGUE || numbers[count - 1] > BLOOMS))
		return numbers[0] == CATALOGUE
			   ? 0
			   : why(EIO, "store: it holds data but no "
				      "catalogue" RUN_CHECK);
	if (count < ROOT_BLOBS + 1)
		return 1;
	int r = txn_read(l, &t);
	if (r == 0)
		r = get_number(&t, "v", &format);
	r = txn_end(&t, r);
	return r == -ENODATA ? 1 : r;
}

static int
load(struct local *l, struct buf *there)
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
		r = txn_each(
		    &t, CATALOGUE, slice_of(NULL, 0), load_record, there);
	return txn_end(&t, r);
}

/* Makes the catalogue of an empty store, or of one cut short. */
static int
make(struct local *l, struct buf *there)
{
	if (l->options.read_only)
		return why(ENOENT, "store: there is none yet, and read-only "
				   "none is made");
	int r = load_create_tables(l, there);
	if (r == 0)
		r = local_write(l, ORDERED_WRITE, write_marks, NULL);
	buf_clear(there);
	return r ? r : catalogue_there(l, there);
}

static int
mend(struct local *l, struct buf *there)
{
	int r = catalogue_mend(l, there);

	buf_clear(there);
	return r ? r : catalogue_there(l, there);
}

int
catalogue_open(struct local *l)
{
	struct buf there = {0};

	int r = catalogue_there(l, &there);
	if (r == 0 && l->options.repair && !l->options.read_only)
		r = mend(l, &there);
	if (r == 0)
		r = is_new(l, &there);
	if (r == 1)
		r = make(l, &there);
	if (r == 0)
		r = load(l, &there);
	buf_release(&there);
	if (r || l->options.read_only)
		return r;
	r = catalogue_sweep(l);
	if (r)
		local_log(
		    l, "dropping tables: %s; it is tried again", why_text(r));
	return 0;
}
