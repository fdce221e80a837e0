// See background.h. One lock guards the queues; the stop flag is atomic, so that tasks may ask for
// it as often as they like.
#include "api/background.h"

#include "api/api_internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

struct lane {
    struct api *api;
    pthread_cond_t wake; // there is a task, or the end has come
    struct task *first;
    struct task *last;
    bool busy;    // a task is running
    bool started; // the thread exists
    pthread_t thread;
};

struct background {
    pthread_mutex_t lock;
    pthread_cond_t idle; // no task is left in some lane
    atomic_bool stopping;
    atomic_bool hurried;
    struct lane lanes[LANES];
};

static struct task *task_take(struct lane *lane)
{
    struct task *task = lane->first;
    lane->first = task->next;
    if (lane->first == NULL)
        lane->last = NULL;
    return task;
}

static void *lane_main(void *argument)
{
    struct lane *lane = argument;
    struct background *background = lane->api->background;
    ensure(pthread_mutex_lock(&background->lock) == 0);
    while (true) {
        while (lane->first == NULL && !atomic_load(&background->stopping))
            ensure(pthread_cond_wait(&lane->wake, &background->lock) == 0);
        if (lane->first == NULL)
            break;
        struct task *task = task_take(lane);
        lane->busy = true;
        ensure(pthread_mutex_unlock(&background->lock) == 0);
        task->run(task, lane->api);
        ensure(pthread_mutex_lock(&background->lock) == 0);
        lane->busy = false;
        if (lane->first == NULL)
            ensure(pthread_cond_broadcast(&background->idle) == 0);
    }
    ensure(pthread_mutex_unlock(&background->lock) == 0);
    return NULL;
}

// The thread starts with the first task: most databases never have one. The lock is held.
static void thread_start(struct api *api, struct lane *lane)
{
    if (lane->started)
        return;
    lane->api = api;
    ensure(pthread_create(&lane->thread, NULL, lane_main, lane) == 0);
    lane->started = true;
}

bool background_submit(struct api *api, struct task *task)
{
    struct background *background = api->background;
    ensure(pthread_mutex_lock(&background->lock) == 0);
    bool open = !atomic_load(&background->stopping);
    if (open) {
        struct lane *lane = &background->lanes[task->lane];
        task->next = NULL;
        if (lane->last != NULL)
            lane->last->next = task;
        else
            lane->first = task;
        lane->last = task;
        thread_start(api, lane);
        ensure(pthread_cond_signal(&lane->wake) == 0);
    }
    ensure(pthread_mutex_unlock(&background->lock) == 0);
    return open;
}

bool background_stopping(struct api *api)
{
    return atomic_load_explicit(&api->background->stopping, memory_order_relaxed);
}

bool background_hurried(struct api *api)
{
    return atomic_load_explicit(&api->background->hurried, memory_order_relaxed) ||
           background_stopping(api);
}

void api_hurry(struct api *api)
{
    atomic_store(&api->background->hurried, true);
}

bool background_retry(struct api *api, struct error *error)
{
    struct timespec pause = {.tv_nsec = 20000000};
    int pauses = error->code == ERR_THROTTLING ? 1 : error->code == ERR_INTERNAL ? 50 : 0;
    for (int i = 0; i < pauses && !background_stopping(api); i++)
        (void)nanosleep(&pause, NULL);
    if (pauses == 0 || background_stopping(api))
        return false;
    error_init(error, error->arena);
    return true;
}

static bool is_busy(const struct background *background)
{
    for (size_t i = 0; i < LANES; i++) {
        if (background->lanes[i].busy || background->lanes[i].first != NULL)
            return true;
    }
    return false;
}

void background_wait(struct api *api)
{
    struct background *background = api->background;
    ensure(pthread_mutex_lock(&background->lock) == 0);
    while (is_busy(background))
        ensure(pthread_cond_wait(&background->idle, &background->lock) == 0);
    ensure(pthread_mutex_unlock(&background->lock) == 0);
}

struct background *background_new(void)
{
    struct background *background = calloc(1, sizeof(*background));
    ensure(background != NULL);
    ensure(pthread_mutex_init(&background->lock, NULL) == 0);
    ensure(pthread_cond_init(&background->idle, NULL) == 0);
    for (size_t i = 0; i < LANES; i++)
        ensure(pthread_cond_init(&background->lanes[i].wake, NULL) == 0);
    return background;
}

void background_free(struct api *api)
{
    struct background *background = api->background;
    ensure(pthread_mutex_lock(&background->lock) == 0);
    atomic_store(&background->stopping, true);
    for (size_t i = 0; i < LANES; i++)
        ensure(pthread_cond_signal(&background->lanes[i].wake) == 0);
    ensure(pthread_mutex_unlock(&background->lock) == 0);
    for (size_t i = 0; i < LANES; i++) {
        if (background->lanes[i].started)
            ensure(pthread_join(background->lanes[i].thread, NULL) == 0);
        ensure(pthread_cond_destroy(&background->lanes[i].wake) == 0);
    }
    ensure(pthread_cond_destroy(&background->idle) == 0);
    ensure(pthread_mutex_destroy(&background->lock) == 0);
    free(background);
    api->background = NULL;
}
