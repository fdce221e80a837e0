// DynamoDB's protocol as a handler of the HTTP server. A session is what a connection keeps
// between its requests: one api_call, used again and again.
#ifndef SERVER_DYNAMO_H
#define SERVER_DYNAMO_H

#include "api/api.h"
#include "data/data.h"
#include "http/http.h"
#include "server/access_log.h"
#include "server/faults.h"
#include "server/gate.h"
#include "server/metrics.h"
#include "server/ticker.h"

// What all sessions share. Everything is borrowed.
struct dynamo {
    struct api *api;
    struct env env;
    uint64_t started_ns; // by uv_hrtime
    bool admin;          // /admin/… is served
    struct gate gate;
    struct metrics *metrics;
    struct faults *faults; // NULL if no fault can come
    struct ticker *ticker;
    struct access_log *access_log; // or NULL
    struct data_service data;      // of /v1/…
};

// The handler; `dynamo` is borrowed and must outlive the server.
struct http_handler dynamo_handler(struct dynamo *dynamo);

#endif
