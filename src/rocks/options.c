// How RocksDB is set up, each setting with its reason; ADR 005 has the measurements.
//
// The aims, in this order: nothing acknowledged is lost; memory, files and
// background work are bounded (an unbounded run stalls when it must catch up);
// point reads of hot items touch no disk and little memory; an idle server is small.
#include "rocks/options.h"

#include "rocks/extras.h"

#include <sys/resource.h>
#include <unistd.h>

enum {
    MEGABYTE = 1 << 20,
    DICTIONARY = 4 << 10,
    LEVEL_DEFAULT = 32767, // of compression: what the method thinks best
    CACHE_MIN = 64 * MEGABYTE,
    CACHE_MAX = 1024 * MEGABYTE,
    WRITE_BUFFER_DEFAULT = ROCKS_MEMTABLES * 80 * MEGABYTE,
    WRITE_BUFFER_MIN = ROCKS_MEMTABLES * MEGABYTE,
    BLOCK_BYTES = 4 << 10,
    SEGMENT_MIN = 32 * MEGABYTE, // by default it is twice that
    OPEN_FILES_MIN = 256,
    OPEN_FILES_MAX = 1 << 16,
    CACHE_SHARD_BITS = 4,
    METADATA_PINNED_MIN = 1024 * MEGABYTE, // of cache
    PACE_STEP_US = 10000,
    PACE_FAIRNESS = 10, // RocksDB's own: one in ten turns is a merge's although a flush waits
};

// Index and filter blocks are charged to the cache, and pinned in a large one: a read finds them
// without a search, so its cost does not grow with the levels. They take about 10 bytes an item of
// 1 KB, and what they take is not there for data blocks. In a small cache they would soon have all
// the room and more: there they come in pieces, which stay as long as they are used, for one more
// search in a read.
static void set_metadata(rocksdb_block_based_table_options_t *table, size_t cache_bytes)
{
    bool pinned = cache_bytes >= METADATA_PINNED_MIN;
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(table, 1);
    rocks_pin_metadata(table, pinned);
    if (pinned)
        return;
    rocksdb_block_based_options_set_index_type(
        table, rocksdb_block_based_table_index_type_two_level_index_search);
    rocksdb_block_based_options_set_partition_filters(table, 1);
}

// Tables of 4 KB blocks: about four items of 1 KB. A read that misses the cache must check all of a
// block for the one item it wants; smaller blocks would make the index, about 30 bytes for each,
// crowd the cache.
static void set_table(rocksdb_options_t *set, size_t cache_bytes)
{
    rocksdb_lru_cache_options_t *lru = rocksdb_lru_cache_options_create();
    rocksdb_lru_cache_options_set_capacity(lru, cache_bytes);
    // 16 shards: at 64 MB each still has room for the largest item's block and a filter.
    rocksdb_lru_cache_options_set_num_shard_bits(lru, CACHE_SHARD_BITS);
    rocksdb_cache_t *cache = rocksdb_cache_create_lru_opts(lru);
    rocksdb_lru_cache_options_destroy(lru);

    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_cache_destroy(cache); // the table options have a reference of their own
    rocksdb_block_based_options_set_block_size(table, BLOCK_BYTES);
    rocksdb_block_based_options_set_format_version(table, 5);
    // Full filters over whole keys, 10 bits each: 1 % false positives. A put reads the old item
    // first, which is often absent, so filters stay on the last level too. The table options
    // take over the policy.
    rocksdb_block_based_options_set_filter_policy(table,
                                                  rocksdb_filterpolicy_create_bloom_full(10));
    rocksdb_block_based_options_set_whole_key_filtering(table, 1);
    set_metadata(table, cache_bytes);
    // A point read finds its key in a block by hash instead of by binary search.
    rocksdb_block_based_options_set_data_block_index_type(
        table, rocksdb_block_based_table_data_block_index_type_binary_search_and_hash);
    rocksdb_block_based_options_set_data_block_hash_ratio(table, 0.75);
    rocksdb_options_set_block_based_table_factory(set, table);
    rocksdb_block_based_options_destroy(table);
}

// Three memtables: one that is written, one that is flushed, one in reserve. A memtable holds a
// segment of the log (rocks_segment_bytes), so that each segment becomes one table of level 0.
// Small tables there would be merged into the next level too often: 40 instead of 80 MB write a
// quarter more bytes in all, and larger ones are longer to replay (ADR 014).
static void set_memory(rocksdb_options_t *set, size_t write_buffer_bytes)
{
    // A list of our own: inserting is three quarters of a commit in RocksDB's (ADR 007).
    rocks_use_our_memtable(set);
    rocksdb_options_set_write_buffer_size(set, write_buffer_bytes / ROCKS_MEMTABLES);
    rocksdb_options_set_max_write_buffer_number(set, ROCKS_MEMTABLES_MOST);
    rocksdb_options_set_db_write_buffer_size(set, write_buffer_bytes);
    // A filter in front of each memtable (2 % of its size) spares an absent key the search there.
    rocksdb_options_set_memtable_prefix_bloom_size_ratio(set, 0.02);
    rocksdb_options_set_memtable_whole_key_filtering(set, 1);
}

