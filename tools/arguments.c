#include "cmd.h"
#include "parse.h"

#include "../kv/why.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct option_words {
	const char *name;
	const char *argument; /* NULL: takes none */
	const char *help;
	char letter;
};

static const struct option_words words[OPTION_COUNT] = {
    [OPTION_ABSENT] = {"absent", NULL, "if the column holds nothing", 0},
    [OPTION_AS] = {"as", "FORM",
	"values as hex, base64, be64 or be32 (numbers of 8 or 4 bytes)", 0},
    [OPTION_BATCH] = {"batch", "N",
	"at most N cells in one JSON object; a longer row comes in several", 0},
    [OPTION_COLUMNS] = {"columns", "C,...",
	"only these families and columns (FAMILY or FAMILY:QUALIFIER)", 0},
    [OPTION_DROP] = {"drop", "FAMILY", "drop a family with its data", 0},
    [OPTION_FILTER] = {"filter", "F",
	"only what the filter F passes: cellfs-filter(7)", 0},
    [OPTION_FOREGROUND] = {"foreground", NULL, "stay in the foreground", 'f'},
    [OPTION_FROM] = {"from", "K", "only rows from K on", 0},
    [OPTION_JSON] = {"json", NULL, "print JSON, one object a line", 0},
    [OPTION_KEYS_ONLY] = {"keys-only", NULL, "print no values", 0},
    [OPTION_LIMIT] = {"limit", "N", "at most N rows", 0},
    [OPTION_MOUNT_OPTIONS] = {"options", "OPTIONS",
	"mount options, separated by commas", 'o'},
    [OPTION_NEWEST] = {"newest", NULL, "the newest version", 0},
    [OPTION_NO_PROGRESS] = {"no-progress", NULL, "show no progress", 0},
    [OPTION_NULL] = {"null", NULL,
	"end each record with a NUL byte instead of a newline", '0'},
    [OPTION_OPEN] = {"open", NULL, "let a first cell declare its family", 0},
    [OPTION_PREFIX] = {"prefix", "P", "only rows that begin with P", 0},
    [OPTION_PROGRESS] = {"progress", NULL,
	"show progress even if standard error is no terminal", 0},
    [OPTION_RAW] = {"raw", NULL,
	"also delete markers and what they cover, where they are kept", 0},
    [OPTION_RAW_VALUE] = {"raw-value", NULL,
	"values as the bytes themselves (as input, - is standard input)", 0},
    [OPTION_REPAIR] = {"repair", NULL, "mend what can be mended", 0},
    [OPTION_REVERSED] = {"reversed", NULL, "rows in descending order", 0},
    [OPTION_SEAL] = {"seal", NULL, "refuse families that are not declared", 0},
    [OPTION_SINCE] = {"since", "TIME", "only versions of TIME or later", 0},
    [OPTION_TO] = {"to", "K", "only rows before K", 0},
    [OPTION_TS] = {"ts", "TS", "the timestamp, in ms since 1970", 0},
    [OPTION_TTL] = {"ttl", "MS", "let the cell expire after MS ms", 0},
    [OPTION_UNTIL] = {"until", "TIME", "only versions of TIME or earlier", 0},
    [OPTION_VERSIONS] = {"versions", "N",
	"up to N versions of a column, or all (1)", 0},
    [OPTION_WATCH] = {"watch", NULL, "print again every second", 0},
    [OPTION_HELP] = {"help", NULL, "print this help", 'h'},
};

static void
take_option(struct arguments *a, enum option_id id, const char *value)
{
	a->given[a->given_count++] = (struct given){id, value ? value : ""};
}

/* The option table of getopt_long for one command; --help is in each. */
static void
long_options(const struct command *command, struct option *out)
{
	size_t count = 0;
	const enum option_id help[] = {OPTION_HELP, OPTION_END};
	const enum option_id *lists[] = {command->options, help};

	for (size_t i = 0; i < 2; i++)
		for (const enum option_id *id = lists[i]; *id; id++)
			out[count++] = (struct option){words[*id].name,
			    words[*id].argument ? required_argument
						: no_argument,
			    NULL, 256 + *id};
	out[count] = (struct option){0};
}

/* "-" hands operands out in their place, ":" tells a missing argument from an
 * unknown option. */
