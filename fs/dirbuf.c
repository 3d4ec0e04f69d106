#include "dirbuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kept.h"
#include "notify.h"
#include "path.h"
#include "points.h"

#define ANCHORS 512	   /* at most; then every second one goes */
#define FIRST_INTERVAL 256 /* names between two anchors */
#define PLUS_NAMES 100000  /* beyond it names only: the kernel pays for each, and
			      so do we until it forgets */
#define DRIFT 100000	   /* names by which a place may have moved */

struct dirbuf {
	struct reading reading;
	bool kept;
	pthread_mutex_t lock; /* guards the rest */
	uint64_t offset;      /* that mark stands at */
	struct mark mark;
	bool ended;	       /* there was no more behind it */
	struct points last;    /* of the last reply */
	struct points anchors; /* of all that was listed */
	uint64_t interval;
};

static int
anchor(struct dirbuf *d, const struct mark *mark)
{
	struct points *p = &d->anchors;
	uint64_t count = points_count(d->offset);
	int r = 0;

	if (count % d->interval ||
	    (p->count &&
		points_count(p->points[p->count - 1].offset) >= count))
		return 0;
	if (p->count == ANCHORS) {
		r = points_thin(p);
		d->interval *= 2;
	}
	return r < 0 ? r : points_add(p, d->offset, mark);
}

/* Whether nothing in dir goes by itself. */
static bool
is_steady(struct fs *fs, struct inode *dir)
{
	unsigned epoch = fs->nodes->epoch;
	struct spot spot = {0};
	struct look look;

	if (kept_is_steady(fs, dir))
		return true;
	int r = inode_spot(fs, dir, &spot);
	if (r == 0)
		r = node_find(fs, &spot, &look);
	spot_release(&spot);
	if (r < 0 || look.name_hold < HOLD_LONG)
		return false;
	kept_set_steady(fs, dir, epoch);
	return true;
}

/* Decides whether the kernel keeps the listing, after what is old of it has
 * been dropped. */
static bool
keep(struct fs *fs, struct inode *dir)
{
	unsigned epoch = fs->nodes->epoch;

	if (!kinds[dir->kind].listing_kept || !is_steady(fs, dir))
		return false;
	unsigned listed = kept_listed(fs, dir);
	if (listed == epoch)
		return true;
	if (listed != LISTED_NONE)
		notify_listing(fs, dir);
	kept_set_listed(fs, dir, epoch);
	return true;
}

bool
dirbuf_is_kept(const struct dirbuf *d)
{
	return d->kept;
}

int
dirbuf_open(struct fs *fs, struct inode *dir, struct dirbuf **out)
{
	struct dirbuf *d = calloc(1, sizeof(*d));

	*out = d;
	if (!d)
		return -ENOMEM;
	reading_begin(fs, &d->reading, dir);
	d->kept = keep(fs, dir);
	d->offset = POINTS_DOTS;
	d->interval = FIRST_INTERVAL;
	pthread_mutex_init(&d->lock, NULL);
	return 0;
}

void
dirbuf_close(struct fs *fs, struct dirbuf *d)
{
	reading_end(fs, &d->reading);
	points_release(&d->last);
	points_release(&d->anchors);
	mark_clear(&d->mark);
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
	unsigned epoch; /* when it began */
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
    const struct look *found, uint64_t next)
{
	struct fuse_entry_param e = {.attr = found->st};
	struct look look = *found;
	struct inode *inode = NULL;

	if (f->request->plus && points_count(next) <= PLUS_NAMES) {
		inode = inode_get(f->fs, f->d->reading.dir, child);
		if (!inode)
			return -ENOMEM;
		tree_overlay(f->fs, inode, &f->request->caller, &look);
		e.ino = (fuse_ino_t)inode;
		e.attr = look.st;
		e.generation = inode->generation;
		e.entry_timeout = look.name_hold;
		e.attr_timeout = look.hold;
	}
	int r = add(f, text, &e, next);
	if (r == LIST_MORE && inode)
		inode_looked(f->fs, inode);
	if (inode && S_ISDIR(e.attr.st_mode) && look.name_hold >= HOLD_LONG)
		kept_set_steady(f->fs, inode, f->epoch);
	inode_put(f->fs, inode);
	return r;
}

