#include "units.h"

#include "text.h"

#include <errno.h>
#include <strings.h>

#define FOREVER INT32_MAX
#define WORD_SIZE 8

struct unit {
	const char *names[2]; /* in the order of both forms */
	uint64_t factor;
};

/* Greatest first; the last is the one a total is given in. */
static const struct unit times[] = {
    {{"DAYS", "DAY"}, 86400},
    {{"HOURS", "HOUR"}, 3600},
    {{"MINUTES", "MINUTE"}, 60},
    {{"SECONDS", "SECOND"}, 1},
};
static const struct unit sizes[] = {
    {{"TB", "T"}, (uint64_t)1 << 40},
    {{"GB", "G"}, (uint64_t)1 << 30},
    {{"MB", "M"}, (uint64_t)1 << 20},
    {{"KB", "K"}, (uint64_t)1 << 10},
    {{"B", ""}, 1},
};

struct scale {
	const struct unit *units;
	size_t count;
	uint64_t max;
};

static void
skip_blanks(struct slice *text)
{
	while (text->size && (text->data[0] == ' ' || text->data[0] == '\t'))
		*text = slice_skip(*text, 1);
}

/* Whether byte stood at the front of *text, which then begins behind it. */
static bool
take_byte(struct slice *text, uint8_t byte)
{
	skip_blanks(text);
	if (!text->size || text->data[0] != byte)
		return false;
	*text = slice_skip(*text, 1);
	return true;
}

static int
take_number(struct slice *text, uint64_t max, uint64_t *out)
{
	size_t size = 0;

	skip_blanks(text);
	while (size < text->size && text->data[size] >= '0' &&
	       text->data[size] <= '9')
		size++;
	int r = text_number(slice_head(*text, size), max, out);
	*text = slice_skip(*text, size);
	return r;
}

/* The index of the unit named at the front of *text, count if none is. */
static size_t
take_unit(struct slice *text, const struct scale *scale)
{
	char word[WORD_SIZE] = "";
	size_t size = 0;

	skip_blanks(text);
	while (size < text->size && size < WORD_SIZE - 1 &&
	       ((text->data[size] | 0x20) >= 'a' &&
		   (text->data[size] | 0x20) <= 'z')) {
		word[size] = (char)text->data[size];
		size++;
	}
	*text = slice_skip(*text, size);
	for (size_t i = 0; i < scale->count; i++)
		for (size_t form = 0; form < 2; form++)
			if (!strcasecmp(word, scale->units[i].names[form]))
				return i;
	return scale->count;
}

/* Reads "N UNIT N UNIT ..." up to a closing parenthesis or the end. */
static int
read_parts(struct slice *text, const struct scale *scale, uint64_t *total)
{
	size_t next = 0; /* units come in their order, each once */

	*total = 0;
	for (skip_blanks(text); text->size && text->data[0] != ')';
	     skip_blanks(text)) {
		uint64_t number;

		if (take_number(text, scale->max, &number))
			return -EINVAL;
		size_t unit = take_unit(text, scale);
		if (unit < next || unit == scale->count)
			return -EINVAL;
		uint64_t factor = scale->units[unit].factor;
		if (number > (scale->max - *total) / factor)
			return -EINVAL;
		*total += number * factor;
		next = unit + 1;
	}
	return next ? 0 : -EINVAL;
}

/* Reads the total in front of a parenthesis; false if there is none. */
static bool
take_total(struct slice *text, const struct scale *scale, uint64_t *total)
{
	struct slice rest = *text;

	if (take_number(&rest, scale->max, total) ||
	    take_unit(&rest, scale) != scale->count - 1 ||
	    !take_byte(&rest, '('))
		return false;
	*text = rest;
	return true;
}

static int
read_units(struct slice text, const struct scale *scale, uint64_t *out)
{
	uint64_t total, sum;

	*out = 0;
	bool given = take_total(&text, scale, &total);
	if (read_parts(&text, scale, &sum))
		return -EINVAL;
	if (given && (!take_byte(&text, ')') || sum != total))
		return -EINVAL;
	skip_blanks(&text);
	if (text.size)
		return -EINVAL;
	*out = sum;
	return 0;
}

int
units_ttl(struct slice text, uint64_t *seconds)
{
	const struct scale scale = {
	    times, sizeof(times) / sizeof(*times), FOREVER};

	if (text.size == 7 &&
	    !strncasecmp((const char *)text.data, "FOREVER", 7)) {
		*seconds = FOREVER;
		return 0;
	}
	if (text_number(text, FOREVER, seconds) == 0)
		return 0;
	return read_units(text, &scale, seconds);
}

int
units_size(struct slice text, uint64_t *bytes)
{
	const struct scale scale = {
	    sizes, sizeof(sizes) / sizeof(*sizes), INT64_MAX};

	return read_units(text, &scale, bytes);
}
