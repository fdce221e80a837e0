// DynamoDB's protocol as a handler of the HTTP server. A session is what a connection keeps
// between its requests: one api_call, used again and again.
#ifndef SERVER_DYNAMO_H
#define SERVER_DYNAMO_H

#include "api/api.h"
#include "audit/audit.h"
#include "data/data.h"
#include "http/http.h"
#include "objects/objects.h"
#include "server/access_log.h"
#include "server/auth.h"
#include "server/binding.h"
#include "server/faults.h"
#include "server/gate.h"
#include "server/limits.h"
#include "server/metrics.h"
#include "server/ticker.h"
#include "watch/watch.h"

#include <stdatomic.h>

// Whether signatures are asked for, and what was found wrong with them.
enum { AUTH_FAILURES = 6 };

struct auth_desk {
    enum auth_mode mode;
    int64_t skew_s;
    struct slice region; // the server's: of all that policies see
    bool insecure;       // it faces a network without protection, as somebody has said (--insecure)
    unsigned loops;
    struct identity_seat **seats; // one for each loop; NULL without identities
    _Atomic uint64_t failures[AUTH_FAILURES];
    _Atomic uint64_t warned;
    _Atomic int64_t log_second;
    _Atomic unsigned log_lines;
};
// Before and after the loops. Without identities there are no seats.
void auth_desk_open(struct auth_desk *desk, struct identity *identity, unsigned loops);
void auth_desk_close(struct auth_desk *desk);
void auth_desk_metrics(const struct auth_desk *desk, struct buf *out);

// What all sessions share. Everything is borrowed.
struct dynamo {
    struct api *api;
    struct env env;
    uint64_t started_ns; // by uv_hrtime
    bool admin;          // /admin/… is served
    struct gate gate;
    struct binding binding;
    struct metrics *metrics;
    struct faults *faults; // NULL if no fault can come
    struct ticker *ticker;
    struct access_log *access_log; // or NULL
    struct audit *audit;           // or NULL
    struct limits *limits;         // NULL: there are none
    struct limits_rate rate;       // of those who have none of their own
    bool lockout;                  // whoever guesses is refused for a while
    struct data_service data;      // of /v1/…
    struct watch *watch;           // CloudWatch's part
    struct objects *objects;       // or NULL
    struct auth_desk auth;
};

// The handler; `dynamo` is borrowed and must outlive the server.
struct http_handler dynamo_handler(struct dynamo *dynamo);

#endif
