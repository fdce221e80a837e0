// Calling an api in-process and waiting for it, for the tests of this directory.
#ifndef TESTS_UNIT_API_CALLS_H
#define TESTS_UNIT_API_CALLS_H

#include "api/api.h"
#include "call/operation.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void call_run(struct api_call *call, struct slice operation, struct slice body)
{
    api_call_reset(call);
    call->operation = operation;
    call->body = body;
    api_call_run(call);
}

#endif
