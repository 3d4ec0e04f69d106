/* change: a row mutation as put, delete, deleteall, incr and append read it,
 * on their own or behind the condition of cas.
 */
#ifndef CELLFS_TOOLS_CHANGE_H
#define CELLFS_TOOLS_CHANGE_H

#include "cmd.h"
#include "store.h"

struct change {
	struct mutation mutation; /* its ops are owned */
	bool whole_row;		  /* deletes every family of the table */
	int64_t timestamp;	  /* of that */
	struct buf result;	  /* of incr and append */
	struct schema schema;	  /* the names of its families */
};

/* How the operands from first on are read: a status. */
typedef int (*change_reader)(
    struct arguments *a, size_t first, struct change *c);

int change_put(struct arguments *a, size_t first, struct change *c);
int change_delete(struct arguments *a, size_t first, struct change *c);
int change_deleteall(struct arguments *a, size_t first, struct change *c);
int change_incr(struct arguments *a, size_t first, struct change *c);
int change_append(struct arguments *a, size_t first, struct change *c);

/* Reads TABLE and ROW from operands 1 and 2. */
int change_place(struct arguments *a, struct change *c);

/* Applies c to its row: a status. */
int change_apply(struct store *s, const char *subject, struct change *c);

void change_release(struct change *c);

#endif
