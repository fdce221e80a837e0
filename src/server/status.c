// See status.h. Pages are made whole in a buffer; a request for one of them is never a hot path.
#include "server/status.h"

#include "base/time_text.h"
#include "dolmen.h"
#include "engine/ship.h"
#include "json/reader.h"
#include "json/writer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

enum { ADMIN_MEMORY = 1 << 20, ADMIN_ERROR = 256, RULES_MAX = 64 << 10 };

static const struct slice json_type = {(const uint8_t *)"application/json", 16};
static const struct slice metrics_type = {(const uint8_t *)"text/plain; version=0.0.4", 25};

static int64_t uptime_seconds(const struct dynamo *dynamo)
{
    return (int64_t)((uv_hrtime() - dynamo->started_ns) / 1000000000u);
}

// ---- /health ---------------------------------------------------------------------------------

static void close_with_reason(struct json_writer *w, const char *reason, int64_t since_ms)
{
    char since[TIME_TEXT];
    time_text(since_ms, since);
    json_form(w, "'reason':%s,'since':%s}", reason, since);
}

static void replica_write(struct json_writer *w, const struct engine_replica *replica)
{
    json_form(w, "{'source':%s,'applied':%zu,'behind':%zu,'lag_ms':%lld,'promoted':%hhd",
              replica->source, (size_t)replica->number,
              (size_t)(replica->known > replica->number ? replica->known - replica->number : 0),
              (long long)replica->behind_ms, replica->promoted);
    if (replica->problem[0] != 0)
        json_form(w, "'problem':%s", replica->problem);
    json_close_object(w);
}

// 200 only if nothing is wrong: who looks at the code alone shall not miss damaged data.
static int health(struct dynamo *dynamo, const struct http_request *request, struct buf *out)
{
    (void)request;
    struct engine_health health;
    api_health(dynamo->api, &health);
    bool damaged = health.damages > 0;
    bool fine = health.writable && !damaged && !health.unreadable;
    const char *status = damaged ? "damaged" : fine ? "ok" : "degraded";
    struct json_writer w = json_writer_to(out);
    // Nobody has to say who he is here; so what is told is that the server is there, and how it is.
    if (dynamo->auth.mode == AUTH_ENFORCE) {
        json_form(&w, "{'status':%s}", status);
        return fine ? 200 : 503;
    }
    json_form(&w, "{'status':%s,", status);
    if (dynamo->auth.insecure)
        json_form(&w, "'insecure':true,");
    struct engine_replica replica;
    engine_replica(api_engine(dynamo->api), &replica);
    if (replica.follows) {
        json_form(&w, "'replica':");
        replica_write(&w, &replica);
    }
    json_form(&w, "'writes':{'accepted':%hhd", health.writable && !replica.follows);
    if (health.writable)
        json_close_object(&w);
    else
        close_with_reason(&w, health.reason, health.since_ms);
    if (damaged) {
        json_form(&w, "'damage':{'met':%zu", (size_t)health.damages);
        close_with_reason(&w, health.damage, health.damaged_ms);
    }
    if (health.unreadable) {
        json_form(&w, "'reads':{'failed':%zu", (size_t)health.unreads);
        close_with_reason(&w, health.unread, health.unread_ms);
    }
    if (dynamo->upstream != NULL) {
        struct transport_stats upstream;
        upstream_stats(dynamo->upstream, &upstream);
        json_form(&w, "'upstream':{'url':%s,'reachable':%hhd", upstream_url(dynamo->upstream),
                  upstream.reachable);
        if (upstream.reachable)
            json_form(&w, "}");
        else
            close_with_reason(&w, upstream.reason, upstream.since_ms);
    }
    json_form(&w, "'version':%s,'uptime_seconds':%lld,'tables':%zu}", dolmen_version(),
              (long long)uptime_seconds(dynamo), api_table_count(dynamo->api));
    return fine ? 200 : 503;
}

// ---- /metrics --------------------------------------------------------------------------------

