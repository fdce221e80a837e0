// The list behind RocksDB's memtables: its order against a sorted array, and readers beside the
// writer. (It is tested without RocksDB, whose code the thread sanitizer cannot see into.)
#include "fixture.h"

#include "rocks/skip_list.h"

#include <pthread.h>
#include <stdatomic.h>

// ---- A list with its memory -----------------------------------------------------

struct block {
    struct block *next;
    uint64_t bytes[];
};

struct fixture {
    struct block *blocks;
    struct skip_list *list;
};

static void *block_new(void *context, size_t size)
{
    struct fixture *fixture = context;
    struct block *block = malloc(sizeof(*block) + size);
    assert_non_null(block);
    block->next = fixture->blocks;
    fixture->blocks = block;
    return block->bytes;
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    fixture->list = skip_list_new(block_new, fixture);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    struct block *next;
    for (struct block *block = fixture->blocks; block != NULL; block = next) {
        next = block->next;
        free(block);
    }
    free(fixture);
    return 0;
}

// ---- Keys -----------------------------------------------------------------------

enum { USER_MAX = 300, KEY_MAX = USER_MAX + 8 };

struct key {
    uint8_t bytes[USER_MAX];
    size_t length;
    uint64_t sequence;
};

static struct slice internal_of(const struct key *key, uint8_t out[KEY_MAX])
{
    uint64_t tag = key->sequence << 8 | 1;
    memcpy(out, key->bytes, key->length);
    for (int i = 0; i < 8; i++)
        out[key->length + (size_t)i] = (uint8_t)(tag >> 8 * i);
    return slice_of(out, key->length + 8);
}

static bool insert(struct fixture *fixture, const struct key *key)
{
    uint8_t bytes[KEY_MAX];
    struct slice internal = internal_of(key, bytes);
    char *room;
    size_t prefix = internal.len < 128 ? 1 : 2;
    struct skip_node *node = skip_node_new(fixture->list, prefix + internal.len, &room);
    room[0] = (char)(prefix == 1 ? internal.len : (internal.len & 0x7f) | 0x80);
    room[prefix - 1] = (char)(prefix == 1 ? internal.len : internal.len >> 7);
    memcpy(room + prefix, internal.ptr, internal.len);
    return skip_list_insert(fixture->list, node);
}

// The internal key of a node.
static struct slice node_key(const struct skip_node *node)
{
    const uint8_t *key = (const uint8_t *)skip_node_key(node);
    if (key[0] < 128)
        return slice_of(key + 1, key[0]);
    return slice_of(key + 2, (size_t)(key[0] & 0x7f) | (size_t)key[1] << 7);
}

static uint64_t node_sequence(const struct skip_node *node)
{
    struct slice key = node_key(node);
    uint64_t tag = 0;
    for (size_t i = 0; i < 8; i++)
        tag |= (uint64_t)key.ptr[key.len - 8 + i] << 8 * i;
    return tag >> 8;
}

static int key_compare(const void *left, const void *right)
{
    const struct key *a = left;
    const struct key *b = right;
    int order = slice_compare(slice_of(a->bytes, a->length), slice_of(b->bytes, b->length));
    if (order != 0)
        return order;
    return (a->sequence < b->sequence) - (a->sequence > b->sequence);
}

// Few different bytes and sequences, zeros among them, so that many keys are equal for a while.
static struct key key_draw(uint64_t *seed)
{
    struct key key = {.length = random_below(seed, 20), .sequence = random_below(seed, 4)};
    if (random_below(seed, 50) == 0)
        key.length = 120 + random_below(seed, USER_MAX - 120);
    for (size_t i = 0; i < key.length; i++) {
        unsigned draw = random_below(seed, 16);
        key.bytes[i] = draw == 0 ? 0xff : draw == 1 ? 1 : 0;
    }
    return key;
}

static void expect_node(const struct skip_node *node, const struct key *key)
{
    uint8_t bytes[KEY_MAX];
    if (key == NULL) {
        assert_null(node);
        return;
    }
    assert_non_null(node);
    assert_true(slice_equal(node_key(node), internal_of(key, bytes)));
}

// ---- Order ----------------------------------------------------------------------

// Checks the list against all its keys in order.
static void expect_list(const struct skip_list *list, const struct key *keys, size_t count)
{
    const struct skip_node *node = skip_list_first(list);
    for (size_t i = 0; i < count; i++) {
        expect_node(node, &keys[i]);
        expect_node(skip_node_previous(node), i == 0 ? NULL : &keys[i - 1]);
        node = skip_node_next(node);
    }
    assert_null(node);
    expect_node(skip_list_last(list), count == 0 ? NULL : &keys[count - 1]);
}

static void expect_found(const struct skip_list *list, const struct key *keys, size_t count,
                         const struct key *key)
{
    uint8_t bytes[KEY_MAX];
    struct slice internal = internal_of(key, bytes);
    size_t at = 0;
    while (at < count && key_compare(&keys[at], key) < 0)
        at++;
    bool there = at < count && key_compare(&keys[at], key) == 0;
    expect_node(skip_list_at_or_after(list, internal), at == count ? NULL : &keys[at]);
    size_t before = there ? at + 1 : at;
    expect_node(skip_list_at_or_before(list, internal), before == 0 ? NULL : &keys[before - 1]);
    assert_int_equal(skip_list_has(list, internal), there);
}

