// What only the RocksDB driver promises: data survives a close, a directory has one
// owner and one format, and a commit is on disk before anybody sees it.
//
// This executable has its own fdatasync, in front of the C library's: it counts
// the calls, and can refuse them or hold them back.
#include "directory.h"
#include "rocks/rocks_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum sync_mode { SYNC_REAL, SYNC_FAILS, SYNC_FAILS_FOR_TABLES, SYNC_HELD };
static atomic_int sync_mode;
static atomic_int sync_calls;
static atomic_int sync_waiting;

static bool is_table(int fd)
{
    char link[64];
    char name[512] = "";
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, sizeof(name) - 1);
    return length > 4 && strstr(name, ".sst") != NULL;
}

int fdatasync(int fd)
{
    atomic_fetch_add(&sync_calls, 1);
    atomic_fetch_add(&sync_waiting, 1);
    while (atomic_load(&sync_mode) == SYNC_HELD)
        usleep(100);
    atomic_fetch_sub(&sync_waiting, 1);
    int mode = atomic_load(&sync_mode);
    if (mode == SYNC_FAILS || (mode == SYNC_FAILS_FOR_TABLES && is_table(fd))) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

static atomic_int pieces;          // of files that were handed to the disk
static atomic_int pieces_unwaited; // although the one before may not have been there

int sync_file_range(int fd, off_t offset, off_t count, unsigned flags)
{
    if (flags != 0) // RocksDB asks so whether there is such a call
        atomic_fetch_add(&pieces, 1);
    if ((flags & SYNC_FILE_RANGE_WRITE) != 0 && (flags & SYNC_FILE_RANGE_WAIT_BEFORE) == 0)
        atomic_fetch_add(&pieces_unwaited, 1);
    return (int)syscall(SYS_sync_file_range, fd, offset, count, flags);
}

static int set_up(void **state)
{
    char *path = malloc(256);
    temp_dir_make(path);
    atomic_store(&sync_mode, SYNC_REAL);
    *state = path;
    return 0;
}

static int tear_down(void **state)
{
    temp_dir_remove(*state);
    free(*state);
    return 0;
}

// ---- The directory --------------------------------------------------------------

static void test_reopen(void **state)
{
    const enum store_durability kinds[] = {STORE_FULL, STORE_RELAXED};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct store *store = open_rocksdb(*state, kinds[i]);
        put_now(store, "key", "value");
        put_now(store, i == 0 ? "full" : "relaxed", "yes");
        store_close(store);
    }
    struct store *store = open_rocksdb(*state, STORE_FULL);
    expect(store, NULL, "key", "value");
    expect(store, NULL, "full", "yes");
    expect(store, NULL, "relaxed", "yes");
    store_close(store);
    assert_true(file_exists(*state, "FORMAT"));
    assert_true(file_exists(*state, "db/CURRENT"));
}

static void test_missing_directories_are_made(void **state)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/a/b//c/", (char *)*state);
    struct store *store = open_rocksdb(path, STORE_FULL);
    put_now(store, "key", "value");
    store_close(store);
    assert_true(file_exists(*state, "a/b/c/FORMAT"));
    write_file(*state, "file", "");
    (void)snprintf(path, sizeof(path), "%s/file", (char *)*state);
    expect_refusal(path, "Not a directory", false);
    (void)snprintf(path, sizeof(path), "%s/file/below", (char *)*state);
    expect_refusal(path, "Not a directory", false);
    expect_refusal("", "the path of the data directory is empty", false);
}

static void test_in_use_in_this_process(void **state)
{
    char text[512];
    struct store *store = open_rocksdb(*state, STORE_FULL);
    (void)snprintf(text, sizeof(text), "the directory %s is in use by another process",
                   (char *)*state);
    expect_refusal(*state, text, true);
    put_now(store, "still", "works");
    store_close(store);
    store = open_rocksdb(*state, STORE_FULL);
    expect(store, NULL, "still", "works");
    store_close(store);
}

