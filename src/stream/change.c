// How streams come, go on and end. All of it is decided on the writer's thread, by jobs that have
// their batch for themselves: engine_sequence() is then exactly the last change before.
#include "stream/stream.h"

#include "base/encode.h"
#include "base/limits.h"
#include "engine/log.h"
#include "tables/describe.h"
#include "tables/names.h"

// ---- Shards -------------------------------------------------------------------------------------

// The id is "shardId-", the time, and a checksum that makes it another one for each shard.
static struct slice shard_id(const struct stream *stream, struct arena *arena)
{
    uint8_t number[4];
    be32_put(number, stream->made);
    uint32_t sum = crc32_more(crc32_of(stream->table), stream->label);
    sum = crc32_more(sum, slice_of(number, sizeof(number)));
    const char *id =
        arena_printf(arena, "shardId-%020lld-%08x", (long long)stream->stamp_ms, (unsigned)sum);
    return id == NULL ? VALUE_NONE : slice_str(id);
}

// Puts a shard behind the others, for which there must be room. False when memory is out.
static bool shard_add(struct stream *stream, struct arena *arena, const struct stream_shard *shard)
{
    if (stream->stamp_ms < shard->created_ms)
        stream->stamp_ms = shard->created_ms;
    stream->made++;
    struct stream_shard *added = &stream->shards[stream->shard_count];
    *added = *shard;
    added->id = shard_id(stream, arena);
    if (added->id.ptr == NULL)
        return false;
    stream->shard_count++;
    return true;
}

// Makes room for that many more.
static bool shards_reserve(struct stream *stream, struct arena *arena, size_t more)
{
    struct stream_shard *grown =
        arena_zalloc(arena, stream->shard_count + more, sizeof(*stream->shards));
    if (grown == NULL)
        return false;
    if (stream->shard_count > 0)
        memcpy(grown, stream->shards, stream->shard_count * sizeof(*grown));
    stream->shards = grown;
    return true;
}

static void shard_close(struct stream_shard *shard, uint64_t sequence, int64_t now_ms)
{
    shard->end = sequence;
    shard->closed_ms = now_ms > 0 ? now_ms : 1;
}

// ---- Streams ------------------------------------------------------------------------------------

static bool stream_open(struct stream *stream, const struct table *table, struct engine *engine,
                        struct arena *arena)
{
    uint64_t first = engine_sequence(engine) + 1;
    int64_t now_ms = engine_log_time(engine);
    stream->hash_count = table->keys.hash_count;
    stream->key_count = table->keys.hash_count + table->keys.range_count;
    for (size_t i = 0; i < stream->key_count; i++)
        stream->keys[i] = table->keys.parts[i].name;
    stream->created_ms = now_ms;
    stream->trim = first;
    struct stream_shard whole = {
        .start = first, .trim = first, .high = UINT64_MAX, .created_ms = now_ms};
    return shards_reserve(stream, arena, 1) && shard_add(stream, arena, &whole);
}

static void stream_close(struct stream *stream, struct engine *engine)
{
    uint64_t sequence = engine_sequence(engine);
    int64_t now_ms = engine_log_time(engine);
    for (size_t i = 0; i < stream->shard_count; i++)
        if (stream->shards[i].closed_ms == 0)
            shard_close(&stream->shards[i], sequence, now_ms);
    stream->disabled_ms = now_ms > 0 ? now_ms : 1;
}

// ---- With a table -------------------------------------------------------------------------------

// What goes into the batch of the table's change.
struct altering {
    struct table_change *change;
    struct arena *arena;
};

// Adds a record to those of the change.
static bool change_add(struct altering *altering, struct slice name, struct slice value,
                       struct error *error)
{
    struct table_change *change = altering->change;
    struct record_write *grown =
        arena_zalloc(altering->arena, change->record_count + 1, sizeof(*grown));
    if (grown == NULL)
        return error_budget(error);
    if (change->record_count > 0)
        memcpy(grown, change->records, change->record_count * sizeof(*grown));
    grown[change->record_count] = (struct record_write){name, value};
    change->records = grown;
    change->record_count++;
    return true;
}

