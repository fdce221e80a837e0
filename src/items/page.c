// Query and Scan: one page of a table or an index. Both fill the engine's page_request and stream
// the items that come back straight into the response.
#include "items/page.h"

#include "call/insights.h"

#include "engine/layout.h"

#include <stdlib.h>

// ---- Checks ---------------------------------------------------------------------------------

// Select against what else the request says of attributes.
static bool check_select(struct page_call *p, struct slice index_name)
{
    struct error *error = &p->call->error;
    const char *named = p->projection_expression.ptr != NULL ? "ProjectionExpression"
                        : p->attributes_to_get->set          ? "AttributesToGet"
                                                             : NULL;
    // The one message of Query that the newer layer puts into the envelope.
    if (slice_is(p->select, "SPECIFIC_ATTRIBUTES") && named == NULL)
        return error_validation(error,
                                "%sMust specify the AttributesToGet or ProjectionExpression when "
                                "choosing to get SPECIFIC_ATTRIBUTES",
                                layer_is_new(call_layer(p->call)) ? VALIDATION_ENVELOPE : "");
    if (named != NULL && slice_is(p->select, "COUNT"))
        return error_validation(error, "Cannot specify the %s when choosing to get only the Count",
                                named);
    if (named != NULL && p->select.ptr != NULL && !slice_is(p->select, "SPECIFIC_ATTRIBUTES"))
        return error_validation(error, "Cannot specify the %s when choosing to get %.*s", named,
                                SLICE_FMT(p->select));
    if (slice_is(p->select, "ALL_PROJECTED_ATTRIBUTES") && index_name.ptr == NULL)
        return error_validation(
            error, "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
    return true;
}

bool page_find_target(struct page_call *p, struct slice table_name, struct slice index_name)
{
    struct error *error = &p->call->error;
    p->page.table = call_table(p->call, table_name);
    p->page.reader = call_reader(p->call);
    if (p->page.table == NULL)
        return false;
    if (index_name.ptr == NULL)
        return true;
    p->page.index = table_index(p->page.table, index_name);
    if (p->page.index == NULL || p->page.index->status == INDEX_DELETING)
        return error_validation(error, "The table does not have the specified index: %.*s",
                                SLICE_FMT(index_name));
    if (p->page.index->global && p->page.consistent)
        return error_validation(error,
                                "Consistent reads are not supported on global secondary indexes");
    if (p->page.index->status == INDEX_CREATING)
        return error_validation(error, "Cannot read from backfilling global secondary index: %.*s",
                                SLICE_FMT(index_name));
    return true;
}

// The attributes that something names and the index lacks.
struct missing {
    struct page_call *p;
    size_t count;
    size_t room;
    struct slice *names;
};

static bool missing_grow(struct missing *missing)
{
    size_t room = missing->room * 2 + 8;
    struct slice *names = call_alloc(missing->p->call, room, sizeof(*names));
    if (names == NULL)
        return false;
    for (size_t i = 0; i < missing->count; i++)
        names[i] = missing->names[i];
    missing->names = names;
    missing->room = room;
    return true;
}

static bool note_missing(void *context, struct slice attribute)
{
    struct missing *missing = context;
    const struct page_request *page = &missing->p->page;
    if (layout_index_projects(page->table, page->index, attribute))
        return true;
    if (missing->count == missing->room && !missing_grow(missing))
        return false;
    missing->names[missing->count++] = attribute;
    return true;
}

static int compare_names(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

// Names them sorted, and each once.
static bool refuse_missing(const struct missing *missing, const char *kind, const char *lacks)
{
    struct buf names;
    buf_init(&names, 1 << 20);
    qsort(missing->names, missing->count, sizeof(*missing->names), compare_names);
    for (size_t i = 0; i < missing->count; i++) {
        if (i > 0 && slice_equal(missing->names[i], missing->names[i - 1]))
            continue;
        if (i > 0)
            buf_text(&names, ", ");
        buf_slice(&names, missing->names[i]);
    }
    (void)error_validation(&missing->p->call->error,
                           "One or more parameter values were invalid: %s index %.*s does not "
                           "project %s[%.*s]",
                           kind, SLICE_FMT(missing->p->page.index->name), lacks,
                           SLICE_FMT(buf_view(&names)));
    buf_release(&names);
    return false;
}

static bool is_partial(const struct index *index)
{
    return index != NULL && index->projection != PROJECT_ALL;
}

// The filter of a Query may only look at what the index holds. One of a Scan finds nothing there.
bool page_check_filter_projected(struct page_call *p)
{
    struct missing missing = {.p = p};
    if (p->page.filter == NULL || !is_partial(p->page.index))
        return true;
    if (!expr_condition_each(p->page.filter, note_missing, &missing))
        return false;
    return missing.count == 0 ||
           refuse_missing(&missing, "Secondary", "one or more filter attributes: ");
}

// A global index gives only what it projects.
static bool check_all_attributes(struct page_call *p)
{
    const struct index *index = p->page.index;
    if (!is_partial(index) || !index->global || !slice_is(p->select, "ALL_ATTRIBUTES"))
        return true;
    return error_validation(&p->call->error,
                            "One or more parameter values were invalid: Select type "
                            "ALL_ATTRIBUTES is not supported for global secondary index %.*s "
                            "because its projection type is not ALL",
                            SLICE_FMT(index->name));
}

// What a global index lacks cannot be asked for; a local one fetches it from the table.
bool page_check_projected(struct page_call *p)
{
    const struct index *index = p->page.index;
    if (!is_partial(index))
        return true;
    struct missing missing = {.p = p};
    if (p->projection != NULL && !expr_projection_each(p->projection, note_missing, &missing))
        return false;
    p->page.fetch = missing.count > 0 || slice_is(p->select, "ALL_ATTRIBUTES");
    return missing.count == 0 || !index->global || refuse_missing(&missing, "Global secondary", "");
}

static const struct key_schema *target_keys(const struct page_call *p)
{
    return p->page.index != NULL ? &p->page.index->keys : &p->page.table->keys;
}

bool page_check_keys(struct page_call *p)
{
    return params_check_keys(
        &p->call->error, p->page.table,
        (struct expressions){.condition = p->page.filter, .projection = p->projection});
}

// A Query's filter must leave the keys to the key condition.
static bool check_filter(struct page_call *p)
{
    const struct key_schema *keys = target_keys(p);
    for (size_t i = 0; p->page.filter != NULL && i < keys->hash_count + keys->range_count; i++) {
        struct slice name = keys->parts[i].name;
        if (expr_condition_mentions(p->page.filter, name))
            return error_validation(&p->call->error,
                                    "%s can only contain non-primary key attributes: Primary key "
                                    "attribute: %.*s",
                                    p->legacy_filter ? "QueryFilter" : "Filter Expression",
                                    SLICE_FMT(name));
    }
    return true;
}

// ---- Starting keys ------------------------------------------------------------------------------

enum start_fault { START_OK, START_SHAPE, START_TYPE, START_VALUE };

static enum start_fault judge_parts(struct page_call *p, const struct key_schema *keys)
{
    for (size_t i = 0; i < keys->hash_count + keys->range_count; i++) {
        struct slice value = value_get(p->start_key->value, keys->parts[i].name);
        if (value.len == 0)
            return START_SHAPE;
        if (value_type(value) != keys->parts[i].type)
            return START_TYPE;
        if (!key_value_check(&keys->parts[i], i < keys->hash_count, value, &p->call->error))
            return START_VALUE;
    }
    return START_OK;
}

// How many attributes table and index keys have together.
static size_t key_attribute_count(const struct page_call *p)
{
    const struct key_schema *table = &p->page.table->keys;
    size_t count = table->hash_count + table->range_count;
    if (p->page.index == NULL)
        return count;
    const struct key_schema *index = &p->page.index->keys;
    for (size_t i = 0; i < index->hash_count + index->range_count; i++)
        count += !key_schema_has(table, index->parts[i].name);
    return count;
}

static enum start_fault judge_start(struct page_call *p)
{
    if (value_count(p->start_key->value) != key_attribute_count(p))
        return START_SHAPE;
    enum start_fault fault = judge_parts(p, &p->page.table->keys);
    if (fault == START_OK && p->page.index != NULL)
        fault = judge_parts(p, &p->page.index->keys);
    return fault;
}

static bool make_start(struct page_call *p)
{
    struct buf key;
    buf_init(&key, 1 << 16);
    if (p->page.index == NULL)
        layout_item_key(&key, p->page.table->tree, &p->page.table->keys, p->start_key->value);
    else
        ensure(layout_index_key(&key, p->page.table, p->page.index, p->start_key->value));
    p->page.after = arena_keep(&p->call->arena, &key);
    return p->page.after.ptr != NULL || error_budget(&p->call->error);
}

// "The provided starting key is invalid: " and what is wrong with it.
static bool refuse_start_for(struct page_call *p, const char *reason)
{
    return error_validation(&p->call->error, "The provided starting key is invalid: %s", reason);
}

static bool refuse_start(struct page_call *p, enum start_fault fault)
{
    struct error *error = &p->call->error;
    const char *mismatch = "The provided key element does not match the schema";
    bool plain = p->page.index == NULL;
    if (fault == START_SHAPE && (p->page.query || !plain))
        return error_validation(error, "The provided starting key is invalid");
    // Only a Query of a table says no more than what the value itself is blamed for.
    if (fault == START_VALUE && !(p->page.query && plain)) {
        const char *reason = error->message;
        error_init(error, &p->call->arena);
        return refuse_start_for(p, reason);
    }
    if (fault == START_VALUE)
        return false;
    return p->page.query && plain ? error_validation(error, "%s", mismatch)
                                  : refuse_start_for(p, mismatch);
}

// ExclusiveStartKey: the key attributes of table and index.
static bool check_start(struct page_call *p)
{
    if (p->start_key->value.ptr == NULL)
        return true;
    enum start_fault fault = judge_start(p);
    return fault == START_OK || refuse_start(p, fault);
}

// Where it points is inside what the request reads.
static bool set_start(struct page_call *p)
{
    struct error *error = &p->call->error;
    if (p->start_key->value.ptr == NULL)
        return true;
    if (!make_start(p))
        return false;
    switch (engine_page_admits(&p->page)) {
    case PAGE_INSIDE:
        // Behind the one item that a partition without a sort key has there is nothing.
        return !engine_page_is_single(&p->page) ||
               error_validation(error, "The provided exclusive start key is invalid");
    case PAGE_OTHER_PARTITION:
        return error_validation(error, "The provided starting key is outside query boundaries "
                                       "based on provided conditions");
    case PAGE_OUTSIDE_RANGE:
        return error_validation(error,
                                "The provided starting key does not match the range key predicate");
    case PAGE_OTHER_SEGMENT:
        return error_validation(error,
                                "The provided starting key is invalid: Invalid ExclusiveStartKey. "
                                "Please use ExclusiveStartKey with correct Segment. TotalSegments: "
                                "%llu Segment: %llu",
                                (unsigned long long)p->page.segments,
                                (unsigned long long)p->page.segment);
    }
    return true;
}

bool page_resume(struct page_call *p)
{
    if (judge_start(p) == START_OK)
        return make_start(p) && engine_page_admits(&p->page) == PAGE_INSIDE;
    error_init(&p->call->error, &p->call->arena);
    return false;
}

// What is no AttributeValue at all is blamed on the starting key, a bad number or set on itself.
static bool check_start_values(struct page_call *p)
{
    if (p->start_key->value.ptr == NULL || !p->start_key->malformed)
        return field_value_check(p->start_key, &p->call->error);
    return refuse_start_for(p, p->start_key->fault);
}

// ---- Reading ------------------------------------------------------------------------------------

static bool emit_item(void *context, struct slice item)
{
    struct page_call *p = context;
    insights_read(p->call, p->page.table, p->page.index, item);
    call_write_item(p->call, &p->w, p->projection, item, &p->page.steps);
    return !p->call->response.failed || error_budget(&p->call->error);
}

static bool count_item(void *context, struct slice item)
{
    struct page_call *p = context;
    insights_read(p->call, p->page.table, p->page.index, item);
    return true;
}

void page_write_capacity(struct page_call *p)
{
    enum capacity_detail detail = capacity_detail(p->capacity);
    const struct page_request *page = &p->page;
    double units = capacity_read_units(page->bytes, page->consistent);
    double fetched = (double)page->fetched_units * (page->consistent ? 1.0 : 0.5);
    usage_read(p->call, page->table, page->index, units + fetched, page->matched);
    if (detail == CAPACITY_NONE)
        return;
    struct capacity capacity = {.table = page->table};
    if (page->index == NULL) {
        capacity.read = units;
    } else {
        capacity.index_read[page->index - page->table->indexes] = units;
        capacity.read = fetched;
    }
    json_name(&p->w, "ConsumedCapacity");
    capacity_write_json(&p->w, &capacity, detail);
}

static void drop_page(struct api_call *call)
{
    struct page_call *p = call->state->own;
    engine_page_close(call_engine(call), &p->page);
}

struct page_call *page_call_new(struct api_call *call, size_t size)
{
    struct page_call *p = arena_alloc(&call->arena, size);
    if (p == NULL)
        return error_no_memory(&call->error);
    p->page.walk = NULL;
    call->state->own = p;
    call->state->drop = drop_page;
    return p;
}

static enum step resume_page(struct api_call *call)
{
    struct api_state *state = call->state;
    struct page_call *p = state->own;
    switch (engine_page_run(call_engine(call), &p->page, &state->work, &call->error)) {
    case READ_DONE:
        p->finish(p);
        return STEP_READY;
    case READ_MORE:
        state->resume = resume_page;
        return STEP_LATER;
    case READ_FAILED:
        break;
    }
    return STEP_FAILED;
}

enum step page_read(struct page_call *p)
{
    p->page.arena = &p->call->arena;
    p->page.context = p;
    if (!throttle_admit_read(p->call, p->page.table, p->page.index))
        return STEP_FAILED;
    return resume_page(p->call);
}

static void finish_json(struct page_call *p)
{
    const struct page_request *page = &p->page;
    if (!slice_is(p->select, "COUNT"))
        json_close_array(&p->w);
    json_put_integer(&p->w, "Count", (int64_t)page->matched);
    json_put_integer(&p->w, "ScannedCount", (int64_t)page->scanned);
    if (page->last.len > 0 && !engine_page_is_single(page)) {
        json_name(&p->w, "LastEvaluatedKey");
        json_item(&p->w, page->last);
    }
    page_write_capacity(p);
    json_close_object(&p->w);
}

static enum step read_json(struct page_call *p)
{
    bool count_only = slice_is(p->select, "COUNT");
    p->w = call_writer(p->call);
    p->page.emit = count_only ? count_item : emit_item;
    p->finish = finish_json;
    json_open_object(&p->w);
    if (!count_only)
        json_put_array(&p->w, "Items");
    return page_read(p);
}

// What Query and Scan call by the same names.
#define PAGE_CALL(of, request)                                                                     \
    ((struct page_call){                                                                           \
        .call = (of),                                                                              \
        .page = {.consistent = (request)->consistent_read.value,                                   \
                 .limit = (request)->limit.set ? (uint64_t)(request)->limit.value : 0},            \
        .select = (request)->select,                                                               \
        .capacity = (request)->return_consumed_capacity,                                           \
        .projection_expression = (request)->projection_expression,                                 \
        .attributes_to_get = &(request)->attributes_to_get,                                        \
        .start_key = &(request)->exclusive_start_key,                                              \
    })

// ---- Query --------------------------------------------------------------------------------------

static bool compile_filter(struct page_call *p, struct expr_params *params, struct slice expression,
                           const struct field_map *legacy, struct slice conditional_operator,
                           enum legacy_use use)
{
    if (expression.ptr != NULL) {
        p->page.filter = expr_compile_condition(params, expression, EXPR_FILTER);
        return p->page.filter != NULL;
    }
    if (!legacy->set || legacy->count == 0)
        return true;
    struct legacy_condition *entries;
    if (!params_conditions(p->call, legacy, &entries))
        return false;
    p->legacy_filter = true;
    p->page.filter = expr_legacy_condition(&p->call->arena, &p->call->error, use, legacy->count,
                                           entries, slice_is(conditional_operator, "OR"));
    return p->page.filter != NULL;
}

static struct expr_key *compile_key(struct page_call *p, const struct query_request *request,
                                    struct expr_params *params)
{
    if (request->key_condition_expression.ptr != NULL)
        return expr_compile_key(params, request->key_condition_expression);
    if (!request->key_conditions.set) {
        (void)error_validation(&p->call->error,
                               "Either the KeyConditions or KeyConditionExpression "
                               "parameter must be specified in the request.");
        return NULL;
    }
    struct legacy_condition *entries;
    if (!params_conditions(p->call, &request->key_conditions, &entries))
        return NULL;
    return expr_legacy_key(&p->call->arena, &p->call->error, request->key_conditions.count,
                           entries);
}

// Everything that can be judged without the table.
static struct expr_key *check_query(struct page_call *p, const struct query_request *request)
{
    struct param_set set = {
        .expression_count = 3,
        .expressions = {{"ProjectionExpression", request->projection_expression.ptr != NULL},
                        {"FilterExpression", request->filter_expression.ptr != NULL},
                        {"KeyConditionExpression", request->key_condition_expression.ptr != NULL}},
        .legacy_count = 4,
        .legacy = {{"AttributesToGet", request->attributes_to_get.set},
                   {"QueryFilter", request->query_filter.set},
                   {"ConditionalOperator", request->conditional_operator.ptr != NULL},
                   {"KeyConditions",
                    request->key_conditions.set && request->key_condition_expression.ptr != NULL}},
        .names = &request->expression_attribute_names,
        .values = &request->expression_attribute_values,
        .takes_values =
            request->filter_expression.ptr != NULL || request->key_condition_expression.ptr != NULL,
        .values_need = "FilterExpression and KeyConditionExpression are null",
    };
    struct expr_params params;
    if (!params_check_styles(p->call, &set) || !check_start_values(p) ||
        !params_open(p->call, &set, &params))
        return NULL;
    if (!compile_filter(p, &params, request->filter_expression, &request->query_filter,
                        request->conditional_operator, LEGACY_QUERY_FILTER) ||
        !params_projection(p->call, &params, request->projection_expression,
                           &request->attributes_to_get, &p->projection))
        return NULL;
    struct expr_key *key = compile_key(p, request, &params);
    bool ok = key != NULL && expr_params_finish(&params) &&
              params_check_operator(p->call, request->conditional_operator, &request->query_filter);
    return ok ? key : NULL;
}

bool page_open_query(struct page_call *p, const struct expr_key *key, struct slice table_name,
                     struct slice index_name)
{
    struct error *error = &p->call->error;
    if (!page_find_target(p, table_name, index_name) ||
        !expr_key_resolve(key, target_keys(p), &p->page.range, error))
        return false;
    call_note_partition(p->call, p->page.table->name, target_keys(p), p->page.range.hash);
    return check_start(p) && page_check_keys(p) &&
           expr_key_check_empty(key, target_keys(p), index_name, error) && check_filter(p) &&
           page_check_filter_projected(p) && check_all_attributes(p) && set_start(p) &&
           check_select(p, index_name) && page_check_projected(p);
}

enum step query_start(struct api_call *call, const void *decoded)
{
    const struct query_request *request = decoded;
    struct page_call *p = page_call_new(call, sizeof(*p));
    if (p == NULL)
        return STEP_FAILED;
    *p = PAGE_CALL(call, request);
    p->page.query = true;
    p->page.reverse = request->scan_index_forward.set && !request->scan_index_forward.value;
    struct expr_key *key = check_query(p, request);
    if (key == NULL || !page_open_query(p, key, request->table_name, request->index_name))
        return STEP_FAILED;
    return read_json(p);
}

// ---- Scan ---------------------------------------------------------------------------

static bool set_segment(struct page_call *p, const struct scan_request *request)
{
    struct error *error = &p->call->error;
    p->page.segments = 1;
    if (request->segment.set && !request->total_segments.set)
        return error_validation(error,
                                "The TotalSegments parameter is required but was not present "
                                "in the request when Segment parameter is present");
    if (!request->segment.set && request->total_segments.set)
        return error_validation(error, "The Segment parameter is required but was not present in "
                                       "the request when parameter TotalSegments is present");
    if (!request->segment.set)
        return true;
    if (request->segment.value >= request->total_segments.value)
        return error_validation(error,
                                "The Segment parameter is zero-based and must be less than "
                                "parameter TotalSegments: Segment: %lld is not less than "
                                "TotalSegments: %lld",
                                (long long)request->segment.value,
                                (long long)request->total_segments.value);
    p->page.segment = (uint64_t)request->segment.value;
    p->page.segments = (uint64_t)request->total_segments.value;
    return true;
}

static bool check_scan(struct page_call *p, const struct scan_request *request)
{
    struct param_set set = {
        .expression_count = 2,
        .expressions = {{"ProjectionExpression", request->projection_expression.ptr != NULL},
                        {"FilterExpression", request->filter_expression.ptr != NULL}},
        .legacy_count = 3,
        .legacy = {{"AttributesToGet", request->attributes_to_get.set},
                   {"ScanFilter", request->scan_filter.set},
                   {"ConditionalOperator", request->conditional_operator.ptr != NULL}},
        .names = &request->expression_attribute_names,
        .values = &request->expression_attribute_values,
        .takes_values = request->filter_expression.ptr != NULL,
        .values_need = "FilterExpression is null",
    };
    struct expr_params params;
    return params_check_styles(p->call, &set) && check_start_values(p) && set_segment(p, request) &&
           params_open(p->call, &set, &params) &&
           compile_filter(p, &params, request->filter_expression, &request->scan_filter,
                          request->conditional_operator, LEGACY_SCAN_FILTER) &&
           params_projection(p->call, &params, request->projection_expression,
                             &request->attributes_to_get, &p->projection) &&
           expr_params_finish(&params) &&
           params_check_operator(p->call, request->conditional_operator, &request->scan_filter);
}

enum step scan_start(struct api_call *call, const void *decoded)
{
    const struct scan_request *request = decoded;
    struct page_call *p = page_call_new(call, sizeof(*p));
    if (p == NULL)
        return STEP_FAILED;
    *p = PAGE_CALL(call, request);
    if (!check_scan(p, request) || !page_find_target(p, request->table_name, request->index_name) ||
        !check_start(p) || !set_start(p) || !check_all_attributes(p) || !page_check_keys(p) ||
        !check_select(p, request->index_name) || !page_check_projected(p))
        return STEP_FAILED;
    return read_json(p);
}
