#include "local_place.h"

#include <errno.h>

#include "why.h"

#define LOOKS 100 /* at what is replaced each time */

int
place_table(struct local *l, const struct place *place, struct table **out)
{
	*out = NULL;
	if (place->level <= LEVEL_CONTROL || place->table.size == 0)
		return 0;
	return table_get(l, place->table, out);
}

/* What a body is given for one try. */
struct look {
	struct table *table;
	int (*body)(struct txn *t, struct table *table, void *context);
	void *context;
};

static int
look_body(struct txn *t, void *context)
{
	struct look *look = context;

	/* What has taken its place may judge this moment otherwise. */
	if (look->table && table_stale(look->table))
		return -ESTALE;
	return look->body(t, look->table, look->context);
}

int
place_read(struct local *l, const struct place *place,
    int (*body)(struct txn *t, struct table *table, void *context),
    void *context)
{
	struct look look = {.body = body, .context = context};
	bool replaced = true;
	int r = 0;

	for (int i = 0; replaced && i < LOOKS; i++) {
		r = place_table(l, place, &look.table);
		if (r)
			return r;
		r = local_read(l, look_body, &look);
		replaced = r < 0 && look.table && table_stale(look.table);
		table_put(look.table);
	}
	return replaced ? why(EBUSY, "table %.*s: it is changed too often",
			      (int)place->table.size,
			      (const char *)place->table.data)
			: r;
}
