// The contract of a store driver: one `static const struct store_driver` of
// functions, and the heads that its objects begin with.
//
// A driver's store and cursor begin with `struct store` and `struct store_cursor`
// (so that a pointer to one is a pointer to the other); its snapshot is its own
// affair. store.c checks arguments and reports failures before and after it calls a
// driver, so a driver does neither. The rules at the top of store.h are the
// driver's to keep; tests/unit/store/test_conformance.c holds it to them.
#ifndef STORE_STORE_DRIVER_H
#define STORE_STORE_DRIVER_H

#include "store/store.h"

struct store_driver {
    const char *name;
    bool remote; // behind a network: see store_remote
    // NULL if the driver has no files.
    void (*check_tables)(struct store *store,
                         bool (*visit)(void *context, const char *path, const char *fault),
                         void *context);
    void (*close)(struct store *store);
    enum store_result (*get)(struct store *store, struct store_snapshot *snapshot, struct slice key,
                             struct store_value *out, struct store_error *error);
    // All of them or none, with *found and *value as nothing before; NULL if one get after another
    // is as good.
    bool (*get_many)(struct store *store, struct store_snapshot *snapshot, struct store_read *reads,
                     size_t count, struct store_error *error);
    void (*value_release)(struct store *store, struct store_value *value);
    struct store_snapshot *(*snapshot_take)(struct store *store);
    void (*snapshot_release)(struct store *store, struct store_snapshot *snapshot);
    struct store_cursor *(*cursor_open)(struct store *store, struct store_snapshot *snapshot,
                                        struct slice lower, struct slice upper);
    void (*cursor_close)(struct store_cursor *cursor);
    void (*cursor_seek)(struct store_cursor *cursor, struct slice key);
    void (*cursor_seek_before)(struct store_cursor *cursor, struct slice key);
    void (*cursor_last)(struct store_cursor *cursor);
    void (*cursor_next)(struct store_cursor *cursor);
    void (*cursor_prev)(struct store_cursor *cursor);
    enum store_end (*commit)(struct store *store, const struct store_batch *batch,
                             struct store_error *error);
    // A store without a disk, where nothing can fail and nothing takes long, has none of these.
    void (*cursor_resume)(struct store_cursor *cursor);
    bool (*cursor_ok)(const struct store_cursor *cursor, struct store_error *error);
    bool (*sync)(struct store *store, struct store_error *error);
    bool (*recover)(struct store *store, struct store_error *error);
    enum store_condition (*condition)(struct store *store, struct store_error *why);
    void (*discard)(struct store *store, struct slice lower, struct slice upper);
    bool (*reclaim)(struct store *store, uint64_t freed);
    bool (*settle)(struct store *store, unsigned timeout_ms);
    void (*stats)(struct store *store, struct store_stats *out); // *out is all zeros
};

struct store {
    const struct store_driver *driver;
    _Atomic(const struct store_watch *) watch; // or NULL
    const char *path;                          // of the data directory, or NULL
};

// Tells the watch; store.c does it for reads.
void store_report_damage(struct store *store, const char *text);

// Every move of a cursor leaves the new position here, so that reading it calls no driver.
struct store_cursor {
    const struct store_driver *driver;
    struct store *store;
    bool valid;
    bool may_pause;
    bool paused;
    struct slice key;
    struct slice value;
};

// ---- What a driver sees of a batch: its ranges first, then one entry per key ----

struct batch_range {
    struct slice lower;
    struct slice upper;
};

struct batch_entry {
    struct slice key;
    struct slice value;
    uint32_t hash; // of the key, for the batch's own index
    uint32_t slot; // where the index has this entry
    bool deleted;
};

struct store_batch_view {
    const struct batch_range *ranges;
    size_t range_count;
    const struct batch_entry *entries; // in the order in which the keys were first written
    size_t entry_count;
    bool frees; // it takes less room than it frees
};

struct store_batch_view store_batch_view(const struct store_batch *batch);

// Fills an error with text; always returns false.
bool store_fail(struct store_error *error, const char *format, ...) PRINTF_LIKE(2, 3);
// The same, with what errno says behind the text; no_room if it says so.
bool store_fail_errno(struct store_error *error, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
