// The operations of DynamoDB over an engine: JSON request in, JSON response out.
// The server is HTTP and authentication around this, `dolmen_call` is a blocking
// wrapper around it, and golden tests use it in-process. How a call lives: call/call.h.
#ifndef API_API_H
#define API_API_H

#include "base/env.h"
#include "base/pool.h"
#include "call/call.h"
#include "engine/engine.h"
#include "store/store.h"

struct api_options {
    struct store *store; // taken over: api_close closes it
    struct env env;
    struct budget *budget; // that calls are counted in; borrowed, or NULL
};

// NULL with the reason in `error` (the store is then left to the caller).
MUST_CHECK struct api *api_open(const struct api_options *options, struct store_error *error);
// The largest index entry that is a copy (engine_index_copy_max). Before the first call.
void api_index_copy_max(struct api *api, size_t bytes);
// Whose words errors have: NULL for those of us-east-1 today, or "2026-05" for those of all regions
// before the service began to change them. False if there is nothing of that name. Before the first
// call.
MUST_CHECK bool api_service_texts(struct api *api, const char *texts);
// Refuses requests beyond the throughput of tables and indexes. Before the first call.
void api_enforce_capacity(struct api *api);
// Where the records of Kinesis streaming destinations go: if an endpoint is given
// (http://host:port), to Kinesis there, else to files <root>/<stream>.jsonl; a root of NULL means
// <data>/kinesis. If all are NULL, nothing is delivered. Once, before the first call. False with a
// sentence in `error` if the endpoint is none.
MUST_CHECK bool api_set_kinesis(struct api *api, const char *root, const char *data,
                                const char *endpoint, char *error, size_t error_size);
// The directory below which the buckets of exports and imports stand: `root`, or without one the
// directory "buckets" in the data directory; if there is neither, there are no buckets. Goes on
// with exports and imports that were interrupted. Before the first call, once.
void api_set_buckets(struct api *api, const char *root, const char *data);
// Has requests that are long (in the pool, or reading whole tables) fail soon, because the server
// is to stop. Any thread.
void api_cut_short(struct api *api);
// The threads for what is long, for whoever has such work beside the calls.
struct pool *api_pool(struct api *api);
// Finishes what is queued, then closes the store. No call may be between start and done.
void api_close(struct api *api);

// The names of all operations, for docs and checks; NULL-terminated.
const char *const *api_operations(void);
// The place of a name in it, or API_NO_OPERATION.
unsigned api_operation_number(struct slice name);
// Whether it is an operation of DynamoDB Streams.
bool api_operation_of_streams(struct slice name);

// The budget it was opened with, or NULL.
struct budget *api_budget(const struct api *api);

// ---- Looking at a running api (any thread) ------------------------------------------------

// Times are by the clock of this api.
void api_health(struct api *api, struct engine_health *out);
size_t api_table_count(struct api *api);

struct api_stats {
    struct engine_stats engine;
    struct pool_stats pool; // what was too long for an event loop
    struct store_stats store;
    uint64_t canceled; // calls whose clients had hung up
};
void api_stats(struct api *api, struct api_stats *out);

// The keys of tables with Contributor Insights that are asked for most, as JSON; of one table if it
// is named.
void api_insights(struct api *api, struct slice table, struct buf *out);

// ---- Time to live (any thread) -------------------------------------------------------------

struct api_ttl {
    bool running;     // a sweep is going on, or was asked for
    uint64_t sweeps;  // ended since the start
    uint64_t deleted; // items
};
void api_ttl(struct api *api, struct api_ttl *out);
// Begins a sweep now, instead of within a second.
void api_ttl_sweep(struct api *api);
// At most that many items are deleted in a second; more than 0, API_TTL_RATE if not set.
enum { API_TTL_RATE = 12500 };
void api_ttl_rate(struct api *api, uint64_t rate);

// ---- Models (any thread) ---------------------------------------------------------------------

struct model;
struct model_table;
// The model of a table, with a reference for the caller, and what it says of the table; NULL if the
// table has none.
MUST_CHECK struct model *api_table_model(struct api *api, struct slice table_name,
                                         const struct model_table **out);

// ---- The clock (any thread) -----------------------------------------------------------------
//
// The api's clock is that of its env, moved by an offset that tests may set. It goes on running.

int64_t api_clock_now(struct api *api);
int64_t api_clock_offset(struct api *api);
void api_clock_move(struct api *api, int64_t offset_ms);

// ---- Streams (any thread) -------------------------------------------------------------------
//
// Closes the open shards of the table's stream now; each goes on in one child, or in two. For tests
// of consumers. False if the table has no stream, or it could not be written. Waits for the writer.
MUST_CHECK bool api_streams_roll(struct api *api, struct slice table_name, bool split);

#endif
