// The rules of store.h, run on every driver. A test gets an empty store, in a fixture that a
// driver's own file sets up.
#ifndef TESTS_STORE_CONFORMANCE_H
#define TESTS_STORE_CONFORMANCE_H

#include "store/fixture.h"

#include <pthread.h>
#include <stdatomic.h>

struct fixture {
    struct store *store;
    struct store_batch *batch;
    char path[256];   // empty for the memory driver
    const char *gone; // letters that were deleted as ranges: a cursor may or may not see them
};

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    store_batch_free(fixture->batch);
    store_close(fixture->store);
    if (fixture->path[0] != 0)
        temp_dir_remove(fixture->path);
    free(fixture);
    return 0;
}

// Puts the letters of a text as keys, each with itself as its value.
static void put_letters(struct fixture *fixture, const char *letters)
{
    for (const char *at = letters; *at != 0; at++)
        store_batch_put(fixture->batch, slice_of(at, 1), slice_of(at, 1));
    commit(fixture->store, fixture->batch);
}

static void put(struct fixture *fixture, const char *key, const char *value)
{
    store_batch_put(fixture->batch, slice_str(key), slice_str(value));
}

// All keys of a cursor as one text, walked from one end to the other, without those that are gone.
static const char *walk(const struct fixture *fixture, struct store_cursor *cursor, bool forward,
                        char out[64])
{
    size_t length = 0;
    struct store_error error;
    forward ? store_cursor_first(cursor) : store_cursor_last(cursor);
    while (store_cursor_valid(cursor)) {
        struct slice key = store_cursor_key(cursor);
        assert_true(slice_equal(key, store_cursor_value(cursor)));
        assert_true(length + 1 < 64 && key.len == 1);
        if (fixture->gone == NULL || strchr(fixture->gone, key.ptr[0]) == NULL)
            out[length++] = (char)key.ptr[0];
        forward ? store_cursor_next(cursor) : store_cursor_prev(cursor);
    }
    assert_true(store_cursor_ok(cursor, &error));
    out[length] = 0;
    return out;
}

static void expect_walk(struct fixture *fixture, struct store_snapshot *snapshot, const char *lower,
                        const char *upper, const char *forward, const char *backward)
{
    char out[64];
    struct store_cursor *cursor =
        store_cursor_open(fixture->store, snapshot, slice_str(lower), slice_str(upper));
    assert_false(store_cursor_valid(cursor));
    assert_string_equal(walk(fixture, cursor, true, out), forward);
    assert_string_equal(walk(fixture, cursor, false, out), backward);
    store_cursor_close(cursor);
}

static void test_empty(void **state)
{
    struct fixture *fixture = *state;
    struct store_error error = {0};
    expect(fixture->store, NULL, "a", NULL);
    expect_walk(fixture, NULL, "", "", "", "");
    expect_walk(fixture, NULL, "a", "b", "", "");
    assert_int_equal(store_commit(fixture->store, fixture->batch, &error), STORE_DONE);
    assert_true(store_sync(fixture->store, &error));
    struct store_stats stats;
    store_stats(fixture->store, &stats);
    assert_true(stats.log_bytes >= stats.log_active_bytes);
    assert_int_equal(stats.log_segments > 0, stats.log_active_bytes > 0);
    struct store_snapshot *snapshot = store_snapshot_take(fixture->store);
    expect(fixture->store, snapshot, "a", NULL);
    store_snapshot_release(fixture->store, snapshot);
    store_batch_delete(fixture->batch, SLICE_LIT("a"));
    store_batch_delete_range(fixture->batch, SLICE_LIT("a"), SLICE_LIT("z"));
    commit(fixture->store, fixture->batch);
    expect_walk(fixture, NULL, "", "", "", "");
}

static void test_put_get_delete(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, "key", "one");
    put(fixture, "empty", "");
    commit(fixture->store, fixture->batch);
    expect(fixture->store, NULL, "key", "one");
    expect(fixture->store, NULL, "empty", "");
    expect(fixture->store, NULL, "ke", NULL);
    expect(fixture->store, NULL, "key2", NULL);
    put(fixture, "key", "two");
    commit(fixture->store, fixture->batch);
    expect(fixture->store, NULL, "key", "two");
    store_batch_delete(fixture->batch, SLICE_LIT("key"));
    store_batch_delete(fixture->batch, SLICE_LIT("absent"));
    commit(fixture->store, fixture->batch);
    expect(fixture->store, NULL, "key", NULL);
    expect(fixture->store, NULL, "empty", "");
}

