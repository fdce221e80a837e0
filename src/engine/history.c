// A table as it was, see history.h. The log is read before the first item, and what was changed
// after the instant is noted: key, and the sequence of the first change. Going through the items is
// then a merge of two sorted sequences: the snapshot's tree, and the notes, whose images are
// fetched from the log when their turn comes. If there are more notes than there is room for, that
// is done for one part of the keys after the other.
#include "engine/history.h"

#include "base/encode.h"
#include "engine/engine_internal.h"
#include "engine/log.h"
#include "engine/notes.h"

#include <stdlib.h>

struct history {
    struct engine *engine;
    struct table *table;
    int64_t at_ms;
    struct history_limits limits;
    struct store_snapshot *snapshot;
    struct store_cursor *cursor;
    bool ready; // the log has been read for the first part, and the cursor stands at an item
    bool moved; // the cursor has given its item: go on before the next look
    uint64_t sequence;
    struct arena arena; // of the error
    struct notes notes;
    size_t next_note;
    struct buf image; // of the note that was given last
    struct error error;
};

// ---- Notes --------------------------------------------------------------------------

static void add_note(void *context, struct slice tree_key, const struct log_entry *entry)
{
    notes_add(context, tree_key, entry->sequence, entry->time_ms);
}

// Notes what was changed after the instant, of the next part of the keys.
static bool read_notes(struct history *history)
{
    history->next_note = 0;
    if (history->at_ms == HISTORY_NOW || history->table->log == 0)
        return true;
    struct log_window window = {.table = history->table,
                                .snapshot = history->snapshot,
                                .from_ms = history->at_ms + 1,
                                .to_ms = INT64_MAX,
                                .last = history->sequence,
                                .stops = history->limits.stops,
                                .context = history->limits.context};
    if (!engine_log_window(history->engine, &window, add_note, &history->notes, &history->error))
        return false;
    notes_sort(&history->notes);
    return true;
}

// ---- Opening ------------------------------------------------------------------------

struct history *history_open(struct engine *engine, struct table *table, int64_t at_ms,
                             const struct history_limits *limits, struct error *error)
{
    struct history *history = memory_zeroed(sizeof(*history));
    history->engine = engine;
    history->table = table_hold(table);
    history->at_ms = at_ms;
    if (limits != NULL)
        history->limits = *limits;
    notes_init(&history->notes, history->limits.bytes > 0 ? history->limits.bytes : NOTES_BYTES);
    arena_init(&history->arena, 1 << 20);
    error_init(&history->error, &history->arena);
    buf_init(&history->image, 64 << 20);
    history->snapshot = store_snapshot_take(engine->store);
    ensure_memory(history->snapshot);
    history->cursor = layout_tree_cursor(engine->store, history->snapshot, table->tree);
    if (!engine_snapshot_sequence(engine, history->snapshot, &history->sequence, error)) {
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
    notes_release(&history->notes);
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
        bool live = store_cursor_valid(history->cursor) &&
                    notes_cover(&history->notes, store_cursor_key(history->cursor));
        bool noted = history->next_note < history->notes.count;
        if (!live && !noted) {
            if (!notes_next(&history->notes) || !read_notes(history))
                return false;
            continue;
        }
        const struct note *note = noted ? &history->notes.list[history->next_note] : NULL;
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
    return engine_cursor_ok(history->cursor, error);
}
