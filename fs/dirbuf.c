#include "dirbuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "path.h"

#define ANCHORS 512	   /* at most; then every second one goes */
#define FIRST_INTERVAL 256 /* names between two anchors */
#define PLUS_NAMES 50000   /* beyond it names only: the kernel pays for each, and
			      so do we until it forgets */

/* The place behind which the name at this offset stands. */
struct point {
	uint64_t offset;
	struct mark mark;
};

struct points {
	struct point *points;
	size_t count, room;
};

struct dirbuf {
	struct inode *dir; /* held */
	pthread_mutex_t lock; /* guards the rest */
	uint64_t next;	      /* the offset that mark stands at */
	struct mark mark;
	struct points last;    /* of the last reply */
	struct points anchors; /* of all that was listed */
	uint64_t interval;
};

static void
points_clear(struct points *p)
{
	for (size_t i = 0; i < p->count; i++)
		buf_release(&p->points[i].mark.name);
	p->count = 0;
}

static int
mark_copy(const struct mark *from, struct mark *to)
{
	*to = *from;
	to->name = (struct buf){0};
	return buf_set(&to->name, buf_slice(&from->name));
}

static int
points_add(struct points *p, uint64_t offset, const struct mark *mark)
{
	if (p->count == p->room) {
		size_t room = p->room ? p->room * 2 : 64;
		struct point *more = realloc(p->points,
		    room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		p->points = more;
		p->room = room;
	}
	p->points[p->count].offset = offset;
	int r = mark_copy(mark, &p->points[p->count].mark);
	if (r == 0)
		p->count++;
	return r;
}

/* Every second anchor goes, and new ones are set twice as far apart. */
static void
thin_out(struct dirbuf *d)
{
	struct points *p = &d->anchors;
	size_t kept = 0;

	for (size_t i = 0; i < p->count; i++) {
		if (i % 2)
			buf_release(&p->points[i].mark.name);
		else
			p->points[kept++] = p->points[i];
	}
	p->count = kept;
	d->interval *= 2;
}

static int
anchor(struct dirbuf *d, uint64_t offset, const struct mark *mark)
{
	struct points *p = &d->anchors;

	if (offset % d->interval ||
	    (p->count && p->points[p->count - 1].offset >= offset))
		return 0;
	if (p->count == ANCHORS)
		thin_out(d);
	return points_add(p, offset, mark);
}

int
dirbuf_open(struct fs *fs, struct inode *dir, struct dirbuf **out)
{
	struct dirbuf *d = calloc(1, sizeof(*d));

	*out = d;
	if (!d)
		return -ENOMEM;
	inode_hold(fs, dir);
	d->dir = dir;
	d->next = 2; /* behind . and .. */
	d->interval = FIRST_INTERVAL;
	pthread_mutex_init(&d->lock, NULL);
	return 0;
}

void
dirbuf_close(struct fs *fs, struct dirbuf *d)
{
	inode_put(fs, d->dir);
	points_clear(&d->last);
	points_clear(&d->anchors);
	free(d->last.points);
	free(d->anchors.points);
	buf_release(&d->mark.name);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

/* One reply in the making. */
struct fill {
	struct listing listing; /* first: take() is handed it */
	struct fs *fs;
	struct dirbuf *d;
	const struct dirbuf_request *request;
	struct buf *out;
	uint64_t skip; /* names up to the offset that was asked for */
};

/* Adds one name if it fits: LIST_MORE, else LIST_STOP. */
static int
add(struct fill *f, const char *name, const struct fuse_entry_param *e,
    uint64_t next)
{
	fuse_req_t req = f->request->req;
	size_t size = f->request->plus
	    ? fuse_add_direntry_plus(req, NULL, 0, name, e, 0)
	    : fuse_add_direntry(req, NULL, 0, name, NULL, 0);
	size_t at = f->out->size;

	if (at + size > f->request->size)
		return LIST_STOP;
	if (buf_resize(f->out, at + size) < 0)
		return -ENOMEM;
	char *to = (char *)f->out->data + at;
	if (f->request->plus)
		fuse_add_direntry_plus(req, to, size, name, e, (off_t)next);
	else
		fuse_add_direntry(req, to, size, name, &e->attr,
		    (off_t)next);
	return LIST_MORE;
}

/* A name with its inode, which the kernel counts as looked up. */
static int
add_child(struct fill *f, const struct child *child, const char *text,
    const struct look *found)
{
	struct fuse_entry_param e = {.attr = found->st};
	struct look look = *found;
	struct inode *inode = NULL;

	if (f->request->plus && f->d->next < PLUS_NAMES) {
		inode = inode_get(f->fs, f->d->dir, child);
		if (!inode)
			return -ENOMEM;
		tree_overlay(f->fs, inode, &f->request->caller, &look);
		e.ino = (fuse_ino_t)inode;
		e.attr = look.st;
		e.generation = inode->generation;
		e.entry_timeout = look.name_hold;
		e.attr_timeout = look.hold;
	}
	int r = add(f, text, &e, f->d->next + 1);
	if (r == LIST_MORE && inode)
		inode_looked(f->fs, inode);
	inode_put(f->fs, inode);
	return r;
}

static int
take(struct listing *to, const struct child *child, struct slice name,
    const struct look *look)
{
	struct fill *f = (struct fill *)to;
	char text[NAME_BYTES + 1];

	int r = anchor(f->d, f->d->next, to->mark);
	if (r < 0)
		return r;
	if (f->skip) {
		f->skip--;
		f->d->next++;
		return LIST_MORE;
	}
	r = points_add(&f->d->last, f->d->next, to->mark);
	if (r < 0)
		return r;
	memcpy(text, name.data, name.size);
	text[name.size] = '\0';
	r = add_child(f, child, text, look);
	if (r == LIST_MORE)
		f->d->next++;
	return r;
}

static const struct point *
point_before(const struct points *p, uint64_t offset)
{
	const struct point *best = NULL;

	for (size_t i = 0; i < p->count; i++)
		if (p->points[i].offset <= offset)
			best = &p->points[i];
	return best;
}

/* Goes to offset: exactly within the last reply, else by counting on from
 * the nearest anchor. */
static int
seek(struct dirbuf *d, uint64_t offset, uint64_t *skip)
{
	const struct point *p = point_before(&d->last, offset);
	struct mark mark = {0};
	int r = 0;

	*skip = 0;
	if (offset == d->next)
		return 0;
	if (!p || p->offset != offset)
		p = point_before(&d->anchors, offset);
	if (p)
		r = mark_copy(&p->mark, &mark);
	if (r < 0)
		return r;
	d->next = p ? p->offset : 2;
	*skip = offset - d->next;
	buf_release(&d->mark.name);
	d->mark = mark;
	return 0;
}

/* . and .. come first; their inodes are of no use to the kernel. */
static int
add_dots(struct fill *f, uint64_t *offset)
{
	static const char *const names[] = {".", ".."};
	int r = LIST_MORE;

	for (; *offset < 2 && r == LIST_MORE; ++*offset) {
		struct fuse_entry_param e = {0};
		struct look look;

		struct inode *up = inode_up(f->fs, f->d->dir);
		r = tree_look(f->fs, *offset ? up : f->d->dir,
		    &f->request->caller, &look);
		inode_put(f->fs, up);
		if (r < 0)
			return r;
		e.attr = look.st;
		r = add(f, names[*offset], &e, *offset + 1);
	}
	return r;
}

int
dirbuf_read(struct fs *fs, struct dirbuf *d,
    const struct dirbuf_request *request, struct buf *out)
{
	struct fill f = {
		.listing = {.take = take, .mark = &d->mark},
		.fs = fs, .d = d, .request = request, .out = out,
	};
	uint64_t offset = request->offset;
	struct spot spot = {0};

	pthread_mutex_lock(&d->lock);
	if (offset == 0)
		points_clear(&d->anchors); /* what they counted may be gone */
	int r = add_dots(&f, &offset);
	if (r == LIST_MORE)
		r = seek(d, offset, &f.skip);
	if (r == 0)
		r = inode_spot(fs, d->dir, &spot);
	if (r == -ESTALE) {
		r = 0; /* removed while it is open: empty */
	} else if (r == 0) {
		points_clear(&d->last);
		r = node_list(fs, &spot, &f.listing);
	}
	spot_release(&spot);
	pthread_mutex_unlock(&d->lock);
	return r < 0 ? r : 0;
}
