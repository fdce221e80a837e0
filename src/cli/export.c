// `dolmen export`: scans a table into files. After each page it notes, in a state file beside the
// output, how far it is; a run that was killed is gone on with by the next one, and the output is
// what a single run would have written.
#include "cli/export_out.h"
#include "cli/export_target.h"

#include "base/limits.h"
#include "transfer/files.h"
#include "value/number.h"
#include "json/reader.h"
#include "json/shape.h"
#include "json/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COLUMNS_MAX = 1000, STATE_MAX = 256 << 20 };

struct exporter {
    const struct cli_input *input;
    const char *table;
    struct target target;
    struct target_table described;
    struct arena arena; // of the run
    struct arena page;  // of one page
    struct error error;
    struct env env;
    struct out out;
    char *state_path; // NULL: cannot be resumed
    struct slice key; // ExclusiveStartKey as JSON, or empty; in `key_text`
    struct buf key_text;
    bool resumed;
    struct progress progress;
    struct slice columns[COLUMNS_MAX];
};

static int failed(struct exporter *exporter)
{
    return cli_fail(exporter->input->command, CLI_FAILED, "%s.", exporter->error.message);
}

// ---- Pages ------------------------------------------------------------------------

// One page of the scan; `visit` gets each item. Afterwards the key of the next page is in `key`.
static bool scan_page(struct exporter *exporter,
                      bool (*visit)(struct exporter *exporter, struct slice item))
{
    struct buf body;
    buf_init(&body, 1 << 20);
    struct json_writer w = json_writer_to(&body);
    json_open_object(&w);
    json_put_text(&w, "TableName", exporter->table);
    if (exporter->key.len > 0) {
        json_name(&w, "ExclusiveStartKey");
        buf_slice(&body, exporter->key);
        w.comma = true;
    }
    json_close_object(&w);
    int status = target_call(&exporter->target, "Scan", buf_view(&body));
    buf_release(&body);
    if (status != 200) {
        char text[512] = "no answer";
        if (status != 0)
            target_error(&exporter->target, text, sizeof(text));
        return error_set(&exporter->error, ERR_INTERNAL, "%s", text);
    }
    arena_reset(&exporter->page);
    struct slice answer = buf_view(&exporter->target.response);
    struct json_reader reader;
    json_reader_init(&reader, json_member(answer, "Items", &exporter->page), &exporter->page);
    if (json_peek(&reader) != JSON_ARRAY || !json_enter(&reader))
        return error_set(&exporter->error, ERR_INTERNAL, "the answer has no items");
    while (json_next_element(&reader)) {
        const uint8_t *from = reader.at;
        struct slice item;
        if (!json_skip(&reader))
            break;
        if (!json_decode_item(slice_of(from, (size_t)(reader.at - from)), &exporter->page, &item,
                              &exporter->error) ||
            !visit(exporter, item))
            return false;
    }
    struct slice last = json_member(answer, "LastEvaluatedKey", &exporter->page);
    buf_clear(&exporter->key_text);
    buf_slice(&exporter->key_text, last);
    exporter->key = buf_view(&exporter->key_text);
    return true;
}

static bool take_item(struct exporter *exporter, struct slice item)
{
    return out_item(&exporter->out, item, &exporter->error);
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
        return error_set(&exporter->error, ERR_VALIDATION, "there are more than %d columns",
                         COLUMNS_MAX);
    columns->names[columns->count] = arena_copy(&exporter->arena, name);
    return columns->names[columns->count++].ptr != NULL || error_budget(&exporter->error);
}

static bool note_columns(struct exporter *exporter, struct slice item)
{
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
    columns->names = exporter->columns;
    columns->delimiter = (uint8_t)cli_value(exporter->input, "--delimiter", ",")[0];
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
    do {
        if (!scan_page(exporter, note_columns))
            return false;
    } while (exporter->key.len > 0);
    qsort(columns->names + keys, columns->count - keys, sizeof(*columns->names), compare_names);
    return true;
}

// ---- State ------------------------------------------------------------------------

static void put_text(struct json_writer *w, const char *name, struct slice text)
{
    json_put_object(w, name);
    json_put_string(w, "S", text);
    json_close_object(w);
}

static void put_number(struct json_writer *w, const char *name, uint64_t number)
{
    json_put_object(w, name);
    json_name(w, "N");
    char text[24];
    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    json_text(w, text);
    json_close_object(w);
}

