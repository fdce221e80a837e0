// Writes to tables that have a model: the items are read upstream, judged here by the guard, and
// written on the condition that they still are what was read. Whoever loses a race begins again
// with what there is now.
//
// A job falls into parts that are done or not on their own: a transaction is one part, and so is
// each action of any other request. All parts of a job move in rounds: each sends one request; when
// all are answered the pool judges what came back, and sends the next. So a job, whose memory is an
// arena, is never on two threads.
//
// A put guesses that there is no item: if there is one, the failed condition hands it over, and
// the put has cost no read. Unique values are items of the same table (claims), which are taken and
// given back in the transaction of the item.
#include "upstream/upstream_internal.h"

#include "base/encode.h"
#include "value/digest.h"
#include "json/shape.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

enum {
    TRIES = 12,
    TRY_DELAY_MS = 8, // doubled with each try, up to:
    TRY_DELAY_MAX_MS = 400,
    BODY_MAX = 32 << 20,
    TOKEN = 32,
};

enum part_state { PART_BEGINS, PART_READS, PART_WRITES, PART_ENDED };

struct part {
    size_t first; // action
    size_t count;
    enum part_state state;
    unsigned tries;
    bool transact; // it is a TransactWriteItems
    size_t claim_count;
    struct claim_change *claims;
    struct transport_request request;
    struct buf body;
    struct buf answer;
};

struct flow {
    struct pool_task task; // first
    struct upstream *upstream;
    struct api_call *call;
    struct write_job *job;
    size_t part_count;
    struct part *parts;
    struct slice *before;     // by action
    struct write_plan *plans; // by action
    _Atomic size_t waiting;   // requests of this round
};

static bool flow_run(struct pool_task *task);

// ---- Ends ------------------------------------------------------------------------------------

static void part_end(struct part *part)
{
    part->state = PART_ENDED;
    buf_release(&part->body);
    buf_release(&part->answer);
}

// The part fails because of one of its actions. Of a batch, what may be tried again is told as not
// processed.
static void part_fail(struct flow *flow, struct part *part, size_t which, const struct error *error)
{
    struct write_job *job = flow->job;
    struct write_action *action = &job->actions[part->first + which];
    part_end(part);
    if (!job->transaction && !job->each && job->count > 1 && error_row(error->code)->retryable) {
        action->out.failure = error->code;
        action->out.failure_text = error->message;
        return;
    }
    if (write_note_failure(job, action, error))
        (void)error_set(job->job.error, ERR_TRANSACTION_CANCELED, "Transaction cancelled");
}

static void part_fail_with(struct flow *flow, struct part *part, size_t which, enum error_code code,
                           const char *text)
{
    struct error error;
    error_init(&error, flow->job->arena);
    (void)error_set(&error, code, "%s", text);
    part_fail(flow, part, which, &error);
}

static void flow_end(struct flow *flow)
{
    struct write_job *job = flow->job;
    job->job.failed = job->job.error->code != ERR_NONE;
    job->job.done(&job->job);
}

// What was answered, as an error of ours with its text.
static void part_fail_as_told(struct flow *flow, struct part *part, size_t which)
{
    struct slice body = buf_view(&part->answer);
    struct slice name = transport_error_name(body);
    struct arena *arena = flow->job->arena;
    struct error error;
    struct slice text = told_text(body, "message", arena);
    if (text.len == 0)
        text = told_text(body, "Message", arena);
    error_init(&error, arena);
    if (part->request.status == 0) {
        (void)error_set(&error, part->request.unknown ? ERR_INTERNAL : ERR_UNAVAILABLE,
                        "The upstream server does not answer: %s", part->request.reason);
    } else {
        enum error_code code = part->request.status >= 500 ? ERR_UNAVAILABLE : ERR_VALIDATION;
        for (int c = ERR_NONE + 1; c < ERR_COUNT; c++) {
            if (slice_is(name, error_row((enum error_code)c)->name)) {
                code = (enum error_code)c;
                break;
            }
        }
        (void)error_set(&error, code, "%.*s", SLICE_FMT(text));
    }
    part_fail(flow, part, which, &error);
}

// ---- Sending ---------------------------------------------------------------------------------

static struct json_writer body_begin(struct part *part)
{
    buf_clear(&part->body);
    buf_clear(&part->answer);
    struct json_writer w = json_writer_to(&part->body);
    json_open_object(&w);
    return w;
}

