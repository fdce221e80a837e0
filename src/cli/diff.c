// `dolmen diff`: what applying a model would do.
#include "cli/change.h"

#include "base/limits.h"

#include <stdio.h>

static int diff_file(const struct cli_input *input, struct target *target, const char *path,
                     unsigned sample)
{
    struct buf text;
    buf_init(&text, LIMIT_BODY);
    if (!change_read(input, path, &text)) {
        buf_release(&text);
        return CLI_FAILED;
    }
    struct change_request request;
    struct json_writer *w = change_begin(&request, "Model", path, &text);
    buf_release(&text);
    json_put_flag(w, "Prune", cli_given(input, "--prune"));
    if (sample > 0)
        json_put_integer(w, "Sample", sample);
    if (change_send(&request, target, "DiffModel") != 200)
        return CLI_FAILED;
    if (cli_given(input, "--json"))
        printf("%.*s\n", SLICE_FMT(buf_view(&target->response)));
    else
        change_show(buf_view(&target->response));
    return fflush(stdout) == 0 ? CLI_OK : CLI_FAILED;
}

static int diff_run(const struct cli_input *input)
{
    unsigned sample;
    int code;
    struct target target;
    if (input->argument_count == 0)
        return cli_fail(input->command, CLI_USAGE, "name a model file.");
    if (!cli_number(input, "--sample", 0, 1, 1000000000, &sample))
        return CLI_USAGE;
    if (!target_open(&target, input, &code)) {
        target_close(&target);
        return code;
    }
    target.patience_s = 24 * 3600;
    code = diff_file(input, &target, input->arguments[0], sample);
    target_close(&target);
    return code;
}

static const struct cli_option diff_options[] = {
    TARGET_OPTIONS,
    {"--sample", "N", "Look at N items of each table only. Default: at all of them."},
    {"--prune", NULL, "As for 'dolmen apply'."},
    {"--json", NULL, "The whole answer as JSON."},
    {NULL, NULL, NULL},
};

const struct cli_command cli_diff = {
    .name = "diff",
    .arguments = "FILE [--endpoint URL | --data DIR] [OPTIONS]",
    .summary = "show what applying a model would do",
    .about =
        "Compares the file with the tables and the models they have: tables and indexes that\n"
        "would be created, what changes in entities, keys, attributes and access patterns. The\n"
        "items of the tables are read: how many would be completed, how many violate the new\n"
        "model, with the keys of a few of them. Nothing is written.",
    .example = "  dolmen diff shop.dolmen\n"
               "  dolmen diff shop.dolmen --data ./mydata --sample 10000 --json",
    .options = diff_options,
    .arguments_max = 1,
    .run = diff_run,
};
