/* form: how values and times are written in text. Pure. */
#ifndef CELLFS_KV_FORM_H
#define CELLFS_KV_FORM_H

#include "bytes.h"

enum form {
	FORM_TEXT, /* the text form of kv/text.h */
	FORM_HEX,
	FORM_BASE64,
	FORM_BE64,  /* 8 bytes big-endian as a signed decimal number */
	FORM_BE32,  /* likewise 4 bytes */
	FORM_BYTES, /* the bytes themselves */
};

/* The form that a word after --as names: -EINVAL. */
int form_named(const char *word, enum form *out);

/* Appends the bytes that text stands for in a form: -EINVAL. */
int form_read(enum form form, struct slice text, struct buf *out);

/* How many bytes at the front of a value's next piece can be printed before
 * the rest of the value is known; all of them if it is the last piece. */
size_t form_whole(enum form form, struct slice piece, bool last);

/* Appends what a piece of a value looks like in a form. Pieces are cut where
 * form_whole() says; FORM_BE64 and FORM_BE32 take whole values: -EINVAL if
 * the size is not theirs. */
int form_print(enum form form, struct slice piece, struct buf *out);

/* Reads a TIME: ms since the epoch, ISO 8601 (a date, or date and time; UTC
 * unless an offset is given), or -90s, -15m, -2h, -3d, -1w counted back from
 * now (ms). -EINVAL. */
int time_read(struct slice text, int64_t now, int64_t *out);

#endif
