// At the start: whether the models can be kept by a gateway, and whether the tables upstream are
// theirs. What a gateway cannot keep is refused with its reason, never kept by halves.
#include "upstream/upstream_internal.h"

#include "base/log.h"
#include "model/rules.h"

#include <stdio.h>

enum { TEXT_MAX = 1 << 20, ANSWER_MAX = 64 << 20 };

struct adoption {
    struct upstream *upstream;
    struct api *api;
    bool callers;
    struct arena arena;
    char *error;
    size_t error_size;
    bool ok;
};

static bool refuse(struct adoption *adoption, struct slice table, const char *what)
{
    if (adoption->ok)
        (void)snprintf(adoption->error, adoption->error_size, "table %.*s: %s", SLICE_FMT(table),
                       what);
    adoption->ok = false;
    return false;
}

// ---- What the model asks for -----------------------------------------------------------------

static bool check_rules(struct adoption *adoption, const struct table *table,
                        const struct model_table *model)
{
    const struct model_rules *rules = model->model->rules_of;
    const struct {
        size_t count;
        const char *what;
    } refused[] = {
        {rules->tally_count,
         "counts and sums change other items; a gateway does not keep them yet"},
        {rules->made_count, "derive, emit and audit make other items; a gateway does not keep them "
                            "yet"},
        {rules->reference_count, "references need other items; a gateway does not keep them yet"},
        {rules->quota_count, "quotas count items; a gateway does not keep them yet"},
        {rules->retain_count + rules->keep_count,
         "retain and keep sweep whole tables, which a gateway does not do"},
        {rules->idempotent_count, "idempotent remembers requests, which a gateway does not do"},
        {rules->publish_count + rules->project_count,
         "publish and project follow the change log, which a gateway does not have"},
        {rules->object_count, "objects need the object store, which a gateway does not have"},
        {adoption->callers ? rules->policy_count : 0,
         "policies hide items, and a gateway passes reads on as they are"},
        {rules->seed_count, "seed writes items at the start, which a gateway does not do"},
    };
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        if (refused[i].count > 0)
            return refuse(adoption, table->name, refused[i].what);
    }
    if (table->guard->effects)
        return refuse(adoption, table->name,
                      "a rule changes other items; a gateway does not keep that yet");
    for (size_t i = 0;
         table->guard->claims > 0 && i < table->keys.hash_count + table->keys.range_count; i++) {
        if (table->keys.parts[i].type == VALUE_B ||
            (i == 0 && table->keys.parts[i].type != VALUE_S))
            return refuse(adoption, table->name,
                          "unique values are claimed by items of the table, whose partition key "
                          "has to be text, and whose sort key text or a number");
    }
    return true;
}

// ---- What is there ---------------------------------------------------------------------------

// The answer in the arena; empty, after saying why, if there is none.
static struct slice ask(struct adoption *adoption, const struct table *table, const char *operation,
                        const struct buf *body)
{
    struct buf answer;
    buf_init(&answer, ANSWER_MAX);
    struct transport_request request = {
        .operation = slice_str(operation), .safe = true, .body = buf_view(body), .answer = &answer};
    transport_call(adoption->upstream->transport, &request);
    struct slice copy = slice_of(NULL, 0);
    char text[512];
    if (request.status == 200) {
        copy = arena_copy(&adoption->arena, buf_view(&answer));
    } else if (request.status == 0) {
        (void)snprintf(text, sizeof(text), "%s does not answer: %s",
                       upstream_url(adoption->upstream), request.reason);
        (void)refuse(adoption, table->name, text);
    } else {
        struct slice name = transport_error_name(buf_view(&answer));
        (void)snprintf(text, sizeof(text), "%s upstream: %.*s%s", operation, SLICE_FMT(name),
                       slice_is(name, "ResourceNotFoundException")
                           ? ". Create the table there first: 'dolmen generate' makes templates "
                             "for CloudFormation and Terraform"
                           : "");
        (void)refuse(adoption, table->name, text);
    }
    buf_release(&answer);
    return copy;
}

