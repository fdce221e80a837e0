// The connections of a load generator: non-blocking, one request at a time on each.
#ifndef BENCH_BENCH_HTTP_H
#define BENCH_BENCH_HTTP_H

#include "bench/bench_workload.h"
#include "client/client.h"

struct bench_connection {
    struct client_link link;
    size_t sent;
    struct buf out;
    struct buf in;
    size_t head; // bytes of the answer's head; 0 until it is whole
    size_t body; // bytes of its body; SIZE_MAX if it comes in chunks
    int status;
    bool closing;        // the server ends the connection after this answer
    uint64_t started_ns; // when the request was made
    struct bench_request request;
};

enum bench_progress {
    BENCH_WAIT,   // for the socket
    BENCH_ANSWER, // the answer is whole
    BENCH_BROKEN, // the connection is of no use any more
};

void bench_connection_init(struct bench_connection *connection);
void bench_connection_release(struct bench_connection *connection);

// False with a sentence in `error`. The socket is then -1.
MUST_CHECK bool bench_connection_open(struct bench_connection *connection,
                                      const struct client_address *address,
                                      const struct client_trust *trust, char *error,
                                      size_t error_size);
void bench_connection_close(struct bench_connection *connection);

// Makes the bytes of a request, signed if there are keys; bench_connection_write sends them.
void bench_connection_frame(struct bench_connection *connection,
                            const struct client_address *address, const struct sign_keys *keys,
                            struct sign_cache *cache, struct slice body);
// BENCH_WAIT means that the socket takes no more at the moment; BENCH_ANSWER that all is sent.
enum bench_progress bench_connection_write(struct bench_connection *connection);
enum bench_progress bench_connection_read(struct bench_connection *connection);

// Of a whole answer: its body (with the chunk sizes in it, if it came in chunks).
struct slice bench_connection_body(const struct bench_connection *connection);

#endif
