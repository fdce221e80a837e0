// The workloads: each makes one request after the other.
#ifndef BENCH_BENCH_WORK_H
#define BENCH_BENCH_WORK_H

#include "bench/bench_items.h"

enum bench_operation {
    BENCH_GET_ITEM,
    BENCH_PUT_ITEM,
    BENCH_UPDATE_ITEM,
    BENCH_QUERY,
    BENCH_TRANSACT,
    BENCH_BATCH,
    BENCH_OPERATIONS,
};

extern const char *const bench_operation_names[BENCH_OPERATIONS];

// What the next request is, besides its body.
struct bench_request {
    enum bench_operation operation;
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
    const char *about;
    bool wants_gsi;
    void (*next)(struct bench_source *source, struct buf *body, struct bench_request *request);
};

// Ends with a NULL name. The first one, "load", makes the items and is not for users to name.
extern const struct bench_workload bench_workloads[];

void bench_source_init(struct bench_source *source, const struct bench_data *data);

#endif
