// The record of a stream: its bytes, its names, finding it.
#include "stream/stream.h"

#include "engine/log.h"
#include "tables/arn.h"
#include "value/map.h"

#include <stdio.h>

// ---- Names ------------------------------------------------------------------------------------

struct slice stream_name(struct arena *arena, struct slice table, struct slice label)
{
    const char *name =
        arena_printf(arena, STREAM_PREFIX "%.*s/%.*s", SLICE_FMT(table), SLICE_FMT(label));
    return name == NULL ? VALUE_NONE : slice_str(name);
}

bool stream_parse_arn(struct slice text, struct arena *arena, struct slice *name,
                      struct error *error)
{
    struct slice table;
    struct slice label;
    if (!arn_of_part(text, "stream", &table, &label) || table.len == 0 || label.len == 0 ||
        memchr(label.ptr, '/', label.len) != NULL)
        return error_validation(error, "Invalid StreamArn");
    *name = stream_name(arena, table, label);
    return name->ptr != NULL || error_budget(error);
}

void stream_sequence_text(uint64_t sequence, char text[STREAM_SEQUENCE_TEXT])
{
    ensure(snprintf(text, STREAM_SEQUENCE_TEXT, "1%020llu", (unsigned long long)sequence) ==
           STREAM_SEQUENCE_TEXT - 1);
}

bool stream_sequence_parse(struct slice text, uint64_t *out)
{
    if (text.len != STREAM_SEQUENCE_TEXT - 1 || text.ptr[0] != '1')
        return false;
    uint64_t value = 0;
    for (size_t i = 1; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text.ptr[i] - '0'), &value))
            return false;
    }
    *out = value;
    return value < INT64_MAX; // far beyond what is ever written
}

// ---- The record ---------------------------------------------------------------------------------

static const struct map_row shard_rows[] = {
    MAP_SAME(stream_shard, TEXT, id),           MAP_SAME(stream_shard, TEXT, parent),
    MAP_SAME(stream_shard, INTEGER, start),     MAP_SAME(stream_shard, INTEGER, end),
    MAP_SAME(stream_shard, INTEGER, trim),      MAP_SAME(stream_shard, INTEGER, low),
    MAP_SAME(stream_shard, INTEGER, high),      MAP_SAME(stream_shard, INTEGER, created_ms),
    MAP_SAME(stream_shard, INTEGER, closed_ms),
};

static const struct map_row stream_rows[] = {
    MAP_SAME(stream, TEXT, table),          MAP_SAME(stream, TEXT, label),
    MAP_SAME(stream, TEXT, view),           MAP_SAME(stream, INTEGER, hash_count),
    MAP_SAME(stream, SMALL, log),           MAP_SAME(stream, INTEGER, created_ms),
    MAP_SAME(stream, INTEGER, disabled_ms), MAP_SAME(stream, INTEGER, trim),
    MAP_SAME(stream, INTEGER, stamp_ms),    MAP_SAME(stream, SMALL, made),
};

bool stream_encode(const struct stream *stream, struct arena *arena, struct slice *out,
                   struct error *error)
{
    struct value_maker maker;
    struct value_builder *b = &maker.b;
    map_begin(&maker);
    map_put_rows(b, stream_rows, COUNT_OF(stream_rows), stream);
    value_name(b, SLICE_LIT("keys"));
    value_open_list(b);
    for (size_t i = 0; i < stream->key_count; i++)
        value_put_string(b, stream->keys[i]);
    (void)value_close(b);
    value_name(b, SLICE_LIT("shards"));
    value_open_list(b);
    for (size_t i = 0; i < stream->shard_count; i++) {
        value_open_map(b);
        map_put_rows(b, shard_rows, COUNT_OF(shard_rows), &stream->shards[i]);
        (void)value_close(b);
    }
    (void)value_close(b);
    struct slice record = map_end(&maker, arena, error);
    if (record.ptr == NULL)
        return false;
    *out = record;
    return true;
}

