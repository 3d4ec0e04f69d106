#include "local_methods.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "key.h"
#include "local_depth.h"
#include "local_keys.h"
#include "local_store.h"
#include "text.h"
#include "why.h"

#define TRIES 20 /* at a table that somebody reads just now */

struct check {
	struct local *local;
	bool repair;
	void (*problem)(void *context, const char *line);
	void *context;
	bool found; /* at least one fault */
};

/* What is being read, and where it goes on. */
struct reading {
	struct check *check;
	const struct table *table;
	const struct local_family *family; /* NULL: the side table */
	uint32_t number;		   /* of the ordered table */
	struct buf from;		   /* the next batch begins here */
	struct buf faults; /* keys to be removed, each with a be32 size */
	struct buf lost;   /* struct lost: what is left of their values */
	struct dropped dropped;
	bool done;
};

/* A value of which chunks are missing. */
struct lost {
	uint32_t blobs;
	uint64_t id;
};

static void
tell(struct check *c, const char *line)
{
	c->found = true;
	c->problem(c->context, line);
}

/* "table T family F: key K: what" */
static int
tell_key(const struct reading *r, struct slice key, const char *what)
{
	struct buf line = {0};

	buf_text(&line, "table ");
	text_print(r->table ? buf_slice(&r->table->schema.name)
			    : slice_text(".schema"),
	    &line);
	if (r->family) {
		buf_text(&line, " family ");
		text_print(buf_slice(&r->family->declared.name), &line);
	}
	buf_text(&line, ": key ");
	text_print(key, &line);
	buf_printf(&line, " of ordered table %u: %s%s", r->number, what,
	    r->check->repair ? "; removed" : "");
	buf_byte(&line, 0);
	int status = buf_status(&line);
	if (status == 0)
		tell(r->check, (const char *)line.data);
	buf_release(&line);
	return status;
}

static int
fault(struct reading *r, struct slice key, const char *what)
{
	int status = tell_key(r, key, what);

	buf_be32(&r->faults, (uint32_t)key.size);
	buf_append(&r->faults, key);
	return status ? status : buf_status(&r->faults);
}

/* --- blobs ------------------------------------------------------------ */

static void
chunk_key(struct buf *key, uint64_t id, uint64_t chunk)
{
	buf_clear(key);
	buf_byte(key, 'b');
	buf_be64(key, id);
	buf_be32(key, (uint32_t)chunk);
}

/* Whether all chunks of a value are there, of the right sizes: 1, 0, errno. */
static int
chunks_there(struct txn *t, uint32_t blobs, const struct record *record)
{
	struct buf key = {0}, chunk = {0};
	uint64_t at = 0;
	int r = 0;

	while (r == 0 && at < record->size) {
		uint64_t size =
		    record->size - at < CHUNK ? record->size - at : CHUNK;
		chunk_key(&key, record->blob, at / CHUNK);
		r = buf_status(&key);
		if (r == 0)
			r = txn_get(t, blobs, buf_slice(&key), &chunk);
		if (r == 0 && chunk.size != size)
			r = 1;
		at += size;
	}
	buf_release(&key);
	buf_release(&chunk);
	return r < 0 ? r : !r;
}

/* --- records ---------------------------------------------------------- */

/* The fault of a record as such, or NULL. */
static const char *
record_fault(struct slice stored, struct record *record)
{
	return record_decode(stored, record)
		   ? "its record is damaged or of a later format"
		   : NULL;
}

/* What is left of a value goes with its record. */
static int
lose(struct reading *r, uint32_t blobs, uint64_t id)
{
	struct lost lost = {.blobs = blobs, .id = id};

	buf_append(&r->lost, slice_of(&lost, sizeof(lost)));
	return buf_status(&r->lost);
}

static int
check_cell(
    struct reading *r, struct txn *t, struct slice key, struct slice value)
{
	struct buf row = {0}, qualifier = {0};
	struct record record = {0};
	const char *what = record_fault(value, &record);
	int64_t timestamp;

	if (key_split(key, &row, &qualifier, &timestamp))
		what = "it is not the key of a cell";
	buf_release(&row);
	buf_release(&qualifier);
	if (!what && record.blob) {
		int there = chunks_there(t, r->family->blobs, &record);
		if (there == 0)
			there = lose(r, r->family->blobs, record.blob);
		if (there < 0)
			return there;
		if (!there)
			what = "chunks of its value are missing";
	}
	return what ? fault(r, key, what) : 0;
}

/* Whether key is a run of whole components. */
static bool
components(struct slice key)
{
	while (key.size) {
		size_t size = key_component_size(key);
		if (!size)
			return false;
		key = slice_skip(key, size);
	}
	return true;
}

/* Where a dot file's value stands; 0: its family is not declared, so that it
 * is not there for anybody. */
static int
side_blobs(const struct reading *r, struct slice key, uint32_t *blobs)
{
	struct buf part = {0};

	*blobs = ROOT_BLOBS;
	if (!r->table)
		return 0;
	*blobs = 0;
	key = slice_skip(key, 1);
	int status = key_take(&key, &part, NULL);
	buf_clear(&part);
	if (status == 0)
		status = key_take(&key, &part, NULL);
	if (status == 0) {
		const struct local_family *f =
		    table_family(r->table, buf_slice(&part));
		*blobs = f ? f->blobs : 0;
	}
	buf_release(&part);
	return status;
}

static int
check_side(
    struct reading *r, struct txn *t, struct slice key, struct slice value)
{
	struct record record = {0};
	const char *what = NULL;
	uint32_t blobs;

