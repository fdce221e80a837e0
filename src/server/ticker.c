// See ticker.h. Delays stand in a list, sorted by when they are due; the thread waits for the first
// of them, or for the next second.
#include "server/ticker.h"

#include "base/wait.h"

#include <stdlib.h>

struct ticker {
    pthread_t thread;
    void (*every_second)(void *context);
    void *context;

    pthread_mutex_t lock; // of all below
    pthread_cond_t wake;
    struct ticker_delay *waiting; // sorted
    bool hurry;
    bool stop;
};

// Resumes what is due, or everything. The lock is not held meanwhile: a delay's owner may have it
// back, and may wait again, as soon as its exchange is resumed.
static void resume_due(struct ticker *ticker)
{
    int64_t now = monotonic_ns();
    while (ticker->waiting != NULL && (ticker->hurry || ticker->waiting->due_ns <= now)) {
        struct http_exchange *exchange = ticker->waiting->exchange;
        ticker->waiting = ticker->waiting->next;
        ensure(pthread_mutex_unlock(&ticker->lock) == 0);
        http_exchange_resume(exchange);
        ensure(pthread_mutex_lock(&ticker->lock) == 0);
    }
}

static void *ticker_main(void *argument)
{
    struct ticker *ticker = argument;
    int64_t second = monotonic_ns() + SECOND_NS;
    ensure(pthread_mutex_lock(&ticker->lock) == 0);
    while (!ticker->stop) {
        resume_due(ticker);
        int64_t now = monotonic_ns();
        if (now >= second) {
            second = now + SECOND_NS;
            ensure(pthread_mutex_unlock(&ticker->lock) == 0);
            ticker->every_second(ticker->context);
            ensure(pthread_mutex_lock(&ticker->lock) == 0);
            continue; // what came meanwhile has woken nobody
        }
        const struct ticker_delay *first = ticker->waiting;
        (void)wait_until(&ticker->wake, &ticker->lock,
                         first != NULL && first->due_ns < second ? first->due_ns : second);
    }
    ensure(ticker->waiting == NULL);
    ensure(pthread_mutex_unlock(&ticker->lock) == 0);
    return NULL;
}

struct ticker *ticker_start(void (*every_second)(void *context), void *context)
{
    struct ticker *ticker = calloc(1, sizeof(*ticker));
    ensure_memory(ticker);
    ticker->every_second = every_second;
    ticker->context = context;
    ensure(pthread_mutex_init(&ticker->lock, NULL) == 0);
    wait_init(&ticker->wake);
    ensure_started(pthread_create(&ticker->thread, NULL, ticker_main, ticker) == 0);
    return ticker;
}

void ticker_resume_later(struct ticker *ticker, struct ticker_delay *delay,
                         struct http_exchange *exchange, unsigned ms)
{
    delay->exchange = exchange;
    delay->due_ns = monotonic_ns() + ms * MILLISECOND_NS;
    ensure(pthread_mutex_lock(&ticker->lock) == 0);
    struct ticker_delay **at = &ticker->waiting;
    while (*at != NULL && (*at)->due_ns <= delay->due_ns)
        at = &(*at)->next;
    delay->next = *at;
    *at = delay;
    ensure(pthread_cond_signal(&ticker->wake) == 0);
    ensure(pthread_mutex_unlock(&ticker->lock) == 0);
}

static void tell(struct ticker *ticker, bool *what)
{
    ensure(pthread_mutex_lock(&ticker->lock) == 0);
    *what = true;
    ensure(pthread_cond_signal(&ticker->wake) == 0);
    ensure(pthread_mutex_unlock(&ticker->lock) == 0);
}

void ticker_hurry(struct ticker *ticker)
{
    tell(ticker, &ticker->hurry);
}

void ticker_stop(struct ticker *ticker)
{
    if (ticker == NULL)
        return;
    tell(ticker, &ticker->stop);
    ensure(pthread_join(ticker->thread, NULL) == 0);
    ensure(pthread_cond_destroy(&ticker->wake) == 0);
    ensure(pthread_mutex_destroy(&ticker->lock) == 0);
    free(ticker);
}
