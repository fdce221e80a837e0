// A table at the target as the source describes it: see copy.h.
//
// What describes a table and what makes one differ in a few members only; all others are copied as
// they stand. Settings that a place does not have (DynamoDB Local has no recovery) are told, and no
// reason to stop.
#include "cli/change.h"
#include "copy/copy.h"

#include "base/limits.h"
#include "base/wait.h"

#include <stdlib.h>

enum { ACTIVE_TRIES = 3000, ACTIVE_MS = 200, MEMORY = 64 << 20 };

static bool is_error(const struct target *target, const char *name)
{
    return slice_contains(buf_view(&target->response), slice_str(name));
}

// ---- The source -----------------------------------------------------------------------------

bool define_describe(struct copy *copy, struct copy_table *table)
{
    if (!target_describe(&copy->source.target, table->name, &table->arena, &table->source))
        return false;
    struct json_list schema = json_list(table->source.description, "KeySchema", &table->arena);
    struct slice one;
    table->key_count = 0;
    while (table->key_count < COUNT_OF(table->keys) && json_list_next(&schema, &one))
        table->keys[table->key_count++] = json_member_text(one, "AttributeName", &table->arena);
    return table->key_count > 0 || cli_fail(copy->input, "table '%s' has no key.", table->name);
}

// ---- CreateTable ----------------------------------------------------------------------------

// Members of an object, as they are, where it has them.
static void put_members(struct json_writer *w, struct slice object, const char *const *names,
                        struct arena *arena)
{
    for (; *names != NULL; names++) {
        struct slice value = json_member(object, *names, arena);
        if (value.len == 0 || slice_is(value, "null"))
            continue;
        json_name(w, *names);
        buf_slice(w->out, value);
        w->comma = true;
    }
}

static void put_throughput(struct json_writer *w, struct slice object, struct arena *arena)
{
    struct slice units = json_member(object, "ProvisionedThroughput", arena);
    int64_t read = json_member_number(units, "ReadCapacityUnits");
    int64_t write = json_member_number(units, "WriteCapacityUnits");
    json_form(w, "'ProvisionedThroughput':{'ReadCapacityUnits':%lld,'WriteCapacityUnits':%lld}",
              (long long)(read > 0 ? read : 1), (long long)(write > 0 ? write : 1));
}

static void put_indexes(struct json_writer *w, struct slice table, const char *name, bool paid,
                        struct arena *arena)
{
    static const char *const members[] = {
        "IndexName",       "KeySchema",        "SearchSchema",       "Projection", "Dimensions",
        "VectorAttribute", "DistanceFunction", "OnDemandThroughput", NULL};
    struct json_list list = json_list(table, name, arena);
    struct slice one;
    bool any = false;
    while (json_list_next(&list, &one)) {
        if (!any)
            json_put_array(w, name);
        any = true;
        json_open_object(w);
        put_members(w, one, members, arena);
        if (paid)
            put_throughput(w, one, arena);
        json_close_object(w);
    }
    if (any)
        json_close_array(w);
}

// A place that does not keep tags has none.
static void put_tags(struct copy *copy, struct json_writer *w, struct slice table,
                     struct arena *arena)
{
    static const char *const members[] = {"Tags", NULL};
    struct slice arn = json_member_text(table, "TableArn", arena);
    struct target *source = &copy->source.target;
    if (arn.len == 0 ||
        target_ask(source, "ListTagsOfResource", "{'ResourceArn':%.*s}", SLICE_FMT(arn)) != 200)
        return;
    struct slice answer = buf_view(&source->response);
    struct json_list tags = json_list(answer, "Tags", arena);
    struct slice one;
    if (json_list_next(&tags, &one))
        put_members(w, answer, members, arena);
}

static void make_request(struct copy *copy, struct copy_table *table, struct buf *body,
                         struct arena *arena)
{
    static const char *const members[] = {"AttributeDefinitions", "KeySchema",
                                          "StreamSpecification", "OnDemandThroughput", NULL};
    struct slice from = table->source.description;
    struct json_writer w = json_writer_to(body);
    struct slice billing = json_member(from, "BillingModeSummary", arena);
    bool paid = !slice_is(json_member_text(billing, "BillingMode", arena), "PAY_PER_REQUEST");
    struct slice class =
        json_member_text(json_member(from, "TableClassSummary", arena), "TableClass", arena);
    json_form(&w, "{'TableName':%s,'BillingMode':%s", table->name,
              paid ? "PROVISIONED" : "PAY_PER_REQUEST");
    put_members(&w, from, members, arena);
    if (paid)
        put_throughput(&w, from, arena);
    put_indexes(&w, from, "LocalSecondaryIndexes", false, arena);
    put_indexes(&w, from, "GlobalSecondaryIndexes", paid, arena);
    put_indexes(&w, from, "VectorIndexes", false, arena);
    if (class.len > 0 && !slice_is(class, "STANDARD"))
        json_put_string(&w, "TableClass", class);
    if (json_member_flag(from, "DeletionProtectionEnabled"))
        json_put_flag(&w, "DeletionProtectionEnabled", true);
    put_tags(copy, &w, from, arena);
    json_close_object(&w);
}

