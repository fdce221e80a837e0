// Tables that cannot be read here and there, because bytes were damaged or are not in memory: what
// a cursor passes over without a word would be lost to queries, backups and merges.
//
// This executable has its own preadv2, in front of the C library's, so that it decides what the
// kernel has in memory.
#include "rocks/fixture.h"

#include "base/wait.h"
#include "salvage/look.h"
#include "salvage/salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <semaphore.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

enum {
    KEYS = 20000, // ten tables and more, all but the last few in one level
    VALUE = 1000,
    TABLES_MAX = 64,
    SETTLE_MS = 60000,
};

// How often reading goes on in another file until that fails; negative: it never does.
static int crossings_left;
static int last_file;

ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    assert_int_equal(flags, RWF_NOWAIT);
    assert_int_equal(count, 1);
    if (fd != last_file && crossings_left >= 0 && crossings_left-- == 0) {
        errno = EAGAIN;
        return -1;
    }
    last_file = fd;
    return pread(fd, parts[0].iov_base, parts[0].iov_len, offset);
}

static int set_up(void **state)
{
    static char path[256];
    temp_dir_make(path);
    crossings_left = -1;
    *state = path;
    return 0;
}

static int tear_down(void **state)
{
    store_wait_for_disk(true);
    temp_dir_remove(*state);
    return 0;
}

// ---- A store of several tables ------------------------------------------------------------------

// Damage is looked for here; it need not be in the log.
static void keep_silent(void *context, const char *text)
{
    (void)context;
    assert_non_null(strstr(text, "Corruption"));
}

// With small buffers, and a cache that holds little more than the indexes of the tables.
static struct store *open_small(const char *path)
{
    struct store_error error;
    struct store_options options = {.path = path,
                                    .durability = STORE_RELAXED,
                                    .cache_bytes = 1 << 20,
                                    .write_buffer_bytes = 3 << 20};
    struct store *store = store_open_rocksdb(&options, &error);
    if (store == NULL)
        fail_msg("%s", error.text);
    static const struct store_watch watch = {.damaged = keep_silent};
    store_set_watch(store, &watch);
    return store;
}

static struct slice key_of(char text[16], unsigned number)
{
    (void)snprintf(text, 16, "k%05u", number);
    return slice_str(text);
}

static unsigned number_of(struct slice key)
{
    char text[16] = {0};
    assert_int_equal(key.len, 6);
    memcpy(text, key.ptr, key.len);
    return (unsigned)strtoul(text + 1, NULL, 10);
}

// Puts so many keys. With a stride of 1 they are in order: each memtable becomes a table behind the
// one before, which need not be merged.
static void put_keys(struct store *store, unsigned count, unsigned stride)
{
    uint64_t value[VALUE / sizeof(uint64_t)];
    uint64_t seed = stride;
    struct store_batch *batch = store_batch_new();
    for (unsigned i = 0; i < count; i++) {
        char text[16];
        for (size_t k = 0; k < COUNT_OF(value); k++)
            value[k] = random_next(&seed);
        store_batch_put(batch, key_of(text, i * stride % KEYS), slice_of(value, sizeof(value)));
        if (i % 100 == 99)
            commit(store, batch);
    }
    commit(store, batch);
    store_batch_free(batch);
}

struct tables {
    size_t count;
    char paths[TABLES_MAX][512];
};

static bool note_table(void *context, const char *path, const char *fault)
{
    assert_null(fault);
    struct tables *tables = context;
    assert_true(tables->count < TABLES_MAX);
    (void)snprintf(tables->paths[tables->count++], sizeof(tables->paths[0]), "%s", path);
    return true;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(a, b);
}

// Makes the store, closes it, and tells its tables, which are in the order of their keys.
static struct tables make_tables(const char *path)
{
    struct tables tables = {.count = 0};
    struct store *store = open_small(path);
    put_keys(store, KEYS, 1);
    assert_true(store_settle(store, SETTLE_MS));
    store_check_tables(store, note_table, &tables);
    store_close(store);
    qsort(tables.paths, tables.count, sizeof(tables.paths[0]), compare_paths);
    assert_in_range(tables.count, 6, TABLES_MAX);
    return tables;
}

