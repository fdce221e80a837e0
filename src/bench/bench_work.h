// The workloads: each makes one request after the other.
#ifndef BENCH_BENCH_WORK_H
#define BENCH_BENCH_WORK_H

#include "bench/bench_items.h"

// What the next request is, besides its body.
struct bench_request {
    const char *operation;
    const char *expect; // a right answer contains this
    unsigned written;   // items that it writes
};

// Where the numbers of items come from. One for all workloads of a run, so that none makes an
// item that another has made.
struct bench_source {
    const struct bench_data *data;
    uint64_t random;
    uint64_t next_new;
    uint64_t next_load;
};

struct bench_workload {
    const char *name;
    bool wants_gsi;
    unsigned form; // of its requests: see bench_work.c
};

// Ends with a NULL name. The first one, "load", makes the items and is not for users to name.
extern const struct bench_workload bench_workloads[];

void bench_source_init(struct bench_source *source, const struct bench_data *data);
// Appends the body of the workload's next request.
void bench_next(const struct bench_workload *workload, struct bench_source *source,
                struct buf *body, struct bench_request *request);

#endif
