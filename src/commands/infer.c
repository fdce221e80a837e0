// `dolmen infer`: a model for a table, for an export of one, or for a schema of another tool. The
// model goes to standard output, what was not understood to standard error.
#include "cli/scan.h"

#include "infer/import.h"
#include "infer/infer.h"
#include "model/parse.h"
#include "transfer/export.h"
#include "transfer/files.h"
#include "transfer/item_reader.h"

#include <errno.h>
#include <sys/stat.h>

enum { FILE_MAX = 64 << 20, OUTPUT_MAX = 64 << 20, NOTES_SHOWN = 40 };

struct inference {
    struct cli_input *input;
    struct infer *infer; // NULL for schemas
    struct arena arena;
    struct error error;
    struct draft draft; // of schemas
};

// ---- The result ----------------------------------------------------------------------------

static void show_notes(const struct draft *draft)
{
    size_t shown = 0;
    for (const struct draft_note *note = draft->notes; note != NULL; note = note->next) {
        if (shown++ == NOTES_SHOWN) {
            (void)fprintf(stderr, "and %zu more notes; all are in the file.\n",
                          draft->note_count - NOTES_SHOWN);
            return;
        }
        (void)fprintf(stderr, "note: %.*s\n", SLICE_FMT(note->text));
    }
}

// Whether the proposal is a model; what is wrong with it is told.
static bool check(struct inference *run, struct slice text)
{
    struct model *model = cli_model_text(SLICE_LIT("proposal"), text);
    model_release(model);
    return model != NULL ||
           cli_fail(run->input, "the proposal needs mending before it is a model.");
}

struct totals {
    size_t entities;
    size_t patterns;
};

static struct totals count_all(const struct draft *draft)
{
    struct totals totals = {0};
    for (const struct draft_table *table = draft->tables; table != NULL; table = table->next) {
        for (const struct draft_entity *e = table->entities; e != NULL; e = e->next)
            totals.entities++;
        for (const struct draft_access *a = table->accesses; a != NULL; a = a->next)
            totals.patterns++;
    }
    return totals;
}

// Everything in one object, for programs.
static void put_json(const struct draft *draft, struct slice text, struct buf *out)
{
    struct totals totals = count_all(draft);
    struct json_writer w = json_writer_to(out);
    json_form(&w, "{'entities':%zu,'accessPatterns':%zu,'notes':[", totals.entities,
              totals.patterns);
    for (const struct draft_note *note = draft->notes; note != NULL; note = note->next)
        json_string(&w, note->text);
    json_form(&w, "],'model':%.*s}\n", SLICE_FMT(text));
}

static bool write_out(struct inference *run, const struct draft *draft, struct slice text)
{
    const char *path = cli_value(run->input, "--out", NULL);
    struct buf out;
    if (path != NULL && !files_write(path, text, &run->error))
        return cli_fail(run->input, "%s.", run->error.message);
    buf_init(&out, 2 * (size_t)OUTPUT_MAX);
    if (cli_given(run->input, "--json"))
        put_json(draft, text, &out);
    else if (path == NULL)
        buf_slice(&out, text);
    return cli_print(&out, stdout);
}

static bool finish(struct inference *run, const struct draft *draft)
{
    struct buf text;
    struct totals totals = count_all(draft);
    buf_init(&text, OUTPUT_MAX);
    draft_write(draft, &text);
    bool ok = !text.failed && write_out(run, draft, buf_view(&text));
    if (!cli_given(run->input, "--json")) {
        show_notes(draft);
        (void)fprintf(stderr, "%zu entit%s, %zu access pattern%s, %zu note%s\n", totals.entities,
                      totals.entities == 1 ? "y" : "ies", totals.patterns,
                      totals.patterns == 1 ? "" : "s", draft->note_count,
                      draft->note_count == 1 ? "" : "s");
    }
    ok = ok && check(run, buf_view(&text));
    buf_release(&text);
    return ok;
}

