/* laws: what must hold of every input, for the unit suites and the fuzzers.
 *
 * A law that does not hold says where and aborts.
 */
#ifndef CELLFS_TESTS_LAWS_H
#define CELLFS_TESTS_LAWS_H

#include "fs/path.h"

#define REQUIRE(what)                                                          \
	do {                                                                   \
		if (!(what))                                                   \
			law_broken(__FILE__, __LINE__, #what);                 \
	} while (0)

_Noreturn void
law_broken(const char *file, int line, const char *what);

/* A key of 1 (qualifiers 0) to 32767 bytes, families 127 that fit into a
 * component: its name is what the rule of tree.md says, can be read back part
 * by part, and leads through no other directory. */
void
law_key_has_one_name(enum name_of of, struct slice key);

/* Any bytes as a component in any directory: what is accepted is exactly what
 * would be written for some key. */
void
law_component_is_canonical(
    enum name_of of, struct slice prefix, struct slice component);

/* Any bytes as a stored key, a stored value, a schema: refused, or written
 * again the same. */
void
law_cell_key_is_canonical(struct slice stored);
void
law_record_is_canonical(struct slice stored);
void
law_schema_is_stable(struct slice text);

#endif
