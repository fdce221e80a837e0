// `dolmen query`: a named access pattern of a table's model, compiled to a Query or a GetItem that
// --explain shows, and run on a server or a data directory.
#include "cli/target.h"
#include "commands/follow.h"

#include "base/encode.h"
#include "eval/eval.h"
#include "guard/access.h"
#include "guard/entity.h"
#include "guard/plain.h"
#include "guard/projected.h"
#include "items/entity.h"
#include "model/parse.h"

#include <sys/ioctl.h>
#include <unistd.h>

enum { QUERY_MEMORY = 256 << 20, TEXT_MAX = 64 << 20 };

struct query {
    struct cli_input *input;
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

static bool fail(const struct query *query)
{
    return cli_fail(query->input, "%s", query->error.message);
}

// ---- The model --------------------------------------------------------------------------------

static bool connect_target(struct query *query)
{
    query->connected = true;
    return target_open(&query->target, query->input);
}

static bool parse_file(struct query *query, const char *path)
{
    query->model = cli_model_file(query->input, path);
    return query->model != NULL;
}

// The model that is attached to the table.
static bool parse_attached(struct query *query, const char *table)
{
    if (!connect_target(query) ||
        !target_fine(&query->target,
                     target_ask(&query->target, "DescribeModel", "{'TableName':%s}", table)))
        return false;
    struct slice answer = arena_copy(&query->arena, buf_view(&query->target.response));
    struct slice text = json_member_text(answer, "Model", &query->arena);
    struct slice file = json_member_text(answer, "FileName", &query->arena);
    if (text.len == 0)
        return cli_fail(query->input,
                        "table '%s' has no model; 'dolmen apply FILE' gives it one, or name a file "
                        "with --model.",
                        table);
    query->model = cli_model_text(file, text);
    return query->model != NULL;
}

static bool find_table(struct query *query, const char *name)
{
    const char *path = cli_value(query->input, "--model", NULL);
    if (!(path == NULL ? parse_attached(query, name) : parse_file(query, path)))
        return false;
    query->table = model_table(query->model, slice_str(name));
    if (query->table != NULL)
        return true;
    struct model_guess guess = cli_table_guess(query->model, name);
    (void)cli_fail(query->input, "the model has no table '%s'%s It has:", name,
                   cli_meant(query->input, &guess));
    for (size_t i = 0; i < query->model->table_count; i++)
        (void)fprintf(stderr, "  %.*s\n", SLICE_FMT(query->model->tables[i].name));
    return false;
}

// ---- Patterns ---------------------------------------------------------------------------------

static void write_pattern(struct json_writer *w, const struct model_access *access)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    json_form(w, "{'name':%.*s,'parameters':[", SLICE_FMT(access->name));
    for (size_t i = 0; i < access->param_count; i++) {
        buf_clear(&text);
        model_type_text(access->params[i].type, &text);
        json_form(w, "{'name':%.*s,'type':%.*s}", SLICE_FMT(access->params[i].name),
                  SLICE_FMT(buf_view(&text)));
    }
    buf_clear(&text);
    access_describe(access, &text);
    json_form(w, "],'query':%.*s,'doc':%.*s}", SLICE_FMT(buf_view(&text)), SLICE_FMT(access->doc));
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

static bool list_patterns(const struct query *query, FILE *to)
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
        buf_byte(&text, '\n');
        return cli_print(&text, to);
    }
    (void)fprintf(to, "Access patterns of %.*s:\n", SLICE_FMT(table->name));
    for (size_t i = 0; i < table->access_count; i++)
        print_pattern(to, &table->accesses[i]);
    if (table->access_count == 0)
        (void)fprintf(to, "  The model has none.\n");
    return true;
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

