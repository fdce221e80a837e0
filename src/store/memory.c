// The memory driver: a persistent tree and one pointer to its newest root.
//
// A snapshot is a counted root, so taking one costs a lock and an increment. A
// commit builds the next root privately (memory_tree.c) and publishes it by
// swapping the pointer under the lock; readers hold the lock only to count the
// root, so they never wait for a commit in progress, and a commit never waits
// for readers. The nodes that only an old root had are freed by whoever lets go
// of it last.
//
// Nothing here can fail: memory that runs out stops the process (store.h, rule 6).
#include "store/memory_tree.h"
#include "store/store_driver.h"

#include <pthread.h>
#include <stdlib.h>

struct memory_store {
    struct store base;
    pthread_mutex_t lock;   // guards `root`, the pointer
    struct tree_node *root; // the newest commit; holds a reference
    uint64_t commits;       // touched by the committing thread only
};

struct memory_snapshot {
    struct tree_node *root;
};

struct memory_cursor {
    struct store_cursor base;
    struct tree_node *root; // a reference of its own, whatever the snapshot does
    struct tree_path path;
    struct slice lower;
    struct slice upper;
    uint8_t bounds[]; // the bytes of lower and upper
};

static struct memory_store *memory_of(struct store *store)
{
    return (struct memory_store *)store;
}

static struct memory_cursor *cursor_of(struct store_cursor *cursor)
{
    return (struct memory_cursor *)cursor;
}

// A reference to the root that a reader should see.
static struct tree_node *root_take(struct store *store, struct store_snapshot *snapshot)
{
    if (snapshot != NULL)
        return tree_hold(((struct memory_snapshot *)snapshot)->root);
    struct memory_store *memory = memory_of(store);
    ensure(pthread_mutex_lock(&memory->lock) == 0);
    struct tree_node *root = tree_hold(memory->root);
    ensure(pthread_mutex_unlock(&memory->lock) == 0);
    return root;
}

static void memory_close(struct store *store)
{
    struct memory_store *memory = memory_of(store);
    tree_release(memory->root);
    ensure(pthread_mutex_destroy(&memory->lock) == 0);
    free(memory);
}

static enum store_result memory_get(struct store *store, struct store_snapshot *snapshot,
                                    struct slice key, struct store_value *out,
                                    struct store_error *error)
{
    (void)error;
    struct tree_node *root = root_take(store, snapshot);
    struct tree_pair *pair = tree_find(root, key);
    if (pair != NULL)
        *out = (struct store_value){.bytes = tree_pair_value(pair), .pin = tree_pair_hold(pair)};
    tree_release(root);
    return pair != NULL ? STORE_FOUND : STORE_ABSENT;
}

// All of one commit: the root is counted once.
static bool memory_get_many(struct store *store, struct store_snapshot *snapshot,
                            struct store_read *reads, size_t count, struct store_error *error)
{
    (void)error;
    struct tree_node *root = root_take(store, snapshot);
    for (size_t i = 0; i < count; i++) {
        struct tree_pair *pair = tree_find(root, reads[i].key);
        reads[i].found = pair != NULL;
        if (pair != NULL)
            reads[i].value = (struct store_value){tree_pair_value(pair), tree_pair_hold(pair)};
    }
    tree_release(root);
    return true;
}

static void memory_value_release(struct store *store, struct store_value *value)
{
    (void)store;
    tree_pair_release(value->pin);
}

static struct store_snapshot *memory_snapshot_take(struct store *store)
{
    struct memory_snapshot *snapshot = malloc(sizeof(*snapshot));
    ensure_memory(snapshot);
    snapshot->root = root_take(store, NULL);
    return (struct store_snapshot *)snapshot;
}

static void memory_snapshot_release(struct store *store, struct store_snapshot *snapshot)
{
    (void)store;
    tree_release(((struct memory_snapshot *)snapshot)->root);
    free(snapshot);
}

static enum store_end memory_commit(struct store *store, const struct store_batch *batch,
                                    struct store_error *error)
{
    (void)error;
    struct memory_store *memory = memory_of(store);
    struct store_batch_view view = store_batch_view(batch);
    struct tree_edit edit = {.root = root_take(store, NULL), .number = ++memory->commits};
    for (size_t i = 0; i < view.range_count; i++)
        tree_delete_range(&edit, view.ranges[i].lower, view.ranges[i].upper);
    for (size_t i = 0; i < view.entry_count; i++) {
        const struct batch_entry *entry = &view.entries[i];
        if (entry->deleted)
            tree_delete(&edit, entry->key);
        else
            tree_put(&edit, entry->key, entry->value);
    }
    ensure(pthread_mutex_lock(&memory->lock) == 0);
    struct tree_node *old = memory->root;
    memory->root = edit.root;
    ensure(pthread_mutex_unlock(&memory->lock) == 0);
    tree_release(old); // outside of the lock: it may free much, or leave that to a reader
    return STORE_DONE;
}

