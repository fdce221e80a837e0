// `dolmen verify`: whether a database agrees with itself. A directory is read here, through links
// and copies of its files (store/look.h); a server is asked to look at its own. Both end in the
// same JSON, which is printed as it is or as text.
#include "cli/change.h"
#include "cli/scratch.h"

#include "base/limits.h"
#include "designs/verify.h"
#include "store/data_dir.h"
#include "store/look.h"
#include "store/wal_check.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { POLL_MS = 200, ANSWER_MEMORY = 256 << 20, LIMIT_DEFAULT = 100, LIMIT_MAX = 10000 };

// ---- Showing ------------------------------------------------------------------------------------

static void show_place(struct slice entry, struct arena *arena)
{
    struct slice table = json_member_text(entry, "Table", arena);
    struct slice index = json_member_text(entry, "Index", arena);
    if (table.len > 0)
        printf("%s%.*s", table_name_hidden(table) ? "backup " : "",
               (int)(table.len - table_name_hidden(table)),
               (const char *)table.ptr + table_name_hidden(table));
    if (index.len > 0)
        printf(".%.*s", SLICE_FMT(index));
}

static void show_check(struct slice check, struct arena *arena)
{
    long long examined = change_number(check, "Examined", arena);
    long long differences = change_number(check, "Differences", arena);
    printf("%-9s %-14.*s ", differences == 0 ? "ok" : "DIFFERENT",
           SLICE_FMT(json_member_text(check, "Check", arena)));
    show_place(check, arena);
    printf("%s%lld examined", json_member_text(check, "Table", arena).len > 0 ? ": " : "",
           examined);
    if (differences > 0)
        printf(", %lld difference%s", differences, differences == 1 ? "" : "s");
    printf("\n");
}

static void show_difference(struct slice difference, struct arena *arena)
{
    struct slice key = json_member(difference, "Key", arena);
    struct slice file = json_member_text(difference, "File", arena);
    struct slice place = json_member_text(difference, "StoreKey", arena);
    printf("%.*s ", SLICE_FMT(json_member_text(difference, "Check", arena)));
    show_place(difference, arena);
    if (key.len > 0)
        printf(" %.*s", SLICE_FMT(key));
    else if (file.len > 0)
        printf("%.*s", SLICE_FMT(file));
    else if (place.len > 0)
        printf(" key %.*s", SLICE_FMT(place));
    printf(": %.*s\n", SLICE_FMT(json_member_text(difference, "What", arena)));
}

// Returns the exit code.
static int show(const struct cli_input *input, struct slice report)
{
    struct arena arena;
    struct slice entry;
    arena_init(&arena, ANSWER_MEMORY);
    bool complete = slice_is(json_member_text(report, "Status", &arena), "COMPLETE");
    long long count = change_number(report, "DifferenceCount", &arena);
    if (cli_given(input, "--json")) {
        printf("%.*s\n", SLICE_FMT(report));
    } else {
        long long shown = 0;
        struct change_list checks = change_list(report, "Checks", &arena);
        while (change_next(&checks, &entry))
            show_check(entry, &arena);
        struct change_list list = change_list(report, "Differences", &arena);
        while (change_next(&list, &entry)) {
            if (shown++ == 0)
                printf("\n");
            show_difference(entry, &arena);
        }
        if (count > shown)
            printf("… and %lld more\n", count - shown);
        if (count > 0)
            printf("\n%lld difference%s\n", count, count == 1 ? "" : "s");
    }
    arena_release(&arena);
    (void)fflush(stdout);
    if (!complete)
        return cli_fail(input->command, CLI_FAILED, "the verification was not finished.");
    return count == 0 ? CLI_OK : CLI_FAILED;
}

// ---- A directory --------------------------------------------------------------------------------

struct looking {
    const struct look *look;
    struct verify_report report;
    struct progress bar;
    const char *table; // to be looked at alone, or ""
    bool no_table;     // there is none of that name
    bool whole;        // it is at its end
};

// RocksDB names files by their path, which is one of the scratch directory.
static void note_difference(void *context, const struct verify_difference *difference)
{
    struct looking *looking = context;
    struct verify_difference own = *difference;
    struct store_error text;
    (void)snprintf(text.text, sizeof(text.text), "%s", difference->what);
    look_translate(looking->look, &text);
    own.what = text.text;
    verify_report_difference(&looking->report, &own);
}

static void note_outcome(void *context, const struct verify_outcome *outcome)
{
    verify_report_outcome(&((struct looking *)context)->report, outcome);
}

