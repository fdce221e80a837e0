// See ticker.h. Delays stand in a list, sorted by when they are due. A worker looks at it when one
// comes, when the first is due, and once a second.
#include "server/ticker.h"

#include "base/wait.h"
#include "base/worker.h"

#include <stdlib.h>

struct ticker {
    struct worker worker;
    void (*every_second)(void *context);
    void *context;
    int64_t second_ns; // when it is called next

    pthread_mutex_t lock; // of all below
    struct ticker_delay *waiting;
    bool hurry;
};

// Takes the first delay if it is due; else NULL, and *next is when it is.
static struct http_exchange *take_due(struct ticker *ticker, int64_t now, int64_t *next)
{
    struct http_exchange *due = NULL;
    ensure(pthread_mutex_lock(&ticker->lock) == 0);
    struct ticker_delay *first = ticker->waiting;
    if (first != NULL && (ticker->hurry || first->due_ns <= now)) {
        // Once its exchange is resumed the delay is its owner's again, who may wait once more.
        due = first->exchange;
        ticker->waiting = first->next;
    } else if (first != NULL && first->due_ns < *next) {
        *next = first->due_ns;
    }
    ensure(pthread_mutex_unlock(&ticker->lock) == 0);
    return due;
}

static void tick(void *context)
{
    struct ticker *ticker = context;
    struct http_exchange *due;
    int64_t now = monotonic_ns();
    if (now >= ticker->second_ns) {
        ticker->second_ns = now + SECOND_NS;
        ticker->every_second(ticker->context);
    }
    int64_t next = ticker->second_ns;
    while ((due = take_due(ticker, now, &next)) != NULL)
        http_exchange_resume(due);
    worker_pace(&ticker->worker, 0, next > now ? (next - now) / MILLISECOND_NS + 1 : 1);
}

struct ticker *ticker_start(void (*every_second)(void *context), void *context)
{
    struct ticker *ticker = memory_zeroed(sizeof(*ticker));
    ticker->every_second = every_second;
    ticker->context = context;
    ticker->second_ns = monotonic_ns() + SECOND_NS;
    ensure(pthread_mutex_init(&ticker->lock, NULL) == 0);
    worker_start(&ticker->worker,
                 &(struct worker_plan){.work = tick, .context = ticker, .asked = true});
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
    ensure(pthread_mutex_unlock(&ticker->lock) == 0);
    worker_ask(&ticker->worker);
}

void ticker_hurry(struct ticker *ticker)
{
    ensure(pthread_mutex_lock(&ticker->lock) == 0);
    ticker->hurry = true;
    ensure(pthread_mutex_unlock(&ticker->lock) == 0);
    worker_ask(&ticker->worker);
}

void ticker_stop(struct ticker *ticker)
{
    if (ticker == NULL)
        return;
    worker_stop(&ticker->worker);
    ensure(ticker->waiting == NULL);
    ensure(pthread_mutex_destroy(&ticker->lock) == 0);
    free(ticker);
}
