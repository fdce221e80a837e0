// The clock of an api: that of the env it was opened with, moved by an offset. The
// engine gets an env whose context is the api, so a test that moves the clock moves it for
// everything that is timed: creation times, tokens, throughput.
#include "api/api_internal.h"
#include "work/janitor.h"

#include <stdatomic.h>

int64_t api_clock_now(struct api *api)
{
    return env_now(&api->env) + atomic_load_explicit(&api->clock_offset, memory_order_relaxed);
}

int64_t api_clock_offset(struct api *api)
{
    return atomic_load_explicit(&api->clock_offset, memory_order_relaxed);
}

void api_clock_move(struct api *api, int64_t offset_ms)
{
    atomic_store_explicit(&api->clock_offset, offset_ms, memory_order_relaxed);
    janitor_wake(api->janitor);
}

static int64_t moved_now(void *context)
{
    return api_clock_now(context);
}

static void same_random(void *context, uint8_t *out, size_t len)
{
    struct api *api = context;
    api->env.random(api->env.context, out, len);
}

struct env clock_env(struct api *api)
{
    return (struct env){.context = api, .now_ms = moved_now, .random = same_random};
}