static uint64_t resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%*u %llu", &pages) != 1)
        pages = 0;
    (void)fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void memory_metrics(const struct dynamo *dynamo, struct buf *out)
{
    static const char *const names[] = {
#define X(kind, name, what) name,
        BUDGET_LIST(X)
#undef X
    };
    const struct budget *budget = api_budget(dynamo->api);
    if (budget == NULL)
        return;
    metrics_value(out, "memory_budget_limit_bytes", "gauge", "What all requests together may use",
                  budget->limit);
    metrics_value(out, "memory_budget_refused_total", "counter",
                  "How often a request was refused memory, or had to wait for it",
                  budget_refused(budget));
    buf_text(out, "# HELP dolmen_memory_budget_bytes What they use, by kind\n"
                  "# TYPE dolmen_memory_budget_bytes gauge\n");
    for (size_t i = 0; i < BUDGET_KINDS; i++)
        buf_printf(out, "dolmen_memory_budget_bytes{kind=\"%s\"} %zu\n", names[i],
                   atomic_load_explicit(&budget->by_kind[i], memory_order_relaxed));
}

static void audit_metrics(const struct dynamo *dynamo, struct buf *out)
{
    struct audit_stats stats;
    if (dynamo->audit == NULL)
        return;
    audit_stats(dynamo->audit, &stats);
    metrics_value(out, "audit_lines_total", "counter", "Lines that the audit log has", stats.lines);
    metrics_value(out, "audit_lost_total", "counter",
                  "Requests that the audit log could not be told of", stats.lost);
    metrics_value(out, "audit_write_failures_total", "counter",
                  "How often the audit log could not be written", stats.failures);
    metrics_value(out, "audit_refused_total", "counter",
                  "Requests refused because of that (--audit-strict)", stats.refused);
    metrics_value(out, "audit_rotations_total", "counter", "Files of it that were full",
                  stats.rotated);
    metrics_value(out, "audit_missing_lines", "gauge",
                  "Lines that somebody had removed before this start", stats.missing);
    metrics_value(out, "audit_sequence", "gauge", "Number of its last line", stats.seq);
    metrics_value(out, "audit_writable", "gauge", "1 if the audit log is written", stats.writable);
}

static void limits_metrics(const struct dynamo *dynamo, struct buf *out)
{
    if (dynamo->limits == NULL)
        return;
    struct limits_stats stats = limits_stats(dynamo->limits);
    metrics_value(out, "auth_locked_total", "counter",
                  "Requests refused because of many wrong signatures before", stats.locked);
    metrics_value(out, "rate_limited_total", "counter",
                  "Requests refused because of the rate of whoever asked", stats.throttled);
}

static void upstream_metrics(const struct dynamo *dynamo, struct buf *out)
{
    struct transport_stats stats;
    if (dynamo->upstream == NULL)
        return;
    upstream_stats(dynamo->upstream, &stats);
    metrics_value(out, "upstream_requests_total", "counter",
                  "Requests to the upstream server that have ended", stats.requests);
    metrics_value(out, "upstream_repeated_total", "counter", "Tries beyond the first",
                  stats.repeated);
    metrics_value(out, "upstream_failed_total", "counter", "Requests that were not answered",
                  stats.failed);
    metrics_value(out, "upstream_waiting", "gauge", "Requests on their way, or waiting for it",
                  stats.waiting);
    metrics_value(out, "upstream_reachable", "gauge", "1 if the last try was answered",
                  stats.reachable);
}

static void replica_metrics(const struct dynamo *dynamo, struct buf *out)
{
    struct engine_replica replica;
    struct engine *engine = api_engine(dynamo->api);
    engine_replica(engine, &replica);
    if (engine_ships(engine)) {
        metrics_value(out, "replica_log_entries_total", "counter",
                      "Number of the last entry that replicas can follow", engine_shipped(engine));
        metrics_value(out, "replica_log_oldest_entry", "gauge",
                      "Number of the oldest entry that replicas can still follow",
                      engine_ship_oldest(engine));
    }
    if (!replica.follows)
        return;
    metrics_value(out, "replica_lag_milliseconds", "gauge",
                  "Since when this replica may lack something of its source",
                  (uint64_t)replica.behind_ms);
    metrics_value(out, "replica_lag_entries", "gauge",
                  "Entries that the source has told of and that are not applied yet",
                  replica.known > replica.number ? replica.known - replica.number : 0);
    metrics_value(out, "replica_applied_entries_total", "counter",
                  "Number of the last entry that was applied", replica.number);
    metrics_value(out, "replica_connected", "gauge", "1 if the source answers",
                  replica.problem[0] == 0);
}

