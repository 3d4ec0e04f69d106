/* local_catalogue: what the files about the catalogue share (private to them):
 * local_catalogue.c has the tables in memory and changes them, local_load.c
 * opens, local_mend.c repairs, local_entry.c knows the text of an entry.
 */
#ifndef CELLFS_KV_LOCAL_CATALOGUE_H
#define CELLFS_KV_LOCAL_CATALOGUE_H

#include "local_table.h"
#include "local_txn.h"

/* Loads all tables; makes the catalogue of an empty store. */
int
catalogue_open(struct local *l);

void
catalogue_close(struct local *l);

/* What a DDL transaction does to the catalogue: `new` takes the place of
 * `old`; either may be NULL (created, dropped). */
struct table_change {
	struct local *local;
	struct table *old, *new;
};

/* Writes the entry and has it published on commit (ddl held; change lives
 * until then). The catalogue then owns `new`, and puts back its own hold on
 * `old`; the caller's holds stay the caller's. */
int
catalogue_change(struct txn *t, struct table_change *change);

/* The next count numbers (ddl held). */
uint32_t
catalogue_numbers(struct local *l, uint32_t count);

/* Drops the ordered tables that belong to nobody (ddl held). What is still
 * read stays for the next time: l->dead_tables. */
int
catalogue_sweep(struct local *l);

static inline struct slice
catalogue_name(const struct table *t)
{
	return buf_slice(&t->schema.name);
}

/* --- tables in memory ------------------------------------------------- */

/* Where name stands in l->tables, or would; tables_lock is held. */
size_t
catalogue_position(struct local *l, struct slice name, bool *found);

/* Room for one more table, so that inserting it cannot fail. */
int
catalogue_reserve(struct local *l);

/* Puts a table whose name is new in its place (tables_lock held, or nobody
 * else there yet). */
void
catalogue_insert(struct local *l, struct table *t);

/* --- numbers of ordered tables ---------------------------------------- */

/* The numbers of all ordered tables there are, sorted. */
int
catalogue_there(struct local *l, struct buf *out);

bool
catalogue_has(const struct buf *sorted, uint32_t number);

/* Appends those of a table. */
void
catalogue_append(const struct table *t, struct buf *out);

/* Stores a number under a key of the catalogue. */
int
catalogue_put_number(struct txn *t, const char *key, uint32_t number);

/* --- opening ---------------------------------------------------------- */

/* Creates those of the store's own ordered tables that are not there. */
int
load_create_tables(struct local *l, const struct buf *there);

/* In a transaction of a repair: writes the marks that are missing or damaged;
 * the next number is at least this. */
int
load_marks_missing(struct txn *t, uint32_t next);

/* Repairs the catalogue so that it can be loaded: damaged entries are set
 * aside, missing ordered tables created empty. */
int
catalogue_mend(struct local *l, const struct buf *there);

/* --- the text of an entry --------------------------------------------- */

void
entry_print(const struct table *t, struct buf *out);

/* The table an entry describes, not published. -EIO: damaged. */
int
entry_parse(uint32_t id, struct slice text, struct table **out);

/* A line "owner MODE UID GID"; and taken off the front of text. */
void
entry_print_owner(const struct attrs *owner, struct buf *out);
bool
entry_take_owner(struct slice *text, struct attrs *out);

/* Takes a line "word NUMBER" off the front of text. */
bool
entry_take_number(
    struct slice *text, const char *word, uint64_t max, uint64_t *out);

#endif
