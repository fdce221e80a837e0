// See background.h. One lock guards the queues; the stop flag is atomic, so that tasks may ask for
// it as often as they like.
#include "api/background.h"

#include "api/api_internal.h"
#include "base/log.h"
#include "base/wait.h"

#include <stdatomic.h>
#include <stdlib.h>

enum {
    LANE_WIDTH_MAX = 8,
    THROTTLED_MS = 20, // the writer's queue is full for moments only
    REFUSED_MS = 100,  // doubled with each try
    REFUSED_MAX_MS = 5000,
    TRIES = 8, // of what fails although the store takes writes: 25 seconds together
};

struct lane_thread {
    struct lane *lane;
    pthread_t thread;
    bool busy; // a task is running
    size_t subject_len;
    uint8_t subject[TASK_SUBJECT_MAX]; // of that task
};

struct lane {
    struct api *api;
    pthread_cond_t wake; // there is a task, or the end has come
    struct task *first;
    struct task **end; // where the next one goes
    size_t queued;
    size_t width;
    size_t started;
    struct lane_thread threads[LANE_WIDTH_MAX];
};

struct background {
    pthread_mutex_t lock;
    pthread_cond_t idle;    // a task has ended
    pthread_cond_t stopped; // for those who sleep
    atomic_bool stopping;
    atomic_bool hurried;
    struct lane lanes[LANES];
};

// ---- Lanes ------------------------------------------------------------------------------------

static bool is_worked_on(const struct lane *lane, struct slice subject)
{
    for (size_t i = 0; subject.len > 0 && i < lane->started; i++) {
        const struct lane_thread *thread = &lane->threads[i];
        if (thread->busy && slice_equal(slice_of(thread->subject, thread->subject_len), subject))
            return true;
    }
    return false;
}

// The first task that may run, out of the queue; NULL if there is none.
static struct task *task_take(struct lane *lane)
{
    struct task **at = &lane->first;
    while (*at != NULL && is_worked_on(lane, (*at)->subject))
        at = &(*at)->next;
    struct task *task = *at;
    if (task == NULL)
        return NULL;
    *at = task->next;
    if (task->next == NULL)
        lane->end = at;
    lane->queued--;
    return task;
}

// The lock is held, but not while the task runs.
static void task_run(struct background *background, struct lane_thread *own, struct task *task)
{
    ensure(task->subject.len <= sizeof(own->subject));
    own->subject_len = task->subject.len;
    if (task->subject.len > 0)
        memcpy(own->subject, task->subject.ptr, task->subject.len);
    own->busy = true;
    ensure(pthread_mutex_unlock(&background->lock) == 0);
    task->run(task, own->lane->api);
    ensure(pthread_mutex_lock(&background->lock) == 0);
    own->busy = false;
    ensure(pthread_cond_broadcast(&background->idle) == 0);
}

static void *lane_main(void *argument)
{
    struct lane_thread *own = argument;
    struct lane *lane = own->lane;
    struct background *background = lane->api->background;
    ensure(pthread_mutex_lock(&background->lock) == 0);
    while (true) {
        struct task *task = task_take(lane);
        if (task != NULL)
            task_run(background, own, task);
        else if (!atomic_load(&background->stopping))
            ensure(pthread_cond_wait(&lane->wake, &background->lock) == 0);
        else if (lane->first == NULL)
            break;
        else // somebody works on what the rest is about
            ensure(pthread_cond_wait(&background->idle, &background->lock) == 0);
    }
    ensure(pthread_mutex_unlock(&background->lock) == 0);
    return NULL;
}

// A thread starts when those there are do not suffice: most databases never have one. The lock is
// held.
static void thread_start(struct api *api, struct lane *lane)
{
    size_t free = 0;
    for (size_t i = 0; i < lane->started; i++)
        free += !lane->threads[i].busy;
    if (free >= lane->queued || lane->started == lane->width)
        return;
    struct lane_thread *thread = &lane->threads[lane->started++];
    lane->api = api;
    thread->lane = lane;
    ensure_started(pthread_create(&thread->thread, NULL, lane_main, thread) == 0);
}

bool background_submit(struct api *api, struct task *task)
{
    struct background *background = api->background;
    ensure(pthread_mutex_lock(&background->lock) == 0);
    bool open = !atomic_load(&background->stopping);
    if (open) {
        struct lane *lane = &background->lanes[task->lane];
        task->next = NULL;
        *lane->end = task;
        lane->end = &task->next;
        lane->queued++;
        thread_start(api, lane);
        ensure(pthread_cond_signal(&lane->wake) == 0);
    }
    ensure(pthread_mutex_unlock(&background->lock) == 0);
    return open;
}

