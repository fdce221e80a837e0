// Consumers of change logs: ListConsumers, DescribeConsumer, UpdateConsumer, ListDeadLetters,
// RetryDeadLetters. None of them is DynamoDB's; docs/EVENTS.md is the manual.
//
// A consumer does what it is told between two events, so whoever tells it waits: on the thread of a
// lane.
#include "call/operation.h"

#include "base/time_text.h"
#include "capture/consumers.h"
#include "requests/requests_control.h"
#include "json/writer.h"

enum { LETTERS_SHOWN = 25 };

static struct consumers *consumers_of(struct api_call *call)
{
    struct consumers *consumers = call_shop(call)->consumers;
    if (consumers == NULL)
        (void)error_set(&call->error, ERR_UNAVAILABLE, "This database has no consumers.");
    else
        consumers_settle(consumers); // a model that was applied a moment ago has its own
    return consumers;
}

// ---- Looking ----------------------------------------------------------------------------------

struct showing {
    struct json_writer *w;
    struct slice name; // only this one; or empty
    bool found;
};

static void show(void *context, struct consumer *consumer)
{
    struct showing *showing = context;
    struct json_writer *w = showing->w;
    struct consumer_status status;
    if (showing->name.len > 0 && !slice_equal(showing->name, consumer_name(consumer)))
        return;
    showing->found = true;
    consumer_status(consumer, &status);
    json_open_object(w);
    json_put_string(w, "TableName", consumer_table(consumer));
    json_put_string(w, "ConsumerName", consumer_name(consumer));
    json_put_string(w, "Target", consumer_target(consumer));
    json_put_text(w, "State", status.state);
    if (status.reason[0] != 0)
        json_put_text(w, "Reason", status.reason);
    json_put_integer(w, "Position", (int64_t)status.position);
    json_name(w, "LagSeconds");
    buf_printf(w->out, "%.3f", (double)status.behind_ms / 1000);
    w->comma = true;
    json_put_integer(w, "LagRecords", (int64_t)status.records);
    json_put_integer(w, "Delivered", (int64_t)status.delivered);
    json_put_integer(w, "Failed", (int64_t)status.failed);
    json_put_integer(w, "DeadLetters", (int64_t)status.letters);
    json_put_integer(w, "Lost", (int64_t)status.lost);
    json_put_integer(w, "InFlight", (int64_t)status.in_flight);
    json_put_flag(w, "BreakerOpen", status.breaker_open);
    json_close_object(w);
}

static void list_later(struct api_call *call, const void *decoded)
{
    const struct list_consumers_request *request = decoded;
    struct consumers *consumers = consumers_of(call);
    if (consumers == NULL)
        return;
    struct json_writer w = call_open(call);
    json_put_array(&w, "Consumers");
    consumers_each(consumers, request->table_name, show, &(struct showing){.w = &w});
    json_close_array(&w);
    json_close_object(&w);
}

enum step list_consumers_start(struct api_call *call, const void *request)
{
    (void)request;
    return call_later(call, LANE_REPORT, list_later);
}

static void describe(struct api_call *call, struct consumers *consumers, struct slice table,
                     struct slice name)
{
    struct buf found;
    buf_init(&found, 1 << 20);
    struct json_writer one = json_writer_to(&found);
    struct showing showing = {.w = &one, .name = name};
    consumers_each(consumers, table, show, &showing);
    if (showing.found && !found.failed) {
        struct json_writer w = call_open(call);
        json_name(&w, "Consumer");
        buf_slice(w.out, buf_view(&found));
        w.comma = true;
        json_close_object(&w);
    } else {
        (void)error_set(&call->error, ERR_RESOURCE_NOT_FOUND,
                        "Table \"%.*s\" has no consumer named \"%.*s\". ListConsumers tells which "
                        "there are.",
                        SLICE_FMT(table), SLICE_FMT(name));
    }
    buf_release(&found);
}

static void describe_later(struct api_call *call, const void *decoded)
{
    const struct consumer_request *request = decoded;
    struct consumers *consumers = consumers_of(call);
    if (consumers != NULL)
        describe(call, consumers, request->table_name, request->consumer_name);
}

enum step describe_consumer_start(struct api_call *call, const void *request)
{
    (void)request;
    return call_later(call, LANE_REPORT, describe_later);
}

// ---- Telling it what to do --------------------------------------------------------------------

