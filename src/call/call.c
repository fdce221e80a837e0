// The life of a call: decode by shape, start, perhaps wait for the writer, finish, reset.
#include "call/operation.h"

#include "base/limits.h"
#include "call/authorize.h"
#include "call/insights.h"
#include "report/report.h"
#include "requests/shapes.h"

#include <pthread.h>
#include <stddef.h>

void api_call_init(struct api_call *call, struct api *api)
{
    *call = (struct api_call){.api = api, .region = SLICE_LIT("us-east-1")};
    call->usage.operation = API_NO_OPERATION;
    call->account.budget = api->shop.budget;
    arena_init_counted(&call->arena, LIMIT_REQUEST_MEMORY, &call->account, BUDGET_CALLS);
    error_init(&call->error, &call->arena);
    buf_init_counted(&call->response, LIMIT_RESPONSE, &call->account, BUDGET_ANSWERS);
}

static void release_state(struct api_call *call)
{
    struct api_state *state = call->state;
    if (state->drop != NULL)
        state->drop(call);
    if (state->write != NULL)
        write_job_release(state->write);
    if (state->change != NULL)
        table_change_release(state->change);
    for (struct held_table *held = state->tables; held != NULL; held = held->next)
        table_release(held->table);
}

void api_call_reset(struct api_call *call)
{
    if (call->state != NULL)
        release_state(call);
    call->state = NULL;
    if (atomic_load_explicit(&call->canceled, memory_order_relaxed))
        call->canceled = false;
    call->account.starved = call->account.overdraw = false;
    arena_reset(&call->arena);
    error_init(&call->error, &call->arena);
    buf_clear(&call->response);
    // A large response's memory is not kept for an idle connection.
    if (call->response.cap > 1 << 20)
        buf_release(&call->response);
    call->status = 0;
    call->error_code = ERR_NONE;
    call->warnings = slice_of(NULL, 0);
    call->repeated = false;
    call->usage = (struct api_usage){.operation = API_NO_OPERATION};
    call->decision = (struct call_decision){0};
    call->notes = NULL;
    call->note_count = 0;
}

void api_call_release(struct api_call *call)
{
    api_call_reset(call);
    arena_release(&call->arena);
    buf_release(&call->response);
}

void *call_alloc(struct api_call *call, size_t count, size_t size)
{
    void *memory = arena_zalloc(&call->arena, count, size);
    if (memory == NULL)
        (void)error_budget(&call->error);
    return memory;
}

struct json_writer call_writer(struct api_call *call)
{
    return json_writer_to(&call->response);
}

struct json_writer call_open(struct api_call *call)
{
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    return w;
}

// ---- Slices -------------------------------------------------------------------------------

// Whether there is still somebody to work for, and something to gain: an answer that has found no
// memory gives back what it has, for others. What was written is told in any case; and what is not
// decoded yet may be a write, which is done even if the client has hung up.
static bool may_go_on(struct api_call *call)
{
    const struct api_state *state = call->state;
    if (state->written)
        return true;
    if (call->response.failed) {
        call_respond_failed(call);
        return false;
    }
    if (state->request != NULL && atomic_load_explicit(&call->canceled, memory_order_relaxed)) {
        call->api->canceled++;
        return error_set(&call->error, ERR_UNAVAILABLE, "The client has hung up");
    }
    return !work_hurried(call_shop(call)) ||
           error_set(&call->error, ERR_UNAVAILABLE, "The server is stopping");
}

// One slice of a call, on a thread of the pool.
static bool run_slice(struct pool_task *task)
{
    struct api_call *call =
        (struct api_call *)(void *)((uint8_t *)task - offsetof(struct api_call, task));
    struct api_state *state = call->state;
    state->work = LIMIT_SLICE_WORK;
    enum step step = may_go_on(call) ? state->resume(call) : STEP_FAILED;
    if (step == STEP_LATER && may_go_on(call))
        return false;
    // What is with the writer may be done by now, and the call gone.
    if (step == STEP_PENDING)
        return true;
    state->answered = true;
    call_respond(call);
    call->done(call);
    return true;
}

static bool submit_rest(struct api_call *call)
{
    call->task.run = run_slice;
    return pool_submit(call->api->pool, &call->task);
}

