// Opening and closing everything that stands behind the operations, and looking at it.
#include "api/api.h"

#include "api/operations.h"
#include "backup/backup.h"
#include "call/insights.h"
#include "capture/kinesis.h"
#include "change/model.h"
#include "designs/verify.h"
#include "exchange/exchange.h"
#include "expire/sweeper.h"
#include "items/entity.h"
#include "report/report.h"
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

// What has to be done now and then without being asked for.
static const struct chore chores[] = {
    {streams_roll_due, 5000},
    {streams_trim, 60000},
    {backup_expire, 60000},
    {report_keep, 5000},
};

struct api *api_open(const struct api_options *options, struct store_error *error)
{
    struct api *api = memory_zeroed(sizeof(*api));
    struct workshop *shop = &api->shop;
    struct guard_maker maker = {options->budget, guard_make};
    api->env = options->env;
    api->find = operation_find;
    api->read = entity_read_start;
    api->store = options->store;
    shop->budget = options->budget;
    shop->engine = engine_open(options->store, clock_env(api), &maker, error);
    if (shop->engine == NULL) {
        free(api);
        return NULL;
    }
    shop->lanes = lanes_new();
    shop->stream_counts = stream_counts_new();
    shop->reports = report_book_new();
    api->verification = verification_new();
    shop->filling = model_table_filling;
    shop->filled = model_table_filled;
    model_resume(shop); // before anything writes
    backup_resume(shop);
    restore_resume(shop);
    api->sweeper = sweeper_new(shop, API_TTL_RATE);
    api->pool = pool_new(0);
    api->insights = insights_new(api);
    api->janitor = janitor_new(shop, chores, COUNT_OF(chores));
    return api;
}

void api_close(struct api *api)
{
    struct workshop *shop = &api->shop;
    lanes_stop(shop);
    kinesis_free(api->kinesis);
    sweeper_free(api->sweeper);
    janitor_free(api->janitor);
    report_keep(shop);
    lanes_free(shop);
    verification_free(api->verification);
    pool_free(api->pool);
    engine_close(shop->engine);
    throttle_free(api->throttle);
    free(shop->bucket_root);
    insights_free(api->insights);
    stream_counts_free(shop->stream_counts);
    report_book_free(shop->reports);
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

void api_set_buckets(struct api *api, const char *root, const char *data)
{
    exchange_open(&api->shop, root, data);
}

bool api_set_kinesis(struct api *api, const char *root, const char *data, const char *endpoint,
                     char *error, size_t error_size)
{
    return kinesis_new(&api->shop, &(struct kinesis_place){root, data, endpoint}, &api->kinesis,
                       error, error_size);
}

// ---- While it runs ----------------------------------------------------------------------------

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
