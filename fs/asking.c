#include "asking.h"

#include <errno.h>
#include <stdlib.h>

#include "../kv/filter.h"
#include "../kv/text.h"
#include "../kv/why.h"

/* --- arguments ---------------------------------------------------------------- */

static int
hex(uint8_t c)
{
	return c >= '0' && c <= '9' ? c - '0'
	    : c >= 'A' && c <= 'F'  ? c - 'A' + 10
				    : -1;
}

/* Appends what a component stands for: %XX is that byte. */
static int
decode(struct slice text, struct buf *out)
{
	for (size_t i = 0; i < text.size; i++) {
		uint8_t byte = text.data[i];
		if (byte == '%') {
			int high = i + 2 < text.size ? hex(text.data[i + 1]) : -1;
			int low = high < 0 ? -1 : hex(text.data[i + 2]);
			if (low < 0)
				return text_refuse(text, "%% begins no two "
				    "upper-case hex digits");
			byte = (uint8_t)(high << 4 | low);
			i += 2;
		}
		buf_byte(out, byte);
	}
	return buf_status(out);
}

/* --- rows ------------------------------------------------------------------- */

static int
raise_low(struct asking *a, struct slice row, bool out)
{
	int order = slice_compare(row, buf_slice(&a->low));

	if (order < 0 || (order == 0 && (a->low_out || !out)))
		return 0;
	a->low_out = out;
	return buf_set(&a->low, row);
}

static int
sink_high(struct asking *a, struct slice row, bool in)
{
	int order = a->high.size ? slice_compare(row, buf_slice(&a->high)) : -1;

	if (order > 0 || (order == 0 && (!a->high_in || in)))
		return 0;
	a->high_in = in;
	return buf_set(&a->high, row);
}

int
asking_prefix(struct asking *a, struct slice prefix)
{
	struct buf start = {0}, stop = {0};
	int r = kv_prefix_range(prefix, &start, &stop);

	if (r == 0)
		r = raise_low(a, buf_slice(&start), false);
	if (r == 0 && stop.size)
		r = sink_high(a, buf_slice(&stop), false);
	buf_release(&start);
	buf_release(&stop);
	return r;
}

int
asking_behind(struct asking *a, struct slice row)
{
	return a->spec.reversed ? sink_high(a, row, false)
				: raise_low(a, row, true);
}

int
asking_from(struct asking *a, struct slice row)
{
	return raise_low(a, row, false);
}

int
asking_before(struct asking *a, struct slice row)
{
	return sink_high(a, row, false);
}

static int
by_order(struct asking *a, struct slice argument)
{
	(void)argument;
	a->spec.reversed = true;
	return 0;
}

static int
by_first(struct asking *a, struct slice argument)
{
	int r = text_number(argument, INT64_MAX, &a->rows);

	if (r == 0 && a->rows)
		return 0;
	return text_refuse(argument, "no number of rows, 1 or more");
}

static int
by_last(struct asking *a, struct slice argument)
{
	a->last = true;
	return by_first(a, argument);
}

/* --- columns, times, filters -------------------------------------------------- */

static bool
column_meets(const struct column *a, const struct column *b,
    struct column *out)
{
	*out = a->whole_family ? *b : *a;
	return slice_equal(a->family, b->family) &&
	    (a->whole_family || b->whole_family ||
		slice_equal(a->qualifier, b->qualifier));
}

/* Only what is among these columns, too. */
static int
meet_columns(struct asking *a, const struct column *columns, size_t count)
{
	size_t all = a->column_count ? a->column_count : 1, met = 0;
	struct column *out = calloc(all * count, sizeof(*out));

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (!a->column_count)
			out[met++] = columns[i];
		for (size_t j = 0; j < a->column_count; j++)
			met += column_meets(&a->columns[j], &columns[i],
			    &out[met]);
	}
	free(a->columns);
	a->columns = out;
	a->column_count = met;
	a->nothing = a->nothing || !met;
	return 0;
}

static struct buf *
hold(struct asking *a)
{
	return &a->held[a->held_count++];
}

static bool
cut(struct slice *text, uint8_t c, struct slice *head)
{
	for (size_t i = 0; i < text->size; i++)
		if (text->data[i] == c) {
			*head = slice_head(*text, i);
			*text = slice_skip(*text, i + 1);
			return true;
		}
	*head = *text;
	*text = slice_text("");
	return false;
}

