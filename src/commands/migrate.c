// `dolmen migrate`: items of one shape into items of another, and back; and how far that is.
#include "cli/change.h"

#include "base/encode.h"
#include "base/time_text.h"
#include "migration/migration.h"
#include "transfer/files.h"

#include <stdlib.h>

enum { ANSWER_MEMORY = 256 << 20, PATHS_MAX = 10000, TEXT_MAX = 1 << 20 };

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
    json_print(answer, "{Matched#} item");
    printf("%s", change_plural(answer, "Matched"));
    json_print(answer,
               " would be migrated: {Made#} made, {Removed#} removed, {Failed#} that cannot "
               "be\n");
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
    printf("%lld item%s migrated", migrated, migrated == 1 ? "" : "s");
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

static void show_running(struct slice answer)
{
    json_print(answer, "migration {MigrationName} of table {TableName} is running\n");
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
    if (slice_is(json_member_text(answer, "Status", arena), "FAILED")) {
        change_show_samples("  cannot be migrated:", answer, "FailureSamples");
        return cli_fail(input, "the migration failed: %.*s",
                        SLICE_FMT(json_member_text(answer, "Failure", arena)));
    }
    (void)change_print(target, show_done);
    return json_member_number(answer, "Failed") == 0;
}

// What was answered at once: how it is shown, and whether that is how it should be.
static bool tell_outcome(struct target *target, struct slice outcome)
{
    static const struct {
        const char *outcome;
        void (*show)(struct slice answer);
    } rows[] = {{"DRY_RUN", show_dry_run},
                {"UNCHANGED", show_unchanged},
                {"RUNNING", show_running},
                {"STARTED", show_begun}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (slice_is(outcome, rows[i].outcome))
            (void)change_print(target, rows[i].show);
    }
    return json_member_number(buf_view(&target->response), "Failed") == 0;
}

// One that is running already is waited for like one that has just begun.
static bool migrate_file(struct cli_input *input, struct target *target, const char *path)
{
    struct arena arena;
    if (!send_migration(input, target, path))
        return false;
    arena_init(&arena, ANSWER_MEMORY);
    struct slice outcome = json_member_text(buf_view(&target->response), "Outcome", &arena);
    bool runs = slice_is(outcome, "STARTED") || slice_is(outcome, "RUNNING");
    bool wait = runs && (!cli_given(input, "--no-wait") || target->api != NULL);
    bool ok = wait ? wait_for_end(input, target, &arena) : tell_outcome(target, outcome);
    arena_release(&arena);
    return ok;
}

// ---- Which files ------------------------------------------------------------------------------

struct paths {
    struct arena arena;
    size_t count;
    const char **list;
};

static bool add_directory(struct cli_input *input, struct paths *paths, const char *root)
{
    struct error error;
    struct file_entry *files = NULL;
    size_t count = 0;
    error_init(&error, &paths->arena);
    if (!files_list(root, slice_of(NULL, 0), FILES_FOLLOW_LINKS, &paths->arena, &files, &count,
                    &error))
        return cli_fail(input, "%s", error.message);
    size_t before = paths->count;
    for (size_t i = 0; i < count; i++) {
        if (slice_ends(files[i].key, SLICE_LIT(".migration")) && paths->count < PATHS_MAX)
            paths->list[paths->count++] = files_path(&paths->arena, root, files[i].key);
    }
    if (paths->count == before)
        cli_note(input, "there is no *.migration file in '%s'.", root);
    return true;
}

// The files that are named, and those of directories that are, by their names. Going back begins
// with the last.
static bool paths_open(struct cli_input *input, struct paths *paths)
{
    arena_init(&paths->arena, ANSWER_MEMORY);
    paths->count = 0;
    paths->list = arena_zalloc(&paths->arena, PATHS_MAX + CLI_ARGUMENTS_MAX, sizeof(*paths->list));
    ensure_memory(paths->list);
    bool ok = true;
    for (size_t i = 0; ok && i < input->argument_count; i++) {
        const char *path = input->arguments[i];
        if (cli_is_directory(path))
            ok = add_directory(input, paths, path);
        else
            paths->list[paths->count++] = path;
    }
    for (size_t i = 0; cli_given(input, "--down") && i < paths->count / 2; i++) {
        const char *first = paths->list[i];
        paths->list[i] = paths->list[paths->count - 1 - i];
        paths->list[paths->count - 1 - i] = first;
    }
    return ok;
}

// ---- How far it is ----------------------------------------------------------------------------

static void print_time(struct slice answer, const char *name)
{
    char text[TIME_TEXT];
    struct arena arena;
    arena_init(&arena, ANSWER_MEMORY);
    struct slice seconds = json_member(answer, name, &arena);
    char *copy = arena_printf(&arena, "%.*s", SLICE_FMT(seconds));
    time_text((int64_t)(strtod(copy == NULL ? "0" : copy, NULL) * 1000), text);
    printf("%s", text);
    arena_release(&arena);
}

