// `dolmen sweep` and `dolmen archives`: what the rules of a model remove, and where it went.
#include "cli/change.h"

#include "base/time_text.h"
#include "base/wait.h"

#include <stdio.h>
#include <stdlib.h>

enum { ANSWER_MEMORY = 64 << 20, LOOK_MS = 50 };

// ---- Rules ------------------------------------------------------------------------------------

static void print_time(struct slice rule, const char *name, const char *before)
{
    char when[TIME_TEXT];
    struct arena arena;
    arena_init(&arena, ANSWER_MEMORY);
    struct slice seconds = json_member(rule, name, &arena);
    char *copy = arena_printf(&arena, "%.*s", SLICE_FMT(seconds));
    if (seconds.len > 0 && copy != NULL) {
        time_text((int64_t)(strtod(copy, NULL) * 1000), when);
        printf("%s%s", before, when);
    }
    arena_release(&arena);
}

static void show_rule(struct slice rule)
{
    struct arena arena;
    arena_init(&arena, ANSWER_MEMORY);
    struct slice status = json_member_text(rule, "Status", &arena);
    json_print(rule, "{Rule}\n");
    if (slice_is(status, "OFF")) {
        json_print(rule, "  not kept: the guard of {Entity} is not enforce\n");
    } else {
        printf("  %s", slice_is(status, "RUNNING")  ? "walking"
                       : slice_is(status, "FAILED") ? "failed"
                                                    : "resting");
        print_time(rule, "StartDateTime", ", last begun ");
        print_time(rule, "NextDateTime", ", next ");
        json_print(rule,
                   "\n  last walk: {Looked#} looked at, {Found#} found, {Archived#} archived, "
                   "{Removed#} removed, {Left#} left\n");
        json_print(rule, "  in all: {Walks#} walks, {TotalArchived#} archived, {TotalRemoved#} "
                         "removed\n");
    }
    (void)json_print_given(rule, "LastArchive", "  last archive: {LastArchive}\n");
    (void)json_print_given(rule, "Failure", "  {Failure}\n");
    arena_release(&arena);
}

void sweep_show(struct slice answer)
{
    struct arena arena;
    arena_init(&arena, ANSWER_MEMORY);
    if (json_member(answer, "Sweeps", &arena).len == 0)
        json_print(answer, "the model of table {TableName} has no rules that remove items\n");
    json_each(answer, "Sweeps", show_rule);
    arena_release(&arena);
}

// In how many entries of a list of the answer the member has that text; with NULL, any text.
static size_t count_members(struct slice answer, const char *list, const char *member,
                            const char *text)
{
    struct arena arena;
    struct slice entry;
    size_t count = 0;
    arena_init(&arena, ANSWER_MEMORY);
    struct json_list entries = json_list(answer, list, &arena);
    while (json_list_next(&entries, &entry)) {
        struct slice found = json_member_text(entry, member, &arena);
        count += text == NULL ? found.len > 0 : slice_is(found, text);
    }
    arena_release(&arena);
    return count;
}

// How many rules of the answer have the status.
static size_t count_status(struct slice answer, const char *status)
{
    return count_members(answer, "Sweeps", "Status", status);
}

// A directory that was opened here has its archives where a server would have them, and nothing is
// swept that was not asked for.
static void prepare(const struct target *target)
{
    const char *archive = cli_value(target->input, "--archive", NULL);
    if (target->api == NULL)
        return;
    api_set_buckets(target->api, NULL, cli_value(target->input, "--data", NULL), NULL);
    api_set_retain(target->api, &(struct api_retain){.archive = archive, .asked = true});
}

// Whether a rule of the answer has not yet ended a walk that began after it was asked for one. A
// rule that is another one by now, or not kept any more, is not waited for.
static bool is_awaited(struct slice asked, struct slice answer, struct arena *arena)
{
    struct json_list rules = json_list(answer, "Sweeps", arena);
    struct slice rule;
    int64_t wanted = json_member_number(asked, "Asked");
    while (json_list_next(&rules, &rule)) {
        if (slice_equal(json_member_text(rule, "Rule", arena),
                        json_member_text(asked, "Rule", arena)) &&
            !slice_is(json_member_text(rule, "Status", arena), "OFF"))
            return json_member_number(rule, "Asked") >= wanted &&
                   json_member_number(rule, "Answered") < wanted;
    }
    return false;
}

// Not until nothing runs: where walks follow each other closely, that may never be.
static bool is_walking(struct slice asked, struct slice answer)
{
    struct arena arena;
    struct slice rule;
    bool walking = false;
    arena_init(&arena, 4 * ANSWER_MEMORY);
    struct json_list rules = json_list(asked, "Sweeps", &arena);
    while (!walking && json_list_next(&rules, &rule))
        walking = is_awaited(rule, answer, &arena);
    arena_release(&arena);
    return walking;
}

static bool sweep_table(struct cli_input *input, struct target *target, const char *table)
{
    bool ok = target_fine(target, target_ask(target, "SweepTable", "{'TableName':%s}", table));
    bool wait = !cli_given(input, "--no-wait") || target->api != NULL;
    char *asked = slice_dup(buf_view(&target->response));
    while (ok && wait && is_walking(slice_str(asked), buf_view(&target->response))) {
        sleep_ms(LOOK_MS);
        ok = target_fine(target, target_ask(target, "DescribeModel", "{'TableName':%s}", table));
    }
    free(asked);
    return ok && change_print(target, sweep_show) &&
           count_status(buf_view(&target->response), "FAILED") == 0;
}

bool cli_sweep(struct cli_input *input)
{
    struct target target;
    if (input->argument_count == 0)
        return cli_misused(input, "name a table.");
    if (!target_open(&target, input))
        return false;
    prepare(&target);
    bool ok = sweep_table(input, &target, input->arguments[0]);
    target_close(&target);
    return ok;
}

// ---- Archives ---------------------------------------------------------------------------------

static void show_archive(struct slice archive)
{
    json_print(archive, "{Path}  {Items#} items, {Bytes#} bytes");
    (void)json_print_given(archive, "Damage", "  DAMAGED: {Damage}");
    printf("\n");
}

static void show_archives(struct slice answer)
{
    (void)json_print_given(answer, "Directory", "in {Directory}:\n");
    json_each(answer, "Archives", show_archive);
}

static size_t count_damaged(struct slice answer)
{
    return count_members(answer, "Archives", "Damage", NULL);
}

bool cli_archives(struct cli_input *input)
{
    struct target target;
    if (!target_open(&target, input))
        return false;
    prepare(&target);
    bool verify = cli_given(input, "--verify");
    int status = input->argument_count == 0
                     ? target_ask(&target, "ListArchives", "{'Verify':%hhd}", verify)
                     : target_ask(&target, "ListArchives", "{'TableName':%s,'Verify':%hhd}",
                                  input->arguments[0], verify);
    bool ok = target_fine(&target, status) && change_print(&target, show_archives);
    size_t damaged = ok ? count_damaged(buf_view(&target.response)) : 0;
    if (damaged > 0)
        ok = cli_fail(input, "%zu archive%s damaged.", damaged, damaged == 1 ? " is" : "s are");
    target_close(&target);
    return ok;
}
