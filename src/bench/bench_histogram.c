// See bench_histogram.h. Values below 64 have a bucket each; above, the bucket is the position of
// the highest bit and the six bits below it.
#include "bench/bench_histogram.h"

#include <math.h>
#include <stddef.h>

static size_t bucket_of(uint64_t value)
{
    const uint64_t max = (UINT64_C(1) << BENCH_VALUE_BITS) - 1;
    if (value > max)
        value = max;
    if (value < BENCH_PARTS)
        return (size_t)value;
    unsigned shift = 63U - (unsigned)__builtin_clzll(value) - BENCH_PARTS_BITS;
    return ((size_t)shift << BENCH_PARTS_BITS) + (size_t)(value >> shift);
}

// The middle of a bucket.
static uint64_t bucket_value(size_t bucket)
{
    if (bucket < BENCH_PARTS)
        return bucket;
    unsigned shift = (unsigned)(bucket >> BENCH_PARTS_BITS) - 1;
    uint64_t low = (uint64_t)(BENCH_PARTS + bucket % BENCH_PARTS) << shift;
    return low + (UINT64_C(1) << shift) / 2;
}

void bench_histogram_add(struct bench_histogram *histogram, uint64_t nanoseconds)
{
    histogram->counts[bucket_of(nanoseconds)]++;
    histogram->count++;
}

uint64_t bench_histogram_value(const struct bench_histogram *histogram, double share)
{
    uint64_t wanted = (uint64_t)ceil(share * (double)histogram->count);
    uint64_t seen = 0;
    for (size_t i = 0; i < BENCH_BUCKETS; i++) {
        seen += histogram->counts[i];
        if (histogram->counts[i] > 0 && seen >= wanted)
            return bucket_value(i);
    }
    return 0;
}
