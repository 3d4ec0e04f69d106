/* create, alter, schema: the commands that change what a table declares. */
#include "cmd.h"
#include "parse.h"
#include "progress.h"
#include "store.h"

#include "../kv/text.h"
#include "../kv/why.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCHEMA_FILE_MAX ((size_t)1 << 20)

/* A new table belongs to who makes it, like a directory made by mkdir. */
static struct attrs
owner(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return (struct attrs){.set = ATTR_MODE | ATTR_UID | ATTR_GID,
	    .mode = 0777 & ~mask,
	    .uid = geteuid(),
	    .gid = getegid()};
}

/* Reads FAMILY[:ATTR=VALUE,...] into s. seen holds the families named so far:
 * each may be named once. */
static int
read_family(struct arguments *a, const char *text, struct schema *seen,
    struct schema *s)
{
	struct family *family;
	struct slice name;
	char *word = strndup(text, strcspn(text, ":"));
	int status;
	int r;

	if (!word)
		return failed(a->command->name, -ENOMEM);
	status = parse_family(a, word, &name);
	if (status == STATUS_DONE && schema_family(seen, name))
		status = malformed(text, why(EINVAL, "a family is named twice"));
	if (status == STATUS_DONE) {
		r = schema_declare(seen, name, &family);
		if (r == 0)
			r = schema_parse_family(s, slice_text(text));
		if (r < 0)
			status = malformed(text, r);
	}
	free(word);
	return status;
}

static int
create(struct arguments *a, const struct schema *schema)
{
	const struct attrs attrs = owner();
	struct store s;
	int status = store_open(&s, a->operands[0], STORE_CREATE);
	int r;

	if (status)
		return status;
	r = kv_table_create(s.kv, schema, &attrs);
	if (r < 0)
		status = failed(a->operands[1], r);
	return store_close(&s, status);
}

static int
run_create(struct arguments *a)
{
	struct schema schema = {.open = a->count == 2};
	struct schema seen = {0};
	struct slice name;
	int status = parse_table(a, a->operands[1], &name);
	int r;

	for (size_t i = 2; i < a->count && status == STATUS_DONE; i++)
		status = read_family(a, a->operands[i], &seen, &schema);
	if (status == STATUS_DONE) {
		r = buf_set(&schema.name, name);
		if (r == 0)
			r = schema_check(&schema);
		if (r < 0)
			status = malformed(a->operands[1], r);
	}
	if (status == STATUS_DONE)
		status = create(a, &schema);
	schema_release(&schema);
	schema_release(&seen);
	return status;
}

/* ATTR=VALUE of the table itself; open is the only one there is. */
static int
read_table_attribute(const char *text, struct schema *s)
{
	if (strncasecmp(text, "open=", 5))
		return malformed(text, why(EINVAL, "no attribute of a table; "
						   "open=0 or open=1"));
	if (strcmp(text + 5, "0") && strcmp(text + 5, "1"))
		return malformed(text, why(EINVAL, "open is 0 or 1"));
	s->open = text[5] == '1';
	return STATUS_DONE;
}

static bool
is_table_attribute(const char *text)
{
	return strchr(text, '=') && !strchr(text, ':');
}

static int
drop_family(struct arguments *a, const char *text, struct schema *seen,
    struct schema *s)
{
	struct family *family;
	struct slice name;
	int status = parse_family(a, text, &name);
	int r;

	if (status)
		return status;
	if (schema_family(seen, name))
		return malformed(text, why(EINVAL, "a family is named twice"));
	if (!schema_family(s, name))
		return failed(
		    a->operands[1], why(ENOENT, "no family %s", text));
	schema_undeclare(s, name);
	r = schema_declare(seen, name, &family);
	return r < 0 ? failed(text, r) : STATUS_DONE;
}

/* Applies the command line to s, the table's schema. */
static int
read_alter(struct arguments *a, struct schema *s)
{
	struct schema seen = {0};
	int status = STATUS_DONE;

	for (size_t i = 2; i < a->count && status == STATUS_DONE; i++)
		if (is_table_attribute(a->operands[i]))
			status = read_table_attribute(a->operands[i], s);
		else
			status = read_family(a, a->operands[i], &seen, s);
	for (size_t i = 0; i < a->given_count && status == STATUS_DONE; i++)
		if (a->given[i].id == OPTION_DROP)
			status = drop_family(a, a->given[i].value, &seen, s);
	if (option(a, OPTION_OPEN) || option(a, OPTION_SEAL))
		s->open = option(a, OPTION_OPEN) != NULL;
	schema_release(&seen);
	return status;
}

