// `dolmen migrate`: items of one shape into items of another, and back.
#include "cli/change.h"

#include "base/limits.h"
#include "base/wait.h"

#include <stdio.h>
#include <string.h>

enum { ANSWER_MEMORY = 256 << 20, POLL_MS = 150 };

struct migrating {
    const struct cli_input *input;
    struct target target;
    struct arena arena;
    unsigned sample;
    unsigned rate;
    struct slice table; // of the answer
    struct slice name;
};

static bool send_migration(struct migrating *m, const char *path)
{
    const struct cli_input *input = m->input;
    struct change_request request;
    struct buf text;
    buf_init(&text, LIMIT_BODY);
    if (!change_read(input, path, &text)) {
        buf_release(&text);
        return false;
    }
    struct json_writer *w = change_begin(&request, "Migration", path, &text);
    buf_release(&text);
    json_put_text(w, "Direction", cli_given(input, "--down") ? "DOWN" : "UP");
    json_put_flag(w, "DryRun", cli_given(input, "--dry-run"));
    json_put_flag(w, "Again", cli_given(input, "--again"));
    if (m->sample > 0)
        json_put_integer(w, "Sample", m->sample);
    if (m->rate > 0)
        json_put_integer(w, "Rate", m->rate);
    return change_send(&request, &m->target, "ApplyMigration") == 200;
}

static void show_failures(struct migrating *m, struct slice answer)
{
    struct change_list failures = change_list(answer, "FailureSamples", &m->arena);
    struct slice failure;
    while (change_next(&failures, &failure))
        printf("  cannot be migrated: %.*s  %.*s\n",
               SLICE_FMT(json_member(failure, "Key", &m->arena)),
               SLICE_FMT(json_member_text(failure, "Text", &m->arena)));
}

static void show_dry_run(struct migrating *m, struct slice answer)
{
    struct change_list samples = change_list(answer, "Samples", &m->arena);
    struct slice sample;
    struct slice item;
    printf("%lld items would be migrated: %lld made, %lld removed, %lld that cannot be\n",
           (long long)change_number(answer, "Matched", &m->arena),
           (long long)change_number(answer, "Made", &m->arena),
           (long long)change_number(answer, "Removed", &m->arena),
           (long long)change_number(answer, "Failed", &m->arena));
    while (change_next(&samples, &sample)) {
        struct change_list after = change_list(sample, "After", &m->arena);
        printf("  - %.*s\n", SLICE_FMT(json_member(sample, "Before", &m->arena)));
        while (change_next(&after, &item))
            printf("  + %.*s\n", SLICE_FMT(item));
    }
    show_failures(m, answer);
}

static int tell_done(struct migrating *m, struct slice answer)
{
    long long failed = (long long)change_number(answer, "Failed", &m->arena);
    if (slice_is(json_member_text(answer, "Status", &m->arena), "FAILED"))
        return cli_fail(m->input->command, CLI_FAILED, "the migration failed: %.*s",
                        SLICE_FMT(json_member_text(answer, "Failure", &m->arena)));
    if (cli_given(m->input, "--json")) {
        printf("%.*s\n", SLICE_FMT(answer));
        return failed > 0 ? CLI_FAILED : CLI_OK;
    }
    printf("migration %.*s of table %.*s: %lld items migrated, %lld made, %lld removed, %lld left "
           "as they are\n",
           SLICE_FMT(m->name), SLICE_FMT(m->table),
           (long long)change_number(answer, "Matched", &m->arena) - failed,
           (long long)change_number(answer, "Made", &m->arena),
           (long long)change_number(answer, "Removed", &m->arena), failed);
    show_failures(m, answer);
    return failed > 0 ? CLI_FAILED : CLI_OK;
}

