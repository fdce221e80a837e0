// The change log. An entry's key is its tree and its sequence (8 bytes); its value is
//
//   1 byte  event, and 4 if the item had expired
//   8 bytes time in ms
//   three times: 4 bytes length, and the keys, the old item, the new item
//
// The writer gives out sequences and writes the last one with every batch that used some (8 bytes),
// with its time in ms (8 bytes) and the first sequence since which times have not fallen (8 bytes).
// The latter two are missing in databases of an older version, whose times may have.
#include "engine/log.h"

#include "base/encode.h"
#include "engine/engine_internal.h"

enum {
    LOG_EXPIRED = 4,
    LOG_HEAD = 9,
    LOG_KEY = 12,
    LOG_STATE = 24,
    TRIM_PIECE = 512, // entries removed in one batch
};

// ---- Writing ------------------------------------------------------------------------

static void log_key(uint8_t key[LOG_KEY], tree_id log, uint64_t sequence)
{
    be32_put(key, log);
    be64_put(key + 4, sequence);
}

static void add_part(struct buf *out, struct slice part)
{
    uint8_t len[4];
    be32_put(len, (uint32_t)part.len);
    buf_add(out, len, sizeof(len));
    buf_slice(out, part);
}

// The key attributes of an item, in txn->image.
static struct slice keys_of(struct txn *txn, const struct key_schema *keys, struct slice item)
{
    buf_clear(&txn->image);
    value_builder_reset(&txn->builder);
    value_open_map(&txn->builder);
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        value_name(&txn->builder, keys->parts[i].name);
        value_put(&txn->builder, value_get(item, keys->parts[i].name));
    }
    (void)value_close(&txn->builder);
    ensure(!txn->image.failed);
    return buf_view(&txn->image);
}

// The clock's time, unless it has stepped back.
static int64_t next_time(struct engine *engine)
{
    struct change_log *log = &engine->log;
    int64_t now_ms = env_now(&engine->env);
    int64_t promised = atomic_load_explicit(&log->promised, memory_order_acquire);
    if (now_ms < promised)
        now_ms = promised;
    if (log->time_ms < now_ms)
        log->time_ms = now_ms;
    return log->time_ms;
}

// The sequence is given out here, while the batch is made: entries are in the order of the writes,
// and a batch that fails leaves a gap, never an entry that was seen and is gone.
void log_append(struct txn *txn, const struct table *table, const struct change *change,
                bool expired)
{
    if (table->log_images == 0 || change->same)
        return;
    struct slice before = change->before.item;
    struct slice after = change->after.item;
    enum log_event event = before.len == 0 ? LOG_INSERT : after.len == 0 ? LOG_REMOVE : LOG_MODIFY;
    uint8_t head[LOG_HEAD];
    head[0] = (uint8_t)(event | (expired ? LOG_EXPIRED : 0));
    be64_put(head + 1, (uint64_t)next_time(txn->engine));
    struct slice keys = keys_of(txn, &table->keys, after.len > 0 ? after : before);
    buf_clear(&txn->record);
    buf_add(&txn->record, head, sizeof(head));
    add_part(&txn->record, keys);
    add_part(&txn->record, table->log_images & LOG_OLD ? before : VALUE_NONE);
    add_part(&txn->record, table->log_images & LOG_NEW ? after : VALUE_NONE);
    uint8_t key[LOG_KEY];
    log_key(key, table->log, ++txn->engine->log.last);
    txn_put(txn, slice_of(key, sizeof(key)), &txn->record);
    txn->engine->log.touched |= log_bit(table->log);
}

void log_before_commit(struct txn *txn)
{
    struct change_log *log = &txn->engine->log;
    if (log->last == atomic_load_explicit(&log->visible, memory_order_relaxed))
        return;
    uint8_t value[LOG_STATE];
    be64_put(value, log->last);
    be64_put(value + 8, (uint64_t)log->time_ms);
    be64_put(value + 16, log->ordered);
    meta_key(&txn->key, META_SEQUENCE, slice_of(NULL, 0));
    store_batch_put(txn->batch, buf_view(&txn->key), slice_of(value, sizeof(value)));
}

