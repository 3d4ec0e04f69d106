#include "print.h"

#include <stdio.h>

int
print_text(int r, struct buf *text)
{
	if (r == 0)
		r = buf_status(text);
	if (r == 0)
		fwrite(text->data, 1, text->size, stdout);
	buf_release(text);
	return r;
}

int
print_value(enum form form, struct slice value)
{
	struct buf line = {0};
	int r = form_print(form, value, &line);

	if (form != FORM_BYTES)
		buf_byte(&line, '\n');
	return print_text(r, &line);
}
