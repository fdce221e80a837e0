// From a checked specification to the table that the engine keeps. Everything is copied into
// the table's arena, because the table outlives the request.
#include "tables/policy.h"
#include "tables/table_spec.h"
#include "tables/tags.h"
#include "tables/vector_spec.h"

bool settings_set_text(struct table *table, struct slice *field, struct slice text)
{
    *field = arena_copy(&table->arena, text);
    return field->ptr != NULL;
}

// ---- Keys and indexes ----------------------------------------------------------------------

static bool make_keys(struct table *table, const struct key_schema_element *from, size_t count,
                      const struct field_list *definitions, struct key_schema *keys)
{
    *keys = (struct key_schema){.hash_count = 0};
    for (size_t i = 0; i < count; i++) {
        struct key_part *part = &keys->parts[i];
        part->type = spec_type(definitions, from[i].attribute_name);
        if (!settings_set_text(table, &part->name, from[i].attribute_name))
            return false;
        if (slice_is(from[i].key_type, "HASH"))
            keys->hash_count++;
        else
            keys->range_count++;
    }
    return true;
}

bool table_spec_projection(struct table *table, const struct request_projection *from,
                           struct index *index)
{
    const struct slice *names = from->non_key_attributes.items;
    size_t count = from->non_key_attributes.count;
    index->projection = slice_is(from->projection_type, "ALL")         ? PROJECT_ALL
                        : slice_is(from->projection_type, "KEYS_ONLY") ? PROJECT_KEYS_ONLY
                                                                       : PROJECT_INCLUDE;
    struct slice *include = arena_zalloc(&table->arena, count + 1, sizeof(*include));
    if (include == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!settings_set_text(table, &include[i], names[i]))
            return false;
    index->include = include;
    index->include_count = count;
    return true;
}

bool table_spec_add_index(struct table *table, const struct index_spec *spec,
                          const struct field_list *definitions, bool on_demand,
                          enum index_status status)
{
    ensure(table->index_count < LIMIT_INDEXES);
    struct index *index = &table->indexes[table->index_count];
    *index = (struct index){.global = spec->global, .status = status};
    struct throughput_settings throughput = {.read = 0};
    if (spec->global)
        throughput_start(&throughput, on_demand, &spec->throughput);
    if (!settings_set_text(table, &index->name, spec->name) ||
        !make_keys(table, spec->keys, spec->key_count, definitions, &index->keys) ||
        !table_spec_projection(table, spec->projection, index) ||
        !index_settings_write(table, index, &throughput))
        return false;
    table->index_count++;
    return true;
}

// ---- Attributes ---------------------------------------------------------------------------------

static enum value_type keys_type(const struct key_schema *keys, struct slice attribute)
{
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++)
        if (slice_equal(keys->parts[i].name, attribute))
            return keys->parts[i].type;
    return VALUE_TYPES;
}

enum value_type table_attribute_type(const struct table *table, struct slice attribute)
{
    enum value_type type = keys_type(&table->keys, attribute);
    for (size_t i = 0; type == VALUE_TYPES && i < table->index_count; i++)
        type = keys_type(&table->indexes[i].keys, attribute);
    return type != VALUE_TYPES ? type : vector_attribute_type(table, attribute);
}

static bool list_has(struct slice list, struct slice name)
{
    struct value_iter iter;
    if (list.len == 0)
        return false;
    value_iter_init(&iter, list);
    while (value_iter_next(&iter))
        if (slice_equal(value_bytes(iter.value), name))
            return true;
    return false;
}

bool settings_set_attributes(struct table *table, struct table_settings *settings,
                             const struct field_list *definitions)
{
    const struct attribute_definition *rows = definitions->items;
    struct slice before = settings->attributes;
    struct value_maker maker;
    value_begin(&maker, 1 << 20);
    value_open_list(&maker.b);
    struct value_iter iter;
    if (before.len > 0) {
        value_iter_init(&iter, before);
        while (value_iter_next(&iter))
            if (table_attribute_type(table, value_bytes(iter.value)) != VALUE_TYPES)
                value_put(&maker.b, iter.value);
    }
    for (size_t i = 0; i < definitions->count; i++)
        if (!list_has(before, rows[i].attribute_name) &&
            table_attribute_type(table, rows[i].attribute_name) != VALUE_TYPES)
            value_put_string(&maker.b, rows[i].attribute_name);
    settings->attributes = value_end(&maker, &table->arena);
    return settings->attributes.ptr != NULL;
}

// ---- The table ----------------------------------------------------------------------

static bool make_settings(struct table *table, const struct create_table_request *request,
                          int64_t now_ms)
{
    struct table_settings settings = {
        .on_demand = slice_is(request->billing_mode, "PAY_PER_REQUEST"),
        .protected = request->deletion_protection_enabled.value,
    };
    struct throughput_request throughput = {
        request->provisioned_throughput, request->on_demand_throughput, request->warm_throughput};
    throughput_start(&settings.throughput, settings.on_demand, &throughput);
    if (settings.on_demand)
        settings.on_demand_ms = now_ms;
    if (request->table_class.ptr != NULL)
        settings.table_class = request->table_class;
    if (request->sse_specification != NULL && spec_encrypts(request->sse_specification)) {
        settings.encrypted = true;
        settings.key = request->sse_specification->kms_master_key_id;
    }
    if (request->stream_specification != NULL &&
        request->stream_specification->stream_enabled.value) {
        settings.stream_view = request->stream_specification->stream_view_type;
        settings.stream_ms = now_ms;
    }
    struct error unused;
    error_init(&unused, &table->arena);
    return settings_set_attributes(table, &settings, &request->attribute_definitions) &&
           tags_add(table, &settings, &request->tags, &unused) &&
           policy_of_new_table(table, &settings, request->resource_policy, now_ms, &unused) &&
           table_settings_write(table, &settings);
}

static bool make_indexes(struct table *table, const struct create_table_request *request)
{
    bool on_demand = slice_is(request->billing_mode, "PAY_PER_REQUEST");
    for (size_t i = 0; i < index_spec_count(request); i++) {
        struct index_spec spec = index_spec_at(request, i);
        if (!table_spec_add_index(table, &spec, &request->attribute_definitions, on_demand,
                                  INDEX_ACTIVE))
            return false;
    }
    const struct request_vector_index *vectors = request->vector_indexes.items;
    for (size_t i = 0; i < request->vector_indexes.count; i++)
        if (!vector_spec_add(table, &vectors[i], &request->attribute_definitions, INDEX_ACTIVE))
            return false;
    return true;
}

struct table *table_spec_make(const struct create_table_request *request, struct slice name,
                              int64_t now_ms)
{
    struct table *table = table_new();
    if (table == NULL)
        return NULL;
    table->created_ms = now_ms;
    if (settings_set_text(table, &table->name, name) &&
        make_keys(table, request->key_schema.items, request->key_schema.count,
                  &request->attribute_definitions, &table->keys) &&
        make_indexes(table, request) && make_settings(table, request, now_ms))
        return table;
    table_release(table);
    return NULL;
}
