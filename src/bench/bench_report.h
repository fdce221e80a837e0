// Printing what was measured: a table for people, or JSON for scripts.
#ifndef BENCH_BENCH_REPORT_H
#define BENCH_BENCH_REPORT_H

#include "bench/bench_run.h"

// As text: a heading, then a line per result as they come. As JSON: one object; `result` adds to
// the list in it.
struct bench_report {
    bool json;
    unsigned results;
};

void bench_report_begin(struct bench_report *report, const struct bench_plan *plan,
                        const struct bench_data *data, const char *endpoint);
void bench_report_result(struct bench_report *report, const struct bench_result *result);
void bench_report_end(struct bench_report *report);

#endif