// Another process holds the directory, commits, and is killed: what it committed is there. This
// is the first test, because a process with threads (RocksDB keeps some) should not fork.
static void test_in_use_then_killed(void **state)
{
    int channel[2];
    assert_int_equal(pipe(channel), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)close(channel[0]);
        struct store *store = open_rocksdb(*state, STORE_FULL);
        put_now(store, "committed", "yes");
        if (write(channel[1], "!", 1) != 1)
            _exit(1);
        while (true)
            pause();
    }
    char byte;
    (void)close(channel[1]);
    assert_int_equal(read(channel[0], &byte, 1), 1);
    expect_refusal(*state, "in use by another process", true);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    (void)close(channel[0]);
    struct store *store = open_rocksdb(*state, STORE_FULL);
    expect(store, NULL, "committed", "yes");
    store_close(store);
}

static void test_newer_format_is_refused(void **state)
{
    write_file(*state, "FORMAT", "dolmen format 6\n");
    expect_refusal(*state, "newer dolmen (format 6; this one reads up to format 5)", false);
    assert_false(file_exists(*state, "db"));
    static const char *const broken[] = {"",
                                         "dolmen",
                                         "dolmen format 0\n",
                                         "dolmen format 1",
                                         "dolmen format 1\nmore",
                                         "dolmen format x\n"};
    for (size_t i = 0; i < COUNT_OF(broken); i++) {
        write_file(*state, "FORMAT", broken[i]);
        expect_refusal(*state, "FORMAT is not a format file", false);
    }
    // An older one is made one of ours.
    write_file(*state, "FORMAT", "dolmen format 1\n");
    store_close(open_rocksdb(*state, STORE_FULL));
    char path[300];
    char text[64] = "";
    (void)snprintf(path, sizeof(path), "%s/FORMAT", (char *)*state);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof(text), file));
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, "dolmen format 4\n");
}

static void test_foreign_directory_is_refused(void **state)
{
    write_file(*state, "letter.txt", "dear");
    expect_refusal(*state, "is not empty (it has \"letter.txt\")", false);
    assert_false(file_exists(*state, "FORMAT"));
    assert_false(file_exists(*state, "db"));
}

static void test_harmless_leftovers(void **state)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/lost+found", (char *)*state);
    assert_int_equal(mkdir(path, 0700), 0);
    write_file(*state, "FORMAT.tmp", "dol");
    store_close(open_rocksdb(*state, STORE_FULL));
    (void)snprintf(path, sizeof(path), "%s/FORMAT", (char *)*state);
    assert_int_equal(unlink(path), 0);
    expect_refusal(*state, "/FORMAT is missing", false);
}

// RocksDB would start afresh without CURRENT, and remove the tables.
static void test_missing_current_is_refused(void **state)
{
    char path[512];
    struct store *store = open_rocksdb(*state, STORE_FULL);
    put_now(store, "key", "value");
    store_close(store);
    (void)snprintf(path, sizeof(path), "%s/db/CURRENT", (char *)*state);
    assert_int_equal(unlink(path), 0);
    expect_refusal(*state, "but no CURRENT file", false);
}

static void expect_commit_fails(struct store *store, enum store_end end, const char *text)
{
    struct store_error error = {0};
    struct store_batch *batch = store_batch_new();
    store_batch_put(batch, SLICE_LIT("key"), SLICE_LIT("lost"));
    assert_int_equal(store_commit(store, batch, &error), end);
    if (strstr(error.text, text) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, text);
    store_batch_free(batch);
}

static void expect_recovery(struct store *store, bool expected)
{
    struct store_error error = {0};
    assert_int_equal(store_recover(store, &error), expected);
}

// ---- Damage ---------------------------------------------------------------------

