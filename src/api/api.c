// Opening and closing everything that stands behind the operations, and looking at it.
#include "api/api.h"

#include "api/operations.h"
#include "backup/backup.h"
#include "call/insights.h"
#include "capture/consumers.h"
#include "capture/kinesis.h"
#include "change/model.h"
#include "crypt/crypt.h"
#include "designs/verify.h"
#include "engine/ship.h"
#include "exchange/exchange.h"
#include "expire/sweeper.h"
#include "identity/identity.h"
#include "items/entity.h"
#include "live/live.h"
#include "report/report.h"
#include "retain/retain.h"
#include "stream/stream.h"
#include "work/janitor.h"

#include <stdatomic.h>
#include <stdlib.h>

// ---- The clock --------------------------------------------------------------------------------
//
// That of the env it was opened with, moved by an offset. The engine gets an env whose context is
// the api, so a test that moves the clock moves it for everything that is timed.

int64_t api_clock_now(struct api *api)
{
    return env_now(&api->env) + atomic_load_explicit(&api->clock_offset, memory_order_relaxed);
}

int64_t api_clock_offset(struct api *api)
{
    return atomic_load_explicit(&api->clock_offset, memory_order_relaxed);
}

void api_clock_move(struct api *api, int64_t offset_ms)
{
    atomic_store_explicit(&api->clock_offset, offset_ms, memory_order_relaxed);
    janitor_wake(api->janitor);
}

static int64_t moved_now(void *context)
{
    return api_clock_now(context);
}

static void same_random(void *context, uint8_t *out, size_t len)
{
    struct api *api = context;
    api->env.random(api->env.context, out, len);
}

static struct env clock_env(struct api *api)
{
    return (struct env){.context = api, .now_ms = moved_now, .random = same_random};
}

// ---- Opening and closing ----------------------------------------------------------------------

static void ship_care(struct workshop *shop)
{
    engine_ship_trim(shop->engine);
}

// What has to be done now and then without being asked for.
static const struct chore chores[] = {
    {streams_roll_due, 5000}, {streams_trim, 60000}, {backup_expire, 60000},
    {report_keep, 5000},      {retain_care, 1000},   {ship_care, 1000},
};

bool api_follows(struct api *api)
{
    struct engine_replica replica;
    engine_replica(api->shop.engine, &replica);
    return replica.follows;
}

struct engine *api_engine(struct api *api)
{
    return api->shop.engine;
}

struct api *api_open(const struct api_options *options, struct store_error *error)
{
    struct api *api = memory_zeroed(sizeof(*api));
    struct workshop *shop = &api->shop;
    struct guard_maker maker = {options->budget, guard_make};
    api->env = options->env;
    api->find = operation_find;
    api->read = entity_read_start;
    api->store = options->store;
    struct store_stats stats;
    store_stats(options->store, &stats);
    api->encrypted = stats.encrypted;
    shop->budget = options->budget;
    shop->engine = engine_open(options->store, clock_env(api), &maker, error);
    if (shop->engine == NULL) {
        free(api);
        return NULL;
    }
    shop->lanes = lanes_new();
    shop->stream_counts = stream_counts_new();
    shop->reports = report_book_new();
    shop->retain = retain_desk_new();
    api->verification = verification_new();
    shop->filling = model_table_filling;
    shop->filled = model_table_filled;
    // A replica does nothing by itself: what its source does arrives here.
    bool replica = api_follows(api);
    if (!replica) {
        model_resume(shop); // before anything writes
        backup_resume(shop);
        restore_resume(shop);
        api->sweeper = sweeper_new(shop, API_TTL_RATE);
    }
    api->pool = pool_new(options->pool);
    api->insights = insights_new(api);
    api->janitor = janitor_new(shop, chores, replica ? 0 : COUNT_OF(chores));
    return api;
}

void api_close(struct api *api)
{
    struct workshop *shop = &api->shop;
    lanes_stop(shop);
    sweeper_free(api->sweeper);
    janitor_free(api->janitor);
    live_stop(shop->live);
    consumers_stop(shop->consumers); // behind the janitor, who asks them what they need
    report_keep(shop);
    lanes_free(shop);
    verification_free(api->verification);
    pool_free(api->pool);
    engine_close(shop->engine);
    consumers_free(shop->consumers);
    live_free(shop->live);
    kinesis_free(api->kinesis);
    throttle_free(api->throttle);
    free(shop->bucket_root);
    insights_free(api->insights);
    stream_counts_free(shop->stream_counts);
    report_book_free(shop->reports);
    retain_desk_free(shop->retain);
    identity_close(shop->identity);
    free(api);
}

