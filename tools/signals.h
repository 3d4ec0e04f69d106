/* signals: SIGINT, SIGTERM and SIGHUP while a store is open for writing.
 *
 * They are taken by a thread of their own, which interrupts long work; the
 * command then ends and closes the store, and signals_end() lets the process
 * die of the signal. Main thread.
 */
#ifndef CELLFS_TOOLS_SIGNALS_H
#define CELLFS_TOOLS_SIGNALS_H

#include <stdbool.h>

struct kv;

/* Before the store opens: its threads inherit the mask. */
void signals_block(void);

/* Once it is open: 0 or a negative errno. */
int signals_watch(struct kv *kv);

/* Whether a signal has come: end soon. Any thread. */
bool signals_came(void);

/* Before the store closes. */
void signals_unwatch(void);

/* After it has closed; does not return if a signal came. */
void signals_end(void);

#endif
