// Requests to a server of the API, on their way at the same time: signed, sent over connections
// that are kept, and sent again where that is safe. One thread does all of it (src/publish/http.h),
// so that no event loop ever waits.
#ifndef UPSTREAM_TRANSPORT_H
#define UPSTREAM_TRANSPORT_H

#include "base/buf.h"

#include <stdint.h>

enum { TRANSPORT_WAITING_MAX = 8192 };

struct transport;

struct transport_request {
    // In; borrowed until `done`.
    struct slice operation; // "GetItem"
    bool of_streams;
    bool safe; // to send it twice comes to the same as once: a read, or it carries a token
    struct slice body;
    struct buf *answer; // the body of the answer goes here
    unsigned delay_ms;  // before it is sent
    // On the transport's thread; must not wait for anything.
    void (*done)(struct transport_request *request);
    void *context;

    // Out.
    int status;         // 0: there was no answer
    bool unknown;       // and nobody knows whether it was done
    const char *reason; // why there was none

    // Private.
    struct transport_request *next;
    unsigned tries;
    bool renewed; // other credentials were looked for
    int64_t due_ms;
};

// NULL with a sentence in `error`.
MUST_CHECK struct transport *transport_start(const char *url, char *error, size_t error_size);
// When nothing is on its way.
void transport_stop(struct transport *transport);
// Nothing is sent a second time from now on, because the server is to stop.
void transport_hurry(struct transport *transport);

// Any thread. False if too much is waiting: nothing will happen then.
MUST_CHECK bool transport_send(struct transport *transport, struct transport_request *request);
// Sends and waits; for the start of a gateway.
void transport_call(struct transport *transport, struct transport_request *request);

const char *transport_url(const struct transport *transport);

struct transport_stats {
    uint64_t requests; // that have ended
    uint64_t repeated; // tries beyond the first
    uint64_t failed;   // requests without an answer
    size_t waiting;    // on their way, or waiting for it
    bool reachable;    // the last try was answered
    char reason[160];  // why not
    int64_t since_ms;  // when that began, by the wall clock
};
void transport_stats(struct transport *transport, struct transport_stats *out);

// The bare name of an error document's exception; empty if it has none.
struct slice transport_error_name(struct slice body);

#endif