static void append_to(const char *path, const char *text)
{
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

// After a clean stop the tables are all there is: a list of them that was cut anywhere is refused,
// and no table removed.
static void test_cut_manifest(void **state)
{
    char manifest[800];
    char table[800];
    struct store *store = open_rocksdb(*state, STORE_FULL);
    put_now(store, "key", "value");
    store_close(store);
    find_file(*state, "db", "MANIFEST-", manifest);
    for (off_t length = size_of(manifest) - 1; length >= 0; length -= 7) {
        assert_int_equal(truncate(manifest, length), 0);
        expect_refusal(*state, "is damaged at byte", false);
        find_file(*state, "db", "0000", table);
    }
}

// What a power cut leaves behind the last whole edit is cut off and kept.
static void test_torn_manifest(void **state)
{
    char manifest[800];
    char torn[900];
    struct store *store = open_rocksdb(*state, STORE_FULL);
    put_now(store, "key", "value");
    store_close(store);
    find_file(*state, "db", "MANIFEST-", manifest);
    append_to(manifest, "half an edit");
    off_t size = size_of(manifest);
    store = open_rocksdb(*state, STORE_FULL);
    expect(store, NULL, "key", "value");
    store_close(store);
    (void)snprintf(torn, sizeof(torn), "%s.torn", manifest);
    assert_int_equal(size_of(torn), size);
}

static void test_missing_log_is_refused(void **state)
{
    char segment[800];
    struct store *store = open_rocksdb(*state, STORE_FULL);
    put_now(store, "key", "value");
    store_close(store);
    find_file(*state, "log", "0000", segment);
    assert_int_equal(unlink(segment), 0);
    expect_refusal(*state, "the file is missing", false);
    (void)snprintf(segment, sizeof(segment), "%s/log/promise", (char *)*state);
    assert_int_equal(unlink(segment), 0);
    expect_refusal(*state, "the file is missing", false);
}

// The key by which the tables speak of the log is nobody else's.
static void test_own_key_is_hidden(void **state)
{
    struct store *store = open_rocksdb(*state, STORE_FULL);
    put_now(store, "\x01", "first");
    store_close(store); // which puts it
    store = open_rocksdb(*state, STORE_FULL);
    struct store_cursor *cursor =
        store_cursor_open(store, NULL, slice_of(NULL, 0), slice_of(NULL, 0));
    store_cursor_first(cursor);
    assert_true(slice_is(store_cursor_value(cursor), "first"));
    store_cursor_prev(cursor);
    assert_false(store_cursor_valid(cursor));
    store_cursor_seek_before(cursor, SLICE_LIT("\0"));
    assert_false(store_cursor_valid(cursor));
    store_cursor_close(cursor);
    store_close(store);
}

// A directory that is moved away under the store is noticed; one that comes back, too.
static void test_vanished_directory(void **state)
{
    char path[512];
    char away[512];
    struct store_error why;
    (void)snprintf(path, sizeof(path), "%s/data", (char *)*state);
    (void)snprintf(away, sizeof(away), "%s/away", (char *)*state);
    struct store *store = open_rocksdb(path, STORE_FULL);
    put_now(store, "key", "value");
    assert_int_equal(rename(path, away), 0);
    while (store_condition(store, &why) != STORE_GONE)
        usleep(1000);
    expect_commit_fails(store, STORE_NOT_DONE, "was removed or replaced");
    expect_recovery(store, false);
    expect(store, NULL, "key", "value");
    assert_int_equal(rename(away, path), 0);
    while (store_condition(store, &why) != STORE_WELL)
        usleep(1000);
    expect_recovery(store, true);
    put_now(store, "key", "again");
    store_close(store);
}

// A store of format 1 has the same tables, no promise, and a log of its own format.
static void test_old_format(void **state)
{
    char path[800];
    struct store *store = open_rocksdb(*state, STORE_FULL);
    put_now(store, "key", "value");
    store_close(store);
    find_file(*state, "log", "0000", path);
    assert_int_equal(unlink(path), 0);
    (void)snprintf(path, sizeof(path), "%s/log/promise", (char *)*state);
    assert_int_equal(unlink(path), 0);
    write_file(*state, "FORMAT", "dolmen format 1\n");
    store = open_rocksdb(*state, STORE_FULL);
    expect(store, NULL, "key", "value");
    put_now(store, "key", "new");
    store_close(store);
    store = open_rocksdb(*state, STORE_FULL);
    expect(store, NULL, "key", "new");
    store_close(store);
    write_file(*state, "FORMAT", "dolmen format 3\n");
    store_close(open_rocksdb(*state, STORE_FULL));
}

// ---- The log --------------------------------------------------------------------

static void test_full_commit_calls_fdatasync(void **state)
{
    struct store *store = open_rocksdb(*state, STORE_FULL);
    put_now(store, "a", "1"); // the first sync of a log syncs its directory, too
    int before = atomic_load(&sync_calls);
    put_now(store, "b", "1");
    put_now(store, "c", "1");
    assert_int_equal(atomic_load(&sync_calls), before + 2);
    store_close(store);
}

static void test_relaxed_commit_is_synced_later(void **state)
{
    struct store_error error;
    struct store *store = open_rocksdb(*state, STORE_RELAXED);
    atomic_store(&sync_mode, SYNC_HELD);
    put_now(store, "a", "1"); // while no sync can end
    while (atomic_load(&sync_waiting) == 0)
        usleep(100);
    atomic_store(&sync_mode, SYNC_REAL);
    put_now(store, "b", "1");
    int before = atomic_load(&sync_calls);
    assert_true(store_sync(store, &error));
    assert_true(atomic_load(&sync_calls) > before);
    put_now(store, "c", "1");
    before = atomic_load(&sync_calls);
    store_close(store);
    assert_true(atomic_load(&sync_calls) > before);
}

static void *commit_later(void *store)
{
    put_now(store, "key", "new");
    return NULL;
}

static void test_invisible_until_synced(void **state)
{
    struct store *store = open_rocksdb(*state, STORE_FULL);
    put_now(store, "key", "old");
    atomic_store(&sync_mode, SYNC_HELD);
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, commit_later, store), 0);
    while (atomic_load(&sync_waiting) == 0)
        usleep(100);
    // The record is in the log and its sync is under way: readers neither wait nor see it.
    expect(store, NULL, "key", "old");
    struct store_snapshot *snapshot = store_snapshot_take(store);
    expect(store, snapshot, "key", "old");
    struct store_cursor *cursor =
        store_cursor_open(store, NULL, slice_of(NULL, 0), slice_of(NULL, 0));
    store_cursor_first(cursor);
    assert_true(slice_is(store_cursor_value(cursor), "old"));
    store_cursor_close(cursor);
    atomic_store(&sync_mode, SYNC_REAL);
    assert_int_equal(pthread_join(writer, NULL), 0);
    expect(store, NULL, "key", "new");
    expect(store, snapshot, "key", "old");
    store_snapshot_release(store, snapshot);
    store_close(store);
}

