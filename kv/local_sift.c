#include "local_sift.h"

#include <errno.h>
#include <string.h>

#include "key.h"
#include "local_blob.h"
#include "local_scan.h"

/* --- opening ------------------------------------------------------------ */

/* The least key of the rows behind a cut; empty where it is an open end. */
static int
cut_key(const struct filter_cut *cut, struct buf *out)
{
	if (!cut->key.size)
		return 0;
	if (cut->at == CUT_BEHIND_PREFIX)
		key_prefix(out, cut->key);
	else
		key_component(out, cut->key);
	if (cut->at != CUT_BEFORE)
		key_successor(out);
	return buf_status(out);
}

static int
narrow(struct scan *s)
{
	struct buf low = {0}, high = {0};
	struct filter_cut from, to;

	if (!filter_rows(s->spec.filter, s->spec.reversed, &from, &to))
		s->ended = true;
	int r = cut_key(&from, &low);
	if (r == 0)
		r = cut_key(&to, &high);
	if (r == 0 && slice_compare(buf_slice(&low), buf_slice(&s->low)) > 0)
		r = buf_set(&s->low, buf_slice(&low));
	if (r == 0 && high.size &&
	    (!s->high.size ||
		slice_compare(buf_slice(&high), buf_slice(&s->high)) < 0))
		r = buf_set(&s->high, buf_slice(&high));
	buf_release(&low);
	buf_release(&high);
	return r;
}

int
sift_open(struct scan *s)
{
	const struct filter *f = s->spec.filter;

	if (!f)
		return 0;
	s->sift.judges = filter_judges_rows(f);
	s->sift.reads_values = filter_reads_values(f);
	int r = filter_run_new(f, s->spec.reversed, &s->sift.run);
	if (r == 0)
		r = filter_run_new(f, s->spec.reversed, &s->sift.spare);
	return r ? r : narrow(s);
}

void
sift_release(struct scan *s)
{
	filter_run_free(s->sift.run);
	filter_run_free(s->sift.spare);
}

/* --- cells -------------------------------------------------------------- */

struct chunks {
	const struct scan *scan;
	const struct asked *asked;
	const struct record *record;
};

static int
read_chunks(const struct source *source, uint64_t offset, void *to, size_t size)
{
	const struct chunks *c = source->context;
	int64_t r = blob_read(c->scan->local, c->asked->family->blobs,
	    c->record->blob, c->record->size, offset, to, size);

	return r < 0 ? (int)r : 0;
}

int
sift_cell(struct scan *s, const struct asked *a, const struct caught *c,
    const struct record *record, struct filter_verdict *verdict)
{
	struct chunks chunks = {s, a, record};
	struct source source = {record->size, read_chunks, &chunks};
	struct filter_cell cell = {
	    .row = slice_of(s->bytes.data + c->row, c->row_size),
	    .family = buf_slice(&a->family->declared.name),
	    .qualifier =
		slice_of(s->bytes.data + c->qualifier, c->qualifier_size),
	    .timestamp = c->cell.timestamp,
	    .value = record->value,
	    .source = record->blob ? &source : NULL,
	};
	int r = 0;

	*verdict = (struct filter_verdict){.include = true};
	if (s->sift.run)
		r = filter_cell(s->sift.run, &cell, verdict);
	/* What the family's offset leaves out has been seen by the filter. */
	if (verdict->include && s->passed++ < s->spec.family_offset)
		verdict->hidden = true;
	s->sift.any |= verdict->include;
	s->sift.left |= verdict->include && !verdict->hidden;
	if (verdict->seek.data)
		s->sift.ahead = verdict->seek;
	return r;
}

bool
sift_takes(const struct scan *s, const struct caught *c,
    const struct filter_verdict *verdict)
{
	if (!verdict->include || verdict->hidden)
		return false;
	if (s->sift.stage == SIFT_GIVE)
		return filter_keeps(s->sift.spare, c->cell.timestamp);
	return s->sift.stage == SIFT_TRY;
}

/* --- rows --------------------------------------------------------------- */

static void
forget_row(struct sift *sift)
{
	sift->any = sift->left = false;
	sift->ahead = (struct slice){0};
}

int
sift_row(struct scan *s)
{
	struct sift *sift = &s->sift;

	forget_row(sift);
	sift->stage = SIFT_TRY;
	return sift->run ? filter_run_copy(sift->spare, sift->run) : 0;
}

int
sift_undo(struct scan *s)
{
	struct sift *sift = &s->sift;

	forget_row(sift);
	return sift->run ? filter_run_copy(sift->run, sift->spare) : 0;
}

void
sift_pause(struct scan *s)
{
	if (!s->sift.judges || s->sift.stage != SIFT_TRY)
		return;
	s->sift.stage = SIFT_JUDGE;
	buf_clear(&s->cells);
	buf_clear(&s->bytes);
	s->found = false;
}

static void
swap(struct sift *sift)
{
	struct filter_run *run = sift->run;

	sift->run = sift->spare;
	sift->spare = run;
}

/* Takes out of the batch what the row step takes out of the row. */
static void
leave_kept(struct scan *s, size_t from)
{
	struct caught *cells = (struct caught *)s->cells.data;
	size_t count = caught_count(s), kept = from;

	for (size_t i = from; i < count; i++)
		if (filter_keeps(s->sift.run, cells[i].cell.timestamp))
			cells[kept++] = cells[i];
	s->cells.size = kept * sizeof(*cells);
}

static int
end_try(struct scan *s, size_t cells)
{
	struct sift *sift = &s->sift;

	leave_kept(s, cells);
	sift->left = caught_count(s) > cells;
	if (filter_row_end(sift->run, sift->any, sift->left))
		s->cells.size = cells * sizeof(struct caught);
	s->found = caught_count(s) > cells;
	return 0;
}

/* The run goes back to the row's beginning; what it was told stays beside. */
static int
end_judge(struct scan *s)
{
	struct sift *sift = &s->sift;

	if (filter_row_end(sift->run, sift->any, sift->left))
		return 0;
	swap(sift);
	sift->stage = SIFT_GIVE;
	sift->ahead = (struct slice){0};
	return 1;
}

int
sift_row_end(struct scan *s, size_t cells)
{
	struct sift *sift = &s->sift;

	if (!sift->run)
		return 0;
	if (sift->stage == SIFT_JUDGE)
		return end_judge(s);
	if (sift->stage == SIFT_GIVE)
		swap(sift);
	else if (sift->judges)
		return end_try(s, cells);
	else
		filter_row_end(sift->run, sift->any, sift->left);
	return 0;
}

bool
sift_ended(const struct scan *s)
{
	return s->sift.run && !s->inside && filter_ended(s->sift.run);
}
