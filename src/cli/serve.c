// `dolmen serve`: opens the database, serves it, and waits for the signal to stop.
//
// SIGTERM and SIGINT are blocked in all threads and waited for in this one, so that stopping is
// ordinary code. The stop is bounded in time, so further signals during it change nothing.
#include "cli/change.h"
#include "http/http.h"
#include "server/server.h"

#include "base/limits.h"
#include "base/log.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

static void signals_prepare(sigset_t *stopping)
{
    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigemptyset(stopping);
    (void)sigaddset(stopping, SIGTERM);
    (void)sigaddset(stopping, SIGINT);
    (void)pthread_sigmask(SIG_BLOCK, stopping, NULL);
}

enum { CONNECTIONS_MAX = 10000, DESCRIPTORS_KEPT = 640 };

// Connections and the store's files are descriptors: takes as many as the system gives, and
// answers how many connections leave the store what it needs (512 tables, the log, and some).
// Clients that take all descriptors would else stop the writes of everybody.
static unsigned connections_allowed(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return CONNECTIONS_MAX;
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        limit.rlim_cur = before;
    rlim_t kept = limit.rlim_cur / 2 < DESCRIPTORS_KEPT ? limit.rlim_cur / 2 : DESCRIPTORS_KEPT;
    rlim_t left = limit.rlim_cur - kept;
    return left < CONNECTIONS_MAX ? (unsigned)left : CONNECTIONS_MAX;
}

static void print_ready(const char *host, unsigned port)
{
    bool bracket = strchr(host, ':') != NULL;
    printf("dolmen listening on http://%s%s%s:%u\n", bracket ? "[" : "", host, bracket ? "]" : "",
           port);
    (void)fflush(stdout);
}

// Serves until a signal of the set comes. Closes the api.
static bool serve(struct cli_input *input, const struct server_options *options,
                  const sigset_t *stopping)
{
    char error[256];
    struct server *server = server_start(options, error, sizeof(error));
    if (server == NULL) {
        api_close(options->api);
        return cli_fail(input, "%s.", error);
    }
    if (!options->gate.loopback)
        log_warn("listening on %s without authentication: everyone who reaches this address can "
                 "read, change and delete all data. Let only trusted networks reach it, or use "
                 "--host 127.0.0.1.",
                 options->host);
    print_ready(options->host, server_port(server));
    int signal_number;
    (void)sigwait(stopping, &signal_number);
    api_cut_short(options->api);
    server_stop(server);
    api_close(options->api);
    server_free(server);
    return true;
}

// Below these sizes a store of many files thrashes; above them somebody mistook the unit.
static const size_t cache_min = (size_t)8 << 20;
static const size_t buffers_min = (size_t)4 << 20;
static const size_t limit_min = (size_t)64 << 20;
static const size_t memory_max = (size_t)1 << 40;

// Large bodies and answers have memory of their own, which grows without being copied and goes back
// at once: in the allocator's arenas giving it back would keep everybody else waiting who
// allocates.
//
// Where little may be used, a thread reserves less for its stack, and two arenas of the allocator
// must do for all threads: both count against 'ulimit -v', used or not.
static void memory_prepare(size_t limit)
{
    static const size_t small_stack = (size_t)2 << 20;
    static const size_t plenty = (size_t)1 << 30;
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 4 << 20); // the default is for much smaller blocks
    if (limit >= plenty)
        return;
    (void)mallopt(M_ARENA_MAX, 2);
    pthread_attr_t attributes;
    struct rlimit stack;
    ensure(pthread_attr_init(&attributes) == 0);
    (void)pthread_attr_setstacksize(&attributes, small_stack);
    (void)pthread_setattr_default_np(&attributes); // ours, and RocksDB's
    (void)pthread_attr_destroy(&attributes);
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur <= small_stack)
        return;
    stack.rlim_cur = small_stack; // libuv's
    (void)setrlimit(RLIMIT_STACK, &stack);
}

// Divides the memory: what the user has said stands, the rest is worked out. With --memory the data
// is what it is, and half of the limit is for requests.
static bool memory_parse(struct cli_input *input, struct store_options *store,
                         struct budget *budget, struct server_options *options)
{
    struct budget_plan plan = {.cache = store->cache_bytes,
                               .write_buffers = store->write_buffer_bytes};
    if (!cli_size(input, "--memory-limit", limit_min, memory_max, &plan.limit))
        return false;
    if (plan.limit == 0)
        plan.limit = budget_machine("") / 2;
    memory_prepare(plan.limit);
    budget_divide(&plan);
    if (store->path == NULL)
        plan.cache = plan.write_buffers = 0;
    budget_init(budget, plan.requests);
    store->cache_bytes = plan.cache;
    store->write_buffer_bytes = plan.write_buffers;
    if (plan.connections < options->max_connections)
        options->max_connections = (unsigned)plan.connections;
    log_info("memory: at most %zu MB, of it cache %zu MB, write buffers %zu MB, requests %zu MB "
             "with up to %u connections",
             plan.limit >> 20, plan.cache >> 20, plan.write_buffers >> 20, plan.requests >> 20,
             options->max_connections);
    if (plan.cache + plan.write_buffers + plan.requests > plan.limit)
        log_warn("memory: --cache and --write-buffer leave too little of the limit for requests");
    return true;
}