// ---- Settings, before the first call ----------------------------------------------------------

void api_index_copy_max(struct api *api, size_t bytes)
{
    engine_index_copy_max(api->shop.engine, bytes);
}

bool api_service_texts(struct api *api, const char *texts)
{
    api->texts_2026_05 = texts != NULL;
    return texts == NULL || strcmp(texts, "2026-05") == 0;
}

void api_enforce_capacity(struct api *api)
{
    api->throttle = throttle_new();
}

void api_set_buckets(struct api *api, const char *root, const char *data,
                     const struct bucket_store *elsewhere)
{
    if (elsewhere != NULL)
        api->shop.buckets = *elsewhere;
    if (!api_follows(api))
        exchange_open(&api->shop, root, data);
}

void api_set_retain(struct api *api, const struct api_retain *retain)
{
    struct retain_settings settings = {
        .rate = retain->rate == 0 ? RETAIN_RATE : retain->rate,
        .every_ms = (retain->every_s == 0 ? RETAIN_EVERY_S : (int64_t)retain->every_s) * 1000,
        .bunch = retain->bunch,
        .archive = retain->archive,
        .asked = retain->asked};
    if (!api_follows(api))
        retain_set(&api->shop, &settings);
}

bool api_set_kinesis(struct api *api, const char *root, const char *data, const char *endpoint,
                     char *error, size_t error_size)
{
    return kinesis_new(&api->shop, &(struct kinesis_place){root, data, endpoint}, &api->kinesis,
                       error, error_size);
}

void api_set_publisher(struct api *api, const struct outlet_opener *opener,
                       const struct consumers_projects *projects)
{
    if (!api_follows(api))
        DISREGARD(consumers_new(&api->shop, opener, api->kinesis, projects));
}

struct live *api_live(struct api *api, const uint8_t *secret)
{
    if (api->shop.live == NULL)
        api->shop.live = live_new(&api->shop, secret);
    return api->shop.live;
}

bool api_use_master_key(struct api *api, const struct crypt_key *key, char *error,
                        size_t error_size)
{
    api->shop.identity = identity_open(&api->shop, key, error, error_size);
    return api->shop.identity != NULL;
}

bool api_set_master_key(struct api *api, const char *source, char *error, size_t error_size)
{
    struct crypt_key key;
    if (!crypt_master_read(source, &key, error, error_size))
        return false;
    bool opened = api_use_master_key(api, &key, error, error_size);
    crypt_key_wipe(&key);
    return opened;
}

struct identity *api_identity(struct api *api)
{
    return api->shop.identity;
}

// ---- Consumers --------------------------------------------------------------------------------

struct consumer_rows {
    struct buf *out;
    size_t row;
};

// The one list of what is told of a consumer.
static const struct {
    const char *name;
    const char *type;
    const char *help;
} consumer_rows[] = {
    {"lag_seconds", "gauge", "Age of the oldest change that is not delivered"},
    {"lag_records", "gauge", "Changes that are not delivered; at most, until they are read"},
    {"delivered_total", "counter", "Events delivered"},
    {"failed_total", "counter", "Attempts that failed"},
    {"dead_letters", "gauge", "Events that have failed, and wait in the list of dead letters"},
    {"rows_total", "counter", "Rows written by a projection"},
    {"batches_total", "counter", "Transactions of a projection"},
    {"lost_total", "counter", "Times that changes were forgotten before they were delivered"},
    {"running", "gauge", "1 if it delivers; 0 if it is paused, stopped, blocked or failing"},
};

static double consumer_number(const struct consumer_status *status, size_t row)
{
    const double numbers[COUNT_OF(consumer_rows)] = {(double)status->behind_ms / 1000,
                                                     (double)status->records,
                                                     (double)status->delivered,
                                                     (double)status->failed,
                                                     (double)status->letters,
                                                     (double)status->rows,
                                                     (double)status->batches,
                                                     (double)status->lost,
                                                     strcmp(status->state, "RUNNING") == 0 ||
                                                         strcmp(status->state, "BACKFILLING") == 0};
    return numbers[row];
}

static void consumer_row(void *context, struct consumer *consumer)
{
    const struct consumer_rows *rows = context;
    struct consumer_status status;
    consumer_status(consumer, &status);
    buf_printf(rows->out, "dolmen_consumer_%s{table=\"%.*s\",consumer=\"%.*s\"} %.15g\n",
               consumer_rows[rows->row].name, SLICE_FMT(consumer_table(consumer)),
               SLICE_FMT(consumer_name(consumer)), consumer_number(&status, rows->row));
}