bool stream_decode(struct slice record, struct arena *arena, struct stream *out,
                   struct error *error)
{
    struct stream stream = {.key_count = 0};
    map_get_rows(record, stream_rows, COUNT_OF(stream_rows), &stream);
    struct value_iter iter;
    value_iter_init(&iter, value_get(record, SLICE_LIT("keys")));
    while (value_iter_next(&iter)) {
        ensure(stream.key_count < COUNT_OF(stream.keys));
        stream.keys[stream.key_count++] = value_bytes(iter.value);
    }
    struct slice shards = value_get(record, SLICE_LIT("shards"));
    stream.shards = arena_zalloc(arena, value_count(shards) + 1, sizeof(*stream.shards));
    if (stream.shards == NULL)
        return error_budget(error);
    value_iter_init(&iter, shards);
    while (value_iter_next(&iter))
        map_get_rows(iter.value, shard_rows, COUNT_OF(shard_rows),
                     &stream.shards[stream.shard_count++]);
    *out = stream;
    return true;
}

bool stream_gone(const struct stream *stream, int64_t now_ms)
{
    return stream->disabled_ms != 0 && stream->disabled_ms < now_ms - STREAM_RETENTION_MS;
}

// ---- Finding ------------------------------------------------------------------------------------

struct name_list {
    struct arena *arena;
    struct stream_names names;
    size_t capacity;
    bool failed;
};

static bool note_name(void *context, struct slice name, struct slice value)
{
    struct name_list *list = context;
    (void)value;
    if (list->names.count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 64 : list->capacity * 2;
        struct slice *grown = arena_zalloc(list->arena, capacity, sizeof(*grown));
        list->failed = grown == NULL;
        if (list->failed)
            return false;
        if (list->names.count > 0)
            memcpy(grown, list->names.names, list->names.count * sizeof(*grown));
        list->names.names = grown;
        list->capacity = capacity;
    }
    struct slice copy = arena_copy(list->arena, name);
    list->failed = copy.ptr == NULL;
    list->names.names[list->names.count++] = copy;
    return !list->failed;
}

bool stream_names(struct engine *engine, struct slice table, struct arena *arena,
                  struct stream_names *out, struct error *error)
{
    struct name_list list = {.arena = arena};
    struct slice prefix = SLICE_LIT(STREAM_PREFIX);
    if (table.len > 0)
        prefix = stream_name(arena, table, slice_of(NULL, 0));
    if (prefix.ptr == NULL)
        return error_budget(error);
    if (!engine_records(engine, prefix, slice_of(NULL, 0), note_name, &list, error))
        return false;
    if (list.failed)
        return error_budget(error);
    *out = list.names;
    return true;
}

// The log of the table that a record's name speaks of; 0 if there is none.
static tree_id table_log(struct engine *engine, struct slice name)
{
    size_t head = sizeof(STREAM_PREFIX) - 1;
    ensure(name.len > head);
    const uint8_t *slash = memchr(name.ptr + head, '/', name.len - head);
    ensure(slash != NULL);
    struct table *table =
        engine_table(engine, slice_of(name.ptr + head, (size_t)(slash - name.ptr) - head));
    tree_id log = table == NULL ? 0 : table->log;
    table_release(table);
    return log;
}

// The table is looked at first: if the record then says that it is still there, it was the right
// one, and not a later one of the same name.
bool stream_read(struct engine *engine, struct slice name, struct arena *arena, struct stream *out,
                 bool *found, struct error *error)
{
    struct slice record;
    tree_id log = table_log(engine, name);
    *found = false;
    if (!engine_record(engine, name, arena, &record, error))
        return false;
    if (record.len == 0)
        return true;
    if (!stream_decode(record, arena, out, error))
        return false;
    out->readable = out->log != 0 ? out->log : log;
    *found = !stream_gone(out, engine_log_time(engine));
    return true;
}

bool stream_find(struct engine *engine, struct slice arn, struct arena *arena, struct stream *out,
                 struct error *error)
{
    struct slice name;
    bool found;
    if (!stream_parse_arn(arn, arena, &name, error) ||
        !stream_read(engine, name, arena, out, &found, error))
        return false;
    return found ||
           error_set(error, ERR_RESOURCE_NOT_FOUND,
                     "Requested resource not found: Stream: %.*s not found", SLICE_FMT(arn));
}

const struct stream_shard *stream_shard(const struct stream *stream, struct slice id)
{
    for (size_t i = 0; i < stream->shard_count; i++)
        if (slice_equal(stream->shards[i].id, id))
            return &stream->shards[i];
    return NULL;
}

// A table has one partition key attribute; its tree keys begin with the same hash.
uint64_t stream_hash(const struct stream *stream, struct slice keys)
{
    ensure(stream->hash_count == 1);
    return key_hash(value_bytes(value_get(keys, stream->keys[0])));
}
