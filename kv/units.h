/* units: times to live and sizes as HBase writes them for people. Pure. */
#ifndef CELLFS_KV_UNITS_H
#define CELLFS_KV_UNITS_H

#include "bytes.h"

/* Seconds: FOREVER (2147483647), a bare number, or
 * [N SECONDS (] N DAYS N HOURS N MINUTES N SECONDS [)], each part optional but
 * one, in either case, blanks free. -EINVAL: none of these, a total in front
 * that disagrees with the parts, or above 2147483647. */
int
units_ttl(struct slice text, uint64_t *seconds);

/* Bytes, likewise: a bare number, or [N B (] N TB N GB N MB N KB N B [)], each
 * final B optional. -EINVAL: none of these, or above 2^63-1. */
int
units_size(struct slice text, uint64_t *bytes);

#endif
