#include "local_time.h"

#include <errno.h>

#include "local_keys.h"
#include "text.h"
#include "why.h"

#define AHEAD 1000 /* ms, by which what is kept is later than what passed */

/* l->latest is the latest time that was told, all bits inverted while it
 * stands still. l->passed is the latest moment at which something was seen to
 * expire, l->kept what the store has: not less, or it has to be written. */

int64_t
local_now(struct local *l)
{
	int64_t now = clock_now(l->clock), latest = atomic_load(&l->latest);

	while (latest >= 0 && now > latest &&
	       !atomic_compare_exchange_weak(&l->latest, &latest, now))
		;
	if (latest < 0)
		return ~latest;
	return now > latest ? now : latest;
}

int64_t
local_hold_time(struct local *l)
{
	int64_t now = local_now(l), latest = now;

	while (latest >= 0 &&
	       !atomic_compare_exchange_weak(&l->latest, &latest, ~latest))
		;
	return latest < 0 ? ~latest : latest;
}

void
local_let_time(struct local *l)
{
	int64_t latest = atomic_load(&l->latest);

	if (latest < 0)
		atomic_store(&l->latest, ~latest);
}

static void
later(_Atomic int64_t *to, int64_t moment)
{
	int64_t old = atomic_load(to);

	while (moment > old && !atomic_compare_exchange_weak(to, &old, moment))
		;
}

struct keeping {
	struct local *local;
	int64_t moment;
};

static void
kept(void *context)
{
	const struct keeping *k = context;

	atomic_store(&k->local->kept, k->moment);
}

static int
keep(struct txn *t, struct keeping *k)
{
	struct buf text = {0};

	buf_printf(&text, "%lld", (long long)k->moment);
	int r = buf_status(&text);
	if (r == 0)
		r = txn_put(t, CATALOGUE, slice_text("c"), buf_slice(&text));
	buf_release(&text);
	t->committed = kept;
	t->committed_context = k;
	return r;
}

static int
keep_later(struct txn *t, void *context)
{
	struct keeping *k = context;

	/* Another may have had the lock before, with a later one. */
	return k->moment - AHEAD <= atomic_load(&t->local->kept) ? 0
								 : keep(t, k);
}

void
time_passed(struct local *l, int64_t moment)
{
	struct keeping k = {l, moment + AHEAD};

	later(&l->passed, moment);
	if (moment <= atomic_load(&l->kept) || l->options.read_only)
		return;
	local_write(l, ORDERED_REMOVE, keep_later, &k);
}

static int
keep_exact(struct txn *t, void *context)
{
	return keep(t, context);
}

void
time_close(struct local *l)
{
	struct keeping k = {l, atomic_load(&l->passed)};

	if (!l->options.read_only && atomic_load(&l->kept) != k.moment)
		local_write(l, ORDERED_REMOVE, keep_exact, &k);
}

int
time_load(struct txn *t)
{
	struct local *l = t->local;
	struct buf text = {0};
	uint64_t moment = 0;

	int r = txn_get(t, CATALOGUE, slice_text("c"), &text);
	if (r == 0 && text_number(buf_slice(&text), INT64_MAX, &moment))
		r = why(EIO, "store: the catalogue's key c is damaged; run: "
			     "cellfs check --repair STORE");
	buf_release(&text);
	if (r < 0)
		return r;
	atomic_store(&l->kept, (int64_t)moment);
	atomic_store(&l->passed, (int64_t)moment);
	later(&l->latest, (int64_t)moment);
	return 0;
}
