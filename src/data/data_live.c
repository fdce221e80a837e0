// Live patterns over HTTP: GET /v1/{table}/{pattern} with Accept: text/event-stream.
//
// A stream goes through three phases: it waits until the table keeps its changes; it sends the
// result, page after page, each when the client has taken the one before; and then what live_next()
// says, which sleeps until there is something. Whatever is said is a piece (http_stream_write), and
// nothing else happens to the stream while one waits for the client.
//
// Everything is on the loop's thread but reading: pages of the result by their call, changes that
// the stream is behind with by data_work().
#include "call/operation.h"
#include "data/data_internal.h"
#include "live/live.h"
#include "model/rules.h"

#include <stdlib.h>

enum live_phase {
    LIVE_OPENS,   // waits for the table's log
    LIVE_SHOWS,   // sends the result
    LIVE_FOLLOWS, // sends changes
};

struct data_live {
    struct live_listener *listener;
    struct live_question *question; // the listener's
    enum live_phase phase;
    bool streaming; // http_stream_begin() has been called
    bool sleeping;  // until `wake`
    bool reading;   // a page, or in the pool: somebody resumes the exchange
    bool waiting;   // for the client to take a piece
    bool gone;      // the client, or the server
    bool over;      // the stream has ended
    struct live_result result;
    uint64_t shown;    // items, in pages that have been read,
    uint64_t seen;     // and with those of the page that is being read
    struct buf after;  // where the last page ended
    const char *reset; // why the result is sent anew, or NULL
    int64_t asked_ms;  // when policies were asked
    size_t block_count;
    struct live_block *blocks[HTTP_PIECE_PARTS];
};

static enum data_step go_on(struct data *data);

bool data_live_wanted(const struct data *data)
{
    const struct http_request *request = &data->exchange->request;
    const struct slice *accept = http_header_find(request, SLICE_LIT("accept"));
    if (accept == NULL || !slice_is(request->method, "GET"))
        return false;
    struct slice rest = *accept;
    while (rest.len > 0) {
        struct slice one = slice_cut(&rest, ',');
        if (http_same(slice_trim(slice_cut(&one, ';')), SLICE_LIT("text/event-stream")))
            return true;
    }
    return false;
}

// ---- The end -----------------------------------------------------------------------------------

static void let_go_of_blocks(struct data_live *live)
{
    live_blocks_done(live->listener, live->blocks, live->block_count);
    live->block_count = 0;
}

void data_live_end(struct data *data)
{
    struct data_live *live = data->live;
    if (live == NULL)
        return;
    if (live->listener != NULL) {
        let_go_of_blocks(live);
        live_result_close(live->listener, &live->result);
        live_unlisten(live->listener);
    }
    buf_release(&live->after);
    free(live);
    data->live = NULL;
}

// `sent` follows, and with it data_reset().
static enum data_step finish(struct data *data, bool whole)
{
    data->live->over = true;
    if (whole)
        http_stream_end(data->exchange);
    else
        http_stream_abort(data->exchange);
    return DATA_READY;
}

// Something failed. If the stream has begun, its client comes again; else it gets a problem.
static enum data_step fail(struct data *data)
{
    if (data->live->streaming)
        return finish(data, false);
    return data_answer_error(data);
}

static void on_wake(void *context)
{
    const struct data *data = context;
    http_exchange_resume(data->exchange);
}

bool data_cancel(struct data *data)
{
    struct data_live *live = data->live;
    if (data->pattern != NULL && data->pattern->waits)
        api_call_cancel(&data->tasks[0].call);
    if (live == NULL || !live->streaming || live->over)
        return false;
    live->gone = true;
    if (live->reading || (live->sleeping && !live_hush(live->listener)))
        return false; // whoever resumes the exchange finds that nobody is there
    live->sleeping = false;
    DISREGARD(finish(data, false));
    return true;
}

// ---- Pieces ------------------------------------------------------------------------------------

// True: the piece is with the client, and the stream may go on. Else *step says what comes.
static bool sent(struct data *data, const struct slice *parts, size_t count, enum data_step *step)
{
    switch (http_stream_write(data->exchange, parts, count)) {
    case HTTP_PIECE_TAKEN:
        return true;
    case HTTP_PIECE_WAITS:
        data->live->waiting = true;
        *step = DATA_WAITS;
        return false;
    case HTTP_PIECE_LOST:
        break;
    }
    *step = finish(data, false);
    return false;
}

// What the body has.
static bool sent_body(struct data *data, enum data_step *step)
{
    struct slice body = buf_view(&data->body);
    if (data->body.failed) {
        *step = finish(data, false);
        return false;
    }
    return body.len == 0 || sent(data, &body, 1, step);
}

enum data_step data_drained(struct data *data)
{
    data->live->waiting = false;
    let_go_of_blocks(data->live);
    return go_on(data);
}

