/* kv_change: changes in two steps, for those who hold locks around them.
 *
 * What may take long, writing a big value's chunks or copying them, is done
 * first, with nothing locked; the change itself is one small transaction. Its
 * function says 1 where something is to be prepared (again), whatever others
 * changed meanwhile: a bounded number of times. The rules of kv.h hold. A
 * draft or move belongs to one thread at a time; what it was opened with stays
 * until it is closed.
 */
#ifndef CELLFS_KV_KV_CHANGE_H
#define CELLFS_KV_KV_CHANGE_H

#include "change.h"

struct kv;

/* What is to be stored at a place: of a COLUMN its newest version, or with
 * VERSION_AT exactly that one (-EDQUOT if it would be pushed out); or a dot
 * file. Directories it leaves empty are kept. */
int
kv_draft_open(struct kv *kv, const struct place *place,
    struct version version, struct content *content, struct draft **out);

/* Writes the chunks; reads the source. */
int
kv_draft_prepare(struct kv *kv, struct draft *d);

/* Stores it, once: 0, or 1: kv_draft_prepare() comes first. */
int
kv_draft_store(struct kv *kv, struct draft *d);

/* Takes away what was not stored. Safe on NULL. */
void
kv_draft_close(struct kv *kv, struct draft *d);

/* kv_move() in steps. spec->draft is of spec->from, is prepared and stored
 * along with it, and closed by its owner after the move. */
int
kv_move_open(
    struct kv *kv, const struct move_spec *spec, struct move **out);

int
kv_move_prepare(struct kv *kv, struct move *m);

/* Moves, once: 0, or 1: kv_move_prepare() comes first. */
int
kv_move_try(struct kv *kv, struct move *m, int64_t *stored);

/* Safe on NULL. */
void
kv_move_close(struct kv *kv, struct move *m);

#endif
