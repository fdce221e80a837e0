// A table as it was, see history.h. The log is read once, before the first item, and what was
// changed after the instant is noted: key, and the sequence of the first change. Going through the
// items is then a merge of two sorted sequences: the snapshot's tree, and the notes, whose images
// are fetched from the log when their turn comes.
#include "engine/history.h"

#include "base/encode.h"
#include "engine/engine_internal.h"
#include "engine/log.h"

#include <stdlib.h>

struct note {
    struct slice key; // in the arena
    uint64_t sequence;
};

struct history {
    struct engine *engine;
    struct table *table;
    int64_t at_ms;
    struct store_snapshot *snapshot;
    struct store_cursor *cursor;
    bool ready; // the log has been read, and the cursor stands at an item
    bool moved; // the cursor has given its item: go on before the next look
    uint64_t sequence;
    struct arena arena;
    size_t note_count;
    size_t note_capacity;
    struct note *notes; // sorted by key
    size_t next_note;
    struct buf image; // of the note that was given last
    struct error error;
};

// ---- Notes --------------------------------------------------------------------------

static bool add_note(void *context, const struct log_entry *entry)
{
    struct history *history = context;
    if (entry->time_ms <= history->at_ms)
        return true;
    buf_clear(&history->image);
    layout_item_key(&history->image, history->table->tree, &history->table->keys, entry->keys);
    if (history->note_count == history->note_capacity) {
        history->note_capacity = history->note_capacity == 0 ? 256 : history->note_capacity * 2;
        history->notes = realloc(history->notes, history->note_capacity * sizeof(*history->notes));
        ensure(history->notes != NULL);
    }
    struct slice key = arena_copy(&history->arena, buf_view(&history->image));
    if (key.ptr == NULL)
        return error_budget(&history->error);
    history->notes[history->note_count++] = (struct note){key, entry->sequence};
    return true;
}

static int compare_notes(const void *a, const void *b)
{
    const struct note *left = a;
    const struct note *right = b;
    int order = slice_compare(left->key, right->key);
    if (order != 0)
        return order;
    return left->sequence < right->sequence ? -1 : left->sequence > right->sequence;
}

// Keeps the first change of each key.
static void sort_notes(struct history *history)
{
    if (history->note_count == 0)
        return;
    qsort(history->notes, history->note_count, sizeof(*history->notes), compare_notes);
    size_t kept = 1;
    for (size_t i = 1; i < history->note_count; i++) {
        if (!slice_equal(history->notes[i].key, history->notes[kept - 1].key))
            history->notes[kept++] = history->notes[i];
    }
    history->note_count = kept;
}

static bool read_notes(struct history *history)
{
    if (history->at_ms == HISTORY_NOW || history->table->log == 0)
        return true;
    if (!engine_log_read(history->engine, history->snapshot, history->table->log, 0,
                         history->sequence, add_note, history, &history->error) ||
        history->error.code != ERR_NONE)
        return false;
    sort_notes(history);
    return true;
}

// ---- Opening ------------------------------------------------------------------------

static bool read_sequence(struct history *history, struct error *error)
{
    struct store_value value;
    struct store_error cause;
    buf_clear(&history->image);
    meta_key(&history->image, META_SEQUENCE, slice_of(NULL, 0));
    switch (store_get(history->engine->store, history->snapshot, buf_view(&history->image), &value,
                      &cause)) {
    case STORE_FAILED:
        return engine_store_failed(error, &cause);
    case STORE_ABSENT:
        return true;
    case STORE_FOUND:
        break;
    }
    history->sequence = be64_get(value.bytes.ptr);
    store_value_release(history->engine->store, &value);
    return true;
}

struct history *history_open(struct engine *engine, struct table *table, int64_t at_ms,
                             struct error *error)
{
    struct history *history = calloc(1, sizeof(*history));
    ensure(history != NULL);
    history->engine = engine;
    history->table = table_hold(table);
    history->at_ms = at_ms;
    arena_init(&history->arena, SIZE_MAX);
    error_init(&history->error, &history->arena);
    buf_init(&history->image, 64 << 20);
    history->snapshot = store_snapshot_take(engine->store);
    ensure(history->snapshot != NULL);
    uint8_t lower[4];
    uint8_t upper[4];
    layout_tree_bounds(table->tree, lower, upper);
    history->cursor =
        store_cursor_open(engine->store, history->snapshot, slice_of(lower, 4), slice_of(upper, 4));
    ensure(history->cursor != NULL);
    if (!read_sequence(history, error)) {
        history_close(history);
        return NULL;
    }
    return history;
}

void history_close(struct history *history)
{
    store_cursor_close(history->cursor);
    store_snapshot_release(history->engine->store, history->snapshot);
    table_release(history->table);
    buf_release(&history->image);
    arena_release(&history->arena);
    free(history->notes);
    free(history);
}

uint64_t history_sequence(const struct history *history)
{
    return history->sequence;
}

// ---- Going through ------------------------------------------------------------------

static bool keep_old(void *context, const struct log_entry *entry)
{
    struct history *history = context;
    buf_clear(&history->image);
    buf_slice(&history->image, entry->old_item);
    return true;
}

// The image of a note: empty if the item was not there yet.
static bool fetch_image(struct history *history, const struct note *note)
{
    buf_clear(&history->image);
    return engine_log_read(history->engine, history->snapshot, history->table->log, note->sequence,
                           note->sequence, keep_old, history, &history->error);
}

bool history_next(struct history *history, struct slice *item)
{
    if (!history->ready) {
        if (history->error.code != ERR_NONE || !read_notes(history))
            return false;
        store_cursor_first(history->cursor);
        history->ready = true;
    }
    for (;;) {
        if (history->moved)
            store_cursor_next(history->cursor);
        history->moved = false;
        bool live = store_cursor_valid(history->cursor);
        bool noted = history->next_note < history->note_count;
        if (!live && !noted)
            return false;
        const struct note *note = noted ? &history->notes[history->next_note] : NULL;
        int order = !live    ? 1
                    : !noted ? -1
                             : slice_compare(store_cursor_key(history->cursor), note->key);
        // Of an item that is there and was changed since, the old image counts.
        history->moved = order <= 0;
        if (order < 0) {
            *item = record_item(store_cursor_value(history->cursor));
            return true;
        }
        history->next_note++;
        if (!fetch_image(history, note))
            return false;
        *item = buf_view(&history->image);
        if (item->len > 0)
            return true;
    }
}

bool history_ok(const struct history *history, struct error *error)
{
    if (history->error.code != ERR_NONE)
        return error_set(error, history->error.code, "%s", history->error.message);
    struct store_error cause;
    return store_cursor_valid(history->cursor) || store_cursor_ok(history->cursor, &cause) ||
           engine_store_failed(error, &cause);
}