static bool note_progress(void *context, const struct verify_progress *progress)
{
    struct looking *looking = context;
    looking->bar.total = progress->total;
    progress_show(&looking->bar, progress->done, progress->done);
    return true;
}

// The log by itself. The format before this one cannot tell a damaged record from none.
static void look_at_log(struct looking *looking, const struct look *look)
{
    char path[PATH_MAX + 8];
    uint64_t promised[PROMISE_VALUES];
    struct wal_report log = {.segments = NULL};
    struct store_error error = {.text = ""};
    struct verify_outcome outcome = {.check = VERIFY_LOG};
    if (look->format < DATA_DIR_FORMAT_LOG)
        return;
    (void)snprintf(path, sizeof(path), "%s/log", look->data);
    promise_read(path, promised);
    if (!wal_check(path, promised[PROMISE_SEGMENT], &log, &error)) {
        outcome.differences++;
        verify_report_difference(
            &looking->report, &(struct verify_difference){.check = VERIFY_LOG, .what = error.text});
    }
    outcome.examined = log.records;
    outcome.differences += log.damage_count;
    for (size_t i = 0; i < log.damage_count && i < WAL_DAMAGES; i++) {
        const struct wal_damage *damage = &log.damages[i];
        char what[256];
        (void)snprintf(what, sizeof(what),
                       "at byte %llu, %s; record %llu should be there, and %llu intact ones follow",
                       (unsigned long long)damage->at, damage->what,
                       (unsigned long long)damage->sequence, (unsigned long long)damage->behind);
        verify_report_difference(&looking->report,
                                 &(struct verify_difference){.check = VERIFY_LOG,
                                                             .file = slice_str(damage->file),
                                                             .what = what});
    }
    verify_report_outcome(&looking->report, &outcome);
    wal_report_release(&log);
}

// Everything but the log of a directory, which was replayed when the copy was opened.
static void look_inside(struct looking *looking, const struct look *look)
{
    struct store_error error = {.text = ""};
    struct store *store = look_store(look, &error);
    if (store == NULL)
        verify_report_difference(
            &looking->report,
            &(struct verify_difference){.check = VERIFY_CATALOG, .what = error.text});
    // Files that nothing needs any more are gone from a copy that could be opened.
    const struct verify_watcher watcher = {looking, note_difference, note_outcome, note_progress};
    looking->whole = verify_files(store == NULL ? look->data : look->scratch, &watcher);
    if (store == NULL)
        return;
    const struct verify_options options = {.store = store,
                                           .env = env_system(),
                                           .table = slice_str(looking->table),
                                           .knowledge = &verify_knowledge,
                                           .watcher = &watcher};
    looking->no_table = looking->table[0] != 0 && !verify_has_table(&options);
    looking->whole = looking->no_table || verify_store(&options);
    store_close(store);
}

static int verify_in(const struct cli_input *input, const char *path, unsigned limit,
                     const char *scratch)
{
    struct look look;
    struct store_error error;
    if (!look_open(&look, path, scratch, &error))
        return cli_fail(input->command, CLI_FAILED, "%s%s.", error.text,
                        error.in_use ? "; ask the server with --endpoint" : "");
    struct looking looking = {.look = &look, .table = cli_value(input, "--table", "")};
    verify_report_init(&looking.report, limit);
    progress_begin(&looking.bar, "verifying", 0, 0, false, cli_given(input, "--json"));
    look_at_log(&looking, &look);
    look_inside(&looking, &look);
    progress_end(&looking.bar);
    look_close(&look);
    struct buf text;
    buf_init(&text, 2 * (size_t)LIMIT_RESPONSE);
    struct json_writer w = json_writer_to(&text);
    json_open_object(&w);
    json_put_text(&w, "Status", looking.whole ? "COMPLETE" : "STOPPED");
    verify_report_write(&looking.report, &w);
    json_close_object(&w);
    int code = looking.no_table ? cli_fail(input->command, CLI_FAILED, "'%s' has no table '%s'.",
                                           path, looking.table)
                                : show(input, buf_view(&text));
    buf_release(&text);
    verify_report_release(&looking.report);
    return code;
}