// X(name, type, number, help): a value is a line.
// clang-format off
#define VALUE_LIST(X) \
    X("store_commits_total", "counter", stats.engine.commits, "Groups of writes made durable") \
    X("store_commit_failures_total", "counter", stats.engine.commits_failed, "Groups of writes the store did not take") \
    X("store_commit_bytes_total", "counter", stats.engine.commit_bytes, "Bytes of keys and values in groups made durable") \
    X("store_group_jobs_total", "counter", stats.engine.jobs, "Writes in all groups; divided by the groups it is their mean size") \
    X("store_queue_length", "gauge", stats.engine.waiting, "Writes that wait or are being done") \
    X("long_calls_total", "counter", stats.pool.tasks, "Pieces of work that were left to the pool") \
    X("long_call_slices_total", "counter", stats.pool.slices, "Slices that they were done in") \
    X("long_calls_waiting", "gauge", stats.pool.waiting, "Of them, those that wait for their next slice") \
    X("canceled_calls_total", "counter", stats.canceled, "Long calls whose clients had hung up") \
    X("store_writable", "gauge", health.writable, "1 if writes are accepted, see /health") \
    X("store_read_failures_total", "counter", health.unreads, "Reads that the disk refused; see /health") \
    X("store_damage_total", "counter", health.damages, "How often damage on disk was met, by reads and compactions; see /health") \
    X("ttl_sweeps_total", "counter", ttl.sweeps, "Sweeps for expired items that have ended") \
    X("ttl_deleted_items_total", "counter", ttl.deleted, "Expired items that were deleted (TimeToLiveDeletedItemCount)") \
    X("retain_walks_total", "counter", sweeps.walks, "Walks of retain and keep rules that have ended") \
    X("retain_failures_total", "counter", sweeps.failed, "Walks that failed; they are tried again") \
    X("retain_running", "gauge", sweeps.running, "Walks that are going on") \
    X("retain_looked_items_total", "counter", sweeps.looked, "Items that walks have looked at") \
    X("retain_removed_items_total", "counter", sweeps.removed, "Items that rules have removed") \
    X("retain_archived_items_total", "counter", sweeps.archived, "Items put into archives, which were verified") \
    X("retain_left_items_total", "counter", sweeps.left, "Items that were due and stayed: changed meanwhile, or not to be deleted") \
    X("retain_archives_total", "counter", sweeps.archives, "Archives made") \
    X("store_log_segments", "gauge", stats.store.log_segments, "Files of the log") \
    X("store_log_active_bytes", "gauge", stats.store.log_active_bytes, "Bytes in the log's segment being written") \
    X("store_log_bytes", "gauge", stats.store.log_bytes, "Bytes of all segments on disk") \
    X("store_cache_bytes", "gauge", stats.store.cache_bytes, "Used of the block cache") \
    X("store_cache_limit_bytes", "gauge", stats.store.cache_limit, "What the block cache may use") \
    X("store_memtable_bytes", "gauge", stats.store.memtable_bytes, "Writes that are not in tables on disk yet") \
    X("store_table_bytes", "gauge", stats.store.table_bytes, "Tables on disk") \
    X("store_table_files", "gauge", stats.store.table_files, "Files of tables on disk") \
    X("store_compaction_pending_bytes", "gauge", stats.store.compaction_bytes, "Bytes that wait to be compacted, an estimate") \
    X("store_encrypted", "gauge", (uint64_t)stats.store.encrypted, "Whether the data directory is encrypted")
// clang-format on

