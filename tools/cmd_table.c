/* list, describe, exists, rename, truncate, drop: tables as a whole. */
#include "cmd.h"
#include "parse.h"
#include "print.h"
#include "progress.h"
#include "store.h"

#include "../kv/kv_data.h"
#include "../kv/printer.h"
#include "../kv/text.h"
#include "../kv/why.h"

#include <errno.h>
#include <fnmatch.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What list and describe do with each table. */
struct listing {
	struct kv *kv;
	const char *pattern;
	bool json;
	bool describe;
};

static int
print_name(const struct listing *l, struct slice table)
{
	struct buf line = {0};
	int r = 0;

	if (l->json) {
		buf_text(&line, "{\"table\":");
		r = json_text(table, &line);
		buf_text(&line, "}");
	} else {
		text_print(table, &line);
	}
	buf_byte(&line, '\n');
	return print_text(r, &line);
}

/* A schema's value as the JSON value it looks like. */
static struct json_object *
json_value(const char *text)
{
	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		return json_object_new_boolean(*text == 't');
	if (*text && text[strspn(text, "0123456789")] == 0)
		return json_object_new_int64(strtoll(text, NULL, 10));
	return json_object_new_string(text);
}

/* "family NAME attr=value ..." as an object; cuts line into words. */
static struct json_object *
json_family(char *line)
{
	struct json_object *family = json_object_new_object();
	char *rest;
	char *word = strtok_r(line, " ", &rest);

	word = strtok_r(NULL, " ", &rest);
	json_object_object_add(
	    family, "family", json_object_new_string(word ? word : ""));
	while ((word = strtok_r(NULL, " ", &rest))) {
		char *equals = strchr(word, '=');

		if (!equals)
			continue;
		*equals = 0;
		json_object_object_add(family, word, json_value(equals + 1));
	}
	return family;
}

