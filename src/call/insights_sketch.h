// The heaviest of many keys in little memory: a sketch by the SpaceSaving method.
//
// It keeps a bounded number of counters, which it makes as keys come. A key that has none when all
// are in use takes over the smallest one, and its count begins there; so a count is never too low,
// and too high by at most `error`. Every key with more than total/capacity hits has a counter.
//
// Memory is counted in a share of the budget. Where that refuses, the sketch goes on with the
// counters it has, and its errors become larger; nothing fails.
//
// Not for use by several threads at once; the memory is.
#ifndef CALL_INSIGHTS_SKETCH_H
#define CALL_INSIGHTS_SKETCH_H

#include "base/attributes.h"
#include "base/budget.h"
#include "base/slice.h"

// What all sketches together may use.
struct sketch_memory {
    struct budget *budget; // that it is counted in, or NULL
    size_t max;
    _Atomic size_t used;
};

// An eighth of the budget, which may be NULL.
void sketch_memory_init(struct sketch_memory *memory, struct budget *budget);
// Whether there is that much. Requests come first: once half of the budget is in use there is none.
MUST_CHECK bool sketch_take(struct sketch_memory *memory, size_t bytes);
void sketch_give(struct sketch_memory *memory, size_t bytes);

struct sketch_counter;

// Private, but for its size.
struct sketch {
    struct sketch_memory *memory;
    uint64_t total;
    uint64_t floor; // no key without a counter has more hits
    struct sketch_counter *counters;
    uint32_t *heap;  // places in `counters`
    uint32_t *slots; // places in `counters`, plus one; 0 is free
    uint32_t capacity;
    uint32_t room; // counters there is memory for
    uint32_t count;
    uint32_t mask; // slots - 1
};

struct sketch_row {
    struct slice key; // until the sketch is changed
    uint64_t count;
    uint64_t error; // how much of the count may belong to other keys
};

// Takes no memory before the first key. The memory is borrowed.
void sketch_init(struct sketch *sketch, uint32_t capacity, struct sketch_memory *memory);
void sketch_release(struct sketch *sketch);
void sketch_count(struct sketch *sketch, struct slice key);
// The heaviest rows, heaviest first (equal ones by key); how many there are.
size_t sketch_top(const struct sketch *sketch, struct sketch_row *rows, size_t max);
// Hits of all keys.
uint64_t sketch_total(const struct sketch *sketch);

#endif
