/* compact, check, stats: the store as a whole. */
#include "cmd.h"
#include "parse.h"
#include "progress.h"
#include "store.h"

#include "../kv/text.h"
#include "../kv/why.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <unistd.h>

/* A word of the control file: blanks part words there. */
static void
add_word(struct slice word, struct buf *line)
{
	struct buf text = {0};

	text_print(word, &text);
	for (size_t i = 0; i < text.size; i++)
		if (text.data[i] == ' ')
			buf_text(line, "\\x20");
		else
			buf_byte(line, text.data[i]);
	line->failed |= text.failed;
	buf_release(&text);
}

/* The line for the control file of a mount. */
static int
compact_line(struct slice table, struct slice family, struct buf *line)
{
	buf_text(line, "compact ");
	add_word(table, line);
	buf_byte(line, ' ');
	add_word(family, line);
	buf_text(line, "\n");
	buf_byte(line, 0);
	return buf_status(line);
}

static int
compact(struct arguments *a, struct slice table, struct slice family)
{
	const char *subject = a->operands[a->count > 1];
	struct store s;
	int status = store_open(&s, a->operands[0], STORE_WRITE);
	int r;

	if (status)
		return status;
	progress_begin(a, "compact");
	r = kv_compact(s.kv, table, family);
	progress_end();
	if (r < 0)
		status = failed(subject, r);
	return store_close(&s, status);
}

static int
run_compact(struct arguments *a)
{
	const char *subject = a->operands[a->count > 1];
	struct slice table = {0}, family = {0};
	struct buf line = {0};
	int status = STATUS_DONE;

	if (a->count > 1)
		status = parse_table(a, a->operands[1], &table);
	if (status == STATUS_DONE && a->count > 2)
		status = parse_family(a, a->operands[2], &family);
	if (status)
		return status;
	if (compact_line(table, family, &line) < 0)
		status = failed("compact", -ENOMEM);
	else if (!store_delegate(a, subject, (char *)line.data, &status))
		status = compact(a, table, family);
	buf_release(&line);
	return status;
}

static void
print_problem(void *context, const char *line)
{
	(void)context;
	puts(line);
}

/* A store too damaged to be opened is an answer of check, not a failure. */
static int
run_check(struct arguments *a)
{
	const char *path = a->operands[0];
	bool repair = option(a, OPTION_REPAIR) != NULL;
	struct store s;
	int status = STATUS_DONE;
	int r = store_try(&s, path, repair ? STORE_REPAIR : STORE_WRITE);

	if (r == -EIO) {
		puts(why_text(r));
		return STATUS_NOT_SO;
	}
	if (r < 0)
		return failed(path, r);
	progress_begin(a, "check");
	r = kv_check(s.kv, repair, print_problem, NULL);
	progress_end();
	if (r == 1)
		status = STATUS_NOT_SO;
	else if (r < 0)
		status = failed(path, r);
	return store_close(&s, status);
}

static void
print_stat(void *context, const char *name, uint64_t value)
{
	(void)context;
	printf("%s %" PRIu64 "\n", name, value);
}

static void
add_stat(void *object, const char *name, uint64_t value)
{
	json_object_object_add(object, name, json_object_new_uint64(value));
}

static void
print_stats(struct kv *kv, bool json)
{
	struct json_object *object;

	if (!json) {
		kv_stats(kv, print_stat, NULL);
		return;
	}
	object = json_object_new_object();
	kv_stats(kv, add_stat, object);
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
	json_object_put(object);
}

static int
run_stats(struct arguments *a)
{
	bool json = option(a, OPTION_JSON) != NULL;
	bool watch = option(a, OPTION_WATCH) != NULL;
	struct store s;
	int status = store_open(&s, a->operands[0], STORE_READ);

	if (status)
		return status;
	print_stats(s.kv, json);
	while (watch && fflush(stdout) == 0) {
		sleep(1);
		if (isatty(STDOUT_FILENO))
			fputs("\033[H\033[J", stdout);
		else if (!json)
			putchar('\n');
		print_stats(s.kv, json);
	}
	return store_close(&s, status);
}

const struct command command_compact = {
    .name = "compact",
    .synopsis = "STORE [TABLE [FAMILY]] [OPTION]...",
    .summary = "Remove what no read can see and give space back",
    .options = (const enum option_id[]){OPTION_PROGRESS, OPTION_NO_PROGRESS,
	OPTION_END},
    .least = 1,
    .most = 3,
    .run = run_compact,
};

const struct command command_check = {
    .name = "check",
    .synopsis = "STORE [OPTION]...",
    .summary = "Read everything and print each fault",
    .options = (const enum option_id[]){OPTION_REPAIR, OPTION_PROGRESS,
	OPTION_NO_PROGRESS, OPTION_END},
    .least = 1,
    .most = 1,
    .run = run_check,
};

const struct command command_stats = {
    .name = "stats",
    .synopsis = "STORE [OPTION]...",
    .summary = "Print the counters of a store",
    .options = (const enum option_id[]){OPTION_WATCH, OPTION_JSON, OPTION_END},
    .least = 1,
    .most = 1,
    .run = run_stats,
};
