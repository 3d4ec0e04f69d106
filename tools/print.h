/* print: results on standard output. Main thread. */
#ifndef CELLFS_TOOLS_PRINT_H
#define CELLFS_TOOLS_PRINT_H

#include "../kv/form.h"

/* Prints text and releases it, unless making it failed: r. */
int print_text(int r, struct buf *text);

/* Prints a value in memory, and a newline unless it is FORM_BYTES: a negative
 * errno if the form does not fit. */
int print_value(enum form form, struct slice value);

#endif
