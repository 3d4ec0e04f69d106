/* crc32c: the checksum of WiredTiger's blocks (Castagnoli). Pure. */
#ifndef CELLFS_KV_CRC32C_H
#define CELLFS_KV_CRC32C_H

#include "bytes.h"

/* The checksum of what crc is the checksum of (0: nothing) and then bytes. */
uint32_t
crc32c(uint32_t crc, struct slice bytes);

/* The same without the processor's instruction for it. */
uint32_t
crc32c_portable(uint32_t crc, struct slice bytes);

#endif
