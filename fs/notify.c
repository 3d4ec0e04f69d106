#include "notify.h"

#include <errno.h>
#include <stdlib.h>

#include "../kv/why.h"
#include "handle.h"
#include "kept.h"
#include "path.h"
#include "tunnel.h"

/* Something the notifier's thread is to send, an inode's pages or a name; or
 * what is to be done behind all that. */
struct notice {
	struct notice *next;
	struct inode *inode; /* held; NULL: do then */
	struct buf name;     /* of a directory's entry, and a NUL behind it;
				empty: pages */
	void (*then)(void *context);
	void *context;
};

struct notify {
	struct notify_sender sender;
	pthread_t thread;
	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t wake;
	struct notice *first, **last;
	bool sending;
	bool stopping;
};

static void
notice_free(struct fs *fs, struct notice *n)
{
	inode_put(fs, n->inode);
	buf_release(&n->name);
	free(n);
}

/* The next notice, or NULL when the thread is to end. */
static struct notice *
next_notice(struct notify *n)
{
	pthread_mutex_lock(&n->lock);
	n->sending = false;
	while (!n->first && !n->stopping)
		pthread_cond_wait(&n->wake, &n->lock);
	struct notice *notice = n->stopping ? NULL : n->first;
	if (notice) {
		n->sending = true;
		n->first = notice->next;
		if (!n->first)
			n->last = &n->first;
	}
	pthread_mutex_unlock(&n->lock);
	return notice;
}

static void *
run(void *context)
{
	struct fs *fs = context;
	struct notify *n = fs->notify;
	struct notice *notice;

	while ((notice = next_notice(n))) {
		if (!notice->inode)
			notice->then(notice->context);
		else if (notice->name.size)
			n->sender.entry(n->sender.context, notice->inode,
			    (const char *)notice->name.data);
		else
			n->sender.inode(n->sender.context, notice->inode,
			    true);
		notice_free(fs, notice);
	}
	return NULL;
}

int
notify_open(struct fs *fs, const struct notify_sender *sender)
{
	struct notify *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->sender = *sender;
	n->last = &n->first;
	pthread_mutex_init(&n->lock, NULL);
	pthread_cond_init(&n->wake, NULL);
	fs->notify = n;
	int r = pthread_create(&n->thread, NULL, run, fs);
	if (r == 0)
		return 0;
	fs->notify = NULL;
	free(n);
	return -r;
}

void
notify_stop(struct fs *fs)
{
	struct notify *n = fs->notify;

	pthread_mutex_lock(&n->lock);
	bool before = n->stopping;
	n->stopping = true;
	pthread_cond_signal(&n->wake);
	pthread_mutex_unlock(&n->lock);
	if (before)
		return;
	pthread_join(n->thread, NULL);
	while (n->first) { /* nobody else looks at it any more */
		struct notice *notice = n->first;
		n->first = notice->next;
		if (!notice->inode)
			notice->then(notice->context);
		notice_free(fs, notice);
	}
}

void
notify_close(struct fs *fs)
{
	struct notify *n = fs->notify;

	notify_stop(fs);
	pthread_mutex_destroy(&n->lock);
	pthread_cond_destroy(&n->wake);
	free(n);
	fs->notify = NULL;
}

/* Whether the same is to be sent already: so the queue is bounded by what can
 * be told, however long the kernel lets it wait. Locked. */
static bool
queued(const struct notify *n, const struct notice *notice)
{
	struct slice name = buf_slice(&notice->name);

	for (const struct notice *o = n->first; o; o = o->next)
		if (o->inode == notice->inode &&
		    slice_equal(buf_slice(&o->name), name))
			return true;
	return false;
}

/* Locked. */
static void
append(struct notify *n, struct notice *notice)
{
	*n->last = notice;
	n->last = &notice->next;
	pthread_cond_signal(&n->wake);
}

/* Without memory the kernel goes on believing for a while. */
static void
log_lost(struct fs *fs)
{
	journal_line(&fs->journal, "no memory to tell the kernel of a change");
}