// ---- The target's table ---------------------------------------------------------------------

static bool is_active(struct slice table, struct arena *arena)
{
    static const char *const indexes[] = {"GlobalSecondaryIndexes", "VectorIndexes"};
    struct slice one;
    if (!slice_is(json_member_text(table, "TableStatus", arena), "ACTIVE"))
        return false;
    for (size_t i = 0; i < COUNT_OF(indexes); i++) {
        struct json_list list = json_list(table, indexes[i], arena);
        while (json_list_next(&list, &one))
            if (!slice_is(json_member_text(one, "IndexStatus", arena), "ACTIVE"))
                return false;
    }
    return true;
}

static bool wait_active(struct copy *copy, struct target *target, const char *table)
{
    struct arena arena;
    bool active = false;
    bool ok = true;
    arena_init(&arena, MEMORY);
    for (int i = 0; ok && !active && i < ACTIVE_TRIES && !atomic_load(&copy->stop); i++) {
        arena_reset(&arena);
        if (i > 0)
            sleep_ms(ACTIVE_MS);
        ok = target_fine(target, target_ask(target, "DescribeTable", "{'TableName':%s}", table));
        active = ok && is_active(json_member(buf_view(&target->response), "Table", &arena), &arena);
    }
    arena_release(&arena);
    return active || (ok && cli_fail(copy->input, "table '%s' does not become active.", table));
}

static bool has_items(struct target *target, const char *table)
{
    return target_ask(target, "Scan", "{'TableName':%s,'Limit':1,'ConsistentRead':true}", table) ==
               200 &&
           json_member_number(buf_view(&target->response), "Count") > 0;
}

// Whether the key of the target's table is that of the source's: names and types, in order.
static bool same_key(struct copy_table *table, struct slice there)
{
    struct json_list schema = json_list(there, "KeySchema", &table->arena);
    struct slice one;
    size_t count = 0;
    while (json_list_next(&schema, &one)) {
        struct slice name = json_member_text(one, "AttributeName", &table->arena);
        if (count >= table->key_count || !slice_equal(name, table->keys[count]))
            return false;
        count++;
        struct json_list types = json_list(there, "AttributeDefinitions", &table->arena);
        struct slice type;
        while (json_list_next(&types, &type)) {
            if (!slice_equal(json_member_text(type, "AttributeName", &table->arena), name))
                continue;
            for (size_t i = 0; i < table->source.key_count; i++)
                if (slice_equal(table->source.keys[i].name, name) &&
                    !slice_is(json_member_text(type, "AttributeType", &table->arena),
                              value_type_name(table->source.keys[i].type)))
                    return false;
        }
    }
    return count == table->key_count;
}

static bool admit(struct copy *copy, struct copy_table *table, struct slice there)
{
    if (!same_key(table, there))
        return cli_fail(copy->input, "table '%s' of %s has another key.", table->name,
                        copy->target.text);
    if (table->resumed || copy->overwrite || !has_items(&copy->target.target, table->name))
        return true;
    return cli_fail(copy->input,
                    "table '%s' of %s has items. Delete it, or give --overwrite to write over "
                    "what has the same keys.",
                    table->name, copy->target.text);
}

bool define_create(struct copy *copy, struct copy_table *table)
{
    struct arena arena;
    struct buf body;
    struct target *target = &copy->target.target;
    int status = target_ask(target, "DescribeTable", "{'TableName':%s}", table->name);
    if (status == 200) {
        struct slice answer = arena_copy(&table->arena, buf_view(&target->response));
        return wait_active(copy, target, table->name) &&
               admit(copy, table, json_member(answer, "Table", &table->arena));
    }
    if (!is_error(target, "ResourceNotFoundException"))
        return target_fine(target, status);
    if (table->resumed)
        return cli_fail(copy->input,
                        "table '%s' is not at %s any more. Give --restart to copy it anew.",
                        table->name, copy->target.text);
    arena_init(&arena, MEMORY);
    buf_init(&body, LIMIT_BODY);
    make_request(copy, table, &body, &arena);
    bool ok = target_fine(target, target_call(target, "CreateTable", buf_view(&body))) &&
              wait_active(copy, target, table->name);
    buf_release(&body);
    arena_release(&arena);
    return ok;
}

// ---- Streams --------------------------------------------------------------------------------

bool define_stream(struct copy *copy, struct copy_table *table)
{
    struct target *source = &copy->source.target;
    struct slice stream =
        json_member(table->source.description, "StreamSpecification", &table->arena);
    struct slice view = json_member_text(stream, "StreamViewType", &table->arena);
    if (slice_is(view, "NEW_IMAGE") || slice_is(view, "NEW_AND_OLD_IMAGES"))
        return true;
    if (view.len > 0)
        return cli_fail(copy->input,
                        "the stream of table '%s' has no new images (%.*s), so that its changes "
                        "cannot be followed.",
                        table->name, SLICE_FMT(view));
    cli_note(copy->input, "the stream of table '%s' is switched on, and stays on.", table->name);
    return target_fine(source,
                       target_ask(source, "UpdateTable",
                                  "{'TableName':%s,'StreamSpecification':{'StreamEnabled':true,"
                                  "'StreamViewType':'NEW_AND_OLD_IMAGES'}}",
                                  table->name)) &&
           wait_active(copy, source, table->name);
}