// The request is what the body says; it goes out at the end of the round.
static void part_ask(struct part *part, const char *operation, bool safe)
{
    part->request.operation = slice_str(operation);
    part->request.safe = safe;
    part->request.body = buf_view(&part->body);
    part->request.answer = &part->answer;
}

static void make_read(struct flow *flow, struct part *part)
{
    const struct write_action *actions = &flow->job->actions[part->first];
    struct json_writer w = body_begin(part);
    if (part->count == 1) {
        request_get(&w, actions);
        json_put_flag(&w, "ConsistentRead", true);
    } else {
        json_put_array(&w, "TransactItems");
        for (size_t i = 0; i < part->count; i++) {
            json_open_object(&w);
            json_put_object(&w, "Get");
            request_get(&w, &actions[i]);
            json_close_object(&w);
            json_close_object(&w);
        }
        json_close_array(&w);
    }
    json_close_object(&w);
    part->state = PART_READS;
    part_ask(part, part->count == 1 ? "GetItem" : "TransactGetItems", true);
}

// ---- Claims ----------------------------------------------------------------------------------

static bool has_claim(const struct guard_claim *list, size_t count, struct slice name)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_equal(list[i].name, name))
            return true;
    }
    return false;
}

static struct claim_change *change_of(struct part *part, const struct table *table,
                                      const struct guard_claim *claim)
{
    for (size_t i = 0; i < part->claim_count; i++) {
        struct claim_change *change = &part->claims[i];
        if (slice_equal(change->table->name, table->name) &&
            slice_equal(change->claim->name, claim->name))
            return change;
    }
    struct claim_change *fresh = &part->claims[part->claim_count++];
    *fresh = (struct claim_change){.table = table, .claim = claim};
    return fresh;
}

static void fail_taken(struct flow *flow, struct part *part, const struct claim_change *change)
{
    const struct guard *guard = change->table->guard;
    struct error error;
    error_init(&error, flow->job->arena);
    if (guard->ops->taken == NULL || guard->ops->taken(guard, change->claim, &error))
        (void)error_validation(&error, "%.*s: another item has this value",
                               SLICE_FMT(change->claim->what));
    part_fail(flow, part, change->taker - 1 - part->first, &error);
}

// What changes hands: a value that an item had and has is not touched. False if the part has
// failed.
static bool gather_claims(struct flow *flow, struct part *part)
{
    size_t most = 1;
    for (size_t i = part->first; i < part->first + part->count; i++)
        most += flow->plans[i].claim_count + flow->plans[i].release_count;
    part->claim_count = 0;
    part->claims = arena_zalloc(flow->job->arena, most, sizeof(*part->claims));
    if (part->claims == NULL) {
        part_fail_with(flow, part, 0, ERR_THROTTLING, "The request needs too much memory");
        return false;
    }
    for (size_t i = part->first; i < part->first + part->count; i++) {
        const struct write_plan *plan = &flow->plans[i];
        const struct table *table = flow->job->actions[i].table;
        for (size_t k = 0; k < plan->claim_count; k++) {
            if (has_claim(plan->releases, plan->release_count, plan->claims[k].name))
                continue;
            struct claim_change *change = change_of(part, table, &plan->claims[k]);
            bool twice = change->taker > 0;
            change->claim = &plan->claims[k];
            change->taker = i + 1;
            if (twice) {
                fail_taken(flow, part, change);
                return false;
            }
        }
        for (size_t k = 0; k < plan->release_count; k++) {
            if (!has_claim(plan->claims, plan->claim_count, plan->releases[k].name))
                change_of(part, table, &plan->releases[k])->giver = i + 1;
        }
    }
    return true;
}

// ---- Judging ---------------------------------------------------------------------------------

static bool is_reserved(const struct write_action *action, struct slice item)
{
    struct slice key =
        item.len == 0 ? VALUE_NONE : value_get(item, action->table->keys.parts[0].name);
    return key.len > 0 && value_type(key) == VALUE_S &&
           memmem(key.ptr, key.len < 24 ? key.len : 24, CLAIM_PREFIX, sizeof(CLAIM_PREFIX) - 1) !=
               NULL;
}

static bool plan_action(struct flow *flow, size_t which, struct error *error)
{
    struct write_action *action = &flow->job->actions[which];
    if (action->refused != NULL)
        return error_copy(error, action->refused);
    if (is_reserved(action, action->item))
        return error_validation(error, "Keys that begin with \"" CLAIM_PREFIX "\" are the "
                                       "gateway's own");
    return write_plan_given(flow->job, action, flow->before[which], &flow->plans[which], error);
}

