#include "wt_config.h"

#include "wt_files.h"

#define CACHE_WAIT_MS 200
#define CLOSE_IDLE_S 30
#define SESSIONS_MAX 512
#define LEAF_PAGE 32768
#define PAGE_UNIT 4096 /* what page sizes are multiples of */
/* Bytes of a value beside its key, which is all of them. A value that stands
 * apart is read to be removed, and held in memory while a checkpoint runs. */
#define LEAF_VALUE (64 << 20)

void
wt_config_open(
    const char *mode, uint64_t cache, uint64_t log_file, struct buf *out)
{
	buf_printf(out,
	    "%s,cache_size=%llu,cache_max_wait_ms=%d,"
	    "log=(enabled=true,prealloc=false,file_max=%llu),"
	    "transaction_sync=(enabled=true,method=none),"
	    "session_max=%d,statistics=(fast),config_base=false,"
	    "use_environment=false,"
	    "file_manager=(close_idle_time=%d),eviction=(threads_max=4),"
	    "extensions=[" WT_FILES_EXTENSION CELLFS_WT_EXTENSIONS "]",
	    mode, (unsigned long long)cache, CACHE_WAIT_MS,
	    (unsigned long long)log_file, SESSIONS_MAX, CLOSE_IDLE_S);
	buf_byte(out, 0);
}

static uint64_t
page_size(uint32_t asked)
{
	uint64_t size = asked ? asked : LEAF_PAGE;

	return (size + PAGE_UNIT - 1) / PAGE_UNIT * PAGE_UNIT;
}

void
wt_config_table(const struct ordered_table_options *options, struct buf *out)
{
	buf_printf(out,
	    "key_format=u,value_format=u,checksum=on,exclusive=true,"
	    "block_compressor=%s,prefix_compression=%s,cache_resident=%s,"
	    "leaf_page_max=%llu,leaf_value_max=%d",
	    options->compressor, options->prefix_compression ? "true" : "false",
	    options->cache_resident ? "true" : "false",
	    (unsigned long long)page_size(options->leaf_page_max), LEAF_VALUE);
	buf_byte(out, 0);
}
