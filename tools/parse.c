#include "parse.h"

#include "../kv/clock.h"
#include "../kv/text.h"
#include "../kv/why.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An empty buf that arguments_release() frees. */
static struct buf *
parsed_buf(struct arguments *a)
{
	struct buf *grown =
	    realloc(a->parsed, (a->parsed_count + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	a->parsed = grown;
	grown[a->parsed_count] = (struct buf){0};
	return &grown[a->parsed_count++];
}

static int
parse_bytes(
    struct arguments *a, enum form form, struct slice text, struct slice *out)
{
	struct buf *b = parsed_buf(a);
	int r = b ? form_read(form, text, b) : -ENOMEM;

	*out = (struct slice){0};
	if (r == 0)
		r = buf_status(b);
	if (r == 0)
		*out = buf_slice(b);
	return r;
}

static int
parse_text(struct arguments *a, const char *text, struct slice *out)
{
	return parse_bytes(a, FORM_TEXT, slice_text(text), out);
}

/* text as bytes that the check lets pass. */
static int
parse_checked(struct arguments *a, const char *text,
    int (*check)(struct slice bytes), struct slice *out)
{
	int r = parse_text(a, text, out);

	if (r == 0)
		r = check(*out);
	return r < 0 ? malformed(text, r) : STATUS_DONE;
}

int
parse_table(struct arguments *a, const char *text, struct slice *out)
{
	return parse_checked(a, text, schema_check_table_name, out);
}

static int
check_bound(struct slice row)
{
	if (row.size > ROW_MAX)
		return why(ENAMETOOLONG,
		    "a row key has at most %d bytes, "
		    "not %zu",
		    ROW_MAX, row.size);
	return 0;
}

static int
check_row(struct slice row)
{
	return row.size ? check_bound(row)
			: why(EINVAL, "a row key has at least one byte");
}

int
parse_row(struct arguments *a, const char *text, struct slice *out)
{
	return parse_checked(a, text, check_row, out);
}

int
parse_bound(struct arguments *a, enum option_id id, struct slice *out)
{
	const char *text = option(a, id);

	*out = (struct slice){0};
	return text ? parse_checked(a, text, check_bound, out) : STATUS_DONE;
}

int
parse_family(struct arguments *a, const char *text, struct slice *out)
{
	return parse_checked(a, text, schema_check_family_name, out);
}

static int
split_column(struct arguments *a, const char *text, struct column *out)
{
	const char *colon = strchr(text, ':');
	struct slice family =
	    colon ? slice_of(text, colon - text) : slice_text(text);
	int r;

	*out = (struct column){.whole_family = !colon};
	r = parse_bytes(a, FORM_TEXT, family, &out->family);
	if (r == 0)
		r = schema_check_family_name(out->family);
	if (r == 0 && colon)
		r = parse_text(a, colon + 1, &out->qualifier);
	return r;
}

int
parse_column(struct arguments *a, const char *text, struct column *out)
{
	int r = split_column(a, text, out);

	return r < 0 ? malformed(text, r) : STATUS_DONE;
}

int
parse_cell(struct arguments *a, const char *text, struct column *out)
{
	int r = split_column(a, text, out);

	if (r == 0 && out->whole_family)
		r = why(EINVAL,
		    "a family, not a column; FAMILY:QUALIFIER, "
		    "and %s: for the empty qualifier",
		    text);
	return r < 0 ? malformed(text, r) : STATUS_DONE;
}

int
parse_form(const struct arguments *a, enum form *out)
{
	const char *word = option(a, OPTION_AS);
	int r;

	*out = FORM_TEXT;
	if (option(a, OPTION_RAW_VALUE)) {
		if (word)
			return usage(a, "--as and --raw-value exclude each "
					"other");
		*out = FORM_BYTES;
	} else if (word) {
		r = form_named(word, out);
		if (r < 0)
			return malformed("--as", r);
	}
	return STATUS_DONE;
}

static int
refuse_value(enum form form, const char *text, int r)
{
	char line[512];

	if (form == FORM_TEXT && r == -EINVAL) {
		snprintf(line, sizeof(line), "%s", why_text(r));
		r = why(EINVAL, "%s; --raw-value takes the bytes as they are",
		    line);
	}
	return malformed(text, r);
}

int
parse_value(struct arguments *a, const char *text, struct slice *out)
{
	enum form form;
	int status = parse_form(a, &form);
	int r;

	*out = (struct slice){0};
	if (status)
		return status;
	r = parse_bytes(a, form, slice_text(text), out);
	return r < 0 ? refuse_value(form, text, r) : STATUS_DONE;
}

static int
input_read(const struct source *s, uint64_t offset, void *to, size_t size)
{
	const struct arguments *a = s->context;

	while (size) {
		ssize_t got =
		    pread(a->input, to, size, a->input_start + offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return why(EIO, "standard input became shorter while "
					"it was read");
		to = (char *)to + got;
		offset += got;
		size -= got;
	}
	return 0;
}

static int
write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t done = write(fd, data, size);

		if (done < 0)
			return -errno;
		data += done;
		size -= done;
	}
	return 0;
}

static int
copy_all(int from, int to)
{
	static char chunk[1 << 16];
	ssize_t got;
	int r = 0;

	while (r == 0 && (got = read(from, chunk, sizeof(chunk))) != 0)
		r = got < 0 ? -errno : write_all(to, chunk, got);
	return r;
}

/* A pipe can be read once only, the store may have to read again: its bytes
 * go to an unnamed file. */
static int
spool(struct arguments *a)
{
	const char *folder = getenv("TMPDIR");
	int fd = open(folder && *folder ? folder : "/var/tmp",
	    O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return -errno;
	r = copy_all(a->input, fd);
	a->input = fd;
	a->input_start = 0;
	return r;
}

static int
take_input(struct arguments *a)
{
	struct stat st;
	int r;

	a->input = STDIN_FILENO;
	a->input_start = lseek(a->input, 0, SEEK_CUR);
	if (fstat(a->input, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || a->input_start < 0) {
		r = spool(a);
		if (r < 0)
			return r;
		if (fstat(a->input, &st) < 0)
			return -errno;
	}
	a->source = (struct source){.size = st.st_size > a->input_start
						? st.st_size - a->input_start
						: 0,
	    .read = input_read,
	    .context = a};
	return 0;
}

int
parse_input(struct arguments *a, const char *text, struct op *op)
{
	enum form form;
	int status = parse_form(a, &form);
	int r;

	if (status)
		return status;
	if (form != FORM_BYTES || strcmp(text, "-"))
		return parse_value(a, text, &op->value);
	if (a->input >= 0)
		return usage(a, "standard input can be one value only");
	r = take_input(a);
	op->source = &a->source;
	return r < 0 ? failed("standard input", r) : STATUS_DONE;
}

int
parse_number(const struct arguments *a, enum option_id id, uint64_t least,
    uint64_t most, uint64_t *out)
{
	const char *text = option(a, id);
	uint64_t number;

	if (!text)
		return STATUS_DONE;
	if (text_number(slice_text(text), most, &number) < 0 || number < least)
		return malformed(text,
		    why(EINVAL,
			"a whole number from "
			"%llu to %llu is wanted",
			(unsigned long long)least, (unsigned long long)most));
	*out = number;
	return STATUS_DONE;
}

int
parse_time(const struct arguments *a, enum option_id id, int64_t *out)
{
	struct clock clock = {0};
	const char *text = option(a, id);
	int64_t time;
	int r;

	if (!text)
		return STATUS_DONE;
	r = time_read(slice_text(text), clock_now(&clock), &time);
	if (r < 0)
		return malformed(text, r);
	*out = time;
	return STATUS_DONE;
}

int
parse_timestamp(const struct arguments *a, int64_t *out)
{
	uint64_t number = *out;
	int status = parse_number(a, OPTION_TS, 0, TS_MAX, &number);

	*out = number;
	return status;
}
