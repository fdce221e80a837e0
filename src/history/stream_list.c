// ListStreams and DescribeStream.
#include "history/stream_call.h"

bool call_stream_arn(struct api_call *call, const struct stream *stream, struct slice *out)
{
    *out = arn_make(&call->arena,
                    &(struct table_arn){call->region, stream->table, "stream", stream->label});
    return out->ptr != NULL || error_budget(&call->error);
}

bool call_stream_visible(struct api_call *call, const struct stream *stream,
                         const struct table **table)
{
    *table = NULL;
    if (!call->bound)
        return true;
    *table = call_any_table(call, stream->table);
    error_init(&call->error, &call->arena);
    // What an earlier table of that name has left is nobody's.
    return *table != NULL && (stream->log == 0 || stream->log == (*table)->log);
}

bool call_stream(struct api_call *call, struct slice arn, struct stream *out,
                 const struct table **table)
{
    if (!stream_find(call_engine(call), arn, &call->arena, out, &call->error))
        return false;
    return call_stream_visible(call, out, table) ||
           error_set(&call->error, ERR_RESOURCE_NOT_FOUND,
                     "Requested resource not found: Stream: %.*s not found", SLICE_FMT(arn));
}

enum { PAGE_MAX = 100 };

static bool check_limit(struct api_call *call, struct field_int limit, const char *message)
{
    return !limit.set || limit.value <= PAGE_MAX ||
           error_validation(&call->error, INVALID "%s: %d", message, PAGE_MAX);
}

// ---- ListStreams --------------------------------------------------------------------------------

static bool write_stream(struct api_call *call, struct json_writer *w, const struct stream *stream,
                         struct slice *arn)
{
    if (!call_stream_arn(call, stream, arn))
        return false;
    json_form(w, "{'StreamArn':%.*s,'TableName':%.*s,'StreamLabel':%.*s}", SLICE_FMT(*arn),
              SLICE_FMT(stream->table), SLICE_FMT(stream->label));
    return true;
}

// A page of the streams behind `after`; *last is the ARN of its last one if there are more.
static bool write_streams(struct api_call *call, struct json_writer *w,
                          const struct stream_names *names, struct slice after, size_t limit,
                          struct slice *last)
{
    struct slice arn = {NULL, 0};
    size_t written = 0;
    for (size_t i = 0; i < names->count; i++) {
        struct stream stream;
        const struct table *table;
        bool found;
        if (after.len > 0 && slice_compare(names->names[i], after) <= 0)
            continue;
        if (!stream_read(call_engine(call), names->names[i], &call->arena, &stream, &found,
                         &call->error))
            return false;
        if (!found || !call_stream_visible(call, &stream, &table))
            continue;
        if (written == limit) {
            *last = arn;
            return true;
        }
        if (!write_stream(call, w, &stream, &arn))
            return false;
        written++;
    }
    return true;
}

enum step list_streams_start(struct api_call *call, const void *request)
{
    const struct list_streams_request *list = request;
    struct slice after = {NULL, 0};
    struct slice last = {NULL, 0};
    struct stream_names names;
    if (!check_limit(call, list->limit, "Limit cannot be greater than the maximum allowed size"))
        return STEP_FAILED;
    if (list->exclusive_start_stream_arn.ptr != NULL &&
        !stream_parse_arn(list->exclusive_start_stream_arn, &call->arena, &after, &call->error))
        return STEP_FAILED;
    if (!stream_names(call_engine(call), list->table_name, &call->arena, &names, &call->error))
        return STEP_FAILED;
    struct json_writer w = call_open(call);
    json_put_array(&w, "Streams");
    if (!write_streams(call, &w, &names, after,
                       list->limit.set ? (size_t)list->limit.value : PAGE_MAX, &last))
        return STEP_FAILED;
    json_close_array(&w);
    if (last.len > 0)
        json_put_string(&w, "LastEvaluatedStreamArn", last);
    json_close_object(&w);
    return STEP_READY;
}

// ---- DescribeStream -----------------------------------------------------------------------------

static void write_sequence(struct json_writer *w, const char *name, uint64_t sequence)
{
    char text[STREAM_SEQUENCE_TEXT];
    stream_sequence_text(sequence, text);
    json_put_text(w, name, text);
}