static int metrics(struct dynamo *dynamo, const struct http_request *request, struct buf *out)
{
    (void)request;
    struct api_stats stats;
    struct engine_health health;
    struct api_ttl ttl;
    struct api_sweeps sweeps;
    metrics_write(dynamo->metrics, out);
    if (dynamo->objects != NULL)
        objects_metrics(dynamo->objects, out);
    api_stats(dynamo->api, &stats);
    api_health(dynamo->api, &health);
    api_ttl(dynamo->api, &ttl);
    api_sweeps(dynamo->api, &sweeps);
#define X(name, type, number, help) metrics_value(out, name, type, help, (uint64_t)(number));
    VALUE_LIST(X)
#undef X
    memory_metrics(dynamo, out);
    audit_metrics(dynamo, out);
    limits_metrics(dynamo, out);
    upstream_metrics(dynamo, out);
    replica_metrics(dynamo, out);
    api_consumer_metrics(dynamo->api, out);
    api_live_metrics(dynamo->api, out);
    watch_metrics(dynamo->watch, out);
    auth_desk_metrics(&dynamo->auth, out);
    metrics_value(out, "tables", "gauge", "Tables", api_table_count(dynamo->api));
    metrics_value(out, "uptime_seconds", "gauge", "Seconds since the start",
                  (uint64_t)uptime_seconds(dynamo));
    metrics_value(out, "resident_memory_bytes", "gauge", "Resident memory of the process",
                  resident_bytes());
    return 200;
}

// ---- /admin ----------------------------------------------------------------------------------

static bool is_post(const struct http_request *request)
{
    return slice_is(request->method, "POST");
}

static int refuse(struct buf *out, int status, const char *message)
{
    struct json_writer w = json_writer_to(out);
    json_form(&w, "{'message':%s}", message);
    return status;
}

// What is read of a body: each member of its object is given to `take`, which reads the value.
struct body {
    struct json_reader reader;
    bool (*take)(struct body *body, struct slice name);
    struct dynamo *dynamo;
    unsigned members;
    int64_t offset; // of the clock
    bool split;
    struct slice table;
    struct buf rules;
};

// Whether the body is such an object and nothing else.
static bool body_read(struct body *body, const struct http_request *request, struct arena *arena)
{
    struct json_reader *reader = &body->reader;
    struct slice name;
    json_reader_init(reader, request->body, arena);
    if (json_peek(reader) != JSON_OBJECT || !json_enter(reader))
        return false;
    while (json_next_name(reader, &name)) {
        body->members++;
        if (!body->take(body, name))
            return false;
    }
    return reader->error == NULL && json_at_end(reader);
}

static bool string_read(struct body *body, struct slice *out)
{
    return json_peek(&body->reader) == JSON_STRING && json_read_string(&body->reader, out);
}

// ---- /admin/clock ----------------------------------------------------------------------------

// A whole number of seconds, of at most ten digits.
static bool seconds_read(struct body *body, int64_t *seconds)
{
    struct slice text;
    char copy[16];
    char *end;
    if (json_peek(&body->reader) != JSON_NUMBER || !json_read_number(&body->reader, &text) ||
        text.len > 11)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    *seconds = strtoll(copy, &end, 10);
    return *end == 0;
}

// What the clock would show without an offset.
static int64_t clock_unmoved(struct dynamo *dynamo)
{
    return api_clock_now(dynamo->api) - api_clock_offset(dynamo->api);
}

static bool clock_member(struct body *body, struct slice name)
{
    struct slice text;
    int64_t number;
    if (slice_is(name, "now")) {
        if (!string_read(body, &text) || !time_parse(text, &number))
            return false;
        body->offset = number - clock_unmoved(body->dynamo);
        return true;
    }
    if (slice_is(name, "advance_seconds")) {
        if (!seconds_read(body, &number))
            return false;
        body->offset += number * 1000;
        return true;
    }
    body->offset = 0;
    return slice_is(name, "reset") && json_peek(&body->reader) == JSON_TRUE &&
           json_read_literal(&body->reader);
}

static bool clock_set(struct dynamo *dynamo, const struct http_request *request)
{
    struct arena arena;
    struct body body = {
        .take = clock_member, .dynamo = dynamo, .offset = api_clock_offset(dynamo->api)};
    arena_init(&arena, ADMIN_MEMORY);
    bool ok = body_read(&body, request, &arena) && body.members == 1;
    arena_release(&arena);
    int64_t now = clock_unmoved(dynamo) + body.offset;
    ok = ok && now >= 0 && now < INT64_C(253402300800000); // between 1970 and 9999
    if (ok)
        api_clock_move(dynamo->api, body.offset);
    return ok;
}

