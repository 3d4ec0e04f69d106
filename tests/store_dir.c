#include "store_dir.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

static char directory[] = "/tmp/cellfs-check-XXXXXX";
static char made[sizeof(directory)];

void
store_dir_make(void)
{
	snprintf(made, sizeof(made), "%s", directory);
	ck_assert_ptr_nonnull(mkdtemp(made));
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void
store_dir_remove(void)
{
	nftw(made, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

const char *
store_dir(void)
{
	return made;
}

const char *
store_dir_path(const char *name)
{
	static char paths[4][512];
	static unsigned turn;
	char *path = paths[turn++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", made, name);
	return path;
}