/* The canonical text has all attributes there are, so JSON is made of it. */
static int
print_json_schema(const struct schema *schema, struct buf *text)
{
	struct json_object *table = json_object_new_object();
	struct json_object *families = json_object_new_array();
	struct buf name = {0};
	char *rest;
	int r;

	text_print(buf_slice(&schema->name), &name);
	buf_byte(&name, 0);
	buf_byte(text, 0);
	r = buf_status(text);
	if (r == 0)
		r = buf_status(&name);
	if (r == 0) {
		for (char *line = strtok_r((char *)text->data, "\n", &rest);
		     line; line = strtok_r(NULL, "\n", &rest))
			if (strncmp(line, "family ", 7) == 0)
				json_object_array_add(
				    families, json_family(line));
		json_object_object_add(
		    table, "table", json_object_new_string((char *)name.data));
		json_object_object_add(
		    table, "open", json_object_new_boolean(schema->open));
		json_object_object_add(
		    table, "families", json_object_get(families));
		puts(json_object_to_json_string_ext(table,
		    JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	}
	json_object_put(families);
	json_object_put(table);
	buf_release(&name);
	return r;
}

static int
print_schema(const struct listing *l, struct slice table)
{
	struct schema schema = {0};
	struct buf text = {0};
	int r = kv_table_schema(l->kv, table, &schema);

	if (r < 0)
		return r;
	schema_print(&schema, &text);
	if (l->json)
		r = print_json_schema(&schema, &text);
	else
		r = print_text(0, &text);
	schema_release(&schema);
	buf_release(&text);
	return r;
}

/* Where all tables are described, a comment says which one follows. */
static int
describe_one(const struct listing *l, struct slice table)
{
	if (!l->json) {
		fputs("# ", stdout);
		print_name(l, table);
	}
	return print_schema(l, table);
}

static int
list_one(void *context, const struct entry *entry, struct buf *skip)
{
	const struct listing *l = context;
	char name[TABLE_MAX + 1];
	int r;

	(void)skip;
	if (entry->name.size > TABLE_MAX)
		return -EIO;
	memcpy(name, entry->name.data, entry->name.size);
	name[entry->name.size] = 0;
	if (l->pattern && fnmatch(l->pattern, name, 0) != 0)
		return LIST_MORE;
	r = l->describe ? describe_one(l, entry->name)
			: print_name(l, entry->name);
	return r == -ENOENT ? LIST_MORE : r;
}

static int
list_tables(struct arguments *a, struct listing *l)
{
	const struct place root = {.level = LEVEL_ROOT};
	struct store s;
	int status = store_open(&s, a->operands[0], STORE_READ);
	int r;

	if (status)
		return status;
	l->kv = s.kv;
	r = kv_list(s.kv, &root, NULL, list_one, l);
	if (r < 0)
		status = failed(a->operands[0], r);
	return store_close(&s, status);
}

static int
run_list(struct arguments *a)
{
	struct listing l = {.json = option(a, OPTION_JSON) != NULL,
	    .pattern = a->count > 1 ? a->operands[1] : NULL};

	return list_tables(a, &l);
}

static int
run_describe(struct arguments *a)
{
	struct listing l = {
	    .json = option(a, OPTION_JSON) != NULL, .describe = true};
	struct slice table;
	struct store s;
	int status;
	int r;

	if (a->count == 1)
		return list_tables(a, &l);
	status = parse_table(a, a->operands[1], &table);
	if (status == STATUS_DONE)
		status = store_open(&s, a->operands[0], STORE_READ);
	if (status)
		return status;
	l.kv = s.kv;
	r = print_schema(&l, table);
	if (r < 0)
		status = failed(a->operands[1], r);
	return store_close(&s, status);
}

static int
run_exists(struct arguments *a)
{
	struct schema schema;
	struct slice table;
	struct store s;
	int status = parse_table(a, a->operands[1], &table);
	int r;

	if (status == STATUS_DONE)
		status = store_open(&s, a->operands[0], STORE_READ);
	if (status)
		return status;
	r = kv_table_schema(s.kv, table, &schema);
	if (r == 0)
		schema_release(&schema);
	if (r < 0 && r != -ENOENT)
		return store_close(&s, failed(a->operands[1], r));
	puts(r == 0 ? "true" : "false");
	return store_close(&s, r == 0 ? STATUS_DONE : STATUS_NOT_SO);
}

static int
run_rename(struct arguments *a)
{
	struct slice from, to;
	struct store s;
	int status = parse_table(a, a->operands[1], &from);
	int r;

	if (status == STATUS_DONE)
		status = parse_table(a, a->operands[2], &to);
	if (status == STATUS_DONE)
		status = store_open(&s, a->operands[0], STORE_WRITE);
	if (status)
		return status;
	r = kv_table_rename(s.kv, from, to);
	if (r < 0)
		status = failed(a->operands[1], r);
	return store_close(&s, status);
}

/* drop and truncate: by the mount that holds the store, or by ourselves. */
static int
empty_table(struct arguments *a, int (*act)(struct kv *, struct slice))
{
	const char *verb = a->command->name;
	char line[TABLE_MAX + 20];
	struct slice table;
	struct store s;
	int status = parse_table(a, a->operands[1], &table);
	int r;

	if (status)
		return status;
	snprintf(line, sizeof(line), "%s %.*s\n", verb, (int)table.size,
	    (const char *)table.data);
	if (store_delegate(a, a->operands[1], line, &status))
		return status;
	status = store_open(&s, a->operands[0], STORE_WRITE);
	if (status)
		return status;
	progress_begin(a, verb);
	r = act(s.kv, table);
	progress_end();
	if (r < 0)
		status = failed(a->operands[1], r);
	return store_close(&s, status);
}

static int
run_truncate(struct arguments *a)
{
	return empty_table(a, kv_table_truncate);
}

static int
run_drop(struct arguments *a)
{
	return empty_table(a, kv_table_drop);
}

const struct command command_list = {
    .name = "list",
    .synopsis = "STORE [PATTERN] [OPTION]...",
    .summary = "Print the names of the tables, or of those like PATTERN",
    .options = (const enum option_id[]){OPTION_JSON, OPTION_END},
    .least = 1,
    .most = 2,
    .run = run_list,
};

const struct command command_describe = {
    .name = "describe",
    .synopsis = "STORE [TABLE] [OPTION]...",
    .summary = "Print the schema of a table, or of all",
    .options = (const enum option_id[]){OPTION_JSON, OPTION_END},
    .least = 1,
    .most = 2,
    .run = run_describe,
};

const struct command command_exists = {
    .name = "exists",
    .synopsis = "STORE TABLE",
    .summary = "Print whether a table exists, true or false",
    .options = (const enum option_id[]){OPTION_END},
    .least = 2,
    .most = 2,
    .run = run_exists,
};

const struct command command_rename = {
    .name = "rename",
    .synopsis = "STORE TABLE NEW",
    .summary = "Give a table another name",
    .options = (const enum option_id[]){OPTION_END},
    .least = 3,
    .most = 3,
    .run = run_rename,
};

const struct command command_truncate = {
    .name = "truncate",
    .synopsis = "STORE TABLE [OPTION]...",
    .summary = "Delete all rows of a table and keep its schema",
    .options = (const enum option_id[]){OPTION_PROGRESS, OPTION_NO_PROGRESS,
	OPTION_END},
    .least = 2,
    .most = 2,
    .run = run_truncate,
};

const struct command command_drop = {
    .name = "drop",
    .synopsis = "STORE TABLE [OPTION]...",
    .summary = "Delete a table with all its rows",
    .options = (const enum option_id[]){OPTION_PROGRESS, OPTION_NO_PROGRESS,
	OPTION_END},
    .least = 2,
    .most = 2,
    .run = run_drop,
};
