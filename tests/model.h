/* model: what a table must answer, the slow way.
 *
 * Every version ever put stays in one long list, with a mark once it is out.
 * The model lives through time: at each moment at which something may happen
 * by itself, and after each call, it looks at every version by the words of
 * the rule. It shares no code with what it judges.
 */
#ifndef CELLFS_TESTS_MODEL_H
#define CELLFS_TESTS_MODEL_H

#include "kv/engine.h"

#define MODEL_ROWS 4
#define MODEL_FAMILIES 2
#define MODEL_QUALIFIERS 4

struct model;

struct model_column {
	unsigned row, family, qualifier;
};

/* A version that was put. */
struct model_put {
	struct model_column column;
	int64_t timestamp;
	int64_t ttl; /* ms, 0: none */
	struct buf value;
	bool out;
};

/* One op of a call; the fields of struct op that count, by index. */
struct model_op {
	enum op_type type;
	struct model_column column; /* row: the call's */
	int64_t timestamp;
	struct slice value;
	int64_t delta, ttl;
	int64_t stored; /* out */
};

struct model_condition {
	struct model_column column;
	enum compare compare;
	struct slice expected;
};

struct model *model_new(int64_t now);
void model_free(struct model *m);

void model_rules(struct model *m, unsigned family, uint32_t versions,
    uint32_t min_versions, int64_t ttl);

/* The clock stands at now; it may go back, what is out stays out. */
void model_clock(struct model *m, int64_t now);

/* Applies a call: 0 or an errno that the store must give too. condition:
 * NULL, none. */
int model_mutate(struct model *m, struct model_op *ops, size_t count,
    unsigned flags, const struct model_condition *condition, bool *applied);

/* The index-th newest version that a read sees now, or NULL. */
const struct model_put *model_version(
    const struct model *m, struct model_column c, size_t index);

/* All rows go. */
void model_truncate(struct model *m);

#endif
