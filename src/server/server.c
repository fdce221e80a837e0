// See server.h: the HTTP server with DynamoDB's handler, and what counts, logs and delays for it.
#include "server/server.h"

#include "base/limits.h"
#include "http/http.h"
#include "server/dynamo.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

struct server {
    struct dynamo dynamo;
    struct http_server *http;
    const struct budget *budget; // which outlives the api, as the ticker does
    uint64_t given;              // by the budget, a second ago
    uint64_t trimmed;            // when the allocator last gave its free memory back
};

// What large requests have freed stays with the allocator, which is good for the next ones. When
// they have become few the system gets it back.
static void trim(struct server *server)
{
    enum { WORTH = 32 << 20, QUIET = 8 << 20 };
    uint64_t given = budget_given(server->budget);
    bool quiet = given - server->given < QUIET;
    server->given = given;
    if (!quiet || given - server->trimmed < WORTH)
        return;
    server->trimmed = given;
    (void)malloc_trim(0);
}

static void every_second(void *context)
{
    struct server *server = context;
    if (server->dynamo.access_log != NULL)
        access_log_flush(server->dynamo.access_log);
    trim(server);
}

// Makes what the options ask for; what was made before a failure is in the dynamo.
static bool prepare(struct server *server, const struct server_options *options, unsigned loops,
                    char *error, size_t error_size)
{
    struct dynamo *dynamo = &server->dynamo;
    dynamo->metrics = metrics_new(loops);
    dynamo->faults = options->faults != NULL || options->admin ? faults_new() : NULL;
    if (options->faults != NULL &&
        !faults_set(dynamo->faults, slice_str(options->faults), error, error_size))
        return false;
    if (options->access_log != NULL) {
        dynamo->access_log = access_log_open(options->access_log, loops, error, error_size);
        if (dynamo->access_log == NULL)
            return false;
    }
    dynamo->ticker = ticker_start(every_second, server);
    return true;
}

static void release(struct dynamo *dynamo)
{
    ticker_stop(dynamo->ticker);
    access_log_close(dynamo->access_log);
    faults_free(dynamo->faults);
    metrics_free(dynamo->metrics);
}

struct server *server_start(const struct server_options *options, char *error, size_t error_size)
{
    struct server *server = memory_zeroed(sizeof(*server));
    server->budget = api_budget(options->api);
    unsigned loops = options->threads == 0 ? uv_available_parallelism() : options->threads;
    server->dynamo = (struct dynamo){
        .api = options->api,
        .env = options->env,
        .started_ns = uv_hrtime(),
        .admin = options->admin,
        .gate = options->gate,
    };
    struct http_options http = {
        .host = options->host,
        .port = options->port,
        .bound = options->bound,
        .threads = loops,
        .max_connections = options->max_connections,
        .max_body = LIMIT_BODY,
        .budget = api_budget(options->api),
        .request_ms = options->request_timeout_ms,
        .server_name = "Server", // what the service says
        .pool = api_pool(options->api),
        .handler = dynamo_handler(&server->dynamo),
    };
    if (prepare(server, options, loops, error, error_size)) {
        data_service_init(&server->dynamo.data, options->api);
        server->http = http_server_start(&http, error, error_size);
    }
    if (server->http == NULL) {
        release(&server->dynamo);
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
    ticker_hurry(server->dynamo.ticker);
    http_server_stop(server->http);
    if (server->dynamo.access_log != NULL)
        access_log_flush(server->dynamo.access_log);
}

void server_free(struct server *server)
{
    http_server_free(server->http);
    release(&server->dynamo);
    free(server);
}