/* Reads one column of a list into bytes that do not move. */
static int
read_column(struct slice text, struct buf *bytes, struct column *out)
{
	struct slice family, qualifier = text;
	size_t from = bytes->size, middle;

	out->whole_family = !cut(&qualifier, ':', &family);
	int r = decode(family, bytes);
	middle = bytes->size;
	if (r == 0)
		r = decode(qualifier, bytes);
	if (r < 0)
		return r;
	if (middle == from)
		return text_refuse(text, "a column is FAMILY or "
		    "FAMILY:QUALIFIER");
	out->family = slice_of(bytes->data + from, middle - from);
	out->qualifier = slice_of(bytes->data + middle, bytes->size - middle);
	return 0;
}

static int
by_columns(struct asking *a, struct slice argument)
{
	struct buf *bytes = hold(a);
	size_t count = 0;
	struct column *columns = calloc(argument.size + 1, sizeof(*columns));
	int r = columns ? buf_resize(bytes, argument.size) : -ENOMEM;
	bool more = r == 0;

	bytes->size = 0; /* it has the room for all of it */
	while (r == 0 && more) {
		struct slice one;
		more = cut(&argument, ',', &one);
		r = read_column(one, bytes, &columns[count++]);
	}
	if (r == 0)
		r = meet_columns(a, columns, count);
	free(columns);
	return r;
}

static int
read_time(struct slice text, int64_t *out)
{
	uint64_t number;

	if (text_number(text, TS_MAX, &number) < 0)
		return text_refuse(text, "no time in ms since 1970");
	*out = (int64_t)number;
	return 0;
}

static int
by_since(struct asking *a, struct slice argument)
{
	int64_t time = 0;
	int r = read_time(argument, &time);

	if (r == 0 && time > a->spec.since)
		a->spec.since = time;
	return r;
}

static int
by_until(struct asking *a, struct slice argument)
{
	int64_t time = 0;
	int r = read_time(argument, &time);

	if (r == 0 && (!a->spec.until || time + 1 < a->spec.until))
		a->spec.until = time + 1;
	return r;
}

static int
by_filter(struct asking *a, struct slice argument)
{
	struct buf both = {0};

	if (a->filter_text.size) {
		buf_byte(&both, '(');
		buf_append(&both, buf_slice(&a->filter_text));
		buf_text(&both, ") AND (");
	}
	buf_append(&both, argument);
	if (a->filter_text.size)
		buf_byte(&both, ')');
	buf_release(&a->filter_text);
	a->filter_text = both;
	filter_free(a->filter);
	a->filter = NULL;
	int r = buf_status(&both);
	return r < 0 ? r : filter_parse(buf_slice(&both), &a->filter);
}

/* --- the chain ------------------------------------------------------------------ */

static const struct word {
	const char *name;
	bool argument, ends;
	bool raw; /* the argument has an inner form */
	int (*narrow)(struct asking *a, struct slice argument);
} words[] = {
	{".prefix", true, false, false, asking_prefix},
	{".from", true, false, false, asking_from},
	{".to", true, false, false, asking_before},
	{".reversed", false, false, false, by_order},
	{".first", true, true, false, by_first},
	{".last", true, true, false, by_last},
	{".columns", true, false, true, by_columns},
	{".since", true, false, false, by_since},
	{".until", true, false, false, by_until},
	{".filter", true, false, false, by_filter},
};

static const struct word *
word_find(struct slice name)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (slice_equal(name, slice_text(words[i].name)))
			return &words[i];
	return NULL;
}

bool
view_has_word(struct slice name, bool *argument)
{
	const struct word *word = word_find(name);

	*argument = word && word->argument;
	return word != NULL;
}

bool
view_takes_time(struct slice chain)
{
	struct slice name, argument;
	const struct word *word = NULL;

	while (chain.size) {
		cut(&chain, 0, &name);
		word = word_find(name);
		if (word->argument && chain.size)
			cut(&chain, 0, &argument);
		else if (word->argument)
			return word->narrow == by_since ||
			    word->narrow == by_until;
	}
	return false;
}

static int
narrow(struct asking *a, const struct word *word, struct slice argument)
{
	struct buf bytes = {0};
	int r = word->raw ? 0 : decode(argument, &bytes);

	if (r == 0)
		r = word->narrow(a, word->raw ? argument : buf_slice(&bytes));
	buf_release(&bytes);
	return r;
}

int
asking_chain(struct asking *a, struct slice chain)
{
	struct slice name, argument = {0};
	size_t views = 0;
	int r = 0;

	while (r == 0 && chain.size) {
		cut(&chain, 0, &name);
		const struct word *word = word_find(name);
		if (a->rows)
			return why(EINVAL, "no view stands below .first or "
			    ".last");
		if (++views > VIEWS_MAX)
			return why(EINVAL, "more than %d views in each other",
			    VIEWS_MAX);
		if (word->argument && !chain.size)
			break; /* its directory */
		if (word->argument)
			cut(&chain, 0, &argument);
		r = narrow(a, word, argument);
	}
	return r;
}

