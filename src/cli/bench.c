// `dolmen bench`: loads any server of the DynamoDB API and tells what it can do.
//
//     bench_items   the table and its items        bench_run        the closed loop
//     bench_work    the workloads                  bench_histogram  latencies
//     bench_http    connections                    bench_server     what the server's process
//     spends bench_report  text and JSON
//
// The table is made by this command and deleted at its end, unless the user says otherwise. One
// that is there already is never touched without --no-load: it may be somebody's.
#include "base/wait.h"
#include "bench/bench_report.h"
#include "cli/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define TABLE_DEFAULT "dolmen-bench"

enum { WORKLOADS_MAX = 32, ANSWER_MAX = 1 << 20, ACTIVE_TRIES = 600, ACTIVE_WAIT_MS = 100 };

struct bench {
    const struct cli_input *input;
    const char *endpoint;
    struct bench_plan plan;
    struct bench_data data;
    struct bench_source source;
    struct bench_report report;
    const struct bench_workload *chosen[WORKLOADS_MAX];
    size_t chosen_count;
    uint64_t errors;
};

static bool bench_fail(const struct bench *bench, const char *what)
{
    (void)cli_fail(bench->input->command, CLI_FAILED, "%s", what);
    return false;
}

// ---- The table -----------------------------------------------------------------------------

// The status, or 0 after telling the user.
static int table_call(const struct bench *bench, const char *operation, struct slice body,
                      struct buf *answer)
{
    char error[256];
    struct client_request request = {.operation = operation, .region = "us-east-1", .body = body};
    buf_clear(answer);
    int status = client_call(bench->endpoint, &request, answer, error, sizeof(error));
    if (status == 0)
        (void)cli_fail(bench->input->command, CLI_FAILED, "%s.", error);
    return status;
}

static bool answer_has(const struct buf *answer, const char *text)
{
    return answer->len > 0 && memmem(answer->ptr, answer->len, text, strlen(text)) != NULL;
}

static bool table_create(const struct bench *bench, struct buf *answer)
{
    struct buf body;
    buf_init(&body, ANSWER_MAX);
    bench_table_create(&body, &bench->data);
    int status = table_call(bench, "CreateTable", buf_view(&body), answer);
    buf_release(&body);
    if (status == 0 || status == 200)
        return status == 200;
    if (answer_has(answer, "ResourceInUseException")) {
        (void)cli_fail(bench->input->command, CLI_FAILED,
                       "there is a table '%s' already. Use it with --no-load, name another with "
                       "--table, or delete it.",
                       bench->data.table);
        return false;
    }
    (void)cli_fail(bench->input->command, CLI_FAILED, "CreateTable failed with HTTP %d: %.*s",
                   status, (int)answer->len, (const char *)answer->ptr);
    return false;
}

// Servers that imitate the service closely take their time to make a table.
static bool table_await(const struct bench *bench, struct slice name, struct buf *answer)
{
    for (int i = 0; i < ACTIVE_TRIES; i++) {
        int status = table_call(bench, "DescribeTable", name, answer);
        if (status == 0)
            return false;
        if (status == 200 && !answer_has(answer, "\"CREATING\""))
            return true;
        sleep_ms(ACTIVE_WAIT_MS);
    }
    return bench_fail(bench, "the table does not become ACTIVE.");
}

static bool table_prepare(const struct bench *bench)
{
    struct buf name;
    struct buf answer;
    buf_init(&name, ANSWER_MAX);
    buf_init(&answer, ANSWER_MAX);
    bench_table_name(&name, &bench->data);
    buf_byte(&name, '}');
    bool done = table_create(bench, &answer) && table_await(bench, buf_view(&name), &answer);
    buf_release(&name);
    buf_release(&answer);
    return done;
}

static bool table_delete(const struct bench *bench)
{
    struct buf name;
    struct buf answer;
    buf_init(&name, ANSWER_MAX);
    buf_init(&answer, ANSWER_MAX);
    bench_table_name(&name, &bench->data);
    buf_byte(&name, '}');
    int status = table_call(bench, "DeleteTable", buf_view(&name), &answer);
    buf_release(&name);
    buf_release(&answer);
    return status == 200 || (status != 0 && bench_fail(bench, "the table could not be deleted."));
}

// ---- Work ----------------------------------------------------------------------------------

static bool work_run(struct bench *bench, const struct bench_plan *plan,
                     const struct bench_workload *workload)
{
    char error[256];
    struct bench_result *result = calloc(1, sizeof(*result)); // its histogram is large
    if (result == NULL)
        return bench_fail(bench, "there is no memory.");
    bool done = bench_run(plan, workload, &bench->source, result, error, sizeof(error));
    if (done) {
        bench->errors += result->errors;
        bench_report_result(&bench->report, result);
    } else {
        (void)cli_fail(bench->input->command, CLI_FAILED, "%s: %s.", workload->name, error);
    }
    free(result);
    return done;
}

static bool work_load(struct bench *bench)
{
    struct bench_plan plan = bench->plan;
    plan.seconds = 0;
    plan.requests = (bench->data.items + 24) / 25;
    if (!work_run(bench, &plan, &bench_workloads[0]))
        return false;
    return bench->errors == 0 || bench_fail(bench, "the items could not all be made.");
}

