// The verification: a healthy database has no differences, and each damage that is planted into the
// store, behind the engine's back, is found: in its table, in its index, by its name.
#include "verify/verify.h"

#include "engine/support.h"

#include "base/encode.h"
#include "engine/engine_internal.h"

// ---- A table that has everything ------------------------------------------------------------

// Wants an `email` to be unique.
static size_t claim_email(struct arena *arena, struct slice item, struct guard_claim **out)
{
    struct slice email = item.len == 0 ? VALUE_NONE : value_get(item, SLICE_LIT("email"));
    if (email.len == 0)
        return 0;
    *out = arena_zalloc(arena, 1, sizeof(**out));
    **out = (struct guard_claim){arena_copy(arena, email), SLICE_LIT("email"), email, 0};
    return 1;
}

static bool email_write(const struct guard *guard, struct guard_write *write, struct error *error)
{
    (void)guard;
    (void)error;
    write->claim_count = claim_email(write->arena, write->after, &write->claims);
    write->release_count = claim_email(write->arena, write->before, &write->releases);
    return true;
}

static void email_free(struct guard *guard)
{
    free(guard);
}

static struct guard *email_guard(void *context, struct engine *engine, const struct table *table)
{
    static const struct guard_ops ops = {.write = email_write, .free = email_free};
    (void)context;
    (void)engine;
    (void)table;
    struct guard *guard = calloc(1, sizeof(*guard));
    assert_non_null(guard);
    *guard = (struct guard){.ops = &ops, .references = 1, .claims = true};
    return guard;
}

static bool alter_everything(void *context, struct table *current, struct table **next,
                             struct error *error)
{
    (void)context;
    (void)error;
    static const struct slice included[] = {SLICE_LIT("v")};
    struct guard *guard = email_guard(NULL, NULL, NULL);
    struct table *table = table_clone(current);
    assert_non_null(table);
    table->indexes[table->index_count++] = (struct index){.name = SLICE_LIT("byV"),
                                                          .global = true,
                                                          .keys = schema_of("h", NULL),
                                                          .projection = PROJECT_INCLUDE,
                                                          .include_count = 1,
                                                          .include = included,
                                                          .status = INDEX_CREATING};
    table->vectors[table->vector_count++] = (struct vector_index){
        .base = {.name = SLICE_LIT("near"), .global = true, .status = INDEX_CREATING},
        .attribute = SLICE_LIT("vec"),
        .dimensions = 2};
    table->ttl.attribute = SLICE_LIT("ttl");
    table->log_images = LOG_KEYS | LOG_OLD | LOG_NEW;
    assert_true(table_set_guard(table, SLICE_LIT("email"), guard));
    guard_release(guard);
    *next = table;
    return true;
}

// The item of item_of() with a vector of two numbers.
static struct slice with_vector(struct world *world, struct slice item)
{
    struct buf out;
    struct value_builder builder;
    struct value_iter iter;
    uint8_t one[NUMBER_BYTES_MAX];
    buf_init(&out, 1 << 20);
    value_builder_init(&builder, &out);
    value_open_map(&builder);
    value_iter_init(&iter, item);
    while (value_iter_next(&iter)) {
        value_name(&builder, iter.name);
        value_put(&builder, iter.value);
    }
    value_name(&builder, SLICE_LIT("vec"));
    value_open_list(&builder);
    value_put_number(&builder, slice_of(one, number_from_i64(1, one)));
    value_put_number(&builder, slice_of(one, number_from_i64(2, one)));
    assert_true(value_close(&builder));
    assert_true(value_close(&builder));
    struct slice made = arena_copy(&world->arena, buf_view(&out));
    value_builder_release(&builder);
    buf_release(&out);
    return made;
}

static void fill(struct world *world, int from, int to)
{
    for (int i = from; i < to; i++) {
        char sk[32];
        char g[32];
        char email[32];
        (void)snprintf(sk, sizeof(sk), "sk=%04d", i);
        (void)snprintf(g, sizeof(g), "g=g%d", i % 3);
        (void)snprintf(email, sizeof(email), "email=%d@x", i);
        struct slice item = item_of(world, i % 2 == 0 ? "pk=a" : "pk=b", sk, g, "h=h", "v=w",
                                    "ttl=#1800000000", email, NULL);
        assert_true(put_item(world, "t", with_vector(world, item)));
    }
}

