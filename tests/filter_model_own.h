/* filter_model_own: a filter of the model (private to filter_model*.c). */
#ifndef CELLFS_TESTS_FILTER_MODEL_OWN_H
#define CELLFS_TESTS_FILTER_MODEL_OWN_H

#include "tests/filter_model.h"

#define CHILDREN 3
#define CELLS_OF_ROW 200

enum kind {
	KEY_ONLY,
	FIRST,
	PREFIX,
	COLUMN_PREFIX,
	MULTIPLE,
	COUNT_GET,
	PAGE,
	PAGINATION,
	STOP,
	STAMPS,
	ROW,
	FAMILY,
	QUALIFIER,
	VALUE,
	RANGE,
	SINGLE,
	EXCLUDE,
	DEPENDENT,
	COLUMN_VALUE,
	LEAVES,
	SKIPPING = LEAVES,
	WHILE,
	AND,
	OR
};

enum code { INCLUDE, SKIP, INCLUDE_COL, NEXT_COL, INCLUDE_ROW, NEXT_ROW, HINT };

enum comparing { BINARY, BINARYPREFIX, SUBSTRING, REGEX, NOCASE };

struct model_filter {
	enum kind kind;
	/* arguments */
	char text[2][8];
	bool flag[2];
	int number[3], given;
	int op; /* of < <= = != >= > */
	enum comparing comparing;
	char operand[8];
	/* what it holds */
	struct model_filter *child[CHILDREN];
	int count;
	/* state */
	bool found, matched, rejected, hinting, done, begun;
	bool included[CHILDREN], reversed;
	int seen;
	int64_t stamps[CELLS_OF_ROW];
	int stamp_count;
	enum code last[CHILDREN];
	const struct model_cell *last_cell[CHILDREN];
	const char *hint[CHILDREN]; /* a qualifier; "" and ROW_AHEAD as such */
	const char *asked_hint;
};

#endif
