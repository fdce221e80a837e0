// The changes of an incremental export: for each item that was written in the window, what it was
// before the window and what it was at its end.
//
// The change log is read twice. The first time the items that were changed in the window are noted,
// with the sequence of their first change; the second time the first change after the window. The
// log keeps old images: that of the first change is the item before the window, that of the change
// after it the item at its end; without one the item is as it is now. Memory: a note for each item.
#include "api/transfer.h"

#include "engine/layout.h"
#include "engine/log.h"

#include <stdlib.h>

struct note {
    struct slice key; // tree key, in the arena
    uint64_t first;   // sequence of the first change in the window
    uint64_t after;   // and of the first one behind it; 0 if there is none
    int64_t time_ms;  // of the last change in the window
};

struct changes {
    struct api *api;
    struct table *table;
    const struct export_work *work;
    struct store_snapshot *snapshot;
    struct error *error;
    struct arena arena;
    struct buf key;
    size_t count;
    size_t sorted; // so many at the front are sorted and have different keys
    size_t capacity;
    struct note *notes;
    struct arena images; // of one line
    struct slice old_item;
    struct slice keys;
};

static int compare_notes(const void *a, const void *b)
{
    const struct note *left = a;
    const struct note *right = b;
    int order = slice_compare(left->key, right->key);
    if (order != 0)
        return order;
    return left->first < right->first ? -1 : left->first > right->first;
}

// One note for each key.
static void merge_notes(struct changes *changes)
{
    if (changes->count == 0)
        return;
    qsort(changes->notes, changes->count, sizeof(*changes->notes), compare_notes);
    size_t kept = 1;
    for (size_t i = 1; i < changes->count; i++) {
        struct note *last = &changes->notes[kept - 1];
        if (!slice_equal(changes->notes[i].key, last->key))
            changes->notes[kept++] = changes->notes[i];
        else if (changes->notes[i].time_ms > last->time_ms)
            last->time_ms = changes->notes[i].time_ms;
    }
    changes->count = kept;
    changes->sorted = kept;
}

static struct note *find_note(const struct changes *changes, struct slice key)
{
    struct note wanted = {.key = key};
    size_t low = 0;
    for (size_t high = changes->sorted; low < high;) {
        size_t middle = low + (high - low) / 2;
        int order = slice_compare(changes->notes[middle].key, wanted.key);
        if (order == 0)
            return &changes->notes[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void make_key(struct changes *changes, const struct log_entry *entry)
{
    buf_clear(&changes->key);
    layout_item_key(&changes->key, changes->table->tree, &changes->table->keys, entry->keys);
}

static bool note_window(void *context, const struct log_entry *entry)
{
    struct changes *changes = context;
    if (background_stopping(changes->api))
        return error_set(changes->error, ERR_UNAVAILABLE, "The server is stopping.");
    if (entry->time_ms < changes->work->from_ms || entry->time_ms >= changes->work->to_ms)
        return true;
    make_key(changes, entry);
    struct note *known = find_note(changes, buf_view(&changes->key));
    if (known != NULL) {
        known->time_ms = entry->time_ms;
        return true;
    }
    if (changes->count == changes->capacity) {
        merge_notes(changes);
        if (changes->count >= changes->capacity / 2) {
            size_t capacity = changes->capacity == 0 ? 1024 : 2 * changes->capacity;
            struct note *notes = realloc(changes->notes, capacity * sizeof(*notes));
            if (notes == NULL)
                return error_budget(changes->error);
            changes->notes = notes;
            changes->capacity = capacity;
        }
    }
    struct slice key = arena_copy(&changes->arena, buf_view(&changes->key));
    if (key.ptr == NULL)
        return error_budget(changes->error);
    changes->notes[changes->count++] =
        (struct note){.key = key, .first = entry->sequence, .time_ms = entry->time_ms};
    return true;
}

static bool note_after(void *context, const struct log_entry *entry)
{
    struct changes *changes = context;
    if (background_stopping(changes->api))
        return error_set(changes->error, ERR_UNAVAILABLE, "The server is stopping.");
    if (entry->time_ms < changes->work->to_ms)
        return true;
    make_key(changes, entry);
    struct note *note = find_note(changes, buf_view(&changes->key));
    if (note != NULL && note->after == 0)
        note->after = entry->sequence;
    return true;
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
    if (!engine_log_read(changes->api->engine, changes->snapshot, changes->table->log, sequence,
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
    bool old_images = changes->work->old_images;
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
    if (!read_image(changes, note->first, &line.old_image))
        return false;
    line.keys = changes->keys;
    if (note->after != 0) {
        if (!read_image(changes, note->after, &line.new_image))
            return false;
    } else {
        if (!engine_get(changes->api->engine, changes->snapshot, note->key, &read, changes->error))
            return false;
        line.new_image = read.item;
    }
    bool ok = write_line(changes, target, &line, bytes);
    item_read_release(changes->api->engine, &read);
    return ok;
}

static bool write_all(struct changes *changes, const struct export_target *target, int64_t *bytes)
{
    struct engine *engine = changes->api->engine;
    tree_id log = changes->table->log;
    if (log == 0)
        return true;
    if (!engine_log_read(engine, changes->snapshot, log, 0, UINT64_MAX, note_window, changes,
                         changes->error) ||
        changes->error->code != ERR_NONE)
        return false;
    merge_notes(changes);
    if (changes->count == 0)
        return true;
    if (!engine_log_read(engine, changes->snapshot, log, 0, UINT64_MAX, note_after, changes,
                         changes->error) ||
        changes->error->code != ERR_NONE)
        return false;
    for (size_t i = 0; i < changes->count; i++) {
        if (background_stopping(changes->api))
            return error_set(changes->error, ERR_UNAVAILABLE, "The server is stopping.");
        if (!write_note(changes, &changes->notes[i], target, bytes))
            return false;
    }
    return true;
}

bool export_changes(struct api *api, struct table *table, const struct export_work *work,
                    const struct export_target *target, int64_t *bytes, struct error *error)
{
    struct changes changes = {.api = api, .table = table, .work = work, .error = error};
    changes.snapshot = engine_snapshot(api->engine);
    arena_init(&changes.arena, SIZE_MAX);
    arena_init(&changes.images, SIZE_MAX);
    buf_init(&changes.key, STORE_KEY_MAX);
    bool ok = write_all(&changes, target, bytes);
    buf_release(&changes.key);
    arena_release(&changes.images);
    arena_release(&changes.arena);
    free(changes.notes);
    engine_snapshot_release(api->engine, changes.snapshot);
    return ok;
}