// Judges all of the part, so that every reason to cancel a transaction is known. False if it has
// ended.
static bool plan_part(struct flow *flow, struct part *part)
{
    bool ok = true;
    for (size_t i = 0; i < part->count && part->state != PART_ENDED; i++) {
        struct error error;
        error_init(&error, flow->job->arena);
        if (plan_action(flow, part->first + i, &error))
            continue;
        ok = false;
        if (!flow->job->transaction ||
            !write_note_failure(flow->job, &flow->job->actions[part->first + i], &error)) {
            part_fail(flow, part, i, &error);
            return false;
        }
    }
    if (ok)
        return gather_claims(flow, part);
    (void)error_set(flow->job->job.error, ERR_TRANSACTION_CANCELED, "Transaction cancelled");
    part_end(part);
    return false;
}

// ---- Writing ---------------------------------------------------------------------------------

// A transaction that is sent twice is done once. One that has a token of the client's has the same
// one each time that it is judged: if the server knows that for another text, it was done before.
static void put_token(struct flow *flow, struct json_writer *w)
{
    const struct write_job *job = flow->job;
    uint8_t bytes[32];
    char text[2 * sizeof(bytes) + 1];
    struct env env = env_system();
    if (job->token.len == 0) {
        env.random(env.context, bytes, sizeof(bytes));
    } else {
        struct buf both;
        buf_init(&both, 4096);
        buf_add(&both, job->digest, sizeof(job->digest));
        buf_slice(&both, job->token);
        sha256_of(buf_view(&both), bytes);
        buf_release(&both);
    }
    hex_text(slice_of(bytes, sizeof(bytes)), text);
    json_put_string(w, "ClientRequestToken", slice_of(text, TOKEN));
}

static bool make_transact(struct flow *flow, struct part *part, struct error *error)
{
    const struct write_action *actions = flow->job->actions;
    struct json_writer w = body_begin(part);
    if (part->count + part->claim_count > LIMIT_TRANSACT)
        return error_validation(error,
                                "With the unique values that it takes and gives back the "
                                "transaction has more than %d actions",
                                LIMIT_TRANSACT);
    put_token(flow, &w);
    json_put_array(&w, "TransactItems");
    for (size_t i = part->first; i < part->first + part->count; i++) {
        struct slice after = flow->plans[i].after;
        json_open_object(&w);
        json_put_object(&w, request_kind(&actions[i], flow->before[i], after));
        if (!request_write(&w, &actions[i], flow->before[i], after, error))
            return false;
        json_close_object(&w);
        json_close_object(&w);
    }
    for (size_t i = 0; i < part->claim_count; i++)
        request_claim(&w, &part->claims[i], actions);
    json_close_array(&w);
    json_close_object(&w);
    part_ask(part, "TransactWriteItems", true);
    return true;
}

static bool make_single(struct flow *flow, struct part *part, struct error *error)
{
    const struct write_action *action = &flow->job->actions[part->first];
    struct slice before = flow->before[part->first];
    struct slice after = flow->plans[part->first].after;
    const char *kind = request_kind(action, before, after);
    struct json_writer w = body_begin(part);
    if (!request_write(&w, action, before, after, error))
        return false;
    json_close_object(&w);
    part_ask(part,
             strcmp(kind, "Put") == 0      ? "PutItem"
             : strcmp(kind, "Update") == 0 ? "UpdateItem"
                                           : "DeleteItem",
             false);
    return true;
}

// Whether nothing is to be written: what was read is as it should be.
static bool is_idle(const struct flow *flow, const struct part *part)
{
    if (part->claim_count > 0)
        return false;
    if (part->count == 1)
        return slice_equal(flow->before[part->first], flow->plans[part->first].after);
    return false;
}

static void make_write(struct flow *flow, struct part *part)
{
    struct error error;
    error_init(&error, flow->job->arena);
    if (is_idle(flow, part)) {
        part_end(part);
        return;
    }
    part->state = PART_WRITES;
    part->transact = part->count > 1 || part->claim_count > 0;
    bool ok = part->transact ? make_transact(flow, part, &error) : make_single(flow, part, &error);
    if (ok && part->body.failed)
        ok = error_budget(&error);
    if (!ok)
        part_fail(flow, part, 0, &error);
}

// ---- Answers ---------------------------------------------------------------------------------

// The item of that member; VALUE_NONE if there is none. False if it cannot be read.
static bool read_item(struct flow *flow, struct slice json, struct slice *out)
{
    struct error error;
    struct slice raw = told_member(json, "Item", flow->job->arena);
    *out = VALUE_NONE;
    error_init(&error, flow->job->arena);
    return raw.len == 0 || json_decode_item(raw, flow->job->arena, out, &error);
}

