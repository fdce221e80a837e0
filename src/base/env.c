// See env.h.
#include "base/env.h"

#include "base/attributes.h"

#include <stdio.h>
#include <sys/random.h>
#include <time.h>

static int64_t system_now(void *context)
{
    (void)context;
    struct timespec now;
    ensure(clock_gettime(CLOCK_REALTIME, &now) == 0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void system_random(void *context, uint8_t *out, size_t len)
{
    (void)context;
    while (len > 0) {
        ssize_t got = getrandom(out, len < 256 ? len : 256, 0);
        if (got <= 0)
            continue;
        out += got;
        len -= (size_t)got;
    }
}

struct env env_system(void)
{
    return (struct env){.now_ms = system_now, .random = system_random};
}

static int64_t fixed_now(void *context)
{
    const struct env_fixed *state = context;
    return state->now_ms;
}

// splitmix64: small, and every seed gives a full-period sequence.
static void fixed_random(void *context, uint8_t *out, size_t len)
{
    struct env_fixed *state = context;
    for (size_t i = 0; i < len; i++) {
        uint64_t z = state->seed += 0x9e3779b97f4a7c15u; // one step, whoever else takes one
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        out[i] = (uint8_t)(z ^ (z >> 31));
    }
}

struct env env_fixed(struct env_fixed *state)
{
    return (struct env){.context = state, .now_ms = fixed_now, .random = fixed_random};
}

void env_uuid(const struct env *env, char out[37])
{
    uint8_t b[16];
    env->random(env->context, b, sizeof(b));
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    static const char hex[] = "0123456789abcdef";
    size_t at = 0;
    for (size_t i = 0; i < sizeof(b); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[at++] = '-';
        out[at++] = hex[b[i] >> 4];
        out[at++] = hex[b[i] & 15];
    }
    out[at] = 0;
}