static void test_failed_sync(void **state)
{
    struct store *store = open_rocksdb(*state, STORE_FULL);
    put_now(store, "key", "kept");
    atomic_store(&sync_mode, SYNC_FAILS);
    expect_commit_fails(store, STORE_UNKNOWN, "syncing the log failed: Input/output error");
    expect(store, NULL, "key", "kept");
    expect_recovery(store, false);
    // The disk is well again, but nobody knows what the log holds: no commit until it is begun
    // anew.
    atomic_store(&sync_mode, SYNC_REAL);
    expect_commit_fails(store, STORE_NOT_DONE, "the log is out of order");
    expect(store, NULL, "key", "kept");
    expect_recovery(store, true);
    put_now(store, "key", "again");
    expect(store, NULL, "key", "again");
    store_close(store);
    store = open_rocksdb(*state, STORE_FULL);
    expect(store, NULL, "key", "again");
    store_close(store);
}

static void test_failed_relaxed_sync(void **state)
{
    struct store_error error = {0};
    struct store *store = open_rocksdb(*state, STORE_RELAXED);
    put_now(store, "key", "kept");
    atomic_store(&sync_mode, SYNC_FAILS);
    assert_false(store_sync(store, &error));
    assert_non_null(strstr(error.text, "syncing the log failed: Input/output error"));
    expect_commit_fails(store, STORE_NOT_DONE, "the log is out of order");
    expect(store, NULL, "key", "kept");
    atomic_store(&sync_mode, SYNC_REAL);
    expect_recovery(store, true);
    put_now(store, "other", "written");
    store_close(store);
    store = open_rocksdb(*state, STORE_RELAXED);
    expect(store, NULL, "key", "kept");
    expect(store, NULL, "other", "written");
    store_close(store);
}

