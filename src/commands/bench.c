// `dolmen bench`: loads any server of the DynamoDB API and tells what it can do. src/bench does it.
//
// The table is made by this command and deleted at its end, unless the user says otherwise. One
// that is there already is never touched without --no-load: it may be somebody's.
#include "base/wait.h"
#include "bench/bench_report.h"
#include "cli/target.h"
#include "model/parse.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define TABLE_DEFAULT "dolmen-bench"

enum { WORKLOADS_MAX = 32, ANSWER_MAX = 1 << 20, ACTIVE_TRIES = 600, ACTIVE_WAIT_MS = 100 };

struct bench {
    struct cli_input *input;
    struct target target; // the table is made and deleted through it
    struct bench_plan plan;
    struct bench_data data;
    struct bench_source source;
    struct bench_report report;
    const struct bench_workload *chosen[WORKLOADS_MAX];
    size_t chosen_count;
    uint64_t errors;
};

// ---- The table -----------------------------------------------------------------------------

// The status, or 0 after telling the user.
static int table_call(struct bench *bench, const char *operation, struct slice body)
{
    char error[256];
    int status = target_call_once(&bench->target, operation, body, error, sizeof(error));
    if (status == 0)
        (void)cli_fail(bench->input, "%s.", error);
    return status;
}

static bool table_create(struct bench *bench)
{
    struct buf body;
    buf_init(&body, ANSWER_MAX);
    bench_table_create(&body, &bench->data);
    int status = table_call(bench, "CreateTable", buf_view(&body));
    struct slice answer = buf_view(&bench->target.response);
    buf_release(&body);
    if (status == 0 || status == 200)
        return status == 200;
    if (slice_contains(answer, SLICE_LIT("ResourceInUseException")))
        return cli_fail(bench->input,
                        "there is a table '%s' already. Use it with --no-load, name another with "
                        "--table, or delete it.",
                        bench->data.table);
    return cli_fail(bench->input, "CreateTable failed with HTTP %d: %.*s", status,
                    SLICE_FMT(answer));
}

// Servers that imitate the service closely take their time to make a table.
static bool table_await(struct bench *bench, struct slice name)
{
    for (int i = 0; i < ACTIVE_TRIES; i++) {
        int status = table_call(bench, "DescribeTable", name);
        if (status == 0)
            return false;
        if (status == 200 &&
            !slice_contains(buf_view(&bench->target.response), SLICE_LIT("\"CREATING\"")))
            return true;
        sleep_ms(ACTIVE_WAIT_MS);
    }
    return cli_fail(bench->input, "the table does not become ACTIVE.");
}

static bool table_delete(struct bench *bench, struct slice name)
{
    int status = table_call(bench, "DeleteTable", name);
    return status == 200 ||
           (status != 0 && cli_fail(bench->input, "the table could not be deleted."));
}

// Makes it or deletes it.
static bool table_change(struct bench *bench, bool make)
{
    struct buf name;
    buf_init(&name, ANSWER_MAX);
    bench_fill(&name, &bench->data, "{\"TableName\":\"$t\"}", 0, 0);
    bool done = make ? table_create(bench) && table_await(bench, buf_view(&name))
                     : table_delete(bench, buf_view(&name));
    buf_release(&name);
    return done;
}

// ---- Measuring ----------------------------------------------------------------------------------

static bool measure(struct bench *bench, const struct bench_plan *plan,
                    const struct bench_workload *workload)
{
    char error[256];
    struct bench_result *result = memory_zeroed(sizeof(*result)); // its histogram is large
    bool done = bench_run(plan, workload, &bench->source, result, error, sizeof(error));
    if (done) {
        bench->errors += result->errors;
        bench_report_result(&bench->report, result);
    } else {
        (void)cli_fail(bench->input, "%s: %s.", workload->name, error);
    }
    free(result);
    return done;
}

static bool load(struct bench *bench)
{
    struct bench_plan plan = bench->plan;
    plan.seconds = 0;
    plan.requests = (bench->data.items + 24) / 25;
    if (!measure(bench, &plan, &bench_workloads[0]))
        return false;
    return bench->errors == 0 || cli_fail(bench->input, "the items could not all be made.");
}

// Items that an earlier run on the same table made must not be taken for new ones.
static void source_pass_earlier(struct bench_source *source)
{
    uint64_t minutes = (uint64_t)time(NULL) / 60 % 1000000;
    source->next_new += (minutes + 1) * 1000000;
}

static bool measure_all(struct bench *bench)
{
    bool no_load = cli_given(bench->input, "--no-load");
    if (!no_load && !table_change(bench, true))
        return false;
    if (bench->plan.server > 0)
        bench_counters_open(&bench->plan.counters, bench->plan.server);
    bench_source_init(&bench->source, &bench->data);
    bench_report_begin(&bench->report, &bench->plan, &bench->data, bench->target.endpoint);
    bool done = no_load || load(bench);
    if (no_load)
        source_pass_earlier(&bench->source);
    for (size_t i = 0; done && i < bench->chosen_count; i++)
        done = measure(bench, &bench->plan, bench->chosen[i]);
    bench_report_end(&bench->report);
    bench_counters_close(&bench->plan.counters);
    if (!no_load && !cli_given(bench->input, "--keep") && !table_change(bench, false))
        return false;
    return done;
}

