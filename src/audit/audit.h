// The audit log: who did what, from where, to which items, and what decided (docs/AUDIT.md).
//
// Each event loop packs its entries into memory of its own, as the access log does; one thread
// makes lines of them, chains them (chain.h) and hands them to their target (trail.h). Nothing here
// waits for the target. What it does not take is kept and tried again; when a loop's memory is full
// its entries are lost, counted, and told in the log itself as soon as it can be written. With
// `strict` the server refuses requests instead, from the moment that a write has failed.
#ifndef AUDIT_AUDIT_H
#define AUDIT_AUDIT_H

#include "audit/entry.h"
#include "base/env.h"

struct audit;

enum audit_scope {
    AUDIT_ALL,
    AUDIT_WRITES,   // what writes or may write, and what is refused
    AUDIT_REFUSALS, // only that
};

struct audit_options {
    const char *place;   // see trail.h
    const char *key;     // "file:PATH", "env:NAME", "credential:NAME"; NULL for the master key
    const char *version; // of the server, for the log
    struct env env;      // of the server
    unsigned loops;
    enum audit_scope scope;
    enum audit_keys keys;
    uint64_t rotate_bytes; // 0: not by size
    uint64_t rotate_ms;    // 0: not by time
    unsigned keep;         // rotated files; 0: all
    bool strict;
    const struct crypt_key *master; // or NULL: a file's key is in FILE.key, others have one each
                                    // start
};

// NULL with a sentence.
MUST_CHECK struct audit *audit_open(const struct audit_options *options, char *error,
                                    size_t error_size);
// Writes what there is and seals it, but waits no more than half a second for a target that takes
// nothing. NULL is fine.
void audit_close(struct audit *audit);

// Whether such a request is told at all. Any thread.
bool audit_wants(const struct audit *audit, enum audit_decision decision, bool writes);
// Whether keys of items are.
bool audit_wants_keys(const struct audit *audit);
// On the loop's thread. An entry that is not wanted is left out.
void audit_add(struct audit *audit, unsigned loop, const struct audit_entry *entry);
// Whether a request may be served: false if the log is strict and cannot be written. On the loop's
// thread.
bool audit_admits(struct audit *audit, unsigned loop);

struct audit_stats {
    uint64_t lines;    // that the target has
    uint64_t lost;     // entries
    uint64_t failures; // of writing
    uint64_t refused;  // requests, because the log could not be written
    uint64_t seq;      // of the last line
    uint64_t rotated;
    uint64_t missing; // lines that were found to be removed at the start
    bool writable;
};
// Any thread.
void audit_stats(struct audit *audit, struct audit_stats *out);

#endif
