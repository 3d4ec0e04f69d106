/* What of a file the kernel may keep in its pages. */
#include "handle_own.h"

#include <time.h>

#include "kept.h"
#include "notify.h"

#define SHARED_MAX (128 << 10) /* bytes of a value that pages serve: what the
				  kernel asks for at once */
#define STORED_MAX 4096	       /* of one that is stored in them at open */
#define BUSY_SECONDS 2	       /* whole ones, so up to one more */
#define AWAIT_MS 10	       /* that a writer waits for readers */

static time_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_sec;
}

/* The kernel raises the one size that all see as a writer writes, so a reader
 * through pages at the same moment could read behind the end. Most open, read
 * and close; one that stays is waited for once. */
void
handle_await_readers(struct fs *fs, struct inode *inode)
{
	struct nodes *n = fs->nodes;
	struct timespec until;
	int r = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += AWAIT_MS * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&n->lock);
	inode->busy = now() + BUSY_SECONDS;
	bool wait = inode->readers && !inode->lasting;
	pthread_mutex_unlock(&n->lock);
	if (!wait)
		return;
	if (fs->step_aside)
		fs->step_aside(fs->step_context);
	pthread_mutex_lock(&n->lock);
	while (r == 0 && inode->readers && !inode->lasting)
		r = pthread_cond_timedwait(&n->closed, &n->lock, &until);
	inode->lasting = inode->readers && (inode->lasting || r != 0);
	pthread_mutex_unlock(&n->lock);
}

void
handle_leave_pages(struct fs *fs, struct handle *h)
{
	struct inode *inode = h->inode;

	if (h->writes)
		inode->busy = now() + BUSY_SECONDS;
	if (!h->follows || --inode->readers)
		return;
	inode->lasting = false;
	pthread_cond_broadcast(&fs->nodes->closed);
}

bool
handle_bypasses(const struct handle *h)
{
	return !h->follows;
}

/* Whether what h reads may stand in pages at all: a cell's newest version
 * that does not expire. */
static bool
may_follow(const struct handle *h)
{
	const struct value *value = h->reader.value;

	return value && !h->writes && handle_kind(h) == KIND_CELL &&
	    value->info.expires == NEVER && value->info.size <= SHARED_MAX;
}

static int64_t
pages_of(const struct handle *h)
{
	return h->reader.value ? h->reader.value->info.timestamp + 1
			       : PAGES_MIXED;
}

/* Counts h among the readers through pages, unless somebody writes. */
static bool
follow(struct fs *fs, struct handle *h, unsigned changes)
{
	struct inode *inode = h->inode;

	pthread_mutex_lock(&fs->nodes->lock);
	h->follows = inode->changes + fs->nodes->epoch == changes &&
	    inode->busy < now();
	for (struct handle *o = inode->handles; o; o = o->next)
		h->follows = h->follows && !o->writes;
	inode->readers += h->follows;
	pthread_mutex_unlock(&fs->nodes->lock);
	return h->follows;
}

/* Whether the kernel has no bytes, after old ones were dropped. */
static bool
drop_old(struct fs *fs, struct handle *h)
{
	struct inode *inode = h->inode;

	pthread_mutex_lock(&fs->nodes->lock);
	bool none = inode->pages == PAGES_NONE && inode->open == 1;
	bool old = inode->pages != PAGES_NONE && inode->pages != pages_of(h);
	pthread_mutex_unlock(&fs->nodes->lock);
	if (!old)
		return none;
	notify_bytes(fs, inode);
	pthread_mutex_lock(&fs->nodes->lock);
	inode->pages = PAGES_NONE;
	none = inode->open == 1;
	pthread_mutex_unlock(&fs->nodes->lock);
	return none;
}

/* Stores a small value in the kernel's pages, so that no READ follows. */
static void
store(struct fs *fs, struct handle *h)
{
	uint8_t bytes[STORED_MAX];
	int64_t n = reader_read(fs, &h->reader, 0, bytes, sizeof(bytes));

	if (n <= 0)
		return; /* a READ will say why */
	notify_store(fs, h->inode, slice_of(bytes, (size_t)n));
	handle_filled_pages(fs, h);
}

void
handle_share_pages(struct fs *fs, struct handle *h, unsigned changes)
{
	if (!may_follow(h) || !follow(fs, h, changes))
		return;
	if (drop_old(fs, h) && reader_size(&h->reader) <= STORED_MAX)
		store(fs, h);

	/* What was stored may be older than the change. */
	if (kept_changes(fs, h->inode) != changes)
		notify_bytes(fs, h->inode);
}

void
handle_filled_pages(struct fs *fs, struct handle *h)
{
	struct inode *inode = h->inode;
	int64_t pages = h->writes ? PAGES_MIXED : pages_of(h);

	/* It had a longer life when it was opened. */
	if (h->follows && h->reader.value &&
	    h->reader.value->info.expires != NEVER)
		notify_bytes_later(fs, inode);

	pthread_mutex_lock(&fs->nodes->lock);
	h->mapped = h->mapped || h->writes;
	inode->pages = inode->pages == PAGES_NONE || inode->pages == pages
	    ? pages : PAGES_MIXED;
	pthread_mutex_unlock(&fs->nodes->lock);
}
