// See notes.h. When the room is used up, the larger half of the keys goes, and the part ends where
// it began.
#include "engine/notes.h"

#include <stdlib.h>

enum { KEY_MAX = 1 << 16, CAPACITY_MIN = 256 };

void notes_init(struct notes *notes, size_t max_bytes)
{
    *notes = (struct notes){.max_bytes = max_bytes};
    arena_init(&notes->arena, SIZE_MAX);
    buf_init(&notes->low, KEY_MAX);
    buf_init(&notes->high, KEY_MAX);
}

void notes_release(struct notes *notes)
{
    free(notes->list);
    arena_release(&notes->arena);
    buf_release(&notes->low);
    buf_release(&notes->high);
}

bool notes_cover(const struct notes *notes, struct slice key)
{
    return slice_compare(key, buf_view(&notes->low)) >= 0 &&
           (!notes->bounded || slice_compare(key, buf_view(&notes->high)) < 0);
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

void notes_sort(struct notes *notes)
{
    if (notes->count == notes->sorted)
        return;
    qsort(notes->list, notes->count, sizeof(*notes->list), compare_notes);
    size_t kept = 1;
    for (size_t i = 1; i < notes->count; i++) {
        struct note *last = &notes->list[kept - 1];
        if (!slice_equal(notes->list[i].key, last->key))
            notes->list[kept++] = notes->list[i];
        else if (notes->list[i].time_ms > last->time_ms)
            last->time_ms = notes->list[i].time_ms;
    }
    notes->count = kept;
    notes->sorted = kept;
}

struct note *notes_find(const struct notes *notes, struct slice key)
{
    size_t low = 0;
    for (size_t high = notes->sorted; low < high;) {
        size_t middle = low + (high - low) / 2;
        int order = slice_compare(notes->list[middle].key, key);
        if (order == 0)
            return &notes->list[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

// Moves the keys of all notes to a new arena, so that those of forgotten ones are freed.
static void move_keys(struct notes *notes)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    notes->bytes = 0;
    for (size_t i = 0; i < notes->count; i++) {
        notes->list[i].key = arena_copy(&arena, notes->list[i].key);
        ensure_memory(notes->list[i].key.ptr);
        notes->bytes += notes->list[i].key.len + sizeof(struct note);
    }
    arena_release(&notes->arena);
    notes->arena = arena;
}

// Makes room: what is there twice goes, then the larger keys.
static void make_room(struct notes *notes)
{
    size_t kept = 0;
    size_t bytes = 0;
    notes_sort(notes);
    while (kept < notes->count && (kept == 0 || bytes < notes->max_bytes / 2))
        bytes += notes->list[kept++].key.len + sizeof(struct note);
    if (kept < notes->count) {
        buf_clear(&notes->high);
        buf_slice(&notes->high, notes->list[kept].key);
        ensure(!notes->high.failed);
        notes->bounded = true;
    }
    notes->count = kept;
    notes->sorted = kept;
    move_keys(notes);
}

static void grow(struct notes *notes)
{
    notes_sort(notes);
    if (notes->count < notes->capacity / 2)
        return;
    notes->capacity = notes->capacity == 0 ? CAPACITY_MIN : 2 * notes->capacity;
    notes->list = realloc(notes->list, notes->capacity * sizeof(*notes->list));
    ensure_memory(notes->list);
}

void notes_add(struct notes *notes, struct slice key, uint64_t sequence, int64_t time_ms)
{
    if (!notes_cover(notes, key))
        return;
    struct note *known = notes_find(notes, key);
    if (known != NULL) {
        known->time_ms = time_ms > known->time_ms ? time_ms : known->time_ms;
        return;
    }
    if (notes->count == notes->capacity)
        grow(notes);
    struct slice copy = arena_copy(&notes->arena, key);
    ensure_memory(copy.ptr);
    notes->list[notes->count++] = (struct note){copy, sequence, 0, time_ms};
    notes->bytes += key.len + sizeof(struct note);
    if (notes->bytes > notes->max_bytes)
        make_room(notes);
}

bool notes_next(struct notes *notes)
{
    if (!notes->bounded)
        return false;
    struct buf low = notes->low;
    notes->low = notes->high;
    notes->high = low;
    notes->bounded = false;
    notes->count = 0;
    notes->sorted = 0;
    move_keys(notes);
    return true;
}
