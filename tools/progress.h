/* progress: a line on standard error while long work goes on.
 *
 * Shown on a terminal, elsewhere only with --progress; work that ends within
 * a second shows nothing. One at a time; another thread draws.
 */
#ifndef CELLFS_TOOLS_PROGRESS_H
#define CELLFS_TOOLS_PROGRESS_H

#include "cmd.h"

/* what: the command and its table, valid until progress_end(). */
void progress_begin(const struct arguments *a, const char *what);

/* done of total steps; total 0: not known. */
void progress_step(uint64_t done, uint64_t total);

/* Wipes the line; does nothing if progress_begin() was not called. */
void progress_end(void);

#endif
