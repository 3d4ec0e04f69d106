#include "fold.h"

#include <string.h>

/* The first moment at which what lives ttl ms from timestamp is out. */
static int64_t
death(int64_t timestamp, int64_t ttl)
{
	if (ttl <= 0 || timestamp > NEVER - 1 - ttl)
		return NEVER;
	return timestamp + ttl + 1;
}

static void
judge_column(struct judge *j)
{
	j->live = 0;
	j->full = false;
	buf_clear(&j->expiry);
}

/* A version that died by its own TTL: it counts for those older ones whose
 * family TTL ran out while it lived. */
static int
remember(struct judge *j, int64_t died)
{
	if (j->rules.ttl && j->rules.min_versions)
		buf_append(&j->expiry, slice_of(&died, sizeof(died)));
	return buf_status(&j->expiry);
}

/* How many newer versions lived at that moment. */
static uint32_t
newer_at(const struct judge *j, int64_t moment)
{
	uint32_t count = j->live;

	for (size_t i = 0; i < j->expiry.size; i += sizeof(int64_t)) {
		int64_t died;
		memcpy(&died, j->expiry.data + i, sizeof(died));
		if (died > moment)
			count++;
	}
	return count;
}

static bool
judge_full(const struct judge *j)
{
	return j->full || j->live >= j->rules.versions;
}

static void
passed(struct judge *j, int64_t moment)
{
	if (moment > j->passed)
		j->passed = moment;
}

static int
judge_add(struct judge *j, int64_t timestamp, int64_t ttl)
{
	int64_t own = death(timestamp, ttl);
	int64_t family = death(timestamp, j->rules.ttl);

	if (own <= j->now) {
		passed(j, own);
		return remember(j, own);
	}
	if (family <= j->now && newer_at(j, family) >= j->rules.min_versions) {
		passed(j, family);
		j->full = true;
	}
	if (judge_full(j))
		return 0;
	j->live++;
	return 1;
}

static void
take_past(struct fold *f, const struct fold_past *past)
{
	f->since = past ? past->sequence : 0;
	if (!f->since)
		return;
	f->past.rules = past->rules;
	f->past.now = past->at;
}

void
fold_init(struct fold *f, const struct fold_rules *rules,
    const struct fold_past *past, int64_t now)
{
	*f = (struct fold){.now = {.rules = *rules, .now = now}};
	take_past(f, past);
}

int
fold_resume(struct fold *f, const struct fold_rules *rules,
    const struct fold_past *past, int64_t now)
{
	int r = 0;

	/* What was the present has become the past. */
	if (past && past->sequence && past->sequence != f->since) {
		f->past.live = f->now.live;
		f->past.full = f->now.full;
		f->after = false;
		r = buf_set(&f->past.expiry, buf_slice(&f->now.expiry));
	}
	take_past(f, past);
	f->now.rules = *rules;
	f->now.now = now;
	return r;
}

void
fold_release(struct fold *f)
{
	buf_release(&f->now.expiry);
	buf_release(&f->past.expiry);
}

void
fold_column(struct fold *f)
{
	judge_column(&f->now);
	judge_column(&f->past);
	f->after = false;
}

int
fold_add(struct fold *f, int64_t timestamp, int64_t ttl, uint64_t sequence)
{
	if (sequence >= f->since)
		f->after = true;
	int r = f->after ? 1 : judge_add(&f->past, timestamp, ttl);

	return r == 1 ? judge_add(&f->now, timestamp, ttl) : r;
}

bool
fold_full(const struct fold *f)
{
	return judge_full(&f->now);
}

int64_t
fold_expires(const struct fold_rules *rules, int64_t timestamp, int64_t ttl)
{
	int64_t own = death(timestamp, ttl);
	int64_t family = death(timestamp, rules->ttl);

	return own < family ? own : family;
}
