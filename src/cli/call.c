// `dolmen call`: one operation, on a server or straight on a data directory.
#include "cli/database.h"
#include "client/client.h"

#include "base/limits.h"

#include <stdio.h>
#include <string.h>

#define ENDPOINT_DEFAULT "http://127.0.0.1:8000"

// ---- In this process -----------------------------------------------------------------------

static int call_here(struct api *api, const struct client_request *request, struct buf *response)
{
    struct api_call call;
    api_call_init(&call, api);
    call.operation = slice_str(request->operation);
    call.region = slice_str(request->region);
    call.body = request->body;
    api_call_run(&call);
    int status = call.status;
    buf_slice(response, buf_view(&call.response));
    api_call_release(&call);
    return status;
}

// ---- The command ---------------------------------------------------------------------------

static bool read_stdin(struct buf *body)
{
    while (!body->failed) {
        uint8_t *room = buf_reserve(body, 64 << 10);
        size_t got = room == NULL ? 0 : fread(room, 1, 64 << 10, stdin);
        if (got == 0)
            break;
        body->len += got;
    }
    return !body->failed && ferror(stdin) == 0;
}

// The answer goes to standard output; an error document to standard error.
static int report(const struct cli_input *input, int status, const struct buf *response)
{
    if (response->failed)
        return cli_fail(input->command, CLI_FAILED, "the answer is too large.");
    FILE *to = status == 200 ? stdout : stderr;
    (void)fwrite(response->ptr, 1, response->len, to);
    (void)fputc('\n', to);
    return status == 200 && fflush(to) == 0 ? CLI_OK : CLI_FAILED;
}

static int call_somewhere(const struct cli_input *input, const struct client_request *request,
                          struct buf *response)
{
    bool local = cli_given(input, "--data") || cli_given(input, "--memory");
    if (!local) {
        char error[256];
        int status = client_call(cli_value(input, "--endpoint", ENDPOINT_DEFAULT), request,
                                 response, error, sizeof(error));
        if (status == 0)
            return cli_fail(input->command, CLI_FAILED, "%s.", error);
        return report(input, status, response);
    }
    int code;
    struct store_options where = {.path = cli_value(input, "--data", NULL)};
    struct api *api = cli_database_open(input, &where, NULL, NULL, &code);
    if (api == NULL)
        return code;
    api_buckets(api, NULL, where.path);
    int status = call_here(api, request, response);
    api_close(api);
    return report(input, status, response);
}

static int call_run(const struct cli_input *input)
{
    if (input->argument_count == 0)
        return cli_fail(input->command, CLI_USAGE, "name an operation, such as ListTables.");
    if (!cli_exclusive(input, "--data", "--memory") ||
        !cli_exclusive(input, "--data", "--endpoint") ||
        !cli_exclusive(input, "--memory", "--endpoint"))
        return CLI_USAGE;
    const char *json = input->argument_count > 1 ? input->arguments[1] : "{}";
    struct buf body;
    struct buf response;
    buf_init(&body, LIMIT_BODY + (64 << 10));
    buf_init(&response, 2 * (size_t)LIMIT_RESPONSE);
    bool from_stdin = strcmp(json, "-") == 0;
    int code;
    if (from_stdin && !read_stdin(&body)) {
        code = cli_fail(input->command, CLI_FAILED, "cannot read the request from standard input.");
    } else {
        struct client_request request = {
            .operation = input->arguments[0],
            .of_streams = api_operation_of_streams(slice_str(input->arguments[0])),
            .region = cli_value(input, "--region", "us-east-1"),
            .body = from_stdin ? buf_view(&body) : slice_str(json),
        };
        code = call_somewhere(input, &request, &response);
    }
    buf_release(&body);
    buf_release(&response);
    return code;
}

static const struct cli_option call_options[] = {
    {"--endpoint", "URL", "The server to ask. Default: " ENDPOINT_DEFAULT "."},
    {"--data", "DIR", "Open this data directory instead; no server may have it open."},
    {"--memory", NULL, "Use a new, empty database in memory."},
    {"--region", "NAME", "The region that ARNs carry. Default: us-east-1."},
    {"--durability", "full|relaxed", "As for 'dolmen serve'; of use only with --data."},
    {NULL, NULL, NULL},
};

const struct cli_command cli_call = {
    .name = "call",
    .arguments = "OPERATION [JSON | -] [--endpoint URL | --data DIR | --memory]",
    .summary = "execute one operation and print its answer",
    .about =
        "The request is the operation's JSON ('-' reads it from standard input; default: {}).\n"
        "The answer goes to standard output. An operation that fails prints its error\n"
        "document to standard error and exits with 1.",
    .example =
        "  dolmen call GetItem '{\"TableName\":\"Music\",\"Key\":{\"Artist\":{\"S\":\"Nina\"}}}'\n"
        "  dolmen call ListTables --data ./mydata",
    .options = call_options,
    .arguments_max = 2,
    .run = call_run,
};