static void everything_open(struct world *world)
{
    world_open(world);
    create_table(world, "t", true, true);
    create_table(world, "other", true, false);
    // Some items are older than the indexes, some younger.
    fill(world, 0, 4);
    assert_true(change_table(world, "t", alter_everything, NULL));
    engine_settle(world->engine);
    fill(world, 2, 8);
    assert_true(put_item(world, "t",
                         with_vector(world, item_of(world, "pk=a", "sk=0000", "g=g0", "h=h", "v=w",
                                                    "ttl=#1800000000", "email=0@x", NULL))));
    assert_true(put_item(world, "t",
                         with_vector(world, item_of(world, "pk=b", "sk=0001", "g=g1", "h=h", "v=w",
                                                    "ttl=#1800000000", "email=1@x", NULL))));
    assert_true(delete_item(world, "t", item_of(world, "pk=b", "sk=0007", NULL)));
    assert_true(put_item(world, "other", item_of(world, "pk=a", "sk=1", "g=1", "h=2", NULL)));
    engine_settle(world->engine);
}

// ---- Verifying ------------------------------------------------------------------------------

// What is planted, and the difference that must be found.
struct plant {
    const char *name;
    void (*plant)(struct world *world);
    enum verify_check check;
    const char *index;
    const char *what; // begins so
    bool keyed;       // the difference names a key
    size_t count;     // of all differences that it makes
};

struct seen {
    const struct plant *wanted; // or NULL
    bool found;
    size_t differences;
    size_t outcomes;
    uint64_t examined;
    enum verify_check check; // of the first difference
    char table[64];
    char index[64];
    char what[256];
    size_t stop_after; // slices; 0: never
    size_t slices;
};

static void see_difference(void *context, const struct verify_difference *difference)
{
    struct seen *seen = context;
    const struct plant *wanted = seen->wanted;
    if (wanted != NULL && difference->check == wanted->check &&
        slice_is(difference->table, difference->check < VERIFY_ITEMS ? "" : "t") &&
        slice_is(difference->index, wanted->index) &&
        strncmp(difference->what, wanted->what, strlen(wanted->what)) == 0 &&
        (difference->key.len > 0) == wanted->keyed)
        seen->found = true;
    if (seen->differences++ > 0)
        return;
    seen->check = difference->check;
    (void)snprintf(seen->table, sizeof(seen->table), "%.*s", SLICE_FMT(difference->table));
    (void)snprintf(seen->index, sizeof(seen->index), "%.*s", SLICE_FMT(difference->index));
    (void)snprintf(seen->what, sizeof(seen->what), "%s", difference->what);
}

static void see_outcome(void *context, const struct verify_outcome *outcome)
{
    struct seen *seen = context;
    seen->outcomes++;
    seen->examined += outcome->examined;
}

static bool see_progress(void *context, const struct verify_progress *progress)
{
    (void)progress;
    struct seen *seen = context;
    return ++seen->slices != seen->stop_after;
}

static bool verify_or_mend(struct world *world, const char *table, bool mend, struct seen *seen)
{
    const struct verify_knowledge knowledge = {.maker = {NULL, email_guard}};
    const struct verify_watcher watcher = {seen, see_difference, see_outcome, see_progress};
    struct verify_options options = {
        .table = slice_str(table), .knowledge = &knowledge, .watcher = &watcher, .mend = mend};
    return engine_verify(world->engine, &options);
}

static bool verify(struct world *world, const char *table, struct seen *seen)
{
    return verify_or_mend(world, table, false, seen);
}

// ---- Planting -------------------------------------------------------------------------------

static struct table *table_of(struct world *world)
{
    struct table *table = engine_table(world->engine, SLICE_LIT("t"));
    assert_non_null(table);
    return table;
}

static void plant_put(struct world *world, struct slice key, struct slice value)
{
    struct store_error cause;
    struct store_batch *batch = store_batch_new();
    store_batch_put(batch, key, value);
    assert_int_equal(store_commit(world->store, batch, &cause), STORE_DONE);
    store_batch_free(batch);
}

