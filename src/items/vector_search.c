// SearchVectors: the nearest vectors of an index or of one of its partitions. Small indexes are
// searched at once; large ones on a thread of their own (vector_pool.h), so that the connections
// of this one do not wait.
#include "call/operation.h"
#include "engine/vector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct search_call {
    struct vector_search search;
    struct expr_projection *projection;
    enum capacity_detail detail;
};

// ---- Expressions ----------------------------------------------------------------------------

// The compiler of key conditions, which are the same but for their name, has set the error.
static struct expr_key *rename_condition(struct api_call *call)
{
    static const char theirs[] = "KeyConditionExpression";
    const char *message = call->error.message;
    const char *at = strstr(message, theirs);
    if (call->error.code == ERR_VALIDATION && at != NULL) {
        error_init(&call->error, &call->arena);
        (void)error_validation(&call->error, "%.*sSearchConditionExpression%s", (int)(at - message),
                               message, at + strlen(theirs));
    }
    return NULL;
}

// A conjunction of comparisons of attributes with values; *key stays NULL without a condition.
static bool compile(struct api_call *call, const struct search_vectors_request *request,
                    struct search_call *search, struct expr_key **key)
{
    struct param_set set = {
        .expression_count = 2,
        .expressions = {{"ProjectionExpression", request->projection_expression.ptr != NULL},
                        {"SearchConditionExpression",
                         request->search_condition_expression.ptr != NULL}},
        .names = &request->expression_attribute_names,
        .values = &request->expression_attribute_values,
        .takes_values = request->search_condition_expression.ptr != NULL,
        .values_need = "SearchConditionExpression is null",
    };
    struct field_list none = {.set = false};
    struct expr_params params;
    if (!params_check_styles(call, &set) || !params_open(call, &set, &params) ||
        !params_projection(call, &params, request->projection_expression, &none,
                           &search->projection))
        return false;
    if (request->search_condition_expression.ptr != NULL) {
        *key = expr_compile_key(&params, request->search_condition_expression);
        if (*key == NULL)
            *key = rename_condition(call);
        if (*key == NULL)
            return false;
    }
    return expr_params_finish(&params);
}

// ---- Against the index ----------------------------------------------------------------------

static const struct key_part *schema_part(const struct vector_index *index, struct slice name)
{
    if (key_schema_has(&index->base.keys, name))
        return &index->base.keys.parts[0];
    for (size_t i = 0; i < index->filter_count; i++)
        if (slice_equal(index->filters[i].name, name))
            return &index->filters[i];
    return NULL;
}

static bool resolve_clause(struct api_call *call, struct vector_search *search,
                           const struct key_clause *clause, struct vector_filter *filters)
{
    const struct vector_index *index = search->index;
    const struct key_part *part = schema_part(index, clause->attribute);
    if (part == NULL)
        return error_validation(&call->error,
                                INVALID "SearchConditionExpression can only reference attributes "
                                        "of the search schema: %.*s",
                                SLICE_FMT(clause->attribute));
    if (clause->op != KEY_EQ)
        return error_validation(&call->error,
                                INVALID "SearchConditionExpression supports only the equality "
                                        "operator (=) on search schema attribute: %.*s",
                                SLICE_FMT(clause->attribute));
    if (value_type(clause->values[0]) != part->type)
        return error_validation(&call->error,
                                INVALID "Condition parameter type does not match schema type");
    if (part == &index->base.keys.parts[0]) {
        search->partition = clause->values[0];
        return key_value_check(part, true, clause->values[0], &call->error);
    }
    filters[search->filter_count++] = (struct vector_filter){part->name, clause->values[0]};
    return true;
}

static bool resolve(struct api_call *call, struct vector_search *search, const struct expr_key *key)
{
    const struct key_schema *keys = &search->index->base.keys;
    size_t count = key == NULL ? 0 : key->count;
    struct vector_filter *filters = call_alloc(call, count + 1, sizeof(*filters));
    if (filters == NULL)
        return false;
    search->filters = filters;
    for (size_t i = 0; i < count; i++)
        if (!resolve_clause(call, search, &key->clauses[i], filters))
            return false;
    if (keys->hash_count > 0 && search->partition.len == 0)
        return error_validation(&call->error, "Search condition missed search schema element: %.*s",
                                SLICE_FMT(keys->parts[0].name));
    return true;
}

static bool find_index(struct api_call *call, const struct search_vectors_request *request,
                       struct vector_search *search)
{
    search->table = call_table(call, request->table_name);
    search->reader = call_reader(call);
    if (search->table == NULL)
        return false;
    const struct vector_index *index = table_vector(search->table, request->index_name);
    if (index == NULL && table_index(search->table, request->index_name) != NULL)
        return error_validation(&call->error, "The specified index is not a vector index: %.*s",
                                SLICE_FMT(request->index_name));
    if (index == NULL || index->base.status == INDEX_DELETING)
        return error_validation(&call->error, "The table does not have the specified index: %.*s",
                                SLICE_FMT(request->index_name));
    if (index->base.status == INDEX_CREATING)
        return error_validation(&call->error, "Cannot read from backfilling vector index: %.*s",
                                SLICE_FMT(request->index_name));
    search->index = index;
    return true;
}