bool background_idle(struct api *api, enum background_lane which)
{
    const struct lane *lane = &api->background->lanes[which];
    ensure(pthread_mutex_lock(&api->background->lock) == 0);
    size_t tasks = lane->queued;
    for (size_t i = 0; i < lane->started; i++)
        tasks += lane->threads[i].busy;
    ensure(pthread_mutex_unlock(&api->background->lock) == 0);
    return tasks < lane->width;
}

// ---- For tasks --------------------------------------------------------------------------------

bool background_stopping(struct api *api)
{
    return atomic_load_explicit(&api->background->stopping, memory_order_relaxed);
}

bool background_stops(void *api)
{
    return background_stopping(api);
}

bool background_hurried(struct api *api)
{
    return atomic_load_explicit(&api->background->hurried, memory_order_relaxed) ||
           background_stopping(api);
}

void api_cut_short(struct api *api)
{
    atomic_store(&api->background->hurried, true);
    engine_hurry(api->engine);
}

bool background_pause(struct api *api, int64_t ms)
{
    struct background *background = api->background;
    int64_t until_ns = monotonic_ns() + ms * MILLISECOND_NS;
    ensure(pthread_mutex_lock(&background->lock) == 0);
    while (!atomic_load(&background->stopping)) {
        if (!wait_until(&background->stopped, &background->lock, until_ns))
            break;
    }
    ensure(pthread_mutex_unlock(&background->lock) == 0);
    return !background_stopping(api);
}

// How long to wait before the next try of what the store refuses; 0 if there is none.
static int64_t refused_ms(struct api *api, struct background_patience *patience,
                          const struct error *error)
{
    struct engine_health health;
    engine_health(api->engine, &health);
    if (health.writable && patience->tries >= TRIES)
        return 0;
    // That the store refuses writes is in the log already.
    if (health.writable && patience->tries == 0)
        log_warn("work beside the requests failed, and is tried again: %s", error->message);
    int64_t ms = REFUSED_MS;
    for (int i = 0; i < patience->tries && ms < REFUSED_MAX_MS; i++)
        ms *= 2;
    patience->tries += patience->tries < TRIES;
    return ms < REFUSED_MAX_MS ? ms : REFUSED_MAX_MS;
}

bool background_retry(struct api *api, struct background_patience *patience, struct error *error)
{
    // A conflict: others kept changing an item that takes long to judge.
    bool busy = error->code == ERR_THROTTLING || error->code == ERR_TRANSACTION_CONFLICT;
    int64_t ms = busy                          ? THROTTLED_MS
                 : error->code == ERR_INTERNAL ? refused_ms(api, patience, error)
                                               : 0;
    if (ms == 0 || !background_pause(api, ms))
        return false;
    error_init(error, error->arena);
    return true;
}

// ---- Beginning and end ------------------------------------------------------------------------

static bool is_busy(const struct background *background)
{
    for (size_t i = 0; i < LANES; i++) {
        const struct lane *lane = &background->lanes[i];
        for (size_t k = 0; k < lane->started; k++) {
            if (lane->threads[k].busy)
                return true;
        }
        if (lane->first != NULL)
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
    static const size_t widths[LANES] = {
#define X(lane, threads) [lane] = (threads),
        BACKGROUND_LANES(X)
#undef X
    };
    struct background *background = calloc(1, sizeof(*background));
    ensure_memory(background);
    ensure(pthread_mutex_init(&background->lock, NULL) == 0);
    ensure(pthread_cond_init(&background->idle, NULL) == 0);
    wait_init(&background->stopped);
    for (size_t i = 0; i < LANES; i++) {
        ensure(widths[i] <= LANE_WIDTH_MAX);
        background->lanes[i].width = widths[i];
        background->lanes[i].end = &background->lanes[i].first;
        ensure(pthread_cond_init(&background->lanes[i].wake, NULL) == 0);
    }
    return background;
}

void background_stop(struct api *api)
{
    struct background *background = api->background;
    ensure(pthread_mutex_lock(&background->lock) == 0);
    atomic_store(&background->stopping, true);
    ensure(pthread_cond_broadcast(&background->stopped) == 0);
    for (size_t i = 0; i < LANES; i++)
        ensure(pthread_cond_broadcast(&background->lanes[i].wake) == 0);
    ensure(pthread_mutex_unlock(&background->lock) == 0);
}

void background_free(struct api *api)
{
    struct background *background = api->background;
    for (size_t i = 0; i < LANES; i++) {
        struct lane *lane = &background->lanes[i];
        for (size_t k = 0; k < lane->started; k++)
            ensure(pthread_join(lane->threads[k].thread, NULL) == 0);
        ensure(pthread_cond_destroy(&lane->wake) == 0);
    }
    ensure(pthread_cond_destroy(&background->stopped) == 0);
    ensure(pthread_cond_destroy(&background->idle) == 0);
    ensure(pthread_mutex_destroy(&background->lock) == 0);
    free(background);
    api->background = NULL;
}