static void plant_delete(struct world *world, struct slice key)
{
    struct store_error cause;
    struct store_batch *batch = store_batch_new();
    store_batch_delete(batch, key);
    assert_int_equal(store_commit(world->store, batch, &cause), STORE_DONE);
    store_batch_free(batch);
}

// The `nth` key of a tree and its value, in the arena.
static struct slice nth_key(struct world *world, tree_id tree, size_t nth, struct slice *value)
{
    uint8_t lower[4];
    uint8_t upper[4];
    layout_tree_bounds(tree, lower, upper);
    struct store_cursor *cursor =
        store_cursor_open(world->store, NULL, slice_of(lower, 4), slice_of(upper, 4));
    store_cursor_first(cursor);
    for (size_t i = 0; i < nth; i++)
        store_cursor_next(cursor);
    assert_true(store_cursor_valid(cursor));
    struct slice key = arena_copy(&world->arena, store_cursor_key(cursor));
    *value = arena_copy(&world->arena, store_cursor_value(cursor));
    store_cursor_close(cursor);
    return key;
}

static tree_id tree_of(struct world *world, const char *what)
{
    struct table *table = table_of(world);
    const struct index *index = table_index(table, slice_str(what));
    tree_id tree = 0;
    if (index != NULL)
        tree = index->tree;
    else if (strcmp(what, "near") == 0)
        tree = table->vectors[0].base.tree;
    else if (strcmp(what, "items") == 0)
        tree = table->tree;
    else if (strcmp(what, "ttl") == 0)
        tree = table->ttl.tree;
    else if (strcmp(what, "claims") == 0)
        tree = table->claims;
    else if (strcmp(what, "collections") == 0)
        tree = table->collections;
    else if (strcmp(what, "log") == 0)
        tree = table->log;
    table_release(table);
    assert_int_not_equal(tree, 0);
    return tree;
}

static void drop_entry(struct world *world, const char *what)
{
    struct slice value;
    plant_delete(world, nth_key(world, tree_of(world, what), 1, &value));
}

// One more entry: the first one, with its last encoded part made another. `back` is how far from
// its end a byte of the item's key stands.
static void stray_entry(struct world *world, const char *what, size_t back)
{
    struct slice value;
    struct slice key = nth_key(world, tree_of(world, what), 0, &value);
    uint8_t *bytes = (uint8_t *)(uintptr_t)key.ptr;
    bytes[key.len - back] = 'z';
    plant_put(world, key, value);
}

// The entry's contents are of an item with one attribute less.
static void change_entry(struct world *world, const char *what)
{
    struct slice value;
    struct slice key = nth_key(world, tree_of(world, what), 2, &value);
    struct slice item = item_of(world, "pk=a", "sk=0000", "g=g0", "h=h", NULL);
    struct buf record;
    buf_init(&record, 1 << 16);
    record_write(&record, item, value_item_size(item));
    plant_put(world, key, buf_view(&record));
    buf_release(&record);
}

static void meta(struct world *world, char kind, tree_id tree, struct slice value)
{
    uint8_t id[4];
    struct buf key;
    buf_init(&key, 64);
    be32_put(id, tree);
    meta_key(&key, kind, slice_of(id, sizeof(id)));
    plant_put(world, buf_view(&key), value);
    buf_release(&key);
}

// The counter of a tree, with one of its two numbers made greater by one.
static void change_counter(struct world *world, const char *what, size_t number)
{
    uint8_t id[4];
    struct buf key;
    struct store_value value;
    struct store_error cause;
    buf_init(&key, 64);
    be32_put(id, tree_of(world, what));
    meta_key(&key, META_STATS, slice_of(id, sizeof(id)));
    assert_int_equal(store_get(world->store, NULL, buf_view(&key), &value, &cause), STORE_FOUND);
    uint8_t bytes[16];
    memcpy(bytes, value.bytes.ptr, sizeof(bytes));
    store_value_release(world->store, &value);
    be64_put(bytes + 8 * number, be64_get(bytes + 8 * number) + 1);
    plant_put(world, buf_view(&key), slice_of(bytes, sizeof(bytes)));
    buf_release(&key);
}