static bool store_parse(struct cli_input *input, struct store_options *out)
{
    bool memory = cli_given(input, "--memory");
    out->path = memory ? NULL : cli_value(input, "--data", CLI_DATA_DEFAULT);
    return cli_exclusive(input, "--data", "--memory") &&
           cli_exclusive(input, "--cache", "--memory") &&
           cli_exclusive(input, "--write-buffer", "--memory") &&
           cli_size(input, "--cache", cache_min, memory_max, &out->cache_bytes) &&
           cli_size(input, "--write-buffer", buffers_min, memory_max, &out->write_buffer_bytes);
}

// Everyone whom one of the two options lets in. False after telling the user.
static bool gate_admit(struct cli_input *input, const char *option, struct gate *gate,
                       bool (*add)(struct gate *gate, const char *text, const char **why))
{
    const char *text;
    const char *why = NULL;
    for (size_t i = 0; (text = cli_repeated(input, option, i)) != NULL; i++) {
        if (!add(gate, text, &why))
            return cli_misused(input, "%s %s: %s.", option, text, why);
    }
    return true;
}

// Applies the files of --model, before anyone can write. False after telling the user.
static bool models_apply(struct cli_input *input, struct api *api)
{
    const char *path;
    bool ok = true;
    struct target target = {.input = input, .api = api, .region = "us-east-1"};
    buf_init(&target.response, LIMIT_RESPONSE);
    for (size_t i = 0; ok && (path = cli_repeated(input, "--model", i)) != NULL; i++) {
        struct change_request request;
        struct json_writer *w = change_begin(&request, input, "Model", path);
        json_put_flag(w, "Newer", !cli_given(input, "--older-model"));
        // A start with an old file by mistake would take a model back that others rely on.
        ok = change_send(&request, &target, "ApplyModel") &&
             change_each_table(&target, change_attached);
    }
    buf_release(&target.response);
    return ok;
}

// What the options ask of the api, before its first call. False after telling the user.
static bool api_prepare(struct cli_input *input, struct api *api, const char *data,
                        unsigned index_copy, unsigned ttl_rate)
{
    char error[256];
    api_set_buckets(api, cli_value(input, "--bucket-root", NULL), data);
    api_index_copy_max(api, index_copy);
    api_ttl_rate(api, ttl_rate);
    if (!api_service_texts(api, cli_value(input, "--service-texts", NULL)))
        return cli_misused(input, "--service-texts: only 2026-05 is known.");
    if (cli_given(input, "--enforce-capacity"))
        api_enforce_capacity(api);
    if (!api_set_kinesis(api, cli_value(input, "--kinesis-root", NULL), data,
                         cli_value(input, "--kinesis-endpoint", NULL), error, sizeof(error)))
        return cli_misused(input, "--kinesis-endpoint: %s.", error);
    return models_apply(input, api);
}

bool cli_serve(struct cli_input *input)
{
    unsigned timeout;
    unsigned ttl_rate;
    unsigned index_copy;
    struct store_options store = {.path = NULL};
    struct server_options options = {
        .host = cli_value(input, "--host", "127.0.0.1"),
        .env = env_system(),
        .access_log = cli_value(input, "--access-log", NULL),
        .faults = cli_value(input, "--fault", NULL),
        .admin = cli_given(input, "--admin"),
        .gate.loopback = gate_is_loopback(cli_value(input, "--host", "127.0.0.1")),
    };
    if (!store_parse(input, &store) ||
        !gate_admit(input, "--allowed-host", &options.gate, gate_add_host) ||
        !gate_admit(input, "--cors", &options.gate, gate_add_origin) ||
        !cli_exclusive(input, "--kinesis-root", "--kinesis-endpoint") ||
        !cli_number(input, "--port", 8000, 0, 65535, &options.port) ||
        !cli_number(input, "--index-copy", LIMIT_INDEX_COPY, 1, LIMIT_ITEM_SIZE, &index_copy) ||
        !cli_number(input, "--threads", 0, 1, 256, &options.threads) ||
        !cli_number(input, "--request-timeout", 30, 1, 3600, &timeout) ||
        !cli_number(input, "--ttl-rate", API_TTL_RATE, 1, 1000000, &ttl_rate))
        return false;
    options.request_timeout_ms = timeout * 1000;
    sigset_t stopping;
    signals_prepare(&stopping);
    options.max_connections = connections_allowed();
    // Before a data directory is made, or opened, which may take long.
    char error[256];
    options.bound = http_bind(options.host, options.port, error, sizeof(error));
    if (options.bound < 0)
        return cli_fail(input, "%s.", error);
    struct budget budget; // lives as long as the server
    if (!memory_parse(input, &store, &budget, &options))
        return false;
    options.api = database_open(input, &store, &budget);
    if (options.api == NULL)
        return false;
    if (!api_prepare(input, options.api, store.path, index_copy, ttl_rate)) {
        api_close(options.api);
        return false;
    }
    budget_sweep_start(&budget);
    bool ok = serve(input, &options, &stopping);
    budget_sweep_stop(&budget);
    return ok;
}
