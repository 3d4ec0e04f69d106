/* list: kv_list() while it runs (private to kv/local_list*.c).
 *
 * Names are gathered in a snapshot, a batch at a time, and given out when it
 * has ended; so nothing is held while emit runs.
 */
#ifndef CELLFS_KV_LOCAL_LIST_H
#define CELLFS_KV_LOCAL_LIST_H

#include "local_walk.h"

/* One entry of a batch; its name lies in lister.names. */
struct gathered {
	enum level level;
	size_t at, size;
	struct info info;
};

/* The next name of one level that the side table knows of. */
struct side_names {
	enum level level;
	struct buf after; /* where to look on */
	bool inclusive;
	bool have, ended;
	struct buf name; /* have: the next one */
	struct info info;
};

struct lister {
	struct local *local;
	const struct place *dir;
	struct table *table; /* NULL: .schema */
	list_emit emit;
	void *context;
	struct buf entries, names;
	unsigned room; /* of the present batch, in entries */
	bool stopped;

	/* Rows or columns: of one walk for each family that is asked. */
	bool rows;
	struct walk *walks;
	size_t walk_count;
	struct slice prefix; /* all names begin with it and are longer */
	struct buf from;     /* where to begin, as a name */
	bool placed;	     /* the walks have begun */
	bool have;	     /* name and info are the next live one's */
	struct buf name;
	struct info info;
	struct side_names side, parts;
};

/* Adds an entry to the batch. */
void list_add(struct lister *x, enum level level, struct slice name,
    const struct info *info);

bool list_full(const struct lister *x);

struct slice list_name(const struct lister *x, const struct gathered *entry);

/* Gathers and gives out until a phase has no more: gather returns 1 then. */
int list_run(struct lister *x, int (*gather)(struct lister *x, struct txn *t),
    int (*skip_to)(struct lister *x, struct slice skip));

void side_release(struct side_names *s);

/* Fetches the next name if none is waiting. */
int side_fetch(struct lister *x, struct txn *t, struct side_names *s);

/* The name that waits has been added. */
int side_consume(struct side_names *s);

/* On from name; what waits is looked up again. */
int side_restart(struct side_names *s, struct slice name, bool inclusive);

/* What follows everything that begins with skip; false: nothing can. */
bool list_behind(struct slice skip, struct buf *out);

/* local_list_cells.c: rows of a table or part; columns of a family or part. */
int list_rows(struct lister *x, const struct entry *after);
int list_columns(struct lister *x, const struct entry *after);

#endif