static void test_last_write_of_a_batch_wins(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, "a", "1");
    put(fixture, "a", "2");
    put(fixture, "b", "1");
    store_batch_delete(fixture->batch, SLICE_LIT("b"));
    store_batch_delete(fixture->batch, SLICE_LIT("c"));
    put(fixture, "c", "3");
    commit(fixture->store, fixture->batch);
    expect(fixture->store, NULL, "a", "2");
    expect(fixture->store, NULL, "b", NULL);
    expect(fixture->store, NULL, "c", "3");
}

static void test_value_outlives_its_deletion(void **state)
{
    struct fixture *fixture = *state;
    struct store_value value = {0};
    struct store_error error = {0};
    put(fixture, "a", "before");
    commit(fixture->store, fixture->batch);
    assert_int_equal(store_get(fixture->store, NULL, SLICE_LIT("a"), &value, &error), STORE_FOUND);
    store_batch_delete(fixture->batch, SLICE_LIT("a"));
    commit(fixture->store, fixture->batch);
    assert_true(slice_is(value.bytes, "before"));
    store_value_release(fixture->store, &value);
}

// Many keys in one call: repeated, absent, empty and long ones, from a snapshot or the newest.
static void test_get_many(void **state)
{
    enum { MANY = 300 };
    struct fixture *fixture = *state;
    static uint8_t keys[MANY][STORE_KEY_MAX];
    static struct store_read reads[MANY];
    struct store_error error = {0};
    for (unsigned i = 0; i < MANY; i++) {
        size_t length = i % 50 == 49 ? STORE_KEY_MAX : i % 10 == 9 ? 2000 + i % 4 : 4;
        memset(keys[i], 'k', length);
        keys[i][0] = (uint8_t)(i / 256);
        keys[i][length - 1] = (uint8_t)i;
        reads[i].key = slice_of(keys[i], length);
        if (i % 3 > 0)
            store_batch_put(fixture->batch, reads[i].key,
                            slice_of(keys[i], i % 3 == 1 ? 0 : length));
    }
    reads[MANY - 1].key = reads[5].key;
    commit(fixture->store, fixture->batch);
    struct store_snapshot *snapshot = store_snapshot_take(fixture->store);
    expect_slice(fixture->store, snapshot, reads[0].key, NULL);
    for (unsigned i = 0; i < MANY; i++)
        store_batch_put(fixture->batch, reads[i].key, SLICE_LIT("new"));
    commit(fixture->store, fixture->batch);
    assert_true(store_get_many(fixture->store, snapshot, reads, MANY, &error));
    for (unsigned i = 0; i < MANY; i++) {
        unsigned kind = i == MANY - 1 ? 5 % 3 : i % 3;
        assert_int_equal(reads[i].found, kind > 0);
        if (kind == 2)
            assert_true(slice_equal(reads[i].value.bytes, reads[i].key));
        assert_true(kind == 2 || reads[i].value.bytes.len == 0);
    }
    // One value outlives the others, and the keys that it was read with.
    for (unsigned i = 0; i < MANY; i++) {
        if (i != 5)
            store_value_release(fixture->store, &reads[i].value);
    }
    assert_true(slice_equal(reads[5].value.bytes, reads[5].key));
    store_value_release(fixture->store, &reads[5].value);
    store_snapshot_release(fixture->store, snapshot);
    assert_true(store_get_many(fixture->store, NULL, reads, MANY, &error));
    for (unsigned i = 0; i < MANY; i++) {
        assert_true(reads[i].found && slice_is(reads[i].value.bytes, "new"));
        store_value_release(fixture->store, &reads[i].value);
    }
    assert_true(store_get_many(fixture->store, NULL, reads, 0, &error));
}

