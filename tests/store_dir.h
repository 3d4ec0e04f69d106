/* store_dir: a fresh directory for each test, gone afterwards. */
#ifndef CELLFS_TESTS_STORE_DIR_H
#define CELLFS_TESTS_STORE_DIR_H

/* A checked fixture: makes it, and removes it with all it holds. */
void
store_dir_make(void);
void
store_dir_remove(void);

/* Its path; valid until it is removed. */
const char *
store_dir(void);

/* The path of name in it; valid until the fourth call after this. */
const char *
store_dir_path(const char *name);

#endif
