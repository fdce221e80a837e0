// What streams need now and then: shards that are old or full are closed, and what is more than a
// day old is forgotten.
//
// Forgetting has an order. First the stream's record says what cannot be read any more, and only
// then is it removed from the log, so that a reader is told and never misses something silently.
#include "stream/stream.h"

#include "base/limits.h"
#include "engine/log.h"
#include "tables/names.h"
#include "work/lanes.h"

#include <stdlib.h>

// ---- Counting -----------------------------------------------------------------------------------

struct stream_counts *stream_counts_new(void)
{
    struct stream_counts *counts = memory_zeroed(sizeof(*counts));
    counts->full = STREAM_SHARD_FULL;
    return counts;
}

void stream_counts_free(struct stream_counts *counts)
{
    for (size_t i = 0; i < counts->count; i++)
        free(counts->streams[i].name);
    free(counts->streams);
    free(counts);
}

static struct stream_count *count_of(struct stream_counts *counts, struct slice name,
                                     uint64_t first)
{
    for (size_t i = 0; i < counts->count; i++)
        if (slice_is(name, counts->streams[i].name))
            return &counts->streams[i];
    counts->streams =
        memory_grow(counts->streams, counts->count, &counts->capacity, sizeof(*counts->streams));
    struct stream_count *added = &counts->streams[counts->count++];
    *added = (struct stream_count){.name = slice_dup(name), .next = first};
    ensure_memory(added->name);
    return added;
}

// Forgets the streams that were not seen since the last time.
static void counts_sweep(struct stream_counts *counts)
{
    size_t kept = 0;
    for (size_t i = 0; i < counts->count; i++) {
        if (!counts->streams[i].seen) {
            free(counts->streams[i].name);
            continue;
        }
        counts->streams[kept] = counts->streams[i];
        counts->streams[kept++].seen = false;
    }
    counts->count = kept;
}

// Brings the list of shards up to date: those that are open now, with what was counted of them.
static void count_shards(struct stream_count *count, const struct stream *stream)
{
    struct stream_count fresh = {.name = count->name, .next = count->next, .seen = true};
    for (size_t i = 0; i < stream->shard_count; i++) {
        const struct stream_shard *shard = &stream->shards[i];
        if (shard->closed_ms != 0)
            continue;
        ensure(fresh.shard_count < STREAM_SHARDS_OPEN &&
               shard->id.len < sizeof(fresh.shards[0].id));
        size_t at = fresh.shard_count++;
        memcpy(fresh.shards[at].id, shard->id.ptr, shard->id.len);
        for (size_t k = 0; k < count->shard_count; k++)
            if (slice_is(shard->id, count->shards[k].id))
                fresh.shards[at].changes = count->shards[k].changes;
    }
    *count = fresh;
}

struct counting {
    const struct stream *stream;
    struct stream_count *count;
};

static bool count_entry(void *context, const struct log_entry *entry)
{
    const struct counting *counting = context;
    uint64_t hash = stream_hash(counting->stream, entry->keys);
    size_t at = 0;
    for (size_t i = 0; i < counting->stream->shard_count; i++) {
        const struct stream_shard *shard = &counting->stream->shards[i];
        if (shard->closed_ms != 0)
            continue;
        if (entry->sequence >= shard->start && hash >= shard->low && hash <= shard->high)
            counting->count->shards[at].changes++;
        at++;
    }
    return true;
}

// ---- Closing shards -----------------------------------------------------------------------------

// Whether an open shard could be full, by the sequences of the whole database.
static bool may_be_full(const struct stream *stream, uint64_t newest, uint64_t full,
                        uint64_t *first)
{
    bool may = false;
    *first = UINT64_MAX;
    for (size_t i = 0; i < stream->shard_count; i++) {
        const struct stream_shard *shard = &stream->shards[i];
        if (shard->closed_ms != 0)
            continue;
        may = may || newest + 1 >= shard->start + full;
        *first = shard->start < *first ? shard->start : *first;
    }
    return may;
}

// What is to be done with one open shard. A shard that fills quickly is split; if there are as many
// as there may be, it goes on until it is not so quick any more, so that shards stay few.
static bool shard_due(const struct stream_shard *shard, bool full, size_t open, int64_t now_ms,
                      struct shard_roll *roll)
{
    int64_t age_ms = now_ms - shard->created_ms;
    bool quick = age_ms < STREAM_QUICK_MS;
    *roll = (struct shard_roll){shard->id, full && quick};
    if (age_ms >= STREAM_SHARD_AGE_MS)
        return true;
    return full && (!quick || open < STREAM_SHARDS_OPEN);
}

