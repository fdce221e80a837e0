// The delivery of changes to Kinesis destinations: one thread that reads the change logs of tables
// with a destination behind the place it has reached, a batch at a time.
//
// The order is: deliver (and sync the file), then note the place. So a crash in between repeats
// records, and never loses one. A destination that fails is tried again, more and more rarely; the
// others do not wait for it. The list of destinations is made anew when one of them changes.
//
// A batch ends after so many bytes, but a single record may be as large as two items of 400 KB are
// as JSON. Its memory is counted in the budget of requests: if there is none for it now, it is
// tried again; if it would be more than a fair share of the whole budget, it is left out, and the
// log says so.
//
// Everything but the flag belongs to the thread.
#include "capture/kinesis.h"

#include "base/files.h"
#include "base/log.h"
#include "base/wait.h"
#include "base/worker.h"
#include "engine/record.h"
#include "tables/arn.h"
#include "tables/names.h"
#include "tables/table_settings.h"
#include "value/map.h"
#include "json/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TICK_MS = 100,
    BACKOFF_MAX_MS = 5000,
    BATCH_RECORDS = 500,
    BATCH_BYTES = 4 << 20,
    BODY_FRAME = 16 << 10, // of a post, around the record
    TORN_PIECE = 64 << 10,
    THREAD_MEMORY = 8 << 20,
};

struct destination {
    struct destination *next;
    struct slice table; // owned, as the rest
    struct slice arn;
    uint64_t position;  // everything up to here is delivered
    int64_t backoff_ms; // 0 if all is well
    int64_t retry_ms;   // by the monotonic clock
    bool linked;        // its file is known to be in the directory on disk
};

struct kinesis {
    struct workshop *shop;
    char *root;                // NULL if there is an endpoint
    struct kinesis_http *http; // NULL if there is a root
    struct worker worker;
    atomic_bool changed;           // destinations are to be looked up again
    struct budget_account account; // of batches and posts
    struct destination *first;
    uint64_t seen; // the sequence up to which all destinations were served
};

struct batch {
    size_t count;
    struct buf text; // the records, one behind the other, each with a newline
    struct {
        uint64_t sequence;
        size_t end; // in text
        char partition_key[KINESIS_PARTITION_KEY];
    } records[BATCH_RECORDS];
    bool full;
    bool too_large; // the first record is more than can ever be made
    uint64_t large; // its sequence
    const struct kinesis_source *source;
};

// ---- Destinations ----------------------------------------------------------------------------

static struct slice copy_text(struct slice text)
{
    uint8_t *copy = malloc(text.len + 1);
    ensure_memory(copy);
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    return slice_of(copy, text.len);
}

static void destination_free(struct destination *destination)
{
    free((void *)(uintptr_t)destination->table.ptr);
    free((void *)(uintptr_t)destination->arn.ptr);
    free(destination);
}

static void forget_all(struct kinesis *kinesis)
{
    while (kinesis->first != NULL) {
        struct destination *next = kinesis->first->next;
        destination_free(kinesis->first);
        kinesis->first = next;
    }
}

static struct slice position_name(struct buf *text, const struct table *table, struct slice arn)
{
    buf_clear(text);
    buf_printf(text, "kinesis/%.*s/%.*s", SLICE_FMT(table->uuid), SLICE_FMT(arn));
    return buf_view(text);
}

// Where delivery goes on: behind what was noted, but not before it began.
static uint64_t position_read(struct kinesis *kinesis, const struct table *table, struct slice arn,
                              struct slice entry)
{
    struct arena arena;
    struct error error;
    struct buf name;
    struct slice record;
    int64_t position = map_integer(entry, "start");
    arena_init(&arena, THREAD_MEMORY);
    error_init(&error, &arena);
    buf_init(&name, THREAD_MEMORY);
    if (engine_record(kinesis->shop->engine, position_name(&name, table, arn), &arena, &record,
                      &error) &&
        record.len > 0 && map_integer(record, "sequence") > position)
        position = map_integer(record, "sequence");
    buf_release(&name);
    arena_release(&arena);
    return (uint64_t)position;
}

