/* model_reads: every kind of read of a store, compared with the model. */
#ifndef CELLFS_TESTS_MODEL_READS_H
#define CELLFS_TESTS_MODEL_READS_H

#include "model.h"

extern const struct slice rows[MODEL_ROWS];
extern const struct slice families[MODEL_FAMILIES];
extern const struct slice qualifiers[MODEL_QUALIFIERS];

/* The present run: a store, its model, and where the clock stands. */
extern struct engine *engine;
extern struct model *model;
extern int64_t now;
extern bool narrow; /* few columns of many versions */

struct slice table_name(void);

/* A timestamp near now, one of few, so that calls meet. */
int64_t random_stamp(void);

/* Versions and values of every column. */
void compare_columns(void);

/* A random scan. */
void compare_scan(void);

/* The rows, and the columns of a random family. */
void compare_listings(void);

#endif
