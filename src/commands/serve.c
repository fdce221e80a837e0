// `dolmen serve`: opens the database, serves it, and waits for the signal to stop.
//
// SIGTERM and SIGINT are blocked in all threads and waited for in this one, so that stopping is
// ordinary code. The stop is bounded in time, so further signals during it change nothing. SIGHUP
// has certificates read again.
#include "cli/change.h"
#include "commands/replica.h"
#include "commands/serve_audit.h"
#include "engine/ship.h"
#include "http/http.h"
#include "http/tls.h"
#include "identity/identity.h"
#include "project/project.h"
#include "publish/publish.h"
#include "s3/client.h"
#include "s3/remove.h"
#include "s3/s3.h"
#include "server/server.h"
#include "upstream/upstream.h"

#include "base/limits.h"
#include "base/log.h"

#include <arpa/inet.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <uv.h>

static void signals_prepare(sigset_t *stopping, bool tls)
{
    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigemptyset(stopping);
    (void)sigaddset(stopping, SIGTERM);
    (void)sigaddset(stopping, SIGINT);
    if (tls)
        (void)sigaddset(stopping, SIGHUP);
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

static void print_ready(const char *host, unsigned port, bool tls)
{
    bool bracket = strchr(host, ':') != NULL;
    printf("dolmen listening on %s://%s%s%s:%u\n", tls ? "https" : "http", bracket ? "[" : "", host,
           bracket ? "]" : "", port);
    (void)fflush(stdout);
}

// Serves until a signal of the set comes. Closes the api.
static bool serve(struct cli_input *input, const struct server_options *options,
                  const sigset_t *stopping, struct replica_end *end)
{
    char error[256];
    struct server *server = server_start(options, error, sizeof(error));
    if (server == NULL) {
        objects_close(options->objects);
        api_close(options->api);
        return cli_fail(input, "%s.", error);
    }
    struct replica *replica = replica_start(input, options->api);
    end->port = server_port(server);
    print_ready(options->host, end->port, options->tls != NULL);
    int signal_number;
    while (sigwait(stopping, &signal_number) == 0 && signal_number == SIGHUP)
        (void)tls_reload(options->tls);
    end->how = replica_stop(replica);
    api_cut_short(options->api);
    if (options->upstream != NULL)
        upstream_hurry(options->upstream);
    server_stop(server);
    objects_close(options->objects);
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
                         struct budget *budget, struct server_options *options, size_t *for_objects)
{
    struct budget_plan plan = {.cache = store->cache_bytes,
                               .write_buffers = store->write_buffer_bytes,
                               .stores_objects = cli_given(input, "--objects")};
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
    *for_objects = plan.objects;
    if (options->tls != NULL) // which makes each of them dearer
        plan.connections =
            plan.connections * BUDGET_CONNECTION / (BUDGET_CONNECTION + TLS_CONNECTION);
    if (plan.connections < options->max_connections)
        options->max_connections = (unsigned)plan.connections;
    char objects[64] = "";
    if (plan.objects > 0)
        (void)snprintf(objects, sizeof(objects), "metadata of objects %zu MB, ",
                       plan.objects >> 20);
    log_info("memory: at most %zu MB, of it cache %zu MB, write buffers %zu MB, %srequests %zu MB "
             "with up to %u connections",
             plan.limit >> 20, plan.cache >> 20, plan.write_buffers >> 20, objects,
             plan.requests >> 20, options->max_connections);
    if (plan.cache + plan.write_buffers + plan.objects + plan.requests > plan.limit)
        log_warn("memory: --cache and --write-buffer leave too little of the limit for requests");
    return true;
}

static bool store_parse(struct cli_input *input, struct store_options *out)
{
    const char *url = cli_value(input, "--store", NULL);
    bool gateway = cli_given(input, "--upstream");
    bool directory =
        !cli_given(input, "--memory") && url == NULL && (!gateway || cli_given(input, "--data"));
    out->path = directory ? cli_value(input, "--data", CLI_DATA_DEFAULT) : NULL;
    if (url != NULL && strncmp(url, "postgresql://", 13) != 0 &&
        strncmp(url, "postgres://", 11) != 0)
        return cli_misused(input, "--store %s: only postgresql://… is known.", url);
    return cli_exclusive(input, "--data", "--memory") &&
           cli_exclusive(input, "--data", "--store") &&
           cli_exclusive(input, "--memory", "--store") &&
           cli_exclusive(input, "--cache", "--store") &&
           cli_exclusive(input, "--cache", "--memory") &&
           cli_exclusive(input, "--write-buffer", "--memory") &&
           cli_exclusive(input, "--encryption", "--memory") && target_encryption(input, out) &&
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

// Who may say which tenant a request is for. False after telling the user.
static bool binding_parse(struct cli_input *input, struct binding *binding)
{
    const char *header = cli_value(input, "--tenant-header", NULL);
    const char *text;
    const char *why = NULL;
    binding->required = cli_given(input, "--tenant-required");
    for (size_t i = 0; (text = cli_repeated(input, "--trusted-proxy", i)) != NULL; i++) {
        if (!binding_add_proxy(binding, text, &why))
            return cli_misused(input, "--trusted-proxy %s: %s.", text, why);
    }
    if (header == NULL)
        return (!binding->required && binding->proxy_count == 0) ||
               cli_misused(input, "--trusted-proxy and --tenant-required are for "
                                  "--tenant-header NAME.");
    return binding_set_header(binding, header, &why) ||
           cli_misused(input, "--tenant-header %s: %s.", header, why);
}

// The certificates of --tls-…, if there are any. False after telling the user.
static bool tls_parse(struct cli_input *input, struct server_options *options)
{
    static const char *const clients[] = {"required", "optional", NULL};
    char error[4096];
    size_t client;
    struct tls_options wanted = {.certificate = cli_value(input, "--tls-cert", NULL),
                                 .key = cli_value(input, "--tls-key", NULL),
                                 .client_ca = cli_value(input, "--tls-client-ca", NULL)};
    if ((wanted.certificate == NULL) != (wanted.key == NULL))
        return cli_misused(input, "--tls-cert and --tls-key need each other.");
    if (wanted.client_ca != NULL && wanted.key == NULL)
        return cli_misused(input, "--tls-client-ca is for --tls-cert FILE.");
    if (cli_given(input, "--tls-client") && wanted.client_ca == NULL)
        return cli_misused(input, "--tls-client is for --tls-client-ca FILE.");
    if (!cli_choice(input, "--tls-client", clients, "required or optional", &client))
        return false;
    wanted.client_required = client == 0;
    if (wanted.key == NULL)
        return true;
    options->tls = tls_open(&wanted, error, sizeof(error));
    return options->tls != NULL || cli_fail(input, "TLS: %s.", error);
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
        json_put_flag(w, "RemoveItems", cli_given(input, "--yes"));
        // A start with an old file by mistake would take a model back that others rely on.
        ok = change_send(&request, &target, "ApplyModel") &&
             change_each_table(&target, change_attached);
    }
    buf_release(&target.response);
    return ok;
}

// A time such as 90s, 10m, 1h or 1d, in seconds. False after telling the user.
static bool seconds_parse(struct cli_input *input, const char *option, uint64_t otherwise,
                          uint64_t *out)
{
    static const struct {
        char unit;
        uint64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    const char *text = cli_value(input, option, NULL);
    char *end = NULL;
    *out = otherwise;
    if (text == NULL)
        return true;
    uint64_t number = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    for (size_t i = 0; number > 0 && number <= 100000000 && i < COUNT_OF(units); i++) {
        if (end[0] == units[i].unit && end[1] == 0) {
            *out = number * units[i].seconds;
            return true;
        }
    }
    return cli_misused(input, "%s: '%s' is not a time such as 90s, 10m, 1h or 1d.", option, text);
}

static bool retain_prepare(struct cli_input *input, struct api *api)
{
    struct api_retain retain = {.archive = cli_value(input, "--archive", NULL)};
    unsigned rate;
    if (!cli_number(input, "--retain-rate", 0, 1, 1000000, &rate) ||
        !seconds_parse(input, "--retain-every", 0, &retain.every_s))
        return false;
    retain.rate = rate;
    api_set_retain(api, &retain);
    return true;
}

// ---- The gate ----------------------------------------------------------------------------------

// Who has to say who they are. False after telling the user.
static bool auth_parse(struct cli_input *input, struct server_options *options)
{
    static const char *const modes[] = {"off", "warn", "enforce", NULL};
    size_t mode;
    uint64_t skew_s;
    if (!cli_choice(input, "--auth", modes, "off, warn or enforce", &mode) ||
        !seconds_parse(input, "--clock-skew", SIGN_SKEW_S, &skew_s))
        return false;
    options->auth = (enum auth_mode)mode;
    options->clock_skew_s = (int64_t)skew_s;
    options->region = cli_value(input, "--region", AUTH_REGION);
    if (!auth_region_valid(slice_str(options->region)))
        return cli_misused(input, "--region: '%s' is not the name of a region, such as eu-west-1.",
                           options->region);
    options->insecure = cli_given(input, "--insecure");
    if (options->auth != AUTH_OFF && cli_value(input, "--master-key", NULL) == NULL)
        return cli_misused(input,
                           "--auth %s needs --master-key, under which access keys are sealed. "
                           "'dolmen init --secure' makes one, and the first access key.",
                           modes[mode]);
    return true;
}

// A server that others can reach asks who they are, and nobody listens on the way; or somebody has
// said that it need not. False after telling the user.
static bool exposure_check(struct cli_input *input, struct server_options *options)
{
    bool secure = options->auth == AUTH_ENFORCE && options->tls != NULL;
    if (options->gate.loopback || secure) {
        options->insecure = false;
        return true;
    }
    if (!options->insecure)
        return cli_misused(input,
                           "--host %s can be reached by others, so it needs TLS and --auth "
                           "enforce: 'dolmen init --secure' makes certificates, an access key and "
                           "a configuration. With --insecure it starts as it is: whoever reaches "
                           "this address may then be able to read and change everything.",
                           options->host);
    log_warn("--insecure: listening on %s %s. Let only trusted networks reach it.", options->host,
             options->auth != AUTH_ENFORCE
                 ? "without authentication: everyone who reaches this address can read, change and "
                   "delete all data"
                 : "without TLS: whoever is on the way reads everything");
    return true;
}

// Opens the identities. False after telling the user.
static bool identities_open(struct cli_input *input, const struct server_options *options)
{
    char error[512];
    const char *source = cli_value(input, "--master-key", NULL);
    if (source == NULL)
        return true;
    if (!api_set_master_key(options->api, source, error, sizeof(error)))
        return cli_fail(input, "--master-key %s: %s.", source, error);
    struct identity_view *view = identity_view_hold(api_identity(options->api));
    bool keys = identity_has_keys(view);
    identity_view_release(view);
    return keys || options->auth != AUTH_ENFORCE ||
           cli_fail(input,
                    "--auth enforce: nobody has an active access key, so nobody could sign a "
                    "request. 'dolmen init --secure' makes an administrator's.");
}

// What the options ask of the api, before its first call. False after telling the user.
static bool api_prepare(struct cli_input *input, struct api *api, const char *data,
                        unsigned index_copy, unsigned ttl_rate, const struct outlet_opener *opener,
                        const struct consumers_projects *projects, struct s3_store *s3)
{
    char error[256];
    const char *bucket_root = cli_value(input, "--bucket-root", NULL);
    struct bucket_store elsewhere = {.context = NULL};
    if (s3 != NULL && bucket_root == NULL)
        elsewhere = s3_buckets(s3);
    if (elsewhere.push == NULL && strncmp(cli_value(input, "--archive", ""), "s3://", 5) == 0)
        return cli_misused(input, "--archive s3://…: needs --objects or --s3-endpoint, and not "
                                  "--bucket-root.");
    api_set_buckets(api, bucket_root, data, &elsewhere);
    if (!retain_prepare(input, api))
        return false;
    api_index_copy_max(api, index_copy);
    api_ttl_rate(api, ttl_rate);
    if (!api_service_texts(api, cli_value(input, "--service-texts", NULL)))
        return cli_misused(input, "--service-texts: only 2026-05 is known.");
    if (cli_given(input, "--enforce-capacity"))
        api_enforce_capacity(api);
    if (!api_set_kinesis(api, cli_value(input, "--kinesis-root", NULL), data,
                         cli_value(input, "--kinesis-endpoint", NULL), error, sizeof(error)))
        return cli_misused(input, "--kinesis-endpoint: %s.", error);
    api_set_publisher(api, opener, projects);
    return models_apply(input, api);
}

// How much is kept for replicas. False after telling the user.
static bool replica_log_prepare(struct cli_input *input, struct api *api)
{
    static const size_t log_min = (size_t)1 << 20;
    const char *text = cli_value(input, "--replica-log", NULL);
    size_t bytes = 0;
    struct arena arena;
    struct error error;
    if (text == NULL)
        return true;
    if (strcmp(text, "off") != 0 && !cli_size(input, "--replica-log", log_min, memory_max, &bytes))
        return false;
    arena_init(&arena, 1 << 16);
    error_init(&error, &arena);
    bool ok = engine_ship(api_engine(api), bytes, &error) ||
              cli_fail(input, "--replica-log: %s", error.message == NULL ? "" : error.message);
    arena_release(&arena);
    return ok;
}

// How events are delivered. False after telling the user.
static bool publisher_parse(struct cli_input *input, struct publisher *publisher)
{
    const char *publish = cli_value(input, "--publish", "on");
    *publisher = (struct publisher){.off = false};
    publisher->off = strcmp(publish, "off") == 0;
    publisher->link_local = strcmp(publish, "anywhere") == 0;
    publisher->files = cli_value(input, "--publish-files", NULL);
    publisher->secrets = cli_value(input, "--secrets", NULL);
    return publisher->off || publisher->link_local || strcmp(publish, "on") == 0 ||
           cli_misused(input, "--publish must be on, off or anywhere, not '%s'.", publish);
}

// Where the server reaches itself.
static const char *self_place(const char *host, int bound, char *out, size_t size)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof(address);
    unsigned port = 0;
    if (getsockname(bound, (struct sockaddr *)&address, &len) == 0)
        port = ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                                   : ((struct sockaddr_in *)&address)->sin_port);
    bool all = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
    bool v6 = !all && strchr(host, ':') != NULL;
    (void)snprintf(out, size, v6 ? "[%s]:%u" : "%s:%u", all ? "127.0.0.1" : host, port);
    return out;
}

