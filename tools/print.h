/* print: cells of a scan on standard output.
 *
 * As text a cell is one line, row TAB family:qualifier TAB timestamp TAB
 * value; as JSON a row is one object. Values of any size go through a small
 * buffer. Main thread.
 */
#ifndef CELLFS_TOOLS_PRINT_H
#define CELLFS_TOOLS_PRINT_H

#include "form.h"

#include "../kv/kv.h"
#include "../kv/kv_data.h"

struct printer {
	enum form form; /* FORM_BYTES: the values and nothing else */
	bool json;
	bool keys_only;
	char end;	/* of a record */
	uint64_t batch; /* cells in an object, 0: no limit */

	struct buf row;	    /* of the open object */
	uint64_t in_object; /* cells in the open object */
	struct buf line;    /* being made */
	uint8_t *piece;	    /* of a value */
	size_t room;
};

/* Reads the options --as, --raw-value, --json, --keys-only, --null and
 * --batch: a status. */
struct arguments;
int printer_init(struct printer *p, const struct arguments *a);

/* Prints the cell that kv_scan_next() just gave: 0 or a negative errno. */
int printer_cell(
    struct printer *p, struct kv *kv, struct scan *s, const struct cell *cell);

/* Ends what is open. */
void printer_end(struct printer *p);

void printer_release(struct printer *p);

/* Appends a JSON string that holds the text form of bytes. */
int json_text(struct slice bytes, struct buf *out);

/* Prints text and releases it, unless making it failed: r. */
int print_text(int r, struct buf *text);

/* Prints a value in memory, and a newline unless it is FORM_BYTES: a negative
 * errno if the form does not fit. */
int print_value(enum form form, struct slice value);

#endif
