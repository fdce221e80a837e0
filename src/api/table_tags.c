// Tags: TagResource, UntagResource and ListTagsOfResource, and the tags of CreateTable.
// They are kept in the table's settings as an M of S, so a key is there once.
#include "api/table_ops.h"

enum { TAGS_MAX = 50, TAG_KEY_MAX = 128, TAG_VALUE_MAX = 256 }; // AWS

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

// ---- Judging tags -------------------------------------------------------------------------------

// Letters and digits of any script, spaces, and + - = . _ : / @
static bool tag_text_valid(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = text.ptr[i];
        bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                      (byte >= '0' && byte <= '9');
        // U+1F000 to U+1FFFF are pictures.
        bool picture = byte == 0xf0 && i + 1 < text.len && text.ptr[i + 1] == 0x9f;
        bool mark = byte != 0 && byte < 0x80 && strchr("+-=._:/@ ", byte) != NULL;
        if (!letter && !mark && (byte < 0x80 || picture))
            return false;
    }
    return true;
}

static size_t characters(struct slice text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += (text.ptr[i] & 0xc0) != 0x80;
    return count;
}

static bool key_check(struct slice key, struct error *error)
{
    if (key.ptr == NULL)
        return error_validation(error, "The Tag Key provided is invalid, Key: null");
    if (key.len == 0 || characters(key) > TAG_KEY_MAX || !tag_text_valid(key))
        return error_validation(error, "The Tag Key provided is invalid, Key: %.*s",
                                SLICE_FMT(key));
    return true;
}

static bool tag_check(const struct request_tag *tag, struct error *error)
{
    if (!key_check(tag->key, error))
        return false;
    if (slice_begins(tag->key, SLICE_LIT("aws:")))
        return error_validation(error, "Tag Key cannot be prefixed with aws:, Key: %.*s",
                                SLICE_FMT(tag->key));
    if (tag->value.ptr == NULL)
        return error_validation(error, "The Tag Value provided is invalid, Value: null");
    if (characters(tag->value) > TAG_VALUE_MAX || !tag_text_valid(tag->value))
        return error_validation(error, "The Tag Value provided is invalid, Value: %.*s",
                                SLICE_FMT(tag->value));
    return true;
}

static bool too_many(struct error *error)
{
    return error_validation(error,
                            "Number of Tags exceed the current limit for the provided ResourceArn");
}

bool tags_check(const struct field_list *tags, struct error *error)
{
    const struct request_tag *rows = tags->items;
    if (tags->count > TAGS_MAX)
        return too_many(error);
    for (size_t i = 0; i < tags->count; i++) {
        if (!tag_check(&rows[i], error))
            return false;
        for (size_t k = 0; k < i; k++)
            if (slice_equal(rows[i].key, rows[k].key))
                return error_validation(error,
                                        "Duplicate Tag Keys provided as input: Duplicate Tag Key "
                                        "found %.*s",
                                        SLICE_FMT(rows[i].key));
    }
    return true;
}

// ---- Changing -----------------------------------------------------------------------------------

static bool names_key(const struct field_list *keys, struct slice name)
{
    const struct slice *rows = keys->items;
    for (size_t i = 0; i < keys->count; i++)
        if (slice_equal(rows[i], name))
            return true;
    return false;
}

// The tags without those keys, and with those tags; a repeated name keeps the last value.
static bool edit(struct table *table, struct table_settings *settings,
                 const struct field_list *without, const struct field_list *with)
{
    const struct request_tag *rows = with->items;
    struct buf record;
    struct value_builder b;
    struct value_iter iter;
    buf_init(&record, 1 << 20);
    value_builder_init(&b, &record);
    value_open_map(&b);
    if (settings->tags.len > 0) {
        value_iter_init(&iter, settings->tags);
        while (value_iter_next(&iter)) {
            if (names_key(without, iter.name))
                continue;
            value_name(&b, iter.name);
            value_put(&b, iter.value);
        }
    }
    for (size_t i = 0; i < with->count; i++) {
        value_name(&b, rows[i].key);
        value_put_string(&b, rows[i].value);
    }
    (void)value_close(&b);
    settings->tags = record.failed ? VALUE_NONE : arena_copy(&table->arena, buf_view(&record));
    value_builder_release(&b);
    buf_release(&record);
    return settings->tags.ptr != NULL;
}

bool tags_add(struct table *table, struct table_settings *settings, const struct field_list *tags,
              struct error *error)
{
    const struct field_list none = {.count = 0};
    if (tags->count == 0)
        return true;
    if (!edit(table, settings, &none, tags))
        return error_budget(error);
    return value_count(settings->tags) <= TAGS_MAX || too_many(error);
}

// ---- Operations ---------------------------------------------------------------------------------

static bool tag_alter(void *context, struct table *current, struct table **next,
                      struct error *error)
{
    const struct tag_resource_request *request = context;
    struct table_settings settings;
    if (current == NULL)
        return arn_not_found(request->resource_arn, error);
    struct table *table = table_begin(current, &settings, error);
    if (table == NULL || !tags_add(table, &settings, &request->tags, error))
        return table_abandon(table);
    return table_end(table, &settings, next, error);
}

enum step tag_resource_start(struct api_call *call, const void *request)
{
    const struct tag_resource_request *tag = request;
    struct slice name = {NULL, 0};
    if (!tagged_table(tag->resource_arn, &name, &call->error))
        return STEP_FAILED;
    if (tag->tags.count == 0) {
        (void)error_validation(&call->error, "Atleast one Tag needs to be provided as Input.");
        return STEP_FAILED;
    }
    if (!tags_check(&tag->tags, &call->error))
        return STEP_FAILED;
    return call_alter(call, name, tag_alter, call->state->request);
}

// The service answers with nothing; an empty object is JSON, too.
void tag_resource_finish(struct api_call *call, const void *request)
{
    (void)request;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_close_object(&w);
}

static bool untag_alter(void *context, struct table *current, struct table **next,
                        struct error *error)
{
    const struct untag_resource_request *request = context;
    const struct field_list none = {.count = 0};
    struct table_settings settings;
    if (current == NULL)
        return error_set(error, ERR_RESOURCE_NOT_FOUND, "Requested resource not found");
    struct table *table = table_begin(current, &settings, error);
    if (table == NULL)
        return false;
    if (!edit(table, &settings, &request->tag_keys, &none)) {
        (void)error_budget(error);
        return table_abandon(table);
    }
    return table_end(table, &settings, next, error);
}

enum step untag_resource_start(struct api_call *call, const void *request)
{
    const struct untag_resource_request *untag = request;
    const struct slice *keys = untag->tag_keys.items;
    struct slice name = {NULL, 0};
    if (!tagged_table(untag->resource_arn, &name, &call->error))
        return STEP_FAILED;
    if (untag->tag_keys.count == 0) {
        (void)error_validation(&call->error, "Atleast one Tag Key needs to be provided as Input.");
        return STEP_FAILED;
    }
    if (untag->tag_keys.count > TAGS_MAX) {
        (void)too_many(&call->error);
        return STEP_FAILED;
    }
    for (size_t i = 0; i < untag->tag_keys.count; i++)
        if (!key_check(keys[i], &call->error))
            return STEP_FAILED;
    return call_alter(call, name, untag_alter, call->state->request);
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
    if (table == NULL) {
        (void)arn_not_found(list->resource_arn, &call->error);
        return STEP_FAILED;
    }
    struct table_settings settings;
    table_settings_read(table, &settings);
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    write_tags(&w, settings.tags);
    json_close_object(&w);
    table_release(table);
    return STEP_READY;
}
