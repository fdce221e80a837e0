// See server.h: the HTTP server with DynamoDB's handler.
#include "server/server.h"

#include "base/limits.h"
#include "http/http.h"
#include "server/dynamo.h"

#include <stdio.h>
#include <stdlib.h>

struct server {
    struct dynamo dynamo;
    struct http_server *http;
};

struct server *server_start(const struct server_options *options, char *error, size_t error_size)
{
    struct server *server = calloc(1, sizeof(*server));
    if (server == NULL) {
        (void)snprintf(error, error_size, "out of memory");
        return NULL;
    }
    server->dynamo = (struct dynamo){options->api, options->env};
    struct http_options http = {
        .host = options->host,
        .port = options->port,
        .threads = options->threads,
        .max_body = LIMIT_BODY,
        .request_ms = options->request_timeout_ms,
        .server_name = "Server", // what the service says
        .handler = dynamo_handler(&server->dynamo),
    };
    server->http = http_server_start(&http, error, error_size);
    if (server->http == NULL) {
        free(server);
        return NULL;
    }
    return server;
}

unsigned server_port(const struct server *server)
{
    return http_server_port(server->http);
}

void server_stop(struct server *server)
{
    http_server_stop(server->http);
}

void server_free(struct server *server)
{
    http_server_free(server->http);
    free(server);
}
