#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"

struct stream {
	struct spot spot;
	struct asking asking; /* while there is a scan */
	struct printing how;
	struct printer printer;
	struct scan *scan; /* NULL: not begun */
	bool ended, given;
	uint64_t from; /* where in the whole the text begins */
	struct buf text;
};

int
stream_open(const struct spot *spot, const struct printing *how,
    struct stream **out)
{
	struct stream *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (!s)
		return -ENOMEM;
	s->how = *how;
	s->spot = *spot;
	if (spot_own(&s->spot) < 0) {
		free(s);
		return -ENOMEM;
	}
	*out = s;
	return 0;
}

/* Back to the beginning. */
static void
rewind_stream(struct fs *fs, struct stream *s)
{
	kv_scan_close(fs->kv, s->scan);
	asking_release(&s->asking);
	printer_release(&s->printer);
	s->scan = NULL;
	s->ended = s->given = false;
	s->from = 0;
	buf_clear(&s->text);
}

static int
begin(struct fs *fs, struct stream *s)
{
	int r = asking_fill(fs, &s->asking, &s->spot);

	s->asking.spec.keys_only = s->how.count;
	s->how.family = s->asking.family;
	printer_init(&s->printer, &s->how);
	if (r == 0)
		r = asking_open(fs, &s->asking, &s->scan);
	if (r < 0)
		asking_release(&s->asking);
	return r;
}

/* Lets go of the text in front of offset. */
static void
drop(struct stream *s, uint64_t offset)
{
	uint64_t size = offset > s->from ? offset - s->from : 0;

	if (size > s->text.size)
		size = s->text.size;
	if (!size)
		return;
	s->text.size -= (size_t)size;
	s->from += size;
	memmove(s->text.data, s->text.data + size, s->text.size);
}

/* Makes text until it reaches end, or there is no more. */
static int
make_text(struct fs *fs, struct stream *s, uint64_t offset, uint64_t end)
{
	int r = s->scan || s->ended ? 0 : begin(fs, s);

	while (r == 0 && !s->ended && s->from + s->text.size < end) {
		r = printer_step(&s->printer, fs->kv, s->scan, &s->text);
		s->ended = r == 1;
		if (s->from + s->text.size <= offset)
			drop(s, offset);
	}
	return r < 0 ? r : 0;
}

int64_t
stream_read(struct fs *fs, struct stream *s, uint64_t offset, void *to,
    size_t size)
{
	if (offset < s->from || (offset == 0 && s->given))
		rewind_stream(fs, s);
	drop(s, offset);
	int r = make_text(fs, s, offset, offset + size);
	drop(s, offset);
	if (s->from < offset)
		return r;
	/* What there is goes first; what failed does so again. */
	if (s->text.size == 0)
		return r;
	if (size > s->text.size)
		size = s->text.size;
	memcpy(to, s->text.data, size);
	s->given = true;
	return (int64_t)size;
}

void
stream_close(struct fs *fs, struct stream *s)
{
	if (!s)
		return;
	rewind_stream(fs, s);
	buf_release(&s->text);
	spot_release(&s->spot);
	free(s);
}
