// `dolmen import`: items from files into a table, 25 at a time. How far it is stands in a state
// file beside the input, so that a run that was killed is gone on with; what was written twice by
// that is the same item.
//
// A record that refers to an item that is not there is tried again when all others are in: files
// come in the order of their names. As long as there is one, the state does not move.
#include "cli/import_types.h"
#include "cli/target.h"
#include "commands/bucket.h"

#include "base/limits.h"
#include "base/wait.h"
#include "transfer/export.h"
#include "transfer/files.h"
#include "transfer/item_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BATCH_BYTES = 4 << 20,
    FAULTS_TOLD = 20,   // bad records that are told one by one
    STATE_BATCHES = 40, // after so many the state is written
    TRIES = 12,
    LATE_BYTES = 64 << 20, // of records that are tried again
};

// One request of a batch, as JSON in the importer's buffer.
struct pending {
    size_t start;
    size_t len;
    uint64_t line;
};

// One that is tried again at the end.
struct late {
    struct late *next;
    struct slice file;
    struct pending pending; // in importer.late_text
};

struct importer {
    struct cli_input *input;
    const char *table;
    const char *path; // NULL for standard input
    const char *operation;
    bool directory;
    struct target target;
    struct target_table described;
    struct arena arena;
    struct error error;
    struct item_reader_options options;
    struct model *model; // of the table, for formats without types; or NULL
    const struct model_table *model_table;
    struct arena record; // in progress
    struct progress progress;
    struct bucket_work bucket; // s3://…
    char *state_path;
    struct slice done_file; // up to this file, and in it
    uint64_t done_records;  // up to this record, all is written
    struct slice file;      // in progress
    bool resumed;
    uint64_t imported;
    uint64_t deleted;
    uint64_t errors;
    uint64_t bytes; // of the files before
    unsigned batches;
    struct buf text;
    size_t count;
    struct pending pending[LIMIT_BATCH_WRITE];
    struct buf late_text;
    struct late *late;
    struct late **late_end;
};

// ---- State ------------------------------------------------------------------------

static bool state_write(struct importer *importer, uint64_t records)
{
    if (importer->state_path == NULL || importer->late != NULL)
        return true;
    struct buf text;
    buf_init(&text, 1 << 20);
    struct json_writer w = json_writer_to(&text);
    json_form(&w,
              "{'table':%s,'file':%.*s,'records':%zu,'imported':%zu,'deleted':%zu,"
              "'errors':%zu}\n",
              importer->table, SLICE_FMT(importer->file), (size_t)records,
              (size_t)importer->imported, (size_t)importer->deleted, (size_t)importer->errors);
    bool ok = files_write(importer->state_path, buf_view(&text), &importer->error);
    buf_release(&text);
    return ok;
}

static bool state_read(struct importer *importer)
{
    struct slice state;
    if (!target_state(importer->input, importer->state_path, "import", &importer->arena, &state,
                      &importer->error))
        return false;
    if (state.len == 0)
        return true;
    importer->resumed = true;
    importer->done_file = json_member_text(state, "file", &importer->arena);
    importer->done_records = (uint64_t)json_member_number(state, "records");
    importer->imported = (uint64_t)json_member_number(state, "imported");
    importer->deleted = (uint64_t)json_member_number(state, "deleted");
    importer->errors = (uint64_t)json_member_number(state, "errors");
    return true;
}

// ---- Batches ----------------------------------------------------------------------

static void tell_fault(struct importer *importer, uint64_t line, const char *why)
{
    importer->errors++;
    if (importer->errors <= FAULTS_TOLD)
        (void)fprintf(stderr, "%.*s:%llu: %s\n", SLICE_FMT(importer->file),
                      (unsigned long long)line, why);
    else if (importer->errors == FAULTS_TOLD + 1)
        (void)fprintf(stderr, "Further bad records are only counted.\n");
}

// What the table did not take, to be tried again; ptr NULL if it took all.
static struct slice unprocessed(struct importer *importer, struct arena *arena)
{
    struct slice answer = buf_view(&importer->target.response);
    struct slice left = json_member(answer, "UnprocessedItems", arena);
    return left.ptr == NULL ? left : json_member(left, importer->table, arena);
}

