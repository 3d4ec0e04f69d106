/* node: what an inode stands for, and what each kind of node can do.
 *
 * The tree is served from tables: a production (parent kind, component ->
 * child kind) is the parent's `parse`, a kind is a row of method pointers in
 * kinds.c plus one file kind_*.c. A missing method has one errno, chosen in
 * node.c and nowhere else. No FUSE here.
 */
#ifndef CELLFS_FS_NODE_H
#define CELLFS_FS_NODE_H

#include <sys/stat.h>

#include "../kv/change.h"
#include "fs.h"
#include "spot.h"

/* Bytes to read: a version held open, a stream, a text made at open. */
struct reader {
	struct value *value;
	struct stream *stream;
	struct buf text;
};

void
reader_release(struct fs *fs, struct reader *r);
/* Up to size bytes at offset: how many, 0 behind the end; as stream_read(). */
int64_t
reader_read(struct fs *fs, struct reader *r, uint64_t offset, void *to,
    size_t size);
uint64_t
reader_size(const struct reader *r);

#define DOT_MINE 1 /* the `mine` of a dot file, which has no timestamp */

/* What a handle wants stored. */
struct storing {
	struct image *image;
	struct content content; /* its append, attrs and fresh */
	int64_t mine;		/* the version it stored before, 0 none; now */
	struct image_tail tail; /* node_draft()'s, as is the source */
	struct source source;
};

/* What stat answers, and how long (seconds) the kernel may believe it, and
 * that the name is there. */
struct look {
	struct stat st;
	double hold, name_hold;
};

/* Where a listing stands, behind an entry; all zeros: in front. Owned. */
struct mark {
	bool started;
	enum level level;
	struct buf name;
	uint64_t parts[4]; /* bit n: the part that covers the first n bytes of
			      name behind the directory's prefix was listed */
};

/* Takes one name of a listing, with what a look at it would say.
 * Returns a list_answer (MORE or STOP: not taken) or a negative errno. */
struct listing {
	int (*take)(struct listing *to, const struct child *child,
	    struct slice name, const struct look *look);
	struct mark *mark; /* moved behind each name that was taken */
};

#define HOLD_LONG 1e6 /* until it is told otherwise */

struct kind_methods {
	const char *name; /* the section of cellfs.5 */
	enum level level;
	bool directory, link; /* what open gives is its target */
	bool read_only;	  /* EROFS for every change */
	bool appends;	  /* O_APPEND is a list of bytes, added at commit */
	bool collects;	  /* what is written is a message, not the content */
	bool loads;	  /* lines for a loader.h */
	bool immediate;	  /* each write that ends a line is stored */
	bool drafted;	  /* stored by a draft of kv_change.h, not by store */
	bool listing_kept; /* by the kernel, where nothing expires */
	double hold;	  /* seconds, for what does not expire */

	int (*parse)(const struct spot *dir, struct slice component,
	    struct child *out);
	int (*find)(struct fs *fs, struct spot *spot, struct look *look);
	int (*list)(struct fs *fs, const struct spot *dir,
	    struct listing *to);
	int (*make)(struct fs *fs, const struct spot *spot,
	    const struct attrs *fresh, int64_t *mine);
	int (*drop)(struct fs *fs, const struct spot *spot);
	int (*set)(struct fs *fs, const struct spot *spot,
	    const struct attrs *attrs);
	int (*open)(struct fs *fs, const struct spot *spot,
	    struct reader *out);
	int (*limit)(struct fs *fs, const struct spot *spot, struct limit *out);
	int (*check)(const struct image *image);
	int (*store)(struct fs *fs, const struct spot *spot,
	    struct storing *how);
};

extern const struct kind_methods kinds[KIND_COUNT];

/* The methods with the defined errno where a kind has none:
 *   parse  what component means in dir; -EINVAL no name, -ENAMETOOLONG
 *   find   looks; may settle a spot's kind (dot file or dot directory). -ENOENT
 *   list   -ENOTDIR
 *   make   creates a file or directory: -EPERM; *mine its version or 0
 *   drop   unlink or rmdir: -EPERM
 *   set    keeps attributes: -EPERM
 *   open   something to read: -EISDIR for directories, else -EPERM
 *   limit  the greatest size it takes: UINT64_MAX
 *   check  whether an image that grows may be stored, as far as is known: 0
 *   store  a handle's image becomes the content: -EPERM
 * A read-only kind answers -EROFS to make, drop, set and store. */
int
node_parse(const struct spot *dir, struct slice component, struct child *out);
int
node_find(struct fs *fs, struct spot *spot, struct look *look);
int
node_list(struct fs *fs, const struct spot *dir, struct listing *to);
int
node_make(struct fs *fs, const struct spot *spot, const struct attrs *fresh,
    int64_t *mine);
int
node_drop(struct fs *fs, const struct spot *spot);
int
node_set(struct fs *fs, const struct spot *spot, const struct attrs *attrs);
int
node_open(struct fs *fs, const struct spot *spot, struct reader *out);
int
node_limit(struct fs *fs, const struct spot *spot, struct limit *out);
int
node_check(enum kind kind, const struct image *image);
int
node_store(struct fs *fs, const struct spot *spot, struct storing *how);

/* The same of a drafted kind: opened. how and spot stay until it is closed. */
int
node_draft(struct fs *fs, const struct spot *spot, struct storing *how,
    struct draft **out);

/* For kinds: what kv knows as a look; and what no table holds, of size bytes. */
void
stat_fill(const struct fs *fs, const struct spot *spot,
    const struct info *info, struct look *look);
void
stat_plain(const struct fs *fs, const struct spot *spot, mode_t mode,
    uint64_t size, struct look *look);

#endif
