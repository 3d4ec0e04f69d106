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

void
fold_init(struct fold *f, struct fold_rules rules, int64_t now)
{
	*f = (struct fold){.rules = rules, .now = now};
}

void
fold_release(struct fold *f)
{
	buf_release(&f->expiry);
}

void
fold_column(struct fold *f)
{
	f->live = 0;
	f->full = false;
	buf_clear(&f->expiry);
}

/* A version that died by its own TTL: it counts for those older ones whose
 * family TTL ran out while it lived. */
static int
remember(struct fold *f, int64_t died)
{
	if (f->rules.ttl && f->rules.min_versions)
		buf_append(&f->expiry, slice_of(&died, sizeof(died)));
	return buf_status(&f->expiry);
}

/* How many newer versions lived at that moment. */
static uint32_t
newer_at(const struct fold *f, int64_t moment)
{
	uint32_t count = f->live;

	for (size_t i = 0; i < f->expiry.size; i += sizeof(int64_t)) {
		int64_t died;
		memcpy(&died, f->expiry.data + i, sizeof(died));
		if (died > moment)
			count++;
	}
	return count;
}

int
fold_add(struct fold *f, int64_t timestamp, int64_t ttl)
{
	int64_t own = death(timestamp, ttl);
	int64_t family = death(timestamp, f->rules.ttl);

	if (own <= f->now) {
		int r = remember(f, own);
		return r ? r : 0;
	}
	if (family <= f->now && newer_at(f, family) >= f->rules.min_versions)
		f->full = true;
	if (fold_full(f))
		return 0;
	f->live++;
	return 1;
}

bool
fold_full(const struct fold *f)
{
	return f->full || f->live >= f->rules.versions;
}

int64_t
fold_expires(const struct fold_rules *rules, int64_t timestamp, int64_t ttl)
{
	int64_t own = death(timestamp, ttl);
	int64_t family = death(timestamp, rules->ttl);

	return own < family ? own : family;
}