static bool take_images(struct flow *flow, struct part *part)
{
    struct slice body = buf_view(&part->answer);
    struct json_reader reader;
    struct slice element;
    if (part->count == 1)
        return read_item(flow, body, &flow->before[part->first]);
    if (!told_array(told_member(body, "Responses", flow->job->arena), flow->job->arena, &reader))
        return false;
    for (size_t i = part->first; i < part->first + part->count; i++) {
        if (!told_element(&reader, &element) || !read_item(flow, element, &flow->before[i]))
            return false;
    }
    return true;
}

// Another try, after a while; or the end of patience.
static bool again(struct flow *flow, struct part *part)
{
    unsigned shift = part->tries < 6 ? part->tries : 6;
    uint32_t random;
    struct env env = env_system();
    if (++part->tries > TRIES) {
        part_fail_with(flow, part, 0, ERR_TRANSACTION_CONFLICT,
                       "Transaction is ongoing for the item");
        return false;
    }
    env.random(env.context, (uint8_t *)&random, sizeof(random));
    unsigned most = (unsigned)TRY_DELAY_MS << shift;
    most = most > TRY_DELAY_MAX_MS ? TRY_DELAY_MAX_MS : most;
    part->request.delay_ms = part->tries == 1 ? 0 : random % most;
    return true;
}

static void read_answered(struct flow *flow, struct part *part)
{
    if (part->request.status != 200) {
        struct slice name = transport_error_name(buf_view(&part->answer));
        bool conflict = slice_is(name, "TransactionCanceledException") ||
                        slice_is(name, "TransactionConflictException");
        if (!conflict)
            part_fail_as_told(flow, part, 0);
        else if (again(flow, part))
            make_read(flow, part);
        return;
    }
    if (!take_images(flow, part)) {
        part_fail_with(flow, part, 0, ERR_INTERNAL, "The upstream server's answer is no answer");
        return;
    }
    if (plan_part(flow, part))
        make_write(flow, part);
}

// The condition of a single write did not hold: the item is another one, which came with the
// answer.
static void pin_failed(struct flow *flow, struct part *part)
{
    struct slice now;
    if (!read_item(flow, buf_view(&part->answer), &now)) {
        part_fail_with(flow, part, 0, ERR_INTERNAL, "The upstream server's answer is no answer");
        return;
    }
    flow->before[part->first] = now;
    if (again(flow, part) && plan_part(flow, part))
        make_write(flow, part);
}

// Each action of the transaction has its reason. A value that is taken fails it for good, unless an
// item has changed, too: then nothing is known.
static void canceled(struct flow *flow, struct part *part)
{
    struct arena *arena = flow->job->arena;
    struct slice list = told_member(buf_view(&part->answer), "CancellationReasons", arena);
    struct json_reader reader;
    struct slice element;
    const struct claim_change *taken = NULL;
    bool moved = false;
    bool open = told_array(list, arena, &reader);
    for (size_t i = 0; open && told_element(&reader, &element); i++) {
        struct slice code = told_text(element, "Code", arena);
        if (code.len == 0 || slice_is(code, "None"))
            continue;
        bool condition = slice_is(code, "ConditionalCheckFailed");
        bool conflict = slice_is(code, "TransactionConflict") ||
                        slice_is(code, "ProvisionedThroughputExceeded") ||
                        slice_is(code, "ThrottlingError");
        bool of_claim = i >= part->count && i - part->count < part->claim_count;
        if (!condition && !conflict) {
            struct slice text = told_text(element, "Message", arena);
            struct error error;
            error_init(&error, arena);
            (void)error_validation(&error, "%.*s", SLICE_FMT(text));
            part_fail(flow, part, i < part->count ? i : 0, &error);
            return;
        }
        if (condition && of_claim && part->claims[i - part->count].taker > 0)
            taken = &part->claims[i - part->count];
        else
            moved = true;
    }
    if (taken != NULL && !moved)
        fail_taken(flow, part, taken);
    else if (again(flow, part))
        make_read(flow, part);
}

// It was done before, and the client asks again.
static void repeat(struct flow *flow, struct part *part)
{
    flow->job->repeated = true;
    for (size_t i = part->first; i < part->first + part->count; i++)
        flow->job->actions[i].out.changed = false;
    part_end(part);
}