static int
alter(struct arguments *a, struct store *s, struct slice table)
{
	struct schema schema = {0};
	int status = STATUS_DONE;
	int r = kv_table_schema(s->kv, table, &schema);

	if (r < 0)
		return failed(a->operands[1], r);
	status = read_alter(a, &schema);
	if (status == STATUS_DONE) {
		r = schema_check(&schema);
		if (r < 0)
			status = malformed(a->operands[1], r);
	}
	if (status == STATUS_DONE) {
		progress_begin(a, "alter");
		r = kv_table_alter(s->kv, &schema, true);
		progress_end();
		if (r < 0)
			status = failed(a->operands[1], r);
	}
	schema_release(&schema);
	return status;
}

static int
run_alter(struct arguments *a)
{
	struct slice table;
	struct store s;
	int status = parse_table(a, a->operands[1], &table);

	if (status == STATUS_DONE && option(a, OPTION_OPEN) &&
	    option(a, OPTION_SEAL))
		status = usage(a, "--open and --seal exclude each other");
	if (status == STATUS_DONE && a->count == 2 && a->given_count == 0)
		status = usage(a, "nothing to alter is named");
	if (status == STATUS_DONE)
		status = store_open(&s, a->operands[0], STORE_WRITE);
	if (status == STATUS_DONE)
		status = store_close(&s, alter(a, &s, table));
	return status;
}

static int
read_file(const char *path, struct buf *out)
{
	bool standard = strcmp(path, "-") == 0;
	FILE *f = standard ? stdin : fopen(path, "re");
	char chunk[4096];
	size_t got;
	int r = 0;

	if (!f)
		return -errno;
	while (out->size <= SCHEMA_FILE_MAX &&
	       (got = fread(chunk, 1, sizeof(chunk), f)) > 0)
		buf_append(out, slice_of(chunk, got));
	if (ferror(f))
		r = -errno;
	else if (out->size > SCHEMA_FILE_MAX)
		r = why(
		    EFBIG, "a schema has at most %zu bytes", SCHEMA_FILE_MAX);
	if (!standard)
		fclose(f);
	return r < 0 ? r : buf_status(out);
}

/* The schema that text alone declares for a table. */
static int
schema_from(struct slice name, struct slice text, struct schema *out)
{
	int r = buf_set(&out->name, name);

	if (r == 0)
		r = schema_parse(out, text);
	return r == 0 ? schema_check(out) : r;
}

static int
apply_schema(struct kv *kv, const struct schema *schema)
{
	const struct attrs attrs = owner();
	int r = kv_table_alter(kv, schema, false);

	return r == -ENOENT ? kv_table_create(kv, schema, &attrs) : r;
}

/* Reads and checks the file before a store is opened or made. */
static int
apply_file(struct arguments *a, struct slice name)
{
	struct schema schema = {0};
	struct buf text = {0};
	struct store s;
	int status = STATUS_DONE;
	int r = read_file(a->operands[2], &text);

	if (r < 0)
		status = failed(a->operands[2], r);
	else if ((r = schema_from(name, buf_slice(&text), &schema)) < 0)
		status = malformed(a->operands[2], r);
	if (status == STATUS_DONE)
		status = store_open(&s, a->operands[0], STORE_CREATE);
	if (status == STATUS_DONE) {
		r = apply_schema(s.kv, &schema);
		if (r < 0)
			status = failed(a->operands[1], r);
		status = store_close(&s, status);
	}
	schema_release(&schema);
	buf_release(&text);
	return status;
}

static int
run_schema(struct arguments *a)
{
	struct slice name;
	int status;

	if (a->count == 2)
		return command_describe.run(a);
	status = parse_table(a, a->operands[1], &name);
	return status ? status : apply_file(a, name);
}

const struct command command_create = {
    .name = "create",
    .synopsis = "STORE TABLE [FAMILY[:ATTR=VALUE,...]]...",
    .summary = "Create a table, and a store where there is none",
    .note = "The attributes are those of cellfs(5).\n",
    .options = (const enum option_id[]){OPTION_END},
    .least = 2,
    .most = MANY,
    .run = run_create,
};

const struct command command_alter = {
    .name = "alter",
    .synopsis = "STORE TABLE [FAMILY[:ATTR=VALUE,...]]... [ATTR=VALUE]... "
		"[OPTION]...",
    .summary = "Declare, change or drop families of a table",
    .note = "The attributes are those of cellfs(5).\n",
    .options = (const enum option_id[]){OPTION_DROP, OPTION_OPEN, OPTION_SEAL,
	OPTION_PROGRESS, OPTION_NO_PROGRESS, OPTION_END},
    .least = 2,
    .most = MANY,
    .run = run_alter,
};

const struct command command_schema = {
    .name = "schema",
    .synopsis = "STORE TABLE [FILE|-]",
    .summary = "Print a table's schema text, or make a table equal to one",
    .options = (const enum option_id[]){OPTION_END},
    .least = 2,
    .most = 3,
    .run = run_schema,
};
