// See shards.h.
#include "cli/shards.h"

#include "json/shape.h"

#include <stdlib.h>

enum { PAGE_MEMORY = 256 << 20, NOTE_MAX = 16 << 20 };

// ---- Beginning and end -----------------------------------------------------------------------

bool shards_open(struct shards *stream, struct target *target, const char *table)
{
    *stream = (struct shards){.target = target, .table = table};
    arena_init(&stream->page, PAGE_MEMORY);
    stream->shards = memory_zeroed(SHARDS_MAX * sizeof(*stream->shards));
    if (!target_fine(target, target_ask(target, "DescribeTable", "{'TableName':%s}", table)))
        return false;
    struct slice described = json_member(buf_view(&target->response), "Table", &stream->page);
    struct slice arn = json_member_text(described, "LatestStreamArn", &stream->page);
    if (arn.len > 0) {
        stream->arn = slice_dup(arn);
    }
    arena_reset(&stream->page);
    return true;
}

static void forget(struct shards *stream)
{
    for (size_t i = 0; i < stream->count; i++)
        free(stream->shards[i].iterator);
    memset(stream->shards, 0, stream->count * sizeof(*stream->shards));
    stream->count = 0;
}

void shards_close(struct shards *stream)
{
    if (stream->shards != NULL)
        forget(stream);
    free(stream->shards);
    free(stream->arn);
    arena_release(&stream->page);
    *stream = (struct shards){.target = NULL};
}

// ---- Shards ----------------------------------------------------------------------------------

static struct shard *shard_of(struct shards *stream, struct slice id)
{
    for (size_t i = 0; i < stream->count; i++)
        if (slice_is(id, stream->shards[i].id))
            return &stream->shards[i];
    if (stream->count == SHARDS_MAX || id.len == 0 || id.len >= sizeof(stream->shards[0].id))
        return NULL;
    struct shard *added = &stream->shards[stream->count++];
    (void)snprintf(added->id, sizeof(added->id), "%.*s", SLICE_FMT(id));
    return added;
}

// All pages of DescribeStream. Shards that have an end are closed.
static bool find_shards(struct shards *stream, bool closed_are_done)
{
    char last[128] = "";
    struct target *target = stream->target;
    do {
        int status =
            last[0] == 0
                ? target_ask(target, "DescribeStream", "{'StreamArn':%s}", stream->arn)
                : target_ask(target, "DescribeStream",
                             "{'StreamArn':%s,'ExclusiveStartShardId':%s}", stream->arn, last);
        if (!target_fine(target, status))
            return false;
        struct slice described =
            json_member(buf_view(&target->response), "StreamDescription", &stream->page);
        struct json_list list = json_list(described, "Shards", &stream->page);
        struct slice one;
        while (json_list_next(&list, &one)) {
            struct shard *shard = shard_of(stream, json_member_text(one, "ShardId", &stream->page));
            if (shard == NULL)
                return cli_fail(target->input, "The stream has too many shards.");
            (void)snprintf(shard->parent, sizeof(shard->parent), "%.*s",
                           SLICE_FMT(json_member_text(one, "ParentShardId", &stream->page)));
            struct slice range = json_member(one, "SequenceNumberRange", &stream->page);
            if (closed_are_done &&
                json_member_text(range, "EndingSequenceNumber", &stream->page).len > 0)
                shard->done = true;
        }
        (void)snprintf(
            last, sizeof(last), "%.*s",
            SLICE_FMT(json_member_text(described, "LastEvaluatedShardId", &stream->page)));
        arena_reset(&stream->page);
    } while (last[0] != 0);
    return true;
}

static bool parent_done(const struct shards *stream, const struct shard *shard)
{
    for (size_t i = 0; i < stream->count; i++)
        if (strcmp(stream->shards[i].id, shard->parent) == 0)
            return stream->shards[i].done;
    return true;
}

static bool find_iterator(struct shards *stream, struct shard *shard, bool newest)
{
    struct target *target = stream->target;
    int status =
        shard->sequence[0] != 0
            ? target_ask(target, "GetShardIterator",
                         "{'StreamArn':%s,'ShardId':%s,'ShardIteratorType':'AFTER_SEQUENCE_NUMBER',"
                         "'SequenceNumber':%s}",
                         stream->arn, shard->id, shard->sequence)
            : target_ask(target, "GetShardIterator",
                         "{'StreamArn':%s,'ShardId':%s,'ShardIteratorType':%s}", stream->arn,
                         shard->id, newest ? "LATEST" : "TRIM_HORIZON");
    if (!target_fine(target, status))
        return false;
    struct slice iterator =
        json_member_text(buf_view(&target->response), "ShardIterator", &stream->page);
    free(shard->iterator);
    shard->iterator = slice_dup(iterator);
    return true;
}