static bool roll_stream(struct workshop *shop, struct slice name, int64_t now_ms,
                        struct arena *arena, struct error *error)
{
    struct stream stream;
    bool found;
    uint64_t first;
    uint64_t newest = engine_sequence(shop->engine);
    struct stream_counts *counts = shop->stream_counts;
    struct stream_count *count = NULL;
    if (!stream_read(shop->engine, name, arena, &stream, &found, error))
        return false;
    if (!found || stream.disabled_ms != 0)
        return true;
    if (stream.readable != 0 && may_be_full(&stream, newest, counts->full, &first)) {
        count = count_of(counts, name, first);
        count_shards(count, &stream);
        struct counting counting = {&stream, count};
        if (!engine_log_read(shop->engine, NULL, stream.readable, count->next, newest, count_entry,
                             &counting, error))
            return false;
        count->next = newest + 1;
    }
    struct shard_roll rolls[STREAM_SHARDS_OPEN];
    size_t roll_count = 0;
    size_t open = 0;
    for (size_t i = 0; i < stream.shard_count; i++)
        open += stream.shards[i].closed_ms == 0;
    for (size_t i = 0, at = 0; i < stream.shard_count; i++) {
        if (stream.shards[i].closed_ms != 0)
            continue;
        bool full = count != NULL && count->shards[at++].changes >= counts->full;
        if (shard_due(&stream.shards[i], full, open, now_ms, &rolls[roll_count]))
            roll_count++;
    }
    return roll_count == 0 || stream_roll(shop->engine, name, rolls, roll_count, error);
}

// Calls the function for each stream, until one fails: the next time will see to the rest.
static bool each_stream(struct workshop *shop, int64_t now_ms,
                        bool (*visit)(struct workshop *shop, struct slice name, int64_t now_ms,
                                      struct arena *arena, struct error *error))
{
    struct arena names_arena;
    struct arena arena;
    struct error error;
    struct stream_names names;
    arena_init(&names_arena, LIMIT_REQUEST_MEMORY);
    arena_init(&arena, LIMIT_REQUEST_MEMORY);
    error_init(&error, &names_arena);
    bool ok = stream_names(shop->engine, slice_of(NULL, 0), &names_arena, &names, &error);
    for (size_t i = 0; ok && i < names.count && !work_stopping(shop); i++) {
        ok = visit(shop, names.names[i], now_ms, &arena, &error);
        arena_reset(&arena);
    }
    arena_release(&arena);
    arena_release(&names_arena);
    return ok;
}

void streams_roll_due(struct workshop *shop)
{
    (void)each_stream(shop, engine_log_time(shop->engine), roll_stream);
    counts_sweep(shop->stream_counts);
}

// ---- Forgetting streams -------------------------------------------------------------------------

// A stream whose time is up, or whose table went without it.
static bool stream_over(struct engine *engine, const struct stream *stream)
{
    if (stream_gone(stream, engine_log_time(engine)))
        return true;
    if (stream->log != 0)
        return false;
    struct table *table = engine_table(engine, stream->table);
    table_release(table);
    return table == NULL;
}

static enum stream_verdict end_edit(void *context, struct engine *engine, struct stream *stream,
                                    struct arena *arena)
{
    (void)context;
    (void)arena;
    return stream_over(engine, stream) ? STREAM_ENDED : STREAM_SAME;
}

// Whether another stream reads the same log of a table that is gone.
static bool log_shared(struct workshop *shop, struct slice name, const struct stream *stream,
                       struct arena *arena, bool *shared, struct error *error)
{
    struct stream_names names;
    *shared = false;
    if (!stream_names(shop->engine, stream->table, arena, &names, error))
        return false;
    for (size_t i = 0; i < names.count; i++) {
        struct stream other;
        bool found;
        if (slice_equal(names.names[i], name))
            continue;
        if (!stream_read(shop->engine, names.names[i], arena, &other, &found, error))
            return false;
        *shared = *shared || (found && other.log == stream->log);
    }
    return true;
}

// The log goes first: if the record outlives that by a crash, this is simply done once more.
static bool stream_forget(struct workshop *shop, struct slice name, const struct stream *stream,
                          struct arena *arena, struct error *error)
{
    bool shared;
    if (stream->log != 0) {
        if (!log_shared(shop, name, stream, arena, &shared, error))
            return false;
        if (!shared && !engine_log_drop(shop->engine, stream->log, error))
            return false;
    }
    return stream_edit(shop->engine, name, end_edit, NULL, error);
}

// ---- Forgetting changes -------------------------------------------------------------------------

struct trimming {
    struct stream *stream;
    int64_t before_ms;
    bool moved;
};

static bool trim_entry(void *context, const struct log_entry *entry)
{
    struct trimming *trimming = context;
    struct stream *stream = trimming->stream;
    if (entry->time_ms >= trimming->before_ms)
        return false;
    uint64_t hash = stream_hash(stream, entry->keys);
    for (size_t i = 0; i < stream->shard_count; i++) {
        struct stream_shard *shard = &stream->shards[i];
        bool inside = entry->sequence >= shard->start &&
                      (shard->closed_ms == 0 || entry->sequence <= shard->end) &&
                      hash >= shard->low && hash <= shard->high;
        if (inside)
            shard->trim = entry->sequence + 1;
    }
    stream->trim = entry->sequence + 1;
    trimming->moved = true;
    return true;
}

