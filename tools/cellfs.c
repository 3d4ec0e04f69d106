/* cellfs: the program; finds the command and runs it. */
#include "cmd.h"

#include "../kv/text.h"
#include "../kv/why.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct command *const commands[] = {&command_mount, &command_umount,
    &command_create, &command_alter, &command_list, &command_describe,
    &command_schema, &command_exists, &command_rename, &command_truncate,
    &command_drop, &command_put, &command_get, &command_scan, &command_count,
    &command_delete, &command_deleteall, &command_incr, &command_append,
    &command_cas, &command_compact, &command_check, &command_stats, NULL};

/* Operands and sentences are in the text form already, but for what somebody
 * typed raw: that must not reach a terminal as it is. */
static void
print_safe(const char *text)
{
	struct buf line = {0};
	struct slice rest = slice_text(text);

	while (rest.size) {
		const uint8_t *slash = memchr(rest.data, '\\', rest.size);
		size_t plain = slash ? (size_t)(slash - rest.data) : rest.size;

		text_print(slice_head(rest, plain), &line);
		if (slash)
			buf_byte(&line, '\\');
		rest = slice_skip(rest, plain + (slash != NULL));
	}
	if (line.size)
		fwrite(line.data, 1, line.size, stderr);
	buf_release(&line);
}

/* Whether text begins with start; *behind is what follows. */
static bool
starts(const char *text, const char *start, const char **behind)
{
	size_t size = strlen(start);

	*behind = text + size;
	return strncmp(text, start, size) == 0;
}

/* Whether a line names its subject itself: "SUBJECT: ...", and so "table
 * SUBJECT: ..." and "'SUBJECT': ...". */
static bool
names(const char *line, const char *subject)
{
	static const char *const around[][2] = {
	    {"", ": "}, {"table ", ": "}, {"family ", ": "}, {"'", "': "}};

	for (size_t i = 0; i < sizeof(around) / sizeof(*around); i++) {
		const char *rest;

		if (starts(line, around[i][0], &rest) &&
		    starts(rest, subject, &rest) &&
		    starts(rest, around[i][1], &rest))
			return true;
	}
	return false;
}

void
message(const char *subject, const char *line)
{
	fflush(stdout);
	fputs("cellfs: ", stderr);
	if (!names(line, subject)) {
		print_safe(subject);
		fputs(": ", stderr);
	}
	print_safe(line);
	fputc('\n', stderr);
}

int
failed(const char *subject, int error)
{
	message(subject, why_text(error));
	return STATUS_FAILED;
}

int
malformed(const char *subject, int error)
{
	message(*subject ? subject : "''", why_text(error));
	return STATUS_USAGE;
}

int
usage(const struct arguments *a, const char *format, ...)
{
	const char *name = a->command->name;
	char *line = NULL, *whole = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&line, format, args) < 0 ||
	    asprintf(&whole, "%s (see cellfs %s --help)", line, name) < 0)
		whole = NULL;
	va_end(args);
	message(name, whole ? whole : strerror(ENOMEM));
	free(line);
	free(whole);
	return STATUS_USAGE;
}

static void
print_commands(void)
{
	printf("Usage: cellfs COMMAND [OPERAND]... [OPTION]...\n"
	       "       cellfs help [COMMAND]\n"
	       "Tables of rows, families and cells, kept in a store and "
	       "mounted as a file tree.\n\nCommands:\n");
	for (size_t i = 0; commands[i]; i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	printf("\nOptions:\n"
	       "  -h, --help     print this help, or that of a COMMAND\n"
	       "      --version  print the version\n\n"
	       "STORE is the directory of a store. Exit codes: 0 done, 1 not "
	       "so, 2 usage,\n3 refused or failed.\n");
}

static void
print_command(const struct command *command)
{
	printf("Usage: cellfs %s %s\n%s.\n%s\nOptions:\n", command->name,
	    command->synopsis, command->summary,
	    command->note ? command->note : "");
	arguments_help(command);
}

static const struct command *
find_command(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static int
run_command(const struct command *command, int argc, char **argv)
{
	struct arguments a = {.command = command, .input = -1};
	bool help;
	int status = arguments_read(&a, argc, argv, &help);

	if (status == STATUS_DONE && help)
		print_command(command);
	else if (status == STATUS_DONE)
		status = command->run(&a);
	arguments_release(&a);
	return status;
}

/* cellfs help [COMMAND] */
static int
help(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		print_commands();
		return STATUS_DONE;
	}
	command = find_command(argv[1]);
	if (!command || argc > 2) {
		message(argv[argc > 2 ? 2 : 1],
		    command ? "one operand too many (see cellfs --help)"
			    : "no such command (see cellfs --help)");
		return STATUS_USAGE;
	}
	print_command(command);
	return STATUS_DONE;
}

static bool
asks_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* What could not be written was not done. */
static int
finish(int status)
{
	bool before = ferror(stdout);

	if (fflush(stdout) == 0 && !before)
		return status;
	/* What an earlier write failed of is no longer known. */
	return failed("standard output", before ? -EIO : -errno);
}

int
main(int argc, char **argv)
{
	const struct command *command;

	if (strncmp(program_invocation_short_name, "mount.", 6) == 0)
		return mount_helper(argc, argv);
	if (argc < 2) {
		message("usage", "a command is wanted (see cellfs --help)");
		return STATUS_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("cellfs %s\n", CELLFS_VERSION);
		return finish(STATUS_DONE);
	}
	if (asks_help(argv[1]))
		return finish(help(1, argv));
	if (strcmp(argv[1], "help") == 0)
		return finish(help(argc - 1, argv + 1));
	command = find_command(argv[1]);
	if (!command) {
		message(argv[1], "no such command (see cellfs --help)");
		return STATUS_USAGE;
	}
	return finish(run_command(command, argc - 1, argv + 1));
}
