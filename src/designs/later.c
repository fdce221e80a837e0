// Requests about models that read whole tables or wait for several changes: they are answered on a
// thread of their own, so that neither a connection loop nor the writer waits for them.
#include "designs/designs.h"

#include <stdlib.h>

// ---- Later ------------------------------------------------------------------------------------

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

// The answer is there already.
void model_finish(struct api_call *call, const void *request)
{
    (void)call;
    (void)request;
}

enum step model_call_later(struct api_call *call, enum lane_kind lane,
                           void (*run)(struct api_call *call, const void *request))
{
    struct later *later = memory_zeroed(sizeof(*later));
    later->task.run = later_run;
    later->task.lane = lane;
    later->call = call;
    later->run = run;
    if (lane_submit(call_shop(call), &later->task))
        return STEP_PENDING;
    free(later);
    (void)error_set(&call->error, ERR_UNAVAILABLE, "The server is stopping.");
    return STEP_FAILED;
}

void model_samples_json(struct json_writer *w, const char *name,
                        const struct model_samples *samples)
{
    json_put_array(w, name);
    for (size_t i = 0; i < samples->count; i++) {
        json_open_object(w);
        json_name(w, "Key");
        json_item(w, samples->list[i].key);
        if (samples->list[i].text.len > 0)
            json_put_string(w, "Text", samples->list[i].text);
        json_close_object(w);
    }
    json_close_array(w);
}
