// See insights_sketch.h. Counters stand in a heap with the smallest on top; a hash table leads from
// keys to counters. Each counter owns a copy of its key.
#include "call/insights_sketch.h"

#include "base/encode.h"

#include <stdlib.h>

enum { FIRST_ROOM = 8, KEY_ROOM = 16, UNBOUNDED = 64 << 20 };

struct sketch_counter {
    uint8_t *key; // owned
    uint32_t len;
    uint32_t room;
    uint32_t hash;
    uint32_t heap; // its place in the heap
    uint64_t count;
    uint64_t error;
};

// ---- Memory ----------------------------------------------------------------------------------

void sketch_memory_init(struct sketch_memory *memory, struct budget *budget)
{
    bool bounded = budget != NULL && budget->limit > 0;
    *memory = (struct sketch_memory){budget, bounded ? budget->limit / 8 : UNBOUNDED, 0};
}

bool sketch_take(struct sketch_memory *memory, size_t bytes)
{
    struct budget_account account = {.budget = memory->budget};
    if (budget_tight(memory->budget))
        return false;
    size_t before = atomic_fetch_add_explicit(&memory->used, bytes, memory_order_relaxed);
    if (before + bytes <= memory->max && budget_take(&account, BUDGET_INSIGHTS, bytes))
        return true;
    atomic_fetch_sub_explicit(&memory->used, bytes, memory_order_relaxed);
    return false;
}

void sketch_give(struct sketch_memory *memory, size_t bytes)
{
    struct budget_account account = {.budget = memory->budget};
    atomic_fetch_sub_explicit(&memory->used, bytes, memory_order_relaxed);
    budget_give(&account, BUDGET_INSIGHTS, bytes);
}

// What there is beside the keys.
static size_t frame_bytes(const struct sketch *sketch)
{
    return sketch->room == 0 ? 0
                             : sketch->room * (sizeof(struct sketch_counter) + sizeof(uint32_t)) +
                                   (sketch->mask + (size_t)1) * sizeof(uint32_t);
}

void sketch_init(struct sketch *sketch, uint32_t capacity, struct sketch_memory *memory)
{
    ensure(capacity > 0);
    *sketch = (struct sketch){.memory = memory, .capacity = capacity};
}

void sketch_release(struct sketch *sketch)
{
    size_t bytes = frame_bytes(sketch);
    for (size_t i = 0; i < sketch->count; i++) {
        bytes += sketch->counters[i].room;
        free(sketch->counters[i].key);
    }
    free(sketch->counters);
    free(sketch->heap);
    free(sketch->slots);
    sketch_give(sketch->memory, bytes);
    sketch_init(sketch, sketch->capacity, sketch->memory);
}

// ---- The heap --------------------------------------------------------------------------------

static void heap_put(struct sketch *sketch, uint32_t at, uint32_t counter)
{
    sketch->heap[at] = counter;
    sketch->counters[counter].heap = at;
}