static bool finish_inference(struct inference *run)
{
    struct draft *draft = NULL;
    const char *why = "";
    if (!infer_finish(run->infer, &draft, &why))
        return cli_fail(run->input, "%s.", why);
    return finish(run, draft);
}

// ---- A table -------------------------------------------------------------------------------

static bool visit_item(void *context, struct slice item)
{
    return infer_add(context, item);
}

static void ask_ttl(struct inference *run, struct target *target, const char *table)
{
    if (target_ask(target, "DescribeTimeToLive", "{'TableName':%s}", table) != 200)
        return;
    struct slice answer = buf_view(&target->response);
    struct slice described = json_member(answer, "TimeToLiveDescription", &run->arena);
    struct slice name = json_member_text(described, "AttributeName", &run->arena);
    if (described.len > 0 && name.len > 0)
        infer_ttl(run->infer, name);
}

static bool look_at_table(struct inference *run, struct target *target, const char *table)
{
    struct target_table described;
    struct scan scan;
    if (!target_describe(target, table, &run->arena, &described))
        return false;
    if (!infer_describe(run->infer, described.description))
        return cli_fail(run->input, "the table's description is odd.");
    ask_ttl(run, target, table);
    scan_init(&scan, target, table, visit_item, run->infer);
    bool ok = scan_all(&scan, described.items, 0, false);
    scan_release(&scan);
    return ok && finish_inference(run);
}

static bool infer_from_table(struct inference *run, const char *table)
{
    struct target target;
    bool ok = target_open(&target, run->input) && look_at_table(run, &target, table);
    target_close(&target);
    return ok;
}

// ---- An export -----------------------------------------------------------------------------

static bool read_items(struct inference *run, const char *path)
{
    const char *format = cli_value(run->input, "--format", "dynamodb-json");
    struct item_reader_options options = {.format = transfer_format_from_name(format),
                                          .compression = TRANSFER_GUESS,
                                          .empty_is_absent = true};
    if (options.format == TRANSFER_FORMATS)
        return error_set(&run->error, ERR_VALIDATION, "there is no format '%s'", format);
    struct item_reader *reader = item_reader_open(path, &options, &run->error);
    struct item_record record;
    size_t bad = 0;
    if (reader == NULL)
        return false;
    while (item_reader_next(reader, &record, &run->error)) {
        if (record.bad != NULL || record.removes) {
            bad += record.bad != NULL;
            continue;
        }
        if (!infer_add(run->infer, record.item))
            break;
    }
    item_reader_free(reader);
    if (bad > 0)
        (void)fprintf(stderr, "%s: %zu record%s\n", path, bad,
                      bad == 1 ? " is not an item" : "s are not items");
    return run->error.code == ERR_NONE;
}

// schema.json of a dynamodump directory.
static bool read_description(struct inference *run, const char *path)
{
    struct buf text;
    bool there = false;
    buf_init(&text, FILE_MAX);
    bool ok = files_read(path, &text, &there, &run->error);
    if (ok && there && !infer_describe(run->infer, arena_copy(&run->arena, buf_view(&text))))
        ok = error_set(&run->error, ERR_VALIDATION, "%s is no description of a table", path);
    buf_release(&text);
    return ok;
}

static bool read_directory(struct inference *run, const char *path)
{
    struct file_entry *files = NULL;
    size_t count = 0;
    if (!files_list(path, slice_of(NULL, 0), FILES_FOLLOW_LINKS, &run->arena, &files, &count,
                    &run->error))
        return false;
    for (size_t i = 0; i < count; i++) {
        char *file = files_path(&run->arena, path, files[i].key);
        size_t len = files[i].key.len;
        bool schema =
            len >= 11 && slice_is(slice_of(files[i].key.ptr + len - 11, 11), "schema.json");
        if (file == NULL)
            return error_budget(&run->error);
        if (schema ? !read_description(run, file)
                   : export_is_data(files[i].key) && !read_items(run, file))
            return false;
    }
    return true;
}