// Whether the response is ready; else `done` will be called.
static bool call_settle(struct api_call *call, enum step step)
{
    while (step == STEP_LATER && call->patient) {
        call->state->work = LIMIT_SLICE_WORK;
        step = call->state->resume(call);
    }
    if (step == STEP_PENDING)
        return false;
    if (step == STEP_LATER) {
        if (submit_rest(call))
            return false;
        (void)error_set(&call->error, ERR_THROTTLING, "Too many long requests are waiting");
    }
    call_respond(call);
    return true;
}

enum step call_go_on(struct api_call *call, uint64_t work, enum step (*rest)(struct api_call *call))
{
    struct api_state *state = call->state;
    if (work <= state->work || state->work == LIMIT_SLICE_WORK)
        return rest(call);
    state->resume = rest;
    return STEP_LATER;
}

// Finds the operation.
static bool find(struct api_call *call)
{
    const struct operation *operation = call->api->find(call->operation);
    if (operation == NULL)
        return error_set(&call->error, ERR_UNKNOWN_OPERATION, "%s", "");
    call->usage.operation = operation->number;
    if (call->bound && !operation->bound)
        return error_set(&call->error, ERR_ACCESS_DENIED,
                         "The request is bound to a tenant, and %.*s is not for tenants",
                         SLICE_FMT(operation->name));
    struct api_state *state = call_alloc(call, 1, sizeof(*state));
    if (state == NULL)
        return false;
    call->state = state;
    state->operation = operation;
    call_identify(call);
    return true;
}

static bool decode(struct api_call *call)
{
    struct api_state *state = call->state;
    const struct shape *shape = state->operation->shape;
    state->request = call_alloc(call, 1, shape->size);
    return state->request != NULL && request_decode(shape, call_layer(call), call->body,
                                                    state->request, &call->arena, &call->error);
}

static enum step begin(struct api_call *call)
{
    struct api_state *state = call->state;
    if (call->read != NULL)
        return call->api->read(call);
    if (!decode(call) || (call->caller != NULL && !call_authorize(call)))
        return STEP_FAILED;
    const struct elsewhere *elsewhere = call->api->elsewhere;
    enum step step;
    if (elsewhere != NULL && elsewhere->start(elsewhere->context, call, &step))
        return step;
    return state->operation->start(call, state->request);
}

// What `begin` could not read without waiting for the disk, or what takes a guard too long, is
// begun anew where waiting holds up nobody. Nothing has been done yet: an operation reads before it
// hands a job to the writer.
static enum step begin_again(struct api_call *call)
{
    api_call_reset(call);
    if (!find(call))
        return STEP_FAILED;
    call->state->resume = begin;
    return STEP_LATER;
}

static enum step begin_at_once(struct api_call *call)
{
    store_wait_for_disk(call->patient);
    call->state->at_once = !call->patient;
    enum step step = begin(call);
    store_wait_for_disk(true);
    return step == STEP_FAILED && call->error.code == ERR_COLD ? begin_again(call) : step;
}

bool api_call_start(struct api_call *call)
{
    enum step step = STEP_FAILED;
    if (find(call)) {
        struct api_state *state = call->state;
        state->work = LIMIT_INLINE_WORK;
        state->resume = begin;
        bool large = call->body.len > LIMIT_INLINE_BODY || state->operation->wide;
        step = large ? STEP_LATER : begin_at_once(call);
    }
    return call_settle(call, step);
}

// What guards had to say about the actions of a write, together.
static void gather_warnings(struct api_call *call)
{
    const struct write_job *job = call->state->write;
    size_t size = 0;
    struct slice said = call->warnings;
    for (size_t i = 0; i < job->count; i++) {
        size += job->actions[i].out.warnings.len + 1;
        call->repeated = call->repeated || job->actions[i].out.repeated;
    }
    if (size == job->count)
        return;
    uint8_t *text = arena_alloc(&call->arena, said.len + 1 + size);
    size_t len = 0;
    if (text != NULL && said.len > 0) {
        memcpy(text, said.ptr, said.len);
        len = said.len;
        text[len++] = '\n';
    }
    for (size_t i = 0; text != NULL && i < job->count; i++) {
        const struct write_action *action = &job->actions[i];
        struct slice warnings = action->out.warnings;
        if (warnings.len == 0)
            continue;
        if (action->out.details != NULL && action->out.failure == ERR_NONE &&
            call->error.code == ERR_NONE)
            report_note(call_shop(call)->reports, action->table, action->item, action->out.details,
                        env_now(engine_env(call_engine(call))));
        memcpy(text + len, warnings.ptr, warnings.len);
        len += warnings.len;
        text[len++] = '\n';
        call->usage.warned++;
    }
    if (len > 0)
        call->warnings = slice_of(text, len - 1);
}

