// Calling an api in-process and waiting for it, for the tests of this directory.
#ifndef TESTS_UNIT_API_CALLS_H
#define TESTS_UNIT_API_CALLS_H

#include "api/api_internal.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    bool done;
};

static void call_done(struct api_call *call)
{
    struct waiter *waiter = call->context;
    assert_int_equal(pthread_mutex_lock(&waiter->lock), 0);
    waiter->done = true;
    assert_int_equal(pthread_cond_signal(&waiter->ready), 0);
    assert_int_equal(pthread_mutex_unlock(&waiter->lock), 0);
}

static void call_run(struct api_call *call, struct slice operation, struct slice body)
{
    struct waiter waiter = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    api_call_reset(call);
    call->operation = operation;
    call->body = body;
    call->done = call_done;
    call->context = &waiter;
    if (api_call_start(call))
        return;
    assert_int_equal(pthread_mutex_lock(&waiter.lock), 0);
    while (!waiter.done)
        assert_int_equal(pthread_cond_wait(&waiter.ready, &waiter.lock), 0);
    assert_int_equal(pthread_mutex_unlock(&waiter.lock), 0);
    api_call_finish(call);
}

#endif
