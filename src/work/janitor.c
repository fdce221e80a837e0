// See janitor.h. A lock guards the chores, so that janitor_run() and the thread do not do the same
// one at the same time.
#include "work/janitor.h"

#include "base/wait.h"
#include "base/worker.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { TICK_MS = 1000 };

struct janitor {
    struct worker worker;
    atomic_bool all; // everything is to be done now
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

static void janitor_work(void *context)
{
    struct janitor *janitor = context;
    do_chores(janitor, atomic_exchange(&janitor->all, false));
}

struct janitor *janitor_new(struct workshop *shop, const struct chore *chores, size_t count)
{
    struct janitor *janitor = memory_zeroed(sizeof(*janitor));
    ensure(pthread_mutex_init(&janitor->working, NULL) == 0);
    ensure(count <= JANITOR_CHORES);
    janitor->shop = shop;
    janitor->count = count;
    for (size_t i = 0; i < count; i++)
        janitor->chores[i].chore = chores[i];
    worker_start(
        &janitor->worker,
        &(struct worker_plan){.work = janitor_work, .context = janitor, .every_ms = TICK_MS});
    return janitor;
}

void janitor_free(struct janitor *janitor)
{
    worker_stop(&janitor->worker);
    ensure(pthread_mutex_destroy(&janitor->working) == 0);
    free(janitor);
}

void janitor_wake(struct janitor *janitor)
{
    atomic_store(&janitor->all, true);
    worker_ask(&janitor->worker);
}

void janitor_run(struct janitor *janitor)
{
    do_chores(janitor, true);
}
