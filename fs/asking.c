#include "asking.h"

void
asking_fill(struct asking *a, const struct spot *spot)
{
	const struct place *place = &spot->place;

	*a = (struct asking){.spec = {.table = place->table, .versions = 1}};
	a->spec.start = a->spec.stop = place->row;
	a->spec.stop_inclusive = true;
	if (!place->family.size)
		return;
	a->column = (struct column){
	    .family = place->family, .whole_family = true};
	a->spec.columns = &a->column;
	a->spec.column_count = 1;
}
