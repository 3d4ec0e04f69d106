/* shadow: what a power cut would leave of a directory, kept beside it.
 *
 * For tests. A second directory holds the bytes that were synced, under the
 * names that were synced, and nothing else: data of a file moves over when the
 * file is synced, names (created, renamed, removed) when the directory is. So
 * the directory after a power cut is the shadow as it stands.
 *
 * The owner tells of every change after making it. All functions return 0 or
 * a negative errno, lock by themselves and accept a NULL shadow.
 */
#ifndef CELLFS_KV_SHADOW_H
#define CELLFS_KV_SHADOW_H

#include <sys/types.h>

struct shadow;

/* Shadows the plain files of directory in to, which is made, or emptied of an
 * earlier shadow. What directory holds now counts as synced. */
int
shadow_open(const char *directory, const char *to, struct shadow **out);

/* Forgets what was not synced. */
void
shadow_close(struct shadow *s);

/* name is the last component throughout. */
int
shadow_created(struct shadow *s, const char *name);
int
shadow_removed(struct shadow *s, const char *name);
int
shadow_renamed(struct shadow *s, const char *from, const char *to);
int
shadow_written(
    struct shadow *s, const char *name, off_t offset, size_t size);
int
shadow_truncated(struct shadow *s, const char *name, off_t size);

/* The file's bytes are synced now, read through fd; the directory's names
 * are. */
int
shadow_synced(struct shadow *s, const char *name, int fd);
int
shadow_synced_names(struct shadow *s);

#endif
