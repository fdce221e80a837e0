// What the files of the API share: the operation table's row, the state of a call in
// progress, and the checks that several operations make.
//
// Every `bool` function here sets call->error (or the given error) when it returns false.
// Whatever a call holds (tables, job results) is noted in its state and released by
// api_call_reset(), so that an operation can return at any point.
#ifndef CALL_OPERATION_H
#define CALL_OPERATION_H

#include "base/env.h"
#include "call/call.h"
#include "call/operation_list.h"
#include "engine/engine.h"
#include "engine/record.h"
#include "requests/requests.h"
#include "work/lanes.h"
#include "work/workshop.h"
#include "json/writer.h"

struct throttle;
struct insights;
struct kinesis;
struct janitor;
struct sweeper;
struct verification;

enum step {
    STEP_FAILED,  // call->error is set
    STEP_READY,   // the response is written
    STEP_PENDING, // a job is with the writer; `finish` writes the response
    STEP_LATER,   // there is more to do than a slice: state->resume goes on
};

// For the end of a start function whose last step, which has set call->error, was to say no.
static inline enum step step_failed(bool refused)
{
    (void)refused;
    return STEP_FAILED;
}

// Where items are, if they are not in the engine: a gateway (src/upstream).
struct elsewhere {
    void *context;
    // Begins an operation whose request is decoded and allowed; false if it is to begin here.
    bool (*start)(void *context, struct api_call *call, enum step *step);
    // Does the job of a write in the place of the writer. False, with its error, if it cannot
    // begin.
    bool (*submit)(void *context, struct api_call *call, struct write_job *job);
};

struct api {
    struct workshop shop;         // what work beside requests stands on, and all else
    struct store *store;          // the engine's, to be asked for its stats
    bool encrypted;               // what the store has on disk
    struct throttle *throttle;    // NULL if throughput is not enforced
    struct env env;               // as given
    _Atomic int64_t clock_offset; // milliseconds that the engine's clock is ahead of it
    struct pool *pool;            // threads for long calls
    _Atomic uint64_t canceled;    // calls
    bool texts_2026_05;           // all operations answer in the words of May 2026
    struct insights *insights;
    struct sweeper *sweeper;
    struct janitor *janitor;
    struct kinesis *kinesis; // NULL without a destination
    struct verification *verification;
    // What stands above calls: the table of operations (api/operations.c), and reading for a call
    // that has `read` in the place of a body (items/entity.c).
    const struct operation *(*find)(struct slice name);
    enum step (*read)(struct api_call *call);
    const struct elsewhere *elsewhere; // NULL: everything is here
};

// throttle.c. Without --enforce-capacity, which api->throttle stands for, everything is let in.
// The functions that admit set ProvisionedThroughputExceededException, or cancel the transaction.
MUST_CHECK bool throttle_admit_read(struct api_call *call, const struct table *table,
                                    const struct index *index);
MUST_CHECK bool throttle_admit_job(struct api_call *call);
// Makes the error that was set the reason why this action cancels its transaction.
void throttle_cancel(struct api_call *call, struct write_action *action);
void throttle_charge(struct api_call *call, const struct table *table, const struct index *index,
                     bool write, double units);
struct throttle *throttle_new(void);
void throttle_free(struct throttle *throttle);

// ---- Operations -------------------------------------------------------------------------

struct authorize_row;

struct operation {
    struct slice name;
    const struct authorize_row *authorize; // what a caller must be allowed (authorize.h)
    unsigned number;
    bool of_streams; // belongs to DynamoDB Streams, whose requests have a target of their own
    bool wide;       // looks at many tables or records: not on the thread of a loop
    bool bound;      // serves requests that are bound to a tenant, too
    const struct shape *shape;
    enum service_layer layer;
    enum step (*start)(struct api_call *call, const void *request); // NULL: see below
    void (*finish)(struct api_call *call, const void *request);
};

// Who started the call himself makes the answer, too (entity.h): the response is only room that is
// set aside for it.
static inline bool operation_silent(const struct operation *operation)
{
    return operation->start == NULL;
}

// Declares the functions of an operation: those of X(name, function, shape, layer, tenants) in
// operation_list.h.
#define OPERATION_DECLARE(name, function, shape, layer, tenants)                                   \
    enum step function##_start(struct api_call *call, const void *request);                        \
    void function##_finish(struct api_call *call, const void *request);
#define OPERATION_DECLARE_START(name, function, shape, layer, tenants)                             \
    enum step function##_start(struct api_call *call, const void *request);
