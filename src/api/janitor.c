// See janitor.h. One lock guards the thread's flags, another one the chores, so that janitor_run()
// and the thread do not do the same one at the same time.
#include "api/janitor.h"

#include "api/backup.h"
#include "api/stream.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

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

static int64_t monotonic_ms(void)
{
    struct timespec now;
    ensure(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

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
    int64_t until_ms = monotonic_ms() + TICK_MS;
    struct timespec until = {.tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000};
    int status = 0;
    while (status == 0 && !janitor->stopping && !janitor->pending)
        status = pthread_cond_timedwait(&janitor->wake, &janitor->lock, &until);
    ensure(status == 0 || status == ETIMEDOUT);
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
    pthread_condattr_t monotonic;
    ensure(janitor != NULL);
    ensure(pthread_mutex_init(&janitor->lock, NULL) == 0);
    ensure(pthread_mutex_init(&janitor->working, NULL) == 0);
    ensure(pthread_condattr_init(&monotonic) == 0);
    ensure(pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0);
    ensure(pthread_cond_init(&janitor->wake, &monotonic) == 0);
    ensure(pthread_condattr_destroy(&monotonic) == 0);
    api->janitor = janitor;
    ensure(pthread_create(&janitor->thread, NULL, janitor_main, api) == 0);
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