// Asks again and again until it is done.
static int wait_for_end(struct migrating *m)
{
    struct progress bar;
    struct buf body;
    int code = CLI_FAILED;
    buf_init(&body, 4096);
    struct json_writer w = json_writer_to(&body);
    json_open_object(&w);
    json_put_string(&w, "TableName", m->table);
    json_put_string(&w, "MigrationName", m->name);
    json_close_object(&w);
    progress_begin(&bar, "migrating", 0, 0, false, cli_given(m->input, "--json"));
    while (target_call(&m->target, "DescribeMigration", buf_view(&body)) == 200) {
        struct slice answer = buf_view(&m->target.response);
        if (!slice_is(json_member_text(answer, "Status", &m->arena), "RUNNING")) {
            progress_end(&bar);
            code = tell_done(m, answer);
            break;
        }
        uint64_t done = (uint64_t)change_number(answer, "Done", &m->arena);
        bar.total = (uint64_t)change_number(answer, "Total", &m->arena);
        progress_show(&bar, done, done);
        sleep_ms(POLL_MS);
    }
    buf_release(&body);
    return code;
}

static int migrate_file(struct migrating *m, const char *path)
{
    if (!send_migration(m, path))
        return CLI_FAILED;
    struct slice answer = arena_copy(&m->arena, buf_view(&m->target.response));
    struct slice outcome = json_member_text(answer, "Outcome", &m->arena);
    m->table = json_member_text(answer, "TableName", &m->arena);
    m->name = json_member_text(answer, "MigrationName", &m->arena);
    if (slice_is(outcome, "STARTED") &&
        (!cli_given(m->input, "--no-wait") || m->target.api != NULL))
        return wait_for_end(m);
    if (cli_given(m->input, "--json"))
        printf("%.*s\n", SLICE_FMT(answer));
    else if (slice_is(outcome, "DRY_RUN"))
        show_dry_run(m, answer);
    else if (slice_is(outcome, "UNCHANGED"))
        printf("migration %.*s has been done; --again does it once more\n", SLICE_FMT(m->name));
    else
        printf("migration %.*s of table %.*s has begun\n", SLICE_FMT(m->name), SLICE_FMT(m->table));
    return fflush(stdout) == 0 ? CLI_OK : CLI_FAILED;
}

static int migrate_run(const struct cli_input *input)
{
    int code;
    struct migrating m = {.input = input};
    if (input->argument_count == 0)
        return cli_fail(input->command, CLI_USAGE, "name a migration file.");
    if (!cli_exclusive(input, "--up", "--down") ||
        !cli_number(input, "--sample", 0, 1, 1000000000, &m.sample) ||
        !cli_number(input, "--rate", 0, 1, 100000000, &m.rate))
        return CLI_USAGE;
    if (!target_open(&m.target, input, &code)) {
        target_close(&m.target);
        return code;
    }
    m.target.patience_s = 24 * 3600;
    arena_init(&m.arena, ANSWER_MEMORY);
    code = migrate_file(&m, input->arguments[0]);
    arena_release(&m.arena);
    target_close(&m.target);
    return code;
}

static const struct cli_option migrate_options[] = {
    TARGET_OPTIONS,
    {"--up", NULL, "The way up; this is the default."},
    {"--down", NULL, "The way back."},
    {"--dry-run", NULL, "Write nothing; show how many items it would be, and a few of them."},
    {"--again", NULL, "Also if it has been done already."},
    {"--rate", "N", "Look at N items in a second. Default: 20000."},
    {"--sample", "N", "With --dry-run: look at N items only."},
    {"--no-wait", NULL, "Return as soon as it has begun; the server does the rest."},
    {"--json", NULL, "The answer as JSON."},
    {NULL, NULL, NULL},
};

const struct cli_command cli_migrate = {
    .name = "migrate",
    .arguments = "FILE [--down] [--dry-run] [--endpoint URL | --data DIR] [OPTIONS]",
    .summary = "make items of one shape into items of another",
    .about =
        "The file says which items become what, and how to go back (docs/MODEL.md). Each item\n"
        "is changed in one transaction, while others read and write. A migration is done once;\n"
        "one that was interrupted goes on when the server starts again. Exits with 1 if items\n"
        "could not be migrated.",
    .example = "  dolmen migrate media-out-of-albums.migration --dry-run\n"
               "  dolmen migrate media-out-of-albums.migration\n"
               "  dolmen migrate media-out-of-albums.migration --down",
    .options = migrate_options,
    .arguments_max = 1,
    .run = migrate_run,
};
