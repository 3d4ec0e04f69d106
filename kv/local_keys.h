/* local_keys: what stands in a store, as ordered tables, keys and values
 * (private to kv/local*.c).
 *
 * Ordered tables: 0 is the catalogue, 1 the root's side table, 2 its blobs, 3
 * what bloomfilters know; each table has a side table, each family a table of cells (key.h, record.h)
 * and one of blobs, numbered upward and never reused (the catalogue keeps the
 * next number).
 *
 * Keys of a side table (components as in key.h):
 *   'k' dir            kept row or family, empty value
 *   'p' dir            kept continuation directory, empty value
 *   'a' dir            attributes of a directory (record.h, empty value)
 *   't'                cells of the table have a TTL of their own, empty value
 *   'f' dir dotdir name   a dot file or, with an empty name, the dot directory
 *                      dotdir (record.h); dotdir is a component, empty outside
 *   dir = row                             a row, or  part(prefix)
 *       = row family                      a family
 *       = row family part(prefix)         a continuation of qualifiers
 *   of the table itself: dir is empty. In the root's side table: 'a' alone for
 *   the root, 'a' 00 00 for .schema, 'a' .control for .cellfs/control, 'a'
 *   table for a schema file, and 'f' with dir 00 00 for the dot files of
 *   .schema. In front of dotdir a family itself has part(""), so that all
 *   files of a family lie together.
 *
 * Keys of the catalogue, and their values:
 *   'v'        the format's version, in decimal
 *   'n'        the next number for an ordered table, a table or a
 *              change of rules, in decimal
 *   'o'        of the store: "created MS\nowner MODE UID GID\n", MODE in octal
 *   'c'        the latest moment at which something was seen to have expired,
 *              in decimal; may be missing (local_time.h)
 *   't' id(4)  a table, as text of these lines, then its schema as schema.h
 *              prints it: "name NAME" (text.h), "side N", "created MS",
 *              "owner MODE UID GID", "family CELLS BLOBS" for each family in
 *              the schema's order, an empty line. The family's line goes on
 *              with " OUTDATED" (local_table.h) while that is not 0, or
 *              while what a change of rules has put out is still stored
 *              (fold.h); then also " SEQUENCE AT VERSIONS MIN_VERSIONS TTL"
 *   'x' below(4) key  an entry whose key was `key`, damaged and set aside by a
 *              repair: ordered tables numbered below may be its own, and stay
 * Another ordered table from FIRST_TABLE on that no entry names belongs to
 * nobody and is dropped: at once, by clean_all() while a reader is in it, or at
 * open.
 *
 * Keys of the table of bloomfilters (local_bloom.h):
 *   cells(4)           that what follows counts: "kind KIND" (1 row, 2 rowcol),
 *                      and "lines N", "keys N" for each part
 *   cells(4) part(1) chunk(4)   bits of a part, as little-endian words of 64
 *
 * Keys of a blob table: 'b' id(8) chunk(4) -> up to CHUNK bytes;
 *   'p' id(8): written with the first chunk and taken away by the transaction
 *   that stores the reference, or put by the one that drops it: whoever is
 *   listed at open belongs to nobody and is removed.
 */
#ifndef CELLFS_KV_LOCAL_KEYS_H
#define CELLFS_KV_LOCAL_KEYS_H

#include <stdint.h>

#define CATALOGUE 0
#define ROOT_SIDE 1
#define ROOT_BLOBS 2
#define BLOOMS 3
#define FIRST_TABLE 16
#define CHUNK ((uint64_t)1 << 20) /* bytes of a blob in one record */

#endif