/* --- asking ------------------------------------------------------------------ */

static bool
is_empty(const struct asking *a)
{
	struct slice low = buf_slice(&a->low), high = buf_slice(&a->high);
	int order = high.size ? slice_compare(low, high) : -1;

	return a->nothing || order > 0 ||
	    (order == 0 && (a->low_out || !a->high_in)) ||
	    (a->spec.until && a->spec.since >= a->spec.until);
}

/* The bounds in the order of the scan. */
static void
set_bounds(struct asking *a)
{
	struct slice low = buf_slice(&a->low), high = buf_slice(&a->high);
	struct scan_spec *spec = &a->spec;

	spec->start = spec->reversed ? high : low;
	spec->stop = spec->reversed ? low : high;
	spec->start_exclusive =
	    spec->reversed ? high.size && !a->high_in : a->low_out;
	spec->stop_inclusive = spec->reversed ? !a->low_out : a->high_in;
	spec->columns = a->columns;
	spec->column_count = a->column_count;
	spec->filter = a->filter;
}

int
asking_open(struct fs *fs, struct asking *a, struct scan **out)
{
	static const struct slice least = {(const uint8_t *)"", 1};

	*out = NULL;
	set_bounds(a);
	if (is_empty(a)) {
		a->spec.start = a->spec.stop = least;
		a->spec.start_exclusive = true;
		a->spec.stop_inclusive = false;
	}
	return kv_scan_open(fs->kv, &a->spec, out);
}

int
asking_next(struct fs *fs, const struct asking *a, struct scan *s,
    struct cell *out)
{
	int r;

	do
		r = kv_scan_next(fs->kv, s, out);
	while (r == 0 && a->family.size && !slice_equal(a->family, out->family));
	return r;
}

/* The row that .first or .last counts to, from the end it counts from. */
static int
count_rows(struct fs *fs, struct asking *a, struct buf *row)
{
	struct scan *scan;
	struct cell cell;
	bool reversed = a->spec.reversed;

	a->spec.reversed = reversed != a->last;
	a->spec.limit = a->rows;
	a->spec.keys_only = true;
	int r = asking_open(fs, a, &scan);
	while (r == 0 && (r = kv_scan_next(fs->kv, scan, &cell)) == 0)
		if (!slice_equal(buf_slice(row), cell.row))
			r = buf_set(row, cell.row);
	kv_scan_close(fs->kv, scan);
	a->spec.reversed = reversed;
	a->spec.limit = 0;
	a->spec.keys_only = false;
	return r < 0 ? r : 0;
}

static int
settle(struct fs *fs, struct asking *a)
{
	struct buf row = {0};
	int r = count_rows(fs, a, &row);

	if (r == 0 && !row.size)
		a->nothing = true;
	else if (r == 0 && a->spec.reversed != a->last)
		r = raise_low(a, buf_slice(&row), false);
	else if (r == 0)
		r = sink_high(a, buf_slice(&row), true);
	buf_release(&row);
	return r;
}

/* Of a family or column: a filter has to see the rest of the row. */
static int
meet_place(struct asking *a, const struct place *place)
{
	a->own = (struct column){.family = place->family,
	    .qualifier = place->qualifier,
	    .whole_family = place->level != LEVEL_COLUMN};
	if (!place->family.size)
		return 0;
	if (a->filter)
		a->family = place->family;
	else
		return meet_columns(a, &a->own, 1);
	return 0;
}

int
asking_fill(struct fs *fs, struct asking *a, const struct spot *spot)
{
	const struct place *place = &spot->place;
	bool row = place->level != LEVEL_ROW_PART && place->row.size;

	*a = (struct asking){.spec = {.table = place->table, .versions = 1}};
	int r = asking_chain(a, spot->view);
	if (r == 0 && a->rows)
		r = settle(fs, a);
	if (r == 0 && row)
		r = raise_low(a, place->row, false);
	if (r == 0 && row)
		r = sink_high(a, place->row, true);
	return r < 0 ? r : meet_place(a, place);
}

void
asking_release(struct asking *a)
{
	for (size_t i = 0; i < a->held_count; i++)
		buf_release(&a->held[i]);
	buf_release(&a->low);
	buf_release(&a->high);
	buf_release(&a->filter_text);
	filter_free(a->filter);
	free(a->columns);
	*a = (struct asking){0};
}
