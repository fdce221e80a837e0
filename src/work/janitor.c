// See janitor.h. One lock guards the thread's flags, another one the chores, so that janitor_run()
// and the thread do not do the same one at the same time.
#include "work/janitor.h"

#include "base/wait.h"

#include <stdlib.h>

enum { TICK_MS = 1000 };

struct janitor {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stopping;
    bool pending; // everything is to be done now
    pthread_mutex_t working;
    struct workshop *shop;
    size_t count;
    struct {
        struct chore chore;
        int64_t due_ms; // by the monotonic clock
    } chores[JANITOR_CHORES];
};

static void do_chores(struct janitor *janitor, bool all)
{
    ensure(pthread_mutex_lock(&janitor->working) == 0);
    for (size_t i = 0; i < janitor->count; i++) {
        int64_t now_ms = monotonic_ms();
        if (!all && now_ms < janitor->chores[i].due_ms)
            continue;
        janitor->chores[i].due_ms = now_ms + janitor->chores[i].chore.every_ms;
        janitor->chores[i].chore.run(janitor->shop);
    }
    ensure(pthread_mutex_unlock(&janitor->working) == 0);
}

// Sleeps until there may be something to do. The lock is held. Whether to go on.
static bool wait_for_work(struct janitor *janitor, bool *all)
{
    int64_t until_ns = monotonic_ns() + TICK_MS * MILLISECOND_NS;
    while (!janitor->stopping && !janitor->pending) {
        if (!wait_until(&janitor->wake, &janitor->lock, until_ns))
            break;
    }
    *all = janitor->pending;
    janitor->pending = false;
    return !janitor->stopping;
}

static void *janitor_main(void *argument)
{
    struct janitor *janitor = argument;
    bool all;
    ensure(pthread_mutex_lock(&janitor->lock) == 0);
    while (wait_for_work(janitor, &all)) {
        ensure(pthread_mutex_unlock(&janitor->lock) == 0);
        do_chores(janitor, all);
        ensure(pthread_mutex_lock(&janitor->lock) == 0);
    }
    ensure(pthread_mutex_unlock(&janitor->lock) == 0);
    return NULL;
}

struct janitor *janitor_new(struct workshop *shop, const struct chore *chores, size_t count)
{
    struct janitor *janitor = calloc(1, sizeof(*janitor));
    ensure_memory(janitor);
    ensure(pthread_mutex_init(&janitor->lock, NULL) == 0);
    ensure(pthread_mutex_init(&janitor->working, NULL) == 0);
    wait_init(&janitor->wake);
    ensure(count <= JANITOR_CHORES);
    janitor->shop = shop;
    janitor->count = count;
    for (size_t i = 0; i < count; i++)
        janitor->chores[i].chore = chores[i];
    ensure_started(pthread_create(&janitor->thread, NULL, janitor_main, janitor) == 0);
    return janitor;
}

void janitor_free(struct janitor *janitor)
{
    ensure(pthread_mutex_lock(&janitor->lock) == 0);
    janitor->stopping = true;
    ensure(pthread_cond_signal(&janitor->wake) == 0);
    ensure(pthread_mutex_unlock(&janitor->lock) == 0);
    ensure(pthread_join(janitor->thread, NULL) == 0);
    ensure(pthread_cond_destroy(&janitor->wake) == 0);
    ensure(pthread_mutex_destroy(&janitor->working) == 0);
    ensure(pthread_mutex_destroy(&janitor->lock) == 0);
    free(janitor);
}

void janitor_wake(struct janitor *janitor)
{
    ensure(pthread_mutex_lock(&janitor->lock) == 0);
    janitor->pending = true;
    ensure(pthread_cond_signal(&janitor->wake) == 0);
    ensure(pthread_mutex_unlock(&janitor->lock) == 0);
}

void janitor_run(struct janitor *janitor)
{
    do_chores(janitor, true);
}
