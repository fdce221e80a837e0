// One event loop and its thread. Three things reach it from other threads, all through
// one eventfd: accepted sockets (a locked array), resumed exchanges (a lock-free
// list), and the wish to stop. A uv_async would do, but the loop it wakes spins until the
// sender is back from its system call, which on a busy machine can take long.
//
// The handles of a loop are closed by loop_release, after its thread has ended and nobody can be
// inside http_exchange_resume any more; so waking a loop is always safe.
#include "http/http_internal.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

// ---- The headers of all answers --------------------------------------------------------------

struct slice loop_headers(struct http_loop *loop)
{
    time_t now = time(NULL);
    if (loop->headers_second != now) {
        struct tm utc;
        char date[48];
        const char *name = loop->server->options.server_name;
        (void)gmtime_r(&now, &utc);
        size_t len = strftime(date, sizeof(date), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &utc);
        loop->headers_second = now;
        buf_clear(&loop->headers);
        if (name != NULL)
            buf_printf(&loop->headers, "Server: %s\r\n", name);
        buf_add(&loop->headers, date, len);
    }
    return buf_view(&loop->headers);
}

// ---- From other threads --------------------------------------------------------------------

static void loop_wake(struct http_loop *loop)
{
    // It fails only when the counter is full, and then the loop is awake already.
    const uint64_t one = 1;
    ssize_t written = write(loop->wake_fd, &one, sizeof(one));
    (void)written;
}

void loop_give_socket(struct http_loop *loop, int fd)
{
    uv_mutex_lock(&loop->lock);
    bool fits = loop->arrival_count < loop->arrival_cap;
    if (!fits) {
        size_t cap = loop->arrival_cap == 0 ? 64 : loop->arrival_cap * 2;
        int *grown = realloc(loop->arrivals, cap * sizeof(*grown));
        if (grown != NULL) {
            loop->arrivals = grown;
            loop->arrival_cap = cap;
            fits = true;
        }
    }
    if (fits)
        loop->arrivals[loop->arrival_count++] = fd;
    uv_mutex_unlock(&loop->lock);
    if (!fits) {
        loop_connection_gone(loop);
        (void)close(fd);
        return;
    }
    loop_wake(loop);
}

void loop_ask_stop(struct http_loop *loop)
{
    uv_mutex_lock(&loop->lock);
    loop->stop_asked = true;
    uv_mutex_unlock(&loop->lock);
    loop_wake(loop);
}

void http_exchange_resume(struct http_exchange *exchange)
{
    // Once the exchange is in the list its loop may run it, so nothing of it is touched after that.
    struct http_loop *loop = ((struct connection *)exchange)->loop;
    struct http_exchange *newest = atomic_load_explicit(&loop->resumed, memory_order_relaxed);
    do {
        exchange->next = newest;
    } while (!atomic_compare_exchange_weak_explicit(&loop->resumed, &newest, exchange,
                                                    memory_order_release, memory_order_relaxed));
    // Whoever made the list non-empty wakes the loop; the others ride along.
    if (newest == NULL)
        loop_wake(loop);
}

unsigned http_exchange_loop(const struct http_exchange *exchange)
{
    return ((const struct connection *)exchange)->loop->index;
}

// ---- On the loop's thread ------------------------------------------------------------------

