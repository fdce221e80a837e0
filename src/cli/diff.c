// `dolmen diff`: what applying a model would do.
#include "cli/change.h"

static bool diff_file(struct cli_input *input, struct target *target, const char *path)
{
    struct change_request request;
    struct json_writer *w = change_begin(&request, input, "Model", path);
    if (w == NULL)
        return false;
    json_put_flag(w, "Prune", cli_given(input, "--prune"));
    return change_numbers(w, input) && change_send(&request, target, "DiffModel") &&
           change_print(target, change_show);
}

bool cli_diff(struct cli_input *input)
{
    struct target target;
    if (input->argument_count == 0)
        return cli_misused(input, "name a model file.");
    if (!change_numbers(NULL, input))
        return false;
    bool ok = target_open(&target, input);
    target.patience_s = 24 * 3600;
    ok = ok && diff_file(input, &target, input->arguments[0]);
    target_close(&target);
    return ok;
}
