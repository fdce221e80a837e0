// `dolmen query`: a named access pattern of a table's model, compiled to a Query or a GetItem that
// --explain shows, and run on a server or a data directory.
#include "cli/change.h"
#include "cli/query_table.h"

#include "base/encode.h"
#include "guard/access.h"
#include "guard/entity.h"
#include "guard/plain.h"
#include "items/entity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { QUERY_MEMORY = 256 << 20, TEXT_MAX = 64 << 20 };

struct query {
    const struct cli_input *input;
    struct arena arena;
    struct error error;
    struct target target;
    bool connected;
    struct model *model;
    const struct model_table *table;
    const struct model_access *access;
    const struct slice *values;
    struct access_options options;
};

static int fail(const struct query *query)
{
    return cli_fail(query->input->command, CLI_FAILED, "%s", query->error.message);
}

// ---- The model --------------------------------------------------------------------------------

static bool connect_target(struct query *query, int *code)
{
    query->connected = target_open(&query->target, query->input, code);
    return query->connected;
}

static bool parse(struct query *query, struct slice file, struct slice text)
{
    struct diagnostics *found = arena_alloc(&query->arena, sizeof(*found));
    if (found == NULL)
        return false;
    diagnostics_init(found, &query->arena);
    query->model = model_parse(file, text, found);
    if (query->model != NULL)
        return true;
    struct buf shown;
    buf_init(&shown, TEXT_MAX);
    diagnostics_sort(found);
    diagnostics_show(found, file, text, &shown);
    (void)fwrite(shown.ptr, 1, shown.len, stderr);
    buf_release(&shown);
    return false;
}

static int parse_file(struct query *query, const char *path)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    bool fine =
        change_read(query->input, path, &text) && parse(query, slice_str(path), buf_view(&text));
    buf_release(&text);
    return fine ? CLI_OK : CLI_FAILED;
}

// The model that is attached to the table.
static int parse_attached(struct query *query, const char *table)
{
    struct buf body;
    int code = CLI_FAILED;
    if (!connect_target(query, &code))
        return code;
    buf_init(&body, 1 << 16);
    struct json_writer w = json_writer_to(&body);
    json_open_object(&w);
    json_put_text(&w, "TableName", table);
    json_close_object(&w);
    int status = target_call(&query->target, "DescribeModel", buf_view(&body));
    buf_release(&body);
    if (status == 0)
        return CLI_FAILED;
    if (status != 200) {
        char error[512];
        target_error(&query->target, error, sizeof(error));
        return cli_fail(query->input->command, CLI_FAILED, "%s", error);
    }
    struct slice answer = arena_copy(&query->arena, buf_view(&query->target.response));
    struct slice text = json_member_text(answer, "Model", &query->arena);
    struct slice file = json_member_text(answer, "FileName", &query->arena);
    if (text.len == 0)
        return cli_fail(query->input->command, CLI_FAILED,
                        "table '%s' has no model; 'dolmen apply FILE' gives it one, or name a file "
                        "with --model.",
                        table);
    return parse(query, file, text) ? CLI_OK : CLI_FAILED;
}

static int find_table(struct query *query, const char *name)
{
    const char *path = cli_value(query->input, "--model", NULL);
    int code = path == NULL ? parse_attached(query, name) : parse_file(query, path);
    if (code != CLI_OK)
        return code;
    query->table = model_table(query->model, slice_str(name));
    if (query->table != NULL)
        return CLI_OK;
    (void)cli_fail(query->input->command, CLI_FAILED, "the model has no table '%s'. It has:", name);
    for (size_t i = 0; i < query->model->table_count; i++)
        (void)fprintf(stderr, "  %.*s\n", SLICE_FMT(query->model->tables[i].name));
    return CLI_FAILED;
}

// ---- Patterns ---------------------------------------------------------------------------------