// The object store of --objects, if there is to be one. False after telling the user.
static bool objects_prepare(struct cli_input *input, struct server_options *options, size_t memory)
{
    char error[4096];
    const char *keys[OBJECTS_KEYS_MAX];
    struct objects_options wanted = {
        .directory = cli_value(input, "--objects", NULL),
        .relaxed = strcmp(cli_value(input, "--durability", "full"), "relaxed") == 0,
        .loopback = options->gate.loopback,
        .host = cli_value(input, "--objects-host", NULL),
        .env = server_env(options->api),
        .memory_bytes = memory,
        .budget = api_budget(options->api),
        .loops = options->threads,
        .keys = keys,
        .identity = options->auth == AUTH_OFF ? NULL : api_identity(options->api),
        .region = options->region,
        .signed_only = options->auth == AUTH_ENFORCE,
    };
    const char *key;
    for (size_t i = 0; (key = cli_repeated(input, "--objects-key", i)) != NULL; i++) {
        if (i == OBJECTS_KEYS_MAX)
            return cli_misused(input, "--objects-key: there may be %d.", OBJECTS_KEYS_MAX);
        keys[wanted.key_count++] = key;
    }
    if (!seconds_parse(input, "--objects-every", 3600, &wanted.every_s))
        return false;
    if (wanted.directory == NULL)
        return (wanted.key_count == 0 && wanted.host == NULL) ||
               cli_misused(input, "--objects-key and --objects-host are for --objects DIR.");
    options->objects = objects_open(&wanted, error, sizeof(error));
    return options->objects != NULL ||
           cli_fail(input, "--objects %s: %s.", wanted.directory, error);
}

