// `dolmen serve`: opens the database, serves it, and waits for the signal to stop.
//
// SIGTERM and SIGINT are blocked in all threads and waited for in this one, so that stopping is
// ordinary code. The stop is bounded in time, so further signals during it change nothing.
#include "cli/change.h"
#include "cli/database.h"
#include "server/server.h"

#include "base/limits.h"
#include "base/log.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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
static int serve(const struct cli_input *input, const struct server_options *options,
                 const sigset_t *stopping)
{
    char error[256];
    struct server *server = server_start(options, error, sizeof(error));
    if (server == NULL) {
        api_close(options->api);
        return cli_fail(input->command, CLI_FAILED, "%s.", error);
    }
    if (!options->gate.loopback)
        log_warn("listening on %s without authentication: everyone who reaches this address can "
                 "read, change and delete all data. Let only trusted networks reach it, or use "
                 "--host 127.0.0.1.",
                 options->host);
    print_ready(options->host, server_port(server));
    int signal_number;
    (void)sigwait(stopping, &signal_number);
    api_hurry(options->api);
    server_stop(server);
    api_close(options->api);
    server_free(server);
    return CLI_OK;
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
static bool memory_parse(const struct cli_input *input, struct store_options *store,
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

static bool store_parse(const struct cli_input *input, struct store_options *out)
{
    bool memory = cli_given(input, "--memory");
    out->path = memory ? NULL : cli_value(input, "--data", CLI_DATA_DEFAULT);
    return cli_exclusive(input, "--data", "--memory") &&
           cli_exclusive(input, "--cache", "--memory") &&
           cli_exclusive(input, "--write-buffer", "--memory") &&
           cli_size(input, "--cache", cache_min, memory_max, &out->cache_bytes) &&
           cli_size(input, "--write-buffer", buffers_min, memory_max, &out->write_buffer_bytes);
}

// Everyone whom --allowed-host and --cors let in. False after telling the user.
static bool gate_parse(const struct cli_input *input, const char *host, struct gate *out)
{
    const char *text;
    const char *why = NULL;
    out->loopback = gate_is_loopback(host);
    for (size_t i = 0; (text = cli_repeated(input, "--allowed-host", i)) != NULL; i++) {
        if (!gate_add_host(out, text, &why)) {
            (void)cli_fail(input->command, CLI_USAGE, "--allowed-host %s: %s.", text, why);
            return false;
        }
    }
    for (size_t i = 0; (text = cli_repeated(input, "--cors", i)) != NULL; i++) {
        if (!gate_add_origin(out, text, &why)) {
            (void)cli_fail(input->command, CLI_USAGE, "--cors %s: %s.", text, why);
            return false;
        }
    }
    return true;
}

// Applies the files of --model, before anyone can write. False after telling the user.
static bool models_apply(const struct cli_input *input, struct api *api)
{
    const char *path;
    bool ok = true;
    for (size_t i = 0; ok && (path = cli_repeated(input, "--model", i)) != NULL; i++) {
        struct change_request request;
        struct target target = {.input = input, .api = api, .region = "us-east-1"};
        struct buf text;
        buf_init(&text, LIMIT_BODY);
        buf_init(&target.response, LIMIT_RESPONSE);
        ok = change_read(input, path, &text);
        if (ok) {
            (void)change_begin(&request, "Model", path, &text);
            ok = change_send(&request, &target, "ApplyModel") == 200;
        }
        buf_release(&text);
        buf_release(&target.response);
    }
    return ok;
}

static int serve_run(const struct cli_input *input)
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
    };
    if (!store_parse(input, &store) || !gate_parse(input, options.host, &options.gate) ||
        !cli_exclusive(input, "--kinesis-root", "--kinesis-endpoint") ||
        !cli_number(input, "--port", 8000, 0, 65535, &options.port) ||
        !cli_number(input, "--index-copy", LIMIT_INDEX_COPY, 1, LIMIT_ITEM_SIZE, &index_copy) ||
        !cli_number(input, "--threads", 0, 1, 256, &options.threads) ||
        !cli_number(input, "--request-timeout", 30, 1, 3600, &timeout) ||
        !cli_number(input, "--ttl-rate", API_TTL_RATE, 1, 1000000, &ttl_rate))
        return CLI_USAGE;
    options.request_timeout_ms = timeout * 1000;
    sigset_t stopping;
    signals_prepare(&stopping);
    options.max_connections = connections_allowed();
    struct budget budget; // lives as long as the server
    if (!memory_parse(input, &store, &budget, &options))
        return CLI_USAGE;
    int code;
    options.api = cli_database_open(input, &store, &budget, &options.store, &code);
    if (options.api != NULL)
        api_buckets(options.api, cli_value(input, "--bucket-root", NULL), store.path);
    if (options.api != NULL)
        api_index_copy_max(options.api, index_copy);
    if (options.api != NULL)
        api_ttl_rate(options.api, ttl_rate);
    if (options.api != NULL && cli_given(input, "--enforce-capacity"))
        api_enforce_capacity(options.api);
    if (options.api == NULL)
        return code;
    char error[256];
    if (!api_kinesis(options.api, cli_value(input, "--kinesis-root", NULL), store.path,
                     cli_value(input, "--kinesis-endpoint", NULL), error, sizeof(error))) {
        api_close(options.api);
        return cli_fail(input->command, CLI_USAGE, "--kinesis-endpoint: %s.", error);
    }
    if (!models_apply(input, options.api)) {
        api_close(options.api);
        return CLI_FAILED;
    }
    budget_sweep_start(&budget);
    code = serve(input, &options, &stopping);
    budget_sweep_stop(&budget);
    return code;
}