// ---- The result --------------------------------------------------------------------------------

static enum data_step show(struct data *data)
{
    struct data_live *live = data->live;
    if (!live_result_open(live->listener, &live->result, &data->error))
        return fail(data);
    live->phase = LIVE_SHOWS;
    live->shown = live->seen = 0;
    data->pattern->after = VALUE_NONE;
    return go_on(data);
}

void data_live_page_begin(struct data *data)
{
    struct data_live *live = data->live;
    live->seen = live->shown;
    live_page_begin(live->question, live->shown);
    if (live->reset != NULL && live->shown == 0)
        live_write_reset(live->reset, &data->body);
}

bool data_live_item(struct data *data, struct slice item, struct steps *steps)
{
    struct data_live *live = data->live;
    bool shown;
    // Until the result is whole, its client can only begin again.
    if (live->seen == 0 && live->reset == NULL)
        buf_text(&data->body, "id: -\n");
    size_t before = data->body.len;
    if (!live_write_item(live->question, item, steps, &shown, &data->body) || data->body.failed)
        return error_budget(&data->error);
    live->seen += shown;
    if (!shown && live->seen == 0 && live->reset == NULL)
        data->body.len = before - (sizeof("id: -\n") - 1);
    return true;
}

struct store_snapshot *data_live_snapshot(const struct data *data)
{
    return data->live->result.snapshot;
}

// The result is whole.
static void follow(struct data *data)
{
    struct data_live *live = data->live;
    live_write_ready(live->question, live->result.sequence, live->result.time_ms, live->shown,
                     &data->body);
    live_begin(live->listener, live->result.sequence, live->result.time_ms);
    live_result_close(live->listener, &live->result);
    live->phase = LIVE_FOLLOWS;
    live->reset = NULL;
}

enum data_step data_live_page(struct data *data)
{
    struct data_live *live = data->live;
    struct data_pattern *pattern = data->pattern;
    enum data_step step;
    live->reading = false;
    if (live->gone || data->error.code != ERR_NONE)
        return fail(data);
    live->shown = live->seen;
    uint64_t limit = live_question_limit(live->question);
    buf_clear(&live->after);
    buf_slice(&live->after, pattern->read.last);
    pattern->after = buf_view(&live->after);
    if (live->after.len == 0 || (limit > 0 && live->shown >= limit))
        follow(data);
    api_call_reset(&data->tasks[0].call);
    return sent_body(data, &step) ? go_on(data) : step;
}

static enum data_step next_page(struct data *data)
{
    struct data_live *live = data->live;
    if (api_clock_now(data->service->api) - live->result.time_ms > LIVE_SNAPSHOT_MS)
        return finish(data, false); // too slow: others pay for what the snapshot keeps
    live->reading = true;
    return data_pattern_read(data);
}

// ---- Changes -----------------------------------------------------------------------------------

static enum data_step catch_up(struct data *data)
{
    buf_clear(&data->body);
    if (!live_catch_up(data->live->listener, &data->body, &data->error))
        data->live->gone = true;
    return DATA_READY;
}

// Begins the result again. The client is told why.
static enum data_step begin_again(struct data *data, const char *why)
{
    live_count_reset(data->service->live);
    data->live->reset = why;
    return show(data);
}

// One thing after the other, until the client or the table has to be waited for.
static enum data_step follow_on(struct data *data)
{
    static const struct slice beat = {(const uint8_t *)":\n\n", 3};
    struct data_live *live = data->live;
    enum data_step step;
    struct slice parts[HTTP_PIECE_PARTS];
    for (;;) {
        // Policies change, and sessions end: who comes again is asked again.
        if (data->caller != NULL && api_clock_now(data->service->api) - live->asked_ms >
                                        LIMIT_LIVE_CALLER_S * INT64_C(1000))
            return finish(data, true);
        switch (
            live_next(live->listener, live->blocks, COUNT_OF(live->blocks), &live->block_count)) {
        case LIVE_IDLE:
            live->sleeping = true;
            return DATA_WAITS;
        case LIVE_BLOCKS:
            for (size_t i = 0; i < live->block_count; i++)
                parts[i] = live_block_text(live->blocks[i]);
            if (!sent(data, parts, live->block_count, &step))
                return step;
            let_go_of_blocks(live);
            break;
        case LIVE_BEHIND:
            live->reading = true;
            data->later = catch_up;
            return DATA_LATER;
        case LIVE_BEAT:
            if (!sent(data, &beat, 1, &step))
                return step;
            break;
        case LIVE_RESET:
            return begin_again(data, "the changes since are not kept any more");
        case LIVE_READY:
        case LIVE_ENDED:
            return finish(data, true);
        }
    }
}

// ---- The stream --------------------------------------------------------------------------------

