/* filter_tree: a parsed filter, and what a run remembers for each of its nodes
 * (private to kv/filter*.c). A kind of filter is one constant entry of a table:
 * its name, the types of its arguments, its answer at each step of a row. */
#ifndef CELLFS_KV_FILTER_TREE_H
#define CELLFS_KV_FILTER_TREE_H

#include "filter.h"
#include "filter_compare.h"

/* One argument, by the letter of its type in struct kind. */
struct argument {
	struct slice text;	      /* q: quoted */
	int64_t number;		      /* i: 0..2^31-1, l: 0..2^63-1 */
	bool flag;		      /* b */
	enum compare op;	      /* o */
	struct comparator comparator; /* c */
};

struct node {
	const struct kind *kind;
	struct argument *args;
	size_t count;	    /* of args */
	struct node *child; /* of a list or wrapper, in order */
	struct node *next;  /* behind it in its list */
	size_t index;	    /* of its memory in a run */
	bool judges;	    /* it, or one below, decides at the row's end */
	bool listed;	    /* only AND and OR are above: it may remove cells */
};

struct filter {
	struct node *root;
	size_t count; /* of nodes */
	uint8_t *bytes; /* behind the arguments */
	bool reads_values;
	bool changes_values;
	bool stamps; /* one node or more collects timestamps */
};

/* Where the next cell is that could be included; in this order, later ones
 * farther. */
enum hint_kind { HINT_NONE, HINT_QUALIFIER, HINT_ROW };

struct hint {
	enum hint_kind kind;
	struct slice qualifier; /* of the filter's arguments */
};

/* What a node says of a cell. */
struct answer {
	bool include;
	bool hints;	       /* hint counts, step does not */
	enum filter_step step; /* CELL, COLUMN or FAMILY */
	struct hint hint;
};

/* What a run remembers for a node. */
struct memory {
	struct {
		bool begun, found, matched, rejected, included;
		uint64_t count;

		/* Its last answer, and of which family and column of the row,
		 * for what has it as a child. */
		bool answered;
		struct answer last;
		uint64_t family, column;
	} row; /* forgotten with the row */
	uint64_t count;
	bool done;
};

struct filter_run {
	const struct filter *filter;
	bool reversed;
	bool begun;    /* the row */
	bool rejected; /* the row, by its key */
	bool ended;
	int error;     /* of a row step, the first */
	uint64_t family_at, column_at; /* counted in the row */
	struct buf family, qualifier;  /* of the last cell */
	struct memory *memory;	       /* by node.index */
	struct buf *stamps;	       /* likewise; int64_t, of this row */
	struct compare_room room;
};

struct kind {
	const char *name;
	const char *form; /* as a message shows it */
	/* A letter each: q i l b o c; * repeats the letter before it any
	 * number of times; arguments may end in front of a [. */
	const char *arguments;
	bool hints;  /* asked for hints though another rejected the cell */
	bool judges; /* has a row step */
	bool reads_values;
	bool sorts;   /* its arguments, each once */
	bool stamped; /* its arguments are the timestamps it includes */
	enum { REMOVES_NOTHING, REMOVES_COLUMN, REMOVES_STAMPS } removes;

	/* The steps, as HBase calls them. Left out: includes everything. */
	bool (*rejects_row)(struct filter_run *run, const struct node *n,
	    struct slice row);
	int (*cell)(struct filter_run *run, const struct node *n,
	    const struct filter_cell *cell, struct answer *out);
	bool (*drops_row)(struct filter_run *run, const struct node *n);
	bool (*done)(const struct filter_run *run, const struct node *n);
	void (*change)(const struct filter_run *run, const struct node *n,
	    const struct filter_cell *cell, struct filter_verdict *verdict);
	/* Which rows it lets pass; left out: all. */
	void (*rows)(const struct node *n, bool reversed,
	    struct filter_cut *low, struct filter_cut *high);
};

/* The kind of that name, NULL: none. */
const struct kind *
kind_named(struct slice name);

extern const struct kind kind_and, kind_or, kind_skip, kind_while;

/* The steps of any node. */
bool
node_rejects_row(struct filter_run *run, const struct node *n,
    struct slice row);
int
node_cell(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out);
bool
node_drops_row(struct filter_run *run, const struct node *n);
bool
node_done(const struct filter_run *run, const struct node *n);
void
node_change(const struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct filter_verdict *verdict);

/* As node_cell(), but the last answer holds for the cells it covers. */
int
node_ask(struct filter_run *run, const struct node *n,
    const struct filter_cell *cell, struct answer *out);

/* Rows by a comparison of their keys. */
void
rows_compared(const struct argument *op_and_comparator,
    struct filter_cut *low, struct filter_cut *high);

static inline struct memory *
memory_of(struct filter_run *run, const struct node *n)
{
	return &run->memory[n->index];
}

#endif
