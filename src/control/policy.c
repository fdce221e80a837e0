// Resource policies: PutResourcePolicy, GetResourcePolicy, DeleteResourcePolicy, and the policy of
// CreateTable. A policy is judged, kept and read back; nothing here is authorized by it.
//
// The policies of a table and of its stream are kept in the table's settings: an M by resource
// ("table", or the stream's label) of M {document, revision}. Revisions are times in milliseconds,
// and each is greater than the one before.
#include "tables/policy.h"
#include "call/table_ops.h"

#include <stdio.h>

enum { REVISION_TEXT = 24 };

static const struct slice no_policy = {(const uint8_t *)"NO_POLICY", 9};

// ---- The resource -----------------------------------------------------------------

struct policy_resource {
    struct slice arn;
    struct slice table;
    struct slice label; // of the stream; empty for the table itself
};

static bool resource_invalid(struct slice arn, struct error *error)
{
    return error_validation(error, "Invalid ResourceArn provided as input %.*s", SLICE_FMT(arn));
}

// arn:aws:dynamodb:<region>:<account>:table/<name>[/stream/<label>]
static bool resource_parse(struct slice text, struct policy_resource *out, struct error *error)
{
    static const struct slice stream = {(const uint8_t *)"/stream/", 8};
    *out = (struct policy_resource){.arn = text};
    const uint8_t *at = memmem(text.ptr, text.len, stream.ptr, stream.len);
    struct slice table = at == NULL ? text : slice_of(text.ptr, (size_t)(at - text.ptr));
    out->table = table_name_plain(table);
    if (out->table.ptr == table.ptr)
        return resource_invalid(text, error);
    if (at != NULL) {
        out->label = slice_of(at + stream.len, text.len - table.len - stream.len);
        if (out->label.len == 0)
            return resource_invalid(text, error);
    }
    return true;
}

static bool resource_not_found(const struct policy_resource *resource, struct error *error)
{
    if (resource->label.len > 0)
        return error_set(error, ERR_RESOURCE_NOT_FOUND,
                         "Requested resource not found: Stream: %.*s not found",
                         SLICE_FMT(resource->arn));
    return table_not_found(error, resource->table);
}

// Whether the resource is there: the table is, and the stream, if one is meant, is its latest one.
static bool resource_find(const struct policy_resource *resource, const struct table *table,
                          struct table_settings *settings, struct error *error)
{
    char text[TABLE_STREAM_LABEL];
    if (table == NULL)
        return resource_not_found(resource, error);
    table_settings_read(table, settings);
    if (resource->label.len == 0)
        return true;
    return (settings->stream_ms != 0 &&
            slice_equal(resource->label,
                        table_stream_label(settings->stream_ms, text, sizeof(text)))) ||
           resource_not_found(resource, error);
}

static struct slice resource_entry(const struct policy_resource *resource)
{
    return resource->label.len == 0 ? SLICE_LIT(POLICY_OF_TABLE) : resource->label;
}

#define POLICY_NOT_FOUND "Resource-based policy not found for the provided ResourceArn: "

static bool policy_not_found(const struct policy_resource *resource, struct error *error)
{
    return error_set(error, ERR_POLICY_NOT_FOUND, POLICY_NOT_FOUND "%.*s",
                     SLICE_FMT(resource->arn));
}

// Whether the policy that is there (VALUE_NONE: there is none) has the revision that is expected.
static bool revision_check(const struct policy_resource *resource, struct slice policy,
                           struct slice expected, struct error *error)
{
    char text[REVISION_TEXT];
    if (expected.len == 0)
        return true;
    if (policy.len == 0)
        return slice_equal(expected, no_policy) || policy_not_found(resource, error);
    (void)snprintf(text, sizeof(text), "%lld", (long long)map_integer(policy, "revision"));
    return slice_is(expected, text) ||
           error_set(error, ERR_POLICY_NOT_FOUND,
                     POLICY_NOT_FOUND
                     "Requested update for policy with revision id %.*s, but the policy associated "
                     "to target table %.*s has revision id %s.",
                     SLICE_FMT(expected), SLICE_FMT(resource->table), text);
}

static void write_revision(struct json_writer *w, int64_t revision)
{
    char text[REVISION_TEXT];
    (void)snprintf(text, sizeof(text), "%lld", (long long)revision);
    json_put_text(w, "RevisionId", text);
}

// ---- Putting ---------------------------------------------------------------------------------

struct put_change {
    const struct put_resource_policy_request *request;
    struct policy_resource resource;
    int64_t now_ms;
};

