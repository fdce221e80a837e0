// See pool.h. One lock guards the queue and the number of threads.
#include "base/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NICENESS = 10 };

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct pool_task *first;
    struct pool_task *last;
    size_t threads_max;
    size_t thread_count;
    size_t idle; // threads that wait
    struct pool_stats stats;
    bool stopping;
    pthread_t threads[POOL_THREADS_MAX];
};

struct pool *pool_new(size_t threads)
{
    struct pool *pool = memory_zeroed(sizeof(*pool));
    if (threads == 0) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        threads = processors < 2 ? 2 : (size_t)processors;
    }
    pool->threads_max = threads < POOL_THREADS_MAX ? threads : POOL_THREADS_MAX;
    ensure(pthread_mutex_init(&pool->lock, NULL) == 0);
    ensure(pthread_cond_init(&pool->wake, NULL) == 0);
    return pool;
}

// The lock is held.
static void task_append(struct pool *pool, struct pool_task *task)
{
    struct pool_task **place = pool->first == NULL ? &pool->first : &pool->last->next;
    task->next = NULL;
    *place = pool->last = task;
    pool->stats.waiting++;
}

// The lock is held; NULL if the pool is to end.
static struct pool_task *task_take(struct pool *pool)
{
    pool->idle++;
    while (pool->first == NULL && !pool->stopping)
        ensure(pthread_cond_wait(&pool->wake, &pool->lock) == 0);
    pool->idle--;
    struct pool_task *task = pool->first;
    if (task == NULL)
        return NULL;
    pool->first = task->next;
    pool->stats.waiting--;
    pool->stats.slices++;
    return task;
}

static void *pool_main(void *argument)
{
    struct pool *pool = argument;
    // On Linux this is of the thread alone. Without it the work is done all the same.
    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICENESS);
    ensure(pthread_mutex_lock(&pool->lock) == 0);
    for (struct pool_task *task; (task = task_take(pool)) != NULL;) {
        ensure(pthread_mutex_unlock(&pool->lock) == 0);
        bool done = task->run(task);
        ensure(pthread_mutex_lock(&pool->lock) == 0);
        if (!done)
            task_append(pool, task);
    }
    ensure(pthread_mutex_unlock(&pool->lock) == 0);
    return NULL;
}

// The lock is held. Whether there is a thread.
static bool threads_start(struct pool *pool)
{
    if (pool->idle <= pool->stats.waiting && pool->thread_count < pool->threads_max &&
        pthread_create(&pool->threads[pool->thread_count], NULL, pool_main, pool) == 0)
        pool->thread_count++;
    return pool->thread_count > 0;
}

bool pool_submit(struct pool *pool, struct pool_task *task)
{
    ensure(pthread_mutex_lock(&pool->lock) == 0);
    bool ok = pool->stats.waiting < POOL_WAITING_MAX && threads_start(pool);
    if (ok) {
        task_append(pool, task);
        pool->stats.tasks++;
        // Under the lock: once it is released the task may be done, and the pool gone.
        ensure(pthread_cond_signal(&pool->wake) == 0);
    }
    ensure(pthread_mutex_unlock(&pool->lock) == 0);
    return ok;
}

void pool_stats(struct pool *pool, struct pool_stats *out)
{
    ensure(pthread_mutex_lock(&pool->lock) == 0);
    *out = pool->stats;
    ensure(pthread_mutex_unlock(&pool->lock) == 0);
}

void pool_free(struct pool *pool)
{
    ensure(pthread_mutex_lock(&pool->lock) == 0);
    pool->stopping = true;
    ensure(pthread_cond_broadcast(&pool->wake) == 0);
    ensure(pthread_mutex_unlock(&pool->lock) == 0);
    for (size_t i = 0; i < pool->thread_count; i++)
        ensure(pthread_join(pool->threads[i], NULL) == 0);
    ensure(pthread_mutex_destroy(&pool->lock) == 0);
    ensure(pthread_cond_destroy(&pool->wake) == 0);
    free(pool);
}
