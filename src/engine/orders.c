// Items that event loops ask for, of a store behind a network. A loop never waits: it leaves an
// order and turns to other requests. When its turn ends, all that was ordered by then, by whichever
// connection and loop, is read in one call by one of a few threads, and each order is told.
//
// While the readers wait for the network further orders gather, so the busier the server, the
// larger the groups, as with commits. A call is bounded in keys and bytes; the number of orders
// that wait is bounded, too. If a call fails all its orders hear of it: clients try again.
#include "engine/engine_internal.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    READERS = 4,
    GROUP_KEYS = 256,
    GROUP_BYTES = 4 << 20,
    WAITING_MAX = 16384,
};

struct orders {
    struct engine *engine;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct read_order *first; // the oldest
    struct read_order *last;
    size_t count;
    bool sent; // a turn has ended: what waits is to be read
    bool stopping;
    size_t threads;
    pthread_t thread[READERS];
};

// A thread that says when its turns end has its orders gathered until then; those of another are
// read at once.
static _Thread_local bool takes_turns;

bool engine_gathers(const struct engine *engine)
{
    return engine->orders != NULL;
}

// The lock is held.
static void send(struct orders *orders)
{
    if (orders->first == NULL || orders->sent)
        return;
    orders->sent = true;
    ensure(pthread_cond_signal(&orders->wake) == 0);
}

bool engine_order(struct engine *engine, struct read_order *order)
{
    struct orders *orders = engine->orders;
    order->next = NULL;
    ensure(pthread_mutex_lock(&orders->lock) == 0);
    bool fits = orders->count < WAITING_MAX;
    if (fits) {
        *(orders->first == NULL ? &orders->first : &orders->last->next) = order;
        orders->last = order;
        orders->count++;
        if (!takes_turns)
            send(orders);
    }
    ensure(pthread_mutex_unlock(&orders->lock) == 0);
    return fits || error_set(order->error, ERR_THROTTLING, "Too many reads are waiting");
}

void engine_turn_ended(struct engine *engine)
{
    struct orders *orders = engine->orders;
    takes_turns = true;
    if (orders == NULL)
        return;
    ensure(pthread_mutex_lock(&orders->lock) == 0);
    send(orders);
    ensure(pthread_mutex_unlock(&orders->lock) == 0);
}

// The lock is held. The oldest orders, in a list of their own.
static struct read_order *take(struct orders *orders)
{
    struct read_order *first = orders->first;
    struct read_order *last = first;
    size_t count = 1;
    for (; count < GROUP_KEYS && last->next != NULL; count++)
        last = last->next;
    orders->first = last->next;
    orders->count -= count;
    last->next = NULL;
    orders->sent = false;
    send(orders); // another has the rest
    return first;
}

// An order is gone once it is told.
static void fill(struct engine *engine, struct read_order *first)
{
    struct store_read reads[GROUP_KEYS];
    while (first != NULL) {
        struct store_error cause;
        size_t count = 0;
        for (const struct read_order *order = first; order != NULL; order = order->next)
            reads[count++] = (struct store_read){.key = order->key};
        size_t asked = count;
        bool ok = store_get_first(engine->store, NULL, reads, &count, GROUP_BYTES, &cause);
        for (size_t i = 0; i < (ok ? count : asked); i++) {
            struct read_order *order = first;
            first = order->next;
            if (ok)
                order->read = item_read_of(&reads[i]);
            else
                order->failed = !engine_store_failed(order->error, &cause);
            order->done(order);
        }
    }
}

static void *reader_main(void *argument)
{
    struct orders *orders = argument;
    ensure(pthread_mutex_lock(&orders->lock) == 0);
    for (;;) {
        while (!orders->sent && !orders->stopping)
            ensure(pthread_cond_wait(&orders->wake, &orders->lock) == 0);
        if (orders->first == NULL)
            break;
        struct read_order *group = take(orders);
        ensure(pthread_mutex_unlock(&orders->lock) == 0);
        fill(orders->engine, group);
        ensure(pthread_mutex_lock(&orders->lock) == 0);
    }
    ensure(pthread_mutex_unlock(&orders->lock) == 0);
    return NULL;
}

void orders_start(struct engine *engine)
{
    if (!store_remote(engine->store))
        return;
    struct orders *orders = memory_zeroed(sizeof(*orders));
    orders->engine = engine;
    ensure(pthread_mutex_init(&orders->lock, NULL) == 0);
    ensure(pthread_cond_init(&orders->wake, NULL) == 0);
    while (orders->threads < READERS &&
           pthread_create(&orders->thread[orders->threads], NULL, reader_main, orders) == 0)
        orders->threads++;
    engine->orders = orders;
    if (orders->threads == 0) // calls read for themselves then
        orders_stop(engine);
}

void orders_stop(struct engine *engine)
{
    struct orders *orders = engine->orders;
    if (orders == NULL)
        return;
    ensure(pthread_mutex_lock(&orders->lock) == 0);
    orders->stopping = true;
    ensure(pthread_cond_broadcast(&orders->wake) == 0);
    ensure(pthread_mutex_unlock(&orders->lock) == 0);
    for (size_t i = 0; i < orders->threads; i++)
        ensure(pthread_join(orders->thread[i], NULL) == 0);
    ensure(pthread_mutex_destroy(&orders->lock) == 0);
    ensure(pthread_cond_destroy(&orders->wake) == 0);
    free(orders);
    engine->orders = NULL;
}