static void test_delete_range(void **state)
{
    struct fixture *fixture = *state;
    put_letters(fixture, "abcdefgh");
    store_batch_delete_range(fixture->batch, SLICE_LIT("c"), SLICE_LIT("f"));
    commit(fixture->store, fixture->batch);
    fixture->gone = "cde";
    expect_walk(fixture, NULL, "", "", "abfgh", "hgfba");
    expect(fixture->store, NULL, "c", NULL);
    expect(fixture->store, NULL, "f", "f");
    // A range goes before the puts of its batch, wherever it was written.
    store_batch_put(fixture->batch, SLICE_LIT("g"), SLICE_LIT("g"));
    store_batch_put(fixture->batch, SLICE_LIT("d"), SLICE_LIT("d"));
    store_batch_delete_range(fixture->batch, SLICE_LIT("a"), SLICE_LIT("z"));
    commit(fixture->store, fixture->batch);
    fixture->gone = "abcefh";
    for (const char *at = fixture->gone; *at != 0; at++)
        expect_slice(fixture->store, NULL, slice_of(at, 1), NULL);
    expect_walk(fixture, NULL, "", "", "dg", "gd");
    // Empty and inverted ranges delete nothing.
    store_batch_delete_range(fixture->batch, SLICE_LIT("d"), SLICE_LIT("d"));
    store_batch_delete_range(fixture->batch, SLICE_LIT("z"), SLICE_LIT("a"));
    commit(fixture->store, fixture->batch);
    expect_walk(fixture, NULL, "", "", "dg", "gd");
}

static void test_snapshot_isolation(void **state)
{
    struct fixture *fixture = *state;
    put_letters(fixture, "ace");
    struct store_snapshot *first = store_snapshot_take(fixture->store);
    struct store_cursor *cursor =
        store_cursor_open(fixture->store, NULL, slice_of(NULL, 0), slice_of(NULL, 0));
    put_letters(fixture, "bd");
    struct store_snapshot *second = store_snapshot_take(fixture->store);
    store_batch_delete_range(fixture->batch, SLICE_LIT("a"), SLICE_LIT("d"));
    put(fixture, "e", "changed");
    commit(fixture->store, fixture->batch);

    char out[64];
    assert_string_equal(walk(fixture, cursor, true, out), "ace");
    store_cursor_close(cursor);
    expect_walk(fixture, first, "", "", "ace", "eca");
    expect_walk(fixture, second, "", "", "abcde", "edcba");
    expect(fixture->store, first, "b", NULL);
    expect(fixture->store, second, "b", "b");
    expect(fixture->store, second, "e", "e");
    expect(fixture->store, NULL, "b", NULL);
    expect(fixture->store, NULL, "e", "changed");
    // A cursor stays good when its snapshot is given back before it.
    cursor = store_cursor_open(fixture->store, second, SLICE_LIT("b"), SLICE_LIT("e"));
    store_snapshot_release(fixture->store, first);
    store_snapshot_release(fixture->store, second);
    assert_string_equal(walk(fixture, cursor, false, out), "dcb");
    store_cursor_close(cursor);
}

static void test_cursor_bounds(void **state)
{
    struct fixture *fixture = *state;
    put_letters(fixture, "bdfhj");
    expect_walk(fixture, NULL, "", "", "bdfhj", "jhfdb");
    expect_walk(fixture, NULL, "d", "h", "df", "fd");
    expect_walk(fixture, NULL, "c", "i", "dfh", "hfd");
    expect_walk(fixture, NULL, "", "d", "b", "b");
    expect_walk(fixture, NULL, "h", "", "hj", "jh");
    expect_walk(fixture, NULL, "e", "f", "", "");
    expect_walk(fixture, NULL, "k", "z", "", "");
    expect_walk(fixture, NULL, "A", "a", "", "");
}

// Where a seek leads, as one letter, or '-' for nowhere.
static char seek(struct store_cursor *cursor, const char *key, bool before)
{
    before ? store_cursor_seek_before(cursor, slice_str(key))
           : store_cursor_seek(cursor, slice_str(key));
    return store_cursor_valid(cursor) ? (char)store_cursor_key(cursor).ptr[0] : '-';
}