bool shards_newest(struct shards *stream)
{
    forget(stream);
    bool ok = find_shards(stream, true);
    for (size_t i = 0; i < stream->count && ok; i++)
        ok = stream->shards[i].done || find_iterator(stream, &stream->shards[i], true);
    arena_reset(&stream->page);
    return ok;
}

// ---- Where it stands -------------------------------------------------------------------------

void shards_note(const struct shards *stream, struct buf *out)
{
    struct json_writer w = json_writer_to(out);
    json_form(&w, "{'Stream':%s,'Shards':[", stream->arn == NULL ? "" : stream->arn);
    for (size_t i = 0; i < stream->count; i++)
        if (stream->shards[i].done || stream->shards[i].sequence[0] != 0)
            json_form(&w, "{'Id':%s,'Sequence':%s,'Done':%hhd}", stream->shards[i].id,
                      stream->shards[i].sequence, stream->shards[i].done);
    json_form(&w, "]}");
}

bool shards_resume(struct shards *stream, struct slice note)
{
    forget(stream);
    struct slice one;
    if (stream->arn == NULL ||
        !slice_is(json_member_text(note, "Stream", &stream->page), stream->arn))
        return false;
    struct json_list list = json_list(note, "Shards", &stream->page);
    while (json_list_next(&list, &one)) {
        struct shard *shard = shard_of(stream, json_member_text(one, "Id", &stream->page));
        if (shard == NULL)
            break;
        shard->done = json_member_flag(one, "Done");
        (void)snprintf(shard->sequence, sizeof(shard->sequence), "%.*s",
                       SLICE_FMT(json_member_text(one, "Sequence", &stream->page)));
    }
    arena_reset(&stream->page);
    return true;
}

// ---- Reading ---------------------------------------------------------------------------------

// The sequence of the last record of a page.
static struct slice last_sequence(struct shards *stream, struct slice answer)
{
    struct json_list list = json_list(answer, "Records", &stream->page);
    struct slice record;
    struct slice last = slice_of(NULL, 0);
    while (json_list_next(&list, &record))
        last = json_member_text(json_member(record, "dynamodb", &stream->page), "SequenceNumber",
                                &stream->page);
    return last;
}

static bool read_page(struct shards *stream, struct shard *shard,
                      bool (*take)(void *context, struct json_list *records, struct slice note),
                      void *context, bool *any)
{
    struct target *target = stream->target;
    arena_reset(&stream->page);
    if (!target_fine(target, target_ask(target, "GetRecords", "{'ShardIterator':%s,'Limit':1000}",
                                        shard->iterator)))
        return false;
    struct slice answer = arena_copy(&stream->page, buf_view(&target->response));
    if (answer.ptr == NULL)
        return cli_fail(target->input, "A page of the stream is too large.");
    struct slice last = last_sequence(stream, answer);
    struct slice next = json_member_text(answer, "NextShardIterator", &stream->page);
    free(shard->iterator);
    shard->iterator = next.len == 0 ? NULL : slice_dup(next);
    shard->done = next.len == 0;
    if (last.len > 0)
        (void)snprintf(shard->sequence, sizeof(shard->sequence), "%.*s", SLICE_FMT(last));
    if (last.len == 0 && !shard->done)
        return true;
    *any = true;
    struct buf note;
    buf_init(&note, NOTE_MAX);
    shards_note(stream, &note);
    struct json_list records = json_list(answer, "Records", &stream->page);
    bool ok = take(context, &records, buf_view(&note));
    buf_release(&note);
    return ok;
}

bool shards_read(struct shards *stream,
                 bool (*take)(void *context, struct json_list *records, struct slice note),
                 void *context, bool *any)
{
    *any = false;
    if (!find_shards(stream, false))
        return false;
    for (size_t i = 0; i < stream->count; i++) {
        struct shard *shard = &stream->shards[i];
        if (shard->done || !parent_done(stream, shard))
            continue;
        if (shard->iterator == NULL && !find_iterator(stream, shard, false))
            return false;
        if (!read_page(stream, shard, take, context, any))
            return false;
    }
    return true;
}

bool shards_image(struct shards *stream, struct slice record, const char *name, struct slice *out)
{
    struct error error;
    struct slice change = json_member(record, "dynamodb", &stream->page);
    struct slice text = json_member(change, name, &stream->page);
    error_init(&error, &stream->page);
    *out = VALUE_NONE;
    return text.len == 0 || json_decode_item(text, &stream->page, out, &error) ||
           cli_fail(stream->target->input, "A record of the stream cannot be read.");
}