// ---- The plants -----------------------------------------------------------------------------

static void plant_missing_global(struct world *world)
{
    drop_entry(world, "byG");
}

static void plant_missing_local(struct world *world)
{
    drop_entry(world, "byH");
}

static void plant_missing_projected(struct world *world)
{
    drop_entry(world, "byV");
}

static void plant_missing_vector(struct world *world)
{
    drop_entry(world, "near");
}

static void plant_missing_expiry(struct world *world)
{
    drop_entry(world, "ttl");
}

static void plant_lost_claim(struct world *world)
{
    drop_entry(world, "claims");
}

static void plant_extra_global(struct world *world)
{
    stray_entry(world, "byG", 4);
}

static void plant_extra_local(struct world *world)
{
    stray_entry(world, "byH", 4);
}

static void plant_extra_vector(struct world *world)
{
    stray_entry(world, "near", 4);
}

static void plant_extra_expiry(struct world *world)
{
    stray_entry(world, "ttl", 4);
}

// An entry of an item that is there, but under another key of the index.
static void plant_old_global(struct world *world)
{
    struct table *table = table_of(world);
    struct slice item = item_of(world, "pk=a", "sk=0000", "g=old", "h=h", NULL);
    struct buf key;
    struct buf record;
    buf_init(&key, 1 << 16);
    buf_init(&record, 1 << 16);
    assert_true(layout_index_key(&key, table, table_index(table, SLICE_LIT("byG")), item));
    record_write(&record, item, value_item_size(item));
    plant_put(world, buf_view(&key), buf_view(&record));
    buf_release(&record);
    buf_release(&key);
    table_release(table);
}

static void plant_senseless_entry(struct world *world)
{
    uint8_t key[20] = {0};
    be32_put(key, tree_of(world, "byG"));
    plant_put(world, slice_of(key, sizeof(key)), SLICE_LIT("x"));
}

static void plant_other_projection(struct world *world)
{
    change_entry(world, "byV");
}

static void plant_other_contents(struct world *world)
{
    change_entry(world, "byG");
}

static void plant_other_vector(struct world *world)
{
    struct slice value;
    struct slice key = nth_key(world, tree_of(world, "near"), 0, &value);
    ((uint8_t *)(uintptr_t)value.ptr)[0] ^= 1;
    plant_put(world, key, value);
}

static void plant_items_counter(struct world *world)
{
    change_counter(world, "items", 0);
}

static void plant_bytes_counter(struct world *world)
{
    change_counter(world, "items", 1);
}

static void plant_index_counter(struct world *world)
{
    change_counter(world, "byG", 0);
}

static void plant_vector_counter(struct world *world)
{
    change_counter(world, "near", 1);
}

static void plant_collection_counter(struct world *world)
{
    struct slice value;
    struct slice key = nth_key(world, tree_of(world, "collections"), 0, &value);
    ((uint8_t *)(uintptr_t)value.ptr)[7] ^= 1;
    plant_put(world, key, value);
}

static void plant_stray_collection(struct world *world)
{
    stray_entry(world, "collections", 3);
}

static void plant_stray_claim(struct world *world)
{
    struct slice value;
    struct slice key = nth_key(world, tree_of(world, "claims"), 0, &value);
    ((uint8_t *)(uintptr_t)key.ptr)[key.len - 1] = 'z';
    plant_put(world, key, value);
}

static void plant_claim_of_nobody(struct world *world)
{
    struct slice value;
    struct slice key = nth_key(world, tree_of(world, "claims"), 0, &value);
    ((uint8_t *)(uintptr_t)value.ptr)[value.len - 4] = 'z';
    plant_put(world, key, value);
}

static void plant_wrong_size(struct world *world)
{
    struct slice value;
    struct slice key = nth_key(world, tree_of(world, "items"), 0, &value);
    ((uint8_t *)(uintptr_t)value.ptr)[0] ^= 1;
    plant_put(world, key, value);
}