// Writes the requests of a JSON array. The status; 200 only if all were taken.
static int write_requests(struct importer *importer, struct slice requests)
{
    struct arena arena;
    arena_init(&arena, LIMIT_REQUEST_MEMORY);
    struct buf body;
    buf_init(&body, 64 << 20);
    int status = 0;
    for (int try = 0; try < TRIES && requests.ptr != NULL; try++) {
        buf_clear(&body);
        buf_printf(&body, "{\"RequestItems\":{\"%s\":", importer->table);
        buf_slice(&body, requests);
        buf_text(&body, "}}");
        status = target_call(&importer->target, importer->operation, buf_view(&body));
        if (status != 200)
            break;
        struct slice left = unprocessed(importer, &arena);
        requests = left.ptr == NULL ? left : arena_copy(&arena, left);
        if (requests.ptr != NULL)
            sleep_ms(20L << (try < 5 ? try : 5));
    }
    buf_release(&body);
    arena_release(&arena);
    return status == 200 && requests.ptr != NULL ? 503 : status;
}

static int write_range(struct importer *importer, size_t from, size_t count)
{
    struct buf list;
    buf_init(&list, 64 << 20);
    for (size_t i = from; i < from + count; i++) {
        buf_byte(&list, i == from ? '[' : ',');
        buf_add(&list, importer->text.ptr + importer->pending[i].start, importer->pending[i].len);
    }
    buf_byte(&list, ']');
    int status = write_requests(importer, buf_view(&list));
    buf_release(&list);
    return status;
}

static void count_written(struct importer *importer, size_t index)
{
    const struct pending *pending = &importer->pending[index];
    if (importer->text.ptr[pending->start + 2] == 'D') // {"DeleteRequest"
        importer->deleted++;
    else
        importer->imported++;
}

// Keeps the record for the end if what it refers to may come later.
static bool put_off(struct importer *importer, const struct pending *pending, const char *why)
{
    if (strstr(why, " that exists, got ") == NULL)
        return false;
    struct late *late = arena_zalloc(&importer->arena, 1, sizeof(*late));
    if (late == NULL || importer->late_text.len + pending->len > LATE_BYTES)
        return false;
    late->file = arena_copy(&importer->arena, importer->file);
    late->pending = (struct pending){importer->late_text.len, pending->len, pending->line};
    buf_add(&importer->late_text, importer->text.ptr + pending->start, pending->len);
    *importer->late_end = late;
    importer->late_end = &late->next;
    return true;
}

// A batch that is refused as a whole is written one by one, so that the record at fault is named.
static bool write_singly(struct importer *importer)
{
    char why[512];
    for (size_t i = 0; i < importer->count; i++) {
        int status = write_range(importer, i, 1);
        if (status == 200) {
            count_written(importer, i);
            continue;
        }
        target_error(&importer->target, why, sizeof(why));
        if (status != 400 || strncmp(why, "ValidationException", 19) != 0)
            return error_set(&importer->error, ERR_INTERNAL, "%s", status == 0 ? "no answer" : why);
        if (!put_off(importer, &importer->pending[i], why))
            tell_fault(importer, importer->pending[i].line, why);
    }
    return true;
}

// Tries what was put off, again and again as long as that helps; *left is how many are left.
static bool write_late_once(struct importer *importer, bool last, size_t *left)
{
    char why[512];
    struct late **place = &importer->late;
    for (*left = 0; *place != NULL;) {
        struct late *late = *place;
        struct buf list;
        buf_init(&list, LATE_BYTES);
        buf_byte(&list, '[');
        buf_add(&list, importer->late_text.ptr + late->pending.start, late->pending.len);
        buf_byte(&list, ']');
        int status = write_requests(importer, buf_view(&list));
        buf_release(&list);
        target_error(&importer->target, why, sizeof(why));
        if (status != 200 && (status != 400 || strncmp(why, "ValidationException", 19) != 0))
            return error_set(&importer->error, ERR_INTERNAL, "%s", status == 0 ? "no answer" : why);
        importer->imported += status == 200;
        importer->file = late->file;
        if (status != 200 && last)
            tell_fault(importer, late->pending.line, why);
        if (status == 200 || last) {
            *place = late->next;
            continue;
        }
        ++*left;
        place = &late->next;
    }
    return true;
}

static bool write_late(struct importer *importer)
{
    size_t before = SIZE_MAX;
    size_t left = SIZE_MAX - 1;
    while (importer->late != NULL && left > 0 && left < before) {
        before = left;
        if (!write_late_once(importer, false, &left))
            return false;
    }
    return importer->late == NULL || write_late_once(importer, true, &left);
}

