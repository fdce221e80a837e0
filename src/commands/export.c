// `dolmen export`: scans a table into files. After each page it notes, in a state file beside the
// output, how far it is; a run that was killed is gone on with by the next one, and the output is
// what a single run would have written.
#include "cli/export_out.h"
#include "cli/scan.h"
#include "commands/bucket.h"

#include "transfer/files.h"

#include <stdlib.h>
#include <unistd.h>

enum { COLUMNS_MAX = 1000, STATE_MAX = 256 << 20 };

struct exporter {
    struct cli_input *input;
    const char *table;
    struct target target;
    struct target_table described;
    struct arena arena; // of the run
    struct scan scan;
    struct error *error; // the scan's
    struct env env;
    struct out out;
    char *state_path;          // NULL: cannot be resumed
    struct bucket_work bucket; // s3://…
    bool resumed;
    struct progress progress;
    struct slice columns[COLUMNS_MAX];
};

static bool take_item(void *context, struct slice item)
{
    struct exporter *exporter = context;
    return out_item(&exporter->out, item, exporter->error);
}

// ---- Columns ----------------------------------------------------------------------

static bool add_column(struct exporter *exporter, struct slice name)
{
    struct csv_columns *columns = &exporter->out.items.columns;
    for (size_t i = 0; i < columns->count; i++) {
        if (slice_equal(columns->names[i], name))
            return true;
    }
    if (columns->count == COLUMNS_MAX)
        return error_set(exporter->error, ERR_VALIDATION, "there are more than %d columns",
                         COLUMNS_MAX);
    columns->names[columns->count] = arena_copy(&exporter->arena, name);
    return columns->names[columns->count++].ptr != NULL || error_budget(exporter->error);
}

static bool note_columns(void *context, struct slice item)
{
    struct exporter *exporter = context;
    struct value_iter iter;
    value_iter_init(&iter, item);
    while (value_iter_next(&iter)) {
        if (!add_column(exporter, iter.name))
            return false;
    }
    return true;
}

