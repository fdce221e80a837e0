// The heaviest of many keys in little memory: a sketch by the SpaceSaving method.
//
// It keeps a fixed number of counters. A key that has none takes over the smallest one, and its
// count begins there; so a count is never too low, and too high by at most `error`. Every key with
// more than total/capacity hits has a counter.
//
// Not for use by several threads at once.
#ifndef API_INSIGHTS_SKETCH_H
#define API_INSIGHTS_SKETCH_H

#include "base/attributes.h"
#include "base/slice.h"

struct sketch;

struct sketch_row {
    struct slice key; // until the sketch is changed
    uint64_t count;
    uint64_t error; // how much of the count may belong to other keys
};

struct sketch *sketch_new(size_t capacity);
void sketch_free(struct sketch *sketch);
void sketch_count(struct sketch *sketch, struct slice key);
// The heaviest rows, heaviest first (equal ones by key); how many there are.
size_t sketch_top(const struct sketch *sketch, struct sketch_row *rows, size_t max);
// Hits of all keys.
uint64_t sketch_total(const struct sketch *sketch);

#endif
