// `dolmen model`: the text of a table's model, as it is or as it was.
#include "cli/change.h"

#include "base/time_text.h"

#include <stdlib.h>

enum { ANSWER_MEMORY = 256 << 20 };

static void show_version(struct slice version)
{
    char when[TIME_TEXT];
    struct arena arena;
    arena_init(&arena, ANSWER_MEMORY);
    struct slice seconds = json_member(version, "DateTime", &arena);
    char *copy = arena_printf(&arena, "%.*s", SLICE_FMT(seconds));
    time_text((int64_t)(strtod(copy == NULL ? "0" : copy, NULL) * 1000), when);
    struct slice digest = json_member_text(version, "Digest", &arena);
    struct slice action = json_member_text(version, "Action", &arena);
    printf("%4lld  %s  %.12s  ", (long long)json_member_number(version, "Version"), when,
           digest.len >= 12                             ? (const char *)digest.ptr
           : slice_begins(action, SLICE_LIT("migrate")) ? "items only  "
                                                        : "no model    ");
    json_print(version, "{Action}");
    (void)json_print_given(version, "FileName", "  {FileName}");
    printf("\n");
    arena_release(&arena);
}

static void show_history(struct slice answer)
{
    json_each(answer, "Versions", show_version);
}

static bool ask_text(struct cli_input *input, struct target *target, const char *table)
{
    unsigned version = 0;
    if (!cli_number(input, "--version", 0, 1, 100000000, &version))
        return false;
    int status = version > 0 ? target_ask(target, "DescribeModel", "{'TableName':%s,'Version':%d}",
                                          table, (int)version)
                             : target_ask(target, "DescribeModel", "{'TableName':%s}", table);
    if (!target_fine(target, status))
        return false;
    if (cli_given(input, "--json"))
        return change_print(target, NULL);
    return json_print_given(buf_view(&target->response), "Model", "{Model}") ||
           cli_fail(input,
                    "version %u of table %s has no text: 'dolmen model %s --history' says what "
                    "it is.",
                    version, table, table);
}

bool cli_model(struct cli_input *input)
{
    struct target target;
    if (!cli_exclusive(input, "--history", "--version") ||
        !cli_exclusive(input, "--rules", "--version") ||
        !cli_exclusive(input, "--rules", "--history"))
        return false;
    if (input->argument_count == 0)
        return cli_misused(input, "name a table.");
    const char *table = input->arguments[0];
    if (!target_open(&target, input))
        return false;
    bool ok = cli_given(input, "--history")
                  ? target_fine(&target, target_ask(&target, "ListModelVersions",
                                                    "{'TableName':%s}", table)) &&
                        change_print(&target, show_history)
              : cli_given(input, "--rules")
                  ? target_fine(&target,
                                target_ask(&target, "DescribeModel", "{'TableName':%s}", table)) &&
                        change_print(&target, sweep_show)
                  : ask_text(input, &target, table);
    target_close(&target);
    return ok;
}
