// See background.h. One lock guards the queue; the stop flag is atomic, so that tasks may ask for
// it as often as they like.
#include "api/background.h"

#include "api/api_internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

struct background {
    pthread_mutex_t lock;
    pthread_cond_t wake; // there is a task, or the end has come
    pthread_cond_t idle; // no task is left
    struct task *first;
    struct task *last;
    bool busy;    // a task is running
    bool started; // the thread exists
    atomic_bool stopping;
    pthread_t thread;
};

static struct task *task_take(struct background *background)
{
    struct task *task = background->first;
    background->first = task->next;
    if (background->first == NULL)
        background->last = NULL;
    return task;
}

static void *background_main(void *argument)
{
    struct api *api = argument;
    struct background *background = api->background;
    ensure(pthread_mutex_lock(&background->lock) == 0);
    while (true) {
        while (background->first == NULL && !atomic_load(&background->stopping))
            ensure(pthread_cond_wait(&background->wake, &background->lock) == 0);
        if (background->first == NULL)
            break;
        struct task *task = task_take(background);
        background->busy = true;
        ensure(pthread_mutex_unlock(&background->lock) == 0);
        task->run(task, api);
        ensure(pthread_mutex_lock(&background->lock) == 0);
        background->busy = false;
        if (background->first == NULL)
            ensure(pthread_cond_broadcast(&background->idle) == 0);
    }
    ensure(pthread_mutex_unlock(&background->lock) == 0);
    return NULL;
}

// The thread starts with the first task: most databases never have one. The lock is held.
static void thread_start(struct api *api)
{
    struct background *background = api->background;
    if (background->started)
        return;
    ensure(pthread_create(&background->thread, NULL, background_main, api) == 0);
    background->started = true;
}

bool background_submit(struct api *api, struct task *task)
{
    struct background *background = api->background;
    ensure(pthread_mutex_lock(&background->lock) == 0);
    bool open = !atomic_load(&background->stopping);
    if (open) {
        task->next = NULL;
        if (background->last != NULL)
            background->last->next = task;
        else
            background->first = task;
        background->last = task;
        thread_start(api);
        ensure(pthread_cond_signal(&background->wake) == 0);
    }
    ensure(pthread_mutex_unlock(&background->lock) == 0);
    return open;
}

bool background_stopping(struct api *api)
{
    return atomic_load_explicit(&api->background->stopping, memory_order_relaxed);
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

void background_wait(struct api *api)
{
    struct background *background = api->background;
    ensure(pthread_mutex_lock(&background->lock) == 0);
    while (background->busy || background->first != NULL)
        ensure(pthread_cond_wait(&background->idle, &background->lock) == 0);
    ensure(pthread_mutex_unlock(&background->lock) == 0);
}

struct background *background_new(void)
{
    struct background *background = calloc(1, sizeof(*background));
    ensure(background != NULL);
    ensure(pthread_mutex_init(&background->lock, NULL) == 0);
    ensure(pthread_cond_init(&background->wake, NULL) == 0);
    ensure(pthread_cond_init(&background->idle, NULL) == 0);
    return background;
}

void background_free(struct api *api)
{
    struct background *background = api->background;
    ensure(pthread_mutex_lock(&background->lock) == 0);
    atomic_store(&background->stopping, true);
    ensure(pthread_cond_signal(&background->wake) == 0);
    ensure(pthread_mutex_unlock(&background->lock) == 0);
    if (background->started)
        ensure(pthread_join(background->thread, NULL) == 0);
    ensure(pthread_cond_destroy(&background->idle) == 0);
    ensure(pthread_cond_destroy(&background->wake) == 0);
    ensure(pthread_mutex_destroy(&background->lock) == 0);
    free(background);
    api->background = NULL;
}
