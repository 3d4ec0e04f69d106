#include "form.h"

#include "cell.h"
#include "text.h"
#include "why.h"

#include <ctype.h>
#include <errno.h>
#include <time.h>

#define DAY_MS INT64_C(86400000)

static int
no_time(void)
{
	return why(EINVAL,
	    "no time; milliseconds since 1970, "
	    "2026-01-31, 2026-01-31T12:00:00Z, ...+02:00, or -90s -15m -2h "
	    "-3d -1w");
}

/* Takes exactly count digits off the front of *text. */
static bool
take_digits(struct slice *text, size_t count, int *out)
{
	*out = 0;
	if (text->size < count)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!isdigit(text->data[i]))
			return false;
		*out = *out * 10 + (text->data[i] - '0');
	}
	*text = slice_skip(*text, count);
	return true;
}

static bool
take(struct slice *text, char c)
{
	if (text->size == 0 || text->data[0] != (uint8_t)c)
		return false;
	*text = slice_skip(*text, 1);
	return true;
}

static int
days_in(int month, int year)
{
	static const int days[] = {
	    31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = year % 4 == 0 && (year % 100 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap);
}

static bool
take_date(struct slice *text, struct tm *tm)
{
	int year, month;

	if (!take_digits(text, 4, &year) || !take(text, '-') ||
	    !take_digits(text, 2, &month) || !take(text, '-') ||
	    !take_digits(text, 2, &tm->tm_mday))
		return false;
	tm->tm_year = year - 1900;
	tm->tm_mon = month - 1;
	return month >= 1 && month <= 12 && tm->tm_mday >= 1 &&
	       tm->tm_mday <= days_in(month, year);
}

/* Digits behind the point; what is finer than a millisecond is dropped. */
static bool
take_fraction(struct slice *text, int *ms)
{
	int unit = 100;

	*ms = 0;
	if (text->size == 0 || !isdigit(text->data[0]))
		return false;
	while (text->size && isdigit(text->data[0])) {
		*ms += (text->data[0] - '0') * unit;
		unit /= 10;
		*text = slice_skip(*text, 1);
	}
	return true;
}

static bool
take_clock(struct slice *text, struct tm *tm, int *ms)
{
	if (!take_digits(text, 2, &tm->tm_hour) || !take(text, ':') ||
	    !take_digits(text, 2, &tm->tm_min))
		return false;
	if (take(text, ':') && !take_digits(text, 2, &tm->tm_sec))
		return false;
	if (take(text, '.') && !take_fraction(text, ms))
		return false;
	return tm->tm_hour < 24 && tm->tm_min < 60 && tm->tm_sec < 60;
}

/* Z, nothing, or an offset from UTC: +02:00, +0200, +02. */
static bool
take_offset(struct slice *text, int *minutes)
{
	bool west = text->size && text->data[0] == '-';
	int hour, minute = 0;

	*minutes = 0;
	if (text->size == 0 || take(text, 'Z'))
		return true;
	if ((!take(text, '+') && !take(text, '-')) ||
	    !take_digits(text, 2, &hour))
		return false;
	if (text->size && (take(text, ':'), !take_digits(text, 2, &minute)))
		return false;
	*minutes = (hour * 60 + minute) * (west ? -1 : 1);
	return hour < 24 && minute < 60;
}

static int
read_iso(struct slice text, int64_t *out)
{
	struct tm tm = {0};
	int ms = 0, offset = 0;

	if (!take_date(&text, &tm))
		return no_time();
	if ((take(&text, 'T') || take(&text, ' ')) &&
	    (!take_clock(&text, &tm, &ms) || !take_offset(&text, &offset)))
		return no_time();
	if (text.size)
		return no_time();
	*out = ((int64_t)timegm(&tm) - offset * 60) * 1000 + ms;
	if (*out < 0)
		return why(EINVAL, "a time before 1970");
	return 0;
}

static int64_t
unit_ms(uint8_t unit)
{
	switch (unit) {
	case 's':
		return 1000;
	case 'm':
		return 60000;
	case 'h':
		return 3600000;
	case 'd':
		return DAY_MS;
	case 'w':
		return 7 * DAY_MS;
	default:
		return 0;
	}
}

static int
read_back(struct slice text, int64_t now, int64_t *out)
{
	struct slice digits;
	uint64_t count;
	int64_t unit;

	if (text.size < 2)
		return no_time();
	digits = slice_head(text, text.size - 1);
	unit = unit_ms(text.data[text.size - 1]);
	if (!unit || text_number(digits, INT64_MAX, &count) < 0)
		return no_time();
	if (count > (uint64_t)(now / unit))
		return why(EINVAL, "a time before 1970");
	*out = now - (int64_t)count * unit;
	return 0;
}

int
time_read(struct slice text, int64_t now, int64_t *out)
{
	uint64_t ms;
	int r;

	*out = 0;
	if (text_number(text, TS_MAX, &ms) == 0) {
		*out = ms;
		return 0;
	}
	if (take(&text, '-'))
		r = read_back(text, now, out);
	else
		r = read_iso(text, out);
	if (r < 0)
		*out = 0;
	return r;
}
