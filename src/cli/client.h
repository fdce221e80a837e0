// A small blocking client of the DynamoDB API: one request, one connection.
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include "base/buf.h"

struct client_request {
    const char *operation;
    const char *region;
    struct slice body;
};

// Returns the HTTP status with the body appended to `response`, or 0 with a sentence in `error`.
// The URL is http://host[:port][/].
MUST_CHECK int client_call(const char *url, const struct client_request *request,
                           struct buf *response, char *error, size_t error_size);

#endif
