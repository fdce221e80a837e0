// Throughput that is enforced: a token bucket for reading and one for writing, for each
// table and each global index that has a limit.
//
// A bucket fills at the limit's rate and holds at most 300 seconds of it, as the service's
// do; a new one holds one second. What an operation costs is known only afterwards, so it is
// let in if there is anything in the buckets it needs, and may leave them in debt.
//
// Buckets are found by tree id, which is never used again; a changed limit changes the rate only.
#include "call/insights.h"

#include "tables/arn.h"
#include "tables/table_settings.h"

#include <pthread.h>
#include <stdlib.h>

enum { BURST_SECONDS = 300, BUCKETS_MAX = 1 << 20 };

struct bucket {
    double tokens;
    int64_t filled_ms;
    bool begun;
};

struct buckets {
    tree_id tree; // 0 for a free place
    struct bucket read;
    struct bucket write;
};

struct throttle {
    pthread_mutex_t lock;
    size_t count;
    size_t capacity; // a power of two
    struct buckets *places;
};

struct throttle *throttle_new(void)
{
    struct throttle *throttle = memory_zeroed(sizeof(*throttle));
    ensure(pthread_mutex_init(&throttle->lock, NULL) == 0);
    return throttle;
}

void throttle_free(struct throttle *throttle)
{
    if (throttle == NULL)
        return;
    ensure(pthread_mutex_destroy(&throttle->lock) == 0);
    free(throttle->places);
    free(throttle);
}

// ---- Buckets ---------------------------------------------------------------------------------

static struct buckets *place_of(struct buckets *places, size_t capacity, tree_id tree)
{
    size_t at = (tree * 0x9e3779b1u) & (capacity - 1);
    while (places[at].tree != 0 && places[at].tree != tree)
        at = (at + 1) & (capacity - 1);
    return &places[at];
}

static void grow(struct throttle *throttle)
{
    // The buckets of deleted tables stay; should there ever be very many, all begin anew.
    bool forget = throttle->capacity >= BUCKETS_MAX;
    size_t capacity = throttle->capacity == 0 || forget ? 64 : throttle->capacity * 2;
    struct buckets *places = calloc(capacity, sizeof(*places));
    ensure_memory(places);
    for (size_t i = 0; !forget && i < throttle->capacity; i++) {
        if (throttle->places[i].tree != 0)
            *place_of(places, capacity, throttle->places[i].tree) = throttle->places[i];
    }
    free(throttle->places);
    throttle->places = places;
    throttle->capacity = capacity;
    throttle->count = forget ? 0 : throttle->count;
}

// The bucket, filled up to now. Under the lock.
static struct bucket *bucket_of(struct throttle *throttle, tree_id tree, bool write, double rate,
                                int64_t now_ms)
{
    if (throttle->count * 2 >= throttle->capacity)
        grow(throttle);
    struct buckets *place = place_of(throttle->places, throttle->capacity, tree);
    throttle->count += place->tree == 0;
    place->tree = tree;
    struct bucket *bucket = write ? &place->write : &place->read;
    if (!bucket->begun)
        *bucket = (struct bucket){.tokens = rate, .begun = true};
    else if (now_ms > bucket->filled_ms)
        bucket->tokens += rate * (double)(now_ms - bucket->filled_ms) / 1000;
    if (bucket->tokens > rate * BURST_SECONDS)
        bucket->tokens = rate * BURST_SECONDS;
    bucket->filled_ms = now_ms;
    return bucket;
}

// ---- Limits ----------------------------------------------------------------------------------

// Units per second, of a table or one of its global indexes; 0 if there is no limit.
struct limit {
    double rate;
    bool on_demand;
};

static struct limit limit_of(const struct table *table, const struct index *index, bool write)
{
    struct table_settings settings;
    table_settings_read(table, &settings);
    struct throughput_settings throughput = settings.throughput;
    if (index != NULL)
        index_settings_read(index, &throughput);
    int64_t units = settings.on_demand ? (write ? throughput.max_write : throughput.max_read)
                                       : (write ? throughput.write : throughput.read);
    return (struct limit){units > 0 ? (double)units : 0, settings.on_demand};
}

// A local index lives on its table's throughput.
static const struct index *own_limit(const struct index *index)
{
    return index != NULL && index->global ? index : NULL;
}