// Whether a KeySchema is that of the keys.
static bool same_schema(struct adoption *adoption, struct slice list, const struct key_schema *keys)
{
    struct json_reader reader;
    struct slice element;
    size_t count = 0;
    if (!told_array(list, &adoption->arena, &reader))
        return false;
    while (told_element(&reader, &element)) {
        struct slice name = told_text(element, "AttributeName", &adoption->arena);
        struct slice type = told_text(element, "KeyType", &adoption->arena);
        size_t all = keys->hash_count + keys->range_count;
        if (count >= all || !slice_equal(name, keys->parts[count].name) ||
            slice_is(type, "HASH") != (count < keys->hash_count))
            return false;
        count++;
    }
    return count == keys->hash_count + keys->range_count;
}

static bool find_index(struct adoption *adoption, struct slice description,
                       const struct index *index)
{
    struct json_reader reader;
    struct slice element;
    struct slice list =
        told_member(description, index->global ? "GlobalSecondaryIndexes" : "LocalSecondaryIndexes",
                    &adoption->arena);
    if (!told_array(list, &adoption->arena, &reader))
        return false;
    while (told_element(&reader, &element)) {
        if (slice_equal(told_text(element, "IndexName", &adoption->arena), index->name))
            return same_schema(adoption, told_member(element, "KeySchema", &adoption->arena),
                               &index->keys);
    }
    return false;
}

static bool check_table(struct adoption *adoption, const struct table *table)
{
    struct buf body;
    char text[400];
    buf_init(&body, TEXT_MAX);
    struct json_writer w = json_writer_to(&body);
    json_form(&w, "{'TableName':%.*s}", SLICE_FMT(table->name));
    struct slice answer = ask(adoption, table, "DescribeTable", &body);
    buf_release(&body);
    if (answer.len == 0)
        return false;
    struct slice description = told_member(answer, "Table", &adoption->arena);
    if (!same_schema(adoption, told_member(description, "KeySchema", &adoption->arena),
                     &table->keys))
        return refuse(adoption, table->name, "the table upstream has another primary key");
    for (size_t i = 0; i < table->index_count; i++) {
        if (find_index(adoption, description, &table->indexes[i]))
            continue;
        (void)snprintf(text, sizeof(text), "the table upstream has no index %.*s with these keys",
                       SLICE_FMT(table->indexes[i].name));
        return refuse(adoption, table->name, text);
    }
    return true;
}

// ---- Claims ----------------------------------------------------------------------------------

// What is unique in the table, as a text that changes with it.
static void uniques_text(const struct model_table *table, struct buf *out)
{
    for (size_t i = 0; i < table->entity_count; i++) {
        const struct model_entity *entity = &table->entities[i];
        for (size_t k = 0; k < entity->attribute_count; k++) {
            if (entity->attributes[k].unique)
                buf_printf(out, "%.*s(%.*s) ", SLICE_FMT(entity->name),
                           SLICE_FMT(entity->attributes[k].name));
        }
        for (size_t k = 0; k < entity->unique_count; k++) {
            buf_printf(out, "%.*s(", SLICE_FMT(entity->name));
            for (size_t a = 0; a < entity->uniques[k].count; a++)
                buf_printf(out, "%s%.*s", a == 0 ? "" : ",",
                           SLICE_FMT(entity->uniques[k].attributes[a]->name));
            buf_text(out, ") ");
        }
    }
}

static const char marker[] = CLAIM_PREFIX "ready";

static bool has_marker(struct adoption *adoption, const struct table *table, struct slice uniques)
{
    struct buf body;
    buf_init(&body, TEXT_MAX);
    struct json_writer w = json_writer_to(&body);
    json_open_object(&w);
    json_put_string(&w, "TableName", table->name);
    json_put_flag(&w, "ConsistentRead", true);
    json_put_object(&w, "Key");
    request_claim_key(&w, table, marker);
    json_close_object(&w);
    json_close_object(&w);
    struct slice item =
        told_member(ask(adoption, table, "GetItem", &body), "Item", &adoption->arena);
    struct slice what = told_member(item, CLAIM_WHAT, &adoption->arena);
    buf_release(&body);
    return slice_equal(told_text(what, "S", &adoption->arena), uniques);
}