static void plant_no_item(struct world *world)
{
    struct slice value;
    struct slice key = nth_key(world, tree_of(world, "items"), 0, &value);
    plant_put(world, key, slice_of(value.ptr, value.len - 1));
}

static void plant_orphan(struct world *world)
{
    uint8_t key[8] = {0};
    be32_put(key, 77);
    plant_put(world, slice_of(key, sizeof(key)), SLICE_LIT("x"));
}

static void plant_orphan_counter(struct world *world)
{
    static const uint8_t zeros[16];
    meta(world, META_STATS, 78, slice_of(zeros, sizeof(zeros)));
}

static void plant_unknown_meta(struct world *world)
{
    meta(world, '?', 1, SLICE_LIT("x"));
}

static void plant_bad_table(struct world *world)
{
    plant_put(world, SLICE_LIT("\0\0\0\0Tnew"), SLICE_LIT("x"));
}

static void plant_bad_record(struct world *world)
{
    plant_put(world, SLICE_LIT("\0\0\0\0Rnew"), SLICE_LIT("x"));
}

static void plant_bad_change(struct world *world)
{
    struct slice value;
    struct slice key = nth_key(world, tree_of(world, "log"), 1, &value);
    plant_put(world, key, slice_of(value.ptr, value.len - 1));
}

static void plant_early_change(struct world *world)
{
    struct slice value;
    struct slice key = nth_key(world, tree_of(world, "log"), 2, &value);
    be64_put((uint8_t *)(uintptr_t)value.ptr + 1, 1);
    plant_put(world, key, value);
}

static void plant_future_change(struct world *world)
{
    struct slice value;
    struct slice key = nth_key(world, tree_of(world, "log"), 1, &value);
    ((uint8_t *)(uintptr_t)key.ptr)[4] = 1;
    plant_put(world, key, value);
}

static const struct plant plants[] = {
    {"a global entry is missing", plant_missing_global, VERIFY_INDEX, "byG",
     "the item has no entry", true, 1},
    {"a local entry is missing", plant_missing_local, VERIFY_INDEX, "byH", "the item has no entry",
     true, 1},
    {"a projected entry is missing", plant_missing_projected, VERIFY_INDEX, "byV",
     "the item has no entry", true, 1},
    {"a vector is missing", plant_missing_vector, VERIFY_VECTOR_INDEX, "near",
     "the item has no entry", true, 1},
    {"an expiry time is missing", plant_missing_expiry, VERIFY_TTL, "", "the item has no entry",
     true, 1},
    {"a claim is lost", plant_lost_claim, VERIFY_CLAIMS, "",
     "the item's unique value is not claimed", true, 1},
    {"a global entry is too many", plant_extra_global, VERIFY_INDEX, "byG", "the entry has no item",
     true, 1},
    {"a local entry is too many", plant_extra_local, VERIFY_INDEX, "byH", "the entry has no item",
     true, 1},
    {"a vector is too many", plant_extra_vector, VERIFY_VECTOR_INDEX, "near",
     "the entry has no item", true, 1},
    {"an expiry time is too many", plant_extra_expiry, VERIFY_TTL, "", "the entry has no item",
     true, 1},
    {"an entry is of an older image", plant_old_global, VERIFY_INDEX, "byG",
     "the item is there, but implies another entry", true, 1},
    {"an entry makes no sense", plant_senseless_entry, VERIFY_INDEX, "byG",
     "the entry's key does not name an item", false, 1},
    {"a projection is wrong", plant_other_projection, VERIFY_INDEX, "byV",
     "the item's entry has other contents", true, 1},
    {"an entry's contents are wrong", plant_other_contents, VERIFY_INDEX, "byG",
     "the item's entry has other contents", true, 1},
    {"a vector is wrong", plant_other_vector, VERIFY_VECTOR_INDEX, "near",
     "the item's entry has other contents", true, 1},
    {"items are counted wrong", plant_items_counter, VERIFY_COUNTERS, "",
     "the counter says 8 items; there are 7", false, 1},
    {"bytes are counted wrong", plant_bytes_counter, VERIFY_COUNTERS, "", "the counter says ",
     false, 1},
    {"entries are counted wrong", plant_index_counter, VERIFY_COUNTERS, "byG",
     "the counter says 8 items; there are 7", false, 1},
    {"a vector index's bytes are counted wrong", plant_vector_counter, VERIFY_COUNTERS, "near",
     "the counter says ", false, 1},
    {"a collection is counted wrong", plant_collection_counter, VERIFY_COLLECTIONS, "",
     "the collection is noted as ", true, 1},
    {"a collection is none", plant_stray_collection, VERIFY_COLLECTIONS, "",
     "the counter belongs to a collection without items", true, 1},
    {"a claim is of another value", plant_stray_claim, VERIFY_CLAIMS, "",
     "the item does not have the value", true, 1},
    {"a claim is of nobody", plant_claim_of_nobody, VERIFY_CLAIMS, "", "the entry has no item",
     true, 1},
    {"an item's size is wrong", plant_wrong_size, VERIFY_ITEMS, "", "the item's size is noted as",
     true, 6},
    {"an item cannot be read", plant_no_item, VERIFY_ITEMS, "", "the item cannot be read", true, 1},
    {"keys belong to no table", plant_orphan, VERIFY_TREES, "", "keys of tree 77", false, 1},
    {"counters belong to no table", plant_orphan_counter, VERIFY_TREES, "", "counters of a tree",
     false, 1},
    {"a record is of no kind", plant_unknown_meta, VERIFY_CATALOG, "", "the record is of no kind",
     false, 1},
    {"a table cannot be read", plant_bad_table, VERIFY_CATALOG, "",
     "the record of a table cannot be read", false, 1},
    {"a record cannot be read", plant_bad_record, VERIFY_RECORDS, "", "the record cannot be read",
     false, 1},
    {"a change cannot be read", plant_bad_change, VERIFY_CHANGES, "", "the entry cannot be read",
     false, 1},
    {"a change is of the past", plant_early_change, VERIFY_CHANGES, "", "the entry's time", false,
     1},
    {"a change is of the future", plant_future_change, VERIFY_CHANGES, "",
     "the entry has a sequence that has not been given out", false, 1},
};

