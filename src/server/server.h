// The server: DynamoDB's wire protocol (JSON 1.0 over HTTP/1.1) in front of an api.
//
// Stopping has three steps, in this order: server_stop answers everything in progress and
// ends the event loops; api_close ends the writer, which may still be telling a loop of
// a commit; server_free releases the loops.
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include "api/api.h"
#include "audit/audit.h"
#include "base/env.h"
#include "objects/objects.h"
#include "server/auth.h"
#include "server/binding.h"
#include "server/gate.h"
#include "server/limits.h"

struct server;
struct upstream;
struct outlet_opener;
struct s3_store;
struct tls;

struct server_options {
    const char *host;
    unsigned port;               // 0 picks a free one
    int bound;                   // as in http_options
    unsigned threads;            // event loops; 0 means one per core
    unsigned request_timeout_ms; // 0 means 30 s
    unsigned max_connections;    // 0 means 10000
    struct tls *tls;             // as in http_options
    struct api *api;             // borrowed
    struct env env;
    const char *access_log;     // a path, or "-" for standard output; NULL for none
    struct audit_options audit; // without a place there is none; loops, env and version are set
    struct limits_rate rate;    // of each identity; 0: no limit, but for those whose tags have one
    bool lockout;               // whoever guesses is refused for a while
    const char *faults;         // rules: see faults.h; NULL for none
    bool admin;                 // /admin/… is served
    struct gate gate;           // what it refers to is borrowed
    struct binding binding;
    struct s3_store *s3;       // where the objects of items are; borrowed, NULL for nowhere
    struct objects *objects;   // borrowed; NULL for none
    struct upstream *upstream; // borrowed; NULL if this is no gateway
    enum auth_mode auth;       // if it is not AUTH_OFF, the api has a master key
    int64_t clock_skew_s;      // 0 means SIGN_SKEW_S
    const char *region;        // borrowed; NULL means AUTH_REGION
    const struct outlet_opener *opener; // how actions of alarms are called; borrowed, or NULL
    bool insecure;                      // to be told in /health
};

// The clock of the api, which tests may move, and the system's randomness.
struct env server_env(struct api *api);

// NULL with a sentence in `error` if it cannot listen.
MUST_CHECK struct server *server_start(const struct server_options *options, char *error,
                                       size_t error_size);
unsigned server_port(const struct server *server);
void server_stop(struct server *server);
void server_free(struct server *server);

#endif
