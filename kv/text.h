/* text: the one text form of keys, families and values.
 *
 * Valid printable UTF-8 stands as it is, every other byte as \xHH, a
 * backslash as \x5C. What is printed can be read back, one record is one
 * line, nothing raw reaches a terminal. Pure.
 *
 * Not printable are the Unicode categories Cc, Cf (writing direction, zero
 * width: what a reader cannot see), Cs, Co, Cn, Zl and Zp. Their characters
 * are escaped byte by byte, so different bytes always print differently and
 * an older or newer Unicode only changes how much is escaped.
 */
#ifndef CELLFS_KV_TEXT_H
#define CELLFS_KV_TEXT_H

#include "bytes.h"

/* Appends the text form of bytes to out. */
void
text_print(struct slice bytes, struct buf *out);

/* Appends the bytes that a text form stands for: \xHH in either case, all
 * else as it is (so hbase shell's form is read too). -EINVAL: a backslash
 * that begins no \xHH; out is then as before. */
int
text_parse(struct slice text, struct buf *out);

/* The length in bytes of the valid UTF-8 character at the front of s (1 to
 * 4), 0 if there is none. */
size_t
utf8_length(struct slice s);

/* A whole decimal number 0..max without sign, space or leading zero:
 * -EINVAL else. */
int
text_number(struct slice text, uint64_t max, uint64_t *out);

/* -EINVAL with the sentence "'BAD': reason" left to why(), bad in text form
 * and cut where it is long. */
int
text_refuse(struct slice bad, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