static void write_pattern(struct json_writer *w, const struct model_access *access)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    json_open_object(w);
    json_put_string(w, "name", access->name);
    json_put_array(w, "parameters");
    for (size_t i = 0; i < access->param_count; i++) {
        json_open_object(w);
        json_put_string(w, "name", access->params[i].name);
        json_name(w, "type");
        buf_clear(&text);
        model_type_text(access->params[i].type, &text);
        json_string(w, buf_view(&text));
        json_close_object(w);
    }
    json_close_array(w);
    json_name(w, "query");
    buf_clear(&text);
    access_describe(access, &text);
    json_string(w, buf_view(&text));
    json_put_string(w, "doc", access->doc);
    json_close_object(w);
    buf_release(&text);
}

static void print_pattern(FILE *to, const struct model_access *access)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    access_signature(access, &text);
    (void)fprintf(to, "  %.*s\n", SLICE_FMT(buf_view(&text)));
    buf_clear(&text);
    access_describe(access, &text);
    (void)fprintf(to, "      %.*s\n", SLICE_FMT(buf_view(&text)));
    if (access->doc.len > 0)
        (void)fprintf(to, "      %.*s\n", SLICE_FMT(access->doc));
    buf_release(&text);
}

static int list_patterns(const struct query *query, FILE *to)
{
    const struct model_table *table = query->table;
    if (cli_given(query->input, "--json") && to == stdout) {
        struct buf text;
        buf_init(&text, TEXT_MAX);
        struct json_writer w = json_writer_to(&text);
        json_open_array(&w);
        for (size_t i = 0; i < table->access_count; i++)
            write_pattern(&w, &table->accesses[i]);
        json_close_array(&w);
        (void)fwrite(text.ptr, 1, text.len, to);
        (void)fputc('\n', to);
        buf_release(&text);
        return CLI_OK;
    }
    (void)fprintf(to, "Access patterns of %.*s:\n", SLICE_FMT(table->name));
    for (size_t i = 0; i < table->access_count; i++)
        print_pattern(to, &table->accesses[i]);
    if (table->access_count == 0)
        (void)fprintf(to, "  The model has none.\n");
    return CLI_OK;
}

// ---- Arguments --------------------------------------------------------------------------------

static const struct model_type *param_type(const struct model_access *access, struct slice name)
{
    static const struct model_type string = {.kind = MODEL_STRING};
    for (size_t i = 0; i < access->param_count; i++) {
        if (slice_equal(access->params[i].name, name))
            return access->params[i].type;
    }
    return &string;
}

static int bind(struct query *query)
{
    struct access_argument arguments[CLI_ARGUMENTS_MAX];
    size_t count = 0;
    for (size_t i = 2; i < query->input->argument_count; i++) {
        const char *argument = query->input->arguments[i];
        const char *equal = strchr(argument, '=');
        if (equal == NULL)
            return cli_fail(query->input->command, CLI_USAGE, "'%s' is not of the form name=value.",
                            argument);
        arguments[count].name = slice_of(argument, (size_t)(equal - argument));
        if (!utf8_valid(slice_str(argument)))
            return cli_fail(query->input->command, CLI_USAGE, "an argument is not UTF-8.");
        arguments[count].value = model_plain_text(param_type(query->access, arguments[count].name),
                                                  slice_str(equal + 1), &query->arena);
        count++;
    }
    if (access_bind(query->access, count, arguments, &query->arena, &query->values, &query->error))
        return CLI_OK;
    (void)fail(query);
    (void)fprintf(stderr, "The pattern is:\n");
    print_pattern(stderr, query->access);
    return CLI_USAGE;
}

// A cursor of the command line is the key behind which to go on; nobody has to be kept from
// making one.
static bool read_cursor(struct query *query, const char *text)
{
    struct buf bytes;
    buf_init(&bytes, 1 << 16);
    bool fine = base64_decode(&bytes, slice_str(text)) && value_valid(buf_view(&bytes)) &&
                value_type(buf_view(&bytes)) == VALUE_M;
    if (fine)
        query->options.after = arena_copy(&query->arena, buf_view(&bytes));
    buf_release(&bytes);
    return fine;
}

