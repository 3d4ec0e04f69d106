/* filter_kit: filters asked of a small table in memory, in a short notation.
 *
 * The table has families a, b, and c, which keeps 100 versions. Texts
 * returned are valid until the next call.
 */
#ifndef CELLFS_TESTS_FILTER_KIT_H
#define CELLFS_TESTS_FILTER_KIT_H

#include "tests/table_kit.h"

/* An empty table in place of the one before. */
void
filter_kit_table(void);

/* "ROW FAMILY QUALIFIER TIMESTAMP VALUE", each in the text form, "" empty. Puts
 * count from 0. A value @N is N bytes, zeros but for a final 1. */
void
filter_kit_put(const char *put);

/* How a filter ("" none) answers: its puts, "3 4e 0l" (e: with an empty value;
 * l: with 4 bytes of a length), or "! SENTENCE". how: words with commas
 * between: v3 versions (v0: all), r reversed, g=ROW that row only, f=ROW from,
 * t=ROW to, c=FAMILY:QUALIFIER that column (more may follow), n=LIMIT rows, k
 * keys only, s=T since, u=T until. */
const char *
filter_kit_ask(const char *how, const char *filter);

/* How many records of the store the last ask looked at: cursor moves. */
uint64_t
filter_kit_reads(void);

#endif
