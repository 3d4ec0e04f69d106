/* cmd: what the commands of the program share.
 *
 * A command is one constant entry: name, synopsis, options, run function.
 * Its --help, the check of its options and the number of its operands come
 * from that entry alone. Functions that return a status have said on stderr
 * what is wrong ("cellfs: subject: reason") unless it is STATUS_DONE. One
 * command runs per process, in the main thread.
 */
#ifndef CELLFS_TOOLS_CMD_H
#define CELLFS_TOOLS_CMD_H

#include "../kv/kv.h"

/* The exit codes. */
enum status {
	STATUS_DONE = 0,
	STATUS_NOT_SO = 1, /* get of nothing, exists, check, a failed cas */
	STATUS_USAGE = 2,
	STATUS_FAILED = 3,
};

/* Every option has one meaning and one line of help for all commands; they
 * stand in arguments.c in this order. */
enum option_id {
	OPTION_END,
	OPTION_ABSENT,
	OPTION_AS,
	OPTION_BATCH,
	OPTION_COLUMNS,
	OPTION_DROP,
	OPTION_FILTER,
	OPTION_FOREGROUND,
	OPTION_FROM,
	OPTION_JSON,
	OPTION_KEYS_ONLY,
	OPTION_LIMIT,
	OPTION_MOUNT_OPTIONS,
	OPTION_NEWEST,
	OPTION_NO_PROGRESS,
	OPTION_NULL,
	OPTION_OPEN,
	OPTION_PREFIX,
	OPTION_PROGRESS,
	OPTION_RAW,
	OPTION_RAW_VALUE,
	OPTION_REPAIR,
	OPTION_REVERSED,
	OPTION_SEAL,
	OPTION_SINCE,
	OPTION_TO,
	OPTION_TS,
	OPTION_TTL,
	OPTION_UNTIL,
	OPTION_VERSIONS,
	OPTION_WATCH,
	OPTION_HELP,
	OPTION_COUNT,
};

struct arguments;

struct command {
	const char *name;
	const char *synopsis; /* the operands */
	const char *summary;
	const char *note; /* more for --help, in whole lines, or NULL */
	const enum option_id *options; /* ends with OPTION_END */
	size_t least, most;	       /* operands */
	int (*run)(struct arguments *a);
};

#define MANY ((size_t)-1)

struct given {
	enum option_id id;
	const char *value; /* "" for an option without argument */
};

struct arguments {
	const struct command *command;
	const char **operands;
	size_t count;
	struct given *given; /* the options in their order */
	size_t given_count;
	struct buf *parsed; /* the bytes behind the slices handed out */
	size_t parsed_count;
	int input;	      /* what stands for standard input, or -1 */
	struct source source; /* over input */
	off_t input_start;
};

/* The commands in the order of --help, NULL at the end. */
extern const struct command *const commands[];

extern const struct command command_alter, command_append, command_cas,
    command_check, command_compact, command_count, command_create,
    command_delete, command_deleteall, command_describe, command_drop,
    command_exists, command_get, command_incr, command_list, command_mount,
    command_put, command_rename, command_scan, command_schema, command_stats,
    command_truncate, command_umount;

/* What mount(8) calls: mount.cellfs STORE DIR [-sfnv] [-N NS] [-t TYPE]
 * [-o OPTIONS]. */
int mount_helper(int argc, char **argv);

/* The option's argument as last given, "" if it has none, NULL if absent. */
const char *option(const struct arguments *a, enum option_id id);

/* Without the dashes. */
const char *option_name(enum option_id id);

bool command_takes(const struct command *command, enum option_id id);

/* Reads argv[1..] into a; STATUS_DONE with *help set if --help is there. */
int arguments_read(struct arguments *a, int argc, char **argv, bool *help);

void arguments_release(struct arguments *a);

/* Prints the options of a command, one a line. */
void arguments_help(const struct command *command);

/* "cellfs: COMMAND: sentence", and where to read on: STATUS_USAGE. */
int usage(const struct arguments *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "cellfs: SUBJECT: the sentence of error": STATUS_FAILED. */
int failed(const char *subject, int error);

/* Likewise for what was malformed on the command line: STATUS_USAGE. */
int malformed(const char *subject, int error);

/* "cellfs: SUBJECT: line", without anything that could upset a terminal. */
void message(const char *subject, const char *line);

#endif
