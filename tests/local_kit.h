/* local_kit: a store in memory to try calls on, in a short notation.
 *
 * One table "t" with families "f" and "g". Calls are words, each a call of its
 * own, or { words } one call, on row "r":
 *   p5  p5=v  p5=v~100   put at 5 of value v (else "5"), own TTL of 100 ms;
 *   p  p=v               the store chooses the timestamp
 *   dv5 dv  dc5 dc  df5 df  dfv5      deletes: of a version, column, family,
 *                        family version
 *   i4  a=v              increment by 4; append of v
 *   b:WORD               on qualifier b (else q);  g/b:WORD of family g
 *   clock=1000  clean  reopen
 */
#ifndef CELLFS_TESTS_LOCAL_KIT_H
#define CELLFS_TESTS_LOCAL_KIT_H

#include "kv/local.h"

extern struct engine *kit_engine;
extern struct ordered *kit_ordered;

/* Fixtures: a store whose table has default rules (3 versions); the clock
 * stands at 1000. */
void kit_open(void);
void kit_close(void);

/* Changes the rules of both families; ttl in seconds, 0: none. */
void kit_rules(uint32_t versions, uint32_t min_versions, uint32_t ttl);

void kit_clock(int64_t now);

/* Closes and opens again. */
void kit_reopen(void);

/* What is done after each call by kit_do: 0 nothing, 1 clean-up, 2 reopening;
 * no answer may depend on it. */
extern int kit_between;

/* Runs words; each call must succeed. */
void kit_do(const char *words);

/* Runs one call with flags and returns what it returned. */
int kit_try(const char *words, unsigned flags);

/* All that row "r" shows, all versions: "q@5=v5 q@4=v4 g/b@7=x". Valid until
 * the next call. */
const char *kit_show(void);

/* Puts value (0-ended) at row/family/qualifier without a timestamp. */
void kit_put(const char *row, const char *qualifier, const char *value);

/* The place row/f/qualifier of table t. */
struct place kit_column(const char *row, const char *qualifier);

/* A value of size bytes whose byte at i is i * 31 + i / 256 + seed. */
struct source kit_source(uint64_t size, const uint8_t *seed);

/* Whether the bytes of the value are those of such a source. */
bool kit_same(struct value *v, uint64_t size, uint8_t seed);

/* Puts such a value; what the call returned. */
int kit_put_big(const char *qualifier, uint64_t size, uint8_t seed);

/* The names below dir, level by level letter: "r:a r:b p:x". Valid until the
 * next call. */
const char *kit_list(const struct place *dir);

/* Puts columns n000000, n000001... into row/f, each with its name as value. */
void kit_put_columns(const char *row, int count);

/* Puts rows n000000, n000001..., each with a column f:q. */
void kit_put_rows(int count);

void kit_delete_column(const char *row, const char *qualifier, unsigned flags);

/* The places of table t and of row/f in it. */
struct place kit_table(void);
struct place kit_family(const char *row);

#endif
