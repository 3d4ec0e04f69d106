/* wt_files: the file system under WiredTiger.
 *
 * WiredTiger takes every failed write for the end of the store and believes
 * whatever it reads. So here writes wait for room instead of failing, and a
 * block whose checksum does not fit is EIO before WiredTiger sees it. For
 * tests calls can be made to fail, and a second directory (shadow.h) can be
 * kept as a power cut would leave the store.
 *
 * Functions may be called from any thread.
 */
#ifndef CELLFS_KV_WT_FILES_H
#define CELLFS_KV_WT_FILES_H

#include "bytes.h"

struct wt_files;

typedef void (*wt_files_log)(void *context, const char *line);

/* The file system of the store in directory; log may be NULL. If the
 * environment names a directory as CELLFS_SHADOW (tests), it becomes the
 * shadow. */
int
wt_files_new(const char *directory, wt_files_log log, void *context,
    struct wt_files **out);

/* Only when no connection uses it. Safe on NULL. */
void
wt_files_free(struct wt_files *f);

/* The next wiredtiger_open() of this thread whose extensions name
 * WT_FILES_EXTENSION runs on f. */
#define WT_FILES_EXTENSION "local={entry=cellfs_wt_files,early_load=true}"
void
wt_files_offer(struct wt_files *f);

/* Whether blocks are checked as they are read; at first they are. Salvage
 * wants to see the damaged ones. */
void
wt_files_check_blocks(struct wt_files *f, bool check);

/* From now on writes without room fail instead of waiting: the store closes,
 * its log has everything. */
void
wt_files_hurry(struct wt_files *f);

/* How many calls wait for room now, and how many files are open. */
unsigned
wt_files_waiting(const struct wt_files *f);
unsigned
wt_files_opened(const struct wt_files *f);

/* How many damaged blocks were met. */
uint64_t
wt_files_damaged(const struct wt_files *f);

/* Files of our own in the directory, as in own_file.h. */
int
wt_files_save(struct wt_files *f, const char *name, struct slice bytes);
int
wt_files_append(struct wt_files *f, const char *name, struct slice bytes);
int
wt_files_copy(struct wt_files *f, const char *from, const char *to);

/* Faults, for tests, in every store of the process: from now on the count-th
 * call of that kind on a file whose name contains part fails with errnum, and
 * later ones too if for_ever; errnum 0 ends it. ENOSPC and EDQUOT come from
 * below, so writes wait on them. */
enum wt_files_call { WT_FILES_READ, WT_FILES_WRITE, WT_FILES_SYNC };
void
wt_files_fail(enum wt_files_call call, const char *part, int errnum,
    unsigned count, bool for_ever);

#endif
