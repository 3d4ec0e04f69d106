/* tree_kit: a tree over a store in memory, used as the kernel uses it, by
 * paths and as several processes. Without FUSE.
 *
 * Functions that return int give 0 or a negative errno. Texts returned are
 * valid until the eighth call after.
 */
#ifndef CELLFS_TESTS_TREE_KIT_H
#define CELLFS_TESTS_TREE_KIT_H

#include "fs/tree.h"

extern struct fs tree_fs;

/* A checked fixture: an empty store; and one with a table t whose family f
 * keeps a hundred versions, g three. */
void
tree_setup(void);
void
tree_setup_table(void);
void
tree_teardown(void);

/* The processes a request can come from. */
enum who { ALICE, BOB, CAROL, PROCESSES };

/* From now on requests come from this one. ALICE at first. */
void
tree_as(enum who who);

const struct caller *
tree_caller(void);

/* --- open files -------------------------------------------------------------- */

struct file {
	struct inode *inode;
	struct handle *handle;
	uint64_t at; /* where it reads and writes next */
	enum who owner;
};

/* open(2), with mode 0644; flags as there. */
int
tree_open(const char *path, int flags, struct file *out);
int
tree_open_mode(const char *path, int flags, mode_t mode, struct file *out);

int
tree_write(struct file *f, const char *text);

/* What is left to read, up to the end, or "(" errno's words ")". */
const char *
tree_read(struct file *f);

/* A FLUSH from the present process: what close(2) of one descriptor sends. */
int
tree_flush(struct file *f);

/* The last close: FLUSH, then RELEASE. Gives the FLUSH's answer. */
int
tree_close(struct file *f);

/* --- by name ----------------------------------------------------------------- */

/* echo -n text > path, as a shell does it, and >> path. */
int
tree_put(const char *path, const char *text);
int
tree_append(const char *path, const char *text);

/* The whole of a file, or "(" errno's words ")". */
const char *
tree_cat(const char *path);

/* The names in a directory, or the contents of all versions of a cell, newest
 * first: "a b c"; or "(" errno's words ")". */
const char *
tree_list(const char *path);
const char *
tree_history(const char *cell);

/* How many versions a cell has; 0 if it is not there. */
unsigned
tree_versions(const char *cell);

int
tree_stat(const char *path, struct stat *out);
int
tree_chmod(const char *path, mode_t mode);
int
tree_touch(const char *path, int64_t seconds);
int
tree_chown(const char *path, uid_t uid, gid_t gid);
int
tree_truncate(const char *path, uint64_t size);
int
tree_mkdir_path(const char *path, mode_t mode);
int
tree_unlink(const char *path);
int
tree_rmdir(const char *path);
int
tree_move(const char *from, const char *to);

/* With RENAME_NOREPLACE; with RENAME_EXCHANGE. */
int
tree_move_new(const char *from, const char *to);
int
tree_exchange(const char *from, const char *to);

/* The value of user.cellfs.NAME, or "(" errno's words ")". */
const char *
tree_attribute(const char *path, const char *name);

/* --- the store beneath -------------------------------------------------------- */

/* From now on the count-th call of the store in memory fails, and all after it;
 * error 0 ends it. */
void
tree_fail(int error, unsigned count);

/* --- what the kernel was told ------------------------------------------------ */

/* Waits until the notices so far are sent, and gives them, in order, then
 * forgets them: "entry q; attr q; data q". Directories by their key. */
const char *
tree_notices(void);

#endif