static bool state_write(struct exporter *exporter, const struct out_state *state)
{
    struct buf text;
    buf_init(&text, STATE_MAX);
    struct json_writer w = json_writer_to(&text);
    json_open_object(&w);
    put_text(&w, "table", slice_str(exporter->table));
    put_text(&w, "format", slice_str(transfer_format_name(exporter->out.items.format)));
    put_text(&w, "key", exporter->key);
    put_text(&w, "manifest", state->manifest);
    put_text(&w, "id", state->id);
    put_number(&w, "size", state->size);
    put_number(&w, "part", state->part);
    put_number(&w, "count", state->count);
    put_number(&w, "started", (uint64_t)state->started_ms);
    json_name(&w, "columns");
    buf_text(&text, "{\"L\":[");
    for (size_t i = 0; i < exporter->out.items.columns.count; i++) {
        struct json_writer element = json_writer_to(&text);
        buf_text(&text, i == 0 ? "{\"S\":" : ",{\"S\":");
        json_string(&element, exporter->out.items.columns.names[i]);
        buf_text(&text, "}");
    }
    buf_text(&text, "]}}\n");
    bool ok = !text.failed && files_write(exporter->state_path, buf_view(&text), &exporter->error);
    buf_release(&text);
    return ok;
}

static struct slice state_text(struct slice state, const char *name)
{
    struct slice value = value_get(state, slice_str(name));
    return value.len == 0 || value_type(value) != VALUE_S ? slice_of(NULL, 0) : value_bytes(value);
}

static uint64_t state_number(struct slice state, const char *name)
{
    struct slice value = value_get(state, slice_str(name));
    int64_t number = 0;
    if (value.len == 0 || value_type(value) != VALUE_N ||
        !number_to_i64(value_bytes(value), &number))
        return 0;
    return (uint64_t)number;
}

// The state of a run that was interrupted, if it is one of the same export.
static bool state_read(struct exporter *exporter, struct out_state *out)
{
    bool there = false;
    struct buf text;
    struct slice state = VALUE_NONE;
    if (exporter->state_path == NULL || cli_given(exporter->input, "--restart"))
        return true;
    buf_init(&text, STATE_MAX);
    bool ok = files_read(exporter->state_path, &text, &there, &exporter->error);
    if (ok && there)
        ok = json_decode_item(buf_view(&text), &exporter->arena, &state, &exporter->error);
    buf_release(&text);
    if (!ok || !there)
        return ok;
    if (!slice_is(state_text(state, "table"), exporter->table) ||
        !slice_is(state_text(state, "format"), transfer_format_name(exporter->out.items.format)))
        return error_set(&exporter->error, ERR_VALIDATION,
                         "'%s' is of another export; give --restart to forget it",
                         exporter->state_path);
    *out = (struct out_state){
        .size = state_number(state, "size"),
        .part = state_number(state, "part"),
        .count = state_number(state, "count"),
        .manifest = state_text(state, "manifest"),
        .id = state_text(state, "id"),
        .started_ms = (int64_t)state_number(state, "started"),
    };
    buf_slice(&exporter->key_text, state_text(state, "key"));
    exporter->key = buf_view(&exporter->key_text);
    struct slice columns = value_get(state, SLICE_LIT("columns"));
    struct value_iter iter;
    exporter->out.items.columns.names = exporter->columns;
    exporter->out.items.columns.delimiter =
        (uint8_t)cli_value(exporter->input, "--delimiter", ",")[0];
    if (columns.len > 0)
        value_iter_init(&iter, columns);
    while (columns.len > 0 && value_iter_next(&iter)) {
        if (!add_column(exporter, value_bytes(iter.value)))
            return false;
    }
    exporter->resumed = exporter->key.len > 0;
    return true;
}

// ---- The command ------------------------------------------------------------------

static bool choose_format(struct exporter *exporter)
{
    const char *format = cli_value(exporter->input, "--format", "dynamodb-json");
    const char *compression = cli_value(exporter->input, "--compress", "none");
    exporter->out.items.format = transfer_format_from_name(format);
    if (exporter->out.items.format == TRANSFER_FORMATS) {
        (void)cli_fail(exporter->input->command, CLI_USAGE, "there is no format '%s'.", format);
        return false;
    }
    exporter->out.compression = strcmp(compression, "gzip") == 0   ? TRANSFER_GZIP
                                : strcmp(compression, "zstd") == 0 ? TRANSFER_ZSTD
                                                                   : TRANSFER_NONE;
    if (exporter->out.compression == TRANSFER_NONE && strcmp(compression, "none") != 0) {
        (void)cli_fail(exporter->input->command, CLI_USAGE,
                       "--compress must be gzip, zstd or none, not '%s'.", compression);
        return false;
    }
    if (strlen(cli_value(exporter->input, "--delimiter", ",")) != 1) {
        (void)cli_fail(exporter->input->command, CLI_USAGE, "--delimiter must be one character.");
        return false;
    }
    return true;
}