static int read_options(struct query *query)
{
    unsigned limit;
    const char *cursor = cli_value(query->input, "--cursor", NULL);
    if (!cli_number(query->input, "--limit", 0, 1, 1000000, &limit))
        return CLI_USAGE;
    query->options.limit = limit;
    query->options.capacity = cli_given(query->input, "--explain");
    if (cursor != NULL && !read_cursor(query, cursor))
        return cli_fail(query->input->command, CLI_USAGE,
                        "'%s' is not a cursor that this command has printed.", cursor);
    return CLI_OK;
}

static int find_pattern(struct query *query)
{
    const char *name = query->input->arguments[1];
    query->access = model_table_access(query->table, slice_str(name));
    if (query->access == NULL) {
        (void)cli_fail(query->input->command, CLI_USAGE, "there is no access pattern '%s'.", name);
        (void)list_patterns(query, stderr);
        return CLI_USAGE;
    }
    int code = bind(query);
    return code == CLI_OK ? read_options(query) : code;
}

// ---- Explaining -------------------------------------------------------------------------------

// The mean size of an item, from the table's description; 0 if there is no telling.
static double item_bytes(struct query *query)
{
    struct target_table described;
    char *name = arena_printf(&query->arena, "%.*s", SLICE_FMT(query->table->name));
    if (!query->connected || name == NULL ||
        !target_describe(&query->target, name, &query->arena, &described))
        return 0;
    struct slice from = described.description;
    const char *size = "TableSizeBytes";
    if (query->access->index != NULL) {
        struct change_list indexes = change_list(
            from, query->access->index->local ? "LocalSecondaryIndexes" : "GlobalSecondaryIndexes",
            &query->arena);
        struct slice one;
        while (change_next(&indexes, &one)) {
            if (slice_equal(json_member_text(one, "IndexName", &query->arena),
                            query->access->index->name))
                from = one;
        }
        size = "IndexSizeBytes";
    }
    int64_t items = change_number(from, "ItemCount", &query->arena);
    int64_t bytes = change_number(from, size, &query->arena);
    return items <= 0 ? 0 : (double)bytes / (double)items;
}

static int explain(struct query *query, const struct access_plan *plan)
{
    struct buf text;
    struct access_sizes sizes = {item_bytes(query)};
    buf_init(&text, TEXT_MAX);
    if (cli_given(query->input, "--json")) {
        struct json_writer w = json_writer_to(&text);
        access_explain_json(plan, &sizes, &w);
        buf_byte(&text, '\n');
    } else {
        access_explain(plan, &sizes, &text);
    }
    (void)fwrite(text.ptr, 1, text.len, stdout);
    buf_release(&text);
    return CLI_OK;
}

// ---- Running ----------------------------------------------------------------------------------

static bool run_page(struct query *query, struct api_page *page)
{
    struct buf body;
    const struct access_plan *plan =
        access_plan(query->access, query->values, &query->options, &query->arena, &query->error);
    if (plan == NULL)
        return false;
    buf_init(&body, TEXT_MAX);
    struct json_writer w = json_writer_to(&body);
    access_request(plan, &w);
    int status = target_call(&query->target, plan->operation, buf_view(&body));
    buf_release(&body);
    if (status == 0)
        return error_set(&query->error, ERR_INTERNAL, "%s", "");
    if (status != 200) {
        char error[512];
        target_error(&query->target, error, sizeof(error));
        return error_set(&query->error, ERR_INTERNAL, "%s", error);
    }
    return api_page_decode(buf_view(&query->target.response), &query->arena, page, &query->error);
}

static void print_lines(const struct query *query, const struct api_page *page)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    const struct model_access *access = query->access;
    for (size_t i = 0; i < page->count; i++) {
        struct model_plain_view view = {
            .table = query->table,
            .entity = access->entity_count == 1
                          ? access->entities[0]
                          : model_recognise(query->table, page->items[i]).entity,
            .keys = cli_given(query->input, "--keys"),
            .name = access->entity_count > 1,
        };
        struct json_writer w = json_writer_to(&text);
        buf_clear(&text);
        model_plain_write(&w, &view, page->items[i]);
        buf_byte(&text, '\n');
        (void)fwrite(text.ptr, 1, text.len, stdout);
    }
    buf_release(&text);
}

