// What the kinds of targets share.
#ifndef AUDIT_TRAIL_INTERNAL_H
#define AUDIT_TRAIL_INTERNAL_H

#include "audit/trail.h"

#include <openssl/sha.h>

enum {
    TRAIL_PATH = 4096,
    TRAIL_CHUNK = 64 << 10, // written at once, or a little more
    TRAIL_REASON = 256,
};

struct trail_kind {
    // Makes the target ready: opened, rotated if that is due. False with a reason.
    bool (*ready)(struct trail *trail);
    // How many of the bytes it takes now; fewer with a reason. Sockets take whole lines.
    size_t (*put)(struct trail *trail, struct slice lines);
    // Everything is sealed: has it kept.
    bool (*sealed)(struct trail *trail);
};

struct trail {
    struct trail_options options;
    const struct trail_kind *kind;
    char path[TRAIL_PATH]; // of the file or the socket
    char log[CHAIN_LOG_ID + 1];
    char reason[TRAIL_REASON];
    struct chain chain; // up to the last line that the target has whole
    uint64_t sealed;    // number of the last seal
    // Bytes behind that line which are none.
    uint64_t torn;
    SHA256_CTX torn_digest;
    struct buf out;
    int fd;
    bool standard; // not ours to close
    bool regular;
    bool journal;
    // A file:
    bool begun;    // it has its first line
    uint64_t file; // its number
    uint64_t size;
    int64_t begun_ms;
    uint64_t files;   // rotated
    uint64_t missing; // see trail_stats
};

// trail.c
bool trail_fail(struct trail *trail, const char *what); // with errno; false
// A line of the log's own.
MUST_CHECK bool trail_emit(struct trail *trail, const char *format, ...) PRINTF_LIKE(2, 3);
// The line that begins a file, or a chain.
MUST_CHECK bool trail_begin(struct trail *trail);
// Notes bytes that are no line.
void trail_tear(struct trail *trail, struct slice bytes);
void trail_new_log(struct trail *trail);

// trail_file.c
MUST_CHECK bool trail_file_open(struct trail *trail, char *error, size_t error_size);
// trail_stream.c: standard output and sockets.
MUST_CHECK bool trail_stream_open(struct trail *trail, char *error, size_t error_size);

#endif