static bool is_directory(const char *path)
{
    struct stat info;
    return path[strlen(path) - 1] == '/' || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

// Where to, and where the state is kept.
static bool choose_output(struct exporter *exporter, const char *path)
{
    enum transfer_format format = exporter->out.items.format;
    bool parts = format == TRANSFER_BATCH_WRITE || format == TRANSFER_DYNAMODUMP;
    if (path == NULL || path[0] == 0 || strcmp(path, "-") == 0) {
        if (parts)
            (void)cli_fail(exporter->input->command, CLI_USAGE,
                           "the format %s is a directory of files: name one.",
                           transfer_format_name(format));
        return !parts;
    }
    bool layout =
        (format == TRANSFER_DYNAMODB_JSON || format == TRANSFER_ION) && is_directory(path);
    exporter->out.kind = parts ? OUT_PARTS : layout ? OUT_LAYOUT : OUT_FILE;
    exporter->out.path = path;
    if (format == TRANSFER_DYNAMODUMP) {
        exporter->out.path = arena_printf(&exporter->arena, "%s/%s/data", path, exporter->table);
        if (exporter->out.path == NULL)
            return false;
    }
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
    bool ok = path != NULL && files_write(path, buf_view(&text), &exporter->error);
    buf_release(&text);
    return ok;
}

static bool copy_pages(struct exporter *exporter)
{
    bool safe;
    struct out_state state;
    do {
        if (!scan_page(exporter, take_item) ||
            !out_page(&exporter->out, &safe, &state, &exporter->error))
            return false;
        if (safe && exporter->state_path != NULL && exporter->key.len > 0 &&
            !state_write(exporter, &state))
            return false;
        progress_show(&exporter->progress, exporter->out.count, exporter->out.count);
    } while (exporter->key.len > 0);
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
    if (!out_open(&exporter->out, &state, &exporter->error) || !write_schema(exporter))
        return false;
    bool ok =
        copy_pages(exporter) &&
        out_finish(&exporter->out,
                   json_member_text(exporter->described.description, "TableArn", &exporter->arena),
                   json_member_text(exporter->described.description, "TableId", &exporter->arena),
                   &exporter->error);
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
        (void)fprintf(to, "%s: %llu items%s\n", exporter->table, (unsigned long long)out->count,
                      exporter->resumed ? " (gone on from where an earlier run stopped)" : "");
    }
}

static int export_run(const struct cli_input *input)
{
    if (input->argument_count == 0)
        return cli_fail(input->command, CLI_USAGE, "name a table.");
    struct exporter *exporter = calloc(1, sizeof(*exporter));
    ensure_memory(exporter);
    exporter->input = input;
    exporter->table = input->arguments[0];
    exporter->env = env_system();
    exporter->out.env = &exporter->env;
    exporter->out.arena = &exporter->arena;
    exporter->out.items.table = slice_str(exporter->table);
    arena_init(&exporter->arena, SIZE_MAX);
    arena_init(&exporter->page, LIMIT_REQUEST_MEMORY);
    error_init(&exporter->error, &exporter->arena);
    buf_init(&exporter->key_text, 1 << 20);
    int code = CLI_USAGE;
    if (choose_format(exporter) &&
        choose_output(exporter, input->argument_count > 1 ? input->arguments[1] : NULL)) {
        bool open = target_open(&exporter->target, input, &code);
        if (open) {
            code = CLI_FAILED;
            if (target_describe(&exporter->target, exporter->table, &exporter->arena,
                                &exporter->described)) {
                code = export_table(exporter) ? CLI_OK : failed(exporter);
                if (code == CLI_OK)
                    report(exporter);
            }
        }
        target_close(&exporter->target);
    }
    out_release(&exporter->out);
    buf_release(&exporter->key_text);
    arena_release(&exporter->page);
    arena_release(&exporter->arena);
    free(exporter);
    return code;
}

static const struct cli_option export_options[] = {
    TARGET_OPTIONS,
    {"--format", "NAME",
     "dynamodb-json (default), ion: as AWS exports; in a directory, with manifests.\n"
     "typed, json: a line of JSON for each item; json is ordinary JSON, in which\n"
     "binary and sets do not keep their types.\n"
     "csv; batch-write: files for 'aws dynamodb batch-write-item';\n"
     "dynamodump: a directory for dynamodump."},
    {"--compress", "gzip|zstd|none", "Default: none. Data files of an AWS export are always gzip."},
    {"--columns", "A,B,…", "csv: the attributes. Default: all, found by a first pass."},
    {"--delimiter", "CHAR", "csv: default is a comma."},
    {"--restart", NULL, "Begin anew, even if an earlier run was interrupted."},
    {"--json", NULL, "Print a summary as JSON."},
    {"--quiet", NULL, "Print nothing but errors."},
    {NULL, NULL, NULL},
};

const struct cli_command cli_export = {
    .name = "export",
    .arguments = "TABLE [OUTPUT | -] [--format NAME] [--endpoint URL | --data DIR] [OPTIONS]",
    .summary = "write a table to files",
    .about = "OUTPUT is a file, or a directory (for AWS's layout name one that exists, or end it\n"
             "with a slash); without it the items go to standard output. If it is interrupted,\n"
             "run it again: it goes on where it was.",
    .example = "  dolmen export Movies movies.jsonl --format typed\n"
               "  dolmen export Movies exports/ --format ion --data ./mydata",
    .options = export_options,
    .arguments_max = 2,
    .run = export_run,
};