static bool flush(struct importer *importer, uint64_t records)
{
    if (importer->count > 0) {
        int status = write_range(importer, 0, importer->count);
        if (status == 400) {
            if (!write_singly(importer))
                return false;
        } else if (status != 200) {
            return error_set(&importer->error, ERR_INTERNAL, "the table takes no more writes");
        } else {
            for (size_t i = 0; i < importer->count; i++)
                count_written(importer, i);
        }
        importer->count = 0;
        buf_clear(&importer->text);
    }
    // Behind the batch, never before it: what is written twice is the same item, what is left out
    // is lost.
    return ++importer->batches % STATE_BATCHES != 0 || state_write(importer, records);
}

static bool add_record(struct importer *importer, const struct item_record *record)
{
    size_t start = importer->text.len;
    struct json_writer w = json_writer_to(&importer->text);
    buf_text(&importer->text,
             record->removes ? "{\"DeleteRequest\":{\"Key\":" : "{\"PutRequest\":{\"Item\":");
    json_item(&w, record->item);
    buf_text(&importer->text, "}}");
    if (importer->text.failed)
        return error_budget(&importer->error);
    importer->pending[importer->count++] =
        (struct pending){start, importer->text.len - start, record->line};
    return (importer->count < LIMIT_BATCH_WRITE && importer->text.len < BATCH_BYTES) ||
           flush(importer, record->number);
}

// ---- Files ------------------------------------------------------------------------

// Gives the values of a record the types of the table's model.
static void type_record(struct importer *importer, struct item_record *record)
{
    struct error error;
    if (importer->model_table == NULL || record->bad != NULL || record->removes)
        return;
    arena_reset(&importer->record);
    error_init(&error, &importer->record);
    if (!import_typed(importer->model_table, importer->options.format == TRANSFER_CSV,
                      &importer->record, &record->item, &error))
        record->bad = error.message;
}

static bool import_records(struct importer *importer, struct item_reader *reader)
{
    struct item_record record;
    uint64_t number = 0;
    if (importer->done_file.len > 0 && slice_equal(importer->done_file, importer->file) &&
        !item_reader_skip(reader, importer->done_records, &importer->error))
        return false;
    while (item_reader_next(reader, &record, &importer->error)) {
        number = record.number;
        type_record(importer, &record);
        if (record.bad != NULL)
            tell_fault(importer, record.line, record.bad);
        else if (!add_record(importer, &record))
            return false;
        progress_show(&importer->progress, importer->bytes + item_reader_consumed(reader),
                      importer->imported);
    }
    importer->bytes += item_reader_consumed(reader);
    return importer->error.code == ERR_NONE && flush(importer, number);
}

static bool import_file(struct importer *importer, const char *path, struct slice name)
{
    importer->file = name;
    struct item_reader *reader =
        path == NULL ? item_reader_open_fd(STDIN_FILENO, &importer->options, &importer->error)
                     : item_reader_open(path, &importer->options, &importer->error);
    bool ok = reader != NULL && import_records(importer, reader);
    item_reader_free(reader);
    if (!ok) // where it was: the message alone does not tell
        (void)fprintf(stderr, "%.*s: not read to its end\n", SLICE_FMT(name));
    return ok;
}

static bool import_directory(struct importer *importer)
{
    struct file_entry *files = NULL;
    size_t count = 0;
    uint64_t total = 0;
    if (!files_list(importer->path, slice_of(NULL, 0), FILES_FOLLOW_LINKS, &importer->arena, &files,
                    &count, &importer->error))
        return false;
    for (size_t i = 0; i < count; i++)
        total += export_is_data(files[i].key) ? files[i].size : 0;
    progress_begin(&importer->progress, importer->table, total, 0, true,
                   cli_given(importer->input, "--quiet"));
    for (size_t i = 0; i < count; i++) {
        if (!export_is_data(files[i].key))
            continue;
        if (slice_compare(files[i].key, importer->done_file) < 0) {
            importer->bytes += files[i].size;
            continue;
        }
        char *path = files_path(&importer->arena, importer->path, files[i].key);
        if (path == NULL || !import_file(importer, path, files[i].key))
            return false;
    }
    return true;
}