static bool commit_filler(struct store *store, struct store_batch *batch, unsigned number,
                          struct store_error *error)
{
    static char value[10000]; // that do not compress
    uint64_t seed = number;
    for (size_t i = 0; i < sizeof(value); i++)
        value[i] = (char)random_next(&seed);
    char key[16];
    (void)snprintf(key, sizeof(key), "%08u", number);
    store_batch_clear(batch);
    store_batch_put(batch, slice_str(key), slice_of(value, sizeof(value)));
    return store_commit(store, batch, error) == STORE_DONE;
}

// An I/O error while RocksDB writes a table in the background: commits fail, reads go on, and when
// the disk is well again so is the store. What was acknowledged is all there, before and after.
static void test_failed_table(void **state)
{
    struct store_error error = {0};
    struct store_options options = {
        .path = *state, .durability = STORE_FULL, .write_buffer_bytes = 3 << 20};
    struct store *store = store_open_rocksdb(&options, &error);
    assert_non_null(store);
    struct store_batch *batch = store_batch_new();
    put_now(store, "first", "kept");
    atomic_store(&sync_mode, SYNC_FAILS_FOR_TABLES);
    unsigned done = 0;
    while (done < 2000 && commit_filler(store, batch, done, &error))
        done++;
    assert_true(done > 50 && done < 2000);
    assert_non_null(strstr(error.text, "Input/output error"));
    expect(store, NULL, "first", "kept");
    expect_recovery(store, false);
    expect_recovery(store, false);
    atomic_store(&sync_mode, SYNC_REAL);
    expect_recovery(store, true);
    put_now(store, "last", "kept");
    store_close(store);
    store = open_rocksdb(*state, STORE_FULL);
    expect(store, NULL, "first", "kept");
    expect(store, NULL, "last", "kept");
    for (unsigned i = 0; i < done; i++) {
        char key[16];
        struct store_value found = {0};
        (void)snprintf(key, sizeof(key), "%08u", i);
        assert_int_equal(store_get(store, NULL, slice_str(key), &found, &error), STORE_FOUND);
        store_value_release(store, &found);
    }
    store_batch_free(batch);
    store_close(store);
}

// What is in the log when a process dies is replayed by the next one, in order.
static void test_log_is_replayed(void **state)
{
#ifdef __SANITIZE_THREAD__
    skip(); // the thread sanitizer wants no threads before a fork, and RocksDB's never end
#endif
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct store *store = open_rocksdb(*state, STORE_FULL);
        put_now(store, "first", "old");
        put_now(store, "second", "whole");
        put_now(store, "first", "new");
        _exit(0); // without closing
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    struct store *store = open_rocksdb(*state, STORE_FULL);
    expect(store, NULL, "first", "new");
    expect(store, NULL, "second", "whole");
    put_now(store, "third", "written");
    store_close(store);
    store = open_rocksdb(*state, STORE_FULL);
    expect(store, NULL, "first", "new");
    expect(store, NULL, "third", "written");
    store_close(store);
}

// Enough data that memtables are flushed and tables merged under the readers' feet.
static void test_more_than_memory(void **state)
{
    struct store_error error;
    struct store_options options = {.path = *state,
                                    .durability = STORE_RELAXED,
                                    .cache_bytes = 1 << 20,
                                    .write_buffer_bytes = 3 << 20};
    struct store *store = store_open_rocksdb(&options, &error);
    assert_non_null(store);
    struct store_batch *batch = store_batch_new();
    static char value[2000];
    uint64_t seed = 3;
    for (size_t i = 0; i < sizeof(value); i++)
        value[i] = (char)random_next(&seed);
    for (unsigned i = 0; i < 8000; i++) {
        char key[16];
        (void)snprintf(key, sizeof(key), "%05u", i * 7919 % 8000);
        store_batch_put(batch, slice_str(key), slice_of(value, sizeof(value)));
        if (i % 100 == 99)
            commit(store, batch);
    }
    store_batch_delete_range(batch, SLICE_LIT("02000"), SLICE_LIT("03000"));
    commit(store, batch);
    store_batch_free(batch);
    struct store_cursor *cursor =
        store_cursor_open(store, NULL, slice_of(NULL, 0), slice_of(NULL, 0));
    int count = 0;
    for (store_cursor_first(cursor); store_cursor_valid(cursor); store_cursor_next(cursor))
        count += store_cursor_key(cursor).ptr[1] != '2'; // those may still be seen
    assert_true(store_cursor_ok(cursor, &error));
    assert_int_equal(count, 7000);
    store_cursor_close(cursor);
    for (unsigned i = 1000; i < 4000; i++) {
        char key[16];
        struct slice bytes = slice_of(value, sizeof(value));
        (void)snprintf(key, sizeof(key), "%05u", i);
        expect_slice(store, NULL, slice_str(key), i / 1000 == 2 ? NULL : &bytes);
    }
    store_close(store);
}

