// A change log: every entry can be read, has the keys of an item, images that fit its event, and a
// sequence that has been given out. Sequences count over the whole database, so one log has gaps.
#include "engine/verify_internal.h"

#include "base/encode.h"
#include "engine/log.h"

static uint64_t last_sequence(struct verifier *v, struct store_snapshot *snapshot)
{
    struct store_value value;
    struct store_error cause;
    uint64_t last = 0;
    meta_key(&v->txn.key, META_SEQUENCE, slice_of(NULL, 0));
    if (store_get(v->store, snapshot, buf_view(&v->txn.key), &value, &cause) == STORE_FOUND) {
        last = value.bytes.len == 8 ? be64_get(value.bytes.ptr) : 0;
        store_value_release(v->store, &value);
    }
    return last;
}

static bool is_item(struct slice value)
{
    return value.len > 0 && value.ptr[0] == VALUE_TAG_M && value_valid(value);
}

// What is wrong with an entry, or NULL.
static const char *fault_of(struct slice key, struct slice value, uint64_t last)
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
    if (entry.sequence > last)
        return "the entry has a sequence that has not been given out yet";
    return NULL;
}

static bool changes_slice(struct verifier *v, struct tally *tally, tree_id log)
{
    struct view view = {.snapshot = store_snapshot_take(v->store)};
    ensure(view.snapshot != NULL);
    uint64_t last = last_sequence(v, view.snapshot);
    struct store_cursor *cursor = verify_cursor(v, &view, log);
    size_t keys = 0;
    size_t bytes = 0;
    if (v->place.len > 0)
        store_cursor_seek(cursor, buf_view(&v->place));
    else
        store_cursor_first(cursor);
    while (store_cursor_valid(cursor) && keys < VERIFY_SLICE_KEYS && bytes < VERIFY_SLICE_BYTES) {
        struct slice key = store_cursor_key(cursor);
        const char *fault = fault_of(key, store_cursor_value(cursor), last);
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
    buf_clear(&v->place);
    while (changes_slice(v, tally, log))
        ;
}
