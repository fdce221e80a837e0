// `dolmen abandon`: back to the model that a table had before.
#include "cli/change.h"

#include "base/limits.h"

#include <stdio.h>

static int abandon_table(const struct cli_input *input, struct target *target, const char *table)
{
    struct arena arena;
    struct buf body;
    buf_init(&body, 4096);
    struct json_writer w = json_writer_to(&body);
    json_open_object(&w);
    json_put_text(&w, "TableName", table);
    json_close_object(&w);
    int status = target_call(target, "AbandonModel", buf_view(&body));
    buf_release(&body);
    if (status != 200) {
        char error[1024];
        target_error(target, error, sizeof(error));
        return status == 0 ? CLI_FAILED : cli_fail(input->command, CLI_FAILED, "%s", error);
    }
    arena_init(&arena, 1 << 20);
    struct slice answer = buf_view(&target->response);
    bool none = slice_is(json_member_text(answer, "Status", &arena), "NONE");
    if (cli_given(input, "--json"))
        printf("%.*s\n", SLICE_FMT(answer));
    else if (none)
        printf("table %s has no model any more; its items stay as they are\n", table);
    else
        printf("table %s is back at the model %.*s\n", table,
               SLICE_FMT(json_member_text(answer, "Digest", &arena)));
    arena_release(&arena);
    (void)fflush(stdout);
    bool wait = !none && (!cli_given(input, "--no-wait") || target->api != NULL);
    return wait ? change_wait(target, table, cli_given(input, "--json")) : CLI_OK;
}

static int abandon_run(const struct cli_input *input)
{
    int code;
    struct target target;
    if (input->argument_count == 0)
        return cli_fail(input->command, CLI_USAGE, "name a table.");
    if (!target_open(&target, input, &code)) {
        target_close(&target);
        return code;
    }
    code = abandon_table(input, &target, input->arguments[0]);
    target_close(&target);
    return code;
}

static const struct cli_option abandon_options[] = {
    TARGET_OPTIONS,
    {"--no-wait", NULL, "Do not wait until the items are as the old model wants them."},
    {"--json", NULL, "The answer as JSON."},
    {NULL, NULL, NULL},
};

const struct cli_command cli_abandon = {
    .name = "abandon",
    .arguments = "TABLE [--endpoint URL | --data DIR]",
    .summary = "go back to the model that a table had before",
    .about =
        "Stops a backfill that is going on, attaches the model that the table had before the\n"
        "last 'dolmen apply', and completes the items by it. A table whose first model it was\n"
        "has none afterwards. Indexes that were created stay.",
    .example = "  dolmen abandon shop\n"
               "  dolmen abandon shop --data ./mydata",
    .options = abandon_options,
    .arguments_max = 1,
    .run = abandon_run,
};
