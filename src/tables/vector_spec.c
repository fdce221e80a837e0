// The specification of vector indexes: judging and making them. What the service's documentation
// says is kept to; where it gives no message, these follow those of secondary indexes.
#include "tables/vector_spec.h"

// ---- One index ------------------------------------------------------------------------------

bool vector_spec_check_defined(const struct request_vector_index *index,
                               const struct field_list *definitions, struct error *error)
{
    const struct search_schema_element *rows = index->search_schema.items;
    size_t count = index->search_schema.count;
    struct key_schema_element *keys = arena_zalloc(error->arena, count + 1, sizeof(*keys));
    if (keys == NULL)
        return error_budget(error);
    for (size_t i = 0; i < count; i++)
        keys[i].attribute_name = rows[i].attribute_name;
    return spec_check_defined(keys, count, definitions, error);
}

// At most one partition attribute, and nothing twice.
static bool check_schema(const struct request_vector_index *index, struct error *error)
{
    const struct search_schema_element *rows = index->search_schema.items;
    size_t hashes = 0;
    if (index->search_schema.count > LIMIT_PROJECTED_ATTRIBUTES + 1)
        return spec_check_included(index->search_schema.count, error);
    for (size_t i = 0; i < index->search_schema.count; i++) {
        hashes += slice_is(rows[i].search_schema_element_type, "HASH");
        if (slice_equal(rows[i].attribute_name, index->vector_attribute->attribute_name))
            return error_validation(error,
                                    INVALID "The vector attribute %.*s cannot be part of the "
                                            "SearchSchema for index: %.*s",
                                    SLICE_FMT(rows[i].attribute_name),
                                    SLICE_FMT(index->index_name));
        for (size_t k = 0; k < i; k++)
            if (slice_equal(rows[i].attribute_name, rows[k].attribute_name))
                return error_validation(error,
                                        INVALID "The SearchSchema contains multiple attributes "
                                                "with the same name for index: %.*s",
                                        SLICE_FMT(index->index_name));
    }
    return hashes <= 1 || error_validation(error,
                                           INVALID "The SearchSchema exceeds the maximum allowed "
                                                   "number of HASH attributes for index: %.*s",
                                           SLICE_FMT(index->index_name));
}

bool vector_spec_check(const struct request_vector_index *index,
                       const struct field_list *definitions, struct error *error)
{
    if (index->dimensions.value < 1 || index->dimensions.value > LIMIT_DIMENSIONS)
        return error_validation(error,
                                INVALID "Dimensions must be between 1 and %d for index: %.*s",
                                LIMIT_DIMENSIONS, SLICE_FMT(index->index_name));
    if (!check_schema(index, error) || !spec_check_projection(index->projection, error))
        return false;
    struct slice attribute = index->vector_attribute->attribute_name;
    if (spec_type(definitions, attribute) != VALUE_TYPES)
        return error_validation(error,
                                INVALID "The vector attribute %.*s cannot be defined in "
                                        "AttributeDefinitions for index: %.*s",
                                SLICE_FMT(attribute), SLICE_FMT(index->index_name));
    return true;
}

// The vector and each inline filter count as projected attributes.
size_t vector_spec_included(const struct request_vector_index *index)
{
    const struct search_schema_element *rows = index->search_schema.items;
    size_t included = 1 + index->projection->non_key_attributes.count;
    for (size_t i = 0; i < index->search_schema.count; i++)
        included += slice_is(rows[i].search_schema_element_type, "INLINE_FILTER");
    return included;
}

size_t table_included(const struct table *table)
{
    size_t included = 0;
    for (size_t i = 0; i < table->index_count; i++)
        included += table->indexes[i].include_count;
    for (size_t i = 0; i < table->vector_count; i++)
        included += 1 + table->vectors[i].filter_count + table->vectors[i].base.include_count;
    return included;
}

// ---- All of a CreateTable ---------------------------------------------------------------------

static bool check_names(const struct create_table_request *request, size_t at, struct error *error)
{
    const struct request_vector_index *rows = request->vector_indexes.items;
    struct slice name = rows[at].index_name;
    bool repeated = false;
    for (size_t i = 0; i < index_spec_count(request); i++)
        repeated = repeated || slice_equal(index_spec_at(request, i).name, name);
    for (size_t i = 0; i < at; i++)
        repeated = repeated || slice_equal(rows[i].index_name, name);
    return !repeated || spec_refuse_duplicate(name, error);
}

static bool refuse_dimensions(struct slice attribute, struct error *error)
{
    return error_validation(error,
                            INVALID "All vector indexes on the vector attribute %.*s must have the "
                                    "same Dimensions",
                            SLICE_FMT(attribute));
}