// The sequences of a batch that failed are not given out again: a crash could bring it back.
void log_after_commit(struct engine *engine, bool committed)
{
    uint64_t touched = engine->log.touched;
    engine->log.touched = 0;
    if (!committed)
        return;
    // The time first: whoever sees the sequence must see a time that is not before its entry's.
    atomic_store_explicit(&engine->log.visible_time, engine->log.time_ms, memory_order_relaxed);
    atomic_store_explicit(&engine->log.visible, engine->log.last, memory_order_seq_cst);
    for (size_t ear = 0; touched != 0 && ear < LOG_EARS; ear++) {
        const struct log_listener *listener = atomic_load(&engine->log.listeners[ear]);
        if (listener != NULL)
            listener->heard(listener->context, touched);
    }
}

_Static_assert(LOG_EARS == COUNT_OF(((struct change_log *)NULL)->listeners), "a place for each");

void engine_log_listen(struct engine *engine, enum log_ear ear, const struct log_listener *listener)
{
    atomic_store(&engine->log.listeners[ear], listener);
}

// Whoever listens compares his list with the catalog.
void log_catalog_changed(struct engine *engine)
{
    for (size_t ear = 0; ear < LOG_EARS; ear++) {
        const struct log_listener *listener = atomic_load(&engine->log.listeners[ear]);
        if (listener != NULL)
            listener->catalog(listener->context);
    }
}

bool log_load(struct engine *engine, struct store_error *error)
{
    struct store_value value;
    enum store_result result =
        meta_get(engine->store, NULL, META_SEQUENCE, slice_of(NULL, 0), &value, error);
    if (result == STORE_FAILED)
        return false;
    struct change_log *log = &engine->log;
    if (result == STORE_FOUND) {
        ensure(value.bytes.len == 8 || value.bytes.len == LOG_STATE);
        bool timed = value.bytes.len == LOG_STATE;
        log->last = be64_get(value.bytes.ptr);
        log->time_ms = timed ? (int64_t)be64_get(value.bytes.ptr + 8) : 0;
        log->ordered = timed ? be64_get(value.bytes.ptr + 16) : log->last + 1;
        log->visible = log->last;
        log->visible_time = log->time_ms;
        store_value_release(engine->store, &value);
    }
    return true;
}

void log_learn(struct engine *engine, struct slice state)
{
    struct change_log *log = &engine->log;
    if (state.len != LOG_STATE)
        return;
    log->last = be64_get(state.ptr);
    log->time_ms = (int64_t)be64_get(state.ptr + 8);
    if (log->ordered != be64_get(state.ptr + 16))
        log->ordered = be64_get(state.ptr + 16);
    log->touched = UINT64_MAX; // nobody has looked which
    log_after_commit(engine, true);
}

int64_t engine_log_time(struct engine *engine)
{
    // Not below what readers can see already, nor below what was told before: a clock may be set
    // back.
    int64_t newest = atomic_load_explicit(&engine->log.visible_time, memory_order_acquire);
    int64_t promised = atomic_load_explicit(&engine->log.promised, memory_order_acquire);
    int64_t now_ms = env_now(&engine->env);
    if (now_ms < promised)
        now_ms = promised;
    return newest > now_ms ? newest : now_ms;
}

int64_t engine_log_moment(struct engine *engine)
{
    int64_t moment = engine_log_time(engine);
    int64_t before = atomic_load_explicit(&engine->log.promised, memory_order_relaxed);
    // Several may tell a moment at once; the latest stays.
    while (before < moment && !atomic_compare_exchange_weak(&engine->log.promised, &before, moment))
        continue;
    return moment;
}

uint64_t engine_sequence(struct engine *engine)
{
    return atomic_load_explicit(&engine->log.visible, memory_order_acquire);
}