// Items that an earlier run on the same table made must not be taken for new ones.
static void source_pass_earlier(struct bench_source *source)
{
    uint64_t minutes = (uint64_t)time(NULL) / 60 % 1000000;
    source->next_new += (minutes + 1) * 1000000;
}

static bool work_all(struct bench *bench)
{
    bool no_load = cli_given(bench->input, "--no-load");
    if (!no_load && !table_prepare(bench))
        return false;
    if (bench->plan.server > 0)
        bench_counters_open(&bench->plan.counters, bench->plan.server);
    bench_source_init(&bench->source, &bench->data);
    bench_report_begin(&bench->report, &bench->plan, &bench->data, bench->endpoint);
    bool done = no_load || work_load(bench);
    if (no_load)
        source_pass_earlier(&bench->source);
    for (size_t i = 0; done && i < bench->chosen_count; i++)
        done = work_run(bench, &bench->plan, bench->chosen[i]);
    bench_report_end(&bench->report);
    bench_counters_close(&bench->plan.counters);
    if (!no_load && !cli_given(bench->input, "--keep") && !table_delete(bench))
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
            (void)cli_fail(bench->input->command, CLI_USAGE, "%s needs --gsis 1 or more.", w->name);
        else if (bench->chosen_count == WORKLOADS_MAX)
            (void)cli_fail(bench->input->command, CLI_USAGE, "these are too many workloads.");
        else
            bench->chosen[bench->chosen_count++] = w;
        return !(w->wants_gsi && bench->data.gsis == 0);
    }
    (void)cli_fail(bench->input->command, CLI_USAGE, "there is no workload '%.*s'.", (int)len,
                   name);
    return false;
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
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != len) {
        (void)cli_fail(bench->input->command, CLI_USAGE, "'%s' is no name for a table.", name);
        return false;
    }
    bench->data.table = name;
    return true;
}

static bool numbers_parse(struct bench *bench)
{
    const struct cli_input *input = bench->input;
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
    bench->endpoint = cli_value(bench->input, "--endpoint", NULL);
    bench->report.json = cli_given(bench->input, "--json");
    bench->plan.progress = isatty(STDERR_FILENO) == 1;
    if (bench->endpoint == NULL) {
        (void)cli_fail(bench->input->command, CLI_USAGE, "--endpoint must say which server.");
        return false;
    }
    if (!client_address_parse(bench->endpoint, &bench->plan.address)) {
        (void)cli_fail(bench->input->command, CLI_USAGE,
                       "'%s' is not a URL of the form http://host:port.", bench->endpoint);
        return false;
    }
    return cli_exclusive(bench->input, "--seconds", "--requests") && table_parse(bench) &&
           numbers_parse(bench) && workloads_parse(bench);
}

static int bench_main(const struct cli_input *input)
{
    struct bench bench = {.input = input};
    if (!bench_parse(&bench))
        return CLI_USAGE;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    return work_all(&bench) && bench.errors == 0 ? CLI_OK : CLI_FAILED;
}

static const struct cli_option bench_options[] = {
    {"--endpoint", "URL", "The server to load: any that speaks the DynamoDB API."},
    {"--workload", "LIST",
     "Names with commas between, or all (default), or none:\n"
     "get        GetItem\n"
     "query20    Query of a partition, 20 items\n"
     "gsi20      Query of an index, 20 items\n"
     "mix        a media site: 90 % reads, mostly queries\n"
     "overwrite  PutItem over an item\n"
     "update     UpdateItem of a counter\n"
     "put        PutItem of a new item\n"
     "condput    … on condition that it is not there\n"
     "transact4  TransactWriteItems: 2 puts, a counter, a check\n"
     "batch25    BatchWriteItem of 25 new items"},
    {"--items", "N", "How many items to make first. Default: 100000."},
    {"--gsis", "N", "Indexes of the table, 0 to 8, with all attributes. Default: 2."},
    {"--size", "BYTES", "Of an item. Default: 1024."},
    {"--connections", "N", "Each has one request under way. Default: 64."},
    {"--seconds", "N", "To measure each workload, after a fifth of it to warm up. Default: 5."},
    {"--requests", "N", "Measure exactly so many instead, without warming up."},
    {"--server-pid", "PID", "The server's process on this machine: tells what it spends, too."},
    {"--table", "NAME", "Default: " TABLE_DEFAULT "."},
    {"--no-load", NULL,
     "The table is there, loaded earlier (with --keep) with the same --items,\n"
     "--gsis and --size. It is written to, and kept."},
    {"--keep", NULL, "Do not delete the table at the end."},
    {"--json", NULL, "Print JSON."},
    {NULL, NULL, NULL},
};

const struct cli_command cli_bench = {
    .name = "bench",
    .arguments = "--endpoint URL [OPTIONS]",
    .summary = "load a server of the DynamoDB API and print what it can do",
    .about = "Makes a table, fills it, and runs workloads one after the other, each in a closed\n"
             "loop: a connection sends a request, waits for the answer, and sends the next.\n"
             "Answers are checked. Exits with 1 if any request failed.",
    .example = "  dolmen serve --memory &\n"
               "  dolmen bench --endpoint http://127.0.0.1:8000 --server-pid $!\n"
               "  dolmen bench --endpoint http://127.0.0.1:8000 --workload get,put --gsis 0",
    .options = bench_options,
    .run = bench_main,
};