static bool change_add_stream(struct altering *altering, struct slice name,
                              const struct stream *stream, struct error *error)
{
    struct slice record;
    return stream_encode(stream, altering->arena, &record, error) &&
           change_add(altering, name, record, error);
}

// A label that no stream of the table has; when the clock stands still, a later one.
static bool choose_label(struct altering *altering, struct table *table, struct slice *label,
                         struct slice *name, struct error *error)
{
    struct table_settings settings;
    struct slice taken;
    char text[STREAM_LABEL_MAX];
    table_settings_read(table, &settings);
    int64_t wanted = settings.stream_ms;
    for (;; settings.stream_ms++) {
        *label =
            arena_copy(altering->arena, table_stream_label(settings.stream_ms, text, sizeof(text)));
        if (label->ptr == NULL)
            return error_budget(error);
        *name = stream_name(altering->arena, table->name, *label);
        if (name->ptr == NULL)
            return error_budget(error);
        if (!engine_record(altering->change->engine, *name, altering->arena, &taken, error))
            return false;
        if (taken.len == 0)
            break;
    }
    return settings.stream_ms == wanted || table_settings_write(table, &settings) ||
           error_budget(error);
}

static bool begin_stream(struct altering *altering, struct table *table, struct slice view,
                         struct error *error)
{
    struct stream stream = {.table = table->name, .view = view};
    struct slice name;
    if (!choose_label(altering, table, &stream.label, &name, error))
        return false;
    if (!stream_open(&stream, table, altering->change->engine, altering->arena))
        return error_budget(error);
    return change_add_stream(altering, name, &stream, error);
}

// Ends what is enabled; a table that goes leaves its log to the streams that can still be read.
static bool end_streams(struct altering *altering, const struct table *table, bool gone,
                        struct error *error)
{
    struct stream_names names;
    if (!stream_names(altering->change->engine, table->name, altering->arena, &names, error))
        return false;
    for (size_t i = 0; i < names.count; i++) {
        struct stream stream;
        bool found;
        if (!stream_read(altering->change->engine, names.names[i], altering->arena, &stream, &found,
                         error))
            return false;
        // Those that have a log are of an earlier table of this name; the janitor knows them.
        if (!found || stream.log != 0 || (stream.disabled_ms != 0 && !gone))
            continue;
        if (stream.disabled_ms == 0)
            stream_close(&stream, altering->change->engine);
        if (gone) {
            stream.log = table->log;
            altering->change->keep_log = true;
        }
        if (!change_add_stream(altering, names.names[i], &stream, error))
            return false;
    }
    return true;
}

bool stream_alter(struct table_change *change, struct arena *arena, const struct table *current,
                  struct table *next, struct error *error)
{
    struct altering altering[] = {{change, arena}};
    struct table_settings before = {.stream_ms = 0};
    struct table_settings after = {.stream_ms = 0};
    bool gone = next == NULL || table_name_hidden(next->name);
    if (current != NULL)
        table_settings_read(current, &before);
    if (!gone)
        table_settings_read(next, &after);
    bool was = before.stream_view.len > 0;
    bool is = after.stream_view.len > 0;
    if (current != NULL && (gone || (was && !is)))
        return end_streams(altering, current, gone, error);
    return was || !is || begin_stream(altering, next, after.stream_view, error);
}

// ---- Later --------------------------------------------------------------------------------------

struct stream_editing {
    struct record_job records; // first
    struct engine *engine;
    struct arena *arena;
    struct record_write write;
    stream_edit_fn *edit;
    void *context;
};

static bool edit_decide(struct record_job *job, struct engine *engine)
{
    struct stream_editing *editing = (struct stream_editing *)job;
    struct slice record;
    struct stream stream;
    if (!engine_record(engine, editing->write.name, editing->arena, &record, job->job.error))
        return false;
    if (record.len == 0)
        return true;
    if (!stream_decode(record, editing->arena, &stream, job->job.error))
        return false;
    enum stream_verdict verdict =
        editing->edit(editing->context, editing->engine, &stream, editing->arena);
    if (verdict == STREAM_SAME)
        return true;
    if (verdict == STREAM_CHANGED &&
        !stream_encode(&stream, editing->arena, &editing->write.value, job->job.error))
        return false;
    job->count = 1;
    job->writes = &editing->write;
    return true;
}