// The list is taken whole, newest first, and run oldest first. An exchange may be resumed again, or
// gone with its connection, as soon as it has run; so the next one is looked up before that.
static void resumed_run(struct http_loop *loop)
{
    struct http_exchange *newest =
        atomic_exchange_explicit(&loop->resumed, NULL, memory_order_acquire);
    struct http_exchange *oldest = NULL;
    while (newest != NULL) {
        struct http_exchange *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    const struct http_handler *handler = &loop->server->options.handler;
    while (oldest != NULL) {
        struct http_exchange *next = oldest->next;
        struct connection *c = (struct connection *)oldest;
        void (*worked)(struct connection *) = c->worked;
        c->worked = NULL;
        if (worked != NULL)
            worked(c);
        else if (oldest->taker != NULL)
            oldest->taker->resume(oldest);
        else
            handler->resume(oldest, handler->context);
        oldest = next;
    }
}

// Each that was in the list when the turn began gets its turn; those that come back, the next.
static void on_ready(uv_idle_t *idle)
{
    struct http_loop *loop = idle->data;
    const struct connection *last = loop->ready_last;
    loop->greetings = GREETINGS;
    for (bool more = loop->ready != NULL; more;) {
        struct connection *c = loop->ready;
        more = c != last;
        loop_unqueue(c);
        connection_advance(c);
    }
    if (loop->ready == NULL)
        (void)uv_idle_stop(idle);
}

void loop_queue(struct connection *c)
{
    struct http_loop *loop = c->loop;
    c->queued = true;
    c->ready_after = NULL;
    c->ready_before = loop->ready_last;
    if (loop->ready_last != NULL)
        loop->ready_last->ready_after = c;
    else
        loop->ready = c;
    loop->ready_last = c;
    (void)uv_idle_start(&loop->ready_idle, on_ready); // nothing, if it runs already
}

void loop_unqueue(struct connection *c)
{
    struct http_loop *loop = c->loop;
    c->queued = false;
    if (c->ready_before != NULL)
        c->ready_before->ready_after = c->ready_after;
    else
        loop->ready = c->ready_after;
    if (c->ready_after != NULL)
        c->ready_after->ready_before = c->ready_before;
    else
        loop->ready_last = c->ready_before;
}

// The budget has refused somebody since the last tick: ends the connection that has held memory
// longest without moving, one at a time.
static void relieve(struct http_loop *loop, uint64_t now)
{
    uint64_t refused = budget_refused(loop->server->options.budget);
    bool wanted = refused != loop->refused;
    struct connection *worst = NULL;
    uint64_t longest = 0;
    loop->refused = refused;
    for (struct connection *c = wanted ? loop->connections : NULL; c != NULL; c = c->after) {
        uint64_t stalled = connection_stalled(c, now);
        if (stalled > longest) {
            longest = stalled;
            worst = c;
        }
    }
    if (worst != NULL)
        connection_cut(worst);
}

static void on_tick(uv_timer_t *timer)
{
    struct http_loop *loop = timer->data;
    uint64_t now = uv_now(&loop->uv);
    bool force = loop->stopping && now - loop->stop_since >= HTTP_STOP_GRACE_MS;
    loop->cuts = TICK_CUTS;
    for (struct connection *c = loop->connections; c != NULL;) {
        struct connection *after = c->after; // closing takes effect later, but be plain about it
        if (loop->stopping)
            connection_stop(c, force);
        connection_tick(c, now);
        c = after;
    }
    relieve(loop, now);
    if (!loop->stopping)
        loop_accept_again(loop);
    loop_maybe_end(loop);
}

static void stop_begin(struct http_loop *loop)
{
    // Not at an end before STOP_SETTLE_MS: requests that were sent before anybody could know
    // arrive.
    loop->stopping = true;
    loop->stop_since = uv_now(&loop->uv);
    loop_accept_stop(loop);
    ensure(uv_timer_start(&loop->tick, on_tick, STOP_SETTLE_MS, STOP_SETTLE_MS) == 0);
}

void loop_maybe_end(struct http_loop *loop)
{
    bool settled = loop->stopping && uv_now(&loop->uv) - loop->stop_since >= STOP_SETTLE_MS;
    if (settled && loop->connections == NULL)
        uv_stop(&loop->uv);
}

static void on_wake(uv_poll_t *wake, int status, int events)
{
    (void)status;
    (void)events;
    struct http_loop *loop = wake->data;
    // What is written from here on wakes the loop again.
    uint64_t wakes;
    ssize_t got = read(loop->wake_fd, &wakes, sizeof(wakes));
    (void)got;
    resumed_run(loop);
    uv_mutex_lock(&loop->lock);
    int *arrivals = loop->arrivals;
    size_t count = loop->arrival_count;
    bool stop = loop->stop_asked && !loop->stopping;
    loop->arrivals = NULL;
    loop->arrival_count = loop->arrival_cap = 0;
    uv_mutex_unlock(&loop->lock);
    for (size_t i = 0; i < count; i++)
        connection_open(loop, arrivals[i]);
    free(arrivals);
    if (stop)
        stop_begin(loop);
}

static void on_turn(uv_prepare_t *turn)
{
    const struct http_handler *handler = &((struct http_loop *)turn->data)->server->options.handler;
    handler->turn(handler->context);
}

static void loop_main(void *context)
{
    struct http_loop *loop = context;
    (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
}

// ---- Life ----------------------------------------------------------------------------------

bool loop_init(struct http_loop *loop, struct http_server *server, unsigned index)
{
    loop->server = server;
    loop->index = index;
    loop->headers_second = -1;
    buf_init(&loop->headers, HTTP_HEAD_MAX);
    if (uv_loop_init(&loop->uv) != 0)
        return false;
    bool tls = server->options.tls != NULL;
    loop->gzip = http_gzip_new();
    loop->sealed_in = tls ? malloc(READ_BITE) : NULL;
    buf_init(&loop->sealed_out, SIZE_MAX / 2);
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->gzip == NULL || loop->wake_fd < 0 || (tls && loop->sealed_in == NULL) ||
        uv_poll_init(&loop->uv, &loop->wake, loop->wake_fd) != 0) {
        http_gzip_free(loop->gzip);
        free(loop->sealed_in);
        if (loop->wake_fd >= 0)
            (void)close(loop->wake_fd);
        (void)uv_loop_close(&loop->uv);
        return false;
    }
    ensure(uv_poll_start(&loop->wake, UV_READABLE, on_wake) == 0);
    ensure(uv_mutex_init(&loop->lock) == 0);
    ensure(uv_timer_init(&loop->uv, &loop->tick) == 0);
    ensure(uv_idle_init(&loop->uv, &loop->ready_idle) == 0);
    ensure(uv_timer_start(&loop->tick, on_tick, TICK_MS, TICK_MS) == 0);
    loop->turn.data = loop;
    ensure(uv_prepare_init(&loop->uv, &loop->turn) == 0);
    if (server->options.handler.turn != NULL)
        ensure(uv_prepare_start(&loop->turn, on_turn) == 0);
    loop->wake.data = loop;
    loop->tick.data = loop;
    loop->ready_idle.data = loop;
    return true;
}

bool loop_start(struct http_loop *loop)
{
    loop->started = uv_thread_create(&loop->thread, loop_main, loop) == 0;
    return loop->started;
}

static void handle_close(uv_handle_t *handle, void *context)
{
    (void)context;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

void loop_release(struct http_loop *loop)
{
    ensure(loop->connections == NULL);
    uv_walk(&loop->uv, handle_close, NULL);
    (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
    ensure(uv_loop_close(&loop->uv) == 0);
    (void)close(loop->wake_fd);
    for (size_t i = 0; i < loop->arrival_count; i++)
        (void)close(loop->arrivals[i]);
    free(loop->arrivals);
    buf_release(&loop->headers);
    buf_release(&loop->sealed_out);
    free(loop->sealed_in);
    uv_mutex_destroy(&loop->lock);
    http_gzip_free(loop->gzip);
}
