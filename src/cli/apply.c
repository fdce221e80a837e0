// `dolmen apply`: makes tables be as a model says, attaches it, and waits for the backfill.
#include "cli/change.h"

#include "base/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_MEMORY = 256 << 20 };

static bool send_model(const struct cli_input *input, struct target *target, const char *path,
                       unsigned sample, unsigned rate)
{
    struct buf text;
    buf_init(&text, LIMIT_BODY);
    if (!change_read(input, path, &text)) {
        buf_release(&text);
        return false;
    }
    struct change_request request;
    struct json_writer *w = change_begin(&request, "Model", path, &text);
    buf_release(&text);
    json_put_flag(w, "Force", cli_given(input, "--force"));
    json_put_flag(w, "Prune", cli_given(input, "--prune"));
    json_put_flag(w, "CheckOnly", cli_given(input, "--check"));
    if (sample > 0)
        json_put_integer(w, "Sample", sample);
    if (rate > 0)
        json_put_integer(w, "Rate", rate);
    return change_send(&request, target, "ApplyModel") == 200;
}

// The tables of an answer, one after the other, as far as they are still being worked on.
static int wait_for_tables(const struct cli_input *input, struct target *target)
{
    struct arena arena;
    struct slice table;
    int code = CLI_OK;
    arena_init(&arena, ANSWER_MEMORY);
    struct slice answer = arena_copy(&arena, buf_view(&target->response));
    struct change_list tables = change_list(answer, "Tables", &arena);
    while (code == CLI_OK && change_next(&tables, &table)) {
        struct slice name = arena_copy(&arena, json_member_text(table, "TableName", &arena));
        // One that has not changed may still be on its way.
        bool quiet = cli_given(input, "--json") || change_flag(table, "Unchanged", &arena);
        if (name.ptr != NULL)
            code = change_wait(target, (const char *)name.ptr, quiet);
    }
    arena_release(&arena);
    return code;
}

static int report(const struct cli_input *input, struct target *target)
{
    struct arena arena;
    struct slice answer = buf_view(&target->response);
    arena_init(&arena, ANSWER_MEMORY);
    bool clean = change_flag(answer, "Clean", &arena);
    arena_release(&arena);
    if (cli_given(input, "--json"))
        printf("%.*s\n", SLICE_FMT(answer));
    else
        change_show(answer);
    (void)fflush(stdout);
    if (cli_given(input, "--check"))
        return clean ? CLI_OK : CLI_FAILED;
    // In this process the work would end with it.
    if (cli_given(input, "--no-wait") && target->api == NULL)
        return CLI_OK;
    return wait_for_tables(input, target);
}

static int apply_run(const struct cli_input *input)
{
    unsigned sample;
    unsigned rate;
    int code;
    struct target target;
    if (input->argument_count == 0)
        return cli_fail(input->command, CLI_USAGE, "name a model file.");
    if (!cli_number(input, "--sample", 0, 1, 1000000000, &sample) ||
        !cli_number(input, "--rate", 0, 1, 100000000, &rate))
        return CLI_USAGE;
    if (!target_open(&target, input, &code)) {
        target_close(&target);
        return code;
    }
    target.patience_s = 24 * 3600;
    code = CLI_OK;
    for (size_t i = 0; i < input->argument_count && code == CLI_OK; i++)
        code = send_model(input, &target, input->arguments[i], sample, rate)
                   ? report(input, &target)
                   : CLI_FAILED;
    target_close(&target);
    return code;
}

static const struct cli_option apply_options[] = {
    TARGET_OPTIONS,
    {"--check", NULL,
     "Change nothing; exit with 1 if applying would change anything, or if items\n"
     "violate the model. For continuous integration."},
    {"--force", NULL,
     "Attach the model also if items violate it. They stay as they are, and are\n"
     "told."},
    {"--prune", NULL,
     "Delete indexes, and end time to live, stream, recovery and provisioned\n"
     "billing, if the model does not have them."},
    {"--rate", "N", "The backfill looks at N items in a second. Default: 20000."},
    {"--sample", "N", "Judge the model by N items of each table. Default: by all."},
    {"--no-wait", NULL, "Return as soon as the model is attached; the server does the rest."},
    {"--json", NULL, "The whole answer as JSON."},
    {NULL, NULL, NULL},
};

const struct cli_command cli_apply = {
    .name = "apply",
    .arguments = "FILE… [--endpoint URL | --data DIR] [OPTIONS]",
    .summary = "create tables and indexes, attach a model, backfill",
    .about =
        "Creates what is missing, sets time to live, stream, point-in-time recovery and\n"
        "billing, attaches the model, so that every write is guarded from then on, and\n"
        "completes the items that are there: derived keys, defaults, unique values. This goes\n"
        "on while others read and write, survives a crash of the server, and can be gone back\n"
        "on by 'dolmen abandon'. A model that would leave invalid items is refused. Applying\n"
        "the same file again changes nothing.",
    .example = "  dolmen apply shop.dolmen\n"
               "  dolmen apply shop.dolmen --check\n"
               "  dolmen apply shop.dolmen --data ./mydata --rate 5000",
    .options = apply_options,
    .arguments_max = CLI_ARGUMENTS_MAX,
    .run = apply_run,
};
