// See lanes.h. One lock guards the queues; the stop flag is atomic, so that tasks may ask for
// it as often as they like.
#include "work/lanes.h"

#include "base/log.h"
#include "base/wait.h"
#include "work/workshop.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    LANE_WIDTH_MAX = 8,
    NICENESS = 10,
    THROTTLED_MS = 20, // the writer's queue is full for moments only
    REFUSED_MS = 100,  // doubled with each try
    REFUSED_MAX_MS = 5000,
    TRIES = 8, // of what fails although the store takes writes: 25 seconds together
};

struct lane_thread {
    struct workshop *shop; // set before the thread begins, as is the next
    struct lane *lane;
    pthread_t thread;
    bool busy; // a task is running
    uint64_t name;
    size_t subject_len;
    uint8_t subject[TASK_SUBJECT_MAX]; // of that task
};

struct lane {
    pthread_cond_t wake; // there is a task, or the end has come
    struct task *first;
    struct task **end; // where the next one goes
    size_t queued;
    size_t width;
    size_t started;
    struct lane_thread threads[LANE_WIDTH_MAX];
};

struct lanes {
    pthread_mutex_t lock;
    pthread_cond_t idle;    // a task has ended
    pthread_cond_t stopped; // for those who sleep
    atomic_bool stopping;
    atomic_bool hurried;
    struct lane lane[LANES];
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
static void task_run(struct lanes *lanes, struct lane_thread *own, struct task *task)
{
    ensure(task->subject.len <= sizeof(own->subject));
    own->subject_len = task->subject.len;
    if (task->subject.len > 0)
        memcpy(own->subject, task->subject.ptr, task->subject.len);
    own->name = task->name;
    own->busy = true;
    ensure(pthread_mutex_unlock(&lanes->lock) == 0);
    task->run(task, own->shop);
    ensure(pthread_mutex_lock(&lanes->lock) == 0);
    own->busy = false;
    ensure(pthread_cond_broadcast(&lanes->idle) == 0);
}

static void *lane_main(void *argument)
{
    struct lane_thread *own = argument;
    struct lane *lane = own->lane;
    struct lanes *lanes = own->shop->lanes;
    // Of this thread alone, on Linux. Requests have the processor first.
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS);
    ensure(pthread_mutex_lock(&lanes->lock) == 0);
    while (true) {
        struct task *task = task_take(lane);
        if (task != NULL)
            task_run(lanes, own, task);
        else if (!atomic_load(&lanes->stopping))
            ensure(pthread_cond_wait(&lane->wake, &lanes->lock) == 0);
        else if (lane->first == NULL)
            break;
        else // somebody works on what the rest is about
            ensure(pthread_cond_wait(&lanes->idle, &lanes->lock) == 0);
    }
    ensure(pthread_mutex_unlock(&lanes->lock) == 0);
    return NULL;
}

// A thread starts when those there are do not suffice: most databases never have one. The lock is
// held.
static void thread_start(struct workshop *shop, struct lane *lane)
{
    size_t free = 0;
    for (size_t i = 0; i < lane->started; i++)
        free += !lane->threads[i].busy;
    if (free >= lane->queued || lane->started == lane->width)
        return;
    struct lane_thread *thread = &lane->threads[lane->started++];
    thread->shop = shop;
    thread->lane = lane;
    ensure_started(pthread_create(&thread->thread, NULL, lane_main, thread) == 0);
}

bool lane_submit(struct workshop *shop, struct task *task)
{
    struct lanes *lanes = shop->lanes;
    ensure(pthread_mutex_lock(&lanes->lock) == 0);
    bool open = !atomic_load(&lanes->stopping);
    if (open) {
        struct lane *lane = &lanes->lane[task->lane];
        task->next = NULL;
        *lane->end = task;
        lane->end = &task->next;
        lane->queued++;
        thread_start(shop, lane);
        ensure(pthread_cond_signal(&lane->wake) == 0);
    }
    ensure(pthread_mutex_unlock(&lanes->lock) == 0);
    return open;
}

bool lane_idle(struct workshop *shop, enum lane_kind which)
{
    const struct lane *lane = &shop->lanes->lane[which];
    ensure(pthread_mutex_lock(&shop->lanes->lock) == 0);
    size_t tasks = lane->queued;
    for (size_t i = 0; i < lane->started; i++)
        tasks += lane->threads[i].busy;
    ensure(pthread_mutex_unlock(&shop->lanes->lock) == 0);
    return tasks < lane->width;
}

bool lane_has(struct workshop *shop, enum lane_kind which, uint64_t name)
{
    const struct lane *lane = &shop->lanes->lane[which];
    ensure(pthread_mutex_lock(&shop->lanes->lock) == 0);
    bool has = false;
    for (const struct task *task = lane->first; task != NULL && !has; task = task->next)
        has = task->name == name;
    for (size_t i = 0; i < lane->started; i++)
        has |= lane->threads[i].busy && lane->threads[i].name == name;
    ensure(pthread_mutex_unlock(&shop->lanes->lock) == 0);
    return has;
}