static void write_shard(struct json_writer *w, const struct stream_shard *shard)
{
    json_form(w, "{'ShardId':%.*s,'SequenceNumberRange':{", SLICE_FMT(shard->id));
    write_sequence(w, "StartingSequenceNumber", shard->start);
    // A shard in which nothing was written ends where it began.
    if (shard->closed_ms != 0)
        write_sequence(w, "EndingSequenceNumber",
                       shard->end < shard->start ? shard->start : shard->end);
    json_close_object(w);
    if (shard->parent.len > 0)
        json_put_string(w, "ParentShardId", shard->parent);
    json_close_object(w);
}

static bool shard_wanted(const struct describe_stream_request *request,
                         const struct stream_shard *shard)
{
    const struct shard_filter *filter = request->shard_filter;
    return filter == NULL ||
           (filter->shard_id.len > 0 && slice_equal(shard->parent, filter->shard_id));
}

// Where the page begins: behind the shard that is named, or, if it is forgotten, behind its time.
static size_t shards_from(const struct stream *stream, struct slice after)
{
    const struct stream_shard *shard = after.len == 0 ? NULL : stream_shard(stream, after);
    if (shard != NULL)
        return (size_t)(shard - stream->shards) + 1;
    size_t i = 0;
    while (after.len > 0 && i < stream->shard_count &&
           slice_compare(stream->shards[i].id, after) <= 0)
        i++;
    return i;
}

static void write_shards(struct json_writer *w, const struct stream *stream,
                         const struct describe_stream_request *request)
{
    size_t limit = request->limit.set ? (size_t)request->limit.value : PAGE_MAX;
    const struct stream_shard *last = NULL;
    bool more = false;
    json_put_array(w, "Shards");
    for (size_t i = shards_from(stream, request->exclusive_start_shard_id);
         i < stream->shard_count && !more; i++) {
        if (!shard_wanted(request, &stream->shards[i]))
            continue;
        more = limit == 0;
        if (more)
            break;
        last = &stream->shards[i];
        write_shard(w, last);
        limit--;
    }
    json_close_array(w);
    if (more)
        json_put_string(w, "LastEvaluatedShardId", last->id);
}

static void write_keys(struct json_writer *w, const struct stream *stream)
{
    json_put_array(w, "KeySchema");
    for (size_t i = 0; i < stream->key_count; i++)
        json_form(w, "{'AttributeName':%.*s,'KeyType':%s}", SLICE_FMT(stream->keys[i]),
                  i < stream->hash_count ? "HASH" : "RANGE");
    json_close_array(w);
}

enum step describe_stream_start(struct api_call *call, const void *request)
{
    const struct describe_stream_request *describe = request;
    struct stream stream;
    struct slice arn;
    if (!check_limit(call, describe->limit, "Limit cannot be greater than the maximum"))
        return STEP_FAILED;
    if (describe->shard_filter != NULL && describe->shard_filter->type.ptr != NULL &&
        describe->shard_filter->shard_id.ptr == NULL)
        return step_failed(error_validation(
            &call->error, "1 validation error detected: Value null at 'shardFilter.shardId' failed "
                          "to satisfy constraint: Member must not be null"));
    if (describe->shard_filter != NULL && describe->shard_filter->type.ptr == NULL)
        return step_failed(error_validation(
            &call->error, "1 validation error detected: Value 'null' at 'shardFilter.type' "
                          "failed to satisfy constraint: Member must be CHILD_SHARDS"));
    const struct table *table;
    if (!call_stream(call, describe->stream_arn, &stream, &table) ||
        !call_stream_arn(call, &stream, &arn))
        return STEP_FAILED;
    struct json_writer w = call_open(call);
    json_put_object(&w, "StreamDescription");
    json_put_string(&w, "StreamArn", arn);
    json_put_string(&w, "StreamLabel", stream.label);
    json_put_text(&w, "StreamStatus", stream.disabled_ms == 0 ? "ENABLED" : "DISABLED");
    json_put_string(&w, "StreamViewType", stream.view);
    json_put_time(&w, "CreationRequestDateTime", stream.created_ms);
    json_put_string(&w, "TableName", stream.table);
    write_keys(&w, &stream);
    write_shards(&w, &stream, describe);
    json_close_object(&w);
    json_close_object(&w);
    return STEP_READY;
}
