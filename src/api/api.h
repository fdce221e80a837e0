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
    size_t pool;           // threads for long calls; 0: as many as there are processors. A store
                           // behind a network has more of them wait for it
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
// How `publish` rules deliver (src/publish): the opener is borrowed; NULL delivers nothing, and
// keeps the place of each consumer. How `project` rules do (src/project), or NULL: then they do
// not. Starts them, and those of Kinesis: once, behind api_set_kinesis(), before the first call.
struct outlet_opener;
struct consumers_projects;
void api_set_publisher(struct api *api, const struct outlet_opener *opener,
                       const struct consumers_projects *projects);
// What there is to know of all consumers, as metrics (any thread).
void api_consumer_metrics(struct api *api, struct buf *out);
// What follows live patterns (live/live.h): started once, before the first call, with the secret
// that its ids are signed with.
struct live;
struct live *api_live(struct api *api, const uint8_t *secret);
// What there is to know of those who listen, as metrics (any thread).
void api_live_metrics(struct api *api, struct buf *out);
// The directory below which the buckets of exports and imports stand: `root`, or without one the
// directory "buckets" in the data directory; if there is neither, there are no buckets. Goes on
// with exports and imports that were interrupted. `elsewhere` (work/buckets.h), or NULL: then
// buckets are there, and the directory is where files are on their way. Before the first call,
// once.
struct bucket_store;
void api_set_buckets(struct api *api, const char *root, const char *data,
                     const struct bucket_store *elsewhere);
// Sweeps begin (retain/retain.h): without this, as in a tool that opens a directory for a moment,
// there are none. 0 and NULL for what is usual. After api_set_buckets(), once.
struct api_retain {
    uint64_t rate;       // items removed in a second, at most
    uint64_t every_s;    // from one walk of a rule to the next
    size_t bunch;        // items of one archive, at most
    const char *archive; // the directory of archives; NULL: the bucket "archives"
    bool asked;          // only SweepTable begins a walk
};
void api_set_retain(struct api *api, const struct api_retain *retain);
// Opens the identities, under a master key from where `source` says (crypt/crypt.h). False with a
// sentence in `error`. Before the first call, once.
MUST_CHECK bool api_set_master_key(struct api *api, const char *source, char *error,
                                   size_t error_size);
struct crypt_key;
// The same with a key that is there.
MUST_CHECK bool api_use_master_key(struct api *api, const struct crypt_key *key, char *error,
                                   size_t error_size);
struct identity;
struct identity *api_identity(struct api *api); // NULL without a master key
// Has requests that are long (in the pool, or reading whole tables) fail soon, because the server
// is to stop. Any thread.
void api_cut_short(struct api *api);
// Whether reads of event loops are gathered, and read together when a turn has ended, which each
// loop says then: so it is with a store behind a network.
bool api_gathers(const struct api *api);
void api_turn_ended(struct api *api);
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

// What work beside requests stands on (work/workshop.h).
struct workshop;
struct workshop *api_workshop(struct api *api);

// What a replica follows, and what others follow here: engine/ship.h.
struct engine *api_engine(struct api *api);
// Whether this is a replica: it does nothing by itself, and takes no writes.
bool api_follows(struct api *api);

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

// ---- Sweeps: `retain` and `keep` (any thread) ----------------------------------------------

struct api_sweeps {
    uint64_t walks; // that have ended
    uint64_t failed;
    uint64_t looked; // items
    uint64_t removed;
    uint64_t archived;
    uint64_t left;     // that were due, but somebody had changed them, or they may not be deleted
    uint64_t archives; // that were made
    uint64_t running;
};
void api_sweeps(struct api *api, struct api_sweeps *out);

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
