// See insights_sketch.h. Counters stand in a heap with the smallest on top; a hash table leads from
// keys to counters. Each counter owns a copy of its key.
#include "api/insights_sketch.h"

#include "base/attributes.h"
#include "base/encode.h"

#include <stdlib.h>

struct counter {
    uint8_t *key; // owned
    size_t len;
    size_t room;
    uint32_t hash;
    size_t heap; // its place in the heap
    uint64_t count;
    uint64_t error;
};

struct sketch {
    size_t capacity;
    size_t count;
    uint64_t total;
    struct counter *counters;
    size_t *heap;  // places in `counters`
    size_t *slots; // places in `counters`, plus one; 0 is free
    size_t mask;   // slots - 1
};

struct sketch *sketch_new(size_t capacity)
{
    struct sketch *sketch = calloc(1, sizeof(*sketch));
    ensure(sketch != NULL && capacity > 0);
    size_t slots = 4;
    while (slots < capacity * 2)
        slots *= 2;
    sketch->capacity = capacity;
    sketch->mask = slots - 1;
    sketch->counters = calloc(capacity, sizeof(*sketch->counters));
    sketch->heap = calloc(capacity, sizeof(*sketch->heap));
    sketch->slots = calloc(slots, sizeof(*sketch->slots));
    ensure_memory(sketch->counters);
    ensure_memory(sketch->heap);
    ensure_memory(sketch->slots);
    return sketch;
}

void sketch_free(struct sketch *sketch)
{
    if (sketch == NULL)
        return;
    for (size_t i = 0; i < sketch->count; i++)
        free(sketch->counters[i].key);
    free(sketch->counters);
    free(sketch->heap);
    free(sketch->slots);
    free(sketch);
}

// ---- The heap --------------------------------------------------------------------------------

static void heap_put(struct sketch *sketch, size_t at, size_t counter)
{
    sketch->heap[at] = counter;
    sketch->counters[counter].heap = at;
}

// Counts only grow, so a counter only moves down; a new one has the least there can be and moves
// up.
static void heap_down(struct sketch *sketch, size_t at)
{
    size_t counter = sketch->heap[at];
    uint64_t count = sketch->counters[counter].count;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= sketch->count)
            break;
        if (child + 1 < sketch->count && sketch->counters[sketch->heap[child + 1]].count <
                                             sketch->counters[sketch->heap[child]].count)
            child++;
        if (sketch->counters[sketch->heap[child]].count >= count)
            break;
        heap_put(sketch, at, sketch->heap[child]);
        at = child;
    }
    heap_put(sketch, at, counter);
}

static void heap_up(struct sketch *sketch, size_t at)
{
    size_t counter = sketch->heap[at];
    uint64_t count = sketch->counters[counter].count;
    while (at > 0 && sketch->counters[sketch->heap[(at - 1) / 2]].count > count) {
        heap_put(sketch, at, sketch->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    heap_put(sketch, at, counter);
}

// ---- The hash table ---------------------------------------------------------------

static bool counter_is(const struct counter *counter, struct slice key, uint32_t hash)
{
    return counter->hash == hash && slice_equal(slice_of(counter->key, counter->len), key);
}

// The slot of the key, or the free one where it belongs.
static size_t slot_of(const struct sketch *sketch, struct slice key, uint32_t hash)
{
    size_t at = hash & sketch->mask;
    while (sketch->slots[at] != 0 &&
           !counter_is(&sketch->counters[sketch->slots[at] - 1], key, hash))
        at = (at + 1) & sketch->mask;
    return at;
}

// Frees a slot, and moves back those behind it that would not be found any more.
static void slot_free(struct sketch *sketch, size_t hole)
{
    size_t at = hole;
    for (;;) {
        at = (at + 1) & sketch->mask;
        if (sketch->slots[at] == 0)
            break;
        size_t home = sketch->counters[sketch->slots[at] - 1].hash & sketch->mask;
        if (((at - home) & sketch->mask) >= ((at - hole) & sketch->mask)) {
            sketch->slots[hole] = sketch->slots[at];
            hole = at;
        }
    }
    sketch->slots[hole] = 0;
}

// ---- Counting --------------------------------------------------------------------------------

static void counter_name(struct counter *counter, struct slice key, uint32_t hash)
{
    if (counter->room < key.len || counter->key == NULL) {
        counter->room = key.len < 32 ? 32 : key.len;
        uint8_t *memory = realloc(counter->key, counter->room);
        ensure_memory(memory);
        counter->key = memory;
    }
    if (key.len > 0)
        memcpy(counter->key, key.ptr, key.len);
    counter->len = key.len;
    counter->hash = hash;
}

void sketch_count(struct sketch *sketch, struct slice key)
{
    uint32_t hash = crc32_of(key) * 0x9e3779b1u;
    size_t slot = slot_of(sketch, key, hash);
    sketch->total++;
    if (sketch->slots[slot] != 0) {
        struct counter *counter = &sketch->counters[sketch->slots[slot] - 1];
        counter->count++;
        heap_down(sketch, counter->heap);
        return;
    }
    if (sketch->count < sketch->capacity) {
        size_t place = sketch->count++;
        counter_name(&sketch->counters[place], key, hash);
        sketch->counters[place].count = 1;
        sketch->slots[slot] = place + 1;
        heap_put(sketch, place, place);
        heap_up(sketch, place);
        return;
    }
    size_t place = sketch->heap[0];
    struct counter *counter = &sketch->counters[place];
    slot_free(sketch, slot_of(sketch, slice_of(counter->key, counter->len), counter->hash));
    counter_name(counter, key, hash);
    counter->error = counter->count;
    counter->count++;
    sketch->slots[slot_of(sketch, key, hash)] = place + 1;
    heap_down(sketch, 0);
}

// ---- Reading ----------------------------------------------------------------------

static int compare_rows(const void *a, const void *b)
{
    const struct sketch_row *left = a;
    const struct sketch_row *right = b;
    if (left->count != right->count)
        return left->count < right->count ? 1 : -1;
    return slice_compare(left->key, right->key);
}

size_t sketch_top(const struct sketch *sketch, struct sketch_row *rows, size_t max)
{
    struct sketch_row *all = calloc(sketch->count + 1, sizeof(*all));
    ensure_memory(all);
    for (size_t i = 0; i < sketch->count; i++) {
        const struct counter *counter = &sketch->counters[i];
        all[i] = (struct sketch_row){slice_of(counter->key, counter->len), counter->count,
                                     counter->error};
    }
    qsort(all, sketch->count, sizeof(*all), compare_rows);
    size_t count = sketch->count < max ? sketch->count : max;
    memcpy(rows, all, count * sizeof(*rows));
    free(all);
    return count;
}

uint64_t sketch_total(const struct sketch *sketch)
{
    return sketch->total;
}
