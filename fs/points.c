#include "points.h"

#include <errno.h>
#include <stdlib.h>

#define COUNT_SHIFT 32

uint64_t
points_offset(uint64_t count, struct slice name)
{
	uint64_t hash = slice_hash(name, 0);

	return count << COUNT_SHIFT | (uint32_t)(hash ^ hash >> 32);
}

uint64_t
points_count(uint64_t offset)
{
	return offset >> COUNT_SHIFT;
}

void
mark_clear(struct mark *mark)
{
	buf_release(&mark->name);
	*mark = (struct mark){0};
}

/* Makes *to what from is, but with this name, in the memory that it has. */
static int
copy(const struct mark *from, struct slice name, struct mark *to)
{
	struct buf memory = to->name;

	*to = *from;
	to->name = memory;
	return buf_set(&to->name, name);
}

int
mark_copy(const struct mark *from, struct mark *to)
{
	return copy(from, buf_slice(&from->name), to);
}

void
points_release(struct points *p)
{
	free(p->points);
	buf_release(&p->names);
	*p = (struct points){0};
}

void
points_clear(struct points *p)
{
	p->count = 0;
	buf_clear(&p->names);
}

static int
make_room(struct points *p)
{
	size_t room = p->room ? p->room * 2 : 64;

	if (p->count < p->room)
		return 0;
	struct point *more = realloc(p->points, room * sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->points = more;
	p->room = room;
	return 0;
}

int
points_add(struct points *p, uint64_t offset, const struct mark *mark)
{
	int r = make_room(p);

	if (r < 0)
		return r;
	struct point *point = &p->points[p->count];
	*point = (struct point){.offset = offset, .mark = *mark,
		.at = p->names.size, .size = mark->name.size};
	point->mark.name = (struct buf){0};
	buf_append(&p->names, buf_slice(&mark->name));
	r = buf_status(&p->names);
	p->count += r == 0;
	return r;
}

const struct point *
points_exact(const struct points *p, uint64_t offset)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->points[i].offset == offset)
			return &p->points[i];
	return NULL;
}

const struct point *
points_before(const struct points *p, uint64_t offset)
{
	const struct point *best = NULL;

	for (size_t i = 0; i < p->count; i++)
		if (points_count(p->points[i].offset) <= points_count(offset))
			best = &p->points[i];
	return best;
}

int
points_mark(const struct points *p, const struct point *point,
    struct mark *mark)
{
	return copy(&point->mark,
	    slice_of(p->names.data + point->at, point->size), mark);
}

int
points_thin(struct points *p)
{
	struct points kept = {0};
	struct mark mark = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->count; i += 2) {
		r = points_mark(p, &p->points[i], &mark);
		if (r == 0)
			r = points_add(&kept, p->points[i].offset, &mark);
	}
	mark_clear(&mark);
	if (r < 0) {
		points_release(&kept);
		return r;
	}
	points_release(p);
	*p = kept;
	return 0;
}
