// What a server process has consumed since it started, as the kernel counts it. The difference of
// two samples belongs to the work between them.
#ifndef BENCH_BENCH_SERVER_H
#define BENCH_BENCH_SERVER_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct bench_usage {
    double cpu_seconds;     // of all threads, user and kernel
    uint64_t bytes_written; // handed to the disk; 0 where the kernel does not say
    uint64_t resident;      // bytes of memory now
    uint64_t instructions;  // in user space; 0 where they cannot be counted
};

// Instruction counters of the threads that the process has, and will have.
struct bench_counters {
    int *fds;
    int count;
};

// False if there is no such process. Zero it and read it as often as you like.
MUST_CHECK bool bench_usage_read(pid_t pid, const struct bench_counters *counters,
                                 struct bench_usage *out);
// Leaves no counters where the machine has none, or does not let us.
void bench_counters_open(struct bench_counters *counters, pid_t pid);
void bench_counters_close(struct bench_counters *counters);

#endif
