// Change logs that something was lost of. Nothing in a log says that an entry is missing: sequences
// count over the whole database, and a commit that failed leaves a gap. So whoever knows of a loss
// has the log begin behind it. Point-in-time recovery undoes what the log has, from its end to the
// instant, and would be wrong for every instant before a hole; streams would leave it out.
#include "verify/verify_internal.h"

#include "base/encode.h"
#include "engine/log.h"

enum { LOG_KEY = 12 }; // tree and sequence

struct holes {
    struct verifier *v;
    const struct verify_losses *losses;
    struct log_state state;
    void (*visit)(void *context, const struct verify_cut *cut);
    void *context;
};

// Whether a lost range may have had entries of the log; then the first sequence behind it, 0 if the
// log has none.
static bool range_touches(const struct verify_loss *loss, tree_id log, uint64_t *behind)
{
    tree_id last = loss->to.len == 0 ? UINT32_MAX : tree_of(loss->to);
    if (log < tree_of(loss->from) || log > last)
        return false;
    // Nothing of the log stands before its own first key.
    if (log == last && loss->to.len < LOG_KEY)
        return false;
    *behind = log == last ? be64_get(loss->to.ptr + 4) : 0;
    return true;
}

// Where the log is whole from; false if nothing of it was lost.
static bool find_hole(const struct holes *holes, tree_id log, uint64_t *first)
{
    bool found = holes->losses->unknown;
    *first = found ? holes->state.last + 1 : 0;
    for (size_t i = 0; i < holes->losses->count; i++) {
        uint64_t behind;
        if (!range_touches(&holes->losses->ranges[i], log, &behind))
            continue;
        found = true;
        if (behind == 0)
            behind = holes->state.last + 1;
        *first = behind > *first ? behind : *first;
    }
    return found;
}

// All that is before the time of the first entry that is left may be lost.
static int64_t time_since(struct holes *holes, tree_id log, uint64_t first)
{
    struct verifier *v = holes->v;
    uint8_t key[LOG_KEY];
    struct store_value value;
    struct store_error cause;
    struct log_entry entry;
    int64_t now_ms = env_now(&v->engine.env);
    int64_t since = holes->state.time_ms > now_ms ? holes->state.time_ms : now_ms;
    be32_put(key, log);
    be64_put(key + 4, first);
    struct slice place = slice_of(key, sizeof(key));
    if (store_get(v->store, NULL, place, &value, &cause) != STORE_FOUND)
        return since;
    if (log_entry_read(place, value.bytes, &entry))
        since = entry.time_ms;
    store_value_release(v->store, &value);
    return since;
}

static void remove_before(struct holes *holes, tree_id log, uint64_t first)
{
    struct verifier *v = holes->v;
    struct view view = {.snapshot = NULL};
    struct store_cursor *cursor = verify_cursor(v, &view, log);
    size_t keys = 0;
    for (store_cursor_first(cursor); store_cursor_valid(cursor); store_cursor_next(cursor)) {
        struct slice key = store_cursor_key(cursor);
        if (key.len == LOG_KEY && be64_get(key.ptr + 4) >= first)
            break;
        mend_delete(v, key);
        if (++keys % VERIFY_SLICE_KEYS == 0 && !verify_proceed(v, 0))
            break;
    }
    store_cursor_close(cursor);
    (void)verify_proceed(v, 0);
}

// The records of the API that show the log: of the table, or their own.
static void cut_records(struct holes *holes, struct slice table, tree_id log, uint64_t first)
{
    struct verifier *v = holes->v;
    struct store_cursor *cursor = meta_cursor(v->store, META_RECORD);
    for (; store_cursor_valid(cursor); store_cursor_next(cursor)) {
        struct slice key = store_cursor_key(cursor);
        struct slice name = slice_of(key.ptr + META_HEAD, key.len - META_HEAD);
        struct slice cut;
        if (v->options->knowledge->record_cut(name, store_cursor_value(cursor), table, log, first,
                                              &v->arena, &cut))
            mend_put(v, key, cut);
        arena_reset(&v->arena);
    }
    store_cursor_close(cursor);
}

static void cut_log(struct holes *holes, struct table *table, struct slice name, tree_id log)
{
    struct verifier *v = holes->v;
    uint64_t first;
    if (log == 0 || !find_hole(holes, log, &first))
        return;
    int64_t since = time_since(holes, log, first);
    if (table != NULL && v->options->knowledge->table_cut(table, since)) {
        struct buf record;
        buf_init(&record, STORE_VALUE_MAX);
        table_encode(table, &record);
        ensure_memory(record.failed ? NULL : &record);
        meta_key(&v->txn.key, META_TABLE, table->name);
        mend_put(v, buf_view(&v->txn.key), buf_view(&record));
        buf_release(&record);
    }
    cut_records(holes, name, log, first);
    remove_before(holes, log, first);
    holes->visit(holes->context, &(struct verify_cut){name, since});
}

// Logs that tables have left to their streams.
static void cut_orphans(struct holes *holes)
{
    struct verifier *v = holes->v;
    struct store_cursor *cursor = meta_cursor(v->store, META_RECORD);
    for (; store_cursor_valid(cursor); store_cursor_next(cursor)) {
        struct slice key = store_cursor_key(cursor);
        struct slice name = slice_of(key.ptr + META_HEAD, key.len - META_HEAD);
        struct slice record = store_cursor_value(cursor);
        if (value_valid(record))
            cut_log(holes, NULL, name, v->options->knowledge->record_log(name, record));
    }
    store_cursor_close(cursor);
}

bool verify_cut_logs(const struct verify_options *options, const struct verify_losses *losses,
                     void (*visit)(void *context, const struct verify_cut *cut), void *context)
{
    if (!losses->unknown && losses->count == 0)
        return true;
    struct verifier *v = verifier_new(options);
    struct holes holes = {v, losses, verify_log_state(v, NULL), visit, context};
    while (!v->stopped && verifier_next_table(v)) {
        struct view view;
        if (!view_open(v, buf_view(&v->name), 0, &view))
            continue;
        cut_log(&holes, view.table, view.table->name, view.table->log);
        view_close(v, &view);
    }
    cut_orphans(&holes);
    bool done = !v->stopped;
    verifier_free(v);
    return done;
}
