// The change log: one record for each write that changed an item of a table whose `log_images` is
// not 0, in the same batch as the write. It feeds streams, point-in-time recovery, incremental
// exports and the Kinesis destination.
//
// Sequences grow over the whole database and are never used twice. A table's log is a tree in the
// order of sequences; it outlives the table if something still reads it (table_change.keep_log).
// Records are removed by time, by whoever knows how long they are needed (engine_log_trim).
#ifndef ENGINE_LOG_H
#define ENGINE_LOG_H

#include "engine/engine.h"

enum log_event { LOG_INSERT, LOG_MODIFY, LOG_REMOVE };

struct log_entry {
    uint64_t sequence;
    int64_t time_ms;
    enum log_event event;
    bool expired;          // removed by time to live
    struct slice keys;     // the key attributes, as an item
    struct slice old_item; // VALUE_NONE if there was none, or the log was not to keep it
    struct slice new_item;
};

// An entry of a log out of its key and value, which are not trusted; false if they are none.
MUST_CHECK bool log_entry_read(struct slice key, struct slice value, struct log_entry *out);

// The sequence of the newest write that is visible; all later ones are greater.
uint64_t engine_sequence(struct engine *engine);
// The newest one that a snapshot has seen.
MUST_CHECK bool engine_snapshot_sequence(struct engine *engine, struct store_snapshot *snapshot,
                                         uint64_t *out, struct error *error);

// Who wants to hear of commits. Both are called on the writer's thread and must not block: `heard`
// with the log_bit() of each log that has new entries, which can be read now; `catalog` when a
// table was made, changed or deleted. One listener at each ear; before it goes, NULL takes its
// place, and the engine has to be idle or the listener to stay where it is.
struct log_listener {
    void *context;
    void (*heard)(void *context, uint64_t logs);
    void (*catalog)(void *context);
};
enum log_ear { LOG_EAR_CONSUMERS, LOG_EAR_LIVE, LOG_EARS };
void engine_log_listen(struct engine *engine, enum log_ear ear,
                       const struct log_listener *listener);

static inline uint64_t log_bit(tree_id log)
{
    return UINT64_C(1) << (log & 63);
}

// The time of the change logs: the clock's, but never earlier than that of the newest entry. It
// does not step back if the clock does, also not over a restart, so entries are in the order of
// their times, and what is visible now is not later than now. Whoever compares with the times of
// entries takes it from here.
int64_t engine_log_time(struct engine *engine);
// The same as a promise, for whoever tells it as a moment to come back to: what is written from now
// on has this time or a later one, even if the clock is set back.
int64_t engine_log_moment(struct engine *engine);

// The first sequence of a log that may be later than `at_ms`: all entries below it are not.
MUST_CHECK bool engine_log_after(struct engine *engine, struct store_snapshot *snapshot,
                                 tree_id log, int64_t at_ms, uint64_t *first, struct error *error);

// Calls back with the entries of a log from `first` to `last` (both inclusive), in order, until
// `visit` returns false. The entry is valid during the call. `snapshot` may be NULL.
MUST_CHECK bool engine_log_read(struct engine *engine, struct store_snapshot *snapshot, tree_id log,
                                uint64_t first, uint64_t last,
                                bool (*visit)(void *context, const struct log_entry *entry),
                                void *context, struct error *error);

// Some time of a table's change log.
struct log_window {
    const struct table *table;
    struct store_snapshot *snapshot; // or NULL
    int64_t from_ms;                 // entries from here
    int64_t to_ms;                   // up to but without this
    uint64_t last;                   // and not behind this sequence
    bool (*stops)(void *context);    // asked for each entry: true gives it up. Or NULL.
    void *context;
};
// Calls back with the entries of the window, in order, and the tree keys of their items. False,
// with the error set, if it was given up (ERR_UNAVAILABLE) or the log cannot be read.
MUST_CHECK bool engine_log_window(struct engine *engine, const struct log_window *window,
                                  void (*visit)(void *context, struct slice tree_key,
                                                const struct log_entry *entry),
                                  void *context, struct error *error);

// Removes entries from the start of the log that are older than `before_ms`, a piece of them, and
// waits for it. *more tells whether there are others. Not on the writer's thread.
MUST_CHECK bool engine_log_trim(struct engine *engine, tree_id log, int64_t before_ms, bool *more,
                                struct error *error);

// Removes a log that no table has any more, and waits for the note of it; the keeper does the rest.
MUST_CHECK bool engine_log_drop(struct engine *engine, tree_id log, struct error *error);

#endif