// Where the objects of items are: the server's own store, if there is no other. False after telling
// the user.
static bool s3_prepare(struct cli_input *input, struct server_options *options,
                       struct publisher *publisher)
{
    char text[512];
    struct sign_keys own = {.token = slice_of(NULL, 0)};
    struct s3_settings settings = {
        .endpoint = cli_value(input, "--s3-endpoint", NULL),
        .bucket = cli_value(input, "--s3-bucket", NULL),
        .region = cli_value(input, "--s3-region", NULL),
        .credentials = cli_value(input, "--s3-credentials", NULL),
        .env = options->env,
    };
    if (options->objects != NULL && settings.endpoint == NULL) {
        own = objects_keys(options->objects);
        settings.own = &own;
        settings.env = server_env(options->api);
    }
    if (settings.own == NULL && settings.endpoint == NULL && settings.bucket == NULL)
        return true;
    options->s3 = publisher->s3 = s3_store_new(&settings, text, sizeof(text));
    publisher->objects = s3_remove_open;
    if (options->s3 == NULL)
        return cli_misused(input, "--s3-…: %s.", text);
    if (settings.own != NULL &&
        !objects_make_bucket(options->objects, s3_store_bucket(options->s3)))
        return cli_fail(input, "--objects: the bucket %.*s cannot be made.",
                        SLICE_FMT(s3_store_bucket(options->s3)));
    s3_store_set_self(options->s3, self_place(options->host, options->bound, text, sizeof(text)));
    if (settings.own != NULL && options->tls != NULL)
        s3_store_set_secure(options->s3, cli_value(input, "--tls-cert", NULL),
                            cli_value(input, "--tls-key", NULL));
    return true;
}

