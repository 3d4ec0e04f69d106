/* path: key bytes <-> names of the tree, nothing else. Pure.
 *
 * One key has exactly one name. A name is the key's bytes with %XX for / %
 * control bytes 7F, bytes that are not valid UTF-8, a leading dot of every
 * part, and in qualifiers also @. The empty qualifier is %. What would exceed
 * 255 bytes continues in nested directories, parts: each is the longest
 * prefix of the rest of at most 254 bytes that leaves something over and cuts
 * no escape and no character, followed by a bare %. The last part is at most
 * 255 bytes, a qualifier's 235. A family's name is one component.
 */
#ifndef CELLFS_FS_PATH_H
#define CELLFS_FS_PATH_H

#include "../kv/cell.h"

#define NAME_BYTES 255		/* of one component */
#define VIEW_BYTES 1024		/* of a view's argument */
#define QUALIFIER_BYTES 235	/* of the last part of a qualifier */

enum name_of { NAME_OF_ROW, NAME_OF_FAMILY, NAME_OF_QUALIFIER };

enum name_form {
	FORM_KEY,	 /* names the whole key */
	FORM_PART,	 /* a continuation: key is the prefix it stands for */
	FORM_AT,	 /* q@TS: number is the timestamp */
	FORM_NTH,	 /* q@~N */
	FORM_COUNTER,	 /* q@counter */
	FORM_VERSIONS,	 /* q@ , the directory of versions */
};

struct name {
	enum name_form form;
	int64_t number;
};

/* Reads one component inside the directory that stands for prefix (empty
 * outside parts; no bytes of key's). Replaces key with the whole key's bytes,
 * prefix included; on failure key is empty.
 * -EINVAL: no name of any key; -ENAMETOOLONG: longer than a component may be,
 * or the key is. Only qualifiers have @ forms. */
int
path_read(enum name_of of, struct slice prefix, struct slice component,
    struct buf *key, struct name *out);

/* Writes the component under which key (which begins with prefix) appears
 * inside the directory that stands for prefix: *component is replaced. form
 * is FORM_KEY, or FORM_PART when it continues below; then *part_size is how
 * many bytes of key behind prefix the part covers, so that the directory of
 * the part stands for the first prefix.size + *part_size. 0 or -ENOMEM. */
int
path_write(enum name_of of, struct slice prefix, struct slice key,
    struct buf *component, enum name_form *form, size_t *part_size);

/* Likewise for a directory that continues names, and stands for the prefix
 * part: the component it is reached by inside the directory of prefix, itself
 * or the part above it. 1: it is not in there. */
int
path_write_part(enum name_of of, struct slice prefix, struct slice part,
    struct buf *component, size_t *part_size);

/* Of a key whose name continues in a part below prefix: how many of its bytes
 * behind prefix are enough for every key that begins with them to continue in
 * the same part. 0: longer keys continue in other parts. */
size_t
path_shared(enum name_of of, struct slice prefix, struct slice key);

/* Whether key, which begins with prefix, is found inside the directory of
 * that prefix: its name continues through exactly that part. */
bool
path_inside(enum name_of of, struct slice prefix, struct slice key);

/* Reads a decimal timestamp 0..2^63-2 without sign or leading zero. */
int
path_timestamp(struct slice text, int64_t *out);

#endif
