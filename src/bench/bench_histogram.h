// A histogram of latencies with a bounded relative error: each power of two is cut into 64
// equal parts, so a value is known within 1.6 %, from 1 ns to 18 minutes, in 20 KB of counters.
// It owns nothing; a zeroed one is empty.
#ifndef BENCH_BENCH_HISTOGRAM_H
#define BENCH_BENCH_HISTOGRAM_H

#include <stdint.h>

enum {
    BENCH_PARTS_BITS = 6,
    BENCH_PARTS = 1 << BENCH_PARTS_BITS,
    BENCH_VALUE_BITS = 40, // larger values count as the largest
    BENCH_BUCKETS = (BENCH_VALUE_BITS - BENCH_PARTS_BITS + 1) * BENCH_PARTS,
};

struct bench_histogram {
    uint64_t count;
    uint64_t counts[BENCH_BUCKETS];
};

void bench_histogram_add(struct bench_histogram *histogram, uint64_t nanoseconds);
// The value that `share` (0 to 1) of all values do not exceed; 0 if there are none.
uint64_t bench_histogram_value(const struct bench_histogram *histogram, double share);

#endif
