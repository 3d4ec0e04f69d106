/* printer: what a scan gives, as text, a bounded piece at a time.
 *
 * As lines a cell is row TAB family:qualifier TAB timestamp TAB value; as JSON
 * a row is one object; a count is the number of rows. The tools and the
 * mount's streams print alike because both do it here. Values of any size go
 * through a small buffer. A printer belongs to one thread at a time.
 */
#ifndef CELLFS_KV_PRINTER_H
#define CELLFS_KV_PRINTER_H

#include "form.h"
#include "kv_data.h"

/* How the owner wants it; all zeros: lines in the text form, each ended by a
 * zero byte. */
struct printing {
	enum form form; /* FORM_BYTES: the values and nothing else */
	bool json;
	bool count;	/* of rows, instead of their cells */
	bool keys_only;
	char end;	/* of a record */
	uint64_t batch; /* cells in an object, 0: no limit */
	struct slice family; /* its cells alone; empty: all */
};

struct printer {
	struct printing how;
	struct cell cell; /* the last; valid until the next step */
	bool inside;	  /* it is being printed: what fails is its value's */
	uint64_t rows;
	bool any; /* a cell was given */

	struct buf row;	    /* the last; of the open object */
	uint64_t in_object; /* cells in it, 0: none is open */
	uint64_t offset;    /* in the value that stands in chunks */
	size_t held;	    /* bytes of it that show only with the next */
	uint8_t *piece;
};

/* All zeros but for how. */
void
printer_init(struct printer *p, const struct printing *how);

/* Goes one step on in s and appends what it gives to out: at most one cell, or
 * one piece of a value that stands in chunks. 1: that was all. -EINTR as in
 * kv_ask(): the next call goes on from there. */
int
printer_step(struct printer *p, struct kv *kv, struct scan *s, struct buf *out);

/* Ends what is open, where a step failed. */
void
printer_end(struct printer *p, struct buf *out);

void
printer_release(struct printer *p);

/* Appends a JSON string that holds the text form of bytes. */
int
json_text(struct slice bytes, struct buf *out);

#endif
