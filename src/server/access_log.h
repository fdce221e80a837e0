// The access log: one JSON object a line for each request that names or should name an operation.
//
// Each event loop gathers lines in a buffer of its own, which a thread writes to the file when it
// is large, at access_log_flush (called once a second), and at the end. A file that does not take
// lines costs its lines, never a request: nothing here waits for it.
#ifndef SERVER_ACCESS_LOG_H
#define SERVER_ACCESS_LOG_H

#include "api/api.h"
#include "http/http.h"

struct access_log;

// Appends to a file, or writes to standard output if the path is "-". NULL with a sentence.
MUST_CHECK struct access_log *access_log_open(const char *path, unsigned loops, char *error,
                                              size_t error_size);
// Flushes, but waits no more than half a second for a file that takes nothing. NULL is fine.
void access_log_close(struct access_log *log);

struct access_entry {
    int64_t now_ms;
    const struct http_peer *peer;
    struct slice request_id;
    struct slice operation; // as the client named it
    struct slice tenant;    // that the request is bound to; NULL if it is not
    const struct api_usage *usage;
    int status;
    const char *error; // the exception's name, or NULL
    uint64_t latency_ns;
    size_t bytes_in; // of the bodies, not compressed
    size_t bytes_out;
};

// On the loop's thread.
void access_log_add(struct access_log *log, unsigned loop, const struct access_entry *entry);
// Has the thread write what there is. Any thread.
void access_log_flush(struct access_log *log);

#endif
