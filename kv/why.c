#include "why.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char sentence[1024];
static _Thread_local int given; /* the errno the sentence is for, or 0 */

int
why(int errnum, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	given = errnum;
	return -errnum;
}

const char *
why_text(int error)
{
	if (!given || given != -error) {
		given = 0;
		snprintf(sentence, sizeof(sentence), "%s", strerror(-error));
	}
	return sentence;
}

bool
why_given(int error)
{
	return given == -error;
}

void
why_clear(void)
{
	given = 0;
}
