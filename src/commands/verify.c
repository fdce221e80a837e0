// `dolmen verify`: whether a database agrees with itself. A directory is read here, through links
// and copies of its files (salvage/look.h); a server is asked to look at its own. Both end in the
// same JSON, which is printed as it is or as text.
#include "cli/scratch.h"

#include "base/limits.h"
#include "designs/verify.h"
#include "rocks/data_dir.h"
#include "rocks/tables.h"
#include "salvage/look.h"
#include "wal/check.h"

enum { ANSWER_MEMORY = 256 << 20, LIMIT_DEFAULT = 100, LIMIT_MAX = 10000 };

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
    long long differences = json_member_number(check, "Differences");
    printf("%-9s %-14.*s ", differences == 0 ? "ok" : "DIFFERENT",
           SLICE_FMT(json_member_text(check, "Check", arena)));
    show_place(check, arena);
    printf("%s", json_member_text(check, "Table", arena).len > 0 ? ": " : "");
    json_print(check, "{Examined#} examined");
    if (differences > 0)
        printf(", %lld difference%s", differences, differences == 1 ? "" : "s");
    printf("\n");
}

static void show_difference(struct slice difference, struct arena *arena)
{
    json_print(difference, "{Check} ");
    show_place(difference, arena);
    if (!json_print_given(difference, "Key", " {Key}") &&
        !json_print_given(difference, "File", "{File}"))
        (void)json_print_given(difference, "StoreKey", " key {StoreKey}");
    json_print(difference, ": {What}\n");
}

static void show_words(struct slice report, long long count, struct arena *arena)
{
    struct slice entry;
    long long shown = 0;
    struct json_list checks = json_list(report, "Checks", arena);
    while (json_list_next(&checks, &entry))
        show_check(entry, arena);
    struct json_list list = json_list(report, "Differences", arena);
    while (json_list_next(&list, &entry)) {
        if (shown++ == 0)
            printf("\n");
        show_difference(entry, arena);
    }
    if (count > shown)
        printf("… and %lld more\n", count - shown);
    if (count > 0)
        printf("\n%lld difference%s\n", count, count == 1 ? "" : "s");
}

// Whether all was looked at and agrees.
static bool show(struct cli_input *input, struct slice report)
{
    struct arena arena;
    arena_init(&arena, ANSWER_MEMORY);
    bool complete = slice_is(json_member_text(report, "Status", &arena), "COMPLETE");
    long long count = json_member_number(report, "DifferenceCount");
    if (cli_given(input, "--json"))
        printf("%.*s\n", SLICE_FMT(report));
    else
        show_words(report, count, &arena);
    arena_release(&arena);
    (void)fflush(stdout);
    if (!complete)
        return cli_fail(input, "the verification was not finished.");
    return count == 0;
}

// ---- A directory --------------------------------------------------------------------------------

struct looking {
    struct findings found;
    const char *table; // to be looked at alone, or ""
    bool no_table;     // there is none of that name
    bool whole;        // it is at its end
};

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
    if (!wal_check(path, look->keys, promised[PROMISE_SEGMENT], &log, &error)) {
        outcome.differences++;
        verify_report_difference(
            &looking->found.report,
            &(struct verify_difference){.check = VERIFY_LOG, .what = error.text});
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
        verify_report_difference(&looking->found.report,
                                 &(struct verify_difference){.check = VERIFY_LOG,
                                                             .file = slice_str(damage->file),
                                                             .what = what});
    }
    verify_report_outcome(&looking->found.report, &outcome);
    wal_report_release(&log);
}

// False if the watcher ended it.
static bool look_at_files(const char *data, const struct keyring *keys,
                          const struct verify_watcher *watcher)
{
    struct verify_files files = {.watcher = watcher, .outcome = {.check = VERIFY_FILES}};
    struct store_error error;
    if (!rocks_tables_check(data, keys, verify_file, &files, &error)) {
        files.outcome.differences++;
        watcher->difference(watcher->context,
                            &(struct verify_difference){.check = VERIFY_FILES, .what = error.text});
    }
    if (!files.stopped)
        watcher->outcome(watcher->context, &files.outcome);
    return !files.stopped;
}