static int verify_directory(const struct cli_input *input, const char *path, unsigned limit)
{
    struct scratch scratch;
    struct store_error error = {.text = ""};
    char inner[PATH_MAX + 16];
    if (!scratch_begin(&scratch, NULL, &error))
        return cli_fail(input->command, CLI_FAILED, "%s.", error.text);
    (void)snprintf(inner, sizeof(inner), "%s/copy", scratch.path);
    int code = verify_in(input, path, limit, inner);
    scratch_end(&scratch);
    return code;
}

// ---- A server -----------------------------------------------------------------------------------

// One request. False after telling the user.
static bool ask(struct target *target, const char *member, struct slice value, unsigned limit)
{
    struct buf body;
    buf_init(&body, 1 << 16);
    struct json_writer w = json_writer_to(&body);
    json_open_object(&w);
    if (value.len > 0)
        json_put_string(&w, member, value);
    if (limit > 0)
        json_put_integer(&w, "Limit", limit);
    json_close_object(&w);
    int status = target_call(target, "VerifyDatabase", buf_view(&body));
    buf_release(&body);
    if (status == 200)
        return true;
    char error[512];
    target_error(target, error, sizeof(error));
    if (status != 0)
        (void)cli_fail(target->input->command, CLI_FAILED, "%s", error);
    return false;
}

static int verify_server(const struct cli_input *input, struct target *target, unsigned limit)
{
    const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
    struct progress bar;
    struct arena arena;
    arena_init(&arena, ANSWER_MEMORY);
    bool ok = ask(target, "TableName", slice_str(cli_value(input, "--table", "")), limit);
    struct slice id =
        ok ? json_member_text(buf_view(&target->response), "RunId", &arena) : slice_of(NULL, 0);
    id = arena_copy(&arena, id);
    progress_begin(&bar, "verifying", 0, 0, false, cli_given(input, "--json"));
    struct arena turn;
    arena_init(&turn, ANSWER_MEMORY);
    while (ok &&
           slice_is(json_member_text(buf_view(&target->response), "Status", &turn), "RUNNING")) {
        struct slice progress = json_member(buf_view(&target->response), "Progress", &turn);
        uint64_t done = (uint64_t)change_number(progress, "Done", &turn);
        bar.total = (uint64_t)change_number(progress, "Total", &turn);
        progress_show(&bar, done, done);
        (void)nanosleep(&pause, NULL);
        arena_reset(&turn);
        ok = ask(target, "RunId", id, 0);
    }
    progress_end(&bar);
    int code = ok ? show(input, buf_view(&target->response)) : CLI_FAILED;
    arena_release(&turn);
    arena_release(&arena);
    return code;
}

// ---- The command --------------------------------------------------------------------------------

static int verify_run(const struct cli_input *input)
{
    unsigned limit;
    if (!cli_number(input, "--limit", LIMIT_DEFAULT, 1, LIMIT_MAX, &limit))
        return CLI_USAGE;
    if ((input->argument_count == 1) == cli_given(input, "--endpoint"))
        return cli_fail(input->command, CLI_USAGE, "name a data directory, or --endpoint URL.");
    if (input->argument_count == 1)
        return verify_directory(input, input->arguments[0], limit);
    struct target target = {
        .input = input, .region = "us-east-1", .endpoint = cli_value(input, "--endpoint", NULL)};
    buf_init(&target.response, 2 * (size_t)LIMIT_RESPONSE);
    int code = verify_server(input, &target, limit);
    target_close(&target);
    return code;
}

static const struct cli_option verify_options[] = {
    {"--endpoint", "URL", "Have this server verify its database, while it serves."},
    {"--table", "NAME", "Look at this table only."},
    {"--limit", "N", "Differences to describe; all are counted. Default: 100."},
    {"--json", NULL, "Print the whole report as JSON."},
    {NULL, NULL, NULL},
};

const struct cli_command cli_verify = {
    .name = "verify",
    .arguments = "DIR | --endpoint URL [--table NAME] [--json]",
    .summary = "check a database: files, indexes, counters, unique values",
    .about =
        "Reads the whole database and compares everything that is derived from items with the\n"
        "items, both ways: index entries, vectors, expiry times, unique values, sizes and counts.\n"
        "A directory is not changed, and no server may have it open; a server goes on serving.\n"
        "Exit codes: 0 all agrees, 1 there are differences or it could not be read, 2 usage.\n"
        "'dolmen repair' makes a sound directory out of a damaged one.",
    .example = "  dolmen verify ./mydata\n"
               "  dolmen verify --endpoint http://127.0.0.1:8000 --table Orders --json",
    .options = verify_options,
    .arguments_max = 1,
    .run = verify_run,
};