// Another byte at a place of a file, counted from its begin or (negative) in percent of it.
static void damage(const char *path, long at)
{
    struct stat status;
    char byte;
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0 && fstat(fd, &status) == 0);
    off_t place = at >= 0 ? at : status.st_size / 100 * -at;
    assert_int_equal(pread(fd, &byte, 1, place), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(fd, &byte, 1, place), 1);
    assert_int_equal(close(fd), 0);
}

// ---- Reading it ---------------------------------------------------------------------------------

static struct store_cursor *open_all(struct store *store)
{
    return store_cursor_open(store, NULL, slice_of(NULL, 0), slice_of(NULL, 0));
}

// Walks from one end as far as it goes, and nothing is left out on the way. Returns the number of
// keys; `error` says why the cursor stopped, if it was not for the end.
static unsigned walk(struct store *store, bool backwards, bool *ok, struct store_error *error)
{
    struct store_cursor *cursor = open_all(store);
    unsigned count = 0;
    backwards ? store_cursor_last(cursor) : store_cursor_first(cursor);
    for (; store_cursor_valid(cursor); count++) {
        unsigned expected = backwards ? KEYS - 1 - count : count;
        assert_int_equal(number_of(store_cursor_key(cursor)), expected);
        backwards ? store_cursor_prev(cursor) : store_cursor_next(cursor);
    }
    *ok = store_cursor_ok(cursor, error);
    store_cursor_close(cursor);
    if (*ok)
        assert_int_equal(count, KEYS);
    return count;
}

static bool can_get(struct store *store, unsigned number)
{
    char text[16];
    struct store_value value;
    struct store_error error;
    enum store_result result = store_get(store, NULL, key_of(text, number), &value, &error);
    assert_int_not_equal(result, STORE_ABSENT);
    if (result == STORE_FOUND)
        store_value_release(store, &value);
    else
        assert_true(error.damaged);
    return result == STORE_FOUND;
}

// A seek finds its key, or fails; either way it does not find another one.
static bool can_seek(struct store *store, unsigned number, bool before)
{
    char text[16];
    struct store_error error;
    struct store_cursor *cursor = open_all(store);
    struct slice key = key_of(text, number);
    before ? store_cursor_seek_before(cursor, key) : store_cursor_seek(cursor, key);
    bool found = store_cursor_valid(cursor);
    if (found)
        assert_int_equal(number_of(store_cursor_key(cursor)), number);
    else
        assert_true(!store_cursor_ok(cursor, &error) && error.damaged);
    store_cursor_close(cursor);
    return found;
}

// How many keys cannot be read, each of them and all around it being tried in every way. A cursor
// that goes backwards knows that it has the newest version of a key when it has seen the key before
// that: it does not stand right behind what cannot be read.
static unsigned count_unreadable(struct store *store)
{
    unsigned count = 0;
    bool found_before = true;
    for (unsigned i = 0; i < KEYS; i++) {
        bool found = can_get(store, i);
        count += !found;
        if (!found || !found_before || i % 100 == 0) {
            assert_int_equal(can_seek(store, i, false), found);
            assert_int_equal(can_seek(store, i, true), found && found_before);
        }
        found_before = found;
    }
    return count;
}

// ---- The tests ----------------------------------------------------------------------------------

// Whichever block of whichever table is damaged: the first and the last ones are where a cursor
// comes from another table.
static void test_damage_ends_a_cursor(void **state)
{
    static const long places[] = {100, -50, -97};
    struct tables tables = make_tables(*state);
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        struct store_error error;
        bool ok;
        damage(tables.paths[1], places[i]);
        struct store *store = open_small(*state);
        unsigned ahead = walk(store, false, &ok, &error);
        assert_true(!ok && error.damaged);
        unsigned behind = walk(store, true, &ok, &error);
        assert_true(!ok && error.damaged);
        assert_in_range(count_unreadable(store), 1, 10);
        assert_in_range(KEYS - ahead - behind, 1, 10);
        store_close(store);
        damage(tables.paths[1], places[i]); // back
    }
}