	if (!strchr("akpft", key.data[0]) || !components(slice_skip(key, 1)))
		what = "it is not a key of a side table";
	else if (key.data[0] == 'a' || key.data[0] == 'f')
		what = record_fault(value, &record);
	if (!what && record.blob) {
		if (side_blobs(r, key, &blobs))
			what = "it is not the key of a dot file";
		int there =
		    !what && blobs ? chunks_there(t, blobs, &record) : 1;
		if (there == 0)
			there = lose(r, blobs, record.blob);
		if (there < 0)
			return there;
		if (!there)
			what = "chunks of its value are missing";
	}
	return what ? fault(r, key, what) : 0;
}

/* --- reading in batches ----------------------------------------------- */

/* One batch in t's snapshot. */
static int
read_batch(struct reading *r, struct txn *t, struct ordered_cursor *c)
{
	const struct ordered_methods *o = t->local->ordered->methods;
	struct slice key, value;

	int status = o->seek(c, buf_slice(&r->from), SEEK_FROM);
	for (int i = 0; status == 0; i++) {
		status = o->key(c, &key);
		if (status == 0)
			status = o->value(c, &value);
		if (status)
			break;
		if (i == READ_CELLS)
			return buf_set(&r->from, key);
		status = r->family ? check_cell(r, t, key, value)
				   : check_side(r, t, key, value);
		if (status == 0)
			status = o->next(c);
	}
	r->done = status == 1;
	return status == 1 ? 0 : status;
}

static int
remove_faults(struct txn *t, void *context)
{
	struct reading *r = context;
	struct slice rest = buf_slice(&r->faults);
	const struct lost *lost = (const struct lost *)r->lost.data;
	int status = 0;

	buf_clear(&r->dropped.ids);
	while (status == 0 && rest.size) {
		size_t size = be32(rest.data);
		status =
		    txn_remove(t, r->number, slice_of(rest.data + 4, size));
		rest = slice_skip(rest, 4 + size);
	}
	for (size_t i = 0;
	     status == 0 && i < r->lost.size / sizeof(struct lost); i++)
		status = dropped_add(t, &r->dropped, lost[i].blobs, lost[i].id);
	depths_forget(t->local);
	return status;
}

static int
repair_faults(struct reading *r)
{
	struct local *l = r->check->local;
	int status = local_write(l, ORDERED_REMOVE, remove_faults, r);

	if (status == 0)
		dropped_collect(l, &r->dropped);
	else
		buf_release(&r->dropped.ids);
	return status;
}

static int
read_some(struct reading *r)
{
	struct local *l = r->check->local;
	struct ordered_cursor *c;
	struct txn t;

	int status = txn_read(l, &t);
	if (status == 0)
		status = txn_cursor(&t, r->number, &c);
	if (status == 0) {
		status = read_batch(r, &t, c);
		l->ordered->methods->cursor_close(c);
	}
	status = txn_end(&t, status);
	if (status == 0 && r->faults.size && r->check->repair)
		status = repair_faults(r);
	buf_clear(&r->faults);
	buf_clear(&r->lost);
	return status;
}

/* A page that cannot be read is a fault of the table, and ends its reading. */
static int
read_table(struct reading *r)
{
	struct local *l = r->check->local;
	int status = 0;

	while (status == 0 && !r->done) {
		status = local_interrupted(l);
		if (status == 0)
			status = read_some(r);
	}
	if (status == -EIO) {
		tell(r->check, why_text(status));
		status = 0;
	}
	buf_release(&r->from);
	buf_release(&r->faults);
	buf_release(&r->lost);
	return status;
}

/* Every block of an ordered table; with repair what is left of it is kept. */
static int
verify(struct check *c, uint32_t number)
{
	struct ordered *o = c->local->ordered;
	int r = -EBUSY;

	for (int i = 0; r == -EBUSY && i < TRIES; i++) {
		if (i)
			nanosleep(
			    &(struct timespec){.tv_nsec = 50000000}, NULL);
		r = o->methods->verify(o, number);
	}
	if (r == -EINTR || r == -ENOMEM)
		return r;
	/* Stores that are older than it do not have it. */
	if (r && !(r == -ENOENT && number == BLOOMS))
		tell(c, why_text(r == 1 ? -EIO : r)); /* 1: mended */
	return 0;
}

static int
check_table(struct check *c, const struct table *table)
{
	struct reading side = {
	    .check = c, .table = table, .number = table->side};
	int r = verify(c, table->side);

	for (size_t i = 0; r == 0 && i < table->schema.count; i++) {
		const struct local_family *f = &table->families[i];
		struct reading cells = {.check = c,
		    .table = table,
		    .family = f,
		    .number = f->cells};
		r = verify(c, f->cells);
		if (r == 0)
			r = verify(c, f->blobs);
		if (r == 0)
			r = read_table(&cells);
	}
	return r ? r : read_table(&side);
}

/* The store's own tables, then each table's. */
static int
check_all(struct check *c)
{
	struct reading root = {.check = c, .number = ROOT_SIDE};
	struct table **tables;
	size_t count;
	int r = 0;

	for (uint32_t i = CATALOGUE; r == 0 && i <= BLOOMS; i++)
		r = verify(c, i);
	if (r == 0)
		r = read_table(&root);
	if (r == 0)
		r = tables_hold(c->local, &tables, &count);
	if (r)
		return r;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = table_stale(tables[i]) ? 0 : check_table(c, tables[i]);
	tables_put(tables, count);
	return r;
}

int
local_check(struct engine *e, bool repair,
    void (*problem)(void *context, const char *line), void *context)
{
	struct check c = {.local = (struct local *)e,
	    .repair = repair,
	    .problem = problem,
	    .context = context,
	    .found = ((struct local *)e)->lost};

	int r = check_all(&c);
	return r ? r : c.found;
}