static void finish(struct api_call *call)
{
    struct api_state *state = call->state;
    // What has been done is answered: items have their room already, the rest is small. What has
    // not been done is throttled like a read.
    call->account.overdraw = call->error.code == ERR_NONE;
    if (state->write != NULL) {
        gather_warnings(call);
        usage_written(call);
        insights_written(call);
    } else if (state->change != NULL && call->usage.table.ptr == NULL &&
               call->error.code == ERR_NONE) {
        call->usage.table = state->change->name;
    }
    if (call->error.code == ERR_NONE)
        state->operation->finish(call, state->request);
    call_respond(call);
}

// What was ordered is there: the rest of the operation, on the loop.
static void go_on(struct api_call *call)
{
    call->state->work = LIMIT_SLICE_WORK;
    enum step step = call->state->resume(call);
    ensure(step == STEP_READY || step == STEP_FAILED);
    call_respond(call);
}

void api_call_finish(struct api_call *call)
{
    if (call->state->answered)
        return;
    if (call->state->arrived)
        go_on(call);
    else
        finish(call);
}

void call_arrived(struct api_call *call, uint64_t work)
{
    call->state->arrived = true;
    if (work <= LIMIT_INLINE_WORK || !submit_rest(call))
        call->done(call);
}

static enum step finish_written(struct api_call *call)
{
    finish(call);
    return call->error.code == ERR_NONE ? STEP_READY : STEP_FAILED;
}

// Bytes of the images that the response may show, and of the items that were not written.
static uint64_t returned_bytes(const struct write_job *job)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < job->count; i++) {
        const struct write_action *action = &job->actions[i];
        bytes += action->out.old_item.len + action->out.new_item.len;
        bytes += action->out.failure != ERR_NONE ? action->item.len : 0;
    }
    return bytes;
}

void call_written(struct api_call *call)
{
    struct api_state *state = call->state;
    state->written = true;
    state->resume = finish_written;
    if (call->patient || returned_bytes(state->write) <= LIMIT_INLINE_WORK || !submit_rest(call))
        call->done(call);
}

void api_call_cancel(struct api_call *call)
{
    atomic_store_explicit(&call->canceled, true, memory_order_relaxed);
}

struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool done;
};

static void wake_waiter(struct api_call *call)
{
    struct waiter *waiter = call->context;
    ensure(pthread_mutex_lock(&waiter->lock) == 0);
    waiter->done = true;
    ensure(pthread_cond_signal(&waiter->wake) == 0);
    ensure(pthread_mutex_unlock(&waiter->lock) == 0);
}

void api_call_run(struct api_call *call)
{
    struct waiter waiter = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    call->done = wake_waiter;
    call->context = &waiter;
    call->patient = true;
    if (api_call_start(call))
        return;
    ensure(pthread_mutex_lock(&waiter.lock) == 0);
    while (!waiter.done)
        ensure(pthread_cond_wait(&waiter.wake, &waiter.lock) == 0);
    ensure(pthread_mutex_unlock(&waiter.lock) == 0);
    api_call_finish(call);
}

// How many actions the transaction of the request has; 0 if it is none.
static size_t transaction_size(const struct api_call *call)
{
    if (slice_is(call->operation, "TransactWriteItems"))
        return ((const struct transact_write_items_request *)call->state->request)
            ->transact_items.count;
    if (slice_is(call->operation, "TransactGetItems"))
        return ((const struct transact_get_items_request *)call->state->request)
            ->transact_items.count;
    if (slice_is(call->operation, "ExecuteTransaction"))
        return ((const struct execute_transaction_request *)call->state->request)
            ->transact_statements.count;
    return 0;
}

void api_call_conflict(struct api_call *call)
{
    static const char why[] = "Transaction is ongoing for the item";
    if (find(call) && decode(call)) {
        size_t count = transaction_size(call);
        struct write_job *job = count == 0 ? NULL : call_write_job(call, count);
        if (job != NULL) {
            job->actions[0].out.failure = ERR_TRANSACTION_CONFLICT;
            job->actions[0].out.failure_text = why;
        }
        (void)error_set(&call->error,
                        job != NULL ? ERR_TRANSACTION_CANCELED : ERR_TRANSACTION_CONFLICT, "%s",
                        why);
    }
    call_respond(call);
}