static const struct cli_option serve_options[] = {
    {"--host", "ADDRESS", "Where to listen. Default: 127.0.0.1, this machine only."},
    {"--allowed-host", "NAME",
     "Serve requests for this host name, too, such as db.example or *.example.\n"
     "localhost and loopback addresses are always served; with another --host also\n"
     "addresses and names without a dot. May be given more than once."},
    {"--cors", "ORIGIN",
     "Let pages of this origin call the server from a browser, such as\n"
     "http://localhost:3000; * lets all pages in. Default: none. /admin is never\n"
     "open to other pages. May be given more than once."},
    {"--port", "N", "The port; 0 picks a free one. Default: 8000."},
    {"--data", "DIR", "The data directory, made if missing. Default: ./" CLI_DATA_DEFAULT "."},
    {"--memory", NULL, "Keep everything in memory; it is gone when the server stops."},
    {"--durability", "full|relaxed",
     "full (default): a write is answered when it is on disk, and survives\n"
     "a crash and a power cut.\n"
     "relaxed: a write is answered when it is in the log, which is synced 50 ms\n"
     "later. It survives a crash of the server, but a power cut may lose the\n"
     "last 100 ms of answered writes; where the disk takes longer, writes wait\n"
     "for it. Tables and their indexes agree in any case."},
    {"--model", "FILE",
     "Apply this model before serving, as 'dolmen apply' does: tables are created,\n"
     "items are completed while the server serves. A model with errors, or one that\n"
     "would leave invalid items, stops the start. May be given more than once."},
    {"--memory-limit", "SIZE",
     "What the server may use, such as 512M or 8G: for cache, write buffers, and\n"
     "all requests and answers together. Requests beyond it are throttled.\n"
     "Default: half of the machine's memory, or of what its control group or\n"
     "'ulimit' leaves."},
    {"--cache", "SIZE",
     "Of it, for what is read from disk. Default: a third, or a quarter if it is\n"
     "less than 2G; it fills by use."},
    {"--write-buffer", "SIZE",
     "Of it, for writes on their way into tables on disk. Default: a quarter, at\n"
     "most 240M."},
    {"--index-copy", "BYTES",
     "Copy what an index projects of an item into the index, up to this size; of a\n"
     "larger item the index has a reference. Less writes less to disk and makes\n"
     "queries of indexes dearer. It may change at each start. Default: 2048."},
    {"--bucket-root", "DIR",
     "Where the buckets of exports and imports are: each is a directory in this\n"
     "one. Default: the directory buckets in the data directory."},
    {"--kinesis-root", "DIR",
     "Where the records of Kinesis streaming destinations go, a file for each\n"
     "stream. Default: the directory kinesis in the data directory."},
    {"--kinesis-endpoint", "URL",
     "Where they go instead: to a server that speaks Kinesis, such as\n"
     "http://127.0.0.1:4567."},
    {"--ttl-rate", "N", "Delete at most N expired items in a second. Default: 12500."},
    {"--threads", "N", "Event loops. Default: one per core."},
    {"--request-timeout", "SECONDS",
     "How long a client may take to send a request, or to take its answer;\n"
     "large ones get a second more for each 64 KB. Default: 30."},
    {"--access-log", "FILE|-",
     "Write a line of JSON for each request, to a file (appended to) or to\n"
     "standard output."},
    {"--enforce-capacity", NULL,
     "Refuse requests beyond the throughput that tables and global indexes\n"
     "are provisioned with, or limited to on demand."},
    {"--fault", "RULES",
     "For tests of applications: let requests fail or wait. Rules look like\n"
     "PutItem:throttle:0.1,Query:latency=200ms:0.5,*:internal:0.01; kinds are\n"
     "throttle, conflict, internal and latency=Nms; the rate is from 0 to 1."},
    {"--admin", NULL,
     "For tests of applications: serve /admin/clock, which sets the clock,\n"
     "/admin/faults, which sets the rules of --fault, /admin/ttl, which deletes\n"
     "expired items now, and more. Anyone who reaches the server may call them."},
    {NULL, NULL, NULL},
};

const struct cli_command cli_serve = {
    .name = "serve",
    .arguments = "[--host ADDRESS] [--port N] [--data DIR | --memory] [OPTIONS]",
    .summary = "serve the DynamoDB API over HTTP",
    .about = "Any credentials are accepted. SIGTERM and SIGINT stop it: what is in progress is\n"
             "answered first. The line 'dolmen listening on …' tells that it is ready.",
    .example = "  dolmen serve --port 8000 --data ./mydata\n"
               "  aws dynamodb list-tables --endpoint-url http://127.0.0.1:8000",
    .options = serve_options,
    .run = serve_run,
};