static void print_state(struct slice migration)
{
    struct arena arena;
    arena_init(&arena, ANSWER_MEMORY);
    struct slice status = json_member_text(migration, "Status", &arena);
    int64_t done = json_member_number(migration, "Done");
    int64_t total = json_member_number(migration, "Total");
    bool down = slice_is(json_member_text(migration, "Direction", &arena), "DOWN");
    json_print(migration, "{MigrationName} of table {TableName}: ");
    if (slice_is(status, "RUNNING")) {
        json_print(migration, "running, step {Step#} of {Steps#}");
        printf(", %d %%", total > 0 ? (int)(done * 100 / total) : 0);
    } else {
        printf("%s%s at ",
               slice_is(status, "DONE")         ? "done"
               : slice_is(status, "INCOMPLETE") ? "done in part"
                                                : "failed",
               down ? " backwards" : "");
        print_time(migration, "EndDateTime");
    }
    json_print(migration, ", {Matched#} item");
    printf("%s", change_plural(migration, "Matched"));
    json_print(migration, ", {Made#} made, {Removed#} removed, {Failed#} left as they are");
    (void)json_print_given(migration, "Failure", ": {Failure}");
    printf("\n");
    arena_release(&arena);
}

// The element of the list that is about a migration; ptr NULL if there is none.
static struct slice find_state(struct slice list, const struct migration *migration,
                               struct arena *arena)
{
    struct slice one;
    struct json_list all = json_list(list, "Migrations", arena);
    while (json_list_next(&all, &one)) {
        if (slice_equal(json_member_text(one, "MigrationName", arena), migration->name) &&
            slice_equal(json_member_text(one, "TableName", arena), migration->table))
            return one;
    }
    return slice_of(NULL, 0);
}

static bool is_edited(struct slice state, struct slice text, struct arena *arena)
{
    uint8_t digest[32];
    char hex[65];
    sha256_of(text, digest);
    hex_text(slice_of(digest, sizeof(digest)), hex);
    hex[64] = 0;
    return !slice_is(json_member_text(state, "Digest", arena), hex);
}

// The state of one file. False if it is not done as it stands there.
static bool show_file(struct cli_input *input, struct slice list, const char *path)
{
    struct arena arena;
    struct diagnostics found;
    struct buf text;
    arena_init(&arena, ANSWER_MEMORY);
    buf_init(&text, TEXT_MAX);
    diagnostics_init(&found, &arena);
    bool ok = cli_read(input, path, &text);
    struct migration *migration = ok ? migration_parse(buf_view(&text), &arena, &found) : NULL;
    struct slice state = {NULL, 0};
    if (ok && migration == NULL)
        (void)cli_fail(input, "%s has errors: see 'dolmen check %s'.", path, path);
    else if (ok)
        state = find_state(list, migration, &arena);
    if (migration != NULL && state.ptr == NULL)
        printf("%.*s of table %.*s: not run yet\n", SLICE_FMT(migration->name),
               SLICE_FMT(migration->table));
    bool edited = state.ptr != NULL && is_edited(state, buf_view(&text), &arena);
    bool done = state.ptr != NULL && !edited && json_member_flag(state, "Applied") &&
                slice_is(json_member_text(state, "Status", &arena), "DONE");
    if (state.ptr != NULL)
        print_state(state);
    if (edited)
        printf("  %s is not the text that was run; give what is new a migration of its own\n",
               path);
    buf_release(&text);
    arena_release(&arena);
    return done;
}

static bool show_status(struct cli_input *input, const struct paths *paths)
{
    struct target target;
    struct arena arena;
    if (!target_open(&target, input))
        return false;
    arena_init(&arena, ANSWER_MEMORY);
    bool ok = target_fine(&target, target_ask(&target, "ListMigrations", "{}"));
    struct slice list = arena_copy(&arena, buf_view(&target.response));
    if (ok && cli_given(input, "--json"))
        printf("%.*s\n", SLICE_FMT(list));
    else if (ok && paths->count == 0)
        json_each(list, "Migrations", print_state);
    for (size_t i = 0; !cli_given(input, "--json") && list.len > 0 && i < paths->count; i++)
        ok = show_file(input, list, paths->list[i]) && ok;
    arena_release(&arena);
    target_close(&target);
    return ok;
}

// ---- The command ------------------------------------------------------------------------------

static bool migrate_all(struct cli_input *input, const struct paths *paths)
{
    struct target target;
    change_interruptible(input);
    bool ok = target_open(&target, input);
    if (!ok)
        return false;
    target.patience_s = 24 * 3600; // all items may be looked at before the answer
    for (size_t i = 0; ok && i < paths->count; i++)
        ok = migrate_file(input, &target, paths->list[i]);
    target_close(&target);
    return ok;
}

bool cli_migrate(struct cli_input *input)
{
    struct paths paths;
    bool status = cli_given(input, "--status");
    if (!cli_exclusive(input, "--up", "--down") || !cli_exclusive(input, "--status", "--dry-run"))
        return false;
    if (input->argument_count == 0 && !status)
        return cli_misused(input, "name a migration file, or a directory of them.");
    if (!change_numbers(NULL, input))
        return false;
    bool ok = paths_open(input, &paths) &&
              (status ? show_status(input, &paths) : migrate_all(input, &paths));
    arena_release(&paths.arena);
    return ok;
}
