// `dolmen abandon`: back to the model that a table had before.
#include "cli/change.h"

static bool has_none(struct slice answer)
{
    struct arena arena;
    arena_init(&arena, 1 << 20);
    bool none = slice_is(json_member_text(answer, "Status", &arena), "NONE");
    arena_release(&arena);
    return none;
}

static void show(struct slice answer)
{
    json_print(answer, has_none(answer)
                           ? "table {TableName} has no model any more; its items stay as they are\n"
                           : "table {TableName} is back at the model {Digest}\n");
}

static bool abandon_table(struct cli_input *input, struct target *target, const char *table)
{
    if (!target_fine(target, target_ask(target, "AbandonModel", "{'TableName':%s}", table)))
        return false;
    (void)change_print(target, show);
    bool wait = !has_none(buf_view(&target->response)) &&
                (!cli_given(input, "--no-wait") || target->api != NULL);
    return !wait || change_wait(target, table, cli_given(input, "--json"));
}

bool cli_abandon(struct cli_input *input)
{
    struct target target;
    if (input->argument_count == 0)
        return cli_misused(input, "name a table.");
    bool ok = target_open(&target, input) && abandon_table(input, &target, input->arguments[0]);
    target_close(&target);
    return ok;
}
