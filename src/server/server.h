// The server: DynamoDB's wire protocol (JSON 1.0 over HTTP/1.1) in front of an api.
//
// Stopping has three steps, in this order: server_stop answers everything in progress and
// ends the event loops; api_close ends the writer, which may still be telling a loop of
// a commit; server_free releases the loops.
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include "api/api.h"
#include "base/env.h"
#include "server/gate.h"

struct server;

struct server_options {
    const char *host;
    unsigned port;               // 0 picks a free one
    int bound;                   // as in http_options
    unsigned threads;            // event loops; 0 means one per core
    unsigned request_timeout_ms; // 0 means 30 s
    unsigned max_connections;    // 0 means 10000
    struct api *api;             // borrowed
    struct env env;
    const char *access_log; // a path, or "-" for standard output; NULL for none
    const char *faults;     // rules: see faults.h; NULL for none
    bool admin;             // /admin/… is served
    struct gate gate;       // what it refers to is borrowed
};

// NULL with a sentence in `error` if it cannot listen.
MUST_CHECK struct server *server_start(const struct server_options *options, char *error,
                                       size_t error_size);
unsigned server_port(const struct server *server);
void server_stop(struct server *server);
void server_free(struct server *server);

#endif
