// Where the lines of an audit log go: a file that is rotated, standard output, syslog or journald.
// The trail makes the chain: it gets bodies, and knows which of them the target has whole. Used by
// one thread.
//
// A file is FILE, the ones before it FILE.1, FILE.2, …, and beside them are FILE.head and, where
// there is no other key, FILE.key; all have mode 0600. A file begins with a line that says which
// log it belongs to, and goes on with the chain of the one before, over any number of starts. What
// was torn by a crash or a full disk is closed by a line that says how many bytes it was and what
// they were. Elsewhere each start begins a chain.
#ifndef AUDIT_TRAIL_H
#define AUDIT_TRAIL_H

#include "audit/chain.h"
#include "base/env.h"

struct trail;

struct trail_options {
    const char *place; // a path, "-", "syslog", "journald"; "syslog:PATH" with another socket
    const char *version;
    struct env env;
    struct chain_keys keys;
    uint64_t rotate_bytes; // 0: never
    uint64_t rotate_ms;    // 0: never
    unsigned keep;         // rotated files; 0: all
};

// NULL with a sentence. Says that the log was begun, or gone on with, in its first lines.
MUST_CHECK struct trail *trail_open(const struct trail_options *options, char *error,
                                    size_t error_size);
// NULL is fine.
void trail_free(struct trail *trail);

// Writes bodies, each with a newline behind it. *taken says how many bytes of them the target has,
// as whole lines. False if it does not take them all, with a reason in trail_reason().
MUST_CHECK bool trail_write(struct trail *trail, struct slice bodies, size_t *taken);
// Seals what is not sealed yet, and has the disk keep it.
MUST_CHECK bool trail_seal(struct trail *trail);
const char *trail_reason(const struct trail *trail);

struct trail_stats {
    uint64_t seq;     // the last line
    uint64_t files;   // rotated since the start
    uint64_t missing; // lines that the head knew of at the start, and the file did not have
};
struct trail_stats trail_stats(const struct trail *trail);

#endif