static bool bind(struct query *query)
{
    struct access_argument arguments[CLI_ARGUMENTS_MAX];
    size_t count = 0;
    for (size_t i = 2; i < query->input->argument_count; i++) {
        const char *argument = query->input->arguments[i];
        const char *equal = strchr(argument, '=');
        if (equal == NULL)
            return cli_misused(query->input, "'%s' is not of the form name=value.", argument);
        arguments[count].name = slice_of(argument, (size_t)(equal - argument));
        if (!utf8_valid(slice_str(argument)))
            return cli_misused(query->input, "an argument is not UTF-8.");
        arguments[count].value = model_plain_text(param_type(query->access, arguments[count].name),
                                                  slice_str(equal + 1), &query->arena);
        count++;
    }
    if (access_bind(query->access, count, arguments, &query->arena, &query->values, &query->error))
        return true;
    (void)fail(query);
    (void)fprintf(stderr, "The pattern is:\n");
    print_pattern(stderr, query->access);
    query->input->code = CLI_USAGE;
    return false;
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

static bool read_options(struct query *query)
{
    unsigned limit;
    const char *cursor = cli_value(query->input, "--cursor", NULL);
    if (!cli_number(query->input, "--limit", 0, 1, 1000000, &limit))
        return false;
    query->options.limit = limit;
    query->options.capacity = cli_given(query->input, "--explain");
    return cursor == NULL || read_cursor(query, cursor) ||
           cli_misused(query->input, "'%s' is not a cursor that this command has printed.", cursor);
}

static bool find_pattern(struct query *query)
{
    const char *name = query->input->arguments[1];
    query->access = model_table_access(query->table, slice_str(name));
    if (query->access != NULL)
        return bind(query) && read_options(query);
    struct model_guess guess = model_guess_for(slice_str(name));
    for (size_t i = 0; i < query->table->access_count; i++)
        model_guess_candidate(&guess, query->table->accesses[i].name);
    (void)cli_misused(query->input, "there is no access pattern '%s'%s", name,
                      cli_meant(query->input, &guess));
    (void)list_patterns(query, stderr);
    return false;
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
        struct json_list indexes = json_list(
            from, query->access->index->local ? "LocalSecondaryIndexes" : "GlobalSecondaryIndexes",
            &query->arena);
        struct slice one;
        while (json_list_next(&indexes, &one)) {
            if (slice_equal(json_member_text(one, "IndexName", &query->arena),
                            query->access->index->name))
                from = one;
        }
        size = "IndexSizeBytes";
    }
    int64_t items = json_member_number(from, "ItemCount");
    int64_t bytes = json_member_number(from, size);
    return items <= 0 ? 0 : (double)bytes / (double)items;
}

static bool explain(struct query *query, const struct access_plan *plan)
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
    return cli_print(&text, stdout);
}

// ---- Entities as an aligned table on a terminal -------------------------------------------------

// A column for each attribute of the entity that some item has.
enum { COLUMNS_MAX = 24, CELL_MAX = 1 << 20, WIDTH_DEFAULT = 80 };

struct column {
    struct slice name;
    size_t width; // in characters
    bool number;
};

static size_t terminal_width(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                           : WIDTH_DEFAULT;
}

// The text of an attribute; false if it has none, or one that breaks lines.
static bool cell_text(struct slice value, struct buf *out)
{
    buf_clear(out);
    if (value.len == 0)
        return true;
    if (value_type(value) == VALUE_NULL)
        buf_text(out, "null");
    else if (model_value_text(value, out) != EVAL_OK)
        return false;
    for (size_t i = 0; i < out->len; i++) {
        if (out->ptr[i] < ' ' || out->ptr[i] == 0x7f)
            return false;
    }
    return !out->failed;
}

// Every attribute that an item has must be declared, or it would not be shown.
static bool all_declared(const struct model_entity *entity, const struct api_page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        struct value_iter iter;
        value_iter_init(&iter, page->items[i]);
        while (value_iter_next(&iter)) {
            if (model_entity_attribute(entity, iter.name) == NULL &&
                !model_table_derives(entity->table, entity, iter.name))
                return false;
        }
    }
    return true;
}

