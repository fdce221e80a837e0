// See janitor.h. One lock guards the thread's flags, another one the chores, so that janitor_run()
// and the thread do not do the same one at the same time.
#include "api/janitor.h"

#include "api/backup.h"
#include "api/stream.h"
#include "base/wait.h"

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
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stopping;
    bool pending; // everything is to be done now
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
    struct api *api = argument;
    struct janitor *janitor = api->janitor;
    bool all;
    ensure(pthread_mutex_lock(&janitor->lock) == 0);
    while (wait_for_work(janitor, &all)) {
        ensure(pthread_mutex_unlock(&janitor->lock) == 0);
        do_chores(api, all);
        ensure(pthread_mutex_lock(&janitor->lock) == 0);
    }
    ensure(pthread_mutex_unlock(&janitor->lock) == 0);
    return NULL;
}

void janitor_start(struct api *api)
{
    struct janitor *janitor = calloc(1, sizeof(*janitor));
    ensure_memory(janitor);
    ensure(pthread_mutex_init(&janitor->lock, NULL) == 0);
    ensure(pthread_mutex_init(&janitor->working, NULL) == 0);
    wait_init(&janitor->wake);
    api->janitor = janitor;
    ensure_started(pthread_create(&janitor->thread, NULL, janitor_main, api) == 0);
}

void janitor_stop(struct api *api)
{
    struct janitor *janitor = api->janitor;
    ensure(pthread_mutex_lock(&janitor->lock) == 0);
    janitor->stopping = true;
    ensure(pthread_cond_signal(&janitor->wake) == 0);
    ensure(pthread_mutex_unlock(&janitor->lock) == 0);
    ensure(pthread_join(janitor->thread, NULL) == 0);
    ensure(pthread_cond_destroy(&janitor->wake) == 0);
    ensure(pthread_mutex_destroy(&janitor->working) == 0);
    ensure(pthread_mutex_destroy(&janitor->lock) == 0);
    free(janitor);
    api->janitor = NULL;
}

void janitor_wake(struct api *api)
{
    struct janitor *janitor = api->janitor;
    ensure(pthread_mutex_lock(&janitor->lock) == 0);
    janitor->pending = true;
    ensure(pthread_cond_signal(&janitor->wake) == 0);
    ensure(pthread_mutex_unlock(&janitor->lock) == 0);
}

void janitor_run(struct api *api)
{
    do_chores(api, true);
}