static bool shard_over(const struct stream_shard *shard, int64_t before_ms)
{
    return shard->closed_ms != 0 && shard->closed_ms < before_ms;
}

// Takes over what was found out, and forgets closed shards.
static enum stream_verdict trim_edit(void *context, struct engine *engine, struct stream *stream,
                                     struct arena *arena)
{
    const struct trimming *trimming = context;
    size_t kept = 0;
    (void)engine;
    (void)arena;
    stream->trim = trimming->stream->trim;
    for (size_t i = 0; i < stream->shard_count; i++) {
        struct stream_shard shard = stream->shards[i];
        const struct stream_shard *found = stream_shard(trimming->stream, shard.id);
        if (found != NULL)
            shard.trim = found->trim;
        if (!shard_over(&shard, trimming->before_ms))
            stream->shards[kept++] = shard;
    }
    stream->shard_count = kept;
    return STREAM_CHANGED;
}

static bool trim_stream(struct workshop *shop, struct slice name, int64_t now_ms,
                        struct arena *arena, struct error *error)
{
    struct stream stream = {.log = 0};
    bool found;
    uint64_t newest = engine_sequence(shop->engine);
    if (!stream_read(shop->engine, name, arena, &stream, &found, error))
        return false;
    if (stream.label.len == 0)
        return true;
    if (stream_over(shop->engine, &stream))
        return stream_forget(shop, name, &stream, arena, error);
    struct trimming trimming = {&stream, now_ms - STREAM_RETENTION_MS, false};
    if (stream.readable != 0 && !engine_log_read(shop->engine, NULL, stream.readable, stream.trim,
                                                 newest, trim_entry, &trimming, error))
        return false;
    for (size_t i = 0; i < stream.shard_count; i++)
        trimming.moved = trimming.moved || shard_over(&stream.shards[i], trimming.before_ms);
    return !trimming.moved || stream_edit(shop->engine, name, trim_edit, &trimming, error);
}

// ---- Trimming logs ------------------------------------------------------------------------------

// How long the changes of a table are needed, by all who read them.
static bool log_need_ms(struct workshop *shop, const struct table *table, struct arena *arena,
                        int64_t *out, struct error *error)
{
    struct table_settings settings;
    struct stream_names names;
    table_settings_read(table, &settings);
    if (!stream_names(shop->engine, table->name, arena, &names, error))
        return false;
    // A day more, for a restore to the first instant that is still being made, or made again.
    int64_t pitr_ms = settings.pitr_days == 0 ? 0 : (settings.pitr_days + 1) * 24 * 3600 * 1000;
    *out = table->log_images != 0 || names.count > 0 ? STREAM_RETENTION_MS : 0;
    if (*out < pitr_ms)
        *out = pitr_ms;
    // Consumers that do not run here, in a command on the data directory, are waited for as well.
    if (shop->log_needed == NULL && (settings.publishes.len > 0 || settings.kinesis.len > 0))
        *out = *out > LIMIT_CONSUMER_BEHIND_MS ? *out : LIMIT_CONSUMER_BEHIND_MS;
    return true;
}

struct oldest {
    int64_t before_ms;
    bool old;
};

static bool look_at_oldest(void *context, const struct log_entry *entry)
{
    struct oldest *oldest = context;
    oldest->old = entry->time_ms < oldest->before_ms;
    return false;
}

static bool trim_log(struct workshop *shop, const struct table *table, int64_t now_ms,
                     struct arena *arena, struct error *error)
{
    int64_t need_ms;
    if (table->log == 0)
        return true;
    if (!log_need_ms(shop, table, arena, &need_ms, error))
        return false;
    struct oldest oldest = {.before_ms = now_ms - need_ms};
    if (shop->log_needed != NULL) {
        int64_t needed_ms = shop->log_needed(shop, table, now_ms - LIMIT_CONSUMER_BEHIND_MS);
        oldest.before_ms = needed_ms < oldest.before_ms ? needed_ms : oldest.before_ms;
    }
    // The writer is not bothered for nothing.
    bool ok = engine_log_read(shop->engine, NULL, table->log, 0, UINT64_MAX, look_at_oldest,
                              &oldest, error);
    bool more = oldest.old;
    while (ok && more && !work_stopping(shop))
        ok = engine_log_trim(shop->engine, table->log, oldest.before_ms, &more, error);
    return ok;
}

void streams_trim(struct workshop *shop)
{
    struct arena arena;
    struct error error;
    struct table_walk walk;
    const struct table *table;
    bool ok = true;
    int64_t now_ms = engine_log_time(shop->engine); // the same for streams and logs
    if (!each_stream(shop, now_ms, trim_stream))
        return;
    arena_init(&arena, LIMIT_REQUEST_MEMORY);
    table_walk_init(&walk, shop->engine, slice_of(NULL, 0));
    while (ok && (table = table_walk_next(&walk)) != NULL && !work_stopping(shop)) {
        error_init(&error, &arena);
        ok = trim_log(shop, table, now_ms, &arena, &error);
        arena_reset(&arena);
    }
    table_walk_release(&walk);
    arena_release(&arena);
}
