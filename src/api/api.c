// The life of a call: decode by shape, start, perhaps wait for the writer, finish, reset.
#include "api/api_internal.h"

#include "api/shapes.h"
#include "base/limits.h"

#include <stdlib.h>

struct api *api_open(const struct api_options *options, struct store_error *error)
{
    struct api *api = calloc(1, sizeof(*api));
    ensure(api != NULL);
    api->engine = engine_open(options->store, options->env, error);
    if (api->engine == NULL) {
        free(api);
        return NULL;
    }
    return api;
}

void api_close(struct api *api)
{
    engine_close(api->engine);
    free(api);
}

void api_call_init(struct api_call *call, struct api *api)
{
    *call = (struct api_call){.api = api, .region = SLICE_LIT("us-east-1")};
    arena_init(&call->arena, LIMIT_REQUEST_MEMORY);
    error_init(&call->error, &call->arena);
    buf_init(&call->response, LIMIT_RESPONSE);
}

static void release_state(struct api_state *state)
{
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
        release_state(call->state);
    call->state = NULL;
    arena_reset(&call->arena);
    error_init(&call->error, &call->arena);
    buf_clear(&call->response);
    // A large response's memory is not kept for an idle connection.
    if (call->response.cap > 1 << 20)
        buf_release(&call->response);
    call->status = 0;
    call->error_code = ERR_NONE;
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

// ---- Errors -------------------------------------------------------------------------------

static const char *reason_code(enum error_code failure)
{
    switch (failure) {
    case ERR_NONE:
        return "None";
    case ERR_CONDITIONAL_CHECK_FAILED:
        return "ConditionalCheckFailed";
    case ERR_COLLECTION_SIZE:
        return "ItemCollectionSizeLimitExceeded";
    default:
        return "ValidationError";
    }
}

// "Transaction cancelled, please refer cancellation reasons for specific reasons [None, …]"
static void write_canceled(struct json_writer *w, const struct write_job *job)
{
    json_name(w, "Message");
    struct buf text;
    buf_init(&text, 1 << 16);
    buf_text(&text, "Transaction cancelled, please refer cancellation reasons for specific "
                    "reasons [");
    for (size_t i = 0; i < job->count; i++) {
        if (i > 0)
            buf_text(&text, ", ");
        buf_text(&text, reason_code(job->actions[i].failure));
    }
    buf_text(&text, "]");
    json_string(w, buf_view(&text));
    buf_release(&text);
    json_name(w, "CancellationReasons");
    json_open_array(w);
    for (size_t i = 0; i < job->count; i++) {
        const struct write_action *action = &job->actions[i];
        json_open_object(w);
        json_name(w, "Code");
        json_text(w, reason_code(action->failure));
        if (action->failure != ERR_NONE) {
            if (action->failure == ERR_CONDITIONAL_CHECK_FAILED && action->old_item.len > 0) {
                json_name(w, "Item");
                json_item(w, action->old_item);
            }
            json_name(w, "Message");
            json_text(w, action->failure_text);
        }
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_error(struct api_call *call, enum error_code code, const char *message)
{
    const struct error_row *row = error_row(code);
    const struct write_job *job = call->state == NULL ? NULL : call->state->write;
    buf_clear(&call->response);
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_name(&w, "__type");
    json_text(&w, row->type);
    if (code == ERR_TRANSACTION_CANCELED && job != NULL) {
        write_canceled(&w, job);
    } else if (message[0] != 0) {
        json_name(&w, "message");
        json_text(&w, message);
    }
    if (code == ERR_CONDITIONAL_CHECK_FAILED && job != NULL && job->actions[0].old_item.len > 0) {
        json_name(&w, "Item");
        json_item(&w, job->actions[0].old_item);
    }
    json_close_object(&w);
    call->status = row->status;
    call->error_code = code;
}

void api_call_fail(struct api_call *call, enum error_code code, const char *message)
{
    write_error(call, code, message);
}

// ---- Life ---------------------------------------------------------------------------------

static void respond(struct api_call *call)
{
    if (call->error.code == ERR_NONE && call->response.failed)
        (void)error_budget(&call->error);
    if (call->error.code != ERR_NONE) {
        write_error(call, call->error.code, call->error.message);
        return;
    }
    call->status = 200;
    call->error_code = ERR_NONE;
}

static enum step start(struct api_call *call)
{
    const struct operation *operation = operation_find(call->operation);
    if (operation == NULL) {
        (void)error_set(&call->error, ERR_UNKNOWN_OPERATION, "%s", "");
        return STEP_FAILED;
    }
    struct api_state *state = call_alloc(call, 1, sizeof(*state));
    if (state == NULL)
        return STEP_FAILED;
    call->state = state;
    state->operation = operation;
    state->request = call_alloc(call, 1, operation->shape->size);
    if (state->request == NULL ||
        !request_decode(operation->shape, call->body, state->request, &call->arena, &call->error))
        return STEP_FAILED;
    return operation->start(call, state->request);
}

bool api_call_start(struct api_call *call)
{
    if (start(call) == STEP_PENDING)
        return false;
    respond(call);
    return true;
}

void api_call_finish(struct api_call *call)
{
    if (call->error.code == ERR_NONE)
        call->state->operation->finish(call, call->state->request);
    respond(call);
}