bool vector_specs_check(const struct create_table_request *request, struct error *error)
{
    const struct field_list *list = &request->vector_indexes;
    const struct request_vector_index *rows = list->items;
    if (list->set && list->count == 0)
        return error_validation(error, INVALID "List of VectorIndexes is empty");
    if (list->count > LIMIT_VECTOR_INDEXES)
        return error_validation(error,
                                INVALID "VectorIndex count exceeds the per-table limit of 5");
    for (size_t i = 0; i < list->count; i++) {
        if (!vector_spec_check(&rows[i], &request->attribute_definitions, error) ||
            !check_names(request, i, error))
            return false;
        for (size_t k = 0; k < i; k++) {
            struct slice attribute = rows[i].vector_attribute->attribute_name;
            if (slice_equal(attribute, rows[k].vector_attribute->attribute_name) &&
                rows[i].dimensions.value != rows[k].dimensions.value)
                return refuse_dimensions(attribute, error);
        }
    }
    return true;
}

// ---- UpdateTable --------------------------------------------------------------------------------

bool vector_updates_check(const struct update_table_request *request, struct error *error)
{
    const struct field_list *list = &request->vector_index_updates;
    const struct vector_index_update *rows = list->items;
    if (list->set && list->count == 0)
        return error_validation(error, INVALID "List of VectorIndexUpdates is empty");
    for (size_t i = 0; i < list->count; i++) {
        const struct request_vector_index *create = rows[i].create;
        if (create == NULL && rows[i].delete == NULL)
            return error_validation(error, INVALID "One of VectorIndexUpdate.Create, "
                                                   "VectorIndexUpdate.Delete must not be null");
        if (create != NULL && rows[i].delete != NULL)
            return error_validation(error, INVALID "Only one vector index action is allowed per "
                                                   "VectorIndexUpdate object");
        if (create != NULL &&
            (!vector_spec_check_defined(create, &request->attribute_definitions, error) ||
             !vector_spec_check(create, &request->attribute_definitions, error)))
            return false;
    }
    return list->count <= 1 || spec_refuse_online(error);
}

// An attribute has one type in all keys and search schemas of a table.
static bool check_types(const struct update_table_request *request, const struct table *current,
                        const struct request_vector_index *create, struct error *error)
{
    const struct search_schema_element *rows = create->search_schema.items;
    bool same =
        table_attribute_type(current, create->vector_attribute->attribute_name) == VALUE_TYPES;
    for (size_t i = 0; i < create->search_schema.count; i++) {
        enum value_type has = table_attribute_type(current, rows[i].attribute_name);
        same = same && (has == VALUE_TYPES ||
                        has == spec_type(&request->attribute_definitions, rows[i].attribute_name));
    }
    for (size_t i = 0; i < current->vector_count; i++) {
        const struct vector_index *has = &current->vectors[i];
        for (size_t k = 0; k < create->search_schema.count; k++)
            same = same && !slice_equal(has->attribute, rows[k].attribute_name);
        if (slice_equal(has->attribute, create->vector_attribute->attribute_name) &&
            (int64_t)has->dimensions != create->dimensions.value)
            return refuse_dimensions(has->attribute, error);
    }
    return same || error_validation(error, "invalid attribute, SchemaElement redefined should be "
                                           "of same type as previously defined");
}

static bool admit_create(const struct update_table_request *request, const struct table *current,
                         const struct request_vector_index *create, struct error *error)
{
    if (!spec_check_new(current, create->index_name, error))
        return false;
    if (current->vector_count >= LIMIT_VECTOR_INDEXES)
        return error_set(error, ERR_LIMIT_EXCEEDED,
                         "Subscriber limit exceeded: Number of vector indexes exceeds per-table "
                         "limit of 5");
    return check_types(request, current, create, error) &&
           spec_check_included(vector_spec_included(create) + table_included(current), error);
}

// One index of any kind at a time; but one that is being filled can be given up.
static bool admit_online(const struct vector_index_update *update, const struct table *current,
                         struct error *error)
{
    for (size_t i = 0; i < current->index_count; i++)
        if (current->indexes[i].status != INDEX_ACTIVE)
            return spec_refuse_online(error);
    for (size_t i = 0; i < current->vector_count; i++) {
        const struct index *index = &current->vectors[i].base;
        bool given_up = update->delete != NULL && index->status == INDEX_CREATING &&
                        slice_equal(index->name, update->delete->index_name);
        if (index->status != INDEX_ACTIVE && !given_up)
            return spec_refuse_online(error);
    }
    return true;
}

bool vector_updates_admit(const struct update_table_request *request, const struct table *current,
                          struct error *error)
{
    const struct vector_index_update *update = request->vector_index_updates.items;
    if (request->vector_index_updates.count == 0)
        return true;
    if (!admit_online(update, current, error))
        return false;
    if (update->create != NULL)
        return admit_create(request, current, update->create, error);
    return table_vector(current, update->delete->index_name) != NULL ||
           error_set(error, ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
}

bool vector_updates_apply(const struct update_table_request *request, struct table *table,
                          struct table_settings *settings, struct error *error)
{
    const struct vector_index_update *update = request->vector_index_updates.items;
    if (request->vector_index_updates.count == 0)
        return true;
    if (update->delete != NULL) {
        const struct vector_index *gone = table_vector(table, update->delete->index_name);
        table->vectors[gone - table->vectors].base.status = INDEX_DELETING;
        return true;
    }
    return (vector_spec_add(table, update->create, &request->attribute_definitions,
                            INDEX_CREATING) &&
            settings_set_attributes(table, settings, &request->attribute_definitions)) ||
           error_budget(error);
}