static bool position_write(struct kinesis *kinesis, const struct table *table,
                           const struct destination *destination)
{
    struct arena arena;
    struct error error;
    struct buf name;
    struct value_maker maker;
    arena_init(&arena, THREAD_MEMORY);
    error_init(&error, &arena);
    buf_init(&name, THREAD_MEMORY);
    map_begin(&maker);
    map_put_integer(&maker, "sequence", (int64_t)destination->position);
    struct slice value = map_end(&maker, &arena, &error);
    struct record_write write = {position_name(&name, table, destination->arn), value};
    struct record_job job;
    record_job_init(&job, &error);
    job.count = 1;
    job.writes = &write;
    bool ok = value.ptr != NULL && engine_run(kinesis->shop->engine, &job.job);
    buf_release(&name);
    arena_release(&arena);
    return ok;
}

static void find_in_table(struct kinesis *kinesis, const struct table *table)
{
    struct table_settings settings;
    struct value_iter iter;
    table_settings_read(table, &settings);
    if (settings.kinesis.len == 0)
        return;
    value_iter_init(&iter, settings.kinesis);
    while (value_iter_next(&iter)) {
        uint64_t position = position_read(kinesis, table, iter.name, iter.value);
        if (!map_flag(iter.value, "active") && position >= (uint64_t)map_integer(iter.value, "end"))
            continue;
        struct destination *destination = memory_zeroed(sizeof(*destination));
        destination->table = copy_text(table->name);
        destination->arn = copy_text(iter.name);
        destination->position = position;
        destination->next = kinesis->first;
        kinesis->first = destination;
    }
}

static void find_destinations(struct kinesis *kinesis)
{
    struct table_walk walk;
    const struct table *table;
    forget_all(kinesis);
    table_walk_init(&walk, kinesis->shop->engine, slice_of(NULL, 0));
    while ((table = table_walk_next(&walk)) != NULL)
        find_in_table(kinesis, table);
    table_walk_release(&walk);
}

// ---- Delivering ------------------------------------------------------------------------------

static bool batch_add(void *context, const struct log_entry *entry)
{
    struct batch *batch = context;
    if (batch->count == BATCH_RECORDS || batch->text.len >= BATCH_BYTES) {
        batch->full = true;
        return false;
    }
    size_t before = batch->text.len;
    kinesis_record_write(&batch->text, batch->source, entry);
    buf_byte(&batch->text, '\n');
    if (batch->text.failed) {
        batch->text.len = before;
        batch->text.failed = false;
        // Behind others it is tried again by itself.
        batch->full = batch->count > 0;
        batch->too_large = !batch->full && !batch->text.account->starved;
        batch->large = entry->sequence;
        return false;
    }
    batch->records[batch->count].sequence = entry->sequence;
    batch->records[batch->count].end = batch->text.len;
    kinesis_partition_key(entry->keys, batch->records[batch->count].partition_key);
    batch->count++;
    return true;
}

// Where the last whole line ends, looked for from the end of the file; -1 if it cannot be read.
static off_t lines_end(int fd, off_t end)
{
    char piece[TORN_PIECE];
    while (end > 0) {
        size_t len = end < TORN_PIECE ? (size_t)end : TORN_PIECE;
        if (pread(fd, piece, len, end - (off_t)len) != (ssize_t)len)
            return -1;
        const char *newline = memrchr(piece, '\n', len);
        if (newline != NULL)
            return end - (off_t)len + (newline - piece) + 1;
        end -= (off_t)len;
    }
    return 0;
}

// A line that was not finished when the machine stopped goes: its record will come again.
static bool cut_torn_line(int fd)
{
    off_t end = lseek(fd, 0, SEEK_END);
    off_t whole = lines_end(fd, end);
    return whole >= 0 && (whole == end || ftruncate(fd, whole) == 0);
}

// Makes the directory, and sees to it that it is there after a power cut.
static bool make_root(const char *root)
{
    char above[4096];
    if (mkdir(root, 0777) != 0)
        return errno == EEXIST;
    int len = snprintf(above, sizeof(above), "%s/..", root);
    return len > 0 && (size_t)len < sizeof(above) && directory_sync(above);
}

// Appends the batch to <root>/<stream>.jsonl. How many records were delivered: all or none. A new
// file is not safe before its directory is; it may have been made by a process that died before.
static size_t deliver_file(struct kinesis *kinesis, struct destination *destination,
                           const struct batch *batch, struct slice stream)
{
    char path[4096];
    int len = snprintf(path, sizeof(path), "%s/%.*s.jsonl", kinesis->root, SLICE_FMT(stream));
    if (len < 0 || (size_t)len >= sizeof(path) || !make_root(kinesis->root))
        return 0;
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return 0;
    if (lseek(fd, 0, SEEK_END) <= 0) // new, or somebody took the old one away
        destination->linked = false;
    bool ok = cut_torn_line(fd) && file_write(fd, buf_view(&batch->text)) && fdatasync(fd) == 0;
    (void)close(fd);
    if (ok && !destination->linked)
        ok = destination->linked = directory_sync(kinesis->root);
    return ok ? batch->count : 0;
}

