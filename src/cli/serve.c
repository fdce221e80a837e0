// `dolmen serve`: opens the database, serves it, and waits for the signal to stop.
//
// SIGTERM and SIGINT are blocked in all threads and waited for in this one, so that stopping is
// ordinary code. The stop is bounded in time, so further signals during it change nothing.
#include "cli/database.h"
#include "server/server.h"

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

// Connections and the store's files are descriptors: take as many as the system gives.
static void descriptors_raise(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
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
    print_ready(options->host, server_port(server));
    int signal_number;
    (void)sigwait(stopping, &signal_number);
    server_stop(server);
    api_close(options->api);
    server_free(server);
    return CLI_OK;
}

static int serve_run(const struct cli_input *input)
{
    unsigned timeout;
    struct server_options options = {
        .host = cli_value(input, "--host", "127.0.0.1"),
        .env = env_system(),
        .access_log = cli_value(input, "--access-log", NULL),
        .faults = cli_value(input, "--fault", NULL),
        .admin = cli_given(input, "--admin"),
    };
    if (!cli_exclusive(input, "--data", "--memory") ||
        !cli_number(input, "--port", 8000, 0, 65535, &options.port) ||
        !cli_number(input, "--threads", 0, 1, 256, &options.threads) ||
        !cli_number(input, "--request-timeout", 30, 1, 3600, &timeout))
        return CLI_USAGE;
    options.request_timeout_ms = timeout * 1000;
    sigset_t stopping;
    signals_prepare(&stopping);
    descriptors_raise();
    int code;
    const char *path = cli_value(input, "--data", CLI_DATA_DEFAULT);
    options.api = cli_database_open(input, cli_given(input, "--memory") ? NULL : path, &code);
    if (options.api != NULL && cli_given(input, "--enforce-capacity"))
        api_enforce_capacity(options.api);
    return options.api == NULL ? code : serve(input, &options, &stopping);
}

static const struct cli_option serve_options[] = {
    {"--host", "ADDRESS", "Where to listen. Default: 127.0.0.1, this machine only."},
    {"--port", "N", "The port; 0 picks a free one. Default: 8000."},
    {"--data", "DIR", "The data directory, made if missing. Default: ./" CLI_DATA_DEFAULT "."},
    {"--memory", NULL, "Keep everything in memory; it is gone when the server stops."},
    {"--durability", "full|relaxed",
     "full (default): a write is answered when it is on disk, and survives\n"
     "a crash and a power cut.\n"
     "relaxed: a write is answered when it is in the log, which reaches the\n"
     "disk within 100 ms. It survives a crash of the server, but a power cut\n"
     "may lose the last 100 ms of answered writes. Tables and their indexes\n"
     "agree in any case."},
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
     "For tests of applications: serve /admin/clock, which sets the clock, and\n"
     "/admin/faults, which sets the rules of --fault. Anyone who reaches the\n"
     "server may call them."},
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
