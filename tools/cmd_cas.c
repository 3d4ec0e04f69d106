/* cas: a change of a row that is made only if a condition holds. */
#include "change.h"
#include "parse.h"

#include "../kv/why.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The commands that may stand behind a condition. */
static const struct verb {
	const struct command *command;
	change_reader read;
} verbs[] = {
    {&command_put, change_put},
    {&command_delete, change_delete},
    {&command_deleteall, change_deleteall},
    {&command_incr, change_incr},
    {&command_append, change_append},
};

#define VERBS (sizeof(verbs) / sizeof(*verbs))

static int
read_compare(const char *word, enum compare *out)
{
	static const char *const names[] = {[CMP_LESS] = "<",
	    [CMP_LESS_OR_EQUAL] = "<=",
	    [CMP_EQUAL] = "=",
	    [CMP_NOT_EQUAL] = "!=",
	    [CMP_GREATER_OR_EQUAL] = ">=",
	    [CMP_GREATER] = ">"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(word, names[i]) == 0) {
			*out = i;
			return STATUS_DONE;
		}
	return malformed(word, why(EINVAL, "no comparison; = != < <= > >="));
}

/* Reads the condition; *next is the operand behind it. */
static int
read_condition(struct arguments *a, struct condition *c, size_t *next)
{
	struct column column;
	int status = parse_cell(a, a->operands[3], &column);

	*c = (struct condition){.family = column.family,
	    .qualifier = column.qualifier,
	    .compare = CMP_EQUAL};
	*next = 4;
	if (status || option(a, OPTION_ABSENT))
		return status;
	if (a->count < 6)
		return usage(a, "a comparison and a value, or --absent, are "
				"wanted");
	*next = 6;
	status = read_compare(a->operands[4], &c->compare);
	if (status == STATUS_DONE)
		status = parse_value(a, a->operands[5], &c->expected);
	return status;
}

/* --as and --raw-value may be those of the expected value. */
static int
check_options(const struct arguments *a, const struct command *command)
{
	static const enum option_id kinds[] = {
	    OPTION_TS, OPTION_TTL, OPTION_NEWEST, OPTION_END};

	for (const enum option_id *id = kinds; *id; id++)
		if (option(a, *id) && !command_takes(command, *id))
			return usage(a, "%s takes no --%s", command->name,
			    option_name(*id));
	return STATUS_DONE;
}

static int
read_verb(struct arguments *a, size_t at, struct change *c)
{
	const char *name = at < a->count ? a->operands[at] : "";
	int status;

	for (size_t i = 0; i < VERBS; i++)
		if (strcmp(verbs[i].command->name, name) == 0) {
			status = check_options(a, verbs[i].command);
			return status ? status : verbs[i].read(a, at + 1, c);
		}
	return usage(a, "put, delete, deleteall, incr or append is wanted%s%s",
	    *name ? ", not " : "", name);
}

static int
apply(struct arguments *a, struct change *c)
{
	struct store s;
	int status = store_open(&s, a->operands[0], STORE_WRITE);

	if (status)
		return status;
	status = change_apply(&s, a->operands[1], c);
	if (status == STATUS_DONE) {
		printf("%s\n", c->mutation.applied ? "true" : "false");
		status = c->mutation.applied ? STATUS_DONE : STATUS_NOT_SO;
	}
	return store_close(&s, status);
}

static int
run_cas(struct arguments *a)
{
	struct change c = {0};
	struct condition condition;
	size_t next;
	int status = change_place(a, &c);

	if (status == STATUS_DONE)
		status = read_condition(a, &condition, &next);
	if (status == STATUS_DONE)
		status = read_verb(a, next, &c);
	c.mutation.condition = &condition;
	if (status == STATUS_DONE)
		status = apply(a, &c);
	change_release(&c);
	return status;
}

const struct command command_cas = {
    .name = "cas",
    .synopsis = "STORE TABLE ROW FAMILY:QUALIFIER (OP EXPECTED|--absent) "
		"put|delete|deleteall|incr|append [OPERAND]... [OPTION]...",
    .summary = "Change a row if a cell is as expected; print true or false",
    .note = "OP is one of = != < <= > >=. The row is changed if EXPECTED OP "
	    "cell holds:\nEXPECTED stands on the left.\n",
    .options = (const enum option_id[]){OPTION_ABSENT, OPTION_TS, OPTION_TTL,
	OPTION_NEWEST, OPTION_AS, OPTION_RAW_VALUE, OPTION_END},
    .least = 5,
    .most = MANY,
    .run = run_cas,
};