bool engine_snapshot_sequence(struct engine *engine, struct store_snapshot *snapshot, uint64_t *out,
                              struct error *error)
{
    struct store_value value;
    struct store_error cause;
    *out = 0;
    switch (meta_get(engine->store, snapshot, META_SEQUENCE, slice_of(NULL, 0), &value, &cause)) {
    case STORE_FAILED:
        return engine_store_failed(error, &cause);
    case STORE_ABSENT:
        return true;
    case STORE_FOUND:
        break;
    }
    *out = be64_get(value.bytes.ptr);
    store_value_release(engine->store, &value);
    return true;
}

// ---- Reading ------------------------------------------------------------------------

static bool take_part(struct slice *rest, struct slice *part)
{
    size_t len = rest->len < 4 ? 0 : be32_get(rest->ptr);
    if (rest->len < 4 || len > rest->len - 4)
        return false;
    *part = len == 0 ? VALUE_NONE : slice_of(rest->ptr + 4, len);
    *rest = slice_of(rest->ptr + 4 + len, rest->len - 4 - len);
    return true;
}

bool log_entry_read(struct slice key, struct slice value, struct log_entry *out)
{
    if (key.len != LOG_KEY || value.len < LOG_HEAD)
        return false;
    *out = (struct log_entry){
        .sequence = be64_get(key.ptr + 4),
        .time_ms = (int64_t)be64_get(value.ptr + 1),
        .event = (enum log_event)(value.ptr[0] & 3),
        .expired = (value.ptr[0] & LOG_EXPIRED) != 0,
    };
    struct slice rest = slice_of(value.ptr + LOG_HEAD, value.len - LOG_HEAD);
    return take_part(&rest, &out->keys) && take_part(&rest, &out->old_item) &&
           take_part(&rest, &out->new_item) && rest.len == 0;
}

static struct log_entry entry_of(struct slice key, struct slice value)
{
    struct log_entry entry;
    ensure(log_entry_read(key, value, &entry));
    return entry;
}

// A cursor over [first, last] of a log.
static struct store_cursor *open_range(struct engine *engine, struct store_snapshot *snapshot,
                                       tree_id log, uint64_t first, uint64_t last)
{
    uint8_t lower[LOG_KEY];
    uint8_t upper[LOG_KEY];
    size_t upper_len = sizeof(upper);
    log_key(lower, log, first);
    log_key(upper, log, last + 1);
    if (last == UINT64_MAX) {
        be32_put(upper, log + 1);
        upper_len = 4;
    }
    struct store_cursor *cursor = store_cursor_open(
        engine->store, snapshot, slice_of(lower, sizeof(lower)), slice_of(upper, upper_len));
    store_cursor_first(cursor);
    return cursor;
}

bool engine_log_read(struct engine *engine, struct store_snapshot *snapshot, tree_id log,
                     uint64_t first, uint64_t last,
                     bool (*visit)(void *context, const struct log_entry *entry), void *context,
                     struct error *error)
{
    if (first > last)
        return true;
    struct store_cursor *cursor = open_range(engine, snapshot, log, first, last);
    bool stopped = false;
    while (!stopped && store_cursor_valid(cursor)) {
        struct log_entry entry = entry_of(store_cursor_key(cursor), store_cursor_value(cursor));
        stopped = !visit(context, &entry);
        if (!stopped)
            store_cursor_next(cursor);
    }
    return engine_cursor_end(cursor, error);
}