static void
short_options(const struct command *command, struct buf *out)
{
	buf_text(out, "-:");
	buf_byte(out, words[OPTION_HELP].letter);
	for (const enum option_id *id = command->options; *id; id++) {
		if (words[*id].letter)
			buf_byte(out, words[*id].letter);
		if (words[*id].letter && words[*id].argument)
			buf_byte(out, ':');
	}
	buf_byte(out, 0);
}

static enum option_id
option_of_letter(const struct command *command, int letter)
{
	if (letter == words[OPTION_HELP].letter)
		return OPTION_HELP;
	for (const enum option_id *id = command->options; *id; id++)
		if (words[*id].letter && words[*id].letter == letter)
			return *id;
	return OPTION_END;
}

/* -4 is a number, not an option, unless the command has such an option. */
static bool
is_number(const struct command *command, const char *word)
{
	return word[0] == '-' && isdigit((unsigned char)word[1]) &&
	       !option_of_letter(command, word[1]);
}

static int
bad_option(const struct arguments *a, int answer, const char *word)
{
	if (answer == ':')
		return usage(a, "%s needs an argument", word);
	if (optopt >= 256)
		return usage(
		    a, "--%s takes no argument", words[optopt - 256].name);
	if (optopt)
		return usage(a, "no option -%c", optopt);
	return usage(a, "no option %s, or more than one", word);
}

static int
read_words(struct arguments *a, int argc, char **argv, const char *letters)
{
	struct option longs[OPTION_COUNT + 1];
	bool inside = false; /* a word of several letters */

	long_options(a->command, longs);
	opterr = 0;
	while (optind < argc) {
		int at = optind;
		int answer;

		if (!inside && is_number(a->command, argv[at])) {
			a->operands[a->count++] = argv[optind++];
			continue;
		}
		answer = getopt_long(argc, argv, letters, longs, NULL);
		inside = optind == at;
		if (answer == -1)
			break;
		if (answer == ':' || answer == '?')
			return bad_option(a, answer, argv[at]);
		if (answer == 1)
			a->operands[a->count++] = optarg;
		else if (answer >= 256)
			take_option(a, answer - 256, optarg);
		else
			take_option(
			    a, option_of_letter(a->command, answer), optarg);
	}
	while (optind < argc)
		a->operands[a->count++] = argv[optind++];
	return STATUS_DONE;
}

int
arguments_read(struct arguments *a, int argc, char **argv, bool *help)
{
	struct buf letters = {0};
	int status;

	*help = false;
	a->operands = calloc(argc + 1, sizeof(*a->operands));
	a->given = calloc(argc + 1, sizeof(*a->given));
	short_options(a->command, &letters);
	if (!a->operands || !a->given || buf_status(&letters) < 0)
		status = failed(a->command->name, -ENOMEM);
	else
		status = read_words(a, argc, argv, (char *)letters.data);
	buf_release(&letters);
	if (status)
		return status;
	*help = option(a, OPTION_HELP) != NULL;
	if (*help)
		return STATUS_DONE;
	if (a->count < a->command->least)
		return usage(a, "too few operands");
	if (a->count > a->command->most)
		return usage(a, "one operand too many: %s",
		    a->operands[a->command->most]);
	return STATUS_DONE;
}

void
arguments_release(struct arguments *a)
{
	for (size_t i = 0; i < a->parsed_count; i++)
		buf_release(&a->parsed[i]);
	free(a->parsed);
	free(a->operands);
	free(a->given);
}

const char *
option(const struct arguments *a, enum option_id id)
{
	for (size_t i = a->given_count; i-- > 0;)
		if (a->given[i].id == id)
			return a->given[i].value;
	return NULL;
}

const char *
option_name(enum option_id id)
{
	return words[id].name;
}

bool
command_takes(const struct command *command, enum option_id id)
{
	const enum option_id *at = command->options;

	while (*at && *at != id)
		at++;
	return *at != OPTION_END;
}

static void
print_option(enum option_id id)
{
	const struct option_words *w = &words[id];
	char left[40];

	snprintf(left, sizeof(left), "--%s%s%s", w->name,
	    w->argument ? " " : "", w->argument ? w->argument : "");
	if (w->letter)
		printf("  -%c, %-20s %s\n", w->letter, left, w->help);
	else
		printf("      %-20s %s\n", left, w->help);
}

void
arguments_help(const struct command *command)
{
	for (const enum option_id *id = command->options; *id; id++)
		print_option(*id);
	print_option(OPTION_HELP);
}