static int
take(struct listing *to, const struct child *child, struct slice name,
    const struct look *look)
{
	struct fill *f = (struct fill *)to;
	struct dirbuf *d = f->d;
	uint64_t next = points_offset(points_count(d->offset) + 1, name);
	char text[NAME_BYTES + 1];

	int r = anchor(d, to->mark);
	if (r == 0)
		r = points_add(&d->last, d->offset, to->mark);
	if (r < 0)
		return r;
	memcpy(text, name.data, name.size);
	text[name.size] = '\0';
	r = add_child(f, child, text, look, next);
	if (r == LIST_MORE)
		d->offset = next;
	else
		d->ended = false;
	return r;
}

/* A search for the name that an offset stands behind. */
struct search {
	struct listing listing; /* first: pass() is handed it */
	uint64_t wanted, count; /* names passed */
	bool found;
	struct mark counted; /* where only the count fits */
};

static int
pass(struct listing *to, const struct child *child, struct slice name,
    const struct look *look)
{
	struct search *s = (struct search *)to;
	uint64_t wanted = points_count(s->wanted);

	(void)child;
	(void)look;
	if (s->found || s->count > wanted + DRIFT)
		return LIST_STOP;
	int r = s->count == wanted ? mark_copy(to->mark, &s->counted) : 0;
	s->found = points_offset(wanted, name) == s->wanted;
	s->count++;
	return r < 0 ? r : LIST_MORE;
}

/* Goes from mark on to the name that offset stands behind; where that is gone,
 * as many names on as there were. */
static int
find(struct fs *fs, const struct spot *spot, uint64_t offset, uint64_t count,
    struct mark *mark)
{
	struct search s = {
		.listing = {.take = pass, .mark = mark},
		.wanted = offset, .count = count,
	};
	int r = node_list(fs, spot, &s.listing);

	if (r == 0 && !s.found && s.count > points_count(offset)) {
		struct mark passed = *mark;
		*mark = s.counted;
		s.counted = passed;
	}
	mark_clear(&s.counted);
	return r;
}

/* Goes to offset: exactly within the last reply and at an anchor, else by the
 * name from the nearest anchor on. LIST_STOP: there is no more behind it. */
static int
seek(struct fs *fs, struct dirbuf *d, const struct spot *spot, uint64_t offset)
{
	const struct points *in = &d->last;
	const struct point *p = points_exact(in, offset);
	int r = 0;

	if (offset == d->offset)
		return d->ended ? LIST_STOP : 0;
	d->ended = false;
	if (!p)
		p = points_before(in = &d->anchors, offset);
	if (p)
		r = points_mark(in, p, &d->mark);
	else
		mark_clear(&d->mark);
	uint64_t at = p ? p->offset : POINTS_DOTS;
	if (r == 0 && at != offset)
		r = find(fs, spot, offset, points_count(at), &d->mark);
	d->offset = r < 0 ? POINTS_DOTS : offset;
	if (r < 0)
		mark_clear(&d->mark);
	return r;
}

/* . and .. come first; their inodes are of no use to the kernel. */
static int
add_dots(struct fill *f, uint64_t *offset)
{
	static const char *const names[] = {".", ".."};
	int r = LIST_MORE;

	for (; *offset < POINTS_DOTS && r == LIST_MORE; ++*offset) {
		struct fuse_entry_param e = {0};
		struct look look;

		struct inode *up = inode_up(f->fs, f->d->reading.dir);
		r = tree_look(f->fs, *offset ? up : f->d->reading.dir,
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
		.epoch = fs->nodes->epoch,
	};
	uint64_t offset = request->offset;
	struct spot spot = {0};

	pthread_mutex_lock(&d->lock);
	if (offset == 0) {
		points_clear(&d->anchors); /* what they counted may be gone */
		d->ended = false;
	}
	int r = add_dots(&f, &offset);
	if (r == LIST_MORE)
		r = inode_spot(fs, d->reading.dir, &spot);
	if (r == -ESTALE)
		r = LIST_STOP; /* removed while it is open: empty */
	if (r == 0)
		r = seek(fs, d, &spot, offset);
	if (r == 0) {
		points_clear(&d->last);
		d->ended = true;
		r = node_list(fs, &spot, &f.listing);
		d->ended = d->ended && r == 0;
	}
	spot_release(&spot);
	pthread_mutex_unlock(&d->lock);
	return r < 0 ? r : 0;
}
