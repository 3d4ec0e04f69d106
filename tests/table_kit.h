/* table_kit: a local engine over the store in memory, and short ways to ask
 * it things. Every function fails the test where the engine does not answer
 * as the name says. Texts returned are valid until the eighth call after.
 */
#ifndef CELLFS_TESTS_TABLE_KIT_H
#define CELLFS_TESTS_TABLE_KIT_H

#include "kv/local.h"
#include "suite.h"

#define COUNT(list) (int)(sizeof(list) / sizeof(*(list)))

extern struct ordered *kit_store;
extern struct engine *kit;
extern struct clock kit_clock;

/* A checked fixture. The clock stands at KIT_NOW. */
#define KIT_NOW 1000000
void
kit_setup(void);
void
kit_teardown(void);

/* Closes and opens again. */
void
kit_reopen(void);

struct local *
kit_local(void);

/* A topic of a suite whose tests run between these two (NULL: none). */
TCase *
kit_topic(Suite *suite, const char *name, void (*setup)(void),
    void (*teardown)(void));

/* --- tables
 * -------------------------------------------------------------------- */

/* text is a schema file. */
int
kit_create(const char *table, const char *text);
int
kit_alter(const char *table, const char *text, bool drop_data);

/* The names of all tables; a table's schema as text. */
const char *
kit_tables(void);
const char *
kit_schema(const char *table);

/* --- places: "t", "t/r", "t/r/f", "t/r/f/q", by their level ----------- */

struct place
kit_place(enum level level, const char *path);
struct place
kit_dot(
    const char *family_path, const char *dot_dir, const char *dot);

/* --- cells
 * -------------------------------------------------------------------- */

/* path: t/r/f/q; timestamp may be TS_LATEST. */
int
kit_put(const char *path, int64_t timestamp, const char *value);
int
kit_put_ttl(
    const char *path, int64_t timestamp, const char *value, int64_t ttl);
int
kit_delete(const char *path, unsigned flags);

/* The newest value, or "-" if there is none; all versions as "TS=value ...";
 * versions' values are read through kv's own reads. */
const char *
kit_get(const char *path);
const char *
kit_history(const char *path);

/* A big value: size bytes, a function of seed; and whether it is there. */
int
kit_put_big(const char *path, size_t size, unsigned seed);
bool
kit_is_big(struct place place, size_t size, unsigned seed);

/* A rename, in as many steps as it takes. */
int
kit_move(const struct move_spec *spec, int64_t *stored);

/* --- the side
 * ------------------------------------------------------------------ */

int
kit_mkdir(enum level level, const char *path);
int
kit_rmdir(enum level level, const char *path);
int
kit_stat(struct place place, struct info *out);
int
kit_dot_put(struct place dot, const char *value);
int
kit_dot_put_size(struct place dot, uint64_t size, unsigned flags);
const char *
kit_dot_get(struct place dot);

/* The names in a directory as kv_list gives them, "a b c"; what continues in a
 * directory is followed by %. */
const char *
kit_list(enum level level, const char *path);
const char *
kit_list_place(struct place dir);

/* How many records an ordered table has. */
size_t
kit_records(uint32_t table);

/* The numbers of a table's ordered tables. */
uint32_t
kit_side_number(const char *table);
uint32_t
kit_cells_number(const char *table, const char *family);
uint32_t
kit_blobs_number(const char *table, const char *family);

#endif