static bool measure(const struct api_page *page, struct column *column, struct buf *text,
                    bool *used)
{
    *used = false;
    for (size_t i = 0; i < page->count; i++) {
        struct slice value = value_get(page->items[i], column->name);
        if (value.len == 0)
            continue;
        if (!cell_text(value, text))
            return false;
        *used = true;
        column->number = value_type(value) == VALUE_N;
        size_t width = slice_characters(buf_view(text));
        if (width > column->width)
            column->width = width;
    }
    return true;
}

static void print_cell(const struct column *column, struct slice text, bool last)
{
    size_t width = slice_characters(text);
    int gap = (int)(column->width > width ? column->width - width : 0);
    if (column->number)
        printf("%*s%.*s", gap, "", SLICE_FMT(text));
    else
        printf("%.*s%*s", SLICE_FMT(text), last ? 0 : gap, "");
    printf("%s", last ? "\n" : "  ");
}

// False, with nothing printed, if they do not fit: an attribute is a list or a map, or the lines
// are too long for the terminal.
static bool print_table(const struct model_entity *entity, const struct api_page *page)
{
    struct column columns[COLUMNS_MAX];
    struct buf text;
    size_t count = 0;
    size_t total = 0;
    bool fits = page->count > 0 && all_declared(entity, page);
    buf_init(&text, CELL_MAX);
    for (size_t i = 0; fits && i < entity->attribute_count; i++) {
        struct slice name = entity->attributes[i].name;
        struct column column = {name, slice_characters(name), false};
        bool used = false;
        fits = measure(page, &column, &text, &used);
        if (!fits || !used)
            continue;
        fits = count < COLUMNS_MAX;
        total += column.width + 2;
        if (fits)
            columns[count++] = column;
    }
    fits = fits && count > 0 && total <= terminal_width() + 2;
    for (size_t k = 0; fits && k < count; k++)
        print_cell(&columns[k], columns[k].name, k + 1 == count);
    for (size_t i = 0; fits && i < page->count; i++) {
        for (size_t k = 0; k < count; k++) {
            (void)cell_text(value_get(page->items[i], columns[k].name), &text);
            print_cell(&columns[k], buf_view(&text), k + 1 == count);
        }
    }
    buf_release(&text);
    return fits;
}

// ---- Running ----------------------------------------------------------------------------------

static const struct model_entity *entity_of(const struct query *query, struct slice item)
{
    const struct model_access *access = query->access;
    return access->entity_count == 1 ? access->entities[0]
                                     : model_recognise(query->table, item).entity;
}

// Adds what keys tell to items of which an index has only a part.
static bool read_keys(struct query *query, struct api_page *page)
{
    struct slice *items = arena_zalloc(&query->arena, page->count + 1, sizeof(*items));
    bool fine = items != NULL;
    for (size_t i = 0; fine && i < page->count; i++) {
        const struct model_entity *entity = entity_of(query, page->items[i]);
        items[i] = entity == NULL ? page->items[i]
                                  : model_projected_item(entity, page->items[i], &query->arena);
        fine = items[i].len > 0;
    }
    page->items = items;
    return fine || error_budget(&query->error);
}

// The item of a GetItem is not there if it is deleted softly; of a Query, a filter sees to it.
static void hide_deleted(const struct query *query, struct api_page *page)
{
    const struct model_entity *entity = page->count == 0 ? NULL : entity_of(query, page->items[0]);
    if (entity != NULL && access_hides(query->access) && model_item_deleted(entity, page->items[0]))
        page->count = 0;
    page->counted = page->count;
}

