// A small blocking client of the DynamoDB API: one request, one connection.
// `dolmen bench` takes only the connection (link.h).
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include "client/signature.h"

struct client_request {
    // Of a page that is no operation: its method, and its path with the query; else NULL.
    const char *method;
    const char *path;
    const char *operation;
    bool of_streams; // it is one of DynamoDB Streams
    const char *region;
    struct slice body;
    unsigned patience_s;              // how long to wait for the answer; 0: a minute
    const struct client_trust *trust; // for https://
    const struct sign_keys *keys;     // whose request it is; NULL: nobody's
};

// Returns the HTTP status with the body appended to `response`, or 0 with a sentence in `error`.
MUST_CHECK int client_call(const char *url, const struct client_request *request,
                           struct buf *response, char *error, size_t error_size);

#endif
