// See ticker.h. Delays come in through a locked list and an async; the loop keeps them sorted by
// when they are due, and one timer runs for the first of them.
#include "server/ticker.h"

#include <stdlib.h>
#include <uv.h>

enum { SECOND_MS = 1000 };

struct ticker {
    uv_loop_t loop;
    uv_thread_t thread;
    uv_async_t wake;
    uv_timer_t second;
    uv_timer_t first; // until the first delay is due
    void (*every_second)(void *context);
    void *context;
    struct ticker_delay *waiting; // sorted; the thread's

    uv_mutex_t lock;
    struct ticker_delay *arrived; // due counts from arrival until the loop takes them
    bool hurry;
    bool stop;
};

static void on_due(uv_timer_t *timer);

static void first_arm(struct ticker *ticker, bool hurry)
{
    if (ticker->waiting == NULL)
        return;
    uint64_t now = uv_now(&ticker->loop);
    uint64_t due = ticker->waiting->due;
    uint64_t left = hurry || due <= now ? 0 : due - now;
    ensure(uv_timer_start(&ticker->first, on_due, left, 0) == 0);
}

static void resume_due(struct ticker *ticker, bool hurry)
{
    uint64_t now = uv_now(&ticker->loop);
    while (ticker->waiting != NULL && (hurry || ticker->waiting->due <= now)) {
        struct ticker_delay *delay = ticker->waiting;
        ticker->waiting = delay->next; // before its owner has it again
        http_exchange_resume(delay->exchange);
    }
    first_arm(ticker, hurry);
}

static void on_due(uv_timer_t *timer)
{
    resume_due(timer->data, false);
}

static void insert(struct ticker *ticker, struct ticker_delay *delay)
{
    struct ticker_delay **at = &ticker->waiting;
    while (*at != NULL && (*at)->due <= delay->due)
        at = &(*at)->next;
    delay->next = *at;
    *at = delay;
}

static void on_wake(uv_async_t *wake)
{
    struct ticker *ticker = wake->data;
    uv_mutex_lock(&ticker->lock);
    struct ticker_delay *arrived = ticker->arrived;
    ticker->arrived = NULL;
    bool hurry = ticker->hurry;
    bool stop = ticker->stop;
    uv_mutex_unlock(&ticker->lock);
    uv_update_time(&ticker->loop);
    while (arrived != NULL) {
        struct ticker_delay *next = arrived->next;
        arrived->due += uv_now(&ticker->loop);
        insert(ticker, arrived);
        arrived = next;
    }
    resume_due(ticker, hurry);
    if (stop)
        uv_stop(&ticker->loop);
}

static void on_second(uv_timer_t *timer)
{
    struct ticker *ticker = timer->data;
    ticker->every_second(ticker->context);
}

static void run(void *argument)
{
    struct ticker *ticker = argument;
    (void)uv_run(&ticker->loop, UV_RUN_DEFAULT);
}

static void handle_close(uv_handle_t *handle, void *context)
{
    (void)context;
    uv_close(handle, NULL);
}

static void release(struct ticker *ticker)
{
    uv_walk(&ticker->loop, handle_close, NULL);
    (void)uv_run(&ticker->loop, UV_RUN_DEFAULT);
    ensure(uv_loop_close(&ticker->loop) == 0);
    uv_mutex_destroy(&ticker->lock);
    free(ticker);
}

struct ticker *ticker_start(void (*every_second)(void *context), void *context)
{
    struct ticker *ticker = calloc(1, sizeof(*ticker));
    if (ticker == NULL)
        return NULL;
    ticker->every_second = every_second;
    ticker->context = context;
    if (uv_loop_init(&ticker->loop) != 0) {
        free(ticker);
        return NULL;
    }
    ensure(uv_mutex_init(&ticker->lock) == 0);
    ticker->wake.data = ticker;
    ticker->second.data = ticker;
    ticker->first.data = ticker;
    ensure(uv_timer_init(&ticker->loop, &ticker->second) == 0);
    ensure(uv_timer_init(&ticker->loop, &ticker->first) == 0);
    if (every_second != NULL)
        ensure(uv_timer_start(&ticker->second, on_second, SECOND_MS, SECOND_MS) == 0);
    if (uv_async_init(&ticker->loop, &ticker->wake, on_wake) != 0 ||
        uv_thread_create(&ticker->thread, run, ticker) != 0) {
        release(ticker);
        return NULL;
    }
    return ticker;
}

void ticker_resume_later(struct ticker *ticker, struct ticker_delay *delay,
                         struct http_exchange *exchange, unsigned ms)
{
    delay->exchange = exchange;
    delay->due = ms;
    uv_mutex_lock(&ticker->lock);
    delay->next = ticker->arrived;
    ticker->arrived = delay;
    uv_mutex_unlock(&ticker->lock);
    (void)uv_async_send(&ticker->wake);
}

void ticker_hurry(struct ticker *ticker)
{
    uv_mutex_lock(&ticker->lock);
    ticker->hurry = true;
    uv_mutex_unlock(&ticker->lock);
    (void)uv_async_send(&ticker->wake);
}

void ticker_stop(struct ticker *ticker)
{
    if (ticker == NULL)
        return;
    uv_mutex_lock(&ticker->lock);
    ticker->stop = true;
    uv_mutex_unlock(&ticker->lock);
    (void)uv_async_send(&ticker->wake);
    ensure(uv_thread_join(&ticker->thread) == 0);
    ensure(ticker->waiting == NULL);
    release(ticker);
}