void api_consumer_metrics(struct api *api, struct buf *out)
{
    if (api->shop.consumers == NULL)
        return;
    for (size_t i = 0; i < COUNT_OF(consumer_rows); i++) {
        struct consumer_rows rows = {out, i};
        buf_printf(out, "# HELP dolmen_consumer_%s %s\n# TYPE dolmen_consumer_%s %s\n",
                   consumer_rows[i].name, consumer_rows[i].help, consumer_rows[i].name,
                   consumer_rows[i].type);
        consumers_each(api->shop.consumers, slice_of(NULL, 0), consumer_row, &rows);
    }
}

// ---- Live patterns ------------------------------------------------------------------------------

void api_live_metrics(struct api *api, struct buf *out)
{
    struct live_stats stats;
    if (api->shop.live == NULL)
        return;
    live_stats(api->shop.live, &stats);
    const struct {
        const char *name;
        const char *type;
        const char *help;
        uint64_t value;
    } rows[] = {
        {"listeners", "gauge", "Connections that listen to a pattern", stats.listeners},
        {"questions", "gauge", "Different patterns and arguments they have asked", stats.groups},
        {"tables", "gauge", "Tables that somebody listens to", stats.tables},
        {"events_total", "counter", "Events written, each once for all who listen", stats.events},
        {"delivered_total", "counter", "Events taken by connections", stats.delivered},
        {"overruns_total", "counter", "Queues dropped because a client was slow", stats.overruns},
        {"resets_total", "counter", "Results that were sent anew", stats.resets},
        {"resumed_total", "counter", "Connections that went on behind an event", stats.resumed},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        buf_printf(out, "# HELP dolmen_live_%s %s\n# TYPE dolmen_live_%s %s\ndolmen_live_%s %llu\n",
                   rows[i].name, rows[i].help, rows[i].name, rows[i].type, rows[i].name,
                   (unsigned long long)rows[i].value);
}

// ---- While it runs ----------------------------------------------------------------------------

struct workshop *api_workshop(struct api *api)
{
    return &api->shop;
}

void api_cut_short(struct api *api)
{
    work_hurry(&api->shop);
}

void api_insights(struct api *api, struct slice table, struct buf *out)
{
    insights_write(api->insights, table, out);
}

void api_ttl(struct api *api, struct api_ttl *out)
{
    struct sweeper_state state;
    sweeper_state(api->sweeper, &state);
    *out = (struct api_ttl){state.running, state.sweeps, state.deleted};
}

void api_sweeps(struct api *api, struct api_sweeps *out)
{
    struct retain_totals totals;
    retain_totals(&api->shop, &totals);
    *out = (struct api_sweeps){.walks = totals.walks,
                               .failed = totals.failed,
                               .looked = totals.looked,
                               .removed = totals.removed,
                               .archived = totals.archived,
                               .left = totals.left,
                               .archives = totals.archives,
                               .running = totals.running};
}

void api_ttl_sweep(struct api *api)
{
    sweeper_ask(api->sweeper);
}

void api_ttl_rate(struct api *api, uint64_t rate)
{
    sweeper_rate(api->sweeper, rate);
}

bool api_streams_roll(struct api *api, struct slice table_name, bool split)
{
    return streams_roll(api->shop.engine, table_name, split);
}

struct budget *api_budget(const struct api *api)
{
    return api->shop.budget;
}

// ---- Looking at it --------------------------------------------------------------------------

void api_health(struct api *api, struct engine_health *out)
{
    engine_health(api->shop.engine, out);
}

size_t api_table_count(struct api *api)
{
    return engine_table_count(api->shop.engine);
}

void api_stats(struct api *api, struct api_stats *out)
{
    engine_stats(api->shop.engine, &out->engine);
    pool_stats(api->pool, &out->pool);
    store_stats(api->store, &out->store);
    out->canceled = api->canceled;
}

bool api_gathers(const struct api *api)
{
    return engine_gathers(api->shop.engine);
}

void api_turn_ended(struct api *api)
{
    engine_turn_ended(api->shop.engine);
}

struct pool *api_pool(struct api *api)
{
    return api->pool;
}

struct model *api_table_model(struct api *api, struct slice table_name,
                              const struct model_table **out)
{
    struct table *table =
        table_name_hidden(table_name) ? NULL : engine_table(api->shop.engine, table_name);
    struct model *model = NULL;
    if (table != NULL && table->guard != NULL) {
        *out = model_guard_table(table->guard);
        model = model_hold((struct model *)(*out)->model);
    }
    table_release(table);
    return model;
}
