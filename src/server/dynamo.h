// DynamoDB's protocol as a handler of the HTTP server. A session is what a connection keeps
// between its requests: one api_call, used again and again.
#ifndef SERVER_DYNAMO_H
#define SERVER_DYNAMO_H

#include "api/api.h"
#include "http/http.h"

struct dynamo {
    struct api *api;
    struct env env;
};

// The handler; `dynamo` is borrowed and must outlive the server.
struct http_handler dynamo_handler(struct dynamo *dynamo);

#endif