// ---- Settings -------------------------------------------------------------------------------

// What the target says to a setting: that it does not have it is told; all else is a failure.
static bool settle(struct copy *copy, const char *table, const char *what, int status)
{
    struct target *target = &copy->target.target;
    if (status == 200)
        return true;
    if (is_error(target, "UnknownOperation") || is_error(target, "not supported") ||
        is_error(target, "NotImplemented")) {
        cli_note(copy->input, "%s has no %s, which table '%s' has at the source.",
                 copy->target.text, what, table);
        return true;
    }
    // Whoever resumes finds it done.
    return is_error(target, "already enabled") || target_fine(target, status);
}

static bool set_expiry(struct copy *copy, struct copy_table *table)
{
    struct target *source = &copy->source.target;
    if (target_ask(source, "DescribeTimeToLive", "{'TableName':%s}", table->name) != 200)
        return true; // it has no such thing
    struct slice said =
        json_member(buf_view(&source->response), "TimeToLiveDescription", &table->arena);
    struct slice name = json_member_text(said, "AttributeName", &table->arena);
    struct slice status = json_member_text(said, "TimeToLiveStatus", &table->arena);
    if (!slice_is(status, "ENABLED") && !slice_is(status, "ENABLING"))
        return true;
    return settle(copy, table->name, "expiry",
                  target_ask(&copy->target.target, "UpdateTimeToLive",
                             "{'TableName':%s,'TimeToLiveSpecification':{'AttributeName':%.*s,"
                             "'Enabled':true}}",
                             table->name, SLICE_FMT(name)));
}

static bool set_recovery(struct copy *copy, struct copy_table *table)
{
    struct target *source = &copy->source.target;
    if (target_ask(source, "DescribeContinuousBackups", "{'TableName':%s}", table->name) != 200)
        return true;
    if (!slice_contains(buf_view(&source->response),
                        SLICE_LIT("\"PointInTimeRecoveryStatus\":\"ENABLED\"")))
        return true;
    return settle(copy, table->name, "point-in-time recovery",
                  target_ask(&copy->target.target, "UpdateContinuousBackups",
                             "{'TableName':%s,'PointInTimeRecoverySpecification':{"
                             "'PointInTimeRecoveryEnabled':true}}",
                             table->name));
}

bool define_settings(struct copy *copy, struct copy_table *table)
{
    return set_expiry(copy, table) && set_recovery(copy, table);
}

// ---- Models ---------------------------------------------------------------------------------

static bool is_copied(const struct copy *copy, struct slice name)
{
    for (size_t i = 0; i < copy->table_count; i++)
        if (slice_is(name, copy->tables[i].name))
            return true;
    return false;
}

// Applies the model of a table of the source, which may be that of several.
static bool copy_model(struct copy *copy, struct slice table, struct arena *arena)
{
    struct target *source = &copy->source.target;
    struct target *target = &copy->target.target;
    struct buf body;
    if (!target_fine(source,
                     target_ask(source, "DescribeModel", "{'TableName':%.*s}", SLICE_FMT(table))))
        return false;
    struct slice answer = buf_view(&source->response);
    struct slice text = json_member_text(answer, "Model", arena);
    struct slice file = json_member_text(answer, "FileName", arena);
    buf_init(&body, LIMIT_BODY);
    struct json_writer w = json_writer_to(&body);
    // The rules have removed at the source what they remove.
    json_form(&w, "{'Model':%.*s,'FileName':%.*s,'RemoveItems':true}", SLICE_FMT(text),
              SLICE_FMT(file));
    target->patience_s = 24 * 3600; // all items are looked at before the answer
    bool ok = target_fine(target, target_call(target, "ApplyModel", buf_view(&body))) &&
              change_each_table(target, change_attached);
    buf_release(&body);
    return ok;
}

bool define_models(struct copy *copy)
{
    struct target *source = &copy->source.target;
    struct arena arena;
    struct slice one;
    bool ok = true;
    if (!copy->source.dolmen)
        return true;
    if (!target_fine(source, target_ask(source, "ListModels", "{}")))
        return false;
    arena_init(&arena, MEMORY);
    struct slice answer = arena_copy(&arena, buf_view(&source->response));
    struct json_list models = json_list(answer, "Models", &arena);
    struct slice last = VALUE_NONE;
    while (ok && json_list_next(&models, &one)) {
        struct slice name = json_member_text(one, "TableName", &arena);
        struct slice digest = json_member_text(one, "Digest", &arena);
        if (!is_copied(copy, name) || slice_equal(digest, last))
            continue;
        last = digest;
        if (copy->target.dolmen)
            ok = copy_model(copy, name, &arena);
        else
            cli_note(copy->input, "%s keeps no models: that of table '%.*s' stays behind.",
                     copy->target.text, SLICE_FMT(name));
    }
    arena_release(&arena);
    return ok;
}
