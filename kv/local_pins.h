/* local_pins: which blobs somebody reads, and which ids are free, in memory
 * (private to kv/local_blob.c, but pins_close). Locks by itself.
 */
#ifndef CELLFS_KV_LOCAL_PINS_H
#define CELLFS_KV_LOCAL_PINS_H

#include <stdbool.h>
#include <stdint.h>

struct pins;

struct pins *
pins_new(void);
void
pins_free(struct pins *pins);

/* One holder more. -EAGAIN: it is being removed; -ESTALE: so is its table. */
int
pins_hold(struct pins *pins, uint32_t blobs, uint64_t id);

/* One holder less; whether that was the last one of a dropped blob. */
bool
pins_let_go(struct pins *pins, uint32_t blobs, uint64_t id);

/* Whether nobody holds the blob, which is to be removed; then nobody can, until
 * pins_forget(). Else its last holder is told when he lets go. */
bool
pins_claim(struct pins *pins, uint32_t blobs, uint64_t id);
void
pins_forget(struct pins *pins, uint32_t blobs, uint64_t id);

/* Whether nobody holds a blob of the table, which is to be dropped; then nobody
 * ever can. */
bool
pins_close(struct pins *pins, uint32_t blobs);
bool
pins_closed(struct pins *pins, uint32_t blobs);

/* The next id of the table. -ENOENT: none was given yet and from is NULL; with
 * it the first is *from + 1. */
int
pins_next_id(
    struct pins *pins, uint32_t blobs, const uint64_t *from, uint64_t *id);

#endif
