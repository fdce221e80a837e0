// See vector_pool.h. One lock guards the queue and the threads' number.
#include "api/vector_pool.h"

#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 2 }; // more would take the processor from the loops

struct vector_pool {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct vector_task *first;
    struct vector_task *last;
    size_t thread_count;
    size_t idle;    // threads that wait
    size_t waiting; // tasks that do
    bool stopping;
    pthread_t threads[THREADS];
};

struct vector_pool *vector_pool_new(void)
{
    struct vector_pool *pool = calloc(1, sizeof(*pool));
    ensure(pool != NULL);
    ensure(pthread_mutex_init(&pool->lock, NULL) == 0);
    ensure(pthread_cond_init(&pool->wake, NULL) == 0);
    return pool;
}

static struct vector_task *task_take(struct vector_pool *pool)
{
    ensure(pthread_mutex_lock(&pool->lock) == 0);
    pool->idle++;
    while (pool->first == NULL && !pool->stopping)
        ensure(pthread_cond_wait(&pool->wake, &pool->lock) == 0);
    pool->idle--;
    struct vector_task *task = pool->first;
    if (task != NULL) {
        pool->waiting--;
        pool->first = task->next;
        if (pool->first == NULL)
            pool->last = NULL;
    }
    ensure(pthread_mutex_unlock(&pool->lock) == 0);
    return task;
}

static void *pool_main(void *argument)
{
    struct vector_pool *pool = argument;
    struct vector_task *task;
    while ((task = task_take(pool)) != NULL) {
        struct api_call *call = task->call;
        // What went wrong is in the call's error, which its owner looks at.
        (void)!engine_search(call_engine(call), &task->search, &call->error);
        call->done(call);
    }
    return NULL;
}

// The lock is held. Whether there is a thread.
static bool threads_start(struct vector_pool *pool)
{
    if (pool->idle <= pool->waiting && pool->thread_count < THREADS &&
        pthread_create(&pool->threads[pool->thread_count], NULL, pool_main, pool) == 0)
        pool->thread_count++;
    return pool->thread_count > 0;
}

bool vector_pool_submit(struct vector_pool *pool, struct vector_task *task)
{
    ensure(pthread_mutex_lock(&pool->lock) == 0);
    bool ok = threads_start(pool);
    if (ok) {
        task->next = NULL;
        if (pool->first == NULL)
            pool->first = task;
        else
            pool->last->next = task;
        pool->last = task;
        pool->waiting++;
        // Under the lock: once it is released the task may be done, and the pool gone.
        ensure(pthread_cond_signal(&pool->wake) == 0);
    }
    ensure(pthread_mutex_unlock(&pool->lock) == 0);
    return ok;
}

void vector_pool_free(struct vector_pool *pool)
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
