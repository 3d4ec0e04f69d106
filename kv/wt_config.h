/* wt_config: the words WiredTiger is configured with. Pure.
 *
 * Why each of them: checksum=on, or a flipped byte in a compressed block goes
 * unnoticed; transaction_sync without a method, so that a commit has reached
 * the system and survives a crash; no pre-allocated log files, which stop a
 * store on a full disk; cache_max_wait_ms, so that nobody waits for ever.
 */
#ifndef CELLFS_KV_WT_CONFIG_H
#define CELLFS_KV_WT_CONFIG_H

#include "ordered.h"

/* Of wiredtiger_open(), with an end like C text; mode begins it. buf_status()
 * tells of memory. */
void
wt_config_open(const char *mode, uint64_t cache, uint64_t log_file,
    struct buf *out);

/* Of WT_SESSION.compact(): from 11 on it would leave alone what has less than
 * 20 MB to give back. */
#define WT_CONFIG_COMPACT(major) \
	((major) >= 11 ? "timeout=0,free_space_target=1MB" : "timeout=0")

/* Of WT_SESSION.create(), as wt_config_open() does. */
void
wt_config_table(const struct ordered_table_options *options, struct buf *out);

#endif