// LZ4 on all levels: every byte is written five to seven times, so that what compressing takes is
// less than what writing takes, and half of the disk is saved. A read that misses the cache pays
// for it with a tenth (ADR 014). What does not compress is stored as it is.
// Blocks are small, and find little in themselves to refer to: a table of the last level has a
// dictionary, drawn from its first blocks. To compress a block takes three times as long with it,
// so tables that will soon be merged have none.
// The base level is twice what four tables of level 0 bring at once, so that about two of its bytes
// are rewritten for one that arrives.
static void set_levels(rocksdb_options_t *set, size_t segment_bytes)
{
    rocksdb_options_set_compression(set, rocksdb_lz4_compression);
    rocksdb_options_set_bottommost_compression_options(set, -14, LEVEL_DEFAULT, 0, DICTIONARY, 1);
    rocksdb_options_set_bottommost_compression_options_max_dict_buffer_bytes(set, 4 * MEGABYTE, 1);
    rocksdb_options_set_num_levels(set, ROCKS_LEVELS);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(set, 1);
    rocksdb_options_set_max_bytes_for_level_base(set, 8 * segment_bytes);
    rocksdb_options_set_target_file_size_base(set, 32 * MEGABYTE);
    rocksdb_options_set_max_background_jobs(set, 2);
}

// A new table is handed to the disk piece by piece, each when the one before is there
// (rocks_set_rest), and at an even pace as soon as the store is open (rocks_keep_pace). What comes
// in a burst would hold up the log's sync, and with it all who write, for 0.2 s.
static void set_pace(rocksdb_options_t *set)
{
    rocksdb_ratelimiter_t *pace =
        rocksdb_ratelimiter_create(ROCKS_PACE_FULL, PACE_STEP_US, PACE_FAIRNESS);
    rocksdb_options_set_ratelimiter(set, pace);
    rocksdb_ratelimiter_destroy(pace); // the options have a reference of their own
    rocksdb_options_set_bytes_per_sync(set, MEGABYTE);
}

// Its log is off (ADR 004), so tables are all that RocksDB syncs, and what it reads is checked.
static void set_safety(rocksdb_options_t *set)
{
    rocksdb_options_set_use_fsync(set, 0); // that is: use fdatasync
    rocksdb_options_set_paranoid_checks(set, 1);
}

// Opening a table anew is dear for a read, so all stay open if that leaves
// half of the process's descriptors to the connections.
static int open_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 2 <= OPEN_FILES_MIN)
        return OPEN_FILES_MIN;
    return limit.rlim_cur / 2 < OPEN_FILES_MAX ? (int)(limit.rlim_cur / 2) : OPEN_FILES_MAX;
}

static void set_housekeeping(rocksdb_options_t *set, struct rocks_files *files)
{
    rocks_read_patiently(set, files);
    rocks_set_rest(set);
    rocksdb_options_set_max_manifest_file_size(set, 4 * MEGABYTE);
    // By default it takes 4 MB ahead, at each start: on a full disk the last.
    rocksdb_options_set_manifest_preallocation_size(set, 4 << 10);
    rocksdb_options_set_max_open_files(set, open_files());
    // Tables go when they are merged. It would also look for others now and then, and remove them.
    rocksdb_options_set_delete_obsolete_files_period_micros(set, UINT64_MAX / 2);
    rocksdb_options_set_stats_dump_period_sec(set, 0);
    rocksdb_options_set_stats_persist_period_sec(set, 0);
    rocksdb_options_set_skip_stats_update_on_db_open(set, 1);
    // Closing an iterator may be what frees an obsolete file: leave the unlink to a background
    // thread instead of the reader.
    rocksdb_options_set_avoid_unnecessary_blocking_io(set, 1);
    rocksdb_options_set_allow_mmap_reads(set, 0);
    rocksdb_options_set_allow_mmap_writes(set, 0);
}

// The cache is filled only by use, so an idle server stays small; a busy one may take an eighth of
// the machine's memory. Too small a cache is dear: a miss costs as much as four hits.
static size_t cache_default(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    size_t share = pages > 0 && page > 0 ? (size_t)pages / 8 * (size_t)page : 0;
    if (share < CACHE_MIN)
        return CACHE_MIN;
    return share < CACHE_MAX ? share : CACHE_MAX;
}

static size_t write_buffers(const struct store_options *options)
{
    if (options->write_buffer_bytes == 0)
        return WRITE_BUFFER_DEFAULT;
    return options->write_buffer_bytes < WRITE_BUFFER_MIN ? WRITE_BUFFER_MIN
                                                          : options->write_buffer_bytes;
}

size_t rocks_memtable_bytes(const struct store_options *options)
{
    return write_buffers(options) / ROCKS_MEMTABLES;
}

// A memtable takes a quarter more than the log for the same data.
size_t rocks_segment_bytes(const struct store_options *options)
{
    size_t fits = rocks_memtable_bytes(options) / 5 * 4;
    return fits < SEGMENT_MIN ? SEGMENT_MIN : fits;
}

rocksdb_options_t *rocks_options_new(const struct store_options *options, struct rocks_files *files)
{
    size_t cache = options->cache_bytes == 0 ? cache_default() : options->cache_bytes;
    rocksdb_options_t *set = rocksdb_options_create();
    ensure_memory(set);
    rocksdb_options_set_create_if_missing(set, 1);
    set_table(set, cache);
    set_memory(set, write_buffers(options));
    set_levels(set, rocks_segment_bytes(options));
    set_pace(set);
    set_safety(set);
    set_housekeeping(set, files);
    rocksdb_options_set_disable_auto_compactions(set, options->passive);
    return set;
}
