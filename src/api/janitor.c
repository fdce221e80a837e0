// See janitor.h. A lock guards the chores, so that janitor_run() and the thread do not do the same
// one at the same time.
#include "api/janitor.h"

#include "api/backup.h"
#include "api/stream.h"
#include "base/wait.h"
#include "base/worker.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { TICK_MS = 1000 };

struct chore {
    void (*run)(struct api *api);
    int64_t every_ms;
};

static const struct chore chores[] = {
    {streams_roll_due, 5000},
    {streams_trim, 60000},
    {backup_expire, 60000},
};

struct janitor {
    struct worker worker;
    atomic_bool all; // everything is to be done now
    pthread_mutex_t working;
    int64_t due_ms[COUNT_OF(chores)]; // the thread's, by the monotonic clock
};

static void do_chores(struct api *api, bool all)
{
    struct janitor *janitor = api->janitor;
    ensure(pthread_mutex_lock(&janitor->working) == 0);
    for (size_t i = 0; i < COUNT_OF(chores); i++) {
        int64_t now_ms = monotonic_ms();
        if (!all && now_ms < janitor->due_ms[i])
            continue;
        janitor->due_ms[i] = now_ms + chores[i].every_ms;
        chores[i].run(api);
    }
    ensure(pthread_mutex_unlock(&janitor->working) == 0);
}

static void janitor_work(void *context)
{
    struct api *api = context;
    do_chores(api, atomic_exchange(&api->janitor->all, false));
}

void janitor_start(struct api *api)
{
    struct janitor *janitor = calloc(1, sizeof(*janitor));
    ensure_memory(janitor);
    ensure(pthread_mutex_init(&janitor->working, NULL) == 0);
    api->janitor = janitor;
    worker_start(&janitor->worker,
                 &(struct worker_plan){.work = janitor_work, .context = api, .every_ms = TICK_MS});
}

void janitor_stop(struct api *api)
{
    struct janitor *janitor = api->janitor;
    worker_stop(&janitor->worker);
    ensure(pthread_mutex_destroy(&janitor->working) == 0);
    free(janitor);
    api->janitor = NULL;
}

void janitor_wake(struct api *api)
{
    atomic_store(&api->janitor->all, true);
    worker_ask(&api->janitor->worker);
}

void janitor_run(struct api *api)
{
    do_chores(api, true);
}
