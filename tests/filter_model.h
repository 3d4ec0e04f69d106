/* filter_model: a second reading of the rules of filters, slow and plain: it
 * holds whole rows, asks objects with the seven answers of HBase, and shares
 * nothing with kv/filter*.
 */
#ifndef CELLFS_TESTS_FILTER_MODEL_H
#define CELLFS_TESTS_FILTER_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts of printable ASCII; number: what the answer names it by. */
struct model_cell {
	char row[4], family[2], qualifier[4], value[8];
	int64_t timestamp;
	int number;
};

struct model_filter;

/* A filter by chance, nested up to depth; and its text. */
struct model_filter *
model_filter_new(int depth);

void
model_filter_free(struct model_filter *f);

/* Appends the text to out of `room` bytes. */
void
model_filter_print(const struct model_filter *f, char *out, size_t room);

/* What a scan of cells (in the order of the store) answers, as
 * filter_kit_ask() writes it. A filter can be asked once. */
void
model_filter_scan(struct model_filter *f, const struct model_cell *cells,
    size_t count, uint32_t versions, bool reversed, char *out, size_t room);

#endif