static void test_cursor_seeks(void **state)
{
    struct fixture *fixture = *state;
    put_letters(fixture, "bdfhj");
    struct store_cursor *all =
        store_cursor_open(fixture->store, NULL, slice_of(NULL, 0), slice_of(NULL, 0));
    struct store_cursor *part =
        store_cursor_open(fixture->store, NULL, SLICE_LIT("d"), SLICE_LIT("h"));
    static const struct {
        const char *key;
        char all_seek, all_before, part_seek, part_before;
    } rows[] = {
        {"a", 'b', '-', 'd', '-'}, {"b", 'b', 'b', 'd', '-'},  {"c", 'd', 'b', 'd', '-'},
        {"d", 'd', 'd', 'd', 'd'}, {"da", 'f', 'd', 'f', 'd'}, {"e", 'f', 'd', 'f', 'd'},
        {"f", 'f', 'f', 'f', 'f'}, {"g", 'h', 'f', '-', 'f'},  {"h", 'h', 'h', '-', 'f'},
        {"j", 'j', 'j', '-', 'f'}, {"k", '-', 'j', '-', 'f'},  {"", 'b', '-', 'd', '-'},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(seek(all, rows[i].key, false), rows[i].all_seek);
        assert_int_equal(seek(all, rows[i].key, true), rows[i].all_before);
        assert_int_equal(seek(part, rows[i].key, false), rows[i].part_seek);
        assert_int_equal(seek(part, rows[i].key, true), rows[i].part_before);
    }
    // Turning round in the middle.
    assert_int_equal(seek(all, "e", false), 'f');
    store_cursor_prev(all);
    assert_true(slice_is(store_cursor_key(all), "d"));
    store_cursor_next(all);
    store_cursor_next(all);
    assert_true(slice_is(store_cursor_key(all), "h"));
    assert_int_equal(seek(all, "e", true), 'd');
    store_cursor_next(all);
    assert_true(slice_is(store_cursor_key(all), "f"));
    store_cursor_close(all);
    store_cursor_close(part);
}

static void test_binary_keys(void **state)
{
    struct fixture *fixture = *state;
    static const struct slice keys[] = {
        {(const uint8_t *)"\x00", 1},         {(const uint8_t *)"\x00\x00", 2},
        {(const uint8_t *)"\x00\xff", 2},     {(const uint8_t *)"\x7f", 1},
        {(const uint8_t *)"\x80", 1},         {(const uint8_t *)"\xff", 1},
        {(const uint8_t *)"\xff\x00", 2},     {(const uint8_t *)"\xff\xff", 2},
        {(const uint8_t *)"\xff\xff\xff", 3},
    };
    for (size_t i = COUNT_OF(keys); i-- > 0;)
        store_batch_put(fixture->batch, keys[i], keys[i]);
    commit(fixture->store, fixture->batch);
    struct store_cursor *cursor =
        store_cursor_open(fixture->store, NULL, slice_of(NULL, 0), slice_of(NULL, 0));
    store_cursor_first(cursor);
    for (size_t i = 0; i < COUNT_OF(keys); i++, store_cursor_next(cursor)) {
        assert_true(slice_equal(store_cursor_key(cursor), keys[i]));
        assert_true(slice_equal(store_cursor_value(cursor), keys[i]));
        expect_slice(fixture->store, NULL, keys[i], &keys[i]);
    }
    assert_false(store_cursor_valid(cursor));
    store_cursor_close(cursor);
    cursor = store_cursor_open(fixture->store, NULL, keys[2], keys[6]);
    store_cursor_last(cursor);
    assert_true(slice_equal(store_cursor_key(cursor), keys[5]));
    store_cursor_first(cursor);
    assert_true(slice_equal(store_cursor_key(cursor), keys[2]));
    store_cursor_close(cursor);
}

