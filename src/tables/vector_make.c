// Vector indexes as the engine keeps them: made from a checked specification, with everything
// copied into the table's arena; and described.
#include "tables/arn.h"
#include "tables/vector_spec.h"

static bool make_schema(struct table *table, const struct field_list *schema,
                        const struct field_list *definitions, struct vector_index *index)
{
    const struct search_schema_element *rows = schema->items;
    struct key_part *filters = arena_zalloc(&table->arena, schema->count + 1, sizeof(*filters));
    if (filters == NULL)
        return false;
    for (size_t i = 0; i < schema->count; i++) {
        bool hash = slice_is(rows[i].search_schema_element_type, "HASH");
        struct key_part *part = hash ? &index->base.keys.parts[0] : &filters[index->filter_count];
        part->type = spec_type(definitions, rows[i].attribute_name);
        if (!settings_set_text(table, &part->name, rows[i].attribute_name))
            return false;
        index->base.keys.hash_count += hash;
        index->filter_count += !hash;
    }
    index->filters = filters;
    return true;
}

bool vector_spec_add(struct table *table, const struct request_vector_index *spec,
                     const struct field_list *definitions, enum index_status status)
{
    ensure(table->vector_count < LIMIT_VECTOR_INDEXES);
    struct vector_index *index = &table->vectors[table->vector_count];
    *index = (struct vector_index){
        .base = {.global = true, .status = status},
        .dimensions = (size_t)spec->dimensions.value,
        .distance = slice_is(spec->distance_function, "COSINE")      ? VECTOR_COSINE
                    : slice_is(spec->distance_function, "EUCLIDEAN") ? VECTOR_EUCLIDEAN
                                                                     : VECTOR_DOT_PRODUCT,
    };
    if (!settings_set_text(table, &index->base.name, spec->index_name) ||
        !settings_set_text(table, &index->attribute, spec->vector_attribute->attribute_name) ||
        !make_schema(table, &spec->search_schema, definitions, index) ||
        !table_spec_projection(table, spec->projection, &index->base))
        return false;
    table->vector_count++;
    return true;
}

enum value_type vector_attribute_type(const struct table *table, struct slice attribute)
{
    for (size_t i = 0; i < table->vector_count; i++) {
        const struct vector_index *index = &table->vectors[i];
        if (key_schema_has(&index->base.keys, attribute))
            return index->base.keys.parts[0].type;
        for (size_t k = 0; k < index->filter_count; k++)
            if (slice_equal(index->filters[k].name, attribute))
                return index->filters[k].type;
    }
    return VALUE_TYPES;
}

// ---- Describing -------------------------------------------------------------------------------

static void put_element(struct json_writer *w, struct slice name, const char *type)
{
    json_form(w, "{'AttributeName':%.*s,'SearchSchemaElementType':%s}", SLICE_FMT(name), type);
}

static void put_schema(struct json_writer *w, const struct vector_index *index)
{
    if (index->base.keys.hash_count + index->filter_count == 0)
        return;
    json_put_array(w, "SearchSchema");
    if (index->base.keys.hash_count > 0)
        put_element(w, index->base.keys.parts[0].name, "HASH");
    for (size_t i = 0; i < index->filter_count; i++)
        put_element(w, index->filters[i].name, "INLINE_FILTER");
    json_close_array(w);
}

static void put_vector(struct json_writer *w, const struct table *table,
                       const struct vector_index *index, const struct table_view *view)
{
    static const char *const distances[] = {[VECTOR_COSINE] = "COSINE",
                                            [VECTOR_EUCLIDEAN] = "EUCLIDEAN",
                                            [VECTOR_DOT_PRODUCT] = "DOT_PRODUCT"};
    json_open_object(w);
    json_put_string(w, "IndexName", index->base.name);
    put_schema(w, index);
    table_write_projection(w, &index->base);
    json_put_object(w, "VectorAttribute");
    json_put_string(w, "AttributeName", index->attribute);
    json_close_object(w);
    json_put_integer(w, "Dimensions", (int64_t)index->dimensions);
    json_put_text(w, "DistanceFunction", distances[index->distance]);
    table_write_status(w, &index->base, false, view->moment);
    table_write_size(w, &index->base, view);
    json_put_arn(w, "IndexArn",
                 &(struct table_arn){view->region, table->name, "index", index->base.name});
    json_close_object(w);
}

void vectors_write_json(struct json_writer *w, const struct table *table,
                        const struct table_view *view)
{
    if (table->vector_count == 0)
        return;
    json_put_array(w, "VectorIndexes");
    for (size_t i = 0; i < table->vector_count; i++)
        put_vector(w, table, &table->vectors[i], view);
    json_close_array(w);
}