static void test_healthy(void **state)
{
    (void)state;
    struct world world;
    struct seen seen = {.differences = 0};
    everything_open(&world);
    assert_true(verify(&world, "", &seen));
    if (seen.differences > 0)
        print_error("%s %s: %s\n", verify_check_words(seen.check), seen.index, seen.what);
    assert_int_equal(seen.differences, 0);
    // 3 of the database; 14 of t: items, 3 indexes, vectors, expiry, claims, collections, 5
    // counters, change log; 4 of the other table.
    assert_int_equal(seen.outcomes, 3 + 14 + 4);
    assert_true(seen.examined > 7 * 7);
    world_close(&world);
}

static void test_plants(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(plants); i++) {
        const struct plant *plant = &plants[i];
        struct world world;
        struct seen seen = {.wanted = plant};
        everything_open(&world);
        plant->plant(&world);
        assert_true(verify(&world, "", &seen));
        bool found = seen.found && seen.differences == plant->count;
        if (!found)
            print_error("%s: %zu differences; %s of %s %s: %s\n", plant->name, seen.differences,
                        verify_check_words(seen.check), seen.table, seen.index, seen.what);
        assert_true(found);
        // Mending finds the same, or less where one thing put right puts another right, and leaves
        // nothing.
        struct seen mended = {.wanted = plant};
        struct seen after = {.wanted = plant};
        assert_true(verify_or_mend(&world, "", true, &mended));
        assert_true(mended.found);
        assert_true(verify(&world, "", &after));
        if (after.differences > 0)
            print_error("%s, mended: %s %s: %s\n", plant->name, verify_check_words(after.check),
                        after.index, after.what);
        assert_int_equal(after.differences, 0);
        world_close(&world);
    }
}