// ---- Refusing --------------------------------------------------------------------------------

static bool refuse(struct api_call *call, const struct table *table, const struct index *index,
                   bool write, bool on_demand)
{
    static const char *const reasons[2][2][2] = {
        {{"TableReadProvisionedThroughputExceeded", "TableReadMaxOnDemandThroughputExceeded"},
         {"TableWriteProvisionedThroughputExceeded", "TableWriteMaxOnDemandThroughputExceeded"}},
        {{"IndexReadProvisionedThroughputExceeded", "IndexReadMaxOnDemandThroughputExceeded"},
         {"IndexWriteProvisionedThroughputExceeded", "IndexWriteMaxOnDemandThroughputExceeded"}},
    };
    insights_throttled(call, table, index, call->state->subject);
    struct table_arn arn = {.region = call->region, .table = table->name};
    if (index != NULL) {
        arn.kind = "index";
        arn.id = index->name;
    }
    call->state->throttle_resource = arn_make(&call->arena, &arn);
    call->state->throttle_reason = reasons[index != NULL][write][on_demand];
    if (index != NULL)
        return error_set(&call->error, ERR_THROUGHPUT_EXCEEDED,
                         "The level of configured provisioned throughput for one or more global "
                         "secondary indexes of the table was exceeded. Consider increasing your "
                         "provisioning level for the under-provisioned global secondary indexes "
                         "with the UpdateTable API");
    return error_set(&call->error, ERR_THROUGHPUT_EXCEEDED,
                     "The level of configured provisioned throughput for the table was exceeded. "
                     "Consider increasing your provisioning level with the UpdateTable API.");
}

static bool admit(struct api_call *call, const struct table *table, const struct index *index,
                  bool write)
{
    struct throttle *throttle = call->api->throttle;
    struct limit limit = limit_of(table, index, write);
    if (limit.rate <= 0)
        return true;
    tree_id tree = index == NULL ? table->tree : index->tree;
    ensure(pthread_mutex_lock(&throttle->lock) == 0);
    bool empty =
        bucket_of(throttle, tree, write, limit.rate, env_now(engine_env(call_engine(call))))
            ->tokens <= 0;
    ensure(pthread_mutex_unlock(&throttle->lock) == 0);
    return !empty || refuse(call, table, index, write, limit.on_demand);
}

bool throttle_admit_read(struct api_call *call, const struct table *table,
                         const struct index *index)
{
    return call->api->throttle == NULL || admit(call, table, own_limit(index), false);
}

static bool admit_write(struct api_call *call, const struct table *table)
{
    if (!admit(call, table, NULL, true))
        return false;
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].global && !admit(call, table, &table->indexes[i], true))
            return false;
    }
    return true;
}

bool throttle_admit_job(struct api_call *call)
{
    struct write_job *job = call->state->write;
    if (call->api->throttle == NULL)
        return true;
    for (size_t i = 0; i < job->count; i++) {
        struct write_action *action = &job->actions[i];
        bool checked = i > 0 && job->actions[i - 1].table == action->table;
        call->state->subject = action->item;
        if (checked || admit_write(call, action->table))
            continue;
        if (job->transaction)
            throttle_cancel(call, action);
        return false;
    }
    return true;
}

void throttle_cancel(struct api_call *call, struct write_action *action)
{
    action->out.failure = call->error.code;
    action->out.failure_text = call->error.message;
    error_init(&call->error, &call->arena);
    (void)error_set(&call->error, ERR_TRANSACTION_CANCELED, "Transaction cancelled");
}

// ---- Charging --------------------------------------------------------------------------------

void throttle_charge(struct api_call *call, const struct table *table, const struct index *index,
                     bool write, double units)
{
    struct throttle *throttle = call->api->throttle;
    if (throttle == NULL || units <= 0)
        return;
    const struct index *own = own_limit(index);
    struct limit limit = limit_of(table, own, write);
    if (limit.rate <= 0)
        return;
    tree_id tree = own == NULL ? table->tree : own->tree;
    ensure(pthread_mutex_lock(&throttle->lock) == 0);
    bucket_of(throttle, tree, write, limit.rate, env_now(engine_env(call_engine(call))))->tokens -=
        units;
    ensure(pthread_mutex_unlock(&throttle->lock) == 0);
}