// ---- Cursors --------------------------------------------------------------------

static struct store_cursor *memory_cursor_open(struct store *store, struct store_snapshot *snapshot,
                                               struct slice lower, struct slice upper)
{
    struct memory_cursor *cursor = malloc(sizeof(*cursor) + lower.len + upper.len);
    ensure_memory(cursor);
    *cursor = (struct memory_cursor){
        .root = root_take(store, snapshot),
        .lower = slice_of(cursor->bounds, lower.len),
        .upper = slice_of(cursor->bounds + lower.len, upper.len),
    };
    if (lower.len > 0)
        memcpy(cursor->bounds, lower.ptr, lower.len);
    if (upper.len > 0)
        memcpy(cursor->bounds + lower.len, upper.ptr, upper.len);
    return &cursor->base;
}

static void memory_cursor_close(struct store_cursor *cursor)
{
    tree_release(cursor_of(cursor)->root);
    free(cursor);
}

// Publishes where the path leads, if that is within the bounds. After each move only the bound
// it moves toward needs a look, but looking at both is one comparison more and never wrong.
static void cursor_settle(struct memory_cursor *cursor)
{
    const struct tree_pair *pair = tree_path_pair(&cursor->path);
    cursor->base.valid = false;
    if (pair == NULL)
        return;
    struct slice key = tree_pair_key(pair);
    if (slice_compare(key, cursor->lower) < 0)
        return;
    if (cursor->upper.len > 0 && slice_compare(key, cursor->upper) >= 0)
        return;
    cursor->base.valid = true;
    cursor->base.key = key;
    cursor->base.value = tree_pair_value(pair);
}

static void memory_cursor_seek(struct store_cursor *base, struct slice key)
{
    struct memory_cursor *cursor = cursor_of(base);
    bool below = slice_compare(key, cursor->lower) < 0;
    tree_path_seek(&cursor->path, cursor->root, below ? cursor->lower : key);
    cursor_settle(cursor);
}

// To the last key that is smaller than `key`.
static void path_seek_under(struct memory_cursor *cursor, struct slice key)
{
    tree_path_seek(&cursor->path, cursor->root, key);
    if (tree_path_pair(&cursor->path) == NULL)
        tree_path_last(&cursor->path, cursor->root);
    else
        tree_path_prev(&cursor->path);
}

static void memory_cursor_last(struct store_cursor *base)
{
    struct memory_cursor *cursor = cursor_of(base);
    if (cursor->upper.len > 0)
        path_seek_under(cursor, cursor->upper);
    else
        tree_path_last(&cursor->path, cursor->root);
    cursor_settle(cursor);
}

static void memory_cursor_seek_before(struct store_cursor *base, struct slice key)
{
    struct memory_cursor *cursor = cursor_of(base);
    if (cursor->upper.len > 0 && slice_compare(key, cursor->upper) >= 0) {
        memory_cursor_last(base);
        return;
    }
    tree_path_seek(&cursor->path, cursor->root, key);
    const struct tree_pair *pair = tree_path_pair(&cursor->path);
    if (pair == NULL || !slice_equal(tree_pair_key(pair), key))
        path_seek_under(cursor, key);
    cursor_settle(cursor);
}

static void memory_cursor_next(struct store_cursor *base)
{
    tree_path_next(&cursor_of(base)->path);
    cursor_settle(cursor_of(base));
}

static void memory_cursor_prev(struct store_cursor *base)
{
    tree_path_prev(&cursor_of(base)->path);
    cursor_settle(cursor_of(base));
}

static const struct store_driver memory_driver = {
    .name = "memory",
    .close = memory_close,
    .get = memory_get,
    .get_many = memory_get_many,
    .value_release = memory_value_release,
    .snapshot_take = memory_snapshot_take,
    .snapshot_release = memory_snapshot_release,
    .cursor_open = memory_cursor_open,
    .cursor_close = memory_cursor_close,
    .cursor_seek = memory_cursor_seek,
    .cursor_seek_before = memory_cursor_seek_before,
    .cursor_last = memory_cursor_last,
    .cursor_next = memory_cursor_next,
    .cursor_prev = memory_cursor_prev,
    .commit = memory_commit,
};

struct store *store_open_memory(struct store_error *error)
{
    *error = (struct store_error){0};
    struct memory_store *memory = memory_zeroed(sizeof(*memory));
    ensure(pthread_mutex_init(&memory->lock, NULL) == 0);
    memory->base.driver = &memory_driver;
    return &memory->base;
}