// What is not for a gateway. False after telling the user.
static bool upstream_check(struct cli_input *input, const struct server_options *options)
{
    static const struct {
        const char *option;
        const char *reason;
    } refused[] = {
        {"--memory", "keeps nothing"},
        {"--store", "keeps nothing"},
        {"--objects", "keeps nothing"},
        {"--s3-endpoint", "has no objects"},
        {"--s3-bucket", "has no objects"},
        {"--tenant-header", "passes reads on, so that it cannot tell tenants apart"},
        {"--enforce-capacity", "leaves that to the upstream server"},
        {"--kinesis-endpoint", "has no change log"},
        {"--kinesis-root", "has no change log"},
    };
    if (!cli_given(input, "--upstream"))
        return true;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        if (cli_given(input, refused[i].option))
            return cli_misused(input, "%s is not for --upstream: a gateway %s.", refused[i].option,
                               refused[i].reason);
    }
    bool keys = options->auth != AUTH_OFF;
    return cli_given(input, "--data") == keys ||
           cli_misused(
               input, keys ? "--auth with --upstream needs --data DIR, which has the access keys."
                           : "--data is not for --upstream: a gateway keeps nothing but the access "
                             "keys of --auth.");
}

// The gateway's other side, if this is one. False after telling the user.
static bool upstream_prepare(struct cli_input *input, struct server_options *options)
{
    char error[1024];
    const char *url = cli_value(input, "--upstream", NULL);
    if (url == NULL)
        return true;
    options->upstream = upstream_open(url, error, sizeof(error));
    return (options->upstream != NULL &&
            upstream_adopt(options->upstream, options->api, options->auth != AUTH_OFF, error,
                           sizeof(error))) ||
           cli_fail(input, "--upstream: %s.", error);
}