static bool run_page(struct query *query, struct api_page *page)
{
    struct buf body;
    const struct access_plan *plan =
        access_plan(query->access, query->values, &query->options, &query->arena, &query->error);
    if (plan == NULL)
        return false;
    buf_init(&body, TEXT_MAX);
    struct json_writer w = json_writer_to(&body);
    char error[512] = "";
    access_request(plan, &w);
    int status = target_call(&query->target, plan->operation, buf_view(&body));
    buf_release(&body);
    if (status != 0 && status != 200)
        target_error(&query->target, error, sizeof(error));
    if (status != 200)
        return error_set(&query->error, ERR_INTERNAL, "%s", error);
    if (!api_page_decode(buf_view(&query->target.response), &query->arena, page, &query->error))
        return false;
    if (query->access->get)
        hide_deleted(query, page);
    return !model_access_partial(query->access) || read_keys(query, page);
}

static void print_lines(const struct query *query, const struct api_page *page)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    for (size_t i = 0; i < page->count; i++) {
        struct model_plain_view view = {
            .table = query->table,
            .entity = entity_of(query, page->items[i]),
            .keys = cli_given(query->input, "--keys"),
            .name = query->access->entity_count > 1,
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
    if (!table || !print_table(query->access->entities[0], page))
        print_lines(query, page);
}

static void print_cursor(struct slice last)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    base64_encode(&text, last);
    (void)fprintf(stderr, "There may be more: --all, or --cursor %.*s\n",
                  SLICE_FMT(buf_view(&text)));
    buf_release(&text);
}

// How many there are, on all pages.
static bool run_count(struct query *query)
{
    uint64_t count = 0;
    struct api_page page;
    do {
        if (!run_page(query, &page))
            return query->error.message[0] != 0 && fail(query);
        count += page.counted;
        query->options.after = page.last;
    } while (page.last.len > 0);
    return printf("%llu\n", (unsigned long long)count) > 0 && fflush(stdout) == 0;
}

static bool run_pages(struct query *query)
{
    bool all = cli_given(query->input, "--all");
    for (;;) {
        struct api_page page;
        if (!run_page(query, &page))
            return query->error.message[0] != 0 && fail(query);
        if (query->access->one && page.count > 1)
            page.count = 1;
        print_page(query, &page);
        // A page may be empty and have a next one: what a filter leaves out has been read.
        bool ended = page.last.len == 0 || (query->access->one && page.count > 0);
        bool enough = !all && (page.count > 0 || query->options.limit > 0);
        if (!ended && enough)
            print_cursor(page.last);
        if (ended || enough)
            return fflush(stdout) == 0;
        query->options.after = page.last;
    }
}

// ---- The command ------------------------------------------------------------------------------

static bool query_table(struct query *query)
{
    if (!find_table(query, query->input->arguments[0]))
        return false;
    if (query->input->argument_count == 1)
        return list_patterns(query, stdout);
    if (!find_pattern(query))
        return false;
    if (cli_given(query->input, "--follow"))
        return (query->connected || connect_target(query)) &&
               follow_pattern(query->input, &query->target, query->access);
    bool explained = cli_given(query->input, "--explain");
    bool reachable = cli_given(query->input, "--endpoint") || cli_given(query->input, "--data");
    if (!query->connected && (!explained || reachable) && !connect_target(query))
        return false;
    if (!explained)
        return query->access->count ? run_count(query) : run_pages(query);
    const struct access_plan *plan =
        access_plan(query->access, query->values, &query->options, &query->arena, &query->error);
    return plan == NULL ? fail(query) : explain(query, plan);
}

bool cli_query(struct cli_input *input)
{
    if (input->argument_count == 0)
        return cli_misused(input, "name a table; then its patterns are listed.");
    if (cli_given(input, "--follow") && input->argument_count == 1)
        return cli_misused(input, "--follow: name a pattern.");
    static const char *const others[] = {"--explain", "--cursor", "--all", "--model"};
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (!cli_exclusive(input, "--follow", others[i]))
            return false;
    struct query query = {.input = input};
    arena_init(&query.arena, QUERY_MEMORY);
    error_init(&query.error, &query.arena);
    bool ok = query_table(&query);
    if (query.connected)
        target_close(&query.target);
    model_release(query.model);
    arena_release(&query.arena);
    return ok;
}