static int compare_names(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

// Those that were named; else the keys and, in order, whatever a first pass over the table finds.
static bool find_columns(struct exporter *exporter)
{
    struct csv_columns *columns = &exporter->out.items.columns;
    const char *named = cli_value(exporter->input, "--columns", NULL);
    while (named != NULL && *named != 0) {
        size_t len = strcspn(named, ",");
        if (!add_column(exporter, slice_of(named, len)))
            return false;
        named += len + (named[len] == ',');
    }
    if (columns->count > 0)
        return true;
    for (size_t i = 0; i < exporter->described.key_count; i++) {
        if (!add_column(exporter, exporter->described.keys[i].name))
            return false;
    }
    size_t keys = columns->count;
    exporter->scan.visit = note_columns;
    do {
        if (!scan_page(&exporter->scan))
            return false;
    } while (exporter->scan.key.len > 0);
    exporter->scan.visit = take_item;
    qsort(columns->names + keys, columns->count - keys, sizeof(*columns->names), compare_names);
    return true;
}

// ---- State ------------------------------------------------------------------------

static bool state_write(struct exporter *exporter, const struct out_state *state)
{
    struct buf text;
    const struct csv_columns *columns = &exporter->out.items.columns;
    buf_init(&text, STATE_MAX);
    struct json_writer w = json_writer_to(&text);
    json_form(&w, "{'table':%s,'format':%s,'key':%.*s,'manifest':%.*s,'id':%.*s", exporter->table,
              transfer_format_name(exporter->out.items.format),
              SLICE_FMT(buf_view(&exporter->scan.key)), SLICE_FMT(state->manifest),
              SLICE_FMT(state->id));
    json_form(&w, "'size':%zu,'part':%zu,'count':%zu,'started':%lld,'columns':[",
              (size_t)state->size, (size_t)state->part, (size_t)state->count,
              (long long)state->started_ms);
    for (size_t i = 0; i < columns->count; i++)
        json_form(&w, "{'name':%.*s}", SLICE_FMT(columns->names[i]));
    json_form(&w, "]}\n");
    bool ok = !text.failed && files_write(exporter->state_path, buf_view(&text), exporter->error);
    buf_release(&text);
    return ok;
}

// Goes on where a run was interrupted, if it was of the same export.
static bool state_read(struct exporter *exporter, struct out_state *out)
{
    struct arena *arena = &exporter->arena;
    struct slice state;
    struct slice column;
    if (!target_state(exporter->input, exporter->state_path, "export", arena, &state,
                      exporter->error))
        return false;
    if (state.len == 0)
        return true;
    if (!slice_is(json_member_text(state, "format", arena),
                  transfer_format_name(exporter->out.items.format)))
        return error_set(exporter->error, ERR_VALIDATION,
                         "'%s' is of another export; give --restart to forget it",
                         exporter->state_path);
    *out = (struct out_state){
        .size = (uint64_t)json_member_number(state, "size"),
        .part = (uint64_t)json_member_number(state, "part"),
        .count = (uint64_t)json_member_number(state, "count"),
        .manifest = json_member_text(state, "manifest", arena),
        .id = json_member_text(state, "id", arena),
        .started_ms = json_member_number(state, "started"),
    };
    buf_slice(&exporter->scan.key, json_member_text(state, "key", arena));
    exporter->resumed = exporter->scan.key.len > 0;
    struct json_list columns = json_list(state, "columns", arena);
    while (json_list_next(&columns, &column)) {
        if (!add_column(exporter, json_member_text(column, "name", arena)))
            return false;
    }
    return true;
}

// ---- The command ------------------------------------------------------------------

static bool choose_format(struct exporter *exporter)
{
    static const char *const compressions[] = {"none", "gzip", "zstd", NULL};
    struct item_writer *items = &exporter->out.items;
    size_t compression = 0;
    items->columns.names = exporter->columns;
    bool ok =
        target_format(exporter->input, &items->format, &items->columns.delimiter) &&
        cli_choice(exporter->input, "--compress", compressions, "gzip, zstd or none", &compression);
    exporter->out.compression = (enum transfer_compression)compression;
    return ok;
}

// Where to, and where the state is kept.
static bool choose_output(struct exporter *exporter, const char *path)
{
    enum transfer_format format = exporter->out.items.format;
    bool parts = format == TRANSFER_BATCH_WRITE || format == TRANSFER_DYNAMODUMP;
    if (path == NULL || path[0] == 0 || strcmp(path, "-") == 0)
        return !parts ||
               cli_misused(exporter->input, "the format %s is a directory of files: name one.",
                           transfer_format_name(format));
    if (bucket_named(path)) {
        if (!bucket_open(&exporter->bucket, exporter->input, path))
            return false;
        path = bucket_output(&exporter->bucket, parts);
        if (path == NULL)
            return false;
    }
    bool layout =
        (format == TRANSFER_DYNAMODB_JSON || format == TRANSFER_ION) && cli_is_directory(path);
    exporter->out.kind = parts ? OUT_PARTS : layout ? OUT_LAYOUT : OUT_FILE;
    exporter->out.path = path;
    if (format == TRANSFER_DYNAMODUMP) {
        exporter->out.path = arena_printf(&exporter->arena, "%s/%s/data", path, exporter->table);
        if (exporter->out.path == NULL)
            return false;
    }
    if (exporter->bucket.open)
        return true; // what is interrupted is gone
    exporter->state_path =
        parts || layout
            ? arena_printf(&exporter->arena, "%s/.%s.dolmen-state", path, exporter->table)
            : arena_printf(&exporter->arena, "%s.dolmen-state", path);
    return exporter->state_path != NULL;
}

// dump/<table>/schema.json
static bool write_schema(struct exporter *exporter)
{
    if (exporter->out.items.format != TRANSFER_DYNAMODUMP)
        return true;
    struct buf text;
    buf_init(&text, 1 << 24);
    buf_text(&text, "{\"Table\":");
    buf_slice(&text, exporter->described.description);
    buf_text(&text, "}\n");
    size_t len = strlen(exporter->out.path) - strlen("/data");
    char *path = arena_printf(&exporter->arena, "%.*s/schema.json", (int)len, exporter->out.path);
    bool ok = path != NULL && files_write(path, buf_view(&text), exporter->error);
    buf_release(&text);
    return ok;
}

static bool copy_pages(struct exporter *exporter)
{
    bool safe;
    struct out_state state;
    do {
        if (!scan_page(&exporter->scan) ||
            !out_page(&exporter->out, &safe, &state, exporter->error))
            return false;
        // Only what is on disk may be left out by the next run. The last page needs no state.
        if (safe && exporter->state_path != NULL && exporter->scan.key.len > 0 &&
            !state_write(exporter, &state))
            return false;
        progress_show(&exporter->progress, exporter->out.count, exporter->out.count);
    } while (exporter->scan.key.len > 0);
    return true;
}

static bool export_table(struct exporter *exporter)
{
    struct out_state state = {.size = 0};
    if (!state_read(exporter, &state))
        return false;
    if (exporter->out.items.format == TRANSFER_CSV && !exporter->resumed && !find_columns(exporter))
        return false;
    progress_begin(&exporter->progress, exporter->table, exporter->described.items, state.count,
                   false, cli_given(exporter->input, "--quiet"));
    if (!out_open(&exporter->out, &state, exporter->error) || !write_schema(exporter))
        return false;
    bool ok =
        copy_pages(exporter) &&
        out_finish(&exporter->out,
                   json_member_text(exporter->described.description, "TableArn", &exporter->arena),
                   json_member_text(exporter->described.description, "TableId", &exporter->arena),
                   exporter->error);
    progress_end(&exporter->progress);
    if (ok && exporter->state_path != NULL)
        (void)unlink(exporter->state_path);
    return ok;
}

static void report(struct exporter *exporter)
{
    FILE *to = exporter->out.path == NULL ? stderr : stdout;
    const struct out *out = &exporter->out;
    if (cli_given(exporter->input, "--json")) {
        (void)fprintf(to, "{\"table\":\"%s\",\"format\":\"%s\",\"items\":%llu,\"resumed\":%s",
                      exporter->table, transfer_format_name(out->items.format),
                      (unsigned long long)out->count, exporter->resumed ? "true" : "false");
        if (out->kind == OUT_LAYOUT)
            (void)fprintf(to, ",\"manifest\":\"AWSDynamoDB/%s/manifest-summary.json\"", out->id);
        (void)fprintf(to, "}\n");
    } else if (!cli_given(exporter->input, "--quiet") && out->path != NULL) {
        (void)fprintf(to, "%s: %llu items", exporter->table, (unsigned long long)out->count);
        if (exporter->resumed)
            (void)fprintf(to, " (resumed at item %llu)",
                          (unsigned long long)exporter->progress.before + 1);
        (void)fprintf(to, "\n");
    }
}

static bool export_into(struct exporter *exporter)
{
    if (!target_open(&exporter->target, exporter->input) ||
        !target_describe(&exporter->target, exporter->table, &exporter->arena,
                         &exporter->described))
        return false;
    if (!export_table(exporter))
        return cli_fail(exporter->input, "%s.", exporter->error->message);
    if (exporter->bucket.open && !bucket_push(&exporter->bucket))
        return false;
    report(exporter);
    return true;
}

bool cli_export(struct cli_input *input)
{
    if (input->argument_count == 0)
        return cli_misused(input, "name a table.");
    struct exporter *exporter = memory_zeroed(sizeof(*exporter));
    *exporter = (struct exporter){.input = input,
                                  .table = input->arguments[0],
                                  .env = env_system(),
                                  .error = &exporter->scan.error,
                                  .out = {.env = &exporter->env, .arena = &exporter->arena}};
    exporter->out.items.table = slice_str(exporter->table);
    arena_init(&exporter->arena, SIZE_MAX);
    scan_init(&exporter->scan, &exporter->target, exporter->table, take_item, exporter);
    bool ok = choose_format(exporter) && choose_output(exporter, cli_argument(input, 1, NULL)) &&
              export_into(exporter);
    target_close(&exporter->target);
    out_release(&exporter->out);
    bucket_close(&exporter->bucket);
    scan_release(&exporter->scan);
    arena_release(&exporter->arena);
    free(exporter);
    return ok;
}