OPERATION_LIST(OPERATION_DECLARE, OPERATION_DECLARE, OPERATION_DECLARE, OPERATION_DECLARE,
               OPERATION_DECLARE_START)
// For those whose answer is there when they finish.
void call_answered(struct api_call *call, const void *request);

// ---- State of a call -----------------------------------------------------------------------

struct held_table {
    struct held_table *next;
    struct table *table;
};

struct api_state {
    const struct operation *operation;
    void *request;              // the decoded request struct
    struct write_origin origin; // who asks
    struct held_table *tables;
    struct write_job *write;     // NULL, or the job of an item operation
    struct table_change *change; // NULL, or the job of a table operation
    struct record_job *records;  // NULL, or the job of an operation that keeps a record
    void *own;                   // what start keeps for finish, or for resume
    enum step (*resume)(struct api_call *call); // goes on after STEP_LATER
    void (*drop)(struct api_call *call); // gives back what is held when the call ends; or NULL
    uint64_t work;                       // that is left of this slice: see engine.h
    struct steps guard;                  // that guards have taken for this request
    bool at_once;                        // on a loop, where what is long is begun anew in the pool
    bool written;                        // the writer has done its part
    bool answered;                       // the response was made in the pool
    bool arrived;                        // what was ordered of the store is there
    const char *throttle_reason;         // of ThrottlingReasons; NULL without
    struct slice throttle_resource;
    struct slice subject; // the item that is asked for, or its key, while it may be refused
    bool policed;         // a table with policies of its model was found
};

static inline struct engine *call_engine(const struct api_call *call)
{
    return call->api->shop.engine;
}

static inline struct workshop *call_shop(const struct api_call *call)
{
    return &call->api->shop;
}

// Who reads, for what is read on behalf of a client: NULL if the call is bound neither to a tenant
// nor by policies.
static inline const struct write_origin *call_reader(const struct api_call *call)
{
    const struct write_origin *origin = &call->state->origin;
    return origin->bound || (origin->caller != NULL && !origin->bypass) ? origin : NULL;
}

// Notes in the call's new state who asks.
static inline void call_identify(struct api_call *call)
{
    call->state->origin = (struct write_origin){
        .principal = call->principal.len > 0 ? call->principal : SLICE_LIT("anonymous"),
        .operation = call->operation,
        .tenant = call->tenant,
        .bound = call->bound,
        .caller = call->caller != NULL && !call->caller->warn ? call->caller : NULL};
}

// Which of the service's validation layers judges the call.
static inline enum service_layer call_layer(const struct api_call *call)
{
    return call->api->texts_2026_05 ? LAYER_OLD : call->state->operation->layer;
}

// Now, by the clock of the engine.
static inline int64_t call_now(const struct api_call *call)
{
    return env_now(engine_env(call_engine(call)));
}

// Zeroed memory of the call, or NULL with the error set.
void *call_alloc(struct api_call *call, size_t count, size_t size);

// A writer on the response; behind the brace that opens it.
struct json_writer call_writer(struct api_call *call);
struct json_writer call_open(struct api_call *call);
// Room for a response of that many bytes, of which nothing is written yet. False if there is none
// now (ERR_THROTTLING), or never (ERR_VALIDATION).
MUST_CHECK bool call_reserve(struct api_call *call, size_t bytes, struct error *error);
// Says why there is no response, in call->error: what was written is never said to be a mistake of
// the request's.
void call_respond_failed(struct api_call *call);
// Completes the response: the error document, if an error was set.
void call_respond(struct api_call *call);
// Has `run` answer the call on a lane's thread: it reads whole tables, or waits for something. It
// may write call->response, or set the call's error.
enum step call_later(struct api_call *call, enum lane_kind lane,
                     void (*run)(struct api_call *call, const void *request));
// Goes on with `rest`: now, if the slice has as much work left, else in the next one.
enum step call_go_on(struct api_call *call, uint64_t work,
                     enum step (*rest)(struct api_call *call));
// The call's write is done (on the writer's thread): tells the owner, or, if the response will be
// large, has the pool make it first.
void call_written(struct api_call *call);

// What the call has ordered of the store is there (on another thread): `resume` goes on, on the
// loop if that is no more work than a loop may do, else in the pool. It must not need another
// slice.
void call_arrived(struct api_call *call, uint64_t work);

// ---- Tables and keys (keys.c) ------------------------------------------------------------------

// The table of a name or ARN, held until the call ends; NULL with ResourceNotFoundException.
struct table *call_table(struct api_call *call, struct slice name_or_arn);
// The same for one that is still being restored or imported, too.
struct table *call_any_table(struct api_call *call, struct slice name_or_arn);

