// See bench_run.h. One thread does everything: it shares the machine with the server, and what
// it costs is taken from the server. Everything belongs to the call of bench_run.
//
// A run has three phases: warming up (answers do not count), measuring, and draining (no new
// requests; the answers still under way do not count). With a number of requests in place of a
// time, all is measuring.
#include "bench/bench_run.h"

#include "base/wait.h"
#include "bench/bench_http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    EVENTS = 128,
    SILENCE_MS = 60000,        // this long without any answer: the server is gone
    BODY_MAX = 4 << 20,        // of a request
    LOOK_MAX = 4096,           // answers up to this size are all checked …
    LOOK_EVERY = 61,           // … of larger ones, one in so many
    BROKEN_IN_A_ROW_MAX = 500, // connections that break before they bring an answer
    SETTLE_STEP_MS = 100,
    SETTLE_STEPS = 100, // at most ten seconds
};

enum phase { WARM, MEASURE, DRAIN };

struct run {
    const struct bench_plan *plan;
    const struct bench_workload *workload;
    struct bench_source *source;
    struct bench_result *result;
    struct bench_connection *connections;
    struct buf body;
    struct sign_cache *cache;
    int poll;
    enum phase phase;
    uint64_t phase_start_ns;
    uint64_t told_ns;
    uint64_t started; // requests
    uint64_t answers;
    unsigned waiting; // connections with a request under way
    unsigned broken;
    char *error;
    size_t error_size;
};

static bool run_fail(struct run *run, const char *what)
{
    (void)snprintf(run->error, run->error_size, "%s", what);
    return false;
}

// ---- Phases --------------------------------------------------------------------------------

static void usage_read(struct run *run, struct bench_usage *out)
{
    const struct bench_plan *plan = run->plan;
    run->result->has_usage =
        plan->server > 0 && bench_usage_read(plan->server, &plan->counters, out);
}

static void measure_begin(struct run *run, uint64_t now)
{
    *run->result = (struct bench_result){.workload = run->workload};
    usage_read(run, &run->result->before);
    run->phase = MEASURE;
    run->phase_start_ns = now;
}

static void measure_end(struct run *run, uint64_t now)
{
    usage_read(run, &run->result->after);
    run->result->seconds = (double)(now - run->phase_start_ns) / 1e9;
    run->phase = DRAIN;
}

static void phase_turn(struct run *run, uint64_t now)
{
    const struct bench_plan *plan = run->plan;
    uint64_t passed = now - run->phase_start_ns;
    uint64_t length = plan->seconds * UINT64_C(1000000000);
    if (plan->requests > 0) {
        if (run->phase == MEASURE && run->started == plan->requests && run->waiting == 0)
            measure_end(run, now);
    } else if (run->phase == WARM && passed >= length / 5) {
        measure_begin(run, now);
    } else if (run->phase == MEASURE && passed >= length) {
        measure_end(run, now);
    }
}

static void progress_tell(struct run *run, uint64_t now)
{
    if (!run->plan->progress || now - run->told_ns < UINT64_C(500000000))
        return;
    run->told_ns = now;
    if (run->plan->requests > 0)
        (void)fprintf(stderr, "\r%-10s %3.0f %% ", run->workload->name,
                      100.0 * (double)run->answers / (double)run->plan->requests);
    else
        (void)fprintf(stderr, "\r%-10s %3.0f s ", run->workload->name,
                      (double)(now - run->phase_start_ns) / 1e9);
}

// ---- Connections ---------------------------------------------------------------------------

static bool connection_watch(struct run *run, struct bench_connection *connection, int how,
                             bool writable)
{
    struct epoll_event event = {.data.ptr = connection};
    event.events = writable ? EPOLLIN | EPOLLOUT : EPOLLIN;
    if (epoll_ctl(run->poll, how, connection->link.fd, &event) == 0)
        return true;
    return run_fail(run, "epoll_ctl failed");
}

static bool connection_renew(struct run *run, struct bench_connection *connection)
{
    bench_connection_close(connection);
    return bench_connection_open(connection, &run->plan->address, run->plan->trust, run->error,
                                 run->error_size) &&
           connection_watch(run, connection, EPOLL_CTL_ADD, false);
}

static bool run_has_more(const struct run *run)
{
    return run->phase != DRAIN && (run->plan->requests == 0 || run->started < run->plan->requests);
}

// Sends the next request, if there is one to send.
static bool connection_next(struct run *run, struct bench_connection *connection)
{
    if (!run_has_more(run))
        return true;
    buf_clear(&run->body);
    bench_next(run->workload, run->source, &run->body, &connection->request);
    bench_connection_frame(connection, &run->plan->address, run->plan->keys, run->cache,
                           buf_view(&run->body));
    if (run->body.failed || connection->out.failed)
        return run_fail(run, "a request is too large; make --size smaller");
    run->started++;
    run->waiting++;
    connection->started_ns = (uint64_t)monotonic_ns();
    // What cannot be written now, or never, shows as an event.
    if (bench_connection_write(connection) == BENCH_WAIT)
        return connection_watch(run, connection, EPOLL_CTL_MOD, true);
    return true;
}

// ---- Answers -------------------------------------------------------------------------------

static bool answer_is_right(const struct run *run, const struct bench_connection *connection)
{
    struct slice body = bench_connection_body(connection);
    if (connection->status != 200)
        return false;
    if (body.len > LOOK_MAX && run->answers % LOOK_EVERY != 0)
        return true;
    const char *expect = connection->request.expect;
    return memmem(body.ptr, body.len, expect, strlen(expect)) != NULL;
}