// Posts one record.
static bool post_record(struct kinesis *kinesis, const struct kinesis_source *source,
                        struct slice arn, struct slice stream, const char *partition_key,
                        struct slice record)
{
    struct buf body;
    buf_init_counted(&body, base64_encoded_len(record.len) + BODY_FRAME, &kinesis->account,
                     BUDGET_CALLS);
    struct json_writer w = json_writer_to(&body);
    json_open_object(&w);
    json_put_string(&w, "StreamName", stream);
    json_put_string(&w, "StreamARN", arn);
    json_put_text(&w, "PartitionKey", partition_key);
    json_name(&w, "Data");
    buf_byte(&body, '"');
    base64_encode(&body, record);
    buf_byte(&body, '"');
    json_close_object(&w);
    bool ok = !body.failed &&
              kinesis_http_post(kinesis->http, "PutRecord", source->region, buf_view(&body));
    buf_release(&body);
    return ok;
}

// Posts record by record, until one is refused or the end has come; how many were taken.
static size_t deliver_http(struct kinesis *kinesis, const struct batch *batch, struct slice arn,
                           struct slice stream)
{
    size_t done = 0;
    size_t start = 0;
    for (; done < batch->count && !worker_stopping(&kinesis->worker); done++) {
        size_t end = batch->records[done].end;
        struct slice record = slice_of(batch->text.ptr + start, end - 1 - start);
        if (!post_record(kinesis, batch->source, arn, stream, batch->records[done].partition_key,
                         record))
            break;
        start = end;
    }
    return done;
}

static void note_failure(struct destination *destination, int64_t now_ms)
{
    if (destination->backoff_ms == 0)
        log_warn("kinesis: cannot deliver to %.*s; trying again", SLICE_FMT(destination->arn));
    destination->backoff_ms = destination->backoff_ms == 0 ? TICK_MS : destination->backoff_ms * 2;
    if (destination->backoff_ms > BACKOFF_MAX_MS)
        destination->backoff_ms = BACKOFF_MAX_MS;
    destination->retry_ms = now_ms + destination->backoff_ms;
}

// The most that the text of a batch may be: the largest record, but at most the share of the budget
// that can be had beside everything else. A post is a third larger than its record, which stays.
static size_t text_max(const struct kinesis *kinesis)
{
    size_t limit = kinesis->account.budget == NULL ? 0 : kinesis->account.budget->limit;
    size_t share = kinesis->http != NULL ? limit / 4 : limit / 2;
    return limit == 0 || share > LIMIT_CHANGE_JSON ? LIMIT_CHANGE_JSON : share;
}

// Delivers what was gathered; how far this has come is noted in the destination, then on disk.
static bool deliver_gathered(struct kinesis *kinesis, struct destination *destination,
                             const struct table *table, const struct batch *batch)
{
    struct slice stream;
    if (batch->too_large) {
        log_error(
            "kinesis: the change %llu of table %.*s is too large for the memory that requests "
            "may use, and is not delivered to %.*s",
            (unsigned long long)batch->large, SLICE_FMT(table->name), SLICE_FMT(destination->arn));
        destination->position = batch->large;
        return position_write(kinesis, table, destination);
    }
    if (batch->count == 0)
        return true;
    ensure(kinesis_stream_name(destination->arn, &stream));
    size_t done = kinesis->http != NULL ? deliver_http(kinesis, batch, destination->arn, stream)
                                        : deliver_file(kinesis, destination, batch, stream);
    if (done == 0)
        return false;
    destination->position = batch->records[done - 1].sequence;
    return position_write(kinesis, table, destination) && done == batch->count;
}