static int clock_page(struct dynamo *dynamo, const struct http_request *request, struct buf *out)
{
    char now[TIME_TEXT];
    if (is_post(request) && !clock_set(dynamo, request))
        return refuse(out, 400,
                      "The body must be {\"now\":\"2026-01-01T00:00:00Z\"}, "
                      "{\"advance_seconds\":N} or {\"reset\":true}.");
    time_text(api_clock_now(dynamo->api), now);
    struct json_writer w = json_writer_to(out);
    json_form(&w, "{'now':%s,'offset_ms':%lld}", now, (long long)api_clock_offset(dynamo->api));
    return 200;
}

// ---- /admin/faults ---------------------------------------------------------------------------

static void write_faults(struct dynamo *dynamo, struct buf *out)
{
    struct buf rules;
    buf_init(&rules, RULES_MAX);
    faults_write(dynamo->faults, &rules);
    struct slice rest = buf_view(&rules);
    struct json_writer w = json_writer_to(out);
    json_form(&w, "{'faults':[");
    while (rest.len > 0)
        json_string(&w, slice_cut(&rest, ','));
    json_form(&w, "]}");
    buf_release(&rules);
}

// The strings of {"faults":[…]} as one text, separated by commas.
static bool faults_member(struct body *body, struct slice name)
{
    struct slice text;
    if (body->members > 1 || !slice_is(name, "faults") || json_peek(&body->reader) != JSON_ARRAY ||
        !json_enter(&body->reader))
        return false;
    while (json_next_element(&body->reader)) {
        if (!string_read(body, &text))
            return false;
        if (body->rules.len > 0)
            buf_byte(&body->rules, ',');
        buf_slice(&body->rules, text);
    }
    return body->reader.error == NULL && !body->rules.failed;
}

static bool faults_replace(struct dynamo *dynamo, const struct http_request *request, char *error)
{
    struct arena arena;
    struct body body = {.take = faults_member};
    arena_init(&arena, ADMIN_MEMORY);
    buf_init(&body.rules, RULES_MAX);
    (void)snprintf(error, ADMIN_ERROR, "The body must be {\"faults\":[\"PutItem:throttle:0.1\"]}.");
    bool ok = body_read(&body, request, &arena) && body.members == 1 &&
              faults_set(dynamo->faults, buf_view(&body.rules), error, ADMIN_ERROR);
    buf_release(&body.rules);
    arena_release(&arena);
    return ok;
}

static int faults_page(struct dynamo *dynamo, const struct http_request *request, struct buf *out)
{
    char error[ADMIN_ERROR];
    if (slice_is(request->method, "DELETE"))
        ensure(faults_set(dynamo->faults, (struct slice){NULL, 0}, error, sizeof(error)));
    else if (is_post(request) && !faults_replace(dynamo, request, error))
        return refuse(out, 400, error);
    write_faults(dynamo, out);
    return 200;
}

// ---- /admin/streams/roll -----------------------------------------------------------------------

// {"TableName":"…","Split":true}; Split may be absent.
static bool roll_member(struct body *body, struct slice name)
{
    if (slice_is(name, "TableName"))
        return string_read(body, &body->table);
    enum json_kind kind = json_peek(&body->reader);
    body->split = kind == JSON_TRUE;
    return slice_is(name, "Split") && (kind == JSON_TRUE || kind == JSON_FALSE) &&
           json_read_literal(&body->reader);
}

static int roll_page(struct dynamo *dynamo, const struct http_request *request, struct buf *out)
{
    struct arena arena;
    struct body body = {.take = roll_member};
    int status = 200;
    arena_init(&arena, ADMIN_MEMORY);
    if (!body_read(&body, request, &arena) || body.table.len == 0)
        status = refuse(out, 400, "The body must be {\"TableName\":\"Music\",\"Split\":true}.");
    else if (!api_streams_roll(dynamo->api, body.table, body.split))
        status = refuse(out, 404, "There is no table of that name that has a stream.");
    else
        buf_text(out, "{}");
    arena_release(&arena);
    return status;
}

