/* own_file: the few small files of our own in a store's directory.
 *
 * All functions are durable when they return, tell the shadow (which may be
 * NULL), and return 0 or a negative errno. directory is a descriptor.
 */
#ifndef CELLFS_KV_OWN_FILE_H
#define CELLFS_KV_OWN_FILE_H

#include "bytes.h"

struct shadow;

/* Makes or replaces a file at once: a crash leaves the old or the new one. */
int
own_file_save(int directory, struct shadow *shadow, const char *name,
    struct slice bytes);

/* -ENOENT without the file. */
int
own_file_append(int directory, struct shadow *shadow, const char *name,
    struct slice bytes);

/* Saves a copy of the file from. */
int
own_file_copy(int directory, struct shadow *shadow, const char *from,
    const char *name);

#endif