// The times are in order, so it is found by halving.
bool engine_log_after(struct engine *engine, struct store_snapshot *snapshot, tree_id log,
                      int64_t at_ms, uint64_t *first, struct error *error)
{
    uint64_t low = engine->log.ordered;
    uint64_t high = UINT64_MAX;
    struct store_cursor *cursor = open_range(engine, snapshot, log, 0, UINT64_MAX);
    if (store_cursor_valid(cursor) && be64_get(store_cursor_key(cursor).ptr + 4) < low)
        low = high = 0;
    if (low < high) {
        store_cursor_last(cursor);
        high = store_cursor_valid(cursor) ? be64_get(store_cursor_key(cursor).ptr + 4) + 1 : low;
    }
    while (low < high) {
        uint8_t key[LOG_KEY];
        uint64_t middle = low + (high - low) / 2;
        log_key(key, log, middle);
        store_cursor_seek(cursor, slice_of(key, sizeof(key)));
        if (!store_cursor_valid(cursor))
            break;
        struct log_entry entry = entry_of(store_cursor_key(cursor), store_cursor_value(cursor));
        if (entry.time_ms > at_ms)
            high = middle;
        else
            low = entry.sequence + 1;
    }
    *first = low;
    return engine_cursor_end(cursor, error);
}

struct window_read {
    const struct log_window *window;
    void (*visit)(void *context, struct slice tree_key, const struct log_entry *entry);
    void *context;
    struct error *error;
    struct buf key;
};

static bool visit_window(void *context, const struct log_entry *entry)
{
    struct window_read *read = context;
    const struct log_window *window = read->window;
    if (window->stops != NULL && window->stops(window->context))
        return error_set(read->error, ERR_UNAVAILABLE, "The server is stopping.");
    // A log that is older than the order of its times is read from its start to its end.
    if (entry->time_ms < window->from_ms || entry->time_ms >= window->to_ms)
        return true;
    buf_clear(&read->key);
    layout_item_key(&read->key, window->table->tree, &window->table->keys, entry->keys);
    read->visit(read->context, buf_view(&read->key), entry);
    return true;
}

bool engine_log_window(struct engine *engine, const struct log_window *window,
                       void (*visit)(void *context, struct slice tree_key,
                                     const struct log_entry *entry),
                       void *context, struct error *error)
{
    struct window_read read = {window, visit, context, error, {0}};
    tree_id log = window->table->log;
    uint64_t first;
    buf_init(&read.key, STORE_KEY_MAX);
    bool ok = engine_log_after(engine, window->snapshot, log, window->from_ms - 1, &first, error) &&
              engine_log_read(engine, window->snapshot, log, first, window->last, visit_window,
                              &read, error) &&
              error->code == ERR_NONE;
    buf_release(&read.key);
    return ok;
}

// ---- Removing -----------------------------------------------------------------------

struct trim_job {
    struct job job; // first
    tree_id log;
    int64_t before_ms;
    bool more;
};

static bool run_trim(struct job *job, struct txn *txn)
{
    struct trim_job *trim = (struct trim_job *)job;
    trim->more = false;
    struct store_cursor *cursor = open_range(txn->engine, NULL, trim->log, 0, UINT64_MAX);
    for (size_t i = 0; store_cursor_valid(cursor); i++) {
        struct slice key = store_cursor_key(cursor);
        bool old = (int64_t)be64_get(store_cursor_value(cursor).ptr + 1) < trim->before_ms;
        if (!old || i == TRIM_PIECE) {
            trim->more = old;
            break;
        }
        store_batch_delete(txn->batch, key);
        store_cursor_next(cursor);
    }
    return engine_cursor_end(cursor, job->error);
}

bool engine_log_trim(struct engine *engine, tree_id log, int64_t before_ms, bool *more,
                     struct error *error)
{
    struct trim_job trim = {.job = {.run = run_trim, .alone = true, .error = error},
                            .log = log,
                            .before_ms = before_ms};
    bool ok = engine_run_beside(engine, &trim.job);
    *more = ok && trim.more;
    return ok;
}

static bool run_drop(struct job *job, struct txn *txn)
{
    catalog_drop_tree(txn, ((struct trim_job *)job)->log);
    return true;
}

static void drop_committed(struct job *job, struct engine *engine)
{
    (void)job;
    keeper_wake(engine);
}

bool engine_log_drop(struct engine *engine, tree_id log, struct error *error)
{
    struct trim_job drop = {
        .job = {.run = run_drop, .committed = drop_committed, .alone = true, .error = error},
        .log = log};
    return engine_run(engine, &drop.job);
}
