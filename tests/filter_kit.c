#include "tests/filter_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/filter.h"
#include "kv/ordered.h"
#include "kv/text.h"
#include "kv/why.h"

#define WORDS 8
#define PUTS 8192

static struct ordered_methods counting;
static const struct ordered_methods *counted;
static uint64_t reads;
static char *names[PUTS]; /* of the cells, by the number of their put */
static size_t count;

/* --- counting ----------------------------------------------------------- */

static int
count_seek(struct ordered_cursor *c, struct slice key, enum ordered_seek how)
{
	reads++;
	return counted->seek(c, key, how);
}

static int
count_next(struct ordered_cursor *c)
{
	reads++;
	return counted->next(c);
}

static int
count_prev(struct ordered_cursor *c)
{
	reads++;
	return counted->prev(c);
}

uint64_t
filter_kit_reads(void)
{
	return reads;
}

/* --- putting ------------------------------------------------------------ */

void
filter_kit_table(void)
{
	if (kit)
		kit_teardown();
	kit_setup();
	counted = kit_store->methods;
	counting = *counted;
	counting.seek = count_seek;
	counting.next = count_next;
	counting.prev = count_prev;
	kit_store->methods = &counting;
	OK(kit_create("t", "family a VERSIONS=3\nfamily b VERSIONS=3\n"
			   "family c VERSIONS=100 MAX_CELL_SIZE=20971520\n"));
	while (count)
		free(names[--count]);
}

/* Splits text at blanks (or what else separates) into WORDS words at most. */
static size_t
split(char *text, const char *separator, char **words)
{
	size_t found = 0;
	char *rest;

	for (char *word = strtok_r(text, separator, &rest);
	     word && found < WORDS; word = strtok_r(NULL, separator, &rest))
		words[found++] = word;
	return found;
}

/* The bytes of a word in the text form. */
static struct slice
bytes_of(const char *word, struct buf *to)
{
	buf_clear(to);
	if (strcmp(word, "\"\""))
		OK(text_parse(slice_text(word), to));
	return buf_slice(to);
}

static char *
name_of(const struct cell *cell)
{
	struct buf name = {0};

	text_print(cell->row, &name);
	buf_byte(&name, ' ');
	text_print(cell->family, &name);
	buf_byte(&name, ' ');
	text_print(cell->qualifier, &name);
	buf_printf(&name, " %lld", (long long)cell->timestamp);
	buf_byte(&name, 0);
	return (char *)name.data;
}

static int
read_zeros(const struct source *s, uint64_t offset, void *to, size_t size)
{
	memset(to, 0, size);
	if (size && offset + size == s->size)
		((uint8_t *)to)[size - 1] = 1;
	return 0;
}

void
filter_kit_put(const char *put)
{
	struct buf bytes[4] = {{0}};
	struct source source = {.read = read_zeros};
	char *text = strdup(put), *words[WORDS];

	ck_assert_int_eq(split(text, " ", words), 5);
	struct op op = {
	    .type = OP_PUT,
	    .family = slice_text(words[1]),
	    .qualifier = bytes_of(words[2], &bytes[1]),
	    .timestamp = atoll(words[3]),
	    .value = bytes_of(words[4], &bytes[2]),
	};
	struct mutation m = {
	    .table = slice_text("t"),
	    .row = bytes_of(words[0], &bytes[0]),
	    .ops = &op,
	    .count = 1,
	};
	if (words[4][0] == '@') {
		source.size = strtoull(words[4] + 1, NULL, 10);
		op.source = &source;
	}
	OK(kit->methods->mutate(kit, &m));
	struct cell cell = {
	    .row = m.row,
	    .family = op.family,
	    .qualifier = op.qualifier,
	    .timestamp = op.timestamp,
	};
	ck_assert_uint_lt(count, PUTS);
	names[count++] = name_of(&cell);
	for (size_t i = 0; i < 4; i++)
		buf_release(&bytes[i]);
	free(text);
}

/* --- asking ------------------------------------------------------------- */

struct asking {
	struct scan_spec spec;
	struct column columns[WORDS];
	struct buf bytes[WORDS];
	char *text, *words[WORDS];
};

static void
ask_column(struct asking *a, char *word, struct buf *to)
{
	char *colon = strchr(word, ':');
	struct column *column = &a->columns[a->spec.column_count++];

	*colon = 0;
	column->family = slice_text(word);
	column->qualifier = bytes_of(colon + 1, to);
	a->spec.columns = a->columns;
}

static void
ask_word(struct asking *a, char *word, struct buf *to)
{
	struct scan_spec *spec = &a->spec;

	switch (word[0]) {
	case 'v':
		spec->versions = strtoul(word + 1, NULL, 10);
		break;
	case 'r':
		spec->reversed = true;
		break;
	case 'g':
		spec->start = spec->stop = bytes_of(word + 2, to);
		spec->stop_inclusive = true;
		break;
	case 'f':
		spec->start = bytes_of(word + 2, to);
		break;
	case 't':
		spec->stop = bytes_of(word + 2, to);
		break;
	case 'c':
		ask_column(a, word + 2, to);
		break;
	case 'n':
		spec->limit = strtoul(word + 2, NULL, 10);
		break;
	case 'k':
		spec->keys_only = true;
		break;
	case 's':
		spec->since = atoll(word + 2);
		break;
	case 'u':
		spec->until = atoll(word + 2);
		break;
	default:
		ck_abort_msg("no such word: %s", word);
	}
}

static bool
is_length(const struct cell *cell)
{
	return cell->size == 4 && cell->value.data && cell->value.data[0] == 0;
}

static void
add_cell(const struct cell *cell, struct buf *out)
{
	char *name = name_of(cell);
	size_t i = 0;

	while (i < count && strcmp(names[i], name))
		i++;
	ck_assert_msg(i < count, "a cell that was not put: %s", name);
	const char *mark = is_length(cell) ? "l" : cell->size ? "" : "e";
	buf_printf(out, "%s%zu%s", out->size ? " " : "", i, mark);
	free(name);
}

static int
run_scan(struct scan_spec *spec, struct buf *out)
{
	struct scan *scan;
	struct cell cell;

	int r = kit->methods->scan_open(kit, spec, &scan);
	if (r)
		return r;
	while ((r = kit->methods->scan_next(scan, &cell)) == 0)
		add_cell(&cell, out);
	kit->methods->scan_close(scan);
	return r < 0 ? r : 0;
}

const char *
filter_kit_ask(const char *how, const char *filter)
{
	static struct buf out;
	struct asking a = {.text = strdup(how)};
	struct filter *f = NULL;
	int r = 0;

	buf_clear(&out);
	a.spec.table = slice_text("t");
	a.spec.versions = 1;
	size_t words = split(a.text, ",", a.words);
	for (size_t i = 0; i < words; i++)
		ask_word(&a, a.words[i], &a.bytes[i]);
	why_clear();
	if (*filter)
		r = filter_parse(slice_text(filter), &f);
	a.spec.filter = f;
	reads = 0;
	if (r == 0)
		r = run_scan(&a.spec, &out);
	if (r < 0) {
		buf_clear(&out);
		buf_printf(&out, "! %s", why_text(r));
	}
	filter_free(f);
	for (size_t i = 0; i < WORDS; i++)
		buf_release(&a.bytes[i]);
	free(a.text);
	buf_byte(&out, 0);
	return (const char *)out.data;
}