// A Key: exactly the table's key attributes, of the right types. Makes the tree key; for whoever is
// bound to a tenant and may not read that item, the key of a place where nothing is.
MUST_CHECK bool call_key(struct api_call *call, const struct table *table, struct slice key,
                         struct slice *tree_key);
// The same for an action: see write_action_address(). The item of a put is completed by the table's
// guard first, so that it has its key.
MUST_CHECK bool call_action_key(struct api_call *call, struct write_action *action);
// The item at a tree key, as whoever asks may know it: without what policies hide, and none if they
// hide all of it. To be released as what engine_get() reads.
MUST_CHECK bool call_get(struct api_call *call, const struct table *table,
                         struct store_snapshot *snapshot, struct slice tree_key,
                         struct item_read *out);
// The first of many, at least one, and as many as the slice has work for: *count says how many.
// They are as they are stored; call_show() makes each what whoever asks may know, once.
MUST_CHECK bool call_get_many(struct api_call *call, struct store_snapshot *snapshot,
                              const struct slice *tree_keys, size_t *count, struct item_read *out);
MUST_CHECK bool call_show(struct api_call *call, const struct table *table, struct item_read *out);
// Whether policies of the table's model bind the call: it has a caller who may not bypass them.
// Asked for each table that is found.
bool call_policed(struct api_call *call, const struct table *table);
// Whether the operation may have the table: one that is CLOSED to tenants, if policies do not bind
// the call. call_any_table() asks; the other is for those who find tables by themselves.
MUST_CHECK bool call_check_policies(struct api_call *call, const struct table *table);
MUST_CHECK bool call_check_policies_of(struct api_call *call, struct slice name);
// Whether a caller may pass by the policies of the model of a table, of that name: an identity's
// policies allow it dolmen:BypassModelPolicies.
bool call_bypasses(const struct caller *caller, struct slice region, struct slice table,
                   int64_t now_ms, struct arena *arena);
// A put by a tenant need not say whose the item is.
MUST_CHECK bool call_complete_tenant(struct api_call *call, struct write_action *action);
// The steps of guards for the call: bounded for all items of a request together, and less on a
// loop.
struct steps *call_guard_steps(struct api_call *call);
// A guard has failed: if it gave up, says so, or has the call begun anew in the pool. Always false.
bool call_guard_over(struct api_call *call);

// Notes the key that an item has, or the values of a partition (one for each part), if somebody
// keeps books. If there is no memory for it, it is only counted.
void call_note_key(struct api_call *call, struct slice table, const struct key_schema *keys,
                   struct slice item);
void call_note_partition(struct api_call *call, struct slice table, const struct key_schema *keys,
                         const struct slice *values);

// ---- Expression parameters (params.c) -----------------------------------------------

// One parameter of a request and whether it was given.
struct param {
    const char *name;
    bool given;
};

// All that a request says in either style, for the checks between them.
struct param_set {
    size_t expression_count;
    struct param expressions[3];
    size_t legacy_count;
    struct param legacy[4];
    const struct field_map *names;    // ExpressionAttributeNames
    const struct field_value *values; // ExpressionAttributeValues; NULL if the operation has none
    bool takes_values;                // an expression that can hold values was given
    const char *values_need;          // "ConditionExpression is null", for the message
};

// What a request says by itself has been judged, before its table is looked at: if it was refused,
// puts the message into the layer's envelope.
MUST_CHECK bool call_judged(struct api_call *call, bool good);

// The two styles are not mixed, and placeholders come with expressions only.
MUST_CHECK bool params_check_styles(struct api_call *call, const struct param_set *set);
// The placeholders themselves; after the values of Item or Key have been judged.
MUST_CHECK bool params_open(struct api_call *call, const struct param_set *set,
                            struct expr_params *params);

// A ConditionExpression or Expected, whichever is given; *out is NULL if none is.
MUST_CHECK bool params_condition(struct api_call *call, struct expr_params *params,
                                 struct slice expression, const struct field_map *expected,
                                 struct slice conditional_operator, struct expr_condition **out);
// An attribute that a legacy parameter names.
MUST_CHECK bool params_check_name(struct api_call *call, struct slice name);
// A list of AttributeValues as a plain array.
MUST_CHECK bool params_list(struct api_call *call, const struct field_list *list,
                            const struct slice **out);
// QueryFilter, ScanFilter or KeyConditions as the entries expr takes.
MUST_CHECK bool params_conditions(struct api_call *call, const struct field_map *map,
                                  struct legacy_condition **out);