// Reads and delivers one batch up to the sequence `last`. Whether there is more to do at once.
static bool deliver_batch(struct kinesis *kinesis, struct destination *destination,
                          struct table *table, const struct kinesis_source *source, uint64_t last)
{
    struct arena arena;
    struct error error;
    struct batch *batch = memory_zeroed(sizeof(*batch));
    arena_init(&arena, THREAD_MEMORY);
    error_init(&error, &arena);
    kinesis->account.starved = false;
    buf_init_counted(&batch->text, text_max(kinesis), &kinesis->account, BUDGET_CALLS);
    batch->source = source;
    bool all = engine_log_read(kinesis->shop->engine, NULL, table->log, destination->position + 1,
                               last, batch_add, batch, &error) &&
               (batch->count > 0 || !kinesis->account.starved) &&
               deliver_gathered(kinesis, destination, table, batch);
    bool more = all && (batch->full || batch->too_large);
    if (all && !more)
        destination->position = last;
    if (all)
        destination->backoff_ms = 0;
    else
        note_failure(destination, monotonic_ms());
    buf_release(&batch->text);
    arena_release(&arena);
    free(batch);
    return more;
}

// Delivers what there is; whether the destination has everything up to `sequence`.
static bool serve(struct kinesis *kinesis, struct destination *destination, uint64_t sequence)
{
    struct table_settings settings;
    struct arn arn;
    if (destination->backoff_ms > 0 && monotonic_ms() < destination->retry_ms)
        return false;
    struct table *table = engine_table(kinesis->shop->engine, destination->table);
    if (table == NULL)
        return true;
    table_settings_read(table, &settings);
    struct slice entry = map_value(settings.kinesis, destination->arn);
    uint64_t last = map_flag(entry, "active") ? sequence : (uint64_t)map_integer(entry, "end");
    bool done = true;
    if (entry.len > 0 && table->log != 0 && destination->position < last) {
        ensure(arn_split(destination->arn, &arn));
        struct kinesis_source source = {arn.region, table->name, table->uuid,
                                        slice_is(map_text(entry, "precision"), "MICROSECOND")};
        while (deliver_batch(kinesis, destination, table, &source, last) &&
               !worker_stopping(&kinesis->worker))
            continue;
        done = destination->position >= last;
    }
    table_release(table);
    return done;
}

// ---- The thread ------------------------------------------------------------------------------

// One look at all destinations. Without one there is nothing to look at until that changes.
static void deliver(void *context)
{
    struct kinesis *kinesis = context;
    bool changed = atomic_exchange(&kinesis->changed, false);
    if (changed) {
        find_destinations(kinesis);
        worker_pace(&kinesis->worker, 0, kinesis->first == NULL ? 0 : TICK_MS);
    }
    uint64_t sequence = engine_sequence(kinesis->shop->engine);
    if (!changed && sequence == kinesis->seen)
        return;
    bool all = true;
    for (struct destination *at = kinesis->first; at != NULL; at = at->next)
        all = serve(kinesis, at, sequence) && all;
    if (all)
        kinesis->seen = sequence;
}

void kinesis_wake(struct kinesis *kinesis)
{
    if (kinesis == NULL)
        return;
    atomic_store(&kinesis->changed, true);
    worker_ask(&kinesis->worker);
}

// <data>/kinesis, unless another root is given.
static char *root_of(const char *root, const char *data)
{
    char *text = NULL;
    ensure(asprintf(&text, "%s%s", root != NULL ? root : data, root != NULL ? "" : "/kinesis") >=
           0);
    return text;
}

bool kinesis_new(struct workshop *shop, const struct kinesis_place *place, struct kinesis **out,
                 char *error, size_t error_size)
{
    const char *endpoint = place->endpoint;
    *out = NULL;
    struct kinesis_http *http = NULL;
    if (place->root == NULL && place->data == NULL && endpoint == NULL)
        return true;
    if (endpoint != NULL) {
        http = kinesis_http_new(endpoint, error, error_size);
        if (http == NULL)
            return false;
    }
    struct kinesis *kinesis = memory_zeroed(sizeof(*kinesis));
    kinesis->shop = shop;
    kinesis->http = http;
    kinesis->account.budget = shop->budget;
    kinesis->root = http == NULL ? root_of(place->root, place->data) : NULL;
    kinesis->changed = true;
    worker_start(&kinesis->worker,
                 &(struct worker_plan){.work = deliver, .context = kinesis, .asked = true});
    *out = kinesis;
    return true;
}

void kinesis_free(struct kinesis *kinesis)
{
    if (kinesis == NULL)
        return;
    if (kinesis->http != NULL)
        kinesis_http_stop(kinesis->http); // what it waits for ends now
    worker_stop(&kinesis->worker);
    forget_all(kinesis);
    kinesis_http_free(kinesis->http);
    free(kinesis->root);
    free(kinesis);
}