static void heap_down(struct sketch *sketch, uint32_t at)
{
    uint32_t counter = sketch->heap[at];
    uint64_t count = sketch->counters[counter].count;
    for (;;) {
        uint32_t child = 2 * at + 1;
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

static void heap_up(struct sketch *sketch, uint32_t at)
{
    uint32_t counter = sketch->heap[at];
    uint64_t count = sketch->counters[counter].count;
    while (at > 0 && sketch->counters[sketch->heap[(at - 1) / 2]].count > count) {
        heap_put(sketch, at, sketch->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    heap_put(sketch, at, counter);
}

// ---- The hash table ---------------------------------------------------------------

static bool counter_is(const struct sketch_counter *counter, struct slice key, uint32_t hash)
{
    return counter->hash == hash && slice_equal(slice_of(counter->key, counter->len), key);
}

// The slot of the key, or the free one where it belongs.
static uint32_t slot_of(const struct sketch *sketch, struct slice key, uint32_t hash)
{
    uint32_t at = hash & sketch->mask;
    while (sketch->slots[at] != 0 &&
           !counter_is(&sketch->counters[sketch->slots[at] - 1], key, hash))
        at = (at + 1) & sketch->mask;
    return at;
}

// Frees a slot, and moves back those behind it that would not be found any more.
static void slot_free(struct sketch *sketch, uint32_t hole)
{
    uint32_t at = hole;
    for (;;) {
        at = (at + 1) & sketch->mask;
        if (sketch->slots[at] == 0)
            break;
        uint32_t home = sketch->counters[sketch->slots[at] - 1].hash & sketch->mask;
        if (((at - home) & sketch->mask) >= ((at - hole) & sketch->mask)) {
            sketch->slots[hole] = sketch->slots[at];
            hole = at;
        }
    }
    sketch->slots[hole] = 0;
}

// ---- Growing ---------------------------------------------------------------------------------

static void slots_fill(struct sketch *sketch)
{
    for (uint32_t i = 0; i < sketch->count; i++) {
        uint32_t at = sketch->counters[i].hash & sketch->mask;
        while (sketch->slots[at] != 0)
            at = (at + 1) & sketch->mask;
        sketch->slots[at] = i + 1;
    }
}

// Room for twice as many counters; false if there is no memory for them.
static bool sketch_grow(struct sketch *sketch)
{
    struct sketch next = *sketch;
    next.room = sketch->room == 0 ? FIRST_ROOM : sketch->room * 2;
    if (next.room > sketch->capacity)
        next.room = sketch->capacity;
    uint32_t slots = 4;
    while (slots < next.room * 2)
        slots *= 2;
    next.mask = slots - 1;
    size_t more = frame_bytes(&next) - frame_bytes(sketch);
    if (next.room == sketch->room || !sketch_take(sketch->memory, more))
        return false;
    next.counters = calloc(next.room, sizeof(*next.counters));
    next.heap = calloc(next.room, sizeof(*next.heap));
    next.slots = calloc(slots, sizeof(*next.slots));
    if (next.counters == NULL || next.heap == NULL || next.slots == NULL) {
        free(next.counters);
        free(next.heap);
        free(next.slots);
        sketch_give(sketch->memory, more);
        return false;
    }
    if (sketch->count > 0) {
        memcpy(next.counters, sketch->counters, sketch->count * sizeof(*next.counters));
        memcpy(next.heap, sketch->heap, sketch->count * sizeof(*next.heap));
    }
    free(sketch->counters);
    free(sketch->heap);
    free(sketch->slots);
    *sketch = next;
    slots_fill(sketch);
    return true;
}

// ---- Counting --------------------------------------------------------------------------------

static bool counter_reserve(struct sketch *sketch, struct sketch_counter *counter, size_t len)
{
    if (counter->key != NULL && counter->room >= len)
        return true;
    size_t room = len < KEY_ROOM ? KEY_ROOM : len;
    if (!sketch_take(sketch->memory, room - counter->room))
        return false;
    uint8_t *memory = realloc(counter->key, room);
    if (memory == NULL) {
        sketch_give(sketch->memory, room - counter->room);
        return false;
    }
    counter->key = memory;
    counter->room = (uint32_t)room;
    return true;
}

static void counter_name(struct sketch *sketch, struct sketch_counter *counter, struct slice key,
                         uint32_t hash)
{
    if (key.len > 0)
        memcpy(counter->key, key.ptr, key.len);
    counter->len = (uint32_t)key.len;
    counter->hash = hash;
    counter->error = sketch->floor;
    counter->count = sketch->floor + 1;
}

// Gives the key a counter of its own.
static bool counter_add(struct sketch *sketch, struct slice key, uint32_t hash)
{
    if (sketch->count == sketch->room && !sketch_grow(sketch))
        return false;
    uint32_t place = sketch->count;
    struct sketch_counter *counter = &sketch->counters[place];
    if (!counter_reserve(sketch, counter, key.len))
        return false;
    sketch->slots[slot_of(sketch, key, hash)] = place + 1;
    counter_name(sketch, counter, key, hash);
    sketch->count++;
    heap_put(sketch, place, place);
    heap_up(sketch, place);
    return true;
}

// Gives it the smallest counter.
static bool counter_replace(struct sketch *sketch, struct slice key, uint32_t hash)
{
    if (sketch->count == 0)
        return false;
    uint32_t place = sketch->heap[0];
    struct sketch_counter *counter = &sketch->counters[place];
    if (!counter_reserve(sketch, counter, key.len))
        return false;
    slot_free(sketch, slot_of(sketch, slice_of(counter->key, counter->len), counter->hash));
    if (counter->count > sketch->floor)
        sketch->floor = counter->count;
    counter_name(sketch, counter, key, hash);
    sketch->slots[slot_of(sketch, key, hash)] = place + 1;
    heap_down(sketch, 0);
    return true;
}

void sketch_count(struct sketch *sketch, struct slice key)
{
    uint32_t hash = crc32_of(key) * 0x9e3779b1u;
    sketch->total++;
    uint32_t found = sketch->room == 0 ? 0 : sketch->slots[slot_of(sketch, key, hash)];
    if (found != 0) {
        struct sketch_counter *counter = &sketch->counters[found - 1];
        counter->count++;
        heap_down(sketch, counter->heap);
        return;
    }
    if (!counter_add(sketch, key, hash) && !counter_replace(sketch, key, hash))
        sketch->floor++;
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
    struct sketch_row *all = calloc(sketch->count + (size_t)1, sizeof(*all));
    ensure_memory(all);
    for (size_t i = 0; i < sketch->count; i++) {
        const struct sketch_counter *counter = &sketch->counters[i];
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