// A ProjectionExpression or AttributesToGet; *out is NULL if neither is given.
MUST_CHECK bool params_projection(struct api_call *call, struct expr_params *params,
                                  struct slice expression, const struct field_list *names,
                                  struct expr_projection **out);
// What a request's expressions say of one table's keys: nothing may look inside them. Each may be
// NULL.
struct expressions {
    const struct expr_condition *condition; // or filter
    const struct expr_projection *projection;
    const struct expr_update *update;
};
MUST_CHECK bool params_check_nesting(struct error *error, const struct table *table,
                                     struct expressions expressions);
// An update leaves the table's keys alone and gives index keys their type; it may be NULL.
MUST_CHECK bool params_check_update(struct error *error, const struct table *table,
                                    const struct expr_update *update);
// Both.
MUST_CHECK bool params_check_keys(struct error *error, const struct table *table,
                                  struct expressions expressions);
// ConditionalOperator without Expected or a filter.
MUST_CHECK bool params_check_operator(struct api_call *call, struct slice conditional_operator,
                                      const struct field_map *conditions);

// ---- Items (item.c) -----------------------------------------------------------------

// An item as JSON, whole or projected.
void call_write_item(struct api_call *call, struct json_writer *w,
                     const struct expr_projection *projection, struct slice item,
                     struct steps *steps);

// The same with whatever makes a smaller item of it; NULL for the whole item. project_item takes a
// projection of expr.
typedef void project_function(const void *projection, struct slice item,
                              struct value_builder *builder, struct steps *steps);
project_function project_item;
void call_write_projected(struct api_call *call, struct json_writer *w, project_function *project,
                          const void *projection, struct slice item, struct steps *steps);

// What an update has touched of an image of its item, in the call's arena: VALUE_NONE if nothing of
// it is there.
MUST_CHECK bool call_touched(struct api_call *call, const struct expr_update *update,
                             struct slice image, struct slice *out);

// ---- Jobs (job.c) -------------------------------------------------------------------

// A write job of `count` zeroed actions, noted in the state; NULL when memory is out. What the
// response will show of them has its room before they are done.
struct write_job *call_write_job(struct api_call *call, size_t count);
// A table change, likewise; the caller sets name, alter and context.
struct table_change *call_table_change(struct api_call *call);
// A job that writes `count` records (engine/record.h), likewise; the caller sets them.
struct record_job *call_record_job(struct api_call *call, size_t count);
// Hands the call's job to the writer; when it is done, call->done is called.
enum step call_submit(struct api_call *call);

// Whether two of the tree keys are equal; sorts them.
MUST_CHECK bool call_has_duplicates(struct slice *keys, size_t count);
// ConsumedCapacity and ItemCollectionMetrics of a batch or transaction, table by table.
void call_write_job_results(struct json_writer *w, const struct write_job *job,
                            struct slice return_capacity, struct slice return_metrics,
                            double factor);

// ---- Capacity (capacity.c) ----------------------------------------------------------

enum capacity_detail { CAPACITY_NONE, CAPACITY_TOTAL, CAPACITY_INDEXES };

enum capacity_detail capacity_detail(struct slice return_consumed_capacity);

// Units of one table, split as INDEXES reports them.
struct capacity {
    const struct table *table;
    double read; // units of the table itself
    double write;
    double index_read[LIMIT_INDEXES];
    double index_write[LIMIT_INDEXES];
    double vector_write[LIMIT_VECTOR_INDEXES]; // bytes
    bool transaction; // reports ReadCapacityUnits and WriteCapacityUnits, too
};

// What the action, and what followed from it, has cost the table. The factor is 2 in a transaction,
// which costs its indexes nothing more.
void capacity_add_write(struct capacity *capacity, const struct write_action *action,
                        double factor);
// The units of reading that many bytes: half a unit for each begun 4 KB, one if consistent.
double capacity_read_units(uint64_t bytes, bool consistent);
// What a vector index charges for as many bytes: whole kilobytes.
double capacity_vector_bytes(uint64_t bytes);
// Notes what was read, of a table or through an index (else NULL), in the call's usage.
void usage_read(struct api_call *call, const struct table *table, const struct index *index,
                double units, uint64_t items);
// Notes what the call's write job, now done, has cost.
void usage_written(struct api_call *call);
// One ConsumedCapacity object.
void capacity_write_json(struct json_writer *w, const struct capacity *capacity,
                         enum capacity_detail detail);

// ---- Item collections ---------------------------------------------------------------

// One ItemCollectionMetrics object: the partition key of `item` and the estimate around `bytes`.
void collection_write_json(struct json_writer *w, const struct table *table, struct slice item,
                           int64_t bytes);

#endif