/* Queues a notice; takes the hold on inode over. */
static void
queue(struct fs *fs, struct inode *inode, struct slice name)
{
	struct notify *n = fs->notify;
	struct notice *notice = calloc(1, sizeof(*notice));

	if (notice && name.size) {
		buf_append(&notice->name, name);
		buf_byte(&notice->name, 0);
	}
	if (!notice || buf_status(&notice->name) < 0) {
		log_lost(fs);
		inode_put(fs, inode);
		if (notice)
			notice_free(fs, notice);
		return;
	}
	notice->inode = inode;
	pthread_mutex_lock(&n->lock);
	bool needed = !n->stopping && !queued(n, notice);
	if (needed)
		append(n, notice);
	pthread_mutex_unlock(&n->lock);
	if (!needed)
		notice_free(fs, notice);
}

void
notify_after(struct fs *fs, void (*then)(void *context), void *context)
{
	struct notify *n = fs->notify;
	struct notice *notice = NULL;

	pthread_mutex_lock(&n->lock);
	if (!n->stopping && (n->first || n->sending))
		notice = calloc(1, sizeof(*notice));
	if (notice) {
		notice->then = then;
		notice->context = context;
		append(n, notice);
	}
	pthread_mutex_unlock(&n->lock);
	if (!notice)
		then(context);
}

/* The inode of a directory on the way to place, held, or NULL. */
static struct inode *
step(struct fs *fs, struct inode *dir, enum kind kind, struct slice key)
{
	struct inode *inode = inode_below(fs, dir, kind, key);

	inode_put(fs, dir);
	return inode;
}

/* The inode of the directory of parts in which key stands below dir; takes
 * dir's hold over. name becomes the last component. */
static struct inode *
down_parts(struct fs *fs, struct inode *dir, enum name_of of, struct slice key,
    struct buf *name)
{
	enum kind part = of == NAME_OF_ROW ? KIND_ROW_PART : KIND_COLUMN_PART;
	struct slice prefix = slice_text("");
	enum name_form form = FORM_PART;
	size_t size;

	while (dir && path_write(of, prefix, key, name, &form, &size) == 0 &&
	    form == FORM_PART) {
		prefix = slice_head(key, prefix.size + size);
		dir = step(fs, dir, part, prefix);
	}
	return dir;
}

/* The directory of a cell, held, if the kernel knows it; and the cell's name
 * in it. */
static struct inode *
cell_dir(struct fs *fs, const struct place *place, struct buf *name)
{
	struct inode *dir = &fs->nodes->root;

	inode_hold(fs, dir);
	dir = step(fs, dir, KIND_TABLE, place->table);
	dir = down_parts(fs, dir, NAME_OF_ROW, place->row, name);
	if (dir)
		dir = step(fs, dir, KIND_ROW, place->row);
	if (dir)
		dir = step(fs, dir, KIND_FAMILY, place->family);
	return down_parts(fs, dir, NAME_OF_QUALIFIER, place->qualifier, name);
}

/* Dropping pages waits for what fills and empties them: for a READ, whose
 * handler may want names, and for READ and WRITE of what a writer has mapped,
 * whose handlers want the lock of its handle, which the caller may have. */
void
notify_bytes(struct fs *fs, struct inode *inode)
{
	struct notify *n = fs->notify;

	if (!n)
		return;
	if (!handles_write(fs, inode) &&
	    pthread_rwlock_tryrdlock(&fs->nodes->names) == 0) {
		n->sender.inode(n->sender.context, inode, true);
		pthread_rwlock_unlock(&fs->nodes->names);
		return;
	}
	n->sender.inode(n->sender.context, inode, false);
	notify_bytes_later(fs, inode);
}

void
notify_bytes_later(struct fs *fs, struct inode *inode)
{
	if (!fs->notify)
		return;
	inode_hold(fs, inode);
	queue(fs, inode, slice_text(""));
}

