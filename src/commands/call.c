// `dolmen call`: one operation, on a server or straight on a data directory.
#include "cli/target.h"
#include "model/parse.h"

#include "base/files.h"
#include "base/limits.h"

#include <unistd.h>

static void note_meant(struct cli_input *input, const char *operation)
{
    struct model_guess guess = model_guess_for(slice_str(operation));
    for (const char *const *name = api_operations(); *name != NULL; name++)
        model_guess_candidate(&guess, slice_str(*name));
    if (guess.best.len > 0)
        cli_note(input, "there is no operation '%s'%s", operation, cli_meant(input, &guess));
}

// The answer goes to standard output; an error document to standard error.
static bool call(struct target *target, const char *operation, struct slice body)
{
    char error[256];
    int status = target_call_once(target, operation, body, error, sizeof(error));
    if (status == 0)
        return target_silent(target, error);
    if (target->response.failed)
        return cli_fail(target->input, "the answer is too large.");
    if (status != 200 &&
        slice_contains(buf_view(&target->response), SLICE_LIT("UnknownOperationException")))
        note_meant(target->input, operation);
    buf_byte(&target->response, '\n');
    return cli_print(&target->response, status == 200 ? stdout : stderr) && status == 200;
}

// A new database in memory, or what the other options name.
static bool open_any(struct target *target, struct cli_input *input)
{
    const char *path = cli_value(input, "--data", NULL);
    if (!target_open(target, input))
        return false;
    if (cli_given(input, "--memory"))
        target->api = database_open(input, &(struct store_options){.path = NULL}, NULL);
    // ExportTableToPointInTime and ImportTable find their buckets where a server would.
    if (target->api != NULL)
        api_set_buckets(target->api, NULL, path, NULL);
    return target->api != NULL || !cli_given(input, "--memory");
}

bool cli_call(struct cli_input *input)
{
    if (input->argument_count == 0)
        return cli_misused(input, "name an operation, such as ListTables.");
    if (!cli_exclusive(input, "--data", "--memory") ||
        !cli_exclusive(input, "--data", "--endpoint") ||
        !cli_exclusive(input, "--memory", "--endpoint"))
        return false;
    const char *json = cli_argument(input, 1, "{}");
    struct target target;
    struct buf body;
    buf_init(&body, LIMIT_BODY + (1 << 20)); // more than is taken, so that the server says it
    if (strcmp(json, "-") != 0)
        buf_text(&body, json);
    else if (!file_read(STDIN_FILENO, &body)) {
        buf_release(&body);
        return cli_fail(input, "cannot read the request from standard input.");
    }
    bool ok = open_any(&target, input) && call(&target, input->arguments[0], buf_view(&body));
    target_close(&target);
    buf_release(&body);
    return ok;
}