static void test_big_values(void **state)
{
    struct fixture *fixture = *state;
    uint64_t seed = 7;
    uint8_t *bytes = malloc(STORE_VALUE_MAX);
    for (size_t i = 0; i < STORE_VALUE_MAX; i++)
        bytes[i] = (uint8_t)random_next(&seed);
    struct slice megabyte = slice_of(bytes, 1 << 20);
    struct slice largest = slice_of(bytes, STORE_VALUE_MAX);
    struct slice long_key = slice_of(bytes, STORE_KEY_MAX);
    for (int i = 0; i < 3; i++) {
        char key[2] = {(char)('a' + i), 0};
        store_batch_put(fixture->batch, slice_str(key), megabyte);
    }
    store_batch_put(fixture->batch, long_key, largest);
    commit(fixture->store, fixture->batch);
    expect_slice(fixture->store, NULL, SLICE_LIT("b"), &megabyte);
    expect_slice(fixture->store, NULL, long_key, &largest);
    struct store_cursor *cursor =
        store_cursor_open(fixture->store, NULL, SLICE_LIT("a"), SLICE_LIT("d"));
    int count = 0;
    for (store_cursor_last(cursor); store_cursor_valid(cursor); store_cursor_prev(cursor), count++)
        assert_true(slice_equal(store_cursor_value(cursor), megabyte));
    assert_int_equal(count, 3);
    store_cursor_close(cursor);
    free(bytes);
}

// ---- Against a model ------------------------------------------------------------

// The model: keys are the numbers below MODEL_KEYS, values are numbers, 0 is absent. A key that was
// last deleted within a range is gone for gets, and may be gone for cursors.
enum { MODEL_KEYS = 600, MODEL_ROUNDS = 250, MODEL_SNAPSHOTS = 6 };

struct model {
    uint32_t values[MODEL_KEYS];
    bool in_range[MODEL_KEYS];
};

struct model_snapshot {
    struct store_snapshot *snapshot;
    struct model model;
};

// Keys of uneven length: seven bytes that are the same in all, the number in two (so that it begins
// within the first eight, which RocksDB's memtable compares at once), then as many bytes as it
// says.
static struct slice model_key(unsigned number, uint8_t out[16])
{
    memset(out, 0xff, 16);
    memcpy(out, "a model", 7);
    out[7] = (uint8_t)(number >> 8);
    out[8] = (uint8_t)number;
    return slice_of(out, 9 + number % 5);
}

static void model_change(struct fixture *fixture, struct model *model, uint64_t *seed)
{
    uint8_t key[16];
    uint8_t other[16];
    if (random_below(seed, 6) == 0) {
        unsigned from = random_below(seed, MODEL_KEYS);
        unsigned to = from + random_below(seed, MODEL_KEYS - from);
        store_batch_delete_range(fixture->batch, model_key(from, key), model_key(to, other));
        memset(&model->values[from], 0, (to - from) * sizeof(uint32_t));
        memset(&model->in_range[from], true, (to - from) * sizeof(bool));
    }
    unsigned writes = random_below(seed, 4) == 0 ? 120 : 1 + random_below(seed, 10);
    for (unsigned i = 0; i < writes; i++) {
        unsigned number = random_below(seed, MODEL_KEYS);
        uint32_t value = random_below(seed, 3) == 0 ? 0 : 1 + random_below(seed, 1 << 30);
        if (value == 0)
            store_batch_delete(fixture->batch, model_key(number, key));
        else
            store_batch_put(fixture->batch, model_key(number, key),
                            slice_of(&value, sizeof(value)));
        model->values[number] = value;
        model->in_range[number] = false;
    }
    commit(fixture->store, fixture->batch);
}

// The nearest present number from `number` on (or down), or -1 outside [from, to).
static int model_find(const struct model *model, int number, int step, int from, int to)
{
    while (number >= from && number < to && model->values[number] == 0)
        number += step;
    return number >= from && number < to ? number : -1;
}

// The cursor, having moved that way, is at the number.
static void model_expect_at(const struct model *model, struct store_cursor *cursor, int step,
                            int number)
{
    uint8_t key[16];
    while (store_cursor_valid(cursor)) {
        const uint8_t *found = store_cursor_key(cursor).ptr;
        if (!model->in_range[found[7] << 8 | found[8]])
            break;
        step > 0 ? store_cursor_next(cursor) : store_cursor_prev(cursor);
    }
    assert_int_equal(store_cursor_valid(cursor), number >= 0);
    if (number < 0)
        return;
    assert_true(slice_equal(store_cursor_key(cursor), model_key((unsigned)number, key)));
    assert_true(slice_equal(store_cursor_value(cursor),
                            slice_of(&model->values[number], sizeof(uint32_t))));
}

