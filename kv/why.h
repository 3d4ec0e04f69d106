/* why: the sentence behind an errno.
 *
 * Whoever refuses says what, where and what would be right, once, where it is
 * known; the sentence waits in the calling thread until the next one. Tools
 * print it, the mount puts it into its log and into user.cellfs.error.
 */
#ifndef CELLFS_KV_WHY_H
#define CELLFS_KV_WHY_H

#include <stdbool.h>

/* Remembers a sentence (without newline) for this thread and returns -errnum:
 * return why(EINVAL, "versions: %s is not a number", text); */
int
why(int errnum, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The sentence that fits error (a negative errno): the remembered one if it
 * was given for this errno since why_clear(), else the system's words. Valid
 * until this thread's next why() or why_text(). */
const char *
why_text(int error);

/* Whether a sentence was given for error since why_clear(). */
bool
why_given(int error);

/* Forgets the sentence; done at the start of each request or command. */
void
why_clear(void);

#endif