static void test_emptied_table_ends_a_cursor(void **state)
{
    struct tables tables = make_tables(*state);
    struct store *store = open_small(*state);
    struct store_error error;
    bool ok;
    struct stat status;
    assert_int_equal(walk(store, false, &ok, &error), KEYS);
    assert_true(ok);
    assert_int_equal(stat(tables.paths[2], &status), 0);
    assert_int_equal(truncate(tables.paths[2], 0), 0);
    unsigned ahead = walk(store, false, &ok, &error);
    assert_true(!ok && error.damaged);
    unsigned behind = walk(store, true, &ok, &error);
    assert_true(!ok && error.damaged);
    // Two tables are before it, three and more behind; it alone is lost.
    assert_in_range(ahead, 1000, KEYS - 3000);
    assert_in_range(behind, 2000, KEYS - ahead - 1);
    assert_in_range(KEYS - ahead - behind, 1, status.st_size / VALUE);
    store_close(store);
}

// A walk ends cold at whatever table is not in memory.
static int count_cold_walks(struct store *store, bool backwards)
{
    struct store_error error;
    bool ok = false;
    int walks = 0;
    for (; !ok; walks++) {
        crossings_left = walks;
        last_file = -1;
        unsigned count = walk(store, backwards, &ok, &error);
        assert_true(count == KEYS ? ok : !ok && error.cold);
    }
    return walks;
}

static void test_cold_ends_a_cursor(void **state)
{
    struct tables tables = make_tables(*state);
    struct store *store = open_small(*state);
    struct store_error error;
    bool ok;
    store_wait_for_disk(false);
    assert_in_range(count_cold_walks(store, false), tables.count, KEYS);
    assert_in_range(count_cold_walks(store, true), tables.count, KEYS);
    // One that may wait goes all the way.
    crossings_left = 0;
    store_wait_for_disk(true);
    assert_int_equal(walk(store, false, &ok, &error), KEYS);
    assert_true(ok);
    store_close(store);
}

static void note_damage(void *context, const char *text)
{
    if (strstr(text, "compacting") != NULL)
        assert_int_equal(sem_post(context), 0);
}

// Merging tables one of which is damaged fails, is told, and takes nothing away.
static void test_damage_stops_a_merge(void **state)
{
    struct tables tables = make_tables(*state);
    struct timespec deadline;
    sem_t told;
    assert_int_equal(sem_init(&told, 0, 0), 0);
    struct store_watch watch = {.damaged = note_damage, .context = &told};
    damage(tables.paths[1], 100);
    struct store *store = open_small(*state);
    unsigned unreadable = count_unreadable(store);
    store_set_watch(store, &watch);
    // All over the tables, so that these have to be merged; and enough for several new ones, even
    // if a slow disk makes one of all memtables.
    for (int i = 0; i < 4; i++)
        put_keys(store, KEYS / 3, 7919);
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &deadline), 0);
    deadline.tv_sec += SETTLE_MS / 1000;
    assert_int_equal(sem_timedwait(&told, &deadline), 0);
    assert_int_equal(access(tables.paths[1], F_OK), 0);
    store_close(store);
    store = open_small(*state);
    assert_in_range(count_unreadable(store), 1, unreadable);
    store_close(store);
    assert_int_equal(access(tables.paths[1], F_OK), 0);
    assert_int_equal(sem_destroy(&told), 0);
}

// ---- Salvaging ----------------------------------------------------------------------------------

static void ignore_progress(void *context, uint64_t keys)
{
    (void)context;
    (void)keys;
}