static bool import_all(struct importer *importer)
{
    struct stat info = {.st_size = 0};
    if (!state_read(importer))
        return false;
    bool ok;
    if (importer->directory) {
        ok = import_directory(importer);
    } else {
        const char *name = importer->path == NULL ? "standard input" : importer->path;
        if (importer->path != NULL && stat(importer->path, &info) != 0)
            info.st_size = 0;
        progress_begin(&importer->progress, importer->table, (uint64_t)info.st_size, 0, true,
                       cli_given(importer->input, "--quiet"));
        ok = import_file(importer, importer->path, slice_str(name));
    }
    ok = ok && write_late(importer);
    progress_end(&importer->progress);
    if (ok && importer->state_path != NULL)
        (void)unlink(importer->state_path);
    return ok;
}

// ---- The table of a dynamodump directory ---------------------------------------------------

// The description of a table becomes a request by leaving out what only a description has.
static void copy_member(struct json_writer *w, struct slice from, const char *name,
                        struct arena *arena)
{
    struct slice text = json_member(from, name, arena);
    if (text.ptr == NULL)
        return;
    json_name(w, name);
    buf_slice(w->out, text);
    w->comma = true;
}

static void copy_indexes(struct json_writer *w, struct slice from, const char *name,
                         struct arena *arena)
{
    struct json_list indexes = json_list(from, name, arena);
    struct slice index;
    size_t start = w->out->len;
    size_t count = 0;
    json_put_array(w, name);
    for (; json_list_next(&indexes, &index); count++) {
        json_open_object(w);
        copy_member(w, index, "IndexName", arena);
        copy_member(w, index, "KeySchema", arena);
        copy_member(w, index, "Projection", arena);
        json_close_object(w);
    }
    json_close_array(w);
    if (count == 0) // an empty list is no list of indexes
        w->out->len = start;
}

static bool create(struct target *target, const char *table, struct slice schema,
                   struct arena *arena)
{
    struct buf body;
    buf_init(&body, 1 << 24);
    struct json_writer w = json_writer_to(&body);
    json_form(&w, "{'TableName':%s", table);
    copy_member(&w, schema, "AttributeDefinitions", arena);
    copy_member(&w, schema, "KeySchema", arena);
    copy_indexes(&w, schema, "GlobalSecondaryIndexes", arena);
    copy_indexes(&w, schema, "LocalSecondaryIndexes", arena);
    json_form(&w, "'BillingMode':'PAY_PER_REQUEST'}");
    int status = target_call(target, "CreateTable", buf_view(&body));
    buf_release(&body);
    return slice_contains(buf_view(&target->response), SLICE_LIT("ResourceInUseException")) ||
           target_fine(target, status);
}

// Finds schema.json in `directory` (or in its directory of the table's name) and creates the table
// it describes, on demand, unless there is one. False after telling the user.
static bool create_table(struct target *target, const char *table, const char *directory,
                         struct arena *arena)
{
    struct error error;
    struct buf text;
    bool there = false;
    error_init(&error, arena);
    buf_init(&text, 1 << 24);
    for (int i = 0; i < 2 && !there && directory != NULL; i++) {
        char *path = arena_printf(arena, "%s%s%s/schema.json", directory, i == 0 ? "" : "/",
                                  i == 0 ? "" : table);
        if (path == NULL || !files_read(path, &text, &there, &error))
            break;
    }
    bool ok = there && create(target, table, json_member(buf_view(&text), "Table", arena), arena);
    if (!there)
        (void)cli_fail(target->input, "there is no schema.json in '%s'.",
                       directory == NULL ? "standard input" : directory);
    buf_release(&text);
    return ok;
}

// ---- The command ------------------------------------------------------------------

static bool choose_format(struct importer *importer)
{
    importer->options =
        (struct item_reader_options){.compression = TRANSFER_GUESS, .empty_is_absent = true};
    if (!target_format(importer->input, &importer->options.format, &importer->options.delimiter))
        return false;
    const char *named = cli_value(importer->input, "--columns", NULL);
    if (named == NULL)
        return true;
    struct slice *names = arena_zalloc(&importer->arena, strlen(named) + 1, sizeof(*names));
    if (names == NULL)
        return false;
    importer->options.header = names;
    while (*named != 0) {
        size_t len = strcspn(named, ",");
        names[importer->options.header_count++] = slice_of(named, len);
        named += len + (named[len] == ',');
    }
    return true;
}

