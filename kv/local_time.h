/* local_time: the time that the engine goes by (private to kv/local*.c).
 *
 * It is the clock's, but never goes back: what anybody was told has expired
 * stays so though the clock is set back, also over a restart. For that the
 * store has the latest moment at which something was seen to expire, which a
 * read that sees a later one writes before its answer is given; a second
 * ahead, so that it happens once a second at most. After a crash time may so
 * begin up to a second ahead of the clock; closing takes that back. An engine
 * that is open for reading only writes nothing: it is alone with what it saw.
 */
#ifndef CELLFS_KV_LOCAL_TIME_H
#define CELLFS_KV_LOCAL_TIME_H

#include "local_txn.h"

int64_t
local_now(struct local *l);

/* Stops the time that local_now() tells, and says it: what is to be true of one
 * moment can be published before anyone sees a later one (ddl and writer
 * held, not for long). Then lets it go on, stopped or not. */
int64_t
local_hold_time(struct local *l);
void
local_let_time(struct local *l);

/* Something was seen to have expired at moment (no transaction open, writer
 * not held). Where that cannot be written, for want of room, the next read
 * that sees it tries again. */
void
time_passed(struct local *l, int64_t moment);

/* Reads what the store has. -EIO: damaged. */
int
time_load(struct txn *t);

/* Writes the moment itself, without what was added to it. */
void
time_close(struct local *l);

#endif
