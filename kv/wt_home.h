/* wt_home: the directory of a WiredTiger store, before WiredTiger sees it.
 *
 * WiredTiger makes an empty store where it finds its first files missing, and
 * says little of who holds one. So this looks first, and changes nothing.
 */
#ifndef CELLFS_KV_WT_HOME_H
#define CELLFS_KV_WT_HOME_H

#include <stdbool.h>
#include <stdint.h>

/* Our own marker: made once the first WiredTiger files are whole. */
#define WT_HOME_MARKER "cellfs.store"

/* A file that stands while the store is open for writing, and after a crash
 * until the next opening recovered it. */
#define WT_HOME_OPEN "cellfs.open"
bool
wt_home_was_open(const char *directory);
void
wt_home_closed(const char *directory);

/* The copy of WiredTiger's records that a repair starts from, and the name
 * under which WiredTiger writes it and reads it in. */
#define WT_HOME_METADATA "cellfs.metadata"
#define WT_HOME_BACKUP "WiredTiger.backup"

bool
wt_home_has_metadata(const char *directory);

/* Lets WiredTiger start from the copy at the next opening; its own records go
 * aside, as NAME.damaged. -EIO: there is no copy. */
int
wt_home_restore(const char *directory);

/* 0: a store, or with *fresh one may be made here. -ENOENT: none and not
 * create; -ENOTEMPTY: something else is here; -EINVAL: it lies in another
 * store; -EIO: a part of the store is missing (not with repair). */
int
wt_home_look(const char *directory, bool create, bool repair, bool *fresh);

/* Bytes of a table's file, 0 if it cannot be seen. */
uint64_t
wt_home_table_size(const char *directory, uint32_t table);

/* Lets this process have as many open files as the system allows. */
void
wt_home_raise_limits(void);

/* -EMFILE if another table would use up what the system allows; opened: files
 * that the store has open. */
int
wt_home_files_left(const char *directory, unsigned opened);

struct wt_claim;

/* Claims the directory for one store of this process, until what an owner
 * writes last is written: -EBUSY names the process that has it. */
int
wt_home_claim(const char *directory, struct wt_claim **out);

/* Safe on NULL. */
void
wt_home_release(struct wt_claim *claim);

/* -EBUSY, naming the process that holds the store. Not for a store that is
 * open in this process: it would let go of its lock. */
int
wt_home_busy(const char *directory);

#endif