static bool read_vector(struct api_call *call, const struct field_list *list,
                        struct vector_search *search)
{
    const struct field_value *fields = list->items;
    float *vector = call_alloc(call, list->count + 1, sizeof(*vector));
    if (vector == NULL)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        if (!field_value_check(&fields[i], &call->error))
            return false;
        if (value_type(fields[i].value) != VALUE_N)
            return error_validation(&call->error, INVALID "SearchVector must be a list of numbers");
        if (!vector_number(value_bytes(fields[i].value), &vector[i]))
            return error_validation(&call->error,
                                    INVALID "SearchVector has a value that does not fit in 32-bit "
                                            "IEEE-754 floating point format");
    }
    search->vector = vector;
    return true;
}

static bool check_dimensions(struct api_call *call, const struct field_list *list,
                             const struct vector_index *index)
{
    return list->count == index->dimensions ||
           error_validation(&call->error,
                            INVALID "Dimension mismatch for SearchVector Expected: %zu Actual: %zu "
                                    "IndexName: %.*s",
                            index->dimensions, list->count, SLICE_FMT(index->base.name));
}

// The attributes that the projection names and the index lacks, joined for the message.
struct missing {
    const struct vector_search *search;
    struct buf names;
};

static bool note_missing(void *context, struct slice attribute)
{
    struct missing *missing = context;
    if (!vector_projects(missing->search->table, missing->search->index, attribute)) {
        if (missing->names.len > 0)
            buf_text(&missing->names, ", ");
        buf_slice(&missing->names, attribute);
    }
    return true;
}

static bool check_projected(struct api_call *call, const struct search_call *own)
{
    struct missing missing = {.search = &own->search};
    if (own->projection == NULL)
        return true;
    buf_init(&missing.names, 1 << 20);
    bool ok = expr_projection_each(own->projection, note_missing, &missing);
    if (missing.names.len > 0)
        ok = error_validation(&call->error, INVALID "Vector index %.*s does not project [%.*s]",
                              SLICE_FMT(own->search.index->base.name),
                              SLICE_FMT(buf_view(&missing.names)));
    buf_release(&missing.names);
    return ok;
}

// ---- Answering ------------------------------------------------------------------------------

// The shortest text that reads back as the same number.
static void write_score(struct json_writer *w, double score)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, score);
        if (strtod(text, NULL) == score)
            break;
    }
    json_name(w, "Score");
    buf_text(w->out, text);
    w->comma = true;
}

static void write_response(struct api_call *call, const struct search_call *own)
{
    const struct vector_search *search = &own->search;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_array(&w, "SearchResults");
    for (size_t i = 0; i < search->count; i++) {
        json_open_object(&w);
        json_name(&w, "Item");
        call_write_item(call, &w, own->projection, search->hits[i].item, &(struct steps){0});
        write_score(&w, search->hits[i].score);
        json_close_object(&w);
    }
    json_close_array(&w);
    if (own->detail != CAPACITY_NONE) {
        json_put_object(&w, "ConsumedCapacity");
        json_name(&w, "VectorSearchRequestBytes");
        json_units(&w, capacity_vector_bytes(search->bytes));
        json_close_object(&w);
    }
    json_close_object(&w);
    call->usage.items += search->count;
}

static void drop_search(struct api_call *call)
{
    struct search_call *own = call->state->own;
    engine_search_close(call_engine(call), &own->search);
}

static enum step resume_search(struct api_call *call)
{
    struct api_state *state = call->state;
    struct search_call *own = state->own;
    switch (engine_search_run(call_engine(call), &own->search, &state->work, &call->error)) {
    case READ_DONE:
        write_response(call, own);
        return STEP_READY;
    case READ_MORE:
        state->resume = resume_search;
        return STEP_LATER;
    case READ_FAILED:
        break;
    }
    return STEP_FAILED;
}

enum step search_vectors_start(struct api_call *call, const void *decoded)
{
    const struct search_vectors_request *request = decoded;
    struct search_call *own = call_alloc(call, 1, sizeof(*own));
    struct expr_key *key = NULL;
    if (own == NULL)
        return STEP_FAILED;
    struct vector_search *search = &own->search;
    search->top = (size_t)request->top_k.value;
    search->arena = &call->arena;
    own->detail = capacity_detail(request->return_consumed_capacity);
    if (!read_vector(call, &request->search_vector, search) || !compile(call, request, own, &key) ||
        !find_index(call, request, search) ||
        !check_dimensions(call, &request->search_vector, search->index) ||
        !resolve(call, search, key) || !check_projected(call, own))
        return STEP_FAILED;
    call->state->own = own;
    call->state->drop = drop_search;
    return resume_search(call);
}
