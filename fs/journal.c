#include "journal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../kv/text.h"

void
journal_init(struct journal *j, bool echo)
{
	*j = (struct journal){.echo = echo};
	pthread_mutex_init(&j->lock, NULL);
}

void
journal_release(struct journal *j)
{
	buf_release(&j->lines);
	pthread_mutex_destroy(&j->lock);
}

/* Forgets the older half, at a line's end. Called with the lock held. */
static void
forget_half(struct journal *j)
{
	uint8_t *half = j->lines.data + j->lines.size / 2;
	uint8_t *end = j->lines.data + j->lines.size;
	uint8_t *cut = memchr(half, '\n', (size_t)(end - half));

	if (!cut)
		return;
	j->lines.size = (size_t)(end - cut - 1);
	memmove(j->lines.data, cut + 1, j->lines.size);
}

/* Stamps and keeps it. Locked. */
static void
keep(struct journal *j, struct slice line)
{
	struct timespec now;
	struct tm utc;
	char stamp[32];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &utc);
	if (j->lines.size > JOURNAL_BYTES)
		forget_half(j);
	buf_printf(&j->lines, "%s.%03ldZ ", stamp, now.tv_nsec / 1000000);
	buf_append(&j->lines, line);
	if (buf_status(&j->lines))
		buf_clear(&j->lines);
}

/* Adds one line, whatever bytes are in it, and shows it in the foreground. */
static void
add(struct journal *j, const char *what, const char *sentence)
{
	struct buf line = {0};

	text_print(slice_text(what), &line);
	buf_text(&line, *what ? ": " : "");
	text_print(slice_text(sentence), &line);
	buf_byte(&line, '\n');

	pthread_mutex_lock(&j->lock);
	keep(j, buf_slice(&line));
	pthread_mutex_unlock(&j->lock);
	if (j->echo)
		fprintf(stderr, "cellfs: %.*s", (int)line.size, line.data);
	buf_release(&line);
}

void
journal_line(void *context, const char *line)
{
	add(context, "", line);
}

/* That user's place, else the one that was not used for longest. Locked. */
static struct refused *
place_of(struct journal *j, uid_t uid)
{
	struct refused *oldest = j->refused;

	for (struct refused *r = oldest; r < j->refused + JOURNAL_USERS; r++) {
		if (r->turn && r->uid == uid)
			return r;
		if (r->turn < oldest->turn)
			oldest = r;
	}
	return oldest;
}

void
journal_refusal(struct journal *j, const struct caller *caller,
    const char *what, const char *sentence)
{
	add(j, what, sentence);
	if (!caller)
		return;
	pthread_mutex_lock(&j->lock);
	struct refused *r = place_of(j, caller->uid);
	r->uid = caller->uid;
	r->turn = ++j->turns;
	snprintf(r->sentence, sizeof(r->sentence), "%s", sentence);
	pthread_mutex_unlock(&j->lock);
}

void
journal_read(struct journal *j, struct buf *out)
{
	pthread_mutex_lock(&j->lock);
	buf_append(out, buf_slice(&j->lines));
	pthread_mutex_unlock(&j->lock);
}

void
journal_last(struct journal *j, uid_t uid, struct buf *out)
{
	pthread_mutex_lock(&j->lock);
	const struct refused *r = place_of(j, uid);
	if (r->turn && r->uid == uid)
		buf_text(out, r->sentence);
	pthread_mutex_unlock(&j->lock);
}
