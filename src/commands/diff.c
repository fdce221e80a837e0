// `dolmen diff`: what applying a model would do.
#include "cli/change.h"

static bool diff_file(struct cli_input *input, struct target *target, const char *path)
{
    struct change_request request;
    struct json_writer *w = change_begin(&request, input, "Model", path);
    json_put_flag(w, "Prune", cli_given(input, "--prune"));
    unsigned version = 0;
    if (!cli_number(input, "--version", 0, 1, 100000000, &version))
        return false;
    if (version > 0)
        json_put_integer(w, "Version", version);
    return change_numbers(w, input) && change_send(&request, target, "DiffModel") &&
           change_print(target, change_show);
}

bool cli_diff(struct cli_input *input)
{
    return change_run(input, "name a model file.", diff_file);
}