// Only one table is looked at, and nothing around it.
static void test_one_table(void **state)
{
    (void)state;
    struct world world;
    everything_open(&world);
    plant_missing_global(&world);
    plant_orphan(&world);
    struct seen other = {.differences = 0};
    assert_true(verify(&world, "other", &other));
    assert_int_equal(other.differences, 0);
    assert_int_equal(other.outcomes, 4);
    struct seen own = {.differences = 0};
    assert_true(verify(&world, "t", &own));
    assert_int_equal(own.differences, 1);
    struct seen none = {.differences = 0};
    assert_true(verify(&world, "gone", &none));
    assert_int_equal(none.outcomes, 0);
    world_close(&world);
}

static void test_stop(void **state)
{
    (void)state;
    struct world world;
    everything_open(&world);
    for (size_t i = 1; i < 8; i++) {
        struct seen seen = {.stop_after = i};
        assert_false(verify(&world, "", &seen));
        assert_int_equal(seen.slices, i);
    }
    world_close(&world);
}

// An index that is being filled has entries below its mark only, and that is right.
static void test_backfill(void **state)
{
    (void)state;
    struct world world;
    struct seen seen = {.differences = 0};
    everything_open(&world);
    struct table *table = table_of(&world);
    struct table *half = table_clone(table);
    struct slice value;
    struct slice mark = nth_key(&world, table->tree, 3, &value);
    struct index *index = &half->indexes[0];
    index->status = INDEX_CREATING;
    index->backfilled = mark;
    struct buf record;
    buf_init(&record, 1 << 20);
    table_encode(half, &record);
    plant_put(&world, SLICE_LIT("\0\0\0\0Tt"), buf_view(&record));
    buf_release(&record);
    assert_true(verify(&world, "t", &seen));
    // The entries of the four items behind the mark are too many, and the counter with its two
    // numbers counts them.
    assert_int_equal(seen.differences, 4 + 2);
    assert_int_equal(seen.check, VERIFY_INDEX);
    table_release(half);
    table_release(table);
    world_close(&world);
}

// Entries of large items refer to them, or hold copies, as the limit was when they were written.
static void test_references(void **state)
{
    (void)state;
    struct world world;
    struct seen seen = {.differences = 0};
    everything_open(&world);
    engine_index_copy_max(world.engine, 0);
    fill(&world, 20, 24);
    struct slice value;
    struct slice key = nth_key(&world, tree_of(&world, "byG"), 0, &value);
    for (size_t i = 1; !record_refers(value); i++)
        key = nth_key(&world, tree_of(&world, "byG"), i, &value);
    assert_true(verify(&world, "", &seen));
    assert_int_equal(seen.differences, 0);
    ((uint8_t *)(uintptr_t)value.ptr)[value.len - 1] ^= 1;
    plant_put(&world, key, value);
    assert_true(verify(&world, "", &seen));
    assert_int_equal(seen.differences, 1);
    assert_int_equal(seen.check, VERIFY_INDEX);
    world_close(&world);
}

// A transaction empties a collection and fills it again: its size is that of what is there.
static void test_collection_refilled(void **state)
{
    (void)state;
    struct world world;
    struct seen seen = {.differences = 0};
    world_open(&world);
    create_table(&world, "t", true, true);
    assert_true(put_item(&world, "t", item_of(&world, "pk=a", "sk=1", "h=1", NULL)));
    struct table *table = table_of(&world);
    struct write_action actions[2] = {
        {.kind = WRITE_DELETE, .item = item_of(&world, "pk=a", "sk=1", NULL)},
        {.kind = WRITE_PUT, .item = item_of(&world, "pk=a", "sk=2", "h=2", "v=longer", NULL)}};
    for (size_t i = 0; i < COUNT_OF(actions); i++)
        actions[i].table = table;
    struct write_job job;
    write_job_init(&job, world.engine, &world.arena, &world.error);
    job.count = COUNT_OF(actions);
    job.actions = actions;
    job.transaction = true;
    assert_true(engine_run(world.engine, &job.job));
    write_job_release(&job);
    table_release(table);
    assert_true(verify(&world, "", &seen));
    assert_int_equal(seen.differences, 0);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_healthy),    cmocka_unit_test(test_plants),
        cmocka_unit_test(test_one_table),  cmocka_unit_test(test_stop),
        cmocka_unit_test(test_backfill),   cmocka_unit_test(test_collection_refilled),
        cmocka_unit_test(test_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