// Everything but the log of a directory, which was replayed when the copy was opened.
static void look_inside(struct looking *looking, const struct look *look)
{
    struct store_error error = {.text = ""};
    struct store *store = look_store(look, &error);
    if (store == NULL)
        verify_report_difference(
            &looking->found.report,
            &(struct verify_difference){.check = VERIFY_CATALOG, .what = error.text});
    // Files that nothing needs any more are gone from a copy that could be opened.
    const struct verify_watcher watcher = findings_watcher(&looking->found);
    looking->whole =
        look_at_files(store == NULL ? look->data : look->scratch, look->keys, &watcher);
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

static bool verify_in(struct cli_input *input, const char *path, unsigned limit,
                      const char *scratch)
{
    struct look look;
    struct store_error error;
    struct crypt_key master;
    struct store_options options = {.path = path};
    if (!target_master(input, &master, &options))
        return false;
    if (!look_open(&look, path, scratch, options.master, &error))
        return cli_fail(input, "%s%s.", error.text,
                        error.in_use ? "; ask the server with --endpoint" : "");
    struct looking looking = {.found.look = &look, .table = cli_value(input, "--table", "")};
    verify_report_init(&looking.found.report, limit);
    progress_begin(&looking.found.bar, "verifying", 0, 0, false, cli_given(input, "--json"));
    look_at_log(&looking, &look);
    look_inside(&looking, &look);
    progress_end(&looking.found.bar);
    look_close(&look);
    struct buf text;
    buf_init(&text, 2 * (size_t)LIMIT_RESPONSE);
    struct json_writer w = json_writer_to(&text);
    json_form(&w, "{'Status':%s", looking.whole ? "COMPLETE" : "STOPPED");
    verify_report_write(&looking.found.report, &w);
    json_close_object(&w);
    bool ok = looking.no_table ? cli_fail(input, "'%s' has no table '%s'.", path, looking.table)
                               : show(input, buf_view(&text));
    buf_release(&text);
    verify_report_release(&looking.found.report);
    return ok;
}

static bool verify_directory(struct cli_input *input, const char *path, unsigned limit)
{
    struct scratch scratch;
    struct store_error error = {.text = ""};
    char inner[PATH_MAX + 16];
    if (!scratch_begin(&scratch, NULL, &error))
        return cli_fail(input, "%s.", error.text);
    (void)snprintf(inner, sizeof(inner), "%s/copy", scratch.path);
    bool ok = verify_in(input, path, limit, inner);
    scratch_end(&scratch);
    return ok;
}

// ---- A server -----------------------------------------------------------------------------------

// One call begins a run, others ask for it.
static bool verify_server(struct cli_input *input, struct target *target, unsigned limit)
{
    struct arena arena;
    const char *table = cli_value(input, "--table", NULL);
    const struct target_wait wait = {"VerifyDatabase", "RUNNING", "verifying",
                                     cli_given(input, "--json")};
    arena_init(&arena, ANSWER_MEMORY);
    int status = table == NULL ? target_ask(target, wait.operation, "{'Limit':%d}", (int)limit)
                               : target_ask(target, wait.operation, "{'TableName':%s,'Limit':%d}",
                                            table, (int)limit);
    bool ok = target_fine(target, status);
    if (ok) {
        struct slice id = json_member_text(buf_view(&target->response), "RunId", &arena);
        ok = target_fine(target, target_await(target, &wait, "{'RunId':%.*s}", SLICE_FMT(id)));
    }
    ok = ok && show(input, buf_view(&target->response));
    arena_release(&arena);
    return ok;
}

// ---- The command --------------------------------------------------------------------------------

bool cli_verify(struct cli_input *input)
{
    unsigned limit;
    if (!cli_number(input, "--limit", LIMIT_DEFAULT, 1, LIMIT_MAX, &limit))
        return false;
    const char *endpoint = target_endpoint(input, NULL);
    if (input->argument_count == 1 ? cli_given(input, "--endpoint") : endpoint == NULL)
        return cli_misused(input, "name a data directory, or --endpoint URL.");
    if (input->argument_count == 1)
        return verify_directory(input, input->arguments[0], limit);
    struct target target = {.input = input, .region = target_region(input), .endpoint = endpoint};
    buf_init(&target.response, 2 * (size_t)LIMIT_RESPONSE);
    bool ok = verify_server(input, &target, limit);
    target_close(&target);
    return ok;
}
