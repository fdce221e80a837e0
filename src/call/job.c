// Handing a call's work to the writer.
//
// What a write shows of items may be much larger than they are. Once it is done it must be told, so
// the writer sees to the room for that before it does anything: the call's response is made as
// large as the images of all its actions need.
#include "call/insights.h"

#include "base/encode.h"
#include "base/limits.h"

#include <stddef.h>

// A job knows its call: the owner of both is the call's arena.
struct call_job {
    struct write_job write; // first
    struct api_call *call;
    size_t room; // of all actions
};

// What a response says of each action besides its items.
enum { ACTION_FRAME = 256 };

struct call_change {
    struct table_change change; // first
    struct api_call *call;
};

struct call_records {
    struct record_job records; // first
    struct api_call *call;
};

static void write_done(struct job *job)
{
    call_written(((struct call_job *)job)->call);
}

static void change_done(struct job *job)
{
    struct api_call *call = ((struct call_change *)job)->call;
    call->done(call);
}

static void records_done(struct job *job)
{
    struct api_call *call = ((struct call_records *)job)->call;
    call->done(call);
}

static bool set_room(struct call_job *job, struct write_action *action, size_t bytes,
                     struct error *error)
{
    job->room -= action->room; // it may come a second time
    action->room = 0;
    if (job->write.each && job->room >= LIMIT_BATCH_RESPONSE)
        return error_set(error, ERR_THROTTLING,
                         "The response of this batch is full; send this statement again.");
    if (!call_reserve(job->call, job->room + bytes + job->write.count * ACTION_FRAME, error))
        return false;
    action->room = bytes;
    job->room += bytes;
    return true;
}

// On the writer's thread.
static bool find_room(struct write_job *write, struct write_action *action, struct error *error)
{
    struct call_job *job = (struct call_job *)write;
    size_t bytes = json_item_room(action->out.new_item);
    if (!operation_silent(job->call->state->operation))
        bytes += json_item_room(action->out.old_item);
    return set_room(job, action, bytes, error);
}

struct write_job *call_write_job(struct api_call *call, size_t count)
{
    struct call_job *job = call_alloc(call, 1, sizeof(*job));
    struct write_action *actions = call_alloc(call, count, sizeof(*actions));
    if (job == NULL || actions == NULL)
        return NULL;
    write_job_init(&job->write, call_engine(call), &call->arena, &call->error);
    job->call = call;
    job->write.job.done = write_done;
    job->write.room = find_room;
    job->write.origin = &call->state->origin;
    job->write.count = count;
    job->write.actions = actions;
    call->state->write = &job->write;
    return &job->write;
}

struct table_change *call_table_change(struct api_call *call)
{
    struct call_change *job = call_alloc(call, 1, sizeof(*job));
    if (job == NULL)
        return NULL;
    table_change_init(&job->change, call_engine(call), &call->error);
    job->call = call;
    job->change.job.done = change_done;
    call->state->change = &job->change;
    return &job->change;
}

struct record_job *call_record_job(struct api_call *call, size_t count)
{
    struct call_records *job = call_alloc(call, 1, sizeof(*job));
    struct record_write *writes = call_alloc(call, count, sizeof(*writes));
    if (job == NULL || writes == NULL)
        return NULL;
    record_job_init(&job->records, &call->error);
    job->call = call;
    job->records.job.done = records_done;
    job->records.count = count;
    job->records.writes = writes;
    call->state->records = &job->records;
    return &job->records;
}

static struct job *job_of(const struct api_state *state)
{
    if (state->write != NULL)
        return &state->write->job;
    return state->change != NULL ? &state->change->job : &state->records->job;
}

// A token is of the tenant and the caller who send it: another one's, used before, must not be
// noticed.
static bool scope_token(struct api_call *call, struct write_job *job)
{
    struct buf text;
    uint8_t len[8];
    uint8_t name[1 + 32] = {0xff}; // what no client can send
    if (job->token.len == 0 || (!call->bound && call->caller == NULL))
        return true;
    buf_init(&text, LIMIT_BODY);
    be64_put(len, call->tenant.len);
    buf_add(&text, len, sizeof(len));
    buf_slice(&text, call->tenant);
    if (call->caller != NULL) {
        be64_put(len, call->caller->principal.arn.len);
        buf_add(&text, len, sizeof(len));
        buf_slice(&text, call->caller->principal.arn);
    }
    buf_slice(&text, job->token);
    bool made = !text.failed;
    if (made)
        sha256_of(buf_view(&text), name + 1);
    buf_release(&text);
    job->token = made ? arena_copy(&call->arena, slice_of(name, sizeof(name))) : VALUE_NONE;
    return job->token.ptr != NULL || error_budget(&call->error);
}

enum step call_submit(struct api_call *call)
{
    struct api_state *state = call->state;
    if (state->write != NULL && !scope_token(call, state->write))
        return STEP_FAILED;
    if (state->write != NULL)
        insights_prepare(call);
    if (state->write != NULL && !throttle_admit_job(call))
        return STEP_FAILED;
    const struct elsewhere *elsewhere = call->api->elsewhere;
    if (elsewhere != NULL && state->write != NULL)
        return elsewhere->submit(elsewhere->context, call, state->write) ? STEP_PENDING
                                                                         : STEP_FAILED;
    job_of(state)->patient = call->patient;
    return engine_submit(call_engine(call), job_of(state)) ? STEP_PENDING : STEP_FAILED;
}
