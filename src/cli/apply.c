// `dolmen apply`: makes tables be as a model says, attaches it, and waits for the backfill.
#include "cli/change.h"

static bool send_model(struct cli_input *input, struct target *target, const char *path)
{
    struct change_request request;
    struct json_writer *w = change_begin(&request, input, "Model", path);
    json_form(w, "'Force':%hhd,'Prune':%hhd,'CheckOnly':%hhd", cli_given(input, "--force"),
              cli_given(input, "--prune"), cli_given(input, "--check"));
    return change_numbers(w, input) && change_send(&request, target, "ApplyModel");
}

// One that has not changed may still be on its way.
static bool wait_for_table(struct target *target, const char *name, struct slice table)
{
    bool done = json_member_flag(table, "Unchanged") && !json_member_flag(table, "Underway");
    return change_wait(target, name, done || cli_given(target->input, "--json"));
}

static bool apply_file(struct cli_input *input, struct target *target, const char *path)
{
    if (!send_model(input, target, path))
        return false;
    bool clean = json_member_flag(buf_view(&target->response), "Clean");
    (void)change_print(target, change_show);
    if (cli_given(input, "--check"))
        return clean;
    // In this process the work would end with it.
    return (cli_given(input, "--no-wait") && target->api == NULL) ||
           change_each_table(target, wait_for_table);
}

bool cli_apply(struct cli_input *input)
{
    return change_run(input, "name a model file.", apply_file);
}