// A table goes to the disk in pieces, each after the one before, so that the log's sync never waits
// for all of it.
static void test_tables_are_written_in_pieces(void **state)
{
    struct store_error error;
    struct store_options options = {.path = *state, .durability = STORE_RELAXED};
    struct store *store = store_open_rocksdb(&options, &error);
    assert_non_null(store);
    struct store_batch *batch = store_batch_new();
    for (unsigned i = 0; i < 1000; i++)
        assert_true(commit_filler(store, batch, i, &error));
    store_batch_free(batch);
    atomic_store(&pieces, 0);
    store_close(store);
    assert_true(atomic_load(&pieces) > 2);
    assert_int_equal(atomic_load(&pieces_unwaited), 0);
}

// What a small cache holds of tables does not grow with them: filters of 250 KB and more here.
static void test_small_cache_stays_small(void **state)
{
    struct store_error error;
    struct store_stats stats;
    struct store_options options = {
        .path = *state, .durability = STORE_RELAXED, .cache_bytes = 128 << 10};
    struct store *store = store_open_rocksdb(&options, &error);
    assert_non_null(store);
    struct store_batch *batch = store_batch_new();
    for (unsigned i = 0; i < 200000; i++) {
        char key[16];
        (void)snprintf(key, sizeof(key), "%08u", i);
        store_batch_put(batch, slice_str(key), SLICE_LIT("value"));
        if (i % 1000 == 999)
            commit(store, batch);
    }
    store_batch_free(batch);
    store_close(store);
    store = store_open_rocksdb(&options, &error);
    assert_non_null(store);
    expect(store, NULL, "00100000", "value");
    expect(store, NULL, "00199999", "value");
    store_stats(store, &stats);
    assert_in_range(stats.cache_bytes, 1, 200 << 10);
    store_close(store);
}

// Tables are written at an even pace, unless somebody waits for them.
static void test_pace(void **state)
{
    struct store_error error;
    struct store_options options = {.path = *state};
    struct rocks_store *rocks = (struct rocks_store *)store_open_rocksdb(&options, &error);
    assert_non_null(rocks);
    rocks_watch(rocks);
    assert_true(rocks->even_pace);
    rocks->hurried = true;
    rocks_watch(rocks);
    assert_false(rocks->even_pace);
    rocks->hurried = false;
    rocks_watch(rocks);
    assert_true(rocks->even_pace);
    store_close(&rocks->base);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_in_use_then_killed),
        TEST(test_reopen),
        TEST(test_missing_directories_are_made),
        TEST(test_in_use_in_this_process),
        TEST(test_newer_format_is_refused),
        TEST(test_foreign_directory_is_refused),
        TEST(test_harmless_leftovers),
        TEST(test_missing_current_is_refused),
        TEST(test_cut_manifest),
        TEST(test_torn_manifest),
        TEST(test_missing_log_is_refused),
        TEST(test_own_key_is_hidden),
        TEST(test_vanished_directory),
        TEST(test_old_format),
        TEST(test_full_commit_calls_fdatasync),
        TEST(test_relaxed_commit_is_synced_later),
        TEST(test_invisible_until_synced),
        TEST(test_failed_sync),
        TEST(test_failed_relaxed_sync),
        TEST(test_failed_table),
        TEST(test_log_is_replayed),
        TEST(test_more_than_memory),
        TEST(test_tables_are_written_in_pieces),
        TEST(test_small_cache_stays_small),
        TEST(test_pace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
