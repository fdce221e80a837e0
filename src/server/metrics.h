// What is counted of the requests, for GET /metrics.
//
// Each event loop counts into memory of its own, with plain loads and stores that happen to be
// atomic: counting costs no lock and no shared cache line. A scrape adds the loops up.
//
// A counter has two labels, the operation and the table; one of the data API has the method, the
// table, and its entity or pattern. Only names of what exists get here, and only the first of them
// are told apart, so that there are never too many; the others are "other".
#ifndef SERVER_METRICS_H
#define SERVER_METRICS_H

#include "api/api.h"

enum { METRICS_TABLES_MAX = 1000, METRICS_ROUTES_MAX = 2000 };

struct metrics;

// `loops`: how many event loops count.
struct metrics *metrics_new(unsigned loops);
void metrics_free(struct metrics *metrics);

struct metrics_request {
    const struct api_usage *usage;
    int status;
    enum error_code error; // ERR_NONE if there was none, or if it had no name
    uint64_t latency_ns;
};

// A request of the data API as a whole; the calls that it made are counted beside.
struct metrics_route {
    const char *method; // of metrics_method()
    struct slice table; // empty if there is none
    struct slice name;  // of the entity or pattern; empty if there is none
};
// One of the methods that are told apart, or "OTHER".
const char *metrics_method(struct slice method);

// All on the loop's thread.
void metrics_route(struct metrics *metrics, unsigned loop, const struct metrics_route *route,
                   const struct metrics_request *request);
void metrics_count(struct metrics *metrics, unsigned loop, const struct metrics_request *request);
void metrics_connection(struct metrics *metrics, unsigned loop, bool opened);

// One operation on one table, over all loops: totals since the start.
struct metrics_total {
    const char *operation;
    struct slice table;
    uint64_t requests;
    double read_units;
    double write_units;
    uint64_t throttled;
    uint64_t user_errors;
    uint64_t system_errors;
};
// Calls back with each operation of DynamoDB's. Any thread.
void metrics_each(struct metrics *metrics,
                  void (*visit)(void *context, const struct metrics_total *total), void *context);

// One that has no labels. Any thread.
void metrics_value(struct buf *out, const char *name, const char *type, const char *help,
                   uint64_t value);
// Prometheus' text format (0.0.4). Any thread.
void metrics_write(struct metrics *metrics, struct buf *out);

#endif
