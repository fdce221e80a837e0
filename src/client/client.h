// A small blocking client of the DynamoDB API: one request, one connection.
// `dolmen bench` takes only the connection from it.
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include "base/buf.h"

struct client_request {
    const char *operation;
    bool of_streams; // it is one of DynamoDB Streams
    const char *region;
    struct slice body;
    unsigned patience_s; // how long to wait for the answer; 0: a minute
};

enum { CLIENT_HOST_MAX = 255 };

// Where a URL of the form http://host[:port][/] leads.
struct client_address {
    char host[CLIENT_HOST_MAX + 1];
    char port[8];
};

MUST_CHECK bool client_address_parse(const char *url, struct client_address *out);
// A connected socket, or -1 with a sentence in `error`.
MUST_CHECK int client_connect(const struct client_address *address, char *error, size_t error_size);

// Returns the HTTP status with the body appended to `response`, or 0 with a sentence in `error`.
MUST_CHECK int client_call(const char *url, const struct client_request *request,
                           struct buf *response, char *error, size_t error_size);

#endif
