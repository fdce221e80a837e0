// Tags: TagResource, UntagResource and ListTagsOfResource, and the tags of CreateTable.
// They are kept in the table's settings as an M of S, so a key is there once.
#include "call/table_ops.h"
#include "tables/tags.h"

// ---- The resource ---------------------------------------------------------------------------

// The name of the table that an ARN means. Tables are the only thing that has tags here.
static bool tagged_table(struct slice arn, struct slice *name, struct error *error)
{
    if (arn.ptr == NULL)
        return error_validation(error, "Invalid TableArn");
    if (!slice_begins(arn, SLICE_LIT("arn:")))
        return error_validation(error,
                                "One or more parameter values were invalid: ARNs must start with "
                                "'arn:': %.*s",
                                SLICE_FMT(arn));
    *name = table_name_plain(arn);
    if (name->ptr != arn.ptr)
        return true;
    if (slice_contains(arn, SLICE_LIT(":dynamodb:")) && slice_contains(arn, SLICE_LIT("/index/")))
        return error_validation(error,
                                "One or more parameter values were invalid: Invalid resource arn "
                                "provided, only table or stream is accepted. Provided resource "
                                "arn: %.*s",
                                SLICE_FMT(arn));
    return error_validation(error, "Invalid TableArn: Invalid ResourceArn provided as input %.*s",
                            SLICE_FMT(arn));
}

static bool arn_not_found(struct slice arn, struct error *error)
{
    return error_set(error, ERR_RESOURCE_NOT_FOUND,
                     "Requested resource not found: ResourcArn: %.*s not found", SLICE_FMT(arn));
}

// ---- Operations ---------------------------------------------------------------------------------

// The context is the request.
static bool tag_edit(void *context, struct table *table, struct table_settings *settings,
                     struct error *error)
{
    const struct tag_resource_request *request = context;
    return table == NULL ? arn_not_found(request->resource_arn, error)
                         : tags_add(table, settings, &request->tags, error);
}

static bool untag_edit(void *context, struct table *table, struct table_settings *settings,
                       struct error *error)
{
    const struct untag_resource_request *request = context;
    return table == NULL ? error_set(error, ERR_RESOURCE_NOT_FOUND, "Requested resource not found")
                         : tags_remove(table, settings, &request->tag_keys, error);
}

enum step tag_resource_start(struct api_call *call, const void *request)
{
    const struct tag_resource_request *tag = request;
    struct slice name = {NULL, 0};
    if (!tagged_table(tag->resource_arn, &name, &call->error) ||
        (tag->tags.count == 0 &&
         !error_validation(&call->error, "Atleast one Tag needs to be provided as Input.")) ||
        !tags_check(&tag->tags, &call->error))
        return STEP_FAILED;
    return call_edit(call, name, tag_edit, tag, sizeof(*tag));
}

enum step untag_resource_start(struct api_call *call, const void *request)
{
    const struct untag_resource_request *untag = request;
    struct slice name = {NULL, 0};
    if (!tagged_table(untag->resource_arn, &name, &call->error) ||
        (untag->tag_keys.count == 0 &&
         !error_validation(&call->error, "Atleast one Tag Key needs to be provided as Input.")) ||
        !tags_check_keys(&untag->tag_keys, &call->error))
        return STEP_FAILED;
    return call_edit(call, name, untag_edit, untag, sizeof(*untag));
}

// The service answers both with nothing, not even an empty object.
void tag_resource_finish(struct api_call *call, const void *request)
{
    (void)call;
    (void)request;
}

void untag_resource_finish(struct api_call *call, const void *request)
{
    tag_resource_finish(call, request);
}

static void write_tags(struct json_writer *w, struct slice tags)
{
    struct value_iter iter;
    json_put_array(w, "Tags");
    if (tags.len > 0) {
        value_iter_init(&iter, tags);
        while (value_iter_next(&iter)) {
            json_open_object(w);
            json_put_string(w, "Key", iter.name);
            json_put_string(w, "Value", value_bytes(iter.value));
            json_close_object(w);
        }
    }
    json_close_array(w);
}

// Fifty tags fit in one page, so there is never a NextToken.
enum step list_tags_of_resource_start(struct api_call *call, const void *request)
{
    const struct list_tags_of_resource_request *list = request;
    struct slice name = {NULL, 0};
    if (!tagged_table(list->resource_arn, &name, &call->error))
        return STEP_FAILED;
    struct table *table = engine_table(call_engine(call), name);
    if (table == NULL)
        return step_failed(arn_not_found(list->resource_arn, &call->error));
    struct table_settings settings;
    table_settings_read(table, &settings);
    struct json_writer w = call_open(call);
    write_tags(&w, settings.tags);
    json_close_object(&w);
    table_release(table);
    return STEP_READY;
}