bool stream_edit(struct engine *engine, struct slice name, stream_edit_fn *edit, void *context,
                 struct error *error)
{
    struct arena arena;
    struct stream_editing editing = {
        .engine = engine, .arena = &arena, .write.name = name, .edit = edit, .context = context};
    arena_init(&arena, LIMIT_REQUEST_MEMORY);
    record_job_init(&editing.records, error);
    editing.records.decide = edit_decide;
    bool ok = engine_run(engine, &editing.records.job);
    arena_release(&arena);
    return ok;
}

struct rolling {
    const struct shard_roll *rolls;
    size_t count;
};

// Closes one shard and opens its children.
static bool roll_one(struct stream *stream, size_t at, bool split, struct engine *engine,
                     struct arena *arena)
{
    uint64_t sequence = engine_sequence(engine);
    int64_t now_ms = engine_log_time(engine);
    if (!shards_reserve(stream, arena, 2))
        return false;
    struct stream_shard *parent = &stream->shards[at];
    struct stream_shard child = {.parent = parent->id,
                                 .start = sequence + 1,
                                 .trim = sequence + 1,
                                 .low = parent->low,
                                 .high = parent->high,
                                 .created_ms = now_ms};
    shard_close(parent, sequence, now_ms);
    if (!split)
        return shard_add(stream, arena, &child);
    uint64_t middle = child.low + (child.high - child.low) / 2;
    child.high = middle;
    if (!shard_add(stream, arena, &child))
        return false;
    child.low = middle + 1;
    child.high = parent->high;
    return shard_add(stream, arena, &child);
}

static enum stream_verdict roll_edit(void *context, struct engine *engine, struct stream *stream,
                                     struct arena *arena)
{
    const struct rolling *rolling = context;
    size_t open = 0;
    enum stream_verdict verdict = STREAM_SAME;
    if (stream->disabled_ms != 0)
        return STREAM_SAME;
    for (size_t i = 0; i < stream->shard_count; i++)
        open += stream->shards[i].closed_ms == 0;
    for (size_t i = 0; i < rolling->count; i++) {
        const struct stream_shard *shard = stream_shard(stream, rolling->rolls[i].id);
        if (shard == NULL || shard->closed_ms != 0)
            continue;
        bool split = rolling->rolls[i].split && open < STREAM_SHARDS_OPEN;
        // Half of it done is nothing done: the shards would not share out all hashes.
        if (!roll_one(stream, (size_t)(shard - stream->shards), split, engine, arena))
            return STREAM_SAME;
        open += split;
        verdict = STREAM_CHANGED;
    }
    return verdict;
}

bool stream_roll(struct engine *engine, struct slice name, const struct shard_roll *rolls,
                 size_t count, struct error *error)
{
    struct rolling rolling = {rolls, count};
    return stream_edit(engine, name, roll_edit, &rolling, error);
}

bool streams_roll(struct engine *engine, struct slice table, bool split)
{
    struct arena arena;
    struct error error;
    struct stream_names names;
    arena_init(&arena, LIMIT_REQUEST_MEMORY);
    error_init(&error, &arena);
    bool rolled = false;
    bool ok = stream_names(engine, table, &arena, &names, &error);
    for (size_t i = 0; ok && i < names.count; i++) {
        struct stream stream;
        struct shard_roll rolls[STREAM_SHARDS_OPEN];
        size_t count = 0;
        bool found;
        ok = stream_read(engine, names.names[i], &arena, &stream, &found, &error);
        if (!ok || !found || stream.disabled_ms != 0)
            continue;
        for (size_t k = 0; k < stream.shard_count && count < COUNT_OF(rolls); k++)
            if (stream.shards[k].closed_ms == 0)
                rolls[count++] = (struct shard_roll){stream.shards[k].id, split};
        ok = stream_roll(engine, names.names[i], rolls, count, &error);
        rolled = ok;
    }
    arena_release(&arena);
    return rolled;
}
