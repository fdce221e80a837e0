// The changes of an incremental export: for each item that was written in the window, what it was
// before the window and what it was at its end.
//
// The change log is read twice. The first time the items that were changed in the window are noted,
// with the sequence of their first change; the second time the first change after the window. The
// log keeps old images: that of the first change is the item before the window, that of the change
// after it the item at its end; without one the item is as it is now. If there are more notes than
// there is room for, all of that is done for one part of the keys after the other (engine/notes.h).
#include "exchange/exchange.h"

#include "engine/log.h"
#include "engine/notes.h"

struct changes {
    struct workshop *shop;
    struct table *table;
    const struct export_record *record;
    struct store_snapshot *snapshot;
    struct error *error;
    struct notes notes;
    struct arena images; // of one line
    struct slice old_item;
    struct slice keys;
};

static void note_window(void *context, struct slice tree_key, const struct log_entry *entry)
{
    struct changes *changes = context;
    notes_add(&changes->notes, tree_key, entry->sequence, entry->time_ms);
}

static void note_after(void *context, struct slice tree_key, const struct log_entry *entry)
{
    struct changes *changes = context;
    struct note *note = notes_find(&changes->notes, tree_key);
    if (note != NULL && note->after == 0)
        note->after = entry->sequence;
}

static bool keep_image(void *context, const struct log_entry *entry)
{
    struct changes *changes = context;
    changes->keys = arena_copy(&changes->images, entry->keys);
    changes->old_item =
        entry->old_item.len == 0 ? VALUE_NONE : arena_copy(&changes->images, entry->old_item);
    return false;
}

// The old image of one entry of the log, and its keys.
static bool read_image(struct changes *changes, uint64_t sequence, struct slice *image)
{
    changes->old_item = VALUE_NONE;
    if (!engine_log_read(changes->shop->engine, changes->snapshot, changes->table->log, sequence,
                         sequence, keep_image, changes, changes->error))
        return false;
    *image = changes->old_item;
    return true;
}

// An image that the filter does not take is left out of the line, as if the item were not there:
// the lines are the changes of what a full export with the filter has. *taken is false if there is
// nothing to tell.
static bool filter_line(const struct changes *changes, struct export_filter *filter,
                        struct change_images *line, bool *taken)
{
    *taken = export_filter_keys(filter, line->keys);
    if (!*taken)
        return true;
    if (!export_filter_item(filter, line->old_image))
        line->old_image = VALUE_NONE;
    if (!export_filter_item(filter, line->new_image))
        line->new_image = VALUE_NONE;
    *taken = !export_filter_chooses(filter) || line->old_image.len > 0 || line->new_image.len > 0;
    return export_filter_project(filter, EXPORT_OLD_IMAGE, &line->old_image, changes->error) &&
           export_filter_project(filter, EXPORT_NEW_IMAGE, &line->new_image, changes->error);
}

static bool write_line(const struct changes *changes, const struct export_target *target,
                       struct change_images *line, int64_t *bytes)
{
    bool old_images = changes->record->old_images;
    bool taken;
    *bytes += old_images && line->old_image.len > 0 ? (int64_t)value_item_size(line->old_image) : 0;
    *bytes += line->new_image.len > 0 ? (int64_t)value_item_size(line->new_image) : 0;
    if (!filter_line(changes, target->filter, line, &taken))
        return false;
    if (!old_images)
        line->old_image = VALUE_NONE;
    return !taken || export_change(target->writer, line, changes->error);
}

static bool write_note(struct changes *changes, const struct note *note,
                       const struct export_target *target, int64_t *bytes)
{
    struct change_images line = {.time_micros = note->time_ms * 1000};
    struct item_read read = {.item = VALUE_NONE};
    arena_reset(&changes->images);
    if (!read_image(changes, note->sequence, &line.old_image))
        return false;
    line.keys = changes->keys;
    if (note->after != 0) {
        if (!read_image(changes, note->after, &line.new_image))
            return false;
    } else {
        if (!engine_get(changes->shop->engine, changes->snapshot, note->key, &read, changes->error))
            return false;
        line.new_image = read.item;
    }
    bool ok = write_line(changes, target, &line, bytes);
    item_read_release(changes->shop->engine, &read);
    return ok;
}

static bool read_log(struct changes *changes, int64_t from_ms, int64_t to_ms,
                     void (*visit)(void *context, struct slice tree_key,
                                   const struct log_entry *entry))
{
    struct log_window window = {.table = changes->table,
                                .snapshot = changes->snapshot,
                                .from_ms = from_ms,
                                .to_ms = to_ms,
                                .last = UINT64_MAX,
                                .stops = work_stops,
                                .context = changes->shop};
    return engine_log_window(changes->shop->engine, &window, visit, changes, changes->error);
}

// Writes the changes of one part of the keys.
static bool write_part(struct changes *changes, const struct export_target *target, int64_t *bytes)
{
    if (!read_log(changes, changes->record->from_ms, changes->record->to_ms, note_window))
        return false;
    notes_sort(&changes->notes);
    if (changes->notes.count == 0)
        return true;
    if (!read_log(changes, changes->record->to_ms, INT64_MAX, note_after))
        return false;
    for (size_t i = 0; i < changes->notes.count; i++) {
        if (work_stopping(changes->shop))
            return error_set(changes->error, ERR_UNAVAILABLE, "The server is stopping.");
        if (!write_note(changes, &changes->notes.list[i], target, bytes))
            return false;
    }
    return true;
}

bool export_changes(struct workshop *shop, struct table *table, const struct export_record *record,
                    const struct export_target *target, int64_t *bytes, struct error *error)
{
    struct changes changes = {.shop = shop, .table = table, .record = record, .error = error};
    changes.snapshot = engine_snapshot(shop->engine);
    notes_init(&changes.notes, shop->note_bytes > 0 ? shop->note_bytes : NOTES_BYTES);
    arena_init(&changes.images, SIZE_MAX);
    bool ok = true;
    if (table->log != 0) {
        do
            ok = write_part(&changes, target, bytes);
        while (ok && notes_next(&changes.notes));
    }
    arena_release(&changes.images);
    notes_release(&changes.notes);
    engine_snapshot_release(shop->engine, changes.snapshot);
    return ok;
}