void
notify_store(struct fs *fs, struct inode *inode, struct slice bytes)
{
	struct notify *n = fs->notify;

	if (n)
		n->sender.store(n->sender.context, inode, bytes);
}

void
notify_stored(struct fs *fs, struct inode *inode, const struct spot *spot,
    bool cleared)
{
	struct notify *n = fs->notify;

	if (n && cleared)
		n->sender.inode(n->sender.context, inode, false);
	if (spot->kind == KIND_SCHEMA_FILE)
		notify_table(fs, spot->place.table);
	else if (spot->kind == KIND_VERSION || spot->kind == KIND_COUNTER)
		notify_cell(fs, spot);
	else if (kept_changed(fs, inode))
		notify_bytes(fs, inode);
}

void
notify_cell(struct fs *fs, const struct spot *spot)
{
	struct notify *n = fs->notify;
	struct buf name = {0};

	if (!n || (spot->kind != KIND_VERSION && spot->kind != KIND_COUNTER))
		return;
	struct inode *dir = cell_dir(fs, &spot->place, &name);
	if (dir) {
		struct inode *cell = inode_below(fs, dir, KIND_CELL,
		    spot->place.qualifier);
		if (cell) {
			kept_changed(fs, cell);
			notify_bytes(fs, cell);
			inode_put(fs, cell);
		}
		notify_name(fs, dir, buf_slice(&name));
		inode_put(fs, dir);
	}
	buf_release(&name);
}

void
notify_name(struct fs *fs, struct inode *dir, struct slice name)
{
	if (!fs->notify)
		return;
	kept_set_listed(fs, dir, LISTED_OLD);
	notify_listing(fs, dir);
	inode_hold(fs, dir);
	queue(fs, dir, name);
}

void
notify_listing(struct fs *fs, struct inode *dir)
{
	struct notify *n = fs->notify;

	if (n)
		n->sender.inode(n->sender.context, dir, true);
}

void
notify_moved(struct fs *fs, struct inode *inode)
{
	struct notify *n = fs->notify;

	if (!n)
		return;
	pthread_rwlock_rdlock(&fs->nodes->names); /* nothing moves meanwhile */
	for (struct inode *i = inode; i; i = kept_below(fs, inode, i)) {
		bool listed = kept_listed(fs, i) != LISTED_NONE;
		n->sender.inode(n->sender.context, i, listed);
	}
	pthread_rwlock_unlock(&fs->nodes->names);
}

/* Whether inode stands below the table, or may have: what is gone is told,
 * too. */
static bool
is_below(struct fs *fs, struct inode *inode, struct slice table)
{
	struct spot spot = {0};
	bool below = inode_spot(fs, inode, &spot) < 0 ||
	    slice_equal(spot.place.table, table);

	spot_release(&spot);
	return below;
}

/* What is open below a table, and read through what the kernel has kept. */
static void
tell_open(struct fs *fs, struct slice table)
{
	struct inode **inodes;
	size_t count;

	if (kept_open(fs, &inodes, &count) < 0)
		log_lost(fs);
	for (size_t i = 0; i < count; i++) {
		if (!is_below(fs, inodes[i], table))
			continue;
		if (kinds[inodes[i]->kind].directory) {
			notify_listing(fs, inodes[i]);
			continue;
		}
		kept_changed(fs, inodes[i]);
		notify_bytes(fs, inodes[i]);
	}
	for (size_t i = 0; i < count; i++)
		inode_put(fs, inodes[i]);
	free(inodes);
}

void
notify_table(struct fs *fs, struct slice table)
{
	fs->nodes->epoch++;
	tell_open(fs, table);
	notify_name(fs, &fs->nodes->root, table);
}

void
notify_table_gone(struct fs *fs, struct slice table)
{
	struct inode *inode =
	    inode_below(fs, &fs->nodes->root, KIND_TABLE, table);
	const struct stat none = {.st_mode = S_IFDIR};

	if (inode)
		inode_gone(fs, inode, &none);
	inode_put(fs, inode);
	tunnel_clear(fs);
	notify_table(fs, table);
}
