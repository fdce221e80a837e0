// A closed loop over many connections: each sends a request, waits for its answer, and sends
// the next.
#ifndef BENCH_BENCH_RUN_H
#define BENCH_BENCH_RUN_H

#include "bench/bench_histogram.h"
#include "bench/bench_server.h"
#include "bench/bench_workload.h"
#include "client/client.h"

enum { BENCH_CONNECTIONS_MAX = 10000, BENCH_SAMPLE = 400 };

struct bench_plan {
    struct client_address address;
    const struct client_trust *trust; // for https://
    const struct sign_keys *keys;     // to sign with; NULL: signatures are made up
    unsigned connections;
    unsigned seconds;  // how long to measure, after a fifth of it to warm up; or 0 and …
    uint64_t requests; // … exactly so many, all measured
    pid_t server;      // 0: not known
    struct bench_counters counters;
    bool progress; // on standard error
};

// What was measured.
struct bench_result {
    const struct bench_workload *workload;
    double seconds;
    uint64_t requests; // answered well
    uint64_t written;  // items, by those
    uint64_t errors;   // answered otherwise, or not at all
    struct bench_histogram latencies;
    bool has_usage;
    struct bench_usage before;
    struct bench_usage after;
    char sample[BENCH_SAMPLE]; // of the first error
};

// False with a sentence in `error` if the server cannot be reached, or stops answering.
MUST_CHECK bool bench_run(const struct bench_plan *plan, const struct bench_workload *workload,
                          struct bench_source *source, struct bench_result *result, char *error,
                          size_t error_size);

#endif