static bool put_edit(void *context, struct table *table, struct table_settings *settings,
                     struct error *error)
{
    const struct put_change *put = context;
    struct slice entry = resource_entry(&put->resource);
    if (!resource_find(&put->resource, table, settings, error))
        return false;
    struct slice policy = map_value(settings->policies, entry);
    bool must_be_new = slice_equal(put->request->expected_revision_id, no_policy);
    if (must_be_new && policy.len > 0)
        return error_set(error, ERR_POLICY_NOT_FOUND,
                         POLICY_NOT_FOUND "Requested policy update expecting none to be present "
                                          "for table %.*s, but a policy exists with revision id "
                                          "%lld.",
                         SLICE_FMT(put->resource.table),
                         (long long)map_integer(policy, "revision"));
    if (!must_be_new &&
        !revision_check(&put->resource, policy, put->request->expected_revision_id, error))
        return false;
    // The same document again keeps its revision.
    return slice_equal(map_text(policy, "document"), put->request->policy) ||
           policy_put(table, settings, entry, put->request->policy, put->now_ms, error);
}

enum step put_resource_policy_start(struct api_call *call, const void *request)
{
    struct put_change put = {.request = request, .now_ms = call_now(call)};
    if (!resource_parse(put.request->resource_arn, &put.resource, &call->error) ||
        !policy_check(put.request->policy, &call->arena, &call->error))
        return STEP_FAILED;
    return call_edit(call, put.resource.table, put_edit, &put, sizeof(put));
}

void put_resource_policy_finish(struct api_call *call, const void *request)
{
    (void)request;
    const struct put_change *put = call->state->own;
    struct table_settings settings;
    call_changed_settings(call, &settings);
    struct slice policy = map_value(settings.policies, resource_entry(&put->resource));
    struct json_writer w = call_open(call);
    write_revision(&w, map_integer(policy, "revision"));
    json_close_object(&w);
}

// ---- Deleting --------------------------------------------------------------------------------

struct delete_change {
    const struct delete_resource_policy_request *request;
    struct policy_resource resource;
    int64_t revision; // out: of the policy that went; 0 if there was none
};

static bool delete_edit(void *context, struct table *table, struct table_settings *settings,
                        struct error *error)
{
    struct delete_change *delete = context;
    struct slice entry = resource_entry(&delete->resource);
    if (!resource_find(&delete->resource, table, settings, error))
        return false;
    struct slice policy = map_value(settings->policies, entry);
    if (policy.len == 0 && delete->request->expected_revision_id.len > 0)
        return policy_not_found(&delete->resource, error);
    if (!revision_check(&delete->resource, policy, delete->request->expected_revision_id, error))
        return false;
    delete->revision = map_integer(policy, "revision");
    return policy.len == 0 || map_set(&table->arena, &settings->policies, entry, VALUE_NONE, error);
}

enum step delete_resource_policy_start(struct api_call *call, const void *request)
{
    struct delete_change delete = {.request = request};
    if (!resource_parse(delete.request->resource_arn, &delete.resource, &call->error))
        return STEP_FAILED;
    return call_edit(call, delete.resource.table, delete_edit, &delete, sizeof(delete));
}

void delete_resource_policy_finish(struct api_call *call, const void *request)
{
    (void)request;
    const struct delete_change *delete = call->state->own;
    struct json_writer w = call_open(call);
    if (delete->revision != 0)
        write_revision(&w, delete->revision);
    json_close_object(&w);
}

// ---- Reading ----------------------------------------------------------------------

enum step get_resource_policy_start(struct api_call *call, const void *request)
{
    const struct get_resource_policy_request *get = request;
    struct policy_resource resource;
    struct table_settings settings;
    if (!resource_parse(get->resource_arn, &resource, &call->error))
        return STEP_FAILED;
    struct table *table = engine_table(call_engine(call), resource.table);
    enum step step = STEP_FAILED;
    if (resource_find(&resource, table, &settings, &call->error)) {
        struct slice policy = map_value(settings.policies, resource_entry(&resource));
        if (policy.len == 0) {
            (void)policy_not_found(&resource, &call->error);
        } else {
            struct json_writer w = call_open(call);
            json_put_string(&w, "Policy", map_text(policy, "document"));
            write_revision(&w, map_integer(policy, "revision"));
            json_close_object(&w);
            step = STEP_READY;
        }
    }
    if (table != NULL)
        table_release(table);
    return step;
}
