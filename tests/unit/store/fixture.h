// What the store's tests share: temporary directories, a seeded generator, and
// shorthands for reading and writing text keys.
#ifndef TESTS_STORE_FIXTURE_H
#define TESTS_STORE_FIXTURE_H

// cmocka.h needs these four before it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/store.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Debian's RocksDB is not built for the thread sanitizer, which therefore cannot see how RocksDB
// orders its memory accesses: leave them out. Our own are still checked.
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:rocksdb\n";
}

static inline void temp_dir_make(char path[256])
{
    const char *base = getenv("TMPDIR");
    (void)snprintf(path, 256, "%s/dolmen-store-XXXXXX", base == NULL ? "/tmp" : base);
    assert_non_null(mkdtemp(path));
}

static inline int temp_dir_unlink(const char *path, const struct stat *status, int kind,
                                  struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

static inline void temp_dir_remove(const char *path)
{
    assert_int_equal(nftw(path, temp_dir_unlink, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline void copy_file(const char *from, const char *to)
{
    char bytes[4096];
    size_t got;
    FILE *source = fopen(from, "r");
    FILE *target = fopen(to, "w");
    assert_non_null(source);
    assert_non_null(target);
    while ((got = fread(bytes, 1, sizeof(bytes), source)) > 0)
        assert_int_equal(fwrite(bytes, 1, got, target), got);
    assert_int_equal(fclose(source), 0);
    assert_int_equal(fclose(target), 0);
}

// xorshift64*: tests replay by seed.
static inline uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1dU;
}

static inline unsigned random_below(uint64_t *state, unsigned limit)
{
    return (unsigned)((random_next(state) >> 32) % limit);
}

static inline void commit(struct store *store, struct store_batch *batch)
{
    struct store_error error = {0};
    if (store_commit(store, batch, &error) != STORE_DONE)
        fail_msg("%s", error.text);
    store_batch_clear(batch);
}

static inline void put_now(struct store *store, const char *key, const char *value)
{
    struct store_batch *batch = store_batch_new();
    store_batch_put(batch, slice_str(key), slice_str(value));
    commit(store, batch);
    store_batch_free(batch);
}

// Checks what the store has for a key; NULL means nothing.
static inline void expect_slice(struct store *store, struct store_snapshot *snapshot,
                                struct slice key, const struct slice *value)
{
    struct store_value found = {0};
    struct store_error error = {0};
    enum store_result result = store_get(store, snapshot, key, &found, &error);
    assert_int_equal(result, value == NULL ? STORE_ABSENT : STORE_FOUND);
    if (value == NULL)
        return;
    assert_true(slice_equal(found.bytes, *value));
    store_value_release(store, &found);
    assert_null(found.pin);
}

static inline void expect(struct store *store, struct store_snapshot *snapshot, const char *key,
                          const char *value)
{
    struct slice bytes = value == NULL ? slice_of(NULL, 0) : slice_str(value);
    expect_slice(store, snapshot, slice_str(key), value == NULL ? NULL : &bytes);
}

#endif