// Seeks into random bounds and walks a few steps in both directions.
static void model_walk(struct fixture *fixture, struct store_snapshot *snapshot,
                       const struct model *model, uint64_t *seed)
{
    uint8_t lower[16];
    uint8_t upper[16];
    uint8_t key[16];
    int from = (int)random_below(seed, MODEL_KEYS);
    int to = from + (int)random_below(seed, (unsigned)(MODEL_KEYS - from)) + 1;
    bool whole = random_below(seed, 4) == 0;
    if (whole) {
        from = 0;
        to = MODEL_KEYS;
    }
    struct store_cursor *cursor = store_cursor_open(
        fixture->store, snapshot, whole ? slice_of(NULL, 0) : model_key((unsigned)from, lower),
        whole ? slice_of(NULL, 0) : model_key((unsigned)to, upper));
    int start = (int)random_below(seed, MODEL_KEYS);
    bool before = random_below(seed, 2) == 0;
    if (before) {
        store_cursor_seek_before(cursor, model_key((unsigned)start, key));
        start = model_find(model, start >= to ? to - 1 : start, -1, from, to);
    } else {
        store_cursor_seek(cursor, model_key((unsigned)start, key));
        start = model_find(model, start < from ? from : start, 1, from, to);
    }
    model_expect_at(model, cursor, before ? -1 : 1, start);
    for (int i = 0; i < 40 && start >= 0; i++) {
        int step = random_below(seed, 4) == 0 ? -1 : 1;
        step > 0 ? store_cursor_next(cursor) : store_cursor_prev(cursor);
        start = model_find(model, start + step, step, from, to);
        model_expect_at(model, cursor, step, start);
    }
    store_cursor_close(cursor);
}

static void model_check(struct fixture *fixture, struct store_snapshot *snapshot,
                        const struct model *model, uint64_t *seed)
{
    uint8_t key[16];
    for (int i = 0; i < 20; i++) {
        unsigned number = random_below(seed, MODEL_KEYS);
        struct slice value = slice_of(&model->values[number], sizeof(uint32_t));
        expect_slice(fixture->store, snapshot, model_key(number, key),
                     model->values[number] == 0 ? NULL : &value);
    }
    model_walk(fixture, snapshot, model, seed);
}

static void model_check_all(struct fixture *fixture, struct store_snapshot *snapshot,
                            const struct model *model)
{
    struct store_cursor *cursor =
        store_cursor_open(fixture->store, snapshot, slice_of(NULL, 0), slice_of(NULL, 0));
    store_cursor_first(cursor);
    int number = -1;
    while ((number = model_find(model, number + 1, 1, 0, MODEL_KEYS)) >= 0) {
        model_expect_at(model, cursor, 1, number);
        store_cursor_next(cursor);
    }
    model_expect_at(model, cursor, 1, -1);
    store_cursor_close(cursor);
}

static void test_random_model(void **state)
{
    struct fixture *fixture = *state;
    const char *given = getenv("SEED");
    uint64_t seed = given == NULL ? 20260101 : strtoull(given, NULL, 10);
    struct model model = {0};
    struct model_snapshot *snapshots = calloc(MODEL_SNAPSHOTS, sizeof(*snapshots));
    for (int round = 0; round < MODEL_ROUNDS; round++) {
        model_change(fixture, &model, &seed);
        model_check(fixture, NULL, &model, &seed);
        struct model_snapshot *snapshot = &snapshots[random_below(&seed, MODEL_SNAPSHOTS)];
        if (snapshot->snapshot != NULL)
            model_check(fixture, snapshot->snapshot, &snapshot->model, &seed);
        if (random_below(&seed, 4) == 0) {
            if (snapshot->snapshot != NULL)
                model_check_all(fixture, snapshot->snapshot, &snapshot->model);
            store_snapshot_release(fixture->store, snapshot->snapshot);
            snapshot->snapshot = store_snapshot_take(fixture->store);
            snapshot->model = model;
        }
    }
    model_check_all(fixture, NULL, &model);
    for (int i = 0; i < MODEL_SNAPSHOTS; i++) {
        if (snapshots[i].snapshot != NULL)
            model_check_all(fixture, snapshots[i].snapshot, &snapshots[i].model);
        store_snapshot_release(fixture->store, snapshots[i].snapshot);
    }
    free(snapshots);
}

