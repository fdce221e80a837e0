// What there is: GET /v1, GET /v1/{table}, GET /v1/openapi.json.
#include "data/data_internal.h"

#include "data/openapi.h"

enum { TABLES_MAX = 1000, TEXT_MAX = 64 << 10 };

// Ends an object with where it is found.
static void close_with_href(struct json_writer *w, struct slice table, struct slice name)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    buf_text(&text, "/v1/");
    data_encode(&text, table);
    if (name.len > 0) {
        buf_byte(&text, '/');
        data_encode(&text, name);
    }
    json_form(w, "'href':%.*s", SLICE_FMT(buf_view(&text)));
    json_close_object(w);
    buf_release(&text);
}

static void open_named(struct json_writer *w, struct slice name, struct slice doc)
{
    json_form(w, "{'name':%.*s", SLICE_FMT(name));
    json_put_given(w, "doc", doc);
}

static void open_typed(struct json_writer *w, struct slice name, struct slice doc,
                       const struct model_type *type)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    open_named(w, name, doc);
    model_type_text(type, &text);
    json_put_string(w, "type", buf_view(&text));
    buf_release(&text);
}

// ---- Tables with models -----------------------------------------------------------------------

struct table_list {
    struct data *data;
    size_t count;
    struct slice names[TABLES_MAX];
};

static bool note_name(void *context, struct slice name)
{
    struct table_list *list = context;
    struct slice copy = arena_copy(&list->data->arena, name);
    if (copy.ptr == NULL || list->count == TABLES_MAX)
        return false;
    list->names[list->count++] = copy;
    return true;
}

// The models are held until the caller releases them: models[i] is of tables[i].
static size_t collect(struct data *data, struct model **models, const struct model_table **tables)
{
    struct table_list *list = arena_zalloc(&data->arena, 1, sizeof(*list));
    size_t count = 0;
    if (list == NULL)
        return 0;
    list->data = data;
    api_tables(data->service->api, data->bound, note_name, list);
    for (size_t i = 0; i < list->count; i++) {
        models[count] = api_table_model(data->service->api, list->names[i], &tables[count]);
        count += models[count] != NULL;
    }
    return count;
}

static void write_table(struct json_writer *w, const struct model_table *table)
{
    open_named(w, table->name, table->doc);
    json_put_array(w, "entities");
    for (size_t i = 0; i < table->entity_count; i++)
        json_string(w, table->entities[i].name);
    json_form(w, "],'patterns':[");
    for (size_t i = 0; i < table->access_count; i++)
        json_string(w, table->accesses[i].name);
    json_close_array(w);
    close_with_href(w, table->name, slice_of(NULL, 0));
}

static void write_tables(struct json_writer *w, size_t count,
                         const struct model_table *const *tables)
{
    json_form(w, "{'tables':[");
    for (size_t i = 0; i < count; i++)
        write_table(w, tables[i]);
    json_form(w, "],'openapi':'/v1/openapi.json'}");
}

static enum data_step answer_all(struct data *data, bool openapi)
{
    struct model **models = arena_zalloc(&data->arena, TABLES_MAX, sizeof(*models));
    const struct model_table **tables = arena_zalloc(&data->arena, TABLES_MAX, sizeof(*tables));
    if (models == NULL || tables == NULL)
        return data_answer_problem(data, data_problem_memory(data));
    size_t count = collect(data, models, tables);
    struct json_writer w = json_writer_to(&data->body);
    if (openapi)
        model_openapi(count, tables, &(struct openapi_options){0}, &data->body);
    else
        write_tables(&w, count, tables);
    for (size_t i = 0; i < count; i++)
        model_release(models[i]);
    return data_answer_json(data, 200);
}

enum data_step data_tables_page(struct data *data)
{
    return answer_all(data, false);
}

enum data_step data_openapi_page(struct data *data)
{
    return answer_all(data, true);
}

// ---- One table ----------------------------------------------------------------------------------

static void write_entity(struct json_writer *w, const struct model_entity *entity)
{
    struct model_address address;
    model_address(entity, &address);
    open_named(w, entity->name, entity->doc);
    json_put_array(w, "key");
    for (size_t i = 0; i < address.count; i++)
        json_string(w, address.parts[i].name);
    json_form(w, "],'attributes':[");
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *one = &entity->attributes[i];
        open_typed(w, one->name, one->doc, one->type);
        json_form(w, "'required':%hhd}", !one->optional && one->otherwise == NULL && !one->version);
    }
    json_close_array(w);
    close_with_href(w, entity->table->name, entity->name);
}

static void write_pattern(struct json_writer *w, const struct model_access *access)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    open_named(w, access->name, access->doc);
    json_put_array(w, "parameters");
    for (size_t i = 0; i < access->param_count; i++) {
        open_typed(w, access->params[i].name, slice_of(NULL, 0), access->params[i].type);
        json_close_object(w);
    }
    json_form(w, "],'entities':[");
    for (size_t i = 0; i < access->entity_count; i++)
        json_string(w, access->entities[i]->name);
    access_describe(access, &text);
    json_form(w, "],'one':%hhd,'query':%.*s", access->one, SLICE_FMT(buf_view(&text)));
    close_with_href(w, access->table->name, access->name);
    buf_release(&text);
}

enum data_step data_table_page(struct data *data)
{
    const struct model_table *table = data->table;
    static const char *const modes[] = {
        [MODEL_OFF] = "off", [MODEL_WARN] = "warn", [MODEL_ENFORCE] = "enforce"};
    struct json_writer w = json_writer_to(&data->body);
    open_named(&w, table->name, table->doc);
    json_form(&w, "'guard':%s,'entities':[", modes[table->guard]);
    for (size_t i = 0; i < table->entity_count; i++)
        write_entity(&w, &table->entities[i]);
    json_form(&w, "],'patterns':[");
    for (size_t i = 0; i < table->access_count; i++)
        write_pattern(&w, &table->accesses[i]);
    json_form(&w, "]}");
    return data_answer_json(data, 200);
}