static bool is_empty(struct adoption *adoption, const struct table *table)
{
    struct slice start = slice_of(NULL, 0);
    for (;;) {
        struct buf body;
        struct json_reader reader;
        struct slice element;
        buf_init(&body, TEXT_MAX);
        struct json_writer w = json_writer_to(&body);
        json_open_object(&w);
        json_put_string(&w, "TableName", table->name);
        json_put_flag(&w, "ConsistentRead", true);
        json_put_text(&w, "FilterExpression", "attribute_not_exists(" CLAIM_OWNER ")");
        if (start.len > 0) {
            json_name(&w, "ExclusiveStartKey");
            buf_slice(&body, start);
            w.comma = true;
        }
        json_close_object(&w);
        struct slice answer = ask(adoption, table, "Scan", &body);
        buf_release(&body);
        if (answer.len == 0 ||
            !told_array(told_member(answer, "Items", &adoption->arena), &adoption->arena,
                        &reader) ||
            told_element(&reader, &element))
            return false;
        start = told_member(answer, "LastEvaluatedKey", &adoption->arena);
        if (start.len == 0)
            return true;
    }
}

static bool put_marker(struct adoption *adoption, const struct table *table, struct slice uniques)
{
    struct buf body;
    buf_init(&body, TEXT_MAX);
    struct json_writer w = json_writer_to(&body);
    json_open_object(&w);
    json_put_string(&w, "TableName", table->name);
    json_put_object(&w, "Item");
    request_claim_key(&w, table, marker);
    json_form(&w, "'" CLAIM_OWNER "':{'S':'gateway'},'" CLAIM_WHAT "':{'S':%.*s}",
              SLICE_FMT(uniques));
    json_close_object(&w);
    json_close_object(&w);
    bool ok = ask(adoption, table, "PutItem", &body).len > 0;
    buf_release(&body);
    return ok;
}

// Unique values are known by their claims, so that every item has to have been written by gateways
// with these: a mark in the table says so.
static bool check_claims(struct adoption *adoption, const struct table *table,
                         const struct model_table *model)
{
    struct buf text;
    if (table->guard->claims == 0)
        return true;
    buf_init(&text, TEXT_MAX);
    uniques_text(model, &text);
    struct slice uniques = buf_view(&text);
    bool ok = has_marker(adoption, table, uniques);
    if (!ok && adoption->ok) {
        ok = is_empty(adoption, table);
        if (ok)
            ok = put_marker(adoption, table, uniques);
        else
            (void)refuse(adoption, table->name,
                         "it has items that were written without claims for the unique values of "
                         "this model. Copy them into an empty table, through the gateway");
    }
    buf_release(&text);
    return ok;
}

static bool adopt_table(void *context, struct slice name)
{
    struct adoption *adoption = context;
    struct table *table = engine_table(adoption->api->shop.engine, name);
    if (table != NULL && table->guard != NULL) {
        const struct model_table *model = model_guard_table(table->guard);
        adoption->ok = check_rules(adoption, table, model) && check_table(adoption, table) &&
                       check_claims(adoption, table, model);
    }
    table_release(table);
    return adoption->ok;
}

bool upstream_adopt(struct upstream *upstream, struct api *api, bool callers, char *error,
                    size_t error_size)
{
    struct adoption adoption = {.upstream = upstream,
                                .api = api,
                                .callers = callers,
                                .error = error,
                                .error_size = error_size,
                                .ok = true};
    error[0] = 0;
    arena_init(&adoption.arena, ANSWER_MAX);
    engine_tables(api->shop.engine, slice_of(NULL, 0), adopt_table, &adoption);
    arena_release(&adoption.arena);
    if (!adoption.ok)
        return false;
    upstream->api = api;
    api->elsewhere = &upstream->elsewhere;
    log_info("gateway to %s", upstream_url(upstream));
    return true;
}