// ---- For tasks --------------------------------------------------------------------------------

bool work_stopping(struct workshop *shop)
{
    return atomic_load_explicit(&shop->lanes->stopping, memory_order_relaxed);
}

bool work_stops(void *shop)
{
    return work_stopping(shop);
}

bool work_hurried(struct workshop *shop)
{
    return atomic_load_explicit(&shop->lanes->hurried, memory_order_relaxed) || work_stopping(shop);
}

void work_hurry(struct workshop *shop)
{
    atomic_store(&shop->lanes->hurried, true);
    engine_hurry(shop->engine);
}

bool work_goes_on(struct workshop *shop, struct error *error)
{
    return !work_stopping(shop) || error_set(error, ERR_UNAVAILABLE, "The server is stopping.");
}

bool work_pause(struct workshop *shop, int64_t ms)
{
    struct lanes *lanes = shop->lanes;
    int64_t until_ns = monotonic_ns() + ms * MILLISECOND_NS;
    ensure(pthread_mutex_lock(&lanes->lock) == 0);
    while (!atomic_load(&lanes->stopping)) {
        if (!wait_until(&lanes->stopped, &lanes->lock, until_ns))
            break;
    }
    ensure(pthread_mutex_unlock(&lanes->lock) == 0);
    return !work_stopping(shop);
}

// How long to wait before the next try of what the store refuses; 0 if there is none.
static int64_t refused_ms(struct workshop *shop, struct work_patience *patience,
                          const struct error *error)
{
    struct engine_health health;
    engine_health(shop->engine, &health);
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

bool work_retry(struct workshop *shop, struct work_patience *patience, struct error *error)
{
    // A conflict: others kept changing an item that takes long to judge.
    bool busy = error->code == ERR_THROTTLING || error->code == ERR_TRANSACTION_CONFLICT;
    int64_t ms = busy                          ? THROTTLED_MS
                 : error->code == ERR_INTERNAL ? refused_ms(shop, patience, error)
                                               : 0;
    if (ms == 0 || !work_pause(shop, ms))
        return false;
    error_init(error, error->arena);
    return true;
}

// ---- Beginning and end ------------------------------------------------------------------------

static bool is_busy(const struct lanes *lanes)
{
    for (size_t i = 0; i < LANES; i++) {
        const struct lane *lane = &lanes->lane[i];
        for (size_t k = 0; k < lane->started; k++) {
            if (lane->threads[k].busy)
                return true;
        }
        if (lane->first != NULL)
            return true;
    }
    return false;
}

void work_wait(struct workshop *shop)
{
    struct lanes *lanes = shop->lanes;
    ensure(pthread_mutex_lock(&lanes->lock) == 0);
    while (is_busy(lanes))
        ensure(pthread_cond_wait(&lanes->idle, &lanes->lock) == 0);
    ensure(pthread_mutex_unlock(&lanes->lock) == 0);
}

struct lanes *lanes_new(void)
{
    static const size_t widths[LANES] = {
#define X(lane, threads) [lane] = (threads),
        LANE_LIST(X)
#undef X
    };
    struct lanes *lanes = memory_zeroed(sizeof(*lanes));
    ensure(pthread_mutex_init(&lanes->lock, NULL) == 0);
    ensure(pthread_cond_init(&lanes->idle, NULL) == 0);
    wait_init(&lanes->stopped);
    for (size_t i = 0; i < LANES; i++) {
        ensure(widths[i] <= LANE_WIDTH_MAX);
        lanes->lane[i].width = widths[i];
        lanes->lane[i].end = &lanes->lane[i].first;
        ensure(pthread_cond_init(&lanes->lane[i].wake, NULL) == 0);
    }
    return lanes;
}

void lanes_stop(struct workshop *shop)
{
    struct lanes *lanes = shop->lanes;
    ensure(pthread_mutex_lock(&lanes->lock) == 0);
    atomic_store(&lanes->stopping, true);
    ensure(pthread_cond_broadcast(&lanes->stopped) == 0);
    for (size_t i = 0; i < LANES; i++)
        ensure(pthread_cond_broadcast(&lanes->lane[i].wake) == 0);
    ensure(pthread_mutex_unlock(&lanes->lock) == 0);
}

void lanes_free(struct workshop *shop)
{
    struct lanes *lanes = shop->lanes;
    for (size_t i = 0; i < LANES; i++) {
        struct lane *lane = &lanes->lane[i];
        for (size_t k = 0; k < lane->started; k++)
            ensure(pthread_join(lane->threads[k].thread, NULL) == 0);
        ensure(pthread_cond_destroy(&lane->wake) == 0);
    }
    ensure(pthread_cond_destroy(&lanes->stopped) == 0);
    ensure(pthread_cond_destroy(&lanes->idle) == 0);
    ensure(pthread_mutex_destroy(&lanes->lock) == 0);
    free(lanes);
    shop->lanes = NULL;
}
