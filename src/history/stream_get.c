// GetShardIterator and GetRecords.
//
// An iterator is the stream's ARN, a version, and in base64 a checksum, the time it was made, a
// position and the shard's id. The position is the sequence to go on with; sequences are the whole
// database's, so it may be one that this shard has not.
//
// GetRecords asks for the newest sequence, takes a snapshot, and reads the stream's record, in this
// order. A shard that is still open there can only be closed behind that sequence, so nothing is
// read that belongs to the shard's children; and what the record does not say to be trimmed is in
// the snapshot.
#include "history/stream_call.h"

#include "engine/log.h"

enum {
    ITERATOR_LIFE_MS = 15 * 60 * 1000,
    ITERATOR_HEAD = 20,      // checksum, time, position
    RECORDS_MAX = 1000,      // of one answer
    RECORDS_BYTES = 1 << 20, // of one answer, by SizeBytes
    SCAN_MAX = 20000,        // changes looked at for one answer, most of them other shards'
    SCAN_BYTES = 32 << 20,   // and their size
};

// ---- Iterators ----------------------------------------------------------------------------------

struct iterator {
    struct slice name; // of the stream's record
    struct slice arn;
    struct slice shard;
    int64_t made_ms;
    uint64_t position;
};

static bool trimmed(struct api_call *call)
{
    return error_set(&call->error, ERR_TRIMMED_DATA_ACCESS,
                     "Attempted access beyond trim horizon. The data you are trying to access has "
                     "been trimmed.");
}

static uint32_t iterator_sum(struct slice arn, struct slice body)
{
    return crc32_more(crc32_of(arn), slice_of(body.ptr + 4, body.len - 4));
}

static void iterator_write(struct json_writer *w, const char *name, const struct iterator *iterator)
{
    uint8_t head[ITERATOR_HEAD] = {0};
    struct buf body;
    struct buf text;
    buf_init(&body, 256);
    buf_init(&text, 1 << 12);
    be64_put(head + 4, (uint64_t)iterator->made_ms);
    be64_put(head + 12, iterator->position);
    buf_add(&body, head, sizeof(head));
    buf_slice(&body, iterator->shard);
    ensure(!body.failed);
    be32_put(body.ptr, iterator_sum(iterator->arn, buf_view(&body)));
    buf_slice(&text, iterator->arn);
    buf_text(&text, "|1|");
    base64_encode(&text, buf_view(&body));
    json_put_string(w, name, buf_view(&text));
    buf_release(&body);
    buf_release(&text);
}

static bool iterator_decode(struct api_call *call, struct slice text, struct iterator *out)
{
    struct slice middle = SLICE_LIT("|1|");
    const uint8_t *at = memmem(text.ptr, text.len, middle.ptr, middle.len);
    if (at == NULL)
        return false;
    struct slice arn = slice_of(text.ptr, (size_t)(at - text.ptr));
    struct buf bytes;
    buf_init(&bytes, 4096);
    bool ok = base64_decode(&bytes, slice_of(at + middle.len, text.len - arn.len - middle.len)) &&
              bytes.len > ITERATOR_HEAD &&
              be32_get(bytes.ptr) == iterator_sum(arn, buf_view(&bytes));
    struct slice body = ok ? arena_copy(&call->arena, buf_view(&bytes)) : VALUE_NONE;
    buf_release(&bytes);
    if (body.ptr == NULL)
        return false;
    *out = (struct iterator){
        .arn = arn,
        .shard = slice_of(body.ptr + ITERATOR_HEAD, body.len - ITERATOR_HEAD),
        .made_ms = (int64_t)be64_get(body.ptr + 4),
        .position = be64_get(body.ptr + 12),
    };
    return stream_parse_arn(arn, &call->arena, &out->name, &call->error);
}

static bool iterator_read(struct api_call *call, struct slice text, struct iterator *out)
{
    if (!iterator_decode(call, text, out)) {
        error_init(&call->error, &call->arena);
        return error_validation(&call->error, "Invalid ShardIterator");
    }
    if (out->made_ms < env_now(engine_env(call_engine(call))) - ITERATOR_LIFE_MS)
        return error_set(&call->error, ERR_EXPIRED_ITERATOR,
                         "Iterator expired. The shard iterator can no longer be used to retrieve "
                         "stream records.");
    return true;
}

// ---- GetShardIterator ---------------------------------------------------------------------------