// ---- /admin/ttl ------------------------------------------------------------------------------

// POST begins a sweep; GET tells whether one is going on, and what they have deleted.
static int ttl_page(struct dynamo *dynamo, const struct http_request *request, struct buf *out)
{
    struct api_ttl ttl;
    if (is_post(request))
        api_ttl_sweep(dynamo->api);
    api_ttl(dynamo->api, &ttl);
    struct json_writer w = json_writer_to(out);
    json_form(&w, "{'running':%hhd,'sweeps':%zu,'deleted':%zu}", ttl.running, (size_t)ttl.sweeps,
              (size_t)ttl.deleted);
    return 200;
}

// ---- /admin/insights ---------------------------------------------------------------------------

// Of ?table=…, or of all; a table's name needs no escapes.
static int insights_page(struct dynamo *dynamo, const struct http_request *request, struct buf *out)
{
    struct slice name = SLICE_LIT("table=");
    struct slice query = request->query;
    bool one = slice_begins(query, name);
    api_insights(dynamo->api,
                 one ? slice_of(query.ptr + name.len, query.len - name.len) : slice_of(NULL, 0),
                 out);
    return 200;
}

// ---- /replica ----------------------------------------------------------------------------------
//
// What `dolmen replica` asks of its source, in bytes (engine/ship.h), and what is asked of it.

static struct slice parameter(const struct http_request *request, const char *name)
{
    struct slice rest = request->query;
    while (rest.len > 0) {
        struct slice value = slice_cut(&rest, '&');
        if (slice_is(slice_cut(&value, '='), name))
            return value;
    }
    return slice_of(NULL, 0);
}

static uint64_t number_parameter(const struct http_request *request, const char *name, int base)
{
    char text[32];
    struct slice value = parameter(request, name);
    (void)snprintf(text, sizeof(text), "%.*s", SLICE_FMT(value));
    return strtoull(text, NULL, base);
}

static void version_write(struct buf *out)
{
    char version[SHIP_VERSION_BYTES] = {0};
    (void)snprintf(version, sizeof(version), "dolmen %s", dolmen_version());
    buf_add(out, version, sizeof(version));
}

// A key in hexadecimal digits.
static bool key_parameter(const struct http_request *request, struct buf *out)
{
    struct slice text = parameter(request, "after");
    bool ok = text.len % 2 == 0 && text.len <= 2 * (size_t)STORE_KEY_MAX;
    for (size_t i = 0; ok && i < text.len; i += 2) {
        int high = hex_digit(text.ptr[i]);
        int low = hex_digit(text.ptr[i + 1]);
        ok = high >= 0 && low >= 0;
        buf_byte(out, (uint8_t)(high * 16 + low));
    }
    return ok && !out->failed;
}

static int failure(struct buf *out, int status, const struct error *error)
{
    buf_clear(out);
    return refuse(out, status,
                  error->message == NULL ? "There is not enough memory." : error->message);
}

static int copy_answer(struct dynamo *dynamo, const struct http_request *request, struct buf *out,
                       struct error *error)
{
    struct engine *engine = api_engine(dynamo->api);
    struct buf after;
    buf_init(&after, STORE_KEY_MAX);
    bool known = key_parameter(request, &after);
    version_write(out);
    bool ok = known && engine_ship_begin(engine, error) &&
              engine_ship_copy(engine, buf_view(&after), out, error);
    buf_release(&after);
    if (!known) {
        buf_clear(out);
        return refuse(out, 400, "after= must be a key in hexadecimal digits.");
    }
    return ok ? 200 : failure(out, error->code == ERR_VALIDATION ? 400 : 500, error);
}

static int log_answer(struct dynamo *dynamo, const struct http_request *request, struct buf *out,
                      struct error *error)
{
    bool anew = false;
    version_write(out);
    if (!engine_ship_read(api_engine(dynamo->api), number_parameter(request, "from", 10),
                          number_parameter(request, "mark", 16), out, &anew, error))
        return failure(out, 500, error);
    if (!anew)
        return 200;
    buf_clear(out);
    return refuse(out, 410, "The log does not have what follows this entry.");
}

