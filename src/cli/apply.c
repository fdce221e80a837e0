// `dolmen apply`: makes tables be as a model says, attaches it, and waits for the backfill.
#include "cli/change.h"

enum { ANSWER_MEMORY = 256 << 20 };

static bool send_model(struct cli_input *input, struct target *target, const char *path)
{
    struct change_request request;
    struct json_writer *w = change_begin(&request, input, "Model", path);
    json_form(w, "'Force':%hhd,'Prune':%hhd,'CheckOnly':%hhd", cli_given(input, "--force"),
              cli_given(input, "--prune"), cli_given(input, "--check"));
    return change_numbers(w, input) && change_send(&request, target, "ApplyModel");
}

// The tables of an answer, one after the other, as far as they are still being worked on.
static bool wait_for_tables(struct cli_input *input, struct target *target)
{
    struct arena arena;
    struct slice table;
    bool ok = true;
    arena_init(&arena, ANSWER_MEMORY);
    struct slice answer = arena_copy(&arena, buf_view(&target->response));
    struct json_list tables = json_list(answer, "Tables", &arena);
    while (ok && json_list_next(&tables, &table)) {
        struct slice name = arena_copy(&arena, json_member_text(table, "TableName", &arena));
        // One that has not changed may still be on its way.
        bool quiet = cli_given(input, "--json") || json_member_flag(table, "Unchanged");
        ok = name.ptr == NULL || change_wait(target, (const char *)name.ptr, quiet);
    }
    arena_release(&arena);
    return ok;
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
    return (cli_given(input, "--no-wait") && target->api == NULL) || wait_for_tables(input, target);
}

bool cli_apply(struct cli_input *input)
{
    return change_run(input, "name a model file.", apply_file);
}