// The sequence that the request names, which must be one that the shard could have.
static bool named_sequence(struct api_call *call, const struct get_shard_iterator_request *request,
                           const struct stream_shard *shard, uint64_t *out)
{
    struct slice text = request->sequence_number;
    if (text.ptr == NULL)
        return error_validation(&call->error, INVALID "Invalid SequenceNumber");
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return error_validation(&call->error, INVALID "Invalid SequenceNumber");
    if (!stream_sequence_parse(text, out) || *out < shard->start ||
        (shard->closed_ms != 0 && *out > shard->end && *out > shard->start))
        return error_validation(&call->error, "Invalid SequenceNumber for the shard");
    return true;
}

static bool first_position(struct api_call *call, const struct get_shard_iterator_request *request,
                           const struct stream_shard *shard, uint64_t newest, uint64_t *out)
{
    bool at = slice_is(request->shard_iterator_type, "AT_SEQUENCE_NUMBER");
    if (at || slice_is(request->shard_iterator_type, "AFTER_SEQUENCE_NUMBER")) {
        if (!named_sequence(call, request, shard, out))
            return false;
        *out += at ? 0 : 1;
        return *out >= shard->trim || trimmed(call);
    }
    if (request->sequence_number.ptr != NULL)
        return error_validation(&call->error, INVALID "SequenceNumber should not be passed for "
                                                      "this iterator type");
    if (slice_is(request->shard_iterator_type, "TRIM_HORIZON"))
        *out = shard->trim;
    else
        *out = (shard->closed_ms != 0 ? shard->end : newest) + 1;
    return true;
}

enum step get_shard_iterator_start(struct api_call *call, const void *request)
{
    const struct get_shard_iterator_request *get = request;
    struct stream stream;
    struct iterator iterator = {.made_ms = env_now(engine_env(call_engine(call)))};
    const struct table *table;
    uint64_t newest = engine_sequence(call_engine(call));
    if (!call_stream(call, get->stream_arn, &stream, &table) ||
        !call_stream_arn(call, &stream, &iterator.arn))
        return STEP_FAILED;
    const struct stream_shard *shard = stream_shard(&stream, get->shard_id);
    if (shard == NULL)
        return step_failed(error_set(&call->error, ERR_RESOURCE_NOT_FOUND,
                                     "Requested resource not found: Shard does not exist"));
    if (!first_position(call, get, shard, newest, &iterator.position))
        return STEP_FAILED;
    iterator.shard = shard->id;
    struct json_writer w = call_open(call);
    iterator_write(&w, "ShardIterator", &iterator);
    json_close_object(&w);
    return STEP_READY;
}

// ---- GetRecords ---------------------------------------------------------------------------------

// What GetRecords reads, and how far it has come.
struct reading {
    struct api_call *call;
    struct json_writer w;
    struct iterator from;
    struct stream stream;
    const struct table *table; // that the stream is of, for whoever is bound
    const struct stream_shard *shard;
    uint64_t last; // sequence to read
    size_t limit;
    struct store_snapshot *snapshot;
    bool old_image; // what the stream shows
    bool new_image;
    size_t scanned;
    size_t scanned_bytes;
    size_t count;
    size_t bytes;
    uint64_t position; // to go on with
    bool stopped;      // before the last sequence
    bool paused;       // at the end of a slice
};