static enum data_step go_on(struct data *data)
{
    struct data_live *live = data->live;
    if (live->gone)
        return finish(data, false);
    return live->phase == LIVE_SHOWS ? next_page(data) : follow_on(data);
}

// The client says what it has seen last: the stream goes on behind that, if it can.
static enum data_step begin(struct data *data)
{
    struct data_live *live = data->live;
    const struct slice *id = http_header_find(&data->exchange->request, SLICE_LIT("last-event-id"));
    uint64_t sequence;
    int64_t time_ms;
    if (id == NULL || id->len == 0)
        return show(data);
    // What was among the first then is not known any more.
    if (live_question_limit(live->question) > 0)
        return begin_again(data, "a limited result begins anew");
    if (!live_resume(live->question, *id, &sequence, &time_ms))
        return begin_again(data, "the changes since are not known");
    live_count_resume(data->service->live);
    live_begin(live->listener, sequence, time_ms);
    live->phase = LIVE_FOLLOWS;
    buf_clear(&data->body);
    buf_text(&data->body, ": resumed\n\n");
    enum data_step step;
    return sent_body(data, &step) ? go_on(data) : step;
}

enum data_step data_stream(struct data *data)
{
    struct data_live *live = data->live;
    enum data_step step;
    data->pooled = false;
    if (!live->streaming) {
        live->streaming = true;
        return begin(data);
    }
    live->reading = false;
    if (live->gone)
        return finish(data, false);
    return sent_body(data, &step) ? go_on(data) : step;
}

// The table keeps its changes, or will not.
static enum data_step opened(struct data *data)
{
    struct data_live *live = data->live;
    switch (live_log(live->listener)) {
    case LIVE_READY:
        break;
    case LIVE_IDLE:
        live->sleeping = true;
        return DATA_WAITS;
    default:
        return data_answer_problem(
            data, (struct data_problem){.kind = DATA_UNAVAILABLE,
                                        .detail = "The table cannot keep its changes now"});
    }
    data->status = 200;
    data->type = SLICE_LIT("text/event-stream");
    buf_text(&data->headers, "Cache-Control: no-store\r\nX-Accel-Buffering: no\r\n");
    return DATA_STREAM;
}

enum data_step data_live_woken(struct data *data)
{
    data->live->sleeping = false;
    return data->live->phase == LIVE_OPENS ? opened(data) : go_on(data);
}

static bool refuse(struct data *data, const char *why)
{
    return error_validation(&data->error, "%s", why);
}

// A result is followed by images, not on behalf of anyone: it is not for those who see a part.
static bool check_policies(struct data *data, const struct model_access *access)
{
    const struct caller *caller = data->caller;
    if (caller == NULL || caller->warn || !model_table_policed(access->table) ||
        call_bypasses(caller, data->tasks[0].call.region, access->table->name,
                      api_clock_now(data->service->api), &data->arena))
        return true;
    return error_set(&data->error, ERR_ACCESS_DENIED,
                     "The model of table %.*s has policies: following its patterns needs "
                     "dolmen:BypassModelPolicies",
                     SLICE_FMT(access->table->name));
}

static bool understand(struct data *data, const struct model_access *access)
{
    struct query_options options = {.cursor = NULL};
    const struct slice *values;
    if (!check_policies(data, access) || !data_question(data, access, &options, &values))
        return false;
    if (access->count)
        return refuse(data, "A pattern that counts has no events");
    if (options.cursor != NULL)
        return refuse(data, "/cursor: events come from the whole result; leave the cursor out");
    struct live_ask ask = {.access = access,
                           .values = values,
                           .limit = options.access.limit,
                           .keys = options.keys,
                           .bound = data->bound,
                           .tenant = data->tenant};
    struct data_live *live = data->live;
    live->question = live_question_new(data->service->live, &ask, &data->error);
    if (live->question == NULL)
        return false;
    if (live_question_limit(live->question) > LIVE_WINDOW_MAX) {
        live_question_free(live->question);
        return refuse(data, "/limit: at most 10000 items of a pattern can be followed");
    }
    live->listener = live_listen(data->service->live, live->question, on_wake, data, &data->error);
    return live->listener != NULL;
}

enum data_step data_live(struct data *data, const struct model_access *access)
{
    data->live = calloc(1, sizeof(*data->live));
    data->pattern = arena_zalloc(&data->arena, 1, sizeof(*data->pattern));
    if (data->live == NULL || data->pattern == NULL)
        return data_answer_problem(data, data_problem_memory(data));
    buf_init(&data->live->after, 1 << 20);
    if (!data_tasks_new(data, 1))
        return DATA_READY;
    if (!understand(data, access))
        return data_answer_error(data);
    data->pattern->plan = live_question_plan(data->live->question);
    if (!data_pattern_ask(data))
        return data_answer_error(data);
    data->live->asked_ms = api_clock_now(data->service->api);
    return opened(data);
}