static int promote_answer(struct dynamo *dynamo, const struct http_request *request,
                          struct buf *out, struct error *error)
{
    struct engine_replica replica;
    if (!engine_promote(api_engine(dynamo->api), number_parameter(request, "now", 10) == 1, error))
        return failure(out, 409, error);
    engine_replica(api_engine(dynamo->api), &replica);
    struct json_writer w = json_writer_to(out);
    replica_write(&w, &replica);
    (void)kill(getpid(), SIGTERM); // it stops, and comes back as a server of its own
    return 200;
}

static int with_error(struct dynamo *dynamo, const struct http_request *request, struct buf *out,
                      int (*make)(struct dynamo *dynamo, const struct http_request *request,
                                  struct buf *out, struct error *error))
{
    struct arena arena;
    struct error error;
    arena_init(&arena, ADMIN_MEMORY);
    error_init(&error, &arena);
    int status = make(dynamo, request, out, &error);
    arena_release(&arena);
    return status;
}

static int copy_page(struct dynamo *dynamo, const struct http_request *request, struct buf *out)
{
    return with_error(dynamo, request, out, copy_answer);
}

static int log_page(struct dynamo *dynamo, const struct http_request *request, struct buf *out)
{
    return with_error(dynamo, request, out, log_answer);
}

static int promote_page(struct dynamo *dynamo, const struct http_request *request, struct buf *out)
{
    return with_error(dynamo, request, out, promote_answer);
}

static int replica_page(struct dynamo *dynamo, const struct http_request *request, struct buf *out)
{
    (void)request;
    struct engine_replica replica;
    engine_replica(api_engine(dynamo->api), &replica);
    if (!replica.follows)
        return refuse(out, 404, "This server is not a replica.");
    struct json_writer w = json_writer_to(out);
    replica_write(&w, &replica);
    return 200;
}

// ---- Which page ------------------------------------------------------------------------------

static const struct page {
    const char *path;
    const char *methods; // with a blank behind each
    bool admin;
    bool waits; // for many tables, or for the writer
    int (*make)(struct dynamo *dynamo, const struct http_request *request, struct buf *out);
} pages[] = {
    {"/health", "GET HEAD ", false, false, health},
    {"/metrics", "GET HEAD ", false, true, metrics},
    {"/replica", "GET ", false, false, replica_page},
    {"/replica/log", "GET ", false, true, log_page},
    {"/replica/copy", "POST ", false, true, copy_page},
    {"/replica/promote", "POST ", false, true, promote_page},
    {"/admin/clock", "GET POST ", true, false, clock_page},
    {"/admin/insights", "GET ", true, true, insights_page},
    {"/admin/ttl", "GET POST ", true, false, ttl_page},
    {"/admin/streams/roll", "POST ", true, true, roll_page},
    {"/admin/faults", "GET POST DELETE ", true, false, faults_page},
};

static const struct page *page_find(const struct http_request *request)
{
    for (size_t i = 0; i < COUNT_OF(pages); i++) {
        if (slice_is(request->path, pages[i].path))
            return &pages[i];
    }
    return NULL;
}

static bool page_has_method(const struct page *page, struct slice method)
{
    for (const char *at = page->methods; *at != 0; at += strcspn(at, " ") + 1) {
        if (slice_equal(method, slice_of(at, strcspn(at, " "))))
            return true;
    }
    return false;
}

bool status_is_long(const struct http_request *request)
{
    const struct page *page = page_find(request);
    return page != NULL && page->waits;
}

bool status_answer(struct dynamo *dynamo, const struct http_request *request, struct buf *out,
                   struct status_page *answer)
{
    const struct page *page = page_find(request);
    if (page == NULL || (page->admin && !dynamo->admin) || !page_has_method(page, request->method))
        return false;
    answer->type = page->make == metrics ? metrics_type : json_type;
    answer->status = page->make(dynamo, request, out);
    return true;
}