static void test_empty(void **state)
{
    struct fixture *fixture = *state;
    expect_list(fixture->list, NULL, 0);
    expect_found(fixture->list, NULL, 0, &(struct key){.length = 3});
}

static void test_random_order(void **state)
{
    enum { KEYS = 1500 };
    struct fixture *fixture = *state;
    uint64_t seed = 20261116;
    struct key *keys = malloc(KEYS * sizeof(*keys));
    size_t count = 0;
    for (int i = 0; i < KEYS; i++) {
        struct key key = key_draw(&seed);
        expect_found(fixture->list, keys, count, &key);
        size_t at = 0;
        while (at < count && key_compare(&keys[at], &key) < 0)
            at++;
        bool there = at < count && key_compare(&keys[at], &key) == 0;
        assert_int_equal(insert(fixture, &key), !there);
        if (there)
            continue;
        memmove(&keys[at + 1], &keys[at], (count - at) * sizeof(*keys));
        keys[at] = key;
        count++;
    }
    assert_true(count > KEYS / 2);
    expect_list(fixture->list, keys, count);
    free(keys);
}

// A number as a key whose first bytes are the same for all.
static struct key key_numbered(uint32_t number, uint64_t sequence)
{
    struct key key = {.length = 16, .sequence = sequence, .bytes = "tree"};
    for (int i = 0; i < 4; i++)
        key.bytes[6 + i] = (uint8_t)(number >> (24 - 8 * i));
    return key;
}

// Runs of rising keys, each before the last: the writer's memory of where it was is used and lost.
static void test_runs(void **state)
{
    enum { RUNS = 40, LENGTH = 25 };
    struct fixture *fixture = *state;
    struct key *keys = malloc(RUNS * LENGTH * sizeof(*keys));
    for (uint32_t run = RUNS; run-- > 0;)
        for (uint32_t i = 0; i < LENGTH; i++) {
            keys[run * LENGTH + i] = key_numbered(run * LENGTH + i, i);
            assert_true(insert(fixture, &keys[run * LENGTH + i]));
            assert_false(insert(fixture, &keys[run * LENGTH + i]));
        }
    expect_list(fixture->list, keys, (size_t)RUNS * LENGTH);
    free(keys);
}

// ---- Readers beside the writer --------------------------------------------------

enum { READERS = 3, INSERTS = 8000, BATCH = 5 };

struct shared {
    struct skip_list *list;
    _Atomic uint64_t visible; // all nodes up to this sequence are inserted
    atomic_bool stop;
    atomic_int wrong;
    atomic_int rounds;
};

// Walks the list from one end. The nodes that were visible before must all be met, in order.
static void walk(struct shared *shared, bool forward)
{
    uint64_t visible = atomic_load_explicit(&shared->visible, memory_order_acquire);
    uint64_t met = 0;
    const struct skip_node *last = NULL;
    const struct skip_node *node =
        forward ? skip_list_first(shared->list) : skip_list_last(shared->list);
    while (node != NULL) {
        met += node_sequence(node) <= visible;
        // The user keys all have one length and differ, so the bytes of the keys are in order.
        if (last != NULL && (slice_compare(node_key(last), node_key(node)) < 0) != forward)
            atomic_fetch_add(&shared->wrong, 1);
        last = node;
        node = forward ? skip_node_next(node) : skip_node_previous(node);
    }
    if (met != visible)
        atomic_fetch_add(&shared->wrong, 1);
}

// The number of the key with this sequence: the low half makes it unique, and eight in a row rise.
static uint32_t number_of(uint64_t sequence)
{
    uint64_t seed = (sequence >> 3) + 1;
    return random_below(&seed, 1 << 16) << 16 | (uint32_t)sequence;
}

static void look_up(struct shared *shared, uint64_t *seed)
{
    uint64_t visible = atomic_load_explicit(&shared->visible, memory_order_acquire);
    for (int i = 0; i < 100 && visible > 0; i++) {
        uint64_t sequence = 1 + random_next(seed) % visible;
        struct key key = key_numbered(number_of(sequence), sequence);
        uint8_t bytes[KEY_MAX];
        struct slice internal = internal_of(&key, bytes);
        const struct skip_node *after = skip_list_at_or_after(shared->list, internal);
        const struct skip_node *before = skip_list_at_or_before(shared->list, internal);
        if (after == NULL || after != before || node_sequence(after) != sequence)
            atomic_fetch_add(&shared->wrong, 1);
    }
}

static void *reader_run(void *argument)
{
    struct shared *shared = argument;
    uint64_t seed = 1;
    while (!atomic_load(&shared->stop)) {
        walk(shared, true);
        walk(shared, false);
        look_up(shared, &seed);
        atomic_fetch_add(&shared->rounds, 1);
    }
    return NULL;
}

static void test_readers(void **state)
{
    struct fixture *fixture = *state;
    struct shared shared = {.list = fixture->list};
    pthread_t threads[READERS];
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, reader_run, &shared), 0);
    for (uint64_t sequence = 1; sequence <= INSERTS; sequence++) {
        struct key key = key_numbered(number_of(sequence), sequence);
        assert_true(insert(fixture, &key));
        if (sequence % BATCH == 0)
            atomic_store_explicit(&shared.visible, sequence, memory_order_release);
        if (sequence % 400 == 0)
            usleep(1000);
    }
    int enough = atomic_load(&shared.rounds) + READERS;
    while (atomic_load(&shared.rounds) < enough)
        usleep(100);
    atomic_store(&shared.stop, true);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&shared.wrong), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_empty, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_random_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_readers, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
