// See server.h: the HTTP server with DynamoDB's handler, and what counts, logs and delays for it.
#include "server/server.h"

#include "base/limits.h"
#include "dolmen.h"
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
    if (options->auth != AUTH_OFF)
        auth_desk_open(&dynamo->auth, api_identity(options->api), loops);
    dynamo->rate = options->rate;
    dynamo->lockout = options->lockout;
    if (options->auth != AUTH_OFF || options->rate.every_ns > 0) {
        struct env env = env_system();
        uint64_t seed;
        env.random(env.context, (uint8_t *)&seed, sizeof(seed));
        dynamo->limits = limits_new(seed);
    }
    if (options->audit.place != NULL) {
        struct audit_options audit = options->audit;
        audit.loops = loops;
        audit.env = options->env;
        audit.version = dolmen_version();
        dynamo->audit = audit_open(&audit, error, error_size);
        if (dynamo->audit == NULL)
            return false;
    }
    dynamo->ticker = ticker_start(every_second, server);
    return true;
}

static void watch_one(void *context, const struct metrics_total *total)
{
    watch_add(context, &(struct watch_count){
                           .table = total->table,
                           .operation = slice_str(total->operation),
                           .requests = total->requests,
                           .totals = {[WATCH_READ] = total->read_units,
                                      [WATCH_WRITE] = total->write_units,
                                      [WATCH_THROTTLED] = (double)total->throttled,
                                      [WATCH_USER] = (double)total->user_errors,
                                      [WATCH_SYSTEM] = (double)total->system_errors},
                       });
}

static void watch_all(void *context, struct watch *watch)
{
    metrics_each(context, watch_one, watch);
}

static int64_t watch_clock(void *context)
{
    return api_clock_now(context);
}

static void release(struct dynamo *dynamo)
{
    watch_free(dynamo->watch);
    ticker_stop(dynamo->ticker);
    access_log_close(dynamo->access_log);
    audit_close(dynamo->audit);
    limits_free(dynamo->limits);
    faults_free(dynamo->faults);
    metrics_free(dynamo->metrics);
    auth_desk_close(&dynamo->auth);
}

static int64_t api_now(void *context)
{
    return api_clock_now(context);
}

static void system_random(void *context, uint8_t *out, size_t len)
{
    (void)context;
    struct env env = env_system();
    env.random(env.context, out, len);
}

struct env server_env(struct api *api)
{
    return (struct env){.context = api, .now_ms = api_now, .random = system_random};
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
        .binding = options->binding,
        .objects = options->objects,
        .auth = {.mode = options->auth,
                 .skew_s = options->clock_skew_s == 0 ? SIGN_SKEW_S : options->clock_skew_s,
                 .region = slice_str(options->region == NULL ? AUTH_REGION : options->region),
                 .insecure = options->insecure},
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
        .tls = options->tls,
        .handler = dynamo_handler(&server->dynamo),
    };
    if (prepare(server, options, loops, error, error_size)) {
        data_service_init(&server->dynamo.data, options->api, options->s3);
        server->dynamo.watch = watch_new(&(struct watch_options){
            .shop = api_workshop(options->api),
            .source = watch_all,
            .context = server->dynamo.metrics,
            .now = watch_clock,
            .clock = options->api,
        });
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
    watch_free(server->dynamo.watch); // while the store is open
    server->dynamo.watch = NULL;
    if (server->dynamo.access_log != NULL)
        access_log_flush(server->dynamo.access_log);
}

void server_free(struct server *server)
{
    http_server_free(server->http);
    release(&server->dynamo);
    free(server);
}
