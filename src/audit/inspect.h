// Whether an audit log is as it was written: reads its files in order and finds every place where
// the chain breaks (docs/AUDIT.md).
#ifndef AUDIT_INSPECT_H
#define AUDIT_INSPECT_H

#include "audit/chain.h"

enum { INSPECT_TEXT = 300, INSPECT_KEYS_MAX = 8 };

// A place where something is wrong.
struct inspect_break {
    const char *file;
    uint64_t line; // from 1; 0: the file as a whole
    uint64_t seq;  // of the line, or the last one before it; 0 if it is not known
    char text[INSPECT_TEXT];
};

struct inspect_options {
    struct chain_keys keys[INSPECT_KEYS_MAX]; // without any, seals are not checked
    size_t key_count;
    // Lines as standard output, syslog and journald have them: text may stand before each, and each
    // start begins a chain.
    bool stream;
    bool part;         // the first file need not be the first of the log, nor the last the last
    struct slice head; // text of the log's head; ptr NULL if there is none
    // A line that somebody noted elsewhere; 0 for none.
    uint64_t expect_seq;
    uint8_t expect_digest[CHAIN_DIGEST];
    void (*broken)(void *to, const struct inspect_break *place);
    // Each line that has the form, or NULL. `good`: the chain holds there.
    void (*line)(void *to, const struct chain_line *line, bool good);
    void *to;
};

struct inspect_result {
    uint64_t files;
    uint64_t lines;
    uint64_t seals;
    uint64_t checked;  // of them, with a key
    uint64_t unsealed; // lines behind the last seal
    uint64_t torn;     // lines that a crash or a full disk tore, and the log closed
    uint64_t lost;     // entries that the log says it has lost
    uint64_t breaks;
    uint64_t first_seq;
    struct chain end;
    char log[CHAIN_LOG_ID + 1];
};

struct inspect;

struct inspect *inspect_new(const struct inspect_options *options);
// The files in order. False with errno if one cannot be read.
MUST_CHECK bool inspect_file(struct inspect *inspect, const char *name, int fd);
// Behind the last; the name is that of the log as a whole.
void inspect_end(struct inspect *inspect, const char *name, struct inspect_result *out);
void inspect_free(struct inspect *inspect);

#endif
