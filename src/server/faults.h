// Faults on request, for tests of applications: a rule names an operation, what happens to it, and
// how often.
//
//   OPERATION:KIND[:RATE][,…]
//
// OPERATION is a name or *; KIND is throttle, conflict, internal, or latency=Nms; RATE is from 0 to
// 1 and 1 if it is left out. Of the rules that come true the first failure counts; latencies add
// up and come before it. `*:conflict` concerns those operations that can meet a conflict.
#ifndef SERVER_FAULTS_H
#define SERVER_FAULTS_H

#include "base/buf.h"

struct faults;

enum fault_kind { FAULT_NONE, FAULT_THROTTLE, FAULT_CONFLICT, FAULT_INTERNAL, FAULT_LATENCY };

struct fault {
    enum fault_kind failure; // what to answer instead; FAULT_NONE to go on
    unsigned latency_ms;     // wait that long first
};

enum { FAULT_RULES_MAX = 64, FAULT_LATENCY_MAX = 60 * 1000 };

struct faults *faults_new(void); // without rules
void faults_free(struct faults *faults);

// Replaces all rules, in one go; an empty text removes them. False, and nothing changed, with a
// sentence in `error`. Any thread.
MUST_CHECK bool faults_set(struct faults *faults, struct slice rules, char *error,
                           size_t error_size);
// The rules in the form of faults_set, separated by commas.
void faults_write(struct faults *faults, struct buf *out);

// What happens to a request. `random` is called for each rule that might apply.
struct fault faults_draw(struct faults *faults, struct slice operation,
                         uint64_t (*random)(void *context), void *context);

#endif
