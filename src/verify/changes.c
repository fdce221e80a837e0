// A change log: every entry can be read, has the keys of an item, images that fit its event, a
// sequence that has been given out, and a time that is not before that of the entry before it.
// Sequences count over the whole database, so one log has gaps, and an entry that is missing cannot
// be seen here: who loses one has the log begin behind it (holes.c).
#include "verify/verify_internal.h"

#include "base/encode.h"
#include "engine/log.h"

struct log_state verify_log_state(struct verifier *v, struct store_snapshot *snapshot)
{
    struct store_value value;
    struct store_error cause;
    struct log_state state = {.last = 0};
    if (meta_get(v->store, snapshot, META_SEQUENCE, slice_of(NULL, 0), &value, &cause) !=
        STORE_FOUND)
        return state;
    if (value.bytes.len >= 8)
        state.last = be64_get(value.bytes.ptr);
    state.timed = value.bytes.len == 24;
    if (state.timed) {
        state.time_ms = (int64_t)be64_get(value.bytes.ptr + 8);
        state.ordered = be64_get(value.bytes.ptr + 16);
    }
    store_value_release(v->store, &value);
    return state;
}

static bool is_item(struct slice value)
{
    return value.len > 0 && value.ptr[0] == VALUE_TAG_M && value_valid(value);
}

// What is wrong with an entry, or NULL. *before_ms is the time of the one before it.
static const char *fault_of(struct slice key, struct slice value, const struct log_state *state,
                            int64_t *before_ms)
{
    struct log_entry entry;
    if (!log_entry_read(key, value, &entry) || !is_item(entry.keys))
        return "the entry cannot be read";
    if ((entry.old_item.len > 0 && !is_item(entry.old_item)) ||
        (entry.new_item.len > 0 && !is_item(entry.new_item)))
        return "the entry has an image that is not an item";
    if ((entry.event == LOG_INSERT && entry.old_item.len > 0) ||
        (entry.event == LOG_REMOVE && entry.new_item.len > 0) || entry.event > LOG_REMOVE)
        return "the entry has images that do not fit its event";
    if (entry.sequence > state->last)
        return "the entry has a sequence that has not been given out yet";
    int64_t before = *before_ms;
    *before_ms = entry.time_ms;
    if (state->timed && entry.sequence > state->ordered &&
        (entry.time_ms < before || entry.time_ms > state->time_ms))
        return "the entry's time does not lie between those before and behind it";
    return NULL;
}

static bool changes_slice(struct verifier *v, struct tally *tally, tree_id log, int64_t *before_ms)
{
    struct view view = {.snapshot = store_snapshot_take(v->store)};
    ensure(view.snapshot != NULL);
    struct log_state state = verify_log_state(v, view.snapshot);
    struct store_cursor *cursor = verify_cursor(v, &view, log);
    size_t keys = 0;
    size_t bytes = 0;
    store_cursor_seek(cursor, buf_view(&v->place));
    while (store_cursor_valid(cursor) && keys < VERIFY_SLICE_KEYS && bytes < VERIFY_SLICE_BYTES) {
        struct slice key = store_cursor_key(cursor);
        const char *fault = fault_of(key, store_cursor_value(cursor), &state, before_ms);
        if (fault != NULL) {
            verify_differ(v, tally, VALUE_NONE, key, "%s", fault);
            mend_delete(v, key);
        }
        keys++;
        bytes += store_cursor_value(cursor).len;
        buf_clear(&v->place);
        buf_slice(&v->place, key);
        buf_byte(&v->place, 0);
        store_cursor_next(cursor);
    }
    bool more = store_cursor_valid(cursor);
    tally->examined += keys;
    verify_cursor_end(v, tally, cursor);
    store_snapshot_release(v->store, view.snapshot);
    return verify_proceed(v, keys) && more;
}

void verify_changes(struct verifier *v, tree_id log)
{
    struct tally *tally = tally_of(v, VERIFY_CHANGES, log, slice_of(NULL, 0));
    int64_t before_ms = 0;
    buf_clear(&v->place);
    while (changes_slice(v, tally, log, &before_ms))
        ;
}
