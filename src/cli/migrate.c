// `dolmen migrate`: items of one shape into items of another, and back.
#include "cli/change.h"

enum { ANSWER_MEMORY = 256 << 20 };

static bool send_migration(struct cli_input *input, struct target *target, const char *path)
{
    struct change_request request;
    struct json_writer *w = change_begin(&request, input, "Migration", path);
    json_form(w, "'Direction':%s,'DryRun':%hhd,'Again':%hhd",
              cli_given(input, "--down") ? "DOWN" : "UP", cli_given(input, "--dry-run"),
              cli_given(input, "--again"));
    return change_numbers(w, input) && change_send(&request, target, "ApplyMigration");
}

static void show_dry_run(struct slice answer)
{
    struct arena arena;
    struct slice sample;
    struct slice item;
    arena_init(&arena, ANSWER_MEMORY);
    json_print(answer, "{Matched#} items would be migrated: {Made#} made, {Removed#} removed, "
                       "{Failed#} that cannot be\n");
    struct json_list samples = json_list(answer, "Samples", &arena);
    while (json_list_next(&samples, &sample)) {
        struct json_list after = json_list(sample, "After", &arena);
        json_print(sample, "  - {Before}\n");
        while (json_list_next(&after, &item))
            printf("  + %.*s\n", SLICE_FMT(item));
    }
    change_show_samples("  cannot be migrated:", answer, "FailureSamples");
    arena_release(&arena);
}

static void show_done(struct slice answer)
{
    long long migrated =
        json_member_number(answer, "Matched") - json_member_number(answer, "Failed");
    json_print(answer, "migration {MigrationName} of table {TableName}: ");
    printf("%lld items migrated", migrated);
    json_print(answer, ", {Made#} made, {Removed#} removed, {Failed#} left as they are\n");
    change_show_samples("  cannot be migrated:", answer, "FailureSamples");
}

static void show_unchanged(struct slice answer)
{
    json_print(answer, "migration {MigrationName} has been done; --again does it once more\n");
}

static void show_begun(struct slice answer)
{
    json_print(answer, "migration {MigrationName} of table {TableName} has begun\n");
}

// Asks again and again until it is done.
static bool wait_for_end(struct cli_input *input, struct target *target, struct arena *arena)
{
    struct slice begun = buf_view(&target->response);
    struct slice table = json_member_text(begun, "TableName", arena);
    struct slice name = json_member_text(begun, "MigrationName", arena);
    const struct target_wait wait = {"DescribeMigration", "RUNNING", "migrating",
                                     cli_given(input, "--json")};
    int status = target_await(target, &wait, "{'TableName':%.*s,'MigrationName':%.*s}",
                              SLICE_FMT(table), SLICE_FMT(name));
    struct slice answer = buf_view(&target->response);
    if (status != 200)
        return false;
    if (slice_is(json_member_text(answer, "Status", arena), "FAILED"))
        return cli_fail(input, "the migration failed: %.*s",
                        SLICE_FMT(json_member_text(answer, "Failure", arena)));
    (void)change_print(target, show_done);
    return json_member_number(answer, "Failed") == 0;
}

static bool migrate_file(struct cli_input *input, struct target *target, const char *path)
{
    struct arena arena;
    if (!send_migration(input, target, path))
        return false;
    arena_init(&arena, ANSWER_MEMORY);
    struct slice outcome = json_member_text(buf_view(&target->response), "Outcome", &arena);
    bool wait =
        slice_is(outcome, "STARTED") && (!cli_given(input, "--no-wait") || target->api != NULL);
    bool ok = wait ? wait_for_end(input, target, &arena)
                   : change_print(target, slice_is(outcome, "DRY_RUN")     ? show_dry_run
                                          : slice_is(outcome, "UNCHANGED") ? show_unchanged
                                                                           : show_begun);
    arena_release(&arena);
    return ok;
}

bool cli_migrate(struct cli_input *input)
{
    return cli_exclusive(input, "--up", "--down") &&
           change_run(input, "name a migration file.", migrate_file);
}