static void print_page(const struct query *query, const struct api_page *page)
{
    bool table = query->access->entity_count == 1 && isatty(STDOUT_FILENO) &&
                 !cli_given(query->input, "--json") && !cli_given(query->input, "--keys");
    if (!table || !query_table_print(query->access->entities[0], page))
        print_lines(query, page);
}

static void print_cursor(const struct query *query, struct slice last)
{
    struct buf text;
    (void)query;
    buf_init(&text, 1 << 20);
    base64_encode(&text, last);
    (void)fprintf(stderr, "There may be more: --all, or --cursor %.*s\n",
                  SLICE_FMT(buf_view(&text)));
    buf_release(&text);
}

static int run_pages(struct query *query)
{
    bool all = cli_given(query->input, "--all");
    for (;;) {
        struct api_page page;
        if (!run_page(query, &page))
            return query->error.message[0] == 0 ? CLI_FAILED : fail(query);
        print_page(query, &page);
        bool ended = page.last.len == 0 || (query->access->one && page.count > 0);
        if (ended)
            return fflush(stdout) == 0 ? CLI_OK : CLI_FAILED;
        if (!all && (page.count > 0 || query->options.limit > 0)) {
            print_cursor(query, page.last);
            return fflush(stdout) == 0 ? CLI_OK : CLI_FAILED;
        }
        query->options.after = page.last;
    }
}

// ---- The command ------------------------------------------------------------------------------

static int query_table(struct query *query)
{
    int code = find_table(query, query->input->arguments[0]);
    if (code != CLI_OK)
        return code;
    if (query->input->argument_count == 1)
        return list_patterns(query, stdout);
    code = find_pattern(query);
    if (code != CLI_OK)
        return code;
    bool explained = cli_given(query->input, "--explain");
    bool reachable = cli_given(query->input, "--endpoint") || cli_given(query->input, "--data");
    if (!query->connected && (!explained || reachable) && !connect_target(query, &code))
        return code;
    if (!explained)
        return run_pages(query);
    const struct access_plan *plan =
        access_plan(query->access, query->values, &query->options, &query->arena, &query->error);
    return plan == NULL ? fail(query) : explain(query, plan);
}

static int query_run(const struct cli_input *input)
{
    if (input->argument_count == 0)
        return cli_fail(input->command, CLI_USAGE, "name a table; then its patterns are listed.");
    struct query query = {.input = input};
    arena_init(&query.arena, QUERY_MEMORY);
    error_init(&query.error, &query.arena);
    int code = query_table(&query);
    if (query.connected)
        target_close(&query.target);
    model_release(query.model);
    arena_release(&query.arena);
    return code;
}

static const struct cli_option query_options[] = {
    {"--explain", NULL, "Show the compiled request and what it costs, and do not run it."},
    {"--json", NULL, "One JSON object a line; the explanation and the list as JSON, too."},
    {"--limit", "N", "Items to look at for a page."},
    {"--all", NULL, "All pages."},
    {"--cursor", "TEXT", "Go on where an earlier page ended."},
    {"--keys", NULL, "Also show keys, index keys and the type attribute."},
    {"--model", "FILE", "Take the patterns of this file, not those of the table's model."},
    TARGET_OPTIONS,
    {NULL, NULL, NULL},
};

const struct cli_command cli_query = {
    .name = "query",
    .arguments = "TABLE [PATTERN [name=value]…] [--explain]",
    .summary = "run a named access pattern of a table's model",
    .about = "Without a PATTERN, lists those that the model has. The items are printed as plain\n"
             "JSON, one a line; on a terminal as a table, if they fit.",
    .example = "  dolmen query pornspot\n"
               "  dolmen query pornspot userByEmail email=ada@example.com\n"
               "  dolmen query pornspot albumsByCreator createdBy=… --all --json\n"
               "  dolmen query pornspot userByEmail email=x@y.z --explain --model pornspot.dolmen",
    .options = query_options,
    .arguments_max = CLI_ARGUMENTS_MAX,
    .run = query_run,
};