static bool choose_input(struct importer *importer, const char *path)
{
    struct stat info;
    if (path == NULL || strcmp(path, "-") == 0)
        return true;
    if (bucket_named(path)) {
        if (!bucket_open(&importer->bucket, importer->input, path))
            return false;
        path = bucket_pull(&importer->bucket);
        if (path == NULL)
            return false;
    }
    if (stat(path, &info) != 0)
        return cli_fail(importer->input, "cannot read '%s': %s.", path, strerror(errno));
    importer->path = path;
    importer->directory = S_ISDIR(info.st_mode);
    if (importer->bucket.open)
        return true; // what is interrupted is gone
    importer->state_path =
        importer->directory
            ? arena_printf(&importer->arena, "%s/.%s.dolmen-import-state", path, importer->table)
            : arena_printf(&importer->arena, "%s.%s.dolmen-import-state", path, importer->table);
    return importer->state_path != NULL;
}

static void report(const struct importer *importer)
{
    if (cli_given(importer->input, "--json"))
        printf("{\"table\":\"%s\",\"imported\":%llu,\"deleted\":%llu,\"errors\":%llu,"
               "\"resumed\":%s}\n",
               importer->table, (unsigned long long)importer->imported,
               (unsigned long long)importer->deleted, (unsigned long long)importer->errors,
               importer->resumed ? "true" : "false");
    else if (!cli_given(importer->input, "--quiet"))
        printf("%s: %llu item%s imported, %llu bad record%s%s\n", importer->table,
               (unsigned long long)importer->imported, importer->imported == 1 ? "" : "s",
               (unsigned long long)importer->errors, importer->errors == 1 ? "" : "s",
               importer->resumed ? " (resumed)" : "");
}

// The model of the table, if it has one, and if the format needs it. False after telling the user.
static bool find_types(struct importer *importer)
{
    struct target *target = &importer->target;
    enum transfer_format format = importer->options.format;
    if (format != TRANSFER_CSV && format != TRANSFER_PLAIN)
        return true;
    int status = target_ask(target, "DescribeModel", "{'TableName':%s}", importer->table);
    if (status != 200)
        return status != 0; // another server has no models
    struct slice answer = arena_copy(&importer->arena, buf_view(&target->response));
    struct slice text = json_member_text(answer, "Model", &importer->arena);
    if (text.len == 0)
        return true;
    importer->model = cli_model_text(json_member_text(answer, "FileName", &importer->arena), text);
    if (importer->model != NULL)
        importer->model_table = model_table(importer->model, slice_str(importer->table));
    return importer->model != NULL;
}

static bool import_into(struct importer *importer)
{
    if (!target_open(&importer->target, importer->input) ||
        (cli_given(importer->input, "--create") &&
         !create_table(&importer->target, importer->table, importer->path, &importer->arena)) ||
        !target_describe(&importer->target, importer->table, &importer->arena,
                         &importer->described) ||
        !find_types(importer))
        return false;
    importer->options.typed_count = importer->described.key_count;
    importer->options.typed = importer->described.keys;
    if (!import_all(importer))
        return cli_fail(importer->input, "%s.", importer->error.message);
    report(importer);
    return importer->errors == 0;
}

bool cli_import(struct cli_input *input)
{
    if (input->argument_count == 0)
        return cli_misused(input, "name a table.");
    struct importer *importer = memory_zeroed(sizeof(*importer));
    importer->input = input;
    importer->table = input->arguments[0];
    importer->operation = cli_given(input, "--restore") ? "RestoreItems" : "BatchWriteItem";
    arena_init(&importer->arena, SIZE_MAX);
    error_init(&importer->error, &importer->arena);
    arena_init(&importer->record, LIMIT_REQUEST_MEMORY);
    buf_init(&importer->text, 64 << 20);
    buf_init(&importer->late_text, LATE_BYTES + 1);
    importer->late_end = &importer->late;
    bool ok = choose_format(importer) && choose_input(importer, cli_argument(input, 1, NULL)) &&
              import_into(importer);
    target_close(&importer->target);
    bucket_close(&importer->bucket);
    model_release(importer->model);
    buf_release(&importer->text);
    buf_release(&importer->late_text);
    arena_release(&importer->record);
    arena_release(&importer->arena);
    free(importer);
    return ok;
}
