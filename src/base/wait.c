// See wait.h.
#include "base/wait.h"

#include <errno.h>
#include <time.h>

int64_t monotonic_ns(void)
{
    struct timespec now;
    ensure(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

int64_t monotonic_ms(void)
{
    return monotonic_ns() / MILLISECOND_NS;
}

void sleep_ms(int64_t ms)
{
    (void)nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MILLISECOND_NS},
                    NULL);
}

void wait_init(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    ensure(pthread_condattr_init(&monotonic) == 0);
    ensure(pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0);
    ensure(pthread_cond_init(condition, &monotonic) == 0);
    ensure(pthread_condattr_destroy(&monotonic) == 0);
}

bool wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until_ns)
{
    struct timespec until = {.tv_sec = until_ns / SECOND_NS, .tv_nsec = until_ns % SECOND_NS};
    int status = pthread_cond_timedwait(condition, lock, &until);
    ensure(status == 0 || status == ETIMEDOUT);
    return status == 0;
}
