/* schema: what a table declares, and its text form (.schema/TABLE).
 *
 * Pure: parses, prints and checks; knows no store. Refusals name the bad part
 * through why().
 */
#ifndef CELLFS_KV_SCHEMA_H
#define CELLFS_KV_SCHEMA_H

#include "cell.h"

enum compression { COMPRESSION_NONE, COMPRESSION_SNAPPY, COMPRESSION_GZ };
enum bloomfilter { BLOOMFILTER_NONE, BLOOMFILTER_ROW, BLOOMFILTER_ROWCOL };
enum encoding { ENCODING_NONE, ENCODING_PREFIX };

#define TTL_FOREVER 2147483647 /* seconds, as in HBase */
#define OPEN_FAMILIES_MAX 32   /* declared by their first cell */

struct family {
	struct buf name;
	uint32_t versions;
	uint32_t min_versions;
	uint32_t ttl; /* seconds, TTL_FOREVER */
	enum compression compression;
	enum encoding data_block_encoding;
	bool in_memory;
	enum bloomfilter bloomfilter;
	uint32_t blocksize;	/* bytes */
	uint64_t max_cell_size; /* bytes of a value */
	/* keep_deleted_cells is false until it acts. */
};

struct schema {
	struct buf name; /* full name, the namespace in front but "default" */
	bool open;	 /* families may be declared by their first cell */
	struct family *families; /* in byte order of their names */
	size_t count;
};

/* A schema of all zeros is an empty sealed one. Frees; safe on empty. */
void
schema_release(struct schema *s);

/* Deep copy; -ENOMEM, *to then empty. */
int
schema_copy(const struct schema *from, struct schema *to);

/* The family of that name, or NULL. Valid until the schema changes. */
struct family *
schema_family(const struct schema *s, struct slice name);

/* Adds a family with defaults (or finds it). -EINVAL: a bad name; -ENOMEM. */
int
schema_declare(struct schema *s, struct slice name, struct family **out);

/* Gives a family every attribute of another; its name stays. */
void
family_follow(struct family *f, const struct family *other);

/* Removes a family; does nothing without one. */
void
schema_undeclare(struct schema *s, struct slice name);

/* Sets one attribute, name in either case, value in HBase's text forms.
 * -EINVAL: unknown, or a bad value. Bounds between attributes are checked by
 * schema_check(). */
int
family_set(struct family *f, struct slice name, struct slice value);

/* Reads NAME[:ATTR=VALUE,...] as the command line gives it. A family that is
 * there is changed; an attribute named twice is -EINVAL. */
int
schema_parse_family(struct schema *s, struct slice text);

/* Applies the lines of a schema file on top of s. -EINVAL names the line. s
 * may be left half changed: work on a copy. */
int
schema_parse(struct schema *s, struct slice text);

/* Checks complete lines only, for writers that are not done: -EINVAL. */
int
schema_parse_lines(struct slice text);

/* The canonical text with every attribute. */
void
schema_print(const struct schema *s, struct buf *out);

/* What the attributes must satisfy together (min_versions <= versions). */
int
schema_check(const struct schema *s);

/* -EINVAL unless name is legal for a table ([namespace:]qualifier). */
int
schema_check_table_name(struct slice name);

/* -EINVAL unless name is legal for a family. */
int
schema_check_family_name(struct slice name);

#endif