// ---- Readers while commits go on ------------------------------------------------

enum { READERS = 3, SHARED_KEYS = 100, SHARED_COMMITS = 150 };

struct readers {
    struct store *store;
    atomic_bool stop;
    atomic_int wrong;
    atomic_int rounds;
};

// Each commit gives all keys the same value, so a reader that sees two values saw half a commit;
// and one that sees a smaller value than before saw time run backwards.
static uint32_t read_round(struct readers *readers)
{
    struct store_error error;
    uint32_t first = 0;
    int count = 0;
    struct store_cursor *cursor =
        store_cursor_open(readers->store, NULL, slice_of(NULL, 0), slice_of(NULL, 0));
    for (store_cursor_first(cursor); store_cursor_valid(cursor); store_cursor_next(cursor)) {
        uint32_t value;
        memcpy(&value, store_cursor_value(cursor).ptr, sizeof(value));
        if (count++ == 0)
            first = value;
        if (value != first)
            atomic_fetch_add(&readers->wrong, 1);
    }
    if (!store_cursor_ok(cursor, &error) || count != SHARED_KEYS)
        atomic_fetch_add(&readers->wrong, 1);
    store_cursor_close(cursor);
    return first;
}

static uint32_t read_one(struct readers *readers)
{
    struct store_error error;
    struct store_value value = {0};
    uint32_t number = 0;
    struct store_snapshot *snapshot = store_snapshot_take(readers->store);
    uint8_t key[16];
    if (store_get(readers->store, snapshot, model_key(SHARED_KEYS / 2, key), &value, &error) !=
        STORE_FOUND)
        atomic_fetch_add(&readers->wrong, 1);
    else
        memcpy(&number, value.bytes.ptr, sizeof(number));
    store_snapshot_release(readers->store, snapshot);
    store_value_release(readers->store, &value);
    return number;
}

static void *reader_run(void *argument)
{
    struct readers *readers = argument;
    uint32_t newest = 0;
    while (!atomic_load(&readers->stop)) {
        uint32_t all = read_round(readers);
        uint32_t one = read_one(readers);
        if (all < newest || one < all)
            atomic_fetch_add(&readers->wrong, 1);
        newest = one;
        atomic_fetch_add(&readers->rounds, 1);
    }
    return NULL;
}

static void write_shared(struct fixture *fixture, uint32_t value)
{
    uint8_t lower[16];
    uint8_t upper[16];
    uint8_t key[16];
    if (value % 3 == 0)
        store_batch_delete_range(fixture->batch, model_key(0, lower), model_key(90, upper));
    for (unsigned i = 0; i < SHARED_KEYS; i++)
        store_batch_put(fixture->batch, model_key(i, key), slice_of(&value, sizeof(value)));
    commit(fixture->store, fixture->batch);
}

static void test_concurrent_readers(void **state)
{
    struct fixture *fixture = *state;
#ifdef __SANITIZE_THREAD__
    // The sanitizer does not see what RocksDB does to order the bytes it gives us.
    if (fixture->path[0] != 0)
        skip();
#endif
    struct readers readers = {.store = fixture->store};
    pthread_t threads[READERS];
    write_shared(fixture, 1);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, reader_run, &readers), 0);
    for (uint32_t value = 2; value < SHARED_COMMITS; value++)
        write_shared(fixture, value);
    while (atomic_load(&readers.rounds) < READERS)
        usleep(100);
    atomic_store(&readers.stop, true);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&readers.wrong), 0);
}

#define CONFORMANCE(X)                                                                             \
    X(test_empty)                                                                                  \
    X(test_put_get_delete)                                                                         \
    X(test_last_write_of_a_batch_wins)                                                             \
    X(test_value_outlives_its_deletion)                                                            \
    X(test_get_many)                                                                               \
    X(test_delete_range)                                                                           \
    X(test_snapshot_isolation)                                                                     \
    X(test_cursor_bounds)                                                                          \
    X(test_cursor_seeks)                                                                           \
    X(test_binary_keys)                                                                            \
    X(test_big_values)                                                                             \
    X(test_random_model)                                                                           \
    X(test_concurrent_readers)

#endif