// ---- The command line ----------------------------------------------------------------------

static bool workload_choose(struct bench *bench, const char *name, size_t len)
{
    for (const struct bench_workload *w = &bench_workloads[1]; w->name != NULL; w++) {
        if (strlen(w->name) != len || memcmp(w->name, name, len) != 0)
            continue;
        if (w->wants_gsi && bench->data.gsis == 0)
            return cli_misused(bench->input, "%s needs --gsis 1 or more.", w->name);
        if (bench->chosen_count < WORKLOADS_MAX)
            bench->chosen[bench->chosen_count++] = w;
        else
            (void)cli_misused(bench->input, "these are too many workloads.");
        return true;
    }
    struct model_guess guess = model_guess_for(slice_of(name, len));
    for (const struct bench_workload *w = &bench_workloads[1]; w->name != NULL; w++)
        model_guess_candidate(&guess, slice_str(w->name));
    return cli_misused(bench->input, "there is no workload '%.*s'%s", (int)len, name,
                       cli_meant(bench->input, &guess));
}

static bool workloads_parse(struct bench *bench)
{
    const char *list = cli_value(bench->input, "--workload", "all");
    if (strcmp(list, "none") == 0)
        return true;
    if (strcmp(list, "all") != 0) {
        for (size_t len; *list != 0; list += len + (list[len] == ',')) {
            len = strcspn(list, ",");
            if (!workload_choose(bench, list, len))
                return false;
        }
        return true;
    }
    for (const struct bench_workload *w = &bench_workloads[1]; w->name != NULL; w++) {
        if (!w->wants_gsi || bench->data.gsis > 0)
            bench->chosen[bench->chosen_count++] = w;
    }
    return true;
}

// The name goes into JSON as it is, so only the characters that a table may have are let through.
static bool table_parse(struct bench *bench)
{
    const char *name = cli_value(bench->input, "--table", TABLE_DEFAULT);
    size_t len = strlen(name);
    if (len < 3 || len > BENCH_TABLE_MAX ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != len)
        return cli_misused(bench->input, "'%s' is no name for a table.", name);
    bench->data.table = name;
    return true;
}

static bool numbers_parse(struct bench *bench)
{
    struct cli_input *input = bench->input;
    unsigned items, requests, server;
    if (!cli_number(input, "--items", 100000, 100, 1000000000, &items) ||
        !cli_number(input, "--gsis", 2, 0, BENCH_GSIS_MAX, &bench->data.gsis) ||
        !cli_number(input, "--size", 1024, BENCH_SIZE_MIN, BENCH_SIZE_MAX, &bench->data.size) ||
        !cli_number(input, "--connections", 64, 1, BENCH_CONNECTIONS_MAX,
                    &bench->plan.connections) ||
        !cli_number(input, "--seconds", 5, 1, 86400, &bench->plan.seconds) ||
        !cli_number(input, "--requests", 0, 1, UINT32_MAX, &requests) ||
        !cli_number(input, "--server-pid", 0, 1, INT32_MAX, &server))
        return false;
    bench->data.items = (items + BENCH_GROUP - 1) / BENCH_GROUP * BENCH_GROUP;
    bench->plan.requests = requests;
    if (requests > 0)
        bench->plan.seconds = 0;
    bench->plan.server = (pid_t)server;
    return true;
}

static bool bench_parse(struct bench *bench)
{
    struct cli_input *input = bench->input;
    const char *endpoint = target_endpoint(input, NULL);
    bench->report.json = cli_given(input, "--json");
    bench->plan.progress = isatty(STDERR_FILENO) == 1;
    if (endpoint == NULL)
        return cli_misused(input, "say which server with --endpoint or DOLMEN_ENDPOINT.");
    if (!client_address_parse(endpoint, &bench->plan.address))
        return cli_misused(input,
                           "'%s' is not a URL of the form http://host:port or https://host:port.",
                           endpoint);
    bench->target = (struct target){.input = input, .endpoint = endpoint, .region = "us-east-1"};
    buf_init(&bench->target.response, ANSWER_MAX);
    char error[512];
    bench->plan.trust = target_trust(&bench->target, error, sizeof(error));
    if (error[0] == 0)
        bench->plan.keys = target_keys(&bench->target, error, sizeof(error));
    if (error[0] != 0)
        return cli_misused(input, "%s.", error);
    return cli_exclusive(input, "--seconds", "--requests") && table_parse(bench) &&
           numbers_parse(bench) && workloads_parse(bench);
}

bool cli_bench(struct cli_input *input)
{
    struct bench bench = {.input = input};
    struct rlimit limit;
    if (!bench_parse(&bench)) {
        target_close(&bench.target);
        return false;
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    bool ok = measure_all(&bench) && bench.errors == 0;
    target_close(&bench.target);
    return ok;
}
