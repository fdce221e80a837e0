// Counted work. Whatever runs a client's program over stored items (conditions, filters,
// projections, updates) counts steps as it goes, so that its owner can stop or share it out before
// others have to wait. A step is about four nanoseconds: one operand, one entry or element walked
// past, 64 bytes compared or copied, one byte searched for the worst of patterns.
//
// The count is no clock: the same program on the same item always takes the same steps.
#ifndef BASE_STEPS_H
#define BASE_STEPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct steps {
    uint64_t taken;
    uint64_t limit;          // beyond it, whoever looks gives up; 0 for never
    const atomic_bool *stop; // or as soon as this is set; may be NULL
};

enum { STEPS_BYTES = 64 };

static inline void steps_add(struct steps *steps, size_t count)
{
    steps->taken += count;
}

// Bytes that were compared or copied.
static inline void steps_bytes(struct steps *steps, size_t bytes)
{
    steps->taken += bytes / STEPS_BYTES;
}

static inline bool steps_stopped(const struct steps *steps)
{
    return steps->stop != NULL && atomic_load_explicit(steps->stop, memory_order_relaxed);
}

static inline bool steps_over(const struct steps *steps)
{
    return (steps->limit != 0 && steps->taken > steps->limit) || steps_stopped(steps);
}

#endif