// Everything but TLS, which is there already.
static bool serve_all(struct cli_input *input, struct server_options *options)
{
    unsigned timeout;
    unsigned ttl_rate;
    unsigned index_copy;
    struct store_options store = {.path = NULL};
    struct publisher publisher; // lives as long as the server, as its opener does
    struct outlet_opener opener = publisher_opener(&publisher);
    struct consumers_projects projects = projects_of(&publisher);
    if (!store_parse(input, &store) || !publisher_parse(input, &publisher) ||
        !gate_admit(input, "--allowed-host", &options->gate, gate_add_host) ||
        !gate_admit(input, "--cors", &options->gate, gate_add_origin) ||
        !binding_parse(input, &options->binding) || !auth_parse(input, options) ||
        !upstream_check(input, options) || !exposure_check(input, options) ||
        !audit_parse(input, &options->audit) || !limits_parse(input, options) ||
        !cli_exclusive(input, "--kinesis-root", "--kinesis-endpoint") ||
        !cli_number(input, "--port", 8000, 0, 65535, &options->port) ||
        !cli_number(input, "--index-copy", LIMIT_INDEX_COPY, 1, LIMIT_ITEM_SIZE, &index_copy) ||
        !cli_number(input, "--threads", 0, 1, 256, &options->threads) ||
        !cli_number(input, "--request-timeout", 30, 1, 3600, &timeout) ||
        !cli_number(input, "--ttl-rate", API_TTL_RATE, 1, 1000000, &ttl_rate))
        return false;
    options->request_timeout_ms = timeout * 1000;
    options->opener = &opener;
    sigset_t stopping;
    signals_prepare(&stopping, options->tls != NULL);
    options->max_connections = connections_allowed();
    // Before a data directory is made, or opened, which may take long.
    char error[256];
    options->bound = http_bind(options->host, options->port, error, sizeof(error));
    if (options->bound < 0)
        return cli_fail(input, "%s.", error);
    struct budget budget; // lives as long as the server
    size_t for_objects;
    if (!memory_parse(input, &store, &budget, options, &for_objects))
        return false;
    if (!replica_copy(input, &store))
        return false;
    options->api = database_open(input, &store, &budget);
    if (options->api == NULL)
        return false;
    if (!replica_fits(input, options->api)) {
        api_close(options->api);
        return false;
    }
    if (options->threads == 0)
        options->threads = uv_available_parallelism();
    // What delivers events may want the store of objects at once.
    if (!replica_log_prepare(input, options->api) || !identities_open(input, options) ||
        !objects_prepare(input, options, for_objects) || !s3_prepare(input, options, &publisher) ||
        !api_prepare(input, options->api, store.path, index_copy, ttl_rate, &opener, &projects,
                     options->s3) ||
        !upstream_prepare(input, options)) {
        objects_close(options->objects);
        api_close(options->api);
        upstream_close(options->upstream);
        s3_store_free(options->s3);
        return false;
    }
    budget_sweep_start(&budget);
    if (options->tls != NULL)
        tls_watch(options->tls);
    struct replica_end end = {.how = REPLICA_STOPPED};
    bool ok = serve(input, options, &stopping, &end);
    budget_sweep_stop(&budget);
    upstream_close(options->upstream);
    s3_store_free(options->s3);
    return ok && replica_again(input, &store, &end);
}

bool cli_serve(struct cli_input *input)
{
    struct server_options options = {
        .host = cli_value(input, "--host", "127.0.0.1"),
        .env = env_system(),
        .access_log = cli_value(input, "--access-log", NULL),
        .faults = cli_value(input, "--fault", NULL),
        .admin = cli_given(input, "--admin"),
        .gate.loopback = gate_is_loopback(cli_value(input, "--host", "127.0.0.1")),
    };
    bool ok = tls_parse(input, &options) && serve_all(input, &options);
    tls_close(options.tls);
    return ok;
}
