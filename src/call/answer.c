// The response of a call: its room, and the documents of errors.
#include "call/operation.h"

#include "base/limits.h"

// What a response has besides items: names and braces, and what the writer of JSON wants to have
// free behind what it writes.
enum { ANSWER_FRAME = 1 << 10 };

// ---- Errors -------------------------------------------------------------------------------

static const char *reason_code(enum error_code failure)
{
    static const char *const codes[] = {[ERR_NONE] = "None",
                                        [ERR_CONDITIONAL_CHECK_FAILED] = "ConditionalCheckFailed",
                                        [ERR_COLLECTION_SIZE] = "ItemCollectionSizeLimitExceeded",
                                        [ERR_TRANSACTION_CONFLICT] = "TransactionConflict",
                                        [ERR_DUPLICATE_ITEM] = "DuplicateItem",
                                        [ERR_ACCESS_DENIED] = "AccessDenied",
                                        [ERR_THROUGHPUT_EXCEEDED] =
                                            "ProvisionedThroughputExceeded"};
    const char *code = failure < COUNT_OF(codes) ? codes[failure] : NULL;
    return code != NULL ? code : "ValidationError";
}

// "Transaction cancelled, please refer cancellation reasons for specific reasons [None, …]"
static void write_canceled(struct json_writer *w, const struct write_job *job, bool images)
{
    json_name(w, "Message");
    struct buf text;
    buf_init(&text, 1 << 16);
    buf_text(&text, "Transaction cancelled, please refer cancellation reasons for specific "
                    "reasons [");
    for (size_t i = 0; i < job->count; i++) {
        if (i > 0)
            buf_text(&text, ", ");
        buf_text(&text, reason_code(job->actions[i].out.failure));
    }
    buf_text(&text, "]");
    json_string(w, buf_view(&text));
    buf_release(&text);
    json_put_array(w, "CancellationReasons");
    for (size_t i = 0; i < job->count; i++) {
        const struct write_action *action = &job->actions[i];
        json_open_object(w);
        enum error_code failure = action->out.failure;
        json_put_text(w, "Code", reason_code(failure));
        if (failure != ERR_NONE) {
            if (images && failure == ERR_CONDITIONAL_CHECK_FAILED && action->out.old_item.len > 0) {
                json_name(w, "Item");
                json_item(w, action->out.old_item);
            }
            json_put_text(w, "Message", action->out.failure_text);
        }
        json_close_object(w);
    }
    json_close_array(w);
}

// [{"reason":"TableReadProvisionedThroughputExceeded","resource":"arn:…"}]
static void write_throttling(struct json_writer *w, const struct api_state *state)
{
    json_form(w, "'ThrottlingReasons':[{'reason':%s,'resource':%.*s}]", state->throttle_reason,
              SLICE_FMT(state->throttle_resource));
}

static void write_document(struct api_call *call, enum error_code code, const char *message,
                           bool images)
{
    const struct write_job *job = call->state == NULL ? NULL : call->state->write;
    struct json_writer w = call_open(call);
    json_put_text(&w, "__type", error_row(code)->type);
    if (code == ERR_TRANSACTION_CANCELED && job != NULL) {
        write_canceled(&w, job, images);
    } else if (message[0] != 0) {
        json_put_text(&w, code == ERR_SERIALIZATION ? "Message" : "message", message);
    }
    if (images && code == ERR_CONDITIONAL_CHECK_FAILED && job != NULL &&
        job->actions[0].out.old_item.len > 0) {
        json_name(&w, "Item");
        json_item(&w, job->actions[0].out.old_item);
    }
    if (code == ERR_THROUGHPUT_EXCEEDED && call->state != NULL &&
        call->state->throttle_reason != NULL)
        write_throttling(&w, call->state);
    json_close_object(&w);
    call->status = error_row(code)->status;
    call->error_code = code;
}

// Whether the error shows items, and there can be room for them. Those that can never be shown
// are left out; nobody is told to come again for them.
static bool error_shows(const struct api_call *call)
{
    const struct write_job *job = call->state == NULL ? NULL : call->state->write;
    size_t room = 0;
    if (job == NULL || operation_silent(call->state->operation))
        return false;
    for (size_t i = 0; i < job->count; i++)
        room += json_item_room(job->actions[i].out.old_item);
    return room > 0 && room + ANSWER_FRAME <= call->response.max &&
           budget_ever(call->api->shop.budget, room + ANSWER_FRAME);
}

// A response that has failed or is too large has taken in vain what others may need.
static void drop_response(struct api_call *call)
{
    if (call->response.failed || call->response.cap > LIMIT_INLINE_BODY)
        buf_release(&call->response);
    buf_clear(&call->response);
}

// The document of an error is whole. If there is no memory for the items in it, the client is told
// to come again: nothing was written. Without items it is small, and never refused.
static void write_error(struct api_call *call, enum error_code code, const char *message)
{
    drop_response(call);
    bool images = error_shows(call);
    call->account.overdraw = !images;
    write_document(call, code, message, images);
    if (!call->response.failed)
        return;
    struct error error;
    error_init(&error, &call->arena);
    (void)error_budget(&error);
    drop_response(call);
    call->account.overdraw = true;
    if (images)
        write_document(call, error.code, error.message, false);
}

void api_call_fail(struct api_call *call, enum error_code code, const char *message)
{
    write_error(call, code, message);
}

// ---- Responses ----------------------------------------------------------------------------

bool call_reserve(struct api_call *call, size_t bytes, struct error *error)
{
    size_t room = bytes + ANSWER_FRAME;
    if (room > call->response.max || !budget_ever(call->api->shop.budget, room))
        return error_validation(
            error, "The response would be larger than this server can return: %zu MB of JSON",
            bytes >> 20);
    if (buf_reserve(&call->response, room) != NULL)
        return true;
    buf_clear(&call->response);
    return error_budget(error);
}

void call_respond_failed(struct api_call *call)
{
    bool written = call->state != NULL && call->state->written;
    if (call->account.starved || written)
        (void)error_budget(&call->error);
    else
        (void)error_validation(&call->error,
                               "The response would be larger than %d MB; ask for fewer items",
                               LIMIT_RESPONSE >> 20);
}

void call_respond(struct api_call *call)
{
    if (call->error.code == ERR_NONE && call->response.failed)
        call_respond_failed(call);
    if (call->error.code != ERR_NONE) {
        write_error(call, call->error.code, call->error.message);
        return;
    }
    if (call->state == NULL || !operation_silent(call->state->operation))
        buf_fit(&call->response);
    call->status = 200;
    call->error_code = ERR_NONE;
}