static void write_event_id(struct reading *reading, const struct log_entry *entry)
{
    uint8_t digest[16];
    char text[33];
    struct buf source;
    buf_init(&source, 1024);
    buf_slice(&source, reading->stream.table);
    buf_byte(&source, '/');
    buf_slice(&source, reading->stream.label);
    uint8_t sequence[8];
    be64_put(sequence, entry->sequence);
    md5_of(buf_view(&source), slice_of(sequence, sizeof(sequence)), digest);
    buf_release(&source);
    for (size_t i = 0; i < sizeof(digest); i++) {
        text[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    text[32] = 0;
    json_put_text(&reading->w, "eventID", text);
}

static void write_change(struct reading *reading, const struct log_entry *entry, size_t size)
{
    struct json_writer *w = &reading->w;
    char sequence[STREAM_SEQUENCE_TEXT];
    stream_sequence_text(entry->sequence, sequence);
    json_put_object(w, "dynamodb");
    json_put_integer(w, "ApproximateCreationDateTime", entry->time_ms / 1000);
    json_put_item(w, "Keys", entry->keys);
    if (reading->new_image)
        json_put_item(w, "NewImage", entry->new_item);
    if (reading->old_image)
        json_put_item(w, "OldImage", entry->old_item);
    json_put_text(w, "SequenceNumber", sequence);
    json_put_integer(w, "SizeBytes", (int64_t)size);
    json_put_string(w, "StreamViewType", reading->stream.view);
    json_close_object(w);
}

static void write_record(struct reading *reading, const struct log_entry *entry, size_t size)
{
    static const char *const events[] = {
        [LOG_INSERT] = "INSERT", [LOG_MODIFY] = "MODIFY", [LOG_REMOVE] = "REMOVE"};
    struct json_writer *w = &reading->w;
    json_open_object(w);
    write_event_id(reading, entry);
    json_put_text(w, "eventName", events[entry->event]);
    json_put_text(w, "eventVersion", "1.1");
    json_put_text(w, "eventSource", "aws:dynamodb");
    json_put_string(w, "awsRegion", reading->call->region);
    write_change(reading, entry, size);
    if (entry->expired) {
        json_put_object(w, "userIdentity");
        json_put_text(w, "PrincipalId", "dynamodb.amazonaws.com");
        json_put_text(w, "Type", "Service");
        json_close_object(w);
    }
    json_close_object(w);
}

static size_t shown_size(const struct reading *reading, const struct log_entry *entry)
{
    size_t size = value_item_size(entry->keys);
    if (reading->new_image && entry->new_item.len > 0)
        size += value_item_size(entry->new_item);
    if (reading->old_image && entry->old_item.len > 0)
        size += value_item_size(entry->old_item);
    return size;
}

// Whether the record is one of the shard, and of an item that the reader may know of.
static bool is_shown(const struct reading *reading, const struct log_entry *entry)
{
    uint64_t hash = stream_hash(&reading->stream, entry->keys);
    if (reading->table != NULL)
        work_spend_looks(&reading->call->state->work, reading->table->guard);
    return hash >= reading->shard->low && hash <= reading->shard->high &&
           (reading->table == NULL ||
            guard_shows(reading->table->guard, call_reader(reading->call), entry->keys));
}

// Puts a veil over an image, which is left as it is if nothing is hidden. False if the reader may
// not know of it, or (with the error set) without memory.
static bool veil_image(struct reading *reading, struct slice *image)
{
    struct api_call *call = reading->call;
    struct guard_veil veil;
    if (image->len == 0)
        return true;
    switch (guard_sight(reading->table->guard, call_reader(call), *image, &veil)) {
    case GUARD_SEES_NOTHING:
        return false;
    case GUARD_SEES_ALL:
        return true;
    case GUARD_SEES_PART:
        break;
    }
    *image = guard_veiled(&veil, *image, &call->arena);
    return image->len > 0 || error_budget(&call->error);
}

// The record as policies leave it to the reader: every image that it has must be visible, and there
// must be one to judge by. That only something hidden has changed is no record.
static bool policies_show(struct reading *reading, struct log_entry *entry)
{
    if (reading->table == NULL || !guard_binds(reading->table->guard, call_reader(reading->call)))
        return true;
    struct slice was = entry->old_item;
    struct slice is = entry->new_item;
    if ((was.len == 0 && is.len == 0) || !veil_image(reading, &entry->old_item) ||
        !veil_image(reading, &entry->new_item))
        return false;
    return was.len == 0 || is.len == 0 || !slice_equal(entry->old_item, entry->new_item);
}

static bool visit_entry(void *context, const struct log_entry *logged)
{
    struct log_entry copy = *logged;
    const struct log_entry *entry = &copy;
    struct reading *reading = context;
    reading->stopped = reading->count == reading->limit || reading->scanned == SCAN_MAX ||
                       reading->scanned_bytes >= SCAN_BYTES;
    if (reading->stopped)
        return false;
    size_t bytes = entry->keys.len + entry->old_item.len + entry->new_item.len;
    reading->paused = !work_spend(&reading->call->state->work, bytes);
    if (reading->paused)
        return false;
    reading->scanned++;
    reading->scanned_bytes += bytes;
    bool shown = is_shown(reading, entry) && policies_show(reading, &copy);
    if (reading->call->error.code != ERR_NONE)
        return false;
    if (shown) {
        size_t size = shown_size(reading, entry);
        reading->stopped = reading->count > 0 && reading->bytes + size > RECORDS_BYTES;
        if (reading->stopped)
            return false;
        write_record(reading, entry, size);
        reading->bytes += size;
        reading->count++;
    }
    reading->position = entry->sequence + 1;
    return true;
}

static void drop_reading(struct api_call *call)
{
    struct reading *reading = call->state->own;
    if (reading->snapshot != NULL)
        engine_snapshot_release(call_engine(call), reading->snapshot);
    reading->snapshot = NULL;
}

static enum step finish_records(struct reading *reading)
{
    const struct stream_shard *shard = reading->shard;
    if (!reading->stopped && reading->position <= reading->last)
        reading->position = reading->last + 1;
    json_close_array(&reading->w);
    if (shard->closed_ms == 0 || reading->position <= shard->end) {
        struct iterator next = reading->from;
        next.made_ms = env_now(engine_env(call_engine(reading->call)));
        next.position = reading->position;
        iterator_write(&reading->w, "NextShardIterator", &next);
    }
    json_close_object(&reading->w);
    reading->call->usage.items = reading->count;
    drop_reading(reading->call);
    return STEP_READY;
}

static enum step read_records(struct api_call *call)
{
    struct reading *reading = call->state->own;
    tree_id log = reading->stream.readable;
    reading->paused = false;
    call->state->resume = read_records;
    if (log != 0 && !engine_log_read(call_engine(call), reading->snapshot, log, reading->position,
                                     reading->last, visit_entry, reading, &call->error))
        return STEP_FAILED;
    if (call->error.code != ERR_NONE)
        return STEP_FAILED;
    return reading->paused ? STEP_LATER : finish_records(reading);
}

// Policies are those of the table as it is now. What an earlier table of that name has left cannot
// be judged, and is for those who may bypass policies.
static bool find_policies(struct reading *reading)
{
    struct api_call *call = reading->call;
    const struct stream *stream = &reading->stream;
    if (call->state->origin.caller == NULL)
        return true;
    const struct table *table = call_any_table(call, stream->table);
    error_init(&call->error, &call->arena);
    if (table != NULL && (stream->log == 0 || stream->log == table->log)) {
        reading->table = table;
        return true;
    }
    return call_bypasses(call->caller, call->region, stream->table, call_now(call), &call->arena) ||
           error_set(&call->error, ERR_ACCESS_DENIED,
                     "The table of the stream is gone, and its policies with it: reading on needs "
                     "dolmen:BypassModelPolicies");
}

static bool open_reading(struct reading *reading, const struct get_records_request *get,
                         uint64_t newest)
{
    struct api_call *call = reading->call;
    if (!iterator_read(call, get->shard_iterator, &reading->from) ||
        !call_stream(call, reading->from.arn, &reading->stream, &reading->table) ||
        !find_policies(reading))
        return false;
    const struct stream_shard *shard = stream_shard(&reading->stream, reading->from.shard);
    if (shard == NULL || reading->from.position < shard->trim)
        return trimmed(call);
    reading->shard = shard;
    reading->last = shard->closed_ms != 0 && shard->end < newest ? shard->end : newest;
    reading->limit = get->limit.set ? (size_t)get->limit.value : RECORDS_MAX;
    reading->position = reading->from.position;
    struct slice view = reading->stream.view;
    reading->old_image = slice_is(view, "OLD_IMAGE") || slice_is(view, "NEW_AND_OLD_IMAGES");
    reading->new_image = slice_is(view, "NEW_IMAGE") || slice_is(view, "NEW_AND_OLD_IMAGES");
    return true;
}

enum step get_records_start(struct api_call *call, const void *request)
{
    const struct get_records_request *get = request;
    if (get->limit.set && get->limit.value > RECORDS_MAX)
        return step_failed(error_validation(
            &call->error, INVALID "Limit should be less than or equal to %d", RECORDS_MAX));
    struct reading *reading = call_alloc(call, 1, sizeof(*reading));
    if (reading == NULL)
        return STEP_FAILED;
    uint64_t newest = engine_sequence(call_engine(call));
    reading->call = call;
    reading->snapshot = engine_snapshot(call_engine(call));
    call->state->own = reading;
    call->state->drop = drop_reading;
    if (!open_reading(reading, get, newest))
        return STEP_FAILED;
    reading->w = call_writer(call);
    json_open_object(&reading->w);
    json_put_array(&reading->w, "Records");
    return read_records(call);
}
