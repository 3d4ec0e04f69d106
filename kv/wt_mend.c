#include "wt_mend.h"

#include <errno.h>

#include "why.h"
#include "wt_files.h"

int
wt_mend_salvage(struct wt_pool *pool, uint32_t table)
{
	wt_files_check_blocks(pool->files, false);
	int r = wt_pool_do(pool, WT_SALVAGE, table, "force=true");
	wt_files_check_blocks(pool->files, true);
	if (r)
		return why(EIO, "table %06u is damaged beyond repair", table);
	why(EIO, "table %06u was damaged; what could be read of it was kept",
	    table);
	return 1;
}

int
wt_mend_table(struct wt_pool *pool, uint32_t table)
{
	int r = wt_pool_do(pool, WT_OPEN, table, NULL);

	if (r == -EIO)
		return wt_mend_salvage(pool, table);
	if (r != -ENOENT)
		return r;
	r = wt_pool_do(pool, WT_DROP, table, "force=true");
	if (r)
		return r;
	why(EIO, "%06u.wt is missing: what it had is lost", table);
	return 1;
}
