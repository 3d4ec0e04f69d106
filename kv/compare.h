/* compare: the operators of conditions and filters. Pure. */
#ifndef CELLFS_KV_COMPARE_H
#define CELLFS_KV_COMPARE_H

#include <stdbool.h>

enum compare { CMP_LESS, CMP_LESS_OR_EQUAL, CMP_EQUAL, CMP_NOT_EQUAL,
	CMP_GREATER_OR_EQUAL, CMP_GREATER };

/* Whether `a op b` holds for what is ordered so: below, at or above 0 as
 * memcmp() says it of a and b. */
static inline bool
compare_holds(enum compare op, int order)
{
	switch (op) {
	case CMP_LESS:
		return order < 0;
	case CMP_LESS_OR_EQUAL:
		return order <= 0;
	case CMP_EQUAL:
		return order == 0;
	case CMP_NOT_EQUAL:
		return order != 0;
	case CMP_GREATER_OR_EQUAL:
		return order >= 0;
	case CMP_GREATER:
		return order > 0;
	}
	return false;
}

#endif
