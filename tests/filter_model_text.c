#include "tests/filter_model_own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/chance.h"

static const char *const ops[] = {"<", "<=", "=", "!=", ">=", ">"};
static const char *const comparators[] = {
    "binary", "binaryprefix", "substring", "regexstring", "regexstringnocase"};

/* --- making and printing ------------------------------------------------ */

static void
pick(char *to, const char *const *from, size_t count)
{
	strcpy(to, from[chance(count)]);
}

static const char *const rows[] = {"a", "ab", "b", "b1", "c", "aa", ""};
static const char *const qualifiers[] = {"p", "q", "q1", "q2", "r", "Z", ""};
static const char *const values[] = {"v1", "v2", "V1", "10", "", "x"};
static const char *const patterns[] = {"^v", "1$", "[ab]", "q", "^$", "."};

#define PICK(to, from) pick(to, from, sizeof(from) / sizeof(*(from)))

static void
pick_operand(struct model_filter *f)
{
	f->comparing = (enum comparing)chance(5);
	if (f->comparing >= SUBSTRING)
		f->op = 2 + (int)chance(2);
	else
		f->op = (int)chance(6);
	if (f->comparing >= REGEX)
		PICK(f->operand, patterns);
	else if (f->kind == ROW)
		PICK(f->operand, rows);
	else if (f->kind == QUALIFIER)
		PICK(f->operand, qualifiers);
	else if (f->kind == FAMILY)
		strcpy(f->operand, chance(2) ? "a" : "b");
	else
		PICK(f->operand, values);
}

static void
pick_arguments(struct model_filter *f)
{
	bool column = f->kind == SINGLE || f->kind == EXCLUDE ||
		      f->kind == DEPENDENT || f->kind == COLUMN_VALUE;

	f->given = (int)chance(3);
	f->flag[0] = chance(2);
	f->flag[1] = chance(2);
	for (int i = 0; i < 3; i++)
		f->number[i] = (int)chance(5);
	pick_operand(f);
	if (f->kind == PREFIX || f->kind == STOP) {
		PICK(f->text[0], rows);
	} else {
		PICK(f->text[0], qualifiers);
		PICK(f->text[1], qualifiers);
	}
	if (column)
		strcpy(f->text[0], chance(2) ? "a" : "b");
	if (f->kind == MULTIPLE && strcmp(f->text[0], f->text[1]) == 0)
		f->given = f->given > 1 ? 1 : f->given;
}

struct model_filter *
model_filter_new(int depth)
{
	struct model_filter *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	if (depth <= 0 || chance(4) == 0) {
		f->kind = (enum kind)chance(LEAVES);
		pick_arguments(f);
		return f;
	}
	f->kind = SKIPPING + (enum kind)(chance(5) ? 2 + chance(2) : chance(2));
	f->count = f->kind < AND ? 1 : 2 + (int)chance(CHILDREN - 1);
	for (int i = 0; i < f->count; i++)
		f->child[i] = model_filter_new(depth - 1);
	return f;
}

void
model_filter_free(struct model_filter *f)
{
	for (int i = 0; i < f->count; i++)
		model_filter_free(f->child[i]);
	free(f);
}

static const char *
word(bool flag)
{
	return flag ? "true" : "false";
}

static void
print_operand(const struct model_filter *f, char *out, size_t room)
{
	snprintf(out, room, "%s,'%s:%s'", ops[f->op], comparators[f->comparing],
	    f->operand);
}

static void
print_leaf(const struct model_filter *f, char *out, size_t room)
{
	const char *t = f->text[0], *u = f->text[1];
	char operand[40];

	print_operand(f, operand, sizeof(operand));
	switch (f->kind) {
	case KEY_ONLY:
		snprintf(out, room, "KeyOnlyFilter(%s)",
		    f->given ? word(f->flag[0]) : "");
		return;
	case FIRST:
		snprintf(out, room, "FirstKeyOnlyFilter()");
		return;
	case PREFIX:
		snprintf(out, room, "PrefixFilter('%s')", t);
		return;
	case COLUMN_PREFIX:
		snprintf(out, room, "ColumnPrefixFilter('%s')", t);
		return;
	case MULTIPLE:
		snprintf(out, room, "MultipleColumnPrefixFilter(%s%s%s%s%s)",
		    f->given ? "'" : "", f->given ? t : "",
		    f->given > 1 ? "','" : "", f->given > 1 ? u : "",
		    f->given ? "'" : "");
		return;
	case COUNT_GET:
		snprintf(out, room, "ColumnCountGetFilter(%d)", f->number[0]);
		return;
	case PAGE:
		snprintf(out, room, "PageFilter(%d)", f->number[0]);
		return;
	case PAGINATION:
		snprintf(out, room, "ColumnPaginationFilter(%d,%d)",
		    f->number[0], f->number[1]);
		return;
	case STOP:
		snprintf(out, room, "InclusiveStopFilter('%s')", t);
		return;
	case STAMPS:
		snprintf(out, room, "TimestampsFilter(%d,%d,%d)", f->number[0],
		    f->number[1], f->number[2]);
		return;
	case ROW:
		snprintf(out, room, "RowFilter(%s)", operand);
		return;
	case FAMILY:
		snprintf(out, room, "FamilyFilter(%s)", operand);
		return;
	case QUALIFIER:
		snprintf(out, room, "QualifierFilter(%s)", operand);
		return;
	case VALUE:
		snprintf(out, room, "ValueFilter(%s)", operand);
		return;
	case RANGE:
		snprintf(out, room, "ColumnRangeFilter('%s',%s,'%s',%s)", t,
		    word(f->flag[0]), u, word(f->flag[1]));
		return;
	case DEPENDENT:
		snprintf(out, room, "DependentColumnFilter('%s','%s'%s%s%s%s)",
		    t, u, f->given ? "," : "", f->given ? word(f->flag[0]) : "",
		    f->given > 1 ? "," : "", f->given > 1 ? operand : "");
		return;
	case COLUMN_VALUE:
		snprintf(out, room, "ColumnValueFilter('%s','%s',%s)", t, u,
		    operand);
		return;
	default:
		snprintf(out, room,
		    "SingleColumnValue%sFilter('%s','%s',%s%s%s"
		    "%s%s)",
		    f->kind == EXCLUDE ? "Exclude" : "", t, u, operand,
		    f->given ? "," : "", f->given ? word(f->flag[0]) : "",
		    f->given ? "," : "", f->given ? word(f->flag[1]) : "");
	}
}

void
model_filter_print(const struct model_filter *f, char *out, size_t room)
{
	size_t used = strlen(out);

	if (f->kind < LEAVES) {
		print_leaf(f, out + used, room - used);
		return;
	}
	if (f->kind == SKIPPING || f->kind == WHILE)
		strncat(out, f->kind == WHILE ? "WHILE " : "SKIP ",
		    room - used - 1);
	strncat(out, "(", room - strlen(out) - 1);
	for (int i = 0; i < f->count; i++) {
		if (i)
			strncat(out, f->kind == AND ? " AND " : " OR ",
			    room - strlen(out) - 1);
		model_filter_print(f->child[i], out, room);
	}
	strncat(out, ")", room - strlen(out) - 1);
}