static bool infer_from_export(struct inference *run, const char *path)
{
    struct stat info;
    const char *key = cli_value(run->input, "--key", NULL);
    if (key != NULL) {
        const char *comma = strchr(key, ',');
        infer_keys(run->infer, slice_of(key, comma == NULL ? strlen(key) : (size_t)(comma - key)),
                   slice_str(comma == NULL ? "" : comma + 1));
    }
    if (stat(path, &info) != 0)
        return cli_fail(run->input, "cannot read '%s': %s.", path, strerror(errno));
    if (S_ISDIR(info.st_mode) ? !read_directory(run, path) : !read_items(run, path))
        return cli_fail(run->input, "%s.", run->error.message);
    return finish_inference(run);
}

// ---- A schema of another tool --------------------------------------------------------------

static bool convert(struct inference *run, const struct import_format *format,
                    const struct tree *tree, const char *path)
{
    const char *why = "";
    struct slice table = slice_str(cli_value(run->input, "--table", ""));
    draft_init(&run->draft, &run->arena);
    if (!format->read(tree, table, &run->draft, &why))
        return cli_fail(run->input, "%s: %s.", path, why);
    const char *slash = strrchr(path, '/');
    run->draft.notes_title = "What was not carried over as it was";
    run->draft.title = draft_text(&run->draft, "Converted by dolmen infer from %s (%s).",
                                  slash == NULL ? path : slash + 1, format->name);
    return finish(run, &run->draft);
}

static bool infer_from_schema(struct inference *run, const char *name)
{
    const struct import_format *format = import_format_find(slice_str(name));
    struct buf text;
    bool ok = false;
    if (format == NULL) {
        struct model_guess guess = model_guess_for(slice_str(name));
        for (format = import_formats; format->name != NULL; format++)
            model_guess_candidate(&guess, slice_str(format->name));
        return cli_misused(run->input,
                           "there is no format '%s'%s There are onetable, workbench, aws-schema.",
                           name, cli_meant(run->input, &guess));
    }
    if (run->input->argument_count == 0)
        return cli_misused(run->input, "name the file to read.");
    const char *path = run->input->arguments[0];
    buf_init(&text, FILE_MAX);
    if (cli_read(run->input, path, &text)) {
        struct tree_error fault = {.message = NULL};
        const struct tree *tree = tree_read(buf_view(&text), &run->arena, &fault);
        ok = tree == NULL ? cli_fail(run->input, "%s:%zu:%zu: %s.", path, fault.line, fault.column,
                                     fault.message)
                          : convert(run, format, tree, path);
    }
    buf_release(&text);
    return ok;
}

// ---- The command ---------------------------------------------------------------------------

static bool infer_here(struct inference *run)
{
    struct cli_input *input = run->input;
    const char *export = cli_value(input, "--export", NULL);
    unsigned sample = 0;
    if (cli_given(input, "--from"))
        return infer_from_schema(run, cli_value(input, "--from", ""));
    if (input->argument_count == 0 && export == NULL)
        return cli_misused(input, "name a table, or give --export or --from.");
    if (!cli_number(input, "--sample", 50000, 1, 10000000, &sample))
        return false;
    const char *table = cli_value(input, "--table", cli_argument(input, 0, "Table"));
    struct infer_options options = {.table = slice_str(table), .items_max = sample};
    run->infer = infer_new(&options);
    bool ok = export != NULL ? infer_from_export(run, export)
                             : infer_from_table(run, input->arguments[0]);
    infer_free(run->infer);
    return ok;
}

bool cli_infer(struct cli_input *input)
{
    struct inference run = {.input = input};
    arena_init(&run.arena, SIZE_MAX);
    error_init(&run.error, &run.arena);
    bool ok = infer_here(&run);
    arena_release(&run.arena);
    return ok;
}