// What can be read of the store, in memory. `out` is to be released.
static struct store *salvage(const char *path, struct salvage *out)
{
    struct store_error error;
    struct look look;
    struct store *to = store_open_memory(&error);
    if (!look_open(&look, path, NULL, NULL, &error) ||
        !salvage_run(&look, to, out, ignore_progress, NULL, &error))
        fail_msg("%s", error.text);
    look_close(&look);
    return to;
}

static void test_salvage_loses_no_more_than_a_block(void **state)
{
    static const long places[] = {100, -50, -90};
    struct salvage out;
    struct tables tables = make_tables(*state);
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        damage(tables.paths[1], places[i]);
        struct store *found = salvage(*state, &out);
        assert_int_equal(out.file_count, 1);
        assert_int_equal(out.range_count, 1);
        assert_in_range(KEYS - out.keys, 1, 10);
        for (unsigned k = number_of(out.ranges[0].from) + 1; k < number_of(out.ranges[0].to); k++) {
            char text[16];
            expect_slice(found, NULL, key_of(text, k), NULL);
            out.keys++;
        }
        assert_int_equal(out.keys, KEYS);
        store_close(found);
        salvage_release(&out);
        damage(tables.paths[1], places[i]); // back
    }
}

static void copy_with_all(const char *from, const char *to)
{
    char *const arguments[] = {(char[]){"cp"}, (char[]){"-a"}, (char *)from, (char *)to, NULL};
    pid_t child;
    int status;
    assert_int_equal(posix_spawnp(&child, "cp", NULL, NULL, arguments, NULL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

// Where a table is damaged, tables that are not in the list any more may have its keys: of before a
// merge and of after it, which are the same versions of the same keys.
static void test_salvage_reads_what_stands_twice(void **state)
{
    struct salvage out;
    char copy[512];
    struct tables tables = make_tables(*state);
    for (unsigned number = 9998; number <= 9999; number++) {
        (void)snprintf(copy, sizeof(copy), "%s/db/%06u.sst", (const char *)*state, number);
        copy_with_all(tables.paths[1], copy);
    }
    damage(tables.paths[1], 100);
    struct store *found = salvage(*state, &out);
    assert_int_equal(out.range_count, 1);
    assert_in_range(out.ranges[0].others, 1, 10);
    assert_int_equal(out.keys, KEYS);
    store_close(found);
    salvage_release(&out);
}

// Two tables under each other's names are all there; the log goes on above both.
static void test_salvage_puts_tables_back(void **state)
{
    struct salvage out;
    char aside[300];
    struct tables tables = make_tables(*state);
    (void)snprintf(aside, sizeof(aside), "%s/aside", (const char *)*state);
    assert_int_equal(rename(tables.paths[1], aside), 0);
    assert_int_equal(rename(tables.paths[3], tables.paths[1]), 0);
    assert_int_equal(rename(aside, tables.paths[3]), 0);
    struct store *found = salvage(*state, &out);
    assert_int_equal(out.keys, KEYS);
    assert_int_equal(out.range_count + out.file_count, 0);
    store_close(found);
    salvage_release(&out);
}

// A table that stands where another was is not taken for it, and what is gone is told.
static void test_salvage_tells_of_a_copy(void **state)
{
    struct salvage out;
    struct tables tables = make_tables(*state);
    assert_int_equal(unlink(tables.paths[1]), 0);
    copy_with_all(tables.paths[3], tables.paths[1]);
    struct store *found = salvage(*state, &out);
    assert_in_range(out.file_count, 1, 2);
    assert_string_equal(out.files[0].name, strrchr(tables.paths[1], '/') + 1);
    assert_non_null(strstr(out.files[0].fault, strrchr(tables.paths[3], '/') + 1));
    assert_true(out.keys < KEYS);
    assert_true(out.range_count >= 1);
    for (unsigned k = 0; k < KEYS; k++) {
        char text[16];
        struct store_value value;
        struct store_error error;
        struct slice key = key_of(text, k);
        bool told = false;
        for (size_t i = 0; i < out.range_count; i++)
            told =
                told || (slice_compare(key, out.ranges[i].from) >= 0 &&
                         (out.ranges[i].to.len == 0 || slice_compare(key, out.ranges[i].to) < 0));
        enum store_result result = store_get(found, NULL, key, &value, &error);
        assert_true(result == STORE_FOUND || told);
        if (result == STORE_FOUND)
            store_value_release(found, &value);
    }
    store_close(found);
    salvage_release(&out);
}

// A table of another database, under the same name.
static void test_salvage_takes_nothing_foreign(void **state)
{
    struct salvage out;
    struct tables others = {.count = 0};
    char other[300];
    struct tables tables = make_tables(*state);
    (void)snprintf(other, sizeof(other), "%s.other", (const char *)*state);
    assert_int_equal(mkdir(other, 0700), 0);
    struct store *store = open_small(other);
    put_keys(store, KEYS, 7919);
    assert_true(store_settle(store, SETTLE_MS));
    store_check_tables(store, note_table, &others);
    store_close(store);
    assert_true(others.count > 0);
    assert_int_equal(unlink(tables.paths[1]), 0);
    copy_with_all(others.paths[0], tables.paths[1]);
    struct store *found = salvage(*state, &out);
    assert_true(out.file_count > 0 && out.range_count > 0);
    uint64_t seed = 1; // of put_keys()
    for (unsigned k = 0; k < KEYS; k++) {
        char text[16];
        uint64_t value[VALUE / sizeof(uint64_t)];
        struct store_value there;
        struct store_error error;
        for (size_t i = 0; i < COUNT_OF(value); i++)
            value[i] = random_next(&seed);
        if (store_get(found, NULL, key_of(text, k), &there, &error) == STORE_FOUND) {
            assert_memory_equal(there.bytes.ptr, value, sizeof(value));
            store_value_release(found, &there);
        }
    }
    store_close(found);
    salvage_release(&out);
    temp_dir_remove(other);
}

// Opening begins a new list of tables, and a thread of RocksDB's removes the old one a moment
// later: that must not happen while the directory is copied.
static void wait_for_one_list(const char *path)
{
    char pattern[300];
    size_t lists = 0;
    (void)snprintf(pattern, sizeof(pattern), "%s/db/MANIFEST-*", path);
    for (int i = 0; i < SETTLE_MS && lists != 1; i++) {
        glob_t found;
        assert_int_equal(glob(pattern, 0, NULL, &found), 0);
        lists = found.gl_pathc;
        globfree(&found);
        sleep_ms(1);
    }
    assert_int_equal(lists, 1);
}

// The deletion is in the log alone when the process dies.
static void test_salvage_brings_nothing_back(void **state)
{
    struct salvage out;
    char copy[300];
    (void)make_tables(*state);
    struct store *store = open_small(*state);
    wait_for_one_list(*state);
    struct store_batch *batch = store_batch_new();
    store_batch_delete_range(batch, SLICE_LIT("k05000"), SLICE_LIT("k15000"));
    commit(store, batch);
    store_batch_free(batch);
    // As a crash would leave it: closing would flush.
    (void)snprintf(copy, sizeof(copy), "%s.copy", (const char *)*state);
    copy_with_all(*state, copy);
    store_close(store);
    struct store *found = salvage(copy, &out);
    assert_int_equal(out.keys, KEYS - 10000);
    assert_int_equal(out.range_count + out.file_count, 0);
    expect(found, NULL, "k05000", NULL);
    store_close(found);
    salvage_release(&out);
    temp_dir_remove(copy);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_damage_ends_a_cursor),
        TEST(test_emptied_table_ends_a_cursor),
        TEST(test_cold_ends_a_cursor),
        TEST(test_damage_stops_a_merge),
        TEST(test_salvage_loses_no_more_than_a_block),
        TEST(test_salvage_reads_what_stands_twice),
        TEST(test_salvage_puts_tables_back),
        TEST(test_salvage_tells_of_a_copy),
        TEST(test_salvage_takes_nothing_foreign),
        TEST(test_salvage_brings_nothing_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
