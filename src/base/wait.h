// Waiting, by a clock that nobody can set: a wall clock that steps back would make a wait of a
// second one of an hour.
#ifndef BASE_WAIT_H
#define BASE_WAIT_H

#include "base/attributes.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SECOND_NS      INT64_C(1000000000)
#define MILLISECOND_NS INT64_C(1000000)

// Milliseconds and nanoseconds since some moment before the start.
int64_t monotonic_ms(void);
int64_t monotonic_ns(void);

// For threads that nobody stops, or soon enough: workers have worker_pause().
void sleep_ms(int64_t ms);

// A condition for wait_until().
void wait_init(pthread_cond_t *condition);
// As pthread_cond_timedwait(), until monotonic_ns() is `until_ns`. False if that is so: the caller
// looks at what it waits for in any case.
bool wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until_ns);

#endif