// A single write that was not answered is not sent again: if its condition then failed, nobody
// could tell whether it was the first sending that changed the item, or somebody else who did the
// same.
static void write_answered(struct flow *flow, struct part *part)
{
    struct slice name = transport_error_name(buf_view(&part->answer));
    int status = part->request.status;
    if (status == 200)
        part_end(part);
    else if (slice_is(name, "ConditionalCheckFailedException"))
        pin_failed(flow, part);
    else if (slice_is(name, "TransactionCanceledException"))
        canceled(flow, part);
    else if (slice_is(name, "IdempotentParameterMismatchException") && flow->job->token.len > 0)
        repeat(flow, part);
    else if (slice_is(name, "TransactionConflictException")) {
        if (again(flow, part))
            make_read(flow, part);
    } else
        part_fail_as_told(flow, part, 0);
}

// ---- Rounds ----------------------------------------------------------------------------------

// A put is judged as if there were no item. If that fails, it has to be known what there is.
static bool guess(struct flow *flow, struct part *part)
{
    struct error error;
    error_init(&error, flow->job->arena);
    if (part->count != 1 || flow->job->actions[part->first].kind != WRITE_PUT)
        return false;
    flow->before[part->first] = VALUE_NONE;
    return plan_action(flow, part->first, &error);
}

static void part_step(struct flow *flow, struct part *part)
{
    part->request.delay_ms = 0;
    switch (part->state) {
    case PART_BEGINS:
        if (!guess(flow, part))
            make_read(flow, part);
        else if (gather_claims(flow, part))
            make_write(flow, part);
        break;
    case PART_READS:
        read_answered(flow, part);
        break;
    case PART_WRITES:
        write_answered(flow, part);
        break;
    case PART_ENDED:
        break;
    }
}

static void answered(struct transport_request *request)
{
    struct flow *flow = request->context;
    if (atomic_fetch_sub(&flow->waiting, 1) != 1)
        return;
    if (!pool_submit(flow->call->api->pool, &flow->task))
        (void)flow_run(&flow->task);
}

static bool flow_run(struct pool_task *task)
{
    struct flow *flow = (struct flow *)task;
    struct transport *transport = flow->upstream->transport;
    size_t count = flow->part_count;
    struct part *parts = flow->parts;
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        part_step(flow, &parts[i]);
        left += parts[i].state != PART_ENDED;
    }
    if (left == 0) {
        flow_end(flow);
        return true;
    }
    atomic_store(&flow->waiting, left);
    // Once the last one is sent the flow is somebody else's.
    for (size_t i = 0; left > 0; i++) {
        if (parts[i].state == PART_ENDED)
            continue;
        left--;
        struct transport_request *request = &parts[i].request;
        if (transport_send(transport, request))
            continue;
        request->reason = "too many requests are waiting for it";
        answered(request);
    }
    return true;
}

// Which actions are done together.
static size_t part_size(const struct write_job *job, size_t first)
{
    size_t count = 1;
    if (job->transaction)
        return job->count;
    while (job->each && first + count < job->count &&
           (job->actions[first + count].flags & WRITE_JOINED))
        count++;
    return count;
}

static bool flow_init(struct flow *flow, struct write_job *job)
{
    flow->parts = arena_zalloc(job->arena, job->count, sizeof(*flow->parts));
    flow->before = arena_zalloc(job->arena, job->count, sizeof(*flow->before));
    flow->plans = arena_zalloc(job->arena, job->count, sizeof(*flow->plans));
    if (flow->parts == NULL || flow->before == NULL || flow->plans == NULL)
        return error_budget(job->job.error);
    for (size_t at = 0; at < job->count;) {
        struct part *part = &flow->parts[flow->part_count++];
        part->first = at;
        part->count = part_size(job, at);
        part->request.done = answered;
        part->request.context = flow;
        buf_init(&part->body, BODY_MAX);
        buf_init(&part->answer, BODY_MAX);
        at += part->count;
    }
    return true;
}

bool flow_start(void *context, struct api_call *call, struct write_job *job)
{
    if (!job->job.ready(&job->job))
        return false;
    struct flow *flow = arena_zalloc(job->arena, 1, sizeof(*flow));
    if (flow == NULL)
        return error_budget(job->job.error);
    flow->task.run = flow_run;
    flow->upstream = context;
    flow->call = call;
    flow->job = job;
    if (!flow_init(flow, job))
        return false;
    return pool_submit(call->api->pool, &flow->task) ||
           error_set(job->job.error, ERR_THROTTLING, "Too many long requests are waiting");
}