static bool command_of(const struct update_consumer_request *request,
                       struct consumer_command *command, struct error *error)
{
    static const struct {
        const char *name;
        enum consumer_act act;
    } acts[] = {{"PAUSE", CONSUMER_PAUSE},
                {"RESUME", CONSUMER_RESUME},
                {"REPLAY", CONSUMER_REPLAY},
                {"BACKFILL", CONSUMER_BACKFILL}};
    for (size_t i = 0; i < COUNT_OF(acts); i++)
        if (slice_is(request->action, acts[i].name))
            command->act = acts[i].act;
    if (command->act != CONSUMER_REPLAY)
        return request->from.len == 0 ||
               error_validation(error, "From is for the action REPLAY only");
    return time_parse(request->from, &command->from_ms) ||
           error_validation(error, "REPLAY needs From, a time such as 2026-01-31T12:00:00Z");
}

static void update_later(struct api_call *call, const void *decoded)
{
    const struct update_consumer_request *request = decoded;
    struct consumers *consumers = consumers_of(call);
    struct consumer_command command = {.act = CONSUMER_PAUSE};
    if (consumers == NULL || !command_of(request, &command, &call->error) ||
        !consumers_command(consumers, request->table_name, request->consumer_name, &command,
                           &call->error))
        return;
    describe(call, consumers, request->table_name, request->consumer_name);
}

enum step update_consumer_start(struct api_call *call, const void *request)
{
    (void)request;
    return call_later(call, LANE_REPORT, update_later);
}

// ---- Dead letters -----------------------------------------------------------------------------

struct listing {
    struct json_writer *w;
    int64_t left;
    uint64_t last; // shown, if there are more behind it
    bool more;
};

static bool show_letter(void *context, const struct letter *letter)
{
    struct listing *listing = context;
    struct json_writer *w = listing->w;
    listing->more = listing->left-- == 0;
    if (listing->more)
        return false;
    listing->last = letter->sequence;
    json_open_object(w);
    json_put_integer(w, "Sequence", (int64_t)letter->sequence);
    json_put_string(w, "EventId", letter->id);
    json_put_string(w, "Type", letter->type);
    json_put_time(w, "Time", letter->time_ms);
    json_put_given_time(w, "DiedDateTime", letter->died_ms);
    json_put_integer(w, "Attempts", (int64_t)letter->attempts);
    json_put_string(w, "Reason", letter->reason);
    json_put_item(w, "Keys", letter->keys);
    if (letter->body.len > 0 && letter->body.ptr[0] != 0) // else it is for its target alone
        json_put_string(w, "Body", letter->body);
    json_close_object(w);
    return true;
}

static void letters_later(struct api_call *call, const void *decoded)
{
    const struct list_dead_letters_request *request = decoded;
    struct consumers *consumers = consumers_of(call);
    if (consumers == NULL)
        return;
    struct json_writer w = call_open(call);
    struct listing listing = {.w = &w,
                              .left = request->limit.set ? request->limit.value : LETTERS_SHOWN};
    json_put_array(&w, "DeadLetters");
    if (!consumers_letters(consumers, request->table_name, request->consumer_name,
                           request->after.set ? (uint64_t)request->after.value : 0, show_letter,
                           &listing, &call->error))
        return;
    json_close_array(&w);
    if (listing.more)
        json_put_integer(&w, "LastSequence", (int64_t)listing.last);
    json_close_object(&w);
}

enum step list_dead_letters_start(struct api_call *call, const void *request)
{
    (void)request;
    return call_later(call, LANE_REPORT, letters_later);
}

static void retry_later(struct api_call *call, const void *decoded)
{
    const struct retry_dead_letters_request *request = decoded;
    struct consumers *consumers = consumers_of(call);
    bool drop = request->drop.set && request->drop.value;
    struct consumer_command command = {
        .act = drop ? CONSUMER_DROP : CONSUMER_RETRY,
        .sequence = request->sequence.set ? (uint64_t)request->sequence.value : 0};
    if (consumers == NULL || !consumers_command(consumers, request->table_name,
                                                request->consumer_name, &command, &call->error))
        return;
    struct json_writer w = call_open(call);
    json_put_integer(&w, drop ? "Dropped" : "Retried", (int64_t)command.count);
    json_close_object(&w);
}

enum step retry_dead_letters_start(struct api_call *call, const void *request)
{
    (void)request;
    return call_later(call, LANE_REPORT, retry_later);
}
