// Calls that are answered on the thread of a lane: see operation.h.
#include "call/operation.h"

#include <stdlib.h>

struct later {
    struct task task; // first
    struct api_call *call;
    void (*run)(struct api_call *call, const void *request);
};

static void later_run(struct task *task, struct workshop *shop)
{
    struct later *later = (struct later *)task;
    struct api_call *call = later->call;
    if (work_goes_on(shop, &call->error))
        later->run(call, call->state->request);
    free(later);
    call->done(call);
}

enum step call_later(struct api_call *call, enum lane_kind lane,
                     void (*run)(struct api_call *call, const void *request))
{
    struct later *later = memory_zeroed(sizeof(*later));
    *later = (struct later){.task = {.run = later_run, .lane = lane}, .call = call, .run = run};
    if (lane_submit(call_shop(call), &later->task))
        return STEP_PENDING;
    free(later);
    return step_failed(error_set(&call->error, ERR_UNAVAILABLE, "The server is stopping."));
}

// The answer is there already.
void call_answered(struct api_call *call, const void *request)
{
    (void)call;
    (void)request;
}