static void error_count(struct run *run, const char *what, struct slice body)
{
    struct bench_result *result = run->result;
    result->errors++;
    if (result->sample[0] == 0)
        (void)snprintf(result->sample, sizeof(result->sample), "%s%.*s", what,
                       (int)(body.len < BENCH_SAMPLE ? body.len : BENCH_SAMPLE),
                       (const char *)body.ptr);
}

static void answer_count(struct run *run, const struct bench_connection *connection, uint64_t now)
{
    struct bench_result *result = run->result;
    run->answers++;
    if (run->phase != MEASURE)
        return;
    if (!answer_is_right(run, connection)) {
        char status[32];
        (void)snprintf(status, sizeof(status), "HTTP %d: ", connection->status);
        error_count(run, status, bench_connection_body(connection));
        return;
    }
    result->requests++;
    result->written += connection->request.written;
    bench_histogram_add(&result->latencies, now - connection->started_ns);
}

static bool connection_broke(struct run *run, struct bench_connection *connection)
{
    bool was_waiting = connection->sent > 0 || connection->out.len > 0;
    if (was_waiting) {
        run->waiting--;
        error_count(run, "the server closed the connection", slice_of("", 0));
    }
    if (++run->broken > BROKEN_IN_A_ROW_MAX)
        return run_fail(run, "the server keeps closing connections");
    return connection_renew(run, connection) && connection_next(run, connection);
}

static bool connection_turn(struct run *run, struct bench_connection *connection, uint32_t events)
{
    enum bench_progress progress = BENCH_WAIT;
    if ((events & EPOLLOUT) != 0) {
        progress = bench_connection_write(connection);
        if (progress == BENCH_ANSWER && !connection_watch(run, connection, EPOLL_CTL_MOD, false))
            return false;
    }
    if ((events & ~(uint32_t)EPOLLOUT) != 0 && progress != BENCH_BROKEN)
        progress = bench_connection_read(connection);
    else if (progress == BENCH_ANSWER)
        return true;
    if (progress == BENCH_BROKEN)
        return connection_broke(run, connection);
    if (progress == BENCH_WAIT)
        return true;
    uint64_t now = (uint64_t)monotonic_ns();
    run->broken = 0;
    run->waiting--;
    answer_count(run, connection, now);
    buf_clear(&connection->out);
    connection->sent = 0;
    phase_turn(run, now);
    progress_tell(run, now);
    if (connection->closing && !connection_renew(run, connection))
        return false;
    return connection_next(run, connection);
}

// Waits until the server does nothing more, so that the work a store puts off (its compactions)
// falls neither into the next workload nor out of the bytes that were written for this one.
static void run_settle(struct run *run)
{
    struct bench_usage last = run->result->after;
    for (int i = 0; run->result->has_usage && i < SETTLE_STEPS; i++) {
        struct bench_usage now;
        sleep_ms(SETTLE_STEP_MS);
        if (!bench_usage_read(run->plan->server, &run->plan->counters, &now))
            return;
        run->result->after.bytes_written = now.bytes_written;
        if (i > 0 && now.cpu_seconds - last.cpu_seconds < SETTLE_STEP_MS / 1000.0 / 10)
            return;
        last = now;
    }
}

// ---- The loop ------------------------------------------------------------------------------

static bool run_open(struct run *run)
{
    for (unsigned i = 0; i < run->plan->connections; i++) {
        if (!connection_renew(run, &run->connections[i]))
            return false;
    }
    uint64_t now = (uint64_t)monotonic_ns();
    run->phase_start_ns = now;
    if (run->plan->requests > 0)
        measure_begin(run, now);
    for (unsigned i = 0; i < run->plan->connections; i++) {
        if (!connection_next(run, &run->connections[i]))
            return false;
    }
    return true;
}

static bool run_loop(struct run *run)
{
    while (run->waiting > 0) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(run->poll, events, EVENTS, SILENCE_MS);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return run_fail(run, "the server has not answered for a minute");
        for (int i = 0; i < count; i++) {
            if (!connection_turn(run, events[i].data.ptr, events[i].events))
                return false;
        }
    }
    if (run->phase == MEASURE) // the last connections broke
        measure_end(run, (uint64_t)monotonic_ns());
    return true;
}

bool bench_run(const struct bench_plan *plan, const struct bench_workload *workload,
               struct bench_source *source, struct bench_result *result, char *error,
               size_t error_size)
{
    struct run run = {
        .plan = plan,
        .workload = workload,
        .source = source,
        .result = result,
        .error = error,
        .error_size = error_size,
        .connections = calloc(plan->connections, sizeof(struct bench_connection)),
        .poll = epoll_create1(EPOLL_CLOEXEC),
    };
    *result = (struct bench_result){.workload = workload};
    buf_init(&run.body, BODY_MAX);
    run.cache = sign_cache_new();
    bool done = false;
    if (run.connections == NULL || run.poll < 0) {
        (void)run_fail(&run, "there is no memory, or no file descriptor");
    } else {
        for (unsigned i = 0; i < plan->connections; i++)
            bench_connection_init(&run.connections[i]);
        done = run_open(&run) && run_loop(&run);
        if (done)
            run_settle(&run);
        for (unsigned i = 0; i < plan->connections; i++)
            bench_connection_release(&run.connections[i]);
    }
    if (plan->progress)
        (void)fprintf(stderr, "\r%-20s\r", "");
    if (run.poll >= 0)
        (void)close(run.poll);
    sign_cache_free(run.cache);
    buf_release(&run.body);
    free(run.connections);
    return done;
}
